//! Follows the data of every algorithm: which ranks' contributions are in which block, where, and how often.
//!
//! A message carries what its sender has by the events that the message waits for, and nothing else: its own data, and what the
//! messages that have come brought. So an algorithm that sends too early, or adds something twice, or sends the wrong block, ends up
//! with the wrong sets.

use std::collections::BTreeMap;

use super::lane::{Blocks, Effect, Sending, Transfer, Wire};
use super::spec::ranks_by_host;
use super::{CollectiveAlgorithm as A, CollectiveKind as K, CollectiveSettings, CollectiveSpec};

/// How often each rank's contribution is in a block.
type Contributions = BTreeMap<usize, u32>;

#[derive(Clone)]
enum Happened {
    /// These blocks came.
    Came(Effect, BTreeMap<u32, Contributions>),
    All(Vec<usize>),
    Sent,
}

struct Follower<'a> {
    /// What a rank has of a block at the beginning.
    own: &'a dyn Fn(usize, u32) -> bool,
    happened: Vec<(usize, Happened)>,
    /// By rank: events at it.
    at: Vec<Vec<usize>>,
    messages: u128,
    bytes: u64,
    longest: u64,
}

impl Follower<'_> {
    fn note(&mut self, rank: usize, what: Happened) -> usize {
        self.happened.push((rank, what));
        self.happened.len() - 1
    }

    fn flat(&self, events: &[usize], out: &mut Vec<usize>) {
        for &event in events {
            match &self.happened[event].1 {
                Happened::All(inner) => self.flat(inner, out),
                _ => out.push(event),
            }
        }
    }

    /// What `rank` has of a block by these events.
    fn has(&self, rank: usize, block: u32, events: &[usize]) -> Contributions {
        let mut has = Contributions::new();
        if (self.own)(rank, block) {
            has.insert(rank, 1);
        }
        let mut all = Vec::new();
        self.flat(events, &mut all);
        all.sort_unstable();
        all.dedup();
        for event in all {
            let (at, what) = &self.happened[event];
            assert_eq!(*at, rank, "rank {rank} waits for what only rank {at} knows");
            let Happened::Came(effect, blocks) = what else { continue };
            let Some(came) = blocks.get(&block) else { continue };
            if *effect == Effect::Keep {
                has.clear();
            }
            came.iter().for_each(|(rank, times)| *has.entry(*rank).or_default() += times);
        }
        has
    }
}

impl Wire for Follower<'_> {
    type Event = usize;

    fn send(&mut self, t: &Transfer<'_>, needs: &[usize]) -> Sending<usize> {
        assert_ne!(t.from, t.to);
        let blocks: Vec<u32> = match t.blocks {
            Blocks::Run(run) => run.numbers().collect(),
            Blocks::List(list) => list.to_vec(),
        };
        let carried = blocks.iter().map(|&block| (block, self.has(t.from, block, needs))).collect();
        self.messages += 1;
        self.bytes += t.bytes;
        self.longest = self.longest.max(t.bytes);
        let arrival = self.note(t.to, Happened::Came(t.effect, carried));
        let sent = self.note(t.from, Happened::Sent);
        self.at[t.to].push(arrival);
        Sending { arrival, sent }
    }

    fn join(&mut self, rank: usize, needs: &[usize]) -> usize {
        self.note(rank, Happened::All(needs.to_vec()))
    }
}

fn spec(kind: K, algorithm: A, root: usize, settings: &CollectiveSettings) -> CollectiveSpec<'_> {
    CollectiveSpec { kind, algorithm: Some(algorithm), bytes: 100_000, root, sizes: None, settings }
}

