//! A message on its connection: its place in the connection's stream of bytes, and its counters.

use xoff_engine::{Rate, Time};

use super::rounds::Open;
use crate::ids::FlowId;
use crate::network::{Flow, Network};
use crate::observe::Sampled;

/// A message at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// The message's number.
    pub flow: FlowId,
    /// Number of its first packet on the connection.
    pub first_packet: u32,
    /// Offset of its first byte in the connection.
    pub base: u64,
    /// Offset of the byte after its last; `u64::MAX` while it is endless.
    pub end: u64,
    /// When it was started.
    pub start: Time,
    /// Time from its start until its NIC may begin its first packet.
    cost: Time,
    /// Payload rate at which its source makes data; [`Rate::UNLIMITED`] if all data is ready at the start.
    source_rate: Rate,
    /// All data may be sent at the start.
    is_ready: bool,
    /// Bytes on the wire so far.
    pub wire_sent: u64,
    /// Packets sent so far.
    pub packets_sent: u64,
    /// CNPs received for it.
    pub cnps: u64,
    /// Payload bytes sent again.
    pub retransmitted: u64,
    /// Time for which the port's priority had been stopped when the message started.
    pub paused_before: Time,
    /// Its counts at the last sample.
    pub sampled: Sampled,
    /// Payload bytes that were carried forward: they count as sent and acknowledged, and its end has come nearer by them.
    pub carried: u64,
    /// Time since its start that was carried forward.
    pub carried_time: Time,
}

impl Message {
    /// A message that starts `now`, which is `simulated` in simulated time, and whose place in its connection is not known yet.
    pub fn new(number: FlowId, flow: Flow, now: Time, simulated: Time, paused_before: Time) -> Message {
        Message {
            flow: number,
            first_packet: 0,
            base: 0,
            end: flow.size.bytes().unwrap_or(u64::MAX),
            start: now,
            cost: Time::ZERO,
            source_rate: flow.source_rate,
            is_ready: flow.source_rate == Rate::UNLIMITED,
            wire_sent: 0,
            packets_sent: 0,
            cnps: 0,
            retransmitted: 0,
            paused_before,
            sampled: Sampled::new(simulated),
            carried: 0,
            carried_time: Time::ZERO,
        }
    }

    /// The message with the time from its start until its NIC may begin its first packet.
    pub fn after(self, cost: Time) -> Message {
        Message { cost, is_ready: self.is_ready && cost == Time::ZERO, ..self }
    }

    /// Gives the message its place behind others on its connection.
    pub fn place(&mut self, base: u64, first_packet: u32) {
        self.end = self.end.saturating_add(base - self.base);
        (self.base, self.first_packet) = (base, first_packet);
    }

    /// Counts a packet of `frame` bytes on the wire.
    #[inline(always)] // runs for every packet
    pub fn count(&mut self, frame: u64) {
        self.wire_sent += frame;
        self.packets_sent += 1;
    }

    /// Whether all data may be sent at the start.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// When the source has made the packet that begins at `offset` of the connection, and the NIC may begin it.
    pub fn data_ready_at(&self, offset: u64) -> Time {
        let made = offset.saturating_sub(self.base) + self.carried;
        let begin = self.start.saturating_add(self.cost);
        // The source makes data from the start on, whenever the NIC may begin.
        let ready = match self.source_rate {
            Rate::UNLIMITED => begin,
            rate => begin.max(self.start.saturating_add(rate.time_for(made))),
        };
        ready.saturating_sub(self.carried_time)
    }

    /// Its bytes among those before `offset` of the connection, and those carried forward.
    pub fn bytes_before(&self, offset: u64) -> u64 {
        offset.min(self.end).saturating_sub(self.base) + self.carried
    }

    /// It goes on, after so much time was `carried` forward in the run, as another message of its connection, which is as far, and before whose
    /// start its port had been `stopped` for some time.
    pub fn go_on_as(&mut self, other: &Open, carried: Time, stopped: Time) {
        self.flow = other.flow;
        self.carried_time = other.carried;
        self.start = other.on_network_clock(carried);
        self.paused_before = stopped;
    }

    /// A message that waits behind others, after so much time was `carried` forward in the run, as its sender's port is stopped for `each` in each round.
    pub fn that_waits(net: &Network, open: &Open, carried: Time, each: Time) -> Message {
        let (flow, stopped) = (net.flows.of(open.flow), open.stopped(each));
        let message = Message::new(open.flow, flow, open.on_network_clock(carried), open.start, stopped);
        Message { carried_time: open.carried, ..message }
    }

    /// Carries it forward by `time`, in which it sends `packets` packets of `payload` and `frame` bytes.
    pub fn carry(&mut self, time: Time, packets: u64, payload: u64, frame: u64) {
        if self.end != u64::MAX {
            self.end -= packets * payload;
        }
        self.carried += packets * payload;
        self.carried_time += time;
        self.wire_sent += packets * frame;
        self.packets_sent += packets;
    }
}
