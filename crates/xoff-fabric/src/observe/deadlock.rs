//! Deadlock of lossless flow control: egress queues that wait on each other in a circle, and so for ever.
//!
//! An egress queue that is paused, or lacks credits, waits for the ingress queue at its peer to drain. That ingress queue
//! drains when the packets charged to it leave by their own egress queues; when all of these are stopped and wait
//! likewise, nothing moves any more. The set of such queues is found as the greatest fixed point: begin with all stopped
//! queues and take out those for which a packet that they wait for may still leave.

use crate::ids::{PortId, QueueId};

/// The egress ports of switches that wait on each other, ascending; empty if there is no deadlock.
///
/// `held` says by queue whether it is stopped and its other end has no room; `charged` lists for each packet in a switch's
/// memory the ingress queue that it is charged to and the egress queue that it is in.
pub(crate) fn deadlock(
    mut held: Vec<bool>,
    charged: &[(QueueId, QueueId)],
    priorities: usize,
) -> Vec<PortId> {
    let other_end = |queue: QueueId| queue.other_end(priorities).index();
    // Ingress queues from which a packet may still leave free the egress that waits for them.
    retain(&mut held, |held, waiting| {
        for &(ingress, egress) in charged {
            if !held[egress.index()] {
                waiting[other_end(ingress)] = false;
            }
        }
    });
    // Of what is stuck, the circle itself: queues that hold what another stuck queue waits for.
    retain(&mut held, |held, in_circle| {
        in_circle.fill(false);
        for &(ingress, egress) in charged {
            if held[other_end(ingress)] {
                in_circle[egress.index()] = true;
            }
        }
    });
    let stuck = (0..held.len()).filter(|&queue| held[queue]);
    let mut ports: Vec<PortId> = stuck.map(|queue| QueueId(queue as u32).port(priorities)).collect();
    ports.dedup();
    ports
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
