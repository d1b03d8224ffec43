//! Messages for people from the errors of a reader.

use xoff_engine::violation::key_text;

use super::de::{Fault, Kind};
use super::error::one_of;
use super::read::TOP;
use super::schema::{KeyDoc, keys, normalized};

/// A table while it is read: its key, and its tag.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub table: Option<&'static str>,
    /// The tag's key and value.
    pub tag: Option<(&'static str, &'a str)>,
}

/// The name of a table in messages.
pub(super) fn table_label(key: &str) -> String {
    if ["traffic", "job", "event"].contains(&key) { format!("[[{key}]]") } else { format!("[{key}]") }
}

/// A fault in words.
pub(super) struct Explained {
    pub message: String,
    pub expected: String,
    pub notes: Vec<String>,
}

/// The message: what is wrong, what was expected, and what the key means.
pub(super) fn explain(context: Context<'_>, fault: &Fault) -> Explained {
    let label = context.table.map(table_label);
    let inside = label.as_ref().map_or(String::new(), |l| format!(" in {l}"));
    let path = key_text(&fault.path.join("."));
    let nested = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    let meaning =
        |key: Option<&str>| key_doc(context, fault, key).map(|d| d.doc.as_str()).filter(|d| !d.is_empty());
    let (message, expected, notes) = match &fault.kind {
        Kind::UnknownKey { key, expected } => {
            let form = context.tag.filter(|_| path.is_empty());
            let with = form.map_or(String::new(), |(tag, name)| format!(" with {tag} = \"{name}\""));
            let message = format!("unknown key `{}`{inside}{with}", nested(key));
            (message, one_of(key, expected.iter().map(String::as_str)), elsewhere(context, fault, key))
        }
        Kind::MissingKey(key) => {
            let whose = if path.is_empty() { label.unwrap_or_default() } else { format!("`{path}`{inside}") };
            let kind = key_doc(context, fault, Some(key)).map_or("...".into(), |d| d.r#type.replace('`', ""));
            let notes = meaning(Some(key)).map(|doc| format!("{key}: {doc}"));
            (format!("{whose} lacks the key `{key}`"), format!("expected `{key} = <{kind}>`"), notes)
        }
        Kind::UnknownName { name, expected } => {
            (format!("`{path}`{inside} cannot be {name:?}"), one_of(name, expected.iter().copied()), None)
        }
        Kind::Unfit { found, expected } => {
            let notes = meaning(None).map(|doc| format!("{path}: {doc}"));
            (format!("`{path}`{inside} cannot be {found}"), format!("expected {expected}"), notes)
        }
        Kind::Wrong { found, expected } => {
            let notes = meaning(None).map(|doc| format!("{path}: {doc}"));
            (format!("`{path}`{inside}: {found}"), format!("expected {expected}"), notes)
        }
        Kind::Custom(text) => {
            let notes = meaning(None).map(|doc| format!("{path}: {doc}"));
            (format!("`{path}`{inside}: {text}"), String::new(), notes)
        }
    };
    Explained { message, expected, notes: notes.into_iter().collect() }
}

/// A table as the schema's list of keys writes it.
fn list_of(table: &str) -> &str {
    match table {
        "traffic" => "traffic[]",
        "event" => "event[]",
        other => other,
    }
}

/// The schema's entry of the faulty key, or of `key` in the same table.
fn key_doc(context: Context<'_>, fault: &Fault, key: Option<&str>) -> Option<&'static KeyDoc> {
    let table = context.table.map(list_of);
    let steps = table.into_iter().chain(fault.path.iter().map(String::as_str)).chain(key);
    let path = normalized(&steps.collect::<Vec<_>>().join("."));
    let form = context.tag.map(|(_, name)| name);
    // An index at the end belongs to a list of plain values, whose key has no brackets.
    let same = |d: &KeyDoc| d.path == path.trim_end_matches("[]") || d.path == path;
    keys().iter().find(|d| same(d) && (d.of.is_none() || d.of.as_deref() == form))
}

/// The other forms of the table that have the unknown key, or else the tables that have it.
fn elsewhere(context: Context<'_>, fault: &Fault, key: &str) -> Option<String> {
    let own = context.table?;
    if !fault.path.is_empty() {
        return None;
    }
    let forms_in = |table: &str| -> Option<String> {
        let path = format!("{}.{key}", list_of(table));
        let mut found = keys().iter().filter(|d| d.path == path).peekable();
        found.peek()?;
        let forms: Vec<&str> = found.filter_map(|d| d.of.as_deref()).collect();
        let tag = match table {
            "traffic" => "pattern",
            "event" => "kind",
            _ => "name",
        };
        let with =
            if forms.is_empty() { String::new() } else { format!(" with {tag} = {}", forms.join(", ")) };
        Some(format!("{}{with}", table_label(table)))
    };
    let found: Vec<String> = match forms_in(own) {
        Some(forms) => vec![forms],
        None => TOP.iter().filter(|table| **table != own).filter_map(|table| forms_in(table)).collect(),
    };
    (!found.is_empty()).then(|| format!("`{key}` is a key of {}", found.join(", and of ")))
}
