//! The scenario's JSON schema, made from the types that read scenarios, and a list of its keys.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Scenario;

/// The JSON schema (draft 2020-12) of a scenario file.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    schema["title"] = "xoff scenario".into();
    if let Some(traffic) = schema.pointer_mut("/properties/traffic") {
        traffic["minItems"] = 1.into();
    }
    jobs(&mut schema);
    for (key, name) in super::read::UNNAMED {
        let property = schema.pointer(&format!("/properties/{key}"));
        // The schema of a table with several forms is a reference to its type's definition.
        let reference = property.and_then(|p| p.get("$ref")).and_then(Value::as_str);
        let path = reference.map_or(format!("/properties/{key}"), |r| r.trim_start_matches('#').to_string());
        let forms = schema.pointer_mut(&format!("{path}/oneOf")).and_then(Value::as_array_mut);
        let is_it = |form: &&mut Value| form.pointer("/properties/name/const") == Some(&Value::from(*name));
        if let Some(form) = forms.and_then(|forms| forms.iter_mut().find(is_it))
            && let Some(required) = form.get_mut("required").and_then(Value::as_array_mut)
        {
            required.retain(|key| key != "name");
        }
    }
    schema
}

/// Adds the list of jobs, which are traffic of one pattern: a scenario has traffic, jobs, or both.
fn jobs(schema: &mut Value) {
    let forms = schema.pointer("/$defs/Pattern/oneOf").and_then(Value::as_array);
    let is_it = |form: &&Value| form.pointer("/properties/pattern/const") == Some(&super::read::JOB.into());
    let Some(mut job) = forms.and_then(|forms| forms.iter().find(is_it)).cloned() else { return };
    if let Some(properties) = job.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove("pattern");
    }
    let without = |list: &mut Value, key: &str| {
        if let Some(list) = list.as_array_mut() {
            list.retain(|each| each != key);
        }
    };
    without(&mut job["required"], "pattern");
    without(&mut schema["required"], "traffic");
    schema["anyOf"] = json!([{ "required": ["traffic"] }, { "required": ["job"] }]);
    schema["$defs"]["Job"] = job;
    let description = "Training jobs, which are traffic of the pattern `training`: each table is one job.";
    let list = json!({ "type": "array", "items": { "$ref": "#/$defs/Job" }, "description": description, "default": [] });
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let place = properties.keys().position(|key| key == "event").unwrap_or(properties.len());
        properties.shift_insert(place, "job".into(), list);
    }
}

/// The documentation of a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyDoc {
    /// The key with its tables, such as `packets.mtu`; `[]` follows the key of an array, as in
    /// `traffic[].load`.
    pub path: String,
    /// The `name` or `pattern` of its table that has the key; `None` if the table has only one form.
    pub of: Option<String>,
    /// The type of its values, in words.
    pub r#type: String,
    /// The default; `None` if the key must be given or if its absence has a meaning.
    pub default: Option<Value>,
    /// Whether the key must be given.
    pub required: bool,
    /// The meaning of the key.
    pub doc: String,
}

/// Every key of a scenario, in the order of the schema.
pub fn keys() -> &'static [KeyDoc] {
    static KEYS: LazyLock<Vec<KeyDoc>> = LazyLock::new(|| {
        let schema = schema();
        let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut walk = Walk { definitions, keys: vec![] };
        walk.table("", None, &schema);
        walk.keys
    });
    &KEYS
}

/// The paths of all keys and tables, as [`normalized`] writes them.
pub(super) fn paths() -> &'static BTreeSet<String> {
    static PATHS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut paths = BTreeSet::new();
        for key in keys() {
            paths.extend(key.path.match_indices('.').map(|(dot, _)| key.path[..dot].to_string()));
            paths.insert(key.path.clone());
        }
        paths
    });
    &PATHS
}

/// `traffic.0.load` as `traffic[].load`.
pub(super) fn normalized(path: &str) -> String {
    path.split('.').fold(String::new(), |path, step| match step.parse::<usize>() {
        Ok(_) => format!("{path}[]"),
        Err(_) if path.is_empty() => step.to_string(),
        Err(_) => format!("{path}.{step}"),
    })
}

struct Walk {
    definitions: Map<String, Value>,
    keys: Vec<KeyDoc>,
}

