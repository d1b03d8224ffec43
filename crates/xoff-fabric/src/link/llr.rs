//! Link-level retry (LLR) of Ultra Ethernet 1.0: a link that loses, doubles and reorders nothing although it spoils frames.
//!
//! Each frame has a number. The sending port keeps it in a replay buffer until the other end acknowledges it, and sends
//! nothing new while a largest frame finds no room there. The receiving port takes frames in order of their numbers. It
//! answers each one that it takes with an ACK of the next number that it expects, and discards a damaged one, or one
//! behind a gap, with a NACK of that number; once for a gap. A NACK makes the sender go back: it sends again all frames from that
//! number on, before anything new. A replay timer goes back to the oldest frame without an ACK, since an ACK or NACK may be lost.
//!
//! Readings that were not checked against the specification's text: ACKs and NACKs are control ordered sets between the
//! frames of the other direction, take no room there, and may be damaged as a frame of so many bytes may. A receiver sends a
//! second NACK of a number once a frame shows by its lower number that the sender has gone back. Numbers do not wrap. Frames
//! of flow control are numbered like others, and what has been sent once is sent again whether its class is paused or not. A link
//! that goes down loses what is in its replay buffer.
//!
//! The sending port decides what arrives, so it also knows what the other end does: the other end's state is here too, only
//! frames that are taken there go there, and ACKs and NACKs are events of the sender.

use std::collections::VecDeque;

use xoff_engine::Time;

use super::Links;
use super::faults::Loss;
use super::flow_control::LinkControl;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::fault::Cause;
use crate::ids::PortId;
use crate::network::Network;
use crate::packet::{NO_PACKET, PacketId};
use crate::settings::LlrSizing;

/// The two upper bits of an event's argument say what it is; the others are the lower bits of a frame's number.
const ACK: u32 = 0;
const NACK: u32 = 1 << 30;
const TIMER: u32 = 2 << 30;
const NUMBER: u32 = (1 << 30) - 1;

/// What the LLR of a port did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// Frames sent for the first time.
    pub frames: u64,
    /// Frames that bit errors spoiled, sent for the first time or again.
    pub corrupt: u64,
    /// Whole frames that the other end discarded, since one before them was missing or they were there already.
    pub discarded: u64,
    /// Frames sent again.
    pub replayed: u64,
    /// Their bytes.
    pub replayed_bytes: u64,
    /// NACKs that came.
    pub nacks: u64,
    /// Times that the replay timer ran out.
    pub timeouts: u64,
    /// Maximum bytes in the replay buffer.
    pub max_bytes: u64,
    /// Time for which the wire was free and the replay buffer full.
    pub full: Time,
}

/// A frame that is not acknowledged.
struct Kept {
    bytes: u64,
    /// [`NO_PACKET`] once the other end has taken the frame.
    id: PacketId,
}

/// What the other end knows.
#[derive(Default)]
struct Receiver {
    /// Number of the next frame that it takes.
    expected: u64,
    /// One more than the number of the last whole frame that came.
    seen: u64,
    /// It has sent a NACK of `expected`.
    nacked: bool,
}

impl Receiver {
    /// A frame comes: whether it is taken, and the answer.
    fn judge(&mut self, number: u64, is_damaged: bool) -> (bool, Option<u32>) {
        if !is_damaged {
            // A lower number than before: the sender has gone back.
            self.nacked &= number >= self.seen;
            self.seen = number + 1;
            if number == self.expected {
                (self.expected, self.nacked) = (number + 1, false);
                return (true, Some(ACK));
            }
            if number < self.expected {
                return (false, Some(ACK));
            }
        }
        let is_first = !std::mem::replace(&mut self.nacked, true);
        (false, is_first.then_some(NACK))
    }
}

