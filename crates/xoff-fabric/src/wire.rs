//! Onto the wire: the one place where packets leave a node.
//!
//! A frame on the wire of an idle port takes it for its time; its arrival at the other end, a propagation delay after its last
//! bit, is known at once.

use xoff_engine::Time;

use crate::agenda::arrival_key;
use crate::event::{key, kind};
use crate::packet::PacketId;
use crate::part::Part;
use crate::port::{AWAY, DATA, MAC_CONTROL};
use crate::topology::{PortId, peer};

impl Part {
    /// Puts a packet on the wire of an idle port: the one place where packets leave a node.
    #[inline(always)] // on the way of every packet
    pub(crate) fn put_on_wire(&mut self, port_id: PortId, id: PacketId) {
        let size = u64::from(self.packets[id].size);
        let port = &mut self.ports[port_id as usize];
        debug_assert_eq!(port.paused & (1 << self.packets[id].class), 0, "nothing of a paused class is sent");
        let (mut arrival, place) = (port.start(self.now, size), port.arrivals);
        if self.attends_wire {
            arrival = self.attend_wire(port_id, id, size, arrival);
        }
        self.set_off(port_id, arrival, place, id);
    }

    /// A packet that is on the wire goes on to its arrival.
    #[inline(always)] // on the way of every packet
    pub(crate) fn set_off(&mut self, port: PortId, arrival: Time, place: u32, id: PacketId) {
        if place == AWAY {
            return self.send_off(port, arrival, id);
        }
        self.events.arrive(&mut self.packets, place, arrival, id);
    }

    /// The class to send from among `sendable`, which is not empty.
    #[inline]
    pub(crate) fn choose(&mut self, port: PortId, sendable: u16) -> u8 {
        match self.arbiters.get_mut(port as usize) {
            Some(arbiter) if sendable & 0b11 == 0 => arbiter.choose(sendable),
            _ => self.ports[port as usize].choose(sendable, self.strict),
        }
    }

    /// What is to be done for a packet on the wire where not all is plain; says when it arrives that would at `arrival`.
    #[inline(never)]
    fn attend_wire(&mut self, port_id: PortId, id: PacketId, size: u64, mut arrival: Time) -> Time {
        if !self.arbiters.is_empty() && self.packets[id].class >= DATA {
            self.arbiters[port_id as usize].sent(self.packets[id].class, size);
        }
        if self.credits.is_some() || self.cut_through.is_some() || self.throttles.is_some() {
            arrival = arrival - self.put_on_credited_wire(port_id, id, size);
        }
        if self.breakdown.is_some() {
            self.note_hop(port_id, id, arrival);
        }
        if self.records.capture.is_some() {
            self.capture_packet(port_id, id, arrival);
        }
        if self.tells_when_ready {
            let port = &mut self.ports[port_id as usize];
            port.armed = true;
            self.events.push(port.node, port.busy_until, key(kind::PORT_READY, port_id), 0);
        }
        arrival
    }

    /// Takes the credits of a packet that goes onto the wire, and says how long before its last bit it counts as arrived.
    #[inline]
    fn put_on_credited_wire(&mut self, port_id: PortId, id: PacketId, size: u64) -> Time {
        let (class, position) = (self.packets[id].class, self.packets[id].position);
        if class >= DATA {
            self.spend_credits(port_id, class, size);
            if self.throttles.is_some() {
                self.throttle_sent(port_id, size);
            }
        }
        if class == MAC_CONTROL {
            return Time::ZERO;
        }
        let Some(cut_through) = &self.cut_through else { return Time::ZERO };
        let port = &self.ports[port_id as usize];
        let next = || self.net.topology.rate(self.net.paths[position as usize]);
        cut_through.ahead(port_id, size, port.rate, port.serialization(size), next)
    }

    /// A packet leaves by `port` for another part, where it is to arrive at `time`.
    #[cold]
    #[inline(never)]
    fn send_off(&mut self, port: PortId, time: Time, id: PacketId) {
        let to = self.part_of(self.net.topology.node_of(peer(port)));
        let key = arrival_key(&self.net, peer(port));
        self.packets.send_off(id, time, key, &mut self.outboxes[to]);
    }
}
