//! Which of its host's NICs a connection takes.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Which of its sender's NICs a connection takes: `"round_robin"`, `"hash"`, or a NIC's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NicChoice {
    /// The next one in turn, over the sender's connections with this choice, in the order of their first messages.
    #[default]
    RoundRobin,
    /// By a hash of the two hosts and the connection's number among theirs with this choice, from the run's seed.
    Hash,
    /// The NIC of this number.
    Nic(u32),
}

const ROUND_ROBIN: &str = "round_robin";
const HASH: &str = "hash";

impl Serialize for NicChoice {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            NicChoice::RoundRobin => s.serialize_str(ROUND_ROBIN),
            NicChoice::Hash => s.serialize_str(HASH),
            NicChoice::Nic(nic) => s.serialize_u32(*nic),
        }
    }
}

struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = NicChoice;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"round_robin\", \"hash\", or a NIC's number, counted from 0")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<NicChoice, E> {
        match text {
            ROUND_ROBIN => Ok(NicChoice::RoundRobin),
            HASH => Ok(NicChoice::Hash),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<NicChoice, E> {
        let nic = u32::try_from(number);
        nic.map(NicChoice::Nic).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<NicChoice, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for NicChoice {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader)
    }
}

impl JsonSchema for NicChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NicChoice".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Which of its sender's NICs a connection takes",
            "anyOf": [
                { "type": "string", "enum": [ROUND_ROBIN, HASH] },
                { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_reads_as_it_prints() {
        for (text, choice) in [
            ("\"round_robin\"", NicChoice::RoundRobin),
            ("\"hash\"", NicChoice::Hash),
            ("3", NicChoice::Nic(3)),
        ] {
            assert_eq!(serde_json::from_str::<NicChoice>(text).ok(), Some(choice));
            assert_eq!(serde_json::to_string(&choice).ok().as_deref(), Some(text));
        }
        for wrong in ["\"rail\"", "-1", "1.5", "true", "4294967296"] {
            assert!(serde_json::from_str::<NicChoice>(wrong).is_err(), "{wrong}");
        }
    }
}
