//! Where a flow's time went: its completion time split into parts that sum to it exactly.
//!
//! A flow is complete when an ACK comes that answers its *critical* packet, as a rule its last. Its time is that before
//! this packet's transmission began at the sender, split by what held the flow at each moment ([`sender`]), and the way of
//! that packet and of its ACK, hop by hop ([`way`]). Each is a sum of differences of event times, so nothing is lost or
//! counted twice. What is kept is bounded by the flows under way and the packets in flight, and nothing happens
//! for its sake: no event, no random number.

pub(crate) mod sender;
pub(crate) mod way;

use xoff_engine::Time;

use crate::packet::{Kind, PacketId};
use crate::part::Part;
use crate::topology::PortId;
use sender::Spent;

/// The stretch of a flow's time that a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Leg {
    /// From the flow's start to that of its critical packet's transmission.
    Sender,
    /// That packet's way to the receiver.
    Data,
    /// Its ACK's way back.
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

/// What a stretch of time was spent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The flow's own bits on a wire, with the gap after a frame at its sender. Under cut-through the bits that the next
    /// node waits for.
    Serialization,
    /// A link's delay.
    Propagation,
    /// Waiting behind others: at its sender for the wire or its turn.
    Queueing,
    /// The port and priority were stopped, by PAUSE or for want of credits.
    Paused,
    /// As many bytes in flight as its window allows.
    Window,
    /// Waiting for its pacing time, by the scheme's rate.
    Rate,
    /// The source had not made the next packet's data.
    Source,
    /// The throttle of the host's port held data back.
    Throttled,
    /// The receiver's processing delay.
    Processing,
    /// In a lossy network: frames sent again, and waiting to learn of a loss after all had been sent.
    Recovery,
    /// Of a flow that did not complete: its last packet or the ACK was on the way.
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
    pub flow: u32,
    /// Which stretch it belongs to.
    pub leg: Leg,
    /// What it was spent with.
    pub cause: Cause,
    /// The egress port at which, or on whose link.
    pub port: PortId,
    /// How long; never zero.
    pub time: Time,
}

impl Part {
    /// An ACK or another notification has come to its flow's sender. If that completes the flow, writes where its time went.
    #[cold]
    pub(crate) fn note_feedback(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        let (kind, seq, flow) = (packet.kind, packet.seq, packet.flow);
        let done = self.senders[flow as usize].as_deref().is_some_and(|sender| seq >= sender.size);
        if matches!(kind, Kind::Ack | Kind::Nack) && done {
            self.break_down(flow, id);
        }
    }

    fn break_down(&mut self, flow: u32, id: PacketId) {
        let Some(way) = self.packets.ways.as_mut().and_then(|ways| ways.take(id)) else { return };
        self.write_spent(flow, &way.spent);
        let (net, rows) = (&self.net, &mut self.records.breakdown);
        let (mut at, links) = (way.sent_at, net.routes[flow as usize].links.into());
        for (number, hop) in way.hops.iter().enumerate() {
            let leg = if number < links { Leg::Data } else { Leg::Ack };
            let processing = if number == links { net.settings.host.processing_delay } else { Time::ZERO };
            let propagation = self.ports[hop.port as usize].delay;
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
        debug_assert_eq!(at, self.now, "the way ends here and now");
    }

    /// At the end of a run: writes what held a flow that is under way, up to now.
    pub(crate) fn break_down_unfinished(&mut self, flow: u32) {
        let now = self.now;
        let account = self.breakdown.as_deref_mut().and_then(|b| b.account_of(flow));
        let Some(account) = account else { return };
        account.settle(now);
        let spent = account.spent;
        self.write_spent(flow, &spent);
    }

    /// Writes what a flow's time at its sender was spent with.
    fn write_spent(&mut self, flow: u32, spent: &Spent) {
        let port = self.nics[self.net.flows[flow as usize].src as usize].port;
        let parts = Cause::ALL.iter().map(|&cause| (cause, spent.of(cause)));
        let parts = parts.filter(|(_, time)| *time > Time::ZERO);
        let row = |(cause, time)| BreakdownRecord { flow, leg: Leg::Sender, cause, port, time };
        self.records.breakdown.extend(parts.map(row));
    }

    /// A packet begins on a wire, whose other end it reaches at a time.
    #[cold]
    pub(crate) fn note_hop(&mut self, port: PortId, id: PacketId, arrives: Time) {
        if !matches!(self.packets[id].kind, Kind::Data | Kind::Ack | Kind::Nack) {
            return;
        }
        let stopped = self.stopped_for(port, self.packets[id].class);
        if let Some(way) = self.packets.ways.as_mut().and_then(|ways| ways.of(id)) {
            way.hop(port, self.now, arrives, stopped);
        }
    }

    /// A packet joins a queue.
    #[cold]
    pub(crate) fn note_wait(&mut self, port: PortId, id: PacketId) {
        if !matches!(self.packets[id].kind, Kind::Data | Kind::Ack | Kind::Nack) {
            return;
        }
        let stopped = self.stopped_for(port, self.packets[id].class);
        if let Some(way) = self.packets.ways.as_mut().and_then(|ways| ways.of(id)) {
            way.wait(stopped);
        }
    }

    /// Time for which a port and class were stopped in all so far.
    fn stopped_for(&self, port: PortId, class: u8) -> Time {
        if class < crate::port::DATA { Time::ZERO } else { self.paused_time(self.data_queue(port, class)) }
    }
}