/// The LLR of a port.
struct Retry {
    sizing: LlrSizing,
    /// Frames without an ACK, by number.
    kept: VecDeque<Kept>,
    /// Number of the first of `kept`.
    base: u64,
    /// Number of the frame to be sent next; below the end of `kept`, a replay is under way.
    next: u64,
    /// Bytes of `kept`.
    bytes: u64,
    receiver: Receiver,
    /// The event of a frame's end on the wire is pending.
    sends: bool,
    /// Since when the wire is kept free since the replay buffer is full.
    held_since: Option<Time>,
    /// When the replay timer runs out.
    deadline: Time,
    /// The event of the timer is pending.
    is_timed: bool,
    counts: RetryCounts,
}

impl Retry {
    fn new(sizing: LlrSizing) -> Self {
        Retry {
            sizing,
            kept: VecDeque::new(),
            base: 0,
            next: 0,
            bytes: 0,
            receiver: Receiver::default(),
            sends: false,
            held_since: None,
            deadline: Time::NEVER,
            is_timed: false,
            counts: RetryCounts::default(),
        }
    }

    /// One more than the number of the last frame sent.
    fn end(&self) -> u64 {
        self.base + self.kept.len() as u64
    }

    fn is_full(&self) -> bool {
        self.bytes + self.sizing.frame > self.sizing.replay_buffer
    }

    /// All frames below `number` have arrived.
    fn acknowledge(&mut self, now: Time, number: u64) {
        while self.base < number
            && let Some(kept) = self.kept.pop_front()
        {
            self.base += 1;
            self.bytes -= kept.bytes;
            self.deadline = now + self.sizing.timeout;
        }
        self.next = self.next.max(self.base);
    }
}

/// The LLR of a partition's ports.
pub(crate) struct Llr {
    /// By port.
    ports: Vec<Retry>,
    /// Bytes of an ACK or NACK.
    control: u64,
    /// The index of an event of port 0.
    first_index: u32,
}

impl Llr {
    /// LLR on all links of a network; `None` if there is none.
    pub fn new(net: &Network) -> Option<Box<Llr>> {
        let llr = net.settings.link.llr.as_ref()?;
        let of = |port| Retry::new(LlrSizing::of(&net.topology, port, llr, &net.wire));
        let steps = net.faults.as_ref().map_or(0, |plan| plan.steps().len());
        let queues = net.topology.ports() as usize * usize::from(net.settings.switch.priorities);
        Some(Box::new(Llr {
            ports: net.topology.port_ids().map(of).collect(),
            control: llr.control.0,
            first_index: net.first_other + (steps + queues) as u32,
        }))
    }
}

impl<C> Links<C> {
    /// Whether a frame with this `loss` on the link is one that LLR delivers.
    pub(super) fn retries(&self, loss: Option<Loss>) -> bool {
        self.llr.is_some() && loss.is_none_or(|(cause, _)| cause == Cause::BitErrors)
    }

    /// Whether the wire of a port is free and kept so, since its replay buffer is full.
    pub fn is_held(&self, port: PortId) -> bool {
        self.llr.as_ref().is_some_and(|llr| llr.ports[port.index()].held_since.is_some())
    }

    /// What the LLR of a port did up to now; `None` without LLR.
    pub fn retry_counts(&self, now: Time, port: PortId) -> Option<RetryCounts> {
        let retry = &self.llr.as_ref()?.ports[port.index()];
        let held = retry.held_since.map_or(Time::ZERO, |since| now.saturating_sub(since));
        Some(RetryCounts { full: retry.counts.full + held, ..retry.counts })
    }
}

