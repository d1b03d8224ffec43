//! Checks of packets, hosts, switches and flow control.

use xoff_engine::{Bytes, Time};
use xoff_fabric::link::buffer::{LinkEnds, pfc_headroom, quanta_time};
use xoff_fabric::network::WireSizes;
use xoff_fabric::settings::{Clock, FlowControl, Order, Pfc};
use xoff_fabric::topology::{NodeKind, Topology, peer};
use xoff_schemes::Signals;
use xoff_schemes::int::MAX_INT_HOPS;

use super::Scenario;
use super::check::Checker;
use super::check_credit;

/// The largest frame.
pub(super) const LARGEST: u64 = 65_535;
/// The longest delay of a host or timer: as long as a link's may be.
const SLOWEST: Time = xoff_fabric::topology::MAX_DELAY;
/// The largest share of the free memory; hardware offers up to 8.
const LARGEST_ALPHA: f64 = 128.0;

/// Checks each table by itself, and flow control with the switches.
pub(super) fn all(c: &mut Checker<'_>, s: &mut Scenario, signals: &Signals) {
    packets(c, s, signals);
    host(c, s);
    switch(c, s, signals);
    (s.switch.queueing, s.switch.forwarding) =
        (Some(s.switch.queueing(&s.flow_control)), Some(s.switch.forwarding(&s.flow_control)));
    if signals.pause_threshold && !matches!(s.flow_control, FlowControl::Pfc(_)) {
        let message = format!(
            "scheme `{}` goes by the threshold of PFC, and [flow_control] is \"{}\"",
            s.scheme.name(),
            s.flow_control.name()
        );
        c.add("flow_control.name", message, "expected `pfc`, or the threshold as `q_pfc` in [scheme]");
    }
    match s.flow_control.clone() {
        FlowControl::None => {
            if s.lossy && s.switch.buffer.is_none() {
                c.warnings.push("`lossy = true`, but switches without `switch.buffer` lose nothing".into());
            }
        }
        FlowControl::Pfc(pfc) => {
            lossless(c, s);
            thresholds(c, s, &pfc);
        }
        FlowControl::Cbfc(cbfc) => {
            lossless(c, s);
            check_credit::cbfc(c, s, &cbfc);
        }
        FlowControl::Credit(credit) => {
            lossless(c, s);
            check_credit::link_credits(c, s, &credit);
        }
    }
}

/// Refuses losses where flow control prevents them.
fn lossless(c: &mut Checker<'_>, s: &Scenario) {
    if s.lossy {
        let written = c.is_written("flow_control.name");
        let (place, default) = if written { ("flow_control.name", "") } else { ("lossy", ", the default,") };
        let name = s.flow_control.name();
        let message = format!("`lossy = true` with [flow_control] `{name}`{default} which prevents loss");
        c.add(place, message, "expected `name = \"none\"` in [flow_control], or no `lossy`");
    }
}

/// Refuses a number outside `least..=most`.
pub(super) fn bounds(c: &mut Checker<'_>, path: &str, value: u64, least: u64, most: u64) -> bool {
    if (least..=most).contains(&value) {
        return true;
    }
    c.add(
        path,
        format!("{} is {value}", key_in_table(path)),
        format!("expected a number from {least} to {most}"),
    );
    false
}

/// Refuses a size outside `least..=most`.
pub(super) fn sizes(c: &mut Checker<'_>, path: &str, value: Bytes, least: u64, most: u64) -> bool {
    if (least..=most).contains(&value.0) {
        return true;
    }
    let expected = format!("expected a size from {least}B to {most}B");
    c.add(path, format!("{} is {value}", key_in_table(path)), expected);
    false
}

/// `packets.mtu` as "`mtu` in [packets]".
fn key_in_table(path: &str) -> String {
    path.split_once('.').map_or(path.to_string(), |(table, key)| format!("`{key}` in [{table}]"))
}

