//! A range of values of one key, as in a sweep or a tuning: `{ from = "20KB", to = "400KB", log = true }`.

use serde::Deserialize;
use serde_json::{Value, json};
use xoff_engine::{Bytes, Rate, Time};

/// Maximum number of values of one range.
const MAX_STEPS: u32 = 10_000;

/// The unit of a range's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Times, in ps.
    Time,
    /// Rates, in bit/s.
    Rate,
    /// Sizes, in bytes.
    Bytes,
}

impl Unit {
    /// The value in the form that it has in a scenario.
    fn json(self, value: f64) -> Value {
        match self {
            Unit::Whole => json!(value as i64),
            Unit::Number => json!(value),
            Unit::Time => json!(Time(value as u64)),
            Unit::Rate => json!(Rate(value as u64)),
            Unit::Bytes => json!(Bytes(value as u64)),
        }
    }

    /// The suffix of a value in this unit, for a program that writes it.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Whole | Unit::Number => "",
            Unit::Time => "ps",
            Unit::Rate => "bps",
            Unit::Bytes => "B",
        }
    }
}

/// Values from one to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The unit of the ends.
    pub unit: Unit,
    /// The minimum.
    pub from: f64,
    /// The maximum.
    pub to: f64,
    /// Values are spread, or drawn, evenly over the logarithm of the range instead of the range itself.
    pub log: bool,
    /// How many values it stands for, ends included; `None` for all values.
    pub steps: Option<u32>,
}

/// The table that is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    from: Value,
    to: Value,
    #[serde(default)]
    log: bool,
    steps: Option<u32>,
}

/// The fault of a range, and what was expected.
pub(super) type Refusal = (String, &'static str);

impl Range {
    /// Reads a range's table; an error names the fault of the range of `key`.
    pub(super) fn read(key: &str, form: &Form) -> Result<Range, Refusal> {
        let (unit, from, to) = ends(&form.from, &form.to).ok_or_else(|| {
            let found = format!("`{key}` cannot go from {} to {}", form.from, form.to);
            (
                found,
                "expected two numbers, times, rates or sizes, such as { from = \"20KB\", to = \"400KB\" }",
            )
        })?;
        if from >= to {
            let found = format!("`{key}` goes from {} to {}", form.from, form.to);
            return Err((found, "expected `from` below `to`"));
        }
        if form.log && from <= 0.0 {
            let found = format!("`{key}` goes from {} with `log`", form.from);
            return Err((found, "expected `from` above zero"));
        }
        if form.steps.is_some_and(|steps| !(2..=MAX_STEPS).contains(&steps)) {
            let found = format!("`{key}` has {} steps", form.steps.unwrap_or(0));
            return Err((found, "expected 2 to 10000, both ends included"));
        }
        Ok(Range { unit, from, to, log: form.log, steps: form.steps })
    }

    /// The value at a share of the range, 0 to 1, rounded to a value of the unit.
    pub fn at(&self, share: f64) -> Value {
        let value = if share <= 0.0 {
            self.from
        } else if share >= 1.0 {
            self.to
        } else if self.log {
            (self.from.ln() + share * (self.to.ln() - self.from.ln())).exp().clamp(self.from, self.to)
        } else {
            self.from + share * (self.to - self.from)
        };
        self.unit.json(if self.unit == Unit::Number { value } else { value.round() })
    }

    /// The values that its steps stand for, each once; `None` if it stands for all values.
    pub fn values(&self) -> Option<Vec<Value>> {
        let last = f64::from(self.steps?.saturating_sub(1).max(1));
        let mut values: Vec<Value> = (0..=last as u32).map(|i| self.at(f64::from(i) / last)).collect();
        values.dedup();
        Some(values)
    }

    /// The range in the form that it has in a scenario.
    pub fn json(&self) -> Value {
        let mut table = json!({ "from": self.unit.json(self.from), "to": self.unit.json(self.to) });
        if self.log {
            table["log"] = true.into();
        }
        if let Some(steps) = self.steps {
            table["steps"] = steps.into();
        }
        table
    }
}

/// The unit that both ends have, and the ends in it.
fn ends(from: &Value, to: &Value) -> Option<(Unit, f64, f64)> {
    if let (Some(from), Some(to)) = (from.as_i64(), to.as_i64()) {
        return Some((Unit::Whole, from as f64, to as f64));
    }
    if let (Some(from), Some(to)) = (from.as_f64(), to.as_f64()) {
        return Some((Unit::Number, from, to));
    }
    let (from, to) = (from.as_str()?, to.as_str()?);
    let time = |text: &str| text.parse::<Time>().ok().map(|t| t.0 as f64);
    let rate = |text: &str| text.parse::<Rate>().ok().map(|r| r.0 as f64);
    let size = |text: &str| text.parse::<Bytes>().ok().map(|b| b.0 as f64);
    let both = |unit, from: Option<f64>, to: Option<f64>| Some((unit, from?, to?));
    both(Unit::Time, time(from), time(to))
        .or_else(|| both(Unit::Rate, rate(from), rate(to)))
        .or_else(|| both(Unit::Bytes, size(from), size(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(form: Value) -> Result<Range, Refusal> {
        Range::read("k", &serde_json::from_value(form).expect("a table"))
    }

    #[test]
    fn steps_are_equal_differences_or_equal_ratios() {
        let sizes = range(json!({ "from": "20KB", "to": "80KB", "steps": 3 })).unwrap();
        assert_eq!(sizes.values().unwrap(), ["20KB", "50KB", "80KB"]);
        let ratios = range(json!({ "from": "20KB", "to": "80KB", "steps": 3, "log": true })).unwrap();
        assert_eq!(ratios.values().unwrap(), ["20KB", "40KB", "80KB"]);
        let numbers = range(json!({ "from": 0.0, "to": 1.0, "steps": 5 })).unwrap();
        assert_eq!(numbers.values().unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        // 1, 1.5 and 2 round to two whole numbers.
        let whole = range(json!({ "from": 1, "to": 2, "steps": 3 })).unwrap();
        assert_eq!(whole.values().unwrap(), [1, 2]);
        assert_eq!(range(json!({ "from": "1us", "to": "2us" })).unwrap().values(), None);
        assert_eq!(range(json!({ "from": "1Gbps", "to": "2Gbps" })).unwrap().at(0.5), "1.5Gbps");
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for (form, part) in [
            (json!({ "from": "1us", "to": "1KB" }), "cannot go from"),
            (json!({ "from": 1, "to": "1KB" }), "cannot go from"),
            (json!({ "from": 2, "to": 2 }), "goes from 2 to 2"),
            (json!({ "from": 0.0, "to": 1.0, "log": true }), "with `log`"),
            (json!({ "from": 0.0, "to": 1.0, "steps": 1 }), "has 1 steps"),
        ] {
            let (message, _) = range(form).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
