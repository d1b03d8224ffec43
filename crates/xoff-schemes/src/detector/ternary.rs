//! The three states of an egress queue and how one becomes another (TCD, SIGCOMM 2021, sections 4.1 and 4.2, Figures 6
//! and 9).
//!
//! The machine knows only when the queue was resumed after an OFF; whether PAUSE or a lack of credits stopped the queue
//! makes no difference. The states change as a packet leaves (Figure 9).
//!
//! T_on is the time since the last OFF ended, infinite if there was none. Up to max(T_on) the queue is
//! undetermined. After that a queue whose last state was undetermined is watched, and marks nothing, until its length
//! decides: see [`Rules`] for when. In the other two states the scheme's own marking decides, as in a lossy network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Time;

use crate::signals::Mark;
use crate::traits::PortState;

/// The paper's rules or those of its authors' simulator. They differ in numbers, which are parameters, and in what is
/// listed here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// Figure 9. The first period T begins when max(T_on) has passed. A queue that has grown in a period and is longer
    /// than `high` is congested, a queue of at most `low` is not. Later on a queue is congested once longer than
    /// `high`, and no longer so at `low`.
    #[default]
    Paper,
    /// The released simulator. When max(T_on) has passed the length is compared at once with that at the end of the
    /// OFF: congested unless it has fallen, else periods T begin. A queue that has grown in a period is congested
    /// whatever its length, one of at most `low` is not. Later on each packet decides: congested if it is marked.
    Code,
}

/// The machine's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// max(T_on).
    pub max_on: Time,
    /// T: time between two examinations of the queue's length.
    pub period: Time,
    /// Length up to which a queue is not congested, in bytes.
    pub low: u64,
    /// Length above which a queue may be congested, in bytes ([`Rules::Paper`]).
    pub high: u64,
    /// The minimum growth in a period that counts as one, in bytes.
    pub rise: u64,
}

/// What happens to a packet that leaves.
enum Verdict {
    /// Marked UE.
    Undetermined,
    /// Not marked, since the queue is watched.
    Unmarked,
    /// The scheme's own marking decides, in the congestion state just entered.
    Entered,
    /// The scheme's own marking decides.
    Own,
}

/// The state of an egress queue.
#[derive(Clone, Debug)]
pub struct Ternary {
    rules: Rules,
    limits: Limits,
    state: PortState,
    /// When the last OFF ended; `None` before the first.
    on_since: Option<Time>,
    /// Length at that moment.
    bytes_at_on: u64,
    /// Beginning of the current period, and the length then.
    period_since: Time,
    bytes_at_period: u64,
}

impl Ternary {
    /// A queue that was never stopped.
    pub fn new(rules: Rules, limits: Limits) -> Self {
        Ternary {
            rules,
            limits,
            state: PortState::NonCongestion,
            on_since: None,
            bytes_at_on: 0,
            period_since: Time::ZERO,
            bytes_at_period: 0,
        }
    }

    /// The state as of the last packet that left.
    pub fn state(&self) -> PortState {
        self.state
    }

    /// The machine's numbers.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// An OFF has ended, with `bytes` queued.
    pub fn on_resume(&mut self, now: Time, bytes: u64) {
        self.on_since = Some(now);
        self.bytes_at_on = bytes;
    }

    /// A packet leaves and `bytes` stay behind: its mark. `own` is the scheme's own marking, called only if it decides.
    #[inline]
    pub fn on_dequeue(&mut self, now: Time, bytes: u64, own: impl FnOnce() -> Mark) -> Mark {
        match self.step(now, bytes) {
            Verdict::Undetermined => Mark::Ue,
            Verdict::Unmarked => Mark::None,
            Verdict::Entered => own(),
            Verdict::Own => {
                let mark = own();
                self.state = self.without_off(bytes, mark);
                mark
            }
        }
    }

    /// The state of a queue that is continuously ON.
    fn without_off(&self, bytes: u64, mark: Mark) -> PortState {
        let congested = match self.rules {
            Rules::Paper if self.state == PortState::Congestion => bytes > self.limits.low,
            Rules::Paper => bytes > self.limits.high,
            Rules::Code => mark == Mark::Ce,
        };
        if congested { PortState::Congestion } else { PortState::NonCongestion }
    }

    fn step(&mut self, now: Time, bytes: u64) -> Verdict {
        let Limits { max_on, period, low, high, rise } = self.limits;
        let on = self.on_since.map_or(Time::NEVER, |since| now - since);
        let undetermined = match self.rules {
            Rules::Paper => on < max_on,
            Rules::Code => on <= max_on,
        };
        if undetermined {
            self.state = PortState::Undetermined;
            return Verdict::Undetermined;
        }
        match (self.state, self.rules) {
            (PortState::NonCongestion | PortState::Congestion, _) => return Verdict::Own,
            (PortState::Undetermined, Rules::Code) if bytes >= self.bytes_at_on => return self.congested(),
            (PortState::Undetermined, rules) => {
                self.begin_period(now, bytes);
                self.state = PortState::Released;
                if rules == Rules::Code {
                    return Verdict::Unmarked;
                }
            }
            (PortState::Released, _) if now - self.period_since >= period => {
                let grown = bytes >= self.bytes_at_period.saturating_add(rise);
                if grown && (self.rules == Rules::Code || bytes > high) {
                    return self.congested();
                }
                self.begin_period(now, bytes);
            }
            (PortState::Released, _) => {}
        }
        if bytes <= low {
            self.state = PortState::NonCongestion;
        }
        Verdict::Unmarked
    }

    fn congested(&mut self) -> Verdict {
        self.state = PortState::Congestion;
        Verdict::Entered
    }

    fn begin_period(&mut self, now: Time, bytes: u64) {
        self.period_since = now;
        self.bytes_at_period = bytes;
    }
}
