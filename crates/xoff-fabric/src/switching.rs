//! Switches: a packet's arrival, its egress queue, and its way onto the next link.
//!
//! Output-queued with shared memory and store-and-forward: a packet is charged to its ingress port when its last
//! bit has arrived, waits in its egress queue, and is released when its transmission begins.

use xoff_schemes::int::PortReading;
use xoff_schemes::{Detector, IntPath};

use crate::event::{key, kind};
use crate::packet::{CHARGED, Kind, PacketId};
use crate::part::Part;
use crate::port::{DATA, MAC_CONTROL, Waiting};
use crate::topology::{NodeId, PortId};

impl Part {
    /// A packet's last bit has arrived at a switch.
    #[inline(always)] // on the way of every packet
    pub(crate) fn switch_arrival(&mut self, node: NodeId, ingress: PortId, id: PacketId) {
        self.counters.packet_hops += 1;
        let packet = &mut self.packets[id];
        if packet.class == MAC_CONTROL {
            return self.link_control_arrival(ingress, id);
        }
        packet.ingress = ingress;
        let egress = self.net.paths[packet.position as usize];
        packet.position += 1;
        let (class, size, kind) = (packet.class, u64::from(packet.size), packet.kind);
        // Whether it is control or data is as good as random, so that is not asked before it must be.
        let number = ingress as usize * self.priorities + class.saturating_sub(DATA) as usize;
        let port = &self.ports[egress as usize];
        let queue = &mut self.ingress[number];
        let memory = &mut self.memories[node as usize];
        // Control is not charged: near a threshold it goes the longer way for nothing.
        if port.is_quiet(self.now) & memory.lets_through(queue, size) & self.passes {
            return if self.attentive {
                self.pass_attentively(egress, id, class)
            } else {
                self.pass(egress, id, kind, size)
            };
        }
        if class >= DATA {
            packet.flags |= CHARGED;
            match memory.charge(queue, size) {
                Ok(false) => {}
                Ok(true) => self.send_pause(number as u32),
                Err(overflow) => return self.no_room(ingress, id, overflow),
            }
            if self.credits.is_some() {
                self.take_place(ingress, class, size);
            }
        } else if kind == Kind::Cnm && self.loses_message(egress, id) {
            return self.packets.remove(id);
        }
        self.enqueue(egress, id, class, size);
    }

    /// A packet goes straight through: its port is quiet, and no threshold is near.
    #[inline(always)] // on the way of most packets
    fn pass(&mut self, egress: PortId, id: PacketId, kind: Kind, size: u64) {
        let port = &mut self.ports[egress as usize];
        if self.int == IntPath::Data {
            let (at, tx_bytes) = (self.now, port.tx_bytes);
            let reading = || PortReading { at, tx_bytes, queue_bytes: 0, rate: port.rate };
            self.packets.stamp_if(kind == Kind::Data, id, port.speed_code, reading);
        }
        let (arrival, place) = (port.start(self.now, size), port.arrivals);
        self.set_off(egress, arrival, place, id);
    }

    /// A packet goes straight through where more is to be done for it than to write its telemetry.
    #[inline(never)]
    fn pass_attentively(&mut self, egress: PortId, id: PacketId, class: u8) {
        if self.watched && self.packets[id].kind == Kind::Data {
            let size = u64::from(self.packets[id].size);
            self.note_enqueue(egress, id, class, size);
        }
        self.leave(egress, id, class);
    }

