//! Virtual cut-through: a switch forwards a packet as soon as its header has arrived.
//!
//! With cut-through, a packet's arrival event at a switch is the arrival of its header. A packet that leaves by a faster
//! link than it arrived by is held until its last bit arrives in time for the faster link. If its output is taken, the
//! whole packet waits in the switch. A packet for the switch itself or for a host arrives with its last bit.

use std::hint::select_unpredictable;

use xoff_engine::{Rate, Time};

use super::port::Port;
use crate::network::{Network, lead, uniform};

/// Longer than any frame takes, and short enough to be added to any time of a run.
const WHOLE: Time = Time(Time::NEVER.0 / 4);

/// Cut-through at the switches of a run.
pub(crate) struct CutThrough {
    header: u64,
    /// Time of the header on any wire; `None` if links have several rates, at one time or another.
    header_time: Option<Time>,
}

impl CutThrough {
    /// The cut-through of a network's switches; `None` if they store and forward.
    pub fn new(net: &Network) -> Option<CutThrough> {
        let (topology, settings) = (&net.topology, &net.settings);
        let header = settings.switch.cut_through(&settings.flow_control)?;
        let changes = net.faults.as_ref().is_some_and(|plan| plan.changes_rates());
        let rate = topology.port_ids().next().map(|port| topology.rate(port));
        let rate = rate.filter(|_| uniform(topology) && !changes);
        Some(CutThrough { header, header_time: rate.map(|rate| rate.serialization(header)) })
    }

    /// When a packet of `size` bytes that starts `now` on a port counts as arrived, if its last bit arrives at `last_bit`. `next`
    /// gives the rate at which it would leave the switch at the other end at a time.
    #[inline(always)] // runs for every packet, with credits
    pub fn arrival(
        &self,
        now: Time,
        port: &Port,
        size: u64,
        last_bit: Time,
        next: impl FnOnce(Time) -> Rate,
    ) -> Time {
        debug_assert!(now < WHOLE, "no run takes so long");
        let lead = match self.header_time {
            // Links to hosts and to switches come unpredictably.
            Some(header) => select_unpredictable(port.to_switch, header, WHOLE),
            None => self.lead_between(now, port, size, next),
        };
        // A packet no longer than the header arrives with its last bit, which comes no later than a header's.
        last_bit.min(now + port.delay + lead)
    }

    /// How long after its start on a port a packet may go on at the other end, where the next link may have another rate: the one that
    /// it has when the header is there.
    #[inline(never)]
    fn lead_between(&self, now: Time, port: &Port, size: u64, next: impl FnOnce(Time) -> Rate) -> Time {
        if !port.to_switch {
            return WHOLE;
        }
        let there = now + port.delay + port.rate.serialization(self.header);
        lead(Some(self.header), size, port.rate, next(there))
    }
}
