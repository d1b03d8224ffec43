//! The three-tier fat-tree of switches with k ports each.
//!
//! Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
//! Section 3: k pods of k/2 edge and k/2 aggregation switches, every edge switch connected to every aggregation
//! switch of its pod; (k/2)^2 core switches, of which the i-th aggregation switch of every pod connects to the i-th
//! group of k/2; k/2 hosts on each edge switch. That makes k^3/4 hosts and 5 k^2/4 switches, at full bisection
//! bandwidth. With several rails, NIC i of every host of a group goes to edge switch i of the group; with several planes
//! there are several trees that share only the hosts. FNCC (Section 5.5) has k = 8, TCD k = 10 and 16 (Section 5.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::nics::Nics;
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., switches `edge0`, ... and `agg0`, ..., numbered pod by pod, and `core0`, ..., group by group; all
/// switches plane by plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FatTree {
    /// Ports per switch: even, at least 2.
    pub k: u32,
    /// Hosts on each edge switch, or on each group of `rails` edge switches; without it, k/2. More hosts oversubscribe the
    /// edge.
    pub hosts_per_edge: Option<u32>,
    /// Core switches that each aggregation switch is linked with; without it, k/2. Fewer of them oversubscribe the core.
    pub cores_per_agg: Option<u32>,
    /// Rails, and so NICs of each host: NIC i of every host in a group of `rails` edge switches goes to edge switch i of the
    /// group. A divisor of the k/2 edge switches of a pod.
    pub rails: u32,
    /// Planes: copies of the tree that share nothing but the hosts. Each host has `rails` NICs in each plane, plane by plane.
    pub planes: u32,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and edge switches, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Rate between edge and aggregation switches, in bits a second; without it, `rate`.
    pub edge_rate: Option<Rate>,
    /// Rate between aggregation and core switches, in bits a second; without it, `rate`.
    pub core_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and edge switches; without it, `delay`.
    pub host_delay: Option<Time>,
    /// Propagation delay between edge and aggregation switches; without it, `delay`.
    pub edge_delay: Option<Time>,
    /// Propagation delay between aggregation and core switches; without it, `delay`.
    pub core_delay: Option<Time>,
}

impl Default for FatTree {
    fn default() -> Self {
        FatTree {
            k: 8,
            hosts_per_edge: None,
            cores_per_agg: None,
            rails: 1,
            planes: 1,
            rate: Rate::from_gbps(100),
            host_rate: None,
            edge_rate: None,
            core_rate: None,
            delay: Time::from_ns(1500),
            host_delay: None,
            edge_delay: None,
            core_delay: None,
        }
    }
}

impl TopologyKind for FatTree {
    const NAME: &'static str = "fat_tree";
    const TITLE: &'static str = "Three tiers of switches with k ports each, k^3/4 hosts";
    const SOURCE: &'static str = "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, Section 3; FNCC, Section 5.5";

    fn size(&self) -> Result<Size, TopologyError> {
        if self.k < 2 || !self.k.is_multiple_of(2) {
            return Err(TopologyError::Arity { k: self.k });
        }
        let half = self.k / 2;
        let per_edge = self.hosts_per_edge.unwrap_or(half);
        at_least("hosts_per_edge", per_edge, 1)?;
        let upwards = self.cores_per_agg.unwrap_or(half);
        at_least("cores_per_agg", upwards, 1)?;
        let nics = Nics::new(self.planes, self.rails)?;
        let groups = nics.groups(half, "edge switches in a pod")?;
        let (k128, half128, upwards) = (u128::from(self.k), u128::from(half), u128::from(upwards));
        let (planes, count) = (u128::from(self.planes), u128::from(self.planes * self.rails));
        let hosts = k128 * u128::from(groups) * u128::from(per_edge);
        let switches = planes * (2 * k128 * half128 + half128 * upwards);
        let links = count * hosts + planes * k128 * half128 * (half128 + upwards);
        Size::new(hosts, switches, links, planes * k128 * half128)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let half = self.k / 2;
        let per_edge = self.hosts_per_edge.unwrap_or(half);
        let nics = Nics::new(self.planes, self.rails)?;
        let groups = nics.groups(half, "edge switches in a pod")?;

        let upwards = self.cores_per_agg.unwrap_or(half);
        let (edges, cores, hosts) = (self.k * half, half * upwards, self.k * groups * per_edge);
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let edge = b.nodes("edge", 0, self.planes * edges, NodeKind::Switch);
        let agg = b.nodes("agg", 0, self.planes * edges, NodeKind::Switch);
        let core = b.nodes("core", 0, self.planes * cores, NodeKind::Switch);

        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            for e in nics.switches(h / per_edge, edges) {
                b.link(host + h, edge + e, rate, delay);
            }
        }
        let (rate, delay) = (self.edge_rate.unwrap_or(self.rate), self.edge_delay.unwrap_or(self.delay));
        for e in 0..self.planes * edges {
            let pod = e / half;
            for a in 0..half {
                b.link(edge + e, agg + (pod * half + a), rate, delay);
            }
        }
        let (rate, delay) = (self.core_rate.unwrap_or(self.rate), self.core_delay.unwrap_or(self.delay));
        for a in 0..self.planes * edges {
            let (plane, group) = (a / edges, a % half);
            for c in 0..upwards {
                b.link(agg + a, core + (plane * cores + group * upwards + c), rate, delay);
            }
        }
        b.finish()
    }
}
