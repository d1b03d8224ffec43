//! The tables of samples: queues, rates, schemes' variables and utilization.

use xoff_engine::{Rate, Time};
use xoff_fabric::Simulation;
use xoff_fabric::ids::PortId;
use xoff_fabric::observe::rows::{
    PrioritySample, QueueSample, RateSample, UtilizationSample, VariableSample,
};

use super::columns::{Columns, strings};
use super::{Names, Table};

/// Time that a run carried forward, for tables of samples.
#[derive(Clone, Copy)]
pub(super) struct SkippedTime<'a> {
    sim: &'a Simulation,
    interval: Time,
}

impl<'a> SkippedTime<'a> {
    /// `None` if the run was not fast-forwarded, or has no samples.
    pub fn of(sim: &'a Simulation) -> Option<SkippedTime<'a>> {
        sim.forwarded()?;
        Some(SkippedTime { sim, interval: sim.records().interval()? })
    }

    /// Time in the interval of a sample, `None` being the regular one, in ps.
    fn within(&self, end: Time, interval: Option<Time>) -> u64 {
        self.sim.skipped_between(end.saturating_sub(interval.unwrap_or(self.interval)), end).ps()
    }
}

/// Adds the time that was carried forward in the interval of each row, by end and length of the interval.
fn add_skipped(
    columns: Columns,
    skips: Option<SkippedTime<'_>>,
    intervals: impl Iterator<Item = (Time, Option<Time>)>,
) -> Columns {
    let Some(skips) = skips else { return columns };
    columns.u64(
        "skipped_ps",
        "time of the interval that was carried forward (`run.fast_forward`), ps",
        intervals.map(|(end, length)| skips.within(end, length)),
    )
}

/// Queues of ports, and of switches' ports each priority apart if there are several.
pub(super) fn queues(
    ports: &[QueueSample],
    priorities: &[PrioritySample],
    names: &Names,
    skips: Option<SkippedTime<'_>>,
) -> Table {
    let whole = ports.iter().map(|r| (r.time, r.port, None, r.bytes, r.max_bytes));
    let parts = priorities.iter().map(|r| (r.time, r.port, Some(r.priority), r.bytes, r.max_bytes));
    let mut rows: Vec<_> = whole.chain(parts).collect();
    if !priorities.is_empty() {
        rows.sort_by_key(|row| row.0);
    }
    let columns = Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.0.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.1.0), &names.ports)
        .u64("bytes", "bytes queued at that moment, without the frame on the wire", rows.iter().map(|r| r.3))
        .u64("max_bytes", "maximum bytes queued in the interval", rows.iter().map(|r| r.4))
        .u8_or_null_if(
            !priorities.is_empty(),
            "priority",
            "data priority of the row, in a network with several; null: all of the port, with what is no data",
            rows.iter().map(|r| r.2),
        );
    add_skipped(columns, skips, rows.iter().map(|r| (r.0, None))).table("queues")
}

pub(super) fn rates(rows: &[RateSample], skips: Option<SkippedTime<'_>>) -> Table {
    let window = |w: u64| (w != u64::MAX).then_some(w);
    let columns = Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .u64(
            "interval_ps",
            "length of the interval, ps: shorter than `record.interval` where the flow or the run began or ended in it",
            rows.iter().map(|r| r.interval.ps()),
        )
        .u32("flow", "flow id", rows.iter().map(|r| r.flow.0))
        .f64("sent_bps", "frame bits that the sender began to send, bit/s", rows.iter().map(|r| r.sent_bps))
        .f64("goodput_bps", "payload acknowledged, bit/s", rows.iter().map(|r| r.goodput_bps))
        .f64("rate_bps", "the scheme's rate, bit/s", rows.iter().map(|r| r.rate.bps() as f64))
        .u64_or_null(
            "window_bytes",
            "the scheme's window, B; null: none",
            rows.iter().map(|r| window(r.window)),
        );
    add_skipped(columns, skips, rows.iter().map(|r| (r.time, Some(r.interval)))).table("rates")
}

pub(super) fn variables(rows: &[VariableSample]) -> Table {
    let mut known: Vec<&str> = Vec::new();
    let mut number = |name| {
        known.iter().position(|&k| k == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        }) as u32
    };
    let numbers: Vec<u32> = rows.iter().map(|r| number(&*r.name)).collect();
    let names = strings(known.iter().map(|name| (*name).to_string()));
    Columns::new()
        .u64("time_ps", "time of the sample, ps", rows.iter().map(|r| r.time.ps()))
        .u32("flow", "flow id", rows.iter().map(|r| r.flow.0))
        .names("name", "the variable, as the scheme calls it", numbers.into_iter(), &names)
        .f64("value", "its value, in the scheme's own unit", rows.iter().map(|r| r.value))
        .table("variables")
}

/// `rate` is the line rate of a port.
pub(super) fn utilization(
    rows: &[UtilizationSample],
    rate: impl Fn(PortId) -> Rate,
    names: &Names,
    skips: Option<SkippedTime<'_>>,
) -> Table {
    let columns = Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port.0), &names.ports)
        .f64("tx_bps", "bits sent, bit/s", rows.iter().map(|r| r.tx_bps))
        .f64(
            "utilization",
            "tx_bps over the line rate, at most 1",
            rows.iter().map(|r| share(r.tx_bps, rate(r.port))),
        );
    add_skipped(columns, skips, rows.iter().map(|r| (r.time, None))).table("utilization")
}

/// The share of a port's line rate that it sent at, at most 1: a frame whose time is cut, as by `quirks.clock`, leaves faster
/// than the line rate.
pub(super) fn share(bps: f64, rate: Rate) -> f64 {
    (bps / rate.bps() as f64).min(1.0)
}
