//! Credits that are taken and given back flit by flit, as the flits of a packet leave.
//!
//! The flits of a packet leave one after the other, so the number of credits that have changed hands follows from the time:
//! a [`Ramp`]. There is one event for each packet whose credits come back, when the first of them arrives, and one more if a
//! stopped egress queue then waits for a later one of them. Numbers in between are computed when somebody asks.

use std::hash::{Hash, Hasher};

use xoff_engine::{Rate, Time};

use super::credits::Credits;
use crate::ids::{PortId, QueueId};
use crate::network::Network;

/// Bits of an event's argument for the number of credits; a packet has fewer than 2^16 bytes.
const CREDIT_BITS: u32 = 16;

/// How long after the first credit each further one changes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pace {
    /// All change hands at once.
    AtOnce,
    /// One each so often: a flit takes a whole number of picoseconds.
    Each(Time),
    /// Flits of so many bytes at a rate at which they take no whole number. Times of single flits, rounded, would add up to more
    /// than the frame takes.
    Flits(u64, Rate),
}

impl Pace {
    /// The pace of flits of `flit` bytes at a rate.
    fn of(rate: Rate, flit: u64) -> Pace {
        rate.ps_per_byte().map_or(Pace::Flits(flit, rate), |ps| Pace::Each(Time(ps * flit)))
    }

    /// The time that `number` flits take.
    fn time(self, number: u64) -> Time {
        match self {
            Pace::AtOnce => Time::ZERO,
            Pace::Each(step) => Time(step.0 * number),
            Pace::Flits(flit, rate) => rate.serialization(flit * number),
        }
    }

    /// The flits that have passed after a time; `u64::MAX` if all pass at once.
    fn passed(self, time: Time) -> u64 {
        match self {
            Pace::AtOnce => u64::MAX,
            Pace::Each(step) => time.0 / step.0,
            Pace::Flits(flit, rate) => rate.bytes_in(time) / flit,
        }
    }
}

/// Credits that change hands one by one: the first at `begin`, each further one when another flit has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ramp {
    begin: Time,
    pace: Pace,
    credits: u64,
}

impl Ramp {
    const NONE: Ramp = Ramp { begin: Time::ZERO, pace: Pace::AtOnce, credits: 0 };

    /// Credits that have changed hands at a time, and with it.
    fn by(&self, at: Time) -> u64 {
        if at < self.begin {
            0
        } else {
            self.credits.min(self.pace.passed(at - self.begin).saturating_add(1))
        }
    }

    /// When the next credit changes hands, after a time; `None` if all have.
    fn next_after(&self, at: Time) -> Option<Time> {
        let done = self.by(at);
        (done < self.credits).then(|| self.begin + self.pace.time(done))
    }

    /// When the last credit changes hands.
    fn end(&self) -> Time {
        self.begin + self.pace.time(self.credits.saturating_sub(1))
    }

    /// Tells apart what is to come of it from `now` on, wherever it is in time.
    fn hash_rest(&self, now: Time, hasher: &mut impl Hasher) {
        if self.credits > 0 && self.end() >= now {
            let ago = now.0.wrapping_sub(self.begin.0) as i64;
            (ago, self.pace, self.credits).hash(hasher);
        }
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
    /// By port: the place of its wire's pace in `paces`.
    pace: Vec<u32>,
    /// The paces of the network's wires; the first one is that of credits that come all at once.
    paces: Vec<Pace>,
    /// By port: the credits of the packet that took the wire last.
    taking: Vec<Ramp>,
    /// By egress queue: the credits that come back.
    arriving: Vec<Vec<Arriving>>,
    /// By egress queue: the time of its last event, up to which all who follow its credits have done so.
    last_event: Vec<Time>,
    /// By egress queue: the time of a pending event that was scheduled for its missing credits; [`Time::NEVER`] if there is none.
    awaited: Vec<Time>,
    /// Egress queues with credits that may have come back and are not counted.
    open: Vec<QueueId>,
    /// By egress queue: whether it is in `open`.
    is_open: Vec<bool>,
}

impl Flits {
    /// Tells apart which flits are to leave, and which credits to come back, from `now` on.
    pub fn hash_state(&self, now: Time, hasher: &mut impl Hasher) {
        for (port, ramp) in self.taking.iter().enumerate().filter(|(_, ramp)| ramp.credits > 0) {
            port.hash(hasher);
            ramp.hash_rest(now, hasher);
        }
        for (queue, arriving) in self.arriving.iter().enumerate().filter(|(_, arriving)| !arriving.is_empty())
        {
            (queue, self.last_event[queue].saturating_sub(now)).hash(hasher);
            for Arriving { ramp, collected } in arriving {
                collected.hash(hasher);
                ramp.hash_rest(now, hasher);
            }
        }
    }

