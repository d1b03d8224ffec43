//! The queues of a switch's egress port and priority, one for each flow while there are enough.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use crate::ids::QueueId;
use crate::packet::PacketId;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: PacketId,
    flow: u32,
    size: u64,
}

/// A queue, and the flows in it that are held back at the neighbours that they come from.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    packets: VecDeque<Waiting>,
    bytes: u64,
    /// Flows that have packets here.
    flows: u32,
    /// Flows held back since the queue was too long, first to last, with the ingress queue by which they come.
    held: VecDeque<(QueueId, u32)>,
}

/// The queues of one egress port and priority.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowQueues {
    queues: Vec<FlowQueue>,
    /// Flows that have packets here: the number of their queue, and of their packets.
    flows: BTreeMap<u32, (usize, u32)>,
    /// Queues that have packets, in turn.
    ring: VecDeque<usize>,
}

impl FlowQueues {
    /// A packet of a flow joins its queue: the one that has the flow's other packets, else an empty one that no other flow has,
    /// else one by the flow's number. Returns the queue's bytes.
    pub fn push(&mut self, count: usize, flow: u32, id: PacketId, size: u64) -> u64 {
        if self.queues.is_empty() {
            self.queues = vec![FlowQueue::default(); count];
        }
        let known = self.flows.get(&flow).map(|&(queue, _)| queue);
        let number = known.unwrap_or_else(|| {
            let free = self.queues.iter().position(|queue| queue.flows == 0);
            // Multiplicative hashing: the high bits are the mixed ones.
            let hash = u64::from(flow.wrapping_mul(0x9E37_79B1));
            free.unwrap_or(((hash * count as u64) >> 32) as usize)
        });
        let queue = &mut self.queues[number];
        if queue.packets.is_empty() {
            self.ring.push_back(number);
        }
        queue.packets.push_back(Waiting { id, flow, size });
        queue.bytes += size;
        let packets = &mut self.flows.entry(flow).or_insert((number, 0)).1;
        queue.flows += u32::from(*packets == 0);
        *packets += 1;
        queue.bytes
    }

    /// The place in the ring of the queue whose turn it is: the first one whose first packet is of no flow that the next switch
    /// holds back.
    fn turn(&self, paused: &BTreeSet<u32>) -> Option<usize> {
        self.ring.iter().position(|&number| self.may_go(number, paused))
    }

    fn may_go(&self, number: usize, paused: &BTreeSet<u32>) -> bool {
        self.queues[number].packets.front().is_some_and(|first| !paused.contains(&first.flow))
    }

    /// The packet whose turn it is.
    pub fn first(&self, paused: &BTreeSet<u32>) -> Option<PacketId> {
        let number = self.ring[self.turn(paused)?];
        self.queues[number].packets.front().map(|first| first.id)
    }

    /// Takes the packet whose turn it is; the other queues come before this one.
    pub fn take(&mut self, paused: &BTreeSet<u32>) {
        let Some(number) = self.turn(paused).and_then(|place| self.ring.remove(place)) else { return };
        let queue = &mut self.queues[number];
        let Some(taken) = queue.packets.pop_front() else { return };
        queue.bytes -= taken.size;
        if !queue.packets.is_empty() {
            self.ring.push_back(number);
        }
        if let Some((_, packets)) = self.flows.get_mut(&taken.flow) {
            *packets -= 1;
            if *packets == 0 {
                self.flows.remove(&taken.flow);
                queue.flows -= 1;
            }
        }
    }

    /// Queues that have packets and may send, at least one: N_active.
    pub fn active(&self, paused: &BTreeSet<u32>) -> u64 {
        (self.ring.iter().filter(|&&number| self.may_go(number, paused)).count() as u64).max(1)
    }

    /// A flow of an ingress queue is held back, for the length of its queue here.
    pub fn hold(&mut self, ingress: QueueId, flow: u32) {
        if let Some(&(number, _)) = self.flows.get(&flow) {
            self.queues[number].held.push_back((ingress, flow));
        }
    }

    /// The flows that go on: from each queue of at most `threshold` bytes the first `count` that are held.
    pub fn release(&mut self, threshold: u64, count: usize) -> Vec<(QueueId, u32)> {
        let short = self.queues.iter_mut().filter(|queue| queue.bytes <= threshold);
        short.flat_map(|queue| queue.held.drain(..count.min(queue.held.len()))).collect()
    }

