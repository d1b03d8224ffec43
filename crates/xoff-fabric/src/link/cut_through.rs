//! Virtual cut-through: a switch forwards a packet as soon as its header has arrived.
//!
//! With cut-through, a packet's arrival event at a switch is the arrival of its header. A packet that leaves by a faster
//! link than it arrived by is held until its last bit arrives in time for the faster link. If its output is taken, the
//! whole packet waits in the switch. A packet for the switch itself or for a host arrives with its last bit.

use std::hint::select_unpredictable;

use xoff_engine::{Rate, Time};

use crate::ids::PortId;
use crate::network::{lead, uniform};
use crate::path::topology::{NodeKind, Topology};
use crate::settings::Settings;

/// The ports of a run whose packets cut through the next switch.
pub(crate) struct CutThrough {
    header: u64,
    /// By port: time of the header on its wire; [`Time::NEVER`] if a host is at the other end.
    header_times: Vec<Time>,
    /// All ports have one rate.
    uniform: bool,
}

impl CutThrough {
    /// The header times of a network's ports; `None` if switches store and forward.
    pub fn new(topology: &Topology, settings: &Settings) -> Option<Box<CutThrough>> {
        let header = settings.switch.cut_through(&settings.flow_control)?;
        let of_port = |port: PortId| {
            let to = topology.node_of(port.peer());
            let switch = topology.nodes[to.index()].kind == NodeKind::Switch;
            if switch { topology.rate(port).serialization(header) } else { Time::NEVER }
        };
        Some(Box::new(CutThrough {
            header,
            header_times: topology.port_ids().map(of_port).collect(),
            uniform: uniform(topology),
        }))
    }

    /// How long before its last bit a packet that starts now on `port` counts as arrived. `whole` is its time on the wire, and
    /// `next` gives the rate at which it leaves the switch at the other end.
    #[inline(always)] // runs for every packet, with credits
    pub fn ahead(&self, port: PortId, size: u64, rate: Rate, whole: Time, next: impl Fn() -> Rate) -> Time {
        let header = select_unpredictable(size > self.header, self.header_times[port.index()], Time::NEVER);
        let lead = if self.uniform || header == Time::NEVER {
            header
        } else {
            lead(Some(self.header), size, rate, next())
        };
        // If a clock cuts times to whole nanoseconds, a whole short packet may take less time than its header.
        whole.saturating_sub(lead)
    }
}
