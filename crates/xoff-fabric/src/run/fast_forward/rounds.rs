//! Rounds: states of the whole network that come again although messages have begun and ended since.
//!
//! Collectives that send their data in chunks, by several channels, do the same with each chunk, whatever meets whatever. So states are looked at a
//! while after each start of a message of one connection, and remembered by one number each. If one comes again, the run goes on for another round,
//! and hears what happens to messages; if the state is the same once more, rounds follow that are the same, as long as the program of the
//! messages goes on in the same way: see [`crate::host::rounds`].
//!
//! Where a scheme has a state of its own, states come again but for some part of a packet. Then rounds between two states that are [`alike`] are skipped in the
//! same way, if jumps may be approximate, and the run is uncertain from then on.

use std::collections::HashMap;

use xoff_engine::Time;

use super::super::any_partition::AnyPartition;
use super::super::partition::Partition;
use super::super::windows::{GRID, Windows};
use super::account::Span;
use super::alike::{Did, Recent, Seen, alike, rounds_by, same};
use super::cycle::{EVENTS_FOR_A_THING, MIN_PHASE, MOST_EVENTS};
use super::jump::{Jump, Since};
use super::state::State;
use super::trial::{lessons, listen};
use super::{Approximate, FastForward, steady};
use crate::host::forward::{Pace, Pulse};
use crate::host::nic::NicScheduler;
use crate::host::recall::Recall;
use crate::host::rounds::{Round, is_of_program};
use crate::ids::{ConnectionId, PortId};
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::settings::FlowControl;

/// Connections under way, in all states that are remembered, at most.
pub(super) const MOST_PULSES: usize = 1 << 18;

/// Events of a round at most in which reaction points note all that they hear, some 90 B for each packet and for each ACK.
const MOST_HEARD_EVENTS: u64 = 1 << 22;

/// Looks come late by so many times the usual time after a start at most.
const MOST_LATE: u64 = 16;

/// Happenings in a jump, which take a second or so: nobody can interrupt the run meanwhile, or see its progress.
const MOST_HAPPENINGS: u64 = 1 << 22;

/// States of a network that tell all of it are looked at before rounds are skipped that are not exactly the same.
const LOOKS_FOR_SAME: usize = 64;

/// Without a start for so many times as long as before, another connection's starts are looked at.
const PATIENCE: u64 = 4;

/// The states that were seen after starts of messages of one connection.
#[derive(Default)]
pub(super) struct Rounds {
    reference: Option<ConnectionId>,
    /// Its last two starts that were seen, in simulated time.
    starts: [Time; 2],
    /// By state, and the number of connections under way in all of them.
    seen: HashMap<u64, Seen>,
    pulses: usize,
    /// The last states that were seen, if jumps may be approximate.
    recent: Recent,
    /// The number of events before which there is no other look, and before which the run does not go on for a round.
    next: u64,
    next_trial: u64,
    /// Rounds for which the run went on in vain, in a row.
    failures: u32,
}

/// Whether messages of a connection may take each other's place.
fn may_repeat(partition: &dyn AnyPartition, reached: Time) -> bool {
    let net = partition.network();
    let hides = super::is_unknown(net)
        || steady::holds_times(net)
        || steady::draws_by_packet(net)
        || steady::hides_order(net)
        || net.is_restless(reached)
        || net.signals.ecn && partition.has_port_states();
    !hides
        && !matches!(net.settings.flow_control, FlowControl::Bfc(_))
        && !partition.is_slowed()
        && partition.may_have_rounds()
}

/// Whether nothing keeps a time now against which a jump would move all else.
fn is_plain(partition: &dyn AnyPartition, pulses: &[Pulse]) -> bool {
    let holds = |pulse: &Pulse| pulse.resends || pulse.ready_at.is_some() || pulse.has_bursts;
    partition.recall().is_some_and(Recall::is_simulating)
        && !partition.holds_times()
        && !partition.has_notices()
        && !pulses.iter().any(holds)
}

/// Whether states may tell all of a network: no scheme has one of its own that does not hear again what comes.
fn tells_all(net: &Network) -> bool {
    net.has_known_state() || steady::learns_from_acks(net)
}

