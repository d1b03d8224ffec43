//! Alibaba's HPN: hosts with a NIC for each rail, whose two ports go to two top-of-rack switches, in one plane or in two.
//!
//! Qian et al., "Alibaba HPN: A Data Center Network for Large Language Model Training", SIGCOMM 2024, Sections 4 and 5: dual-ToR
//! keeps a NIC connected if one switch fails, and dual-plane lets the two ports of a NIC lead to disjoint halves of the second tier,
//! so that traffic to a host meets no more at one of its switches. A segment has a pair of switches for each rail. The core tier above the
//! aggregation switches, by which pods are joined at 15:1, is not built: the network is one pod.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::nics::Nics;
use super::registry::TopologyKind;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// Switches to which the two ports of a NIC go.
const TORS: u32 = 2;

/// Hosts `host0`, ..., numbered segment by segment; top-of-rack switches such as `s0r3t1`, by segment, rail and port; aggregation
/// switches `agg0`, ..., or with two planes `p0agg0`, ... A port of a NIC counts as a NIC of xoff: NIC 2 r + t is port t of
/// rail r.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hpn {
    /// Rails, and NICs of two ports of each host; from 1 to 32. The paper has 8.
    pub rails: u32,
    /// Segments, each with two switches for each rail; at least 1. The paper has 15.
    pub segments: u32,
    /// Hosts of each segment; at least 1. The paper has 128, with 8 GPUs each.
    pub hosts_per_segment: u32,
    /// The two ports of a NIC lead to planes of their own; otherwise all switches have the same aggregation switches.
    pub dual_plane: bool,
    /// Aggregation switches of each plane, or of all if there is one plane; at least 1. The paper has 60.
    pub aggs: u32,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate of each port of a NIC, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Rate between top-of-rack and aggregation switches, in bits a second; without it, `rate`.
    pub agg_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and their switches; without it, `delay`.
    pub host_delay: Option<Time>,
    /// Propagation delay between top-of-rack and aggregation switches; without it, `delay`.
    pub agg_delay: Option<Time>,
}

impl Default for Hpn {
    fn default() -> Self {
        Hpn {
            rails: 2,
            segments: 2,
            hosts_per_segment: 4,
            dual_plane: true,
            aggs: 4,
            rate: Rate::from_gbps(200),
            host_rate: None,
            agg_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
            agg_delay: None,
        }
    }
}

impl Hpn {
    fn planes(&self) -> u32 {
        if self.dual_plane { TORS } else { 1 }
    }
}

impl TopologyKind for Hpn {
    const NAME: &'static str = "hpn";
    const TITLE: &'static str =
        "Rails of NICs with two ports, to two top-of-rack switches in one or two planes (Alibaba HPN)";
    const SOURCE: &'static str = "Qian et al., SIGCOMM 2024, Sections 4 and 5";

    fn size(&self) -> Result<Size, TopologyError> {
        Nics::new(1, self.rails.saturating_mul(TORS))?;
        at_least("segments", self.segments, 1)?;
        at_least("hosts_per_segment", self.hosts_per_segment, 1)?;
        at_least("aggs", self.aggs, 1)?;
        let hosts = u128::from(self.segments) * u128::from(self.hosts_per_segment);
        let tors = u128::from(self.segments) * u128::from(self.rails * TORS);
        let aggs = u128::from(self.planes()) * u128::from(self.aggs);
        let links = hosts * u128::from(self.rails * TORS) + tors * u128::from(self.aggs);
        Size::new(hosts, tors + aggs, links, tors)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (ports, hosts) = (self.rails * TORS, self.segments * self.hosts_per_segment);
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let tors = self.segments * ports;
        let tor = |segment: u32, port: u32| NodeId(hosts + segment * ports + port);
        for t in 0..tors {
            let (segment, port) = (t / ports, t % ports);
            b.node(format!("s{segment}r{}t{}", port / TORS, port % TORS), NodeKind::Switch);
        }
        let agg = tor(self.segments, 0);
        for a in 0..self.planes() * self.aggs {
            let name = match self.dual_plane {
                true => format!("p{}agg{}", a / self.aggs, a % self.aggs),
                false => format!("agg{a}"),
            };
            b.node(name, NodeKind::Switch);
        }
        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            for port in 0..ports {
                b.link(host + h, tor(h / self.hosts_per_segment, port), rate, delay);
            }
        }
        let (rate, delay) = (self.agg_rate.unwrap_or(self.rate), self.agg_delay.unwrap_or(self.delay));
        for t in 0..tors {
            let plane = if self.dual_plane { t % TORS } else { 0 };
            for a in 0..self.aggs {
                b.link(tor(0, t), agg + (plane * self.aggs + a), rate, delay);
            }
        }
        b.finish()
    }
}