    /// Nothing under way, with flits of `flit` bytes.
    pub fn new(net: &Network, flit: u64) -> Flits {
        let mut paces = vec![Pace::AtOnce];
        let pace = net.topology.port_ids().map(|port| {
            let pace = Pace::of(net.topology.rate(port), flit);
            let known = paces.iter().position(|&other| other == pace);
            known.unwrap_or_else(|| {
                paces.push(pace);
                paces.len() - 1
            }) as u32
        });
        let pace: Vec<u32> = pace.collect();
        let queues = pace.len() * usize::from(net.settings.switch.priorities);
        Flits {
            taking: vec![Ramp::NONE; pace.len()],
            arriving: vec![Vec::new(); queues],
            last_event: vec![Time::ZERO; queues],
            awaited: vec![Time::NEVER; queues],
            open: Vec::new(),
            is_open: vec![false; queues],
            pace,
            paces,
        }
    }

    /// The time that a flit takes on the wire of a port.
    pub fn step(&self, port: PortId) -> Time {
        self.pace_of(port).time(1)
    }

    fn pace_of(&self, port: PortId) -> Pace {
        self.paces[self.pace[port.index()] as usize]
    }

    /// What tells the other end of a link that `credits` come back, a flit of the wire of `port` after the other. Just their number
    /// tells that they come back all at once.
    pub fn message(&self, credits: u64, port: PortId) -> u32 {
        self.pace[port.index()] << CREDIT_BITS | credits as u32
    }

    /// A packet of `credits` flits begins on the wire of a port.
    pub fn depart(&mut self, now: Time, port: PortId, credits: u64) {
        self.taking[port.index()] = Ramp { begin: now, pace: self.pace_of(port), credits };
    }

    /// The first of the credits that a [`Flits::message`] announces arrives at an egress queue; 0 announces none.
    pub fn arrive(&mut self, now: Time, queue: QueueId, message: u32) {
        if self.awaited[queue.index()] <= now {
            self.awaited[queue.index()] = Time::NEVER;
        }
        let arriving = &mut self.arriving[queue.index()];
        let last_event = std::mem::replace(&mut self.last_event[queue.index()], now);
        arriving.retain(|one| one.ramp.end() > last_event || one.collected < one.ramp.credits);
        let (pace, credits) = (message >> CREDIT_BITS, message & ((1 << CREDIT_BITS) - 1));
        if credits > 0 {
            let ramp = Ramp { begin: now, pace: self.paces[pace as usize], credits: credits.into() };
            arriving.push(Arriving { ramp, collected: 0 });
            if !std::mem::replace(&mut self.is_open[queue.index()], true) {
                self.open.push(queue);
            }
        }
    }

