//! Checks that need more than one table: the network is built, its traffic is made, and the scheme's needs are
//! compared with both.

use std::borrow::Cow;
use std::sync::Arc;
use web_time::Instant;

use xoff_engine::Violation;
use xoff_engine::violation::key_text;
use xoff_fabric::network::WireSizes;
use xoff_fabric::network_env;
use xoff_fabric::settings::FlowControl;
use xoff_fabric::topology::{NodeKind, PortId, Topology};
use xoff_schemes::{IntPath, Signals};
use xoff_traffic::FileSource;

use super::error::{Problem, ScenarioError, Source};
use super::explain::table_label;
use super::needs::{Effort, Needs};
use super::tree::{Node, Value};
use super::{
    Built, Measure, Scenario, check_credit, check_effect, check_event, check_link, check_network,
    check_record, check_settings, check_thresholds, check_traffic, check_uet, fast_forward, in_flight,
};

/// Collects problems at their keys.
pub(super) struct Checker<'a> {
    root: &'a Node,
    source: &'a Source<'a>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
}

impl<'a> Checker<'a> {
    /// Adds a problem at the value of a key, or at its table if the key is not written.
    pub fn add(&mut self, path: &str, message: impl Into<String>, expected: impl Into<String>) {
        let place = self.source.location(self.root.locate(&self.written(path)));
        let expected = Some(expected.into()).filter(|e| !e.is_empty());
        self.problems.push(Problem { message: message.into(), place, expected, notes: vec![] });
    }

    /// The path at which a key of a traffic pattern is written: patterns of [[job]] follow those of [[traffic]].
    fn written<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let Some((index, key)) = path.strip_prefix("traffic.").map(|p| p.split_once('.').unwrap_or((p, "")))
        else {
            return path.into();
        };
        let patterns = match self.root.find("traffic").map(|node| &node.value) {
            Some(Value::Array(items)) => items.len(),
            _ => 0,
        };
        match index.parse::<usize>() {
            Ok(index) if index >= patterns => format!("job.{}.{key}", index - patterns).into(),
            _ => path.into(),
        }
    }

    /// Adds a violation at its key, or at its table if the table as a whole is wrong. The key begins with the table.
    pub fn violation(&mut self, violation: &Violation) {
        let place = if TABLES.contains(&&*violation.key) {
            format!("{}.name", violation.key)
        } else {
            violation.key.to_string()
        };
        self.violation_at(&place, violation);
    }

    /// Adds a violation at a place other than its key.
    pub fn violation_at(&mut self, place: &str, violation: &Violation) {
        let message = format!("{} {}", subject(&self.written(&violation.key)), violation.found);
        self.add(place, message, format!("expected {}", violation.expected));
    }

    /// Whether a key is written in the file or in an override.
    pub fn is_written(&self, path: &str) -> bool {
        self.root.find(&self.written(path)).is_some()
    }

    /// The first key under `path` whose value is a text that fits.
    pub fn find_value(&self, path: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.texts(path).into_iter().find(|(_, text)| fits(text)).map(|(path, _)| path)
    }

    /// The last key under `path` whose value is a text that fits.
    pub fn find_last(&self, path: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.texts(path).into_iter().rfind(|(_, text)| fits(text)).map(|(path, _)| path)
    }

    /// All texts under `path`, without the names of its links' ends, which only refer to nodes.
    fn texts(&self, path: &str) -> Vec<(String, &str)> {
        let mut texts = vec![];
        if let Some(node) = self.root.find(path) {
            collect(node, path.to_string(), &mut texts);
        }
        texts
    }

    /// Adds a violation of the parameters in a table.
    fn param(&mut self, table: &str, violation: Violation) {
        self.violation(&violation.inside(table));
    }
}

/// Tables whose `name` stands for the table as a whole.
const TABLES: [&str; 3] = ["topology", "routing", "flow_control"];

