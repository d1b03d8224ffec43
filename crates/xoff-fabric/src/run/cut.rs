//! Cutting a network into partitions for several threads. The cut goes along links between switches and gives all
//! partitions about the same work. Links with a short delay, which would make windows short, stay within partitions if that
//! is possible.
//!
//! The traffic is known before the run, so the work is that of all flows' packets on their paths. First the switches
//! with hosts are divided: a partition grows by the nearest of them, so that the pods of a fat-tree stay together. The
//! other switches then join the partition with which they have the most traffic.

use std::collections::VecDeque;
use std::sync::Arc;

use xoff_engine::Time;

use super::division::Division;
use super::windows::GRID;
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::{Network, Path};
use crate::observe::Recording;
use crate::packet::PartitionId;
use crate::settings::{NicTimer, Order, Transport};

/// Which partition of a network each node is in.
#[derive(Clone, Debug)]
pub struct Cut {
    partition_of: Arc<[PartitionId]>,
    partitions: usize,
    /// Minimum delay of a link between partitions.
    lookahead: Time,
    /// Expected time of a run on as many threads, in seconds.
    cost: f64,
    /// Whether a run begins on one thread, and takes the others to it once it is known how long an event takes alone.
    begins_alone: bool,
    /// If all partitions have all nodes: how they divide the messages.
    division: Option<Arc<Division>>,
}

// Times on a core of 2024, in seconds: of a packet's arrival at a node, of a packet that crosses to another partition, of a
// window, and of a thread. Only their ratios matter.
const HOP: f64 = 60e-9;
const CROSSING: f64 = 40e-9;
const WINDOW: f64 = 3e-6;
const THREAD: f64 = 1e-3;
/// In a single window, work is less even among partitions than over the whole run.
const UNEVENNESS: f64 = 1.2;
/// Several threads are used only if their time is below this share of one thread's time.
const MIN_GAIN: f64 = 0.85;
/// Maximum number of partitions, because each pair of partitions has mailboxes.
const MAX_PARTITIONS: usize = 256;
/// Maximum number of lookaheads that are tried.
const MAX_TRIED: usize = 6;

impl Cut {
    /// The whole network in one partition.
    pub fn single(net: &Network) -> Cut {
        Cut {
            partition_of: vec![0; net.topology.nodes.len()].into(),
            partitions: 1,
            lookahead: Time::NEVER,
            cost: 0.0,
            begins_alone: true,
            division: None,
        }
    }

    /// All nodes in each partition, which divide the messages into parts that cannot affect each other; `None` if there is only one.
    pub(super) fn by_messages(net: &Network, recording: &Recording) -> Option<Cut> {
        let division = Division::of(net, recording)?;
        let partitions = division.parts();
        Some(Cut { partitions, division: Some(Arc::new(division)), ..Cut::single(net) })
    }

    /// How partitions that have all nodes divide the messages.
    pub(super) fn division(&self) -> Option<&Arc<Division>> {
        self.division.as_ref()
    }

    /// The best cut into up to `partitions` partitions; fewer if fewer groups of switches may be separated.
    pub fn into(net: &Network, partitions: usize, duration: Option<Time>) -> Cut {
        Self::with_load(net, partitions, &Load::new(net, duration))
    }

    /// The cut into up to `max` partitions with the minimum expected time; for small runs, one partition.
    pub fn fastest(net: &Network, max: usize, duration: Option<Time>) -> Cut {
        let single = Cut::single(net);
        // A run this short gains less from threads than they cost, and so does the search for a cut.
        if max < 2 || Load::packet_hops(net, duration) * HOP < 20.0 * THREAD {
            return single;
        }
        let load = Load::new(net, duration);
        let alone = load.nodes.iter().sum::<u64>() as f64 * HOP;
        let cuts = (2..=max.min(net.topology.nodes.len())).map(|n| Self::with_load(net, n, &load));
        let best = cuts.min_by(|a, b| a.cost.total_cmp(&b.cost));
        let best = best.filter(|cut| cut.cost < MIN_GAIN * alone);
        best.map_or(single, |cut| Cut { begins_alone: true, ..cut })
    }

