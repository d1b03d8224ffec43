//! Checks of what is recorded: names, and the space that it takes.

use xoff_engine::Time;
use xoff_fabric::topology::{NodeKind, Topology};
use xoff_traffic::Traffic;

use super::check::Checker;
use super::error::{nearest, one_of};
use super::{Queues, Rates, Scenario};

/// Most rows that sampling may be expected to write.
const MOST_ROWS: u128 = 200_000_000;

/// Checks `[record]`.
pub(super) fn all(c: &mut Checker<'_>, s: &Scenario, topology: &Topology, traffic: Option<&Traffic>) {
    let record = &s.record;
    if record.interval == Time::ZERO {
        c.add("record.interval", "`interval` in [record] is zero", "expected a time such as \"1us\"");
        return;
    }
    if record.utilization && record.queues == Queues::None {
        let expected = "expected `queues` as well, which says of which ports";
        c.add("record.utilization", "`utilization` in [record] has no ports", expected);
    }
    let ports = ports(c, &record.queues, topology) as u128;
    let flows = traffic.map_or(0, |traffic| flows(c, &record.rates, traffic)) as u128;
    // Without a duration the run's length is not known, and what is written is bounded by the disk alone.
    let Some(duration) = s.run.duration else { return };
    let series = ports + flows;
    let rows = u128::from(duration.0 / record.interval.0) * series;
    if rows > MOST_ROWS {
        let message = format!(
            "[record] asks for {rows} rows: {series} series, every {} for {duration}",
            record.interval
        );
        // Rounded up to whole nanoseconds.
        let least = (u128::from(duration.0) * series).div_ceil(MOST_ROWS).div_ceil(1000) as u64;
        let least = Time(least.saturating_mul(1000));
        let expected =
            format!("expected at most {MOST_ROWS} rows: an interval from {least}, or fewer series");
        c.add("record.interval", message, expected);
    }
}

/// The number of ports whose queues are sampled.
fn ports(c: &mut Checker<'_>, queues: &Queues, topology: &Topology) -> usize {
    let of_switch = |p: &u32| topology.nodes[topology.node_of(*p) as usize].kind == NodeKind::Switch;
    match queues {
        Queues::None => 0,
        Queues::Switches => (0..topology.ports()).filter(of_switch).count(),
        Queues::All => topology.ports() as usize,
        Queues::Ports(names) => {
            let known = topology.port_names();
            for (i, name) in names.iter().enumerate().filter(|(_, name)| !known.contains(name)) {
                let near = nearest(name, known.iter().map(String::as_str));
                let meant = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                let example = known.last().map_or("node->neighbour", String::as_str);
                let message = format!("`queues` in [record] names the unknown port {name:?}");
                c.add(
                    &format!("record.queues.{i}"),
                    message,
                    format!("expected a port such as `{example}`{meant}"),
                );
            }
            names.len()
        }
    }
}

/// The number of flows whose rates are sampled.
fn flows(c: &mut Checker<'_>, rates: &Rates, traffic: &Traffic) -> usize {
    match rates {
        Rates::None => 0,
        Rates::All => traffic.flows.len(),
        Rates::Labels(names) => {
            for (i, name) in names.iter().enumerate().filter(|(_, name)| !traffic.labels.contains(name)) {
                let message = format!("`rates` in [record] names the unknown traffic label {name:?}");
                let expected = one_of(name, traffic.labels.iter().map(String::as_str));
                c.add(&format!("record.rates.{i}"), message, expected);
            }
            let chosen = |label: u16| names.contains(&traffic.labels[usize::from(label)]);
            traffic.flows.iter().filter(|f| chosen(f.label)).count()
        }
    }
}
