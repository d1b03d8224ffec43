//! What both flow controls with credits share: the counters of both ends of each link, by egress and by ingress queue.
//!
//! A packet takes its credits when its transmission to the buffer begins, and gives them back when its last bit has left
//! the buffer, or flit by flit ([`super::flits`]). Hosts take packets out of their buffers at once.

use super::counters::{ReceivingEnd, SendingEnd, Unit};
use super::sizing::Sizing;
use crate::ids::{PortId, QueueId};
use crate::network::Network;
use crate::settings::CounterWidth;

/// The credits of a partition's links.
pub(crate) struct Credits {
    pub unit: Unit,
    /// By egress queue.
    pub sending: Vec<SendingEnd>,
    /// By ingress queue.
    pub receiving: Vec<ReceivingEnd>,
    /// By egress queue: credits of the packet that waits for them.
    awaited: Vec<u64>,
}

impl Credits {
    /// Full credits everywhere.
    pub fn new(net: &Network, unit: Unit, width: CounterWidth) -> Credits {
        let priorities = usize::from(net.settings.switch.priorities);
        let queues = net.topology.ports() as usize * priorities;
        let mut receiving = Vec::with_capacity(queues);
        for port in net.topology.port_ids() {
            let capacity = Sizing::of(&net.topology, port, &net.settings, &net.wire).credits();
            receiving.extend((0..priorities).map(|_| ReceivingEnd::new(capacity)));
        }
        let sending = (0..queues).map(|queue| {
            let there = QueueId::new(QueueId(queue as u32).port(priorities).peer(), 0, priorities).index();
            SendingEnd::new(receiving[there].capacity(), width)
        });
        let sending = sending.collect();
        Credits { unit, sending, receiving, awaited: vec![0; queues] }
    }

    /// Whether an egress queue has the credits of a packet of `size` bytes; if not, the queue waits for them.
    #[inline(always)] // runs for every packet
    pub fn may_send(&mut self, queue: QueueId, size: u64) -> bool {
        let needed = self.unit.credits(size);
        let enough = needed <= self.sending[queue.index()].available();
        if !enough {
            self.awaited[queue.index()] = needed;
        }
        enough
    }

    /// Whether the `egress` queue has the credits of a packet that leaves with `leaving` bytes; if so, the packet, which
    /// arrived by the ingress `queue` with `size` bytes, takes its place in that queue's buffer.
    #[inline(always)] // runs for every packet
    pub fn passes(&mut self, queue: QueueId, egress: QueueId, size: u64, leaving: u64) -> bool {
        let enough = self.unit.credits(leaving) <= self.sending[egress.index()].available();
        if enough {
            self.receive(queue, size);
        }
        enough
    }

    /// An egress queue sends a packet of `size` bytes.
    #[inline(always)] // runs for every packet
    pub fn spend(&mut self, queue: QueueId, size: u64) {
        self.sending[queue.index()].spend(self.unit.credits(size));
    }

    /// A packet of `size` bytes that an egress queue has sent is lost on the link, and takes no place.
    pub fn unspend(&mut self, queue: QueueId, size: u64) {
        let credits = self.unit.credits(size);
        self.sending[queue.index()].unspend(credits);
    }

    /// A packet of `size` bytes comes into the buffer of an ingress queue.
    #[inline(always)] // runs for every packet
    pub fn receive(&mut self, queue: QueueId, size: u64) {
        self.receiving[queue.index()].receive(self.unit.credits(size));
    }

    /// Credits that an egress queue still lacks for the packet that waits for them.
    pub fn missing(&self, queue: QueueId) -> u64 {
        self.awaited[queue.index()].saturating_sub(self.sending[queue.index()].available())
    }

    /// Whether an egress queue has the credits that it waits for.
    #[inline]
    pub fn has_awaited(&self, queue: QueueId) -> bool {
        self.sending[queue.index()].available() >= self.awaited[queue.index()]
    }

    /// Credits that all egress queues of a port use.
    pub fn used(&self, port: PortId, priorities: usize) -> u64 {
        self.sending[Credits::queues(port, priorities)].iter().map(SendingEnd::used).sum()
    }

    /// The places of a port's queues.
    pub fn queues(port: PortId, priorities: usize) -> std::ops::Range<usize> {
        let first = QueueId::new(port, 0, priorities).index();
        first..first + priorities
    }

    /// Whether the packet that a stopped queue waits to send would fit into the buffer at the `other` end, by what is in
    /// that buffer and on the way there.
    pub fn would_fit(&self, queue: QueueId, other: &Credits, priorities: usize) -> bool {
        let buffer = &other.receiving[queue.other_end(priorities).index()];
        let under_way = self.sending[queue.index()].sent() - buffer.received();
        buffer.capacity() - buffer.occupied() >= under_way + self.awaited[queue.index()]
    }
}
