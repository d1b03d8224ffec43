//! What tells apart the states of a network that go on in different ways.

use std::hash::{DefaultHasher, Hash, Hasher};

use xoff_engine::{Event, Time};

use super::super::partition::Partition;
use super::jump::is_external;
use crate::event::{index_of, key as key_of, kind, kind_of};
use crate::host::nic::NicScheduler;
use crate::ids::PortId;
use crate::link::flow_control::LinkControl;
use crate::packet::{Kind, NO_FLOW, PacketId};

/// The state of a network but for its time, as one number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub hash: u64,
    /// Packets, events and other things that the number is of: how much work it was.
    pub size: u64,
}

/// A packet or an event: what it does to the nodes that it comes to.
type Described = [u64; 3];

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// A packet, by its connection in place of its number: packets of a connection are in order, and how many are in flight, and of which messages, is
    /// known from the senders.
    fn describe(&self, id: PacketId, now: Time) -> Described {
        let packet = &self.ctx.packets[id];
        let label = if packet.concerns_link() { packet.link_priority() } else { packet.label };
        let is = [packet.kind as u8, packet.class, packet.mark as u8, label];
        let flow =
            if packet.flow == NO_FLOW { NO_FLOW.0 } else { self.ctx.net.connections.of(packet.flow).0 };
        let is = u64::from(flow) | u64::from(u32::from_le_bytes(is)) << 32;
        let counts = u64::from(packet.flow_count) << 16;
        let came = u64::from(packet.size) | counts | u64::from(packet.ingress.0) << 32;
        // A pause has its quanta in place of a number.
        let says = if packet.kind == Kind::Pfc { packet.seq } else { now.saturating_sub(packet.sent_at).0 };
        [is, came, says]
    }

    /// A packet that is on a wire, or was. An update of credits says there what it grants.
    fn describe_sent(&self, id: PacketId, now: Time) -> Described {
        let [is, came, says] = self.describe(id, now);
        let packet = &self.ctx.packets[id];
        let is_update = packet.kind == Kind::CreditUpdate;
        [is, came, if is_update { C::describe_update(&self.links, packet) } else { says }]
    }

    /// What a pending event does. `None` of those from outside the network, those that are looked at only when they come, since what they
    /// were for may be past, and timers of reaction points, which live through jumps.
    fn describe_event(&self, key: u32, arg: u32, now: Time) -> Option<Described> {
        let is = |number: u64| [number, 0, 0];
        match kind_of(key) {
            kind::RETRANSMIT_TIMER | kind::REACTION_TIMER => None,
            kind::SWITCH_ARRIVAL | kind::HOST_ARRIVAL | kind::ACK_READY => Some(self.describe_sent(arg, now)),
            kind::LINK_CONTROL_APPLY | kind::LINK_CONTROL_EXPIRY | kind::LINK_CONTROL_PERIOD => {
                C::describe(&self.links, kind_of(key), index_of(key), arg).map(is)
            }
            _ if is_external(key) => None,
            _ => Some(is(arg.into())),
        }
    }

    /// The state at a time on the network's clock, before which all events are handled. Times are from then on. What is here: packets
    /// on wires and in queues, whose turn is next at ports and at NICs, pauses, credits, and pending events. Neither what senders state
    /// ([`crate::host::forward::Pulse`]), nor what only a scheme knows.
    pub(crate) fn signature_at(&self, now: Time) -> Signature {
        let mut hasher = DefaultHasher::new();
        let mut size = self.hash_wires(now, &mut hasher);
        for (place, port) in self.links.ports.iter().enumerate() {
            let is_idle = port.busy_until <= now && port.queued_bytes == 0;
            if is_idle && port.paused == 0 && port.turn == 0 {
                continue;
            }
            size += 2;
            (place, port.busy_until.saturating_sub(now), port.queued_bytes, port.armed).hash(&mut hasher);
            (port.backlog, port.paused, port.turn()).hash(&mut hasher);
            if port.backlog != 0 {
                size += self.hash_queues(PortId(place as u32), now, &mut hasher);
            }
        }
        size += self.links.ports.len() as u64 / 8;
        self.ctx.packets.live().hash(&mut hasher);
        self.links.hash_turns(&mut hasher);
        C::hash_state(&self.links, now, &mut hasher);
        self.switches.accounting.hash_state(&mut hasher);
        self.hosts.hash_state(now, &mut hasher);
        Signature { hash: hasher.finish(), size }
    }

    /// What is on wires, and pending events; returns how much that is.
    fn hash_wires(&self, now: Time, hasher: &mut impl Hasher) -> u64 {
        let mut size = 0;
        for (fifo, time, first) in self.ctx.events.first_arrivals() {
            let (mut time, mut id) = (time, first);
            while time != Time::NEVER {
                (fifo, time.saturating_sub(now), self.describe_sent(id, now)).hash(hasher);
                (time, id) = (self.ctx.packets[id].next_at, self.ctx.packets[id].next);
                size += 1;
            }
        }
        let mut events: Vec<(Time, u32, Described)> = Vec::new();
        self.ctx.events.visit(|Event { time, key, arg }| {
            size += 1;
            if let Some(about) = self.describe_event(key, arg, now) {
                events.push((time.saturating_sub(now), key, about));
            }
        });
        C::visit_returning(&self.links, |queue, at, credits| {
            let key = key_of(kind::LINK_CONTROL_APPLY, queue.0);
            events.push((at.saturating_sub(now), key, [credits.into(), 0, 0]));
        });
        events.sort_unstable();
        events.hash(hasher);
        size
    }

    /// What waits at a port, in order; returns how many packets.
    fn hash_queues(&self, port: PortId, now: Time, hasher: &mut impl Hasher) -> u64 {
        let mut size = 0;
        let backlog = self.links.ports[port.index()].backlog;
        for class in (0..self.links.classes as u8).filter(|class| backlog & 1 << class != 0) {
            for id in self.switches.waiting(&self.ctx, &self.links, port, class) {
                self.describe(id, now).hash(hasher);
                size += 1;
            }
        }
        size
    }
}
