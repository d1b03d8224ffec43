//! Lengths of paths, for the room that INT needs and for the base RTT.

use std::collections::{BTreeMap, BTreeSet};

use xoff_engine::{Rate, Time};

use super::switches::UNREACHED;
use super::{HostNic, Router, Ways};
use crate::path::topology::{NodeId, PortId, peer_nic};

/// Maximum number of switches from which representative pairs go to all other switches.
const MAX_ORIGINS: usize = 256;

/// Hosts of one switch with NICs of one number whose links have the same rates and delays.
struct Alike {
    link: (Rate, Rate, Time, Time),
    /// The NIC's number at its host.
    nic: u32,
    /// The number of the host's NICs.
    nics: u32,
    first: NodeId,
    second: Option<NodeId>,
}

impl Alike {
    /// Whether these NICs send to those of `to`.
    fn talks_to(&self, to: &Alike) -> bool {
        peer_nic(self.nic, to.nics) == to.nic
    }
}

impl Router {
    /// Maximum number of links on a path between two hosts, over all choices: 6 in a fat-tree, and the diameter of the
    /// network under ECMP. The result is an upper bound with listed routes, because it counts ECMP's paths for listed pairs
    /// too, and with several NICs per host, because it counts paths between NICs that do not talk to each other. One less is
    /// the maximum number of switches on a path, and of hops that INT needs room for.
    pub fn max_hops(&self) -> usize {
        let hosted = self.hosted();
        let switches: Vec<u32> = hosted.iter().map(|(s, _)| *s).collect();
        let shortest = || {
            let longest_to = |&to: &u32| {
                let distance = self.graph.distances(to);
                switches.iter().map(|&s| distance[s as usize]).filter(|&d| d != UNREACHED).max()
            };
            switches.iter().filter_map(longest_to).max().unwrap_or(0) as usize
        };
        let between = match &self.ways {
            Ways::Ecmp(_) | Ways::Table(_) | Ways::DModK(_) => shortest(),
            Ways::Groups(routes) => routes.longest(&self.graph, &switches),
            Ways::Grid(routes) => routes.longest(),
            Ways::KShortest(paths) => paths.longest(&self.graph, &switches),
            Ways::Trees(trees) => trees.longest(&self.topology, &self.graph, &switches),
            Ways::Static(table) => table.longest().max(shortest()),
        };
        let several =
            |(_, hosts): &(u32, Vec<Alike>)| hosts.len() > 1 || hosts.iter().any(|h| h.second.is_some());
        match hosted.len() {
            0 => usize::from(!self.representative_pairs().is_empty()),
            1 if !several(&hosted[0]) => 0,
            _ => between + 2,
        }
    }

    /// The hosts of [`Router::representative_ends`].
    pub fn representative_pairs(&self) -> Vec<(NodeId, NodeId)> {
        self.representative_ends().into_iter().map(|(from, to)| (from.host, to.host)).collect()
    }

    /// Ordered pairs of NICs among which every length of path occurs. For each two switches with hosts, and within each
    /// switch, there is one pair for every combination of differing host links whose NICs talk to each other. With more than
    /// 256 such switches, one NIC of each pair is at one of 256 evenly chosen switches. All pairs with a listed route are
    /// included.
    pub fn representative_ends(&self) -> Vec<(HostNic, HostNic)> {
        let hosted = self.hosted();
        let count = hosted.len();
        let origins = count.min(MAX_ORIGINS);
        let mut chosen = vec![false; count];
        for i in 0..origins {
            chosen[i * count / origins] = true;
        }
        let mut pairs = Vec::new();
        for (i, (_, from)) in hosted.iter().enumerate() {
            for (j, (_, to)) in hosted.iter().enumerate().filter(|(j, _)| chosen[i] || chosen[*j]) {
                for (x, a) in from.iter().enumerate() {
                    for (y, b) in to.iter().enumerate().filter(|(_, b)| a.talks_to(b)) {
                        let other = if i == j && x == y { a.second } else { Some(b.first) };
                        let nic = |host, of: &Alike| HostNic { host, nic: of.nic };
                        pairs.extend(other.map(|host| (nic(a.first, a), nic(host, b))));
                    }
                }
            }
        }
        pairs.extend(self.linked_directly());
        if let Ways::Static(table) = &self.ways {
            let present: BTreeSet<_> = pairs.iter().copied().collect();
            let listed = table.pairs().flat_map(|(a, b)| [(a, b), (b, a)]);
            let listed: BTreeSet<_> = listed.filter(|&(a, b)| self.talks(a, b)).collect();
            pairs.extend(listed.difference(&present));
        }
        pairs
    }

    /// Whether a NIC sends to another.
    fn talks(&self, from: HostNic, to: HostNic) -> bool {
        self.graph.ends(from.host, to.host, from.nic).1 == to
    }

    /// Pairs of NICs with a link between them and no switch.
    fn linked_directly(&self) -> impl Iterator<Item = (HostNic, HostNic)> {
        let (topology, hosts) = (&self.topology, self.topology.hosts());
        let nics = hosts
            .into_iter()
            .flat_map(|host| (0..self.graph.nics(host)).map(move |nic| HostNic { host, nic }));
        let at_port: BTreeMap<PortId, HostNic> =
            nics.filter_map(|nic| Some((self.graph.nic_port(nic)?, nic))).collect();
        let ends = (0..topology.links.len()).flat_map(PortId::of_link);
        let pairs = ends.filter_map(move |p| Some((*at_port.get(&p)?, *at_port.get(&p.peer())?)));
        pairs.filter(|&(from, to)| self.talks(from, to))
    }

    /// The switches with hosts, and the NICs at each switch in groups of links with the same rates and delays.
    fn hosted(&self) -> Vec<(u32, Vec<Alike>)> {
        let mut groups: Vec<Vec<Alike>> = (0..self.graph.len()).map(|_| Vec::new()).collect();
        for host in self.topology.hosts() {
            let nics = self.graph.nics(host);
            for nic in 0..nics {
                let end = HostNic { host, nic };
                let attached = self.graph.nic_port(end).zip(self.graph.switch_of(end));
                let Some((port, switch)) = attached else { continue };
                let t = &self.topology;
                let link = (t.rate(port), t.rate(port.peer()), t.delay(port), t.delay(port.peer()));
                let group = &mut groups[switch as usize];
                match group.iter_mut().find(|g| (g.link, g.nic, g.nics) == (link, nic, nics)) {
                    None => group.push(Alike { link, nic, nics, first: host, second: None }),
                    Some(alike) => alike.second = alike.second.or(Some(host)),
                }
            }
        }
        groups.into_iter().zip(0..).map(|(g, s)| (s, g)).filter(|(_, g)| !g.is_empty()).collect()
    }
}
