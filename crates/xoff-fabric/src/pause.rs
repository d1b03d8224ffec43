//! PAUSE and RESUME frames (IEEE 802.1Qbb): sent by ingress accounting, obeyed by the peer's egress.
//!
//! A PAUSE waits for the frame on the wire, goes before anything else, travels the link, and stops the peer after
//! the frame that it is sending. It ends by a RESUME (quanta 0) or when its quanta have passed; its sender repeats
//! it at half that time while the threshold is still exceeded. While a frame of a priority waits for the wire, what
//! is to be said of that priority changes the frame: never do two of them wait.

use xoff_engine::Time;
use xoff_schemes::{Detector, Mark, QueueView};

use crate::buffer::quanta_time;
use crate::event::{key, kind};
use crate::packet::{Kind, NO_PACKET, Packet, PacketId};
use crate::part::Part;
use crate::port::{DATA, MAC_CONTROL, Waiting};
use crate::settings::FlowControl;
use crate::topology::{PortId, peer};

/// What a peer's PAUSE frames did to one (egress port, priority), and what its own ingress asked of the peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PauseState {
    /// Since when it is stopped.
    since: Option<Time>,
    /// When the pause expires.
    until: Time,
    /// PAUSE frames received during this pause.
    frames: u32,
    /// Time stopped in all, without the current pause.
    total: Time,
    /// When the ingress side repeats its PAUSE or, where it does not repeat, takes it as expired.
    refresh_at: Time,
    /// The ingress side's frame that waits for the wire.
    pub(crate) waiting: Option<PacketId>,
}

impl PauseState {
    /// Time stopped in all up to `now`.
    pub fn total(&self, now: Time) -> Time {
        self.total + self.since.map_or(Time::ZERO, |s| now - s)
    }

    /// The current pause: since when, and its PAUSE frames.
    pub fn current(&self) -> Option<(Time, u32)> {
        self.since.map(|s| (s, self.frames))
    }
}

impl Part {
    /// Tells the peer of an ingress port to pause a priority; `queue` is the index of port and priority.
    #[cold]
    pub(crate) fn send_pause(&mut self, queue: u32) {
        let FlowControl::Pfc(pfc) = &self.net.settings.flow_control else { return };
        let (quanta, refresh, expires) = (pfc.quanta, pfc.refresh, pfc.expires);
        self.ingress[queue as usize].pausing = true;
        // The peer counts quanta by the rate at which it sends.
        let pause = quanta_time(u64::from(quanta), self.ports[peer(self.port_of(queue)) as usize].rate);
        if expires {
            let next = self.now + if refresh { pause / 2 } else { pause }.max(Time(1));
            self.pauses[queue as usize].refresh_at = next;
            let node = self.ports[self.port_of(queue) as usize].node;
            self.events.push(node, next, key(kind::LINK_CONTROL_PERIOD, queue), 0);
        }
        self.send_pfc(queue, quanta);
    }

    /// Tells the peer to go on.
    #[cold]
    pub(crate) fn send_resume(&mut self, queue: u32) {
        self.ingress[queue as usize].pausing = false;
        self.pauses[queue as usize].refresh_at = Time::NEVER;
        self.send_pfc(queue, 0);
    }

    /// Repeats a PAUSE that still stands, or forgets it where it is not repeated: the peer goes on, and the next
    /// packet above the threshold makes another one.
    pub(crate) fn pause_refresh(&mut self, queue: u32) {
        if !self.ingress[queue as usize].pausing || self.pauses[queue as usize].refresh_at != self.now {
            return;
        }
        match &self.net.settings.flow_control {
            FlowControl::Pfc(pfc) if !pfc.refresh => self.ingress[queue as usize].pausing = false,
            _ => self.send_pause(queue),
        }
    }

    fn port_of(&self, queue: u32) -> PortId {
        queue / self.priorities as u32
    }

    fn send_pfc(&mut self, queue: u32, quanta: u16) {
        if let Some(waiting) = self.pauses[queue as usize].waiting {
            self.packets[waiting].seq = u64::from(quanta);
            return;
        }
        let port = self.port_of(queue);
        let size = self.net.wire.pfc;
        let id = self.packets.insert(Packet {
            seq: u64::from(quanta),
            sent_at: self.now,
            flow: u32::MAX,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: 0,
            ingress: port,
            point: 0,
            size: size as u16,
            payload: 0,
            flow_count: 0,
            kind: Kind::Pfc,
            class: MAC_CONTROL,
            mark: Mark::None,
            flags: 0,
            hops: (queue % self.priorities as u32) as u8,
        });
        self.pauses[queue as usize].waiting = Some(id);
        self.enqueue(port, id, MAC_CONTROL, size);
    }

    /// A PFC frame goes onto the wire.
    #[cold]
    pub(crate) fn pfc_departure(&mut self, port: PortId, id: PacketId) {
        let packet = &self.packets[id];
        let queue = port as usize * self.priorities + usize::from(packet.hops);
        self.records.pause_frames[port as usize] += u64::from(packet.seq > 0);
        self.pauses[queue].waiting = None;
    }

