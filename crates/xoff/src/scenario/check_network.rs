//! Building the network's graph and its routing, with every error at the key that it is about.

use xoff_engine::{Rate, Time};
use xoff_fabric::routing::{Router, RoutingError};
use xoff_fabric::topology::{
    AnyTopology, MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_RATE, NodeKind, Topology, TopologyError,
};
use xoff_schemes::int::{CODED_GBPS, MAX_INT_HOPS, PackedRecord};
use xoff_schemes::{IntFormat, IntPath, Signals};

use super::check::{Checker, text_of};
use super::{Files, Scenario};

/// The slowest link: at 1 Mbps and with the longest path and frame, no sum of times overflows.
const SLOWEST: Rate = Rate::from_mbps(1);
/// The most links of a path.
const LONGEST_PATH: usize = 64;

/// The network's nodes and links. A graph that stands in a file becomes part of the scenario.
pub(super) fn topology(c: &mut Checker<'_>, s: &mut Scenario, files: Files<'_>) -> Option<Topology> {
    if let AnyTopology::Graph(graph) = &s.topology {
        match graph.clone().resolve(|name| text_of(files, name)) {
            Ok(read) => s.topology = AnyTopology::Graph(read),
            Err(error) => {
                topology_problem(c, &error);
                return None;
            }
        }
    }
    let topology = s.topology.build().map_err(|error| topology_problem(c, &error)).ok()?;
    if let Some(port) = (0..topology.ports()).find(|&p| topology.rate(p) < SLOWEST) {
        rate_problem(c, &topology.port_name(port), topology.rate(port));
        return None;
    }
    Some(topology)
}

fn rate_problem(c: &mut Checker<'_>, port: &str, rate: Rate) {
    let place = c.find_value("topology", |text| text.parse() == Ok(rate));
    let message = format!("the rate of `{port}` in [topology] is {rate}");
    let expected = format!("expected a rate from {SLOWEST} to {MAX_RATE}");
    c.add(&place.unwrap_or_else(|| "topology.name".into()), message, expected);
}

/// Puts an error of a topology at the key that it is about.
fn topology_problem(c: &mut Checker<'_>, error: &TopologyError) {
    use TopologyError as E;
    let named = |c: &Checker<'_>, name: &str| c.find_last("topology", |text| text == name);
    let (place, message, expected) = match error {
        E::Rate { from, to, rate } => return rate_problem(c, &format!("{from}->{to}"), *rate),
        E::Delay { from, to, delay } => (
            c.find_value("topology", |text| text.parse::<Time>() == Ok(*delay)),
            format!("the delay of `{from}->{to}` in [topology] is {delay}"),
            format!("expected at most {MAX_DELAY}"),
        ),
        E::TooFew { key, got, least } => (
            Some(format!("topology.{key}")),
            format!("`{key}` in [topology] is {got}"),
            format!("expected at least {least}"),
        ),
        E::Arity { k } => (
            Some("topology.k".into()),
            format!("`k` in [topology] is {k}"),
            format!(
                "expected an even number of ports per switch, such as {}",
                k.saturating_add(1).clamp(2, 1024) & !1
            ),
        ),
        E::TooLarge { nodes, links } => (
            None,
            format!("[topology] makes {nodes} nodes and {links} links"),
            format!("expected at most {MAX_NODES} nodes and {MAX_LINKS} links"),
        ),
        E::UnknownNode { link, end, name, nearest } => (
            Some(format!("topology.links.{link}.{end}")),
            format!("`links[{link}].{end}` in [topology] names the unknown node `{name}`"),
            format!("expected a name from `nodes`, `hosts` or `switches`{nearest}"),
        ),
        E::DuplicateNode { name } => (
            named(c, name),
            format!("two nodes in [topology] are called `{name}`"),
            "expected a name of its own for each".into(),
        ),
        E::EmptyName { .. } => (
            named(c, ""),
            "a node in [topology] has an empty name".into(),
            "expected a name such as \"host0\"".into(),
        ),
        E::SelfLoop { link, name } => (
            Some(format!("topology.links.{link}")),
            format!("`links[{link}]` in [topology] connects `{name}` to itself"),
            "expected two different nodes".into(),
        ),
        E::HostLinks { host, links } => (
            c.find_value("topology", |text| text == host),
            format!("host `{host}` in [topology] has {links} links"),
            "expected exactly one link for each host, to a switch or to another host".into(),
        ),
        E::NoHosts => (
            None,
            "[topology] has no hosts".into(),
            "expected `hosts = [...]` or nodes of the kind \"host\"".into(),
        ),
        E::Disconnected { a, b } => (
            named(c, b),
            format!("no path connects the hosts `{a}` and `{b}` in [topology]"),
            "expected links between the switches that connect all hosts".into(),
        ),
        E::FileAndLists { file } => (
            Some("topology.file".into()),
            format!("[topology] takes its graph from `{file}` and lists nodes or links as well"),
            "expected either `file`, or `nodes`, `hosts`, `switches` and `links`".into(),
        ),
        E::File { file, reason } => (
            Some("topology.file".into()),
            format!("cannot read the graph in `{file}`: {}", reason.trim_end()),
            "expected a TOML or JSON file with nodes and links, named relative to the scenario".into(),
        ),
        E::NoSuchNode { .. } | E::Unread { .. } | E::Text { .. } => (None, error.to_string(), String::new()),
    };
    c.add(&place.unwrap_or_else(|| "topology.name".into()), message, expected);
}

