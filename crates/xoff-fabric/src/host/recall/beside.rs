//! Messages that are simulated beside recalled ones, as a component changes from being simulated to being recalled, or back.
//!
//! ACKs of the recalled messages are not there, nor are their data, so a message takes less time than it would have taken: by several percent if
//! it is short. But messages like it took the same time in a row. So where its time falls short of theirs, and by no more than what was
//! not there explains, it is held: it counts as delivered, and then as acknowledged, when they would have been. Where its time differs otherwise, it is left as
//! it is, and what was not there is its estimated error.

use std::collections::HashMap;

use xoff_engine::Time;

use super::memory::Taken;
use super::{Fate, Recall};
use crate::ids::FlowId;
use crate::network::Network;
use crate::observe::records::FlowOutcome;

/// A message under way that is simulated although messages like it took the same time in a row.
#[derive(Clone, Copy)]
struct Expected {
    taken: Taken,
    /// By how much messages like it differed.
    spread: f64,
    /// It is delivered later than its last byte arrived, for so long after its start.
    delivered: Option<Time>,
    /// It is acknowledged later than its last ACK arrived.
    is_held: bool,
}

/// The messages that are simulated beside recalled ones.
#[derive(Default)]
pub(super) struct Beside {
    expected: HashMap<FlowId, Expected>,
    /// What is to be said of messages that are held after their last ACK, and what happened to them.
    held: HashMap<FlowId, (FlowOutcome, Fate)>,
}

impl Beside {
    /// A message starts that is expected to take as long as messages like it, and by how much they differed.
    pub fn begin(&mut self, flow: FlowId, (taken, spread): (Taken, f64)) {
        self.expected.insert(flow, Expected { taken, spread, delivered: None, is_held: false });
    }

    /// Messages are held.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty() || self.expected.values().any(|expected| expected.delivered.is_some())
    }

    /// A message is over; returns by how much it may be wrong if it was held.
    pub fn end(&mut self, flow: FlowId) -> Option<f64> {
        let expected = self.expected.remove(&flow)?;
        (expected.is_held || expected.delivered.is_some()).then_some(expected.spread)
    }
}

/// How much longer a message is to take that `took` a time, and that might have taken as much longer as it `missed`; messages like it took the `known` time, and
/// may differ by a `margin`. `None` if it is left as it is: it missed next to nothing, or its time differs from theirs by something else.
fn held_for(known: Time, took: Time, missed: Time, margin: Time) -> Option<Time> {
    let explains = missed > margin && took <= known + margin && known <= took + missed + margin;
    explains.then(|| known.saturating_sub(took))
}

impl Recall {
    /// A message's last byte has arrived: for how long its delivery is held, if it is.
    pub(super) fn hold_delivery(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<Time> {
        let expected = self.beside.expected.get_mut(&flow).filter(|it| it.delivered.is_none())?;
        let (life, missed) = self.traffic.missed(net, flow, now, false)?;
        let known = expected.taken.delivered;
        let wait = held_for(known, life, missed, self.memory.margin(known))?;
        expected.delivered = Some(life + wait);
        Some(wait)
    }

    /// A message's last ACK has arrived: for how long its end is held, if it is.
    pub(super) fn hold_end(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<Time> {
        let expected = self.beside.expected.get_mut(&flow)?;
        let (life, missed) = self.traffic.missed(net, flow, now, true)?;
        let known = expected.taken.sent;
        let wait = match (held_for(known, life, missed, self.memory.margin(known)), expected.delivered) {
            (Some(wait), _) => wait,
            // It is not acknowledged before it is delivered.
            (None, Some(delivered)) => known.max(delivered).saturating_sub(life),
            (None, None) => return None,
        };
        expected.is_held = true;
        Some(wait)
    }

    /// Keeps what is to be said of a message that is held after its last ACK, and what happened to it.
    pub(super) fn keep(&mut self, flow: FlowId, outcome: FlowOutcome, fate: Fate) {
        self.beside.held.insert(flow, (outcome, fate));
    }

    /// A message is held no more after its last ACK: what is to be said of it, and what happened to it.
    pub(super) fn release(&mut self, flow: FlowId) -> Option<(FlowOutcome, Fate)> {
        self.beside.held.remove(&flow)
    }

    /// What is to be said of the messages that are held after their last ACK as the run ends `now`, in order of their numbers: they are not complete, and have had no more
    /// acknowledged than what is due by then.
    pub(super) fn release_all(&mut self, net: &Network, now: Time) -> Vec<(FlowId, FlowOutcome)> {
        let payload = net.wire.payload;
        let cut = |(flow, (outcome, _)): (FlowId, (FlowOutcome, Fate))| {
            let all = outcome.fct.map_or(1, |fct| fct.0.max(1));
            let lasted = now.saturating_sub(outcome.start).0.min(all);
            let due = u128::from(outcome.acked_bytes) * u128::from(lasted) / u128::from(all);
            (flow, FlowOutcome { fct: None, acked_bytes: due as u64 / payload * payload, ..outcome })
        };
        let mut all: Vec<_> = self.beside.held.drain().map(cut).collect();
        all.sort_unstable_by_key(|(flow, _)| flow.0);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_held_if_what_was_not_there_explains_that_it_is_early() {
        let ns = Time::from_ns;
        let held = |took, missed| held_for(ns(10_000), ns(took), ns(missed), ns(10));
        // 200 ns short of 10,000, of which ACKs that were not there may have taken 200; or 190 and the 10 by which messages differ anyway.
        assert_eq!(held(9_800, 200), Some(ns(200)));
        assert_eq!(held(9_800, 190), Some(ns(200)));
        // 11 ns are left that nothing explains.
        assert_eq!(held(9_800, 189), None);
        // Less than messages differ anyway was not there: it takes its own time.
        assert_eq!(held(9_995, 10), None);
        // As late as messages like it may be without those ACKs: it takes its own time, and is held for none.
        assert_eq!((held(10_010, 200), held(10_011, 200)), (Some(Time::ZERO), None));
    }
}
