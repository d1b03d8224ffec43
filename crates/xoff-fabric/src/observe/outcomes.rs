//! The outcomes of messages: in the order of their ends while a run goes on, by number once it is over.
//!
//! They are most of what a long run keeps, and most of their fields are 0, or what the message was to do. So each is kept as the bytes of its fields that are
//! not: some 5 bytes in place of the 96 of a [`FlowOutcome`] while a run goes on, and 15 once it is over.

use xoff_engine::{Column, MessageSize, Time};

use super::detection::Marks;
use super::records::FlowOutcome;
use crate::ids::FlowId;

/// Bytes for which there is room for each message.
const ROOM: usize = 16;

/// Outcomes that lie one after the other without an index of their places.
const STRIDE: usize = 16;

/// Bits of the first number of an outcome, its flags, between which lie those of [`fields`], in their order. Those of most outcomes fit into a
/// byte.
const STARTED: u64 = 1;
const COMPLETED: u64 = 1 << 1;
const FIRST_FIELD: u64 = 1 << 2;
const FIELDS: usize = 10;
const HOL_BLOCKED: u64 = FIRST_FIELD << FIELDS;
const RECALLED: u64 = HOL_BLOCKED << 1;

/// What a message was to do, so far as that is known.
#[derive(Clone, Copy, Default)]
struct Planned {
    start: Time,
    bytes: u64,
    packets: u64,
}

impl Planned {
    /// What is known of a message that was `completed` or not.
    fn unless_stopped(self, completed: bool) -> Planned {
        if completed { self } else { Planned { start: self.start, ..Planned::default() } }
    }
}

/// The fields of an outcome that are numbers, of which those that are 0 take no room: some by how much more they are than `planned`.
fn fields(outcome: &FlowOutcome, planned: Planned) -> [u64; FIELDS] {
    // The bytes and packets of a message that was not completed are fewer than planned.
    let Planned { start, bytes, packets } = planned.unless_stopped(outcome.fct.is_some());
    [
        outcome.start.0.wrapping_sub(start.0),
        outcome.fct.map_or(0, |fct| fct.0),
        outcome.acked_bytes.wrapping_sub(bytes),
        outcome.packets_sent.wrapping_sub(packets),
        outcome.retransmitted_bytes,
        outcome.cnps,
        outcome.marks.ce,
        outcome.marks.ue,
        outcome.paused.0,
        outcome.skipped.0,
    ]
}

/// Appends a number: seven bits a byte, the lowest first, the highest bit of a byte saying that others follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes the number at a place, and moves the place behind it.
fn take(bytes: &[u8], place: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*place];
        *place += 1;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

/// Appends the outcome of a message.
fn put_outcome(bytes: &mut Vec<u8>, outcome: &FlowOutcome, planned: Planned) {
    let fields = fields(outcome, planned);
    let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
    let mut flags = flag(outcome.started, STARTED)
        | flag(outcome.fct.is_some(), COMPLETED)
        | flag(outcome.hol_blocked, HOL_BLOCKED)
        | flag(outcome.recalled, RECALLED);
    for (number, field) in fields.iter().enumerate() {
        flags |= flag(*field != 0, FIRST_FIELD << number);
    }
    put(bytes, flags);
    fields.into_iter().filter(|field| *field != 0).for_each(|field| put(bytes, field));
}

/// Takes the outcome of a message at a place, and moves the place behind it.
fn take_outcome(bytes: &[u8], place: &mut usize, planned: Planned) -> FlowOutcome {
    let flags = take(bytes, place);
    let mut flag = FIRST_FIELD;
    let mut field = || {
        let is_there = flags & flag != 0;
        flag <<= 1;
        if is_there { take(bytes, place) } else { 0 }
    };
    let planned = planned.unless_stopped(flags & COMPLETED != 0);
    let (start, fct) = (Time(field().wrapping_add(planned.start.0)), Time(field()));
    FlowOutcome {
        started: flags & STARTED != 0,
        start,
        fct: (flags & COMPLETED != 0).then_some(fct),
        acked_bytes: field().wrapping_add(planned.bytes),
        packets_sent: field().wrapping_add(planned.packets),
        retransmitted_bytes: field(),
        cnps: field(),
        marks: Marks { ce: field(), ue: field() },
        paused: Time(field()),
        hol_blocked: flags & HOL_BLOCKED != 0,
        skipped: Time(field()),
        recalled: flags & RECALLED != 0,
    }
}

