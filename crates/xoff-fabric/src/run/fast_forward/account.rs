//! What was skipped, and what kept a run from skipping more.

use xoff_engine::Time;

use crate::host::recall::Tally;

/// Why no time was carried forward at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// Too little was seen since a message last began, completed or stopped.
    Observing,
    /// A connection sends too few packets for its pace to be known.
    FewPackets,
    /// A connection's rate, or the limits that its scheme sets, vary by more than the tolerance allows.
    RatesVary,
    /// Rates or queues drift, so that an extrapolation would soon be wrong.
    Drift,
    /// Connections compete for a link, and their state does not repeat exactly.
    Competing,
    /// A message is about to complete.
    Completion,
    /// A message, a step, a sample, a failure or the end of the run comes soon.
    NextEvent,
    /// Packets draw random numbers: for their ways, or for marks in queues between RED's thresholds.
    Chance,
    /// Packets are sent again, or an earlier message of a connection waits for ACKs.
    Repairs,
    /// Switches, throttles, receivers, or reaction points that connections share keep times of their own.
    SharedPacing,
    /// Transport `uet`, receivers' credits, or errors of all links: their state is not known.
    Unknown,
    /// Something is broken that takes random numbers or keeps times of its own.
    Broken,
    /// Nothing is under way.
    NothingSent,
}

impl Held {
    /// All reasons.
    pub const ALL: [Held; 13] = [
        Held::Observing,
        Held::FewPackets,
        Held::RatesVary,
        Held::Drift,
        Held::Competing,
        Held::Completion,
        Held::NextEvent,
        Held::Chance,
        Held::Repairs,
        Held::SharedPacing,
        Held::Unknown,
        Held::Broken,
        Held::NothingSent,
    ];

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Held::Observing => "too little was seen since a message began or ended",
            Held::FewPackets => "a connection sent too few packets to know its pace",
            Held::RatesVary => "rates varied by more than the tolerance",
            Held::Drift => "rates or queues drifted",
            Held::Competing => "connections competed for a link, and their state did not repeat exactly",
            Held::Completion => "a message was about to complete",
            Held::NextEvent => "a message, a step, a sample, a failure or the run's end was near",
            Held::Chance => {
                "packets drew random numbers, for their ways or for marks in queues between thresholds"
            }
            Held::Repairs => "packets were sent again, or ACKs of an earlier message were missing",
            Held::SharedPacing => {
                "switches, throttles, receivers or shared reaction points keep times of their own"
            }
            Held::Unknown => {
                "transport `uet`, a scheme's credits or [link] have a state over which no time is carried forward"
            }
            Held::Broken => {
                "something was broken that draws random numbers or keeps times of its own: lossy links, babbling NICs, stopped or slow receivers"
            }
            Held::NothingSent => "nothing was under way",
        }
    }
}

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its beginning, in simulated time.
    pub start: Time,
    /// The time that was carried forward.
    pub length: Time,
    /// Estimated relative error of rates over it.
    pub error: f64,
}

/// What was skipped of a part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skips {
    /// See [`FastForwarded::uncertain_from`]: the same for the part's messages alone.
    pub uncertain_from: Option<Time>,
    /// The jumps by their starts.
    jumps: Vec<Span>,
    /// By jump: the lengths of all jumps up to it, and of its own.
    sums: Vec<Time>,
}

impl Skips {
    fn push(&mut self, jump: Span) {
        self.sums.push(self.total() + jump.length);
        self.jumps.push(jump);
    }

    /// Time carried forward in all of them.
    fn total(&self) -> Time {
        self.sums.last().copied().unwrap_or(Time::ZERO)
    }

    /// Time carried forward before a time.
    fn before(&self, at: Time) -> Time {
        let begun = self.jumps.partition_point(|jump| jump.start < at);
        let Some(last) = begun.checked_sub(1) else { return Time::ZERO };
        let Span { start, length, .. } = self.jumps[last];
        self.sums[last] - (start + length).saturating_sub(at)
    }

