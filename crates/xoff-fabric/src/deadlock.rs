//! Deadlock of PFC: egress queues that wait on each other in a circle, and so for ever.
//!
//! A paused egress queue waits for the ingress queue at its peer to drain. That ingress queue drains when the packets
//! charged to it leave by their own egress queues; when all of these are paused and wait likewise, nothing moves any
//! more. The set of such queues is found as the greatest fixed point: begin with all paused queues and take out those
//! for which a packet that they wait for may still leave.

use crate::part::Part;
use crate::port::DATA;
use crate::settings::FlowControl;
use crate::topology::{PortId, peer};

impl Part {
    /// The egress ports of switches that wait on each other, ascending; empty where there is no deadlock.
    pub fn deadlock(&self) -> Vec<PortId> {
        // A pause that is not repeated ends by itself.
        let FlowControl::Pfc(pfc) = &self.net.settings.flow_control else { return Vec::new() };
        if pfc.expires && !pfc.refresh {
            return Vec::new();
        }
        let mut stuck: Vec<bool> = (0..self.pauses.len()).map(|q| self.is_held(q)).collect();
        if !stuck.contains(&true) {
            return Vec::new();
        }
        let charged = self.charged_packets();
        // Ingress queues from which a packet may still leave free the egress that waits for them.
        retain(&mut stuck, |stuck, waiting| {
            for &(ingress, egress) in &charged {
                if !stuck[egress] {
                    waiting[self.peer_queue(ingress)] = false;
                }
            }
        });
        // Of what is stuck, the circle itself: queues that hold what another stuck queue waits for.
        retain(&mut stuck, |stuck, in_circle| {
            in_circle.fill(false);
            for &(ingress, egress) in &charged {
                if stuck[self.peer_queue(ingress)] {
                    in_circle[egress] = true;
                }
            }
        });
        let mut ports: Vec<PortId> =
            (0..stuck.len()).filter(|&q| stuck[q]).map(|q| (q / self.priorities) as PortId).collect();
        ports.dedup();
        ports
    }

    /// Whether an egress queue is paused, and the ingress queue that paused it still over its threshold.
    fn is_held(&self, queue: usize) -> bool {
        self.pauses[queue].current().is_some() && self.ingress[self.peer_queue(queue)].pausing
    }

    /// The queue of the same priority at the other end of the link.
    fn peer_queue(&self, queue: usize) -> usize {
        peer((queue / self.priorities) as PortId) as usize * self.priorities + queue % self.priorities
    }

    /// Of each packet in a switch's memory: the ingress queue that it is charged to and the egress queue it is in.
    fn charged_packets(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for port in 0..self.ports.len() {
            for priority in 0..self.priorities {
                let queue = &self.queues[port * self.classes + DATA as usize + priority];
                for id in queue.packets(&self.packets) {
                    let ingress = self.packets[id].ingress as usize;
                    pairs.push((ingress * self.priorities + priority, port * self.priorities + priority));
                }
            }
        }
        pairs
    }
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
