//! The tables of what broke, of what was lost, and of what PFC watchdogs did.

use std::collections::BTreeMap;

use xoff_engine::Time;
use xoff_fabric::Simulation;
use xoff_fabric::fault::{Broken, Cause, Fault};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::observe::losses::{Loss, LossKey};
use xoff_fabric::packet::NO_FLOW;

use super::columns::{Columns, strings};
use super::{Names, Table};

/// What a fault breaks, by name: a link by the port at its first end.
fn target(sim: &Simulation, fault: &Fault) -> String {
    let topology = &sim.network().topology;
    match fault.what {
        Broken::Link(link) | Broken::Rate { link, .. } | Broken::Frames { link, .. } => {
            topology.port_name(PortId::of_link(link as usize)[0])
        }
        Broken::Switch(node) | Broken::Receiver { host: node, .. } => {
            topology.nodes[node.index()].name.clone()
        }
        Broken::PauseStorm { port, .. } => topology.port_name(port),
    }
}

/// Faults that begin before the run ends; each with its number.
fn begun(sim: &Simulation) -> Vec<(u32, &Fault)> {
    let faults = sim.network().faults.as_ref().map_or(&[][..], |plan| plan.faults());
    (0..).zip(faults).filter(|(_, fault)| fault.from <= sim.now()).collect()
}

pub(super) fn events(sim: &Simulation) -> Table {
    let rows = begun(sim);
    let mut cost: BTreeMap<u32, (u64, u64, Vec<FlowId>)> = BTreeMap::new();
    for (key, loss) in sim.records().losses.iter().flatten() {
        let Some(fault) = key.fault else { continue };
        let (packets, bytes, flows) = cost.entry(fault).or_default();
        *packets += loss.packets;
        *bytes += loss.bytes;
        flows.extend((key.flow != NO_FLOW).then_some(key.flow));
    }
    for (_, _, flows) in cost.values_mut() {
        flows.sort_unstable();
        flows.dedup();
    }
    let kinds: Vec<String> = rows.iter().map(|(_, fault)| fault.what.name().to_string()).collect();
    let targets: Vec<String> = rows.iter().map(|(_, fault)| target(sim, fault)).collect();
    let of = |number: u32| cost.get(&number);
    Columns::new()
        .u32("id", "number of what broke, by its beginning", rows.iter().map(|(number, _)| *number))
        .u32(
            "event",
            "number of its [[event]] in the scenario, from 0",
            rows.iter().map(|(_, fault)| fault.event),
        )
        .names("kind", "what broke", 0..rows.len() as u32, &strings(kinds.into_iter()))
        .names(
            "target",
            "the switch or host, the babbling port, or a port of the link",
            0..rows.len() as u32,
            &strings(targets.into_iter()),
        )
        .u64("start_ps", "when it broke, ps", rows.iter().map(|(_, fault)| fault.from.ps()))
        .u64_or_null(
            "end_ps",
            "when it was whole again, ps; null: not before the run ended",
            rows.iter().map(|(_, fault)| Some(fault.until).filter(|until| *until <= sim.now()).map(Time::ps)),
        )
        .u64(
            "lost_packets",
            "packets of any kind that were lost by it",
            rows.iter().map(|(n, _)| of(*n).map_or(0, |c| c.0)),
        )
        .u64("lost_bytes", "their bytes on the wire", rows.iter().map(|(n, _)| of(*n).map_or(0, |c| c.1)))
        .u32(
            "flows",
            "flows that lost data or acknowledgements by it",
            rows.iter().map(|(n, _)| of(*n).map_or(0, |c| c.2.len() as u32)),
        )
        .table("events")
}

pub(super) fn drops(sim: &Simulation, names: &Names) -> Table {
    let rows: Vec<(&LossKey, &Loss)> = sim.records().losses.iter().flatten().collect();
    let causes = strings(Cause::ALL.iter().map(|cause| cause.name().to_string()));
    let place = |cause: Cause| Cause::ALL.iter().position(|&other| other == cause).unwrap_or(0) as u32;
    Columns::new()
        .names(
            "cause",
            "link_down, bit_errors, watchdog, receiver (stopped or slow), buffer (no room in a switch) or hop_limit",
            rows.iter().map(|(key, _)| place(key.cause)),
            &causes,
        )
        .u64_or_null(
            "id",
            "number of what broke, in the table of events; null: none is to blame",
            rows.iter().map(|(key, _)| key.fault.map(u64::from)),
        )
        .names(
            "port",
            "egress port at which, or on whose link, packets were lost; for buffer and receiver the port by which they came",
            rows.iter().map(|(key, _)| key.port.0),
            &names.ports,
        )
        .u64_or_null(
            "flow",
            "flow id; null: frames of flow control",
            rows.iter().map(|(key, _)| (key.flow != NO_FLOW).then_some(u64::from(key.flow.0))),
        )
        .bool_or_null("data", "packets with payload, not ACKs or the like", rows.iter().map(|(key, _)| Some(key.is_data)))
        .u64("packets", "packets lost", rows.iter().map(|(_, loss)| loss.packets))
        .u64("lost_bytes", "their bytes on the wire", rows.iter().map(|(_, loss)| loss.bytes))
        .u64("first_ps", "when the first one was lost, or began on the wire, ps", rows.iter().map(|(_, loss)| loss.first.ps()))
        .u64("last_ps", "the same of the last one, ps", rows.iter().map(|(_, loss)| loss.last.ps()))
        .table("drops")
}

pub(super) fn watchdog(sim: &Simulation, names: &Names) -> Table {
    let rows = &sim.records().watchdog;
    Columns::new()
        .names("port", "egress port whose queue was in a storm", rows.iter().map(|r| r.port.0), &names.ports)
        .names("by", "port that sent the PAUSE", rows.iter().map(|r| r.port.peer().0), &names.ports)
        .u8("priority", "data priority of the queue", rows.iter().map(|r| r.priority))
        .u64("stopped_ps", "since when the queue was stopped, ps", rows.iter().map(|r| r.stopped.ps()))
        .u64("detected_ps", "when the watchdog acted, ps", rows.iter().map(|r| r.detected.ps()))
        .u64_or_null(
            "restored_ps",
            "when the queue obeyed PAUSE again, ps; null: not before the run ended",
            rows.iter().map(|r| r.restored.map(Time::ps)),
        )
        .u64("dropped_packets", "packets that the watchdog dropped", rows.iter().map(|r| r.packets))
        .u64("dropped_bytes", "their bytes on the wire", rows.iter().map(|r| r.bytes))
        .table("watchdog")
}
