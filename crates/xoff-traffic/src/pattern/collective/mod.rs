//! Collective operations as patterns: `collective`, which has all of [`crate::collective`], and the older `allreduce` and
//! `all_to_all_collective`, which go by phases.

pub(super) mod all_to_all;
pub(super) mod allreduce;
pub(super) mod any;
mod pair_sizes;

use xoff_engine::Time;

use super::processes::{Process, Program};
use crate::collective::phases::Phase;
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Sink};

pub(super) const fn one() -> u32 {
    1
}

pub(super) const fn yes() -> bool {
    true
}

/// The parameters that collectives have in common beside their phases.
pub(super) struct Collective<'a> {
    kernel: &'a str,
    start: Time,
    processes: u32,
    repetitions: u32,
    compute: Time,
    overhead: Time,
    acknowledged: bool,
}

/// Maximum number of processes on a host.
pub(super) const MAX_PROCESSES: u32 = 1024;

/// Refuses a number of processes on each host that is out of bounds.
pub(super) fn check_processes(processes: u32) -> Result<(), Misfit> {
    if (1..=MAX_PROCESSES).contains(&processes) {
        return Ok(());
    }
    Err(Fault::bounds(processes, format!("a number from 1 to {MAX_PROCESSES}")).at("processes"))
}

/// Refuses a time that is longer than any run.
pub(super) fn check_time(time: Time, key: &'static str) -> Result<(), Misfit> {
    let longest = Time::from_us(1_000_000_000);
    if time > longest {
        return Err(Fault::bounds(time, format!("at most {longest}")).at(key));
    }
    Ok(())
}

impl<'a> Collective<'a> {
    /// The plan of `phases` among `hosts`, which have `messages` in all. Phases are made with the flows: their number may grow
    /// with the square of the ranks.
    pub(super) fn plan(
        self,
        hosts: Vec<u32>,
        messages: u128,
        phases: impl FnOnce() -> Vec<Phase> + 'a,
    ) -> Result<Plan<'a>, Misfit> {
        check_processes(self.processes)?;
        if self.repetitions == 0 {
            return Err(Fault::bounds(0, "a number from 1").at("repetitions"));
        }
        check_time(self.compute, "compute")?;
        check_time(self.overhead, "overhead")?;
        let (groups, repetitions) = (self.processes, self.repetitions);
        Ok(Plan {
            flows: messages * u128::from(groups) * u128::from(repetitions),
            cause: format!("{repetitions} times {messages} messages of {groups} groups"),
            emit: Box::new(move |sink| self.emit(sink, &hosts, &phases())),
        })
    }

    fn emit(&self, sink: &mut Sink, hosts: &[u32], phases: &[Phase]) {
        let kernel = sink.kernel(self.kernel);
        let mut program = Program {
            sink,
            start: self.start,
            overhead: self.overhead,
            eager: if self.acknowledged { 0 } else { u64::MAX },
            background: false,
            kernel,
            iteration: 0,
        };
        for slice in 0..self.processes {
            let numbered = (0..).zip(hosts).map(|(i, &host): (u32, _)| (i * self.processes + slice, host));
            let mut ranks: Vec<Process> =
                numbered.map(|(number, host)| program.process(host, number, slice)).collect();
            for repetition in 0..self.repetitions {
                program.iteration = repetition;
                if repetition > 0 {
                    ranks.iter_mut().for_each(|rank| program.compute(rank, self.compute));
                }
                program.operation(&mut ranks, phases, &[], 0);
            }
        }
    }
}

/// The [`Collective`] of a pattern, whose fields have the same names.
macro_rules! collective {
    ($self:ident, $kernel:expr) => {
        $crate::pattern::collective::Collective {
            kernel: $kernel,
            start: $self.start,
            processes: $self.processes,
            repetitions: $self.repetitions,
            compute: $self.compute,
            overhead: $self.overhead,
            acknowledged: $self.acknowledged,
        }
    };
}
use collective;
