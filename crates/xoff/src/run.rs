//! Running a scenario: from its flows to a manifest and result tables.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xoff_engine::Time;
pub use xoff_fabric::Failure;
use xoff_fabric::capture::PacketFilter;
use xoff_fabric::dependencies::{Schedule, Step};
use xoff_fabric::network::Flow;
use xoff_fabric::topology::{NodeId, NodeKind, PortId, Topology};
use xoff_fabric::{BuildError, Cut, Network, Progress, Recording, Simulation, Stop, needs_one_part};

use xoff_schemes::{AnyDetector, AnyScheme};
use xoff_traffic::Traffic;

use crate::jobs;
use crate::scenario::{MOST_ROWS, Queues, Rates, Scenario, States, Stop as Until};
use crate::summary::Summary;
use crate::tables::{self, Table};
use crate::trace::{CodePoints, Trace};

/// Why a run gave no results, or broke.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The scenario makes no network.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An invariant of the network failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Nothing can happen any more, and flows are left.
    #[error(
        "the run stalled at {at_us:.3} us: {left} of {flows} flows are incomplete and nothing is left to happen; without \
         flow control or retransmission, give `lossy = true`"
    )]
    Stalled {
        /// Time of the last event, in us.
        at_us: f64,
        /// Incomplete flows.
        left: u64,
        /// All flows.
        flows: u64,
    },
    /// More events than the scenario allows.
    #[error(
        "the run was broken off in the microsecond after {at_us:.0} us: it has more than {events} events, which is what \
         `run.max_events` allows"
    )]
    TooManyEvents {
        /// Beginning of the microsecond in which the limit was passed, in us.
        at_us: f64,
        /// Events allowed.
        events: u64,
    },
    /// More threads than the scenario can have.
    #[error(
        "{threads} threads: `{setting}` needs events in one order for all of the network; expected 1, or `auto`"
    )]
    OneThread {
        /// Threads asked for.
        threads: u32,
        /// The setting and its value.
        setting: &'static str,
    },
    /// More threads than the scheme can have.
    #[error("{threads} threads: the scheme `{scheme}` runs on one thread alone; expected 1, or `auto`")]
    SchemeOfOneThread {
        /// Threads asked for.
        threads: u32,
        /// The scheme's name.
        scheme: String,
    },
    /// Flow control has brought a part of the network to a stop for ever.
    #[error(
        "deadlock at {at_us:.3} us: these ports wait on each other: {}; a scheme that keeps queues short, or routes \
         without a cycle, avoid it; give `run.duration` to see the results up to a time",
        ports.join(", ")
    )]
    Deadlock {
        /// When it was found, in us.
        at_us: f64,
        /// The ports, each as `node->neighbour`.
        ports: Vec<String>,
    },
}

/// What a run gives.
pub struct Output {
    /// The resolved scenario and the run's totals, as `manifest.json` has them.
    pub manifest: Value,
    /// Result tables.
    pub tables: Vec<Table>,
    /// The packets for other programs, where `record.packets` asks for them.
    pub trace: Option<Trace>,
}

/// How far a run is, for who waits.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    /// Share of the run that is done, by simulated time or by flows, whichever is further.
    pub share: f64,
    /// Simulated time.
    pub now: Time,
    /// Flows completed.
    pub flows_done: u64,
    /// Flows in all.
    pub flows: u64,
}

/// How many threads simulate a run. Its results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// As many as make the run fastest, up to the number of cores: one where it is small.
    Auto,
    /// This many, or as many as the network has parts to simulate; at least one.
    UpTo(u32),
}

/// Runs `scenario` on one thread to its end, or until `look` says no; it is asked some ten times a second.
///
/// A run that has recorded [`MOST_ROWS`] rows ends there, with what it has and an incomplete manifest.
pub fn run(scenario: &Scenario, look: &mut dyn FnMut(&Glance) -> bool) -> Result<Output, RunError> {
    run_on(Threads::UpTo(1), scenario, look)
}

/// The same on several threads.
pub fn run_on(
    threads: Threads,
    scenario: &Scenario,
    look: &mut dyn FnMut(&Glance) -> bool,
) -> Result<Output, RunError> {
    run_up_to(threads, scenario, MOST_ROWS, look)
}

