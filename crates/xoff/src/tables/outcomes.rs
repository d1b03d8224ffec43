//! What the table of flows says of their outcomes. All its columns are made in one pass, since outcomes are kept as bytes.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, UInt32Array};
use xoff_engine::Time;
use xoff_fabric::Simulation;
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::records::FlowOutcome;

use super::columns::Columns;
use super::numbers::{Numbers, Optional};

/// The numbers of the flows that had begun, which have rows.
pub(super) fn rows(sim: &Simulation) -> UInt32Array {
    let outcomes = &sim.records().flows;
    let mut rows = Vec::with_capacity(outcomes.started());
    let all = (0..).zip(outcomes.iter());
    rows.extend(all.filter(|(_, outcome)| outcome.started).map(|(flow, _)| flow));
    rows.into()
}

/// Columns of the flows that had begun.
pub(super) struct OutcomeColumns {
    pub times: Times,
    pub counts: Counts,
    /// Only in a run that was fast-forwarded.
    pub forwarded: Option<Forwarded>,
}

impl OutcomeColumns {
    /// The columns of a run that is over.
    pub(super) fn of(sim: &Simulation) -> OutcomeColumns {
        let outcomes = &sim.records().flows;
        let count = outcomes.started();
        let mut columns = OutcomeColumns {
            times: Times::with_room(count),
            counts: Counts::with_room(count),
            forwarded: sim.forwarded().map(|_| Forwarded::with_room(count)),
        };
        let begun = FlowId::all(outcomes.len()).zip(outcomes.iter()).filter(|(_, outcome)| outcome.started);
        for (row, (flow, outcome)) in begun.enumerate() {
            columns.times.set(row, ideal(sim, flow, &outcome), &outcome);
            columns.counts.set(row, &outcome);
            if let Some(forwarded) = &mut columns.forwarded {
                forwarded.set(row, sim.is_uncertain(flow, &outcome), &outcome);
            }
        }
        columns
    }
}

/// A flow's ideal completion time; `None` if it was stopped early, as of an endless flow.
fn ideal(sim: &Simulation, flow: FlowId, outcome: &FlowOutcome) -> Option<Time> {
    let net = sim.network();
    let is_whole = outcome.fct.is_none() || net.flows.size(flow) == outcome.acked_bytes.into();
    net.ideal_fct(flow).filter(|_| is_whole)
}

/// When flows began, and how long they took.
pub(super) struct Times {
    start: Numbers<UInt64Type>,
    fct: Optional<UInt64Type>,
    ideal: Optional<UInt64Type>,
    slowdown: Optional<Float64Type>,
}

impl Times {
    fn with_room(rows: usize) -> Times {
        Times {
            start: Numbers::new(rows),
            fct: Optional::new(rows),
            ideal: Optional::new(rows),
            slowdown: Optional::new(rows),
        }
    }

    fn set(&mut self, row: usize, ideal: Option<Time>, outcome: &FlowOutcome) {
        self.start.set(row, outcome.start.ps());
        self.fct.push(outcome.fct.map(Time::ps));
        self.ideal.push(ideal.map(Time::ps));
        self.slowdown.push(outcome.fct.zip(ideal).map(|(fct, ideal)| fct.ps() as f64 / ideal.ps() as f64));
    }

    pub(super) fn add_to(self, columns: Columns) -> Columns {
        columns
            .add("start_ps", "start, ps", self.start.array())
            .column(
                "fct_ps",
                "completion time, from the start to the last ACK at the sender, ps; null: incomplete",
                self.fct.array(),
                true,
            )
            .column(
                "ideal_fct_ps",
                "completion time alone in the network at line rate without telemetry, ps; null: endless or stopped early",
                self.ideal.array(),
                true,
            )
            .column("slowdown", "fct_ps over ideal_fct_ps", self.slowdown.array(), true)
    }
}

