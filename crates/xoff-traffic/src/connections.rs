//! Which connection carries which message of a pattern.
//!
//! A connection (a queue pair of RDMA) goes from one host to another, and carries its messages one after the other. Its
//! congestion control keeps its state from one message to the next. A connection belongs to one pattern: two patterns never
//! share a connection, just as two jobs do not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use xoff_engine::Nearest;

use crate::error::{Fault, Misfit};
use crate::generate::FlowSpec;

/// How a pattern's messages share connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionMapping {
    /// Each message has a connection to itself.
    #[default]
    PerMessage,
    /// One connection for all messages from a host to another.
    PerPair,
    /// One connection for all messages from a process to another.
    PerProcessPair,
    /// This number of connections from a host to another; messages take them in turn.
    Count(u32),
}

/// The mappings that have a name, each with its name.
const NAMED: [(&str, ConnectionMapping); 3] = [
    ("per_message", ConnectionMapping::PerMessage),
    ("per_pair", ConnectionMapping::PerPair),
    ("per_process_pair", ConnectionMapping::PerProcessPair),
];

/// The values that a scenario may give, for messages.
struct Expected(Nearest);

impl de::Expected for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "\"per_message\", \"per_pair\", \"per_process_pair\", or a number of connections from 1 to 4294967295",
        )?;
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for ConnectionMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMED.iter().find(|(_, mapping)| mapping == self)) {
            (ConnectionMapping::Count(count), _) => count.fmt(f),
            (_, Some((name, _))) => f.write_str(name),
            (_, None) => Ok(()),
        }
    }
}

impl Serialize for ConnectionMapping {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            ConnectionMapping::Count(count) => s.serialize_u32(*count),
            named => s.collect_str(named),
        }
    }
}

struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = ConnectionMapping;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        de::Expected::fmt(&Expected(Nearest(None)), f)
    }
    fn visit_str<E: de::Error>(self, name: &str) -> Result<ConnectionMapping, E> {
        let known = NAMED.iter().find(|(known, _)| *known == name);
        known.map(|(_, mapping)| *mapping).ok_or_else(|| {
            let expected = Expected(Nearest::of(name, NAMED.map(|(known, _)| known)));
            E::invalid_value(de::Unexpected::Other(&format!("is \"{name}\"")), &expected)
        })
    }
    fn visit_u64<E: de::Error>(self, count: u64) -> Result<ConnectionMapping, E> {
        match u32::try_from(count) {
            Ok(count) if count > 0 => Ok(ConnectionMapping::Count(count)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(count), &self)),
        }
    }
    fn visit_i64<E: de::Error>(self, count: i64) -> Result<ConnectionMapping, E> {
        match u64::try_from(count) {
            Ok(count) => self.visit_u64(count),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(count), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for ConnectionMapping {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader)
    }
}

impl JsonSchema for ConnectionMapping {
    fn schema_name() -> Cow<'static, str> {
        "ConnectionMapping".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": NAMED.map(|(name, _)| name) },
                { "type": "integer", "minimum": 1, "maximum": u32::MAX }
            ]
        })
    }
}

/// The default of patterns of processes.
pub(crate) const fn per_process_pair() -> ConnectionMapping {
    ConnectionMapping::PerProcessPair
}

impl ConnectionMapping {
    /// Refuses a mapping by pairs of processes for a pattern without processes.
    pub(crate) fn check(self, has_processes: bool) -> Result<(), Misfit> {
        if self != ConnectionMapping::PerProcessPair || has_processes {
            return Ok(());
        }
        let expected = "`per_pair`, since this pattern has no processes, `per_message`, or a number";
        Err(Fault::bounds(self, expected).at("connection"))
    }
}

/// Numbers connections, uniquely among those of the same hosts.
#[derive(Default)]
pub(crate) struct Numbering {
    next: u32,
}

