//! Where a flow's time went: its completion time split into parts that sum to it exactly.
//!
//! A flow is complete when an ACK arrives that answers the flow's *critical* packet, as a rule its last packet. The flow's
//! time has two parts: the time before the transmission of that packet began at the sender, split by what held the flow at
//! each moment ([`account`]); and the way of that packet and of its ACK, hop by hop ([`crate::packet::way`]). Each part is a
//! sum of differences of event times, so nothing is lost or counted twice. Memory is bounded by the flows under way and the
//! packets in flight. The breakdown adds no event and draws no random number.

mod account;

pub(crate) use account::{Breakdown, Held};

use xoff_engine::Time;

use super::Probes;
use crate::ids::{FlowId, PortId};
use crate::network::Network;
use crate::packet::way::{Hop, Spent};
use crate::packet::{Kind, PacketId, Packets};

/// The part of a flow's life that a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Leg {
    /// From the flow's start to that of its critical packet's transmission.
    Sender,
    /// The critical packet's way to the receiver.
    Data,
    /// The way back of its ACK.
    Ack,
}

impl Leg {
    /// All, in their order.
    pub const ALL: [Leg; 3] = [Leg::Sender, Leg::Data, Leg::Ack];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Leg::Sender => "sender",
            Leg::Data => "data",
            Leg::Ack => "ack",
        }
    }
}

/// The cause of a part of a flow's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The flow's own bits on a wire, with the gap after a frame at its sender. Under cut-through, only the bits that the
    /// next node waits for.
    Serialization,
    /// A link's delay.
    Propagation,
    /// Waiting behind other packets; at the sender, for the wire or the flow's turn.
    Queueing,
    /// The port and priority were stopped, by PAUSE or for lack of credits.
    Paused,
    /// The bytes in flight filled the flow's window.
    Window,
    /// Waiting for the pacing time, by the scheme's rate.
    Rate,
    /// The source had not made the next packet's data.
    Source,
    /// The throttle of the host's port held data back.
    Throttled,
    /// The receiver's processing delay.
    Processing,
    /// Where packets may be sent again: frames sent again, and waiting to learn of a loss after all had been sent.
    Recovery,
    /// The flow did not complete, and its last packet or the ACK was on the way.
    InFlight,
}

impl Cause {
    /// All, in their order.
    pub const ALL: [Cause; 11] = [
        Cause::Serialization,
        Cause::Propagation,
        Cause::Queueing,
        Cause::Paused,
        Cause::Window,
        Cause::Rate,
        Cause::Source,
        Cause::Throttled,
        Cause::Processing,
        Cause::Recovery,
        Cause::InFlight,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Serialization => "serialization",
            Cause::Propagation => "propagation",
            Cause::Queueing => "queueing",
            Cause::Paused => "paused",
            Cause::Window => "window",
            Cause::Rate => "rate",
            Cause::Source => "source",
            Cause::Throttled => "throttled",
            Cause::Processing => "processing",
            Cause::Recovery => "recovery",
            Cause::InFlight => "in_flight",
        }
    }
}

/// A part of a flow's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakdownRecord {
    /// The flow.
    pub flow: FlowId,
    /// The part of the flow's life.
    pub leg: Leg,
    /// The cause.
    pub cause: Cause,
    /// The egress port at which, or on whose link, the time was spent.
    pub port: PortId,
    /// The length of time; never zero.
    pub time: Time,
}

impl Probes {
    /// An ACK, the packet `id`, completes a flow: writes where the flow's time went.
    #[cold]
    pub(crate) fn break_down(
        &mut self,
        now: Time,
        net: &Network,
        packets: &mut Packets,
        flow: FlowId,
        id: PacketId,
    ) {
        if self.breakdown.is_none() {
            return;
        }
        // A packet of another message of the connection may have closed the last gap of this message.
        let own = packets[id].flow == flow;
        let Some(way) = packets.ways.as_mut().filter(|_| own).and_then(|ways| ways.take(id)) else {
            return self.break_down_unfinished(now, net, flow);
        };
        self.write_spent(net, flow, &way.spent);
        let rows = &mut self.records.breakdown;
        let mut at = way.sent_at;
        // Paths may differ in length from packet to packet: the data's ends at the first host.
        let ends = |hop: &Hop| net.is_host(net.topology.node_of(hop.port.peer()));
        let links = way.hops.iter().position(ends).map_or(way.hops.len(), |last| last + 1);
        for (number, hop) in way.hops.iter().enumerate() {
            let leg = if number < links { Leg::Data } else { Leg::Ack };
            let processing = if number == links { net.settings.host.processing_delay } else { Time::ZERO };
            let propagation = net.topology.delay(hop.port);
            let parts = [
                (Cause::Processing, processing),
                (Cause::Queueing, hop.started - at - processing - hop.paused),
                (Cause::Paused, hop.paused),
                (Cause::Serialization, hop.arrives - hop.started - propagation),
                (Cause::Propagation, propagation),
            ];
            let parts = parts.into_iter().filter(|(_, time)| *time > Time::ZERO);
            rows.extend(parts.map(|(cause, time)| BreakdownRecord {
                flow,
                leg,
                cause,
                port: hop.port,
                time,
            }));
            at = hop.arrives;
        }
        debug_assert_eq!(at, now, "the way ends here and now");
    }

    /// Writes what has held a flow that is under way, up to now.
    pub(crate) fn break_down_unfinished(&mut self, now: Time, net: &Network, flow: FlowId) {
        let account = self.breakdown.as_deref_mut().and_then(|b| b.account_of(flow));
        let Some(account) = account else { return };
        account.settle(now);
        let spent = account.spent;
        self.write_spent(net, flow, &spent);
    }

    /// Writes a flow's time at its sender by cause.
    fn write_spent(&mut self, net: &Network, flow: FlowId, spent: &Spent) {
        let port = net.data_path(flow)[0];
        let parts = Cause::ALL.iter().map(|&cause| (cause, spent[cause as usize]));
        let parts = parts.filter(|(_, time)| *time > Time::ZERO);
        let row = |(cause, time)| BreakdownRecord { flow, leg: Leg::Sender, cause, port, time };
        self.records.breakdown.extend(parts.map(row));
    }
}

/// Whether a packet's way is recorded: the ways of flow control's frames and of notifications are not.
fn counts(packets: &Packets, id: PacketId) -> bool {
    matches!(packets[id].kind, Kind::Data | Kind::Ack | Kind::Nack)
}

/// A packet begins on a wire and reaches the other end at `arrives`; its port and class have been stopped for a total of
/// `stopped`.
pub(super) fn on_depart(
    packets: &mut Packets,
    port: PortId,
    id: PacketId,
    now: Time,
    arrives: Time,
    stopped: Time,
) {
    if !counts(packets, id) {
        return;
    }
    if let Some(way) = packets.ways.as_mut().and_then(|ways| ways.of(id)) {
        way.hop(port, now, arrives, stopped);
    }
}

/// A packet joins a queue whose port and class have been stopped for a total of `stopped`.
#[cold]
pub(crate) fn on_wait(packets: &mut Packets, id: PacketId, stopped: Time) {
    if !counts(packets, id) {
        return;
    }
    if let Some(way) = packets.ways.as_mut().and_then(|ways| ways.of(id)) {
        way.wait(stopped);
    }
}
