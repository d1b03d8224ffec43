//! Reads the tables that stand for many runs: `[sweep]` and `[tune]`.

use serde::Deserialize;
use xoff_engine::Nearest;

use super::de::{Fault, NodeDe, TableDe};
use super::explain::Context;
use super::range::{Form, Range};
use super::read::Reader;
use super::sweep::{Axis, MAX_POINTS, OWN_KEYS, Setting, Sweep};
use super::tree::{Entry, Node, Place, Table, Value};
use super::tune::{Keys, MAX_TRIALS, Tune};

const SWEEP: Context<'static> = Context { table: Some("sweep"), tag: None };
const TUNE: Context<'static> = Context { table: Some("tune"), tag: None };

/// A table of keys with the values of each.
#[derive(Clone, Copy)]
struct Axes {
    /// The table's name in messages.
    label: &'static str,
    /// The values that a key may have, for messages.
    expected: &'static str,
    /// Whether a range may stand for all its values.
    open: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn sweep(&mut self) -> Sweep {
        let mut sweep = Sweep::default();
        let Some(entry) = self.root.get("sweep") else { return sweep };
        let Some(table) = self.is_table("sweep", &entry.node) else { return sweep };
        sweep.sample = self.number(table, "sample", 1, MAX_POINTS as u64).map(|n| n as usize);
        sweep.sample_seed = self.number(table, "sample_seed", 0, u64::MAX);
        sweep.list = self.list(table);
        let expected = "expected a list of values such as [1, 2, 3], or a range such as { from = \"20KB\", to = \
                        \"400KB\", steps = 5 }";
        let axes = Axes { label: "[sweep]", expected, open: sweep.sample.is_some() };
        let own = |key: &str| OWN_KEYS.contains(&key);
        self.axes(axes, "", table.entries.iter().filter(|e| !own(&e.key)), &mut sweep.axes);
        self.each_key_once(&sweep, table);
        self.sample(&sweep, table);
        if sweep.len().is_none_or(|n| n > MAX_POINTS) {
            let message = "[sweep] is a grid of more than a million runs".into();
            self.add(&entry.node.place, message, format!("expected at most {MAX_POINTS}"));
        }
        sweep
    }

    pub(super) fn tune(&mut self) -> Option<Tune> {
        let entry = self.root.get("tune")?;
        let table = self.is_table("tune", &entry.node)?;
        let source = TableDe { table, skip: Some("keys"), place: &entry.node.place };
        let mut tune = Tune::deserialize(source).map_err(|fault| self.fault(TUNE, fault)).ok();
        let expected = "expected a range such as { from = \"20KB\", to = \"400KB\" }, or a list of choices";
        let axes = Axes { label: "[tune.keys]", expected, open: true };
        let mut keys = Vec::new();
        match table.get("keys") {
            Some(Entry { node: Node { value: Value::Table(inner), .. }, .. })
                if !inner.entries.is_empty() =>
            {
                self.axes(axes, "", inner.entries.iter(), &mut keys);
            }
            found => {
                let place = found.map_or(&entry.node.place, |e| &e.node.place);
                let message = match found {
                    None => "[tune] lacks the table `keys`".to_string(),
                    Some(e) if matches!(e.node.value, Value::Table(_)) => "[tune.keys] is empty".into(),
                    Some(e) => format!("`keys` in [tune] is {}", e.node.kind()),
                };
                let expected = "expected [tune.keys] with keys such as \"detector.k_min\" = { from = \"20KB\", to = \
                                \"400KB\" }";
                self.add(place, message, expected);
            }
        }
        if let Some(seed) = keys.iter().find(|axis| axis.key == "seed") {
            let place = table.get("keys").map_or(&entry.node.place, |e| &e.node.place);
            let message = format!("[tune.keys] names `{}`", seed.key);
            self.add(place, message, "expected `seeds = [1, 2, 3]` in [tune], with which every trial is run");
        }
        let tune = tune.as_mut()?;
        tune.keys = Keys(keys);
        self.tune_numbers(tune, table);
        Some(tune.clone())
    }