    /// A packet joins an egress queue of a switch, or goes straight to the wire where nothing is before it.
    #[inline]
    pub(crate) fn enqueue(&mut self, egress: PortId, id: PacketId, class: u8, size: u64) {
        let port = &mut self.ports[egress as usize];
        let idle = port.is_idle(self.now);
        let mut may_send = port.paused & (1 << class) == 0;
        let first = port.sendable() == 0 && port.backlog & (1 << class) == 0;
        if idle && may_send && first && (class < DATA || self.has_credits_for(egress, class, id, size)) {
            if self.watched && self.packets[id].kind == Kind::Data {
                self.note_enqueue(egress, id, class, size);
            }
            return self.forward(egress, id, class);
        }
        let port = &mut self.ports[egress as usize];
        // It may have been stopped for want of credits.
        may_send &= port.paused & (1 << class) == 0;
        port.backlog |= 1 << class;
        port.queued_bytes += size;
        port.recent_max_bytes = port.recent_max_bytes.max(port.queued_bytes);
        let arm = may_send && !port.armed && !idle;
        if arm {
            port.armed = true;
            self.events.push(port.node, port.busy_until, key(kind::PORT_READY, egress), 0);
        }
        let ingress = self.packets[id].ingress;
        self.push(egress, class, ingress, id, size);
        if self.watched && self.packets[id].kind == Kind::Data {
            self.note_enqueue(egress, id, class, 0);
        }
        if idle && may_send {
            self.send_next(egress);
        }
    }

    /// A packet that came in by `ingress` joins the queue of a port and class.
    #[inline(always)] // on the way of every packet
    pub(crate) fn push(&mut self, egress: PortId, class: u8, ingress: PortId, id: PacketId, size: u64) {
        if self.breakdown.is_some() {
            self.note_wait(egress, id);
        }
        let queue = &mut self.queues[egress as usize * self.classes + class as usize];
        match &mut self.voqs {
            Some(voqs) if class >= DATA => {
                queue.bytes += size;
                voqs.push(egress, (class - DATA).into(), ingress, id, &mut self.packets);
            }
            _ => queue.push(id, size, &mut self.packets),
        }
    }

