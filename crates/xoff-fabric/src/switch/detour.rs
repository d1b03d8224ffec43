//! The choice between the minimal path and one by another group, at the first switch of a packet's path.
//!
//! The rules are those of `path/routing/dragonfly.rs`.

use rand::Rng;
use xoff_engine::Stream;

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::packet::PacketId;
use crate::path::routing::{Course, Detours, DragonflyVariant, NextHops, Way};

impl Switches {
    /// The port by which a data packet for the host's port `end` leaves a switch, where packets may go by other groups.
    pub(super) fn next_on_course<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        node: NodeId,
        id: PacketId,
        end: PortId,
    ) -> PortId {
        let net = ctx.net.clone();
        let ingress = ctx.packets[id].ingress;
        let Some((hops, detours)) = net.paths.next_hops.as_ref().and_then(|h| Some((h, h.detours()?))) else {
            return ingress;
        };
        let mut course = if net.is_host(hops.node_of(ingress.peer())) {
            self.set_course(ctx, links, (hops, detours), node, ingress, end)
        } else {
            Course::of(ctx.packets[id].path_number())
        };
        let port = hops.step(node, end, &mut course);
        ctx.packets[id].point = course.bits();
        port.unwrap_or(ingress)
    }

    /// The course of a packet that comes from a host.
    fn set_course<C>(
        &mut self,
        ctx: &Ctx,
        links: &Links<C>,
        (hops, detours): (&NextHops, &Detours),
        node: NodeId,
        ingress: PortId,
        end: PortId,
    ) -> Course {
        let random = &mut self.ties[ingress.index()];
        let direct = Course { via: None, number: random.next_u32() as u16 };
        let (here, there) = (detours.group(node), detours.group(hops.node_of(end.peer())));
        if here == there {
            return direct;
        }
        let via = detours.other_group(below(detours.groups - 2, random), here, there);
        let detour = Course { via: Some(via), number: random.next_u32() as u16 };
        if detours.variant == DragonflyVariant::Valiant {
            return detour;
        }
        let cost = |course: Course| {
            let way = hops.way(node, end, course)?;
            Some(self.queue_of(ctx, links, detours, node, &way).saturating_mul(u64::from(way.links)))
        };
        match (cost(direct), cost(detour)) {
            (Some(minimal), Some(other)) if minimal > other.saturating_add(detours.bias) => detour,
            _ => direct,
        }
    }

    /// The bytes before a packet on a way.
    fn queue_of<C>(&self, _ctx: &Ctx, links: &Links<C>, _detours: &Detours, _node: NodeId, way: &Way) -> u64 {
        links.ports[way.first.index()].queued_bytes
    }
}

/// A random number below `count`.
fn below(count: u32, random: &mut Stream) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(count)) >> 32) as u32
}
