//! Warnings of keys that have no effect in their scenario.
//!
//! A key counts as set when its value is not its default, so that a resolved scenario, which has every key, gives the
//! same warnings as the scenario that it came from.

use xoff_fabric::routing::PathChoice;
use xoff_fabric::settings::{FlowControl, Host, Packets, Pfc, Quirks, Scheduling, Switch, Transport};
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::detector::tcd::Tcd;
use xoff_schemes::{AnyScheme, IntFormat, IntPath, Signals};

use xoff_traffic::pattern::{CongestorKernel, EAGER_OUTSTANDING};
use xoff_traffic::{Pattern, Traffic};

use super::check::Checker;
use super::{Record, Scenario};

/// Warns of each key that is set and has no effect.
pub(super) fn all(c: &mut Checker<'_>, s: &Scenario, signals: &Signals) {
    let scheme = s.scheme.name();
    if let Some(detector) = s.detector.as_ref().filter(|d| d.needs_pauses())
        && s.flow_control == FlowControl::None
    {
        let name = detector.name();
        let why = "no queue is ever stopped, and [flow_control] is \"none\"";
        c.warnings.push(format!("[detector] `{name}` has no pauses to tell apart: {why}"));
    }
    let mut warn = |set: bool, key: &str, table: &str, reason: &str| {
        if set {
            c.warnings.push(format!("`{key}` in [{table}] has no effect: {reason}"));
        }
    };

    let (p, default) = (&s.packets, Packets::default());
    let no_int = format!("scheme `{scheme}` has no INT");
    if signals.int == IntPath::Off {
        warn(p.int_format != default.int_format, "int_format", "packets", &no_int);
        warn(p.int_hops != default.int_hops, "int_hops", "packets", &no_int);
        warn(p.int_multi != default.int_multi, "int_multi", "packets", &no_int);
    } else if p.int_format == IntFormat::Exact {
        let reason = "`int_format = \"exact\"` has no units";
        warn(p.int_multi != default.int_multi, "int_multi", "packets", reason);
    }
    if let (Some(AnyDetector::Tcd(tcd)), FlowControl::Cbfc(_)) = (&s.detector, &s.flow_control) {
        let (default, reason) = (Tcd::default(), "with [flow_control] `cbfc` max(T_on) is `update_period`");
        warn(tcd.epsilon != default.epsilon, "epsilon", "detector", reason);
        warn(tcd.tau != default.tau, "tau", "detector", reason);
        warn(tcd.hysteresis != default.hysteresis, "hysteresis", "detector", reason);
    }
    if s.detector.is_none() {
        let reason = format!("scheme `{scheme}` looks at no marks");
        warn(s.quirks.marking_stream.is_some(), "marking_stream", "quirks", &reason);
        warn(s.record.marks, "marks", "record", &reason);
    }
    if let FlowControl::Pfc(pfc) = &s.flow_control
        && !pfc.expires
    {
        let (default, reason) = (Pfc::default(), "`expires = false`: a pause ends by RESUME alone");
        warn(pfc.quanta != default.quanta, "quanta", "flow_control", reason);
        warn(pfc.refresh != default.refresh, "refresh", "flow_control", reason);
    }
    if signals.int != IntPath::Ack {
        let reason = format!("scheme `{scheme}` has no INT on ACKs");
        warn(p.int_refresh != default.int_refresh, "int_refresh", "packets", &reason);
    }
    if !s.scheme.notifies() {
        let reason = format!("scheme `{scheme}` sends neither CNPs nor CNMs");
        warn(p.cnp != default.cnp, "cnp", "packets", &reason);
        warn(s.host.cnp_delay != Host::default().cnp_delay, "cnp_delay", "host", &reason);
    }
    if matches!(s.scheme, AnyScheme::None(_)) {
        let (q, default) = (&s.quirks, Quirks::default());
        warn(q.gap != default.gap, "gap", "quirks", "scheme `none` never changes its rate");
        warn(q.base_rtt != default.base_rtt, "base_rtt", "quirks", "scheme `none` takes no base RTT");
    }
    if !matches!(s.flow_control, FlowControl::Pfc(_)) {
        let reason = format!("[flow_control] is \"{}\"", s.flow_control.name());
        warn(p.pfc != default.pfc, "pfc", "packets", &reason);
    }
    if s.switch.cut_through(&s.flow_control).is_none() {
        let set = s.switch.cut_through_after != Switch::default().cut_through_after;
        warn(set, "cut_through_after", "switch", "`forwarding` is \"store_and_forward\"");
    }

    let (h, default) = (&s.host, Host::default());
    let per_connection = s.routing.choice() == PathChoice::PerConnection;
    let breaks = !s.event.is_empty() || s.switch.watchdog.is_some() || s.link.loses();
    let any_order = matches!(h.transport, Transport::Unordered | Transport::Uet);
    if !s.lossy && !breaks && (per_connection || any_order) {
        let reason = if per_connection {
            "only a network with `lossy = true`, or with paths chosen by packet, sends again"
        } else {
            "a network without losses sends nothing again if data may come in any order"
        };
        let set = h.retransmit_timeout != default.retransmit_timeout && signals.credits.is_none();
        warn(set, "retransmit_timeout", "host", reason);
        warn(h.nack_interval != default.nack_interval, "nack_interval", "host", reason);
    } else if h.transport != Transport::GoBackN {
        let reason = "`transport` is not \"go_back_n\"";
        warn(h.nack_interval != default.nack_interval, "nack_interval", "host", reason);
    }
    if !s.lossy && !breaks && per_connection && !h.bdp_cap && h.transport != Transport::Uet {
        let reason = "without losses data comes in order on one path per connection";
        warn(h.transport != default.transport, "transport", "host", reason);
    }
    if !signals.flow_count {
        let reason = format!("scheme `{scheme}` does not use the number of flows");
        warn(h.flow_count != default.flow_count, "flow_count", "host", &reason);
    }

    if s.switch.priorities == 1 {
        let set = s.switch.scheduling != Switch::default().scheduling;
        warn(set, "scheduling", "switch", "`priorities` is 1");
    }
    if s.switch.scheduling != Scheduling::Weighted {
        let (w, default, reason) = (&s.switch, Switch::default(), "`scheduling` is not \"weighted\"");
        warn(w.weights != default.weights, "weights", "switch", reason);
        warn(w.high_priority != default.high_priority, "high_priority", "switch", reason);
        warn(w.high_limit != default.high_limit, "high_limit", "switch", reason);
        warn(w.vlarb_high != default.vlarb_high, "vlarb_high", "switch", reason);
        warn(w.vlarb_low != default.vlarb_low, "vlarb_low", "switch", reason);
    }
    if !s.record.roots {
        let set = s.record.root_growth != Record::default().root_growth;
        warn(set, "root_growth", "record", "`roots` is not recorded");
    }
    warn(s.record.throttles && s.throttle.is_none(), "throttles", "record", "there is no [throttle]");
    if !s.record.samples() {
        let set = s.record.interval != Record::default().interval;
        warn(set, "interval", "record", "none of `queues`, `rates` and `variables` is sampled");
    }
}

