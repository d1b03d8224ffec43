//! Cutting a network into parts for several threads: along links between switches, so that each part has about as
//! much work, and links with a short delay, which would make for short windows, stay within parts where that is
//! possible.
//!
//! The traffic is known before the run, so the work is that of all flows' packets on their paths. First the switches
//! with hosts are divided: a part grows by the nearest of them, so that the pods of a fat-tree stay together. The
//! other switches then join the part that they have most traffic with.

use std::collections::VecDeque;
use std::sync::Arc;

use xoff_engine::Time;

use super::windows::GRID;
use crate::ids::{NodeId, PortId, peer};
use crate::network::Network;
use crate::packet::PartitionId;
use crate::settings::{NicTimer, Order};

/// Which part of a network each node is in.
#[derive(Clone, Debug)]
pub struct Cut {
    part_of: Arc<[PartitionId]>,
    parts: usize,
    /// The least delay of a link between parts.
    lookahead: Time,
    /// Expected time of a run on as many threads, in seconds.
    cost: f64,
}

// What things take on a core of 2024, in seconds; only their ratios count.
const HOP: f64 = 60e-9;
const CROSSING: f64 = 40e-9;
const WINDOW: f64 = 3e-6;
const THREAD: f64 = 1e-3;
/// Parts are never all as busy in the same window as they are on the whole.
const UNEVENNESS: f64 = 1.2;
/// Least gain for which several threads are worth their while.
const MIN_GAIN: f64 = 0.85;
/// Maximum number of partitions: each two have mailboxes.
const MAX_PARTS: usize = 256;
/// Maximum number of lookaheads that are tried.
const MAX_TRIED: usize = 6;

impl Cut {
    /// All in one part.
    pub fn single(net: &Network) -> Cut {
        Cut { part_of: vec![0; net.topology.nodes.len()].into(), parts: 1, lookahead: Time::NEVER, cost: 0.0 }
    }

    /// The best cut into up to `parts` parts; fewer where there are not as many switches that may be parted.
    pub fn into(net: &Network, parts: usize, duration: Option<Time>) -> Cut {
        Self::with_load(net, parts, &Load::new(net, duration))
    }

    /// The cut into up to `most` parts that takes the least time, which for small runs is none.
    pub fn fastest(net: &Network, most: usize, duration: Option<Time>) -> Cut {
        let single = Cut::single(net);
        // Below this the threads alone would cost more than they gain, and so would finding it out.
        if most < 2 || Load::packet_hops(net, duration) * HOP < 20.0 * THREAD {
            return single;
        }
        let load = Load::new(net, duration);
        let alone = load.nodes.iter().sum::<u64>() as f64 * HOP;
        let cuts = (2..=most.min(net.topology.nodes.len())).map(|n| Self::with_load(net, n, &load));
        let best = cuts.min_by(|a, b| a.cost.total_cmp(&b.cost));
        best.filter(|cut| cut.cost < MIN_GAIN * alone).unwrap_or(single)
    }

    fn with_load(net: &Network, parts: usize, load: &Load) -> Cut {
        let single = Cut::single(net);
        let parts = parts.min(MAX_PARTS);
        if parts < 2 || needs_one_part(net).is_some() {
            return single;
        }
        let mut delays: Vec<Time> = trunks(net).map(|link| min_delay(net, link)).collect();
        delays.sort_unstable_by(|a, b| b.cmp(a));
        delays.dedup();
        delays.retain(|&d| d > Time::ZERO);
        let step = delays.len().div_ceil(MAX_TRIED).max(1);
        // The shortest as well: it leaves most freedom.
        let tried = delays.iter().step_by(step).chain(delays.last());
        let cuts = tried.filter_map(|&delay| Atoms::new(net, load, delay).cut(net, load, parts));
        cuts.min_by(|a, b| a.cost.total_cmp(&b.cost)).unwrap_or(single)
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The least delay of a link between parts, and so the longest window.
    pub(crate) fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// By node: its partition.
    pub(crate) fn partition_of(&self) -> Arc<[PartitionId]> {
        self.part_of.clone()
    }

    /// The partition that a node is in.
    pub fn part_of(&self, node: NodeId) -> usize {
        usize::from(self.part_of[node as usize])
    }
}

/// The setting by which a network can only be simulated in one part.
pub fn needs_one_part(net: &Network) -> Option<&'static str> {
    let quirks = &net.settings.quirks;
    if quirks.order == Order::Scheduled {
        Some("quirks.order = \"scheduled\"")
    } else if quirks.nic == NicTimer::Ns3 {
        Some("quirks.nic = \"ns3\"")
    } else if quirks.marking_stream.is_some() {
        Some("quirks.marking_stream")
    } else if net.scheme.needs_one_thread() {
        Some("scheme.name")
    } else if net.dependencies.anywhere() {
        Some("across_hosts = true")
    } else {
        None
    }
}

