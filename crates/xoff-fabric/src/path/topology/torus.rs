//! The torus: switches at the points of a grid, each linked with its neighbours, and rings in every dimension.
//!
//! Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, Chapter 5: k-ary n-cubes. A ring of two
//! switches has one link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::Builder;
use super::grid::Points;
use super::registry::TopologyKind;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered switch by switch, and switches such as `s2.0`, by their places in each dimension, the first one
/// fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Torus {
    /// Switches along each dimension; at least 2 each, such as `[4, 4]` or `[4, 4, 4]`.
    pub dimensions: Vec<u32>,
    /// Hosts on each switch; at least 1.
    pub hosts_per_switch: u32,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and switches, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and switches; without it, `delay`.
    pub host_delay: Option<Time>,
}

impl Default for Torus {
    fn default() -> Self {
        Torus {
            dimensions: vec![4, 4],
            hosts_per_switch: 1,
            rate: Rate::from_gbps(100),
            host_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
        }
    }
}

impl TopologyKind for Torus {
    const NAME: &'static str = "torus";
    const TITLE: &'static str = "Switches on a grid of two, three or more dimensions, each of them a ring";
    const SOURCE: &'static str = "Dally and Towles, 2004, Chapter 5";

    fn size(&self) -> Result<Size, TopologyError> {
        Points::new(&self.dimensions, self.hosts_per_switch, true)?
            .size(|k| if k == 2 { 1 } else { k.into() })
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let points = Points::new(&self.dimensions, self.hosts_per_switch, true)?;
        let host = b.nodes("host", 0, points.hosts, NodeKind::Host);
        let switch = NodeId(points.hosts);
        for point in 0..points.switches {
            b.node(points.name(point), NodeKind::Switch);
        }
        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..points.hosts {
            b.link(host + h, switch + h / self.hosts_per_switch, rate, delay);
        }
        let ring = |k: u32| (0..if k == 2 { 1 } else { k }).map(move |place| (place, (place + 1) % k));
        for (a, z) in points.links(ring) {
            b.link(switch + a, switch + z, self.rate, self.delay);
        }
        b.shape(points.shape());
        b.finish()
    }
}
