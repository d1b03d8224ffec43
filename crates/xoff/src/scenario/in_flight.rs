//! How many packets may be in the network at once: an estimate, made from links and buffers before the run.

use std::collections::{BTreeMap, BTreeSet};

use xoff_fabric::network::WireSizes;
use xoff_fabric::topology::{NodeId, NodeKind, PortId, Topology};
use xoff_traffic::Traffic;

use super::check::Checker;
use super::check_thresholds::room;
use super::{Scenario, check_traffic};

/// What bounds the packets that may be in the network at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// All that is ever sent.
    Sent,
    /// Wires that are full.
    Wires,
    /// Buffers that are full.
    Buffers,
}

/// Packets on all wires, in both directions, and in full inputs: those of the switches' ports at which sending hosts are, for
/// each priority that messages have, up to the switches' memories. A queue elsewhere holds packets that came in by such ports,
/// or stops them. At most as many as all messages have, and as the hosts' links carry until the run ends. Without flow control
/// and without a memory, only the wires count. Beside them stands what the most of them come from.
pub(super) fn packets(
    s: &Scenario,
    topology: &Topology,
    wire: &WireSizes,
    traffic: &Traffic,
) -> (u64, Bound) {
    let settings = s.settings();
    let is_switch = |port: PortId| topology.nodes[topology.node_of(port).index()].kind == NodeKind::Switch;
    let wires: u64 = topology.port_ids().map(|port| on_wire(topology, wire, port)).sum();
    let priorities = traffic.flows.priorities().values().iter().collect::<BTreeSet<_>>().len() as u64;
    let priorities = priorities * u64::from(s.lanes());
    let buffer = s.switch.buffer.map_or(u64::MAX, |buffer| buffer.0);
    let sent = sent(s, topology, wire, traffic);
    let mut inputs: BTreeMap<_, u64> = BTreeMap::new();
    for port in topology.port_ids().filter(|&port| is_switch(port) && !is_switch(port.peer())) {
        if !sent.contains_key(&topology.node_of(port.peer())) {
            continue;
        }
        let unbounded = if s.switch.buffer.is_some() { buffer } else { 0 };
        let bytes =
            room(&settings, topology, wire, port).map_or(unbounded, |bytes| bytes.saturating_mul(priorities));
        let held = inputs.entry(topology.node_of(port)).or_default();
        *held = held.saturating_add(bytes).min(buffer);
    }
    let queued = inputs.values().fold(0, |sum: u64, bytes| sum.saturating_add(bytes / wire.frame()));
    let sent = sent.values().fold(0, |sum: u64, packets| sum.saturating_add(*packets));
    let held = wires.saturating_add(queued);
    if sent <= held {
        return (sent, Bound::Sent);
    }
    (held, if wires < queued { Bound::Buffers } else { Bound::Wires })
}

/// Packets on the wire of a port's link, in the port's direction.
fn on_wire(topology: &Topology, wire: &WireSizes, port: PortId) -> u64 {
    topology.rate(port).bytes_in(topology.delay(port)) / wire.frame() + 1
}

/// The key to change for fewer packets in the network: of the message with the most, of the link with the most, or of a buffer.
pub(super) fn place(
    c: &Checker<'_>,
    s: &Scenario,
    topology: &Topology,
    wire: &WireSizes,
    traffic: &Traffic,
    bound: Bound,
) -> String {
    match bound {
        Bound::Sent => {
            let most = traffic.flows.iter().max_by_key(|flow| flow.size.bytes().unwrap_or(u64::MAX));
            most.map_or("traffic".into(), |flow| check_traffic::place(s, traffic, flow.label, "size"))
        }
        Bound::Wires => {
            let longest = topology.port_ids().max_by_key(|&port| on_wire(topology, wire, port));
            let delay = longest.map(|port| topology.delay(port));
            let written = c.find_value("topology", |text| text.parse().ok() == delay);
            written.unwrap_or("topology.name".into())
        }
        Bound::Buffers => {
            let keys =
                ["switch.buffer", "flow_control.xoff", "flow_control.headroom", "flow_control.headroom_bdp"];
            let others = ["flow_control.buffer", "flow_control.credits"];
            let written = keys.into_iter().chain(others).find(|key| c.is_written(key));
            written.unwrap_or("flow_control.name").into()
        }
    }
}

/// By host that sends: the packets of its messages, and no more than its links carry until the run ends.
fn sent(s: &Scenario, topology: &Topology, wire: &WireSizes, traffic: &Traffic) -> BTreeMap<NodeId, u64> {
    let hosts = topology.hosts();
    let mut sent: BTreeMap<NodeId, u64> = BTreeMap::new();
    for flow in traffic.flows.iter() {
        let packets = flow.size.bytes().map_or(u64::MAX, |size| size / wire.payload + 1);
        let of_host = sent.entry(hosts[flow.src as usize]).or_default();
        *of_host = of_host.saturating_add(packets);
    }
    let Some(duration) = s.run.duration else { return sent };
    let mut carried: BTreeMap<NodeId, u64> = BTreeMap::new();
    for port in topology.port_ids() {
        *carried.entry(topology.node_of(port)).or_default() +=
            topology.rate(port).bytes_in(duration) / wire.frame() + 1;
    }
    for (host, packets) in &mut sent {
        *packets = carried.get(host).map_or(*packets, |carried| (*packets).min(*carried));
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four hosts on a switch by links of 100 Gbps and 1 us, which carry 12,500 B; PFC lets each input have 500 KB and 100 KB of
    /// headroom.
    fn estimate(more: &str, size: &str) -> (u64, u64, Bound) {
        let text = format!(
            "topology = {{ name = \"star\", hosts = 4, rate = \"100Gbps\", delay = \"1us\" }}\nscheme = {{ name = \"none\" }}\n\
             {more}\n[[traffic]]\npattern = \"flow\"\nsrc = \"host0\"\ndst = \"host1\"\nsize = \"{size}\"\n"
        );
        let s = Scenario::parse(&text, "small.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        let wire = WireSizes::new(&s.settings(), &s.scheme.signals());
        let (packets, bound) = packets(&s, s.network(), &wire, s.flows());
        (packets, wire.frame(), bound)
    }

    #[test]
    fn wires_and_the_inputs_of_hosts_are_full() {
        let pfc = "flow_control = { name = \"pfc\", xoff = \"500KB\", headroom = \"100KB\" }";
        let (found, frame, bound) = estimate(pfc, "1GB");
        // Eight ports with a frame begun each, and the sender's input with 600 KB.
        assert_eq!((found, bound), (8 * (12_500 / frame + 1) + 600_000 / frame, Bound::Buffers));
        let (found, ..) = estimate(&format!("{pfc}\nswitch = {{ buffer = \"400KB\" }}"), "1GB");
        assert_eq!(found, 8 * (12_500 / frame + 1) + 400_000 / frame, "a memory of 400 KB");
        // In 10 us 100 Gbps carry 125,000 B, whatever the message and the memory have.
        let (found, ..) = estimate(&format!("{pfc}\nrun = {{ duration = \"10us\" }}"), "1TB");
        assert_eq!(found, 125_000 / frame + 1);
        // 10,000 B are six packets of 1,456 B and a rest.
        assert_eq!(estimate(pfc, "10KB").0, 7, "no more than are ever sent");
    }
}
