//! Fast-forward: steady states of a run are recognised, and time is carried forward over them.
//!
//! Two clocks: the network's clock goes on from event to event; simulated time is ahead of it by all time that was carried
//! forward ([`crate::ctx::Ctx::carried`]). A jump moves no packet, timer or port. It moves what comes from outside the network
//! (starts and stops of messages, steps of programs, samples, the end of the run) nearer on the network's clock, and takes
//! the bytes that each message would have sent off the message's end. So no scheme, flow control or transport has to know
//! of jumps, and the state of the network stays consistent.
//!
//! - [`history`] looks at all connections eight times in a base RTT.
//! - [`course`] says how fast a connection sends, whether it is steady, and how far that may be extrapolated, by what was seen ([`series`]);
//!   [`steady`] says it of all connections.
//! - [`trial`] tests whether the state of the whole network repeats exactly where all is steady, [`cycle`] finds states that come again where
//!   it is not, and [`rounds`] those that come again although messages have begun and ended; [`state`] and [`signature`] say what that state is.
//! - [`jump`] applies a jump to a partition; [`ports`] has what ports would have sent.
//! - [`anew`] says when nothing can follow any more from what was not exact.
//! - This module decides, and keeps an account of what was skipped and of what kept the run from skipping more.
//!
//! A jump is exact if the state repeats exactly: then the run goes on as it would have without the jump. Reaction points that learn from ACKs
//! hear again in such a jump what they would have heard ([`crate::host::replay`]). Approximate jumps,
//! over rates that swing about a mean or of schemes with a state of their own, come only if no two hosts' messages lead by one port
//! between switches, no credits come at times of their own that such schemes would feel, and as long as no two messages have sent by one port of a
//! host at a time: how messages share a port may hang on single packets, and would go on in another way. If messages share a port after an
//! approximate jump, the account says since when. Where messages share ports they come only if the run asks for
//! that ([`Approximate::Always`]), and make it uncertain from the first of them on.
//!
//! A jump ends before the first thing that changes the state: a message begins, ends or stops, a step, a sample, something breaks or is
//! whole again, routing learns of it, the end of the run. The packets then run again as usual, through the whole transient.

mod account;
mod alike;
mod anew;
mod course;
mod cycle;
mod history;
mod jump;
mod ports;
mod rounds;
mod series;
mod signature;
mod state;
mod steady;
mod trial;
mod unknown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Time;

use account::Account;
pub use account::{FastForwarded, Held, Skips, Span};
use anew::Anew;
pub(super) use anew::Traces;
use cycle::Cycles;
use history::History;
use jump::Since;
pub(super) use jump::{Counts, Jump};
pub(super) use ports::CarriedPorts;
use rounds::Rounds;
pub(super) use signature::Signature;
use steady::Steady;
use trial::Repetition;
pub use unknown::UnknownState;
pub(super) use unknown::is_unknown;

use super::any_partition::AnyPartition;
use super::simulation::Progress;
use super::windows::{End, Windows};
use crate::host::forward::Pulse;
use crate::host::recall::{Recall, Tally};
use crate::network::Network;

/// A reaction point that learns from ACKs gets so many base RTTs of a steady run, in all, until a period comes that repeats exactly; then jumps
/// are approximate too, and the run is uncertain from the first of them on.
const PATIENCE: u64 = 64;

/// Base RTTs of which half may pass while reaction points note what they hear: see [`crate::host::replay`].
const MOST_HEARD: u64 = 48;

/// A jump is at least as long as so many looks at the network: a shorter one gains nothing.
const MIN_LOOKS: u64 = 2;

/// Over which steady states there are jumps that are not exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approximate {
    /// Over none.
    Never,
    /// As long as no two messages of the part have met at a port, and messages of different hosts cannot meet between switches.
    #[default]
    Apart,
    /// Also where messages share ports: how they share a port may hang on single packets, so that the run is uncertain from the first
    /// such jump on. Messages are recalled also where the run cannot vouch for them. Single messages may differ by far more than the tolerance.
    Always,
}

/// What may be skipped of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Relative error of completion times.
    pub tolerance: f64,
    /// Which jumps may be approximate.
    pub approximate: Approximate,
    /// Messages may be recalled.
    pub recalls: bool,
}

