//! The simulator of HPCC's authors, on ns-3: its NICs ([`nic`]) and its random numbers for marking.
//!
//! The rest of it is settings of parts that are xoff's own too: a clock in whole nanoseconds, events in the order of
//! scheduling, pacing by the rate when a packet was sent, and the hash of its ECMP.

pub(crate) mod nic;

use xoff_engine::SharedNs3Streams;
use xoff_schemes::MarkingRandom;

use crate::settings::Quirks;

/// What all detectors draw from, if a run marks with ns-3's random numbers (seed 1, run 1): a new stream for each number.
/// PAUSE and RESUME frames draw from it too, as that simulator draws a number for the IP header of each of them when the
/// frame is made. A packet's mark is drawn before the number of the RESUME that its departure makes.
pub(crate) fn marking_random(quirks: &Quirks) -> Option<MarkingRandom> {
    let first = quirks.marking_stream?;
    let streams = SharedNs3Streams::new(1, 1, first.into());
    Some(MarkingRandom::shared(move || streams.next_uniform()))
}
