//! The tables of samples: queues, rates and utilization.

use xoff_engine::Rate;
use xoff_fabric::Simulation;

use super::columns::Columns;
use super::{Names, Table};

pub(super) fn queues(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().samples.queues;
    Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port.0), &names.ports)
        .u64(
            "bytes",
            "bytes queued at that moment, without the frame on the wire",
            rows.iter().map(|r| r.bytes),
        )
        .u64("max_bytes", "maximum bytes queued in the interval", rows.iter().map(|r| r.max_bytes))
        .table("queues")
}

pub(super) fn rates(sim: &Simulation) -> Table {
    let rows = &sim.records().samples.rates;
    let window = |w: u64| (w != u64::MAX).then_some(w);
    Columns::new()
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
        )
        .table("rates")
}

pub(super) fn utilization(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().samples.utilization;
    Columns::new()
        .u64("time_ps", "end of the interval, ps", rows.iter().map(|r| r.time.ps()))
        .names("port", "egress port", rows.iter().map(|r| r.port.0), &names.ports)
        .f64("tx_bps", "bits sent, bit/s", rows.iter().map(|r| r.tx_bps))
        .f64(
            "utilization",
            "tx_bps over the line rate, at most 1",
            rows.iter().map(|r| share(r.tx_bps, sim.port(r.port).rate)),
        )
        .table("utilization")
}

/// The share of a port's line rate that it sent at, at most 1: a frame whose time is cut, as by `quirks.clock`, leaves faster
/// than the line rate.
pub(super) fn share(bps: f64, rate: Rate) -> f64 {
    (bps / rate.bps() as f64).min(1.0)
}
