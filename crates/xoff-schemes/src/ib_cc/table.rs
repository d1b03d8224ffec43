//! Congestion control tables: the delay after a packet at each index CCTI.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Rate;

/// Entries of a table from a formula, and maximum entries of a given table: OpenSM sends two blocks of 64.
pub const ENTRIES: usize = 128;
/// The largest multiplier: 14 bits.
pub const LARGEST_MULTIPLIER: u16 = (1 << 14) - 1;
/// The largest shift: 2 bits.
pub const LARGEST_SHIFT: u8 = 3;

/// How the delay grows with the index i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Multiplier 8 * 7 (i/95)^2 rounded, shift 3: index 36 halves the rate, 127 leaves 1/13.5 of it.
    #[default]
    Quadratic,
    /// Multiplier 7 i^2 / (95^2 k) rounded down, shift 0, with the fabric constant k.
    Mellanox,
    /// Multiplier 7 i^2 / (106^2 k) rounded down, shift 3, with the fabric constant k.
    Simula,
    /// A delay of 3300 i^2 / 6889 ns after a packet of 512 ns, in eighths of the packet's time rounded, shift 3.
    Ibsim,
    /// `multipliers` and `shift`.
    List,
}

/// An entry: the delay is the packet's time times multiplier over 2^shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// 14 bits.
    pub multiplier: u16,
    /// 2 bits.
    pub shift: u8,
}

impl Entry {
    /// The rate of a flow that waits for the delay after each packet on a link of `line_rate`.
    pub fn rate(self, line_rate: Rate) -> Rate {
        let unit = 1u128 << self.shift;
        let rate = u128::from(line_rate.0) * unit / (unit + u128::from(self.multiplier));
        Rate(rate as u64)
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub enum Table {
    /// Made by a formula, with [`ENTRIES`] entries.
    Formula {
        /// The formula.
        shape: Shape,
        /// k, for formulas that use it.
        fabric_constant: f64,
    },
    /// A given list.
    List {
        /// The multipliers.
        multipliers: Vec<u16>,
        /// The shift of all.
        shift: u8,
    },
}

impl Table {
    /// The entry at an index; beyond the table's end the last entry.
    pub fn entry(&self, ccti: u16) -> Entry {
        match self {
            Table::Formula { shape, fabric_constant } => {
                formula(*shape, *fabric_constant, u64::from(ccti).min(ENTRIES as u64 - 1))
            }
            Table::List { multipliers, shift } => {
                let multiplier = multipliers.get(usize::from(ccti)).or(multipliers.last());
                Entry { multiplier: multiplier.copied().unwrap_or(0), shift: *shift }
            }
        }
    }
}

/// The entry of a formula at index `i`.
fn formula(shape: Shape, fabric_constant: f64, i: u64) -> Entry {
    let square = i * i;
    let rounded = |over: u64, under: u64| ((2 * over + under) / (2 * under)) as u16;
    let by_constant = |divisor: f64| {
        let multiplier = 7.0 * square as f64 / (divisor * divisor * fabric_constant);
        multiplier.min(f64::from(LARGEST_MULTIPLIER)) as u16
    };
    let (multiplier, shift) = match shape {
        Shape::Quadratic | Shape::List => (rounded(8 * 7 * square, 95 * 95), 3),
        Shape::Mellanox => (by_constant(95.0), 0),
        Shape::Simula => (by_constant(106.0), 3),
        Shape::Ibsim => (rounded(8 * 3_300 * square, 6_889 * 512), 3),
    };
    Entry { multiplier, shift }
}
