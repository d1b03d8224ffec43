//! Cycles: states of the whole network that come again.
//!
//! Connections that share a link send at no constant pace, and yet what they do may repeat: turns at ports, stops for lack of credits, PAUSE
//! and RESUME. So states are remembered by one number each, and one that was there before begins a cycle. Where in a packet's interval a state is
//! seen matters: all are seen at the same time after a packet of the same connection. The run then goes on for another period, and the state
//! must be the same once more, after as many events.

use std::collections::HashMap;

use xoff_engine::Time;

use super::super::any_partition::AnyPartition;
use super::account::{Held, Span};
use super::jump::{Counts, Jump, Since};
use super::state::State;
use super::trial::{is_marked, lessons, listen};
use super::{FastForward, steady};
use crate::host::forward::{Pace, Pulse};
use crate::host::replay::Lesson;
use crate::ids::ConnectionId;

/// States are seen at least so long after a packet: the run has handled some events after it already, and cannot go back.
pub(super) const MIN_PHASE: Time = Time::from_us(2);

/// Looks before the first one for a cycle: what is steady was seen to be by then.
const MIN_LOOKS: usize = 2 * steady::MIN_LOOKS;

/// States that are remembered at most.
const MOST_STATES: usize = 1 << 14;

/// Events between two looks at the state, for each packet or event in it: looks take a tenth of a run's time or so.
pub(super) const EVENTS_FOR_A_THING: u64 = 12;

/// Cycles of more events, which take a second or so, are not looked for: while the run goes on for another one, nobody can interrupt it or
/// see its progress.
pub(super) const MOST_EVENTS: u64 = 1 << 24;

/// The same where reaction points note all that they hear in a cycle, which takes some 90 B for each packet and for each ACK.
const MOST_HEARD_EVENTS: u64 = 1 << 20;

impl FastForward {
    /// Jumps over whole cycles, if the network is in one, where connections are not steady for a reason: `held`. Returns whether it did.
    ///
    /// There are none under schemes that compute at switches, or learn from more than ACKs, round-trip times and counts of flows: only the scheme knows all of its
    /// state, and how connections share links may hang on the rest. Nor are there any if simultaneous events come in the order of scheduling, or if detectors tell states of
    /// ports apart, by times of their own, and senders hear of them.
    pub(super) fn try_cycle(&mut self, partition: &mut dyn AnyPartition, now: Time, held: Held) -> bool {
        let net = partition.network().clone();
        let reasons = [Held::Observing, Held::RatesVary, Held::Drift, Held::Competing, Held::FewPackets];
        let hides_state = steady::hides_order(&net) || net.signals.ecn && partition.has_port_states();
        let pulses = self.history.looks.last().map_or(&[][..], |look| &look.pulses);
        let tells = net.has_known_state() || steady::hear_again(&net, pulses);
        if !tells || hides_state || !reasons.contains(&held) || self.history.looks.len() < MIN_LOOKS {
            return false;
        }
        let phase = MIN_PHASE.max(self.history.base_rtt / 2);
        let last = self.left(partition.carried());
        let cycle = self.cycles.find(partition, now, phase, last, self.budget);
        if std::mem::take(&mut self.cycles.has_gone_on) {
            // Nobody has looked meanwhile.
            self.history.forget();
        }
        let Some(mut cycle) = cycle else { return false };
        // A source's times are no whole picoseconds, and the state does not have their fractions.
        let is_held =
            |pulse: &Pulse| pulse.repairs || pulse.ready_at.is_some() || steady::may_rise(pulse, &net);
        let end = partition.first_external().min(last).saturating_sub(self.history.spacing());
        let periods = cycle.periods(net.wire.payload, end);
        let is_marked = is_marked(partition, &cycle.counts);
        if periods == 0 || is_marked || partition.holds_times() || cycle.pulses.iter().any(is_held) {
            return false;
        }
        let periods = match &cycle.lessons {
            Some(lessons) => partition.replay(lessons, periods),
            None if steady::learns_from_acks(&net) => 0,
            None => periods,
        };
        if periods == 0 {
            return false;
        }
        cycle.paces.iter_mut().for_each(|pace| pace.is_taught = cycle.lessons.is_some());
        let reached = cycle.now + partition.carried();
        let wanted = cycle.period * periods;
        // No rate is about to rise.
        let (time, _) = partition.live_through(cycle.now, &mut cycle.paces, wanted, self.tolerance / 4.0);
        let is_exact = time == wanted;
        if !is_exact {
            self.account.doubt(reached);
        }
        let packets: Vec<u64> = cycle.paces.iter().map(|pace| pace.packets_in(time)).collect();
        let since = Some(Since { ago: cycle.period, counts: &cycle.counts, repeats: is_exact });
        partition.jump(&Jump { time, paces: &cycle.paces, packets: &packets, since });
        self.history.jumped(partition, std::iter::empty());
        self.account.jumped(Span { start: reached, length: time, error: 0.0 }, is_exact);
        true
    }
}

