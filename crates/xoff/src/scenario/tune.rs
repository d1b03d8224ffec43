//! The `[tune]` table: the keys whose best values are searched for, and the measures to minimize.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{BorrowedStrDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::sweep::Axis;

/// Maximum number of trials of a tuning.
pub(super) const MAX_TRIALS: u32 = 100_000;

/// A measure of a run, which a tuning minimizes or limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Mean FCT slowdown.
    SlowdownMean,
    /// Median FCT slowdown.
    SlowdownP50,
    /// 95th percentile of FCT slowdown.
    SlowdownP95,
    /// 99th percentile of FCT slowdown.
    SlowdownP99,
    /// PAUSE frames of all ports.
    PauseFrames,
    /// Time that ports were stopped, summed over ports and priorities, in ps.
    PausedPs,
    /// Flows that head-of-line blocking held up; needs `record.roots`.
    HolBlocked,
    /// The longest egress queue of any port, in bytes.
    MaxQueueBytes,
    /// Packets dropped.
    Dropped,
    /// Flows that did not complete.
    Incomplete,
}

/// How values are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sampler {
    /// Tree-structured Parzen estimators, which learn from the results of earlier trials.
    #[default]
    Tpe,
    /// A genetic algorithm that keeps a whole Pareto front.
    Nsga2,
    /// Values drawn at random.
    Random,
}

/// A search for the values of some keys that minimize one or several measures of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The measure to minimize, or a list of measures whose Pareto front is searched for. Each is the mean over the seeds.
    #[serde(deserialize_with = "one_or_several")]
    #[schemars(schema_with = "objective_schema")]
    pub objective: Vec<Measure>,
    /// Maximum values of measures, as the mean over the seeds; a trial that exceeds one of them is no solution.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budget: BTreeMap<Measure, f64>,
    /// Number of trials. A trial is a set of values, run with every seed.
    #[serde(default = "default_trials")]
    pub trials: u32,
    /// Seeds with which each trial is run; without them, the scenario's own seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// How values are chosen.
    #[serde(default)]
    pub sampler: Sampler,
    /// Seed of that choice.
    #[serde(default = "default_seed")]
    pub sampler_seed: u64,
    /// Number of trials that are chosen together, before the results of any of them are known, and run side by side. The
    /// outcome depends on this number, but not on how many trials run at the same time.
    #[serde(default = "default_batch")]
    pub batch: u32,
    /// The keys, each with a range, `{ from = "20KB", to = "400KB", log = true }`, or a list of choices.
    #[serde(default, deserialize_with = "read_with_places")]
    pub keys: Keys,
}

const fn default_trials() -> u32 {
    50
}

const fn default_seed() -> u64 {
    1
}

const fn default_batch() -> u32 {
    4
}

/// Keys to tune.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys(pub Vec<Axis>);

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.iter().map(|axis| (axis.key.clone(), axis.json())).collect::<Map<_, _>>().serialize(s)
    }
}

impl JsonSchema for Keys {
    fn schema_name() -> Cow<'static, str> {
        "Keys".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object", "minProperties": 1,
            "additionalProperties": { "type": ["array", "object"], "minItems": 1 },
        })
    }
}

/// Skips the keys: they are read from the tree, which knows the place of each.
fn read_with_places<'de, D: Deserializer<'de>>(source: D) -> Result<Keys, D::Error> {
    IgnoredAny::deserialize(source).map(|_| Keys::default())
}

fn objective_schema(generator: &mut SchemaGenerator) -> Schema {
    let measure = generator.subschema_for::<Measure>();
    json_schema!({ "anyOf": [measure, { "type": "array", "items": measure, "minItems": 1 }] })
}

/// A measure, or a list of them.
fn one_or_several<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Measure>, D::Error> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<Measure>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a measure such as \"slowdown_p99\", or a list of measures")
        }
        fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Vec<Measure>, E> {
            Measure::deserialize(BorrowedStrDeserializer::new(name)).map(|measure| vec![measure])
        }
        fn visit_str<E: Error>(self, name: &str) -> Result<Vec<Measure>, E> {
            Measure::deserialize(serde::de::value::StrDeserializer::new(name)).map(|measure| vec![measure])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Vec<Measure>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(items))
        }
    }
    source.deserialize_any(Names)
}

impl Tune {
    /// What a program that chooses values needs to know of each key, as JSON: `key`, and either `choices` as TOML or a range
    /// with `low`, `high`, `log`, whether it is `whole`, and the `suffix` of its unit.
    pub fn space(&self) -> Value {
        self.keys
            .0
            .iter()
            .map(|axis| {
                let mut of = Map::new();
                of.insert("key".into(), axis.key.clone().into());
                match &axis.range {
                    Some(range) if axis.texts.is_empty() => {
                        of.insert("low".into(), range.from.into());
                        of.insert("high".into(), range.to.into());
                        of.insert("log".into(), range.log.into());
                        of.insert("whole".into(), (range.unit != super::range::Unit::Number).into());
                        of.insert("suffix".into(), range.unit.suffix().into());
                    }
                    _ => {
                        of.insert("choices".into(), axis.texts.clone().into());
                    }
                }
                Value::Object(of)
            })
            .collect()
    }
}