/// Links between switches.
fn trunks(net: &Network) -> impl Iterator<Item = u32> + '_ {
    (0..net.topology.links.len() as u32).filter(|&l| {
        let link = &net.topology.links[l as usize];
        !net.is_host(link.a) && !net.is_host(link.b)
    })
}

fn min_delay(net: &Network, link: u32) -> Time {
    let link = &net.topology.links[link as usize];
    link.delay_ab.min(link.delay_ba)
}

/// What the traffic makes of each node and link, in packets.
struct Load {
    nodes: Vec<u64>,
    links: Vec<u64>,
    /// For how long there is traffic, about.
    span: Time,
}

impl Load {
    /// Data packets and ACKs of a flow.
    fn packets(net: &Network, flow: u32, duration: Option<Time>) -> (u64, u64) {
        let f = &net.flows[flow as usize];
        let until = duration.unwrap_or(Time::NEVER).min(f.stop.unwrap_or(Time::NEVER));
        let until = if until == Time::NEVER { f.start.saturating_add(Time::from_us(1_000)) } else { until };
        let rate = net.topology.rate(net.data_path(flow)[0]);
        let most = rate.bytes_in(until.saturating_sub(f.start));
        let bytes = match (f.size, duration) {
            (Some(size), None) => size,
            (size, _) => size.unwrap_or(u64::MAX).min(most),
        };
        let data = bytes.div_ceil(net.wire.payload.max(1));
        let acks = data.div_ceil(u64::from(net.settings.host.ack_every.max(1)));
        (data, acks)
    }

    /// Packets received at any node, in all.
    fn packet_hops(net: &Network, duration: Option<Time>) -> f64 {
        let hops = (0..net.flows.len() as u32).map(|flow| {
            let (route, (data, acks)) = (net.route(flow), Self::packets(net, flow, duration));
            data as f64 * f64::from(route.links) + acks as f64 * f64::from(route.ack_links)
        });
        hops.sum()
    }

    fn new(net: &Network, duration: Option<Time>) -> Load {
        let topology = &net.topology;
        let (mut nodes, mut links) = (vec![0; topology.nodes.len()], vec![0; topology.links.len()]);
        let mut hosts = vec![Time::ZERO; topology.nodes.len()];
        let mut pass = |ports: &[PortId], packets: u64| {
            for &port in ports {
                links[(port / 2) as usize] += packets;
                nodes[topology.node_of(peer(port)) as usize] += packets;
            }
        };
        for (number, flow) in net.flows.iter().enumerate() {
            let (data, acks) = Self::packets(net, number as u32, duration);
            let path = net.data_path(number as u32);
            pass(path, data);
            pass(net.ack_path(number as u32), acks);
            let time = topology.rate(path[0]).serialization(net.wire.frame()).0.saturating_mul(data);
            for host in [flow.src, flow.dst] {
                hosts[host as usize] = hosts[host as usize].saturating_add(Time(time));
            }
        }
        let first = net.flows.first().map_or(Time::ZERO, |f| f.start);
        let last = net.flows.last().map_or(Time::ZERO, |f| f.start);
        let busiest = hosts.into_iter().max().unwrap_or(Time::ZERO);
        let mut span = last.saturating_sub(first).saturating_add(busiest);
        if !net.dependencies.is_empty() {
            // Closed loops may leave their links idle for most of the time.
            let lasts = |flow| net.ideal_fct(flow).unwrap_or(Time::ZERO);
            span = span.max(net.dependencies.span(&net.flows, &lasts).saturating_sub(first));
        }
        let span = duration.unwrap_or(Time::NEVER).min(span);
        Load { nodes, links, span }
    }
}