/// A state that has come again, after which all that had happened since then has happened once more.
struct Cycle {
    /// The time to which the run has gone on, on the network's clock.
    now: Time,
    period: Time,
    /// The connections under way, and what each of them sends in a period.
    pulses: Vec<Pulse>,
    paces: Vec<Pace>,
    /// The counts that a jump extrapolates, one period ago.
    counts: Counts,
    /// What reaction points that learn from ACKs have heard in the last period.
    lessons: Option<Vec<Lesson>>,
}

/// The states of a network since its messages last changed.
#[derive(Default)]
pub(super) struct Cycles {
    /// See [`AnyPartition::version`].
    version: [u64; 4],
    /// The connection after whose packets states are seen.
    reference: Option<ConnectionId>,
    /// By state: when it was seen, and the number of events until then.
    seen: HashMap<u64, (Time, u64)>,
    /// The number of events before which there is no other look.
    next: u64,
    /// The run has gone on for a period.
    has_gone_on: bool,
}

impl Cycles {
    /// Looks at the state soon after `now`, a `phase` after a packet, and if it was seen before, lets the run go on to see whether all repeats,
    /// if it ends before `last` and before anything comes from outside the network. About `budget` events may be handled.
    fn find(
        &mut self,
        partition: &mut dyn AnyPartition,
        now: Time,
        phase: Time,
        last: Time,
        budget: u64,
    ) -> Option<Cycle> {
        let most = partition.totals().events.saturating_add(budget);
        let version = partition.version();
        if version != self.version {
            *self = Cycles { version, next: self.next, ..Cycles::default() };
        }
        if partition.totals().events < self.next {
            return None;
        }
        let pulses = partition.pulses();
        let latest = || pulses.iter().max_by_key(|pulse| pulse.sent_at).map(|pulse| pulse.connection);
        self.reference = self.reference.or_else(latest);
        let reference = pulses.iter().find(|pulse| Some(pulse.connection) == self.reference)?;
        let at = reference.sent_at + phase;
        if at < now {
            return None;
        }
        let end = partition.first_external().min(last);
        if at >= end.min(soonest(partition, &pulses, now)) {
            return None;
        }
        go_on(partition, at, most)?;
        let before = partition.pulses();
        let (state, size) = State::of(partition, &before, at);
        let events = partition.totals().events;
        self.next = events + EVENTS_FOR_A_THING * size;
        if self.seen.len() == MOST_STATES {
            self.seen.clear();
        }
        let (earlier, events_then) = self.seen.insert(state.hash(), (at, events))?;
        let period = at - earlier;
        let then = at + period;
        let most_events =
            if steady::learns_from_acks(partition.network()) { MOST_HEARD_EVENTS } else { MOST_EVENTS };
        if events - events_then > most_events || then >= end.min(soonest(partition, &before, at)) {
            return None;
        }
        let counts = partition.counts(true);
        self.has_gone_on = true;
        listen(partition, &before);
        let went_on = go_on(partition, then, most);
        let pulses = partition.pulses();
        let lessons = lessons(partition, &before, &pulses, period);
        went_on?;
        let has_same_events = partition.totals().events - events == events - events_then;
        if !has_same_events || State::of(partition, &pulses, then).0 != state {
            self.seen.clear();
            return None;
        }
        let payload = partition.network().wire.payload;
        let pace = |(before, after): (&Pulse, &Pulse)| {
            let sent = after.sent.checked_sub(before.sent).filter(|sent| *sent > 0 && sent % payload == 0)?;
            (before.connection == after.connection && before.flow == after.flow).then_some(Pace {
                connection: after.connection,
                time: period,
                packets: sent / payload,
                sent_at: after.sent_at,
                is_quiet: true, // the same number of notifications is part of the state
                is_taught: false,
                lived: Time::ZERO,
            })
        };
        let paces = before.iter().zip(&pulses).map(pace).collect::<Option<Vec<Pace>>>()?;
        (before.len() == pulses.len()).then_some(Cycle { now: then, period, pulses, paces, counts, lessons })
    }
}

