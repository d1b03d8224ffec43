//! Virtual cut-through: a switch forwards a packet as soon as its header has arrived.
//!
//! With cut-through, a packet's arrival event at a switch is the arrival of its header. A packet that leaves by a faster
//! link than it arrived by is held until its last bit arrives in time for the faster link. If its output is taken, the
//! whole packet waits in the switch. A packet for the switch itself or for a host arrives with its last bit.

use xoff_engine::{Rate, Time};

use super::port::Port;
use crate::ids::PortId;
use crate::network::{Network, lead, uniform};
use crate::path::topology::NodeKind;

/// Longer than any frame takes, and short enough to be added to any time of a run.
const WHOLE: Time = Time(Time::NEVER.0 / 4);

/// The ports of a run whose packets cut through the next switch.
pub(crate) struct CutThrough {
    header: u64,
    /// By port: time of the header on its wire; [`WHOLE`] if a host is at the other end.
    header_times: Vec<Time>,
    /// All ports have one rate, during the whole run.
    uniform: bool,
}

impl CutThrough {
    /// The header times of a network's ports; `None` if switches store and forward.
    pub fn new(net: &Network) -> Option<Box<CutThrough>> {
        let (topology, settings) = (&net.topology, &net.settings);
        let header = settings.switch.cut_through(&settings.flow_control)?;
        let of_port = |port: PortId| {
            let to = topology.node_of(port.peer());
            let switch = topology.nodes[to.index()].kind == NodeKind::Switch;
            if switch { topology.rate(port).serialization(header) } else { WHOLE }
        };
        Some(Box::new(CutThrough {
            header,
            header_times: topology.port_ids().map(of_port).collect(),
            uniform: uniform(topology) && net.faults.as_ref().is_none_or(|plan| !plan.changes_rates()),
        }))
    }

    /// When a packet of `size` bytes that starts `now` on a port counts as arrived, if its last bit arrives at `last_bit`. `next`
    /// gives the rate at which it leaves the switch at the other end.
    #[inline(always)] // runs for every packet, with credits
    pub fn arrival(
        &self,
        now: Time,
        (id, port): (PortId, &Port),
        size: u64,
        last_bit: Time,
        next: impl FnOnce() -> Rate,
    ) -> Time {
        let lead = if self.uniform {
            self.header_times[id.index()]
        } else {
            self.lead_between(id, port.rate, size, next)
        };
        // A packet no longer than the header arrives with its last bit, which comes no later than a header's.
        last_bit.min(now + port.delay + lead)
    }

    /// How long after its start on a port of a rate a packet may go on at the other end, where the next link may have another rate.
    #[inline(never)]
    fn lead_between(&self, id: PortId, rate: Rate, size: u64, next: impl FnOnce() -> Rate) -> Time {
        match self.header_times[id.index()] {
            WHOLE => WHOLE,
            _ => lead(Some(self.header), size, rate, next()),
        }
    }
}
