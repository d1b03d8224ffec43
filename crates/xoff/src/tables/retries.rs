//! The table of link-level retry (LLR).

use xoff_fabric::Simulation;
use xoff_fabric::ids::PortId;
use xoff_fabric::link::llr::RetryCounts;

use super::columns::Columns;
use super::{Names, Table};

pub(super) fn retries(sim: &Simulation, names: &Names) -> Table {
    let all = sim.network().topology.port_ids();
    let rows: Vec<(PortId, RetryCounts)> = all.filter_map(|port| Some((port, sim.retries(port)?))).collect();
    let of = |count: fn(&RetryCounts) -> u64| {
        rows.iter().map(move |(_, counts)| count(counts)).collect::<Vec<_>>()
    };
    Columns::new()
        .names("port", "egress port: node->neighbour", rows.iter().map(|(port, _)| port.0), &names.ports)
        .u64("frames", "frames sent for the first time", of(|c| c.frames).into_iter())
        .u64("corrupt", "frames that bit errors spoiled on the link", of(|c| c.corrupt).into_iter())
        .u64(
            "discarded",
            "whole frames that the other end discarded: one before them was missing, or they were there already",
            of(|c| c.discarded).into_iter(),
        )
        .u64("replayed", "frames sent again", of(|c| c.replayed).into_iter())
        .u64("replayed_bytes", "their bytes", of(|c| c.replayed_bytes).into_iter())
        .u64("nacks", "NACKs that came from the other end", of(|c| c.nacks).into_iter())
        .u64("timeouts", "times that the replay timer ran out", of(|c| c.timeouts).into_iter())
        .u64("max_buffer_bytes", "maximum bytes in the replay buffer", of(|c| c.max_bytes).into_iter())
        .u64(
            "full_ps",
            "time for which the wire was free and the replay buffer full, ps",
            of(|c| c.full.ps()).into_iter(),
        )
        .table("retries")
}