/// The pieces that are never cut, and the traffic between them.
struct Atoms {
    /// By node.
    of: Vec<usize>,
    work: Vec<u64>,
    with_hosts: Vec<bool>,
    /// By atom: its neighbours, with the packets between the two.
    links: Vec<Vec<(usize, u64)>>,
    traffic: Vec<u64>,
}

const NONE: PartitionId = PartitionId::MAX;

impl Atoms {
    /// Hosts with their switch, and nodes between which a link has a delay below `least`.
    fn new(net: &Network, load: &Load, least: Time) -> Atoms {
        let n = net.topology.nodes.len();
        let mut root: Vec<usize> = (0..n).collect();
        fn find(root: &mut [usize], mut node: usize) -> usize {
            while root[node] != node {
                root[node] = root[root[node]];
                node = root[node];
            }
            node
        }
        for (number, link) in net.topology.links.iter().enumerate() {
            let joined = net.is_host(link.a) || net.is_host(link.b);
            if joined || min_delay(net, number as u32) < least {
                let (a, b) = (find(&mut root, link.a as usize), find(&mut root, link.b as usize));
                // The first node names the atom, so that numbers follow the topology's order.
                root[a.max(b)] = a.min(b);
            }
        }
        let mut atoms = Atoms {
            of: vec![0; n],
            work: Vec::new(),
            with_hosts: Vec::new(),
            links: Vec::new(),
            traffic: Vec::new(),
        };
        for node in 0..n {
            let first = find(&mut root, node);
            if first == node {
                atoms.of[node] = atoms.work.len();
                atoms.work.push(0);
                atoms.with_hosts.push(false);
                atoms.links.push(Vec::new());
                atoms.traffic.push(0);
            }
            let atom = atoms.of[first];
            atoms.of[node] = atom;
            atoms.work[atom] += load.nodes[node];
            atoms.with_hosts[atom] |= net.is_host(node as u32);
        }
        for (link, &packets) in net.topology.links.iter().zip(&load.links) {
            let (a, b) = (atoms.of[link.a as usize], atoms.of[link.b as usize]);
            if a != b {
                // One more, so that links without traffic count as links.
                for (one, other) in [(a, b), (b, a)] {
                    atoms.links[one].push((other, packets + 1));
                    atoms.traffic[one] += packets + 1;
                }
            }
        }
        atoms
    }

    /// Divides the atoms that have hosts among parts with about equal work.
    fn grow(&self, parts: usize) -> Vec<PartitionId> {
        let count = self.work.len();
        let mut part_of = vec![NONE; count];
        let with_hosts = || (0..count).filter(|&a| self.with_hosts[a]);
        let mut left: u64 = with_hosts().map(|a| self.work[a].max(1)).sum();
        for part in 0..parts {
            let target = left / (parts - part) as u64;
            // Links from the part to each atom.
            let (mut load, mut distance) = (0, vec![u32::MAX; count]);
            while let Some(atom) =
                with_hosts().filter(|&a| part_of[a] == NONE).min_by_key(|&a| (distance[a], a))
            {
                let more = self.work[atom].max(1);
                let over = (load + more).saturating_sub(target);
                if part + 1 < parts && load > 0 && over > target.saturating_sub(load) {
                    break;
                }
                part_of[atom] = part as PartitionId;
                load += more;
                distance[atom] = 0;
                let mut nearer = VecDeque::from([atom]);
                while let Some(from) = nearer.pop_front() {
                    for &(to, _) in &self.links[from] {
                        if distance[from] + 1 < distance[to] {
                            distance[to] = distance[from] + 1;
                            nearer.push_back(to);
                        }
                    }
                }
            }
            left -= load;
        }
        part_of
    }