    /// Refuses impossible numbers of `[tune]`.
    fn tune_numbers(&mut self, tune: &Tune, table: &'a Table) {
        let place = |key: &str| table.get(key).map(|e| &e.node.place);
        for (key, value, max) in [("trials", tune.trials, MAX_TRIALS), ("batch", tune.batch, 10_000)] {
            if let Some(place) = place(key).filter(|_| value == 0 || value > max) {
                self.add(place, format!("`{key}` in [tune] is {value}"), format!("expected 1 to {max}"));
            }
        }
        let Some(at) = place("objective") else { return };
        let mut objective = tune.objective.clone();
        objective.sort_unstable();
        objective.dedup();
        if tune.objective.is_empty() {
            self.add(at, "`objective` in [tune] is empty".into(), "expected at least one measure");
        } else if objective.len() < tune.objective.len() {
            self.add(at, "`objective` in [tune] names a measure twice".into(), "expected each measure once");
        }
        if let Some((place, (_, bound))) =
            place("budget").zip(tune.budget.iter().find(|(_, bound)| **bound < 0.0))
        {
            self.add(
                place,
                format!("`budget` in [tune] has {bound}"),
                "expected numbers that are not negative",
            );
        }
        let mut seeds = tune.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        if let Some(place) = place("seeds").filter(|_| seeds.len() < tune.seeds.len()) {
            self.add(place, "`seeds` in [tune] names a seed twice".into(), "expected each seed once");
        }
    }

    /// A whole number of `[sweep]`, from `min` to `max`.
    fn number(&mut self, table: &'a Table, key: &'static str, min: u64, max: u64) -> Option<u64> {
        let entry = table.get(key)?;
        match u64::deserialize(NodeDe(&entry.node)) {
            Ok(n) if (min..=max).contains(&n) => Some(n),
            Ok(n) => {
                let expected = format!("expected a whole number from {min} to {max}");
                self.add(&entry.node.place, format!("`{key}` in [sweep] is {n}"), expected);
                None
            }
            Err(fault) => {
                self.fault(SWEEP, fault.inside(key));
                None
            }
        }
    }

    /// The settings that `list` gives.
    fn list(&mut self, table: &'a Table) -> Vec<Vec<Setting>> {
        let Some(entry) = table.get("list") else { return vec![] };
        let expected = "expected a list of tables such as [{ \"scheme.name\" = \"hpcc\" }]";
        let items = match &entry.node.value {
            Value::Array(items) if !items.is_empty() => items,
            _ => {
                let message = match &entry.node.value {
                    Value::Array(_) => "`list` in [sweep] is empty".to_string(),
                    _ => format!("`list` in [sweep] is {}", entry.node.kind()),
                };
                self.add(&entry.node.place, message, expected);
                return vec![];
            }
        };
        let mut rows = vec![];
        for item in items {
            let mut row = vec![];
            match &item.value {
                Value::Table(settings) if !settings.entries.is_empty() => {
                    self.settings("", settings, &mut row)
                }
                Value::Table(_) => {
                    self.add(&item.place, "a table of `list` in [sweep] is empty".into(), expected);
                }
                _ => {
                    self.add(&item.place, format!("`list` in [sweep] has {}", item.kind()), expected);
                }
            }
            rows.push(row);
        }
        rows
    }

    /// The settings of a table of `list`, with `prefix` before their keys. A table under a key that is none of the
    /// scenario's is a key written without quotes.
    fn settings(&mut self, prefix: &str, table: &'a Table, row: &mut Vec<Setting>) {
        for Entry { key, key_place, node } in &table.entries {
            let key = format!("{prefix}{key}");
            if let Value::Table(inner) = &node.value {
                self.settings(&format!("{key}."), inner, row);
            } else if self.sweepable("[sweep]", &key, key_place) {
                match Deserialize::deserialize(NodeDe(node)) {
                    Ok(value) => row.push(Setting { key, value, text: node.to_toml() }),
                    Err(fault) => {
                        self.fault(SWEEP, Fault::inside(fault, "list"));
                    }
                }
            }
        }
    }

    /// The axes of some entries, with `prefix` before their keys.
    fn axes(
        &mut self,
        axes: Axes,
        prefix: &str,
        entries: impl Iterator<Item = &'a Entry>,
        found: &mut Vec<Axis>,
    ) {
        for Entry { key, key_place, node } in entries {
            let path = format!("{prefix}{key}");
            match &node.value {
                Value::Table(inner) if inner.get("from").is_none() && inner.get("to").is_none() => {
                    if inner.entries.is_empty() {
                        let message = format!("`{path}` in {} is an empty table", axes.label);
                        self.add(&node.place, message, axes.expected);
                    }
                    // Boxed by reference: the recursion ends with the file's own depth.
                    self.axes_inside(axes, &format!("{path}."), inner, found);
                }
                Value::Table(_) => {
                    if self.sweepable(axes.label, &path, key_place)
                        && let Some(range) = self.range(axes, &path, node)
                    {
                        found.push(Axis::over(path, range));
                    }
                }
                Value::Array(items) if !items.is_empty() => match Deserialize::deserialize(NodeDe(node)) {
                    Ok(values) => {
                        if self.sweepable(axes.label, &path, key_place) {
                            let texts = items.iter().map(Node::to_toml).collect();
                            found.push(Axis { key: path, values, texts, range: None });
                        }
                    }
                    Err(fault) => {
                        self.fault(SWEEP, Fault::inside(fault, key.as_str()));
                    }
                },
                _ => {
                    let kind = match node.value {
                        Value::Array(_) => "an empty array",
                        _ => node.kind(),
                    };
                    self.add(&node.place, format!("`{path}` in {} is {kind}", axes.label), axes.expected);
                }
            }
        }
    }

