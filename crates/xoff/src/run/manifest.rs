//! The manifest: the resolved scenario and the run's totals.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use xoff_engine::Time;
use xoff_fabric::run::fast_forward::{FastForwarded, Held};
use xoff_fabric::settings::Transport;
use xoff_fabric::{Simulation, Stop};
use xoff_schemes::AnyScheme;
use xoff_traffic::Traffic;

use super::cannot_act::cannot_act;
use super::error::{deadlocked, stuck};
use super::full_record::full_record;
use super::unfinished;
use crate::jobs;
use crate::scenario::{Expect, Scenario};
use crate::summary::Summary;
use crate::tables::Table;

/// The wall time that a run took.
pub(super) struct Clock {
    /// Before the first event: reading the scenario, and building topology, routing, flows and the network's state.
    pub setup: Duration,
    /// From the scenario that was read to the result tables.
    pub wall: Duration,
}

/// What the packets say that are in the network when a run ends; without them it is not known any more.
pub(super) struct Remains {
    /// The names of the ports that wait on each other for ever.
    pub deadlock: Vec<String>,
    /// Data packets in the network; 0 if nothing could break.
    data_packets: u64,
}

impl Remains {
    /// What is left in the network of a run that has ended; the packets there make room for the tables.
    pub fn take(sim: &mut Simulation) -> Remains {
        let breaks = sim.records().losses.is_some();
        let data_packets = if breaks { sim.data_packets_in_network() } else { 0 };
        let deadlock = deadlock(sim);
        sim.forget_packets();
        Remains { deadlock, data_packets }
    }
}

/// The manifest of a run that ended for the reason `stop`.
pub(super) fn manifest(
    scenario: &Scenario,
    traffic: &Traffic,
    sim: &Simulation,
    remains: &Remains,
    stop: Stop,
    clock: &Clock,
    tables: &[Table],
) -> Value {
    let (net, counters) = (sim.network(), sim.counters());
    let loads = traffic.offered.iter().map(|l| {
        json!({
            "label": traffic.labels[l.label as usize], "workload": l.workload, "asked": l.asked,
            "offered": l.offered, "flows": l.flows, "bytes": l.bytes,
            "mean_size_bytes": l.mean_sampled, "workload_mean_bytes": l.mean,
            "start_ps": l.start.ps(), "end_ps": l.end.ps(),
        })
    });
    let deadlock = &remains.deadlock;
    let unmet = scenario.run.expect == Some(Expect::Deadlock) && deadlock.is_empty();
    let unmet = unmet.then(|| "`expect = \"deadlock\"` in [run], and the run ended without one".to_string());
    let finished = scenario.run.expect == Some(Expect::Unfinished) && stop != Stop::Stuck;
    let finished = finished
        .then(|| "`expect = \"unfinished\"` in [run], and no flow was kept from completing".to_string());
    let forwarding = sim.forwarded().map_or_else(Vec::new, doubts);
    let warnings = [
        scenario.warnings(),
        &cannot_act(sim, traffic),
        &ran_out(sim, traffic),
        unmet.as_slice(),
        finished.as_slice(),
        &forwarding,
    ]
    .concat();
    let docs = tables.iter().map(|t| {
        let columns = t.columns().map(|(name, doc)| (name.to_string(), Value::from(doc)));
        (t.name.to_string(), Value::Object(columns.collect()))
    });
    let uet = counters.uet;
    let credits = counters.credits;
    let receivers_credits = net
        .signals
        .credits
        .map(|_| json!({ "sent": credits.sent, "dropped": credits.dropped, "used": credits.used }));
    let ultra_ethernet = (scenario.host.transport == Transport::Uet).then(|| {
        json!({
            "new": uet.sent, "retransmitted": uet.retransmitted, "rts": uet.requests, "acks": uet.acks,
            "nacks": uet.nacks, "pulls": uet.pulls, "trimmed": counters.trims,
        })
    });
    json!({
        "format": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "complete": !matches!(stop, Stop::Asked | Stop::Rows),
        "stop_reason": match stop {
            Stop::FlowsDone => "every flow is complete".into(),
            Stop::Duration => "the duration has passed".into(),
            Stop::Asked => "interrupted".into(),
            Stop::Stalled => "nothing can happen any more".into(),
            Stop::Stuck => stuck(sim.now().secs() * 1e6, &unfinished::all(sim, traffic)),
            Stop::Deadlock => deadlocked(sim.now().secs() * 1e6, deadlock),
            Stop::Events => "as many events as allowed".into(),
            Stop::Rows => full_record(scenario, sim),
            Stop::Closed => "the session was closed".into(),
        },
        "seed": scenario.seed,
        "sim_time_ps": sim.now().ps(),
        "sample_interval_ps": scenario.record.samples().then(|| scenario.record.interval.ps()),
        "wall_s": clock.wall.as_secs_f64(),
        "setup_s": clock.setup.as_secs_f64(),
        "threads": sim.threads(),
        "fast_forward": sim.forwarded().map(forwarded),
        "events": counters.events,
        "packet_hops": counters.packet_hops,
        "fingerprint": format!("{:016x}", counters.fingerprint),
        "hosts": net.topology.hosts().len(),
        "flows": net.flows.len(),
        "flows_done": counters.flows_done,
        "most_packets_in_flight": sim.max_packets_in_flight(),
        "dropped_packets": counters.drops,
        "switch_messages": sim.records().totals.cnms_sent,
        "lost_switch_messages": sim.records().totals.cnms_lost,
        "ultra_ethernet": ultra_ethernet,
        "receivers_credits": receivers_credits,
        "link_retry": link_retry(sim),
        "flow_tables": flow_tables(sim),
        "base_rtt_ps": net.env.base_rtt.ps(),
        "wire": {
            "payload_bytes": net.wire.payload, "frame_bytes": net.wire.frame(), "ack_bytes": net.wire.ack,
            "ack_growth_bytes": net.wire.ack_growth,
        },
        "loads": loads.collect::<Vec<_>>(),
        "jobs": jobs::all(sim, traffic),
        "deadlock": deadlock,
        "failures": failures(sim, traffic, remains),
        "summary": Summary::of(tables, sim.now()),
        "warnings": warnings,
        "scheme_origin": match &scenario.scheme {
            AnyScheme::Foreign(scheme) => scheme.origin(),
            _ => Value::Null,
        },
        "table_docs": Value::Object(docs.collect()),
        "scenario": scenario,
    })
}