/// What the network must know of `traffic` beside its flows: which flows wait for which, and their connections.
fn schedule(traffic: &Traffic, hosts: &[NodeId]) -> Schedule {
    let steps = traffic.steps.iter().map(|s| Step { host: hosts[s.host as usize], ..*s });
    let (flows, connected) = (&traffic.flows, traffic.flows.iter().any(|f| f.connection.is_some()));
    let background = flows.iter().any(|f| f.background);
    Schedule {
        steps: steps.collect(),
        dependencies: traffic.dependencies.clone(),
        connections: flows.iter().map(|f| f.connection).filter(|_| connected).collect(),
        background: flows.iter().map(|f| f.background).filter(|_| background).collect(),
        anywhere: traffic.anywhere,
    }
}

/// The cut of a network for its threads.
fn cut(threads: Threads, net: &Network, duration: Option<Time>) -> Result<Cut, RunError> {
    match (threads, needs_one_part(net)) {
        (Threads::UpTo(0 | 1), _) | (Threads::Auto, Some(_)) => Ok(Cut::whole(net)),
        (Threads::UpTo(threads), _) if net.scheme.needs_one_thread() => {
            Err(RunError::SchemeOfOneThread { threads, scheme: net.scheme.name().to_string() })
        }
        (Threads::UpTo(threads), Some(setting)) => Err(RunError::OneThread { threads, setting }),
        (Threads::UpTo(threads), None) => Ok(Cut::into(net, threads as usize, duration)),
        (Threads::Auto, None) => {
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
            Ok(Cut::fastest(net, cores, duration))
        }
    }
}

fn run_up_to(
    threads: Threads,
    scenario: &Scenario,
    most_rows: usize,
    look: &mut dyn FnMut(&Glance) -> bool,
) -> Result<Output, RunError> {
    let began = Instant::now();
    let topology = scenario.network().clone();
    let hosts = topology.hosts();
    let traffic = scenario.flows();
    let flows = traffic.flows.iter().map(|f| Flow {
        src: hosts[f.src as usize],
        dst: hosts[f.dst as usize],
        size: f.size,
        start: f.start,
        stop: f.stop,
        source_rate: f.app_rate,
        priority: f.priority,
    });
    let recording = recording(scenario, &topology);
    let traced = recording.packets.as_ref().map(|filter| filter.ports.clone());
    let net = Network::along(
        topology,
        scenario.router(),
        scenario.env(),
        scenario.settings(),
        scenario.scheme.for_run(),
        flows.collect(),
        schedule(traffic, &hosts),
        scenario.seed,
    )?;
    let detector = scenario.detector.as_ref().filter(|_| net.signals.ecn);
    let cut = cut(threads, &net, scenario.run.duration)?;
    let mut sim = Simulation::cut(net, cut, detector, recording, scenario.run.duration);
    let setup = scenario.took() + began.elapsed();
    if scenario.run.stop == Until::Time {
        sim.run_to_duration();
    }
    sim.limit_rows(most_rows);
    let stop = simulate(scenario, &mut sim, look)?;
    let at_us = sim.now().secs() * 1e6;
    match stop {
        Stop::Stalled => {
            let (done, flows) = (sim.counters().flows_done, sim.network().flows.len() as u64);
            return Err(RunError::Stalled { at_us, left: flows - done, flows });
        }
        Stop::Deadlock => return Err(RunError::Deadlock { at_us, ports: deadlock(&sim) }),
        Stop::Events => {
            let events = scenario.run.max_events.unwrap_or(u64::MAX);
            return Err(RunError::TooManyEvents { at_us, events });
        }
        Stop::FlowsDone | Stop::Duration | Stop::Asked | Stop::Rows => {}
    }
    let tables = tables::all(&sim, traffic);
    let clock = Clock { setup, wall: began.elapsed() };
    let manifest = manifest(scenario, &sim, stop, &clock, &tables);
    let trace = traced.map(|ports| trace(scenario, detector, ports, sim));
    Ok(Output { manifest, tables, trace })
}

