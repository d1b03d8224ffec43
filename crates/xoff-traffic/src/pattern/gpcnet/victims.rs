//! Victims: the processes that measure congestion.

use xoff_engine::Time;

use super::{Gpcnet, Placement, VictimTest};
use crate::closed_loop::{Milestone, Waiter};
use crate::collective::phases::{self, Message, Phase, messages};
use crate::pattern::processes::{Process, Program};

/// Bytes of a barrier's message.
const BARRIER: u64 = 8;

impl VictimTest {
    const fn name(self) -> &'static str {
        match self {
            VictimTest::Latency => "latency",
            VictimTest::Bandwidth => "bandwidth",
            VictimTest::Allreduce => "allreduce",
        }
    }
}

/// `times` messages of `size` bytes to both neighbours on the ring of `places`, in which each place precedes the next one.
fn neighbours(places: &[usize], size: u64, times: u32) -> Phase {
    let ranks = places.len();
    let both = |i: usize| {
        let (from, left, right) = (places[i], places[(i + ranks - 1) % ranks], places[(i + 1) % ranks]);
        (0..times).flat_map(move |_| [left, right].map(|to| Message { from, to, size }))
    };
    (0..ranks).flat_map(both).collect()
}

impl Gpcnet {
    /// The phases of an iteration of a test on a ring, and those of the barrier at its end.
    fn iteration(&self, test: VictimTest, ring: &[usize]) -> (Vec<Phase>, Vec<Phase>) {
        match test {
            VictimTest::Latency => (vec![neighbours(ring, self.latency_size.0, 1)], vec![]),
            VictimTest::Bandwidth => {
                let exchange = neighbours(ring, self.bandwidth_size.0, self.bandwidth_outstanding);
                (vec![exchange], phases::barrier(ring.len(), BARRIER))
            }
            VictimTest::Allreduce => (phases::recursive_doubling(ring.len(), self.allreduce_size.0), vec![]),
        }
    }

    /// The number of rings, and of iterations on each ring.
    fn loops(&self, test: VictimTest) -> (u32, u32) {
        match test {
            VictimTest::Latency => (self.rings, self.latency_iterations),
            VictimTest::Bandwidth => (self.rings, self.bandwidth_iterations),
            VictimTest::Allreduce => (1, self.allreduce_iterations),
        }
    }

    /// The number of messages of the tests among `hosts` hosts.
    pub(super) fn victim_messages(&self, hosts: usize) -> u128 {
        let ring: Vec<usize> = (0..hosts).collect();
        let barrier = messages(&phases::barrier(hosts, BARRIER));
        let of = |test: &VictimTest| {
            let (rings, iterations) = self.loops(*test);
            let (phases, barriers) = self.iteration(*test, &ring);
            let of_ring = (messages(&phases) + messages(&barriers)) * u128::from(iterations);
            u128::from(rings) * (of_ring * u128::from(self.processes) + barrier)
        };
        self.tests.iter().map(of).sum()
    }

    /// Writes the tests, one after the other. Processes are numbered host by host, after those of all congestors, whether the
    /// congestors run or not.
    pub(super) fn write_tests(&self, program: &mut Program<'_>, placement: &Placement) {
        let first = placement.congestors.iter().map(Vec::len).sum::<usize>() as u32;
        let mut slices: Vec<Vec<Process>> = (0..self.processes)
            .map(|slice| {
                let hosts = (first..).zip(&placement.victims);
                let number = |i: u32| i * self.processes + slice;
                hosts.map(|(i, &host)| program.process(host, number(i), slice)).collect()
            })
            .collect();
        let natural: Vec<usize> = (0..placement.victims.len()).collect();
        for &test in &self.tests {
            let (rings, iterations) = self.loops(test);
            for ring in 0..rings {
                self.barrier_of_all(program, &mut slices);
                program.kernel = program.sink.kernel(test.name());
                for (ranks, rings) in slices.iter_mut().zip(&placement.rings) {
                    let random = &rings[ring as usize];
                    let order = if test == VictimTest::Allreduce { &natural } else { random };
                    let (phases, barrier) = self.iteration(test, order);
                    for iteration in 0..iterations {
                        program.iteration = iteration;
                        program.operation(ranks, &phases, &barrier, ring);
                    }
                }
            }
        }
    }

    /// The processes of each host meet, the first of them takes part in a barrier of all hosts, and then all continue.
    fn barrier_of_all(&self, program: &mut Program<'_>, slices: &mut [Vec<Process>]) {
        program.kernel = program.sink.kernel("barrier");
        program.iteration = 0;
        let Some(hosts) = slices.first().map(Vec::len) else { return };
        for host in 0..hosts {
            let met = program.sink.step(slices[0][host].host, program.start);
            for slice in slices.iter() {
                program.sink.after(Milestone::Step(slice[host].at), Waiter::Step(met), Time::ZERO);
            }
            slices[0][host].at = met;
        }
        for phase in phases::barrier(hosts, BARRIER) {
            program.phase(&mut slices[0], &phase);
        }
        let (first, others) = slices.split_at_mut(1);
        for (host, process) in first[0].iter().enumerate() {
            others.iter_mut().for_each(|slice| slice[host].at = process.at);
        }
    }
}
