//! Running a scenario: from its flows to a manifest and result tables.

mod cannot_act;
mod error;
mod full_record;
pub(crate) mod live;
mod manifest;
mod parallelism;
mod recording;
pub(crate) mod unfinished;

use std::time::Duration;

use web_time::Instant;

use serde_json::Value;
use xoff_engine::{Column, NicChoice, Time};
pub use xoff_fabric::Failure;
use xoff_fabric::network::FlowColumns;
use xoff_fabric::network::dependencies::Schedule;
use xoff_fabric::observe::{OwnRow, Probe, Recording};
use xoff_fabric::topology::{NodeId, PortId};
use xoff_fabric::{Cut, Network, Simulation, Stop, needs_one_partition, run as fabric_run};
use xoff_schemes::AnyDetector;
use xoff_traffic::Traffic;

use crate::scenario::{Expect, FastForward, MAX_ROWS, Scenario, Stop as Until, rows_that_fit};
use crate::summary::Summary;
use crate::tables::{self, SoFar, Table};
use crate::trace::{CodePoints, Trace};

pub use error::RunError;
use manifest::{Clock, Remains, deadlock, manifest};
pub use parallelism::{OnThreads, Parallelism, parallelism};
use recording::recording;

/// The results of a run.
pub struct Output {
    /// The resolved scenario and the run's totals, as in `manifest.json`.
    pub manifest: Value,
    /// Result tables.
    pub tables: Vec<Table>,
    /// The packets for other programs; `None` if `record.packets` is `"none"`.
    pub trace: Option<Trace>,
}

impl Output {
    /// The run in a few numbers.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.tables, Time(self.manifest["sim_time_ps"].as_u64().unwrap_or_default()))
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Share of the run that is done, by simulated time or by flows, whichever is further.
    pub share: f64,
    /// Simulated time.
    pub now: Time,
    /// Flows completed.
    pub flows_done: u64,
    /// Number of all flows.
    pub flows: u64,
}

/// How many threads simulate a run. Its results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The number that makes the run fastest, up to the number of cores; one for a small run.
    Auto,
    /// This many, but at least one, and not more than the partitions into which the network can be cut.
    UpTo(u32),
}

impl Threads {
    /// The maximum number.
    fn most(self) -> usize {
        match self {
            Threads::Auto => std::thread::available_parallelism().map_or(1, usize::from),
            Threads::UpTo(threads) => (threads as usize).max(1),
        }
    }
}

