//! Packet spraying: each packet takes one of all equal-cost paths, at random.

use xoff_engine::Stream;

use super::{ChoosePath, below};

/// The sender draws a path for each packet.
pub(super) struct PerPacket;

impl ChoosePath for PerPacket {
    const SPRAYS: bool = true;

    fn at_sender(paths: u32, random: &mut Stream) -> u32 {
        below(paths.into(), random) as u32
    }
}