/// Whether all that tells apart how a network goes on is in its state.
fn tells(partition: &dyn AnyPartition, pulses: &[Pulse]) -> bool {
    let net = partition.network();
    (net.has_known_state() || steady::hear_again(net, pulses)) && partition.are_points_settled()
}

impl FastForward {
    /// Jumps over whole rounds, if the network goes through some. Returns whether the run has gone on, by that or to see whether it does.
    pub(super) fn try_round(
        &mut self,
        partition: &mut dyn AnyPartition,
        windows: &mut Windows,
        now: Time,
    ) -> bool {
        let Some((at, last)) = self.next_look(partition, now) else { return false };
        if go_on(partition, windows, at, u64::MAX).is_none() {
            return true;
        }
        let pulses = partition.pulses();
        if !is_plain(partition, &pulses) {
            return true;
        }
        let (events, reached) = (partition.totals().events, at + partition.carried());
        let (started, left) = self.rounds.starts_of(partition);
        let seen = Seen { at: reached, on_clock: at, pulses: pulses.clone(), events, started };
        let payload = partition.network().wire.payload;
        let tells = tells(partition, &pulses);
        let rounds_off = self.rounds_off(partition.network(), &pulses);
        if !tells && !rounds_off {
            return true;
        }
        let (mut size, mut earlier) = (pulses.len() as u64, None);
        if tells {
            let (state, things) = State::between_messages(partition, &pulses, at);
            let (state, before) = (state.hash(), self.rounds.remember(state.hash(), seen.clone()));
            let before = before.filter(|before| same(&before.pulses, &pulses, payload).is_some());
            (size, earlier) = (things, before.map(|before| (before, Some(state))));
        }
        self.rounds.next = events + EVENTS_FOR_A_THING * size;
        if rounds_off {
            earlier = earlier
                .or_else(|| Some((self.rounds.recent.most_alike(&seen, payload, self.tolerance)?, None)));
            self.rounds.recent.remember(seen);
        }
        let Some((earlier, state)) = earlier else { return true };
        let learns = steady::learns_from_acks(partition.network());
        let limit = if learns && state.is_some() { MOST_HEARD_EVENTS } else { MOST_EVENTS };
        let (length, then) = (reached - earlier.at, at + (reached - earlier.at));
        if then >= last
            || events < self.rounds.next_trial
            || !is_worth(
                &earlier,
                (started, left, events),
                most_events(partition.network(), &pulses, length),
                limit,
            )
        {
            return true;
        }
        let jumps =
            self.go_through((partition, windows), (at, length, last), (state, &pulses), events + limit);
        self.history.forget();
        if !jumps {
            // The first rounds may be of messages that are about to be the last.
            self.rounds.failures += 1;
            let events = partition.totals().events - events;
            self.rounds.next_trial = partition.totals().events + (events << self.rounds.failures.min(32));
        }
        true
    }

    /// Whether rounds of a network that are not exactly the same may be skipped.
    fn may_round_off(&self, net: &Network) -> bool {
        // Points of switches would have come to other rates meanwhile.
        let computes = net.signals.congestion_point || net.signals.switch_point;
        self.approximates(net) && !computes
    }

    /// Whether they may be now; of a network of which states tell all, if the run may be uncertain of it and many states have been seen.
    fn rounds_off(&self, net: &Network, pulses: &[Pulse]) -> bool {
        let waits = tells_all(net)
            && (self.approximate != Approximate::Always || self.rounds.seen.len() < LOOKS_FOR_SAME);
        self.may_round_off(net) && !waits && !pulses.iter().any(|pulse| pulse.has_timer)
    }

