//! Checks of packets, hosts, switches and flow control that need the file or the topology. Each type checks itself.

use xoff_engine::{Bytes, Time};
use xoff_fabric::link::buffer::{LinkEnds, pfc_headroom, quanta_time};
use xoff_fabric::network::WireSizes;
use xoff_fabric::settings::{Clock, FlowControl};
use xoff_fabric::topology::{NodeId, NodeKind, PortId, Topology};
use xoff_schemes::Signals;

use super::Scenario;
use super::check::Checker;

/// Checks each table by itself, and against the others and the scheme.
pub(super) fn all(c: &mut Checker<'_>, s: &mut Scenario) {
    let violations = s.settings().validate(&s.scheme);
    violations.iter().for_each(|violation| c.violation(violation));
    let of_frames = |key: &str| ["packets.payload", "packets.header"].contains(&key);
    if let Some(payload) = s.packets.payload.filter(|_| !violations.iter().any(|v| of_frames(&v.key))) {
        frame(c, s, payload);
    }
    (s.switch.queueing, s.switch.forwarding) =
        (Some(s.switch.queueing(&s.flow_control)), Some(s.switch.forwarding(&s.flow_control)));
    if s.flow_control == FlowControl::None
        && s.lossy
        && s.switch.buffer.is_none()
        && s.switch.queue_limit.is_none()
    {
        c.warnings.push("`lossy = true`, but switches without `switch.buffer` lose nothing".into());
    }
}

/// The size of a frame with a given payload. Refuses an `mtu` beside it that says something else.
fn frame(c: &mut Checker<'_>, s: &mut Scenario, payload: Bytes) {
    let frame = Bytes(payload.0 + WireSizes::new(&s.settings(), &s.scheme.signals()).data_overhead);
    if c.is_written("packets.mtu") && s.packets.mtu != frame {
        let message = format!(
            "`payload` in [packets] makes frames of {}B, and `mtu` says {}B",
            frame.0, s.packets.mtu.0
        );
        let expected = format!("expected `mtu` or `payload` alone, or `mtu = \"{}B\"`", frame.0);
        c.add("packets.mtu", message, expected);
    } else {
        s.packets.mtu = frame;
    }
}

