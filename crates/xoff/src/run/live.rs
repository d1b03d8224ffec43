//! The network of a session, and the results of a session that was closed.

use std::time::Duration;

use serde_json::Value;
use web_time::Instant;
use xoff_engine::Time;
use xoff_fabric::network::Growth;
use xoff_fabric::run::live::{Limits, Live};
use xoff_fabric::{Network, Stop};
use xoff_traffic::{FlowSpec, Traffic};

use super::manifest::{Clock, Remains, deadlock, manifest};
use super::recording::recording;
use super::{Output, RunError, detector, network, trace};
use crate::scenario::{MAX_ROWS, Rates, Scenario, rows_that_fit};
use crate::tables;

/// A live run of `scenario`, with the messages of its own traffic.
pub(crate) fn open(scenario: &Scenario) -> Result<Live, RunError> {
    if scenario.is_counted() {
        return Err(RunError::Counted);
    }
    let (mut net, nics): (Network, _) = network(scenario)?;
    let growth = Growth::new(&mut net, scenario.router(), &nics)?;
    let detector = scenario.detector.as_ref().filter(|_| net.signals.ecn);
    let limits = Limits {
        max_events: scenario.run.max_events.unwrap_or(u64::MAX),
        max_rows: MAX_ROWS.min(rows_that_fit()) as u64,
        rates: scenario.record.rates == Rates::All,
    };
    let recording = recording(scenario, scenario.network());
    Ok(Live::new(net, growth, detector, recording, scenario.run.duration, limits))
}

/// The results of `scenario`'s live run, which ends at `now` and began at `began`. Messages that were added have `label`;
/// `session` is for the manifest.
pub(crate) fn close(
    scenario: &Scenario,
    live: Live,
    (now, stop): (Time, Stop),
    began: Instant,
    label: &str,
    session: Value,
) -> Output {
    let packets = recording(scenario, scenario.network()).packets;
    let mut sim = live.close(now);
    let remains = Remains::take(&mut sim);
    let traffic = with_added(scenario, sim.network(), label);
    let tables = tables::all(&sim, &traffic);
    let clock = Clock { setup: scenario.took().max(Duration::ZERO), wall: began.elapsed() };
    let mut manifest = manifest(scenario, &traffic, &sim, &remains, stop, &clock, &tables);
    manifest["session"] = session;
    let trace = packets.map(|filter| trace(scenario, detector(scenario, sim.network()), filter.ports, sim));
    Output { manifest, tables, trace }
}

/// The scenario's traffic with the messages that were added.
fn with_added(scenario: &Scenario, net: &Network, label: &str) -> Traffic {
    let mut traffic = scenario.flows().clone();
    let known = traffic.labels.iter().position(|known| known == label);
    let number = known.unwrap_or(traffic.labels.len()) as u16;
    if known.is_none() {
        traffic.labels.push(label.to_string());
    }
    let mut index = vec![0; net.topology.nodes.len()];
    for (number, host) in (0u32..).zip(net.topology.hosts()) {
        index[host.index()] = number;
    }
    let lanes = net.paths.lanes.as_ref().map_or(1, |lanes| lanes.count()).max(1);
    let planned = traffic.flows.len();
    for flow in net.flows.iter().skip(planned) {
        traffic.flows.push(FlowSpec {
            src: index[flow.src.index()],
            dst: index[flow.dst.index()],
            size: flow.size,
            start: flow.start,
            priority: flow.priority / lanes,
            label: number,
            ..FlowSpec::default()
        });
    }
    traffic
}

/// Why a live run goes no further, as a run would say.
pub(crate) fn stopped(scenario: &Scenario, live: &Live, stop: Stop, flows: u64) -> RunError {
    let sim = live.simulation();
    let at_us = live.now().secs() * 1e6;
    match stop {
        Stop::Deadlock => RunError::Deadlock { at_us, ports: deadlock(sim) },
        Stop::Events => {
            RunError::TooManyEvents { at_us, events: scenario.run.max_events.unwrap_or(u64::MAX) }
        }
        Stop::Rows => RunError::TooManyRows { at_us, rows: sim.row_limit() },
        _ => RunError::Stalled { at_us, left: flows - live.counters().flows_done, flows },
    }
}
