//! The queues in which ports limit receivers' credits, at hosts and at switches.
//!
//! One credit goes in the time that a credit and the full data packet that answers it take on the link, in proportion to the
//! credit's size: the data packets of all credits that a port lets through then fit the link in the other direction, beside the
//! credits of that direction. Where the two directions differ, the slower one counts. A credit that comes earlier waits in a queue
//! of a few places; one that finds the queue full is dropped. What is let through joins the port's control packets.

use std::collections::VecDeque;

use xoff_engine::Time;

use super::{Links, Port};
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::PortId;
use crate::network::Network;
use crate::packet::PacketId;

/// The credits of a port.
#[derive(Clone, Debug, Default)]
struct CreditQueue {
    waiting: VecDeque<PacketId>,
    /// When the next credit may go.
    next_at: Time,
}

/// The credits of all ports.
pub(super) struct CreditQueues {
    /// Credits that may wait at a port.
    places: usize,
    /// Bytes of a credit in the mean, and bytes for whose time the link is reserved with such a credit.
    mean: u64,
    bytes: u64,
    by_port: Vec<CreditQueue>,
}

impl CreditQueues {
    /// Empty queues, if the scheme has receivers' credits.
    pub fn new(net: &Network) -> Option<Box<CreditQueues>> {
        let credits = net.signals.credits?;
        let bytes = u64::from(credits.size) + net.wire.frame() + 2 * net.wire.gap;
        let by_port = vec![CreditQueue::default(); net.topology.ports() as usize];
        let (places, mean) = (credits.queue as usize, credits.size.into());
        Some(Box::new(CreditQueues { places, mean, bytes, by_port }))
    }

    /// A port lets a credit go: the next one waits until the data that answers this one fits the link.
    fn reserve(&mut self, ctx: &Ctx, ports: &[Port], port: PortId, id: PacketId) {
        let time = |port: PortId| ports[port.index()].serialization(self.bytes);
        let whole = time(port).max(time(port.peer()));
        self.by_port[port.index()].next_at =
            ctx.now + Time(whole.0 * u64::from(ctx.packets[id].size) / self.mean);
    }
}

impl<C> Links<C> {
    /// A credit comes to a port that it is to leave by. Returns whether it goes on at once; otherwise it waits, or is dropped.
    #[cold]
    pub fn admits_credit(&mut self, ctx: &mut Ctx, port: PortId, id: PacketId) -> bool {
        let Some(queues) = self.credit_queues.as_deref_mut() else { return true };
        let of_port = &queues.by_port[port.index()];
        if of_port.waiting.is_empty() && of_port.next_at <= ctx.now {
            queues.reserve(ctx, &self.ports, port, id);
            return true;
        }
        let of_port = &mut queues.by_port[port.index()];
        if of_port.waiting.len() == queues.places {
            ctx.counters.credits.dropped += 1;
            ctx.packets.remove(id);
            return false;
        }
        of_port.waiting.push_back(id);
        if of_port.waiting.len() == 1 {
            let node = self.ports[port.index()].node;
            ctx.schedule(node, of_port.next_at, credit_key(self.stops.len(), port), 0);
        }
        false
    }

    /// The time of the first credit that waits at a port has come: takes it, and schedules the next one.
    pub fn next_credit(&mut self, ctx: &mut Ctx, port: PortId) -> Option<PacketId> {
        let queues = self.credit_queues.as_deref_mut()?;
        let id = queues.by_port[port.index()].waiting.pop_front()?;
        queues.reserve(ctx, &self.ports, port, id);
        let of_port = &queues.by_port[port.index()];
        if !of_port.waiting.is_empty() {
            let node = self.ports[port.index()].node;
            ctx.schedule(node, of_port.next_at, credit_key(self.stops.len(), port), 0);
        }
        Some(id)
    }
}

/// The key of the event that lets a port's next credit go: an index above the numbers of `queues`.
fn credit_key(queues: usize, port: PortId) -> u32 {
    key(kind::CONGESTION_TIMER, queues as u32 + port.0)
}
