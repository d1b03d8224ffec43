//! The table of flows, and that of the operations of parallel programs.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::GenericStringBuilder;
use arrow_array::{ArrayRef, Int32Array, OffsetSizeTrait};
use xoff_engine::Time;
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::topology::PortId;
use xoff_fabric::{Network, Simulation};
use xoff_traffic::Traffic;

use super::columns::{Columns, strings};
use super::outcomes::{self, OutcomeColumns};
use super::{Names, Table};

pub(super) fn flows(sim: &Simulation, traffic: &Traffic, names: &Names) -> Table {
    let net = sim.network();
    // Flows that had not started have no rows.
    let ids = outcomes::rows(sim);
    let rows = || ids.values().iter().map(|&flow| FlowId(flow));
    // Before the other columns, since the search for paths takes room of its own.
    let (path_of, paths) = path_names(net, rows(), i32::MAX as usize);
    let OutcomeColumns { times, counts, forwarded } = OutcomeColumns::of(sim);
    let labels = strings(traffic.labels.iter().cloned());
    let role = |flow: FlowId| traffic.flows.roles().get(flow.index());
    let ports = net.topology.adjacency();
    // A data path begins with the egress port of the sender's NIC.
    let nic = |flow: FlowId| {
        let first = net.data_path(flow).first();
        ports.ports_of(net.flows.src(flow)).iter().position(|port| Some(port) == first).unwrap_or(0)
    };
    let columns = Columns::new()
        .add("id", "flow number, in the order of the starts that the traffic asks for", Arc::new(ids.clone()))
        .names(
            "label",
            "its traffic pattern",
            rows().map(|flow| u32::from(traffic.flows.labels().get(flow.index()))),
            &labels,
        )
        .names("src", "sending host", rows().map(|flow| net.flows.src(flow).0), &names.nodes)
        .names("dst", "receiving host", rows().map(|flow| net.flows.dst(flow).0), &names.nodes)
        .u8("priority", "data priority", rows().map(|flow| net.traffic_priority(flow)))
        .u32(
            "connection",
            "number of the connection (queue pair) that carries it; messages with one number share it, one after the other",
            rows().map(|flow| net.connections.of(flow).0),
        )
        .u32(
            "nic",
            "NIC of the sender that it uses, from 0 in the order of the sender's links",
            rows().map(|flow| nic(flow) as u32),
        )
        .u64_or_null("size_bytes", "payload; null: endless", rows().map(|flow| net.flows.size(flow).bytes()));
    let columns = times.add_to(columns).names_by_key(
        "path",
        "nodes that its data passes; null: its packets take paths of their own",
        path_of,
        &paths,
    );
    let mut columns = counts.add_to(columns, sim.records().watches_roots());
    if let Some(forwarded) = forwarded {
        columns = forwarded.add_to(columns);
    }
    columns
        .names_or_null(
            "kernel",
            "kernel that its sender was running, in a closed loop; null: a flow of no closed loop",
            rows().map(|flow| role(flow).map(|r| r.kernel.into())),
            &strings(traffic.kernels.iter().cloned()),
        )
        .u64_or_null(
            "process",
            "number of the process that sent it, within its pattern; null: a flow of no closed loop",
            rows().map(|flow| role(flow).map(|r| r.process.into())),
        )
        .u64_or_null(
            "iteration",
            "iteration of its kernel, from 0; null: a flow of no closed loop",
            rows().map(|flow| role(flow).map(|r| r.iteration.into())),
        )
        .table("flows")
}

/// The distinct paths of flows as text, and the path of each row by its index, unless packets have paths of their own. There may be as many texts as flows, the
/// largest column of the table: their bytes are counted first, so that the column never moves. Texts of more than `short` bytes in all have offsets of 64 bits.
fn path_names(
    net: &Network,
    rows: impl ExactSizeIterator<Item = FlowId>,
    short: usize,
) -> (Int32Array, ArrayRef) {
    if net.paths.next_hops.is_some() {
        return (Int32Array::new_null(rows.len()), path_texts::<i32>(net, &[], 0));
    }
    let (path_of, distinct) = distinct_paths(net, rows);
    let bytes =
        distinct.iter().flat_map(|&flow| nodes_of(net, flow)).map(|node| name(net, node).len() + 1).sum();
    let texts = if bytes > short {
        path_texts::<i64>(net, &distinct, bytes)
    } else {
        path_texts::<i32>(net, &distinct, bytes)
    };
    (path_of, texts)
}

fn name(net: &Network, node: NodeId) -> &str {
    net.topology.nodes[node.index()].name.as_str()
}

/// The nodes that a flow's data passes.
fn nodes_of(net: &Network, flow: FlowId) -> impl Iterator<Item = NodeId> {
    let after = |port: &PortId| net.topology.node_of(port.peer());
    std::iter::once(net.flows.src(flow)).chain(net.data_path(flow).iter().map(after))
}

