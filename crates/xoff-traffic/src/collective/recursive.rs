//! Recursive halving and recursive doubling.
//!
//! Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA
//! 19:1, 2005), sections 4.1 (all-gather), 4.3 (reduce-scatter) and 4.5 (all-reduce by recursive doubling, and Rabenseifner's
//! algorithm). If the number of ranks is no power of two, the first ranks form as many pairs as there are ranks beyond the
//! power of two; the even rank of a pair gives its data to the odd one before, and gets the result after.

use std::ops::Range;

use super::lane::{Effect, Events, Group, Wire};
use super::phases::power_of_two;

/// The ranks of a power of two, and the pairs beyond it.
struct Folded {
    /// Ranks that take part after the pairs have become one.
    inside: usize,
    /// Number of pairs.
    extra: usize,
}

impl Folded {
    fn of(n: usize) -> Folded {
        let inside = power_of_two(n);
        Folded { inside, extra: n - inside }
    }

    /// The number in the group of the rank that takes part as `place`.
    fn member(&self, place: usize) -> usize {
        if place < self.extra { 2 * place + 1 } else { place + self.extra }
    }

    /// The blocks of a range of places, if each rank has a block.
    fn blocks(&self, places: &Range<usize>) -> Range<usize> {
        let first = |place: usize| if place < self.extra { 2 * place } else { place + self.extra };
        first(places.start)..first(places.end)
    }

    /// The pairs: even and odd rank.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..self.extra).map(|pair| (2 * pair, 2 * pair + 1))
    }

    fn bits(&self) -> u32 {
        self.inside.ilog2()
    }
}

/// A step of an exchange: each place sends the blocks that `blocks` gives. All messages of the step go before their arrivals
/// count.
fn exchange<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    folded: &Folded,
    bit: u32,
    blocks: impl Fn(usize) -> (usize, usize, usize),
    effect: Effect,
    events: &mut Events<W::Event>,
) {
    let mut arrived = Vec::with_capacity(folded.inside);
    for place in 0..folded.inside {
        let (from, to) = (folded.member(place), folded.member(place ^ 1 << bit));
        let sending = group.send(wire, (from, to), blocks(place), effect, &events[from]);
        arrived.push((to, sending.arrival));
    }
    arrived.into_iter().for_each(|(to, event)| events[to].push(event));
}

/// Halves what each place keeps, once for each of `bits`: returns by step and place what it gives away; at the end `keeps` has
/// what is left.
fn halvings(inside: usize, bits: &[u32], keeps: &mut [Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let halve = |bit: &u32| {
        let give = |place: usize, range: &mut Range<usize>| {
            let middle = range.start.midpoint(range.end);
            let (low, high) = (range.start..middle, middle..range.end);
            // The lower of the two places keeps the lower half.
            let (keeps, gives) = if place & 1 << bit == 0 { (low, high) } else { (high, low) };
            *range = keeps;
            gives
        };
        (0..inside).map(|place| give(place, &mut keeps[place])).collect()
    };
    bits.iter().map(halve).collect()
}

/// Rabenseifner's all-reduce: recursive halving with a distance that doubles, and the same steps back. As many blocks as the
/// power of two.
pub(super) fn halving_doubling<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (folded, mut events) = (Folded::of(group.len()), entry);
    let of = folded.inside;
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (even, odd), (0, of, of), Effect::Add, &events[even]);
        events[odd].push(sending.arrival);
    }
    let bits: Vec<u32> = (0..folded.bits()).collect();
    let mut keeps: Vec<Range<usize>> = (0..of).map(|_| 0..of).collect();
    let given = halvings(of, &bits, &mut keeps);
    for (&bit, given) in bits.iter().zip(&given) {
        let blocks = |place: usize| (given[place].start, given[place].len(), of);
        exchange(wire, group, &folded, bit, blocks, Effect::Add, &mut events);
    }
    for (&bit, given) in bits.iter().zip(&given).rev() {
        // A place returns what its partner gave away, which is complete by now.
        let blocks = |place: usize| {
            let back = &given[place ^ 1 << bit];
            (back.start, back.len(), of)
        };
        exchange(wire, group, &folded, bit, blocks, Effect::Keep, &mut events);
    }
    unfold(wire, group, &folded, of, &mut events);
    events
}

fn unfold<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    folded: &Folded,
    of: usize,
    events: &mut Events<W::Event>,
) {
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (odd, even), (0, of, of), Effect::Keep, &events[odd]);
        events[even].push(sending.arrival);
    }
}

/// All-reduce by recursive doubling: in log2 n steps each rank exchanges all that it has.
pub(super) fn doubling<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (folded, mut events) = (Folded::of(group.len()), entry);
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (even, odd), (0, 1, 1), Effect::Add, &events[even]);
        events[odd].push(sending.arrival);
    }
    for bit in 0..folded.bits() {
        exchange(wire, group, &folded, bit, |_| (0, 1, 1), Effect::Add, &mut events);
    }
    unfold(wire, group, &folded, 1, &mut events);
    events
}

/// Reduce-scatter by recursive halving, with a distance that is halved: rank r ends up with block r.
pub(super) fn reduce_scatter<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (folded, mut events, of) = (Folded::of(group.len()), entry, group.len());
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (even, odd), (0, of, of), Effect::Add, &events[even]);
        events[odd].push(sending.arrival);
    }
    let bits: Vec<u32> = (0..folded.bits()).rev().collect();
    let mut keeps: Vec<Range<usize>> = (0..folded.inside).map(|_| 0..folded.inside).collect();
    let given = halvings(folded.inside, &bits, &mut keeps);
    for (&bit, given) in bits.iter().zip(&given) {
        let blocks = |place: usize| {
            let blocks = folded.blocks(&given[place]);
            (blocks.start, blocks.len(), of)
        };
        exchange(wire, group, &folded, bit, blocks, Effect::Add, &mut events);
    }
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (odd, even), (even, 1, of), Effect::Keep, &events[odd]);
        events[even].push(sending.arrival);
    }
    events
}

/// All-gather by recursive doubling: in log2 n steps each rank exchanges all blocks that it has.
pub(super) fn all_gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (folded, mut events, of) = (Folded::of(group.len()), entry, group.len());
    for (even, odd) in folded.pairs() {
        let sending = group.send(wire, (even, odd), (even, 1, of), Effect::Keep, &events[even]);
        events[odd].push(sending.arrival);
    }
    for bit in 0..folded.bits() {
        let blocks = |place: usize| {
            let first = place >> bit << bit;
            let blocks = folded.blocks(&(first..first + (1 << bit)));
            (blocks.start, blocks.len(), of)
        };
        exchange(wire, group, &folded, bit, blocks, Effect::Keep, &mut events);
    }
    for (even, odd) in folded.pairs() {
        // All blocks but the even rank's own one.
        let sending = group.send(wire, (odd, even), (odd, of - 1, of), Effect::Keep, &events[odd]);
        events[even].push(sending.arrival);
    }
    events
}