    /// Counts the credits that have come back to an egress queue by `now`.
    pub fn collect(&mut self, now: Time, queue: QueueId, credits: &mut Credits) {
        for one in &mut self.arriving[queue.index()] {
            // An event may come after another one of its time whose key is greater.
            let by_now = one.ramp.by(now).max(one.collected);
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

    /// When an event has to tell an egress queue that it has the `missing` credits; `None` if one is pending for that time, or if too
    /// few are on their way.
    pub fn event_for(&mut self, now: Time, queue: QueueId, missing: u64) -> Option<Time> {
        let at = self.complete_at(now, queue, missing)?;
        let before = std::mem::replace(&mut self.awaited[queue.index()], at);
        (before != at).then_some(at)
    }

    /// When an egress queue will have `missing` more credits than are collected; `None` if too few are on their way.
    fn complete_at(&self, now: Time, queue: QueueId, missing: u64) -> Option<Time> {
        let arriving = &self.arriving[queue.index()];
        let by = |at: Time| arriving.iter().map(|one| one.ramp.by(at) - one.collected).sum::<u64>();
        let (mut before, mut enough) = (now, arriving.iter().map(|one| one.ramp.end()).max()?);
        if by(enough) < missing {
            return None;
        }
        if by(now) >= missing {
            return Some(now);
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
        let taking = &self.taking[port.index()];
        let packets: u64 = credits.sending[queues.clone()].iter().map(|end| end.used()).sum();
        let arriving = self.arriving[queues].iter().flatten();
        let (counted, back) =
            arriving.fold((0, 0), |(counted, back), one| (counted + one.collected, back + one.ramp.by(at)));
        let to_leave = taking.credits - taking.by(at);
        debug_assert!(packets + counted >= back + to_leave, "a flit leaves before its credit comes back");
        packets + counted - back - to_leave
    }

    /// Bounds of [`Flits::used`] from a time on, if nothing else departs or comes back.
    pub fn bounds(
        &self,
        credits: &Credits,
        port: PortId,
        queues: std::ops::Range<usize>,
        from: Time,
    ) -> (u64, u64) {
        let taking = &self.taking[port.index()];
        let to_come = self.arriving[queues.clone()].iter().flatten();
        let to_come: u64 = to_come.map(|one| one.ramp.credits - one.ramp.by(from)).sum();
        let used = self.used(credits, port, queues, from);
        // Flits may come back while others of their packet have yet to leave.
        (used.saturating_sub(to_come), used + taking.credits - taking.by(from))
    }

    /// When the used credits of a port change next, after a time, by what is under way; `None` if nothing is.
    pub fn next_change(&self, port: PortId, queues: std::ops::Range<usize>, after: Time) -> Option<Time> {
        let arriving = self.arriving[queues].iter().flatten().filter_map(|one| one.ramp.next_after(after));
        arriving.chain(self.taking[port.index()].next_after(after)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_of_a_ramp_change_hands_one_by_one() {
        // Three credits from 100 on, 10 apart: at 100, 110 and 120.
        let ramp = Ramp { begin: Time(100), pace: Pace::Each(Time(10)), credits: 3 };
        let by = [99, 100, 109, 110, 120, 500].map(|at| ramp.by(Time(at)));
        assert_eq!((by, ramp.end()), ([0, 1, 1, 2, 3, 3], Time(120)));
        let next = [0, 99, 100, 119, 120].map(|at| ramp.next_after(Time(at)).map(|t| t.0));
        assert_eq!(next, [Some(100), Some(100), Some(110), Some(120), None]);
        // All at once.
        let once = Ramp { pace: Pace::AtOnce, ..ramp };
        assert_eq!([99, 100].map(|at| once.by(Time(at))), [0, 3]);
        assert_eq!([99, 100].map(|at| once.next_after(Time(at))), [Some(Time(100)), None]);
        assert_eq!(Ramp::NONE.next_after(Time::ZERO), None);
    }

    #[test]
    fn flits_take_no_longer_than_their_frame() {
        // A byte at 310 Gbps takes 25.806 ps. The 10th credit of ten goes with the first byte's end of nine: 232.26 ps, so at 233,
        // where nine times 26 ps are 234. By 232 ps eight bytes have passed, and nine credits.
        let ramp = Ramp { begin: Time(0), pace: Pace::of(Rate::from_gbps(310), 1), credits: 10 };
        assert_eq!((ramp.end(), ramp.by(Time(232)), ramp.by(Time(233))), (Time(233), 9, 10));
        assert_eq!(ramp.next_after(Time(232)), Some(Time(233)));
    }

    #[test]
    fn two_packets_credits_come_back_side_by_side() {
        // 4 credits from 100 on, 10 apart, and 2 from 105 on, 20 apart: 100, 105, 110, 120, 125, 130.
        let (slow, fast) = (Pace::Each(Time(20)), Pace::Each(Time(10)));
        let mut flits = Flits {
            pace: vec![1],
            paces: vec![Pace::AtOnce, fast, slow],
            taking: vec![Ramp::NONE],
            arriving: vec![Vec::new()],
            last_event: vec![Time::ZERO],
            awaited: vec![Time::NEVER],
            open: Vec::new(),
            is_open: vec![false],
        };
        let queue = QueueId(0);
        flits.arrive(Time(100), queue, 1 << CREDIT_BITS | 4);
        flits.arrive(Time(105), queue, 2 << CREDIT_BITS | 2);
        let at = |missing| flits.complete_at(Time(105), queue, missing).map(|t| t.0);
        assert_eq!([3, 4, 5, 6, 7].map(at), [Some(110), Some(120), Some(125), Some(130), None]);
        // One event for each time: at 125, and at 120 for a packet that is smaller.
        let events = [5, 5, 4].map(|missing| flits.event_for(Time(105), queue, missing).map(|t| t.0));
        assert_eq!(events, [Some(125), None, Some(120)]);
        let mut changes = vec![Time(100)];
        while let Some(next) = flits.next_change(PortId(0), 0..1, changes[changes.len() - 1]) {
            changes.push(next);
        }
        assert_eq!(changes.iter().map(|t| t.0).collect::<Vec<_>>(), [100, 105, 110, 120, 125, 130]);
    }
}
