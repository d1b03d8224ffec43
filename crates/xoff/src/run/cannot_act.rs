//! Warnings of schemes that cannot act on the traffic that they were given.

use std::collections::{BTreeMap, BTreeSet};

use xoff_engine::Bytes;
use xoff_fabric::Simulation;
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::records::FlowOutcome;
use xoff_schemes::{AnyScheme, SlEnv};
use xoff_traffic::Traffic;

/// Properties of the messages of a label.
#[derive(Default)]
struct Label {
    /// A message may have been affected by its scheme: see [`cannot_act`].
    is_controlled: bool,
    /// A pair of hosts has several messages.
    repeats: bool,
    pairs: BTreeSet<(u32, u32, u8)>,
}

/// Warnings, by label, of traffic whose every message has left its sender before the first ACK was back, on a connection that
/// carries nothing else: all feedback of the network comes too late. This is certain for messages of one packet. It is
/// assumed for messages within a bandwidth-delay product that got no CNP and were complete within two base RTTs, the second
/// of which their last ACK needs.
pub(super) fn cannot_act(sim: &Simulation, traffic: &Traffic) -> Vec<String> {
    let net = sim.network();
    let by_level = net.scheme.sl_reaction(&SlEnv { line_rate: net.env.line_rate }).is_some();
    if matches!(net.scheme, AnyScheme::None(_)) || by_level {
        return Vec::new();
    }
    let bdp = net.env.line_rate.bytes_in(net.env.base_rtt);
    let is_over = |outcome: &FlowOutcome| {
        outcome.cnps == 0 && outcome.fct.is_some_and(|fct| fct <= net.env.base_rtt * 2)
    };
    let mut labels: BTreeMap<u16, Label> = BTreeMap::new();
    let outcomes = sim.records().flows.iter();
    for ((number, flow), outcome) in FlowId::all(traffic.flows.len()).zip(traffic.flows.iter()).zip(outcomes)
    {
        let label = labels.entry(flow.label).or_default();
        let is_shared = net.connections.is_shared(net.connections.of(number));
        let too_short = |size| size <= net.wire.payload || (size <= bdp && is_over(&outcome));
        label.is_controlled |= is_shared || !flow.size.bytes().is_some_and(too_short);
        if !label.is_controlled && !label.repeats {
            label.repeats = !label.pairs.insert((flow.src, flow.dst, flow.priority));
        }
    }
    let beyond = labels.into_iter().filter(|(_, label)| !label.is_controlled);
    let warning = |(number, label): (u16, Label)| {
        let remedy = if label.repeats {
            "let messages share connections, with `connection = \"per_pair\"` in [[traffic]]"
        } else {
            "no connection has a second message, so that only larger messages let it act"
        };
        format!(
            "scheme `{}` cannot act: every message of `{}` fits into the bandwidth-delay product, {}, has a connection to itself, \
             and has left before anything came back; {remedy}",
            net.scheme.name(),
            traffic.labels[usize::from(number)],
            Bytes(bdp),
        )
    };
    beyond.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use crate::run::{Output, run};
    use crate::scenario::Scenario;

    /// Two hosts at 100 Gbps and 1 us a link: a base RTT of a little over 4 us, so that 4 us * 12.5 GB/s = 50,000 B fit into
    /// it, and 60,000 B do not.
    const SMALL: &str = r#"
        topology = { name = "star", hosts = 2, rate = "100Gbps", delay = "1us" }
        scheme = { name = "dcqcn" }
        traffic = [
            { label = "short", pattern = "burst", senders = "host0", receivers = "host1", size = "50KB", count = 2, every = "5us" },
        ]
    "#;

    fn warnings(set: &[(&str, &str)]) -> Vec<String> {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let scenario = Scenario::parse(SMALL, "small.toml", &set).unwrap_or_else(|e| panic!("{e}"));
        let Output { manifest, .. } = run(&scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        let warnings = manifest["warnings"].as_array().expect("a list").iter();
        warnings.map(|warning| warning.as_str().expect("a text").to_string()).collect()
    }

    #[test]
    fn messages_that_are_over_before_anything_comes_back_are_warned_of() {
        let found = warnings(&[]);
        let [warning] = found.as_slice() else { panic!("{found:?}") };
        for part in ["scheme `dcqcn` cannot act", "`short`", "connection = \"per_pair\""] {
            assert!(warning.contains(part), "{warning}");
        }
        // A pair that has one message gains nothing from sharing.
        let found = warnings(&[("traffic.0.count", "1")]);
        assert!(found.len() == 1 && !found[0].contains("per_pair"), "{found:?}");
    }

    #[test]
    fn schemes_that_can_act_are_not_warned_of() {
        for set in [
            ("traffic.0.size", "60KB"),
            ("traffic.0.connection", "per_pair"),
            ("traffic.0.connection", "1"),
            ("scheme.name", "none"),
        ] {
            assert_eq!(warnings(&[set]), [""; 0], "{set:?}");
        }
        let by_level = [("scheme.name", "ib_cc"), ("scheme.scope", "sl")];
        assert!(warnings(&by_level).iter().all(|warning| !warning.contains("cannot act")));
    }

    /// Eight hosts send 50,000 B each to one at once: 8 * 50,000 B / 12.5 GB/s = 32 us, so the last flow completes long after
    /// two base RTTs of a little over 4 us: feedback may have come while it sent, and no warning is given. Messages of one
    /// packet, of 1,000 B, have left before any feedback comes, however long they queue.
    #[test]
    fn messages_that_queue_are_warned_of_only_if_they_are_single_packets() {
        let text = |size: &str| {
            format!(
                r#"
                topology = {{ name = "star", hosts = 9, rate = "100Gbps", delay = "1us" }}
                scheme = {{ name = "hpcc" }}
                traffic = [{{ pattern = "incast", receiver = "host8", senders = 8, size = "{size}" }}]
                "#
            )
        };
        for (size, warned) in [("50KB", false), ("1KB", true)] {
            let scenario = Scenario::parse(&text(size), "incast.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
            let Output { manifest, .. } = run(&scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(manifest["warnings"].to_string().contains("cannot act"), warned, "{size}");
        }
    }
}
