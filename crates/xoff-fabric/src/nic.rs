//! Host NICs: which packet goes next.
//!
//! CNPs, CNMs and ACKs wait in queues of their own and go before data. A flow that may send stands in its priority's
//! round robin, or, until its pacing time, in a heap; the NIC has one wake-up pending for whatever comes first.

use std::collections::VecDeque;

use xoff_engine::Time;

use crate::event::{key, kind};
use crate::nic_ns3::Ns3Nic;
use crate::pacing::PacingHeap;
use crate::packet::{Kind, PacketId};
use crate::part::Part;
use crate::port::DATA;
use crate::sender::Standing;
use crate::settings::AckClass;
use crate::topology::{NodeId, NodeKind, PortId, Topology};

/// Every class of a port.
const ALL_CLASSES: u16 = u16::MAX;
/// The classes before data.
const CONTROL_CLASSES: u16 = (1 << DATA) - 1;

/// A host's NIC.
#[derive(Default)]
pub struct Nic {
    pub(crate) port: PortId,
    /// The earliest pending wake-up.
    wake_at: Time,
    /// By priority: flows that may send now, in turn.
    ready: Vec<VecDeque<u32>>,
    /// Priorities with a flow in `ready`, as classes.
    ready_classes: u16,
    /// Flows that wait for their pacing time.
    pacing: PacingHeap,
    /// What it keeps where it works as in another simulator.
    pub(crate) ns3: Ns3Nic,
    /// Flows of this host that have started and not completed.
    pub(crate) open_out: u32,
    /// Flows with an incomplete message to this host.
    pub(crate) open_in: u32,
    /// Flows that ever delivered data to this host.
    pub(crate) seen_in: u32,
    /// When the flows completed lately stop counting into N, earliest first.
    pub(crate) recent_in: VecDeque<Time>,
}

impl Nic {
    /// Flows that wait for their turn or their pacing time, in no order that matters.
    pub(crate) fn flows(&self) -> impl Iterator<Item = u32> {
        let waiting = self.ready.iter().flatten().copied().chain(self.pacing.flows());
        waiting.chain(self.ns3.flows())
    }

    /// A NIC for each node of a topology; those of switches and of nodes that are not `owned` stay empty.
    pub(crate) fn all(topology: &Topology, priorities: usize, owned: impl Fn(NodeId) -> bool) -> Vec<Nic> {
        let mut nics: Vec<Nic> =
            topology.nodes.iter().map(|_| Nic { wake_at: Time::NEVER, ..Nic::default() }).collect();
        for port in 0..topology.ports() {
            let node = topology.node_of(port) as usize;
            if topology.nodes[node].kind == NodeKind::Host && owned(node as NodeId) {
                nics[node].port = port;
                nics[node].ready = vec![VecDeque::new(); priorities];
            }
        }
        nics
    }
}

impl Part {
    /// Puts an idle flow that may send into the round robin, or among those that wait for their time, which it
    /// returns.
    #[inline]
    pub(crate) fn stand(&mut self, flow: u32) -> Option<Time> {
        let sender = self.senders[flow as usize].as_deref_mut()?;
        let nic = &mut self.nics[sender.src as usize];
        sender.next_at = sender.due(&self.net.settings.quirks);
        // A flow whose time comes before the wire is free waits for the wire, not for its time.
        if sender.next_at <= self.now.max(self.ports[nic.port as usize].busy_until) {
            sender.standing = Standing::Ready;
            nic.ready[sender.priority as usize].push_back(flow);
            nic.ready_classes |= 1 << (DATA + sender.priority);
            None
        } else {
            sender.standing = Standing::Pacing;
            let at = sender.next_at;
            nic.pacing.insert(at, flow, &mut self.places);
            Some(at)
        }
    }

