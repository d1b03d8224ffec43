//! Credits: a packet goes only when its neighbour has room for it.
//!
//! Two kinds share their arithmetic ([`counters`]). InfiniBand's CBFC tells the sender every update period how far it may
//! count, by messages on the wire, one for each virtual lane. Link credits of HPC fabrics come back one by one, as each
//! packet leaves the buffer, beside the data. The buffers are those of ingress ports and priorities; a packet takes its
//! credits when its transmission to the buffer begins, and gives them back when its last bit has left it. Hosts take
//! packets out of their buffers at once.
//!
//! An egress queue whose next packet lacks credits is stopped, as if it were paused, until they have come: detectors and
//! records see a credit stall as they see a pause.

pub mod counters;

use rand::Rng;
use xoff_engine::{Domain, Event, Time, stream};
use xoff_schemes::IntPath;

use crate::credit::counters::{CounterWidth, ReceivingEnd, SendingEnd, Unit};
use crate::credit::sizing::Sizing;
use crate::event::{key, kind};
use crate::network::Network;
use crate::packet::{Kind, NO_PACKET, Packet, PacketId};
use crate::part::Part;
use crate::port::{DATA, MAC_CONTROL};
use crate::settings::{CreditUnit, FlowControl};
use crate::topology::{PortId, peer};

pub mod sizing;

/// How credits come back.
#[derive(Clone, Copy, Debug)]
enum Return {
    /// By updates of all that has become free.
    Updates { period: Time, on_change: bool, width: CounterWidth },
    /// One by one, in a symbol of so many bytes.
    Symbols(u64),
}

/// A packet on the wire of an egress port, which gives its credits back when it has left.
#[derive(Clone, Copy, Default)]
struct Leaving {
    /// The ingress port's and priority's number.
    queue: u32,
    credits: u32,
    /// When its last bit leaves.
    at: Time,
}

/// The credits of a part's links.
pub(crate) struct Credits {
    unit: Unit,
    back: Return,
    /// By egress port and priority.
    sending: Vec<SendingEnd>,
    /// By ingress port and priority.
    receiving: Vec<ReceivingEnd>,
    /// By egress port and priority: credits of the packet that waits for them.
    awaited: Vec<u64>,
    /// By egress port: the last one.
    leaving: Vec<Leaving>,
    /// By node: where its ports begin in `ports`.
    first: Vec<u32>,
    /// Ports by node.
    ports: Vec<PortId>,
}

impl Credits {
    /// Full credits everywhere; none without such flow control.
    pub fn new(net: &Network) -> Option<Box<Credits>> {
        let settings = &net.settings;
        let (unit, back, width) = match &settings.flow_control {
            FlowControl::Cbfc(cbfc) => {
                let width = cbfc.counters;
                let back = Return::Updates { period: cbfc.update_period, on_change: cbfc.on_change, width };
                (sizing::BLOCK, back, width)
            }
            FlowControl::Credit(credit) => {
                let unit = match credit.unit {
                    CreditUnit::Flit => Unit::of_bytes(credit.flit.0),
                    CreditUnit::Packet => Unit::Packet,
                };
                (unit, Return::Symbols(credit.flit.0), CounterWidth::Wide)
            }
            FlowControl::None | FlowControl::Pfc(_) => return None,
        };
        let topology = &net.topology;
        let ports = topology.ports();
        let queues = ports as usize * usize::from(settings.switch.priorities);
        let mut receiving = Vec::with_capacity(queues);
        for port in 0..ports {
            let capacity = Sizing::of(topology, port, settings, &net.wire).credits();
            receiving.extend((0..settings.switch.priorities).map(|_| ReceivingEnd::new(capacity)));
        }
        let priorities = usize::from(settings.switch.priorities);
        let sending = (0..queues).map(|queue| {
            let there = peer((queue / priorities) as PortId) as usize * priorities;
            SendingEnd::new(receiving[there].capacity(), width)
        });
        let sending = sending.collect();
        let mut first = vec![0u32; topology.nodes.len() + 1];
        (0..ports).for_each(|port| first[topology.node_of(port) as usize + 1] += 1);
        for node in 1..first.len() {
            first[node] += first[node - 1];
        }
        let mut by_node: Vec<PortId> = (0..ports).collect();
        by_node.sort_by_key(|&port| topology.node_of(port));
        Some(Box::new(Credits {
            unit,
            back,
            sending,
            receiving,
            awaited: vec![0; queues],
            leaving: vec![Leaving::default(); ports as usize],
            first,
            ports: by_node,
        }))
    }

    /// The sending end of a queue.
    pub fn sending(&self, queue: u32) -> &SendingEnd {
        &self.sending[queue as usize]
    }

    /// The receiving end of a queue.
    pub fn receiving(&self, queue: u32) -> &ReceivingEnd {
        &self.receiving[queue as usize]
    }

