//! Congestion roots, the ground truth of where congestion comes from; with them, the flows that head-of-line blocking held
//! up.
//!
//! An egress queue of a switch is a *congestion root* while at least as much arrives for it as its port can send at full
//! rate. Its minimum is the fewest bytes that it had since the start or its last RESUME. The queue becomes a root when it
//! may send and exceeds its minimum by a given growth; or when it has sent as many bytes as the growth since the minimum
//! last fell, and the minimum is above half of the growth. It stops being a root when it is down to half of the growth, or
//! is paused. So a queue that fills only because it is stopped is no root, and neither is one that drains after a RESUME. A
//! queue that is both stopped and overrun must show after the RESUME that it grows while it sends at full rate, or that its
//! length stays, as it does if PFC stops its inputs.
//!
//! A flow is *HoL-blocked* if a packet of the flow waited behind a PAUSE, in a switch or in its host, and no egress queue
//! of the flow's path was a root at any moment of that pause. The roots of all partitions are known only at the end of a
//! run, when their records are merged.

use xoff_engine::Time;

use super::probe::{Hooks, Probe, Resumed};
use super::records::{Records, RootRecord, Waited};
use crate::ids::{PortId, QueueId};
use crate::network::Network;
use crate::packet::Packet;

/// The state of an egress queue in the search for roots.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Minimum number of bytes since the start or the last RESUME.
    low: u64,
    /// Bytes sent since `low` last fell.
    sent: u64,
    /// Maximum number of bytes since the queue became a root.
    high: u64,
    /// When the queue became a root; `None` if it is none.
    since: Option<Time>,
    /// The queue may not send.
    paused: bool,
}

/// Which of a partition's queues are roots.
pub(crate) struct RootWatch {
    growth: u64,
    /// By port, then priority.
    queues: Vec<Watched>,
    /// Roots that have ended: queue, start, end, maximum number of bytes.
    ended: Vec<(u32, Time, Time, u64)>,
    /// Number of data priorities.
    priorities: usize,
}

impl RootWatch {
    /// A watch over `queues` empty queues, for roots that have grown by `growth` bytes.
    pub(crate) fn new(growth: u64, queues: usize, priorities: usize) -> Self {
        let idle = Watched { low: 0, sent: 0, high: 0, since: None, paused: false };
        RootWatch { growth, queues: vec![idle; queues], ended: Vec::new(), priorities }
    }

    /// A packet has joined a queue, which has `bytes` with it.
    fn enqueue(&mut self, queue: u32, bytes: u64, now: Time) {
        let q = &mut self.queues[queue as usize];
        if q.since.is_some() {
            q.high = q.high.max(bytes);
        } else if !q.paused && bytes >= q.low.saturating_add(self.growth) {
            (q.since, q.high) = (Some(now), bytes);
        }
    }

    /// A packet of `size` bytes has left a queue with `bytes` behind it.
    fn dequeue(&mut self, queue: u32, size: u64, bytes: u64, now: Time) {
        let half = self.growth / 2;
        let q = &mut self.queues[queue as usize];
        if bytes < q.low {
            (q.low, q.sent) = (bytes, 0);
        } else {
            q.sent = q.sent.saturating_add(size);
        }
        if bytes <= half {
            self.end(queue, now);
        } else if q.since.is_none() && q.low > half && q.sent >= self.growth {
            (q.since, q.high) = (Some(now), bytes);
        }
    }

    /// A queue may not send from now on.
    fn pause(&mut self, queue: u32, now: Time) {
        self.queues[queue as usize].paused = true;
        self.end(queue, now);
    }

    /// A queue of `bytes` may send again.
    fn resume(&mut self, queue: u32, bytes: u64) {
        let q = &mut self.queues[queue as usize];
        (q.paused, q.low, q.sent) = (false, bytes, 0);
    }

    fn end(&mut self, queue: u32, now: Time) {
        let q = &mut self.queues[queue as usize];
        if let Some(since) = q.since.take() {
            self.ended.push((queue, since, now, q.high));
        }
    }
}

impl Probe for RootWatch {
    fn hooks(&self) -> Hooks {
        Hooks::QUEUES | Hooks::STOPS
    }

    /// A packet has joined a queue, which has `bytes` with it.
    fn on_enqueue(&mut self, now: Time, queue: QueueId, _packet: &Packet, bytes: u64) {
        self.enqueue(queue.0, bytes, now);
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, packet: &Packet, bytes: u64) {
        self.dequeue(queue.0, u64::from(packet.size), bytes, now);
    }

    fn on_stop(&mut self, now: Time, queue: QueueId) {
        self.pause(queue.0, now);
    }

    /// A stop of an egress queue is over: all packets in the queue have waited behind the stop.
    fn on_resume(&mut self, resumed: &Resumed<'_>, records: &mut Records) {
        self.resume(resumed.queue.0, resumed.bytes);
        let (start, end) = (resumed.since, resumed.now);
        let mut flows = resumed.waiting.to_vec();
        flows.sort_unstable();
        flows.dedup();
        records.partial.waited.extend(flows.into_iter().map(|flow| Waited { flow, start, end }));
    }

    /// Ends the roots that still exist at the end of a run, and records all roots.
    fn finish(&mut self, now: Time, records: &mut Records) {
        for queue in 0..self.queues.len() as u32 {
            self.end(queue, now);
        }
        let priorities = self.priorities;
        records.roots.extend(self.ended.drain(..).map(|(queue, start, end, max_bytes)| RootRecord {
            port: QueueId(queue).port(priorities),
            priority: QueueId(queue).priority(priorities),
            start,
            end,
            max_bytes,
        }));
    }
}

