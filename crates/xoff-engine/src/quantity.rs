//! Quantities as people write them: `"1.5us"`, `"100Gbps"`, `"320KB"`.
//!
//! A quantity is a decimal number and a unit, in a string. Parsing is exact: a value that is not a whole number of
//! picoseconds, bits per second or bytes is refused, never rounded. Display prints the largest unit that needs no
//! more than three decimals, so that a parsed quantity can be printed and parsed again.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::spelling::Nearest;
use crate::units::{Bytes, Rate, Time};

/// Why a string is no quantity. The first field is the string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// A number without the unit that it needs; what is expected.
    MissingUnit(String, String),
    /// A unit that this kind of quantity does not have; the unit, and what is expected.
    UnknownUnit(String, String, String),
    /// The part before the unit is no decimal number; what is expected.
    NotANumber(String, String),
    /// A number below zero; what is expected.
    Negative(String, String),
    /// Not a whole number of the smallest unit; that unit.
    Fraction(String, &'static str),
    /// More than 64 bits of the smallest unit; the maximum.
    TooLarge(String, String),
}

impl QuantityError {
    /// What is wrong.
    pub fn found(&self) -> String {
        match self {
            QuantityError::MissingUnit(text, _) => format!("`{text}` lacks a unit"),
            QuantityError::UnknownUnit(text, unit, _) => format!("`{text}` has the unknown unit `{unit}`"),
            QuantityError::NotANumber(text, _) => format!("`{text}` is not a number with a unit"),
            QuantityError::Negative(text, _) => format!("`{text}` is negative"),
            QuantityError::Fraction(text, unit) => format!("`{text}` is not a whole number of {unit}"),
            QuantityError::TooLarge(text, _) => format!("`{text}` is too large"),
        }
    }

    /// What would be right.
    pub fn expected(&self) -> String {
        match self {
            QuantityError::MissingUnit(_, expected)
            | QuantityError::UnknownUnit(_, _, expected)
            | QuantityError::NotANumber(_, expected)
            | QuantityError::Negative(_, expected) => expected.clone(),
            QuantityError::Fraction(_, unit) => format!("a whole number of {unit}"),
            QuantityError::TooLarge(_, max) => format!("at most {max}"),
        }
    }

    /// The error for serde: both parts stay apart.
    fn to_serde<E: de::Error>(&self) -> E {
        E::invalid_value(de::Unexpected::Other(&self.found()), &self.expected().as_str())
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.found(), self.expected())
    }
}

impl std::error::Error for QuantityError {}

/// A kind of quantity: its units, and the example that messages give.
struct Kind {
    /// Each unit with its size in the smallest unit, largest first. Display tries them in this order.
    units: &'static [(&'static str, u64)],
    /// Units that are accepted but never printed.
    more: &'static [(&'static str, u64)],
    /// The plural of the smallest unit, for messages.
    smallest: &'static str,
    example: &'static str,
}

const TIME: Kind = Kind {
    units: &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)],
    more: &[],
    smallest: "picoseconds",
    example: "a time such as \"1.5us\" (units: s, ms, us, ns, ps)",
};
const RATE: Kind = Kind {
    units: &[
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("Kbps", 1_000),
        ("bps", 1),
    ],
    more: &[],
    smallest: "bits a second",
    example: "a rate such as \"100Gbps\" (units: Tbps, Gbps, Mbps, Kbps, bps)",
};
const BYTES: Kind = Kind {
    units: &[("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)],
    more: &[("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)],
    smallest: "bytes",
    example: "a size such as \"320KB\" (units: TB, GB, MB, KB, B, and TiB, GiB, MiB, KiB)",
};

/// The maximum of any quantity: the next number stands for no limit, as [`Time::NEVER`] and [`Rate::UNLIMITED`] do.
const MAX: u64 = u64::MAX - 1;

impl Kind {
    fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let owned = || text.to_string();
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| c.is_alphabetic()).unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].trim(), &trimmed[split..]);
        if number.starts_with('-') {
            return Err(QuantityError::Negative(owned(), self.example.into()));
        }
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        if !whole.starts_with(|c: char| c.is_ascii_digit()) || !digits(whole) || !digits(fraction) {
            return Err(QuantityError::NotANumber(owned(), self.example.into()));
        }
        if unit.is_empty() {
            return Err(QuantityError::MissingUnit(owned(), self.example.into()));
        }
        let Some(&(_, scale)) = self.units.iter().chain(self.more).find(|(name, _)| *name == unit) else {
            let expected = format!("{}{}", self.example, self.nearest_unit(unit));
            return Err(QuantityError::UnknownUnit(owned(), unit.into(), expected));
        };
        let too_large = || QuantityError::TooLarge(owned(), self.show(MAX));
        let mut value: u128 = 0;
        for b in whole.bytes().filter(|b| *b != b'_') {
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(u128::from(b - b'0')))
                .ok_or_else(too_large)?;
        }
        value = value.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        let decimals = fraction.replace('_', "");
        let decimals = decimals.trim_end_matches('0');
        if !decimals.is_empty() {
            // A value with more decimals than the finest scale has digits is not whole.
            let inexact = || QuantityError::Fraction(owned(), self.smallest);
            let ten_to = 10u128.checked_pow(decimals.len() as u32).ok_or_else(inexact)?;
            let part = decimals.parse::<u128>().ok().and_then(|n| n.checked_mul(u128::from(scale)));
            let part = part.filter(|p| p % ten_to == 0).ok_or_else(inexact)?;
            value += part / ten_to;
        }
        u64::try_from(value).ok().filter(|value| *value <= MAX).ok_or_else(too_large)
    }

    /// The unit that was probably meant by an unknown one. There is no suggestion for a unit of another kind of quantity,
    /// because that is no spelling mistake.
    fn nearest_unit(&self, unit: &str) -> Nearest {
        if [TIME, RATE, BYTES].iter().any(|kind| kind.units.iter().any(|(name, _)| *name == unit)) {
            return Nearest::default();
        }
        Nearest::of(unit, self.units.iter().chain(self.more).map(|(name, _)| *name))
    }

    fn show(&self, value: u64) -> String {
        let (name, scale) = self
            .units
            .iter()
            .find(|(_, scale)| value >= *scale && (value % scale).is_multiple_of((scale / 1000).max(1)))
            .or(self.units.last())
            .copied()
            .unwrap_or((self.smallest, 1));
        let (whole, rest) = (value / scale, value % scale);
        if rest == 0 {
            return format!("{whole}{name}");
        }
        let thousandths = rest / (scale / 1000);
        let decimals = format!("{thousandths:03}");
        format!("{whole}.{}{name}", decimals.trim_end_matches('0'))
    }
}

