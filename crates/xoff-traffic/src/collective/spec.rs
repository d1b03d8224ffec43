//! A collective operation: its lanes, its messages, and the algorithm that makes them.

use super::hierarchical::{self, Hosts};
use super::lane::{Events, Group, Lane, Wire};
use super::phases::power_of_two;
use super::{
    CollectiveAlgorithm as A, CollectiveKind as K, CollectiveSettings, bruck, direct, double_tree, recursive,
    ring, tree,
};
use crate::error::{Fault, Misfit};

/// A collective operation of some ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CollectiveSpec<'a> {
    pub(crate) kind: K,
    /// `None` for the operation's default.
    pub(crate) algorithm: Option<A>,
    /// Bytes, as [`K`] says for each operation; nothing is read from it for an all-to-all with `sizes` and a barrier.
    pub(crate) bytes: u64,
    /// The place of the root among the ranks, for operations that have one.
    pub(crate) root: usize,
    /// For [`K::AllToAllV`]: the bytes from rank s to rank d, at s n + d. What a rank has for itself is not sent.
    pub(crate) sizes: Option<&'a [u64]>,
    pub(crate) settings: &'a CollectiveSettings,
}

/// Maximum number of blocks that the messages of an all-to-all have together: some seconds.
const MAX_MOVED: u128 = 2_000_000_000;

/// How the data of a collective are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    pub(super) channels: u32,
    /// Trees of a channel: two for the double binary tree.
    pub(super) trees: u32,
    pub(super) chunks: u64,
}

impl Lanes {
    pub(super) fn count(self) -> u64 {
        u64::from(self.channels) * u64::from(self.trees) * self.chunks
    }
}

fn ceil_log2(n: usize) -> u128 {
    n.next_power_of_two().ilog2().into()
}

/// The blocks into which an algorithm divides the data.
fn blocks(kind: K, algorithm: A, n: usize) -> usize {
    match (kind, algorithm) {
        (K::AllReduce, A::Tree | A::DoubleBinaryTree | A::RecursiveDoubling) => 1,
        (K::AllReduce, A::HalvingDoubling) => power_of_two(n),
        (K::Broadcast | K::Reduce | K::Barrier, _) => 1,
        (K::AllToAll | K::AllToAllV, _) => n * n,
        _ => n,
    }
}

/// The messages of a lane, those within hosts included.
fn messages(kind: K, algorithm: A, ranks: usize) -> u128 {
    let (n, inside) = (ranks as u128, power_of_two(ranks) as u128);
    // Recursive halving or doubling, with the pairs before and after.
    let recursive = inside * u128::from(ranks.ilog2()) + 2 * (n - inside);
    match (kind, algorithm) {
        (K::AllReduce, A::Tree | A::DoubleBinaryTree) => 2 * (n - 1),
        (K::AllReduce, A::HalvingDoubling) => 2 * recursive - 2 * (n - inside),
        (_, A::HalvingDoubling | A::RecursiveDoubling) => recursive,
        (_, A::Bruck) => n * ceil_log2(ranks),
        (K::Broadcast | K::Reduce | K::Scatter | K::Gather, _) => n - 1,
        (K::AllReduce, _) => 2 * n * (n - 1),
        _ => n * (n - 1),
    }
}

/// The longest message of an algorithm, in bytes of data, if the data are one lane.
fn longest(kind: K, algorithm: A, n: usize, bytes: u64) -> u64 {
    let nth = bytes.div_ceil(n as u64);
    match (kind, algorithm) {
        (_, A::Ring | A::Direct) if !matches!(kind, K::Broadcast | K::Reduce) => nth,
        (_, A::Pairwise | A::Spread) => nth,
        (_, A::Bruck) => bytes.div_ceil(2),
        (_, A::HalvingDoubling | A::RecursiveDoubling) if !n.is_power_of_two() => bytes,
        (_, A::HalvingDoubling) | (K::AllGather, _) | (K::Scatter | K::Gather, _) => bytes.div_ceil(2),
        _ => bytes,
    }
}