/// The words of a message for a key that begins with its table: "`mtu` in [packets]" for `packets.mtu`, and
/// "`size` in [[traffic]]" for `traffic.3.size`.
fn subject(path: &str) -> String {
    let Some((table, key)) = path.split_once('.') else {
        return if TABLES.contains(&path) { format!("[{path}]") } else { format!("`{path}`") };
    };
    let key = match (table, key.split_once('.')) {
        ("traffic" | "job" | "event", Some((_, key))) => key,
        _ => key,
    };
    format!("`{}` in {}", key_text(key), table_label(table))
}

fn collect<'n>(node: &'n Node, path: String, texts: &mut Vec<(String, &'n str)>) {
    match &node.value {
        Value::String(text) => texts.push((path, text)),
        Value::Table(table) => {
            for e in table.entries.iter().filter(|e| e.key != "a" && e.key != "b") {
                collect(&e.node, format!("{path}.{}", e.key), texts);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                collect(item, format!("{path}.{i}"), texts);
            }
        }
        _ => {}
    }
}

/// Warnings of a scenario with a sweep, and of one with a tuning.
pub(super) const SEARCHES: [&str; 2] = [
    "a single run takes the scenario as it stands, without its [sweep]",
    "a single run takes the scenario as it stands, without its [tune]",
];

/// Checks a scenario whose reading began at `began`, and fills in the defaults that depend on other tables. A scenario that is
/// only counted in part has no network and no flows.
pub(super) fn scenario(
    mut s: Scenario,
    root: &Node,
    source: &Source<'_>,
    files: &dyn FileSource,
    began: Instant,
    effort: Effort,
) -> Result<Scenario, ScenarioError> {
    let mut needs = Needs::new(effort);
    let mut c = Checker { root, source, problems: vec![], warnings: vec![] };
    if let Err(violation) = s.scheme.validate() {
        c.param("scheme", violation);
    }
    for (there, warning) in [!s.sweep.is_empty(), s.tune.is_some()].into_iter().zip(SEARCHES) {
        c.warnings.extend(there.then(|| warning.to_string()));
    }
    tuned_measures(&mut c, &s);
    let signals = s.scheme.signals();
    detector(&mut c, &mut s, &signals);
    throttle(&mut c, &mut s);
    check_credit::holds(&mut c, &s);
    s.routing.resolve();
    check_settings::lanes(&mut c, &mut s);
    check_settings::all(&mut c, &mut s);
    check_effect::all(&mut c, &s, &signals);
    check_traffic::run(&mut c, &s);
    fast_forward::check(&mut c, &mut s);
    check_event::all(&mut c, &s);
    check_link::all(&mut c, &s);
    check_uet::all(&mut c, &s);
    if let Some(topology) = check_network::topology(&mut c, &mut s, files, &mut needs) {
        check_settings::buffer(&mut c, &s, &signals, &topology);
        check_settings::quanta(&mut c, &s, &signals, &topology);
        check_settings::clock(&mut c, &s, &signals, &topology);
        check_credit::updates(&mut c, &s, &signals, &topology);
        check_credit::buffers(&mut c, &s, &signals, &topology);
        check_credit::throttled(&mut c, &s, &signals, &topology);
        check_link::sizes(&mut c, &s, &signals, &topology);
        if c.problems.is_empty() {
            check_thresholds::resolve(&mut s, &signals, &topology);
        }
        detector_at_ports(&mut c, &s, &topology);
        let faults = check_event::faults(&mut c, &s, &topology);
        let traffic = check_traffic::all(&mut c, &s, &topology, files, &mut needs);
        if let Some(traffic) = &traffic {
            check_uet::traffic(&mut c, &s, traffic);
        }
        check_record::all(&mut c, &s, &topology, traffic.as_ref(), &mut needs);
        check_thresholds::all(&mut c, &s, &signals, &topology, traffic.as_ref());
        if let Some(traffic) = traffic.as_ref().filter(|_| c.problems.is_empty()) {
            let wire = WireSizes::new(&s.settings(), &signals);
            let packets = in_flight::packets(&s, &topology, &wire, traffic);
            let place = in_flight::place(&c, &s, &topology, &wire, traffic, packets.1);
            needs.admits_packets(&mut c, &place, packets, signals.int != IntPath::Off);
        }
        check_effect::lanes(&mut c, &s, traffic.as_ref());
        if needs.admits_routes()
            && let Some(router) = check_network::router(&mut c, &s, &signals, &topology)
            && c.problems.is_empty()
        {
            // Sizes on the wire are known to be sound by now, and so are the paths.
            match network_env(&topology, &router, &s.settings(), &signals) {
                Ok(env) => {
                    s.scheme = s.scheme.resolve(&env);
                    let traffic = traffic.unwrap_or_default();
                    s.built =
                        Arc::new(Built { topology, traffic, router, env, faults, took: began.elapsed() });
                }
                Err(error) => {
                    c.add("topology", error.to_string(), "");
                }
            }
        }
    }
    if c.problems.is_empty() {
        s.is_counted = !needs.counted.is_empty();
        c.warnings.append(&mut needs.counted);
        s.warnings = c.warnings;
        s.needs = needs.bytes();
        Ok(s)
    } else {
        Err(ScenarioError::new(c.problems))
    }
}