fn packets(c: &mut Checker<'_>, s: &mut Scenario, signals: &Signals) {
    let p = s.packets.clone();
    let hops_fit = bounds(c, "packets.int_hops", p.int_hops.into(), 1, MAX_INT_HOPS as u64);
    let mut sound = hops_fit;
    for (path, size, least) in [
        ("packets.header", p.header, 1),
        ("packets.ack", p.ack, 1),
        ("packets.cnp", p.cnp, 1),
        ("packets.pfc", p.pfc, 1),
        ("packets.gap", p.gap, 0),
        ("packets.mtu", p.mtu, 1),
    ] {
        sound &= sizes(c, path, size, least, LARGEST);
    }
    if let Some(payload) = p.payload {
        sound &= sizes(c, "packets.payload", payload, 1, LARGEST);
    }
    sound &= times(c, "packets.int_refresh", p.int_refresh, Time::ZERO);
    if !p.int_multi.is_power_of_two() {
        let message = format!("`int_multi` in [packets] is {}", p.int_multi);
        c.add("packets.int_multi", message, "expected a power of two from 1 to 128");
        sound = false;
    }
    if !sound {
        return;
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let grown = wire.ack + wire.ack_growth * u64::from(p.int_hops);
    if grown > LARGEST {
        let added = grown - p.ack.0;
        let message = format!(
            "`ack` in [packets] makes ACKs of {grown}B with the signals of scheme `{}`, {added}B for {} switches",
            s.scheme.name(),
            p.int_hops
        );
        c.add("packets.ack", message, format!("expected at most {}B", LARGEST - added));
    }
    let overhead = wire.data_overhead;
    let (header, signal_bytes, scheme) = (p.header.0, overhead - p.header.0, s.scheme.name());
    let parts = format!("the header, {header}B, and the signals of scheme `{scheme}`, {signal_bytes}B");
    match p.payload {
        None if p.mtu.0 <= overhead => {
            let message =
                format!("`mtu` in [packets] is {}B, which leaves no payload beside {parts}", p.mtu.0);
            c.add("packets.mtu", message, format!("expected more than {overhead}B"));
        }
        None => {}
        Some(payload) => {
            let frame = payload.0 + overhead;
            if frame > LARGEST {
                let message = format!("`payload` in [packets] makes frames of {frame}B with {parts}");
                c.add("packets.payload", message, format!("expected frames of at most {LARGEST}B"));
            } else if c.is_written("packets.mtu") && p.mtu.0 != frame {
                let message =
                    format!("`payload` in [packets] makes frames of {frame}B, and `mtu` says {}B", p.mtu.0);
                c.add(
                    "packets.mtu",
                    message,
                    format!("expected `mtu` or `payload` alone, or `mtu = \"{frame}B\"`"),
                );
            } else {
                s.packets.mtu = Bytes(frame);
            }
        }
    }
}

/// Refuses a time outside `least` to [`SLOWEST`].
pub(super) fn times(c: &mut Checker<'_>, path: &str, value: Time, least: Time) -> bool {
    if (least..=SLOWEST).contains(&value) {
        return true;
    }
    let message = format!("{} is {value}", key_in_table(path));
    c.add(path, message, format!("expected a time from {least} to {SLOWEST}"));
    false
}

fn host(c: &mut Checker<'_>, s: &Scenario) {
    bounds(c, "host.ack_every", s.host.ack_every.into(), 1, u32::MAX.into());
    times(c, "host.processing_delay", s.host.processing_delay, Time::ZERO);
    times(c, "host.retransmit_timeout", s.host.retransmit_timeout, Time::from_ns(1));
    times(c, "host.nack_interval", s.host.nack_interval, Time::ZERO);
}

fn switch(c: &mut Checker<'_>, s: &Scenario, signals: &Signals) {
    bounds(c, "switch.priorities", s.switch.priorities.into(), 1, 8);
    let wire = WireSizes::new(&s.settings(), signals);
    let small = wire.ack.min(wire.cnp).min(wire.pfc);
    let frame = if s.quirks.order == Order::Scheduled { wire.frame() } else { small };
    if let Some(buffer) = s.switch.buffer
        && buffer.0 < frame
    {
        let message = format!("`buffer` in [switch] is {buffer}, less than one frame");
        c.add("switch.buffer", message, format!("expected at least {frame}B"));
    }
    let w = &s.switch;
    if let Some(zero) = w.weights.iter().position(|&weight| weight == 0) {
        let message = format!("`weights` in [switch] has a 0, for priority {zero}");
        c.add("switch.weights", message, "expected numbers from 1 to 255");
    }
    if w.weights.len() > w.priorities.into() {
        let message =
            format!("`weights` in [switch] has {} numbers for {} priorities", w.weights.len(), w.priorities);
        c.add("switch.weights", message, format!("expected at most {}", w.priorities));
    }
    if let Some(lane) = w.high_priority.iter().find(|&&lane| lane >= w.priorities) {
        let message = format!(
            "`high_priority` in [switch] names priority {lane}, and `priorities` is {}",
            w.priorities
        );
        c.add("switch.high_priority", message, format!("expected numbers below {}", w.priorities));
    }
    sizes(c, "switch.cut_through_after", s.switch.cut_through_after, 1, LARGEST);
}

/// PFC's thresholds: static or dynamic, and no keys that belong to the other kind.
fn thresholds(c: &mut Checker<'_>, s: &Scenario, pfc: &Pfc) {
    bounds(c, "flow_control.quanta", pfc.quanta.into(), 1, u16::MAX.into());
    bounds(c, "flow_control.response_quanta", pfc.response_quanta.into(), 0, u16::MAX.into());
    if let Some(times) = pfc.headroom_bdp {
        bounds(c, "flow_control.headroom_bdp", times.into(), 1, 1_000);
    }
    if pfc.headroom.is_some() && pfc.headroom_bdp.is_some() {
        let message = "[flow_control] has both `headroom` and `headroom_bdp`";
        c.add("flow_control.headroom_bdp", message, "expected one of them");
    }
    match (pfc.xoff, pfc.alpha) {
        (None, None) => {
            let expected = "expected `xoff = \"500KB\"`, or `alpha = 0.125` with `buffer` in [switch]";
            c.add("flow_control.name", "[flow_control] `pfc` lacks a threshold", expected);
        }
        (Some(_), Some(_)) => {
            let message = "[flow_control] has both `xoff`, a static threshold, and `alpha`, a dynamic one";
            c.add("flow_control.alpha", message, "expected one of them");
        }
        (Some(xoff), None) => {
            if xoff.0 == 0 {
                c.add(
                    "flow_control.xoff",
                    "`xoff` in [flow_control] is zero",
                    "expected a size such as \"500KB\"",
                );
            }
            if let Some(xon) = pfc.xon
                && xon > xoff
            {
                let message = format!("`xon` in [flow_control] is {xon}, above `xoff`, {xoff}");
                c.add("flow_control.xon", message, format!("expected at most {xoff}"));
            }
            let defaults = Pfc::default();
            for (key, differs) in [
                ("resume_offset", pfc.resume_offset != defaults.resume_offset),
                ("reserve", pfc.reserve != defaults.reserve),
                ("alpha_by_rate", pfc.alpha_by_rate),
            ] {
                if differs {
                    let message = format!("`{key}` in [flow_control] has no meaning with `xoff`");
                    c.add(
                        &format!("flow_control.{key}"),
                        message,
                        "expected `alpha` in place of `xoff`, or no such key",
                    );
                }
            }
        }
        (None, Some(alpha)) => {
            if !(alpha > 0.0 && alpha <= LARGEST_ALPHA) {
                let message = format!("`alpha` in [flow_control] is {alpha}");
                c.add(
                    "flow_control.alpha",
                    message,
                    format!("expected a number above 0 and at most {LARGEST_ALPHA}"),
                );
            }
            if pfc.xon.is_some() {
                let message = "`xon` in [flow_control] has no meaning with `alpha`";
                c.add("flow_control.xon", message, "expected `resume_offset`");
            }
            if s.switch.buffer.is_none() {
                let message = "`alpha` in [flow_control] shares a memory of unknown size";
                c.add("flow_control.alpha", message, "expected `buffer` in [switch], such as \"32MB\"");
            }
        }
    }
}

/// Refuses pauses so short that they end before the frame that repeats them, sent at half their time, is there: it may
/// have to wait for a frame on the wire and the PFC frames of all priorities.
pub(super) fn quanta(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let FlowControl::Pfc(pfc) = &s.flow_control else { return };
    if !c.problems.is_empty() || !pfc.refresh || !pfc.expires {
        return; // Sizes may be beyond what can be computed with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let waiting = wire.largest() + wire.pfc_frames(s.switch.priorities);
    // Quanta count by the rate of the port that is paused, the wait by that of the one that pauses.
    let least = |port: u32| {
        let wait = 2 * topology.rate(port).serialization(waiting).0;
        u64::from(u16::MAX).min(wait.div_ceil(quanta_time(1, topology.rate(peer(port))).0))
    };
    let ports = (0..topology.ports()).map(|port| (least(port), port));
    if let Some((least, port)) = ports.max()
        && u64::from(pfc.quanta) < least
    {
        let message = format!(
            "`quanta` in [flow_control] is {}, a pause that would end on `{}` before the frame that repeats it is there",
            pfc.quanta,
            topology.port_name(peer(port))
        );
        c.add("flow_control.quanta", message, format!("expected at least {least}, or `refresh = false`"));
    }
}

/// Refuses times cut to whole nanoseconds where a frame would take none at all: a full one, of links without limit, or the
/// smallest, of which then several are on a link at the same time, in no order but that of scheduling.
pub(super) fn clock(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    if s.quirks.clock == Clock::Exact || !c.problems.is_empty() {
        return;
    }
    let frame = WireSizes::new(&s.settings(), signals).frame();
    let no_time = |&port: &u32| topology.rate(port).ns3_time(frame) == Time::ZERO;
    if let Some(port) = (0..topology.ports()).find(no_time) {
        let message = format!(
            "`clock = \"ns3\"` in [quirks] cuts the {frame}B of a frame on `{}`, at {}, to 0 ns",
            topology.port_name(port),
            topology.rate(port)
        );
        c.add("quirks.clock", message, "expected larger packets, slower links, or `clock = \"exact\"`");
    }
}

/// Refuses a switch memory smaller than what its ports need for themselves.
pub(super) fn buffer(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let (Some(buffer), FlowControl::Pfc(pfc)) = (s.switch.buffer, &s.flow_control) else { return };
    if !c.problems.is_empty() {
        return; // Sizes may be beyond what can be computed with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let (frame, pfc_frames) = (wire.largest(), wire.pfc_frames(s.switch.priorities));
    let reserve = if pfc.alpha.is_some() { pfc.reserve.0 } else { 0 };
    let room = |port: u32| {
        let ends = LinkEnds {
            rate_in: topology.rate(peer(port)),
            delay_in: topology.delay(peer(port)),
            rate_out: topology.rate(port),
            delay_out: topology.delay(port),
        };
        pfc_headroom(pfc, &ends, frame, pfc_frames)
    };
    let adjacency = topology.adjacency();
    let priorities = u128::from(s.switch.priorities);
    let switches = (0u32..).zip(&topology.nodes).filter(|(_, n)| n.kind == NodeKind::Switch);
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
    let of_switch = |p: &u32| topology.nodes[topology.node_of(*p) as usize].kind == NodeKind::Switch;
    let largest = (0..topology.ports()).filter(of_switch).max_by_key(|&p| room(p));
    if let Some(port) = largest
        && xoff.0.saturating_add(room(port)) > buffer.0
    {
        let (name, above) = (topology.port_name(peer(port)), Bytes(room(port)));
        let sum = Bytes(xoff.0.saturating_add(above.0));
        c.warnings.push(format!(
            "`buffer` in [switch] is {buffer}, and PFC lets what comes in by `{name}` grow to {sum}, `xoff` {xoff} and a \
             headroom of {above}: the memory can be full before PFC has stopped a single port"
        ));
    }
}
