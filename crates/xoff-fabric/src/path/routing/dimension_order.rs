//! Dimension-order routing on grids: packets go to the receiver's place in the first dimension, then in the second, and so on.
//!
//! Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on Computers
//! 1987, Section IV. Along a ring of a torus a packet goes the shorter way round, and if both are equal, up from even places and
//! down from odd ones, so that both directions get the same. On a ring, packets go to lane 1 at the link that closes
//! the ring: no packet passes that link twice, so the links of a lane never wait for each other in a circle. In a HyperX each dimension
//! is one link, and one lane is enough.

use super::choice::{Choice, Mixing};
use super::lanes::{LaneLink, LaneRule, Lanes};
use super::switches::SwitchGraph;
use super::{End, RoutingError};
use crate::path::topology::{Grid, PortId, Shape, Topology};

/// The dimension-order routes of a grid.
#[derive(Clone, Debug)]
pub(super) struct DimensionOrder {
    grid: Grid,
    choice: Mixing,
    /// By switch, then dimension: the links, each with the place to which it leads.
    links: Vec<Vec<Vec<(PortId, u32)>>>,
    /// By point: the switch.
    switches: Vec<u32>,
}

impl DimensionOrder {
    /// The routes, and the lanes that they take.
    pub fn new(
        topology: &Topology,
        graph: &SwitchGraph,
        choice: Mixing,
    ) -> Result<(DimensionOrder, Option<Lanes>), RoutingError> {
        let Shape::Grid(grid) = &topology.shape else {
            return Err(RoutingError::WrongTopology {
                routing: "dimension_order",
                expected: "`torus` or `hyperx` in [topology], or another routing",
            });
        };
        let point = |switch: u32| grid.points[graph.node(switch).index()];
        let mut switches = vec![0; graph.len()];
        let mut links = Vec::with_capacity(graph.len());
        for switch in 0..graph.len() as u32 {
            switches[point(switch) as usize] = switch;
            let mut by_dimension = vec![Vec::new(); grid.extents.len()];
            for &(port, to) in graph.links(switch) {
                if let Some(d) = grid.first_difference(point(switch), point(to)) {
                    by_dimension[d].push((port, grid.coordinate(point(to), d)));
                }
            }
            links.push(by_dimension);
        }
        let link = |port: PortId| {
            let [a, b] = [port, port.peer()].map(|p| grid.points[topology.node_of(p).index()]);
            if a == Shape::NONE || b == Shape::NONE {
                return LaneLink::default();
            }
            let d = grid.first_difference(a, b).unwrap_or(0);
            let apart = grid.coordinate(a, d).abs_diff(grid.coordinate(b, d));
            // In a ring of two the only link closes nothing.
            LaneLink { dimension: d as u8 + 1, crosses: apart > 1 && apart == grid.extents[d] - 1 }
        };
        let has_rings = grid.rings && grid.extents.iter().any(|&extent| extent > 2);
        let lanes = has_rings.then(|| Lanes::new(topology, 2, LaneRule::Dateline, link));
        Ok((DimensionOrder { grid: grid.clone(), choice, links, switches }, lanes))
    }

    /// Appends the ports of the path between two switches; `None` if there is no path.
    pub fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let hash = self.choice.flow(from.address(), to.address(), key);
        let point = |switch: u32| self.grid.points[graph.node(switch).index()];
        let (mut at, target) = (point(from.switch), point(to.switch));
        // The direction along a ring is chosen once, so that it does not turn back.
        let mut direction = None;
        while let Some(d) = self.grid.first_difference(at, target) {
            let (here, there) = (self.grid.coordinate(at, d), self.grid.coordinate(target, d));
            let next = if self.grid.rings {
                let extent = self.grid.extents[d];
                let up = match direction {
                    Some((dimension, up)) if dimension == d => up,
                    _ => goes_up(here, there, extent),
                };
                direction = Some((d, up));
                (here + if up { 1 } else { extent - 1 }) % extent
            } else {
                there
            };
            let switch = self.switches[at as usize];
            let parallel = self.links[switch as usize][d].iter().filter(|&&(_, place)| place == next);
            let pick = self.choice.at(hash, graph.node(switch), parallel.clone().count().max(1));
            let &(port, _) = parallel.clone().nth(pick)?;
            out.push(port);
            at = self.grid.moved(at, d, next);
        }
        Some(())
    }

    /// Maximum number of links between two switches.
    pub fn longest(&self) -> usize {
        let of = |&extent: &u32| if self.grid.rings { extent as usize / 2 } else { 1 };
        self.grid.extents.iter().map(of).sum()
    }
}

/// Whether the shorter way along a ring of `extent` places leads up.
fn goes_up(here: u32, there: u32, extent: u32) -> bool {
    let up = (there + extent - here) % extent;
    match (2 * up).cmp(&extent) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => here.is_multiple_of(2),
        std::cmp::Ordering::Greater => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_round_is_taken_and_equal_ones_alike() {
        // In a ring of 5: from 0 to 2 up, from 0 to 3 down. In a ring of 4: from 0 to 2 up, and from 1 to 3 down.
        assert_eq!([(0, 2, 5), (0, 3, 5), (4, 1, 5)].map(|(a, b, k)| goes_up(a, b, k)), [true, false, true]);
        assert_eq!([(0, 2, 4), (1, 3, 4), (2, 0, 4)].map(|(a, b, k)| goes_up(a, b, k)), [true, false, true]);
    }
}
