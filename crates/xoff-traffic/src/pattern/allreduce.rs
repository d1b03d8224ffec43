//! Allreduce: each rank ends up with the sum of what all have, by one of the algorithms of [`super::collective`].
//!
//! A closed loop: what a rank sends waits for what it has to get first. No rank waits for others beyond that, so that one
//! that is late holds up the others as far as the algorithm makes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Time};

use super::all_to_all::several;
use super::collective::{self, Phase};
use super::processes::{Process, Program};
use super::{Common, Params, common};
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope, Sink};
use crate::hosts::HostList;
use crate::sizes;

/// Sums over all ranks, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allreduce {
    /// Name of the group of flows in the results; the pattern's name where none is given.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// When the first one starts.
    #[serde(default)]
    pub start: Time,
    /// Who takes part, two or more: one rank each, in this order.
    #[serde(default)]
    pub hosts: HostList,
    /// How the sums are made.
    pub algorithm: AllreduceAlgorithm,
    /// Bytes that each rank has, up to 1 TB.
    pub size: Bytes,
    /// Processes on each host. Each takes part in an allreduce of its own, with one process of every host.
    #[serde(default = "one")]
    pub processes: u32,
    /// How many, one after the other.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// Time that a rank computes between one and the next.
    #[serde(default)]
    pub compute: Time,
    /// Time from the arrival of a message to what its receiver does next: the sum, matching and software.
    #[serde(default)]
    pub overhead: Time,
    /// Whether a rank also waits for the last ACK of what it has sent before it goes on to the next phase, as a blocking
    /// send of a large message does.
    #[serde(default = "yes")]
    pub acknowledged: bool,
}

/// An algorithm for allreduce among N ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllreduceAlgorithm {
    /// Around a ring: 2 (N - 1) phases of an N-th of the size each.
    Ring,
    /// Up a binomial tree and down again: 2 ceil(log2 N) phases of the whole size.
    Tree,
    /// Recursive halving and doubling (Rabenseifner): 2 log2 N phases of a half, a quarter, ... of the size and back; two
    /// more of the whole size where N is no power of two.
    HalvingDoubling,
    /// Recursive doubling: log2 N phases of the whole size; two more where N is no power of two.
    RecursiveDoubling,
}

impl AllreduceAlgorithm {
    fn phases(self, ranks: usize, size: u64) -> Vec<Phase> {
        match self {
            AllreduceAlgorithm::Ring => collective::ring(ranks, size),
            AllreduceAlgorithm::Tree => collective::tree(ranks, size),
            AllreduceAlgorithm::HalvingDoubling => collective::halving_doubling(ranks, size),
            AllreduceAlgorithm::RecursiveDoubling => collective::recursive_doubling(ranks, size),
        }
    }
}

pub(super) const fn one() -> u32 {
    1
}

pub(super) const fn yes() -> bool {
    true
}

/// What collectives have in common beside their phases.
pub(super) struct Collective<'a> {
    pub(super) kernel: &'a str,
    pub(super) start: Time,
    pub(super) processes: u32,
    pub(super) repetitions: u32,
    pub(super) compute: Time,
    pub(super) overhead: Time,
    pub(super) acknowledged: bool,
}

/// The most processes on a host.
pub(super) const MOST_PROCESSES: u32 = 1024;

/// A number of processes on each host.
pub(super) fn check_processes(processes: u32) -> Result<(), Misfit> {
    if (1..=MOST_PROCESSES).contains(&processes) {
        return Ok(());
    }
    Err(Fault::bounds(processes, format!("a number from 1 to {MOST_PROCESSES}")).at("processes"))
}

/// A length of time that fits into a run.
pub(super) fn check_time(time: Time, key: &'static str) -> Result<(), Misfit> {
    let longest = Time::from_us(1_000_000_000);
    if time > longest {
        return Err(Fault::bounds(time, format!("at most {longest}")).at(key));
    }
    Ok(())
}

impl<'a> Collective<'a> {
    /// The plan of `phases` among `hosts`.
    pub(super) fn plan(self, hosts: Vec<u32>, phases: Vec<Phase>) -> Result<Plan<'a>, Misfit> {
        check_processes(self.processes)?;
        if self.repetitions == 0 {
            return Err(Fault::bounds(0, "a number from 1").at("repetitions"));
        }
        check_time(self.compute, "compute")?;
        check_time(self.overhead, "overhead")?;
        let (groups, repetitions) = (self.processes, self.repetitions);
        let messages = collective::messages(&phases);
        Ok(Plan {
            flows: messages * u128::from(groups) * u128::from(repetitions),
            cause: format!("{repetitions} times {messages} messages of {groups} groups"),
            emit: Box::new(move |sink| self.emit(sink, &hosts, &phases)),
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

impl Params for Allreduce {
    const NAME: &'static str = "allreduce";
    const TITLE: &'static str =
        "allreduce by ring, tree, halving-doubling or recursive doubling, as a closed loop";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = several(scope, &self.hosts)?;
        let size = sizes::check(self.size)?;
        let splits = matches!(self.algorithm, AllreduceAlgorithm::Ring | AllreduceAlgorithm::HalvingDoubling);
        if splits && size < hosts.len() as u64 {
            let expected = format!("at least a byte for each of {} ranks", hosts.len());
            return Err(Fault::bounds(self.size, expected).at("size"));
        }
        let phases = self.algorithm.phases(hosts.len(), size);
        let collective = Collective {
            kernel: Self::NAME,
            start: self.start,
            processes: self.processes,
            repetitions: self.repetitions,
            compute: self.compute,
            overhead: self.overhead,
            acknowledged: self.acknowledged,
        };
        collective.plan(hosts, phases)
    }
}
