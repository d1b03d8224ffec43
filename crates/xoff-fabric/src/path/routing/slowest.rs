//! The slowest round trip through empty queues, which schemes get as base RTT.
//!
//! Equal-cost paths may differ in rate and delay. A flow's hash must not change the base RTT of all flows, so the base RTT is
//! the maximum over every path that the routing may choose.

use xoff_engine::Time;

use super::ecmp::FAR;
use super::metric::Metric;
use super::switches::{SwitchGraph, UNREACHED};
use super::{End, HostNic, Router, RoutingError, Ways};
use crate::path::topology::PortId;

/// Times of a data packet and of its ACK on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTime {
    /// Time of the data packet, which leaves by the given port.
    pub data: Time,
    /// Time of the ACK in the opposite direction.
    pub ack: Time,
}

/// The times on the link that leaves by a port, given the number of links between this link and the receiver.
pub type LinkTimes<'a> = &'a dyn Fn(PortId, usize) -> LinkTime;

/// The maximum times of the paths between two switches.
#[derive(Clone, Copy, Debug, Default)]
struct Slowest {
    /// Maximum time of data.
    data: Time,
    /// Maximum time of ACKs.
    ack: Time,
    /// Maximum time of data and ACK on one path.
    both: Time,
    links: usize,
}

impl Slowest {
    /// The times of these paths with one more link, of `time`, at the sender's side.
    fn behind(self, time: LinkTime) -> Slowest {
        Slowest {
            data: self.data + time.data,
            ack: self.ack + time.ack,
            both: self.both + time.data + time.ack,
            links: self.links + 1,
        }
    }
    /// The maximum, for each of the three times, of two sets of paths with the same length.
    fn or(self, other: Slowest) -> Slowest {
        Slowest {
            data: self.data.max(other.data),
            ack: self.ack.max(other.ack),
            both: self.both.max(other.both),
            links: self.links.max(other.links),
        }
    }
    fn round_trip(self, symmetric: bool) -> Time {
        if symmetric { self.both } else { self.data + self.ack }
    }
}

impl Router {
    /// The slowest round trip between any two hosts, over every path that the routing may choose, by the times on
    /// single links.
    ///
    /// # Errors
    /// [`RoutingError`] if two hosts have no path.
    pub fn slowest_round_trip(&self, times: LinkTimes<'_>) -> Result<Time, RoutingError> {
        // The pairs of each receiving switch follow each other, so that one switch's table is enough at a time: the tables of
        // all switches would take more memory than all else in a large network.
        let ends = self.representative_ends();
        let mut order: Vec<u32> = (0..ends.len() as u32).collect();
        order.sort_by_key(|&place| self.graph.switch_of(ends[place as usize].1));
        let mut table = None;
        let (mut slowest, mut without) = (Time::ZERO, None);
        for place in order {
            let (src, dst) = ends[place as usize];
            let (first, last) = (self.nic_port(src)?, self.nic_port(dst)?.peer());
            let trip = if first == last {
                let time = times(first, 0);
                Some(time.data + time.ack)
            } else {
                self.between(src, dst, times, &mut table)
            };
            match trip {
                Some(trip) => slowest = slowest.max(trip),
                None => without = Some(without.map_or(place, |other: u32| other.min(place))),
            }
        }
        match without.map(|place| ends[place as usize]) {
            Some((src, dst)) => Err(self.unreachable(src, dst)),
            None => Ok(slowest),
        }
    }

