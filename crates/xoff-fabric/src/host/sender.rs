//! A connection at its sender: what is sent and acknowledged, its pacing, its reaction point, and its messages.

use std::hash::{Hash, Hasher};
use std::mem;

use xoff_engine::{Rate, Time};
use xoff_schemes::ReactionPoint;

use super::message::Message;
use super::nic::NicId;
use super::other_messages::OtherMessages;
use super::reaction::LimitedReaction;
use super::transport::SelectiveSender;
use crate::ids::FlowId;
use crate::network::WireSizes;
use crate::path::routing::Spray;
use crate::settings::{PacingGap, Quirks};

/// Bytes on the wire at which a burst ends at the latest: with its last frame, [`Rate::serialization`] can still take it.
const MAX_BURST: u64 = 2_000_000;

/// Maximum number of calls of a reaction point's timer at one time, while its connection catches up.
const MAX_AT_ONCE: u32 = 64;

/// A connection's state with its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendState {
    /// Has no data or no window.
    Idle,
    /// In its priority's round robin.
    Ready,
    /// Waits for its pacing time.
    Pacing,
}

/// The connection's bytes, counted by their offset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendStream {
    /// Next byte to be sent.
    pub snd_nxt: u64,
    /// All bytes before this one are acknowledged.
    pub snd_una: u64,
    /// Bytes beyond `snd_una` that are acknowledged selectively.
    pub sacked: u64,
    /// The maximum `snd_nxt` from which the sender ever went back (go-back-N only).
    pub gone_back_from: u64,
    /// Number of the next packet.
    pub next_packet: u32,
}

impl SendStream {
    /// Payload bytes in flight.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt - self.snd_una - self.sacked
    }
}

/// Pacing of packets by the connection's rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    /// When the next packet may go, as last computed.
    pub next_at: Time,
    rate_when_sent: Rate,
    /// Beginning of the packet, or burst, that the pacing gap follows.
    last_start: Time,
    /// Bytes on the wire of that packet or burst; 0 while a burst is under way, so that its packets have no gaps.
    last_frame: u64,
    /// Payload bytes of a burst; 0 without bursts.
    burst: u64,
    /// Bytes on the wire of the burst under way.
    burst_sent: u64,
}

impl Pacing {
    pub fn new(now: Time, reaction: &LimitedReaction) -> Pacing {
        Pacing {
            next_at: now,
            rate_when_sent: reaction.rate(),
            last_start: now,
            last_frame: 0,
            burst: reaction.burst(),
            burst_sent: 0,
        }
    }

    /// A packet of `payload` and `frame` bytes, which ends at offset `end`, goes now at `rate`.
    #[inline(always)] // runs for every packet
    pub fn on_send(&mut self, now: Time, payload: u64, frame: u64, end: u64, rate: Rate) {
        if self.burst == 0 {
            self.last_start = now;
            self.last_frame = frame;
        } else {
            self.pace_burst(now, payload, frame, end);
        }
        self.rate_when_sent = rate;
    }

    /// Adds a packet to the burst under way, or begins a burst; the gap after a burst is as long as all its packets need.
    #[cold]
    fn pace_burst(&mut self, now: Time, payload: u64, frame: u64, end: u64) {
        if self.burst_sent == 0 {
            self.last_start = now;
        }
        self.burst_sent += frame;
        let whole = end / self.burst != (end - payload) / self.burst;
        self.last_frame =
            if whole || self.burst_sent >= MAX_BURST { mem::take(&mut self.burst_sent) } else { 0 };
    }

    /// Ends the burst under way, because a new message begins: the gap follows the bytes that the burst has so far.
    pub fn end_burst(&mut self) {
        if self.burst_sent > 0 {
            self.last_frame = mem::take(&mut self.burst_sent);
        }
    }

    /// When the last packet, or burst, began.
    pub fn last_start(&self) -> Time {
        self.last_start
    }

    /// When the next packet may go at the current `rate`.
    #[inline]
    fn departs_at(&self, quirks: &Quirks, rate: Rate) -> Time {
        let rate = match quirks.gap {
            PacingGap::RateInForce => rate,
            PacingGap::RateWhenSent => self.rate_when_sent,
        };
        self.last_start + quirks.clock.serialization(rate, self.last_frame)
    }
}

/// A packet's part of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Offset of its first byte.
    pub offset: u64,
    pub payload: u64,
    /// Number of the packet.
    pub number: u32,
    /// The packet ends its message.
    pub last: bool,
    /// The packet is a retransmission.
    pub again: bool,
}

