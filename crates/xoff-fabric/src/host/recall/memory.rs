//! What messages took whose like may come again: those of one connection and one size.
//!
//! Messages are alike if they took the same time in a row, but for an eighth of the tolerance, and if none of those before them
//! that were left alone took a time that differs by more than the tolerance, ACKs of others apart: what was once may come again. A message that is recalled
//! is not simulated, so after some of them the next ones are simulated again, and must still take that time: after 16 recalled
//! messages the first time, and then after twice as many each time.
//!
//! Under schemes with a state of their own times swing a little by themselves, and the run is uncertain from the first recalled message on: there
//! messages are alike that differ by half of the tolerance, whatever the messages before them took; and the first message that is simulated again,
//! whose scheme has learned nothing for long, says nothing of the others.

use std::collections::HashMap;

use xoff_engine::Time;

use crate::ids::ConnectionId;

/// So many simulated messages in a row must agree before the next one is recalled.
const AGREE: u32 = 3;

/// Recalled messages before the first that is simulated again.
pub(super) const PATIENCE: u32 = 16;

/// So often may messages have failed to be recalled that would have been under a scheme with a state of its own: see [`Memory::is_unsteady`].
const MOST_FAILED: u32 = 8;

/// Messages agree if they differ by less than the tolerance over this.
const SHARE: f64 = 8.0;

/// The same under schemes with a state of their own.
const SHARE_OF_UNKNOWN: f64 = 2.0;

/// Messages that may be alike: their connection and size.
pub(crate) type Like = (ConnectionId, u64);

/// What a message took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Taken {
    /// Time from its start, or from its turn on its connection under schemes with a state of their own, to the arrival of its last byte.
    pub delivered: Time,
    /// The same to its last ACK.
    pub sent: Time,
    /// Share of its ports' time that ACKs of other messages may have taken.
    pub acks: f64,
    /// How long its last ACK may have waited for data.
    pub waits: Time,
    /// Time from the moment when the data of the message ahead of it on its connection were sent to its start, ps; [`CLEAR`](super::traffic::CLEAR) if that message was over.
    pub slack: i64,
}

impl Taken {
    /// The same by a time later.
    pub fn later(self, by: Time) -> Taken {
        Taken { delivered: self.delivered + by, sent: self.sent + by, ..self }
    }

    /// A share of its time until the last byte.
    pub fn share(&self, share: f64) -> Time {
        Time((self.delivered.0 as f64 * share) as u64)
    }

    /// How much another message's time differs, relative to this one's.
    fn time_differs(&self, other: &Taken) -> f64 {
        let of = |a: Time, b: Time| a.0.abs_diff(b.0) as f64 / a.0.max(1) as f64;
        of(self.delivered, other.delivered).max(of(self.sent, other.sent))
    }

    /// How much another message's time differs, and how much that may be due to other ACKs. A scheme with a state of its own makes of those
    /// what it does, so that its times alone say whether messages are alike.
    fn differs(&self, other: &Taken, is_known: bool) -> f64 {
        let acks = if is_known { (self.acks - other.acks).abs() } else { 0.0 };
        self.time_differs(other).max(acks)
    }

    /// What the message would have taken without the ACKs of others; of a scheme with a state of its own, which nobody knows, what it took.
    fn without_acks(&self, is_known: bool) -> Taken {
        if !is_known {
            return *self;
        }
        let of = |time: Time| Time((time.0 as f64 * (1.0 - self.acks.clamp(0.0, 1.0))) as u64);
        Taken { delivered: of(self.delivered), sent: of(self.sent), acks: 0.0, ..*self }
    }
}