/// Refuses objectives of a tuning that its runs do not record.
fn tuned_measures(c: &mut Checker<'_>, s: &Scenario) {
    let Some(tune) = s.tune.as_ref().filter(|_| !s.record.roots) else { return };
    for (key, used) in [
        ("tune.objective", tune.objective.contains(&Measure::HolBlocked)),
        ("tune.budget", tune.budget.contains_key(&Measure::HolBlocked)),
    ] {
        if used {
            c.add(key, "`hol_blocked` in [tune] is not recorded", "expected `roots = true` in [record]");
        }
    }
}

/// Checks that the detector fits the scheme, and fills in its defaults that depend on the scheme.
fn detector(c: &mut Checker<'_>, s: &mut Scenario, signals: &Signals) {
    match &s.detector {
        Some(detector) if !signals.ecn => {
            let (detector, scheme) = (detector.name(), s.scheme.name());
            let message =
                format!("[detector] `{detector}` marks packets, which scheme `{scheme}` does not look at");
            c.add("detector.name", message, "expected no [detector], or a scheme that reacts to marks");
        }
        Some(detector) => {
            if let Err(violation) = detector.validate() {
                c.param("detector", violation);
            }
            s.detector = Some(detector.clone().serve(&s.scheme.detector()));
        }
        None if signals.ecn => s.detector = Some(s.scheme.detector()),
        None => {}
    }
}

/// Checks that flow control suits the throttle, which watches used credits, and fills in the throttle's defaults.
fn throttle(c: &mut Checker<'_>, s: &mut Scenario) {
    let Some(throttle) = &s.throttle else { return };
    if let Err(violation) = throttle.validate() {
        return c.param("throttle", violation);
    }
    match s.flow_control {
        FlowControl::None => {
            let name = throttle.name();
            let message = format!("[throttle] `{name}` acts on used credits, and [flow_control] is \"none\"");
            c.add("throttle.name", message, "expected no [throttle], or flow control by credits");
        }
        _ if s.flow_control.has_credits() => {}
        _ => c.warnings.push(format!(
            "[throttle] `{}` acts on used credits, and [flow_control] `{}` has none: while a host's port is paused, as \
             many flits of 16 B as the neighbour's threshold holds count as used, and otherwise none",
            throttle.name(),
            s.flow_control.name()
        )),
    }
    s.throttle = Some(throttle.clone().resolve());
}

/// Refuses a switch port of a rate for which the detector has no parameters.
fn detector_at_ports(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) {
    let Some(detector) = &s.detector else { return };
    let of_switch = |p: &PortId| topology.nodes[topology.node_of(*p).index()].kind == NodeKind::Switch;
    let refused = topology
        .port_ids()
        .filter(of_switch)
        .find_map(|p| detector.accepts(topology.rate(p)).err().map(|violation| (p, violation)));
    if let Some((port, violation)) = refused {
        let found = format!("{}, the rate of `{}`", violation.found, topology.port_name(port));
        c.param("detector", Violation { found, ..violation });
    }
}

/// The text of a file, or why there is none, for a message.
pub(super) fn text_of(files: &dyn FileSource, name: &str) -> Result<String, String> {
    files.text(name).map_err(|error| xoff_traffic::files::reason(&error))
}
