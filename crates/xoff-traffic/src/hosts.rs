//! Hosts by name, by range and by number.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use xoff_engine::{Nearest, Rate};

use crate::error::{Fault, TrafficError};

/// A host, as far as traffic needs it. Its index is its place in the list that [`crate::generate()`] gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// Unique name.
    pub name: String,
    /// Line rate of its NICs together.
    pub rate: Rate,
    /// The switch that its first NIC is attached to: hosts of one rack have the same number.
    pub rack: u32,
    /// Number of its NICs.
    pub nics: u32,
}

/// The word for every host.
const ALL: &str = "all";

/// Hosts: `"all"`, a name, a range `"host0..host15"` (both ends included), or a list of names and ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(pub Vec<String>);

impl HostList {
    /// Every host.
    pub fn all() -> HostList {
        HostList(vec![ALL.into()])
    }
    /// Whether this is `"all"`.
    pub fn is_all(&self) -> bool {
        self.0.len() == 1 && self.0[0] == ALL
    }
}

impl Default for HostList {
    fn default() -> Self {
        HostList::all()
    }
}

/// Senders: a number of hosts, or hosts as in [`HostList`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// This number of hosts.
    Count(u64),
    /// These hosts.
    Hosts(HostList),
}

impl Serialize for HostList {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => s.serialize_str(one),
            many => s.collect_seq(many),
        }
    }
}

impl Serialize for Senders {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Senders::Count(n) => s.serialize_u64(*n),
            Senders::Hosts(hosts) => hosts.serialize(s),
        }
    }
}

/// Reads a number (if `count` allows one), a string or a list of strings.
struct Reader {
    count: bool,
}

impl<'de> de::Visitor<'de> for Reader {
    type Value = Senders;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.count { "a number of hosts, " } else { "" })?;
        f.write_str("\"all\", a host's name, a range such as \"host0..host15\", or a list of these")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Senders, E> {
        Ok(Senders::Hosts(HostList(vec![text.to_string()])))
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Senders, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = items.next_element::<String>()? {
            names.push(name);
        }
        Ok(Senders::Hosts(HostList(names)))
    }
    fn visit_u64<E: de::Error>(self, n: u64) -> Result<Senders, E> {
        if self.count {
            Ok(Senders::Count(n))
        } else {
            Err(E::invalid_type(de::Unexpected::Unsigned(n), &self))
        }
    }
    fn visit_i64<E: de::Error>(self, n: i64) -> Result<Senders, E> {
        match u64::try_from(n) {
            Ok(n) => self.visit_u64(n),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(n), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Senders {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader { count: true })
    }
}

impl<'de> Deserialize<'de> for HostList {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match d.deserialize_any(Reader { count: false })? {
            Senders::Hosts(hosts) => Ok(hosts),
            Senders::Count(n) => {
                Err(de::Error::invalid_type(de::Unexpected::Unsigned(n), &Reader { count: false }))
            }
        }
    }
}

impl JsonSchema for HostList {
    fn schema_name() -> Cow<'static, str> {
        "HostList".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "\"all\", a host's name, a range \"host0..host15\" (both included), or a list of these",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }]
        })
    }
}

impl JsonSchema for Senders {
    fn schema_name() -> Cow<'static, str> {
        "Senders".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let hosts = g.subschema_for::<HostList>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, hosts] })
    }
}

/// The hosts with an index of their names.
pub(crate) struct Directory<'a> {
    hosts: &'a [HostInfo],
    by_name: BTreeMap<&'a str, u32>,
}

impl<'a> Directory<'a> {
    pub(crate) fn new(hosts: &'a [HostInfo]) -> Result<Directory<'a>, TrafficError> {
        if u32::try_from(hosts.len()).is_err() {
            return Err(TrafficError::TooManyHosts(hosts.len()));
        }
        let mut by_name = BTreeMap::new();
        for (index, host) in (0u32..).zip(hosts) {
            if by_name.insert(host.name.as_str(), index).is_some() {
                return Err(TrafficError::SameName(host.name.clone()));
            }
        }
        Ok(Directory { hosts, by_name })
    }

    /// Number of hosts.
    pub(crate) fn len(&self) -> u32 {
        self.hosts.len() as u32
    }

    pub(crate) fn name(&self, host: u32) -> &'a str {
        &self.hosts[host as usize].name
    }

    pub(crate) fn rack(&self, host: u32) -> u32 {
        self.hosts[host as usize].rack
    }

    pub(crate) fn nics(&self, host: u32) -> u32 {
        self.hosts[host as usize].nics
    }

    pub(crate) fn rate(&self, host: u32) -> Rate {
        self.hosts[host as usize].rate
    }

