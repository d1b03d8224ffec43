//! D-mod-k routing in fat-trees (Zahavi, D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real
//! Life Fat Trees, 2010), the static routing of InfiniBand in TCD's runs (section 5.2.2).
//!
//! The destination alone decides on every link. On the way up from level `l` of the tree (1 at the hosts) a switch with
//! `w_l` links upwards takes number
//!
//! ```text
//! floor(d / (w_1 ... w_(l-1))) mod w_l
//! ```
//!
//! for the host number `d`, in the order of links, until the destination is below; from there only one path leads down. So
//! packets to one host meet at one switch of the top, whoever sends them, and hosts share the links upwards evenly. ACKs are
//! routed as packets to the sender.

use super::switches::SwitchGraph;
use super::{End, HostNic, RoutingError};
use crate::path::topology::{NodeId, NodeKind, PortId, Topology};

/// In `down`: the switch is not below.
const NONE: PortId = PortId(u32::MAX);

/// Links of a switch to the tier above: egress port and the switch there.
type Upwards = Box<[(PortId, u32)]>;

#[derive(Clone, Debug)]
pub(super) struct DModK {
    /// By host's node: its number among the hosts.
    numbers: Box<[u32]>,
    /// By switch: links upwards, in order.
    up: Box<[Upwards]>,
    /// By switch, then by target switch: the link downwards; [`NONE`] if the target is not below.
    down: Box<[Box<[PortId]>]>,
}

impl DModK {
    /// Prepares the routing on a network of tiers. Each switch must link only to the tiers next to its own, no two paths may
    /// lead down from one switch to another, and switches of the top must reach all hosts of their plane.
    pub(super) fn new(topology: &Topology, graph: &SwitchGraph) -> Result<DModK, RoutingError> {
        let name = |s: u32| topology.nodes[graph.node(s).index()].name.clone();
        let tier = |s: u32| topology.nodes[graph.node(s).index()].tier;
        let switches = 0..graph.len() as u32;
        let mut numbers = vec![u32::MAX; topology.nodes.len()];
        for (number, host) in topology.hosts().into_iter().enumerate() {
            numbers[host.index()] = number as u32;
        }
        let level = switches.clone().find_map(|s| {
            let same = graph.links(s).iter().find(|(_, to)| tier(s).abs_diff(tier(*to)) != 1);
            same.map(|&(_, to)| (s, to))
        });
        if let Some((a, b)) = level {
            return Err(RoutingError::NotAFatTree {
                why: format!(
                    "a link joins `{}` and `{}`, of which neither is one tier above the other",
                    name(a),
                    name(b)
                ),
            });
        }
        let mut down: Vec<Box<[PortId]>> =
            switches.clone().map(|_| vec![NONE; graph.len()].into_boxed_slice()).collect();
        let mut bottom_up: Vec<u32> = switches.clone().collect();
        bottom_up.sort_by_key(|&s| tier(s));
        for &s in &bottom_up {
            for &(port, below) in graph.links(s).iter().filter(|(_, to)| tier(*to) < tier(s)) {
                for target in switches.clone() {
                    if target != below && down[below as usize][target as usize] == NONE {
                        continue;
                    }
                    if down[s as usize][target as usize] != NONE {
                        let (above, below) = (name(s), name(target));
                        let why = format!("two ways lead down from `{above}` to `{below}`");
                        return Err(RoutingError::NotAFatTree { why });
                    }
                    down[s as usize][target as usize] = port;
                }
            }
        }
        let up: Vec<Upwards> = switches
            .clone()
            .map(|s| graph.links(s).iter().copied().filter(|(_, to)| tier(*to) > tier(s)).collect())
            .collect();
        let is_host = |n: NodeId| topology.nodes[n.index()].kind == NodeKind::Host;
        let mut with_hosts: Vec<u32> = NodeId::all(topology.nodes.len())
            .filter(|&n| is_host(n))
            .flat_map(|host| (0..graph.nics(host)).map(move |nic| HostNic { host, nic }))
            .filter_map(|nic| graph.switch_of(nic))
            .collect();
        with_hosts.sort_unstable();
        with_hosts.dedup();
        let tree = DModK { numbers: numbers.into(), up: up.into(), down: down.into() };
        tree.check_reach(&with_hosts, &graph.components(), name)?;
        Ok(tree)
    }

    /// Refuses a network in which the choice of a link upwards decides which hosts can be reached. A plane, one of the
    /// `components` by switch, reaches only the NICs of its own.
    fn check_reach(
        &self,
        with_hosts: &[u32],
        components: &[u32],
        name: impl Fn(u32) -> String,
    ) -> Result<(), RoutingError> {
        for s in 0..self.up.len() as u32 {
            let ups = &self.up[s as usize];
            let plane = |to: &u32| components[*to as usize] == components[s as usize];
            let missed =
                |from: u32| with_hosts.iter().copied().filter(plane).find(|&to| !self.below(from, to));
            if let (true, Some(to)) = (ups.is_empty(), missed(s)) {
                let why = format!("`{}` is at the top, and `{}` is not below it", name(s), name(to));
                return Err(RoutingError::NotAFatTree { why });
            }
            let differing = ups.windows(2).find_map(|pair| {
                let (a, b) = (pair[0].1, pair[1].1);
                let to = with_hosts.iter().copied().find(|&to| self.below(a, to) != self.below(b, to))?;
                Some((a, b, to))
            });
            if let Some((a, b, to)) = differing {
                let why = format!(
                    "of `{}` and `{}`, both above `{}`, one alone has `{}` below it",
                    name(a),
                    name(b),
                    name(s),
                    name(to)
                );
                return Err(RoutingError::NotAFatTree { why });
            }
        }
        Ok(())
    }

    /// Whether `to` is `from` or below it.
    fn below(&self, from: u32, to: u32) -> bool {
        from == to || self.down[from as usize][to as usize] != NONE
    }

    /// Appends the ports between the two switches; `None` if there is no path.
    pub(super) fn path(
        &self,
        next: impl Fn(PortId) -> u32,
        from: End,
        to: End,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let mut number = self.numbers[to.host().index()] as usize;
        let mut at = from.switch;
        while !self.below(at, to.switch) {
            let ups = &self.up[at as usize];
            let &(port, above) = ups.get(number % ups.len().max(1))?;
            number /= ups.len();
            out.push(port);
            at = above;
        }
        while at != to.switch {
            let port = self.down[at as usize][to.switch as usize];
            out.push(port);
            at = next(port);
        }
        Some(())
    }
}