impl CollectiveSpec<'_> {
    /// The algorithm, or the operation's default.
    pub(crate) fn algorithm(&self) -> A {
        self.algorithm.unwrap_or(self.kind.algorithms()[0])
    }

    fn across(&self) -> A {
        self.settings.across.unwrap_or(self.kind.algorithms()[0])
    }

    /// Refuses what cannot be run among ranks on `hosts`, a host for each rank.
    pub(crate) fn check(&self, hosts: &[u32]) -> Result<(), Misfit> {
        let names = |list: &[A]| {
            let names: Vec<String> = list.iter().map(|a| format!("`{}`", a.name())).collect();
            format!("for {} one of {}", self.kind.name(), names.join(", "))
        };
        let known = self.kind.algorithms();
        let algorithm = self.algorithm();
        if !known.contains(&algorithm) {
            return Err(Fault::bounds(format!("`{}`", algorithm.name()), names(known)).at("algorithm"));
        }
        if algorithm != A::Hierarchical && self.settings.across.is_some() {
            return Err(Fault::Unneeded("`algorithm` is not `hierarchical`").at("across"));
        }
        self.settings.check()?;
        if hosts.len() < 2 {
            return Ok(());
        }
        if algorithm == A::Hierarchical {
            let flat: Vec<A> = known.iter().copied().filter(|&a| self.can_go_across(a)).collect();
            if !flat.contains(&self.across()) {
                let found = format!("`{}`", self.across().name());
                return Err(Fault::bounds(found, names(&flat)).at("across"));
            }
            let by_host = ranks_by_host(hosts);
            let equal = by_host.iter().all(|ranks| ranks.len() == by_host[0].len());
            if !equal && !matches!(self.kind, K::Broadcast | K::Reduce) {
                let expected = "another algorithm, or as many ranks on each host";
                return Err(Fault::bounds("`hierarchical`", expected).at("algorithm"));
            }
        }
        let moved = self.moved_blocks(hosts);
        if moved > MAX_MOVED {
            let lanes = self.lanes(hosts).count();
            let found = match self.settings.chunk {
                Some(chunk) => format!("{chunk}, with which"),
                None => "missing: so".to_string(),
            };
            let found = format!("{found} {} ranks move {moved} blocks in {lanes} chunks", hosts.len());
            return Err(Fault::bounds(found, format!("at most {MAX_MOVED} blocks")).at("chunk"));
        }
        if self.kind.has_root() && self.root >= hosts.len() {
            let expected = format!("a number below {}, the number of ranks", hosts.len());
            return Err(Fault::bounds(self.root, expected).at("root"));
        }
        Ok(())
    }

    /// The blocks of all messages of an all-to-all whose messages have many; each of them takes time to make.
    fn moved_blocks(&self, hosts: &[u32]) -> u128 {
        let n = hosts.len();
        let times = match (self.kind, self.algorithm()) {
            (K::AllToAll, A::Bruck) => ceil_log2(n) / 2 + 1,
            (K::AllToAll, A::Hierarchical) => 2,
            _ => 0,
        };
        (n as u128 * n as u128) * times * u128::from(self.lanes(hosts).count())
    }

    /// Whether an algorithm is one between hosts. That of an all-to-all is always the same.
    fn can_go_across(&self, algorithm: A) -> bool {
        match self.kind {
            K::AllToAll => algorithm == A::Spread,
            _ => !matches!(algorithm, A::Hierarchical | A::DoubleBinaryTree),
        }
    }

    /// How the data are divided among ranks on `hosts`.
    pub(super) fn lanes(&self, hosts: &[u32]) -> Lanes {
        let (n, algorithm) = (hosts.len(), self.algorithm());
        let trees = if algorithm == A::DoubleBinaryTree { 2 } else { 1 };
        if self.kind == K::Barrier {
            return Lanes { channels: 1, trees: 1, chunks: 1 };
        }
        let longest = self.longest(hosts);
        // The smallest block gives each lane a byte.
        let most = match self.kind {
            K::AllToAll => self.bytes / n as u64,
            K::AllToAllV => longest,
            _ => self.bytes / self.blocks(hosts) as u64,
        };
        let most = (most / u64::from(trees)).max(1);
        let channels = u64::from(self.settings.channels).min(most) as u32;
        let parts = u64::from(channels) * u64::from(trees);
        let chunks = self.settings.chunk.map_or(1, |chunk| longest.div_ceil(parts).div_ceil(chunk.0.max(1)));
        Lanes { channels, trees, chunks: chunks.clamp(1, (most / u64::from(channels)).max(1)) }
    }

    /// The longest message in bytes of data, if the data are one lane.
    pub(super) fn longest(&self, hosts: &[u32]) -> u64 {
        match (self.sizes, self.algorithm()) {
            (Some(sizes), _) => sizes.iter().copied().max().unwrap_or(0),
            (None, A::Hierarchical) if !matches!(self.kind, K::Broadcast | K::Reduce) => {
                let by_host = ranks_by_host(hosts);
                let (places, count) = (by_host[0].len() as u64, by_host.len() as u64);
                // Between hosts an all-to-all has what all ranks of a host have for one.
                let parts = if self.kind == K::AllToAll { places.min(count) } else { places };
                self.bytes.div_ceil(parts)
            }
            (None, A::Hierarchical) => self.bytes,
            (None, algorithm) => longest(self.kind, algorithm, hosts.len(), self.bytes),
        }
    }

    fn blocks(&self, hosts: &[u32]) -> usize {
        if self.algorithm() != A::Hierarchical {
            return blocks(self.kind, self.algorithm(), hosts.len());
        }
        let by_host = ranks_by_host(hosts);
        match self.kind {
            K::Broadcast | K::Reduce => 1,
            K::AllToAll => hosts.len() * hosts.len(),
            _ => by_host[0].len() * blocks(self.kind, self.across(), by_host.len()),
        }
    }

    /// The number of messages among ranks on `hosts`, a host for each rank; messages within a host count. An all-to-all with
    /// sizes may have fewer.
    pub(crate) fn messages(&self, hosts: &[u32]) -> u128 {
        if hosts.len() < 2 {
            return 0;
        }
        let of_lane = if self.algorithm() == A::Hierarchical {
            self.hierarchical_messages(&ranks_by_host(hosts))
        } else {
            messages(self.kind, self.algorithm(), hosts.len())
        };
        of_lane * u128::from(self.lanes(hosts).count())
    }

    /// How the data are divided, in words.
    pub(crate) fn parts(&self, hosts: &[u32]) -> String {
        let Lanes { channels, trees, chunks } = self.lanes(hosts);
        let trees = if trees > 1 { format!("{trees} trees, ") } else { String::new() };
        format!("{} ranks, channels: {channels}, {trees}chunks: {chunks}", hosts.len())
    }

    fn hierarchical_messages(&self, by_host: &[Vec<usize>]) -> u128 {
        let across = |places: usize| match by_host.len() {
            1 => 0,
            m => places as u128 * messages(self.kind, self.across(), m),
        };
        let (places, ranks) = (by_host[0].len(), by_host.iter().map(Vec::len).sum::<usize>());
        let within = (ranks * (places - 1)) as u128;
        match self.kind {
            K::Broadcast | K::Reduce => ranks as u128 - 1,
            K::AllReduce => 2 * within + across(places),
            _ => within + across(places),
        }
    }

    /// Lane `number` of `lanes`.
    pub(super) fn lane(&self, hosts: &[u32], number: usize, lanes: usize) -> Lane {
        match (self.kind, self.sizes) {
            (K::Barrier, _) => Lane::of(1, 1, 0, 1),
            (K::AllToAllV, Some(sizes)) => Lane::of_sizes(sizes, number, lanes),
            (K::AllToAll | K::AllToAllV, _) => {
                let n = hosts.len();
                let row = Lane::of(self.bytes, n, number, lanes);
                let sizes: Vec<u64> = (0..n * n).map(|block| row.block(block % n)).collect();
                Lane::of_sizes(&sizes, 0, 1)
            }
            _ => Lane::of(self.bytes, self.blocks(hosts), number, lanes),
        }
    }

    /// Gives the messages of a lane to `wire`; `second` says whether it is one of the second tree.
    pub(super) fn run<W: Wire>(&self, wire: &mut W, lane: &Lane, by_host: &[Vec<usize>], second: bool) {
        let n = by_host.iter().map(Vec::len).sum();
        let members: Vec<usize> = (0..n).collect();
        let group = Group { members: &members, lane, base: 0, unit: 1 };
        let algorithm = self.algorithm();
        let entry = group.no_events();
        match (self.kind, algorithm) {
            (_, A::Hierarchical) => {
                let pieces = blocks(self.kind, self.across(), by_host.len());
                let hosts = Hosts { ranks: by_host, across: self.across(), pieces };
                match self.kind {
                    K::AllReduce => hierarchical::all_reduce(wire, &group, &hosts),
                    K::AllGather => hierarchical::all_gather(wire, &group, &hosts),
                    K::ReduceScatter => hierarchical::reduce_scatter(wire, &group, &hosts),
                    K::Reduce => hierarchical::reduce(wire, &group, &hosts, self.root),
                    K::AllToAll => hierarchical::all_to_all(wire, &group, &hosts),
                    _ => hierarchical::broadcast(wire, &group, &hosts, self.root),
                }
            }
            (K::AllReduce, A::DoubleBinaryTree) => {
                double_tree::all_reduce(wire, &group, second, entry);
            }
            (kind, algorithm) => {
                between_hosts(wire, &group, (kind, algorithm, self.root), entry);
            }
        }
    }
}