/// Fast-forwards a run on one partition.
pub(super) struct FastForward {
    tolerance: f64,
    approximate: Approximate,
    /// The end of the run in simulated time.
    end: Time,
    /// Messages of different hosts cannot meet.
    is_apart: bool,
    history: History,
    cycles: Cycles,
    rounds: Rounds,
    account: Account,
    anew: Anew,
    /// The state did not repeat exactly when that was last tested.
    inexact: Option<Inexact>,
    /// For how long the run still waits for a state that repeats exactly, and when it was last seen to be steady but not exactly.
    patience: Time,
    steady_at: Time,
    /// When the network last became another one, of what was seen.
    changed_at: Time,
    /// Events that may still be handled.
    budget: u64,
}

impl FastForward {
    /// Fast-forwards the run of a partition until `end`, as far as it is allowed.
    pub fn new(allowance: Allowance, end: Time, partition: &dyn AnyPartition) -> FastForward {
        let net = partition.network();
        let Allowance { tolerance, approximate, .. } = allowance;
        FastForward {
            tolerance,
            approximate,
            end,
            is_apart: !steady::may_meet(net, partition.share()),
            history: History::new(net.env.base_rtt),
            cycles: Cycles::default(),
            rounds: Rounds::default(),
            account: Account::new(tolerance),
            anew: Anew::new(net),
            inexact: None,
            patience: if steady::learns_from_acks(net) { net.env.base_rtt * PATIENCE } else { Time::ZERO },
            steady_at: Time::ZERO,
            changed_at: Time::ZERO,
            budget: 0,
        }
    }

    /// The run ends at `end`.
    pub fn go_on_until(&mut self, end: Time) {
        self.end = end;
    }

    /// What was skipped of the run of a partition, with the messages that were recalled.
    pub fn outcome(mut self, partition: &dyn AnyPartition) -> FastForwarded {
        let now = partition.now();
        self.note_change(partition, now);
        let recalled = recalled(partition, now);
        self.note_meeting(partition);
        self.account.outcome(recalled)
    }

    /// Takes note of when messages first met at a port.
    fn note_meeting(&mut self, partition: &dyn AnyPartition) {
        if let Some(at) = partition.recall().and_then(Recall::met) {
            self.account.met(at);
        }
    }

    /// Takes note of what broke, was whole again or became known to routing up to the simulated time `reached`.
    fn note_change(&mut self, partition: &dyn AnyPartition, reached: Time) {
        let net = partition.network();
        let change = net.unchanged_since(reached);
        if change > self.changed_at {
            let first = net.next_change(self.changed_at);
            self.account.changed(first, &recalled(partition, reached));
            self.changed_at = change;
        }
    }

    /// All events before the end of the last window are handled: looks at the network when it is time to, and jumps if everything is
    /// steady and the run is not over.
    fn step(&mut self, partition: &mut dyn AnyPartition, windows: &mut Windows) {
        let reached = windows.limit();
        let now = reached.saturating_sub(partition.carried());
        self.begin_anew(partition, reached);
        if !self.history.is_due(now) || windows.have_all_flows(&partition.totals()) {
            return;
        }
        self.note_change(partition, reached);
        self.note_meeting(partition);
        if partition.recall().is_some_and(Recall::is_all_recalled) {
            return self.account.recalled(reached);
        }
        // Also ACKs that are still to come make a message that meets others: its scheme has yet to learn from them.
        let is_new = self.history.look(now, partition);
        if is_new && !self.account.has_met() && self.history.meet(partition.network(), reached) {
            self.account.met(reached);
        }
        if self.history.has_drawn() {
            self.account.drawn(&recalled(partition, reached));
        }
        let held = match self.try_jump(partition, now) {
            Ok(()) => return,
            Err(held) => held,
        };
        if self.try_round(partition, windows, now) {
            return;
        }
        if !self.try_cycle(partition, now, held) {
            self.account.held(reached, held);
        }
    }

    /// The end of the run on the network's clock, after some time was carried forward.
    fn left(&self, carried: Time) -> Time {
        self.end.before(carried)
    }

    /// Whether jumps may be approximate.
    fn approximates(&self, net: &Network) -> bool {
        let may = match self.approximate {
            Approximate::Never => false,
            Approximate::Apart => self.is_apart && !self.account.has_met(),
            Approximate::Always => true,
        };
        may && steady::feels_no_updates(net)
    }

