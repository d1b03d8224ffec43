//! The tables of events: pauses, congestion roots, notifications, marks, and changes of state.

use xoff_fabric::Simulation;
use xoff_fabric::observe::rows::{PauseRecord, RootRecord};
use xoff_fabric::packet::Kind;
use xoff_schemes::ThrottleState;
use xoff_schemes::{Mark, PortState};

use super::columns::{Columns, strings};
use super::{Names, Table};

/// Pauses, of a run that was `forwarded` with whether time was carried forward over them.
pub(super) fn pauses(rows: &[PauseRecord], names: &Names, forwarded: bool) -> Table {
    Columns::new()
        .names("port", "egress port that was stopped", rows.iter().map(|r| r.port.0), &names.ports)
        .names("by", "port that sent the PAUSE", rows.iter().map(|r| r.port.peer().0), &names.ports)
        .u8("priority", "priority that was stopped", rows.iter().map(|r| r.priority))
        .u64("start_ps", "start, ps", rows.iter().map(|r| r.start.ps()))
        .u64("length_ps", "duration, ps", rows.iter().map(|r| (r.end - r.start).ps()))
        .u32("frames", "PAUSE frames that caused or prolonged it", rows.iter().map(|r| r.frames))
        .bools_if(
            forwarded,
            "over_jump",
            "time was carried forward while it lasted (`run.fast_forward`): length_ps is without that time, and the row stands for \
             all pauses that would have come in it",
            rows.iter().map(|r| r.is_over_jump),
        )
        .table("pauses")
}

pub(super) fn roots(rows: &[RootRecord], names: &Names) -> Table {
    Columns::new()
        .names(
            "port",
            "egress port to which more was offered than its link carries",
            rows.iter().map(|r| r.port.0),
            &names.ports,
        )
        .u8("priority", "data priority of the queue", rows.iter().map(|r| r.priority))
        .u64("start_ps", "start, ps", rows.iter().map(|r| r.start.ps()))
        .u64("length_ps", "duration, ps", rows.iter().map(|r| (r.end - r.start).ps()))
        .u64("max_bytes", "maximum bytes queued in that time", rows.iter().map(|r| r.max_bytes))
        .table("roots")
}

pub(super) fn notifications(sim: &Simulation) -> Table {
    let rows = &sim.records().notifications;
    let kinds = strings(["cnp", "cnm"].into_iter().map(String::from));
    let kind = |k: Kind| u32::from(k == Kind::Cnm);
    Columns::new()
        .u64("time_ps", "arrival at the sender, ps", rows.iter().map(|r| r.time.ps()))
        .names(
            "kind",
            "cnp (from a receiver) or cnm (from a switch)",
            rows.iter().map(|r| kind(r.kind)),
            &kinds,
        )
        .u32("flow", "flow id", rows.iter().map(|r| r.flow.0))
        .u64_or_null("point", "congestion point of a cnm", rows.iter().map(|r| r.point.map(u64::from)))
        .table("notifications")
}

pub(super) fn marks(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().marks;
    let marks = strings(["ce", "ue"].into_iter().map(String::from));
    Columns::new()
        .u64("time_ps", "when the packet left its queue, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port that marked it", rows.iter().map(|r| r.port.0), &names.ports)
        .u32("flow", "flow id", rows.iter().map(|r| r.flow.0))
        .u64(
            "offset_bytes",
            "offset of its first payload byte in its connection, B",
            rows.iter().map(|r| r.seq),
        )
        .names(
            "mark",
            "ce (congestion) or ue (undetermined)",
            rows.iter().map(|r| u32::from(r.mark == Mark::Ue)),
            &marks,
        )
        .table("marks")
}

pub(super) fn states(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().states;
    let states = strings(PortState::ALL.iter().map(|s| s.name().to_string()));
    Columns::new()
        .u64("time_ps", "time of the change, at which a packet leaves, ps; the first row of each queue is at 0", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port.0), &names.ports)
        .u8("priority", "data priority", rows.iter().map(|r| r.priority))
        .names(
            "state",
            "non_congestion, congestion, undetermined (stopped within max(T_on)), or released (undetermined before, and \
             watched until it is one of the first two)",
            rows.iter().map(|r| r.state as u32),
            &states,
        )
        .table("states")
}

pub(super) fn throttles(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().throttles;
    let states = [ThrottleState::Normal, ThrottleState::Congested];
    let states = strings(states.iter().map(|s| s.name().to_string()));
    Columns::new()
        .u64(
            "time_ps",
            "time of the change, ps; before its first row a throttle is normal",
            rows.iter().map(|r| r.time.ps()),
        )
        .names("port", "port of the host", rows.iter().map(|r| r.port.0), &names.ports)
        .names(
            "state",
            "state of the network as the throttle sees it: normal or congested",
            rows.iter().map(|r| r.state as u32),
            &states,
        )
        .table("throttles")
}
