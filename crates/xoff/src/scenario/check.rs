//! What takes more than one table to check: the network is built, its traffic is made, and the scheme's needs are
//! compared with both.

use std::io;
use std::sync::Arc;

use xoff_engine::Rate;
use xoff_fabric::network_env;
use xoff_fabric::routing::{Router, RoutingError};
use xoff_fabric::topology::{AnyTopology, NodeKind, Topology, TopologyError};
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::int::{CODED_GBPS, MAX_INT_HOPS, PackedRecord};
use xoff_schemes::{IntFormat, IntPath, ParamError, Signals};

use super::error::{Problem, ScenarioError, Source};
use super::tree::{Node, Value};
use super::{Built, Files, Scenario, check_record, check_settings, check_traffic};

/// The slowest link: at 1 Mbps and with the longest path and frame, no sum of times overflows.
const SLOWEST: Rate = Rate::from_mbps(1);
/// The most links of a path.
const LONGEST_PATH: usize = 64;

/// Collects problems at their keys.
pub(super) struct Checker<'a> {
    root: &'a Node,
    source: &'a Source<'a>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
}

impl<'a> Checker<'a> {
    /// A problem at the value of a key, or at its table where the key is not written.
    pub fn add(&mut self, path: &str, message: impl Into<String>, expected: impl Into<String>) -> &mut Vec<String> {
        let place = self.source.location(self.root.locate(path));
        let expected = Some(expected.into()).filter(|e| !e.is_empty());
        self.problems.push(Problem { message: message.into(), place, expected, notes: vec![] });
        let last = self.problems.len() - 1;
        &mut self.problems[last].notes
    }

    /// A problem whose text says after `: expected` what was expected, or after a semicolon what was meant.
    pub fn add_text(&mut self, path: &str, text: &str) {
        match text.split_once(": expected ").map(|(wrong, e)| (wrong, format!("expected {e}"))) {
            Some((wrong, expected)) => self.add(path, wrong, expected),
            None => match text.split_once("; did you mean ") {
                Some((wrong, meant)) => self.add(path, wrong, format!("did you mean {meant}")),
                None => self.add(path, text, ""),
            },
        };
    }

    /// Whether a key is written in the file or in an override.
    pub fn is_written(&self, path: &str) -> bool {
        self.root.find(path).is_some()
    }

    /// The key under `path` whose value is written as `text` and fits `same`.
    pub fn find_value(&self, path: &str, same: impl Fn(&str) -> bool) -> Option<String> {
        let node = self.root.find(path)?;
        search(node, path.to_string(), &same)
    }

    fn param(&mut self, table: &str, error: &ParamError) {
        self.add_text(&format!("{table}.{}", error.key), &format!("[{table}] {}", error.message));
    }
}

fn search(node: &Node, path: String, same: &impl Fn(&str) -> bool) -> Option<String> {
    match &node.value {
        Value::String(text) if same(text) => Some(path),
        Value::Table(table) => {
            table.entries.iter().find_map(|e| search(&e.node, format!("{path}.{}", e.key), same))
        }
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(i, item)| search(item, format!("{path}.{i}"), same))
        }
        _ => None,
    }
}

/// Checks a scenario that was read, and fills in what follows from the whole of it.
pub(super) fn scenario(
    mut s: Scenario,
    root: &Node,
    source: &Source<'_>,
    files: Files<'_>,
) -> Result<Scenario, ScenarioError> {
    let mut c = Checker { root, source, problems: vec![], warnings: vec![] };
    if let Err(error) = s.scheme.validate() {
        c.param("scheme", &error);
    }
    let signals = s.scheme.signals();
    detector(&mut c, &mut s, &signals);
    check_settings::all(&mut c, &mut s, &signals);
    if let Some(topology) = topology(&mut c, &mut s, files) {
        check_settings::buffer(&mut c, &s, &signals, &topology);
        let traffic = check_traffic::all(&mut c, &s, &topology, files);
        check_record::all(&mut c, &s, &topology, traffic.as_ref());
        if let Some(router) = router(&mut c, &s, &signals, &topology)
            && c.problems.is_empty()
        {
            // Sizes on the wire are known to be sound by now, and so are the paths.
            match network_env(&topology, &router, &s.settings(), &signals) {
                Ok(env) => s.scheme = s.scheme.resolve(&env),
                Err(error) => {
                    c.add("topology", error.to_string(), "");
                }
            }
        }
        s.built = Arc::new(Built { topology, traffic: traffic.unwrap_or_default() });
    }
    if c.problems.is_empty() {
        s.warnings = c.warnings;
        Ok(s)
    } else {
        Err(ScenarioError { problems: c.problems })
    }
}

