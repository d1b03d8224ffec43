//! The star: hosts on one switch, for incast.
//!
//! FNCC, Section 3.1, Observation 2 names the star as a topology in which the path between two nodes is unique.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ... on `switch1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Star {
    /// Hosts; at least 1. The default makes a 16-to-1 incast.
    pub hosts: u32,
    /// Rate of every link, in bits a second.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Default for Star {
    fn default() -> Self {
        Star { hosts: 17, rate: Rate::from_gbps(100), delay: Time::from_ns(1500) }
    }
}

impl TopologyKind for Star {
    const NAME: &'static str = "star";
    const TITLE: &'static str = "Hosts on one switch, for incast";
    const SOURCE: &'static str = "common practice";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("hosts", self.hosts, 1)?;
        Size::new(self.hosts.into(), 1, self.hosts.into(), 1)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let host = b.nodes("host", 0, self.hosts, NodeKind::Host);
        let switch = b.nodes("switch", 1, 1, NodeKind::Switch);
        for h in 0..self.hosts {
            b.link(host + h, switch, self.rate, self.delay);
        }
        b.finish()
    }
}