    fn with_load(net: &Network, partitions: usize, load: &Load) -> Cut {
        let single = Cut::single(net);
        let partitions = partitions.min(MAX_PARTITIONS);
        if partitions < 2 || needs_one_partition(net).is_some() {
            return single;
        }
        let mut delays: Vec<Time> = trunks(net).map(|link| min_delay(net, link)).collect();
        delays.sort_unstable_by(|a, b| b.cmp(a));
        delays.dedup();
        delays.retain(|&d| d > Time::ZERO);
        let step = delays.len().div_ceil(MAX_TRIED).max(1);
        // Try the minimum delay too: it leaves the most links to cut.
        let tried = delays.iter().step_by(step).chain(delays.last());
        let cuts = tried.filter_map(|&delay| Atoms::new(net, load, delay).cut(net, load, partitions));
        cuts.min_by(|a, b| a.cost.total_cmp(&b.cost)).unwrap_or(single)
    }

    /// The number of partitions.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// The number of threads: one for each partition, but no more than there are cores, since threads that share a core
    /// wait for each other. With two partitions or more at least two.
    pub(crate) fn threads(&self) -> usize {
        // To ask for the cores reads files, and most runs of a sweep have a single partition.
        if self.partitions < 2 {
            return 1;
        }
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        self.partitions.min(cores.max(2))
    }

    /// Whether a run begins on one thread, and takes the others to it once it is known how long an event takes alone.
    pub(crate) fn begins_alone(&self) -> bool {
        self.begins_alone
    }

    /// The minimum delay of a link between partitions, and so the maximum length of a window.
    pub(crate) fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// By node: its partition.
    pub(crate) fn by_node(&self) -> Arc<[PartitionId]> {
        self.partition_of.clone()
    }

    /// The partition that a node is in; the first one if all partitions have all nodes.
    pub fn partition_of(&self, node: NodeId) -> usize {
        usize::from(self.partition_of[node.index()])
    }

    /// The partition in which packets pass a port of a node.
    pub(super) fn partition_of_port(&self, port: PortId, node: NodeId) -> usize {
        self.division.as_ref().map_or_else(|| self.partition_of(node), |division| division.part_of_port(port))
    }
}

