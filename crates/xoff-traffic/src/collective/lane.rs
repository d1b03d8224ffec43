//! A lane is an equal part of a collective's data that goes its own way: a chunk of a channel. Every algorithm is written for
//! one lane, as messages between ranks and what each of them waits for; lanes wait for nothing of each other. So a rank
//! forwards a chunk when that chunk has arrived.

use super::phases::share;

/// The data of a lane: blocks, which ranks send whole.
pub(crate) struct Lane {
    /// By block: the bytes of the blocks before it; a last entry is the sum.
    before: Vec<u64>,
}

impl Lane {
    /// Lane `number` of `lanes`, of `bytes` in `blocks` nearly equal blocks.
    pub(crate) fn of(bytes: u64, blocks: usize, number: usize, lanes: usize) -> Lane {
        let block = |b: usize| share(share(bytes, blocks, b, b + 1), lanes, number, number + 1);
        Lane::sum((0..blocks).map(block))
    }

    /// Lane `number` of `lanes`, of blocks of these `sizes`.
    pub(crate) fn of_sizes(sizes: &[u64], number: usize, lanes: usize) -> Lane {
        Lane::sum(sizes.iter().map(|&size| share(size, lanes, number, number + 1)))
    }

    fn sum(sizes: impl Iterator<Item = u64>) -> Lane {
        let mut before = vec![0];
        let mut sum = 0;
        before.extend(sizes.map(|size| {
            sum += size;
            sum
        }));
        Lane { before }
    }

    fn between(&self, first: usize, end: usize) -> u64 {
        self.before[end] - self.before[first]
    }

    /// The number of blocks.
    #[cfg(test)]
    pub(crate) fn blocks(&self) -> usize {
        self.before.len() - 1
    }

    /// The bytes of one block.
    pub(crate) fn block(&self, block: usize) -> u64 {
        self.between(block, block + 1)
    }
}

/// Blocks of a lane.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "the tests follow the data"))]
pub(crate) enum Blocks<'a> {
    /// Blocks that follow each other.
    Run(Run),
    /// Any blocks, by number.
    List(&'a [u32]),
}

/// Consecutive pieces on a circle of `of` pieces; a piece is `unit` blocks, and the circle begins at block `base`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    base: usize,
    unit: usize,
    of: usize,
    first: usize,
    count: usize,
}

impl Run {
    fn bytes(self, lane: &Lane) -> u64 {
        let at = |piece: usize| self.base + piece * self.unit;
        let (first, count) = (self.first % self.of, self.count.min(self.of));
        let inside = count.min(self.of - first);
        lane.between(at(first), at(first + inside)) + lane.between(at(0), at(count - inside))
    }

    #[cfg(test)]
    pub(crate) fn numbers(self) -> impl Iterator<Item = u32> {
        let pieces = (self.first..self.first + self.count).map(move |piece| piece % self.of);
        pieces.flat_map(move |piece| (0..self.unit).map(move |i| (self.base + piece * self.unit + i) as u32))
    }
}

/// What a receiver does with the data of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Adds the data to its own.
    Add,
    /// Keeps the data in the place of its own.
    Keep,
}

/// A message of a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer<'a> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Bytes of data; may be 0.
    pub(crate) bytes: u64,
    /// Which data it is, and what becomes of it: the messages do not depend on these; the tests follow them.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests follow the data"))]
    pub(crate) blocks: Blocks<'a>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests follow the data"))]
    pub(crate) effect: Effect,
}

/// The two ends of a message that a rank can wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending<E> {
    /// At the receiver: the message has arrived.
    pub(crate) arrival: E,
    /// At the sender: the message is sent, and acknowledged if it is not eager.
    pub(crate) sent: E,
}

/// Takes the messages of an algorithm.
pub(crate) trait Wire {
    /// What a rank can wait for.
    type Event: Copy;
    /// A message that goes when its sender has begun the collective and all `needs` have come, which are events at the sender.
    fn send(&mut self, transfer: &Transfer<'_>, needs: &[Self::Event]) -> Sending<Self::Event>;
    /// One event of `rank` for many.
    fn join(&mut self, rank: usize, needs: &[Self::Event]) -> Self::Event;
}

/// By member of a group: the events that it waits for, or that ended an algorithm for it.
pub(crate) type Events<E> = Vec<Vec<E>>;

/// Ranks that run an algorithm among themselves, and the blocks on which they run it.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The ranks.
    pub(crate) members: &'a [usize],
    pub(crate) lane: &'a Lane,
    /// The first block.
    pub(crate) base: usize,
    /// Blocks that the algorithm takes as one.
    pub(crate) unit: usize,
}

impl Group<'_> {
    /// The number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// No events for anyone.
    pub(crate) fn no_events<E>(&self) -> Events<E> {
        (0..self.len()).map(|_| Vec::new()).collect()
    }

    /// Sends `count` of `of` pieces from piece `first` on, from a member to another, after `needs`.
    pub(crate) fn send<W: Wire>(
        &self,
        wire: &mut W,
        (from, to): (usize, usize),
        (first, count, of): (usize, usize, usize),
        effect: Effect,
        needs: &[W::Event],
    ) -> Sending<W::Event> {
        let run = Run { base: self.base, unit: self.unit, of, first, count };
        let (from, to, bytes) = (self.members[from], self.members[to], run.bytes(self.lane));
        wire.send(&Transfer { from, to, bytes, blocks: Blocks::Run(run), effect }, needs)
    }

    /// Sends the blocks of `list`.
    pub(crate) fn send_list<W: Wire>(
        &self,
        wire: &mut W,
        (from, to): (usize, usize),
        list: &[u32],
        needs: &[W::Event],
    ) -> Sending<W::Event> {
        let bytes = list.iter().map(|&block| self.lane.block(block as usize)).sum();
        let (from, to) = (self.members[from], self.members[to]);
        wire.send(&Transfer { from, to, bytes, blocks: Blocks::List(list), effect: Effect::Keep }, needs)
    }
}