/// Runs a collective among ranks on `hosts`; panics unless each rank ends up with what the operation says. Returns messages,
/// bytes and the longest message.
fn follow(spec: &CollectiveSpec<'_>, hosts: &[u32]) -> (u128, u64, u64) {
    spec.check(hosts).unwrap();
    let (n, by_host) = (hosts.len(), ranks_by_host(hosts));
    let lanes = spec.lanes(hosts);
    let mut sums = (0, 0, 0);
    for number in 0..lanes.count() as usize {
        let tree = number as u32 / lanes.channels % lanes.trees;
        let lane = spec.lane(hosts, number, lanes.count() as usize);
        let blocks = lane.blocks() as u32;
        // Whose block it is: in an all-gather or reduce-scatter between hosts, see `hierarchical`.
        let owner = |block: u32| {
            let m = by_host.len();
            match spec.algorithm() {
                A::Hierarchical => by_host[block as usize % m][block as usize / m],
                _ => block as usize,
            }
        };
        let own = |rank: usize, block: u32| match spec.kind {
            K::AllReduce | K::ReduceScatter | K::Reduce | K::Barrier => true,
            K::AllGather | K::Gather => owner(block) == rank,
            K::Broadcast | K::Scatter => rank == spec.root,
            K::AllToAll | K::AllToAllV => block as usize / n == rank,
        };
        let mut follower = Follower {
            own: &own,
            happened: Vec::new(),
            at: vec![Vec::new(); n],
            messages: 0,
            bytes: 0,
            longest: 0,
        };
        spec.run(&mut follower, &lane, &by_host, tree == 1);
        let all: Contributions = (0..n).map(|rank| (rank, 1)).collect();
        let one = |rank: usize| Contributions::from([(rank, 1)]);
        for rank in 0..n {
            for block in 0..blocks {
                let expected = match spec.kind {
                    K::AllReduce => all.clone(),
                    K::Barrier => all.clone(),
                    K::ReduceScatter if owner(block) == rank => all.clone(),
                    K::Reduce if rank == spec.root => all.clone(),
                    K::AllGather => one(owner(block)),
                    K::Gather if rank == spec.root => one(owner(block)),
                    K::Broadcast => one(spec.root),
                    K::Scatter if owner(block) == rank => one(spec.root),
                    K::AllToAll | K::AllToAllV if block as usize % n == rank => one(block as usize / n),
                    _ => continue,
                };
                let mut has = follower.has(rank, block, &follower.at[rank]);
                if spec.kind == K::Barrier {
                    // News may come twice.
                    has.values_mut().for_each(|times| *times = 1);
                }
                assert_eq!(has, expected, "{spec:?} among {n}: rank {rank}, block {block}");
            }
        }
        sums = (sums.0 + follower.messages, sums.1 + follower.bytes, sums.2.max(follower.longest));
    }
    sums
}

#[test]
fn every_algorithm_brings_each_contribution_exactly_once() {
    let settings = CollectiveSettings::default();
    for kind in K::ALL {
        for &algorithm in kind.algorithms().iter().filter(|&&a| a != A::Hierarchical) {
            for n in 2..=40 {
                let hosts: Vec<u32> = (0..n).collect();
                let roots = if kind.has_root() { vec![0, n as usize / 3, n as usize - 1] } else { vec![0] };
                for root in roots {
                    let spec = spec(kind, algorithm, root, &settings);
                    let (messages, _, longest) = follow(&spec, &hosts);
                    // They are counted as they are made, and none is longer than was thought.
                    assert_eq!(messages, spec.messages(&hosts), "{spec:?} among {n}");
                    let chunk = spec.longest(&hosts);
                    assert!(longest <= chunk + u64::from(n), "{spec:?} among {n}: {longest} of {chunk}");
                }
            }
        }
    }
}

