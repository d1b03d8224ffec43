//! Collective operations as phases of messages between ranks.
//!
//! In a phase each rank sends its messages of the phase, and then waits for the messages of the phase that are sent to it.
//! Sources: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH"
//! (IJHPCA 19:1, 2005), sections 4.4 and 4.5, for recursive doubling and Rabenseifner's algorithm; P. Patarasuk and X.
//! Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations" (JPDC 69:2, 2009), for the ring;
//! D. Hensgen, R. Finkel and U. Manber, "Two Algorithms for Barrier Synchronization" (1988), for dissemination.

/// A message from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Size in bytes, at least 1.
    pub(crate) size: u64,
}

/// The messages of a phase.
pub(crate) type Phase = Vec<Message>;

/// The number of messages of all phases.
pub(crate) fn messages(phases: &[Phase]) -> u128 {
    phases.iter().map(|phase| phase.len() as u128).sum()
}

/// The bytes of the blocks from `from` to `to` (excluded), if `size` bytes are divided into `blocks` nearly equal blocks.
pub(crate) fn share(size: u64, blocks: usize, from: usize, to: usize) -> u64 {
    let before = |block: usize| (u128::from(size) * block as u128 / blocks as u128) as u64;
    before(to) - before(from)
}

/// Ring allreduce: in N - 1 phases each rank sends a block to the next, which adds its own; in N - 1 more phases the sums go
/// around. `size` must not be below N.
pub(crate) fn ring(ranks: usize, size: u64) -> Vec<Phase> {
    let phase = |step: usize| {
        let message = |rank: usize| {
            // A rank sends the block that it received in the phase before; in the first phase its own.
            let block = (rank + 2 * ranks - step) % ranks;
            let size = share(size, ranks, block, block + 1);
            Message { from: rank, to: (rank + 1) % ranks, size }
        };
        (0..ranks).map(message).collect()
    };
    (0..2 * (ranks - 1)).map(phase).collect()
}

/// Binomial tree: the sums go towards rank 0 in ceil(log2 N) phases, and the result goes back along the same tree.
pub(crate) fn tree(ranks: usize, size: u64) -> Vec<Phase> {
    let mut up = Vec::new();
    let mut distance = 1;
    while distance < ranks {
        let senders = (distance..ranks).step_by(2 * distance);
        up.push(senders.map(|rank| Message { from: rank, to: rank - distance, size }).collect());
        distance *= 2;
    }
    let down = |phase: &Phase| phase.iter().map(|m| Message { from: m.to, to: m.from, size }).collect();
    let down: Vec<Phase> = up.iter().rev().map(down).collect();
    [up, down].concat()
}

/// The largest power of two up to `n`, which is not 0.
pub(crate) fn power_of_two(n: usize) -> usize {
    1 << n.ilog2()
}

/// Extends `inner`, the phases of a power of two of ranks, to any number of ranks. The first ranks form as many pairs as
/// there are ranks beyond the power of two: the even rank of a pair gives all its data to the odd one before the inner
/// phases, and gets the result from it after them.
fn folded(ranks: usize, size: u64, inner: impl Fn(usize) -> Vec<Phase>) -> Vec<Phase> {
    let inside = power_of_two(ranks);
    let extra = ranks - inside;
    let real = |rank: usize| if rank < extra { 2 * rank + 1 } else { rank + extra };
    let mut phases = inner(inside);
    for message in phases.iter_mut().flatten() {
        (message.from, message.to) = (real(message.from), real(message.to));
    }
    if extra > 0 {
        let pairs = |back: bool| {
            let ends = |pair: usize| if back { (2 * pair + 1, 2 * pair) } else { (2 * pair, 2 * pair + 1) };
            (0..extra).map(|pair| Message { from: ends(pair).0, to: ends(pair).1, size }).collect()
        };
        phases.insert(0, pairs(false));
        phases.push(pairs(true));
    }
    phases
}

/// Recursive doubling: in log2 N phases each rank exchanges all its data with a rank whose distance doubles each time.
pub(crate) fn recursive_doubling(ranks: usize, size: u64) -> Vec<Phase> {
    folded(ranks, size, |inside| {
        let phase = |bit: u32| (0..inside).map(|r| Message { from: r, to: r ^ 1 << bit, size }).collect();
        (0..inside.ilog2()).map(phase).collect()
    })
}

