//! Flows that something broken keeps from completing, each with what that is.

use serde::Serialize;
use xoff_engine::Time;
use xoff_fabric::Simulation;
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::records::FlowOutcome;
use xoff_fabric::packet::DATA;
use xoff_traffic::Traffic;

/// A flow that had started and not completed when the run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unfinished {
    /// Its number.
    pub flow: u32,
    /// Its sender.
    pub src: String,
    /// Its receiver.
    pub dst: String,
    /// What keeps it, in words.
    pub why: String,
}

impl Unfinished {
    /// In words.
    pub fn text(&self) -> String {
        format!("flow {} from {} to {}: {}", self.flow, self.src, self.dst, self.why)
    }
}

/// The flows that had started and not completed, though they have an end.
pub fn all(sim: &Simulation, traffic: &Traffic) -> Vec<Unfinished> {
    let net = sim.network();
    let open = |(flow, outcome): &(FlowId, FlowOutcome)| {
        let f = net.flows.of(*flow);
        let ends = !f.size.is_endless() || f.stop != Time::NEVER;
        outcome.started && outcome.fct.is_none() && ends
    };
    let of = |(flow, outcome): (FlowId, FlowOutcome)| {
        let f = net.flows.of(flow);
        let name = |node: xoff_fabric::ids::NodeId| net.topology.nodes[node.index()].name.clone();
        Unfinished { flow: flow.0, src: name(f.src), dst: name(f.dst), why: why(sim, flow, &outcome) }
    };
    FlowId::all(traffic.flows.len()).zip(sim.records().flows.iter()).filter(open).map(of).collect()
}

/// What keeps a flow from completing at the end of the run.
fn why(sim: &Simulation, flow: FlowId, outcome: &FlowOutcome) -> String {
    let (net, now) = (sim.network(), sim.now());
    let path = net.data_path_at(flow, now);
    let f = net.flows.of(flow);
    if let Some(plan) = &net.faults {
        if let Some(link) = plan.down_on(path, now) {
            let port = xoff_fabric::ids::PortId::of_link(link as usize)[0];
            return format!("the link of `{}` is down", net.topology.port_name(port));
        }
        if plan.has_stopped(f.dst, now) {
            return format!("`{}` takes no data", net.topology.nodes[f.dst.index()].name);
        }
    }
    let class = 1 << (DATA + f.priority);
    if let Some(&port) = path.iter().find(|&&port| sim.port(port).paused & class != 0) {
        return format!("`{}` is stopped by its neighbour", net.topology.port_name(port));
    }
    format!("{} B are acknowledged, and what is left does not arrive", outcome.acked_bytes)
}
