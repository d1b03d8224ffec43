//! The ends of paths: NICs and their switches.

use crate::path::topology::{MAX_NICS, MAX_NODES, NodeId};

/// A NIC of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostNic {
    /// The host.
    pub host: NodeId,
    /// The NIC's number at the host, from 0, in the order of the topology's links.
    pub nic: u32,
}

/// Where the NIC's number begins in an address, above the numbers of all nodes.
const NIC_SHIFT: u32 = 24;
const _: () = assert!(MAX_NODES < 1 << NIC_SHIFT && MAX_NICS <= 1 << (u32::BITS - NIC_SHIFT));

impl HostNic {
    /// The NIC's network address in hashes: the host's number if the NIC is the first one.
    pub(super) fn address(self) -> u32 {
        self.host.0 | self.nic << NIC_SHIFT
    }
}

/// One end of a path: a host's NIC and its switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(super) nic: HostNic,
    /// The switch's index in [`SwitchGraph`].
    pub switch: u32,
}

impl End {
    pub fn host(self) -> NodeId {
        self.nic.host
    }
    pub(super) fn address(self) -> u32 {
        self.nic.address()
    }
}
