//! Checks of `[link]`: errors on links and their repair, against the other tables and the network.

use xoff_engine::Bytes;
use xoff_fabric::network::WireSizes;
use xoff_fabric::settings::{CreditGranularity, FlowControl, LlrSizing};
use xoff_fabric::topology::Topology;
use xoff_schemes::Signals;

use super::check::Checker;
use super::{Event, Scenario};

/// Refuses what cannot stand beside errors on links, and warns of what has no effect.
pub(super) fn all(c: &mut Checker<'_>, s: &Scenario) {
    if s.link.is_default() {
        return;
    }
    if s.link.loses()
        && let FlowControl::Credit(credits) = &s.flow_control
        && credits.granularity == CreditGranularity::Flit
    {
        let message =
            "`granularity` in [flow_control] is \"flit\", and credits of lost packets come back whole";
        c.add("link", message, "expected `granularity = \"packet\"` in [flow_control], or `llr` in [link]");
    }
    let errs = s.link.errors().is_some() || s.event.iter().any(|event| matches!(event, Event::BitErrors(_)));
    if s.link.llr.is_some() && !errs {
        c.warnings.push(
            "`llr` in [link] has nothing to repair: there is no `ber` or `frame_loss` in [link], and no [[event]] \
             `bit_errors`"
                .into(),
        );
    }
}

/// Refuses replay buffers and timers with which nothing would pass, and warns of those that slow links down.
pub(super) fn sizes(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) {
    let Some(llr) = &s.link.llr else { return };
    if !c.problems.is_empty() {
        return; // Sizes may be too large to calculate with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let sizings = || topology.port_ids().map(|port| (port, LlrSizing::of(topology, port, llr, &wire)));
    let Some((port, worst)) = sizings().max_by_key(|(_, sizing)| sizing.needed) else { return };
    let name = topology.port_name(port);
    if worst.replay_buffer < worst.frame {
        let message = format!(
            "`llr.replay_buffer` in [link] is {}, into which no largest frame fits with its gap",
            Bytes(worst.replay_buffer)
        );
        c.add("link.llr.replay_buffer", message, format!("expected at least {}", Bytes(worst.frame)));
    } else if worst.replay_buffer < worst.needed {
        c.warnings.push(format!(
            "`llr.replay_buffer` in [link] is {}, and `{name}` waits for ACKs although nothing is lost: it carries {} until an ACK is \
             back, {}",
            Bytes(worst.replay_buffer),
            Bytes(worst.needed),
            worst.round_trip
        ));
    }
    if let Some((port, longest)) = sizings().max_by_key(|(_, sizing)| sizing.round_trip)
        && longest.timeout < longest.round_trip
    {
        let message = format!(
            "`llr.timeout` in [link] is {}, and an ACK of a frame of `{}` takes {}: each frame would be sent again",
            longest.timeout,
            topology.port_name(port),
            longest.round_trip
        );
        c.add("link.llr.timeout", message, format!("expected at least {}", longest.round_trip));
    }
}