    /// Whether a flow is held.
    pub fn holds(&self) -> bool {
        self.queues.iter().any(|queue| !queue.held.is_empty())
    }

    /// Whether nothing waits and no flow is held.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty() && !self.holds()
    }

    /// Tells apart in which queues the flows wait whose packets are known in order, whose turn is next, and which flows are held.
    pub fn hash_order(&self, hasher: &mut impl Hasher) {
        self.ring.hash(hasher);
        for (number, queue) in self.queues.iter().enumerate() {
            if !queue.packets.is_empty() || !queue.held.is_empty() {
                (number, queue.packets.len(), queue.bytes, &queue.held).hash(hasher);
            }
        }
    }

    /// The packets that wait, queue by queue.
    pub fn packets(&self) -> impl Iterator<Item = PacketId> + '_ {
        self.queues.iter().flat_map(|queue| queue.packets.iter().map(|waiting| waiting.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(queues: &mut FlowQueues, paused: &BTreeSet<u32>) -> Vec<PacketId> {
        std::iter::from_fn(|| {
            let id = queues.first(paused)?;
            queues.take(paused);
            Some(id)
        })
        .collect()
    }

    /// Three flows in four queues take turns; a flow that the next switch holds back waits in its own queue alone.
    #[test]
    fn flows_take_turns_and_one_that_is_held_back_blocks_no_other() {
        let mut queues = FlowQueues::default();
        let sizes = [(7, 0), (7, 1), (7, 2), (8, 3), (9, 4), (9, 5)];
        let bytes = sizes.map(|(flow, id)| queues.push(4, flow, id, 1_000));
        assert_eq!(bytes, [1_000, 2_000, 3_000, 1_000, 1_000, 2_000]);
        assert_eq!(queues.active(&BTreeSet::new()), 3);
        let paused = BTreeSet::from([7]);
        assert_eq!(queues.active(&paused), 2);
        assert_eq!(order(&mut queues, &paused), [3, 4, 5]);
        assert_eq!(order(&mut queues, &BTreeSet::new()), [0, 1, 2]);
    }

    #[test]
    fn queues_that_have_more_come_behind_the_others() {
        let mut queues = FlowQueues::default();
        for (flow, id) in [(1, 0), (1, 1), (2, 2), (2, 3)] {
            queues.push(4, flow, id, 1_000);
        }
        assert_eq!(order(&mut queues, &BTreeSet::new()), [0, 2, 1, 3]);
    }

    /// With two queues the third flow shares one, and then waits behind another flow that is held back.
    #[test]
    fn with_too_few_queues_flows_share() {
        let mut queues = FlowQueues::default();
        for (flow, id) in [(1, 0), (2, 1)] {
            queues.push(2, flow, id, 1_000);
        }
        // 3 x 0x9E3779B1 modulo 2^32 is 0xDAA66D13, in the upper half: the second queue, which flow 2 has.
        assert_eq!(queues.push(2, 3, 2, 1_000), 2_000);
        assert_eq!(order(&mut queues, &BTreeSet::from([2])), [0]);
        assert_eq!(order(&mut queues, &BTreeSet::new()), [1, 2]);
        // Once a flow has no packets, its queue is another flow's.
        assert_eq!([queues.push(2, 5, 3, 1_000), queues.push(2, 7, 4, 1_000)], [1_000, 1_000]);
    }

    #[test]
    fn a_queue_lets_held_flows_go_on_one_by_one_once_it_is_short() {
        let mut queues = FlowQueues::default();
        for (flow, id) in [(1, 0), (1, 1), (2, 2)] {
            queues.push(1, flow, id, 1_000);
        }
        queues.hold(QueueId(4), 1);
        queues.hold(QueueId(6), 2);
        assert_eq!(queues.release(2_999, 1), []);
        assert_eq!(queues.release(3_000, 1), [(QueueId(4), 1)]);
        assert!(queues.holds());
        assert_eq!(queues.release(3_000, 1), [(QueueId(6), 2)]);
        assert!(!queues.holds());
        queues.hold(QueueId(6), 2);
        queues.hold(QueueId(4), 1);
        assert_eq!(queues.release(3_000, 3), [(QueueId(6), 2), (QueueId(4), 1)]);
    }
}