    /// Whether the packet that a stopped queue waits to send would fit into its neighbour's `buffer` by what is in it and
    /// on the way there.
    pub fn would_fit(&self, queue: u32, buffer: &ReceivingEnd) -> bool {
        let under_way = self.sending[queue as usize].sent() - buffer.received();
        buffer.capacity() - buffer.occupied() >= under_way + self.awaited[queue as usize]
    }
}

impl Part {
    /// Schedules the first update of each port's credits, each at a moment of its own within the first period.
    pub(crate) fn begin_updates(&mut self) {
        let Some(credits) = &self.credits else { return };
        let Return::Updates { period, .. } = credits.back else { return };
        for &port in &self.own_ports {
            let phase = stream(self.net.seed, Domain::Credit, port.into()).next_u64() % period.0.max(1);
            let node = self.ports[port as usize].node;
            self.events.push(node, Time(phase), key(kind::LINK_CONTROL_PERIOD, port), 0);
        }
    }

    /// Whether a packet of `size` bytes and a data class may go by `egress`; if not, the class is stopped until it may.
    #[inline]
    pub(crate) fn has_credits(&mut self, egress: PortId, class: u8, size: u64) -> bool {
        let queue = self.data_queue(egress, class);
        let Some(credits) = &mut self.credits else { return true };
        let needed = credits.unit.credits(size);
        if needed <= credits.sending[queue as usize].available() {
            return true;
        }
        credits.awaited[queue as usize] = needed;
        self.stop(queue);
        false
    }

    /// The same of a packet that waits in a switch as `size` bytes. An ACK that takes telemetry up leaves with more.
    #[inline]
    pub(crate) fn has_credits_for(&mut self, egress: PortId, class: u8, id: PacketId, size: u64) -> bool {
        if self.credits.is_none() {
            return true;
        }
        let grows = self.int == IntPath::Ack && self.packets[id].kind == Kind::Ack;
        let growth = if grows { self.net.wire.ack_growth } else { 0 };
        self.has_credits(egress, class, size + growth)
    }

    /// A packet of a data class goes onto the wire.
    #[inline]
    pub(crate) fn spend_credits(&mut self, port: PortId, class: u8, size: u64) {
        let queue = self.data_queue(port, class) as usize;
        if let Some(credits) = &mut self.credits {
            credits.sending[queue].spend(credits.unit.credits(size));
        }
    }

    /// A packet of a data class has come into a switch's buffer.
    #[inline]
    pub(crate) fn take_place(&mut self, ingress: PortId, class: u8, size: u64) {
        let queue = self.data_queue(ingress, class) as usize;
        if let Some(credits) = &mut self.credits {
            credits.receiving[queue].receive(credits.unit.credits(size));
        }
    }

    /// A packet of a data class has come to a host, which takes it out of its buffer at once.
    pub(crate) fn pass_buffer(&mut self, ingress: PortId, class: u8, size: u64) {
        let queue = self.data_queue(ingress, class);
        let Some(credits) = &mut self.credits else { return };
        let number = credits.unit.credits(size);
        let end = &mut credits.receiving[queue as usize];
        end.receive(number);
        end.free(number);
        match credits.back {
            Return::Symbols(bytes) => self.give_back(queue, number, self.now, bytes),
            Return::Updates { on_change: true, .. } => self.update_if_idle(ingress),
            Return::Updates { .. } => {}
        }
    }

    /// A packet of `size` bytes that came in by a queue has just gone onto the wire of `egress`.
    #[inline]
    pub(crate) fn leave_place(&mut self, egress: PortId, queue: u32, size: u64) {
        let port = &self.ports[egress as usize];
        let left_at = port.busy_until - port.gap;
        let Some(credits) = &mut self.credits else { return };
        let number = credits.unit.credits(size);
        match credits.back {
            Return::Symbols(bytes) => {
                credits.receiving[queue as usize].free(number);
                self.give_back(queue, number, left_at, bytes);
            }
            Return::Updates { on_change, .. } => {
                let before = std::mem::replace(
                    &mut credits.leaving[egress as usize],
                    Leaving { queue, credits: number as u32, at: left_at },
                );
                credits.receiving[before.queue as usize].free(before.credits.into());
                if on_change {
                    let port = queue / self.priorities as u32;
                    let node = self.ports[port as usize].node;
                    self.events.push(node, left_at, key(kind::LINK_CONTROL_APPLY, port), 0);
                }
            }
        }
    }

    /// Sends credits of an ingress queue back at a time, in a symbol of `bytes`.
    fn give_back(&mut self, queue: u32, credits: u64, at: Time, bytes: u64) {
        let port = &self.ports[(queue / self.priorities as u32) as usize];
        let arrival = at + port.serialization(bytes) + port.delay;
        let (there, away) = (self.other_end(queue), port.arrivals == crate::port::AWAY);
        let node = self.net.topology.node_of(there / self.priorities as u32);
        let key = key(kind::LINK_CONTROL_APPLY, there);
        if away {
            let to = self.part_of(node);
            self.outboxes[to].signal(node, Event { time: arrival, key, arg: credits as u32 });
        } else {
            self.events.push(node, arrival, key, credits as u32);
        }
    }

