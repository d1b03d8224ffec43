//! Credits that are taken and given back flit by flit, as the flits of a packet leave.
//!
//! The flits of a packet leave one after the other, so the number of credits that have changed hands follows from the time:
//! a [`Ramp`]. There is one event for each packet whose credits come back, when the first of them arrives, and one more if a
//! stopped egress queue then waits for a later one of them. Numbers in between are computed when somebody asks.

use xoff_engine::Time;

use super::credits::Credits;
use crate::ids::{PortId, QueueId};
use crate::network::Network;

/// Bits of an event's argument for the number of credits; a packet has fewer than 2^16 bytes.
const CREDIT_BITS: u32 = 16;

/// Credits that change hands one by one: the first at `begin`, each further one a `step` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ramp {
    begin: Time,
    /// Zero if all change hands at once.
    step: Time,
    credits: u64,
}

impl Ramp {
    const NONE: Ramp = Ramp { begin: Time::ZERO, step: Time::ZERO, credits: 0 };

    /// Credits that have changed hands at a time, and with it.
    fn by(&self, at: Time) -> u64 {
        if at < self.begin {
            return 0;
        }
        let steps = (at - self.begin).0.checked_div(self.step.0);
        steps.map_or(self.credits, |steps| self.credits.min(steps + 1))
    }

    /// When the next credit changes hands, after a time; `None` if all have.
    fn next_after(&self, at: Time) -> Option<Time> {
        let done = self.by(at);
        (done < self.credits).then(|| self.begin + Time(self.step.0 * done))
    }

    /// When the last credit changes hands.
    fn end(&self) -> Time {
        self.begin + Time(self.step.0 * self.credits.saturating_sub(1))
    }
}

/// Credits on their way back, of which `collected` are counted.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    ramp: Ramp,
    collected: u64,
}

/// Which flits have left, and which credits have come back.
pub(crate) struct Flits {
    /// By port: the place of the time that a flit takes on its wire in `steps`.
    pace: Vec<u32>,
    /// The times that a flit takes on the network's wires; the first is zero, for credits that come all at once.
    steps: Vec<Time>,
    /// By port: the credits of the packet that took the wire last.
    taking: Vec<Ramp>,
    /// By egress queue: the credits that come back.
    arriving: Vec<Vec<Arriving>>,
    /// By egress queue: the time of its last event, up to which all who follow its credits have done so.
    last_event: Vec<Time>,
    /// Egress queues with credits that may have come back and are not counted.
    open: Vec<QueueId>,
    /// By egress queue: whether it is in `open`.
    is_open: Vec<bool>,
}

impl Flits {
    /// Nothing under way, with flits of `flit` bytes.
    pub fn new(net: &Network, flit: u64) -> Flits {
        let mut steps = vec![Time::ZERO];
        let pace = (0..net.topology.ports()).map(|port| {
            let step = net.topology.rate(port).serialization(flit);
            let known = steps.iter().position(|&other| other == step);
            known.unwrap_or_else(|| {
                steps.push(step);
                steps.len() - 1
            }) as u32
        });
        let pace: Vec<u32> = pace.collect();
        let queues = pace.len() * usize::from(net.settings.switch.priorities);
        Flits {
            taking: vec![Ramp::NONE; pace.len()],
            arriving: vec![Vec::new(); queues],
            last_event: vec![Time::ZERO; queues],
            open: Vec::new(),
            is_open: vec![false; queues],
            pace,
            steps,
        }
    }

    /// The time that a flit takes on the wire of a port.
    pub fn step(&self, port: PortId) -> Time {
        self.steps[self.pace[port as usize] as usize]
    }

    /// What tells the other end of a link that `credits` come back, a flit of the wire of `port` after the other. Just their number
    /// tells that they come back all at once.
    pub fn message(&self, credits: u64, port: PortId) -> u32 {
        self.pace[port as usize] << CREDIT_BITS | credits as u32
    }

    /// A packet of `credits` flits begins on the wire of a port.
    pub fn depart(&mut self, now: Time, port: PortId, credits: u64) {
        self.taking[port as usize] = Ramp { begin: now, step: self.step(port), credits };
    }

    /// The first of the credits that a [`Flits::message`] announces arrives at an egress queue; 0 announces none.
    pub fn arrive(&mut self, now: Time, queue: QueueId, message: u32) {
        let arriving = &mut self.arriving[queue.index()];
        let last_event = std::mem::replace(&mut self.last_event[queue.index()], now);
        arriving.retain(|one| one.ramp.end() > last_event || one.collected < one.ramp.credits);
        let (pace, credits) = (message >> CREDIT_BITS, message & ((1 << CREDIT_BITS) - 1));
        if credits > 0 {
            let ramp = Ramp { begin: now, step: self.steps[pace as usize], credits: credits.into() };
            arriving.push(Arriving { ramp, collected: 0 });
            if !std::mem::replace(&mut self.is_open[queue.index()], true) {
                self.open.push(queue);
            }
        }
    }

    /// Counts the credits that have come back to an egress queue.
    pub fn collect(&mut self, now: Time, queue: QueueId, credits: &mut Credits) {
        for one in &mut self.arriving[queue.index()] {
            let by_now = one.ramp.by(now);
            credits.sending[queue.index()].restore(by_now - one.collected);
            one.collected = by_now;
        }
    }

