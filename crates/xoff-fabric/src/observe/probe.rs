//! The seam of everything that listens to a run.
//!
//! A probe's [`Hooks`] say what it listens to; a hook without a listener costs one test of a bit. Probes have no effect on
//! a run. A probe of your own is a type that implements [`Probe`], added to a run by [`crate::Simulation::add_probe`]; its
//! rows come back in [`Records::own`].

use xoff_engine::Time;
use xoff_schemes::Mark;

use super::records::{FlowOutcome, Records};
use crate::ids::{FlowId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{Kind, Packet, PacketId, Packets};

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
    /// [`Probe::on_mark`], [`Probe::on_drop`], [`Probe::on_notification`] and [`Probe::on_control_frame`].
    pub const SIGNALS: Hooks = Hooks(8);
    /// [`Probe::on_flow_start`] and [`Probe::on_flow_end`].
    pub const FLOWS: Hooks = Hooks(16);
    /// [`Probe::on_ack`].
    pub const ACKS: Hooks = Hooks(32);

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
    /// When the packet counts as arrived at the other end; [`Time::NEVER`] if it is lost on the link.
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
    /// A data packet that leaves an egress port was given a mark.
    fn on_mark(&mut self, _now: Time, _egress: PortId, _packet: &Packet, _mark: Mark) {}
    /// A packet was dropped at an ingress port, or on the link to that port, or at the switch that it entered by that port; or a CNM at the switch of an egress port.
    fn on_drop(&mut self, _now: Time, _port: PortId, _packet: &Packet) {}
    /// A CNP or CNM of a message has come to the message's sender; `point` is a CNM's congestion point.
    fn on_notification(&mut self, _now: Time, _flow: FlowId, _kind: Kind, _point: Option<u32>) {}
    /// A port sends a PAUSE frame or an update of credits, or a switch makes a CNM behind a port.
    fn on_control_frame(&mut self, _now: Time, _port: PortId, _kind: Kind) {}
    /// A message has started at its sender.
    fn on_flow_start(&mut self, _now: Time, _flow: FlowId) {}
    /// A message is wholly acknowledged, or the run ends before. The receiver's marks and whether the message was HoL-blocked
    /// are not known yet.
    fn on_flow_end(&mut self, _now: Time, _flow: FlowId, _outcome: &FlowOutcome) {}
    /// An ACK or NACK has come to the sender of the connection to which `flow` belongs, and acknowledges `bytes` of payload
    /// for the first time.
    fn on_ack(&mut self, _now: Time, _flow: FlowId, _bytes: u64) {}
    /// The run has ended: what the probe has found goes into the records.
    fn finish(&mut self, now: Time, records: &mut Records);
}
