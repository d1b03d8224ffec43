//! Virtual cut-through: a switch sends a packet on when its header is there.
//!
//! The event of a packet's arrival at a switch is that of its header then. A packet that is to leave by a faster link
//! than it came is held until its last bit comes no later than it is needed. Where its output is taken it waits in the
//! switch as a whole. What is for the switch itself, and what arrives at a host, counts when its last bit is there.

use xoff_engine::{Rate, Time};

use crate::ids::{PortId, peer};
use crate::network::{lead, uniform};
use crate::path::topology::{NodeKind, Topology};
use crate::settings::Settings;

/// Where a run cuts through.
pub(crate) struct CutThrough {
    header: u64,
    /// By port: time of the header on its wire; `None` if a host is at the other end.
    header_times: Vec<Option<Time>>,
    /// All ports have one rate.
    uniform: bool,
}

impl CutThrough {
    /// For the ports of a network; `None` if switches store and forward.
    pub fn new(topology: &Topology, settings: &Settings) -> Option<Box<CutThrough>> {
        let header = settings.switch.cut_through(&settings.flow_control)?;
        let of_port = |port: PortId| {
            let to = topology.node_of(peer(port));
            let switch = topology.nodes[to as usize].kind == NodeKind::Switch;
            switch.then(|| topology.rate(port).serialization(header))
        };
        Some(Box::new(CutThrough {
            header,
            header_times: (0..topology.ports()).map(of_port).collect(),
            uniform: uniform(topology),
        }))
    }

    /// How long before its last bit a packet that starts now on `port` counts as arrived; `next` gives the port and rate
    /// by which it leaves the switch at the other end.
    #[inline(always)] // on the way of every packet, with credits
    pub fn ahead(&self, port: PortId, size: u64, rate: Rate, whole: Time, next: impl Fn() -> Rate) -> Time {
        let Some(header) = self.header_times[port as usize] else { return Time::ZERO };
        if size <= self.header {
            return Time::ZERO;
        }
        let lead = if self.uniform { header } else { lead(Some(self.header), size, rate, next()) };
        // Where a clock cuts times to whole nanoseconds, all of a short packet may take less than its header.
        whole.saturating_sub(lead)
    }
}