    /// The host called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<u32, Fault> {
        self.by_name.get(name).copied().ok_or_else(|| Fault::UnknownHost {
            name: name.into(),
            nearest: Nearest::of(name, self.hosts.iter().map(|h| h.name.as_str())),
        })
    }

    /// The hosts of a list, in its order.
    pub(crate) fn resolve(&self, list: &HostList) -> Result<Vec<u32>, Fault> {
        if list.is_all() {
            return Ok((0..self.len()).collect());
        }
        let mut found = Vec::new();
        for item in &list.0 {
            match item.split_once("..") {
                // A host's name may contain two dots.
                Some((first, last)) if !self.by_name.contains_key(item.as_str()) => {
                    self.range(item, first.trim(), last.trim(), &mut found)?;
                }
                _ => found.push(self.find(item)?),
            }
        }
        let mut seen = vec![false; self.hosts.len()];
        for &host in &found {
            if std::mem::replace(&mut seen[host as usize], true) {
                return Err(Fault::Twice(self.name(host).into()));
            }
        }
        if found.is_empty() { Err(Fault::bounds("an empty list", "at least one host")) } else { Ok(found) }
    }

    /// The hosts from `first` to `last`, whose names differ in the number at their end. Numbers with leading zeros
    /// keep their width.
    fn range(&self, item: &str, first: &str, last: &str, found: &mut Vec<u32>) -> Result<(), Fault> {
        let wrong = || Fault::Range(item.into());
        let (prefix, digits) = split_number(first);
        let (last_prefix, last_digits) = split_number(last);
        let (from, to) = digits.parse::<u64>().ok().zip(last_digits.parse::<u64>().ok()).ok_or_else(wrong)?;
        // Twenty digits hold every u64; with more digits, the first would all be zeros.
        if prefix != last_prefix || from > to || digits.len() > 20 {
            return Err(wrong());
        }
        let width = if digits.starts_with('0') { digits.len() } else { 0 };
        // The loop ends at the first missing name, so after at most as many steps as there are hosts.
        for n in from..=to {
            found.push(self.find(&format!("{prefix}{n:0width$}"))?);
        }
        Ok(())
    }
}

/// A name without the digits at its end, and these digits.
fn split_number(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `host0` to `host{n-1}` at 100 Gbps.
    pub(crate) fn hosts(n: u32) -> Vec<HostInfo> {
        (0..n)
            .map(|i| HostInfo { name: format!("host{i}"), rate: Rate::from_gbps(100), rack: i / 8, nics: 1 })
            .collect()
    }

    fn resolve(hosts: &[HostInfo], items: &[&str]) -> Result<Vec<u32>, Fault> {
        Directory::new(hosts).unwrap().resolve(&HostList(items.iter().map(|s| s.to_string()).collect()))
    }

    #[test]
    fn names_ranges_and_all() {
        let twelve = hosts(12);
        assert_eq!(resolve(&twelve, &["all"]), Ok((0..12).collect()));
        assert_eq!(resolve(&twelve, &["host3"]), Ok(vec![3]));
        // Both ends are included; the order is the list's.
        assert_eq!(
            resolve(&twelve, &["host8..host11", "host2", "host0 .. host1"]),
            Ok(vec![8, 9, 10, 11, 2, 0, 1])
        );
    }

    #[test]
    fn leading_zeros_keep_their_width() {
        let named = |n: &str| HostInfo { name: n.into(), rate: Rate::from_gbps(10), rack: 0, nics: 1 };
        let hosts = [named("n08"), named("n09"), named("n10"), named("n8"), named("a..b")];
        assert_eq!(resolve(&hosts, &["n08..n10"]), Ok(vec![0, 1, 2]));
        assert_eq!(resolve(&hosts, &["a..b"]), Ok(vec![4]));
    }

    #[test]
    fn wrong_lists_say_why() {
        let four = hosts(4);
        let unknown = |name: &str, like: Option<&str>| Fault::UnknownHost {
            name: name.into(),
            nearest: Nearest(like.map(Into::into)),
        };
        assert_eq!(resolve(&four, &["hots1"]), Err(unknown("hots1", Some("host1"))));
        assert_eq!(resolve(&four, &["server-in-rack-7"]), Err(unknown("server-in-rack-7", None)));
        // The message names the first missing host, without counting up to the last.
        assert!(matches!(
            resolve(&four, &["host2..host18446744073709551615"]),
            Err(Fault::UnknownHost { name, .. }) if name == "host4"
        ));
        for range in [
            "host3..host1",
            "host1..node3",
            "host..host3",
            "..",
            "host1..",
            "host0..host99999999999999999999",
        ] {
            assert_eq!(resolve(&four, &[range]), Err(Fault::Range(range.into())));
        }
        assert_eq!(resolve(&four, &["host0..host2", "host1"]), Err(Fault::Twice("host1".into())));
        assert!(matches!(resolve(&four, &[]), Err(Fault::OutOfBounds { .. })));
        let twins = [four[0].clone(), four[0].clone()];
        assert!(matches!(Directory::new(&twins), Err(TrafficError::SameName(name)) if name == "host0"));
    }

    #[test]
    fn lists_read_and_print_as_people_write_them() {
        let read = |json: &str| serde_json::from_str::<Senders>(json);
        assert_eq!(read("16").unwrap(), Senders::Count(16));
        assert_eq!(read("\"all\"").unwrap(), Senders::Hosts(HostList::all()));
        let two = Senders::Hosts(HostList(vec!["a".into(), "b0..b3".into()]));
        assert_eq!(read(r#"["a","b0..b3"]"#).unwrap(), two);
        assert_eq!(serde_json::to_string(&two).unwrap(), r#"["a","b0..b3"]"#);
        assert_eq!(serde_json::to_string(&HostList::all()).unwrap(), "\"all\"");
        for wrong in ["-1", "1.5", "true", "[1]"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let message = serde_json::from_str::<HostList>("3").unwrap_err().to_string();
        assert!(message.contains("host0..host15") && !message.contains("a number of"), "{message}");
    }
}
