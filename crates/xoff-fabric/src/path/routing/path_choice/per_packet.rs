//! Packet spraying: the sender sends a packet on each of the equal-cost paths in random order.

use xoff_engine::Time;

use super::{ChoosePath, Spray};

/// The sender draws the order of the paths.
pub(super) struct PerPacket;

impl ChoosePath for PerPacket {
    const NAME: &'static str = "per_packet";
    const SPRAYS: bool = true;

    fn at_sender(paths: u32, spray: &mut Spray, _now: Time) -> u32 {
        spray.next(paths)
    }
}