/// Refuses pauses so short that they end before the frame that repeats them arrives. That frame is sent at half of the
/// pause, and may have to wait for a frame on the wire and the PFC frames of all priorities.
pub(super) fn quanta(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let FlowControl::Pfc(pfc) = &s.flow_control else { return };
    if !c.problems.is_empty() || !pfc.refresh || !pfc.expires {
        return; // Sizes may be too large to calculate with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let waiting = wire.largest() + wire.pfc_frames(s.switch.priorities);
    // A quantum's length follows from the rate of the paused port, and the wait from the rate of the port that pauses it.
    let min = |port: PortId| {
        let wait = 2 * topology.rate(port).serialization(waiting).0;
        u64::from(u16::MAX).min(wait.div_ceil(quanta_time(1, topology.rate(port.peer())).0))
    };
    let ports = topology.port_ids().map(|port| (min(port), port));
    if let Some((min, port)) = ports.max()
        && u64::from(pfc.quanta) < min
    {
        let message = format!(
            "`quanta` in [flow_control] is {}, a pause that would end on `{}` before the frame that repeats it is there",
            pfc.quanta,
            topology.port_name(port.peer())
        );
        c.add("flow_control.quanta", message, format!("expected at least {min}, or `refresh = false`"));
    }
}

/// Gives switches the virtual lanes that routing takes, unless the scenario says how many priorities they have, which must then
/// hold the lanes.
pub(super) fn lanes(c: &mut Checker<'_>, s: &mut Scenario) {
    let (lanes, priorities) = (s.lanes(), s.switch.priorities);
    if !c.is_written("switch.priorities") {
        s.switch.priorities = priorities.max(lanes);
        return;
    }
    if priorities.checked_rem(lanes) != Some(0) && (1..=8).contains(&priorities) {
        let nearest = priorities.next_multiple_of(lanes);
        let nearest = if nearest > 8 { priorities - priorities % lanes } else { nearest };
        let message = format!(
            "`priorities` in [switch] is {priorities}, and [routing] `{}` takes {lanes} virtual lanes for each priority of traffic",
            s.routing.name()
        );
        c.add("switch.priorities", message, format!("expected a multiple of {lanes}, such as {nearest}"));
    }
}

/// Refuses times cut to whole nanoseconds if a full frame would take no time at all, as if links had no limit.
pub(super) fn clock(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    if s.quirks.clock == Clock::Exact || !c.problems.is_empty() {
        return;
    }
    let frame = WireSizes::new(&s.settings(), signals).frame();
    let no_time = |&port: &PortId| topology.rate(port).ns3_time(frame) == Time::ZERO;
    if let Some(port) = topology.port_ids().find(no_time) {
        let message = format!(
            "`clock = \"ns3\"` in [quirks] cuts the {frame}B of a frame on `{}`, at {}, to 0 ns",
            topology.port_name(port),
            topology.rate(port)
        );
        c.add("quirks.clock", message, "expected larger packets, slower links, or `clock = \"exact\"`");
    }
}

/// Refuses a switch memory that is smaller than the sum of its ports' headroom and reserves.
pub(super) fn buffer(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let (Some(buffer), FlowControl::Pfc(pfc)) = (s.switch.buffer, &s.flow_control) else { return };
    if !c.problems.is_empty() {
        return; // Sizes may be too large to calculate with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let (frame, pfc_frames) = (wire.largest(), wire.pfc_frames(s.switch.priorities));
    let reserve = if pfc.alpha.is_some() { pfc.reserve.0 } else { 0 };
    let room =
        |port: PortId| pfc_headroom(pfc, &LinkEnds::at(topology, &s.link, &wire, port), frame, pfc_frames);
    let adjacency = topology.adjacency();
    let priorities = u128::from(s.switch.priorities);
    let switches =
        NodeId::all(topology.nodes.len()).zip(&topology.nodes).filter(|(_, n)| n.kind == NodeKind::Switch);
    let needed = switches.map(|(node, n)| {
        let ports = adjacency.ports_of(node);
        let headrooms = ports.iter().map(|&p| u128::from(room(p))).sum::<u128>() * priorities;
        (headrooms, u128::from(reserve) * ports.len() as u128 * priorities, ports.len(), &n.name)
    });
    if let Some((headrooms, reserves, ports, name)) = needed.max_by_key(|(h, r, ..)| h + r)
        && headrooms + reserves > u128::from(buffer.0)
    {
        let size = |bytes: u128| Bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
        let mut parts = format!("a headroom of {}", size(headrooms));
        if reserves > 0 {
            parts.push_str(&format!(" and a reserve of {}", size(reserves)));
        }
        let count = if priorities == 1 { "1 priority".into() } else { format!("{priorities} priorities") };
        let aside = format!("what the {ports} ports of `{name}` set aside for {count}: {parts} in all");
        let message = format!("`buffer` in [switch] is {buffer}, less than {aside}");
        c.add("switch.buffer", message, format!("expected at least {}", size(headrooms + reserves)));
        return;
    }
    // Dynamic thresholds are shares of the memory, and always within it.
    let Some(xoff) = pfc.xoff else { return };
    let of_switch = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Switch;
    let largest = topology.port_ids().filter(of_switch).max_by_key(|&p| room(p));
    if let Some(port) = largest
        && xoff.0.saturating_add(room(port)) > buffer.0
    {
        let (name, above) = (topology.port_name(port.peer()), Bytes(room(port)));
        let sum = Bytes(xoff.0.saturating_add(above.0));
        c.warnings.push(format!(
            "`buffer` in [switch] is {buffer}, and PFC lets what comes in by `{name}` grow to {sum}, `xoff` {xoff} and a \
             headroom of {above}: the memory can be full before PFC has stopped a single port"
        ));
    }
}