    /// The queue of the same priority at the other end of the link.
    pub(crate) fn other_end(&self, queue: u32) -> u32 {
        let priorities = self.priorities as u32;
        peer(queue / priorities) * priorities + queue % priorities
    }

    /// A moment has come that concerns credits: they come back to a queue, or a place in a port's buffer is free.
    pub(crate) fn credit_event(&mut self, index: u32, number: u32) {
        let Some(credits) = &mut self.credits else { return };
        match credits.back {
            Return::Symbols(_) => {
                credits.sending[index as usize].restore(number.into());
                self.credits_came(index);
            }
            Return::Updates { .. } => self.update_if_idle(index),
        }
    }

    /// The period of a port's updates is over.
    pub(crate) fn credit_period(&mut self, port: PortId) {
        let Some(credits) = &self.credits else { return };
        let Return::Updates { period, .. } = credits.back else { return };
        let node = self.ports[port as usize].node;
        self.events.push(node, self.now + period, key(kind::LINK_CONTROL_PERIOD, port), 0);
        for priority in 0..self.priorities as u32 {
            self.send_update(port, priority);
        }
    }

    /// Sends updates of a port where nothing else is to be sent by it.
    fn update_if_idle(&mut self, port: PortId) {
        let p = &self.ports[port as usize];
        if !p.is_idle(self.now) || p.backlog != 0 {
            return;
        }
        for priority in 0..self.priorities as u32 {
            self.send_update(port, priority);
        }
    }

    /// Puts an update for a lane into the queue of a port, unless one waits there.
    fn send_update(&mut self, port: PortId, priority: u32) {
        let queue = (port * self.priorities as u32 + priority) as usize;
        if self.pauses[queue].waiting.is_some() {
            return;
        }
        let size = self.net.wire.update;
        let id = self.packets.insert(Packet {
            seq: 0, // as it stands when it leaves
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
            kind: Kind::CreditUpdate,
            class: MAC_CONTROL,
            mark: xoff_schemes::Mark::None,
            flags: 0,
            hops: priority as u8,
        });
        self.pauses[queue].waiting = Some(id);
        let node = self.ports[port as usize].node;
        if self.net.is_host(node) {
            self.nic_enqueue(node, id);
        } else {
            self.enqueue(port, id, MAC_CONTROL, size);
        }
    }

    /// An update goes onto the wire, and says what is free now.
    #[cold]
    pub(crate) fn update_departure(&mut self, port: PortId, id: PacketId) {
        let priority = self.packets[id].hops;
        let queue = port as usize * self.priorities + usize::from(priority);
        self.pauses[queue].waiting = None;
        let node = self.ports[port as usize].node as usize;
        let Some(credits) = &mut self.credits else { return };
        let Return::Updates { width, .. } = credits.back else { return };
        // Packets that have left since their egress last sent one.
        for &egress in &credits.ports[credits.first[node] as usize..credits.first[node + 1] as usize] {
            // A control packet may have taken the wire since.
            if credits.leaving[egress as usize].at <= self.now {
                let left = std::mem::take(&mut credits.leaving[egress as usize]);
                credits.receiving[left.queue as usize].free(left.credits.into());
            }
        }
        self.packets[id].seq = credits.receiving[queue].message(width);
        self.records.credit_updates[port as usize] += 1;
    }

    /// An update has come in by `port`, whose egress it concerns.
    #[cold]
    pub(crate) fn update_arrival(&mut self, port: PortId, id: PacketId) {
        let (message, priority) = (self.packets[id].seq, self.packets[id].hops);
        self.packets.remove(id);
        let queue = port * self.priorities as u32 + u32::from(priority);
        let Some(credits) = &mut self.credits else { return };
        let Return::Updates { width, .. } = credits.back else { return };
        credits.sending[queue as usize].update(message, width);
        self.credits_came(queue);
    }

    /// A queue has more credits than before.
    #[inline]
    fn credits_came(&mut self, queue: u32) {
        let Some(credits) = &self.credits else { return };
        let class = DATA + (queue % self.priorities as u32) as u8;
        let port = queue / self.priorities as u32;
        let stopped = self.ports[port as usize].paused & 1 << class != 0;
        let enough = credits.sending[queue as usize].available() >= credits.awaited[queue as usize];
        if self.throttles.is_some() {
            self.throttle_credits(port);
        }
        if stopped && enough {
            self.unpause(port, queue, class);
        } else if self.throttles.is_some() && self.net.is_host(self.ports[port as usize].node) {
            // It may go earlier than it was held back for.
            self.nic_kick(self.ports[port as usize].node);
        }
    }
}
