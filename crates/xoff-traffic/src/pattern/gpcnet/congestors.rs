//! Congestors: the processes that cause congestion.

use std::collections::VecDeque;

use xoff_engine::Time;

use super::{CongestorKernel, Gpcnet};
use crate::closed_loop::{Milestone, Waiter};
use crate::collective::phases;
use crate::pattern::processes::{Process, Program};

/// A request for a get: the size of InfiniBand's extended transport header of an RDMA read.
pub(super) const REQUEST: u64 = 16;

impl Gpcnet {
    /// The number of messages of `groups`, the hosts of each kernel.
    pub(super) fn congestor_messages(&self, groups: &[Vec<u32>]) -> u128 {
        let messages = self.congestor_kernels.iter().zip(groups).map(|(kernel, hosts)| {
            let ranks = hosts.len() as u128;
            let (of_iteration, iterations) = match kernel {
                CongestorKernel::AllToAll => (ranks * (ranks - 1), self.exchanges()),
                CongestorKernel::TwoSidedIncast | CongestorKernel::PutIncast => {
                    (ranks - 1, self.congestor_iterations)
                }
                CongestorKernel::GetBroadcast => (2 * (ranks - 1), self.congestor_iterations),
            };
            of_iteration * u128::from(iterations)
        });
        messages.sum::<u128>() * u128::from(self.processes)
    }

    /// The iterations of the all-to-all.
    fn exchanges(&self) -> u32 {
        self.all_to_all_iterations.unwrap_or(self.congestor_iterations)
    }

    /// Writes the loops of all congestors. Their processes are numbered host by host, in the order of the kernels.
    pub(super) fn write_congestors(&self, program: &mut Program<'_>, groups: &[Vec<u32>]) {
        let mut first = 0;
        for (kernel, hosts) in self.congestor_kernels.iter().zip(groups) {
            program.kernel = program.sink.kernel(kernel.name());
            for slice in 0..self.processes {
                let number = |i: usize| (first + i as u32) * self.processes + slice;
                let hosts = hosts.iter().enumerate();
                let mut ranks: Vec<Process> =
                    hosts.map(|(i, &host)| program.process(host, number(i), slice)).collect();
                match kernel {
                    CongestorKernel::AllToAll => self.exchange(program, &mut ranks),
                    CongestorKernel::TwoSidedIncast => self.two_sided_incast(program, &ranks),
                    CongestorKernel::PutIncast => self.stop_and_wait(program, &ranks, Time::ZERO),
                    CongestorKernel::GetBroadcast => self.broadcast(program, &ranks),
                }
            }
            first += hosts.len() as u32;
        }
    }

    fn exchange(&self, program: &mut Program<'_>, ranks: &mut [Process]) {
        let phases = phases::all_to_all(ranks.len(), self.congestor_size.0);
        for iteration in 0..self.exchanges() {
            program.iteration = iteration;
            phases.iter().for_each(|phase| program.phase(ranks, phase));
        }
    }

    /// Blocking sends to the first process: several eager messages under way, or one message by rendezvous.
    fn two_sided_incast(&self, program: &mut Program<'_>, ranks: &[Process]) {
        let eager = self.congestor_size <= self.eager && self.eager_outstanding > 1;
        if eager {
            self.eager_sends(program, ranks)
        } else {
            self.stop_and_wait(program, ranks, self.overhead)
        }
    }

    /// Each process but the first sends to the first one, `pause` after the last ACK of its previous message.
    fn stop_and_wait(&self, program: &mut Program<'_>, ranks: &[Process], pause: Time) {
        for rank in &ranks[1..] {
            let (mut before, mut delay) = (Milestone::Step(rank.at), Time::ZERO);
            for iteration in 0..self.congestor_iterations {
                program.iteration = iteration;
                let flow = program.message(rank, &ranks[0], self.congestor_size.0);
                program.sink.after(before, Waiter::Flow(flow), delay);
                (before, delay) = (Milestone::Sent(flow), pause);
            }
        }
    }

    /// Each process but the first hands messages over to the first one, at most `eager_outstanding` unacknowledged. A message is
    /// handed over an overhead after the previous hand-over, and after the last ACK that makes room.
    fn eager_sends(&self, program: &mut Program<'_>, ranks: &[Process]) {
        for rank in &ranks[1..] {
            // The step at which the latest message was handed over, and the messages that may be unacknowledged.
            let (mut handed_over, mut unacknowledged) = (rank.at, VecDeque::new());
            for iteration in 0..self.congestor_iterations {
                program.iteration = iteration;
                let flow = program.message(rank, &ranks[0], self.congestor_size.0);
                if iteration > 0 {
                    let next = program.sink.step(rank.host, program.start);
                    let next_send = Waiter::Step(next);
                    program.sink.after(Milestone::Step(handed_over), next_send, program.overhead);
                    if unacknowledged.len() == self.eager_outstanding as usize
                        && let Some(oldest) = unacknowledged.pop_front()
                    {
                        program.sink.after(Milestone::Sent(oldest), next_send, program.overhead);
                    }
                    handed_over = next;
                }
                program.sink.after(Milestone::Step(handed_over), Waiter::Flow(flow), Time::ZERO);
                unacknowledged.push_back(flow);
            }
        }
    }

    /// Each process but the first asks the first one for data, and asks again when the data has arrived.
    fn broadcast(&self, program: &mut Program<'_>, ranks: &[Process]) {
        for rank in &ranks[1..] {
            let mut before = Milestone::Step(rank.at);
            for iteration in 0..self.congestor_iterations {
                program.iteration = iteration;
                let request = program.message(rank, &ranks[0], REQUEST);
                program.sink.after(before, Waiter::Flow(request), Time::ZERO);
                let data = program.message(&ranks[0], rank, self.congestor_size.0);
                program.sink.after(Milestone::Delivered(request), Waiter::Flow(data), Time::ZERO);
                before = Milestone::Delivered(data);
            }
        }
    }
}