    /// Time carried forward between two times.
    pub fn between(&self, from: Time, to: Time) -> Time {
        self.before(to).saturating_sub(self.before(from))
    }
}

/// What fast-forward did in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FastForwarded {
    /// The tolerance asked for.
    pub tolerance: f64,
    /// The largest estimated relative error of a jump.
    pub error: f64,
    /// Number of jumps that were not exact.
    pub approximate: u64,
    /// Number of messages that were not simulated, because messages like them always took the same time.
    pub recalled: u64,
    /// Time in which nothing but such messages was under way.
    pub recalled_time: Time,
    /// From then on, times of single messages may differ from those of the plain run by more than the tolerance: a scheme with a
    /// state of its own, or messages that share ports, lived through a jump; or after an approximate jump or recalled messages, data of messages met at a port, or an estimated error exceeds the tolerance.
    pub uncertain_from: Option<Time>,
    /// By part that others cannot affect, and that has jumps of its own: what was skipped of it. All other times are sums over all parts.
    pub parts: Vec<Skips>,
    /// Simulated time that was not skipped, by the reason why not; without reasons of no time.
    pub held: Vec<(Held, Time)>,
}

impl FastForwarded {
    /// Number of jumps.
    pub fn jumps(&self) -> u64 {
        self.parts.iter().map(|part| part.jumps.len() as u64).sum()
    }

    /// Sum of their lengths.
    pub fn skipped(&self) -> Time {
        self.parts.iter().fold(Time::ZERO, |sum, part| sum + part.total())
    }

    /// The jumps of all parts by their starts.
    pub fn jumps_by_start(&self) -> Vec<Span> {
        let mut jumps: Vec<Span> = self.parts.iter().flat_map(|part| &part.jumps).copied().collect();
        jumps.sort_by_key(|jump| jump.start);
        jumps
    }

    /// What was skipped in a run of parts.
    pub(in crate::run) fn of_parts(parts: impl Iterator<Item = FastForwarded>) -> FastForwarded {
        let mut all = FastForwarded::default();
        let mut held = [Time::ZERO; Held::ALL.len()];
        for mut part in parts {
            all.tolerance = part.tolerance;
            all.error = all.error.max(part.error);
            all.approximate += part.approximate;
            all.recalled += part.recalled;
            all.recalled_time += part.recalled_time;
            all.parts.append(&mut part.parts);
            part.held.into_iter().for_each(|(why, time)| held[why as usize] += time);
        }
        all.uncertain_from = all.parts.iter().filter_map(|part| part.uncertain_from).min();
        all.held = with_time(held);
        all
    }
}

/// The reasons with some time.
fn with_time(held: [Time; Held::ALL.len()]) -> Vec<(Held, Time)> {
    let held = Held::ALL.into_iter().map(|why| (why, held[why as usize]));
    held.filter(|(_, time)| *time > Time::ZERO).collect()
}

/// The account while a run goes on.
pub(super) struct Account {
    outcome: FastForwarded,
    skips: Skips,
    held: [Time; Held::ALL.len()],
    /// The end of the last look or jump, in simulated time.
    until: Time,
    has_met: bool,
    /// The start of the first approximate jump since the run was last the plain run, in simulated time.
    approximate_from: Option<Time>,
}

impl Account {
    /// Nothing skipped.
    pub fn new(tolerance: f64) -> Account {
        let outcome = FastForwarded { tolerance, ..FastForwarded::default() };
        let skips = Skips::default();
        Account {
            outcome,
            skips,
            held: [Time::ZERO; Held::ALL.len()],
            until: Time::ZERO,
            has_met: false,
            approximate_from: None,
        }
    }

    /// Nothing was skipped up to `now`.
    pub fn held(&mut self, now: Time, why: Held) {
        self.held[why as usize] += now.saturating_sub(self.until);
        self.until = now;
    }