    /// Where packets wait.
    pub(crate) fn waiting(&self) -> Waiting<'_> {
        Waiting {
            queues: &self.queues,
            voqs: self.voqs.as_deref(),
            packets: &self.packets,
            classes: self.classes,
        }
    }

    /// A port has finished a frame and another waits.
    #[inline(always)] // on the way of every packet
    pub(crate) fn port_ready(&mut self, egress: PortId) {
        let port = &mut self.ports[egress as usize];
        port.armed = false;
        if port.busy_until > self.now {
            // A resumed class went ahead in the meantime.
            return self.arm(egress);
        }
        let node = port.node;
        if self.tells_when_ready && self.net.is_host(node) {
            return self.nic_kick(node);
        }
        self.send_next(egress);
    }

    /// Wakes a busy port at the end of its frame if something waits for it.
    #[inline]
    fn arm(&mut self, egress: PortId) {
        let port = &mut self.ports[egress as usize];
        if !port.armed && port.sendable() != 0 {
            port.armed = true;
            self.events.push(port.node, port.busy_until, key(kind::PORT_READY, egress), 0);
        }
    }

    /// Sends the next packet of an idle port, if one may go.
    #[inline(always)] // on the way of every packet
    fn send_next(&mut self, egress: PortId) {
        loop {
            let port = &mut self.ports[egress as usize];
            let sendable = port.sendable();
            if sendable == 0 {
                return;
            }
            let class = self.choose(egress, sendable);
            if self.lacks_credits(egress, class) {
                continue;
            }
            let id = self.take(egress, class);
            self.forward(egress, id, class);
            return self.arm(egress);
        }
    }

    /// Whether the next packet of a class lacks credits; the class then waits for them.
    #[inline(always)] // on the way of every packet
    pub(crate) fn lacks_credits(&mut self, egress: PortId, class: u8) -> bool {
        self.credits.is_some() && class >= DATA && self.next_has_none(egress, class)
    }

    fn next_has_none(&mut self, egress: PortId, class: u8) -> bool {
        let id = match &self.voqs {
            Some(voqs) => voqs.head(egress, (class - DATA).into()),
            None => self.queues[egress as usize * self.classes + class as usize].first(),
        };
        let size = u64::from(self.packets[id].size);
        if self.net.is_host(self.ports[egress as usize].node) {
            !self.has_credits(egress, class, size)
        } else {
            !self.has_credits_for(egress, class, id, size)
        }
    }

    /// Takes the first packet of a class's queue.
    #[inline(always)] // on the way of every packet
    pub(crate) fn take(&mut self, egress: PortId, class: u8) -> PacketId {
        let queue = &mut self.queues[egress as usize * self.classes + class as usize];
        let id = match &mut self.voqs {
            Some(voqs) if class >= DATA => {
                let id = voqs.pop(egress, (class - DATA).into(), &self.packets);
                queue.bytes -= u64::from(self.packets[id].size);
                id
            }
            _ => queue.pop(&self.packets),
        };
        let port = &mut self.ports[egress as usize];
        port.queued_bytes -= u64::from(self.packets[id].size);
        if queue.is_empty() {
            port.backlog &= !(1 << class);
        }
        id
    }

    /// A switch's port may send again, or has something new to send.
    pub(crate) fn kick(&mut self, egress: PortId) {
        if self.ports[egress as usize].is_idle(self.now) {
            self.send_next(egress);
        } else {
            self.arm(egress);
        }
    }

    /// A packet leaves its queue for the wire: memory is released, marks and telemetry are written.
    #[inline(always)] // on the way of every packet
    fn forward(&mut self, egress: PortId, id: PacketId, class: u8) {
        let packet = &mut self.packets[id];
        let (size, ingress) = (u64::from(packet.size), packet.ingress);
        if packet.flags & CHARGED != 0 {
            packet.flags &= !CHARGED;
            let number = ingress as usize * self.priorities + (class - DATA) as usize;
            let queue = &mut self.ingress[number];
            if self.memories[queue.node as usize].release(queue, size) {
                self.send_resume(number as u32);
            }
            if self.credits.is_some() {
                self.leave(egress, id, class);
                return self.leave_place(egress, number as u32, size);
            }
        }
        self.leave(egress, id, class);
    }

    /// A frame for the switch itself has come: its neighbour's flow control.
    #[cold]
    fn link_control_arrival(&mut self, ingress: PortId, id: PacketId) {
        match self.packets[id].kind {
            Kind::CreditUpdate => self.update_arrival(ingress, id),
            _ => self.pfc_arrival(ingress, id),
        }
    }

    /// A packet goes onto the wire: marks and telemetry are written.
    #[inline(always)] // on the way of every packet
    fn leave(&mut self, egress: PortId, id: PacketId, class: u8) {
        let packet = &self.packets[id];
        let (kind, ingress) = (packet.kind, packet.ingress);
        match kind {
            Kind::Data => {
                if self.watched {
                    self.watch_dequeue(egress, id, class);
                }
                if self.int == IntPath::Data {
                    let port = &self.ports[egress as usize];
                    let (tx_bytes, queue_bytes) = (port.tx_bytes, port.queued_bytes);
                    let reading = || PortReading { at: self.now, tx_bytes, queue_bytes, rate: port.rate };
                    self.packets.stamp(id, port.speed_code, reading);
                }
            }
            Kind::Ack if self.int == IntPath::Ack => {
                let reading = self.int_reading(ingress);
                let code = self.ports[ingress as usize].speed_code;
                self.packets.stamp(id, code, || reading);
                self.packets[id].size += self.net.wire.ack_growth as u16;
            }
            Kind::Pfc => self.pfc_departure(egress, id),
            Kind::CreditUpdate => self.update_departure(egress, id),
            Kind::Ack if class >= DATA && self.net.settings.quirks.marking_stream.is_some() => {
                // The number is drawn; senders do not look at an ACK's own mark.
                let view = self.view(egress, class, 0);
                let queue = self.data_queue(egress, class) as usize;
                let packet = self.passing(id);
                self.detectors.get_mut(queue).map(|detector| detector.on_dequeue(&view, &packet));
            }
            _ => {}
        }
        self.put_on_wire(egress, id);
    }
}
