//! The choice between the minimal path and one by another group, at the first switch of a packet's path.
//!
//! The rules are those of `path/routing/dragonfly.rs`.

use rand::Rng;
use xoff_engine::{Stream, Time};

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::packet::PacketId;
use crate::path::routing::{Course, DragonflyVariant, NextHops};

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
        let Ctx { net, packets, now, .. } = ctx;
        let packet = &mut packets[id];
        let ingress = packet.ingress;
        let Some(hops) = &net.paths.next_hops else { return ingress };
        let mut course = if net.is_host(hops.node_of(ingress.peer())) {
            self.set_course(*now, links, hops, node, ingress, end)
        } else {
            Course::of(packet.path_number())
        };
        let port = hops.step(node, end, &mut course);
        packet.point = course.bits();
        port.unwrap_or(ingress)
    }

    /// The course of a packet that comes from a host.
    fn set_course<C>(
        &mut self,
        now: Time,
        links: &Links<C>,
        hops: &NextHops,
        node: NodeId,
        ingress: PortId,
        end: PortId,
    ) -> Course {
        let random = &mut self.ties[ingress.index()];
        let direct = Course { via: None, number: random.next_u32() as u16 };
        let Some(detours) = hops.detours() else { return direct };
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
            let queue = match (&self.known_loads, way.between) {
                (Some(known), Some(port)) if hops.node_of(port) != node => known.load(now, node, port),
                (Some(_), Some(port)) => links.ports[port.index()].queued_bytes,
                _ => links.ports[way.first.index()].queued_bytes,
            };
            Some(queue.saturating_mul(u64::from(way.links)))
        };
        match (cost(direct), cost(detour)) {
            (Some(minimal), Some(other)) if minimal > other.saturating_add(detours.bias) => detour,
            _ => direct,
        }
    }
}

/// A random number below `count`.
fn below(count: u32, random: &mut Stream) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(count)) >> 32) as u32
}
