//! What connections did between two states of a network that are the same, or alike.

use std::collections::VecDeque;

use xoff_engine::Time;

use super::rounds::MOST_PULSES;
use crate::host::forward::Pulse;

/// States that are remembered at most, if they have no more connections under way than may be remembered.
const MOST_STATES: usize = 32;

/// Rounds of a jump at most, and by how many tolerances of what is sent in a round a connection may have come further or less far in all of them.
const MOST_ROUNDS: u64 = 128;
const MOST_FURTHER: f64 = 4.0;

/// A state that was seen.
#[derive(Clone, Default)]
pub(super) struct Seen {
    /// In simulated time, and on the network's clock.
    pub at: Time,
    pub on_clock: Time,
    pub pulses: Vec<Pulse>,
    /// Events, and starts of the connection's messages, so far.
    pub events: u64,
    pub started: u64,
}

/// The last states that were seen.
#[derive(Default)]
pub(super) struct Recent(VecDeque<Seen>);

impl Recent {
    /// Remembers another state.
    pub fn remember(&mut self, seen: Seen) {
        let most = (MOST_PULSES / seen.pulses.len().max(1)).clamp(1, MOST_STATES);
        while self.0.len() >= most {
            self.0.pop_front();
        }
        self.0.push_back(seen);
    }

    /// The state that is most like a later one, of those that are so alike that rounds between them may be skipped; the last one of several.
    pub fn most_alike(&self, seen: &Seen, payload: u64, tolerance: f64) -> Option<Seen> {
        let rounds = |before: &Seen| {
            let later = (&seen.pulses[..], seen.on_clock);
            let (_, error) = alike((&before.pulses, before.on_clock), later, payload)?;
            (error <= tolerance / 2.0).then(|| rounds_by(error, tolerance))
        };
        let all = self.0.iter().filter_map(|before| Some((before, rounds(before)?)));
        all.max_by_key(|(_, rounds)| *rounds).map(|(before, _)| before.clone())
    }
}

/// The number of rounds that may be skipped at a time, if two states differ by an `error`: see [`alike`].
pub(super) fn rounds_by(error: f64, tolerance: f64) -> u64 {
    // The conversion saturates.
    ((MOST_FURTHER * tolerance / error) as u64).min(MOST_ROUNDS)
}

/// What a connection did between two states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Did {
    /// Its messages went on to be as far.
    Turned,
    /// Its message sent so many whole packets.
    Sent(u64),
}

/// What each connection did between two equal states; `None` if one is not as far as it was and sends another message, or not in whole packets.
pub(super) fn same(before: &[Pulse], after: &[Pulse], payload: u64) -> Option<Vec<Did>> {
    let did = |(before, after): (&Pulse, &Pulse)| {
        let sent = after.sent.checked_sub(before.sent)?;
        let goes_on = before.flow == after.flow && sent > 0;
        match goes_on {
            _ if before.connection != after.connection => None,
            true => sent.is_multiple_of(payload).then_some(Did::Sent(sent / payload)),
            false => (before.left == after.left).then_some(Did::Turned),
        }
    };
    (before.len() == after.len()).then(|| before.iter().zip(after).map(did).collect()).flatten()
}

/// What each connection did between two states, each with its time on the network's clock, and by how much the two differ: how much further or less far a
/// connection's message is, and how much more or less of it than a packet is in flight, for each byte that the connection has sent. The largest of these numbers;
/// `None` if others are under way or none at all, or one has sent nothing.
pub(super) fn alike(
    (before, at): (&[Pulse], Time),
    (after, then): (&[Pulse], Time),
    payload: u64,
) -> Option<(Vec<Did>, f64)> {
    let mut largest = 0.0_f64;
    let may_be = before.len() == after.len() && !before.is_empty();
    let did = |(before, after): (&Pulse, &Pulse)| {
        let sent = after.sent.checked_sub(before.sent).filter(|sent| *sent > 0)?;
        // Of the packet on the wire a part is sent.
        let parts = [part_sent(before, at, payload), part_sent(after, then, payload)];
        let difference = |before: u64, after: u64| after as f64 - before as f64;
        let (did, further) = match before.flow == after.flow {
            _ if before.connection != after.connection => return None,
            true => {
                let packets = (sent + payload / 2) / payload;
                (Did::Sent(packets), difference(packets * payload, sent) + parts[1] - parts[0])
            }
            false => (Did::Turned, difference(after.left, before.left) + parts[1] - parts[0]),
        };
        let in_flight = difference(before.sent - before.acked, after.sent - after.acked);
        largest = largest.max(further.abs().max(in_flight.abs() - payload as f64) / sent as f64);
        Some(did)
    };
    let all: Option<Vec<Did>> = may_be.then(|| before.iter().zip(after).map(did).collect()).flatten();
    all.map(|did| (did, largest))
}

