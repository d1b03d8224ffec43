//! Processes of a parallel program, as messages that wait for each other.
//!
//! Each process performs one operation after another: it sends, waits for the messages to it, and continues. Between
//! the arrival of a message and the receiver's next action lies the *overhead*: matching and software.

use xoff_engine::{NicChoice, Time};

use crate::closed_loop::{Milestone, Operation, Role, Waiter};
use crate::collective::phases::{Message, Phase};
use crate::generate::{FlowSpec, Sink};

/// A process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) host: u32,
    /// Its number among those of its pattern.
    pub(crate) number: u32,
    /// Number of its slice: a slice has one process on each host, and connections are between processes of one slice.
    pub(crate) slice: u32,
    /// The step at which its last operation ended.
    pub(crate) at: u32,
    /// The processor that stands for its link to the other processes of its host, once a collective has used that link.
    pub(crate) port: Option<u32>,
    /// The NIC by which it sends; `None` if the pattern's choice holds.
    pub(crate) nic: Option<NicChoice>,
}

/// Writes processes as flows, steps and dependencies.
pub(crate) struct Program<'a> {
    pub(crate) sink: &'a mut Sink,
    /// The earliest start of flows and steps.
    pub(crate) start: Time,
    /// Time between the arrival of a message and the next action of the process that waits for it.
    pub(crate) overhead: Time,
    /// A process does not wait for messages up to this size; it waits for the last ACK of longer messages.
    pub(crate) eager: u64,
    /// Whether the run may end without these flows.
    pub(crate) background: bool,
    pub(crate) kernel: u16,
    pub(crate) iteration: u32,
}

impl Program<'_> {
    /// A process at its beginning.
    pub(crate) fn process(&mut self, host: u32, number: u32, slice: u32) -> Process {
        Process { host, number, slice, at: self.sink.step(host, self.start), port: None, nic: None }
    }

    /// Adds a message, which does not wait for anything yet; returns its number.
    pub(crate) fn message(&mut self, from: &Process, to: &Process, size: u64) -> u32 {
        let blank = self.sink.blank(from.host, to.host, self.start);
        self.sink.numbered(FlowSpec {
            size: size.into(),
            role: Some(self.role(from)),
            connection: Some(from.slice),
            background: self.background,
            ..blank
        })
    }

    pub(crate) fn role(&self, process: &Process) -> Role {
        Role { kernel: self.kernel, process: process.number, iteration: self.iteration }
    }

    /// A step that comes no earlier than the last step of a process.
    pub(crate) fn next_step(&mut self, process: &Process) -> u32 {
        let next = self.sink.step(process.host, self.start);
        self.sink.after(Milestone::Step(process.at), Waiter::Step(next), Time::ZERO);
        next
    }

    /// All processes send their messages, and continue when the messages to them have arrived and their own messages that are
    /// not eager are acknowledged.
    pub(crate) fn phase(&mut self, processes: &mut [Process], messages: &[Message]) {
        // By process: the step that ends the phase for it.
        let mut ends: Vec<Option<u32>> = vec![None; processes.len()];
        for message in messages {
            let (from, to) = (processes[message.from], processes[message.to]);
            let flow = self.message(&from, &to, message.size);
            self.sink.after(Milestone::Step(from.at), Waiter::Flow(flow), Time::ZERO);
            let end = *ends[message.to].get_or_insert_with(|| self.next_step(&to));
            self.sink.after(Milestone::Delivered(flow), Waiter::Step(end), self.overhead);
            if message.size > self.eager {
                let end = *ends[message.from].get_or_insert_with(|| self.next_step(&from));
                self.sink.after(Milestone::Sent(flow), Waiter::Step(end), Time::ZERO);
            }
        }
        for (process, end) in processes.iter_mut().zip(ends) {
            process.at = end.unwrap_or(process.at);
        }
    }

    /// Writes one phase after the other, then those of a barrier, and one operation for each process. The operation's time
    /// includes the barrier, its bytes do not.
    pub(crate) fn operation(
        &mut self,
        processes: &mut [Process],
        phases: &[Phase],
        barrier: &[Phase],
        ring: u32,
    ) {
        let begin: Vec<u32> = processes.iter().map(|p| p.at).collect();
        let mut bytes = vec![0; processes.len()];
        for phase in phases {
            self.phase(processes, phase);
            phase.iter().for_each(|m| bytes[m.from] += m.size);
        }
        barrier.iter().for_each(|phase| self.phase(processes, phase));
        for ((process, begin), bytes) in processes.iter().zip(begin).zip(bytes) {
            let (role, host) = (self.role(process), process.host);
            self.sink.operation(Operation { label: 0, role, ring, host, bytes, begin, end: process.at });
        }
    }

    /// A process computes for `time`, without the network.
    pub(crate) fn compute(&mut self, process: &mut Process, time: Time) {
        if time > Time::ZERO {
            let end = self.sink.step(process.host, self.start);
            self.sink.after(Milestone::Step(process.at), Waiter::Step(end), time);
            process.at = end;
        }
    }
}
