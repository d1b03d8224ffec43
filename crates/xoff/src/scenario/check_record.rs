//! Checks of the `[record]` table: names, and the memory that records take.

use xoff_engine::spelling::nearest;
use xoff_engine::{Bytes, Time};
use xoff_fabric::routing::PathChoice;
use xoff_fabric::topology::{NodeKind, PortId, Topology};
use xoff_traffic::{FlowSpec, Traffic};

use super::check::Checker;
use super::error::one_of;
use super::needs::Needs;
use super::{Queues, Rates, Scenario, States, Stop};

/// Maximum number of rows of samples, pauses and notifications that a run may record. All rows are held in memory until the
/// run ends: a row of rates takes 56 B while the run goes on and 52 B in its table, so a full record takes 5.4 GB; a record
/// of packets with telemetry of five hops takes twice that.
pub const MAX_ROWS: usize = 50_000_000;

/// Checks `[record]`.
pub(super) fn all(
    c: &mut Checker<'_>,
    s: &Scenario,
    topology: &Topology,
    traffic: Option<&Traffic>,
    needs: &mut Needs,
) {
    let record = &s.record;
    if record.interval == Time::ZERO {
        c.add("record.interval", "`interval` in [record] is zero", "expected a time such as \"1us\"");
        return;
    }
    if record.root_growth == Bytes(0) {
        c.add("record.root_growth", "`root_growth` in [record] is zero", "expected a size such as \"30KB\"");
    }
    if record.utilization && record.queues == Queues::None {
        let expected = "expected `queues` as well, which says of which ports";
        c.add("record.utilization", "`utilization` in [record] has no ports", expected);
    }
    if record.roots && s.routing.choice() != PathChoice::PerConnection {
        let choice = s.routing.choice().name();
        let message = format!(
            "`roots` in [record] tells victims by the one path of their flow, and `choice` in [routing] is `{choice}`"
        );
        c.add("record.roots", message, "expected `per_connection`, or no `roots`");
    }
    if record.roots && s.lanes() > 1 {
        let message = format!(
            "`roots` in [record] follows a flow on one priority, and [routing] `{}` takes {} virtual lanes",
            s.routing.name(),
            s.lanes()
        );
        c.add("record.roots", message, "expected a routing on one lane, or no `roots`");
    }
    states(c, s, topology);
    packets(c, s, topology);
    let tables = if record.utilization { 2 } else { 1 };
    let ports = ports(c, &record.queues, topology) as u128 * tables;
    let rates = traffic.map_or(vec![], |traffic| endless(c, "rates", &record.rates, traffic));
    let variables = traffic.map_or(vec![], |traffic| endless(c, "variables", &record.variables, traffic));
    let endless = [rates, variables].concat();
    // Without a duration the run's length is not known, and it ends when its record is full.
    let Some(duration) = s.run.duration else { return };
    let lives: u128 = endless.iter().map(|&start| u128::from(duration.saturating_sub(start).0)).sum();
    let (time, max) = (u128::from(duration.0) * ports + lives, MAX_ROWS as u128);
    let rows = time / u128::from(record.interval.0);
    // Otherwise all flows may complete before `duration`, and the run then ends with them.
    let is_certain =
        s.run.stop == Stop::Time || traffic.is_some_and(|t| t.flows.iter().any(|flow| is_endless(&flow)));
    if (is_certain && !needs.admits_rows(c, rows)) || rows <= max {
        return;
    }
    let series = ports + endless.len() as u128;
    let every = format!("{series} series, every {} for {duration}", record.interval);
    // Rounded up to whole nanoseconds.
    let min = u64::try_from(time.div_ceil(max).div_ceil(1000)).unwrap_or(u64::MAX);
    let min = Time(min.saturating_mul(1000));
    if is_certain {
        let expected = format!("expected at most {MAX_ROWS} rows: an interval from {min}, or fewer series");
        c.add("record.interval", format!("[record] asks for {rows} rows: {every}"), expected);
    } else {
        c.warnings.push(format!(
            "[record] asks for up to {rows} rows: {every}; a run ends when it has {MAX_ROWS}, and an interval from \
             {min} lets it reach its duration"
        ));
    }
}

/// Whether only the end of the run ends a flow.
fn is_endless(flow: &FlowSpec) -> bool {
    flow.size.is_endless() && flow.stop == Time::NEVER
}

/// The number of ports whose queues are sampled.
fn ports(c: &mut Checker<'_>, queues: &Queues, topology: &Topology) -> usize {
    let of_switch = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Switch;
    match queues {
        Queues::None => 0,
        Queues::Switches => topology.port_ids().filter(of_switch).count(),
        Queues::All => topology.ports() as usize,
        Queues::Ports(names) => {
            known_ports(c, "queues", names, &topology.port_names(), &["none", "switches", "all"]);
            names.len()
        }
    }
}

