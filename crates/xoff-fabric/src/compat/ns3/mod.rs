//! The simulator of HPCC's authors, on ns-3: its NICs ([`nic`]), its paths ([`ecmp`]) and its random numbers for marking.
//!
//! The rest of it is settings of parts that are xoff's own too: a clock in whole nanoseconds, events in the order of
//! scheduling, and pacing by the rate when a packet was sent.

pub(crate) mod ecmp;
pub(crate) mod nic;

use xoff_engine::SharedNs3Streams;
use xoff_schemes::MarkingRandom;

use crate::settings::Quirks;

/// What all detectors draw from, if a run marks with ns-3's random numbers (seed 1, run 1): a new stream for each number.
pub(crate) fn marking_random(quirks: &Quirks) -> Option<MarkingRandom> {
    let first = quirks.marking_stream?;
    let streams = SharedNs3Streams::new(1, 1, first.into());
    Some(MarkingRandom::shared(move || streams.next_uniform()))
}