fn detector(c: &mut Checker<'_>, s: &mut Scenario, signals: &Signals) {
    match &s.detector {
        Some(detector) if !signals.ecn => {
            let message = format!("[detector] `{}` marks packets, which scheme `{}` does not look at", detector.name(), s.scheme.name());
            c.add("detector.name", message, "expected no [detector], or a scheme that reacts to marks");
        }
        Some(detector) => {
            if let Err(error) = detector.validate() {
                c.param("detector", &error);
            }
        }
        None if signals.ecn => s.detector = Some(AnyDetector::Red(Default::default())),
        None => {}
    }
}

/// The text of a file, or why there is none, for a message.
pub(super) fn text_of(files: Files<'_>, name: &str) -> Result<String, String> {
    files(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file beside the scenario".to_string(),
        io::ErrorKind::InvalidData => "it is no text".to_string(),
        _ => error.to_string(),
    })
}

fn topology(c: &mut Checker<'_>, s: &mut Scenario, files: Files<'_>) -> Option<Topology> {
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
        let (name, rate) = (topology.port_name(port), topology.rate(port));
        let place = c.find_value("topology", |text| text.parse() == Ok(rate));
        let message = format!("[topology] rate {rate} of `{name}`");
        c.add(&place.unwrap_or_else(|| "topology.name".into()), message, format!("expected at least {SLOWEST}"));
        return None;
    }
    Some(topology)
}

/// Puts an error of a topology at the key that it is about.
fn topology_problem(c: &mut Checker<'_>, error: &TopologyError) {
    let in_table = |key: &str| format!("topology.{key}");
    let named = |c: &Checker<'_>, name: &str| c.find_value("topology", |text| text == name);
    let place = match error {
        TopologyError::TooFew { key, .. } => Some(in_table(key)),
        TopologyError::Arity { .. } => Some(in_table("k")),
        TopologyError::UnknownNode { link, end, .. } => Some(in_table(&format!("links.{link}.{end}"))),
        TopologyError::SelfLoop { link, .. } => Some(in_table(&format!("links.{link}"))),
        TopologyError::Rate { rate, .. } => c.find_value("topology", |text| text.parse() == Ok(*rate)),
        TopologyError::Delay { delay, .. } => c.find_value("topology", |text| text.parse() == Ok(*delay)),
        TopologyError::DuplicateNode { name } => named(c, name),
        TopologyError::EmptyName { .. } => named(c, ""),
        TopologyError::HostLinks { host, .. } => named(c, host),
        TopologyError::Disconnected { b, .. } => named(c, b),
        TopologyError::File { .. } | TopologyError::FileAndLists { .. } => Some(in_table("file")),
        _ => None,
    };
    let place = place.unwrap_or_else(|| "topology.name".into());
    c.add_text(&place, &format!("[topology] {}", with_expected(&error.to_string())));
}

/// The network's errors end with what must be, after a colon.
fn with_expected(text: &str) -> String {
    match text.rsplit_once(": ") {
        Some((wrong, expected)) => format!("{wrong}: expected {expected}"),
        None => text.to_string(),
    }
}

/// The routing, if it fits the topology, the scheme and the room that INT has.
fn router(c: &mut Checker<'_>, s: &Scenario, signals: &Signals, topology: &Topology) -> Option<Router> {
    let router = match Router::new(topology, &s.routing, s.seed) {
        Ok(router) => router,
        Err(error) => {
            let place = match &error {
                RoutingError::TreeCount { .. } => "trees".into(),
                RoutingError::TooManyRoots { .. } => "roots".into(),
                RoutingError::UnknownNode { key, .. } | RoutingError::WrongKind { key, .. } => {
                    key.replace('[', ".").replace(']', "")
                }
                RoutingError::NotLinked { route, .. }
                | RoutingError::Loop { route, .. }
                | RoutingError::DuplicateRoute { route, .. } => format!("routes.{route}"),
                _ => "name".into(),
            };
            c.add_text(&format!("routing.{place}"), &format!("[routing] {}", with_expected(&error.to_string())));
            return None;
        }
    };
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
        let message = format!("the INT of scheme `{}` cannot name the rate {rate} of `{name}`", s.scheme.name());
        let place = c.find_value("topology", |text| text.parse() == Ok(rate));
        let expected = format!("expected {coded} Gbps, or `int_format = \"exact\"` in [packets]");
        c.add(&place.unwrap_or_else(|| "packets.int_format".into()), message, expected);
    }
}

/// The hops that INT has room for.
fn int_hops(c: &mut Checker<'_>, s: &Scenario, hops: usize) {
    let room = usize::from(s.packets.int_hops);
    if hops > room {
        let scheme = s.scheme.name();
        let message = format!("the INT of scheme `{scheme}` has room for {room} switches, and a path has {hops}");
        let place = if c.is_written("packets.int_hops") { "packets.int_hops" } else { "topology.name" };
        let expected = if hops <= MAX_INT_HOPS {
            format!("expected `int_hops = {hops}` in [packets]")
        } else {
            format!("expected paths of at most {MAX_INT_HOPS} switches")
        };
        c.add(place, message, expected);
    }
}