/// Implements the text, serde and JSON schema forms of one quantity.
macro_rules! quantity {
    ($type:ident, $kind:ident, $pattern:literal) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                $kind.parse(text).map($type)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&$kind.show(self.0))
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($kind.example)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(|error: QuantityError| error.to_serde())
                    }
                    fn visit_i64<E: de::Error>(self, n: i64) -> Result<$type, E> {
                        Err(QuantityError::MissingUnit(n.to_string(), $kind.example.into()).to_serde())
                    }
                    fn visit_u64<E: de::Error>(self, n: u64) -> Result<$type, E> {
                        Err(QuantityError::MissingUnit(n.to_string(), $kind.example.into()).to_serde())
                    }
                    fn visit_f64<E: de::Error>(self, n: f64) -> Result<$type, E> {
                        Err(QuantityError::MissingUnit(n.to_string(), $kind.example.into()).to_serde())
                    }
                }
                d.deserialize_any(Visitor)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "format": stringify!($type) })
            }
        }
    };
}
quantity!(Time, TIME, r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(s|ms|us|ns|ps)$");
quantity!(Rate, RATE, r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*([TGMK]?bps)$");
quantity!(Bytes, BYTES, r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*([TGMK]i?B|B)$");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_exact() {
        assert_eq!("1.5us".parse(), Ok(Time(1_500_000)));
        assert_eq!("0.001ns".parse(), Ok(Time(1)));
        assert_eq!("100Gbps".parse(), Ok(Rate(100_000_000_000)));
        assert_eq!("1.6 Tbps".parse(), Ok(Rate(1_600_000_000_000)));
        assert_eq!("320KB".parse(), Ok(Bytes(320_000)));
        assert_eq!("320KiB".parse(), Ok(Bytes(327_680)));
        assert_eq!("1.5KiB".parse(), Ok(Bytes(1_536)));
        assert_eq!("1TB".parse(), Ok(Bytes(1_000_000_000_000)));
        assert_eq!("1TiB".parse(), Ok(Bytes(1_099_511_627_776)));
        assert_eq!(Bytes(1_000_000_000_000).to_string(), "1TB");
    }

    #[test]
    fn errors_say_why() {
        let time = |s: &str| s.parse::<Time>().unwrap_err();
        assert!(matches!(time("5"), QuantityError::MissingUnit(..)));
        assert!(matches!(time("5uS"), QuantityError::UnknownUnit(..)));
        assert!(matches!(time("-5us"), QuantityError::Negative(..)));
        assert!(matches!(time("0.5ps"), QuantityError::Fraction(..)));
        assert!(matches!(time("us"), QuantityError::NotANumber(..)));
        assert!(matches!(time("NaN"), QuantityError::NotANumber(..)));
        assert!(matches!(time("1e3us"), QuantityError::NotANumber(..) | QuantityError::UnknownUnit(..)));
        assert!(matches!(time("99999999999999s"), QuantityError::TooLarge(..)));
        assert!(matches!(time(&"9".repeat(60)), QuantityError::MissingUnit(..)));
        assert!(matches!(time(&format!("{}s", "9".repeat(60))), QuantityError::TooLarge(..)));
        // 2^64 - 1 ps stand for never: the time before is the last one.
        assert!(matches!(time("18446744073709551615ps"), QuantityError::TooLarge(..)));
        assert_eq!("18446744073709551614ps".parse(), Ok(Time(u64::MAX - 1)));
    }

    proptest! {
        #[test]
        fn displayed_text_parses_back(n in 0..u64::MAX) {
            prop_assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            prop_assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
        }
        #[test]
        fn no_text_panics(s in ".*") {
            let _ = s.parse::<Time>();
        }
    }
}
