//! Deadlock of lossless flow control: egress queues that wait for each other in a circle, and so for ever.
//!
//! An egress queue that is paused, or lacks credits, waits for the ingress queue at its peer to drain. That ingress queue
//! drains when the packets charged to it leave by their own egress queues; when all of these are stopped and wait in the
//! same manner, nothing moves any more. The set of such queues is the greatest fixed point: begin with all stopped queues
//! and take out each queue that waits for a packet which may still leave.

use crate::ids::{PortId, QueueId};

/// The egress ports of switches that wait for each other; empty if there is no deadlock. First come the ports of a circle, each
/// waiting for the next and the last for the first, then the others, ascending.
///
/// `held` says by queue whether the queue is stopped and its other end has no room; `charged` lists for the packets in
/// switches' memories the ingress queue to which they are charged, and their egress queue, each pair at least once. If the lanes
/// of a port share memory (`is_shared`), a packet that may still leave frees those who wait for any lane of its ingress port.
pub(crate) fn deadlock(
    mut held: Vec<bool>,
    charged: &[(QueueId, QueueId)],
    priorities: usize,
    is_shared: bool,
) -> Vec<PortId> {
    let other_end = |queue: QueueId| queue.other_end(priorities).index();
    // An ingress queue from which a packet may still leave frees the egress queue that waits for it.
    retain(&mut held, |held, waiting| {
        for &(ingress, egress) in charged {
            if !held[egress.index()] {
                waiting[other_end(ingress)] = false;
                let lanes = QueueId::new(ingress.port(priorities).peer(), 0, priorities).index();
                if is_shared {
                    waiting[lanes..lanes + priorities].fill(false);
                }
            }
        }
    });
    // Keep only the circle itself: stuck queues that hold packets for which another stuck queue waits.
    retain(&mut held, |held, in_circle| {
        in_circle.fill(false);
        for &(ingress, egress) in charged {
            if held[other_end(ingress)] {
                in_circle[egress.index()] = true;
            }
        }
    });
    let circle = circle(&held, charged, priorities);
    let stuck = (0..held.len()).filter(|&queue| held[queue]);
    let mut ports: Vec<PortId> = circle.into_iter().map(|queue| queue.port(priorities)).collect();
    for port in stuck.map(|queue| QueueId(queue as u32).port(priorities)) {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

/// Stuck queues that wait for each other in a circle, beginning with the first in number: from each stuck queue the way leads
/// on to the first one that holds a packet for which it waits. All of them are stuck, so the way leads into a circle.
fn circle(held: &[bool], charged: &[(QueueId, QueueId)], priorities: usize) -> Vec<QueueId> {
    let awaited = |queue: QueueId| {
        let there = queue.other_end(priorities);
        charged.iter().filter(|(ingress, _)| *ingress == there).map(|&(_, egress)| egress).min()
    };
    let Some(first) = held.iter().position(|&held| held) else { return Vec::new() };
    let mut way = vec![QueueId(first as u32)];
    while let Some(next) = way.last().and_then(|&queue| awaited(queue)) {
        if let Some(begin) = way.iter().position(|&queue| queue == next) {
            way.drain(..begin);
            break;
        }
        way.push(next);
    }
    let lowest = (0..way.len()).min_by_key(|&place| way[place]).unwrap_or(0);
    way.rotate_left(lowest);
    way
}

/// Takes members out of `set` until nothing changes; `judge` sees the set and says who may stay.
fn retain(set: &mut [bool], judge: impl Fn(&[bool], &mut [bool])) {
    loop {
        let mut stay = vec![true; set.len()];
        judge(set, &mut stay);
        let mut changed = false;
        for (member, stay) in set.iter_mut().zip(stay) {
            changed |= *member && !stay;
            *member &= stay;
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_another_lane_may_free_memory_that_lanes_share() {
        // Two switches with a link each way, by port 0 to port 1 and by port 2 to port 3, and lanes 0 and 1. On lane 0 both egress queues
        // hold packets for which the other one waits.
        let queue = |port, lane| QueueId::new(PortId(port), lane, 2);
        let mut held = vec![false; 12];
        held[queue(0, 0).index()] = true;
        held[queue(2, 0).index()] = true;
        let mut charged = vec![(queue(1, 0), queue(2, 0)), (queue(3, 0), queue(0, 0))];
        let found = |charged: &[_], is_shared| deadlock(held.clone(), charged, 2, is_shared);
        assert_eq!(found(&charged, true), [PortId(0), PortId(2)]);
        // A packet that came in by port 1 on lane 1 may leave by port 4.
        charged.push((queue(1, 1), queue(4, 1)));
        assert_eq!(found(&charged, false), [PortId(0), PortId(2)]);
        assert_eq!(found(&charged, true), []);
    }
}