/// Runs `scenario` on one thread to its end, or until `on_progress` returns false; it is called about ten times a second.
///
/// A run that has recorded [`MAX_ROWS`] rows, or as many as memory holds, ends there, with the rows that it has and an
/// incomplete manifest.
pub fn run(scenario: &Scenario, on_progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Output, RunError> {
    run_on(Threads::UpTo(1), scenario, on_progress)
}

/// Runs `scenario` like [`run()`], but on several threads.
pub fn run_on(
    threads: Threads,
    scenario: &Scenario,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Output, RunError> {
    run_up_to(threads, scenario, MAX_ROWS, &[], on_progress, None).map(|(output, _)| output)
}

/// What a look at a run that goes on has found.
pub struct Look {
    /// How far the run is.
    pub progress: Progress,
    /// Events handled so far.
    pub events: u64,
    /// Rows recorded since the last look, by table: see [`SoFar::look`]. `None` if several threads record, each its own part.
    pub tables: Option<Vec<Table>>,
}

/// How often a run is looked at, at most; a look takes no more than a tenth of the run's time.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// Runs `scenario` as [`run_on`] does, and tells `on_look` about twice a second what was recorded since the last time. The
/// results are the same.
pub fn run_watched(
    threads: Threads,
    scenario: &Scenario,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
    on_look: &mut dyn FnMut(Look),
) -> Result<Output, RunError> {
    run_up_to(threads, scenario, MAX_ROWS, &[], on_progress, Some(on_look)).map(|(output, _)| output)
}

/// Makes a probe for a partition of a network.
pub type MakeProbe<'a> = &'a dyn Fn(&Network) -> Box<dyn Probe>;

/// Runs `scenario` as [`run_on`] does, with probes of one's own. The rows that all partitions' probes have found come back
/// by name, time and subject.
///
/// ```
/// use xoff::fabric::Network;
/// use xoff::fabric::ids::FlowId;
/// use xoff::fabric::observe::{Hooks, OwnRow, Probe, Records};
/// use xoff::prelude::*;
///
/// /// Counts ACKs.
/// struct Acks(u32);
///
/// impl Probe for Acks {
///     fn hooks(&self) -> Hooks {
///         Hooks::ACKS
///     }
///
///     fn on_ack(&mut self, _: Time, _: FlowId, _: u64) {
///         self.0 += 1;
///     }
///
///     fn finish(&mut self, now: Time, records: &mut Records) {
///         records.own.push(OwnRow { name: "acks", time: now, subject: 0, value: self.0.into() });
///     }
/// }
///
/// let star = Star { hosts: 2, ..Star::default() };
/// let scenario = ScenarioBuilder::new(star, AnyScheme::Dctcp(Default::default()))
///     .traffic(FlowPattern::message("host0", "host1", Bytes(10_000)))
///     .build()?;
/// let acks = |_: &Network| Box::new(Acks(0)) as Box<dyn Probe>;
/// let (_, rows) = xoff::run_with(Threads::Auto, &scenario, &[&acks], &mut |_| true)?;
/// // Six full packets of 1,456 B and one of the rest carry 10,000 B; each is acknowledged.
/// assert_eq!(rows[0].value, 7.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_with(
    threads: Threads,
    scenario: &Scenario,
    probes: &[MakeProbe<'_>],
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Output, Vec<OwnRow>), RunError> {
    run_up_to(threads, scenario, MAX_ROWS, probes, on_progress, None)
}

/// What the network needs from `traffic` beside its flows: which flows wait for which, and their connections.
fn schedule(traffic: &Traffic, hosts: &[NodeId]) -> Schedule {
    let steps = traffic.steps.iter().map(|s| s.at(hosts[s.host as usize]));
    /// The values of a column unless all are those that the network takes without being told.
    fn told<T: Copy + Default + PartialEq>(column: &Column<T>) -> Vec<T> {
        let is_told = column.values().iter().any(|value| *value != T::default());
        if is_told { column.iter().collect() } else { Vec::new() }
    }
    Schedule {
        steps: steps.collect(),
        dependencies: traffic.dependencies.clone(),
        connections: told(traffic.flows.connections()),
        nics: told(traffic.flows.nics()),
        background: told(traffic.flows.backgrounds()),
        anywhere: traffic.anywhere,
    }
}

/// The cut of a network for its threads.
fn cut(threads: Threads, net: &Network, duration: Option<Time>) -> Result<Cut, RunError> {
    match (threads, needs_one_partition(net)) {
        (Threads::UpTo(0 | 1), _) | (Threads::Auto, Some(_)) => Ok(Cut::single(net)),
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

/// The nodes of hosts, by flow.
fn nodes_of(flows: &Column<u32>, hosts: &[NodeId]) -> Column<u32> {
    // Most networks have their hosts before their switches: numbers of hosts are those of nodes then, and take no more memory.
    let is_same = hosts.iter().enumerate().all(|(number, host)| host.index() == number);
    if is_same { flows.clone() } else { flows.iter().map(|host| hosts[host as usize].0).collect() }
}

/// The network of `scenario` with its flows, and the NICs that these ask for.
fn network(scenario: &Scenario) -> Result<(Network, Vec<Option<NicChoice>>), RunError> {
    let topology = scenario.network().clone();
    let hosts = topology.hosts();
    let traffic = scenario.flows();
    let flows = FlowColumns {
        src: nodes_of(traffic.flows.senders(), &hosts),
        dst: nodes_of(traffic.flows.receivers(), &hosts),
        size: traffic.flows.sizes(),
        start: traffic.flows.starts(),
        stop: traffic.flows.stops(),
        source_rate: traffic.flows.app_rates(),
        priority: traffic.flows.priorities(),
    };
    let schedule = schedule(traffic, &hosts);
    let nics = schedule.nics.clone();
    let net = Network::along(
        topology,
        scenario.router(),
        scenario.env(),
        scenario.settings(),
        scenario.scheme.for_run(),
        flows,
        schedule,
        scenario.seed,
    )?;
    // Events at random may not come at all; the network is one in which they could.
    let net = if scenario.event.is_empty() {
        net
    } else {
        let convergence = scenario.routing.convergence();
        net.with_faults(scenario.router(), scenario.faults().to_vec(), convergence, &nics)?
    };
    Ok((net, nics))
}

/// The simulation of `scenario` on `threads`.
fn simulation(threads: Threads, scenario: &Scenario, recording: Recording) -> Result<Simulation, RunError> {
    let (net, _) = network(scenario)?;
    let cut = cut(threads, &net, scenario.run.duration)?;
    let detector = detector(scenario, &net);
    let mut sim = Simulation::cut(net, cut, detector, recording, scenario.run.duration);
    if scenario.run.stop == Until::Time {
        sim.run_to_duration();
    }
    sim.limit_events(scenario.run.max_events.unwrap_or(u64::MAX));
    Ok(sim)
}

/// The detector that marks packets, if the scheme looks at marks.
fn detector<'a>(scenario: &'a Scenario, net: &Network) -> Option<&'a AnyDetector> {
    scenario.detector.as_ref().filter(|_| net.signals.ecn)
}

fn run_up_to(
    threads: Threads,
    scenario: &Scenario,
    max_rows: usize,
    probes: &[MakeProbe<'_>],
    on_progress: &mut dyn FnMut(&Progress) -> bool,
    on_look: Option<&mut dyn FnMut(Look)>,
) -> Result<(Output, Vec<OwnRow>), RunError> {
    if scenario.is_counted() {
        return Err(RunError::Counted);
    }
    let began = Instant::now();
    let traffic = scenario.flows();
    let recording = recording(scenario, scenario.network());
    let traced = recording.packets.as_ref().map(|filter| filter.ports.clone());
    let fast_forward = scenario.run.fast_forward;
    // In a run that is fast-forwarded, threads simulate parts of the traffic that cannot affect each other, and no part of the network.
    let apart = threads.most();
    let threads = if fast_forward.is_some() { Threads::UpTo(1) } else { threads };
    let mut sim = simulation(threads, scenario, recording)?;
    if let Some(FastForward { tolerance, approximate, recall, .. }) = fast_forward {
        if !probes.is_empty() {
            return Err(RunError::ProbesOfSkipped);
        }
        sim.fast_forward(tolerance, apart);
        sim.approximate(approximate);
        if !recall {
            sim.recall_no_messages();
        }
    }
    probes.iter().for_each(|probe| sim.add_probe(probe));
    let setup = scenario.took() + began.elapsed();
    sim.limit_rows(max_rows.min(rows_that_fit()));
    let stop = simulate(scenario, &mut sim, on_progress, on_look)?;
    let at_us = sim.now().secs() * 1e6;
    match stop {
        Stop::Stalled => {
            let (done, flows) = (sim.counters().flows_done, sim.network().flows.len() as u64);
            return Err(RunError::Stalled { at_us, left: flows - done, flows });
        }
        Stop::Deadlock if scenario.run.expect != Some(Expect::Deadlock) => {
            return Err(RunError::Deadlock { at_us, ports: deadlock(&sim) });
        }
        Stop::Events => {
            let events = scenario.run.max_events.unwrap_or(u64::MAX);
            return Err(RunError::TooManyEvents { at_us, events });
        }
        Stop::Stuck if scenario.run.expect != Some(Expect::Unfinished) => {
            return Err(RunError::Stuck { at_us, unfinished: unfinished::all(&sim, traffic) });
        }
        Stop::FlowsDone
        | Stop::Stuck
        | Stop::Duration
        | Stop::Deadlock
        | Stop::Asked
        | Stop::Rows
        | Stop::Closed => {}
    }
    let remains = Remains::take(&mut sim);
    let tables = tables::all(&sim, traffic);
    let clock = Clock { setup, wall: began.elapsed() };
    let manifest = manifest(scenario, traffic, &sim, &remains, stop, &clock, &tables);
    let found = sim.records().own.clone();
    let trace = traced.map(|ports| trace(scenario, detector(scenario, sim.network()), ports, sim));
    Ok((Output { manifest, tables, trace }, found))
}

/// The packets of a run that has ended, with everything else that a trace shows.
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
    on_progress: &mut dyn FnMut(&Progress) -> bool,
    mut on_look: Option<&mut dyn FnMut(Look)>,
) -> Result<Stop, RunError> {
    let duration = scenario.run.duration;
    let net = sim.shared_network();
    let mut so_far = on_look.is_some().then(|| SoFar::new(&net));
    let mut next_look = Instant::now();
    let mut reported = Instant::now();
    Ok(sim.run(&mut |p: &fabric_run::Progress<'_>| {
        if reported.elapsed().as_millis() < 100 {
            return true;
        }
        reported = Instant::now();
        let by_time = duration.map_or(0.0, |d| p.now.secs() / d.secs());
        let by_flows = if p.flows == 0 { 0.0 } else { p.flows_done as f64 / p.flows as f64 };
        let share = by_time.max(by_flows).min(1.0);
        let progress = Progress { share, now: p.now, flows_done: p.flows_done, flows: p.flows };
        if let (Some(on_look), Some(so_far)) = (&mut on_look, &mut so_far)
            && reported >= next_look
        {
            let tables = p.records.map(|records| so_far.look(&net, scenario.flows(), records, p.now));
            on_look(Look { progress, events: p.events, tables });
            next_look = Instant::now() + LOOK_EVERY.max(reported.elapsed() * 10);
        }
        on_progress(&progress)
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_take_no_memory_of_their_own_where_hosts_have_their_numbers() {
        let flows: Column<u32> = [1, 0, 2].into_iter().collect();
        let nodes = |hosts: [u32; 3]| nodes_of(&flows, &hosts.map(NodeId));
        assert_eq!(nodes([0, 1, 2]).values().as_ptr(), flows.values().as_ptr());
        assert_eq!(nodes([0, 4, 7]).iter().collect::<Vec<_>>(), [4, 0, 7]);
    }

    const SMALL: &str = r#"
        topology = { name = "star", hosts = 2 }
        scheme = { name = "none" }
        traffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "1MB" }]
        record = { interval = "1ns", queues = "all" }
    "#;

    fn full(set: &[(&str, &str)]) -> Output {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let scenario = Scenario::parse(SMALL, "small.toml", &set).unwrap_or_else(|e| panic!("{e}"));
        run_up_to(Threads::UpTo(1), &scenario, 4_000, &[], &mut |_| true, None)
            .unwrap_or_else(|e| panic!("{e}"))
            .0
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
    fn a_full_record_says_what_it_would_need() {
        // 37.5 us need 37.5 times the 4,000 rows of 1 us, 108 B each: 16.2 MB.
        let reason = |set: &[_]| full(set).manifest["stop_reason"].as_str().unwrap_or_default().to_string();
        let long = reason(&[("run.duration", "37.5us")]);
        assert!(long.contains("memory holds no more than 4000 rows, which take less than 1 MB"), "{long}");
        assert!(long.contains("the whole duration needs about 150000 rows, which take 16 MB"), "{long}");
        assert!(!reason(&[]).contains("duration needs"));
    }

    #[test]
    fn a_full_record_names_the_interval_that_reaches_the_duration() {
        // 1 us of the 37.5 us is through: 37.5 times the interval, and 38 times in two digits.
        let output = full(&[("run.duration", "37.5us")]);
        let reason = output.manifest["stop_reason"].as_str().expect("a text");
        assert!(reason.contains("\"38ns\"") && reason.contains("37.5us"), "{reason}");
    }
}