/// The packets of a run that has ended, and what a trace needs beside them.
fn trace(scenario: &Scenario, detector: Option<&AnyDetector>, ports: Vec<PortId>, sim: Simulation) -> Trace {
    let (scheme, seed) = (scenario.scheme.name(), scenario.seed);
    let end = sim.now();
    let (net, records) = sim.into_records();
    let code_points = match detector {
        None => CodePoints::None,
        Some(detector) if detector.has_states() => CodePoints::Ternary,
        Some(_) => CodePoints::Ecn,
    };
    let about = format!(
        "a simulated run: scheme {scheme}, seed {seed}; time 0 is the run's, packets have no payload"
    );
    Trace { net, records, ports, end, code_points, about }
}

fn simulate(
    scenario: &Scenario,
    sim: &mut Simulation,
    look: &mut dyn FnMut(&Glance) -> bool,
) -> Result<Stop, RunError> {
    let duration = scenario.run.duration;
    sim.limit_events(scenario.run.max_events.unwrap_or(u64::MAX));
    let mut looked = Instant::now();
    Ok(sim.run(&mut |p: &Progress| {
        if looked.elapsed().as_millis() < 100 {
            return true;
        }
        looked = Instant::now();
        let by_time = duration.map_or(0.0, |d| p.now.secs() / d.secs());
        let by_flows = if p.flows == 0 { 0.0 } else { p.flows_done as f64 / p.flows as f64 };
        let share = by_time.max(by_flows).min(1.0);
        look(&Glance { share, now: p.now, flows_done: p.flows_done, flows: p.flows })
    })?)
}

/// The names of the ports that wait on each other for ever.
fn deadlock(sim: &Simulation) -> Vec<String> {
    sim.deadlock().into_iter().map(|p| sim.network().topology.port_name(p)).collect()
}

/// Most flows in any switch's table at once, and on average over the switches; null where they have no such table.
fn flow_tables(sim: &Simulation) -> Value {
    let most: Vec<u64> = sim.records().flow_tables.iter().map(|&(_, most)| most).collect();
    match most.iter().max() {
        Some(largest) => {
            json!({ "largest": largest, "mean": most.iter().sum::<u64>() as f64 / most.len() as f64 })
        }
        None => Value::Null,
    }
}

