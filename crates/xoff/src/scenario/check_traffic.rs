//! Checks of the run's end and of the traffic, by making its flows.

use xoff_engine::{MAX_SCHEDULED, Time};
use xoff_fabric::settings::Order;
use xoff_fabric::topology::{Topology, peer};
use xoff_traffic::workloads::WORKLOADS;
use xoff_traffic::{Fault, HostInfo, Traffic, TrafficError, generate};

use super::check::{Checker, text_of};
use super::error::expected_names;
use super::{Files, Scenario, Stop};

/// Maximum length of a run, and latest start of a flow: 11 days, far enough from the 213 days that 64 bits hold for no
/// sum of times to overflow.
const MAX_DURATION: Time = Time(1_000_000_000_000_000_000);

/// Maximum number of events that `order = "scheduled"` counts, less those that may be pending.
const MAX_IN_ORDER: u64 = 4_000_000_000;
const _: () = assert!(MAX_IN_ORDER < MAX_SCHEDULED);

/// Checks `[run]` and `[[traffic]]`. Gives the flows if they can be made.
pub(super) fn all(
    c: &mut Checker<'_>,
    s: &Scenario,
    topology: &Topology,
    files: Files<'_>,
) -> Option<Traffic> {
    run(c, s);
    let adjacency = topology.adjacency();
    let switch = |node| adjacency.host_port(node).map(|port| topology.node_of(peer(port)));
    let host = |node| HostInfo {
        name: topology.nodes[node as usize].name.clone(),
        // Every host has its port in a topology that was built.
        rate: adjacency.host_port(node).map(|port| topology.rate(port)).unwrap_or_default(),
        rack: switch(node).unwrap_or_default(),
    };
    let hosts: Vec<HostInfo> = topology.hosts().into_iter().map(host).collect();
    let read = |name: &str| text_of(files, name);
    let horizon = s.run.duration.filter(|d| *d > Time::ZERO);
    match generate(&s.traffic, &hosts, s.seed, horizon, &read) {
        Ok(traffic) => {
            flows(c, s, &traffic);
            Some(traffic)
        }
        Err(error) => {
            problem(c, &hosts, &error);
            None
        }
    }
}

/// Where events are numbered, a run ends before the numbers do.
pub(super) fn count_events(s: &mut Scenario) {
    if s.quirks.order == Order::Scheduled && s.run.max_events.is_none() {
        s.run.max_events = Some(MAX_IN_ORDER);
    }
}

fn run(c: &mut Checker<'_>, s: &Scenario) {
    match s.run.duration {
        Some(Time::ZERO) => {
            c.add("run.duration", "`duration` in [run] is zero", "expected a time such as \"10ms\"");
        }
        Some(duration) if duration > MAX_DURATION => {
            let message = format!("`duration` in [run] is {duration}");
            c.add("run.duration", message, format!("expected at most {MAX_DURATION}"));
        }
        None if s.run.stop == Stop::Time => {
            let expected = "expected `duration` in [run] as well";
            c.add("run.stop", "`stop = \"time\"` in [run] lacks the time", expected);
        }
        _ => {}
    }
    if s.quirks.order == Order::Scheduled && s.run.max_events.is_some_and(|n| n > MAX_IN_ORDER) {
        let message = "`max_events` in [run] is more than `order = \"scheduled\"` in [quirks] can count";
        c.add("run.max_events", message, format!("expected at most {MAX_IN_ORDER}"));
    }
    if s.run.max_events == Some(0) {
        c.add("run.max_events", "`max_events` in [run] is zero", "expected a number from 1, or no such key");
    }
}

fn flows(c: &mut Checker<'_>, s: &Scenario, traffic: &Traffic) {
    let place = |label: u16, key: &str| {
        let label = traffic.labels.get(usize::from(label));
        let index = s.traffic.iter().position(|p| Some(p.label()) == label.map(String::as_str));
        format!("traffic.{}.{key}", index.unwrap_or(0))
    };
    if traffic.flows.is_empty() {
        c.add("traffic.0.pattern", "the traffic makes no flow", "expected a higher load, or a longer run");
    }
    if let Some(flow) =
        traffic.flows.iter().find(|f| f.start > MAX_DURATION || f.stop.is_some_and(|t| t > MAX_DURATION))
    {
        let message = format!("[[traffic]] has a flow from {}", flow.start);
        c.add(&place(flow.label, "start"), message, format!("expected times up to {MAX_DURATION}"));
    }
    if let Some(flow) = traffic.flows.iter().find(|f| f.priority >= s.switch.priorities)
        && (1..=8).contains(&s.switch.priorities)
    {
        let (count, priority) = (s.switch.priorities, flow.priority);
        let message =
            format!("`priority` in [[traffic]] is {priority}, and switches have {count}, numbered from 0");
        let expected = if priority < 8 {
            format!("expected a number below {count}, or `priorities = {}` in [switch]", priority + 1)
        } else {
            "expected a number from 0 to 7".into()
        };
        c.add(&place(flow.label, "priority"), message, expected);
    }
}

fn problem(c: &mut Checker<'_>, hosts: &[HostInfo], error: &TrafficError) {
    match error {
        TrafficError::Pattern { index, key, fault, .. } => {
            let mut violation = fault.violation(key).inside(&format!("traffic.{index}"));
            // Of names, the list of those that exist.
            match fault {
                Fault::UnknownHost { name, .. } => {
                    violation.expected = expected_names(name, hosts.iter().map(|h| h.name.as_str()));
                }
                Fault::UnknownWorkload { name, .. } => {
                    violation.expected = expected_names(name, WORKLOADS.iter().map(|w| w.name));
                }
                _ => {}
            }
            c.violation(&violation);
        }
        TrafficError::TooManyFlows { index, count, limit, cause, .. } => {
            let message = format!("[[traffic]] makes about {count} flows: {cause}");
            c.add(
                &format!("traffic.{index}.pattern"),
                message,
                format!("expected at most {limit} flows in all"),
            );
        }
        TrafficError::TooManyPatterns(count) => {
            let message = format!("the scenario has {count} tables [[traffic]]");
            c.add("traffic", message, format!("expected at most {}", u16::MAX));
        }
        // Topologies have fewer hosts, each with its own name.
        TrafficError::TooManyHosts(_) | TrafficError::SameName(_) => c.add("topology", error.to_string(), ""),
    }
}