    /// A NIC has a packet of its own (ACK, CNP, NACK) to send.
    pub(crate) fn nic_enqueue(&mut self, node: NodeId, id: PacketId) {
        let port_id = self.nics[node as usize].port;
        let packet = &self.packets[id];
        let (class, size) = (packet.class, u64::from(packet.size));
        let port = &mut self.ports[port_id as usize];
        port.recent_max_bytes = port.recent_max_bytes.max(port.queued_bytes + size);
        let first = port.is_idle(self.now) && port.backlog == 0 && port.paused & 1 << class == 0;
        if first && !self.attends_wire {
            return self.nic_send_first(node, port_id, id, class);
        }
        port.backlog |= 1 << class;
        port.queued_bytes += size;
        self.push(port_id, class, port_id, id, size);
        self.nic_kick(node);
    }

    /// Sends a packet of an idle NIC's own before which nothing waits.
    #[inline]
    fn nic_send_first(&mut self, node: NodeId, port_id: PortId, id: PacketId, class: u8) {
        self.release_paced(node);
        self.choose(port_id, 1 << class);
        self.send_own(port_id, id);
        self.nic_rearm(node);
    }

    /// A NIC may have something to send: now, or when its wire is free.
    #[inline]
    pub(crate) fn nic_kick(&mut self, node: NodeId) {
        if self.ns3_nic {
            return self.ns3_kick(node);
        }
        let port = &self.ports[self.nics[node as usize].port as usize];
        if port.is_idle(self.now) {
            self.nic_send(node);
        } else {
            let busy_until = port.busy_until;
            self.nic_arm(node, busy_until);
        }
    }

    /// Sees to it that the NIC wakes at `at`, or when its wire is free, or now, whichever is last; or before that.
    #[inline]
    pub(crate) fn nic_arm(&mut self, node: NodeId, at: Time) {
        let nic = &mut self.nics[node as usize];
        let at = at.max(self.ports[nic.port as usize].busy_until).max(self.now);
        if at < nic.wake_at {
            nic.wake_at = at;
            self.events.push(node, at, key(kind::NIC_WAKE, node), 0);
        }
    }

    #[inline]
    pub(crate) fn nic_wake(&mut self, node: NodeId, number: u32) {
        if self.ns3_nic {
            return self.ns3_wake(node, number);
        }
        let nic = &mut self.nics[node as usize];
        if nic.wake_at != self.now {
            return; // an earlier wake-up took its place
        }
        nic.wake_at = Time::NEVER;
        self.nic_kick(node);
    }

    /// Sends the next packet of an idle NIC and arms its next wake-up.
    #[inline]
    fn nic_send(&mut self, node: NodeId) {
        let port_id = self.nics[node as usize].port;
        self.release_paced(node);
        // Data that is held back leaves its place to control packets.
        let classes = if self.throttled_until(port_id) > self.now { CONTROL_CLASSES } else { ALL_CLASSES };
        let open = self.open_lanes(node, classes);
        loop {
            let port = &mut self.ports[port_id as usize];
            let queued = port.sendable() & classes;
            let nic = &mut self.nics[node as usize];
            let flows = nic.ready_classes & !port.paused & open;
            if queued != 0 {
                let class = self.choose(port_id, queued);
                if self.lacks_credits(port_id, class) {
                    continue;
                }
                self.send_queued(port_id, class);
                break;
            }
            if flows == 0 {
                break;
            }
            let class = self.choose(port_id, flows);
            if self.credits.is_some() && self.next_lacks_credits(node, port_id, class) {
                continue;
            }
            let nic = &mut self.nics[node as usize];
            let ready = &mut nic.ready[(class - DATA) as usize];
            let Some(flow) = ready.pop_front() else {
                nic.ready_classes &= !(1 << class);
                continue;
            };
            if ready.is_empty() {
                nic.ready_classes &= !(1 << class);
            }
            if self.send_data(flow, port_id, class) {
                break;
            }
        }
        self.nic_rearm(node);
    }