    fn try_jump(&mut self, partition: &mut dyn AnyPartition, now: Time) -> Result<(), Held> {
        let net = partition.network();
        if is_unknown(net) {
            return Err(Held::Unknown);
        }
        if partition.is_slowed() || steady::holds_times(net) {
            return Err(Held::SharedPacing);
        }
        if steady::draws_by_packet(net) {
            return Err(Held::Chance);
        }
        let reached = now + partition.carried();
        if net.is_restless(reached) {
            return Err(Held::Broken);
        }
        let min = self.history.spacing() * MIN_LOOKS;
        let is_apart = self.is_apart && !self.account.has_met();
        let may_share = self.approximate == Approximate::Always;
        let approximates = self.approximates(net);
        let steady = Steady::of(&self.history, (net, reached), self.tolerance, (approximates, may_share));
        // Chance may hit the next packet, or none of all that a jump skips.
        let by_chance = self.history.is_by_chance();
        let mut steady = steady.map_err(|held| if by_chance { Held::Chance } else { held })?;
        let margin = self.history.spacing();
        let next = partition.first_external().min(self.left(partition.carried()));
        if steady.paces.is_empty() && next == Time::NEVER {
            return Err(Held::NothingSent);
        }
        let outside = next.saturating_sub(now).saturating_sub(margin);
        let completion = steady.completion.saturating_sub(margin);
        let wanted = steady.limit.min(outside).min(completion);
        if wanted < min {
            return Err(match wanted {
                _ if wanted == outside => Held::NextEvent,
                _ if wanted == completion => Held::Completion,
                _ => Held::Drift,
            });
        }
        let has_updates = partition.network().settings.flow_control.update_period().is_some();
        if partition.holds_times() {
            return Err(Held::SharedPacing);
        }
        let pulses = partition.pulses();
        let hear_again = steady::hear_again(partition.network(), &pulses);
        let (now, wanted, repeated) = match self.exact(partition, &mut steady, now, (wanted, min)) {
            Exact::Repeats(Repetition { now, period, counts, .. }, time) => {
                (now, time, Some((period, counts)))
            }
            // An exact pace that does not repeat is that of looks alone, and says nothing of how far it may be extrapolated.
            Exact::GoneOn => return Err(Held::Competing),
            Exact::Known if !steady.paces.is_empty() && !hear_again => return Err(Held::Competing),
            // Where nothing sends, credits would come at other times, by an error that no pace tells.
            Exact::Differs | Exact::Known if steady.paces.is_empty() && has_updates => {
                return Err(Held::NextEvent);
            }
            Exact::Differs | Exact::Known if approximates && hear_again && self.waits(now) => {
                return Err(Held::RatesVary);
            }
            // A notification that is under way changes a rate in the midst of the jump.
            Exact::Differs | Exact::Known
                if approximates && partition.network().has_known_state() && partition.has_notices() =>
            {
                return Err(Held::RatesVary);
            }
            Exact::Differs | Exact::Known if approximates => {
                steady.is_exact = false;
                (now, steady.whole_packets(wanted).ok_or(Held::Competing)?, None)
            }
            Exact::Differs | Exact::Known => return Err(Held::Competing),
        };
        let is_vouched = steady.is_exact || steady::forgets(partition.network());
        if steady.paces.is_empty() && !is_vouched && !self.account.is_uncertain() {
            // What switches do in idle time costs little, and nobody could vouch for what comes after a jump: telemetry, for one, tells of that
            // time.
            return Err(Held::NothingSent);
        }
        if wanted < min && !(hear_again && steady.is_exact) {
            return Err(Held::NextEvent);
        }
        if steady.error(wanted) > self.tolerance {
            return Err(Held::Drift);
        }
        let reached = now + partition.carried();
        let (time, change) = partition.live_through(now, &mut steady.paces, wanted, self.tolerance / 4.0);
        if steady.is_exact && time < wanted {
            // A point changed its rate on the way, so that the jump is no whole number of periods.
            steady.is_exact = false;
            self.account.doubt(reached);
        }
        let error = steady.error(time) + change;
        if error > self.tolerance {
            // Half a packet is more of a jump that a point has cut short.
            self.account.doubt(reached);
        }
        let packets = self.history.packets(&steady.paces, time);
        let since = match &repeated {
            Some((period, counts)) if time.0 % period.0 == 0 => {
                Some(Since { ago: *period, counts, repeats: true })
            }
            _ => self.history.counts(now),
        };
        partition.jump(&Jump { time, paces: &steady.paces, packets: &packets, since });
        self.history.drifted(&steady.trends, time);
        self.history.jumped(partition, packets.iter().copied());
        // What a scheme with a state of its own makes of a jump may be more than the tolerance, unless it has heard what comes in the jump.
        if !is_vouched || !(steady.is_exact || is_apart) {
            self.account.doubt(reached);
        }
        if !steady.is_exact {
            // What is under way when a message stops, at its time, may be more or less than without the jump.
            let stops = |pulse: &Pulse| partition.network().flows.stop(pulse.flow) != Time::NEVER;
            if pulses.iter().any(stops) {
                self.account.doubt(reached);
            }
            partition.note_error(error);
        }
        self.account.jumped(Span { start: reached, length: time, error }, steady.is_exact);
        Ok(())
    }
}

