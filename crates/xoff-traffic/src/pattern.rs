//! The list of traffic patterns. A new pattern is a file of its own and one line here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xoff_engine::{NicChoice, Time};

use crate::connections::ConnectionMapping;
use crate::error::Misfit;
use crate::generate::{Plan, Scope};

mod all_to_all;
mod burst;
mod chakra;
mod collective;
mod destinations;
mod flow;
mod goal;
mod gpcnet;
mod incast;
mod list;
mod mpi_io;
mod permutation;
mod poisson;
pub(crate) mod processes;
mod triggers;

pub use all_to_all::AllToAll;
pub use burst::Burst;
pub use chakra::{Chakra, ChakraAlgorithms};
pub use collective::all_to_all::AllToAllCollective;
pub use collective::allreduce::{Allreduce, AllreduceAlgorithm};
pub use collective::any::Collective;
pub use flow::Flow;
pub use goal::Goal;
pub use gpcnet::{CongestorKernel, EAGER_OUTSTANDING, Gpcnet, VictimTest};
pub use incast::Incast;
pub use list::List;
pub use mpi_io::MpiIo;
pub use permutation::Permutation;
pub use poisson::Poisson;

/// The trait of each pattern's parameters.
pub(crate) trait Params {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One line of description.
    const TITLE: &'static str;
    /// Whether its messages go from process to process; a host may have several processes.
    const HAS_PROCESSES: bool = false;
    /// The keys that every pattern has.
    fn common(&self) -> Common<'_>;
    /// Checks the parameters; the plan has the number of flows, and makes them.
    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit>;
}

/// The keys that every pattern has.
pub(crate) struct Common<'a> {
    pub(crate) label: Option<&'a str>,
    pub(crate) priority: u8,
    pub(crate) nic: Option<NicChoice>,
    pub(crate) connection: ConnectionMapping,
    pub(crate) start: Time,
}

/// Reads the common keys of a struct that has them.
macro_rules! common {
    ($self:ident) => {
        $crate::pattern::Common {
            label: $self.label.as_deref(),
            priority: $self.priority,
            nic: $self.nic,
            connection: $self.connection,
            start: $self.start,
        }
    };
}
use common;

/// A pattern in a catalogue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatternInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line of description.
    pub title: &'static str,
    /// JSON schema of its parameters, with their documentation.
    pub schema: Value,
    /// The parameters that may be left out, with their defaults; null for a parameter without a value by default.
    pub defaults: Value,
}

fn info<P: Params + JsonSchema>() -> PatternInfo {
    let schema = schemars::schema_for!(P).to_value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let defaults = properties.into_iter().flatten();
    let defaults = defaults.filter_map(|(key, p)| Some((key.clone(), p.get("default")?.clone())));
    let defaults = Value::Object(defaults.collect::<Map<_, _>>());
    PatternInfo { name: P::NAME, title: P::TITLE, schema, defaults }
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $variant:ident,)*) => {
        /// A traffic pattern with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "pattern", rename_all = "snake_case")]
        pub enum Pattern { $($(#[$doc])* $variant($variant)),* }

        $(impl From<$variant> for Pattern {
            fn from(params: $variant) -> Pattern {
                Pattern::$variant(params)
            }
        })*

        /// Every pattern, in the order of the registry.
        pub fn catalogue() -> Vec<PatternInfo> {
            vec![$(info::<$variant>()),*]
        }

        impl Pattern {
            /// The names of all patterns.
            pub const NAMES: &'static [&'static str] = &[$(<$variant as Params>::NAME),*];

            /// The pattern called `name`, with parameters read from `source`; `None` if there is no such pattern.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$variant as Params>::NAME {
                    return Some($variant::deserialize(source).map(Pattern::$variant));
                })*
                let _ = source;
                None
            }
            /// Its name in scenarios.
            pub fn name(&self) -> &'static str {
                match self { $(Pattern::$variant(_) => <$variant as Params>::NAME),* }
            }
            /// Whether its messages go from process to process and wait for each other.
            pub fn has_processes(&self) -> bool {
                match self { $(Pattern::$variant(_) => <$variant as Params>::HAS_PROCESSES),* }
            }
            fn common(&self) -> Common<'_> {
                match self { $(Pattern::$variant(p) => p.common()),* }
            }
            pub(crate) fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
                match self { $(Pattern::$variant(p) => p.plan(scope)),* }
            }
        }
    };
}

