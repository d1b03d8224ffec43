//! The table of the order of packets: a row for each connection whose packets came.

use xoff_fabric::Simulation;

use super::columns::Columns;
use super::{Names, Table};

pub(super) fn reordering(sim: &Simulation, names: &Names) -> Table {
    let (net, rows) = (sim.network(), &sim.records().reordering);
    let ends = || rows.iter().map(|r| net.ends(r.connection));
    Columns::new()
        .u32("connection", "number of the connection", rows.iter().map(|r| r.connection.0))
        .names("src", "sending host", ends().map(|flow| flow.src.0), &names.nodes)
        .names("dst", "receiving host", ends().map(|flow| flow.dst.0), &names.nodes)
        .u64(
            "packets",
            "data packets that came, without those sent again",
            rows.iter().map(|r| r.packets),
        )
        .u64(
            "reordered",
            "packets that came after one that was sent later (RFC 4737, section 3.3)",
            rows.iter().map(|r| r.reordered),
        )
        .u64(
            "extent_sum",
            "sum of the extents of reordered packets: packets since the first one that was sent later (RFC 4737, section 4.2.1)",
            rows.iter().map(|r| r.extents),
        )
        .u64("max_extent", "maximum extent, packets", rows.iter().map(|r| r.max_extent))
        .u64(
            "max_late_ps",
            "maximum time since the first packet that was sent later came, ps",
            rows.iter().map(|r| r.max_late.ps()),
        )
        .u64(
            "buffer_bytes",
            "buffer that puts packets in order: maximum payload that came and waited for a packet before it, B",
            rows.iter().map(|r| r.buffer),
        )
        .table("reordering")
}
