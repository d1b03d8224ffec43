//! What both flow controls with credits share: the counters of both ends of each link, by egress and by ingress queue.
//!
//! A packet takes its credits when its transmission to the buffer begins, and gives them back when its last bit has left
//! the buffer, or flit by flit ([`super::flits`]). Hosts take packets out of their buffers at once.
//!
//! The lanes of a port may share a pool beside what is reserved for each of them, as in Omni-Path, whose buffer control tables
//! have dedicated credits of each lane and an overall limit of shared ones. The sender keeps the limits: credits that a lane
//! uses beyond its reserved ones are of the pool, and all lanes together never use more of the pool than it has. A credit that comes back
//! to a lane returns to the pool as long as the lane uses more than its reserved credits. So no lane can take the reserved
//! credits of another one, the buffer never overflows, and no credit that was given is ever taken back.

use std::hash::{Hash, Hasher};

use super::counters::{ReceivingEnd, SendingEnd, Unit};
use super::sizing::Sizing;
use super::{LinkControl, Links};
use crate::ctx::Ctx;
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
    /// Credits of a port that its lanes share; each lane's capacity is its reserved credits and these.
    pool: u64,
    priorities: usize,
}

impl Credits {
    /// Full credits everywhere.
    pub fn new(net: &Network, unit: Unit, width: CounterWidth) -> Credits {
        let priorities = usize::from(net.settings.switch.priorities);
        let queues = net.topology.ports() as usize * priorities;
        let mut receiving = Vec::with_capacity(queues);
        for port in net.topology.port_ids() {
            let capacity = Sizing::of(&net.topology, port, &net.settings, &net.wire).most();
            receiving.extend((0..priorities).map(|_| ReceivingEnd::new(capacity)));
        }
        let sending = (0..queues).map(|queue| {
            let there = QueueId::new(QueueId(queue as u32).port(priorities).peer(), 0, priorities).index();
            SendingEnd::new(receiving[there].capacity(), width)
        });
        let sending = sending.collect();
        let pool = net.settings.flow_control.shared_credits();
        Credits { unit, sending, receiving, awaited: vec![0; queues], pool, priorities }
    }

    /// Whether the lanes of a port share credits.
    pub fn is_shared(&self) -> bool {
        self.pool > 0
    }

    /// Credits of the pool that a port's queues take, if they use `used` of all their credits.
    fn of_pool(&self, queues: impl Iterator<Item = (u64, u64)>) -> u64 {
        queues.map(|(used, capacity)| (used + self.pool).saturating_sub(capacity)).sum()
    }

    /// Whether an egress queue has so many credits.
    #[inline(always)] // runs for every packet
    fn has(&self, queue: QueueId, needed: u64) -> bool {
        needed <= self.sending[queue.index()].available() && (self.pool == 0 || self.pool_has(queue, needed))
    }

    /// Whether the pool has what an egress queue would take of it with `needed` more credits.
    #[cold]
    #[inline(never)]
    fn pool_has(&self, queue: QueueId, needed: u64) -> bool {
        let queues = Credits::queues(queue.port(self.priorities), self.priorities);
        let of_pool = self.of_pool(queues.map(|other| {
            let (end, more) = (&self.sending[other], if other == queue.index() { needed } else { 0 });
            (end.used() + more, end.capacity())
        }));
        of_pool <= self.pool
    }

    /// Checks that the lanes of an ingress queue's port hold no more of the pool than it has.
    #[inline(always)]
    fn check_pool(&self, queue: QueueId) {
        if cfg!(debug_assertions) && self.pool > 0 {
            let queues = Credits::queues(queue.port(self.priorities), self.priorities);
            let ends = self.receiving[queues].iter();
            let of_pool = self.of_pool(ends.map(|end| (end.occupied(), end.capacity())));
            debug_assert!(of_pool <= self.pool, "a pool never holds more than it granted");
        }
    }