    /// Sends the first packet of a class's queue at a host.
    #[inline]
    pub(crate) fn send_queued(&mut self, port_id: PortId, class: u8) {
        let id = self.take(port_id, class);
        if self.packets[id].kind == Kind::CreditUpdate {
            self.update_departure(port_id, id);
        }
        self.send_own(port_id, id);
    }

    /// Puts a packet of a host's own on the wire.
    #[inline(always)] // on the way of every packet
    fn send_own(&mut self, port_id: PortId, id: PacketId) {
        // A host's link never leaves the part, so the packet is still here.
        self.put_on_wire(port_id, id);
        let packet = &mut self.packets[id];
        if packet.kind == Kind::Ack && self.net.settings.host.ack_class == AckClass::ControlAtHost {
            packet.class = DATA + self.net.flows[packet.flow as usize].priority;
        }
    }

    /// Whether the flow whose turn it is has a packet that lacks credits, for which its class then waits.
    fn next_lacks_credits(&mut self, node: NodeId, port_id: PortId, class: u8) -> bool {
        let first = self.nics[node as usize].ready[(class - DATA) as usize].front();
        let sender = first.and_then(|&flow| self.senders[flow as usize].as_deref());
        let Some(sender) = sender.filter(|s| s.may_send(self.net.least_window)) else { return false };
        let frame = sender.next_payload(&self.net.wire) + self.net.wire.data_overhead;
        !self.has_credits(port_id, class, frame)
    }

    /// Moves the flows whose pacing time has come into the round robin.
    #[inline]
    fn release_paced(&mut self, node: NodeId) {
        while let Some((at, flow)) = self.nics[node as usize].pacing.first() {
            if at > self.now {
                break;
            }
            let Some(sender) = self.senders[flow as usize].as_deref_mut() else { break };
            sender.standing = Standing::Ready;
            let priority = sender.priority;
            let nic = &mut self.nics[node as usize];
            nic.pacing.remove(flow, &mut self.places);
            nic.ready[priority as usize].push_back(flow);
            nic.ready_classes |= 1 << (DATA + priority);
        }
    }

    /// Arms the wake-up for what is left to send.
    #[inline(always)] // on the way of every packet
    pub(crate) fn nic_rearm(&mut self, node: NodeId) {
        let nic = &self.nics[node as usize];
        let port = &self.ports[nic.port as usize];
        let (queued, ready) = (port.sendable(), nic.ready_classes & !port.paused);
        let (port_id, busy_until) = (nic.port, port.busy_until);
        if queued | ready != 0 {
            let mut at = busy_until;
            if queued & CONTROL_CLASSES == 0 {
                at = at.max(self.throttled_until(port_id));
            }
            if queued == 0 {
                at = at.max(self.lanes_open_at(node, ready));
            }
            if at < Time::NEVER {
                self.nic_arm(node, at);
            }
        }
        // What waits for its lane does not hold up the others.
        if (queued | ready == 0 || self.lanes.is_some())
            && let Some((at, _)) = self.nics[node as usize].pacing.first()
        {
            self.nic_arm(node, at);
        }
    }

    /// Takes a flow that has ended out of its NIC's lists.
    pub(crate) fn nic_forget(&mut self, node: NodeId, flow: u32, priority: u8, standing: Standing) {
        let nic = &mut self.nics[node as usize];
        match standing {
            Standing::Idle => {}
            Standing::Pacing => nic.pacing.remove(flow, &mut self.places),
            Standing::Ready => {
                let ready = &mut nic.ready[priority as usize];
                ready.retain(|&f| f != flow);
                if ready.is_empty() {
                    nic.ready_classes &= !(1 << (DATA + priority));
                }
            }
        }
    }

    /// A waiting flow's pacing time has changed.
    pub(crate) fn nic_repace(&mut self, node: NodeId, flow: u32, due: Time) {
        self.nics[node as usize].pacing.update(due, flow, &mut self.places);
        self.nic_arm(node, due);
    }
}
