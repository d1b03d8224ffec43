//! Makes a [`Scenario`] from the tree: each table is read as its type.

use serde::de::DeserializeOwned;
use xoff_engine::spelling::nearest;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::FlowControl;
use xoff_fabric::topology::AnyTopology;
use xoff_schemes::AnyThrottle;
use xoff_schemes::detector::AnyDetector;
use xoff_traffic::Pattern;

use super::de::{Fault, Kind, NodeDe, TableDe};
use super::error::{Location, Problem, ScenarioError, Source, one_of};
use super::explain::{Context, Explained, explain, table_label};
use super::needs::Effort;
use super::own::OwnSchemes;
use super::tree::{self, Entry, Node, Place, Table, TextFault, Value};
use super::{Event, Scenario, default_seed};

/// The keys of a scenario, in the order in which they are usually written.
pub(super) const TOP: &[&str] = &[
    "title",
    "seed",
    "lossy",
    "run",
    "topology",
    "routing",
    "scheme",
    "detector",
    "throttle",
    "packets",
    "host",
    "switch",
    "flow_control",
    "link",
    "quirks",
    "traffic",
    "job",
    "event",
    "record",
    "sweep",
    "tune",
];

/// Tables that need no `name`, with the name that they then have.
pub(super) const UNNAMED: &[(&str, &str)] = &[("routing", "ecmp"), ("flow_control", "pfc")];

/// The pattern of a table [[job]], which needs no `pattern`.
pub(super) const JOB: &str = "training";

/// The smallest scenario.
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
    let one = |fault: TextFault, place: &Place| {
        let place = source.location(place);
        let (message, expected) = match fault {
            TextFault::Own(violation) => (violation.found, format!("expected {}", violation.expected)),
            TextFault::Parser(text) if text == "duplicate key" => (
                text,
                "expected each key and table once; only [[traffic]], [[job]] and [[event]] may be repeated"
                    .into(),
            ),
            TextFault::Parser(text) => (text, String::new()),
        };
        let expected = Some(expected).filter(|e| !e.is_empty());
        ScenarioError::new(vec![Problem { message, place, expected, notes: vec![] }])
    };
    let mut root = tree::parse(source.text).map_err(|e| one(e.fault, &e.place))?;
    for (index, (key, value)) in source.overrides.iter().enumerate() {
        tree::set(&mut root, key, value, index).map_err(|fault| one(fault, &Place::Override(index)))?;
    }
    Ok(root)
}

/// The scenario in a tree, apart from all checks that take more than one table.
pub(super) fn scenario(
    root: &Node,
    source: &Source<'_>,
    own: &OwnSchemes,
    effort: Effort,
) -> Result<Scenario, ScenarioError> {
    let Value::Table(table) = &root.value else { return Err(ScenarioError::new(vec![])) };
    let mut reader = Reader { root: table, source, own, problems: vec![] };
    reader.unknown_keys();
    let title = reader.value("title");
    let seed = reader.value("seed");
    let lossy = reader.value("lossy");
    let run = reader.table("run");
    let topology = reader.tagged("topology", AnyTopology::NAMES, AnyTopology::read);
    let routing = reader.tagged("routing", Routing::NAMES, Routing::read);
    let scheme =
        reader.tagged("scheme", &own.names().collect::<Vec<_>>(), |name, table| own.read(name, table));
    let detector = reader.tagged("detector", AnyDetector::NAMES, AnyDetector::read);
    let throttle = reader.tagged("throttle", AnyThrottle::NAMES, AnyThrottle::read);
    let packets = reader.table("packets");
    let host = reader.table("host");
    let switch = reader.table("switch");
    let flow_control = reader.tagged("flow_control", FlowControl::NAMES, flow_control);
    let link = reader.table("link");
    let quirks = reader.table("quirks");
    let traffic = reader.traffic(effort);
    let event = reader.events();
    let record = reader.table("record");
    let sweep = reader.sweep();
    let tune = reader.tune();
    reader.missing_tables(effort);
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
            throttle,
            packets: packets.unwrap_or_default(),
            host: host.unwrap_or_default(),
            switch: switch.unwrap_or_default(),
            flow_control: flow_control.unwrap_or_default(),
            link: link.unwrap_or_default(),
            quirks: quirks.unwrap_or_default(),
            traffic,
            event,
            record: record.unwrap_or_default(),
            sweep,
            tune,
            warnings: vec![],
            needs: 0,
            is_counted: false,
            built: Default::default(),
        }),
        _ => Err(ScenarioError::new(reader.problems)),
    }
}

