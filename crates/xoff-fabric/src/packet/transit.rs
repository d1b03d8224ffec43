//! Packets on their way from one part of the network to another, each with its telemetry.

use xoff_engine::{Event, Time};

use crate::breakdown::way::Way;

use super::{IntSlab, Packet, PacketId, Packets};
use crate::agenda::Agenda;
use crate::topology::NodeId;

/// Packets that have left a part during a window, to be taken in by another when it ends.
pub(crate) struct Transit {
    /// Time and key of each arrival.
    arrivals: Vec<(Time, u32)>,
    packets: Vec<Packet>,
    int: IntSlab,
    /// The packets' ways, where they are recorded.
    ways: Vec<Option<Box<Way>>>,
    /// Events without a packet, each with its node.
    signals: Vec<(NodeId, Event)>,
    earliest: Time,
}

impl Transit {
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.signals.is_empty()
    }

    /// Packets on their way.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds an event without a packet.
    pub fn signal(&mut self, node: NodeId, event: Event) {
        self.earliest = self.earliest.min(event.time);
        self.signals.push((node, event));
    }

    /// The first arrival.
    pub fn earliest(&self) -> Time {
        self.earliest
    }
}

impl Packets {
    /// Nothing on its way, with room for telemetry as this slab has it.
    pub(crate) fn transit(&self) -> Transit {
        let int = match &self.int {
            IntSlab::Off => IntSlab::Off,
            IntSlab::Packed(_) => IntSlab::Packed(Vec::new()),
            IntSlab::Exact(_) => IntSlab::Exact(Vec::new()),
        };
        Transit {
            arrivals: Vec::new(),
            packets: Vec::new(),
            int,
            ways: Vec::new(),
            signals: Vec::new(),
            earliest: Time::NEVER,
        }
    }

    /// Takes packet `id` out and sends it on its way to an arrival at `time`, the event `key`.
    #[inline]
    pub(crate) fn send_off(&mut self, id: PacketId, time: Time, key: u32, transit: &mut Transit) {
        transit.earliest = transit.earliest.min(time);
        transit.arrivals.push((time, key));
        transit.packets.push(self[id]);
        match (&self.int, &mut transit.int) {
            (IntSlab::Packed(all), IntSlab::Packed(sent)) => sent.push(all[id as usize]),
            (IntSlab::Exact(all), IntSlab::Exact(sent)) => sent.push(all[id as usize]),
            _ => {}
        }
        if let Some(ways) = &mut self.ways {
            transit.ways.push(ways.take(id));
        }
        self.remove(id);
    }

    /// Takes in all that is on its way and schedules its arrivals.
    pub(crate) fn take_in(&mut self, transit: &mut Transit, events: &mut Agenda) {
        for (place, (&(time, key), &packet)) in transit.arrivals.iter().zip(&transit.packets).enumerate() {
            let id = self.insert(packet);
            match (&mut self.int, &transit.int) {
                (IntSlab::Packed(all), IntSlab::Packed(sent)) => all[id as usize] = sent[place],
                (IntSlab::Exact(all), IntSlab::Exact(sent)) => all[id as usize] = sent[place],
                _ => {}
            }
            if let Some(ways) = &mut self.ways {
                ways.put(id, transit.ways[place].take());
            }
            events.arrive(self, events.place(key), time, id);
        }
        for (node, event) in transit.signals.drain(..) {
            events.push(node, event.time, event.key, event.arg);
        }
        transit.arrivals.clear();
        transit.packets.clear();
        transit.ways.clear();
        match &mut transit.int {
            IntSlab::Off => {}
            IntSlab::Packed(sent) => sent.clear(),
            IntSlab::Exact(sent) => sent.clear(),
        }
        transit.earliest = Time::NEVER;
    }
}
