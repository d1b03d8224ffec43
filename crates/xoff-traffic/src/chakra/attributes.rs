//! The attributes of a node, by name. Writers differ in the types of values: any whole number may be an integer of any kind,
//! a float without a fraction, or a text.

use xoff_engine::Nearest;

use super::proto::{Attribute, Value};
use crate::error::{Fault, shown};

pub(super) struct Attributes<'a>(pub(super) &'a [Attribute]);

impl Attributes<'_> {
    fn value(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|a| a.name == name).and_then(|a| a.value.as_ref())
    }

    fn integer(&self, name: &str) -> Result<Option<i128>, Fault> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let whole = |f: f64| (f.fract() == 0.0 && f.abs() < 9e18).then_some(f as i128);
        let found = match value {
            Value::Double(f) => whole(*f),
            Value::Float(f) => whole((*f).into()),
            Value::Int32(n) | Value::Sint32(n) | Value::Sfixed32(n) => Some((*n).into()),
            Value::Int64(n) | Value::Sint64(n) | Value::Sfixed64(n) => Some((*n).into()),
            Value::Uint32(n) | Value::Fixed32(n) => Some((*n).into()),
            Value::Uint64(n) | Value::Fixed64(n) => Some((*n).into()),
            Value::Bool(b) => Some((*b).into()),
            Value::Text(text) => text.trim().parse().ok(),
        };
        found.map(Some).ok_or_else(|| wrong(name, &text_of(value), "a whole number"))
    }

    /// A whole number up to `max`; `None` if there is no such attribute.
    pub(super) fn number(&self, name: &str, max: u64) -> Result<Option<u64>, Fault> {
        let Some(number) = self.integer(name)? else { return Ok(None) };
        let found = u64::try_from(number).ok().filter(|n| *n <= max);
        found
            .map(Some)
            .ok_or_else(|| wrong(name, &number.to_string(), &format!("a whole number up to {max}")))
    }

    /// A whole number that tells things apart, and may be negative; 0 if there is no such attribute.
    pub(super) fn tag(&self, name: &str) -> Result<u32, Fault> {
        let number = self.integer(name)?.unwrap_or(0);
        i32::try_from(number)
            .map(|n| n as u32)
            .or_else(|_| u32::try_from(number))
            .map_err(|_| wrong(name, &number.to_string(), "a whole number of 32 bits"))
    }

    /// A yes or no; `false` if there is no such attribute.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Fault> {
        match self.value(name) {
            Some(Value::Text(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::Text(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            _ => self.integer(name).map(|n| n.unwrap_or(0) != 0),
        }
    }

    /// A text, or a number as its digits; `None` if there is no such attribute or if it is empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(text_of).filter(|text| !text.is_empty())
    }

    /// A missing attribute, with the nearest name that the node has.
    pub(super) fn missing(&self, what: &str, name: &str) -> Fault {
        let near = Nearest::of(name, self.0.iter().map(|a| a.name.as_str()));
        Fault::bounds(format!("{what} without `{name}`"), format!("the attribute `{name}`{near}"))
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Double(f) => f.to_string(),
        Value::Float(f) => f.to_string(),
        Value::Int32(n) | Value::Sint32(n) | Value::Sfixed32(n) => n.to_string(),
        Value::Int64(n) | Value::Sint64(n) | Value::Sfixed64(n) => n.to_string(),
        Value::Uint32(n) | Value::Fixed32(n) => n.to_string(),
        Value::Uint64(n) | Value::Fixed64(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Text(text) => text.trim().to_string(),
    }
}

pub(super) fn wrong(name: &str, found: &str, expected: &str) -> Fault {
    Fault::bounds(format!("one with `{name}` = {}", shown(found)), expected)
}