    /// Counts the credits that have come back to all egress queues.
    pub fn collect_all(&mut self, now: Time, credits: &mut Credits) {
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&queue| {
            self.collect(now, queue, credits);
            let is_open = self.arriving[queue.index()].iter().any(|one| one.collected < one.ramp.credits);
            self.is_open[queue.index()] = is_open;
            is_open
        });
        self.open = open;
    }

    /// When an egress queue will have `missing` more credits than are collected; `None` if too few are on their way.
    pub fn complete_at(&self, now: Time, queue: QueueId, missing: u64) -> Option<Time> {
        let arriving = &self.arriving[queue.index()];
        let by = |at: Time| arriving.iter().map(|one| one.ramp.by(at) - one.collected).sum::<u64>();
        let (mut before, mut enough) = (now, arriving.iter().map(|one| one.ramp.end()).max()?);
        if by(enough) < missing {
            return None;
        }
        while before + Time(1) < enough {
            let middle = Time(before.0.midpoint(enough.0));
            *(if by(middle) < missing { &mut before } else { &mut enough }) = middle;
        }
        Some(enough)
    }

    /// Credits that `queues`, those of a port, use at a time that is not before their last event or departure. `credits` counts
    /// packets as a whole when they begin.
    pub fn used(&self, credits: &Credits, port: PortId, queues: std::ops::Range<usize>, at: Time) -> u64 {
        let taking = &self.taking[port as usize];
        let packets: u64 = credits.sending[queues.clone()].iter().map(|end| end.used()).sum();
        let arriving = self.arriving[queues].iter().flatten();
        let (counted, back) =
            arriving.fold((0, 0), |(counted, back), one| (counted + one.collected, back + one.ramp.by(at)));
        packets + counted - back - (taking.credits - taking.by(at))
    }

    /// Bounds of [`Flits::used`] from a time on, if nothing else departs or comes back.
    pub fn bounds(
        &self,
        credits: &Credits,
        port: PortId,
        queues: std::ops::Range<usize>,
        from: Time,
    ) -> (u64, u64) {
        let taking = &self.taking[port as usize];
        let to_come = self.arriving[queues.clone()].iter().flatten();
        let to_come: u64 = to_come.map(|one| one.ramp.credits - one.ramp.by(from)).sum();
        let used = self.used(credits, port, queues, from);
        // Flits may come back while others of their packet have yet to leave.
        (used.saturating_sub(to_come), used + taking.credits - taking.by(from))
    }

    /// When the used credits of a port change next, after a time, by what is under way; `None` if nothing is.
    pub fn next_change(&self, port: PortId, queues: std::ops::Range<usize>, after: Time) -> Option<Time> {
        let arriving = self.arriving[queues].iter().flatten().filter_map(|one| one.ramp.next_after(after));
        arriving.chain(self.taking[port as usize].next_after(after)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_of_a_ramp_change_hands_one_by_one() {
        // Three credits from 100 on, 10 apart: at 100, 110 and 120.
        let ramp = Ramp { begin: Time(100), step: Time(10), credits: 3 };
        let by = [99, 100, 109, 110, 120, 500].map(|at| ramp.by(Time(at)));
        assert_eq!((by, ramp.end()), ([0, 1, 1, 2, 3, 3], Time(120)));
        let next = [0, 99, 100, 119, 120].map(|at| ramp.next_after(Time(at)).map(|t| t.0));
        assert_eq!(next, [Some(100), Some(100), Some(110), Some(120), None]);
        // All at once.
        let once = Ramp { step: Time::ZERO, ..ramp };
        assert_eq!([99, 100].map(|at| once.by(Time(at))), [0, 3]);
        assert_eq!([99, 100].map(|at| once.next_after(Time(at))), [Some(Time(100)), None]);
        assert_eq!(Ramp::NONE.next_after(Time::ZERO), None);
    }

    #[test]
    fn two_packets_credits_come_back_side_by_side() {
        // 4 credits from 100 on, 10 apart, and 2 from 105 on, 20 apart: 100, 105, 110, 120, 125, 130.
        let (slow, fast) = (Time(20), Time(10));
        let mut flits = Flits {
            pace: vec![1],
            steps: vec![Time::ZERO, fast, slow],
            taking: vec![Ramp::NONE],
            arriving: vec![Vec::new()],
            last_event: vec![Time::ZERO],
            open: Vec::new(),
            is_open: vec![false],
        };
        let queue = QueueId(0);
        flits.arrive(Time(100), queue, 1 << CREDIT_BITS | 4);
        flits.arrive(Time(105), queue, 2 << CREDIT_BITS | 2);
        let at = |missing| flits.complete_at(Time(105), queue, missing).map(|t| t.0);
        assert_eq!([3, 4, 5, 6, 7].map(at), [Some(110), Some(120), Some(125), Some(130), None]);
        let mut changes = vec![Time(100)];
        while let Some(next) = flits.next_change(0, 0..1, changes[changes.len() - 1]) {
            changes.push(next);
        }
        assert_eq!(changes.iter().map(|t| t.0).collect::<Vec<_>>(), [100, 105, 110, 120, 125, 130]);
    }
}
