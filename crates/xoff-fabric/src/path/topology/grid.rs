//! What networks of switches on a grid share: torus and HyperX.

use super::builder::at_least;
use super::shape::{Grid, Shape};
use super::{TopologyError, size::Size};

/// Maximum number of dimensions.
const MAX_DIMENSIONS: usize = 8;

/// The points of a grid of switches with hosts on each.
pub(super) struct Points {
    pub switches: u32,
    pub hosts: u32,
    grid: Grid,
}

impl Points {
    /// The points of a grid of `extents`, with `each` hosts on a switch.
    pub fn new(extents: &[u32], each: u32, rings: bool) -> Result<Points, TopologyError> {
        if extents.is_empty() || extents.len() > MAX_DIMENSIONS {
            return Err(TopologyError::Dimensions { got: extents.len(), max: MAX_DIMENSIONS });
        }
        extents.iter().try_for_each(|&extent| at_least("dimensions", extent, 2))?;
        at_least("hosts_per_switch", each, 1)?;
        let switches: u128 = extents.iter().map(|&extent| u128::from(extent)).product();
        let hosts = switches.saturating_mul(each.into());
        Size::new(hosts, switches, hosts, switches)?;
        let grid = Grid { extents: extents.to_vec(), points: Vec::new(), rings };
        Ok(Points { switches: switches as u32, hosts: hosts as u32, grid })
    }

    /// The size of the network with so many links from point to point along each dimension and row.
    pub fn size(&self, links: impl Fn(u32) -> u128) -> Result<Size, TopologyError> {
        let rows = self.grid.extents.iter().map(|&extent| u128::from(self.switches / extent) * links(extent));
        let switches = u128::from(self.switches);
        Size::new(self.hosts.into(), switches, u128::from(self.hosts) + rows.sum::<u128>(), switches)
    }

    /// The name of a point's switch: its places in all dimensions, such as `s2.0.1`.
    pub fn name(&self, point: u32) -> String {
        let places = (0..self.grid.extents.len()).map(|d| self.grid.coordinate(point, d).to_string());
        format!("s{}", places.collect::<Vec<_>>().join("."))
    }

    /// The pairs of points that `pairs` links in a row of so many points, row by row of each dimension.
    pub fn links<P: Iterator<Item = (u32, u32)>>(&self, pairs: impl Fn(u32) -> P) -> Vec<(u32, u32)> {
        let mut links = Vec::new();
        for (d, &extent) in self.grid.extents.iter().enumerate() {
            for first in (0..self.switches).filter(|&point| self.grid.coordinate(point, d) == 0) {
                let at = |place| self.grid.moved(first, d, place);
                links.extend(pairs(extent).map(|(a, b)| (at(a), at(b))));
            }
        }
        links
    }

    /// The shape of the network with its hosts first.
    pub fn shape(self) -> Shape {
        let points = (0..self.hosts).map(|_| Shape::NONE).chain(0..self.switches).collect();
        Shape::Grid(Grid { points, ..self.grid })
    }
}
