//! The table of ports: totals of the run.

use xoff_fabric::Simulation;
use xoff_fabric::topology::PortId;

use super::columns::Columns;
use super::samples::share;
use super::{Names, Table, buffer_sizing};

pub(super) fn ports(sim: &Simulation, names: &Names) -> Table {
    let (net, records) = (sim.network(), sim.records());
    let topology = &net.topology;
    let all = topology.port_ids();
    let seconds = sim.now().secs();
    let priorities = net.settings.switch.priorities;
    let paused = |p: PortId| (0..priorities).map(|q| sim.paused(p, q).ps()).sum();
    let utilization = |p: PortId| {
        if seconds > 0.0 { share(sim.bits_sent(p) / seconds, sim.port(p).rate) } else { 0.0 }
    };
    let columns = Columns::new()
        .names("port", "egress port: node->neighbour", all.clone().map(|p| p.0), &names.ports)
        .names("node", "its node", all.clone().map(|p| topology.node_of(p).0), &names.nodes)
        .names("peer", "the neighbour", all.clone().map(|p| topology.node_of(p.peer()).0), &names.nodes)
        .u64("rate_bps", "line rate, bit/s", all.clone().map(|p| topology.rate(p).bps()))
        .u64("tx_bytes", "bytes sent", all.clone().map(|p| sim.port(p).tx_bytes))
        .u64("tx_packets", "packets sent, of any kind", all.clone().map(|p| sim.port(p).tx_packets))
        .f64("utilization", "share of the run in which it sent", all.clone().map(utilization))
        .u64("max_queue_bytes", "maximum bytes queued", all.clone().map(|p| sim.port(p).max_queued_bytes))
        .u64(
            "pause_frames_sent",
            "PAUSE frames sent by this port, to stop its neighbour",
            all.clone().map(|p| records.totals.pause_frames.of(p)),
        )
        .u64(
            "credit_updates_sent",
            "updates of credits (CBFC) sent by this port, to its neighbour",
            all.clone().map(|p| records.totals.credit_updates.of(p)),
        )
        .u64("paused_ps", "time for which it was stopped, all priorities, ps", all.clone().map(paused))
        .u64("marked_ce", "data packets marked CE", all.clone().map(|p| records.totals.marks.of(p).ce))
        .u64(
            "marked_ue",
            "data packets marked UE (undetermined)",
            all.clone().map(|p| records.totals.marks.of(p).ue),
        )
        .u64(
            "dropped",
            "packets dropped that came in by this port",
            all.clone().map(|p| records.totals.drops.of(p)),
        )
        .u64_if(
            sim.forwarded().is_some(),
            "skipped_bytes",
            "those of tx_bytes that were not simulated (`run.fast_forward`): carried forward, or of recalled messages",
            all.map(|p| sim.skipped_bytes(p)),
        );
    buffer_sizing::add(columns, sim).table("ports")
}
