//! `fast_forward` in `[run]`: time is carried forward over steady states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_fabric::{Approximate, UnknownState};

use super::check::Checker;
use super::{Queues, Rates, Record, Scenario, States};

/// The largest tolerance: beyond it nothing that a run says of times is worth much.
const MAX_TOLERANCE: f64 = 0.1;

/// Carries time forward over steady states of the run, in which every message sends at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FastForward {
    /// With `false` the run is the one without this table, in which every packet is simulated. Otherwise the table switches fast-forward on, if only as
    /// `fast_forward = {}`.
    pub enabled: bool,
    /// Relative error of completion times that is accepted: above 0, and at most 0.1. A smaller one gives fewer and shorter jumps.
    #[schemars(range(min = 0.0, max = 0.1))]
    pub tolerance: f64,
    /// Which steady states are carried forward that do not repeat exactly: with `never` none, with `apart` those of a run whose messages have not met at
    /// a port, with `always` those of messages that share ports too; and with `always` messages are recalled also where the run cannot vouch for them. There a run skips more, and is
    /// uncertain from the first such jump or message on: single messages may differ by far more than the tolerance.
    pub approximate: Approximate,
    /// Messages that take the same time again and again are recalled, and not simulated. Without that a run skips less; and under schemes that learn from ACKs, where recalled
    /// messages are uncertain, it may be certain of all messages.
    pub recall: bool,
}

impl Default for FastForward {
    fn default() -> Self {
        FastForward { enabled: true, tolerance: 0.01, approximate: Approximate::Apart, recall: true }
    }
}

/// What a record needs every packet for, by its key; `None` for records that a jump may span.
fn needs_packets(record: &Record) -> Option<&'static str> {
    let records = [
        ("packets", record.packets != Queues::None),
        ("breakdown", record.breakdown),
        ("reordering", record.reordering),
        ("roots", record.roots),
        ("notifications", record.notifications),
        ("marks", record.marks),
        ("states", record.states != States::None),
        ("throttles", record.throttles),
        ("variables", record.variables != Rates::None),
    ];
    records.into_iter().find_map(|(key, asked)| asked.then_some(key))
}

/// What has a state that fast-forward does not know; `None` if nothing has.
fn has_unknown_state(s: &Scenario) -> Option<String> {
    let unknown = UnknownState::of(s.host.transport, &s.scheme.signals(), &s.link)?;
    Some(match unknown {
        UnknownState::Uet => "the state of transport `uet`".into(),
        UnknownState::Credits => format!("credits of scheme `{}`", s.scheme.name()),
        UnknownState::Link => "errors and retries of [link]".into(),
    })
}

/// Checks `fast_forward` in `[run]`, and drops it if it is not enabled: all else then sees a run in which every packet is simulated.
pub(super) fn check(c: &mut Checker<'_>, s: &mut Scenario) {
    let Some(FastForward { enabled, tolerance, .. }) = s.run.fast_forward else { return };
    if !(tolerance > 0.0 && tolerance <= MAX_TOLERANCE) {
        let message = format!("`tolerance` in [run.fast_forward] is {tolerance}");
        c.add(
            "run.fast_forward.tolerance",
            message,
            format!("expected a number above 0, at most {MAX_TOLERANCE}"),
        );
    }
    if !enabled {
        s.run.fast_forward = None;
        return;
    }
    if let Some(what) = has_unknown_state(s) {
        c.warnings
            .push(format!("`fast_forward` in [run] skips nothing: no time is carried forward over {what}"));
    }
    if let Some(key) = needs_packets(&s.record) {
        let message =
            format!("`{key}` in [record] needs every packet, and `fast_forward` in [run] skips packets");
        c.add(
            &format!("record.{key}"),
            message,
            format!("expected no `fast_forward`, `enabled = false` in [run.fast_forward], or no `{key}`"),
        );
    }
}
