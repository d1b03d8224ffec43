//! Limits of egress queues in lossy networks: a data packet that finds no room is trimmed to its header, or dropped.
//!
//! A trimmed packet goes on as a control packet, ahead of data (packet trimming, as in NDP: Handley et al., SIGCOMM 2017,
//! section 3.1; UE Specification 1.0, section 4.1). The packet on the wire counts as queued until its last bit has left.

use rand::Rng;
use xoff_engine::{Domain, Stream, Time, stream};

use super::Switches;
use crate::ctx::Ctx;
use crate::fault::Cause;
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{CHARGED, CONTROL, DATA, Frame, Kind, LAST_HOP, PacketId};
use crate::settings::Victim;

/// Number of the first port's stream for which packet is trimmed.
const FIRST_STREAM: u64 = 1 << 43;
/// Bytes of control packets that may wait for each byte of data.
const CONTROL_FOR_DATA: u64 = 2;

/// An egress port's data: how much may wait, and what is on the wire.
struct Limit {
    bytes: u64,
    /// Until when a data packet is on the wire, and its bytes.
    on_wire: (Time, u64),
    to_host: bool,
    random: Stream,
}

/// The limits of all ports.
pub(super) struct EgressLimits {
    by_port: Vec<Limit>,
    /// Bytes on the wire of a trimmed packet; `None` if packets are dropped.
    trims_to: Option<u16>,
    victim: Victim,
}

impl EgressLimits {
    /// The limits that `net` sets, if it does.
    pub fn new(net: &Network) -> Option<Box<EgressLimits>> {
        let limit = net.settings.switch.queue_limit?.0;
        let trimming = net.settings.switch.trimming.as_ref();
        let topology = &net.topology;
        let fastest = topology.port_ids().map(|port| topology.rate(port)).max()?;
        let of = |port: PortId| {
            let share = u128::from(limit) * u128::from(topology.rate(port).bps());
            Limit {
                bytes: ((share / u128::from(fastest.bps())) as u64).max(net.wire.frame()),
                on_wire: (Time::ZERO, 0),
                to_host: net.is_host(topology.node_of(port.peer())),
                random: stream(net.seed, Domain::Routing, FIRST_STREAM + u64::from(port.0)),
            }
        };
        Some(Box::new(EgressLimits {
            by_port: topology.port_ids().map(of).collect(),
            trims_to: trimming.map(|trimming| trimming.size.0 as u16),
            victim: net.settings.switch.queue_victim,
        }))
    }

    /// A data packet of `size` bytes goes onto the wire of a port until `ends`.
    pub fn on_depart(&mut self, egress: PortId, ends: Time, size: u64) {
        self.by_port[egress.index()].on_wire = (ends, size);
    }
}

impl Switches {
    /// Makes room for a packet that is about to join an egress queue; returns the packet as it goes on, `None` if it was
    /// dropped.
    #[cold]
    pub(super) fn make_room<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) -> Option<Frame> {
        let Some(limits) = &mut self.limits else { return Some(frame) };
        let limit = &mut limits.by_port[egress.index()];
        if frame.class >= DATA {
            let data = DATA as usize..links.classes;
            let place = links.place(egress, 0);
            let queued: u64 = data.map(|class| links.queues[place + class].bytes).sum();
            let (until, bytes) = limit.on_wire;
            let used = queued + if until > ctx.now { bytes } else { 0 };
            if used + frame.size() <= limit.bytes {
                return Some(frame);
            }
            let place = links.place(egress, frame.class);
            let takes_last = limits.victim == Victim::Either && limit.random.next_u64() & 1 == 0;
            let to_host = limit.to_host;
            if takes_last && let Some(last) = links.queues[place].pop_last(&mut ctx.packets) {
                let size = u64::from(ctx.packets[last].size);
                links.ports[egress.index()].queued_bytes -= size;
                if links.queues[place].is_empty() {
                    links.ports[egress.index()].backlog &= !(1 << frame.class);
                }
                self.uncharge(ctx, links, last);
                if let Some(trimmed) = self.trim(ctx, links, egress, last, to_host) {
                    self.enqueue(ctx, links, egress, last, trimmed);
                }
                return Some(frame);
            }
            return self.trim(ctx, links, egress, id, to_host);
        }
        let place = links.place(egress, frame.class);
        if links.queues[place].bytes + frame.size() <= CONTROL_FOR_DATA * limit.bytes {
            return Some(frame);
        }
        ctx.lose((egress, ctx.packets[id].ingress), id, Cause::Buffer, None);
        None
    }

    /// Cuts a data packet that is in no queue to its header, or drops it.
    fn trim<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        to_host: bool,
    ) -> Option<Frame> {
        let trims_to = self.limits.as_ref().and_then(|limits| limits.trims_to);
        if let Some(size) = trims_to
            && ctx.packets[id].kind == Kind::Data
        {
            ctx.counters.trims += 1;
            let packet = &mut ctx.packets[id];
            (packet.kind, packet.class, packet.payload) = (Kind::Trimmed, CONTROL, 0);
            packet.size = packet.size.min(size);
            packet.flags |= if to_host { LAST_HOP } else { 0 };
            let frame = packet.frame();
            return self.make_room(ctx, links, egress, id, frame);
        }
        ctx.lose((egress, ctx.packets[id].ingress), id, Cause::Buffer, None);
        None
    }

    /// Takes a packet that leaves its queue for no wire off its ingress port's account.
    fn uncharge<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, id: PacketId) {
        let packet = &mut ctx.packets[id];
        if packet.flags & CHARGED == 0 {
            return;
        }
        packet.flags &= !CHARGED;
        let (class, size) = (packet.ingress_class(), packet.size.into());
        let queue = QueueId::new(packet.ingress, class - DATA, links.priorities);
        C::release(links, ctx, &mut self.accounting, queue, size);
    }
}
