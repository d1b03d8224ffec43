//! Reads any `Deserialize` type from the tree, with errors that keep what went wrong apart from where.
//!
//! It replaces the parser's own deserializer, which turns unknown keys and wrong types into text and cannot read values
//! from the command line.

use std::fmt::Display;

use serde::de::{self, DeserializeSeed, Expected, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::tree::{Entry, Node, Place, Table, Value};

/// A fault of a value or key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A key that its table does not have.
    UnknownKey { key: String, expected: Vec<String> },
    /// A key that its table must have.
    MissingKey(String),
    /// A name that is not on its list.
    UnknownName { name: String, expected: &'static [&'static str] },
    /// The type or the value does not fit.
    Unfit { found: String, expected: String },
    /// The result of a type's own check: what is wrong, and what would be right.
    Wrong { found: String, expected: String },
    /// One text for both the fault and the expected value, from a type that does not separate them.
    Custom(String),
}

/// An error while reading, and the path to it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub kind: Kind,
    pub place: Option<Place>,
    /// Keys and indices from the table that was read to the fault.
    pub path: Vec<String>,
}

impl Fault {
    pub fn new(kind: Kind) -> Self {
        Fault { kind, place: None, path: vec![] }
    }
    pub fn at(mut self, place: &Place) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }
    /// The same fault, seen from the table around it.
    pub fn inside(mut self, step: impl Into<String>) -> Self {
        self.path.insert(0, step.into());
        self
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}
impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Fault::new(Kind::Custom(message.to_string()))
    }
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Fault::new(Kind::Unfit { found: in_words(found), expected: expected_in_words(&expected.to_string()) })
    }
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match found {
            // The fault in the words of the type that was read.
            Unexpected::Other(found) => {
                Fault::new(Kind::Wrong { found: found.into(), expected: expected.to_string() })
            }
            found => Fault::invalid_type(found, expected),
        }
    }
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let expected = expected_in_words(&expected.to_string());
        Fault::new(Kind::Unfit { found: format!("an array of {length}"), expected })
    }
    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Self {
        Fault::new(Kind::UnknownName { name: name.to_string(), expected })
    }
    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        let expected = expected.iter().map(ToString::to_string).collect();
        Fault::new(Kind::UnknownKey { key: key.to_string(), expected })
    }
    fn missing_field(key: &'static str) -> Self {
        Fault::new(Kind::MissingKey(key.to_string()))
    }
}

fn in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(b) => format!("`{b}`"),
        Unexpected::Unsigned(n) => format!("the number {n}"),
        Unexpected::Signed(n) => format!("the number {n}"),
        Unexpected::Float(n) => format!("the number {n}"),
        Unexpected::Char(c) => format!("the string \"{c}\""),
        Unexpected::Str(s) => format!("the string {s:?}"),
        Unexpected::Seq => "an array".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Rust's names of types as words.
fn expected_in_words(expected: &str) -> String {
    let whole = |max: u64| format!("a whole number from 0 to {max}");
    match expected {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "a nonzero u32" => format!("a whole number from 1 to {}", u32::MAX),
        "u64" | "usize" => whole(u64::MAX),
        "i8" | "i16" | "i32" | "i64" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "`true` or `false`".into(),
        "a string" => "a string in quotes".into(),
        "a sequence" => "an array".into(),
        "a map" => "a table".into(),
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => {
            "a table".into()
        }
        other => other.to_string(),
    }
}

/// Deserializes one value.
pub(crate) struct NodeDe<'a>(pub &'a Node);

impl<'de> NodeDe<'de> {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::String(s) => visitor.visit_borrowed_str(s),
            Value::Integer(Ok(i)) => match (i64::try_from(*i), u64::try_from(*i)) {
                (_, Ok(unsigned)) => visitor.visit_u64(unsigned),
                (Ok(signed), _) => visitor.visit_i64(signed),
                _ => Err(unfit(format!("the number {i}, of more than 64 bits"), &visitor)),
            },
            Value::Integer(Err(text)) => {
                Err(unfit(format!("the number {text}, of more than 64 bits"), &visitor))
            }
            Value::Float(f) if !f.is_finite() => Err(unfit(format!("`{f}`").to_lowercase(), &visitor)),
            Value::Float(f) => visitor.visit_f64(*f),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Datetime(text) => Err(unfit(format!("the date {text}"), &visitor)),
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            Value::Table(table) => TableDe { table, skip: None, place: &self.0.place }.deserialize(visitor),
        }
    }
}

fn unfit<'de>(found: String, visitor: &impl Visitor<'de>) -> Fault {
    let expected: &dyn Expected = visitor;
    let expected = expected_in_words(&expected.to_string());
    Fault::new(Kind::Unfit { found, expected })
}

impl<'de> de::Deserializer<'de> for NodeDe<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let place = &self.0.place;
        self.visit(visitor).map_err(|e| e.at(place))
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let place = &self.0.place;
        match &self.0.value {
            Value::String(s) => {
                visitor.visit_enum(de::value::BorrowedStrDeserializer::new(s)).map_err(|e: Fault| e.at(place))
            }
            Value::Table(table) => {
                let access = Entries { entries: table.entries.iter(), skip: None, pending: None };
                visitor.visit_enum(de::value::MapAccessDeserializer::new(access)).map_err(|e| e.at(place))
            }
            _ => {
                let expected = format!("one of: {}", names.join(", "));
                Err(Fault::new(Kind::Unfit { found: self.0.kind().into(), expected }).at(place))
            }
        }
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// Deserializes a table without one of its keys, its tag, if it has one.
pub(crate) struct TableDe<'a> {
    pub table: &'a Table,
    pub skip: Option<&'a str>,
    pub place: &'a Place,
}

impl<'de> TableDe<'de> {
    /// Refuses any key but the tag.
    pub fn empty(self) -> Result<(), Fault> {
        match self.entries().next() {
            None => Ok(()),
            Some(e) => {
                let unknown = Kind::UnknownKey { key: e.key.clone(), expected: vec![] };
                Err(Fault::new(unknown).at(&e.key_place))
            }
        }
    }

    /// The entries of the table without the tag.
    pub fn entries(&self) -> impl Iterator<Item = &'de Entry> {
        let skip = self.skip;
        self.table.entries.iter().filter(move |e| Some(e.key.as_str()) != skip)
    }

    fn deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let TableDe { table, skip, place } = self;
        visitor
            .visit_map(Entries { entries: table.entries.iter(), skip, pending: None })
            .map_err(|e| e.at(place))
    }
}

impl<'de> de::Deserializer<'de> for TableDe<'de> {
    type Error = Fault;
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize(visitor)
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any option newtype_struct enum
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    skip: Option<&'a str>,
    pending: Option<&'a Entry>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Fault;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let skip = self.skip;
        let Some(entry) = self.entries.find(|e| Some(e.key.as_str()) != skip) else { return Ok(None) };
        self.pending = Some(entry);
        let key = de::value::BorrowedStrDeserializer::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|e: Fault| e.at(&entry.key_place))
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry =
            self.pending.take().ok_or_else(|| de::Error::custom("a value was read before its key"))?;
        seed.deserialize(NodeDe(&entry.node)).map_err(|e| e.at(&entry.node.place).inside(&entry.key))
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    index: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Fault;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.items.next() else { return Ok(None) };
        self.index += 1;
        let step = || (self.index - 1).to_string();
        seed.deserialize(NodeDe(node)).map(Some).map_err(|e| e.at(&node.place).inside(step()))
    }
}