/// A connection at its sender.
pub(crate) struct Sender {
    pub stream: SendStream,
    pub pacing: Pacing,
    /// The message that `snd_nxt` lies in or, between messages, the last one.
    pub message: Message,
    /// Messages before and after that one.
    pub others: OtherMessages,
    pub nic: NicId,
    /// Where its path continues behind the host's port.
    pub position: u32,
    pub priority: u8,
    pub state: SendState,
    pub reaction: LimitedReaction,
    /// When the event of the reaction point's timer comes.
    pub timer_at: Time,
    /// When an acknowledgement last made progress, for the retransmission timer.
    pub progress_at: Time,
    /// When the event of the retransmission timer comes.
    pub timeout_at: Time,
    /// What the receiver lacks, if data may arrive out of order.
    pub selective: Option<Box<SelectiveSender>>,
    /// The paths of its packets, if these are sprayed.
    pub spray: Option<Box<Spray>>,
}

impl Sender {
    /// Whether data and window allow another packet. A window of fewer packets than the receiver collects for an ACK
    /// would never be acknowledged, so the window counts as at least `min_window`.
    #[inline]
    pub fn may_send(&self, min_window: u64) -> bool {
        let stream = &self.stream;
        (stream.snd_nxt < self.message.end
            && stream.in_flight() < self.reaction.window().max(min_window)
            && self.selective.as_ref().is_none_or(|selective| selective.may_send_new(stream)))
            || self.selective.as_ref().is_some_and(|selective| selective.has_lost())
    }

    /// The connection's next packet; the sender must have data.
    #[inline(always)] // runs for every packet
    pub fn next_segment(&self, wire: &WireSizes) -> Segment {
        if let Some(lost) = self.selective.as_ref().and_then(|selective| selective.next_lost()) {
            return lost;
        }
        let (stream, left) = (&self.stream, self.message.end - self.stream.snd_nxt);
        let payload = left.min(wire.payload);
        Segment {
            offset: stream.snd_nxt,
            payload,
            number: stream.next_packet,
            last: payload == left,
            again: stream.snd_nxt < stream.gone_back_from,
        }
    }

    /// When both pacing and the source let the next packet go.
    #[inline]
    pub fn earliest_departure(&self, quirks: &Quirks) -> Time {
        let paced = self.pacing.departs_at(quirks, self.reaction.rate());
        let again = || self.selective.as_ref().is_some_and(|selective| selective.has_lost());
        if self.message.is_ready() || again() { paced } else { paced.max(self.data_ready_at()) }
    }

    /// When the source makes the next packet.
    pub fn data_ready_at(&self) -> Time {
        self.message.data_ready_at(self.stream.snd_nxt)
    }

    /// Whether the connection waits only for the wire, given that it has data and window.
    pub fn only_waits_for_wire(&self, now: Time) -> bool {
        self.state == SendState::Ready || self.pacing.next_at <= now
    }

    /// Payload bytes from `offset` of the connection to the end of the last message that waits.
    pub fn left_from(&self, offset: u64) -> u64 {
        // A message that has no place yet begins at 0 or where it was.
        let queued = self.others.queued().map(|message| message.end - message.base);
        let left = self.message.end.saturating_sub(offset);
        queued.fold(left, |sum, bytes| sum.saturating_add(bytes))
    }

    /// Whether a packet is left to send.
    pub fn has_more(&self) -> bool {
        self.stream.snd_nxt < self.message.end || self.others.has_queued()
    }

    /// Whether nothing is left to send or to be acknowledged.
    pub fn is_idle(&self) -> bool {
        self.stream.snd_una >= self.message.end && !self.others.has_queued()
    }

    /// The connection's messages that are not wholly acknowledged, first to last.
    pub fn open_messages(&mut self) -> impl Iterator<Item = &mut Message> {
        let open = self.stream.snd_una < self.message.end;
        let (sent, queued) = self.others.both();
        sent.chain(open.then_some(&mut self.message)).chain(queued)
    }

    /// The same, not to be changed.
    pub fn open(&self) -> impl Iterator<Item = &Message> {
        let open = self.stream.snd_una < self.message.end;
        self.others.sent().chain(open.then_some(&self.message)).chain(self.others.queued())
    }

    /// Messages before the one under way: how much of each is still to be acknowledged.
    pub fn hash_messages(&self, hasher: &mut impl Hasher) {
        for message in self.others.sent() {
            (message.end - self.stream.snd_una, message.cnps).hash(hasher);
        }
    }