/// These ports in order, each once.
fn once(mut ports: Vec<PortId>) -> Vec<PortId> {
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// What the fabric is to record, by ports and flows.
fn recording(scenario: &Scenario, topology: &Topology) -> Recording {
    let record = &scenario.record;
    let of_switch = |p: &PortId| topology.nodes[topology.node_of(*p) as usize].kind == NodeKind::Switch;
    let all = 0..topology.ports();
    let named = |names: &[String]| -> Vec<PortId> {
        let known = topology.port_names();
        names.iter().filter_map(|n| known.iter().position(|k| k == n).map(|p| p as PortId)).collect()
    };
    let states = match &record.states {
        States::None => Vec::new(),
        States::All => all.clone().filter(of_switch).collect(),
        States::Ports(names) => once(named(names)),
    };
    let chosen = |ports: &Queues| -> Vec<PortId> {
        match ports {
            Queues::None => Vec::new(),
            Queues::All => all.clone().collect(),
            Queues::Switches => all.clone().filter(of_switch).collect(),
            Queues::Ports(names) => named(names),
        }
    };
    let ports = chosen(&record.queues);
    let traffic = scenario.flows();
    let flows = traffic.flows.iter().enumerate();
    let rates = match &record.rates {
        Rates::None => Vec::new(),
        Rates::All => flows.map(|(i, _)| i as u32).collect(),
        Rates::Labels(labels) => flows
            .filter(|(_, f)| labels.contains(&traffic.labels[f.label as usize]))
            .map(|(i, _)| i as u32)
            .collect(),
    };
    Recording {
        interval: record.samples().then_some(record.interval),
        utilization: if record.utilization { ports.clone() } else { Vec::new() },
        queues: ports,
        rates,
        pauses: record.pauses,
        notifications: record.notifications,
        roots: record.roots.then_some(record.root_growth.0),
        marks: record.marks,
        states,
        throttles: record.throttles,
        breakdown: record.breakdown,
        packets: (record.packets != Queues::None).then(|| PacketFilter {
            ports: once(chosen(&record.packets)),
            from: record.packets_from,
            until: record.packets_until.unwrap_or(Time::NEVER),
        }),
    }
}

/// Why a run whose record is full ended, and what would let it go on.
fn full_record(scenario: &Scenario, sim: &Simulation) -> String {
    let (records, now, interval) = (sim.records(), sim.now(), scenario.record.interval);
    let (samples, events) = (records.sampled_rows(), full_of(sim));
    let remedy = if events.iter().all(|(_, _, rows)| samples >= *rows) {
        // As many samples as now over the whole duration or, where the end is open, ten times as long.
        let longer = match scenario.run.duration {
            Some(duration) => {
                (u128::from(interval.ps()) * u128::from(duration.ps())).div_ceil(u128::from(now.ps().max(1)))
            }
            None => u128::from(interval.ps()) * 10,
        };
        // Rounded up to two digits.
        let unit = 10u128.pow(longer.checked_ilog10().unwrap_or(0).saturating_sub(1));
        let longer = u64::try_from(longer.div_ceil(unit) * unit).unwrap_or(u64::MAX);
        let reaches = match scenario.run.duration {
            Some(duration) => format!("which would reach the duration, {duration}"),
            None => "which would reach ten times as far".into(),
        };
        format!("give a longer `record.interval`, such as \"{}\", {reaches}, or sample less", Time(longer))
    } else {
        let most = events.iter().max_by_key(|(_, _, rows)| rows);
        format!("give `record.{}`, or a shorter run", most.map_or("", |(_, off, _)| off))
    };
    let counts =
        events.iter().filter(|(_, _, rows)| *rows > 0).map(|(what, _, rows)| format!(", {rows} of {what}"));
    format!(
        "the record is full: {} rows by {:.3} us ({samples} of samples every {interval}{}); {remedy}",
        records.rows(),
        now.secs() * 1e6,
        counts.collect::<String>()
    )
}

/// What rows a record has beside samples, the key that does without each, and how many.
fn full_of(sim: &Simulation) -> [(&'static str, &'static str, usize); 8] {
    let records = sim.records();
    [
        ("pauses", "pauses = false", records.pauses.len()),
        ("notifications", "notifications = false", records.notifications.len()),
        ("roots and the flows that waited", "roots = false", records.root_rows()),
        ("marks", "marks = false", records.marks.len()),
        ("states", "states = \"none\"", records.states.len()),
        ("states of throttles", "throttles = false", records.throttles.len()),
        ("parts of flows' times", "breakdown = false", records.breakdown.len()),
        ("packets", "packets_until", records.packet_rows()),
    ]
}

/// What there is to say of background processes that came to their end before the run did, by label.
fn ran_out(sim: &Simulation, traffic: &Traffic) -> Vec<String> {
    // By label, then process: whether all its flows are complete.
    let mut done: BTreeMap<u16, BTreeMap<u32, bool>> = BTreeMap::new();
    for (flow, outcome) in traffic.flows.iter().zip(&sim.records().flows).filter(|(f, _)| f.background) {
        let Some(role) = flow.role else { continue };
        *done.entry(flow.label).or_default().entry(role.process).or_insert(true) &= outcome.fct.is_some();
    }
    let of_label = done.into_iter().filter_map(|(label, processes)| {
        let ended = processes.values().filter(|done| **done).count();
        (ended > 0).then(|| {
            format!(
                "{ended} of {} congestor processes of `{}` had made all their iterations before the run was over, so that \
                 what came after met less congestion: raise `congestor_iterations`",
                processes.len(),
                traffic.labels[usize::from(label)]
            )
        })
    });
    of_label.collect()
}

/// What a run took of wall time.
struct Clock {
    /// Before the first event: reading the scenario, and building topology, routing, flows and the network's state.
    setup: Duration,
    /// From the scenario that was read to the result tables.
    wall: Duration,
}

fn manifest(scenario: &Scenario, sim: &Simulation, stop: Stop, clock: &Clock, tables: &[Table]) -> Value {
    let (net, counters) = (sim.network(), sim.counters());
    let traffic = scenario.flows();
    let loads = traffic.offered.iter().map(|l| {
        json!({
            "label": traffic.labels[l.label as usize], "workload": l.workload, "asked": l.asked,
            "offered": l.offered, "flows": l.flows, "bytes": l.bytes,
            "mean_size_bytes": l.mean_sampled, "workload_mean_bytes": l.mean,
            "start_ps": l.start.ps(), "end_ps": l.end.ps(),
        })
    });
    let warnings = [scenario.warnings(), &ran_out(sim, traffic)].concat();
    let docs = tables.iter().map(|t| {
        let columns = t.columns().map(|(name, doc)| (name.to_string(), Value::from(doc)));
        (t.name.to_string(), Value::Object(columns.collect()))
    });
    json!({
        "format": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "complete": !matches!(stop, Stop::Asked | Stop::Rows),
        "stop_reason": match stop {
            Stop::FlowsDone => "every flow is complete".into(),
            Stop::Duration => "the duration has passed".into(),
            Stop::Asked => "interrupted".into(),
            Stop::Stalled | Stop::Deadlock => "nothing can happen any more".into(),
            Stop::Events => "as many events as allowed".into(),
            Stop::Rows => full_record(scenario, sim),
        },
        "seed": scenario.seed,
        "sim_time_ps": sim.now().ps(),
        "sample_interval_ps": scenario.record.samples().then(|| scenario.record.interval.ps()),
        "wall_s": clock.wall.as_secs_f64(),
        "setup_s": clock.setup.as_secs_f64(),
        "threads": sim.threads(),
        "events": counters.events,
        "packet_hops": counters.packet_hops,
        "fingerprint": format!("{:016x}", counters.fingerprint),
        "hosts": net.topology.hosts().len(),
        "flows": net.flows.len(),
        "flows_done": counters.flows_done,
        "most_packets_in_flight": sim.most_packets_in_flight(),
        "dropped_packets": counters.drops,
        "switch_messages": sim.records().cnms_sent,
        "lost_switch_messages": sim.records().cnms_lost,
        "flow_tables": flow_tables(sim),
        "base_rtt_ps": net.base_rtt.ps(),
        "wire": {
            "payload_bytes": net.wire.payload, "frame_bytes": net.wire.frame(), "ack_bytes": net.wire.ack,
            "ack_growth_bytes": net.wire.ack_growth,
        },
        "loads": loads.collect::<Vec<_>>(),
        "jobs": jobs::all(sim, traffic),
        "deadlock": deadlock(sim),
        "summary": Summary::of(tables),
        "warnings": warnings,
        "scheme_origin": match &scenario.scheme {
            AnyScheme::Foreign(scheme) => scheme.origin(),
            _ => Value::Null,
        },
        "table_docs": Value::Object(docs.collect()),
        "scenario": scenario,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        topology = { name = "star", hosts = 2 }
        scheme = { name = "none" }
        traffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "1MB" }]
        record = { interval = "1ns", queues = "all" }
    "#;

    fn full(set: &[(&str, &str)]) -> Output {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let scenario = Scenario::parse(SMALL, "small.toml", &set).unwrap_or_else(|e| panic!("{e}"));
        run_up_to(Threads::UpTo(1), &scenario, 4_000, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_full_record_keeps_its_rows_and_says_what_interval_to_take() {
        // Two hosts have two links: four ports, so that 4,000 rows are there after 1,000 samples, at 1 us.
        let output = full(&[]);
        assert_eq!(output.manifest["complete"], false);
        let reason = output.manifest["stop_reason"].as_str().expect("a text");
        assert!(reason.contains("4000 rows by 1.000 us") && reason.contains("\"10ns\""), "{reason}");
        let queues = output.tables.iter().find(|t| t.name == "queues").expect("a table");
        assert_eq!(queues.batch.num_rows(), 4_000);
    }

    #[test]
    fn a_full_record_names_the_interval_that_reaches_the_duration() {
        // 1 us of the 37.5 us is through: 37.5 times the interval, and 38 times in two digits.
        let output = full(&[("run.duration", "37.5us")]);
        let reason = output.manifest["stop_reason"].as_str().expect("a text");
        assert!(reason.contains("\"38ns\"") && reason.contains("37.5us"), "{reason}");
    }
}