/// The flow control called `name`; read here rather than by its derived reader, which loses places.
fn flow_control<'a>(name: &str, source: TableDe<'a>) -> Option<Result<FlowControl, Fault>> {
    if name == FlowControl::None.name() {
        return Some(source.empty().map(|()| FlowControl::None));
    }
    FlowControl::read(name, source)
}

pub(super) struct Reader<'a> {
    pub(super) root: &'a Table,
    source: &'a Source<'a>,
    pub(super) own: &'a OwnSchemes,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn add(
        &mut self,
        place: &Place,
        message: String,
        expected: impl Into<String>,
    ) -> &mut Problem {
        let place = self.source.location(place);
        let expected = Some(expected.into()).filter(|e| !e.is_empty());
        self.problems.push(Problem { message, place, expected, notes: vec![] });
        // The entry was pushed above.
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

    fn missing_tables(&mut self, effort: Effort) {
        let needed = ["topology", "scheme", "traffic"].into_iter();
        let missing: Vec<String> = needed
            .filter(|key| *key != "traffic" || effort != Effort::Session)
            .filter(|key| self.root.get(key).is_none())
            .filter(|key| *key != "traffic" || self.root.get("job").is_none())
            .filter(|key| {
                !self.root.entries.iter().any(|e| nearest(&e.key, TOP.iter().copied()) == Some(*key))
            })
            .map(table_label)
            .collect();
        if let Some((last, others)) = missing.split_last() {
            let list =
                if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
            let place = Location::Whole { origin: self.source.origin.to_string() };
            let notes = vec![format!("the smallest scenario is:\n\n{SMALLEST}")];
            let message = format!("the scenario has no {list}");
            self.problems.push(Problem { message, place, expected: None, notes });
        }
    }

    /// A value of the top level.
    fn value<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let entry = self.root.get(key)?;
        T::deserialize(NodeDe(&entry.node))
            .map_err(|e| self.fault(Context { table: None, tag: None }, e.inside(key)))
            .ok()
    }

    /// The table at `key`; adds a problem if the value is no table.
    pub(super) fn is_table(&mut self, key: &str, node: &'a Node) -> Option<&'a Table> {
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
        T::deserialize(NodeDe(node)).map_err(|e| self.fault(Context { table: Some(key), tag: None }, e)).ok()
    }

    /// A table that is read as the kind that its `name` gives.
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
        let (name, name_place) = match table.get(tag) {
            Some(Entry { node: Node { value: Value::String(name), place }, .. }) => (name.as_str(), place),
            Some(entry) => {
                let message = format!("`{tag}` in {label} is {}", entry.node.kind());
                self.add(&entry.node.place, message, format!("expected one of: {}", names.join(", ")));
                return None;
            }
            None => {
                let mistyped = table.entries.iter().find(|e| nearest(&e.key, [tag]).is_some());
                let mut unnamed = UNNAMED.iter().chain(&[("job", JOB)]);
                match unnamed.find(|(unnamed, _)| *unnamed == key && mistyped.is_none()) {
                    Some((_, name)) => (*name, &node.place),
                    None => {
                        let place = mistyped.map_or(&node.place, |e| &e.key_place);
                        let expected = format!("expected `{tag} = ...` with one of: {}", names.join(", "));
                        self.add(place, format!("{label} lacks the key `{tag}`"), expected);
                        return None;
                    }
                }
            }
        };
        let what = match key {
            "traffic" => "traffic pattern".to_string(),
            "event" => "kind of event".to_string(),
            other => other.replace('_', " "),
        };
        match read(name, TableDe { table, skip: Some(tag), place: &node.place }) {
            Some(Ok(value)) => Some(value),
            Some(Err(fault)) => {
                let from_file = matches!(fault.place, Some(Place::File(_)));
                let unknown = matches!(fault.kind, Kind::UnknownKey { .. });
                let problem = self.fault(Context { table: Some(key), tag: Some((tag, name)) }, fault);
                if unknown && from_file && matches!(name_place, Place::Override(_)) {
                    problem.notes.push(format!("the key comes from the file, `{key}.{tag}` from --set"));
                }
                None
            }
            None => {
                let expected = one_of(name, names.iter().copied());
                self.add(name_place, format!("unknown {what} {name:?}"), expected);
                None
            }
        }
    }

    /// The patterns of [[traffic]], then those of [[job]].
    fn traffic(&mut self, effort: Effort) -> Vec<Pattern> {
        let mut patterns = vec![];
        if let Some(items) = self.tables_of("traffic", "pattern") {
            if items.is_empty() && effort != Effort::Session {
                let place = &self.root.get("traffic").map_or(Place::File(0..0), |e| e.node.place.clone());
                self.add(place, "`traffic` is empty".into(), "expected at least one [[traffic]]");
            }
            let read = |node| self.tagged_node("traffic", node, "pattern", Pattern::NAMES, Pattern::read);
            patterns.extend(items.iter().filter_map(read));
        }
        let job = |name: &str, table| if name == JOB { Pattern::read(name, table) } else { None };
        for node in self.tables_of("job", "job").unwrap_or_default() {
            patterns.extend(self.tagged_node("job", node, "pattern", &[JOB], job));
        }
        patterns
    }

    fn events(&mut self) -> Vec<Event> {
        let events = self.tables_of("event", "event").unwrap_or_default();
        let read = |node| self.tagged_node("event", node, "kind", Event::NAMES, Event::read);
        events.iter().filter_map(read).collect()
    }

    /// The tables of a list; `None` if there is no list. `each` is what a table of it stands for.
    fn tables_of(&mut self, key: &str, each: &str) -> Option<&'a [Node]> {
        let entry = self.root.get(key)?;
        if let Value::Array(items) = &entry.node.value {
            return Some(items);
        }
        let message = format!("`{key}` is {}", entry.node.kind());
        let expected = format!("expected [[{key}]] in double brackets, once for each {each}");
        self.add(&entry.node.place, message, expected);
        None
    }

    /// Adds a problem for the fault that the reader of a table found.
    pub(super) fn fault(&mut self, context: Context<'_>, fault: Fault) -> &mut Problem {
        let Explained { message, expected, notes } = explain(context, &fault);
        let problem = self.add(&fault.place.unwrap_or(Place::File(0..0)), message, expected);
        problem.notes = notes;
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_controls_are_the_variants_of_their_type() {
        let schema = schemars::schema_for!(FlowControl).to_value();
        let variants = schema["oneOf"].as_array().unwrap();
        let names: Vec<_> =
            variants.iter().filter_map(|v| v["properties"]["name"]["const"].as_str()).collect();
        assert_eq!(names, FlowControl::NAMES);
    }

    #[test]
    fn tables_without_a_name_are_what_a_scenario_without_them_has() {
        let routing = serde_json::to_value(Routing::default()).unwrap();
        let flow_control = serde_json::to_value(FlowControl::default()).unwrap();
        let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_string();
        let expected = [("routing", name(&routing)), ("flow_control", name(&flow_control))];
        let found: Vec<_> = UNNAMED.iter().map(|(key, name)| (*key, name.to_string())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_top_level_is_that_of_the_schema() {
        let schema = super::super::schema();
        let mut keys: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut top = TOP.to_vec();
        keys.sort_unstable();
        top.sort_unstable();
        assert_eq!(keys, top);
    }
}
