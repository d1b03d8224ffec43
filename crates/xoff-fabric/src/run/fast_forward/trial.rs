//! Whether the state of a network repeats exactly.
//!
//! Equal intervals between packets say little of how packets of several connections and their ACKs follow each other. So before an
//! exact jump the run goes on for one period, and for another, and at the end of each compares the network with what it was at the
//! beginning: when each connection last sent and got an ACK, what is in flight, what waits at each port, which of its bytes are
//! sent, what receivers have yet to acknowledge, and whose turn it is. If all is the same but for a shift in time and whole packets, everything that
//! follows is the same too.

use xoff_engine::Time;

use super::super::any_partition::AnyPartition;
use super::jump::Counts;
use super::state::State;
use super::steady::{Steady, learns_from_acks};
use crate::host::forward::{Pace, Pulse};
use crate::host::replay::{Lesson, Period};
use crate::ids::ConnectionId;

/// A state may repeat only after several of the shortest periods, as when connections take turns.
pub(super) const PERIODS: u64 = 6;

/// A state that repeats.
pub(super) struct Repetition {
    /// The time to which the run has gone on, on the network's clock.
    pub now: Time,
    pub period: Time,
    /// The counts that a jump extrapolates, one period ago.
    pub counts: Counts,
    /// What reaction points that learn from ACKs have heard in the period.
    pub lessons: Option<Vec<Lesson>>,
}

/// Lets the reaction points of `pulses` note what they hear, if they learn from it.
pub(super) fn listen(partition: &mut dyn AnyPartition, pulses: &[Pulse]) {
    if learns_from_acks(partition.network()) {
        let connections: Vec<ConnectionId> = pulses.iter().map(|pulse| pulse.connection).collect();
        partition.listen(&connections);
    }
}

/// What they have heard between two moments, a `period` apart; `None` if they learn nothing, or from something that does not come again.
pub(super) fn lessons(
    partition: &mut dyn AnyPartition,
    before: &[Pulse],
    after: &[Pulse],
    period: Time,
) -> Option<Vec<Lesson>> {
    if !learns_from_acks(partition.network()) {
        return None;
    }
    // Pulses are in order of their connections.
    let later = |pulse: &Pulse| {
        let place = after.binary_search_by_key(&pulse.connection.0, |later| later.connection.0);
        place.map_or(*pulse, |place| after[place])
    };
    let of = |pulse: &Pulse| {
        let after = later(pulse);
        Period {
            connection: pulse.connection,
            in_flight: pulse.sent - pulse.acked,
            bytes: after.sent.saturating_sub(pulse.sent),
            packets: after.next_packet.wrapping_sub(pulse.next_packet).into(),
        }
    };
    let periods: Vec<Period> = before.iter().map(of).collect();
    partition.lessons(&periods, period)
}

/// Lets a run go on from `now` for some periods of at least `shortest`, in which nothing but the network changes anything, and returns
/// how the state repeats. The paces in `steady` are then those of the later time.
pub(super) fn repeats(
    partition: &mut dyn AnyPartition,
    steady: &mut Steady,
    now: Time,
    shortest: Time,
    budget: u64,
) -> Option<Repetition> {
    let (before, counts) = (partition.pulses(), partition.counts(true));
    let (first, _) = State::of(partition, &before, now);
    let most = partition.totals().events.saturating_add(budget);
    listen(partition, &before);
    let repetition = go_on_until_same(partition, steady, (&before, &first, counts), (now, shortest), most);
    let (period, after) = (repetition.as_ref().map_or(shortest, |found| found.period), partition.pulses());
    let lessons = lessons(partition, &before, &after, period);
    repetition.map(|found| Repetition { lessons, ..found })
}

/// Lets a run go on from `now` for up to [`PERIODS`] of the `shortest` periods, until its state is the `first` one, that of the pulses
/// `before`, once more. About `most` events are handled in all.
fn go_on_until_same(
    partition: &mut dyn AnyPartition,
    steady: &mut Steady,
    (before, first, counts): (&[Pulse], &State, Counts),
    (now, shortest): (Time, Time),
    most: u64,
) -> Option<Repetition> {
    for periods in 1..=PERIODS {
        let (period, then) = (shortest * periods, now + shortest * periods);
        partition.run_until(then, most.saturating_sub(partition.totals().events));
        if partition.totals().next < then + partition.carried() {
            return None; // the run has come to its limit of events
        }
        let after = partition.pulses();
        let is_whole = |((a, b), pace): ((&Pulse, &Pulse), &Pace)| {
            let bytes = pace.packets_in(period) * partition.network().wire.payload;
            a.connection == b.connection && a.flow == b.flow && b.sent.checked_sub(a.sent) == Some(bytes)
        };
        let is_same = before.len() == after.len()
            && before.iter().zip(&after).zip(&steady.paces).all(is_whole)
            && State::of(partition, &after, then).0 == *first;
        if is_same && !partition.holds_times() && !is_marked(partition, &counts) {
            for (pace, pulse) in steady.paces.iter_mut().zip(&after) {
                pace.sent_at = pulse.sent_at;
            }
            return Some(Repetition { now: then, period, counts, lessons: None });
        }
    }
    None
}

/// Whether packets were marked since the `earlier` counts, under a scheme whose receivers notify senders of marks at their own times: a
/// notification may be due after many periods that were the same.
pub(super) fn is_marked(partition: &dyn AnyPartition, earlier: &Counts) -> bool {
    partition.network().signals.ecn && partition.marks() != earlier.marks
}
