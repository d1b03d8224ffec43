//! The `[sweep]` table: many runs around one scenario, as a grid, a list, or a random sample.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use xoff_engine::random::mix;

use super::range::Range;

/// Maximum number of runs of one sweep.
pub(crate) const MAX_POINTS: usize = 1_000_000;

/// Maximum number of draws for each point of a sample: a draw that repeats a known point is dropped, and a sample of almost
/// the whole grid would need ever more of them.
const MAX_DRAWS: usize = 200;

/// Keys of `[sweep]` that are not keys of the scenario.
pub(super) const OWN_KEYS: &[&str] = &["list", "sample", "sample_seed"];

/// The overrides of a run: keys with dots, and values as TOML.
pub type Point = Vec<(String, String)>;

/// The runs of a sweep: each of `list`, with each combination of the axes' values, or a sample of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The axes in the order of the file. The last axis varies fastest.
    pub axes: Vec<Axis>,
    /// Rows of settings that belong together.
    pub list: Vec<Vec<Setting>>,
    /// Number of combinations of the axes other than `seed` to draw, each of which is run with every seed; `None` for all.
    pub sample: Option<usize>,
    /// Seed of that draw.
    pub sample_seed: Option<u64>,
}

/// A key with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key with dots.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The value as TOML, as `--set` takes it.
    pub text: String,
}

/// A key and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key with dots, such as `scheme.name` or `traffic.0.load`.
    pub key: String,
    /// The values; empty for a range without steps.
    pub values: Vec<Value>,
    /// The values as TOML, as `--set` takes them.
    pub texts: Vec<String>,
    /// The range that was given instead of a list.
    pub range: Option<Range>,
}

impl Axis {
    /// An axis over a range.
    pub(super) fn over(key: String, range: Range) -> Axis {
        let values = range.values().unwrap_or_default();
        let texts = values.iter().map(toml_of).collect();
        Axis { key, values, texts, range: Some(range) }
    }

    /// The value that belongs to a random number, as TOML.
    fn pick(&self, random: u64) -> String {
        match &self.range {
            Some(range) if self.texts.is_empty() => {
                toml_of(&range.at((random >> 11) as f64 / (1u64 << 53) as f64))
            }
            _ => {
                let index = (u128::from(random) * self.texts.len() as u128) >> 64;
                self.texts[index as usize].clone()
            }
        }
    }

    /// The axis's values in the form that they have in a scenario.
    pub(super) fn json(&self) -> Value {
        match &self.range {
            Some(range) => range.json(),
            None => Value::Array(self.values.clone()),
        }
    }
}

/// A plain value as TOML.
fn toml_of(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            toml::Value::Float(number.as_f64().unwrap_or(f64::NAN)).to_string()
        }
        other => other.to_string(),
    }
}

impl Sweep {
    /// Whether there is nothing to sweep.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty() && self.list.is_empty()
    }

    /// The number of runs, or an upper bound if points may coincide; `None` if the number does not fit.
    pub fn len(&self) -> Option<usize> {
        let (count, axes): (usize, Vec<&Axis>) = match self.sample {
            None => (1, self.axes.iter().collect()),
            Some(count) => (count, self.axes.iter().filter(|axis| axis.key == "seed").collect()),
        };
        let combined = axes.iter().try_fold(count, |n, axis| n.checked_mul(axis.values.len()))?;
        combined.checked_mul(self.list.len().max(1))
    }

    /// The overrides of each run.
    pub fn points(&self) -> Vec<Point> {
        let listed =
            self.list.iter().map(|row| row.iter().map(|s| (s.key.clone(), s.text.clone())).collect());
        let listed: Vec<Point> = if self.list.is_empty() { vec![vec![]] } else { listed.collect() };
        let (seeds, others): (Vec<&Axis>, Vec<&Axis>) = self.axes.iter().partition(|a| a.key == "seed");
        match self.sample {
            None => crossed(listed, &self.axes.iter().collect::<Vec<_>>()),
            Some(count) => crossed(together(&listed, &self.drawn(&others, count)), &seeds),
        }
    }

    /// Different combinations of the axes' values, drawn at random. A larger sample begins with the smaller one, and a key's
    /// values do not depend on other keys.
    fn drawn(&self, axes: &[&Axis], count: usize) -> Vec<Point> {
        let seed = mix(self.sample_seed.unwrap_or(1));
        let names: Vec<u64> =
            axes.iter().map(|axis| axis.key.bytes().fold(0, |h, b| mix(h ^ u64::from(b)))).collect();
        let mut points = Vec::new();
        let mut known = std::collections::HashSet::new();
        for draw in 0..count.saturating_mul(MAX_DRAWS) as u64 {
            if points.len() == count {
                break;
            }
            let value = |(axis, name): (&&Axis, &u64)| {
                (axis.key.clone(), axis.pick(mix(seed ^ mix(draw ^ mix(*name)))))
            };
            let point: Point = axes.iter().zip(&names).map(value).collect();
            if known.insert(point.clone()) {
                points.push(point);
            }
        }
        points
    }
}