impl<C: LinkControl> Links<C> {
    /// A packet goes onto the wire of a port for the first time, with LLR; `arrival` is that of its last bit. Returns whether the
    /// other end takes it; if not, it stays here.
    #[cold]
    pub(super) fn send_numbered(
        &mut self,
        ctx: &mut Ctx,
        port: PortId,
        id: PacketId,
        arrival: Time,
        is_damaged: bool,
    ) -> bool {
        let bytes = u64::from(ctx.packets[id].size);
        let Some(retry) = self.retry(port) else { return true };
        let number = retry.end();
        if retry.kept.is_empty() {
            retry.deadline = ctx.now + retry.sizing.timeout;
        }
        retry.kept.push_back(Kept { bytes, id });
        retry.bytes += bytes;
        retry.next = number + 1;
        let counts = &mut retry.counts;
        counts.frames += 1;
        counts.max_bytes = counts.max_bytes.max(retry.bytes);
        let starts = !std::mem::replace(&mut retry.is_timed, true);
        let deadline = retry.deadline;
        if starts {
            self.schedule_retry(ctx, port, deadline, TIMER);
        }
        self.arrive_numbered(ctx, port, number, arrival, is_damaged).is_some()
    }

    fn retry(&mut self, port: PortId) -> Option<&mut Retry> {
        self.llr.as_mut().map(|llr| &mut llr.ports[port.index()])
    }

    /// A frame has begun on the wire of a port, whose end is an event.
    pub(super) fn begin_frame(&mut self, port: PortId) {
        if let Some(retry) = self.retry(port) {
            retry.sends = true;
        }
    }

    fn schedule_retry(&self, ctx: &mut Ctx, port: PortId, at: Time, arg: u32) {
        let Some(llr) = &self.llr else { return };
        ctx.schedule(self.ports[port.index()].node, at, key(kind::FLOW_STOP, llr.first_index + port.0), arg);
    }

    /// The frame `number` of a port comes to the other end at `arrival`: returns its packet if the other end takes it, and schedules
    /// the answer.
    fn arrive_numbered(
        &mut self,
        ctx: &mut Ctx,
        port: PortId,
        number: u64,
        arrival: Time,
        is_damaged: bool,
    ) -> Option<PacketId> {
        let control = self.llr.as_ref()?.control;
        let retry = self.retry(port)?;
        let (is_taken, answer) = retry.receiver.judge(number, is_damaged);
        let expected = retry.receiver.expected;
        retry.counts.corrupt += u64::from(is_damaged);
        retry.counts.discarded += u64::from(!is_damaged && !is_taken);
        let place = (number - retry.base) as usize;
        let id = is_taken.then(|| std::mem::replace(&mut retry.kept[place].id, NO_PACKET));
        if let Some(answer) = answer
            && self.damage(ctx, port, |errors| errors.of_ordered_set(control)).is_none()
        {
            // The rate may change until then, and the other end may be in another partition.
            let back = port.peer();
            let rate = ctx.net.rate_at(back, arrival);
            let at = self.ports[back.index()].symbol_arrival_by(rate, arrival, control);
            self.schedule_retry(ctx, port, at, answer | expected as u32 & NUMBER);
        }
        id
    }

    /// A port has finished a frame: whether LLR sends the next one, or keeps the wire free.
    #[inline]
    pub fn keeps_wire(&mut self, ctx: &mut Ctx, port: PortId) -> bool {
        self.llr.is_some() && self.retry_keeps_wire(ctx, port)
    }

    /// The same with link-level retry.
    fn retry_keeps_wire(&mut self, ctx: &mut Ctx, port: PortId) -> bool {
        let now = ctx.now;
        let Some(retry) = self.retry(port) else { return false };
        retry.sends = false;
        if retry.next < retry.end() {
            self.replay(ctx, port);
            return true;
        }
        if retry.is_full() {
            retry.held_since = retry.held_since.or(Some(now));
            self.ports[port.index()].armed = true;
            return true;
        }
        if let Some(since) = retry.held_since.take() {
            retry.counts.full += now - since;
        }
        false
    }

