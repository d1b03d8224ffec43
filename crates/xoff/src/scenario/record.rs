//! The `[record]` table: what a run records beside its flows.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use xoff_engine::{Bytes, Time};

/// What a run records beside its flows. Sampled series cost time and space and are off unless asked for.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Time between two samples of queues, rates and utilization.
    pub interval: Time,
    /// Egress queues whose length is sampled: `"none"`, those of `"switches"`, `"all"` (with host NICs), or a list
    /// of ports, each as `"node->neighbour"`.
    pub queues: Queues,
    /// Flows whose sending rate is sampled: `false`, `true` or `"all"`, or a list of traffic labels.
    pub rates: Rates,
    /// Flows of which the scheme's own variables, such as DCQCN's alpha, are sampled: `false`, `true` or `"all"`, or a list of
    /// traffic labels. Which variables there are the scheme says; a reaction point that a service level shares has none.
    pub variables: Rates,
    /// Whether the share of each interval in which a port sent is recorded, for each of the ports in `queues`.
    pub utilization: bool,
    /// Whether each PAUSE is recorded, with its port, start and length.
    pub pauses: bool,
    /// Whether each CNP and CNM is recorded.
    pub notifications: bool,
    /// Whether congestion roots are recorded: egress queues of switches to which more is offered than their link carries; and which flows head-of-line blocking held up (`hol_blocked` in flows).
    pub roots: bool,
    /// Backlog that makes an egress queue a congestion root: what would have waited for its link had no link been stopped.
    pub root_growth: Bytes,
    /// Whether each mark of a packet is recorded, with port, flow and code point. A packet marked UE and later CE has two.
    pub marks: bool,
    /// Egress queues of switches whose changes of state are recorded: `"none"`, `"all"`, or a list of ports, each as
    /// `"node->neighbour"`. This needs a detector that tells states apart, such as `tcd`.
    pub states: States,
    /// Whether each change of the state of a host's throttle (`[throttle]`) is recorded.
    pub throttles: bool,
    /// Whether the causes of each flow's completion time are recorded: serialization, propagation, queueing and pauses by
    /// port, window, rate and so on. Their times sum to the completion time exactly.
    pub breakdown: bool,
    /// Whether the order in which each connection's packets come is recorded: how many are overtaken, how far, and the buffer that
    /// puts them in order.
    pub reordering: bool,
    /// Ports at which each packet is recorded as it leaves and as it arrives: `"none"`, those of `"switches"`, `"all"` (with
    /// host NICs), or a list of ports, each as `"node->neighbour"`. These rows fill the record fast.
    pub packets: Queues,
    /// Packets are recorded from this time on.
    pub packets_from: Time,
    /// Packets are recorded before this time; without it, until the end of the run.
    pub packets_until: Option<Time>,
}

impl Default for Record {
    fn default() -> Self {
        Record {
            interval: Time::from_us(1),
            queues: Queues::None,
            rates: Rates::None,
            variables: Rates::None,
            utilization: false,
            pauses: true,
            notifications: false,
            roots: false,
            root_growth: Bytes(30_000),
            marks: false,
            states: States::None,
            throttles: false,
            breakdown: false,
            reordering: false,
            packets: Queues::None,
            packets_from: Time::ZERO,
            packets_until: None,
        }
    }
}

impl Record {
    /// Whether anything is sampled at all.
    pub fn samples(&self) -> bool {
        self.queues != Queues::None || self.rates != Rates::None || self.variables != Rates::None
    }
}

/// Ports whose egress queues are sampled, or whose packets are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// None.
    #[default]
    None,
    /// The queues of all switches.
    Switches,
    /// The queues of all switches and host NICs.
    All,
    /// The queues of these ports, each as `node->neighbour`.
    Ports(Vec<String>),
}

/// Egress queues whose states to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum States {
    /// None.
    #[default]
    None,
    /// The queues of all switches.
    All,
    /// The queues of these ports, each as `node->neighbour`.
    Ports(Vec<String>),
}

/// Flows whose rate, or whose scheme's variables, to sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rates {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The flows of the traffic with these labels.
    Labels(Vec<String>),
}

impl Serialize for Queues {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Queues::None => s.serialize_str("none"),
            Queues::Switches => s.serialize_str("switches"),
            Queues::All => s.serialize_str("all"),
            Queues::Ports(names) => names.serialize(s),
        }
    }
}

impl Serialize for States {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            States::None => s.serialize_str("none"),
            States::All => s.serialize_str("all"),
            States::Ports(names) => names.serialize(s),
        }
    }
}

impl Serialize for Rates {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Rates::None => s.serialize_bool(false),
            Rates::All => s.serialize_str("all"),
            Rates::Labels(names) => names.serialize(s),
        }
    }
}

fn names<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Vec<String>, A::Error> {
    let mut names = vec![];
    while let Some(name) = items.next_element()? {
        names.push(name);
    }
    Ok(names)
}

impl<'de> Deserialize<'de> for Queues {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = Queues;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"none\", \"switches\", \"all\", or a list of ports such as [\"s0->s1\"]")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Queues, E> {
                match word {
                    "none" => Ok(Queues::None),
                    "switches" => Ok(Queues::Switches),
                    "all" => Ok(Queues::All),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Queues, A::Error> {
                names(items).map(Queues::Ports)
            }
        }
        d.deserialize_any(Choice)
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = States;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"none\", \"all\", or a list of ports such as [\"s0->s1\"]")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<States, E> {
                match word {
                    "none" => Ok(States::None),
                    "all" => Ok(States::All),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<States, A::Error> {
                names(items).map(States::Ports)
            }
        }
        d.deserialize_any(Choice)
    }
}

impl<'de> Deserialize<'de> for Rates {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Choice;
        impl<'de> Visitor<'de> for Choice {
            type Value = Rates;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false`, \"all\", or a list of traffic labels such as [\"long\"]")
            }
            fn visit_bool<E: de::Error>(self, all: bool) -> Result<Rates, E> {
                Ok(if all { Rates::All } else { Rates::None })
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Rates, E> {
                if word == "all" {
                    Ok(Rates::All)
                } else {
                    Err(E::invalid_value(de::Unexpected::Str(word), &self))
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Rates, A::Error> {
                names(items).map(Rates::Labels)
            }
        }
        d.deserialize_any(Choice)
    }
}

impl JsonSchema for Queues {
    fn schema_name() -> Cow<'static, str> {
        "Queues".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "enum": ["none", "switches", "all"] },
            { "type": "array", "items": { "type": "string" } },
        ] })
    }
}

impl JsonSchema for States {
    fn schema_name() -> Cow<'static, str> {
        "States".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "enum": ["none", "all"] },
            { "type": "array", "items": { "type": "string" } },
        ] })
    }
}

impl JsonSchema for Rates {
    fn schema_name() -> Cow<'static, str> {
        "Rates".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "string", "enum": ["all"] },
            { "type": "array", "items": { "type": "string" } },
        ] })
    }
}
