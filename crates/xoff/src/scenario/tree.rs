//! A scenario as a tree in which every key and value has the place at which it was written: in the file, or in `--set`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};
use xoff_engine::Violation;

/// Maximum number of steps of a dotted key; the keys of a scenario have at most four.
const DEEPEST: usize = 16;

/// The place at which a key or value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A range of bytes of the file.
    File(Range<usize>),
    /// The override of this index.
    Override(usize),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub place: Place,
    pub value: Value,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    /// A number that does not fit is kept as text, so that the message can show it.
    Integer(Result<i128, String>),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub node: Node,
}

/// Keys and values in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }
    fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|e| e.key == key)
    }

    fn convert(table: &DeTable<'_>, make_place: &impl Fn(Range<usize>) -> Place) -> Table {
        let mut spanned: Vec<_> = table.iter().collect();
        // The parser keeps keys sorted by name; messages and readers want them as written.
        spanned.sort_by_key(|(key, _)| key.span().start);
        let entries = spanned.into_iter().map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: make_place(key.span()),
            node: Node::convert(value, make_place),
        });
        Table { entries: entries.collect() }
    }
}

impl Node {
    fn convert(value: &Spanned<DeValue<'_>>, make_place: &impl Fn(Range<usize>) -> Place) -> Node {
        let converted = match value.get_ref() {
            DeValue::String(s) => Value::String(s.to_string()),
            DeValue::Integer(i) => Value::Integer(integer(i)),
            DeValue::Float(f) => Value::Float(f.as_str().parse().unwrap_or(f64::INFINITY)),
            DeValue::Boolean(b) => Value::Boolean(*b),
            DeValue::Datetime(d) => Value::Datetime(d.to_string()),
            DeValue::Array(a) => Value::Array(a.iter().map(|v| Node::convert(v, make_place)).collect()),
            DeValue::Table(t) => Value::Table(Table::convert(t, make_place)),
        };
        Node { place: make_place(value.span()), value: converted }
    }

    /// The kind of value in the words of messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// The value as TOML on one line.
    pub fn to_toml(&self) -> String {
        match &self.value {
            Value::String(s) => toml::Value::String(s.clone()).to_string(),
            Value::Integer(Ok(i)) => i.to_string(),
            Value::Integer(Err(text)) => text.clone(),
            Value::Float(f) => toml::Value::Float(*f).to_string(),
            Value::Boolean(b) => b.to_string(),
            Value::Datetime(text) => text.clone(),
            Value::Array(items) => {
                format!("[{}]", items.iter().map(Node::to_toml).collect::<Vec<_>>().join(", "))
            }
            Value::Table(table) => {
                let quoted = |key: &str| toml::Value::String(key.into()).to_string();
                let pairs =
                    table.entries.iter().map(|e| format!("{} = {}", quoted(&e.key), e.node.to_toml()));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The place of the value at `path`, a key with dots in which numbers index arrays, or of the nearest table
    /// above it that is written.
    pub fn locate(&self, path: &str) -> &Place {
        &self.follow(path).0.place
    }

    /// The value at `path`, if it is written.
    pub fn find(&self, path: &str) -> Option<&Node> {
        let (node, complete) = self.follow(path);
        complete.then_some(node)
    }

    fn follow(&self, path: &str) -> (&Node, bool) {
        let mut node = self;
        for step in path.split('.') {
            let next = match &node.value {
                Value::Table(table) => table.get(step).map(|e| &e.node),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return (node, false),
            }
        }
        (node, true)
    }
}

fn integer(i: &DeInteger<'_>) -> Result<i128, String> {
    i128::from_str_radix(&i.as_str().replace('_', ""), i.radix()).map_err(|_| i.to_string())
}

/// The fault of a text from which no tree can be made, and its place.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub fault: TextFault,
    pub place: Place,
}

/// The fault of a text.
#[derive(Debug)]
pub(crate) enum TextFault {
    /// A fault that the TOML parser found, in its words.
    Parser(String),
    /// A fault that a check of this module found.
    Own(Violation),
}

impl TextFault {
    fn own(found: String, expected: impl Into<String>) -> TextFault {
        TextFault::Own(Violation::new("", found, expected))
    }
}

/// Parses a file.
pub(crate) fn parse(text: &str) -> Result<Node, Malformed> {
    if let Some(at) = too_deep(text) {
        let fault = TextFault::Own(Violation::new("", "a key with hundreds of dots", "at most three"));
        return Err(Malformed { fault, place: Place::File(at) });
    }
    let table = DeTable::parse(text).map_err(|e| Malformed {
        fault: TextFault::Parser(e.message().to_string()),
        place: Place::File(e.span().unwrap_or(text.len()..text.len())),
    })?;
    let value = Value::Table(Table::convert(table.get_ref(), &Place::File));
    Ok(Node { place: Place::File(0..0), value })
}

/// The place of a dotted key with more than 512 parts: the parser recurses once per part and would run out of stack.
fn too_deep(text: &str) -> Option<Range<usize>> {
    const PARTS: usize = 512;
    let (mut start, mut dots) = (0, 0);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'=' | b',' | b'[' | b']' | b'{' | b'}' | b'\n' => (start, dots) = (i + 1, 0),
            b'.' => dots += 1,
            _ => {}
        }
        if dots > PARTS {
            return Some(start..i);
        }
    }
    None
}