/// Rabenseifner's algorithm: ranks exchange halves of the blocks that they still sum, with a distance that doubles in each
/// phase, and then return the sums in the reverse order. `size` must not be below the number of ranks.
pub(crate) fn halving_doubling(ranks: usize, size: u64) -> Vec<Phase> {
    folded(ranks, size, |inside| {
        // By rank: the blocks that it still adds up.
        let mut blocks = vec![(0, inside); inside];
        let mut halving = Vec::new();
        for bit in 0..inside.ilog2() {
            let mut phase = Vec::new();
            for (rank, (first, end)) in blocks.iter_mut().enumerate() {
                let middle = (*first + *end) / 2;
                // The lower of the two ranks keeps the lower half and gives the upper half away.
                let (gives, keeps) = if rank & 1 << bit == 0 {
                    ((middle, *end), (*first, middle))
                } else {
                    ((*first, middle), (middle, *end))
                };
                let size = share(size, inside, gives.0, gives.1);
                phase.push(Message { from: rank, to: rank ^ 1 << bit, size });
                (*first, *end) = keeps;
            }
            halving.push(phase);
        }
        // A rank sums the half that its partner gave away, and in the phase back returns exactly that half.
        let back = |phase: &Phase| {
            let back = |m: &Message| Message { from: m.to, to: m.from, size: m.size };
            phase.iter().map(back).collect::<Phase>()
        };
        let doubling: Vec<Phase> = halving.iter().rev().map(back).collect();
        [halving, doubling].concat()
    })
}

/// Pairwise exchange: in phase i each rank exchanges with the rank whose number is its own exclusive or i; if the number of
/// ranks is no power of two, it sends to the i-th rank after it and receives from the i-th rank before it.
pub(crate) fn all_to_all(ranks: usize, size: u64) -> Vec<Phase> {
    let to = |rank: usize, i: usize| {
        if ranks.is_power_of_two() { rank ^ i } else { (rank + i) % ranks }
    };
    (1..ranks).map(|i| (0..ranks).map(|from| Message { from, to: to(from, i), size }).collect()).collect()
}