    /// A PFC frame has arrived by `port`, whose egress it stops or frees.
    #[cold]
    pub(crate) fn pfc_arrival(&mut self, port: PortId, id: PacketId) {
        let (quanta, priority) = (self.packets[id].seq as u32, self.packets[id].hops);
        self.packets.remove(id);
        let queue = port * self.priorities as u32 + u32::from(priority);
        // A RESUME takes as long, so that the two never pass each other.
        let response = match &self.net.settings.flow_control {
            FlowControl::Pfc(pfc) => {
                quanta_time(u64::from(pfc.response_quanta), self.ports[port as usize].rate)
            }
            _ => Time::ZERO,
        };
        if response == Time::ZERO {
            self.apply_pause(queue, quanta);
        } else {
            let node = self.ports[port as usize].node;
            self.events.push(node, self.now + response, key(kind::LINK_CONTROL_APPLY, queue), quanta);
        }
    }

    /// Stops a queue for `quanta`, or frees it when that is 0.
    pub(crate) fn apply_pause(&mut self, queue: u32, quanta: u32) {
        let port_id = self.port_of(queue);
        let class = DATA + (queue % self.priorities as u32) as u8;
        if quanta == 0 {
            return self.unpause(port_id, queue, class);
        }
        let until = self.now + quanta_time(u64::from(quanta), self.ports[port_id as usize].rate);
        let state = &mut self.pauses[queue as usize];
        state.until = until;
        if self.net.settings.flow_control.expires() {
            let node = self.ports[port_id as usize].node;
            self.events.push(node, until, key(kind::PAUSE_EXPIRY, queue), 0);
        }
        state.frames += 1;
        if state.since.is_none() {
            self.stop(queue);
        }
    }

    /// Stops a queue that may send, until [`Part::unpause`].
    pub(crate) fn stop(&mut self, queue: u32) {
        let port_id = self.port_of(queue);
        let class = DATA + (queue % self.priorities as u32) as u8;
        self.pauses[queue as usize].since = Some(self.now);
        self.ports[port_id as usize].paused |= 1 << class;
        if self.breakdown.is_some() {
            self.note_port(port_id);
        }
        let view = self.queue_view(port_id, class);
        if let Some(detector) = self.detectors.get_mut(queue as usize) {
            detector.on_pause(&view);
        }
        if let Some(roots) = &mut self.roots {
            roots.pause(queue, self.now);
        }
        if self.throttles.is_some() && self.credits.is_none() {
            self.throttle_credits(port_id);
        }
    }

    /// A pause's time may have run out.
    pub(crate) fn pause_expiry(&mut self, queue: u32) {
        let state = &self.pauses[queue as usize];
        if state.since.is_some() && state.until == self.now {
            let class = DATA + (queue % self.priorities as u32) as u8;
            self.unpause(self.port_of(queue), queue, class);
        }
    }

    /// Lets a stopped queue go on.
    pub(crate) fn unpause(&mut self, port_id: PortId, queue: u32, class: u8) {
        let state = &mut self.pauses[queue as usize];
        let Some(since) = state.since.take() else { return };
        let frames = std::mem::take(&mut state.frames);
        state.total += self.now - since;
        self.records.pause(port_id, class - DATA, since, self.now, frames);
        self.ports[port_id as usize].paused &= !(1 << class);
        if self.breakdown.is_some() {
            self.note_port(port_id);
        }
        let view = self.queue_view(port_id, class);
        if let Some(detector) = self.detectors.get_mut(queue as usize) {
            let waiting = Waiting {
                queues: &self.queues,
                voqs: self.voqs.as_deref(),
                packets: &self.packets,
                classes: self.classes,
            };
            detector.on_resume(&view, &|| waiting.of(port_id, class).len() as u64);
        }
        if self.roots.is_some() {
            self.note_waiting(queue, since);
        }
        if self.throttles.is_some() && self.credits.is_none() {
            self.throttle_credits(port_id);
        }
        let node = self.ports[port_id as usize].node;
        if self.net.is_host(node) { self.nic_kick(node) } else { self.kick(port_id) }
    }

    fn queue_view(&self, port: PortId, class: u8) -> QueueView {
        QueueView { now: self.now, bytes: self.queues[port as usize * self.classes + class as usize].bytes }
    }

    /// Records the pauses that still stand at the end of a run.
    pub(crate) fn close_pauses(&mut self) {
        for queue in 0..self.pauses.len() as u32 {
            if let Some((since, frames)) = self.pauses[queue as usize].current() {
                let priority = (queue % self.priorities as u32) as u8;
                if self.roots.is_some() {
                    self.note_waiting(queue, since);
                }
                self.records.pause(self.port_of(queue), priority, since, self.now, frames);
            }
        }
    }

    /// Time for which a queue was stopped, up to now.
    pub(crate) fn paused_time(&self, queue: u32) -> Time {
        self.pauses[queue as usize].total(self.now)
    }

    /// The port whose ingress paused this one.
    pub fn paused_by(port: PortId) -> PortId {
        peer(port)
    }
}