#[test]
fn hierarchies_bring_each_contribution_exactly_once() {
    for kind in K::ALL {
        for &across in
            &[A::Ring, A::Tree, A::HalvingDoubling, A::RecursiveDoubling, A::Bruck, A::Direct, A::Spread]
        {
            let settings = CollectiveSettings { across: Some(across), ..CollectiveSettings::default() };
            if !kind.algorithms().contains(&A::Hierarchical) {
                continue;
            }
            for (m, places) in [(2, 1), (1, 4), (2, 2), (3, 2), (4, 3), (5, 4), (6, 8), (8, 3)] {
                // Ranks go host by host, or in turn over the hosts.
                let packed: Vec<u32> = (0..m * places).map(|rank| rank / places).collect();
                let in_turn: Vec<u32> = (0..m * places).map(|rank| rank % m).collect();
                for hosts in [packed, in_turn] {
                    for root in [0, hosts.len() / 2] {
                        let spec = spec(kind, A::Hierarchical, root, &settings);
                        if spec.check(&hosts).is_err() {
                            continue;
                        }
                        let (messages, _, longest) = follow(&spec, &hosts);
                        assert_eq!(messages, spec.messages(&hosts), "{spec:?} on {hosts:?}");
                        // Blocks are nearly equal: each may be a byte longer than the others.
                        let most = spec.longest(&hosts) + hosts.len() as u64;
                        assert!(longest <= most, "{longest} > {most}: {spec:?} on {hosts:?}");
                    }
                }
            }
        }
    }
    // Hosts with different numbers of ranks: broadcast and reduce.
    let settings = CollectiveSettings::default();
    let hosts = [4, 4, 7, 7, 7, 1, 4];
    for root in 0..7 {
        follow(&spec(K::Broadcast, A::Hierarchical, root, &settings), &hosts);
        follow(&spec(K::Reduce, A::Hierarchical, root, &settings), &hosts);
    }
}

#[test]
fn lanes_divide_the_data_and_lose_nothing() {
    // 100,000 B in a ring of 7: 2 x 6 steps, in each of which every byte goes once. Channels and chunks change nothing.
    let hosts: Vec<u32> = (0..7).collect();
    for (channels, chunk) in [(1, None), (3, None), (2, Some(1_000)), (64, Some(7))] {
        let settings = CollectiveSettings {
            channels,
            chunk: chunk.map(xoff_engine::Bytes),
            ..CollectiveSettings::default()
        };
        let (messages, bytes, longest) = follow(&spec(K::AllReduce, A::Ring, 0, &settings), &hosts);
        assert_eq!(bytes, 12 * 100_000);
        // A block has at most 14,286 B; of two channels and chunks of 1,000 B: 8 chunks of 7,143 B, at most 893 B each.
        let lanes = [1, 3, 16, 64 * 32][[1, 3, 2, 64].iter().position(|c| *c == channels).unwrap()];
        assert_eq!(messages, 2 * 6 * 7 * lanes);
        assert!(chunk.is_none_or(|chunk| longest <= chunk), "{longest}");
    }
    // Two trees with two channels: 4 lanes of 25,000 B; 2 x 6 messages each.
    let settings = CollectiveSettings { channels: 2, ..CollectiveSettings::default() };
    let sums = follow(&spec(K::AllReduce, A::DoubleBinaryTree, 0, &settings), &hosts);
    assert_eq!(sums, (4 * 12, 12 * 100_000, 25_000));
}

#[test]
fn more_lanes_than_bytes_become_fewer() {
    let hosts: Vec<u32> = (0..4).collect();
    let settings = CollectiveSettings { channels: 64, ..CollectiveSettings::default() };
    for bytes in [1, 3, 4, 9, 100] {
        for kind in K::ALL {
            for &algorithm in kind.algorithms() {
                let spec = CollectiveSpec { bytes, ..spec(kind, algorithm, 0, &settings) };
                let lanes = spec.lanes(&hosts);
                let count = lanes.count() as usize;
                // A lane without a byte in any block would be a round of empty messages.
                let blocks = spec.lane(&hosts, 0, 1).blocks() as u64;
                if kind != K::Barrier && bytes >= blocks * u64::from(lanes.trees) {
                    let has_data =
                        |number| (0..blocks as usize).any(|b| spec.lane(&hosts, number, count).block(b) > 0);
                    assert!((0..count).all(has_data), "{spec:?}: {lanes:?}");
                }
                assert!(lanes.count() <= bytes.max(u64::from(lanes.trees)), "{spec:?}: {lanes:?}");
            }
        }
    }
}