    /// When the state is to be looked at, and before when a jump ends, on the network's clock, if a message has started since the last look.
    fn next_look(&mut self, partition: &dyn AnyPartition, now: Time) -> Option<(Time, Time)> {
        let (carried, recall) = (partition.carried(), partition.recall()?);
        let has_gone_on = self.history.looks.is_empty();
        let net = partition.network();
        let may_skip = tells_all(net) || self.may_round_off(net);
        if has_gone_on || recall.latest().is_none() || !may_skip || !may_repeat(partition, now + carried) {
            return None;
        }
        let rounds = &mut self.rounds;
        let start = rounds.reference.and_then(|reference| recall.latest_on(reference));
        let start = start.filter(|start| *start > rounds.starts[1]);
        let Some(start) = start else {
            let [before, last] = rounds.starts;
            let interval =
                Time(last.0.checked_sub(before.0).filter(|time| *time > 0).unwrap_or(u64::MAX / PATIENCE));
            let is_over = rounds.reference.is_none_or(|reference| recall.starts_of(reference).1 == 0);
            if is_over || now + carried > last.saturating_add(interval * PATIENCE) {
                let (connection, start) = recall.latest()?;
                *rounds = Rounds { next: rounds.next, next_trial: rounds.next_trial, ..Rounds::default() };
                (rounds.reference, rounds.starts) = (Some(connection), [start; 2]);
            }
            return None;
        };
        rounds.starts = [rounds.starts[1], start];
        let is_time = partition.totals().events >= rounds.next;
        // Looks may come late; but in rounds that are the same they come as late.
        let phase = MIN_PHASE.max(self.history.base_rtt / 2);
        let late = now.saturating_sub(start.saturating_sub(carried)).0.div_ceil(phase.0).next_power_of_two();
        let at = start.saturating_sub(carried) + phase * late;
        let last = partition.first_stated().min(self.left(carried)).saturating_sub(self.history.spacing());
        (is_time && late <= MOST_LATE && at < last).then_some((at, last))
    }

    /// Lets the run go on from a state at a time for a round of some length, and jumps over those that follow and are the same, if they end before a time.
    /// Returns whether it jumped.
    fn go_through(
        &mut self,
        (partition, windows): (&mut dyn AnyPartition, &mut Windows),
        (at, length, last): (Time, Time, Time),
        (state, before): (Option<u64>, &[Pulse]),
        most: u64,
    ) -> bool {
        let (net, then) = (partition.network().clone(), at + length);
        let counts = partition.counts(true);
        let chances = partition.version()[2..].to_vec();
        partition.hear();
        if state.is_some() {
            listen(partition, before);
        }
        let went_on = go_on(partition, windows, then, most);
        let heard = partition.heard();
        let pulses = partition.pulses();
        let lessons = state.and_then(|_| lessons(partition, before, &pulses, length));
        // Nobody has looked meanwhile.
        let reached = then + partition.carried();
        if !self.account.has_met() && steady::meet(&pulses, &net, reached) {
            self.account.met(reached);
        }
        let goes_on = went_on.is_some()
            && is_plain(partition, &pulses)
            && partition.marks() == counts.marks
            && partition.version()[2..] == chances;
        let did = match state {
            _ if !goes_on => None,
            Some(state) if tells(partition, &pulses) => same(before, &pulses, net.wire.payload)
                .filter(|_| State::between_messages(partition, &pulses, then).0.hash() == state)
                .map(|did| (did, 0.0)),
            Some(_) => None,
            None => {
                // Messages may have met meanwhile, or a point may have set a timer.
                self.note_meeting(partition);
                alike((before, at), (&pulses, then), net.wire.payload)
                    .filter(|(_, error)| *error <= self.tolerance / 2.0 && self.rounds_off(&net, &pulses))
            }
        };
        let round = Round::new(&net, heard, at + partition.carried(), length);
        let Some(((did, error), round)) = did.zip(round) else { return false };
        let (ends, allowed) = ((before, &pulses[..]), self.tolerance / 2.0);
        if state.is_none() && !ends_what_it_sends(&round, ends, &did, allowed) {
            return false;
        }
        let Some(mut paces) = paces(&round, ends, &did) else { return false };
        let in_time = last.saturating_sub(then).0 / length.0.max(1);
        let by_error = if state.is_some() { u64::MAX } else { rounds_by(error, self.tolerance) };
        let most = in_time.min(MOST_HAPPENINGS / round.happenings().max(1)).min(by_error);
        let rounds = partition.rounds_ahead(&round, most.min(rounds_of(&pulses, &paces, net.wire.payload)));
        let is_heard = |connection: ConnectionId| {
            before.binary_search_by_key(&connection.0, |pulse| pulse.connection.0).is_ok()
        };
        let rounds = match &lessons {
            _ if rounds == 0 => 0,
            Some(lessons) if round.connections().all(is_heard) => partition.replay(lessons, rounds),
            None if net.has_known_state() || state.is_none() => rounds,
            _ => 0,
        };
        if rounds == 0 {
            return false;
        }
        paces.iter_mut().for_each(|pace| pace.is_taught = lessons.is_some());
        let time = length * rounds;
        let (lives, _) = partition.live_through(then, &mut paces, time, self.tolerance / 4.0);
        debug_assert!(lives == time, "no reaction point has a timer");
        let packets: Vec<u64> = paces.iter().map(|pace| pace.packets_in(time)).collect();
        let start = then + partition.carried();
        let since = Some(Since { ago: length, counts: &counts, repeats: state.is_some() });
        let jump = Jump { time, paces: &paces, packets: &packets, since };
        if !partition.jump_rounds(&round, rounds, &jump) {
            return false;
        }
        if state.is_none() {
            self.account.doubt(start);
            partition.note_error(error);
        }
        let ((started, _), events) = (self.rounds.starts_of(partition), partition.totals().events);
        let seen = Seen { at: start + time, on_clock: then, pulses, events, started };
        self.rounds.jumped(state, seen);
        self.history.jumped(partition, std::iter::empty());
        self.account.jumped(Span { start, length: time, error }, state.is_some());
        true
    }
}

