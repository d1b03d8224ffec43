//! From the tree to a [`Scenario`]: which table is read as what.

use serde::de::DeserializeOwned;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{FlowControl, Pfc};
use xoff_fabric::topology::AnyTopology;
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;
use xoff_traffic::Pattern;

use super::de::{Fault, Kind, NodeDe, TableDe};
use super::error::{Location, Problem, ScenarioError, Source, nearest, one_of};
use super::sweep::{Axis, MOST_POINTS, Sweep};
use super::tree::{self, Entry, Node, Place, Table, Value};
use super::{Scenario, default_seed};

/// The keys of a scenario, in the order in which they are usually written.
pub(super) const TOP: &[&str] = &[
    "title", "seed", "lossy", "run", "topology", "routing", "scheme", "detector", "packets", "host", "switch",
    "flow_control", "traffic", "record", "sweep",
];

/// The names of [`FlowControl`]'s variants.
pub(super) const FLOW_CONTROLS: &[&str] = &["none", "pfc"];

/// What to write at least.
pub(super) const SMALLEST: &str = "[topology]
name = \"star\"

[scheme]
name = \"none\"

[[traffic]]
pattern = \"flow\"
src = \"host1\"
dst = \"host0\"
size = \"1MB\"";

/// The file with its overrides as a tree.
pub(super) fn tree(source: &Source<'_>) -> Result<Node, ScenarioError> {
    let one = |message, place: &Place| {
        let place = source.location(place);
        ScenarioError { problems: vec![Problem { message, place, expected: None, notes: vec![] }] }
    };
    let mut root = tree::parse(source.text).map_err(|e| one(e.message, &e.place))?;
    for (index, (key, value)) in source.overrides.iter().enumerate() {
        tree::set(&mut root, key, value, index).map_err(|message| one(message, &Place::Override(index)))?;
    }
    Ok(root)
}

/// The scenario in a tree, apart from all checks that take more than one table.
pub(super) fn scenario(root: &Node, source: &Source<'_>) -> Result<Scenario, ScenarioError> {
    let Value::Table(table) = &root.value else { return Err(ScenarioError { problems: vec![] }) };
    let mut reader = Reader { root: table, source, problems: vec![] };
    reader.unknown_keys();
    let title = reader.value("title");
    let seed = reader.value("seed");
    let lossy = reader.value("lossy");
    let run = reader.table("run");
    let topology = reader.tagged("topology", AnyTopology::NAMES, AnyTopology::read);
    let routing = reader.tagged("routing", Routing::NAMES, Routing::read);
    let scheme = reader.tagged("scheme", AnyScheme::NAMES, AnyScheme::read);
    let detector = reader.tagged("detector", AnyDetector::NAMES, AnyDetector::read);
    let packets = reader.table("packets");
    let host = reader.table("host");
    let switch = reader.table("switch");
    let flow_control = reader.tagged("flow_control", FLOW_CONTROLS, flow_control);
    let traffic = reader.traffic();
    let record = reader.table("record");
    let sweep = reader.sweep();
    reader.missing_tables();
    match (topology, scheme) {
        (Some(topology), Some(scheme)) if reader.problems.is_empty() => Ok(Scenario {
            title,
            seed: seed.unwrap_or_else(default_seed),
            lossy: lossy.unwrap_or_default(),
            run: run.unwrap_or_default(),
            topology,
            routing: routing.unwrap_or_default(),
            scheme,
            detector,
            packets: packets.unwrap_or_default(),
            host: host.unwrap_or_default(),
            switch: switch.unwrap_or_default(),
            flow_control: flow_control.unwrap_or_default(),
            traffic,
            record: record.unwrap_or_default(),
            sweep,
            warnings: vec![],
            built: Default::default(),
        }),
        _ => Err(ScenarioError { problems: reader.problems }),
    }
}

/// The flow control called `name`; read here rather than by its derived reader, which loses places.
fn flow_control<'a>(name: &str, source: TableDe<'a>) -> Option<Result<FlowControl, Fault>> {
    match name {
        "none" => Some(source.empty().map(|()| FlowControl::None)),
        "pfc" => Some(serde::Deserialize::deserialize(source).map(|pfc: Pfc| FlowControl::Pfc(pfc))),
        _ => None,
    }
}

/// What messages call a table.
pub(super) fn table_label(key: &str) -> String {
    if key == "traffic" { "[[traffic]]".into() } else { format!("[{key}]") }
}

