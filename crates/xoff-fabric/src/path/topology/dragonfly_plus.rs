//! The dragonfly+: a dragonfly whose groups are leaf-spines.
//!
//! Shpiner, Haramaty, Eliad, Zdornov, Gafni and Zahavi, "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017,
//! Section II: hosts on leaves, every leaf of a group linked with every spine of it, and spines linked with spines of other
//! groups. The links between groups are laid as in [`super::Dragonfly`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::dragonfly::{GroupLinks, groups_of};
use super::registry::TopologyKind;
use super::shape::Shape;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered leaf by leaf; leaves `g0leaf0`, ... and spines `g0spine0`, ..., group by group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DragonflyPlus {
    /// Hosts on each leaf; at least 1.
    pub hosts_per_leaf: u32,
    /// Leaves in each group; at least 1.
    pub leaves_per_group: u32,
    /// Spines in each group; at least 1.
    pub spines_per_group: u32,
    /// Links of each spine to other groups; at least 1.
    pub global_links: u32,
    /// Groups; at least 2, and at most one more than a group's links to others, which is the default.
    pub groups: Option<u32>,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and leaves, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Rate between leaves and spines, in bits a second; without it, `rate`.
    pub local_rate: Option<Rate>,
    /// Rate between groups, in bits a second; without it, `rate`.
    pub global_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and leaves; without it, `delay`.
    pub host_delay: Option<Time>,
    /// Propagation delay between leaves and spines; without it, `delay`.
    pub local_delay: Option<Time>,
    /// Propagation delay between groups; without it, `delay`.
    pub global_delay: Option<Time>,
}

impl Default for DragonflyPlus {
    fn default() -> Self {
        DragonflyPlus {
            hosts_per_leaf: 2,
            leaves_per_group: 2,
            spines_per_group: 2,
            global_links: 2,
            groups: None,
            rate: Rate::from_gbps(100),
            host_rate: None,
            local_rate: None,
            global_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
            local_delay: None,
            global_delay: None,
        }
    }
}

impl TopologyKind for DragonflyPlus {
    const NAME: &'static str = "dragonfly_plus";
    const TITLE: &'static str =
        "Groups that are leaf-spines, whose spines are linked with those of other groups";
    const SOURCE: &'static str = "Shpiner et al., HiPINEB 2017, Section II";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("hosts_per_leaf", self.hosts_per_leaf, 1)?;
        at_least("leaves_per_group", self.leaves_per_group, 1)?;
        at_least("spines_per_group", self.spines_per_group, 1)?;
        at_least("global_links", self.global_links, 1)?;
        let between = GroupLinks::new(self.spines_per_group, self.global_links, self.groups)?;
        let (leaves, spines) = (u128::from(self.leaves_per_group), u128::from(self.spines_per_group));
        let groups = u128::from(between.groups);
        let hosts = groups * leaves * u128::from(self.hosts_per_leaf);
        let links = hosts + groups * leaves * spines + between.count();
        Size::new(hosts, groups * (leaves + spines), links, groups * leaves)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (p, leaves, spines) = (self.hosts_per_leaf, self.leaves_per_group, self.spines_per_group);
        let between = GroupLinks::new(spines, self.global_links, self.groups)?;
        let hosts = between.groups * leaves * p;
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let of_group = leaves + spines;
        for s in 0..between.groups * of_group {
            let (group, number) = (s / of_group, s % of_group);
            let name = match number.checked_sub(leaves) {
                None => format!("g{group}leaf{number}"),
                Some(spine) => format!("g{group}spine{spine}"),
            };
            b.node(name, NodeKind::Switch);
        }
        let leaf = |group: u32, number: u32| NodeId(hosts + group * of_group + number);
        let spine = |group: u32, number: u32| leaf(group, leaves + number);

        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            b.link(host + h, leaf(h / p / leaves, h / p % leaves), rate, delay);
        }
        let (rate, delay) = (self.local_rate.unwrap_or(self.rate), self.local_delay.unwrap_or(self.delay));
        for group in 0..between.groups {
            for l in 0..leaves {
                for s in 0..spines {
                    b.link(leaf(group, l), spine(group, s), rate, delay);
                }
            }
        }
        let (rate, delay) = (self.global_rate.unwrap_or(self.rate), self.global_delay.unwrap_or(self.delay));
        for ((group, x), (other, y)) in between.ends() {
            b.link(spine(group, x), spine(other, y), rate, delay);
        }
        b.shape(Shape::Groups(groups_of(hosts, between.groups * of_group, |s| s / of_group)));
        b.finish()
    }
}
