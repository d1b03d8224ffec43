//! The seam of everything that listens to a run.
//!
//! A probe's [`Hooks`] say what it listens to; a hook without a listener costs one test of a bit. Probes have no effect on
//! a run. A probe of your own is a type that implements [`Probe`], added to a run by [`crate::Simulation::add_probe`]; its
//! rows come back in [`Records::own`].

use xoff_engine::Time;

use super::records::Records;
use crate::ids::{FlowId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{Packet, PacketId, Packets};

/// What a probe listens to: a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks(u8);

impl Hooks {
    /// Nothing.
    pub const NONE: Hooks = Hooks(0);
    /// [`Probe::on_enqueue`] and [`Probe::on_dequeue`].
    pub const QUEUES: Hooks = Hooks(1);
    /// [`Probe::on_stop`] and [`Probe::on_resume`].
    pub const STOPS: Hooks = Hooks(2);
    /// [`Probe::on_depart`].
    pub const WIRE: Hooks = Hooks(4);

    /// Whether this set has all of `hooks`.
    #[inline]
    pub const fn has(self, hooks: Hooks) -> bool {
        self.0 & hooks.0 == hooks.0
    }
}

impl std::ops::BitOr for Hooks {
    type Output = Hooks;
    fn bitor(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }
}

/// A packet that begins on a wire.
#[derive(Clone, Copy)]
pub struct Departure<'a> {
    /// When its transmission begins.
    pub now: Time,
    /// The port by which the packet leaves.
    pub port: PortId,
    /// The packet.
    pub packet: &'a Packet,
    /// When the packet counts as arrived at the other end.
    pub arrival: Time,
    /// The network.
    pub net: &'a Network,
    /// The packet's place among all packets, with its telemetry.
    pub(crate) id: PacketId,
    pub(crate) packets: &'a Packets,
}

/// An egress queue that may send again.
#[derive(Clone, Copy, Debug)]
pub struct Resumed<'a> {
    /// Now.
    pub now: Time,
    /// The queue.
    pub queue: QueueId,
    /// Since when the queue was stopped.
    pub since: Time,
    /// Bytes in the queue.
    pub bytes: u64,
    /// Messages whose data waits in the queue or, at a host, for the queue; a message may appear more than once.
    pub waiting: &'a [FlowId],
}

/// Something that listens to what happens in a partition of the network.
pub trait Probe: Send {
    /// What the probe listens to; asked once, when the probe is added.
    fn hooks(&self) -> Hooks;
    /// A data packet has joined an egress queue of a switch, which has `bytes` with the packet; or the packet passes an
    /// empty queue.
    fn on_enqueue(&mut self, _now: Time, _queue: QueueId, _packet: &Packet, _bytes: u64) {}
    /// A data packet has left an egress queue of a switch with `bytes` behind it.
    fn on_dequeue(&mut self, _now: Time, _queue: QueueId, _packet: &Packet, _bytes: u64) {}
    /// An egress queue may not send from now on (PAUSE, or no credit).
    fn on_stop(&mut self, _now: Time, _queue: QueueId) {}
    /// An egress queue may send again.
    fn on_resume(&mut self, _resumed: &Resumed<'_>, _records: &mut Records) {}
    /// A packet of any kind begins on a wire.
    fn on_depart(&mut self, _departure: &Departure<'_>) {}
    /// The run has ended: the probe writes its findings to the records.
    fn finish(&mut self, now: Time, records: &mut Records);
}
