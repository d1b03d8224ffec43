//! Packets on their way from one partition of the network to another, each with its telemetry.

use xoff_engine::{Event, FutureEvents, Time, claim_ahead, fetch_whole_ahead};

use super::pool::IntPool;
use super::way::Way;
use super::{Kind, NO_PACKET, Packet, PacketId, Packets};
use crate::event::index_of;
use crate::ids::NodeId;

/// Places of a transit that are claimed for writing ahead of the current packet, and fetched ahead of it.
const CLAIMED: usize = 4;
const FETCHED: usize = 6;

/// Packets that have left a partition during a window; another partition takes them in when the window ends.
pub(crate) struct Transit {
    /// Packets that say in `next_at` and `next` when they arrive, and the key of that event.
    packets: Vec<Packet>,
    int: IntPool,
    /// The packets' ways, if these are recorded.
    ways: Vec<Option<Box<Way>>>,
    /// When the packets would have come without stops, if that is recorded.
    offers: Vec<Time>,
    /// The queues that the packets carry, if they carry any.
    loads: Vec<u32>,
    /// Events without a packet, each with its node.
    signals: Vec<(NodeId, Event)>,
    earliest: Time,
}

impl IntPool {
    #[inline]
    fn claim_ahead(&self, place: usize) {
        match self {
            IntPool::Off => {}
            IntPool::Packed(all) => claim_ahead(all, place),
            IntPool::Exact(all) => claim_ahead(all, place),
        }
    }

    #[inline]
    fn fetch_ahead(&self, place: usize) {
        match self {
            IntPool::Off => {}
            IntPool::Packed(all) => fetch_whole_ahead(all, place as u32),
            IntPool::Exact(all) => fetch_whole_ahead(all, place as u32),
        }
    }
}

impl Transit {
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.signals.is_empty()
    }

    /// Number of packets on their way.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Number of data packets on their way.
    pub fn data(&self) -> u64 {
        self.packets.iter().filter(|packet| packet.kind == Kind::Data).count() as u64
    }

    /// Adds an event without a packet.
    pub fn signal(&mut self, node: NodeId, event: Event) {
        self.earliest = self.earliest.min(event.time);
        self.signals.push((node, event));
    }

    /// The time of the first arrival.
    pub fn earliest(&self) -> Time {
        self.earliest
    }
}

impl Packets {
    /// An empty transit for packets with telemetry of this pool's format.
    pub(crate) fn transit(&self) -> Transit {
        let int = match &self.int {
            IntPool::Off => IntPool::Off,
            IntPool::Packed(_) => IntPool::Packed(Vec::new()),
            IntPool::Exact(_) => IntPool::Exact(Vec::new()),
        };
        Transit {
            packets: Vec::new(),
            int,
            ways: Vec::new(),
            offers: Vec::new(),
            loads: Vec::new(),
            signals: Vec::new(),
            earliest: Time::NEVER,
        }
    }

    /// Moves packet `id` out of the pool, to an arrival at `time` with the event `key`.
    #[inline]
    pub(crate) fn send_to_partition(&mut self, id: PacketId, time: Time, key: u32, transit: &mut Transit) {
        transit.earliest = transit.earliest.min(time);
        transit.packets.push(Packet { next_at: time, next: key, ..self[id] });
        let place = transit.packets.len() + CLAIMED;
        claim_ahead(&transit.packets, place);
        transit.int.claim_ahead(place);
        match (&self.int, &mut transit.int) {
            (IntPool::Packed(all), IntPool::Packed(sent)) => sent.push(all[id as usize]),
            (IntPool::Exact(all), IntPool::Exact(sent)) => sent.push(all[id as usize]),
            _ => {}
        }
        if let Some(ways) = &mut self.ways {
            transit.ways.push(ways.take(id));
        }
        if let Some(offers) = &self.offers {
            transit.offers.push(offers.of(id));
        }
        if let Some(loads) = &mut self.loads {
            transit.loads.extend_from_slice(loads.of_mut(id));
        }
        self.remove(id);
    }

    /// Takes in all packets of a transit and schedules their arrivals.
    pub(crate) fn take_in(&mut self, transit: &mut Transit, events: &mut FutureEvents) {
        for (place, &packet) in transit.packets.iter().enumerate() {
            fetch_whole_ahead(&transit.packets, (place + FETCHED) as u32);
            transit.int.fetch_ahead(place + FETCHED);
            let (time, key) = (packet.next_at, packet.next);
            let id = self.insert(Packet { next_at: Time::NEVER, next: NO_PACKET, ..packet });
            match (&mut self.int, &transit.int) {
                (IntPool::Packed(all), IntPool::Packed(sent)) => all[id as usize] = sent[place],
                (IntPool::Exact(all), IntPool::Exact(sent)) => all[id as usize] = sent[place],
                _ => {}
            }
            if let Some(ways) = &mut self.ways {
                ways.put(id, transit.ways[place].take());
            }
            if let Some(offers) = &mut self.offers {
                offers.put(id, transit.offers[place]);
            }
            if let Some(loads) = &mut self.loads {
                let each = loads.each;
                loads.of_mut(id).copy_from_slice(&transit.loads[place * each..][..each]);
            }
            events.arrive(self, events.slot(index_of(key), key), time, id);
        }
        for (node, event) in transit.signals.drain(..) {
            events.push(node.0, event.time, event.key, event.arg);
        }
        transit.packets.clear();
        transit.ways.clear();
        transit.offers.clear();
        transit.loads.clear();
        match &mut transit.int {
            IntPool::Off => {}
            IntPool::Packed(sent) => sent.clear(),
            IntPool::Exact(sent) => sent.clear(),
        }
        transit.earliest = Time::NEVER;
    }
}