/// The events of a time in which hosts send without a pause: an arrival of each packet and its ACK at each node of their paths.
fn most_events(net: &Network, pulses: &[Pulse], time: Time) -> u64 {
    let path = |pulse: &Pulse| {
        let path = net.data_path(pulse.flow);
        (path[0], path.len() as u64)
    };
    let hosts: HashMap<PortId, u64> = pulses.iter().map(path).collect();
    let frame = |port: PortId| net.topology.rate(port).serialization(net.wire.frame()).0.max(1);
    hosts.iter().map(|(&port, hops)| time.0 / frame(port) * hops * 2).sum()
}

/// Lets the run go on to a time on the network's clock, as it would by itself; `None` if it ends before, or has handled more than `most` events by then.
fn go_on(partition: &mut dyn AnyPartition, windows: &mut Windows, to: Time, most: u64) -> Option<()> {
    let (to, carried) = (to + partition.carried(), partition.carried());
    loop {
        let next = Time((windows.limit().0 / GRID.0 + 1) * GRID.0).min(to);
        // A window that is left in its midst cannot be gone on with.
        partition.run_until(next - carried, windows.budget(&partition.totals()));
        let totals = partition.totals();
        if !windows.reach(next, &totals) || totals.events > most {
            return None;
        }
        if next == to {
            return Some(());
        }
    }
}

/// Whether it is worth a round of `most` events to see that it comes again: that is not beyond a limit, and at most half of what the rounds that are left would take,
/// as what there was between equal states was skipped in part. Messages of the connection have `started`, and others are `left`.
fn is_worth(earlier: &Seen, (started, left, events): (u64, u64, u64), most: u64, limit: u64) -> bool {
    let rounds = left / started.saturating_sub(earlier.started).max(1);
    most <= limit && (events - earlier.events).saturating_mul(rounds) >= 2 * most
}

impl Rounds {
    /// The number of messages of the connection that have started, and that have not.
    fn starts_of(&self, partition: &dyn AnyPartition) -> (u64, u64) {
        self.reference
            .zip(partition.recall())
            .map_or((0, 0), |(reference, recall)| recall.starts_of(reference))
    }

    /// Rounds were jumped over, up to a state that was seen, and is one of these rounds if they are the same.
    fn jumped(&mut self, state: Option<u64>, seen: Seen) {
        let (reference, starts) = (self.reference, [self.starts[0], seen.at]);
        *self = Rounds { reference, starts, ..Rounds::default() };
        match state {
            Some(state) => _ = self.remember(state, seen),
            None => self.recent.remember(seen),
        }
    }

    /// Remembers a state; returns when it was seen before.
    fn remember(&mut self, state: u64, seen: Seen) -> Option<Seen> {
        if self.pulses > MOST_PULSES {
            self.seen.clear();
            self.pulses = 0;
        }
        self.pulses += seen.pulses.len();
        self.seen.insert(state, seen)
    }
}

/// Whether as much of each connection's messages ends in a round as it sends, but for a share: where states are alike, the ends of messages in flight may not be.
fn ends_what_it_sends(round: &Round, (before, after): (&[Pulse], &[Pulse]), did: &[Did], share: f64) -> bool {
    before.iter().zip(after).zip(did).filter(|(_, did)| **did == Did::Turned).all(|((before, after), _)| {
        let (sent, ends) = (after.sent - before.sent, round.payload(after.connection));
        sent.abs_diff(ends) as f64 <= share * sent as f64
    })
}