    /// The number of messages that have begun to send, or are the next to, and are not wholly acknowledged.
    pub fn begun(&self) -> usize {
        self.open().count() - self.others.queued().count()
    }

    /// The message `flow` of this connection; `None` if it is wholly acknowledged.
    pub fn open_message(&mut self, flow: FlowId) -> Option<&mut Message> {
        self.open_messages().find(|message| message.flow == flow)
    }

    /// The offset up to which a message's bytes are acknowledged: none of a message that waits behind others, and has no place yet.
    pub fn acked_to(&self, flow: FlowId) -> u64 {
        let waits = self.others.queued().any(|message| message.flow == flow);
        if waits { 0 } else { self.stream.snd_una }
    }

    /// Counts a retransmission for the message that it belongs to, which may be an earlier message.
    #[cold]
    pub fn count_again(&mut self, flow: FlowId, payload: u64, frame: u64) {
        let earlier = self.others.sent_mut().find(|message| message.flow == flow);
        let message = earlier.unwrap_or(&mut self.message);
        message.count(frame);
        message.retransmitted += payload;
    }

    /// Goes on with the next message, if the current one is sent and another waits.
    pub fn advance_message(&mut self) {
        if self.stream.snd_nxt < self.message.end {
            return;
        }
        let Some(mut next) = self.others.next_queued() else { return };
        if next.base < self.message.end {
            next.place(self.message.end, self.stream.next_packet);
            self.pacing.end_burst();
        }
        self.others.add_sent(mem::replace(&mut self.message, next));
    }

    /// Goes on with a message after all before it are complete.
    pub fn resume_with(&mut self, mut next: Message) {
        next.place(self.message.end, self.stream.next_packet);
        self.pacing.end_burst();
        self.message = next;
    }

    /// Ends a message with its next packet, beyond all that was ever sent: its receiver might have passed an earlier end
    /// already.
    pub fn stop_message(&mut self, flow: FlowId, payload: u64) {
        let (placed, sent) = (self.message.end, self.stream.snd_nxt.max(self.stream.gone_back_from));
        let is_meant = |message: &&mut Message| message.base < placed && message.flow == flow;
        if let Some(message) = self.others.queued_mut().find(is_meant) {
            message.end = message.end.min(payload);
        } else if let Some(message) = self.open_message(flow) {
            message.end = message.end.min(sent.max(message.base) + payload);
        }
    }

    /// Moves `snd_nxt` ahead to `seq` if it is behind: one ACK may cover data of which a second copy was still to be sent.
    /// The caller moves `snd_una` afterwards, because skipped messages are still to be completed.
    #[inline(always)] // runs for every packet
    pub fn skip_to(&mut self, seq: u64, payload: u64) {
        if seq > self.stream.snd_nxt {
            self.skip(seq, payload);
        }
    }

    #[cold]
    fn skip(&mut self, seq: u64, payload: u64) {
        while self.message.end <= seq && self.others.has_queued() {
            self.stream.snd_nxt = self.message.end;
            self.number_next(payload);
            self.advance_message();
        }
        self.stream.snd_nxt = seq;
        self.number_next(payload);
    }

    /// Sets the number of the packet at `snd_nxt`: all packets of a message but the last one are full.
    fn number_next(&mut self, payload: u64) {
        let packets = (self.stream.snd_nxt - self.message.base).div_ceil(payload);
        self.stream.next_packet = self.message.first_packet.wrapping_add(packets as u32);
    }

    /// Sends everything from `seq` on again.
    pub fn go_back(&mut self, seq: u64, wire: &WireSizes) {
        self.stream.gone_back_from = self.stream.gone_back_from.max(self.stream.snd_nxt);
        while seq < self.message.base
            && let Some(before) = self.others.last_sent()
        {
            let after = mem::replace(&mut self.message, before);
            self.others.queue_again(after);
        }
        self.stream.snd_nxt = seq;
        self.number_next(wire.payload);
    }

    /// Runs the reaction point's timers that were due while nothing was sent, each at its time. Several may be due at one
    /// time; a timer that does not advance is abandoned after [`MAX_AT_ONCE`] calls.
    pub fn catch_up(&mut self, now: Time) {
        let (mut before, mut calls) = (Time::NEVER, 0);
        loop {
            let timer = self.reaction.next_timer();
            calls = if timer == before { calls + 1 } else { 0 };
            if timer > now || calls == MAX_AT_ONCE {
                return;
            }
            self.reaction.on_timer(timer);
            before = timer;
        }
    }
}
