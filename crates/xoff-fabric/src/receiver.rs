//! Host NICs, receiving side: in-order delivery, cumulative ACKs, CNPs, and go-back-N where losses are allowed.

use xoff_engine::Time;
use xoff_schemes::{AnyNotification, Arrival, Cnp, FlowEnv, IntPath, Mark, NotificationPoint};

use crate::detection::Marks;
use crate::event::{self, key};
use crate::packet::{HAS_RATE, Kind, LAST, NO_PACKET, Packet, PacketId};
use crate::part::Part;
use crate::port::{CONTROL, DATA};
use crate::settings::{AckClass, FlowCount};
use crate::topology::{NodeId, PortId};

/// A flow at its receiver.
pub(crate) struct Receiver {
    /// All before this offset has arrived.
    expected: u64,
    /// Data packets since the last ACK.
    unacked: u32,
    /// The greatest mark since the last ACK.
    mark: Mark,
    /// Data packets that came marked.
    pub(crate) marks: Marks,
    notification: AnyNotification,
    timer_at: Time,
    /// The gap of the last NACK and when it went.
    nacked: (u64, Time),
    complete: bool,
}

impl Part {
    /// A packet's last bit has arrived at a host.
    #[inline(always)] // on the way of every packet
    pub(crate) fn host_arrival(&mut self, ingress: PortId, id: PacketId) {
        self.counters.packet_hops += 1;
        let packet = &self.packets[id];
        let (kind, class, size) = (packet.kind, packet.class, packet.size.into());
        if self.credits.is_some() && class >= DATA {
            self.pass_buffer(ingress, class, size);
        }
        match kind {
            Kind::Data => self.data_arrival(ingress, id),
            Kind::Pfc => self.pfc_arrival(ingress, id),
            Kind::CreditUpdate => self.update_arrival(ingress, id),
            _ => self.feedback(id),
        }
    }

    #[inline(always)] // on the way of every packet
    fn data_arrival(&mut self, ingress: PortId, id: PacketId) {
        let packet = self.packets[id];
        let (flow, node) = (packet.flow, self.ports[ingress as usize].node);
        if self.receivers[flow as usize].is_none() {
            self.open_receiver(flow, node);
        }
        let Some(receiver) = self.receivers[flow as usize].as_deref_mut() else { return };
        let arrival = Arrival {
            now: self.now,
            payload: u64::from(packet.payload),
            frame: u64::from(packet.size),
            mark: packet.mark,
        };
        let cnp = receiver.notification.on_data(&arrival);
        let timer = receiver.notification.next_timer();
        if timer < receiver.timer_at {
            receiver.timer_at = timer;
            self.events.push(node, timer.max(self.now), key(event::kind::NOTIFICATION_TIMER, flow), 0);
        }
        receiver.marks.count(packet.mark);
        let in_order = packet.seq == receiver.expected;
        let mut ack = false;
        if in_order {
            receiver.expected += u64::from(packet.payload);
            receiver.unacked += 1;
            self.counters.delivered_bytes += u64::from(packet.payload);
            receiver.mark = receiver.mark.max(packet.mark);
            let last = packet.flags & LAST != 0;
            ack = last || receiver.unacked >= self.net.settings.host.ack_every;
            if last && !receiver.complete {
                receiver.complete = true;
                self.close_receiver(node);
                self.flow_delivered(flow);
            }
        }
        if let Some(cnp) = cnp {
            self.send_cnp(flow, node, &cnp);
        }
        if !in_order {
            return self.out_of_order(id, node);
        }
        if ack { self.answer(id, node, Kind::Ack) } else { self.packets.remove(id) }
    }

    /// First data of a flow.
    #[cold]
    fn open_receiver(&mut self, flow: u32, node: NodeId) {
        let env = FlowEnv { now: self.now, ..self.net.flow_env(flow) };
        let notification = self.net.scheme.notification(&env);
        self.receivers[flow as usize] = Some(Box::new(Receiver {
            expected: 0,
            unacked: 0,
            mark: Mark::None,
            marks: Marks::default(),
            notification,
            timer_at: Time::NEVER,
            nacked: (u64::MAX, Time::ZERO),
            complete: false,
        }));
        let nic = &mut self.nics[node as usize];
        nic.open_in += 1;
        nic.seen_in += 1;
    }

    /// Last data of a flow: it counts into N for one more base RTT.
    fn close_receiver(&mut self, node: NodeId) {
        let nic = &mut self.nics[node as usize];
        nic.open_in -= 1;
        nic.recent_in.push_back(self.now + self.net.base_rtt);
    }

