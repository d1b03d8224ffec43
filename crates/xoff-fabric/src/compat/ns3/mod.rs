//! The simulator of HPCC's authors, on ns-3: its NICs ([`nic`]), its paths ([`ecmp`]) and its random numbers for marking.
//!
//! Everything else that is peculiar to that simulator is a setting of a part of xoff ([`Quirks`]): a clock in whole
//! nanoseconds, events in the order of scheduling, and pacing by the rate when a packet was sent.

pub(crate) mod ecmp;
pub(crate) mod nic;

use xoff_engine::SharedNs3Streams;
use xoff_schemes::MarkingRandom;

use crate::settings::{NicTimer, Order, Quirks, UetOf};

/// The random numbers of all detectors if a run marks with ns-3's (seed 1, run 1): each number comes from a new stream.
/// PAUSE and RESUME frames take numbers too: that simulator draws one for the IP header of each such frame when it makes the
/// frame. A packet's mark is drawn before the number of the RESUME that its departure makes.
pub(crate) fn marking_random(quirks: &Quirks) -> Option<MarkingRandom> {
    let first = quirks.marking_stream?;
    let streams = SharedNs3Streams::new(1, 1, first.into());
    Some(MarkingRandom::shared(move || streams.next_uniform()))
}

impl Quirks {
    /// How often a message's start goes behind all other events of its time before it acts: that simulator creates the
    /// application in one event, starts it in a second, and opens the flow in a third.
    pub(crate) fn start_steps(&self) -> u32 {
        match self.order {
            Order::ByPort => 0,
            Order::Scheduled => 2,
        }
    }

    /// Whether the end of every transmission is an event, as in that simulator, also where nothing waits.
    pub(crate) fn ready_events(&self) -> bool {
        self.order == Order::Scheduled || self.nic == NicTimer::Ns3 || self.uet == UetOf::Htsim
    }
}
