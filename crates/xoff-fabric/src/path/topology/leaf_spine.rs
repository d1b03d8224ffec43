//! The leaf-spine: two tiers, every leaf connected to every spine.
//!
//! The default is SRCC's motivating network (Section II-B): 4 leaves with 16 hosts each and 8 spines (there "core
//! switches"), all links 100 Gbps and 4 us.
//!
//! With `rails = k` the network is rail-optimized, like networks of GPU servers: NIC i of every host of a group goes to
//! leaf i of the group. With `planes = n` there are n networks that share only the hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::nics::Nics;
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered leaf by leaf, leaves `leaf0`, ... and spines `spine0`, ..., numbered plane by plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LeafSpine {
    /// Leaves of a plane; at least 1.
    pub leaves: u32,
    /// Spines of a plane; at least 1.
    pub spines: u32,
    /// Hosts on each leaf, or on each group of `rails` leaves; at least 1.
    pub hosts_per_leaf: u32,
    /// Parallel links between each leaf and each spine; at least 1.
    pub links_per_pair: u32,
    /// Rails, and so NICs of each host: NIC i of every host in a group of `rails` leaves goes to leaf i of the group. A
    /// divisor of `leaves`.
    pub rails: u32,
    /// Planes: copies of leaves and spines that share nothing but the hosts. Each host has `rails` NICs in each plane, plane
    /// by plane.
    pub planes: u32,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and leaves, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Rate between leaves and spines, in bits a second; without it, `rate`.
    pub spine_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and leaves; without it, `delay`.
    pub host_delay: Option<Time>,
    /// Propagation delay between leaves and spines; without it, `delay`.
    pub spine_delay: Option<Time>,
}

impl Default for LeafSpine {
    fn default() -> Self {
        LeafSpine {
            leaves: 4,
            spines: 8,
            hosts_per_leaf: 16,
            links_per_pair: 1,
            rails: 1,
            planes: 1,
            rate: Rate::from_gbps(100),
            host_rate: None,
            spine_rate: None,
            delay: Time::from_us(4),
            host_delay: None,
            spine_delay: None,
        }
    }
}

impl TopologyKind for LeafSpine {
    const NAME: &'static str = "leaf_spine";
    const TITLE: &'static str = "Two tiers, every leaf connected to every spine";
    const SOURCE: &'static str = "SRCC, Section II-B";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("leaves", self.leaves, 1)?;
        at_least("spines", self.spines, 1)?;
        at_least("hosts_per_leaf", self.hosts_per_leaf, 1)?;
        at_least("links_per_pair", self.links_per_pair, 1)?;
        let nics = Nics::new(self.planes, self.rails)?;
        let groups = nics.groups(self.leaves, "leaves")?;
        let (leaves, spines) = (u128::from(self.leaves), u128::from(self.spines));
        let hosts = u128::from(groups) * u128::from(self.hosts_per_leaf);
        let (planes, count) = (u128::from(self.planes), u128::from(self.planes * self.rails));
        let trunks = leaves * spines * u128::from(self.links_per_pair);
        let switches = planes * (leaves + spines);
        Size::new(hosts, switches, count * hosts + planes * trunks, planes * leaves)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let nics = Nics::new(self.planes, self.rails)?;
        let groups = nics.groups(self.leaves, "leaves")?;
        let hosts = groups * self.hosts_per_leaf;
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let leaf = b.nodes("leaf", 0, self.planes * self.leaves, NodeKind::Switch);
        let spine = b.nodes("spine", 0, self.planes * self.spines, NodeKind::Switch);

        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            for l in nics.switches(h / self.hosts_per_leaf, self.leaves) {
                b.link(host + h, leaf + l, rate, delay);
            }
        }
        let (rate, delay) = (self.spine_rate.unwrap_or(self.rate), self.spine_delay.unwrap_or(self.delay));
        for l in 0..self.planes * self.leaves {
            let first = spine + l / self.leaves * self.spines;
            for s in 0..self.spines {
                for _ in 0..self.links_per_pair {
                    b.link(leaf + l, first + s, rate, delay);
                }
            }
        }
        b.finish()
    }
}
