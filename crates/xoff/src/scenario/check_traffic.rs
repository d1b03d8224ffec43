//! Checks of the run's end and of the traffic, by making its flows.

use xoff_engine::{NicChoice, Rate, Time};
use xoff_fabric::topology::Topology;
use xoff_traffic::workloads::WORKLOADS;
use xoff_traffic::{Fault, FileSource, HostInfo, Traffic, TrafficError, generate_if};

use super::check::Checker;
use super::error::expected_names;
use super::needs::Needs;
use super::{Scenario, Stop};

/// Maximum length of a run, and latest start of a flow: 11 days, so that no sum of times exceeds the 213 days that 64 bits
/// hold.
pub(crate) const MAX_DURATION: Time = Time(1_000_000_000_000_000_000);

/// Checks `[[traffic]]`. Returns the flows if they can be made, and are to be made.
pub(super) fn all(
    c: &mut Checker<'_>,
    s: &Scenario,
    topology: &Topology,
    files: &dyn FileSource,
    needs: &mut Needs,
) -> Option<Traffic> {
    let adjacency = topology.adjacency();
    let host = |node| {
        let nics = adjacency.ports_of(node);
        let rate = nics.iter().fold(0u64, |sum, &port| sum.saturating_add(topology.rate(port).bps()));
        HostInfo {
            name: topology.nodes[node.index()].name.clone(),
            rate: Rate(rate),
            // Every host of a topology that was built has a NIC.
            rack: nics.first().map(|&port| topology.node_of(port.peer()).0).unwrap_or_default(),
            nics: nics.len() as u32,
        }
    };
    let hosts: Vec<HostInfo> = topology.hosts().into_iter().map(host).collect();
    let horizon = s.run.duration.filter(|d| *d > Time::ZERO);
    let mut admits = |counts: &[u64]| needs.admits_messages(c, &s.traffic, counts);
    match generate_if(&s.traffic, &hosts, s.seed, horizon, files, &mut admits) {
        Ok(None) => None,
        Ok(Some(traffic)) => {
            c.warnings.extend(traffic.warnings.iter().cloned());
            if traffic.flows.is_empty() && !needs.is_session() {
                let expected = "expected a higher load, or a longer run";
                c.add("traffic.0.pattern", "the traffic makes no flow", expected);
            }
            flows(c, s, &traffic);
            nics(c, s, topology, &traffic);
            Some(traffic)
        }
        Err(error) => {
            problem(c, &hosts, &error);
            None
        }
    }
}

/// Checks `[run]`.
pub(super) fn run(c: &mut Checker<'_>, s: &Scenario) {
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
    if s.run.max_events == Some(0) {
        c.add("run.max_events", "`max_events` in [run] is zero", "expected a number from 1, or no such key");
    }
}

/// The place of `key` in the first pattern with this label.
pub(super) fn place(s: &Scenario, traffic: &Traffic, label: u16, key: &str) -> String {
    let label = traffic.labels.get(usize::from(label));
    let index = s.traffic.iter().position(|p| Some(p.label()) == label.map(String::as_str));
    format!("traffic.{}.{key}", index.unwrap_or(0))
}

/// Refuses a NIC that a sender does not have.
fn nics(c: &mut Checker<'_>, s: &Scenario, topology: &Topology, traffic: &Traffic) {
    let (adjacency, hosts) = (topology.adjacency(), topology.hosts());
    let wrong = traffic.flows.iter().find_map(|flow| {
        let NicChoice::Nic(nic) = flow.nic.unwrap_or(s.host.nic) else { return None };
        let (host, nics) = (hosts[flow.src as usize], adjacency.ports_of(hosts[flow.src as usize]).len());
        (nic as usize >= nics).then_some((flow, nic, host, nics))
    });
    let Some((flow, nic, host, nics)) = wrong else { return };
    let (at, table) = match flow.nic {
        Some(_) => {
            // Several patterns may have the flow's label: the first of them with this NIC is at fault.
            let label = traffic.labels.get(usize::from(flow.label)).map(String::as_str);
            let index = s.traffic.iter().position(|p| Some(p.label()) == label && p.nic() == flow.nic);
            let Some(index) = index else {
                // A collective's channels take the NICs in turn.
                let name = &topology.nodes[host.index()].name;
                let message =
                    format!("`nics` in [[traffic]] uses NIC {nic}, and the host `{name}` has {nics}");
                return c.add(
                    &place(s, traffic, flow.label, "nics"),
                    message,
                    format!("expected at most {nics}"),
                );
            };
            (format!("traffic.{index}.nic"), "[[traffic]]")
        }
        None => ("host.nic".into(), "[host]"),
    };
    let name = &topology.nodes[host.index()].name;
    let (has, numbers) = match nics {
        1 => ("one NIC".to_string(), "0".to_string()),
        _ => (format!("{nics} NICs, numbered from 0"), format!("a number from 0 to {}", nics - 1)),
    };
    let message = format!("`nic` in {table} is {nic}, and the host `{name}` has {has}");
    c.add(&at, message, format!("expected {numbers}, \"round_robin\" or \"hash\""));
}

fn flows(c: &mut Checker<'_>, s: &Scenario, traffic: &Traffic) {
    let place = |label: u16, key: &str| place(s, traffic, label, key);
    if let Some(flow) = traffic
        .flows
        .iter()
        .find(|f| f.start > MAX_DURATION || (f.stop > MAX_DURATION && f.stop != Time::NEVER))
    {
        let message = format!("[[traffic]] has a flow from {}", flow.start);
        c.add(&place(flow.label, "start"), message, format!("expected times up to {MAX_DURATION}"));
    }
    let lanes = s.lanes().max(1);
    if let Some(flow) = traffic.flows.iter().find(|f| f.priority >= s.switch.priorities / lanes)
        && (1..=8).contains(&s.switch.priorities)
    {
        let (count, priority) = (s.switch.priorities / lanes, flow.priority);
        let message =
            format!("`priority` in [[traffic]] is {priority}, and switches have {count}, numbered from 0");
        let needed = (u16::from(priority) + 1) * u16::from(lanes);
        let expected = if needed <= 8 {
            format!("expected a number below {count}, or `priorities = {needed}` in [switch]")
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
            // For a wrong name, the message lists the names that exist.
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
