//! Why a run cannot go on.

use xoff_engine::Time;
use xoff_schemes::SchemeFailure;

/// What has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The headroom of the ingress port and priority.
    Headroom {
        /// Bytes of headroom.
        size: u64,
        /// Bytes of headroom that would be in use with the packet.
        needed: u64,
    },
    /// The switch's memory, before the headroom.
    Memory {
        /// Bytes of memory.
        size: u64,
    },
}

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Full::Headroom { size, needed } => {
                write!(f, "it would have taken {needed} B of headroom, and {size} B are there")
            }
            Full::Memory { size } => write!(f, "the switch's memory of {size} B (`switch.buffer`) is full"),
        }
    }
}

/// What the message adds about a loss if pauses end by themselves.
fn ended_pauses(unrefreshed: bool) -> &'static str {
    if unrefreshed {
        "; with `flow_control.refresh = false` a pause ends although the threshold is still exceeded, and what comes \
         until the next one works takes more of it"
    } else {
        ""
    }
}

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A packet found no room in a lossless network.
    #[error(
        "packet dropped in a lossless network: at {at} a packet of {size} B that entered {node} by port {port} \
         (priority {priority}) found no room: {occupancy} B of this port and priority are in the switch, {used} B \
         in all; {full}{}",
        ended_pauses(*unrefreshed)
    )]
    Drop {
        /// Time of the loss.
        at: Time,
        /// The switch.
        node: String,
        /// The ingress port.
        port: String,
        /// The packet's priority.
        priority: u8,
        /// The packet's bytes.
        size: u64,
        /// Bytes of this ingress port and priority in the switch.
        occupancy: u64,
        /// Bytes of all ports in the switch.
        used: u64,
        /// What is full.
        full: Full,
        /// Pauses end although the threshold is still exceeded, which is the likely cause.
        unrefreshed: bool,
    },
    /// The system cannot start a thread.
    #[error("no thread could be started: {reason}; give fewer threads")]
    NoThread {
        /// The system's error.
        reason: String,
    },
    /// An event came after later ones.
    #[error(
        "an event at {at} came after others up to {past}, so that results would be wrong; this is a defect of xoff, not of \
         the scenario: please report it with the scenario"
    )]
    OutOfOrder {
        /// The event's time.
        at: Time,
        /// The time up to which events had been handled.
        past: Time,
    },
    /// The scheme failed.
    #[error(transparent)]
    Scheme(#[from] SchemeFailure),
}