/// What connections send in a round of which no message starts or ends in it; `None` if one of the others is only a part further.
fn paces(round: &Round, (before, after): (&[Pulse], &[Pulse]), did: &[Did]) -> Option<Vec<Pace>> {
    let mut paces = Vec::new();
    for ((before, after), did) in before.iter().zip(after).zip(did) {
        match (did, round.has(after.connection)) {
            (Did::Turned, _) => {}
            (Did::Sent(_), true) => return None,
            (Did::Sent(packets), false) => paces.push(Pace {
                connection: after.connection,
                time: round.length,
                packets: *packets,
                sent_at: after.sent_at,
                is_quiet: before.notified == after.notified,
                is_taught: false,
                lived: Time::ZERO,
            }),
        }
    }
    Some(paces)
}

/// The number of rounds after which each message that does not end in one still has a packet to send.
fn rounds_of(pulses: &[Pulse], paces: &[Pace], payload: u64) -> u64 {
    let left = |pace: &Pace| {
        let pulse = pulses.iter().find(|pulse| pulse.connection == pace.connection)?;
        (pulse.left != u64::MAX).then(|| (pulse.left / payload).saturating_sub(1) / pace.packets.max(1))
    };
    paces.iter().filter_map(left).min().unwrap_or(u64::MAX)
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// When the next thing comes from outside the network that no program asks for, on the network's clock.
    pub(crate) fn next_stated(&self) -> Time {
        let net = &self.ctx.net;
        self.next_of(|key| !is_of_program(net, key))
    }

    /// Carries time forward over so many rounds; returns whether the program goes through them.
    pub(crate) fn carry_rounds(&mut self, round: &Round, rounds: u64, jump: &Jump<'_>) -> bool {
        let Partition { ctx, links, hosts, .. } = self;
        let before = hosts.before_rounds(ctx, links, round, rounds);
        // Senders have heard by now what comes in all rounds.
        debug_assert!(before.is_some(), "the program goes through as many rounds as it said");
        let Some(before) = before else { return false };
        self.carry_forward(jump);
        if jump.since.is_none_or(|since| !since.repeats) {
            self.carried_ports.add_rounds(&self.ctx.net, round, rounds, self.ctx.simulated());
        }
        let Partition { ctx, links, hosts, .. } = self;
        ctx.counters.delivered_bytes += round.bytes * rounds;
        hosts.after_rounds(ctx, links, round, jump.time, before);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    /// A connection that has sent so many bytes, and of whose message under way so many are left.
    fn pulse(connection: u32, flow: u32, sent: u64, left: u64) -> Pulse {
        Pulse { connection: ConnectionId(connection), flow: FlowId(flow), sent, ..Pulse::of(left) }
    }

    #[test]
    fn a_round_is_gone_through_if_those_that_are_left_take_more() {
        // 2,000 events in two messages of the connection, of which 10 are left: 10,000 events in five rounds. A round with all that was skipped may have half of
        // that.
        let earlier = Seen { events: 7_000, started: 4, ..Seen::default() };
        let is = |most, limit| is_worth(&earlier, (6, 10, 9_000), most, limit);
        assert!(is(5_000, 5_000) && !is(5_001, 6_000) && !is(5_000, 4_999));
    }

    #[test]
    fn a_long_message_keeps_a_packet_after_the_last_round() {
        // 25 whole packets of 25.5 are left, seven of them each round: three rounds, and four packets. An endless one sets no limit.
        let pace = |connection| Pace {
            connection: ConnectionId(connection),
            time: Time::from_us(1),
            packets: 7,
            sent_at: Time::ZERO,
            is_quiet: true,
            is_taught: false,
            lived: Time::ZERO,
        };
        let pulses = [pulse(0, 0, 0, 25_500), pulse(1, 1, 0, u64::MAX), pulse(2, 2, 0, 10)];
        assert_eq!(rounds_of(&pulses, &[pace(0), pace(1)], 1_000), 3);
        assert_eq!(rounds_of(&pulses, &[pace(1)], 1_000), u64::MAX);
    }
}