/// The routing, if it fits the topology, the scheme and the room that INT has.
pub(super) fn router(
    c: &mut Checker<'_>,
    s: &Scenario,
    signals: &Signals,
    topology: &Topology,
) -> Option<Router> {
    let router =
        Router::new(topology, &s.routing, s.seed).map_err(|error| routing_problem(c, s, &error)).ok()?;
    let links = router.max_hops();
    if links > LONGEST_PATH {
        let message = format!("[topology] has a path of {links} links");
        c.add("topology.name", message, format!("expected at most {LONGEST_PATH}"));
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

/// Puts an error of routing at the key that it is about.
fn routing_problem(c: &mut Checker<'_>, s: &Scenario, error: &RoutingError) {
    use RoutingError as E;
    // Keys come as `roots[0]`.
    let path = |key: &str| key.replace('[', ".").replace(']', "");
    let (place, message, expected) = match error {
        E::TreeCount { trees, most } => (
            "trees".into(),
            format!("`trees` in [routing] is {trees}"),
            format!("expected a number from 1 to {most}"),
        ),
        E::TooManyRoots { roots, trees } => (
            "roots".into(),
            format!("`roots` in [routing] has {roots} switches for {trees} trees"),
            format!("expected at most one for each tree, or `trees = {roots}`"),
        ),
        E::UnknownNode { key, name, nearest } => (
            path(key),
            format!("`{key}` in [routing] names the unknown node `{name}`"),
            format!("expected a node of the topology{nearest}"),
        ),
        E::WrongKind { key, name, expected } => (
            path(key),
            format!("`{key}` in [routing] names `{name}`, which is no {expected}"),
            format!("expected a {expected}"),
        ),
        E::NotLinked { route, a, b } => (
            format!("routes.{route}"),
            format!("`routes[{route}]` in [routing] goes from `{a}` to `{b}`, which no link connects"),
            "expected every switch of the way in `via`".into(),
        ),
        E::Loop { route, switch } => (
            format!("routes.{route}"),
            format!("`routes[{route}]` in [routing] passes `{switch}` twice"),
            "expected each switch once".into(),
        ),
        E::DuplicateRoute { route, from, to } => (
            format!("routes.{route}"),
            format!("`routes[{route}]` in [routing] is a second route from `{from}` to `{to}`"),
            "expected one".into(),
        ),
        E::Unneeded { key, why } => {
            let table = if s.routing.name() == "ecmp" { "" } else { "fallback." };
            let message = format!("`{table}{key}` in [routing] has no meaning {why}");
            (format!("{table}{key}"), message, "expected no such key".into())
        }
        E::FallbackHash => (
            "fallback.hash".into(),
            "`fallback.hash` in [routing] is not `own`".into(),
            "expected `hash` under `name = \"ecmp\"` alone".into(),
        ),
        E::NotAFatTree { why } => (
            "name".into(),
            format!(
                "[routing] `d_mod_k` needs a fat-tree, and [topology] `{}` is none: {why}",
                s.topology.name()
            ),
            "expected `fat_tree`, `leaf_spine`, or another routing".into(),
        ),
        E::NoNumber { node } => (
            "hash".into(),
            format!(
                "`hash = \"ns3_hpcc\"` in [routing] needs a number at the end of each node's name, and `{node}` has none"
            ),
            "expected names such as \"h0\", with a number from 0 to 65535".into(),
        ),
        E::SameNumber { a, b, number } => (
            "hash".into(),
            format!("`hash = \"ns3_hpcc\"` in [routing] takes {number} for the id of both `{a}` and `{b}`"),
            "expected a number of its own at the end of each node's name".into(),
        ),
        E::ParallelLinks { a, b } => (
            "hash".into(),
            format!(
                "`hash = \"ns3_hpcc\"` in [routing] knows one link between two switches, and `{a}` and `{b}` have two"
            ),
            "expected one, or `hash = \"own\"`".into(),
        ),
        other => ("name".into(), format!("[routing] {other}"), String::new()),
    };
    c.add(&format!("routing.{place}"), message, expected);
}

/// The speeds that INT can name.
fn int_speeds(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) {
    let stamps = |p: &u32| topology.nodes[topology.node_of(*p) as usize].kind == NodeKind::Switch;
    let mut ports = (0..topology.ports()).filter(stamps);
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