/// Dissemination: in ceil(log2 N) phases each rank sends to the rank at a distance that doubles in each phase.
pub(crate) fn barrier(ranks: usize, size: u64) -> Vec<Phase> {
    let rounds = ranks.next_power_of_two().ilog2();
    let phase = |round: u32| {
        (0..ranks).map(|from| Message { from, to: (from + (1usize << round)) % ranks, size }).collect()
    };
    (0..rounds).map(phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(phases: &[Phase]) -> Vec<Vec<u64>> {
        phases.iter().map(|p| p.iter().map(|m| m.size).collect()).collect()
    }

    fn pairs(phase: &Phase) -> Vec<(usize, usize)> {
        phase.iter().map(|m| (m.from, m.to)).collect()
    }

    /// Goes through an allreduce and keeps, by rank and block, the set of ranks whose parts are added up in it. Messages of a
    /// phase carry the state from before the phase.
    fn adds_up(ranks: usize, phases: &[Phase], blocks: impl Fn(usize, &Message) -> Vec<usize>, count: usize) {
        let mut has = (0..ranks).map(|r| vec![1u64 << r; count]).collect::<Vec<_>>();
        for (number, phase) in phases.iter().enumerate() {
            let before = has.clone();
            for message in phase {
                for block in blocks(number, message) {
                    has[message.to][block] |= before[message.from][block];
                }
            }
        }
        let all = (1u64 << ranks) - 1;
        assert!(has.iter().flatten().all(|&parts| parts == all), "{ranks} ranks: {has:?}");
    }

    #[test]
    fn a_ring_takes_twice_n_less_one_phases_of_an_nth_each() {
        // 1000 B among 4: 250 B, in 6 phases.
        let phases = ring(4, 1000);
        assert_eq!(sizes(&phases), vec![vec![250; 4]; 6]);
        assert!(phases.iter().all(|p| pairs(p) == [(0, 1), (1, 2), (2, 3), (3, 0)]));
        // 10 B among 3: blocks of 3, 3 and 4 B; in phase s rank r sends block r - s.
        assert_eq!(sizes(&ring(3, 10)), [[3, 3, 4], [4, 3, 3], [3, 4, 3], [3, 3, 4]]);
        for ranks in 2..9 {
            let block = |step: usize, m: &Message| vec![(m.from + 2 * ranks - step) % ranks];
            adds_up(ranks, &ring(ranks, 100), block, ranks);
        }
    }

    #[test]
    fn a_tree_takes_log_n_phases_up_and_as_many_down() {
        // 6 ranks: 1>0, 3>2, 5>4; 2>0 (4 has none at distance 2: 6); 4>0; and back.
        let phases = tree(6, 7);
        let up = [vec![(1, 0), (3, 2), (5, 4)], vec![(2, 0)], vec![(4, 0)]];
        let down = [vec![(0, 4)], vec![(0, 2)], vec![(0, 1), (2, 3), (4, 5)]];
        assert_eq!(phases.iter().map(pairs).collect::<Vec<_>>(), [up, down].concat());
        assert!(sizes(&phases).concat().iter().all(|&s| s == 7));
        for ranks in 2..20 {
            let phases = tree(ranks, 1);
            // ceil(log2 N) up and down, N - 1 messages each.
            assert_eq!(phases.len(), 2 * (ranks as f64).log2().ceil() as usize);
            assert_eq!(messages(&phases), 2 * (ranks as u128 - 1));
            adds_up(ranks, &phases, |_, _| vec![0], 1);
        }
    }

    #[test]
    fn halving_doubling_exchanges_halves_of_halves() {
        // 8 ranks, 800 B: 400, 200 and 100 B to distance 1, 2 and 4, and back.
        let phases = halving_doubling(8, 800);
        let expected = [400, 200, 100, 100, 200, 400].map(|s| vec![s; 8]);
        assert_eq!(sizes(&phases), expected);
        assert_eq!(pairs(&phases[2])[..3], [(0, 4), (1, 5), (2, 6)]);
        assert_eq!(pairs(&phases[5])[..2], [(1, 0), (0, 1)]);
        // 6 ranks: ranks 0 and 2 give all they have to 1 and 3, which with 4 and 5 do the rest as 0 to 3.
        let phases = halving_doubling(6, 800);
        assert_eq!(phases.len(), 2 + 4);
        assert_eq!(pairs(&phases[0]), [(0, 1), (2, 3)]);
        assert_eq!(pairs(&phases[1]), [(1, 3), (3, 1), (4, 5), (5, 4)]);
        assert_eq!(pairs(&phases[2]), [(1, 4), (3, 5), (4, 1), (5, 3)]);
        assert_eq!(pairs(&phases[5]), [(1, 0), (3, 2)]);
        assert_eq!(
            sizes(&phases),
            [vec![800; 2], vec![400; 4], vec![200; 4], vec![200; 4], vec![400; 4], vec![800; 2]]
        );
    }

    #[test]
    fn halving_doubling_adds_up_everything() {
        // Which blocks a message of a power of two of ranks carries, by hand: in phase b of the halving a rank gives the
        // half of the blocks that agree with it in bits 0 to b - 1 (highest block bits first) and differ in bit b.
        for bits in 1..6u32 {
            let ranks = 1usize << bits;
            let owner_bit = |block: usize, b: u32| block >> (bits - 1 - b) & 1;
            let blocks = |number: usize, m: &Message| -> Vec<usize> {
                let halving = number < bits as usize;
                let b = if halving { number as u32 } else { 2 * bits - 1 - number as u32 };
                // In the halving what the receiver keeps; in the doubling what the sender has kept.
                let keeper = if halving { m.to } else { m.from };
                (0..ranks).filter(|&k| (0..=b).all(|i| owner_bit(k, i) == keeper >> i & 1)).collect()
            };
            let phases = halving_doubling(ranks, 64);
            for (number, phase) in phases.iter().enumerate() {
                for m in phase {
                    assert_eq!(m.size, 64 / ranks as u64 * blocks(number, m).len() as u64);
                }
            }
            adds_up(ranks, &phases, blocks, ranks);
        }
    }

    #[test]
    fn recursive_doubling_takes_log_n_phases_of_all_bytes() {
        let phases = recursive_doubling(8, 8);
        assert_eq!(sizes(&phases), vec![vec![8; 8]; 3]);
        assert_eq!(pairs(&phases[1])[..3], [(0, 2), (1, 3), (2, 0)]);
        // 5 ranks: one pair is folded, four exchange twice.
        assert_eq!(messages(&recursive_doubling(5, 8)), 1 + 4 * 2 + 1);
        for ranks in 2..20 {
            adds_up(ranks, &recursive_doubling(ranks, 8), |_, _| vec![0], 1);
        }
    }

    #[test]
    fn in_a_pairwise_exchange_each_pair_meets_once_and_each_phase_is_a_permutation() {
        for ranks in 2..10usize {
            let phases = all_to_all(ranks, 5);
            assert_eq!((phases.len(), messages(&phases)), (ranks - 1, (ranks * (ranks - 1)) as u128));
            let mut met = vec![0; ranks * ranks];
            for phase in &phases {
                let mut to: Vec<usize> = phase.iter().map(|m| m.to).collect();
                to.sort_unstable();
                assert_eq!(to, (0..ranks).collect::<Vec<_>>());
                phase.iter().for_each(|m| met[m.from * ranks + m.to] += 1);
            }
            assert!((0..ranks * ranks).all(|i| met[i] == i32::from(i / ranks != i % ranks)));
        }
        // Powers of two: both ends of a message send to each other.
        assert!(all_to_all(8, 5)[4].contains(&Message { from: 6, to: 3, size: 5 }));
        assert!(all_to_all(6, 5)[1].contains(&Message { from: 5, to: 1, size: 5 }));
    }

    #[test]
    fn after_a_barrier_each_rank_has_heard_of_all() {
        // 2 ranks take 1 round, 5 to 8 take 3.
        assert_eq!([2, 3, 4, 5, 8, 9].map(|n| barrier(n, 1).len()), [1, 2, 2, 3, 3, 4]);
        for ranks in 2..20 {
            adds_up(ranks, &barrier(ranks, 1), |_, _| vec![0], 1);
        }
    }
}