/// The bytes of its last packet that a connection has sent by a time, if it sends at its rate.
fn part_sent(pulse: &Pulse, now: Time, payload: u64) -> f64 {
    let since = now.saturating_sub(pulse.sent_at).0 as f64;
    (since * pulse.rate.bytes_per_ps()).min(payload as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConnectionId, FlowId};

    /// A connection that has sent so many bytes, and of whose message under way so many are left.
    fn pulse(connection: u32, flow: u32, sent: u64, left: u64) -> Pulse {
        Pulse { connection: ConnectionId(connection), flow: FlowId(flow), sent, ..Pulse::of(left) }
    }

    #[test]
    fn connections_turn_or_send_whole_packets() {
        // Packets of 1,000 B. Connection 0 sends two messages of 2,500 B, connection 1 sends seven packets of a long one, connection 2 waits.
        let before = [pulse(0, 4, 7_500, 900), pulse(1, 5, 1_000, 90_000), pulse(2, 6, 300, 40)];
        let after = [pulse(0, 8, 12_500, 900), pulse(1, 5, 8_000, 83_000), pulse(2, 6, 300, 40)];
        let did = same(&before, &after, 1_000).expect("a round");
        assert!(matches!(did[..], [Did::Turned, Did::Sent(7), Did::Turned]));
        let others = [
            // Another message, of which less is left; half a packet; another connection; one that has gone back.
            pulse(0, 8, 12_500, 800),
            pulse(0, 4, 8_000, 400),
            pulse(3, 8, 12_500, 900),
            pulse(0, 8, 7_000, 900),
        ];
        for other in others {
            assert!(same(&before, &[other, after[1], after[2]], 1_000).is_none(), "{other:?}");
        }
        assert!(same(&before, &after[..2], 1_000).is_none(), "one more was under way");
    }

    /// The same, at 100 Gbps, 12.5 B a nanosecond, with its last packet sent at a time, and so much in flight.
    fn sending(of: Pulse, sent_at: Time, in_flight: u64) -> Pulse {
        Pulse { sent_at, acked: of.sent - in_flight, ..of }
    }

    #[test]
    fn states_differ_by_how_far_a_message_is_for_each_byte_sent() {
        // Packets of 1,000 B, and states 100 us apart. Connection 0 has sent two messages of 50,000 B and is 20 ns, 250 B, further in its last packet; connection
        // 1 has sent 99 packets and 600 B of a long one, and rounds to 100, of which it is 400 B short. The more of 250 and 400 in 100,000 and 99,600.
        let (at, then) = (Time::from_us(10), Time::from_us(110));
        let before = [
            sending(pulse(0, 4, 70_000, 9_000), at.saturating_sub(Time::from_ns(20)), 5_000),
            sending(pulse(1, 5, 10_000, 900_000), at, 5_000),
        ];
        let first = sending(pulse(0, 6, 170_000, 9_000), then.saturating_sub(Time::from_ns(40)), 5_000);
        let after = [first, sending(pulse(1, 5, 109_600, 800_400), then, 5_000)];
        let (did, error) = alike((&before, at), (&after, then), 1_000).expect("alike");
        assert_eq!(did, [Did::Turned, Did::Sent(100)]);
        assert!((error - 400.0 / 99_600.0).abs() < 1e-9, "{error}");
        // A packet more in flight may be the last one; of three more, 3,000 B, two count.
        let more = [first, sending(pulse(1, 5, 110_000, 800_000), then, 8_000)];
        let (_, error) = alike((&before, at), (&more, then), 1_000).expect("alike");
        assert!((error - 2_000.0 / 100_000.0).abs() < 1e-9, "{error}");
        // A connection that waits all the time, others, or one more.
        let waits = [first, before[1]];
        let other = [first, sending(pulse(2, 5, 109_600, 800_400), then, 5_000)];
        assert!(alike((&before, at), (&waits, then), 1_000).is_none());
        assert!(alike((&before, at), (&other, then), 1_000).is_none());
        assert!(alike((&before[..1], at), (&after, then), 1_000).is_none());
        assert!(alike((&[], at), (&[], then), 1_000).is_none());
    }

    #[test]
    fn rounds_are_between_the_states_that_are_most_alike() {
        // 10,000 B in each 10 us. With 5,008 B left in the last state, those before it had 2 B more of 30,000 sent since, 4 B less of 20,000, and 8 B less of
        // 10,000: 0.007, 0.02 and 0.08 %. That is for at most 128, for 128 and for 50 rounds, and the later one of the first two is closer.
        let state = |number: u64, left: u64| {
            let pulse = pulse(0, number as u32, 10_000 * (number + 1), left);
            let at = Time::from_us(10) * number;
            Seen { on_clock: at, pulses: vec![sending(pulse, at, 0)], started: number, ..Seen::default() }
        };
        let mut recent = Recent::default();
        for (number, left) in [(0, 5_010), (1, 5_004), (2, 5_000)] {
            recent.remember(state(number, left));
        }
        let found = |left| recent.most_alike(&state(3, left), 1_000, 0.01).map(|state| state.started);
        assert_eq!(found(5_008), Some(1));
        // The last one itself, if it is as much like this one as any.
        assert_eq!(found(5_000), Some(2));
        // 0.6 % of 30,000, and more of less, is more than half of the tolerance.
        assert_eq!(found(5_190), None);
        assert_eq!((rounds_by(0.0008, 0.01), rounds_by(0.0, 0.01)), (50, MOST_ROUNDS));
    }

    #[test]
    fn few_states_of_many_connections_are_remembered() {
        let state =
            |started| Seen { pulses: vec![Pulse::of(1); MOST_PULSES / 4], started, ..Seen::default() };
        let mut recent = Recent::default();
        (0..9).for_each(|started| recent.remember(state(started)));
        assert_eq!(recent.0.iter().map(|seen| seen.started).collect::<Vec<_>>(), [5, 6, 7, 8]);
        recent.remember(Seen { pulses: vec![Pulse::of(1); MOST_PULSES + 1], ..Seen::default() });
        assert_eq!(recent.0.len(), 1);
        (0..99).for_each(|_| recent.remember(Seen { pulses: vec![Pulse::of(1)], ..Seen::default() }));
        assert_eq!(recent.0.len(), MOST_STATES);
    }
}