/// Each of `points` with each of `others`, which vary faster.
fn together(points: &[Point], others: &[Point]) -> Vec<Point> {
    points.iter().flat_map(|a| others.iter().map(move |b| [a.as_slice(), b.as_slice()].concat())).collect()
}

/// Each of `points` with each combination of the axes' values.
fn crossed(points: Vec<Point>, axes: &[&Axis]) -> Vec<Point> {
    axes.iter().fold(points, |points, axis| {
        let values: Vec<Point> =
            axis.texts.iter().map(|text| vec![(axis.key.clone(), text.clone())]).collect();
        together(&points, &values)
    })
}

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        if let Some(count) = self.sample {
            map.serialize_entry("sample", &count)?;
        }
        if let Some(seed) = self.sample_seed {
            map.serialize_entry("sample_seed", &seed)?;
        }
        if !self.list.is_empty() {
            let row = |row: &Vec<Setting>| row.iter().map(|s| (s.key.clone(), s.value.clone())).collect();
            let rows: Vec<serde_json::Map<String, Value>> = self.list.iter().map(row).collect();
            map.serialize_entry("list", &rows)?;
        }
        for axis in &self.axes {
            map.serialize_entry(&axis.key, &axis.json())?;
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
            "properties": {
                "list": {
                    "description": "Settings that belong together, a table of keys and values for each; each is run \
                                    with each combination of the other keys.",
                    "type": "array", "minItems": 1,
                    "items": { "type": "object", "minProperties": 1 },
                },
                "sample": {
                    "description": "Draw so many different combinations at random instead of the whole grid; each is \
                                    run with every `seed`.",
                    "type": "integer", "minimum": 1,
                },
                "sample_seed": {
                    "description": "Seed of that draw.",
                    "type": "integer", "minimum": 0, "default": 1,
                },
            },
            "additionalProperties": { "type": ["array", "object"], "minItems": 1 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn axis(key: &str, values: &[i64]) -> Axis {
        let values: Vec<Value> = values.iter().map(|v| json!(v)).collect();
        Axis { key: key.into(), texts: values.iter().map(toml_of).collect(), values, range: None }
    }

    #[test]
    fn a_larger_sample_begins_with_the_smaller_one() {
        let sweep = |sample| Sweep {
            axes: vec![axis("a", &[1, 2, 3, 4]), axis("b", &[1, 2, 3, 4]), axis("seed", &[7, 8])],
            sample: Some(sample),
            ..Sweep::default()
        };
        let (five, nine) = (sweep(5).points(), sweep(9).points());
        assert_eq!((five.len(), nine.len()), (10, 18));
        assert_eq!(five, nine[..10]);
        // Every point once, each with both seeds.
        let different: std::collections::HashSet<_> = nine.iter().collect();
        assert_eq!(different.len(), 18);
        assert!(nine.chunks(2).all(|pair| pair[0][..2] == pair[1][..2]));
        // The whole grid can be drawn, and a value does not depend on which other keys there are.
        assert_eq!(sweep(16).points().len(), 32);
        let alone = Sweep { axes: vec![axis("a", &[1, 2, 3, 4])], sample: Some(1), ..Sweep::default() };
        assert_eq!(alone.points()[0][0], five[0][0]);
    }

    #[test]
    fn each_of_a_list_is_run_with_each_combination() {
        let setting = |key: &str, n: i64| Setting { key: key.into(), value: json!(n), text: n.to_string() };
        let sweep = Sweep {
            axes: vec![axis("seed", &[1, 2])],
            list: vec![vec![setting("a", 1), setting("b", 2)], vec![setting("a", 3)]],
            ..Sweep::default()
        };
        let text = |p: &Point| p.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
        let points: Vec<String> = sweep.points().iter().map(text).collect();
        assert_eq!(points, ["a=1 b=2 seed=1", "a=1 b=2 seed=2", "a=3 seed=1", "a=3 seed=2"]);
        assert_eq!(sweep.len(), Some(4));
    }
}
