//! The rail-optimized network of GPU servers: NIC i of every host goes to a leaf of rail i.
//!
//! NVIDIA, "DGX SuperPOD: Next Generation Scalable Infrastructure for AI Leadership", reference architecture for DGX H100,
//! 2023: hosts with eight NICs in groups ("scalable units") of 32, with eight leaves each. Collectives send from GPU i to GPU i
//! alone, and stay on one leaf inside of a group. Three kinds of spines:
//!
//! - `shared`: every leaf is linked with every spine, so that NICs of different rails reach each other.
//! - `per_rail`: each rail has spines of its own.
//! - `none`: one group, whose rails are a leaf each ("rail-only": Wang et al., "Rail-only: A Low-Cost High-Performance Network
//!   for Training LLMs with Trillion Parameters", Hot Interconnects 2024).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::nics::Nics;
use super::registry::TopologyKind;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// What joins the leaves of a rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RailSpines {
    /// Each rail has spines of its own.
    #[default]
    PerRail,
    /// All rails have the same spines.
    Shared,
    /// Nothing: there is one group.
    None,
}

/// Hosts `host0`, ..., numbered group by group, leaves `rail0leaf0` for each rail and group, and spines `rail0spine0`, ... or, if all
/// rails share them, `spine0`, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RailOptimized {
    /// Rails, and NICs of each host; from 1 to 64.
    pub rails: u32,
    /// Groups of hosts, each with one leaf of each rail; at least 1.
    pub groups: u32,
    /// Hosts of each group; at least 1.
    pub hosts_per_group: u32,
    /// What joins the leaves: spines of each rail (`per_rail`), spines of all rails (`shared`), or nothing (`none`, with one
    /// group).
    pub spine: RailSpines,
    /// Spines of each rail, or of all rails if they share them; at least 1.
    pub spines: u32,
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

impl Default for RailOptimized {
    fn default() -> Self {
        RailOptimized {
            rails: 8,
            groups: 2,
            hosts_per_group: 4,
            spine: RailSpines::PerRail,
            spines: 4,
            rate: Rate::from_gbps(400),
            host_rate: None,
            spine_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
            spine_delay: None,
        }
    }
}

impl RailOptimized {
    /// The number of all spines.
    fn all_spines(&self) -> u32 {
        match self.spine {
            RailSpines::PerRail => self.rails.saturating_mul(self.spines),
            RailSpines::Shared => self.spines,
            RailSpines::None => 0,
        }
    }

    /// Spines that a leaf is linked with.
    fn spines_of_leaf(&self) -> u32 {
        if self.spine == RailSpines::None { 0 } else { self.spines }
    }
}

impl TopologyKind for RailOptimized {
    const NAME: &'static str = "rail_optimized";
    const TITLE: &'static str =
        "Hosts with a NIC for each rail, and leaves of a rail each, with or without spines of their own";
    const SOURCE: &'static str =
        "NVIDIA DGX SuperPOD reference architecture, 2023; Wang et al., Hot Interconnects 2024";

    fn size(&self) -> Result<Size, TopologyError> {
        Nics::new(1, self.rails)?;
        at_least("groups", self.groups, 1)?;
        at_least("hosts_per_group", self.hosts_per_group, 1)?;
        at_least("spines", self.spines, 1)?;
        if self.spine == RailSpines::None && self.groups > 1 {
            return Err(TopologyError::TooMany { key: "groups", got: self.groups, max: 1 });
        }
        let (hosts, leaves) = (
            u128::from(self.groups) * u128::from(self.hosts_per_group),
            u128::from(self.groups) * u128::from(self.rails),
        );
        let links = hosts * u128::from(self.rails) + leaves * u128::from(self.spines_of_leaf());
        Size::new(hosts, leaves + u128::from(self.all_spines()), links, leaves)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (rails, groups, hosts) = (self.rails, self.groups, self.groups * self.hosts_per_group);
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let leaf = |rail: u32, group: u32| NodeId(hosts + rail * groups + group);
        for rail in 0..rails {
            for group in 0..groups {
                b.node(format!("rail{rail}leaf{group}"), NodeKind::Switch);
            }
        }
        let first = leaf(rails, 0);
        for spine in 0..self.all_spines() {
            let name = match self.spine {
                RailSpines::PerRail => format!("rail{}spine{}", spine / self.spines, spine % self.spines),
                _ => format!("spine{spine}"),
            };
            b.node(name, NodeKind::Switch);
        }
        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            for rail in 0..rails {
                b.link(host + h, leaf(rail, h / self.hosts_per_group), rate, delay);
            }
        }
        let (rate, delay) = (self.spine_rate.unwrap_or(self.rate), self.spine_delay.unwrap_or(self.delay));
        for rail in 0..rails {
            let own = if self.spine == RailSpines::PerRail { rail * self.spines } else { 0 };
            for group in 0..groups {
                for s in 0..self.spines_of_leaf() {
                    b.link(leaf(rail, group), first + (own + s), rate, delay);
                }
            }
        }
        b.finish()
    }
}