impl Walk {
    /// The target of a reference, and the type inside an optional value.
    fn resolve<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        // No scenario type refers to itself, so references end; the bound keeps a future one from looping for ever.
        for _ in 0..8 {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|r| self.definitions.get(r.rsplit('/').next().unwrap_or(r)));
            let is_null = |s: &Value| s.get("type").and_then(Value::as_str) == Some("null");
            let some = |list: &'a Vec<Value>| match list.as_slice() {
                [only, null] if is_null(null) => Some(only),
                _ => None,
            };
            let optional = schema.get("anyOf").and_then(Value::as_array).and_then(some);
            match target.or(optional) {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// The forms of a tagged table: each with its tag's key, its name, and its schema.
    fn forms<'a>(&self, schema: &'a Value) -> Vec<(String, String, &'a Value)> {
        let variants = schema.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let form = |variant: &'a Value| {
            let properties = variant.get("properties")?.as_object()?;
            let tag =
                properties.iter().find_map(|(k, p)| Some((k.clone(), p.get("const")?.as_str()?.to_string())));
            tag.map(|(key, name)| (key, name, variant))
        };
        variants.iter().filter_map(form).collect()
    }

    fn table(&mut self, prefix: &str, of: Option<&str>, schema: &Value) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for (key, property) in properties.iter().filter(|(_, p)| p.get("const").is_none()) {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            let required = required.iter().any(|r| r == key);
            self.key(&path, of, property, required);
        }
        // A form of a table may be given as a reference beside its tag.
        if let Some(reference) = schema.get("$ref") {
            let target = self.resolve(&serde_json::json!({ "$ref": reference })).clone();
            self.table(prefix, of, &target);
        }
    }

    fn key(&mut self, path: &str, of: Option<&str>, property: &Value, required: bool) {
        let schema = self.resolve(property).clone();
        let item = schema.get("items").map(|items| self.resolve(items).clone());
        let list = path;
        let (path, inner) = match &item {
            Some(item) if item.get("properties").is_some() || item.get("oneOf").is_some() => {
                (format!("{path}[]"), item)
            }
            _ => (path.to_string(), &schema),
        };
        let forms = self.forms(inner);
        let doc = |schema: &Value| {
            schema.get("description").and_then(Value::as_str).unwrap_or("").replace('\n', " ")
        };
        let own_doc = if doc(property).is_empty() { doc(&schema) } else { doc(property) };
        // A list that may be left out is a key, beside those of its tables.
        let is_list = item.as_ref().is_some_and(|item| item.get("properties").is_some());
        if let Some(default) = property.get("default").filter(|_| is_list) {
            self.keys.push(KeyDoc {
                path: list.to_string(),
                of: of.map(str::to_string),
                r#type: "list of tables".to_string(),
                default: Some(default.clone()),
                required: false,
                doc: own_doc.clone(),
            });
        }
        if let Some((tag, ..)) = forms.first() {
            let names: Vec<String> = forms.iter().map(|(_, name, _)| format!("`\"{name}\"`")).collect();
            self.keys.push(KeyDoc {
                path: format!("{path}.{tag}"),
                of: None,
                r#type: names.join(", "),
                default: property.get("default").and_then(|d| d.get(tag)).cloned(),
                required: property.get("default").is_none(),
                doc: own_doc,
            });
            for (_, name, form) in forms {
                self.table(&path, Some(&name), form);
            }
        } else if inner.get("properties").is_some() {
            self.table(&path, of, inner);
        } else {
            let default = property.get("default").filter(|d| !d.is_null()).cloned();
            let r#type = self.in_words(property);
            let of = of.map(String::from);
            self.keys.push(KeyDoc { path, of, r#type, default, required, doc: own_doc });
        }
    }

    /// The allowed values of a property, in words.
    fn in_words(&self, property: &Value) -> String {
        let schema = self.resolve(property);
        let list = |key: &str| schema.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let quoted = |v: &Value| format!("`{v}`");
        if let Some(constant) = schema.get("const") {
            return quoted(constant);
        }
        let words: Vec<String> = list("enum").iter().map(quoted).collect();
        if !words.is_empty() {
            return words.join(", ");
        }
        let choices = [list("oneOf"), list("anyOf")].concat();
        if !choices.is_empty() {
            let words: Vec<String> = choices.iter().map(|c| self.in_words(c)).collect();
            return words.join(", ");
        }
        match schema.get("format").and_then(Value::as_str) {
            Some("Time") => return "time".into(),
            Some("Rate") => return "rate".into(),
            Some("Bytes") => return "size".into(),
            _ => {}
        }
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(kind)) => vec![kind.as_str()],
            _ => vec![],
        };
        let word = |kind: &&str| match *kind {
            "integer" => Some("whole number".to_string()),
            "boolean" => Some("`true`, `false`".to_string()),
            "null" => None,
            "array" => {
                let items = schema.get("items").map_or("values".into(), |items| self.in_words(items));
                Some(format!("list of {items}"))
            }
            "object" => Some("table".to_string()),
            other => Some(other.to_string()),
        };
        kinds.iter().filter_map(word).collect::<Vec<_>>().join(", ")
    }
}
