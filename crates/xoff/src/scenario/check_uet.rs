//! Checks of Ultra Ethernet's transport against what is recorded and sent.

use xoff_engine::{Rate, Time};
use xoff_fabric::routing::PathChoice;
use xoff_fabric::settings::Transport;
use xoff_traffic::Traffic;

use super::check::Checker;
use super::{Event, Queues, Scenario};

/// Refuses records and runs that the transport does not serve.
pub(super) fn all(c: &mut Checker<'_>, s: &Scenario) {
    if s.host.transport != Transport::Uet {
        if s.routing.choice() == PathChoice::Entropy {
            let message = "`choice` in [routing] is \"entropy\", and only packets of transport `uet` carry entropy values";
            let expected = "expected another `choice`, or `transport = \"uet\"` in [host]";
            c.add("routing.choice", message, expected);
        }
        return;
    }
    let records = [
        ("breakdown", s.record.breakdown),
        ("packets", s.record.packets != Queues::None),
        ("roots", s.record.roots),
    ];
    for (key, _) in records.into_iter().filter(|(_, asked)| *asked) {
        let message = format!("`{key}` in [record] knows no packets of transport `uet`");
        c.add(
            &format!("record.{key}"),
            message,
            format!("expected another `transport` in [host], or no `{key}`"),
        );
    }
    let holds = |event: &Event| matches!(event, Event::ReceiverStop(_) | Event::ReceiverSlow(_));
    for number in (0..s.event.len()).filter(|&i| holds(&s.event[i])) {
        let message = "[[event]] `receiver_stop` and `receiver_slow` keep no data of transport `uet`";
        c.add(
            &format!("event.{number}.kind"),
            message,
            "expected another kind, or another `transport` in [host]",
        );
    }
}

/// Refuses flows that the transport does not carry.
pub(super) fn traffic(c: &mut Checker<'_>, s: &Scenario, traffic: &Traffic) {
    if s.host.transport != Transport::Uet {
        return;
    }
    let flows = &traffic.flows;
    if flows
        .iter()
        .any(|flow| flow.size.is_endless() || flow.stop != Time::NEVER || flow.app_rate != Rate::UNLIMITED)
    {
        let message = "[[traffic]] has flows without a size, with a `stop` or with a rate of their own, and transport \
                       `uet` sends messages of a known size";
        c.add("traffic", message, "expected flows with a `size` alone, or another `transport` in [host]");
    }
    if flows.connections().values().iter().any(Option::is_some) {
        let message =
            "[[traffic]] has messages that share connections, and under transport `uet` each has its own";
        c.add(
            "traffic",
            message,
            "expected `connection = \"per_message\"`, or another `transport` in [host]",
        );
    }
}