/// Refuses names of ports that are not among `known`; some keys take one of `words` in place of the list.
fn known_ports(c: &mut Checker<'_>, key: &str, names: &[String], known: &[String], words: &[&str]) {
    for (i, name) in names.iter().enumerate().filter(|(_, name)| !known.contains(name)) {
        let near = nearest(name, known.iter().map(String::as_str).chain(words.iter().copied()));
        let meant = near.filter(|n| n != name).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        let example = known.last().map_or("node->neighbour", String::as_str);
        let is_port = near.is_some_and(|near| !words.contains(&near));
        let instead = if is_port || words.is_empty() {
            String::new()
        } else {
            format!(", or in place of the list `{}`", words.join("`, `"))
        };
        let message = format!("`{key}` in [record] names the unknown port {name:?}");
        let expected = format!("expected a port such as `{example}`{instead}{meant}");
        c.add(&format!("record.{key}.{i}"), message, expected);
    }
}

/// Checks which packets are recorded, and when.
fn packets(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) {
    let record = &s.record;
    if let Queues::Ports(names) = &record.packets {
        known_ports(c, "packets", names, &topology.port_names(), &["none", "switches", "all"]);
    }
    // A manifest has the defaults written out.
    let times = [
        ("packets_from", record.packets_from > Time::ZERO),
        ("packets_until", record.packets_until.is_some()),
    ];
    for (key, given) in times {
        if record.packets == Queues::None && given {
            let message = format!("`{key}` in [record] has no ports");
            c.add(&format!("record.{key}"), message, "expected `packets` as well, which says at which ports");
        }
    }
    if let Some(until) = record.packets_until
        && until <= record.packets_from
    {
        let from = record.packets_from;
        let message = format!("`packets_until` in [record] is {until}, and `packets_from` {from}");
        c.add("record.packets_until", message, format!("expected more than {from}"));
    }
}

/// Refuses `record.states` of ports that have no states.
fn states(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) {
    let States::Ports(names) = &s.record.states else {
        if s.record.states == States::All {
            states_are_told(c, s);
        }
        return;
    };
    states_are_told(c, s);
    let known = topology.port_names();
    known_ports(c, "states", names, &known, &["none", "all"]);
    for (i, name) in names.iter().enumerate() {
        let port = known.iter().position(|k| k == name);
        let node = port.map(|p| &topology.nodes[topology.node_of(PortId::at(p)).index()]);
        if node.is_some_and(|n| n.kind != NodeKind::Switch) {
            let message = format!("`states` in [record] names {name:?}, a port of a host");
            c.add(
                &format!("record.states.{i}"),
                message,
                "expected ports of switches, where the detector is",
            );
        }
    }
}

/// Refuses `record.states` without a detector that tells states apart.
fn states_are_told(c: &mut Checker<'_>, s: &Scenario) {
    let expected = "expected a [detector] that does, such as `tcd`";
    match &s.detector {
        Some(detector) if detector.has_states() => {}
        Some(detector) => {
            let message =
                format!("`states` in [record]: detector `{}` tells no states apart", detector.name());
            c.add("record.states", message, expected);
        }
        None => {
            let message = format!("`states` in [record]: scheme `{}` has no detector", s.scheme.name());
            c.add(
                "record.states",
                message,
                "expected a scheme that reacts to marks, and a [detector] such as `tcd`",
            );
        }
    }
}

/// When the endless flows start that are sampled by a setting `key`. The duration of a flow with a size, and so its number of rows, is
/// not known before the run.
fn endless(c: &mut Checker<'_>, key: &str, rates: &Rates, traffic: &Traffic) -> Vec<Time> {
    let flows = traffic.flows.iter().filter(is_endless);
    match rates {
        Rates::None => vec![],
        Rates::All => flows.map(|f| f.start).collect(),
        Rates::Labels(names) => {
            for (i, name) in names.iter().enumerate().filter(|(_, name)| !traffic.labels.contains(name)) {
                let message = format!("`{key}` in [record] names the unknown traffic label {name:?}");
                let expected = one_of(name, traffic.labels.iter().map(String::as_str));
                c.add(&format!("record.{key}.{i}"), message, expected);
            }
            let chosen = |label: u16| names.contains(&traffic.labels[usize::from(label)]);
            flows.filter(|f| chosen(f.label)).map(|f| f.start).collect()
        }
    }
}
