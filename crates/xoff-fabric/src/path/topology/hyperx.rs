//! The HyperX: switches at the points of a grid, each linked with all others of its row in every dimension.
//!
//! Ahn, Binkert, Davis, McLaren and Schreiber, "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks",
//! SC 2009, Section 3: dimensions S_1, S_2, ..., T hosts on each switch, and K parallel links between two switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::grid::Points;
use super::registry::TopologyKind;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered switch by switch, and switches such as `s2.0`, by their places in each dimension, the first one
/// fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HyperX {
    /// Switches along each dimension (S); at least 2 each, such as `[4, 4]`.
    pub dimensions: Vec<u32>,
    /// Hosts on each switch (T); at least 1.
    pub hosts_per_switch: u32,
    /// Parallel links between two switches of a row (K); at least 1.
    pub links_per_pair: u32,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and switches, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and switches; without it, `delay`.
    pub host_delay: Option<Time>,
}

impl Default for HyperX {
    fn default() -> Self {
        HyperX {
            dimensions: vec![4, 4],
            hosts_per_switch: 4,
            links_per_pair: 1,
            rate: Rate::from_gbps(100),
            host_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
        }
    }
}

impl TopologyKind for HyperX {
    const NAME: &'static str = "hyperx";
    const TITLE: &'static str = "Switches on a grid, each linked with all others of its rows";
    const SOURCE: &'static str = "Ahn et al., SC 2009, Section 3";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("links_per_pair", self.links_per_pair, 1)?;
        let parallel = u128::from(self.links_per_pair);
        let points = Points::new(&self.dimensions, self.hosts_per_switch, false)?;
        points.size(|k| u128::from(k) * u128::from(k - 1) / 2 * parallel)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let points = Points::new(&self.dimensions, self.hosts_per_switch, false)?;
        let host = b.nodes("host", 0, points.hosts, NodeKind::Host);
        let switch = NodeId(points.hosts);
        for point in 0..points.switches {
            b.node(points.name(point), NodeKind::Switch);
        }
        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..points.hosts {
            b.link(host + h, switch + h / self.hosts_per_switch, rate, delay);
        }
        let all = |k: u32| (0..k).flat_map(move |a| (a + 1..k).map(move |z| (a, z)));
        for (a, z) in points.links(all) {
            for _ in 0..self.links_per_pair {
                b.link(switch + a, switch + z, self.rate, self.delay);
            }
        }
        b.shape(points.shape());
        b.finish()
    }
}