    /// Whether an egress queue has the credits of a packet of `size` bytes; if not, the queue waits for them.
    #[inline(always)] // runs for every packet
    pub fn may_send(&mut self, queue: QueueId, size: u64) -> bool {
        let needed = self.unit.credits(size);
        let enough = self.has(queue, needed);
        if !enough {
            self.awaited[queue.index()] = needed;
        }
        enough
    }

    /// Whether the `egress` queue has the credits of a packet that leaves with `leaving` bytes; if so, the packet, which
    /// arrived by the ingress `queue` with `size` bytes, takes its place in that queue's buffer.
    #[inline(always)] // runs for every packet
    pub fn passes(&mut self, queue: QueueId, egress: QueueId, size: u64, leaving: u64) -> bool {
        let enough = self.has(egress, self.unit.credits(leaving));
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
        self.check_pool(queue);
    }

    /// Credits that an egress queue still lacks for the packet that waits for them, if lanes share none.
    pub fn missing(&self, queue: QueueId) -> u64 {
        self.awaited[queue.index()].saturating_sub(self.sending[queue.index()].available())
    }

    /// Whether an egress queue has the credits that it waits for.
    #[inline]
    pub fn has_awaited(&self, queue: QueueId) -> bool {
        self.has(queue, self.awaited[queue.index()])
    }

    /// The other queues of an egress queue's port, if they share credits.
    fn sharing(&self, queue: QueueId) -> std::ops::Range<usize> {
        let queues = Credits::queues(queue.port(self.priorities), self.priorities);
        if self.is_shared() { queues } else { 0..0 }
    }

    /// Tells apart which credits are used, at both ends.
    pub fn hash_used(&self, hasher: &mut impl Hasher) {
        let sending = self.sending.iter().map(SendingEnd::used).enumerate();
        sending.filter(|(_, used)| *used > 0).for_each(|used| used.hash(hasher));
        let receiving = self.receiving.iter().map(ReceivingEnd::occupied).enumerate();
        receiving.filter(|(_, occupied)| *occupied > 0).for_each(|occupied| occupied.hash(hasher));
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
        let needed = self.awaited[queue.index()];
        let buffer = |queue: QueueId| &other.receiving[queue.other_end(priorities).index()];
        let taken = |queue: QueueId| self.sending[queue.index()].sent() - buffer(queue).freed();
        let fits = taken(queue) + needed <= buffer(queue).capacity();
        let of_pool = self.of_pool(self.sharing(queue).map(|place| {
            let other = QueueId(place as u32);
            (taken(other) + if other == queue { needed } else { 0 }, buffer(other).capacity())
        }));
        fits && of_pool <= self.pool
    }
}

impl<C: LinkControl> Links<C> {
    /// Credits have come back to an egress `queue`: it goes on if it has those that it waits for, and so do the queues that share
    /// credits with it.
    #[inline(always)]
    pub(super) fn credits_came(&mut self, ctx: &mut Ctx, queue: QueueId) {
        let Some(credits) = self.control.credits() else { return };
        let resumes = self.stops[queue.index()].is_stopped() && credits.has_awaited(queue);
        let is_shared = credits.is_shared();
        self.credited(ctx, queue, resumes);
        if is_shared {
            self.resume_sharing(ctx, queue);
        }
    }

    /// The queues that share credits with an egress `queue` go on if they have those that they wait for.
    #[cold]
    #[inline(never)]
    fn resume_sharing(&mut self, ctx: &mut Ctx, queue: QueueId) {
        let queues = self.control.credits().map_or(0..0, |credits| credits.sharing(queue));
        for other in queues.map(|place| QueueId(place as u32)) {
            let waits = other != queue && self.stops[other.index()].is_stopped();
            if waits && self.control.credits().is_some_and(|credits| credits.has_awaited(other)) {
                self.resume(ctx, other);
            }
        }
    }
}
