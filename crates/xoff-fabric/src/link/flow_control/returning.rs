//! Credits on their way back to the sending end of a link.
//!
//! Nothing happens when credits arrive at an egress queue that does not wait for them. Such arrivals are no events: they
//! are kept here, in order of time, until the queue lacks credits or the window ends. Only the arrival that lets a stopped
//! queue go on is an event. A run counts every arrival as an event, so that counts do not depend on which of them were.

use std::collections::VecDeque;

use xoff_engine::Time;

use crate::ids::QueueId;

/// Queues in a block, one bit of a word each.
const BLOCK: usize = 64;

/// Credits that arrive at an egress queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When the credits arrive.
    pub at: Time,
    pub credits: u32,
    /// This arrival is an event of its own.
    pub is_event: bool,
}

/// What is on its way to the queues of a block.
#[derive(Clone, Copy)]
struct Block {
    /// No credits arrive before this time.
    earliest: Time,
    /// One bit for each queue to which credits are on their way; further bits may be set.
    queues: u64,
}

impl Block {
    const EMPTY: Block = Block { earliest: Time::NEVER, queues: 0 };
}

/// Credits on their way, by egress queue.
pub(crate) struct Returning {
    /// By egress queue, in order of time.
    arrivals: Vec<VecDeque<Arrival>>,
    blocks: Vec<Block>,
}

impl Returning {
    /// The state of `queues` queues without credits on their way.
    pub fn new(queues: usize) -> Returning {
        Returning {
            arrivals: (0..queues).map(|_| VecDeque::new()).collect(),
            blocks: vec![Block::EMPTY; queues.div_ceil(BLOCK)],
        }
    }

    /// Adds credits that will arrive at time `at`, which may be before the arrival of credits that were added earlier.
    #[inline]
    pub fn push(&mut self, queue: QueueId, at: Time, credits: u32) {
        let arrival = Arrival { at, credits, is_event: false };
        let block = &mut self.blocks[queue.index() / BLOCK];
        block.earliest = at.min(block.earliest);
        block.queues |= 1 << (queue.index() % BLOCK);
        let arrivals = &mut self.arrivals[queue.index()];
        match arrivals.back() {
            Some(last) if last.at > at => {
                let place = arrivals.iter().rposition(|other| other.at <= at).map_or(0, |before| before + 1);
                arrivals.insert(place, arrival);
            }
            _ => arrivals.push_back(arrival),
        }
    }

    /// Takes the next credits of a queue if they arrive before `limit`.
    #[inline]
    pub fn pop_before(&mut self, queue: QueueId, limit: Time) -> Option<Arrival> {
        let arrivals = &mut self.arrivals[queue.index()];
        if arrivals.front()?.at < limit { arrivals.pop_front() } else { None }
    }

    /// Turns the arrival that gives a queue the `missing` credits into an event, and returns its time. `None` if that
    /// arrival is an event already, or if too few credits are on their way.
    pub fn event_for(&mut self, queue: QueueId, missing: u64) -> Option<Time> {
        let mut sum = 0;
        let enough = |arrival: &&mut Arrival| {
            sum += u64::from(arrival.credits);
            sum >= missing
        };
        let arrival = self.arrivals[queue.index()].iter_mut().find(enough)?;
        let is_new = !std::mem::replace(&mut arrival.is_event, true);
        is_new.then_some(arrival.at)
    }

    /// Hands over all credits that arrive before `limit`.
    pub fn drain_before(&mut self, limit: Time, mut take: impl FnMut(QueueId, Arrival)) {
        for (number, block) in self.blocks.iter_mut().enumerate() {
            if block.earliest >= limit {
                continue;
            }
            let mut queues = std::mem::replace(&mut block.queues, 0);
            block.earliest = Time::NEVER;
            while queues != 0 {
                let bit = queues.trailing_zeros() as usize;
                queues &= queues - 1;
                let queue = number * BLOCK + bit;
                let arrivals = &mut self.arrivals[queue];
                while let Some(&arrival) = arrivals.front() {
                    if arrival.at >= limit {
                        block.queues |= 1 << bit;
                        block.earliest = arrival.at.min(block.earliest);
                        break;
                    }
                    arrivals.pop_front();
                    take(QueueId(queue as u32), arrival);
                }
            }
        }
    }

    /// Shows what is on its way: the queue, when, and how many credits.
    pub fn visit(&self, mut visit: impl FnMut(QueueId, Time, u32)) {
        for (queue, arrivals) in self.arrivals.iter().enumerate() {
            arrivals.iter().for_each(|arrival| visit(QueueId(queue as u32), arrival.at, arrival.credits));
        }
    }

    /// A time that is not after the next arrival, between windows; [`Time::NEVER`] if nothing is on its way.
    pub fn earliest(&self) -> Time {
        self.blocks.iter().map(|block| block.earliest).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: QueueId = QueueId(70);

    #[test]
    fn credits_arrive_in_order_of_time() {
        // The packet of the first credits leaves by a slow port: its credits arrive after those of the second.
        let mut returning = Returning::new(100);
        for (at, credits) in [(90, 1), (80, 2), (90, 4), (85, 8)] {
            returning.push(QUEUE, Time(at), credits);
        }
        assert_eq!(returning.earliest(), Time(80));
        let mut seen = Vec::new();
        returning.drain_before(Time(90), |queue, arrival| seen.push((queue, arrival.at.0, arrival.credits)));
        assert_eq!(seen, [(QUEUE, 80, 2), (QUEUE, 85, 8)]);
        assert_eq!(returning.earliest(), Time(90));
        assert_eq!(returning.pop_before(QUEUE, Time(90)), None);
        let rest = [(); 3].map(|()| returning.pop_before(QUEUE, Time(91)).map(|arrival| arrival.credits));
        assert_eq!(rest, [Some(1), Some(4), None]);
    }

    #[test]
    fn the_arrival_that_is_awaited_becomes_one_event() {
        // 3 + 4 credits come: a queue that lacks 5 has them at 20, and one that lacks 8 not yet.
        let mut returning = Returning::new(100);
        returning.push(QUEUE, Time(10), 3);
        returning.push(QUEUE, Time(20), 4);
        assert_eq!(returning.event_for(QUEUE, 8), None);
        assert_eq!(returning.event_for(QUEUE, 5), Some(Time(20)));
        assert_eq!(returning.event_for(QUEUE, 5), None);
        // 2 more credits overtake these: now the queue has 5 at 15, and the event at 20 remains.
        returning.push(QUEUE, Time(15), 2);
        assert_eq!(returning.event_for(QUEUE, 5), Some(Time(15)));
        let events: Vec<_> = std::iter::from_fn(|| returning.pop_before(QUEUE, Time(99))).collect();
        assert_eq!(
            events.iter().map(|e| (e.at.0, e.is_event)).collect::<Vec<_>>(),
            [(10, false), (15, true), (20, true)]
        );
    }
}