/// What is known of messages that may be alike.
#[derive(Clone)]
struct Known {
    last: Taken,
    /// Simulated messages in a row that agree.
    agreed: u32,
    /// How often messages failed to be recalled that would have been under a scheme with a state of its own, since one was recalled.
    failed: u32,
    /// The least and the most time that a message like these ever took, without the ACKs of others.
    least: Taken,
    most: Taken,
    /// The latest of them was simulated in this epoch.
    epoch: u32,
    /// Recalled messages since, and how many there may be.
    recalled: u32,
    patience: u32,
    /// When the first of those started.
    since: Time,
    /// A message was simulated after those.
    is_awake: bool,
    /// See [`Memory::is_known`].
    is_known: bool,
}

impl Known {
    /// By how much a message's time may differ from the last one's, as far as is known, ACKs of others apart.
    fn spread(&self) -> f64 {
        let last = self.last.without_acks(self.is_known);
        last.time_differs(&self.least).max(last.time_differs(&self.most))
    }

    /// A message like these took a time.
    fn reach(&mut self, taken: Taken) {
        let Taken { delivered, sent, slack, .. } = taken.without_acks(self.is_known);
        let (least, most) = (&mut self.least, &mut self.most);
        (least.delivered, least.sent) = (least.delivered.min(delivered), least.sent.min(sent));
        (most.delivered, most.sent) = (most.delivered.max(delivered), most.sent.max(sent));
        least.slack = least.slack.min(slack);
    }
}

/// What messages took. Once messages have been recalled for long, an epoch of their component ends: all must be simulated again.
pub(crate) struct Memory {
    tolerance: f64,
    /// By how much messages that agree may differ.
    quota: f64,
    /// The scheme has no state that messages would change: what was once may come again.
    is_known: bool,
    known: HashMap<Like, Known>,
}

/// The estimated error of a message, and of those that were recalled since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Doubt {
    pub error: f64,
    pub since: Time,
    /// It says something of the recalled messages too.
    pub is_of_recalled: bool,
}

impl Memory {
    /// Nothing is known yet of the messages of a scheme, whose state `is_known` or which has one of its own.
    pub fn new(tolerance: f64, is_known: bool) -> Memory {
        let quota = tolerance / if is_known { SHARE } else { SHARE_OF_UNKNOWN };
        Memory { tolerance, quota, is_known, known: HashMap::new() }
    }

    /// What is known is past: the network has changed.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// How long messages like this one took until their last ACK; zero if none is known.
    pub fn lasts(&self, like: Like) -> Time {
        self.known.get(&like).map_or(Time::ZERO, |known| known.last.sent)
    }

    /// By how much messages that agree may differ.
    pub fn quota(&self) -> f64 {
        self.quota
    }

    /// The part of a time by which messages may differ from their like.
    pub fn margin(&self, time: Time) -> Time {
        Time((time.0 as f64 * self.quota) as u64)
    }

    /// Whether messages like this one took the same time in a row; in this `epoch` too, unless `None` says that before it is
    /// enough.
    pub fn is_ready(&self, like: Like, epoch: Option<u32>) -> bool {
        let is_of = |k: &Known| epoch.is_none_or(|epoch| k.epoch == epoch);
        self.known.get(&like).is_some_and(|k| self.is_agreed(k) && is_of(k))
    }

    fn is_agreed(&self, known: &Known) -> bool {
        known.agreed >= AGREE && known.spread() <= self.tolerance
    }

    /// What a message is expected to take that is simulated although messages like it took the same time in a row, and by how much that may
    /// be wrong.
    pub fn expected(&self, like: Like) -> Option<(Taken, f64)> {
        let known = self.known.get(&like).filter(|known| self.is_agreed(known))?;
        Some((known.last, known.spread()))
    }

    /// Whether a message like this one, of a scheme with a known state, begins as late after the data of the one ahead of it as messages like it did that were simulated, but for half
    /// of the tolerance. One that begins earlier might begin before those data are sent in the plain run, where times differ a little.
    pub fn is_as_late(&self, like: Like, slack: i64) -> bool {
        let Some(known) = self.known.get(&like).filter(|_| self.is_known) else { return true };
        let margin = (known.last.sent.0 as f64 * self.tolerance / 2.0) as i64;
        slack >= known.least.slack.saturating_sub(margin)
    }