/// Moves a place behind the outcome there.
fn skip_outcome(bytes: &[u8], place: &mut usize) {
    let fields = (take(bytes, place) & (HOL_BLOCKED - FIRST_FIELD)).count_ones();
    for _ in 0..fields {
        take(bytes, place);
    }
}

/// Messages that have ended, in the order of their ends, and their outcomes. No message ends twice.
#[derive(Default)]
pub(crate) struct Ends {
    /// Of each message its number and its outcome.
    bytes: Vec<u8>,
    /// When messages were to start, and how long they are, as far as that is known.
    starts: Column<Time>,
    sizes: Column<MessageSize>,
    /// Payload of a full packet.
    payload: u64,
}

impl Ends {
    /// Without outcomes, with room for those of `flows` messages where there are addresses enough. Room that is not used takes no
    /// memory. Messages start at `starts`, and are sent in packets of a `payload`.
    pub fn with_room(flows: usize, starts: &Column<Time>, sizes: &Column<MessageSize>, payload: u64) -> Ends {
        let mut ends = Ends { starts: starts.clone(), sizes: sizes.clone(), payload, ..Ends::default() };
        _ = ends.bytes.try_reserve_exact(flows.saturating_mul(ROOM));
        ends
    }

    /// Adds the outcome of a message that has ended.
    pub fn push(&mut self, flow: FlowId, outcome: &FlowOutcome) {
        let planned = self.planned(flow);
        put(&mut self.bytes, flow.0.into());
        put_outcome(&mut self.bytes, outcome, planned);
    }

    /// What a message was to do.
    fn planned(&self, flow: FlowId) -> Planned {
        let number = flow.index();
        if number >= self.starts.len() || number >= self.sizes.len() {
            return Planned::default();
        }
        let bytes = self.sizes.at(number).bytes().unwrap_or(0);
        Planned { start: self.starts.at(number), bytes, packets: bytes.div_ceil(self.payload.max(1)) }
    }

    /// A place behind the messages that have ended so far, for [`Ends::after`].
    pub fn place(&self) -> usize {
        self.bytes.len()
    }

    /// Messages in the order of their ends, from a place on: 0 or one of [`Ends::place`].
    pub fn after(&self, mut place: usize) -> impl Iterator<Item = (FlowId, FlowOutcome)> {
        std::iter::from_fn(move || {
            (place < self.bytes.len()).then(|| {
                let flow = FlowId(take(&self.bytes, &mut place) as u32);
                (flow, take_outcome(&self.bytes, &mut place, self.planned(flow)))
            })
        })
    }

    /// Of each message its number, and the place of its outcome.
    fn places(&self) -> impl Iterator<Item = (FlowId, usize)> {
        let mut place = 0;
        std::iter::from_fn(move || {
            (place < self.bytes.len()).then(|| {
                let flow = FlowId(take(&self.bytes, &mut place) as u32);
                let of_outcome = place;
                skip_outcome(&self.bytes, &mut place);
                (flow, of_outcome)
            })
        })
    }
}

/// The outcomes of all messages, by number. A message that had not begun has the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    bytes: Vec<u8>,
    /// The places of the outcomes whose numbers are multiples of [`STRIDE`].
    places: Vec<usize>,
    count: usize,
    started: usize,
}

