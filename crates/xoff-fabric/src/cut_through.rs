//! Virtual cut-through: a switch sends a packet on when its header is there.
//!
//! The event of a packet's arrival at a switch is that of its header then. A packet that is to leave by a faster link
//! than it came is held until its last bit comes no later than it is needed. Where its output is taken it waits in the
//! switch as a whole. What is for the switch itself, and what arrives at a host, counts when its last bit is there.

use xoff_engine::{Rate, Time};

use crate::settings::{Forwarding, Settings};
use crate::topology::{NodeKind, PortId, Topology, peer};

/// The time from the start of `bytes` on a link of rate `on` to the earliest start on the `next` link behind a switch,
/// without propagation: all of it store-and-forward, or its first `header` bytes, or as much more as the next link is
/// faster.
pub fn lead(header: Option<u64>, bytes: u64, on: Rate, next: Rate) -> Time {
    let whole = on.serialization(bytes);
    match header {
        None => whole,
        Some(header) if header >= bytes => whole,
        Some(header) => {
            let rest = next.serialization(bytes);
            on.serialization(header).max(Time(whole.0.saturating_sub(rest.0)))
        }
    }
}

/// Where a run cuts through.
pub(crate) struct CutThrough {
    header: u64,
    /// By port: time of the header on its wire; none where a host is at the other end.
    header_times: Vec<Option<Time>>,
    /// The rate of all ports, where it is the same.
    uniform: bool,
}

impl CutThrough {
    /// For the ports of a network; none where switches store and forward.
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
    #[inline]
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

/// Whether all links have one rate.
pub fn uniform(topology: &Topology) -> bool {
    (1..topology.ports()).all(|port| topology.rate(port) == topology.rate(0))
}

impl crate::settings::Switch {
    /// The bytes of a packet that must be there before it is sent on; none where all of it must.
    pub fn cut_through(&self, flow_control: &crate::settings::FlowControl) -> Option<u64> {
        match self.forwarding(flow_control) {
            Forwarding::StoreAndForward => None,
            Forwarding::CutThrough => Some(self.cut_through_after.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_link_waits_until_the_rest_comes_in_time() {
        let (slow, fast) = (Rate::from_gbps(50), Rate::from_gbps(100));
        // 1000 B: 80 ns at 100 Gbps, 160 ns at 50 Gbps. A header of 64 B: 5.12 ns at 100 Gbps, 10.24 ns at 50 Gbps.
        assert_eq!(lead(None, 1000, fast, fast), Time(80_000));
        assert_eq!(lead(Some(64), 1000, fast, fast), Time(5_120));
        assert_eq!(lead(Some(64), 1000, fast, slow), Time(5_120));
        // From 50 to 100 Gbps: it may start 80 ns before its last bit is there, so 80 ns after it began.
        assert_eq!(lead(Some(64), 1000, slow, fast), Time(80_000));
        // An ACK no longer than the header has nothing to cut.
        assert_eq!(lead(Some(64), 64, slow, fast), Time(10_240));
    }
}