/// Runs an algorithm that does not look at hosts.
pub(super) fn between_hosts<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    (kind, algorithm, root): (K, A, usize),
    entry: Events<W::Event>,
) -> Events<W::Event> {
    if group.len() < 2 {
        return entry;
    }
    match (kind, algorithm) {
        (K::AllReduce, A::Tree) => tree::all_reduce(wire, group, entry),
        (K::AllReduce, A::HalvingDoubling) => recursive::halving_doubling(wire, group, entry),
        (K::AllReduce, A::RecursiveDoubling) => recursive::doubling(wire, group, entry),
        (K::AllReduce, A::Direct) => direct::all_reduce(wire, group, entry),
        (K::AllReduce, _) => ring::all_reduce(wire, group, entry),
        (K::AllGather, A::RecursiveDoubling) => recursive::all_gather(wire, group, entry),
        (K::AllGather, A::Bruck) => bruck::all_gather(wire, group, entry),
        (K::AllGather, A::Direct) => direct::all_gather(wire, group, entry),
        (K::AllGather, _) => ring::all_gather(wire, group, entry),
        (K::ReduceScatter, A::HalvingDoubling) => recursive::reduce_scatter(wire, group, entry),
        (K::ReduceScatter, A::Direct) => direct::reduce_scatter(wire, group, entry),
        (K::ReduceScatter, _) => ring::reduce_scatter(wire, group, entry),
        (K::Broadcast, A::Tree) => tree::broadcast(wire, group, root, entry),
        (K::Broadcast, _) => ring::broadcast(wire, group, root, entry),
        (K::Reduce, A::Tree) => tree::reduce(wire, group, root, entry),
        (K::Reduce, _) => ring::reduce(wire, group, root, entry),
        (K::AllToAll | K::AllToAllV, A::Pairwise) => direct::pairwise(wire, group, entry),
        (K::AllToAll, A::Bruck) => bruck::all_to_all(wire, group, entry),
        (K::AllToAll | K::AllToAllV, _) => direct::spread(wire, group, entry),
        (K::Scatter, A::Tree) => tree::scatter(wire, group, root, entry),
        (K::Scatter, _) => direct::scatter(wire, group, root, entry),
        (K::Gather, A::Tree) => tree::gather(wire, group, root, entry),
        (K::Gather, _) => direct::gather(wire, group, root, entry),
        (K::Barrier, _) => bruck::barrier(wire, group, entry),
    }
}

/// The ranks of each host, given the host of each rank: hosts in the order of their first ranks.
pub(super) fn ranks_by_host(hosts: &[u32]) -> Vec<Vec<usize>> {
    let mut places = std::collections::BTreeMap::new();
    let mut by_host: Vec<Vec<usize>> = Vec::new();
    for (rank, host) in hosts.iter().enumerate() {
        let place = *places.entry(host).or_insert_with(|| {
            by_host.push(Vec::new());
            by_host.len() - 1
        });
        by_host[place].push(rank);
    }
    by_host
}