/// What flows have sent, and what became of it.
pub(super) struct Counts {
    acked_bytes: Numbers<UInt64Type>,
    packets_sent: Numbers<UInt64Type>,
    retransmitted_bytes: Numbers<UInt64Type>,
    marked_ce: Numbers<UInt64Type>,
    marked_ue: Numbers<UInt64Type>,
    cnps: Numbers<UInt64Type>,
    paused: Numbers<UInt64Type>,
    hol_blocked: BooleanBufferBuilder,
}

impl Counts {
    fn with_room(rows: usize) -> Counts {
        let numbers = || Numbers::new(rows);
        Counts {
            acked_bytes: numbers(),
            packets_sent: numbers(),
            retransmitted_bytes: numbers(),
            marked_ce: numbers(),
            marked_ue: numbers(),
            cnps: numbers(),
            paused: numbers(),
            hol_blocked: BooleanBufferBuilder::new(rows),
        }
    }

    fn set(&mut self, row: usize, outcome: &FlowOutcome) {
        self.acked_bytes.set(row, outcome.acked_bytes);
        self.packets_sent.set(row, outcome.packets_sent);
        self.retransmitted_bytes.set(row, outcome.retransmitted_bytes);
        self.marked_ce.set(row, outcome.marks.ce);
        self.marked_ue.set(row, outcome.marks.ue);
        self.cnps.set(row, outcome.cnps);
        self.paused.set(row, outcome.paused.ps());
        self.hol_blocked.append(outcome.hol_blocked);
    }

    /// Adds the columns; who was blocked is known if the run `watches_roots`.
    pub(super) fn add_to(self, columns: Columns, watches_roots: bool) -> Columns {
        let rows = self.hol_blocked.len();
        let blocked = bools(self.hol_blocked);
        columns
            .add("acked_bytes", "payload acknowledged, B", self.acked_bytes.array())
            .add("packets_sent", "data packets sent", self.packets_sent.array())
            .add("retransmitted_bytes", "payload sent again, B", self.retransmitted_bytes.array())
            .add("marked_ce", "data packets that arrived marked CE", self.marked_ce.array())
            .add("marked_ue", "data packets that arrived marked UE (undetermined)", self.marked_ue.array())
            .add("cnps", "congestion notification packets that reached the sender", self.cnps.array())
            .add(
                "paused_ps",
                "time for which PFC stopped the sender's port and priority while the flow was active, ps",
                self.paused.array(),
            )
            .column(
                "hol_blocked",
                "a packet of it waited behind a PAUSE, and none of its hops was a congestion root in that time; null: not \
                 recorded",
                if watches_roots { blocked } else { Arc::new(BooleanArray::new_null(rows)) },
                true,
            )
    }
}

/// What was skipped in a run that was fast-forwarded.
pub(super) struct Forwarded {
    skipped: Numbers<UInt64Type>,
    recalled: BooleanBufferBuilder,
    uncertain: BooleanBufferBuilder,
}

impl Forwarded {
    fn with_room(rows: usize) -> Forwarded {
        let bits = || BooleanBufferBuilder::new(rows);
        Forwarded { skipped: Numbers::new(rows), recalled: bits(), uncertain: bits() }
    }

    fn set(&mut self, row: usize, is_uncertain: bool, outcome: &FlowOutcome) {
        self.skipped.set(row, outcome.skipped.ps());
        self.recalled.append(outcome.recalled);
        self.uncertain.append(is_uncertain);
    }

    pub(super) fn add_to(self, columns: Columns) -> Columns {
        columns
            .add(
                "skipped_ps",
                "time of it that was not simulated (`run.fast_forward`), ps: carried forward, or all of it if it was recalled",
                self.skipped.array(),
            )
            .add(
                "recalled",
                "it was not simulated: it took the time of messages like it (`run.fast_forward`)",
                bools(self.recalled),
            )
            .add(
                "uncertain",
                "its completion time may differ by more than the tolerance from that of the run without `run.fast_forward`",
                bools(self.uncertain),
            )
    }
}

fn bools(mut bits: BooleanBufferBuilder) -> ArrayRef {
    Arc::new(BooleanArray::new(bits.finish(), None))
}