    fn axes_inside(&mut self, axes: Axes, prefix: &str, table: &'a Table, found: &mut Vec<Axis>) {
        let entries: Vec<&'a Entry> = table.entries.iter().collect();
        self.axes(axes, prefix, entries.into_iter(), found);
    }

    fn range(&mut self, axes: Axes, path: &str, node: &'a Node) -> Option<Range> {
        let form =
            Form::deserialize(NodeDe(node)).map_err(|fault| self.fault(SWEEP, fault.inside(path))).ok()?;
        let range = match Range::read(path, &form) {
            Ok(range) => range,
            Err((message, expected)) => {
                self.add(&node.place, message, expected);
                return None;
            }
        };
        if range.steps.is_none() && !axes.open {
            let message = format!("`{path}` in {} is a range without `steps`", axes.label);
            self.add(&node.place, message, "expected `steps = 5` in it, or `sample = 20` in [sweep]");
            return None;
        }
        Some(range)
    }

    /// Refuses a key that is set twice, since only one of its values would apply.
    fn each_key_once(&mut self, sweep: &Sweep, table: &'a Table) {
        let twice = |key: &str| sweep.axes.iter().filter(|axis| axis.key == key).count() > 1;
        let mut both = sweep.axes.iter().map(|axis| axis.key.as_str()).filter(|key| {
            twice(key) || sweep.list.iter().any(|row| row.iter().any(|setting| setting.key == **key))
        });
        if let Some(key) = both.next() {
            let place = table.get("list").or(table.entries.last()).map(|e| &e.key_place);
            if let Some(place) = place {
                self.add(place, format!("[sweep] gives `{key}` twice"), "expected each key in one place");
            }
        }
    }

    /// Refuses a sample of no combination, or of more combinations than the axes have.
    fn sample(&mut self, sweep: &Sweep, table: &'a Table) {
        let place = |key: &str| table.get(key).map(|e| e.node.place.clone());
        let drawn: Vec<&Axis> = sweep.axes.iter().filter(|axis| axis.key != "seed").collect();
        match (sweep.sample, place("sample"), place("sample_seed")) {
            (Some(_), Some(place), _) if drawn.is_empty() => {
                let message = "`sample` in [sweep] has no keys to draw".into();
                self.add(&place, message, "expected lists or ranges of other keys than `seed`");
            }
            (Some(count), Some(place), _) => {
                let open = drawn.iter().any(|axis| axis.texts.is_empty());
                let grid = drawn.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.texts.len()));
                if let Some(grid) = grid.filter(|grid| !open && count > *grid) {
                    let message = format!("`sample` in [sweep] is {count}, of a grid of {grid}");
                    self.add(&place, message, format!("expected at most {grid}"));
                }
            }
            (None, None, Some(place)) => {
                let message = "`sample_seed` in [sweep] has no effect without `sample`".into();
                self.add(&place, message, "expected `sample = 20` beside it");
            }
            _ => {}
        }
    }

    /// Whether the scenario can have a key; adds a problem if not.
    fn sweepable(&mut self, label: &str, path: &str, place: &Place) -> bool {
        let wanted = super::schema::normalized(path);
        let keys = super::schema::paths();
        let own = |key: &str| key.starts_with("sweep") || key.starts_with("tune");
        if !own(&wanted) && keys.contains(&wanted) || self.own.has_key(&wanted) {
            return true;
        }
        let of_schemes: Vec<String> = self.own.keys().collect();
        let known = keys.iter().filter(|key| !own(key)).chain(&of_schemes);
        let meant = Nearest::of(&wanted, known.map(String::as_str));
        let expected = format!("expected a key with dots such as `scheme.name`{meant}");
        self.add(place, format!("{label} names the unknown key `{path}`"), expected);
        false
    }
}
