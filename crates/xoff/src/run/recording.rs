//! The settings of the network's records, from the `[record]` table.

use xoff_engine::Time;
use xoff_fabric::Recording;
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::topology::{NodeKind, PortId, Topology};

use crate::scenario::{Queues, Rates, Scenario, States};

/// These ports in ascending order, without duplicates.
fn once(mut ports: Vec<PortId>) -> Vec<PortId> {
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The fabric's settings for a `[record]` table: names of ports and labels become their numbers.
pub(super) fn recording(scenario: &Scenario, topology: &Topology) -> Recording {
    let record = &scenario.record;
    let of_switch = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Switch;
    let all = topology.port_ids();
    let named = |names: &[String]| -> Vec<PortId> {
        let known = topology.port_names();
        names.iter().filter_map(|n| known.iter().position(|k| k == n).map(PortId::at)).collect()
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
    let sampled = |which: &Rates| -> Vec<FlowId> {
        let of = |label: u16| match which {
            Rates::None => false,
            Rates::All => true,
            Rates::Labels(labels) => labels.contains(&traffic.labels[usize::from(label)]),
        };
        flows.clone().filter(|(_, f)| of(f.label)).map(|(i, _)| FlowId::at(i)).collect()
    };
    Recording {
        interval: record.samples().then_some(record.interval),
        utilization: if record.utilization { ports.clone() } else { Vec::new() },
        queues: ports,
        rates: sampled(&record.rates),
        variables: sampled(&record.variables),
        pauses: record.pauses,
        notifications: record.notifications,
        roots: record.roots.then_some(record.root_growth.0),
        marks: record.marks,
        states,
        throttles: record.throttles,
        breakdown: record.breakdown,
        reordering: record.reordering,
        packets: (record.packets != Queues::None).then(|| PacketFilter {
            ports: once(chosen(&record.packets)),
            from: record.packets_from,
            until: record.packets_until.unwrap_or(Time::NEVER),
        }),
    }
}