/// Warns of arbitration among lanes that has nothing to choose from, and of eager messages that are never held back.
pub(super) fn lanes(c: &mut Checker<'_>, s: &Scenario, traffic: Option<&Traffic>) {
    eager(c, s);
    let Some(traffic) = traffic.filter(|_| s.switch.scheduling == Scheduling::Weighted && s.lanes() == 1)
    else {
        return;
    };
    let mut warn = |set: bool, key: &str, reason: &str| {
        if set {
            c.warnings.push(format!("`{key}` in [switch] has no effect: {reason}"));
        }
    };
    let (w, default) = (&s.switch, Switch::default());
    let priorities = traffic.flows.priorities().values();
    if let [] | [_] = priorities {
        let reason = format!("all traffic has priority {}", priorities.first().copied().unwrap_or_default());
        warn(w.weights != default.weights, "weights", &reason);
        warn(w.high_priority != default.high_priority, "high_priority", &reason);
        warn(w.high_limit != default.high_limit, "high_limit", &reason);
        warn(w.vlarb_high != default.vlarb_high, "vlarb_high", &reason);
        warn(w.vlarb_low != default.vlarb_low, "vlarb_low", &reason);
    } else if w.high_priority.is_empty() && w.vlarb_high.is_empty() {
        warn(w.high_limit != default.high_limit, "high_limit", "no priority is a high one");
    }
}

/// Warns of a bound of eager messages that nothing reaches.
fn eager(c: &mut Checker<'_>, s: &Scenario) {
    for gpcnet in s.traffic.iter().filter_map(|p| if let Pattern::Gpcnet(g) = p { Some(g) } else { None }) {
        let (bound, sent) = (gpcnet.eager_outstanding, gpcnet.congestor_iterations);
        let reason = if !gpcnet.congestor_kernels.contains(&CongestorKernel::TwoSidedIncast) {
            "no congestor is a `two_sided_incast`".to_string()
        } else if gpcnet.congestor_size > gpcnet.eager {
            format!(
                "messages of `congestor_size`, {}, are above `eager`, {}",
                gpcnet.congestor_size, gpcnet.eager
            )
        } else if bound >= sent {
            format!("a process sends {sent} messages")
        } else {
            continue;
        };
        if bound != EAGER_OUTSTANDING {
            c.warnings.push(format!("`eager_outstanding` in [[traffic]] has no effect: {reason}"));
        }
    }
}