    /// The slowest round trip between two NICs that are attached to switches; `None` if there is no path.
    /// `to_switch` keeps the result for the last receiving switch.
    fn between(
        &self,
        src: HostNic,
        dst: HostNic,
        times: LinkTimes<'_>,
        to_switch: &mut Option<(u32, Vec<Option<Slowest>>)>,
    ) -> Option<Time> {
        let graph = &self.graph;
        let (from, to) = (graph.switch_of(src)?, graph.switch_of(dst)?);
        let (first, last) = (graph.nic_port(src)?, graph.nic_port(dst)?.peer());
        let at_receiver = Slowest::default().behind(times(last, 0));
        let whole = |between: Slowest| between.behind(times(first, between.links));
        if let Ways::Trees(trees) = &self.ways {
            let mut path = Vec::new();
            let ways = (0..trees.len()).map(|tree| {
                path.clear();
                trees.path_in(tree, &self.topology, graph, from, to, &mut path)?;
                let way = path.iter().rev().fold(at_receiver, |s, &p| s.behind(times(p, s.links)));
                Some(whole(way).round_trip(true))
            });
            return ways.max().flatten();
        }
        if let Ways::Static(table) = &self.ways
            && let Some(data) = table.listed(src, dst)
        {
            let along = |via: &[u32]| whole(listed_between(graph, via, at_receiver, times));
            return Some(match table.listed_back(src, dst) {
                None => along(&data).round_trip(true),
                Some(back) => along(&data).data + along(&back).ack,
            });
        }
        let along =
            |path: &[PortId]| path.iter().rev().fold(at_receiver, |s, &p| s.behind(times(p, s.links)));
        if let Ways::Grid(routes) = &self.ways {
            let end = |nic, switch| End { nic, switch };
            let mut path = Vec::new();
            routes.path(graph, end(src, from), end(dst, to), 0, &mut path)?;
            return Some(whole(along(&path)).round_trip(false));
        }
        if let (Ways::KShortest(paths), true) = (&self.ways, from != to) {
            let trips =
                paths.between(graph, from, to).iter().map(|path| whole(along(path)).round_trip(false));
            return trips.max();
        }
        // The table leaves out the receiver's own link, so that all hosts of a switch share it.
        let known = to_switch.take().filter(|(switch, _)| *switch == to);
        let (_, table) = to_switch.insert(known.unwrap_or_else(|| (to, self.slowest_to(to, times))));
        let between = table[from as usize]?;
        let between = Slowest {
            data: between.data + at_receiver.data,
            ack: between.ack + at_receiver.ack,
            both: between.both + at_receiver.both,
            links: between.links + 1,
        };
        let symmetric = match &self.ways {
            Ways::Static(table) => table.fallback_is_symmetric(),
            _ => self.is_symmetric(),
        };
        Some(whole(between).round_trip(symmetric))
    }
}

impl Router {
    /// For each switch the slowest of the paths to `root` that packets may take; `None` if there is no path, or only one that
    /// is too long to route.
    fn slowest_to(&self, root: u32, times: LinkTimes<'_>) -> Vec<Option<Slowest>> {
        let (graph, metric) = (&self.graph, self.metric());
        let mut direct = vec![None; graph.len()];
        direct[root as usize] = Some(Slowest::default());
        shortest_to(graph, metric, &[root], &mut direct, times);
        if self.detours.is_none() {
            return direct;
        }
        let mut slowest = direct.clone();
        for group in (0..metric.groups()).filter(|&group| group != metric.group(root)) {
            let members: Vec<u32> = metric.members(group).collect();
            let mut by_group = vec![None; graph.len()];
            members.iter().for_each(|&s| by_group[s as usize] = direct[s as usize]);
            shortest_to(graph, metric, &members, &mut by_group, times);
            let others =
                (0..graph.len() as u32).filter(|&s| ![group, metric.group(root)].contains(&metric.group(s)));
            for s in others.map(|s| s as usize) {
                slowest[s] = [slowest[s], by_group[s]].into_iter().flatten().reduce(Slowest::or);
            }
        }
        slowest
    }
}

/// Adds to the `slowest` ways from `targets`, which are known, those of all other switches by the shortest paths to them.
fn shortest_to(
    graph: &SwitchGraph,
    metric: &Metric,
    targets: &[u32],
    slowest: &mut [Option<Slowest>],
    times: LinkTimes<'_>,
) {
    let distance = metric.distances(graph, targets);
    let mut order: Vec<u32> = (0..graph.len() as u32)
        .filter(|&s| distance[s as usize] != UNREACHED && metric.links(distance[s as usize]) < u32::from(FAR))
        .collect();
    order.sort_unstable_by_key(|&s| distance[s as usize]);
    for s in order.into_iter().filter(|&s| distance[s as usize] > 0) {
        let left = distance[s as usize];
        let nearer = graph.links(s).iter().filter(|&&(_, next)| {
            distance[next as usize] != UNREACHED && distance[next as usize] + metric.cost(s, next) == left
        });
        slowest[s as usize] = nearer
            .filter_map(|&(port, next)| {
                let behind = slowest[next as usize]?;
                Some(behind.behind(times(port, behind.links + 1)))
            })
            .reduce(Slowest::or);
    }
}

/// The slowest choice among parallel links along a listed route.
fn listed_between(graph: &SwitchGraph, via: &[u32], at_receiver: Slowest, times: LinkTimes<'_>) -> Slowest {
    via.windows(2).rev().fold(at_receiver, |s, hop| {
        let parallel = graph.links(hop[0]).iter().filter(|&&(_, to)| to == hop[1]);
        parallel.map(|&(port, _)| s.behind(times(port, s.links))).reduce(Slowest::or).unwrap_or(s)
    })
}
