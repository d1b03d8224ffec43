//! Checks of credit-based flow control.

use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::link::flow_control::sizing::Sizing;
use xoff_fabric::network::WireSizes;
use xoff_fabric::settings::{CounterWidth, CreditUnit, FlowControl, LinkCredits, NicTimer};
use xoff_fabric::topology::{NodeKind, PortId, Topology};
use xoff_schemes::{Signals, SlEnv};

use super::Scenario;
use super::check::Checker;

/// Refuses ns-3's NIC together with a throttle or with a rate that flows share, since that NIC ignores both.
pub(super) fn holds(c: &mut Checker<'_>, s: &Scenario) {
    if s.quirks.nic != NicTimer::Ns3 {
        return;
    }
    let shared_rate = s.scheme.sl_reaction(&SlEnv { line_rate: Rate::from_gbps(1) }).is_some();
    for (is_used, what) in [
        (s.throttle.is_some(), "[throttle]".to_string()),
        (shared_rate, format!("the rate that flows share with [scheme] `{}`", s.scheme.name())),
    ] {
        if is_used {
            let message = format!("`nic = \"ns3\"` in [quirks] does not support {what}");
            c.add("quirks.nic", message, "expected `next_to_send`");
        }
    }
}

/// Maximum number of bytes that a link may carry between two updates: 65,536 symbol times, in each of which each of four
/// physical lanes takes a byte of ten bits.
const MAX_BETWEEN_UPDATES: u64 = 65_536 * 4 * 10 / 8;

/// Refuses updates that would take more than half of a link, and warns of fewer than InfiniBand requires.
pub(super) fn updates(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let FlowControl::Cbfc(cbfc) = &s.flow_control else { return };
    if !c.problems.is_empty() {
        return;
    }
    let (settings, priorities) = (s.settings(), s.switch.priorities);
    let wire = WireSizes::new(&settings, signals);
    let rates = topology.port_ids().map(|port| (topology.rate(port), port));
    let (Some((slowest, port)), Some((fastest, _))) = (rates.clone().min(), rates.max()) else { return };
    let taken = slowest.serialization((wire.update + wire.gap) * u64::from(priorities));
    let period = cbfc.update_period;
    if taken * 2 > period {
        let name = topology.port_name(port);
        let message = format!(
            "`update_period` in [flow_control] is {period}, and updates, one for each VL, take `{name}` for {taken}: data would \
             hardly pass"
        );
        c.add("flow_control.update_period", message, format!("expected at least {}", taken * 2));
    }
    let longest = fastest.time_for(MAX_BETWEEN_UPDATES);
    if period > longest {
        c.warnings.push(format!(
            "`update_period` in [flow_control] is {period}, and InfiniBand has an update at least every 65,536 symbol times, \
             {longest} at {fastest}"
        ));
    }
}

/// Warns of a throttle whose threshold the used credits of no host's port can reach.
pub(super) fn throttled(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let Some(throttle) = s.throttle.as_ref().filter(|_| s.flow_control.has_credits()) else { return };
    if !c.problems.is_empty() {
        return;
    }
    let settings = s.settings();
    let wire = WireSizes::new(&settings, signals);
    let of_host = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Host;
    let credits = |port: PortId| Sizing::of(topology, port.peer(), &settings, &wire).credits();
    let max = topology.port_ids().filter(of_host).map(credits).max().unwrap_or(0);
    let shared = s.flow_control.shared_credits();
    let (all, idle) = (max.saturating_mul(s.switch.priorities.into()) + shared, throttle.idle_up_to());
    if all <= idle {
        c.warnings.push(format!(
            "[throttle] `{}` never acts: it does above {idle} used credits, and no host's port has more than {all}",
            throttle.name()
        ));
    }
}

/// Refuses buffers with which a link stalls by itself, or into which a full frame does not fit.
pub(super) fn buffers(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    if !c.problems.is_empty() {
        return; // Sizes may be too large to calculate with.
    }
    let (key, undersized, width) = match &s.flow_control {
        FlowControl::Cbfc(cbfc) => ("buffer", cbfc.undersized, cbfc.counters),
        FlowControl::UeCbfc(cbfc) => ("buffer", cbfc.undersized, CounterWidth::Wide),
        FlowControl::Credit(credit) => ("credits", credit.undersized, CounterWidth::Wide),
        _ => return,
    };
    let settings = s.settings();
    let wire = WireSizes::new(&settings, signals);
    let path = format!("flow_control.{key}");
    let sizings = topology.port_ids().map(|port| (port, Sizing::of(topology, port, &settings, &wire)));
    let granted = |sizing: &Sizing| match width {
        CounterWidth::Wide => sizing.most(),
        CounterWidth::TwelveBit => sizing.credits().min(2048),
    };
    // The link with the largest deficit.
    let worst = sizings.max_by_key(|(_, sizing)| sizing.needed().saturating_sub(granted(sizing)));
    let Some((port, sizing)) = worst else { return };
    let into = topology.port_name(port.peer());
    let amount = |credits: u64| match &s.flow_control {
        FlowControl::Cbfc(_) => Bytes(credits * 64).to_string(),
        FlowControl::UeCbfc(cbfc) => Bytes(credits * cbfc.cell.0).to_string(),
        FlowControl::Credit(LinkCredits { unit: CreditUnit::Packet, .. }) => credits.to_string(),
        _ => format!("{credits} ({})", Bytes(credits * flit(s))),
    };
    let (has, needed) = (granted(&sizing), sizing.needed());
    // Each lane must get on without the shared credits, which others may hold.
    let reserved = sizing.credits().min(has);
    if reserved < sizing.of_largest() {
        let what = match sizing.large_ack() {
            Some(bytes) => format!("the largest ACK, {}, does not fit into", Bytes(bytes)),
            None => "no full frame fits into".into(),
        };
        let message = format!("`{key}` in [flow_control] is {}, which {what}", amount(reserved));
        c.add(&path, message, format!("expected at least {}", amount(sizing.of_largest())));
    } else if has < needed && !undersized {
        let part = |what: &str, time: Time| format!("{} for {what} ({time})", Bytes(sizing.bytes_in(time)));
        let mut parts = Vec::new();
        if sizing.period > Time::ZERO {
            parts.push(part("the time between updates", sizing.period));
        }
        parts.push(part("propagation there and back", sizing.propagation));
        parts.push(part("the message back", sizing.message));
        parts.push(part("the packet on the link and in the switch", sizing.frames));
        let what = match width {
            CounterWidth::Wide if has > reserved => {
                let shared = amount(has - reserved);
                format!("`{key}` and `shared_{key}` in [flow_control] are {} and {shared}", amount(reserved))
            }
            CounterWidth::Wide => format!("`{key}` in [flow_control] is {}", amount(has)),
            CounterWidth::TwelveBit => {
                format!("`counters = \"12_bit\"` in [flow_control] grant {} at most", amount(has))
            }
        };
        let message = format!(
            "{what}, and `{into}` would stall by itself: it carries {} until a place is free again",
            parts.join(", ")
        );
        let together = if has > reserved { " together" } else { "" };
        let expected =
            format!("expected at least {}{together}, in full frames, or `undersized = true`", amount(needed));
        c.add(&path, message, expected);
    }
}

/// Bytes of a flit.
fn flit(s: &Scenario) -> u64 {
    match &s.flow_control {
        FlowControl::Credit(credit) => credit.flit.0,
        _ => 64,
    }
}
