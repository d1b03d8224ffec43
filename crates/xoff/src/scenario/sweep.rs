//! The `[sweep]` table: a grid of runs around one scenario.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Most runs of one sweep.
pub(crate) const MOST_POINTS: usize = 1_000_000;

/// The axes of a sweep, in the order of the file. The last one varies fastest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The axes; none for a single run.
    pub axes: Vec<Axis>,
}

/// A key and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key with dots, such as `scheme.name` or `traffic.0.load`.
    pub key: String,
    /// The values.
    pub values: Vec<serde_json::Value>,
    /// The values as TOML, the way that `--set` takes them.
    pub texts: Vec<String>,
}

impl Sweep {
    /// The number of runs; 1 without axes, none where it does not fit.
    pub fn len(&self) -> Option<usize> {
        self.axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()))
    }

    /// Whether there is nothing to sweep.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    /// The overrides of each run.
    pub fn points(&self) -> Vec<Vec<(String, String)>> {
        let mut points = vec![vec![]];
        for axis in &self.axes {
            let longer = points.iter().flat_map(|point: &Vec<(String, String)>| {
                axis.texts.iter().map(move |text| {
                    let mut point = point.clone();
                    point.push((axis.key.clone(), text.clone()));
                    point
                })
            });
            points = longer.collect();
        }
        points
    }
}

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.axes.len()))?;
        for axis in &self.axes {
            map.serialize_entry(&axis.key, &axis.values)?;
        }
        map.end()
    }
}

impl JsonSchema for Sweep {
    fn schema_name() -> Cow<'static, str> {
        "Sweep".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": { "type": ["array", "object"], "minItems": 1 },
        })
    }
}