impl Pattern {
    /// The group of its flows in the results: its label, or its name if it has no label.
    pub fn label(&self) -> &str {
        self.common().label.unwrap_or(self.name())
    }
    /// The traffic class of its flows.
    pub fn priority(&self) -> u8 {
        self.common().priority
    }
    /// Which NIC its connections take at their senders; `None` if the pattern does not say.
    pub fn nic(&self) -> Option<NicChoice> {
        self.common().nic
    }

    /// How its flows share connections.
    pub fn connection(&self) -> ConnectionMapping {
        self.common().connection
    }
    /// Its beginning.
    pub fn start(&self) -> Time {
        self.common().start
    }
}

patterns! {
    /// One flow.
    Flow,
    /// Many senders, one receiver, at the same moment.
    Incast,
    /// Synchronized messages from a set of senders.
    Burst,
    /// Independent arrivals at each host with sizes after a distribution.
    Poisson,
    /// A message from each host to each other one.
    AllToAll,
    /// A flow from each host to one other, each receiving one.
    Permutation,
    /// Flows from a file.
    List,
    /// Sums over all ranks, in a closed loop.
    Allreduce,
    /// Exchanges of all ranks with all, in a closed loop.
    AllToAllCollective,
    /// A collective operation as NCCL or MPI runs it.
    Collective,
    /// A schedule of a parallel program in the GOAL format, as a closed loop.
    Goal,
    /// Execution traces of a training job in Chakra's format, as a closed loop.
    Chakra,
    /// GPCNeT's congestors and victims.
    Gpcnet,
    /// Messages of MPI and I/O jobs that share a network.
    MpiIo,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_the_registry_s_names() {
        for (info, name) in catalogue().iter().zip(Pattern::NAMES) {
            assert_eq!(info.name, *name);
            assert!(!info.title.is_empty());
        }
        let schema = schemars::schema_for!(Pattern).to_value().to_string();
        for name in Pattern::NAMES {
            assert!(schema.contains(&format!("\"const\":\"{name}\"")), "{name}");
        }
    }

    #[test]
    fn every_parameter_is_documented_and_defaults_are_those_that_reading_gives() {
        for info in catalogue() {
            let properties = info.schema["properties"].as_object().unwrap();
            for (key, property) in properties {
                assert!(property.get("description").is_some(), "{} {key}", info.name);
            }
            for key in ["label", "priority", "nic", "connection", "start"] {
                assert!(properties.contains_key(key), "{} {key}", info.name);
            }
            let required = info.schema["required"].as_array().cloned().unwrap_or_default();
            for key in properties.keys() {
                let needed = required.iter().any(|r| r == key);
                assert_eq!(needed, info.defaults.get(key).is_none(), "{} {key}", info.name);
            }
        }
        let incast = catalogue().into_iter().find(|p| p.name == "incast").unwrap();
        assert_eq!(incast.defaults["start"], "0ps");
        assert_eq!(incast.defaults["priority"], 0);
        assert_eq!(incast.defaults["connection"], "per_message");
        assert_eq!(incast.defaults["random"], false);
    }

    #[test]
    fn processes_have_a_connection_for_each_other_one_and_lone_flows_their_own() {
        let processes =
            ["allreduce", "all_to_all_collective", "collective", "goal", "chakra", "gpcnet", "mpi_io"];
        for info in catalogue() {
            let expected = if processes.contains(&info.name) { "per_process_pair" } else { "per_message" };
            assert_eq!(info.defaults["connection"], expected, "{}", info.name);
        }
    }

    #[test]
    fn reading_by_name_and_by_tag_agree_and_refuse_unknown_keys() {
        let keys = r#"{"senders": 3, "receiver": "host0", "size": "64KB"}"#;
        let read = |text: &str| Pattern::read("incast", &mut serde_json::Deserializer::from_str(text));
        let by_name = read(keys).unwrap().unwrap();
        let by_tag: Pattern =
            serde_json::from_str(&keys.replacen('{', r#"{"pattern": "incast","#, 1)).unwrap();
        assert_eq!(by_name, by_tag);
        assert_eq!((by_tag.name(), by_tag.label(), by_tag.priority()), ("incast", "incast", 0));
        // A manifest is read back as what was written, every default included.
        let text = serde_json::to_string(&by_tag).unwrap();
        assert_eq!(serde_json::from_str::<Pattern>(&text).unwrap(), by_tag);

        let message = read(&keys.replace("size", "siez")).unwrap().unwrap_err().to_string();
        assert!(message.contains("unknown field `siez`"), "{message}");
        let message = read(&keys.replace("\"64KB\"", "64000")).unwrap().unwrap_err().to_string();
        assert!(message.contains("lacks a unit"), "{message}");
        assert!(Pattern::read("incats", &mut serde_json::Deserializer::from_str("{}")).is_none());
    }
}
