//! The dragonfly: groups of routers, each router linked with all others of its group, and groups linked with each other.
//!
//! Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, Section 3: p hosts on each
//! router, a routers in a group, h links of each router to other groups, at most a h + 1 groups. The network is balanced if
//! a = 2 p = 2 h; the default is the paper's example with 72 hosts (Fig. 5). Link number l of group i leads to group l, or
//! l + 1 from i on, as in that figure; with fewer groups the links go round several times, evenly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::shape::Shape;
use super::{NodeId, NodeKind, Size, Topology, TopologyError};

/// Hosts `host0`, ..., numbered router by router, and routers `g0r0`, `g0r1`, ..., `g1r0`, ..., group by group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dragonfly {
    /// Hosts on each router (p); at least 1.
    pub hosts_per_router: u32,
    /// Routers in each group (a); at least 1.
    pub routers_per_group: u32,
    /// Links of each router to other groups (h); at least 1.
    pub global_links: u32,
    /// Groups; at least 2, and at most a h + 1, which is the default.
    pub groups: Option<u32>,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and routers, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Rate inside of groups, in bits a second; without it, `rate`.
    pub local_rate: Option<Rate>,
    /// Rate between groups, in bits a second; without it, `rate`.
    pub global_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and routers; without it, `delay`.
    pub host_delay: Option<Time>,
    /// Propagation delay inside of groups; without it, `delay`.
    pub local_delay: Option<Time>,
    /// Propagation delay between groups; without it, `delay`.
    pub global_delay: Option<Time>,
}

impl Default for Dragonfly {
    fn default() -> Self {
        Dragonfly {
            hosts_per_router: 2,
            routers_per_group: 4,
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

impl TopologyKind for Dragonfly {
    const NAME: &'static str = "dragonfly";
    const TITLE: &'static str =
        "Groups of routers, linked all with all inside of each group and among groups";
    const SOURCE: &'static str = "Kim, Dally, Scott, Abts, ISCA 2008, Section 3";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("hosts_per_router", self.hosts_per_router, 1)?;
        at_least("routers_per_group", self.routers_per_group, 1)?;
        at_least("global_links", self.global_links, 1)?;
        let between = GroupLinks::new(self.routers_per_group, self.global_links, self.groups)?;
        let (a, groups) = (u128::from(self.routers_per_group), u128::from(between.groups));
        let hosts = groups * a * u128::from(self.hosts_per_router);
        Size::new(hosts, groups * a, hosts + groups * a * (a - 1) / 2 + between.count(), groups * a)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (p, a) = (self.hosts_per_router, self.routers_per_group);
        let between = GroupLinks::new(a, self.global_links, self.groups)?;
        let routers = between.groups * a;
        let host = b.nodes("host", 0, routers * p, NodeKind::Host);
        let router = NodeId(host.0 + routers * p);
        for r in 0..routers {
            b.node(format!("g{}r{}", r / a, r % a), NodeKind::Switch);
        }

        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..routers * p {
            b.link(host + h, router + h / p, rate, delay);
        }
        let (rate, delay) = (self.local_rate.unwrap_or(self.rate), self.local_delay.unwrap_or(self.delay));
        for group in 0..between.groups {
            for x in 0..a {
                for y in x + 1..a {
                    b.link(router + (group * a + x), router + (group * a + y), rate, delay);
                }
            }
        }
        let (rate, delay) = (self.global_rate.unwrap_or(self.rate), self.global_delay.unwrap_or(self.delay));
        for ((group, x), (other, y)) in between.ends() {
            b.link(router + (group * a + x), router + (other * a + y), rate, delay);
        }
        b.shape(Shape::Groups(groups_of(routers * p, routers, |r| r / a)));
        b.finish()
    }
}

/// By node: the group of a switch, in a network with its hosts first.
pub(super) fn groups_of(hosts: u32, switches: u32, group: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..hosts).map(|_| Shape::NONE).chain((0..switches).map(group)).collect()
}

/// A switch by its group and its number in the group.
type Member = (u32, u32);

/// The links between groups of switches, of which each has so many links to other groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupLinks {
    /// Number of groups.
    pub groups: u32,
    links_per_switch: u32,
    /// Links between each two groups.
    rounds: u32,
}

impl GroupLinks {
    /// Links between `groups`, as many groups as possible by default, with `switches` that have links to other groups in each.
    pub fn new(switches: u32, links_per_switch: u32, groups: Option<u32>) -> Result<Self, TopologyError> {
        let ports = u64::from(switches) * u64::from(links_per_switch);
        let max = u32::try_from(ports + 1).unwrap_or(u32::MAX);
        let groups = groups.unwrap_or(max);
        at_least("groups", groups, 2)?;
        if groups > max {
            return Err(TopologyError::TooMany { key: "groups", got: groups, max });
        }
        let rounds = (ports / u64::from(groups - 1)) as u32;
        Ok(GroupLinks { groups, links_per_switch, rounds })
    }

    /// The number of links.
    pub fn count(self) -> u128 {
        let groups = u128::from(self.groups);
        groups * (groups - 1) / 2 * u128::from(self.rounds)
    }

    /// The ends of all links.
    pub fn ends(self) -> impl Iterator<Item = (Member, Member)> {
        let member = move |group: u32, other: u32, round: u32| {
            let link = round * (self.groups - 1) + if other < group { other } else { other - 1 };
            (group, link / self.links_per_switch)
        };
        let pairs = (0..self.groups).flat_map(move |x| (x + 1..self.groups).map(move |y| (x, y)));
        pairs.flat_map(move |(x, y)| (0..self.rounds).map(move |r| (member(x, y, r), member(y, x, r))))
    }
}