/// Warnings of a fast-forwarded run: it skipped nothing, or cannot vouch for all that came after a time.
fn doubts(all: &FastForwarded) -> Vec<String> {
    let skips = all.jumps() + all.recalled > 0;
    let idle = all.held.iter().max_by_key(|(_, time)| *time).filter(|_| !skips);
    // The scenario's check has said so of what is known beforehand.
    let idle = idle.filter(|(why, _)| *why != Held::Unknown);
    let idle = idle.map(|(why, _)| format!("`fast_forward` in [run] skipped nothing: {}", why.text()));
    let doubt = all.uncertain_from.map(|from| {
        format!(
            "from {:.3} us on completion times of single messages, marked `uncertain` in the table flows, may differ from those without `fast_forward` by more than the \
             tolerance: after an approximate jump or a recalled message, messages met at a port, or something broke, and what comes of it may \
             hang on single packets; or a scheme with a state of its own, or messages that share ports, lived through a jump; or an estimated \
             error exceeds the tolerance; in [run.fast_forward] a smaller `tolerance` gives fewer such jumps and messages, and `approximate` and `recall` \
             say which there may be",
            from.secs() * 1e6
        )
    });
    idle.into_iter().chain(doubt).collect()
}

/// What a fast-forwarded run skipped, and what kept it from skipping more.
fn forwarded(all: &FastForwarded) -> Value {
    let held = all.held.iter().map(|(why, time)| json!({ "reason": why.text(), "ps": time.ps() }));
    let jumps = all.jumps_by_start();
    let spans = jumps.iter().take(MAX_SPANS);
    let spans = spans.map(|span| json!([span.start.ps(), span.length.ps(), span.error]));
    json!({
        "tolerance": all.tolerance,
        "parts": all.parts.len(),
        "jumps": all.jumps(),
        "approximate_jumps": all.approximate,
        "skipped_ps": all.skipped().ps(),
        "recalled_messages": all.recalled,
        "recalled_ps": all.recalled_time.ps(),
        "estimated_error": all.error,
        "uncertain_from_ps": all.uncertain_from.map(Time::ps),
        "not_skipped": held.collect::<Vec<_>>(),
        "spans": spans.collect::<Vec<_>>(),
    })
}

