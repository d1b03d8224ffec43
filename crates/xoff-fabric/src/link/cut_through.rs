//! Virtual cut-through: a switch forwards a packet as soon as its header has arrived.
//!
//! With cut-through, a packet's arrival event at a switch is the arrival of its header. A packet that leaves by a faster
//! link than it arrived by is held until its last bit arrives in time for the faster link. If its output is taken, the
//! whole packet waits in the switch. A packet for the switch itself or for a host arrives with its last bit.

use xoff_engine::{Rate, Time};

use super::port::Port;
use crate::network::{Network, lead, uniform};
use crate::packet::{Frame, MAC_CONTROL};

/// Longer than any frame takes, and short enough to be added to any time of a run.
const WHOLE: Time = Time(Time::NEVER.0 / 4);

/// When packets count as arrived at the switches of a run, which cut through or store and forward.
pub(crate) struct CutThrough {
    /// Bytes after which a switch forwards a packet; `None` if switches store and forward.
    header: Option<u64>,
    /// How long after its start on a wire a packet may go on at the other end, at a host and at a switch; [`WHOLE`] if it may with
    /// its last bit.
    leads: [Time; 2],
    /// Links have several rates, at one time or another, and so a packet's lead depends on its next link.
    by_rate: bool,
}

impl CutThrough {
    /// The cut-through of a network's switches.
    pub fn new(net: &Network) -> CutThrough {
        let (topology, settings) = (&net.topology, &net.settings);
        let header = settings.switch.cut_through(&settings.flow_control);
        let changes = net.faults.as_ref().is_some_and(|plan| plan.changes_rates());
        let rate = topology.port_ids().next().map(|port| topology.rate(port));
        let rate = rate.filter(|_| uniform(topology) && !changes);
        let lead = rate.zip(header).map_or(WHOLE, |(rate, header)| rate.serialization(header));
        CutThrough { header, leads: [WHOLE, lead], by_rate: header.is_some() && rate.is_none() }
    }

    /// Whether switches cut through.
    pub fn is_used(&self) -> bool {
        self.header.is_some()
    }

    /// When a frame that starts `now` on a port counts as arrived, if its last bit arrives at `last_bit`. `next` gives the rate at which
    /// it would leave the switch at the other end at a time.
    #[inline(always)] // runs for every packet, with credits
    pub fn arrival(
        &self,
        now: Time,
        port: &Port,
        frame: Frame,
        last_bit: Time,
        next: impl FnOnce(Time) -> Rate,
    ) -> Time {
        debug_assert!(now < WHOLE, "no run takes so long");
        // Links to hosts and to switches come unpredictably, so no branch asks. Frames of flow control end at the neighbour.
        let goes_on = port.to_switch & (frame.class != MAC_CONTROL);
        let mut lead = self.leads[usize::from(goes_on)];
        if self.by_rate && goes_on {
            lead = self.lead_between(now, port, frame.size(), next);
        }
        // A packet no longer than the header arrives with its last bit, which comes no later than a header's.
        last_bit.min(now + port.delay + lead)
    }

    /// How long after its start on a port a packet may go on at the other end, where the next link may have another rate: the one that
    /// it has when the header is there.
    #[inline(never)]
    fn lead_between(&self, now: Time, port: &Port, size: u64, next: impl FnOnce(Time) -> Rate) -> Time {
        let header_time = self.header.map_or(WHOLE, |header| port.rate.serialization(header));
        lead(self.header, size, port.rate, next(now + port.delay + header_time))
    }
}
