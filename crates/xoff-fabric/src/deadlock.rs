//! Deadlock of lossless flow control: egress queues that wait on each other in a circle, and so for ever.
//!
//! An egress queue that is paused, or lacks credits, waits for the ingress queue at its peer to drain. That ingress queue drains when the packets
//! charged to it leave by their own egress queues; when all of these are stopped and wait likewise, nothing moves any
//! more. The set of such queues is found as the greatest fixed point: begin with all stopped queues and take out those
//! for which a packet that they wait for may still leave.

use crate::cut::Cut;
use crate::part::Part;
use crate::port::DATA;
use crate::settings::FlowControl;
use crate::topology::{PortId, peer};

/// The egress ports of switches that wait on each other, ascending; empty where there is no deadlock.
pub(crate) fn deadlock(parts: &[Part], cut: &Cut) -> Vec<PortId> {
    let Some(first) = parts.first() else { return Vec::new() };
    let (net, priorities) = (&first.net, first.priorities);
    // A pause that is not repeated ends by itself.
    if let FlowControl::Pfc(pfc) = &net.settings.flow_control
        && pfc.expires
        && !pfc.refresh
    {
        return Vec::new();
    }
    let port_of = |queue: usize| (queue / priorities) as PortId;
    let at = |queue: usize| &parts[cut.part_of(net.topology.node_of(port_of(queue)))];
    // The queue of the same priority at the other end of the link.
    let other_end = |queue: usize| peer(port_of(queue)) as usize * priorities + queue % priorities;
    // An egress queue is held when it is paused, and the ingress queue that paused it still over its threshold; or when it
    // lacks credits, and the buffer that it sends to has no room for its packet.
    let is_held = |queue: usize| {
        let (here, there) = (at(queue), other_end(queue));
        let full = match (&here.credits, &at(there).credits) {
            (Some(credits), Some(other)) => !credits.would_fit(queue as u32, other.receiving(there as u32)),
            _ => at(there).ingress[there].pausing,
        };
        here.pauses[queue].current().is_some() && full
    };
    let mut stuck: Vec<bool> = (0..net.topology.ports() as usize * priorities).map(is_held).collect();
    if !stuck.contains(&true) {
        return Vec::new();
    }
    let charged: Vec<(usize, usize)> = parts.iter().flat_map(Part::charged_packets).collect();
    // Ingress queues from which a packet may still leave free the egress that waits for them.
    retain(&mut stuck, |stuck, waiting| {
        for &(ingress, egress) in &charged {
            if !stuck[egress] {
                waiting[other_end(ingress)] = false;
            }
        }
    });
    // Of what is stuck, the circle itself: queues that hold what another stuck queue waits for.
    retain(&mut stuck, |stuck, in_circle| {
        in_circle.fill(false);
        for &(ingress, egress) in &charged {
            if stuck[other_end(ingress)] {
                in_circle[egress] = true;
            }
        }
    });
    let mut ports: Vec<PortId> = (0..stuck.len()).filter(|&q| stuck[q]).map(port_of).collect();
    ports.dedup();
    ports
}

impl Part {
    /// Of each packet in a switch's memory: the ingress queue that it is charged to and the egress queue it is in.
    fn charged_packets(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for &port in &self.own_ports {
            let port = port as usize;
            for priority in 0..self.priorities {
                for id in self.waiting().of(port as PortId, DATA + priority as u8) {
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