/// What was recalled of a partition's messages up to a simulated time.
fn recalled(partition: &dyn AnyPartition, now: Time) -> Tally {
    partition.recall().map_or_else(Tally::default, |recall| recall.tally(now))
}

/// Whether the state of the network repeats exactly.
enum Exact {
    /// The state repeats, as the run has gone on to see, and a jump of this length may begin.
    Repeats(Repetition, Time),
    /// The state does not repeat, as far as is known.
    Differs,
    /// The state did not repeat, and the run has gone on to see that.
    GoneOn,
    /// The state did not repeat some time ago.
    Known,
}

/// A state that did not repeat exactly.
#[derive(Clone, Copy)]
struct Inexact {
    version: [u64; 4],
    /// When to test again, after this wait.
    until: Time,
    wait: Time,
}

impl FastForward {
    /// Whether the run, which is steady but not exactly, still waits for a state that repeats.
    fn waits(&mut self, now: Time) -> bool {
        let since = now.saturating_sub(self.steady_at).min(self.history.spacing() * MIN_LOOKS);
        self.steady_at = now;
        self.patience = self.patience.saturating_sub(since);
        self.patience > Time::ZERO
    }

    /// Whether the state repeats exactly, and so may be carried forward by at most `wanted`, and at least `min`, from `now` on. Reaction
    /// points that learn from ACKs have then heard all that comes.
    fn exact(
        &mut self,
        partition: &mut dyn AnyPartition,
        steady: &mut Steady,
        now: Time,
        (wanted, min): (Time, Time),
    ) -> Exact {
        let version = partition.version();
        let known = self.inexact.filter(|known| known.version == version);
        if !steady.is_exact {
            return Exact::Differs;
        }
        if known.is_some_and(|known| now < known.until) {
            return Exact::Known;
        }
        // The test takes half of the time at most; and where reaction points note all that they hear, that does not take much memory.
        let most = match steady::learns_from_acks(partition.network()) {
            true => wanted.min(self.history.base_rtt * MOST_HEARD),
            false => wanted,
        };
        let Some(shortest) = steady.period(partition.network(), most / (2 * trial::PERIODS)) else {
            return Exact::Differs;
        };
        if let Some(repetition) = trial::repeats(partition, steady, now, shortest, self.budget) {
            let (left, period) = (wanted.saturating_sub(repetition.now - now), repetition.period);
            let periods = match &repetition.lessons {
                Some(lessons) if period * (left.0 / period.0) >= min => {
                    let periods = partition.replay(lessons, left.0 / period.0);
                    steady.paces.iter_mut().for_each(|pace| pace.is_taught = true);
                    periods
                }
                None if !steady::learns_from_acks(partition.network()) => left.0 / period.0,
                _ => 0,
            };
            if periods > 0 || !steady::learns_from_acks(partition.network()) {
                return Exact::Repeats(repetition, period * periods);
            }
        }
        // What was seen before is past.
        self.history.forget();
        let wait = known.map_or(self.history.spacing() * 4, |known| known.wait + known.wait);
        self.inexact = Some(Inexact { version, until: now + wait, wait });
        Exact::GoneOn
    }
}

/// Runs the only partition through windows until there is a reason to stop, and fast-forwards it.
pub(super) fn alone(
    partition: &mut dyn AnyPartition,
    windows: &mut Windows,
    forward: &mut FastForward,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    loop {
        forward.budget = windows.budget(&partition.totals());
        let before = partition.carried();
        forward.step(partition, windows);
        windows.carry_forward(partition.carried() - before);
        let totals = partition.totals();
        let limit = match windows.next(&totals) {
            Ok(limit) => limit,
            Err(end) => return end,
        };
        if windows.is_time_to_report() && !on_progress(&partition.progress(&totals, windows)) {
            return End::Asked;
        }
        partition.run_until(limit.saturating_sub(partition.carried()), windows.budget(&totals));
    }
}
