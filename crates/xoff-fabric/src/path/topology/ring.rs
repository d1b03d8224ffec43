//! The ring: switches in a circle, each with hosts of its own.
//!
//! This smallest topology is the example of CONTRIBUTING.md and is compiled only for tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered switch by switch, and switches `switch0`, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ring {
    /// Switches; at least 3.
    pub switches: u32,
    /// Hosts on each switch; at least 1.
    pub hosts_per_switch: u32,
    /// Rate of every link, in bits a second.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Default for Ring {
    fn default() -> Self {
        Ring { switches: 4, hosts_per_switch: 1, rate: Rate::from_gbps(100), delay: Time::from_us(1) }
    }
}

impl TopologyKind for Ring {
    const NAME: &'static str = "ring";
    const TITLE: &'static str = "Switches in a circle";
    const SOURCE: &'static str = "common practice";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("switches", self.switches, 3)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        let switches = u128::from(self.switches);
        let hosts = switches * u128::from(self.hosts_per_switch);
        Size::new(hosts, switches, hosts + switches, switches)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (switches, each) = (self.switches, self.hosts_per_switch);
        let host = b.nodes("host", 0, switches * each, NodeKind::Host);
        let switch = b.nodes("switch", 0, switches, NodeKind::Switch);
        for h in 0..switches * each {
            b.link(host + h, switch + h / each, self.rate, self.delay);
        }
        for s in 0..switches {
            b.link(switch + s, switch + (s + 1) % switches, self.rate, self.delay);
        }
        b.finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ids::NodeId;
    use crate::path::topology::AnyTopology;
    use crate::routing::{Router, Routing};

    /// Five switches with two hosts each: 15 nodes, 10 links to hosts and 5 in the circle. The shorter path from the first
    /// host of switch 0 to the first host of switch 3 leads by switch 4: host, 0, 4, 3.
    #[test]
    fn packets_go_the_short_way_round() {
        let ring = AnyTopology::read("ring", json!({ "switches": 5, "hosts_per_switch": 2 }));
        let ring = ring.expect("listed").expect("valid").build().expect("a ring");
        assert_eq!((ring.nodes.len(), ring.links.len()), (15, 15));
        let mut path = Vec::new();
        let router = Router::new(&ring, &Routing::default(), 1).expect("a router");
        router.path(NodeId(0), NodeId(6), 0, &mut path).expect("a path");
        let names: Vec<String> = path.iter().map(|&port| ring.port_name(port)).collect();
        assert_eq!(names, ["host0->switch0", "switch0->switch4", "switch4->switch3", "switch3->host6"]);
    }

    #[test]
    fn two_switches_make_no_ring() {
        let ring = Ring { switches: 2, ..Ring::default() };
        assert_eq!(ring.build(), Err(TopologyError::TooFew { key: "switches", got: 2, min: 3 }));
    }
}
