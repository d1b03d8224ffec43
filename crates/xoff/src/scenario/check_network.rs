//! Builds the network's graph and its routing, with every error at its key.

use std::sync::Arc;

use xoff_engine::{Rate, Time};
use xoff_fabric::network::choice_violation;
use xoff_fabric::routing::Router;
use xoff_fabric::topology::{AnyTopology, MAX_RATE, NodeKind, PortId, Topology, TopologyError};
use xoff_schemes::int::{CODED_GBPS, MAX_INT_HOPS, PackedRecord};
use xoff_schemes::{IntFormat, IntPath, Signals};
use xoff_traffic::FileSource;

use super::Scenario;
use super::check::{Checker, text_of};
use super::needs::Needs;
use crate::files::{MAX_SCENARIO, check_size};

/// Minimum rate of a link: at 1 Mbps and with the longest path and frame, no sum of times overflows.
const MIN_RATE: Rate = Rate::from_mbps(1);
/// Maximum number of links of a path.
pub(crate) const MAX_PATH: usize = 64;

/// The network's nodes and links; `None` also if they are not to be built. A graph that was read from a file becomes part of the scenario.
pub(super) fn topology(
    c: &mut Checker<'_>,
    s: &mut Scenario,
    files: &dyn FileSource,
    needs: &mut Needs,
) -> Option<Arc<Topology>> {
    if let AnyTopology::Graph(graph) = &s.topology {
        let text = |name: &str| {
            let text = text_of(files, name)?;
            // A graph is TOML, as a scenario is, and takes as many times its size.
            check_size(text.len() as u64, MAX_SCENARIO)?;
            Ok(text)
        };
        match graph.clone().resolve(text) {
            Ok(read) => s.topology = AnyTopology::Graph(read),
            Err(error) => {
                topology_problem(c, &error);
                return None;
            }
        }
    }
    let size = s.topology.size().map_err(|error| topology_problem(c, &error)).ok()?;
    if !needs.admits_network(c, &size, s) {
        return None;
    }
    let topology = s.topology.build().map_err(|error| topology_problem(c, &error)).ok()?;
    if let Some(port) = topology.port_ids().find(|&p| topology.rate(p) < MIN_RATE) {
        rate_problem(c, &topology.port_name(port), topology.rate(port));
        return None;
    }
    Some(Arc::new(topology.with_pipelines(s.switch.pipeline_delay)))
}

fn rate_problem(c: &mut Checker<'_>, port: &str, rate: Rate) {
    let place = c.find_value("topology", |text| text.parse() == Ok(rate));
    let message = format!("[topology] has the rate {rate} on `{port}`");
    let expected = format!("expected a rate from {MIN_RATE} to {MAX_RATE}");
    c.add(&place.unwrap_or_else(|| "topology.name".into()), message, expected);
}

/// Adds an error of a topology at its key.
fn topology_problem(c: &mut Checker<'_>, error: &TopologyError) {
    use TopologyError as E;
    let named = |c: &Checker<'_>, name: &str| c.find_last("topology", |text| text == name);
    // Errors of the network as a whole are shown at the text that causes them, if it is written.
    let place = match error {
        E::Rate { from, to, rate } => return rate_problem(c, &format!("{from}->{to}"), *rate),
        E::Delay { delay, .. } => c.find_value("topology", |text| text.parse::<Time>() == Ok(*delay)),
        E::DuplicateNode { name } => named(c, name),
        E::EmptyName { .. } => named(c, ""),
        E::HostLinks { host, .. } => c.find_value("topology", |text| text == host),
        E::Disconnected { b, .. } => named(c, b),
        E::NicsDisconnected { a, .. } => named(c, a),
        _ => None,
    };
    let violation = error.violation().inside("topology");
    match place {
        Some(place) => c.violation_at(&place, &violation),
        None => c.violation(&violation),
    }
}

/// The routing, if it fits the topology, the scheme and the room that INT has.
pub(super) fn router(
    c: &mut Checker<'_>,
    s: &Scenario,
    signals: &Signals,
    topology: &Arc<Topology>,
) -> Option<Router> {
    let violations = s.routing.validate();
    if !violations.is_empty() {
        violations.into_iter().for_each(|violation| c.violation(&violation.inside("routing")));
        return None;
    }
    if let Some(violation) = choice_violation(s.routing.choice(), s.lanes(), &s.scheme, &s.settings()) {
        c.violation(&s.routing.in_own_words(violation).inside("routing"));
        return None;
    }
    let router = Router::new(topology.clone(), &s.routing, s.seed)
        .map_err(|error| c.violation(&error.violation().inside("routing")))
        .ok()?;
    let links = router.max_hops();
    if links > MAX_PATH {
        let message = format!("[topology] has a path of {links} links");
        c.add("topology.name", message, format!("expected at most {MAX_PATH}"));
        return None;
    }
    let scheme = s.scheme.name();
    if signals.symmetric_paths && !router.is_symmetric() {
        let warning = "needs ACKs that retrace their data's path, which [routing] does not provide";
        c.warnings.push(format!("scheme `{scheme}` {warning}"));
    }
    if signals.int != IntPath::Off {
        int_speeds(c, s, topology);
        int_hops(c, s, links.saturating_sub(1));
    }
    Some(router)
}

/// The speeds that INT can name.
fn int_speeds(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) {
    let stamps = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Switch;
    let mut ports = topology.port_ids().filter(stamps);
    let uncoded = ports.find(|&p| PackedRecord::speed_code(topology.rate(p)).is_none());
    if s.packets.int_format == IntFormat::Hardware
        && let Some(port) = uncoded
    {
        let (name, rate) = (topology.port_name(port), topology.rate(port));
        let coded = CODED_GBPS.map(|g| g.to_string()).join(", ");
        let scheme = s.scheme.name();
        let message = format!("the INT of scheme `{scheme}` cannot name the rate of `{name}`, {rate}");
        let place = c.find_value("topology", |text| text.parse() == Ok(rate));
        let expected = format!("expected one of {coded} Gbps, or `int_format = \"exact\"` in [packets]");
        c.add(&place.unwrap_or_else(|| "packets.int_format".into()), message, expected);
    }
}

/// The hops that INT has room for.
fn int_hops(c: &mut Checker<'_>, s: &Scenario, hops: usize) {
    let room = usize::from(s.packets.int_hops);
    if hops > room {
        let scheme = s.scheme.name();
        let message =
            format!("the INT of scheme `{scheme}` has room for {room} switches, and a path has {hops}");
        let place = if c.is_written("packets.int_hops") { "packets.int_hops" } else { "topology.name" };
        let expected = if hops <= MAX_INT_HOPS {
            format!("expected `int_hops = {hops}` in [packets]")
        } else {
            format!("expected paths of at most {MAX_INT_HOPS} switches")
        };
        c.add(place, message, expected);
    }
}