    /// Gives the atoms without hosts to the parts that they have most traffic with, as far as these are not full.
    fn fill(&self, parts: usize, part_of: &mut [PartitionId]) {
        let total: u64 = self.work.iter().sum();
        let full = total / parts as u64 + total / parts as u64 / 20;
        let mut load = vec![0u64; parts];
        for (atom, &part) in part_of.iter().enumerate() {
            if part != NONE {
                load[usize::from(part)] += self.work[atom];
            }
        }
        // From the hosts inwards: what is next to what has a part already, in the order of the topology.
        let mut pending: Vec<usize> = (0..part_of.len()).filter(|&a| part_of[a] == NONE).collect();
        while !pending.is_empty() {
            let known = |a: &usize| self.links[*a].iter().any(|&(n, _)| part_of[n] != NONE);
            let (mut now, later): (Vec<usize>, Vec<usize>) = pending.iter().partition(|a| known(a));
            if now.is_empty() {
                now.clone_from(&pending);
                pending.clear();
            } else {
                pending = later;
            }
            for atom in now {
                let mut towards = vec![0u64; parts];
                for &(neighbour, packets) in &self.links[atom] {
                    if part_of[neighbour] != NONE {
                        towards[usize::from(part_of[neighbour])] += packets;
                    }
                }
                let work = self.work[atom];
                // Shares that differ by less than a tenth are alike: then balance decides, as where no part has room.
                let fits = |p: &usize| load[*p] + work <= full;
                let most = (0..parts).filter(fits).map(|p| towards[p]).max().unwrap_or(0);
                let near = |p: &usize| towards[*p] + self.traffic[atom] / 10 >= most;
                let best = (0..parts).filter(|p| fits(p) && near(p)).min_by_key(|&p| load[p]);
                let best = best.or((0..parts).min_by_key(|&p| load[p])).unwrap_or(0);
                part_of[atom] = best as PartitionId;
                load[best] += work;
            }
        }
    }

    /// The cut along the links between these atoms; `None` if there are fewer than two.
    fn cut(&self, net: &Network, load: &Load, parts: usize) -> Option<Cut> {
        let parts = parts.min(self.work.len());
        if parts < 2 {
            return None;
        }
        let mut atoms = self.grow(parts);
        self.fill(parts, &mut atoms);
        // Drop empty partitions.
        let mut number = vec![NONE; parts];
        let mut used = 0;
        for &part in &atoms {
            let number = &mut number[usize::from(part)];
            if *number == NONE {
                *number = used;
                used += 1;
            }
        }
        let part_of: Vec<PartitionId> = self.of.iter().map(|&a| number[usize::from(atoms[a])]).collect();
        let parts = usize::from(used);
        if parts < 2 {
            return None;
        }
        let (mut work, mut crossing, mut lookahead) = (vec![0u64; parts], vec![0u64; parts], Time::NEVER);
        for (&part, &packets) in part_of.iter().zip(&load.nodes) {
            work[usize::from(part)] += packets;
        }
        for (number, link) in net.topology.links.iter().enumerate() {
            let (a, b) = (part_of[link.a as usize], part_of[link.b as usize]);
            if a != b {
                lookahead = lookahead.min(min_delay(net, number as u32));
                crossing[usize::from(a)] += load.links[number];
                crossing[usize::from(b)] += load.links[number];
            }
        }
        let busiest = work.iter().zip(&crossing).map(|(&w, &c)| w as f64 * HOP + c as f64 * CROSSING / 2.0);
        let windows = load.span.ps().div_ceil(GRID.ps()) * GRID.ps().div_ceil(lookahead.ps());
        let cost = busiest.fold(0.0, f64::max) * UNEVENNESS + windows as f64 * WINDOW + parts as f64 * THREAD;
        Some(Cut { part_of: part_of.into(), parts, lookahead, cost })
    }
}
