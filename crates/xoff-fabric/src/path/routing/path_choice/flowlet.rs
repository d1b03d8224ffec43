//! Flowlets: the sender draws a path anew when the connection has paused for long enough that packets on the new path do not
//! overtake those on the old one (Kandula, Katabi, Sinha and Berger, "Dynamic Load Balancing Without Packet Reordering", CCR
//! 2007; at switches and at random: LetFlow, Vanini et al., NSDI 2017).

use xoff_engine::Time;

use super::{ChoosePath, Spray};

/// The sender draws a path for each flowlet.
pub(super) struct Flowlet;

impl ChoosePath for Flowlet {
    const NAME: &'static str = "flowlet";
    const SPRAYS: bool = true;

    fn at_sender(paths: u32, spray: &mut Spray, now: Time) -> u32 {
        spray.of_flowlet(paths, now)
    }
}
