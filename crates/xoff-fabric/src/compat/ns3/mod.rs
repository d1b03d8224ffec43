//! The simulator of HPCC's authors, on ns-3: its NICs ([`nic`]), its paths ([`ecmp`]) and its random numbers for marking.
//!
//! Everything else that is peculiar to that simulator is a setting of a part of xoff: a clock in whole nanoseconds,
//! events in the order of scheduling, pacing by the rate when a packet was sent, and the hash of its ECMP.

pub(crate) mod ecmp;
pub(crate) mod nic;

use xoff_engine::SharedNs3Streams;
use xoff_schemes::MarkingRandom;

use crate::settings::Quirks;

/// The random numbers of all detectors if a run marks with ns-3's (seed 1, run 1): each number comes from a new stream.
/// PAUSE and RESUME frames take numbers too: that simulator draws one for the IP header of each such frame when it makes the
/// frame. A packet's mark is drawn before the number of the RESUME that its departure makes.
pub(crate) fn marking_random(quirks: &Quirks) -> Option<MarkingRandom> {
    let first = quirks.marking_stream?;
    let streams = SharedNs3Streams::new(1, 1, first.into());
    Some(MarkingRandom::shared(move || streams.next_uniform()))
}
