//! Kinds of events, and the keys that order simultaneous events.
//!
//! A key is a kind and the index of the entity it concerns. Simultaneous events at a node come by kind, then by
//! index: a port that becomes free takes its next packet before new ones arrive, arrivals come by ingress port,
//! and samples come last, so that they see the outcome of all other events.

use std::ops::Range;

/// Maximum index of an entity: what 28 bits of a key can name.
pub(crate) const MAX_INDEX: u32 = (1 << 28) - 1;

/// Kinds of events, in the order in which simultaneous ones come.
pub mod kind {
    /// A switch's port has finished a frame and another waits.
    pub const PORT_READY: u32 = 0;
    /// A packet has arrived at a switch; the index is the ingress port, the argument the packet.
    pub const SWITCH_ARRIVAL: u32 = 1;
    /// A packet has arrived at a host.
    pub const HOST_ARRIVAL: u32 = 2;
    /// A PAUSE takes effect after the response time, or credits come back; the index is the egress queue. Under CBFC, a
    /// place in a buffer becomes free, and the index is the buffer's port.
    pub const LINK_CONTROL_APPLY: u32 = 3;
    /// A pause's time has run out.
    pub const LINK_CONTROL_EXPIRY: u32 = 4;
    /// Half of a pause's time has passed at its sender; or the time between two credit updates has passed, and the index
    /// is the port.
    pub const LINK_CONTROL_PERIOD: u32 = 5;
    /// A flow starts; an index above the numbers of flows is a step that takes its processor or gives it back.
    pub const FLOW_START: u32 = 6;
    /// An endless flow stops sending, or with an argument a recalled flow is delivered or acknowledged; an index above the numbers of
    /// flows is something that breaks or is whole again, or the timer of a PFC watchdog.
    pub const FLOW_STOP: u32 = 7;
    /// An ACK or a CNP is ready after the host's delay for it; the argument is the packet.
    pub const ACK_READY: u32 = 8;
    /// A NIC may be able to send.
    pub const NIC_WAKE: u32 = 9;
    /// A reaction point's timer.
    pub const REACTION_TIMER: u32 = 10;
    /// A notification point's timer.
    pub const NOTIFICATION_TIMER: u32 = 11;
    /// A congestion point's timer; an index above the numbers of queues is a port whose next credit may go.
    pub const CONGESTION_TIMER: u32 = 12;
    /// A sender's retransmission timer (lossy networks).
    pub const RETRANSMIT_TIMER: u32 = 13;
    /// The table that FNCC's ACKs read is refreshed.
    pub const INT_REFRESH: u32 = 14;
    /// Recorded quantities are sampled.
    pub const SAMPLE: u32 = 15;
}

const KIND_SHIFT: u32 = 28;

/// The key of an event.
#[inline]
pub const fn key(kind: u32, index: u32) -> u32 {
    kind << KIND_SHIFT | index
}

/// The keys of arrivals at switches and hosts.
pub(crate) const ARRIVAL_KEYS: Range<u32> = key(kind::SWITCH_ARRIVAL, 0)..key(kind::HOST_ARRIVAL + 1, 0);

/// The kind of a key.
#[inline]
pub const fn kind_of(key: u32) -> u32 {
    key >> KIND_SHIFT
}

/// The index of a key.
#[inline]
pub const fn index_of(key: u32) -> u32 {
    key & MAX_INDEX
}