/// The earliest time at which a message can have sent its last byte.
fn soonest(partition: &dyn AnyPartition, pulses: &[Pulse], now: Time) -> Time {
    let net = partition.network();
    let sent = |pulse: &Pulse| {
        let time = pulse.left as f64 / net.topology.rate(net.data_path(pulse.flow)[0]).bytes_per_ps();
        Time(now.0.saturating_add(time as u64)) // the conversion saturates
    };
    pulses.iter().filter(|pulse| pulse.left != u64::MAX).map(sent).min().unwrap_or(Time::NEVER)
}

/// Lets the run go on to a time; `None` if it has come to its limit of events before.
fn go_on(partition: &mut dyn AnyPartition, to: Time, most: u64) -> Option<()> {
    partition.run_until(to, most.saturating_sub(partition.totals().events));
    (partition.totals().next >= to + partition.carried()).then_some(())
}

impl Cycle {
    /// The number of periods after which each message still has a packet to send, and that end before `end`.
    fn periods(&self, payload: u64, end: Time) -> u64 {
        let left = |(pulse, pace): (&Pulse, &Pace)| match pulse.left {
            u64::MAX => u64::MAX,
            left => (left / payload).saturating_sub(1) / pace.packets,
        };
        let by_messages = self.pulses.iter().zip(&self.paces).map(left).min().unwrap_or(0);
        by_messages.min(end.saturating_sub(self.now).0 / self.period.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message with so many bytes left that sends packets of 1,000 B, `packets` of them in a period of 1 us.
    fn cycle(left: &[(u64, u64)]) -> Cycle {
        let (connection, time) = (ConnectionId(0), Time::from_us(1));
        let pace = |packets: u64| Pace {
            connection,
            time,
            packets,
            sent_at: Time::ZERO,
            is_quiet: false,
            is_taught: false,
            lived: Time::ZERO,
        };
        Cycle {
            now: Time::from_us(10),
            period: time,
            pulses: left.iter().map(|(left, _)| Pulse::of(*left)).collect(),
            paces: left.iter().map(|(_, packets)| pace(*packets)).collect(),
            counts: Counts::default(),
            lessons: None,
        }
    }

    #[test]
    fn a_cycle_is_repeated_while_each_message_has_a_packet_left_after_it() {
        // 25 whole packets, of which one must be left: 24 are four periods of 6. An endless message sets no limit. From 10 us to 13.5 us there
        // are three periods.
        let end = Time::from_us(1_000);
        assert_eq!(cycle(&[(25_500, 6)]).periods(1_000, end), 4);
        assert_eq!(cycle(&[(24_900, 6)]).periods(1_000, end), 3);
        assert_eq!(cycle(&[(25_500, 6), (4_000, 1), (u64::MAX, 1)]).periods(1_000, end), 3);
        assert_eq!(cycle(&[(u64::MAX, 6)]).periods(1_000, Time::from_ns(13_500)), 3);
        assert_eq!(cycle(&[(900, 1)]).periods(1_000, end), 0);
    }
}
