//! The table of the causes of flows' completion times.

use xoff_fabric::observe::breakdown::{BreakdownRecord, Cause, Leg};

use super::columns::{Columns, strings};
use super::{Names, Table};

pub(super) fn breakdown(rows: &[BreakdownRecord], names: &Names) -> Table {
    let legs = strings(Leg::ALL.iter().map(|leg| leg.name().to_string()));
    let causes = strings(Cause::ALL.iter().map(|cause| cause.name().to_string()));
    Columns::new()
        .u32(
            "flow",
            "flow id; the rows of a complete flow sum to its fct_ps, those of another one to the end of the run",
            rows.iter().map(|r| r.flow.0),
        )
        .names(
            "leg",
            "sender (until the critical packet's transmission: that which the flow's last ACK answers), data (that packet's \
             way) or ack (its ACK's)",
            rows.iter().map(|r| r.leg as u32),
            &legs,
        )
        .names(
            "part",
            "serialization, propagation, queueing (behind others), paused (by PAUSE or for want of credits), window, rate \
             (pacing), source, throttled, processing (at the receiver), recovery (of losses), in_flight (incomplete flows)",
            rows.iter().map(|r| r.cause as u32),
            &causes,
        )
        .names("port", "egress port at which, or on whose link, the time was spent", rows.iter().map(|r| r.port.0), &names.ports)
        .u64("time_ps", "duration, ps", rows.iter().map(|r| r.time.ps()))
        .table("breakdown")
}