    /// The earliest start of a message that was recalled, and whose like were not simulated since.
    pub fn recalled_since(&self) -> Option<Time> {
        self.known.values().filter(|known| known.recalled > 0).map(|known| known.since).min()
    }

    /// Whether messages like this one have often failed to be recalled that would have been under a scheme with a state of its own.
    pub fn is_unsteady(&self, like: Like) -> bool {
        self.known.get(&like).is_some_and(|known| known.failed >= MOST_FAILED)
    }

    /// Messages like this one agree, but it is not recalled for what is ahead of it on its connection. Returns whether such messages are unsteady now.
    pub fn note_hindered(&mut self, like: Like) -> bool {
        let known = self.known.get_mut(&like).filter(|known| known.agreed >= AGREE);
        known.is_some_and(|known| {
            known.failed += 1;
            known.failed >= MOST_FAILED
        })
    }

    /// Whether so many messages like this one were recalled that it is time to simulate again.
    pub fn is_stale(&self, like: Like) -> bool {
        self.known.get(&like).is_some_and(|k| k.recalled >= k.patience)
    }

    /// By how much a message like these may be wrong that was recalled, as its last ACK, or that of the one whose time it took, may have waited for so long: no one says for how
    /// much of it.
    pub fn waiting_error(&self, like: Like, waits: Time) -> f64 {
        let Some(known) = self.known.get(&like) else { return 0.0 };
        waits.max(known.last.waits).0 as f64 / known.last.sent.0.max(1) as f64
    }

    /// Recalls a message that starts `now`: what it takes, and by how much that may be wrong.
    pub fn recall(&mut self, like: Like, now: Time) -> Option<(Taken, f64)> {
        let known = self.known.get_mut(&like)?;
        if known.recalled == 0 {
            known.since = now;
        }
        known.recalled += 1;
        known.failed = 0;
        known.is_awake = false;
        Some((known.last, known.spread()))
    }

    /// Learns that a message took a time, of which the next ones are not to make a new one: only that some may take as long.
    pub fn witness(&mut self, like: Like, taken: Taken) {
        if let Some(known) = self.known.get_mut(&like) {
            known.reach(taken);
        }
    }

    /// A message took a time of which the next ones are not to learn, since nobody knows why it did. If others were recalled before and took another time,
    /// their error is returned.
    pub fn compare(&self, like: Like, taken: &Taken) -> Option<Doubt> {
        let known = self.known.get(&like).filter(|known| known.recalled > 0)?;
        Some(Doubt {
            error: known.last.differs(taken, self.is_known),
            since: known.since,
            is_of_recalled: true,
        })
    }

