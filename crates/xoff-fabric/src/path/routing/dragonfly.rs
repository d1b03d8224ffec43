//! Routing in networks of groups (dragonfly and dragonfly+): minimal, by an intermediate group, or whichever of the two has less
//! before it.
//!
//! Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, Section 4.1:
//!
//! - MIN: inside of the source's group to a router with a link to the destination's group, by that link, and inside of that
//!   group to the destination's router.
//! - VAL (Valiant): MIN to a random other group, from where the packet comes in, MIN to the destination.
//! - UGAL: of the minimal path and one random path of VAL, the minimal one if q_m H_m <= q_nm H_nm, with the queues q and the
//!   numbers of links H. UGAL-L takes the queue of the source's router at the first link of each path. UGAL-G takes the queue at
//!   the first link between groups, which may be at another router of the group; the paper lets it know that queue at
//!   once, here it is known from what packets carried along (Jiang, Kim and Dally, "Indirect Adaptive Routing on Large Scale
//!   Interconnection Networks", ISCA 2009, Section 3.3: piggyback routing).
//!
//! The source's router decides for each packet, and packets inside of one group always take MIN. A link between groups takes
//! the packet to the next lane behind it: MIN needs two lanes and the others three, one for each group that a path passes.

use std::sync::OnceLock;

use super::choice::{Choice, Mixing};
use super::detours::MAX_GROUPS;
use super::lanes::{LaneLink, LaneRule, Lanes};
use super::metric::Metric;
use super::params::{Dragonfly, DragonflyVariant};
use super::switches::{SwitchGraph, UNREACHED};
use super::{End, RoutingError};
use crate::path::topology::{PortId, Shape, Topology};

/// Minimal paths in a network of groups.
#[derive(Clone, Debug)]
pub(super) struct GroupRoutes {
    pub metric: Metric,
    pub variant: DragonflyVariant,
    choice: Mixing,
    /// For each destination switch, the distance of all switches.
    distances: Box<[OnceLock<Box<[u32]>>]>,
}

impl GroupRoutes {
    /// Minimal paths, and the lanes that `params` take.
    pub fn new(
        topology: &Topology,
        graph: &SwitchGraph,
        params: &Dragonfly,
        choice: Mixing,
    ) -> Result<(GroupRoutes, Lanes), RoutingError> {
        let (Some(metric), Shape::Groups(groups)) = (Metric::by_groups(topology, graph), &topology.shape)
        else {
            return Err(RoutingError::WrongTopology {
                routing: "dragonfly",
                expected: "`dragonfly` or `dragonfly_plus` in [topology], or another routing",
            });
        };
        let groups_fit = (3..=MAX_GROUPS).contains(&metric.groups());
        if params.variant.detours() && !groups_fit {
            return Err(RoutingError::Groups { variant: params.variant.name(), groups: metric.groups() });
        }
        let of = |port: PortId| groups[topology.node_of(port).index()];
        let lanes = Lanes::new(topology, params.lanes(), LaneRule::BehindGroups, |port| LaneLink {
            dimension: 0,
            crosses: of(port) != Shape::NONE && of(port) != of(port.peer()),
        });
        let distances = (0..graph.len()).map(|_| OnceLock::new()).collect();
        Ok((GroupRoutes { metric, variant: params.variant, choice, distances }, lanes))
    }

    /// The distance of all switches to one.
    pub fn distances(&self, graph: &SwitchGraph, to: u32) -> &[u32] {
        self.distances[to as usize].get_or_init(|| self.metric.distances(graph, &[to]).into())
    }

    /// Appends the ports of a minimal path between two switches; `None` if there is no path.
    pub fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let distance = self.distances(graph, to.switch);
        let hash = self.choice.flow(from.address(), to.address(), key);
        let mut at = from.switch;
        while at != to.switch {
            let left = distance[at as usize];
            if left == UNREACHED {
                return None;
            }
            let nearer = |&&(_, next): &&(PortId, u32)| {
                distance[next as usize] != UNREACHED
                    && distance[next as usize] + self.metric.cost(at, next) == left
            };
            let links = graph.links(at).iter().filter(nearer);
            let pick = self.choice.at(hash, graph.node(at), links.clone().count());
            let &(port, next) = links.clone().nth(pick)?;
            out.push(port);
            at = next;
        }
        Some(())
    }

    /// Maximum number of links between any two of these switches, over all paths that packets may take.
    pub fn longest(&self, graph: &SwitchGraph, switches: &[u32]) -> usize {
        let metric = &self.metric;
        let longest = |from: &mut dyn Iterator<Item = u32>, distance: &[u32]| {
            let reached = from.map(|s| distance[s as usize]).filter(|&d| d != UNREACHED);
            reached.map(|d| metric.links(d) as usize).max().unwrap_or(0)
        };
        let all = || 0..graph.len() as u32;
        let detours = self.variant.detours();
        let last = switches.iter().map(|&to| {
            let mut from: Box<dyn Iterator<Item = u32>> =
                if detours { Box::new(all()) } else { Box::new(switches.iter().copied()) };
            longest(&mut from, &metric.distances(graph, &[to]))
        });
        let last = last.max().unwrap_or(0);
        let first = (0..if detours { metric.groups() } else { 0 }).map(|group| {
            let members: Vec<u32> = metric.members(group).collect();
            longest(&mut switches.iter().copied(), &metric.distances(graph, &members))
        });
        first.max().unwrap_or(0) + last
    }
}