impl Records {
    /// Finds the flows that head-of-line blocking held up.
    pub(crate) fn find_blocked(&mut self, net: &Network) {
        let waited = std::mem::take(&mut self.partial.waited);
        self.partial.waits = waited.len();
        if waited.is_empty() {
            return;
        }
        let priorities = usize::from(net.settings.switch.priorities);
        let queue = |port: PortId, priority: u8| port as usize * priorities + usize::from(priority);
        let mut by_queue: Vec<Vec<(Time, Time)>> =
            vec![Vec::new(); net.topology.ports() as usize * priorities];
        // Rows are sorted by start and do not overlap for one queue, so their ends are in order too.
        for root in &self.roots {
            by_queue[queue(root.port, root.priority)].push((root.start, root.end));
        }
        for wait in waited {
            let outcome = &mut self.flows[wait.flow as usize];
            if outcome.hol_blocked {
                continue;
            }
            let priority = net.flows[wait.flow as usize].priority;
            let guilty = net.data_path(wait.flow).iter().any(|&port| {
                let roots = &by_queue[queue(port, priority)];
                let first = roots.partition_point(|&(_, end)| end < wait.start);
                roots.get(first).is_some_and(|&(start, _)| start <= wait.end)
            });
            outcome.hol_blocked = !guilty;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> RootWatch {
        RootWatch::new(30_000, 2, 1)
    }

    #[test]
    fn what_comes_while_a_queue_is_stopped_does_not_count() {
        let mut w = watch();
        w.enqueue(1, 10_000, Time(1));
        w.pause(1, Time(2));
        w.enqueue(1, 150_000, Time(3));
        w.resume(1, 150_000);
        // It drains to 140,000 B, its minimum: from there it must grow.
        w.dequeue(1, 10_000, 140_000, Time(4));
        w.enqueue(1, 169_999, Time(5));
        assert_eq!(w.queues[1].since, None);
        w.enqueue(1, 170_000, Time(6));
        w.enqueue(1, 180_000, Time(7));
        w.dequeue(1, 10_000, 15_001, Time(8));
        assert_eq!(w.queues[1].since, Some(Time(6)));
        w.dequeue(1, 1, 15_000, Time(9));
        assert_eq!(w.ended, [(1, Time(6), Time(9), 180_000)]);
        // Its minimum is 15,000 B now.
        w.enqueue(1, 44_999, Time(10));
        w.enqueue(1, 45_000, Time(11));
        w.pause(1, Time(12));
        assert_eq!(w.ended[1], (1, Time(11), Time(12), 45_000));
        w.enqueue(1, 500_000, Time(13));
        w.end(1, Time(14));
        assert_eq!(w.ended.len(), 2, "no root while it is stopped");
    }

    #[test]
    fn a_queue_that_stays_long_while_it_sends_is_a_root() {
        let mut w = watch();
        w.pause(1, Time(1));
        w.enqueue(1, 100_000, Time(2));
        w.resume(1, 100_000);
        // It drains from 100,000 to 90,000 B, its minimum. Then it sends three frames of 10,000 B, each replaced by another.
        w.dequeue(1, 10_000, 90_000, Time(3));
        for time in [4, 6] {
            w.enqueue(1, 100_000, Time(time));
            w.dequeue(1, 10_000, 90_000, Time(time + 1));
        }
        w.enqueue(1, 100_000, Time(8));
        assert_eq!(w.queues[1].since, None, "20,000 B sent");
        w.dequeue(1, 10_000, 90_000, Time(9));
        assert_eq!(w.queues[1].since, Some(Time(9)), "30,000 B sent");
        // It grows by less than 30,000 B, and drains to half of that.
        w.enqueue(1, 110_000, Time(10));
        w.dequeue(1, 95_000, 15_000, Time(11));
        assert_eq!(w.ended, [(1, Time(9), Time(11), 110_000)]);
        // A queue that stays at half of the growth is no root, and neither is one that is empty after each packet.
        for (time, bytes) in [(12, 15_000), (22, 0)] {
            for step in 0..5 {
                w.enqueue(1, bytes + 10_000, Time(time + 2 * step));
                w.dequeue(1, 10_000, bytes, Time(time + 2 * step + 1));
            }
        }
        assert_eq!(w.queues[1].since, None);
    }

    #[test]
    fn a_queue_that_drains_slowly_is_none() {
        // It gets 8,000 B for each 10,000 B that it sends: at most one frame goes between two that make it shorter.
        let mut w = watch();
        w.pause(1, Time(1));
        w.resume(1, 100_000);
        let mut bytes = 100_000;
        for step in 0..40 {
            bytes += 8_000;
            w.enqueue(1, bytes, Time(2 * step));
            bytes -= 10_000;
            w.dequeue(1, 10_000, bytes, Time(2 * step + 1));
            assert_eq!(w.queues[1].since, None, "step {step}");
        }
        assert_eq!(bytes, 20_000);
    }

    #[test]
    fn a_pause_begins_the_count_anew() {
        let mut w = watch();
        w.resume(1, 100_000);
        for time in [1, 3] {
            w.enqueue(1, 110_000, Time(time));
            w.dequeue(1, 10_000, 100_000, Time(time + 1));
        }
        w.pause(1, Time(5));
        w.resume(1, 100_000);
        for time in [6, 8] {
            w.enqueue(1, 110_000, Time(time));
            w.dequeue(1, 10_000, 100_000, Time(time + 1));
        }
        assert_eq!(w.queues[1].since, None, "20,000 B since the RESUME");
        w.enqueue(1, 110_000, Time(10));
        w.dequeue(1, 10_000, 100_000, Time(11));
        assert_eq!(w.queues[1].since, Some(Time(11)));
    }
}