struct Reader<'a> {
    root: &'a Table,
    source: &'a Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn add(&mut self, place: &Place, message: String, expected: impl Into<String>) -> &mut Problem {
        let place = self.source.location(place);
        self.problems.push(Problem { message, place, expected: Some(expected.into()), notes: vec![] });
        // Just pushed.
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    fn unknown_keys(&mut self) {
        for Entry { key, key_place, node } in &self.root.entries {
            if !TOP.contains(&key.as_str()) {
                let message = match node.value {
                    Value::Table(_) => format!("unknown table [{key}]"),
                    _ => format!("unknown key `{key}`"),
                };
                self.add(key_place, message, one_of(key, TOP.iter().copied()));
            }
        }
    }

    fn missing_tables(&mut self) {
        let missing: Vec<String> = ["topology", "scheme", "traffic"]
            .into_iter()
            .filter(|key| self.root.get(key).is_none())
            .filter(|key| !self.root.entries.iter().any(|e| nearest(&e.key, TOP.iter().copied()) == Some(*key)))
            .map(table_label)
            .collect();
        if let Some((last, others)) = missing.split_last() {
            let list = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
            let place = Location::Whole { origin: self.source.origin.to_string() };
            let notes = vec![format!("the smallest scenario is:\n\n{SMALLEST}")];
            let message = format!("the scenario has no {list}");
            self.problems.push(Problem { message, place, expected: None, notes });
        }
    }

    /// A value of the top level.
    fn value<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let entry = self.root.get(key)?;
        T::deserialize(NodeDe(&entry.node)).map_err(|e| self.fault(None, e.inside(key))).ok()
    }

    /// The table at `key`; complains where something else is there.
    fn is_table(&mut self, key: &str, node: &'a Node) -> Option<&'a Table> {
        if let Value::Table(table) = &node.value {
            return Some(table);
        }
        let label = table_label(key);
        self.add(&node.place, format!("`{key}` is {}", node.kind()), format!("expected the table {label}"));
        None
    }

    /// A table without a tag.
    fn table<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let node = &self.root.get(key)?.node;
        self.is_table(key, node)?;
        T::deserialize(NodeDe(node)).map_err(|e| self.fault(Some(key), e)).ok()
    }

    /// A table that is read as what its `name` says.
    fn tagged<T>(
        &mut self,
        key: &'static str,
        names: &[&str],
        read: impl FnOnce(&str, TableDe<'a>) -> Option<Result<T, Fault>>,
    ) -> Option<T> {
        let node = &self.root.get(key)?.node;
        self.tagged_node(key, node, "name", names, read)
    }

    fn tagged_node<T>(
        &mut self,
        key: &'static str,
        node: &'a Node,
        tag: &'static str,
        names: &[&str],
        read: impl FnOnce(&str, TableDe<'a>) -> Option<Result<T, Fault>>,
    ) -> Option<T> {
        let table = self.is_table(key, node)?;
        let label = table_label(key);
        let Some(entry) = table.get(tag) else {
            let mistyped = table.entries.iter().find(|e| nearest(&e.key, [tag]).is_some());
            let place = mistyped.map_or(&node.place, |e| &e.key_place);
            let expected = format!("expected `{tag} = ...` with one of: {}", names.join(", "));
            self.add(place, format!("{label} lacks the key `{tag}`"), expected);
            return None;
        };
        let Value::String(name) = &entry.node.value else {
            let message = format!("`{tag}` in {label} is {}", entry.node.kind());
            self.add(&entry.node.place, message, format!("expected one of: {}", names.join(", ")));
            return None;
        };
        let what = match key {
            "traffic" => "traffic pattern".to_string(),
            other => other.replace('_', " "),
        };
        match read(name, TableDe { table, skip: tag, place: &node.place }) {
            Some(Ok(value)) => Some(value),
            Some(Err(fault)) => {
                let of_this = matches!(fault.kind, Kind::UnknownKey { .. }) && fault.path.is_empty();
                let from_file = matches!(fault.place, Some(Place::File(_)));
                let set_by = if let Place::Override(_) = entry.node.place { from_file } else { false };
                self.fault(Some(key), fault);
                if of_this && let Some(problem) = self.problems.last_mut() {
                    problem.message.push_str(&format!(" with {tag} = \"{name}\""));
                    if set_by {
                        problem.notes.push(format!("the key comes from the file, `{key}.{tag}` from --set"));
                    }
                }
                None
            }
            None => {
                let expected = one_of(name, names.iter().copied());
                self.add(&entry.node.place, format!("unknown {what} {name:?}"), expected);
                None
            }
        }
    }

    fn traffic(&mut self) -> Vec<Pattern> {
        let Some(entry) = self.root.get("traffic") else { return vec![] };
        let Value::Array(items) = &entry.node.value else {
            let message = format!("`traffic` is {}", entry.node.kind());
            self.add(&entry.node.place, message, "expected [[traffic]] in double brackets, once for each pattern");
            return vec![];
        };
        if items.is_empty() {
            self.add(&entry.node.place, "`traffic` is empty".into(), "expected at least one [[traffic]]");
        }
        let read = |node| self.tagged_node("traffic", node, "pattern", Pattern::NAMES, Pattern::read);
        items.iter().filter_map(read).collect()
    }

    fn sweep(&mut self) -> Sweep {
        let mut sweep = Sweep::default();
        let Some(entry) = self.root.get("sweep") else { return sweep };
        let Some(table) = self.is_table("sweep", &entry.node) else { return sweep };
        self.axes("", table, &mut sweep);
        if sweep.len().is_none_or(|n| n > MOST_POINTS) {
            let message = "[sweep] is a grid of more than a million runs".into();
            self.add(&entry.node.place, message, format!("expected at most {MOST_POINTS}"));
        }
        sweep
    }

    /// The axes of a table of the sweep, with `prefix` before their keys.
    fn axes(&mut self, prefix: &str, table: &'a Table, sweep: &mut Sweep) {
        for Entry { key, key_place, node } in &table.entries {
            let path = format!("{prefix}{key}");
            match &node.value {
                Value::Table(inner) => self.axes(&format!("{path}."), inner, sweep),
                Value::Array(items) if !items.is_empty() => match serde::Deserialize::deserialize(NodeDe(node)) {
                    Ok(values) => {
                        if self.sweepable(&path, key_place) {
                            let texts = items.iter().map(Node::to_toml).collect();
                            sweep.axes.push(Axis { key: path, values, texts });
                        }
                    }
                    Err(fault) => self.fault(Some("sweep"), fault.inside(key)),
                },
                _ => {
                    let found = if matches!(node.value, Value::Array(_)) { "an empty array" } else { node.kind() };
                    let message = format!("`{path}` in [sweep] is {found}");
                    self.add(&node.place, message, "expected a list of values such as [1, 2, 3]");
                }
            }
        }
    }

    /// Whether the scenario can have a key; complains where not.
    fn sweepable(&mut self, path: &str, place: &Place) -> bool {
        let wanted = super::schema::normalized(path);
        let keys = super::schema::paths();
        if !wanted.starts_with("sweep") && keys.contains(&wanted) {
            return true;
        }
        let near = nearest(&wanted, keys.iter().map(String::as_str));
        let meant = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        let expected = format!("expected a key with dots such as `scheme.name`{meant}");
        self.add(place, format!("[sweep] names the unknown key `{path}`"), expected);
        false
    }

    /// Adds what a reader of one table says.
    fn fault(&mut self, table: Option<&'static str>, fault: Fault) {
        let label = table.map(table_label);
        let inside = label.as_ref().map_or(String::new(), |l| format!(" in {l}"));
        let path = fault.path.iter().fold(String::new(), |path, step| match step.parse::<usize>() {
            Ok(index) => format!("{path}[{index}]"),
            Err(_) if path.is_empty() => step.clone(),
            Err(_) => format!("{path}.{step}"),
        });
        let nested = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        let (message, expected) = match fault.kind {
            Kind::UnknownKey { key, expected } => {
                (format!("unknown key `{}`{inside}", nested(&key)), one_of(&key, expected.iter().copied()))
            }
            Kind::MissingKey(key) => {
                let whose = if path.is_empty() { label.unwrap_or_default() } else { format!("`{path}`{inside}") };
                (format!("{whose} lacks the key `{key}`"), format!("expected `{key} = ...`"))
            }
            Kind::UnknownName { name, expected } => {
                (format!("`{path}`{inside} cannot be {name:?}"), one_of(&name, expected.iter().copied()))
            }
            Kind::Unfit { found, expected } => {
                (format!("`{path}`{inside} cannot be {found}"), format!("expected {expected}"))
            }
            Kind::Custom(text) => match text.split_once(": expected ") {
                Some((wrong, expected)) => {
                    (format!("`{path}`{inside}: {wrong}"), format!("expected {expected}{}", unit_meant(wrong, expected)))
                }
                None => (format!("`{path}`{inside}: {text}"), String::new()),
            },
        };
        let place = fault.place.unwrap_or(Place::File(0..0));
        self.add(&place, message, expected);
    }
}

/// The unit that was probably meant where a message says that one is unknown.
fn unit_meant(wrong: &str, expected: &str) -> String {
    let unit = wrong.split_once("unknown unit `").and_then(|(_, rest)| rest.split('`').next());
    let units = expected.split_once("units: ").map(|(_, list)| list.trim_end_matches(')').split([',', ' ']));
    match (unit, units) {
        (Some(unit), Some(units)) => {
            let units = units.filter(|u| !u.is_empty() && *u != "and");
            nearest(unit, units).map_or(String::new(), |u| format!("; did you mean `{u}`?"))
        }
        _ => String::new(),
    }
}
