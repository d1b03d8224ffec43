//! What looks at egress queues: detectors, which mark packets, and congestion points, which send messages to flows'
//! sources; congestion roots and the points of whole switches are told here as well.

use xoff_engine::{Domain, SharedNs3Streams, Time, stream};
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::{
    AnyCongestion, Cnm, CongestionPoint, Detector, Mark, MarkingRandom, PacketView, PortEnv, QueueView,
};

use crate::event::{key, kind};
use crate::packet::{Kind, NO_PACKET, Packet, PacketId};
use crate::part::Part;
use crate::port::{CONTROL, DATA};
use crate::topology::{PortId, peer};

/// A congestion point and its pending timer.
pub(crate) struct Point {
    pub state: AnyCongestion,
    pub timer_at: Time,
}

impl Part {
    /// Makes the detectors and congestion points of all ports, each with random numbers of its own.
    pub(crate) fn build_points(&mut self, detector: Option<&AnyDetector>) {
        let net = self.net.clone();
        let first = net.settings.quirks.marking_stream;
        let shared = first.map(|first| {
            let streams = SharedNs3Streams::new(1, 1, first.into());
            MarkingRandom::shared(move || streams.next_uniform())
        });
        for port in 0..net.topology.ports() {
            for priority in 0..self.priorities {
                let point = port * self.priorities as u32 + priority as u32;
                let env = |domain| PortEnv {
                    point,
                    rate: net.topology.rate(port),
                    delay: net.topology.delay(port),
                    payload: net.wire.payload,
                    frame: net.wire.frame(),
                    to_host: net.is_host(net.topology.node_of(peer(port))),
                    credit_period: net.settings.flow_control.update_period(),
                    hysteresis: net.settings.flow_control.hysteresis(net.wire.largest()),
                    random: shared
                        .clone()
                        .unwrap_or_else(|| stream(net.seed, domain, u64::from(point)).into()),
                };
                if let Some(detector) = detector {
                    self.detectors.push(detector.detector(&env(Domain::Marking)));
                }
                if net.signals.congestion_point {
                    let state = net.scheme.congestion(&env(Domain::Congestion));
                    self.points.push(Point { state, timer_at: Time::NEVER });
                    let node = net.topology.node_of(port);
                    if !net.is_host(node) && self.owns(node) {
                        self.sync_point_timer(point);
                    }
                }
            }
        }
    }

    /// The queue that a detector or congestion point sees, with `more` bytes that pass without queueing.
    pub(crate) fn view(&self, egress: PortId, class: u8, more: u64) -> QueueView {
        let bytes = self.queues[egress as usize * self.classes + class as usize].bytes + more;
        QueueView { now: self.now, bytes }
    }

    /// What a detector or congestion point sees of a packet.
    pub(crate) fn passing(&self, id: PacketId) -> PacketView {
        let packet = &self.packets[id];
        PacketView { flow: packet.flow, bytes: u64::from(packet.size) }
    }

    /// The index of a port's and class's detector, congestion point and pause state.
    #[inline]
    pub(crate) fn data_queue(&self, port: PortId, class: u8) -> u32 {
        port * self.priorities as u32 + u32::from(class - DATA)
    }

    /// A data packet joins a queue, or passes it with `more` bytes.
    pub(crate) fn note_enqueue(&mut self, egress: PortId, id: PacketId, class: u8, more: u64) {
        let view = self.view(egress, class, more);
        if self.roots.is_some() {
            self.root_enqueue(egress, class, view.bytes);
        }
        if self.switch_points.is_some() {
            self.switch_point_enqueue(egress, id, class, view.bytes);
        }
        if self.points.is_empty() {
            return;
        }
        let passing = self.passing(id);
        let point = self.data_queue(egress, class);
        self.points[point as usize].state.on_enqueue(&view, &passing);
        self.sync_point_timer(point);
    }

    /// A data packet leaves its queue, which may mark it.
    pub(crate) fn watch_dequeue(&mut self, egress: PortId, id: PacketId, class: u8) {
        let view = self.view(egress, class, 0);
        let point = self.data_queue(egress, class);
        let passing = self.passing(id);
        if let Some(detector) = self.detectors.get_mut(point as usize) {
            let mark = detector.on_dequeue(&view, &passing);
            let packet = &mut self.packets[id];
            if mark > packet.mark {
                packet.mark = mark;
                self.note_mark(egress, id, mark);
            }
            if !self.records.states_now.is_empty() {
                self.note_state(egress, class);
            }
        }
        if self.roots.is_some() {
            let size = u64::from(self.packets[id].size);
            self.root_dequeue(egress, class, size, view.bytes);
        }
        if self.switch_points.is_some() {
            self.switch_point_dequeue(egress, id, class);
        }
        if !self.points.is_empty() {
            self.points[point as usize].state.on_dequeue(&view, &passing);
            self.sync_point_timer(point);
        }
    }

    /// Schedules a congestion point's next timer, if it moved ahead.
    pub(crate) fn sync_point_timer(&mut self, point: u32) {
        let p = &mut self.points[point as usize];
        let next = p.state.next_timer();
        if next < p.timer_at {
            p.timer_at = next;
            let node = self.ports[point as usize / self.priorities].node;
            self.events.push(node, next, key(kind::CONGESTION_TIMER, point), 0);
        }
    }

    /// A congestion point's timer: its messages set off.
    pub(crate) fn congestion_timer(&mut self, point: u32) {
        if self.points[point as usize].timer_at != self.now {
            return;
        }
        self.points[point as usize].timer_at = Time::NEVER;
        if self.points[point as usize].state.next_timer() <= self.now {
            let (egress, priority) = (point / self.priorities as u32, point % self.priorities as u32);
            let view = self.view(egress, DATA + priority as u8, 0);
            let mut messages = Vec::new();
            self.points[point as usize].state.on_timer(&view, &mut messages);
            for message in messages {
                self.send_cnm(egress, &message);
            }
        }
        self.sync_point_timer(point);
    }

    /// Sends a switch's message to a flow's source, back along the flow's path.
    pub(crate) fn send_cnm(&mut self, egress: PortId, message: &Cnm) {
        let path = self.net.data_path(message.flow);
        let Some(hop) = path.iter().position(|&p| p == egress) else { return };
        // Walking back from the receiver, the switch of the path's link `hop` sends on the link before it.
        let position = self.net.routes[message.flow as usize].back + (path.len() - hop) as u32;
        let size = self.net.wire.cnp as u16;
        let id = self.packets.insert(Packet {
            seq: message.rate.bps(),
            sent_at: self.now,
            flow: message.flow,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: position + 1,
            ingress: egress,
            point: message.point,
            size,
            payload: 0,
            flow_count: 0,
            kind: Kind::Cnm,
            class: CONTROL,
            mark: Mark::None,
            flags: 0,
            hops: 0,
        });
        self.records.cnms_sent += 1;
        let out = self.net.paths[position as usize];
        self.enqueue(out, id, CONTROL, u64::from(size));
    }
}