impl Numbering {
    /// Numbers the connections of a pattern's flows. Before the call, a flow's `connection` is the number of its pair of
    /// processes among those of the same hosts.
    pub(crate) fn number(&mut self, mapping: ConnectionMapping, flows: &mut [FlowSpec]) {
        match mapping {
            ConnectionMapping::PerMessage => flows.iter_mut().for_each(|flow| flow.connection = None),
            ConnectionMapping::PerPair => self.by_key(flows, |_| 0),
            ConnectionMapping::PerProcessPair => self.by_key(flows, |flow| flow.connection.unwrap_or(0)),
            ConnectionMapping::Count(count) => self.in_turn(flows, count),
        }
    }

    fn by_key(&mut self, flows: &mut [FlowSpec], key: impl Fn(&FlowSpec) -> u32) {
        let mut known: HashMap<u32, u32> = HashMap::new();
        for flow in flows {
            let number = known.entry(key(flow)).or_insert_with(|| {
                self.next += 1; // at most one a flow
                self.next - 1
            });
            flow.connection = Some(*number);
        }
    }

    /// The messages from a host to another take connections in turn, in the order of their (earliest) starts and, if starts
    /// are equal, in the order in which the pattern makes the messages.
    fn in_turn(&mut self, flows: &mut [FlowSpec], count: u32) {
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&place| flows[place].start);
        let mut sent: HashMap<(u32, u32, u8), u32> = HashMap::new();
        for place in order {
            let flow = &mut flows[place];
            let turn = sent.entry((flow.src, flow.dst, flow.priority)).or_default();
            flow.connection = Some(*turn % count);
            *turn += 1; // at most the number of flows
        }
        self.by_key(flows, |flow| flow.connection.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_number() {
        let read = |text: &str| serde_json::from_str::<ConnectionMapping>(text);
        for (name, mapping) in NAMED {
            let text = format!("\"{name}\"");
            assert_eq!(read(&text).unwrap(), mapping);
            assert_eq!(serde_json::to_string(&mapping).unwrap(), text);
        }
        assert_eq!(read("4").unwrap(), ConnectionMapping::Count(4));
        assert_eq!(serde_json::to_string(&ConnectionMapping::Count(4)).unwrap(), "4");
        for wrong in ["0", "-1", "1.5", "true", "4294967296"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let message = read("\"per_pairs\"").unwrap_err().to_string();
        assert!(message.contains("did you mean `per_pair`?"), "{message}");
    }

    /// The connections' numbers of messages from host 0: for each message its receiver, pair of processes, and start.
    fn numbers(mapping: ConnectionMapping, messages: &[(u32, u32, u64)]) -> Vec<Option<u32>> {
        let flow = |&(dst, pair, start)| FlowSpec {
            dst,
            connection: Some(pair),
            start: xoff_engine::Time(start),
            ..FlowSpec::default()
        };
        let mut flows: Vec<FlowSpec> = messages.iter().map(flow).collect();
        // The pattern before this one has used numbers 0 and 1.
        Numbering { next: 2 }.number(mapping, &mut flows);
        flows.iter().map(|flow| flow.connection).collect()
    }

    #[test]
    fn messages_share_connections_as_the_mapping_says() {
        let messages = [(1, 7, 0), (1, 3, 0), (2, 7, 0), (1, 7, 0)];
        assert_eq!(numbers(ConnectionMapping::PerMessage, &messages), [None; 4]);
        assert_eq!(numbers(ConnectionMapping::PerPair, &messages), [Some(2); 4]);
        assert_eq!(numbers(ConnectionMapping::PerProcessPair, &messages), [2, 3, 2, 2].map(Some));
    }

    #[test]
    fn messages_take_a_number_of_connections_in_turn_by_their_start() {
        // Messages to host 1 start at 3, 1, 2 and 2: the second, third, fourth and first of them take connections 0, 1, 0, 1.
        let messages = [(1, 0, 3), (1, 0, 1), (2, 0, 0), (1, 0, 2), (1, 0, 2)];
        let numbers = numbers(ConnectionMapping::Count(2), &messages);
        assert_eq!(numbers[1], numbers[4]);
        assert_eq!(numbers[0], numbers[3]);
        assert_ne!(numbers[0], numbers[1]);
        assert!(numbers.iter().all(|number| *number >= Some(2)));
    }
}