/// The paths of flows as texts of so many bytes in all.
fn path_texts<O: OffsetSizeTrait>(net: &Network, flows: &[FlowId], bytes: usize) -> ArrayRef {
    let (mut texts, mut text) = (GenericStringBuilder::<O>::with_capacity(flows.len(), bytes), String::new());
    for &flow in flows {
        text.clear();
        for node in nodes_of(net, flow) {
            if !text.is_empty() {
                text.push('>');
            }
            text.push_str(name(net, node));
        }
        texts.append_value(&text);
    }
    Arc::new(texts.finish())
}

/// By row: the number of its flow's path among the distinct ones; and of each distinct path the first flow that takes it.
fn distinct_paths(net: &Network, rows: impl Iterator<Item = FlowId>) -> (Int32Array, Vec<FlowId>) {
    let mut known: HashMap<&[PortId], i32> = HashMap::new();
    let mut distinct = Vec::new();
    // All messages of a connection have its path.
    let mut of_connection = vec![-1; net.connections.count(net.flows.len())];
    let path_of = rows.map(|flow| {
        let path = &mut of_connection[net.connections.of(flow).index()];
        if *path < 0 {
            *path = *known.entry(net.data_path(flow)).or_insert_with(|| {
                distinct.push(flow);
                distinct.len() as i32 - 1
            });
        }
        *path
    });
    (Int32Array::from_iter_values(path_of), distinct)
}

pub(super) fn operations(sim: &Simulation, traffic: &Traffic, names: &Names) -> Table {
    let (steps, now, horizon) = (&sim.records().steps, sim.now(), sim.horizon());
    let at = |step: u32| steps.get(step as usize).copied().unwrap_or(Time::NEVER);
    let ended = |at: Time| Some(at).filter(|at| *at < Time::NEVER && *at <= horizon);
    let rows: Vec<_> = traffic.operations.iter().filter(|o| at(o.begin) <= now).collect();
    let hosts = sim.network().topology.hosts();
    Columns::new()
        .names(
            "label",
            "its traffic pattern",
            rows.iter().map(|o| u32::from(o.label)),
            &strings(traffic.labels.iter().cloned()),
        )
        .names(
            "kernel",
            "what the process did",
            rows.iter().map(|o| u32::from(o.role.kernel)),
            &strings(traffic.kernels.iter().cloned()),
        )
        .u32("process", "number of the process, within its pattern", rows.iter().map(|o| o.role.process))
        .names("host", "its host", rows.iter().map(|o| hosts[o.host as usize].0), &names.nodes)
        .u32("ring", "random ring of GPCNeT's tests, from 0", rows.iter().map(|o| o.ring))
        .u32("iteration", "iteration, from 0", rows.iter().map(|o| o.role.iteration))
        .u64("bytes", "payload that the process sends in it, without barriers", rows.iter().map(|o| o.bytes))
        .u64("start_ps", "when the process began it, ps", rows.iter().map(|o| at(o.begin).ps()))
        .u64_or_null(
            "end_ps",
            "when all messages that it waited for had arrived and its overhead was over, ps; null: not before the run ended",
            rows.iter().map(|o| ended(traffic.end(o, steps)).map(Time::ps)),
        )
        .u64_if(
            sim.forwarded().is_some(),
            "skipped_ps",
            "time of it that was carried forward (`run.fast_forward`), ps, without that of recalled messages: see `recalled` of flows",
            rows.iter().map(|o| {
                let end = ended(traffic.end(o, steps)).unwrap_or(now);
                sim.skipped_beside_step(o.begin, at(o.begin), end).ps()
            }),
        )
        .table("operations")
}

#[cfg(test)]
mod tests {
    use crate::NetworkBuilder;
    use arrow_array::cast::AsArray;
    use xoff_engine::{Bytes, Rate};

    use super::*;

    #[test]
    fn paths_of_more_bytes_than_32_bits_tell_have_longer_offsets() {
        // Two paths by one switch, each of 5 letters: with what is left for separators 6 B each, 12 in all.
        let mut net = NetworkBuilder::new();
        let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("s"));
        for host in [a, b] {
            net.link(host, switch, Rate::from_gbps(100), Time::from_ns(500));
        }
        for (src, dst) in [(a, b), (b, a), (a, b)] {
            net.flow(src, dst, Bytes(1_000), Time::ZERO);
        }
        let simulation = net.simulation().expect("a network");
        let names = |short| path_names(simulation.network(), FlowId::all(3), short);
        let ((path_of, long), (_, short)) = (names(11), names(12));
        assert_eq!(path_of.values(), &[0, 1, 0]);
        let long: Vec<_> = long.as_string::<i64>().iter().flatten().map(String::from).collect();
        let short: Vec<_> = short.as_string::<i32>().iter().flatten().map(String::from).collect();
        assert_eq!((&long, &short), (&vec!["a>s>b".to_owned(), "b>s>a".to_owned()], &long));
    }
}