/// Jumps that the manifest lists.
const MAX_SPANS: usize = 10_000;

/// Flows without completion that the manifest lists.
const LISTED: usize = 100;

/// What broke, and what it cost; null if nothing could break.
fn failures(sim: &Simulation, traffic: &Traffic, remains: &Remains) -> Value {
    let net = sim.network();
    let Some(losses) = &sim.records().losses else { return Value::Null };
    let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
    for (key, loss) in losses {
        *dropped.entry(key.cause.name()).or_default() += loss.packets;
    }
    let unfinished = unfinished::all(sim, traffic);
    json!({
        "events": net.faults.as_ref().map_or(0, |plan| plan.faults().len()),
        "dropped_packets": dropped,
        "storms": sim.records().watchdog.len(),
        "data_packets": {
            "sent": sim.records().flows.iter().map(|flow| flow.packets_sent).sum::<u64>(),
            "dropped": losses.iter().filter(|(key, _)| key.is_data).map(|(_, loss)| loss.packets).sum::<u64>(),
            "trimmed": sim.counters().trims,
            "in_network": remains.data_packets,
        },
        "unfinished_flows": unfinished.len(),
        "unfinished": unfinished.iter().take(LISTED).collect::<Vec<_>>(),
    })
}

/// What link-level retry did, over all ports; null without it.
fn link_retry(sim: &Simulation) -> Value {
    if sim.network().settings.link.llr.is_none() {
        return Value::Null;
    }
    let counts = || sim.network().topology.port_ids().filter_map(|port| sim.retries(port));
    json!({
        "frames": counts().map(|c| c.frames).sum::<u64>(),
        "corrupt": counts().map(|c| c.corrupt).sum::<u64>(),
        "discarded": counts().map(|c| c.discarded).sum::<u64>(),
        "replayed": counts().map(|c| c.replayed).sum::<u64>(),
        "timeouts": counts().map(|c| c.timeouts).sum::<u64>(),
    })
}

/// The names of the ports that wait on each other for ever.
pub(super) fn deadlock(sim: &Simulation) -> Vec<String> {
    sim.deadlock().into_iter().map(|p| sim.network().topology.port_name(p)).collect()
}

/// Maximum number of flows in a switch's table at once: the largest and the mean over the switches; null if switches have no
/// such table.
fn flow_tables(sim: &Simulation) -> Value {
    let sizes: Vec<u64> = sim.records().totals.flow_tables.iter().map(|&(_, size)| size).collect();
    match sizes.iter().max() {
        Some(largest) => {
            json!({ "largest": largest, "mean": sizes.iter().sum::<u64>() as f64 / sizes.len() as f64 })
        }
        None => Value::Null,
    }
}

/// Warnings of background processes that ended before the run did, by label.
fn ran_out(sim: &Simulation, traffic: &Traffic) -> Vec<String> {
    if !traffic.flows.backgrounds().values().contains(&true) {
        return Vec::new();
    }
    // By label, then process: whether all its flows are complete.
    let mut done: BTreeMap<u16, BTreeMap<u32, bool>> = BTreeMap::new();
    for (flow, outcome) in traffic.flows.iter().zip(sim.records().flows.iter()).filter(|(f, _)| f.background)
    {
        let Some(role) = flow.role else { continue };
        *done.entry(flow.label).or_default().entry(role.process).or_insert(true) &= outcome.fct.is_some();
    }
    let of_label = done.into_iter().filter_map(|(label, processes)| {
        let ended = processes.values().filter(|done| **done).count();
        (ended > 0).then(|| {
            format!(
                "{ended} of {} congestor processes of `{}` had made all their iterations before the run was over, so that \
                 what came after met less congestion: raise `congestor_iterations`, or `all_to_all_iterations` if it is set",
                processes.len(),
                traffic.labels[usize::from(label)]
            )
        })
    });
    of_label.collect()
}