    /// Sends the next frame of a replay.
    #[cold]
    fn replay(&mut self, ctx: &mut Ctx, port_id: PortId) {
        let now = ctx.now;
        let Some(retry) = self.retry(port_id) else { return };
        if let Some(since) = retry.held_since.take() {
            retry.counts.full += now - since;
        }
        let number = retry.next;
        let bytes = retry.kept[(number - retry.base) as usize].bytes;
        retry.next = number + 1;
        retry.counts.replayed += 1;
        retry.counts.replayed_bytes += bytes;
        let port = &mut self.ports[port_id.index()];
        let (arrival, place) = (port.start(now, bytes), port.arrivals);
        self.schedule_ready(ctx, port_id);
        if self.cut_off(ctx, port_id).is_some() {
            // The frame is lost with the replay buffer, when the link goes down.
            return;
        }
        let is_damaged = self.damage(ctx, port_id, |errors| errors.probability(bytes)).is_some();
        let Some(id) = self.arrive_numbered(ctx, port_id, number, arrival, is_damaged) else { return };
        if ctx.probes.on_wire {
            let stopped = self.stopped_for(now, port_id, ctx.packets[id].class);
            ctx.probes.on_depart(now, &ctx.net, &mut ctx.packets, (port_id, id), (arrival, true), stopped);
        }
        self.schedule_arrival(ctx, port_id, arrival, place, id);
    }

    /// An ACK or NACK comes to a port, or its replay timer runs out. Returns whether the wire is free, and something may
    /// follow.
    pub fn retry_event(&mut self, ctx: &mut Ctx, port: PortId, arg: u32) -> bool {
        let now = ctx.now;
        let Some(retry) = self.retry(port) else { return false };
        if arg & TIMER != 0 {
            self.on_retry_timer(ctx, port);
        } else {
            // The nearest number with these lower bits.
            let ahead = (arg & NUMBER).wrapping_sub(retry.base as u32) & NUMBER;
            if ahead > NUMBER / 2 {
                return false; // from before the link went down, or overtaken by a later one
            }
            let number = retry.base + u64::from(ahead);
            retry.acknowledge(now, number);
            if arg & NACK != 0 {
                retry.counts.nacks += 1;
                retry.next = retry.base;
                retry.deadline = now + retry.sizing.timeout;
            }
        }
        let Some(retry) = self.retry(port) else { return false };
        !retry.sends && (retry.held_since.is_some() || retry.next < retry.end())
    }

    /// The event of a port's replay timer.
    fn on_retry_timer(&mut self, ctx: &mut Ctx, port: PortId) {
        let now = ctx.now;
        let Some(retry) = self.retry(port) else { return };
        retry.is_timed = !retry.kept.is_empty();
        if !retry.is_timed {
            return;
        }
        if retry.deadline <= now {
            retry.deadline = now + retry.sizing.timeout;
            // A replay that is under way goes on.
            if retry.next == retry.end() {
                retry.next = retry.base;
                retry.counts.timeouts += 1;
            }
        }
        let deadline = retry.deadline;
        self.schedule_retry(ctx, port, deadline, TIMER);
    }

    /// The link of a port goes down: what its replay buffer holds is lost, and numbers begin anew.
    pub(super) fn forget_retries(&mut self, ctx: &mut Ctx, port: PortId) {
        let now = ctx.now;
        let Some(retry) = self.retry(port) else { return };
        if let Some(since) = retry.held_since.take() {
            retry.counts.full += now - since;
            self.ports[port.index()].armed = false;
        }
        let Some(retry) = self.retry(port) else { return };
        // ACKs of the frames sent so far are older than all that follow.
        let first = retry.end() + 1;
        retry.receiver = Receiver { expected: first, seen: first, nacked: false };
        (retry.base, retry.next, retry.bytes) = (first, first, 0);
        let kept = std::mem::take(&mut retry.kept);
        let fault = ctx.net.faults.as_ref().and_then(|plan| plan.outage(port.link(), now, now));
        let fault = fault.map(|outage| outage.fault);
        for id in kept.into_iter().map(|kept| kept.id).filter(|&id| id != NO_PACKET) {
            let frame = ctx.packets[id].frame();
            self.lose_on_wire(ctx, port, id, frame, (Cause::LinkDown, fault));
        }
    }
}