impl Outcomes {
    /// The outcomes of `count` messages from what each partition knows: their `ends`, the `marks` that receivers counted, and messages
    /// that were `blocked`.
    pub(crate) fn new(
        count: usize,
        ends: &[Ends],
        mut marks: Vec<(FlowId, Marks)>,
        blocked: &[FlowId],
    ) -> Outcomes {
        // By message: the place of its outcome if all ends were one list, and one more; 0 if it has none.
        let mut places = vec![0; count];
        let mut before = 0;
        for ends in ends {
            for (flow, place) in ends.places() {
                debug_assert!(places[flow.index()] == 0, "no message ends twice");
                places[flow.index()] = before + place + 1;
            }
            before += ends.bytes.len();
        }
        marks.sort_unstable_by_key(|(flow, _)| *flow);
        let mut marks = marks.into_iter().peekable();
        let mut blocked = blocked.iter().peekable();
        let mut all = Outcomes { bytes: Vec::with_capacity(before + count), ..Outcomes::default() };
        for (number, place) in places.into_iter().enumerate() {
            let flow = FlowId::at(number);
            let mut outcome = match place.checked_sub(1) {
                Some(place) => outcome_of(ends, flow, place),
                None => FlowOutcome::default(),
            };
            while let Some((_, more)) = marks.next_if(|(of, _)| *of == flow) {
                outcome.marks += more;
            }
            outcome.hol_blocked = blocked.next_if(|of| **of == flow).is_some();
            all.push(&outcome);
        }
        all.bytes.shrink_to_fit();
        all
    }