    /// The number of concurrent flows N (FNCC, section 3.2.3), in the 16 bit that an ACK has for it.
    fn flow_count(&mut self, node: NodeId) -> u16 {
        let nic = &mut self.nics[node as usize];
        let n = match self.net.settings.host.flow_count {
            FlowCount::AllOpenQps => nic.seen_in,
            FlowCount::Recent => {
                while nic.recent_in.front().is_some_and(|&until| until <= self.now) {
                    nic.recent_in.pop_front();
                }
                nic.open_in + nic.recent_in.len() as u32
            }
        };
        n.min(u32::from(u16::MAX)) as u16
    }

    /// Turns the data packet at hand into the ACK or NACK for all that has arrived; telemetry on data goes back with
    /// it.
    #[inline(always)] // on the way of every packet
    fn answer(&mut self, id: PacketId, node: NodeId, kind: Kind) {
        let flow_count = if self.net.signals.flow_count { self.flow_count(node) } else { 0 };
        let flow = self.packets[id].flow;
        let Some(receiver) = self.receivers[flow as usize].as_deref_mut() else { return };
        let (seq, mark) = (receiver.expected, receiver.mark);
        receiver.unacked = 0;
        receiver.mark = Mark::None;
        let (done, marks) = (receiver.complete, receiver.marks);
        let packet = &mut self.packets[id];
        packet.kind = kind;
        packet.seq = seq;
        packet.mark = mark;
        packet.flow_count = flow_count;
        packet.flags = 0;
        packet.size = self.net.wire.ack as u16;
        packet.payload = 0;
        packet.position = self.net.routes[flow as usize].ack + 1;
        if self.net.settings.host.ack_class != AckClass::Data {
            packet.class = CONTROL;
        }
        if self.int == IntPath::Ack {
            packet.hops = 0;
        }
        if done && !self.net.settings.lossy {
            // Without losses nothing of the flow can come any more.
            self.receivers[flow as usize] = None;
            self.records.flow_received(flow, marks);
        }
        let delay = self.net.settings.host.processing_delay;
        if delay == Time::ZERO {
            self.nic_enqueue(node, id);
        } else {
            self.events.push(node, self.now + delay, key(event::kind::ACK_READY, node), id);
        }
    }

    /// In a lossy network: what came is beyond a gap, or came before.
    #[cold]
    fn out_of_order(&mut self, id: PacketId, node: NodeId) {
        let packet = self.packets[id];
        debug_assert!(self.net.settings.lossy, "a lossless network delivers each flow in order");
        let interval = self.net.settings.host.nack_interval;
        let Some(receiver) = self.receivers[packet.flow as usize].as_deref_mut() else { return };
        if packet.seq < receiver.expected {
            return self.answer(id, node, Kind::Ack); // its ACK may have been lost
        }
        let (gap, at) = receiver.nacked;
        if gap == receiver.expected && self.now < at + interval {
            return self.packets.remove(id);
        }
        receiver.nacked = (receiver.expected, self.now);
        self.answer(id, node, Kind::Nack);
    }

    /// Sends a CNP to a flow's source, before any ACK.
    fn send_cnp(&mut self, flow: u32, node: NodeId, cnp: &Cnp) {
        let id = self.packets.insert(Packet {
            seq: cnp.rate.map_or(0, |r| r.bps()),
            sent_at: self.now,
            flow,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: self.net.routes[flow as usize].ack + 1,
            ingress: 0,
            point: 0,
            size: self.net.wire.cnp as u16,
            payload: 0,
            flow_count: 0,
            kind: Kind::Cnp,
            class: CONTROL,
            mark: cnp.mark,
            flags: if cnp.rate.is_some() { HAS_RATE } else { 0 },
            hops: 0,
        });
        self.nic_enqueue(node, id);
    }

    pub(crate) fn notification_timer(&mut self, flow: u32) {
        let Some(receiver) = self.receivers[flow as usize].as_deref_mut() else { return };
        if receiver.timer_at != self.now {
            return;
        }
        receiver.timer_at = Time::NEVER;
        let cnp = if receiver.notification.next_timer() <= self.now {
            receiver.notification.on_timer(self.now)
        } else {
            None
        };
        let next = receiver.notification.next_timer();
        if next < receiver.timer_at {
            receiver.timer_at = next;
            let node = self.net.flows[flow as usize].dst;
            self.events.push(node, next.max(self.now), key(event::kind::NOTIFICATION_TIMER, flow), 0);
        }
        if let Some(cnp) = cnp {
            self.send_cnp(flow, self.net.flows[flow as usize].dst, &cnp);
        }
    }
}
