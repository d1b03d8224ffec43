//! The addresses that ports, nodes and flows have in a capture.

use xoff_fabric::Network;
use xoff_fabric::ids::FlowId;
use xoff_fabric::topology::{NodeId, PortId};

/// UDP's destination port of RoCEv2 (IBTA, Annex A17).
pub const ROCE_PORT: u16 = 4791;
/// Queue pair of flow 0. The queue pairs below it are for management (0 and 1) or not used.
const FIRST_QP: u32 = 0x01_0000;

/// A port's MAC address: locally administered, with the port's number.
pub fn mac(port: PortId) -> [u8; 6] {
    let [a, b, c, d] = port.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

/// IPv4 addresses of all nodes: hosts count from 10.0.0.1, switches from 10.128.0.1.
pub struct Addresses(Vec<[u8; 4]>);

impl Addresses {
    pub fn new(net: &Network) -> Self {
        let (mut hosts, mut switches) = (0u32, 0u32);
        let address = |node| {
            let (first, count) = if net.is_host(node) {
                (u32::from_be_bytes([10, 0, 0, 0]), &mut hosts)
            } else {
                (u32::from_be_bytes([10, 128, 0, 0]), &mut switches)
            };
            *count += 1;
            (first + *count).to_be_bytes()
        };
        Addresses(NodeId::all(net.topology.nodes.len()).map(address).collect())
    }

    pub fn of(&self, node: NodeId) -> [u8; 4] {
        self.0[node.index()]
    }
}

/// The number of a flow's queue pair, the same at both its ends.
pub fn queue_pair(flow: FlowId) -> u32 {
    FIRST_QP + flow.0 % ((1 << 24) - FIRST_QP)
}

/// UDP's source port of a flow's packets in both directions: in the range 0xC000 to 0xFFFF that Annex A17 reserves for it,
/// and different from flow to flow, since routers choose among equal paths by it.
pub fn udp_source(flow: FlowId) -> u16 {
    0xC000 | (flow.0.wrapping_mul(0x9E37_79B9) >> 18) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_pairs_fit_into_24_bits_and_stay_off_those_of_management() {
        assert_eq!(queue_pair(FlowId(5)), 0x01_0005);
        assert_eq!(queue_pair(FlowId(0xFE_FFFF)), 0xFF_FFFF);
        assert_eq!(queue_pair(FlowId(0xFF_0000)), 0x01_0000);
    }

    #[test]
    fn source_ports_lie_in_the_range_for_them() {
        assert!(FlowId::all(100_000).all(|flow| udp_source(flow) >= 0xC000));
    }
}