/// The setting because of which a network can only be simulated in one partition; `None` if it may be cut.
pub fn needs_one_partition(net: &Network) -> Option<&'static str> {
    let quirks = &net.settings.quirks;
    if net.settings.host.transport == Transport::Uet {
        Some("host.transport = \"uet\"")
    } else if quirks.order == Order::Scheduled {
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

/// The traffic at each node and link, in packets.
struct Load {
    nodes: Vec<u64>,
    links: Vec<u64>,
    /// Estimated time for which there is traffic.
    span: Time,
}

impl Load {
    /// Estimated numbers of a flow's data packets and ACKs.
    fn packets(net: &Network, flow: FlowId, duration: Option<Time>) -> (u64, u64) {
        let f = net.flows.of(flow);
        let until = duration.unwrap_or(Time::NEVER).min(f.stop);
        let until = if until == Time::NEVER { f.start.saturating_add(Time::from_us(1_000)) } else { until };
        let rate = net.topology.rate(net.data_path(flow)[0]);
        let max = rate.bytes_in(until.saturating_sub(f.start));
        let bytes = match (f.size.bytes(), duration) {
            (Some(size), None) => size,
            (size, _) => size.unwrap_or(u64::MAX).min(max),
        };
        let data = bytes.div_ceil(net.wire.payload.max(1));
        let acks = data.div_ceil(u64::from(net.settings.host.ack_every.max(1)));
        (data, acks)
    }

    /// Estimated number of packets received at all nodes.
    fn packet_hops(net: &Network, duration: Option<Time>) -> f64 {
        let hops = FlowId::all(net.flows.len()).map(|flow| {
            let (route, (data, acks)) = (net.route(flow), Self::packets(net, flow, duration));
            data as f64 * f64::from(route.links) + acks as f64 * f64::from(route.ack_links)
        });
        hops.sum()
    }

    fn new(net: &Network, duration: Option<Time>) -> Load {
        let topology = &net.topology;
        let (mut nodes, mut links) = (vec![0; topology.nodes.len()], vec![0; topology.links.len()]);
        let mut hosts = vec![Time::ZERO; topology.nodes.len()];
        let mut pass = |path: Path<'_>, packets: u64| {
            for port in path.iter() {
                links[port.link()] += packets;
                nodes[topology.node_of(port.peer()).index()] += packets;
            }
        };
        for (number, flow) in FlowId::all(net.flows.len()).zip(net.flows.iter()) {
            let (data, acks) = Self::packets(net, number, duration);
            let path = net.data_path(number);
            pass(Path::of(path), data);
            pass(net.ack_path(number), acks);
            let time = topology.rate(path[0]).serialization(net.wire.frame()).0.saturating_mul(data);
            for host in [flow.src, flow.dst] {
                hosts[host.index()] = hosts[host.index()].saturating_add(Time(time));
            }
        }
        let first = net.flows.iter().next().map_or(Time::ZERO, |f| f.start);
        let last = net.flows.iter().next_back().map_or(Time::ZERO, |f| f.start);
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
    /// By node: its atom.
    of: Vec<usize>,
    work: Vec<u64>,
    with_hosts: Vec<bool>,
    /// By atom: its neighbours, each with the number of packets between the two.
    links: Vec<Vec<(usize, u64)>>,
    traffic: Vec<u64>,
}

const NONE: PartitionId = PartitionId::MAX;

impl Atoms {
    /// Joins hosts with their switches, and nodes between which a link has a delay below `cut_from`.
    fn new(net: &Network, load: &Load, cut_from: Time) -> Atoms {
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
            if joined || min_delay(net, number as u32) < cut_from {
                let (a, b) = (find(&mut root, link.a.index()), find(&mut root, link.b.index()));
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
            atoms.with_hosts[atom] |= net.is_host(NodeId::at(node));
        }
        for (link, &packets) in net.topology.links.iter().zip(&load.links) {
            let (a, b) = (atoms.of[link.a.index()], atoms.of[link.b.index()]);
            if a != b {
                // The added packet makes links without traffic count as links.
                for (one, other) in [(a, b), (b, a)] {
                    atoms.links[one].push((other, packets + 1));
                    atoms.traffic[one] += packets + 1;
                }
            }
        }
        atoms
    }

    /// Divides the atoms that have hosts among partitions with about equal work.
    fn grow(&self, partitions: usize) -> Vec<PartitionId> {
        let count = self.work.len();
        let mut partition_of = vec![NONE; count];
        let with_hosts = || (0..count).filter(|&a| self.with_hosts[a]);
        let mut left: u64 = with_hosts().map(|a| self.work[a].max(1)).sum();
        for partition in 0..partitions {
            let target = left / (partitions - partition) as u64;
            // `distance` is the number of links from the partition to each atom.
            let (mut load, mut distance) = (0, vec![u32::MAX; count]);
            while let Some(atom) =
                with_hosts().filter(|&a| partition_of[a] == NONE).min_by_key(|&a| (distance[a], a))
            {
                let more = self.work[atom].max(1);
                let over = (load + more).saturating_sub(target);
                if partition + 1 < partitions && load > 0 && over > target.saturating_sub(load) {
                    break;
                }
                partition_of[atom] = partition as PartitionId;
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
        partition_of
    }

    /// Gives each atom without hosts to the partition with which it has the most traffic, among those that are not full.
    fn fill(&self, partitions: usize, partition_of: &mut [PartitionId]) {
        let total: u64 = self.work.iter().sum();
        let full = total / partitions as u64 + total / partitions as u64 / 20;
        let mut load = vec![0u64; partitions];
        for (atom, &partition) in partition_of.iter().enumerate() {
            if partition != NONE {
                load[usize::from(partition)] += self.work[atom];
            }
        }
        // Go from the hosts inwards: first the atoms next to one that has a partition, in the order of the topology.
        let mut pending: Vec<usize> = (0..partition_of.len()).filter(|&a| partition_of[a] == NONE).collect();
        while !pending.is_empty() {
            let known = |a: &usize| self.links[*a].iter().any(|&(n, _)| partition_of[n] != NONE);
            let (mut now, later): (Vec<usize>, Vec<usize>) = pending.iter().partition(|a| known(a));
            if now.is_empty() {
                now.clone_from(&pending);
                pending.clear();
            } else {
                pending = later;
            }
            for atom in now {
                let mut towards = vec![0u64; partitions];
                for &(neighbour, packets) in &self.links[atom] {
                    if partition_of[neighbour] != NONE {
                        towards[usize::from(partition_of[neighbour])] += packets;
                    }
                }
                let work = self.work[atom];
                // Among partitions whose traffic differs by less than a tenth of the atom's, and if no partition has room, the
                // balance of work decides.
                let fits = |p: &usize| load[*p] + work <= full;
                let max = (0..partitions).filter(fits).map(|p| towards[p]).max().unwrap_or(0);
                let near = |p: &usize| towards[*p] + self.traffic[atom] / 10 >= max;
                let best = (0..partitions).filter(|p| fits(p) && near(p)).min_by_key(|&p| load[p]);
                let best = best.or((0..partitions).min_by_key(|&p| load[p])).unwrap_or(0);
                partition_of[atom] = best as PartitionId;
                load[best] += work;
            }
        }
    }

    /// The cut along the links between these atoms; `None` if there are fewer than two.
    fn cut(&self, net: &Network, load: &Load, partitions: usize) -> Option<Cut> {
        let partitions = partitions.min(self.work.len());
        if partitions < 2 {
            return None;
        }
        let mut atoms = self.grow(partitions);
        self.fill(partitions, &mut atoms);
        // Drop empty partitions.
        let mut number = vec![NONE; partitions];
        let mut used = 0;
        for &partition in &atoms {
            let number = &mut number[usize::from(partition)];
            if *number == NONE {
                *number = used;
                used += 1;
            }
        }
        let partition_of: Vec<PartitionId> = self.of.iter().map(|&a| number[usize::from(atoms[a])]).collect();
        let partitions = usize::from(used);
        if partitions < 2 {
            return None;
        }
        let (mut work, mut crossing, mut lookahead) =
            (vec![0u64; partitions], vec![0u64; partitions], Time::NEVER);
        for (&partition, &packets) in partition_of.iter().zip(&load.nodes) {
            work[usize::from(partition)] += packets;
        }
        for (number, link) in net.topology.links.iter().enumerate() {
            let (a, b) = (partition_of[link.a.index()], partition_of[link.b.index()]);
            if a != b {
                lookahead = lookahead.min(min_delay(net, number as u32));
                crossing[usize::from(a)] += load.links[number];
                crossing[usize::from(b)] += load.links[number];
            }
        }
        let busiest = work.iter().zip(&crossing).map(|(&w, &c)| w as f64 * HOP + c as f64 * CROSSING / 2.0);
        let windows = load.span.ps().div_ceil(GRID.ps()) * GRID.ps().div_ceil(lookahead.ps());
        let cost =
            busiest.fold(0.0, f64::max) * UNEVENNESS + windows as f64 * WINDOW + partitions as f64 * THREAD;
        let division = None;
        Some(Cut {
            partition_of: partition_of.into(),
            partitions,
            lookahead,
            cost,
            begins_alone: false,
            division,
        })
    }
}