    /// Learns what a simulated message took in an `epoch`; `None` if it met others or was not left alone, so that the next one may take
    /// another time. If others were recalled before and took another time, their error is returned.
    pub fn learn(&mut self, like: Like, taken: Option<Taken>, epoch: u32) -> Option<Doubt> {
        let Some(taken) = taken else {
            let known = self.known.get_mut(&like)?;
            known.agreed = 0;
            return None;
        };
        let first = Known {
            last: taken,
            agreed: 0,
            failed: 0,
            least: taken.without_acks(self.is_known),
            most: taken.without_acks(self.is_known),
            epoch,
            recalled: 0,
            patience: PATIENCE,
            since: Time::ZERO,
            is_awake: true,
            is_known: self.is_known,
        };
        let known = self.known.entry(like).or_insert_with(|| first.clone());
        let error = known.last.differs(&taken, self.is_known);
        let was_asleep = !self.is_known && !std::mem::replace(&mut known.is_awake, true);
        let doubt = Doubt { error, since: known.since, is_of_recalled: !was_asleep };
        let doubt = (known.recalled > 0).then_some(doubt);
        if was_asleep {
            return doubt;
        }
        if error > self.quota {
            (known.agreed, known.patience) = (1, PATIENCE);
            known.failed += u32::from(error <= self.tolerance / SHARE_OF_UNKNOWN);
            if !self.is_known {
                (known.least, known.most) = (first.least, first.most);
            }
        } else {
            known.patience =
                if known.recalled > 0 { known.patience.saturating_mul(2) } else { known.patience };
            known.agreed += 1;
        }
        known.reach(taken);
        (known.last, known.epoch, known.recalled) = (taken, epoch, 0);
        doubt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::recall::traffic::CLEAR;

    const LIKE: Like = (ConnectionId(1), 1_000);

    fn taken(ns: u64) -> Option<Taken> {
        Some(Taken {
            delivered: Time::from_ns(ns - 100),
            sent: Time::from_ns(ns),
            acks: 0.0,
            waits: Time::ZERO,
            slack: CLEAR,
        })
    }

    #[test]
    fn messages_that_only_a_scheme_with_a_state_of_its_own_would_recall_are_unsteady_in_the_end() {
        // A tolerance of 1 % allows 0.125 %, and under schemes with a state of their own 0.5 %. 10,030 ns are 0.3 % more than 10,000: the second message fails first, and
        // the ninth is the eighth that does.
        let mut memory = Memory::new(0.01, true);
        for number in 0..9 {
            assert!(!memory.is_unsteady(LIKE), "{number}");
            memory.learn(LIKE, taken([10_000, 10_030][number % 2]), 0);
        }
        assert!(memory.is_unsteady(LIKE));
        // 10,100 ns are 1 % more: nobody would recall such messages.
        let mut memory = Memory::new(0.01, true);
        (0..20).for_each(|number| _ = memory.learn(LIKE, taken([10_000, 10_100][number % 2]), 0));
        assert!(!memory.is_unsteady(LIKE));
    }

    #[test]
    fn messages_that_are_hindered_eight_times_in_a_row_are_unsteady() {
        let mut memory = Memory::new(0.01, true);
        (0..2).for_each(|_| _ = memory.learn(LIKE, taken(10_000), 0));
        // Two do not make a third, whatever is ahead of it.
        assert!((0..20).all(|_| !memory.note_hindered(LIKE)));
        memory.learn(LIKE, taken(10_000), 0);
        assert!((0..7).all(|_| !memory.note_hindered(LIKE)));
        // One that is recalled begins the count anew.
        assert!(memory.recall(LIKE, Time::from_us(70)).is_some());
        assert!((0..7).all(|_| !memory.note_hindered(LIKE)));
        assert!(memory.note_hindered(LIKE));
    }

    #[test]
    fn what_was_recalled_since_its_like_were_simulated_is_known() {
        // Messages of two connections are recalled from 70 and from 50 us on; then one of the second is simulated, and agrees.
        let other = (ConnectionId(2), 1_000);
        let mut memory = Memory::new(0.01, true);
        for like in [LIKE, other] {
            (0..3).for_each(|_| _ = memory.learn(like, taken(10_000), 0));
        }
        assert_eq!(memory.recalled_since(), None);
        for (like, at) in [(LIKE, 70), (other, 50), (LIKE, 90)] {
            assert!(memory.recall(like, Time::from_us(at)).is_some());
        }
        assert_eq!(memory.recalled_since(), Some(Time::from_us(50)));
        memory.learn(other, taken(10_000), 0);
        assert_eq!(memory.recalled_since(), Some(Time::from_us(70)));
    }

    #[test]
    fn three_messages_in_a_row_make_a_fourth() {
        // A tolerance of 1 % allows differences of 0.125 %: 10,000 ns and up to 10,012 ns agree, 10,013 ns do not.
        let mut memory = Memory::new(0.01, true);
        for (ns, ready) in [
            (10_000, false),
            (10_012, false),
            (10_000, true),
            (10_013, false),
            (10_013, false),
            (10_013, true),
        ] {
            memory.learn(LIKE, taken(ns), 0);
            assert_eq!(memory.is_ready(LIKE, Some(0)), ready, "{ns}");
        }
        assert!(!memory.is_ready((ConnectionId(1), 1_001), Some(0)), "another size");
        // 10,200 ns are 2 % more: once a message took that long, another one may, also after three that took less.
        for ns in [10_200, 10_000, 10_000, 10_000] {
            memory.learn(LIKE, taken(ns), 0);
        }
        assert!(!memory.is_ready(LIKE, Some(0)));
        let mut memory = Memory::new(0.02, true);
        [10_150, 10_000, 10_000, 10_000].into_iter().for_each(|ns| {
            memory.learn(LIKE, taken(ns), 0);
        });
        // Less than the tolerance is an estimated error.
        assert!(memory.is_ready(LIKE, Some(0)));
        let (_, spread) = memory.recall(LIKE, Time::ZERO).expect("known");
        assert!((spread - 150.0 / 9_900.0).abs() < 1e-9, "{spread}");
        // One that met another message ends the row.
        memory.learn(LIKE, None, 0);
        assert!(!memory.is_ready(LIKE, None));
    }

    #[test]
    fn schemes_with_a_state_of_their_own_agree_by_half_of_the_tolerance() {
        // A tolerance of 1 % allows differences of 0.5 %: 49 ns of the 9,900 until the last byte, and not 50. The first message, which took 2 % more, does not count any more as
        // soon as another row begins.
        let mut memory = Memory::new(0.01, false);
        for (ns, ready) in [
            (10_200, false),
            (10_000, false),
            (10_049, false),
            (10_000, true),
            (10_050, false),
            (10_050, false),
            (10_050, true),
        ] {
            memory.learn(LIKE, taken(ns), 0);
            assert_eq!(memory.is_ready(LIKE, Some(0)), ready, "{ns}");
        }
        // A message that is simulated after recalled ones finds a scheme that has learned nothing for long: that its last byte takes 205 ns of 9,950 more is its own error, and
        // says nothing of them. The second one does.
        memory.recall(LIKE, Time::from_us(100));
        for (ns, error, is_of_recalled) in [(10_255, 205.0 / 9_950.0, false), (10_050, 0.0, true)] {
            let doubt = memory.learn(LIKE, taken(ns), 1).expect("recalled");
            assert_eq!(doubt.is_of_recalled, is_of_recalled);
            assert!((doubt.error - error).abs() < 1e-9, "{ns}: {}", doubt.error);
        }
        assert!(memory.is_ready(LIKE, Some(1)));
    }

    #[test]
    fn what_a_message_took_beside_recalled_ones_is_a_part_of_the_spread() {
        // 50 ns of 9,900 until its last byte are 0.5 %, more than messages may differ that agree, but not more than the tolerance. 200 ns are.
        let mut memory = Memory::new(0.01, true);
        (0..3).for_each(|_| assert_eq!(memory.learn(LIKE, taken(10_000), 0), None));
        memory.witness(LIKE, taken(10_050).expect("a time"));
        let (_, spread) = memory.expected(LIKE).expect("known");
        assert!((spread - 50.0 / 9_900.0).abs() < 1e-9, "{spread}");
        memory.witness(LIKE, taken(10_200).expect("a time"));
        assert_eq!(memory.expected(LIKE), None);
    }

    #[test]
    fn a_last_ack_that_may_have_waited_is_an_error() {
        // Messages of 10,000 ns whose last ACK may have waited for one frame of 80 ns, or not at all: with two frames a recalled one may take 160 ns less or more, with none 80 ns.
        let mut memory = Memory::new(0.01, true);
        let ns = Time::from_ns;
        let message = taken(10_000).map(|taken| Taken { waits: ns(80), ..taken });
        (0..3).for_each(|_| assert_eq!(memory.learn(LIKE, message, 0), None));
        for (waits, error) in [(160, 0.016), (80, 0.008), (0, 0.008)] {
            assert!((memory.waiting_error(LIKE, ns(waits)) - error).abs() < 1e-12, "{waits}");
        }
    }

    #[test]
    fn messages_begin_as_late_after_data_ahead_of_them_as_others_did() {
        // Messages of 10,000 ns began 300 ns after the data of the one ahead of them were sent, or later: half of a tolerance of 1 % less are 250 ns. Under a scheme with a state of
        // its own, where nothing is certain, any time will do.
        for is_known in [true, false] {
            let mut memory = Memory::new(0.01, is_known);
            for slack in [300_000, 400_000, CLEAR] {
                memory.learn(LIKE, taken(10_000).map(|taken| Taken { slack, ..taken }), 0);
            }
            assert!(memory.is_as_late(LIKE, 250_000));
            assert_eq!(memory.is_as_late(LIKE, 249_999), !is_known);
        }
    }

    #[test]
    fn acks_of_others_take_part_in_the_difference() {
        // ACKs that take 0.2 % more of a port's time are another pattern.
        let mut memory = Memory::new(0.01, true);
        let with = |acks| taken(10_000).map(|t| Taken { acks, ..t });
        [0.0, 0.0, 0.0].into_iter().for_each(|acks| {
            memory.learn(LIKE, with(acks), 0);
        });
        assert!(memory.is_ready(LIKE, Some(0)));
        memory.learn(LIKE, with(0.002), 0);
        assert!(!memory.is_ready(LIKE, Some(0)));
    }

    #[test]
    fn a_time_that_acks_of_others_explain_does_not_come_again_without_them() {
        // 10,400 ns, of which other ACKs took 4 %, are 9,984 ns without them, 0.16 % less than 10,000 ns: less than the tolerance of 1 %, and
        // an estimated error. Where they explain nothing, 4 % are more than the tolerance, and may come again.
        for (acks, ready) in [(0.04, true), (0.0, false)] {
            let mut memory = Memory::new(0.01, true);
            memory.learn(
                LIKE,
                Some(Taken {
                    delivered: Time::from_ns(10_400),
                    sent: Time::from_ns(10_400),
                    acks,
                    waits: Time::ZERO,
                    slack: CLEAR,
                }),
                0,
            );
            for _ in 0..3 {
                memory.learn(LIKE, taken(10_000).map(|t| Taken { delivered: t.sent, ..t }), 0);
            }
            assert_eq!(memory.is_ready(LIKE, Some(0)), ready);
            let (_, spread) = memory.recall(LIKE, Time::ZERO).expect("known");
            assert!((spread - if ready { 0.0016 } else { 0.04 }).abs() < 1e-9, "{spread}");
        }
    }

    #[test]
    fn recalled_messages_are_simulated_again_after_16_and_then_32() {
        let mut memory = Memory::new(0.01, true);
        (0..3).for_each(|_| assert_eq!(memory.learn(LIKE, taken(10_000), 0), None));
        for (epoch, patience) in [(1, 16), (2, 32)] {
            for i in 0..patience {
                assert!(!memory.is_stale(LIKE), "{i}");
                memory.recall(LIKE, Time::from_us(100 + i));
            }
            assert!(memory.is_stale(LIKE));
            assert!(!memory.is_ready(LIKE, Some(epoch)) && memory.is_ready(LIKE, None));
            // 10,005 ns instead of 10,000: those that were recalled since 100 us may be wrong by 0.05 %.
            let doubt = memory.learn(LIKE, taken(if patience == 16 { 10_005 } else { 10_000 }), epoch);
            let doubt = doubt.expect("recalled");
            assert!((doubt.error - 5.0 / if patience == 16 { 10_000.0 } else { 10_005.0 }).abs() < 1e-4);
            assert_eq!(doubt.since, Time::from_us(100));
            assert!(memory.is_ready(LIKE, Some(epoch)));
        }
    }
}
