//! Schemes beside the built-in ones: those of other crates, and those that are known only when the program runs.

use serde::Deserialize;
use serde_json::{Map, Value};
use xoff_schemes::{AnyDetector, AnyScheme, Foreign, Scheme};

use super::de::{Fault, Kind, TableDe};

/// The schemes that a scenario may name beside the built-in ones.
///
/// ```
/// # use xoff::scenario::OwnSchemes;
/// # use xoff_schemes::dctcp::Dctcp;
/// // Any type that implements `xoff_schemes::Scheme` can be added, unless a built-in scheme has its name.
/// assert!(OwnSchemes::default().with::<Dctcp>().is_err());
/// ```
#[derive(Default)]
pub struct OwnSchemes(Vec<Own>);

/// A scheme that is not built in.
struct Own {
    name: String,
    /// The keys of its parameters.
    keys: Vec<String>,
    read: Box<Reader>,
}

type Reader = dyn for<'a> Fn(TableDe<'a>) -> Result<Foreign, Fault> + Send + Sync;

/// Why a name cannot be given to a scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A built-in scheme or another scheme of the same list has this name.
    #[error("there is a scheme `{0}` already: expected another name")]
    Taken(String),
    /// Not a valid name for a scheme.
    #[error("`{0}` is no name for a scheme: expected letters, digits and `_`, with a letter first")]
    Malformed(String),
}

/// What is wrong with a scheme's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamFault {
    /// A parameter that has no default is not given.
    Missing(String),
    /// A parameter has a value that it cannot have.
    Value {
        /// The parameter.
        key: String,
        /// What is wrong.
        found: String,
        /// What would be right, as the end of a sentence that begins with "expected".
        expected: String,
    },
}

impl OwnSchemes {
    /// Adds a scheme in Rust, with its name and its parameters as a [`Scheme`].
    ///
    /// # Errors
    /// If there is a scheme of that name, or the name is malformed.
    pub fn with<S>(self) -> Result<Self, NameError>
    where
        S: Scheme + Send + Sync + 'static,
        S::Reaction: Send + 'static,
        S::Notification: Send + 'static,
        S::Congestion: Send + 'static,
        S::DefaultDetector: Into<AnyDetector>,
    {
        let schema = schemars::schema_for!(S).to_value();
        let keys = schema["properties"].as_object().map(|keys| keys.keys().cloned().collect());
        self.add(S::NAME, keys.unwrap_or_default(), |table| S::deserialize(table).map(Foreign::of))
    }

    /// Adds a scheme that is known only when the program runs, with the parameters `keys`; `make` gets the values that a
    /// scenario gives to them.
    ///
    /// # Errors
    /// If there is a scheme of that name, or the name is malformed.
    pub fn with_dynamic(
        self,
        name: &str,
        keys: Vec<String>,
        make: impl Fn(Map<String, Value>) -> Result<Foreign, ParamFault> + Send + Sync + 'static,
    ) -> Result<Self, NameError> {
        let known = keys.clone();
        self.add(name, keys, move |table: TableDe<'_>| {
            if let Some(entry) = table.entries().find(|e| !known.contains(&e.key)) {
                let unknown = Kind::UnknownKey { key: entry.key.clone(), expected: known.clone() };
                return Err(Fault::new(unknown).at(&entry.key_place));
            }
            let (source, place) = (table.table, table.place.clone());
            let given = Map::deserialize(table)?;
            make(given).map_err(|fault| match fault {
                ParamFault::Missing(key) => Fault::new(Kind::MissingKey(key)).at(&place),
                ParamFault::Value { key, found, expected } => {
                    let at = source.get(&key).map_or(&place, |e| &e.node.place);
                    Fault::new(Kind::Wrong { found, expected }).at(at).inside(key)
                }
            })
        })
    }

    fn add(
        mut self,
        name: &str,
        keys: Vec<String>,
        read: impl for<'a> Fn(TableDe<'a>) -> Result<Foreign, Fault> + Send + Sync + 'static,
    ) -> Result<Self, NameError> {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(NameError::Malformed(name.into()));
        }
        if self.names().any(|known| known == name) {
            return Err(NameError::Taken(name.into()));
        }
        self.0.push(Own { name: name.into(), keys, read: Box::new(read) });
        Ok(self)
    }

    /// The names of all schemes, the built-in ones first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        AnyScheme::NAMES.iter().copied().chain(self.0.iter().map(|own| own.name.as_str()))
    }

    /// Whether one of the added schemes has this parameter; `path` begins with the table's name.
    pub(super) fn has_key(&self, path: &str) -> bool {
        let key = path.strip_prefix("scheme.");
        key.is_some_and(|key| self.0.iter().any(|own| own.keys.iter().any(|k| k == key)))
    }

    /// The keys of all parameters of the added schemes.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|own| own.keys.iter().map(|key| format!("scheme.{key}")))
    }

    /// The scheme called `name`, its parameters read from a table; `None` if there is no such scheme.
    pub(super) fn read(&self, name: &str, table: TableDe<'_>) -> Option<Result<AnyScheme, Fault>> {
        match self.0.iter().find(|own| own.name == name) {
            Some(own) => Some((own.read)(table).map(AnyScheme::Foreign)),
            None => AnyScheme::read(name, table),
        }
    }
}
