//! Entropy values: a packet carries a number, and each switch hashes the number with the flow and a salt of its own.

use super::ChoosePath;

/// A switch hashes what the packet carries.
pub(super) struct Entropy;

impl ChoosePath for Entropy {
    const NAME: &'static str = "entropy";
    const HASHES: bool = true;
}