/// Sets `key` to `value`, the `index`th override, creating the tables in between.
pub(crate) fn set(root: &mut Node, key: &str, value: &str, index: usize) -> Result<(), TextFault> {
    let place = Place::Override(index);
    let steps = steps_of(key).filter(|steps| steps.len() <= DEEPEST).ok_or_else(|| {
        let expected = "one such as `scheme.name`, `seed` or `traffic.0.load`";
        TextFault::own(format!("`{key}` is no key"), expected)
    })?;
    let mut node = root;
    for (i, step) in steps.iter().enumerate() {
        let so_far = || steps[..i].join(".");
        let kind = node.kind();
        match &mut node.value {
            Value::Table(table) => {
                // The tables of a sweep and of a tuning have keys with dots, which the file may write in quotes.
                let rest = steps[i..].join(".");
                if let Some(at) = table.entries.iter().position(|e| e.key == rest) {
                    let entry = &mut table.entries[at];
                    entry.key_place = place.clone();
                    node = &mut entry.node;
                    break;
                }
                if table.get(step).is_none() {
                    let empty = Node { place: place.clone(), value: Value::Table(Table::default()) };
                    let entry = Entry { key: step.to_string(), key_place: place.clone(), node: empty };
                    table.entries.push(entry);
                }
                // The entry exists, since it was added above if it was missing; the error keeps this path free of panics.
                let Some(entry) = table.get_mut(step) else {
                    return Err(TextFault::own(format!("cannot set `{key}`"), "a key"));
                };
                if i + 1 == steps.len() {
                    entry.key_place = place.clone();
                }
                node = &mut entry.node;
            }
            Value::Array(items) => {
                let count = items.len();
                node = step.parse::<usize>().ok().and_then(|n| items.get_mut(n)).ok_or_else(|| {
                    let expected = match count {
                        0 => "an array that is not empty".to_string(),
                        1 => "`0`, the only one".to_string(),
                        _ => format!("a number from 0 to {}", count - 1),
                    };
                    TextFault::own(format!("`{}` has no entry `{step}`", so_far()), expected)
                })?;
            }
            _ => {
                let found = format!("`{}` is {kind}, so `{step}` cannot be set in it", so_far());
                return Err(TextFault::own(found, "a table"));
            }
        }
    }
    *node = read_value(value, place)?;
    Ok(())
}

/// The steps of a dotted key, in which a step in quotes may hold dots: `sweep."scheme.name"` has two. `None` if the text is
/// no key. The keys of a sweep and of a tuning are keys of the scenario: dots in them need no quotes.
fn steps_of(key: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    let mut rest = key.trim();
    loop {
        let (step, after) = match rest.chars().next()? {
            quote @ ('"' | '\'') => rest[1..].split_once(quote)?,
            _ => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        let (step, after) = (step.trim(), after.trim_start());
        if step.is_empty() {
            return None;
        }
        steps.push(step);
        if after.is_empty() {
            return Some(steps);
        }
        rest = after.strip_prefix('.')?.trim_start();
    }
}

/// Whether a value that begins as a number does has other characters than digits in it.
fn is_no_number(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Integer(i) => {
            let digits = i.as_str().trim_start_matches(['+', '-']);
            !digits.chars().all(|c| c == '_' || c.is_digit(i.radix()))
        }
        DeValue::Float(f) => f.as_str().replace('_', "").parse::<f64>().is_err(),
        _ => false,
    }
}

/// Reads a value in TOML. Any other text is a string, unless it begins as TOML's strings, arrays and tables do.
fn read_value(text: &str, place: Place) -> Result<Node, TextFault> {
    let text = text.trim();
    let bare = |place| Ok(Node { place, value: Value::String(text.to_string()) });
    if text.contains('\n') && !text.starts_with(['"', '\'', '[', '{']) {
        return bare(place);
    }
    match DeValue::parse(text) {
        // The parser takes a text such as `12_bit` for a number, and leaves its digits to the reader.
        Ok(value) if is_no_number(value.get_ref()) => bare(place),
        Ok(value) => Ok(Node::convert(&value, &|_| place.clone())),
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            Err(TextFault::Parser(format!("the value `{text}` is not TOML: {}", error.message())))
        }
        Err(_) => bare(place),
    }
}