    fn push(&mut self, outcome: &FlowOutcome) {
        if self.count.is_multiple_of(STRIDE) {
            self.places.push(self.bytes.len());
        }
        put_outcome(&mut self.bytes, outcome, Planned::default());
        self.count += 1;
        self.started += usize::from(outcome.started);
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the run has no messages, or is not over.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of messages that have begun.
    pub fn started(&self) -> usize {
        self.started
    }

    /// The outcome of a message.
    ///
    /// # Panics
    /// If there is no such message.
    pub fn of(&self, flow: FlowId) -> FlowOutcome {
        assert!(flow.index() < self.count, "{} messages have no number {flow}", self.count);
        let mut place = self.places[flow.index() / STRIDE];
        for _ in 0..flow.index() % STRIDE {
            skip_outcome(&self.bytes, &mut place);
        }
        take_outcome(&self.bytes, &mut place, Planned::default())
    }

    /// All outcomes, by number.
    pub fn iter(&self) -> impl Iterator<Item = FlowOutcome> {
        let mut place = 0;
        (0..self.count).map(move |_| take_outcome(&self.bytes, &mut place, Planned::default()))
    }
}

/// The outcome of a message at a place of all ends, as if they were one list.
fn outcome_of(ends: &[Ends], flow: FlowId, mut place: usize) -> FlowOutcome {
    for ends in ends {
        if place < ends.bytes.len() {
            return take_outcome(&ends.bytes, &mut place, ends.planned(flow));
        }
        place -= ends.bytes.len();
    }
    FlowOutcome::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(packets_sent: u64) -> FlowOutcome {
        FlowOutcome { started: true, packets_sent, ..FlowOutcome::default() }
    }

    fn packets(outcomes: &Outcomes) -> Vec<(bool, u64)> {
        outcomes.iter().map(|outcome| (outcome.started, outcome.packets_sent)).collect()
    }

    #[test]
    fn each_outcome_gets_its_messages_place() {
        // Of five messages 3, 0, 4 and 1 end, in this order, in two partitions, after as many packets as their number and ten; 2
        // does not.
        let (mut here, mut there) =
            (Ends::with_room(5, &Column::default(), &Column::default(), 1), Ends::default());
        here.push(FlowId(3), &sent(13));
        let seen = here.place();
        here.push(FlowId(0), &sent(10));
        there.push(FlowId(4), &sent(14));
        there.push(FlowId(1), &sent(11));
        let later: Vec<_> = here.after(seen).map(|(flow, outcome)| (flow, outcome.packets_sent)).collect();
        assert_eq!(later, [(FlowId(0), 10)]);
        let all = Outcomes::new(5, &[here, there], Vec::new(), &[]);
        assert_eq!(packets(&all), [(true, 10), (true, 11), (false, 0), (true, 13), (true, 14)]);
        assert_eq!((all.len(), all.started(), all.of(FlowId(3)).packets_sent), (5, 4, 13));
    }

    #[test]
    fn every_field_is_kept() {
        // Each field has its own number, from 0 to what 64 bits hold: seven bits a byte, so that 127 is one byte and 128 two.
        let of = |n: u64| FlowOutcome {
            started: n.is_multiple_of(2),
            start: Time(n),
            fct: (!n.is_multiple_of(3)).then_some(Time(n / 3)),
            acked_bytes: n.rotate_left(8),
            packets_sent: n.rotate_left(16),
            retransmitted_bytes: n.rotate_left(24),
            cnps: n.rotate_left(32),
            marks: Marks { ce: n.rotate_left(40), ue: n.rotate_left(48) },
            paused: Time(n.rotate_left(56)),
            hol_blocked: false,
            skipped: Time(n / 7),
            recalled: n.is_multiple_of(5),
        };
        let numbers = (0..70).map(|n| (1 << (n % 64)) - u64::from(n % 3 == 0)).chain([0, 127, 128, u64::MAX]);
        let outcomes: Vec<_> = numbers.map(of).collect();
        // Messages start before, at and after the times planned, and are shorter and longer than planned; of the last ones nothing is known.
        let planned = || (0..outcomes.len() as u64 - 5).map(|n| 1 << (n * 7 % 64));
        let (starts, sizes) =
            (planned().map(Time).collect(), planned().rev().map(MessageSize::from).collect());
        let mut ends = Ends::with_room(outcomes.len(), &starts, &sizes, 1_000);
        // In reverse, so that an order is made.
        for (flow, outcome) in outcomes.iter().enumerate().rev() {
            ends.push(FlowId::at(flow), outcome);
        }
        let mut so_far: Vec<_> = ends.after(0).map(|(_, outcome)| outcome).collect();
        so_far.reverse();
        assert_eq!(so_far, outcomes);
        let all = Outcomes::new(outcomes.len(), &[ends], Vec::new(), &[]);
        assert_eq!(all.iter().collect::<Vec<_>>(), outcomes);
        let single: Vec<_> = FlowId::all(outcomes.len()).map(|flow| all.of(flow)).collect();
        assert_eq!(single, outcomes);
    }

    #[test]
    fn marks_add_up_and_blocked_messages_are_told() {
        let mut ends = Ends::default();
        (0..3).for_each(|flow| ends.push(FlowId(flow), &sent(1)));
        let marks = |ce| Marks { ce, ue: 0 };
        // Receivers tell of 2 and 3 marks of message 2, and of one of message 0.
        let told = vec![(FlowId(2), marks(2)), (FlowId(0), marks(1)), (FlowId(2), marks(3))];
        let all = Outcomes::new(3, &[ends], told, &[FlowId(1)]);
        let seen: Vec<_> = all.iter().map(|outcome| (outcome.marks.ce, outcome.hol_blocked)).collect();
        assert_eq!(seen, [(1, false), (0, true), (5, false)]);
    }

    #[test]
    fn a_message_without_anything_rare_takes_few_bytes() {
        // 1 MB in 1,000 packets from 10 ms on, in 100 us: a byte of flags and 4 of 10^8 ps; and 5 of 10^10 ps, 3 of 10^6 and 2 of 1,000 where
        // nobody knows that it was to be so. Of half of it the start is as planned: a byte of flags, 3 of 500,000 and 2 of 500.
        let whole = FlowOutcome {
            started: true,
            start: Time::from_us(10_000),
            fct: Some(Time::from_us(100)),
            acked_bytes: 1_000_000,
            packets_sent: 1_000,
            ..FlowOutcome::default()
        };
        let half = FlowOutcome { fct: None, acked_bytes: 500_000, packets_sent: 500, ..whole };
        let known = Planned { start: whole.start, bytes: 1_000_000, packets: 1_000 };
        let bytes = |outcome: &FlowOutcome, planned: Planned| {
            let mut bytes = Vec::new();
            put_outcome(&mut bytes, outcome, planned);
            bytes.len()
        };
        assert_eq!(
            (bytes(&whole, known), bytes(&whole, Planned::default()), bytes(&half, known)),
            (5, 15, 6)
        );
    }
}