    /// Whether two messages have sent by one port at a time.
    pub fn has_met(&self) -> bool {
        self.has_met
    }

    /// Two messages met at a port at time `at`.
    pub fn met(&mut self, at: Time) {
        self.has_met = true;
        if let Some(from) = self.approximate_from {
            self.doubt(at.max(from));
        }
    }

    /// Whether something may be wrong since the run was last the plain run.
    pub fn has_erred(&self, recalled: &Tally) -> bool {
        self.approximate_from.is_some() || recalled.recent > 0.0
    }

    /// The run is the plain run again: see [`super::anew`].
    pub fn begin_anew(&mut self) {
        self.approximate_from = None;
    }

    /// A mark hung on chance, some time after the last look: after an approximate jump it may hit another packet than in the plain run.
    pub fn drawn(&mut self, recalled: &Tally) {
        if self.has_erred(recalled) {
            self.doubt(self.until);
        }
    }

    /// Something broke, was whole again, or became known to routing at time `at`: after an approximate jump it may hit another packet than in
    /// the plain run, also of a message that has ended so shortly before that it would not have in the plain run.
    pub fn changed(&mut self, at: Time, recalled: &Tally) {
        if self.has_erred(recalled) {
            let share = (at.0 as f64 * self.outcome.tolerance) as u64;
            self.doubt(Time(at.0 - share));
        }
    }

    /// From `at` on, times of single messages may differ by more than the tolerance.
    pub fn doubt(&mut self, at: Time) {
        self.outcome.uncertain_from = Some(self.outcome.uncertain_from.map_or(at, |from| from.min(at)));
    }

    /// Whether times of single messages may differ by more than the tolerance from some time on.
    pub fn is_uncertain(&self) -> bool {
        self.outcome.uncertain_from.is_some()
    }

    /// Up to `now`, all messages under way were recalled.
    pub fn recalled(&mut self, now: Time) {
        self.outcome.recalled_time += now.saturating_sub(self.until);
        self.until = now;
    }

    /// A jump.
    pub fn jumped(&mut self, span: Span, is_exact: bool) {
        let all = &mut self.outcome;
        if !is_exact {
            all.approximate += 1;
            self.approximate_from.get_or_insert(span.start);
        }
        self.held[Held::Observing as usize] += span.start.saturating_sub(self.until);
        self.until = span.start + span.length;
        all.error = all.error.max(span.error);
        self.skips.push(span);
    }

    /// The account at the end of the run.
    pub fn outcome(mut self, recalled: Tally) -> FastForwarded {
        let from = [self.outcome.uncertain_from, recalled.uncertain_from];
        self.outcome.uncertain_from = from.into_iter().flatten().min();
        self.skips.uncertain_from = self.outcome.uncertain_from;
        self.outcome.parts = vec![self.skips];
        self.outcome.recalled = recalled.messages;
        self.outcome.error = self.outcome.error.max(recalled.error);
        self.outcome.held = with_time(self.held);
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_after_an_error_is_uncertain_from_before_it() {
        // With a tolerance of 1 %, what ends within 0.1 ms before a failure at 10 ms may end after it in the plain run. After exact jumps
        // and recalled messages without an error nothing is in doubt.
        let (at, span) =
            (Time::from_ms(10), Span { start: Time::ZERO, length: Time::from_ms(1), error: 0.0 });
        for (is_exact, error, from_us) in
            [(true, 0.0, None), (false, 0.0, Some(9_900)), (true, 0.001, Some(9_900))]
        {
            let mut account = Account::new(0.01);
            account.jumped(span, is_exact);
            account.changed(at, &Tally { recent: error, ..Tally::default() });
            let outcome = account.outcome(Tally::default());
            assert_eq!(outcome.uncertain_from, from_us.map(Time::from_us), "{is_exact}, {error}");
        }
    }
}
