//! Flows at their senders: QPs with their reaction points, the packets they make and the feedback they get.
//!
//! A QP may send when it has data, fewer bytes in flight than its window, and its pacing time has come; then its NIC
//! ([`crate::nic`]) gives it its turn.

use std::mem;

use xoff_engine::{Rate, Time};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, AnyReaction, Cnm, Cnp, FlowEnv, IntPath, Mark, ReactionPoint, Sent};

use crate::detection::Marks;
use crate::event::{key, kind};
use crate::network::{Network, WireSizes};
use crate::packet::{HAS_RATE, Kind, LAST, NO_PACKET, Packet, PacketId, Packets};
use crate::part::Part;
use crate::port::DATA;
use crate::records::{FlowOutcome, Sampled};
use crate::settings::{Order, PacingGap, Quirks};
use crate::topology::{NodeId, PortId};

/// Bytes on the wire at which a burst ends at the latest: what [`Rate::serialization`] can take, less a frame.
const LONGEST_BURST: u64 = 2_000_000;

/// Where a flow stands with its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Has no data or no window.
    Idle,
    /// In its priority's round robin.
    Ready,
    /// Waits for its pacing time.
    Pacing,
}

/// A flow at its sender.
pub(crate) struct Sender {
    pub snd_nxt: u64,
    pub snd_una: u64,
    /// Where `snd_nxt` was when the flow last went back, if that was further (lossy networks only).
    gone_back_from: u64,
    /// Payload bytes in all; `u64::MAX` while endless.
    pub size: u64,
    pub next_at: Time,
    rate_when_sent: Rate,
    /// Beginning of the packet, or burst, that the pacing gap follows.
    pub last_start: Time,
    /// Its bytes on the wire; 0 while a burst is under way, which so has no gap.
    pub last_frame: u64,
    /// Payload bytes of a burst; 0 without bursts.
    burst: u64,
    /// Bytes on the wire of the burst under way.
    burst_sent: u64,
    pub start: Time,
    pub src: NodeId,
    position: u32,
    pub priority: u8,
    pub standing: Standing,
    source_rate: Option<Rate>,
    pub reaction: AnyReaction,
    timer_at: Time,
    /// Bytes on the wire so far.
    pub wire_sent: u64,
    pub packets_sent: u64,
    pub cnps: u64,
    /// Payload bytes sent again.
    retransmitted: u64,
    /// Time that the NIC's priority had been paused when the flow started.
    paused_before: Time,
    /// When `snd_una` last moved, for the retransmission timer.
    progress_at: Time,
    /// Where it stood at the last sample.
    pub sampled: Sampled,
}

impl Sender {
    /// Whether data and window allow another packet. A window of fewer packets than the receiver collects for an ACK
    /// would never be acknowledged, so `least_window` is let through.
    #[inline]
    pub fn may_send(&self, least_window: u64) -> bool {
        self.snd_nxt < self.size && self.snd_nxt - self.snd_una < self.reaction.window().max(least_window)
    }

    /// Payload bytes of its next packet.
    #[inline]
    pub fn next_payload(&self, wire: &WireSizes) -> u64 {
        (self.size - self.snd_nxt).min(wire.payload)
    }

    /// Whether a packet goes for a second time.
    pub fn goes_again(&self, seq: u64) -> bool {
        seq < self.gone_back_from
    }

    /// When the source has made the data of the next packet.
    pub fn made_at(&self) -> Time {
        self.source_rate.map_or(self.start, |rate| self.start.saturating_add(rate.time_for(self.snd_nxt)))
    }

    /// Sends everything from `seq` on again.
    fn go_back(&mut self, seq: u64) {
        self.gone_back_from = self.gone_back_from.max(self.snd_nxt);
        self.retransmitted += self.snd_nxt - seq;
        self.snd_nxt = seq;
    }

    /// Takes a packet into the burst under way, or begins one; the gap after the last packet is that of all.
    #[cold]
    fn pace_burst(&mut self, now: Time, payload: u64, frame: u64) {
        if self.burst_sent == 0 {
            self.last_start = now;
        }
        self.burst_sent += frame;
        let whole = self.snd_nxt / self.burst != (self.snd_nxt - payload) / self.burst;
        self.last_frame =
            if whole || self.burst_sent >= LONGEST_BURST { mem::take(&mut self.burst_sent) } else { 0 };
    }

    /// When pacing and the source let the next packet go.
    #[inline]
    pub fn due(&self, quirks: &Quirks) -> Time {
        let rate = match quirks.gap {
            PacingGap::RateInForce => self.reaction.rate(),
            PacingGap::RateWhenSent => self.rate_when_sent,
        };
        let paced = self.last_start + quirks.clock.serialization(rate, self.last_frame);
        if self.source_rate.is_none() { paced } else { paced.max(self.made_at()) }
    }
}

/// What an ACK at its sender says.
#[inline]
pub(crate) fn ack_of<'a>(
    packets: &'a Packets,
    net: &Network,
    id: PacketId,
    now: Time,
    newly_acked: u64,
    snd_nxt: u64,
) -> Ack<'a> {
    let packet = &packets[id];
    Ack {
        now,
        seq: packet.seq,
        newly_acked,
        snd_nxt,
        packet: packet.seq.saturating_sub(1) / net.wire.payload,
        next_packet: snd_nxt.div_ceil(net.wire.payload),
        rtt: net.signals.timestamp.then(|| now - packet.sent_at),
        mark: packet.mark,
        flow_count: packet.flow_count,
        int: IntStack {
            records: packets.int_records(id, packet.hops),
            last_hop_first: net.signals.int == IntPath::Ack,
            unit_shift: packets.int_shift(),
        },
    }
}

impl Part {
    /// A flow starts, and with it the wait for the next one. Where events come in the order of scheduling, the flow
    /// waits behind all others of the moment, twice: ns-3 makes the application, which starts, which opens the flow.
    pub(crate) fn flow_start(&mut self, flow: u32, step: u32) {
        let net = self.net.clone();
        let f = &net.flows[flow as usize];
        if step == 0 && !self.events.looks_ahead() && !net.dependencies.flow_waits(flow) {
            self.await_flow(flow + 1);
        }
        if step < 2 && net.settings.quirks.order == Order::Scheduled {
            return self.events.push(f.src, self.now, key(kind::FLOW_START, flow), step + 1);
        }
        if let Some(stop) = f.stop {
            self.events.push(f.src, stop.max(self.now), key(kind::FLOW_STOP, flow), 0);
        }
        let queue = self.data_queue(self.nics[f.src as usize].port, DATA + f.priority);
        let nic = &mut self.nics[f.src as usize];
        let env = FlowEnv { now: self.now, active_flows: nic.open_out, ..net.flow_env(flow) };
        nic.open_out += 1;
        let reaction = net.scheme.reaction(&env);
        self.senders[flow as usize] = Some(Box::new(Sender {
            snd_nxt: 0,
            snd_una: 0,
            gone_back_from: 0,
            size: f.size.unwrap_or(u64::MAX),
            next_at: self.now,
            last_start: self.now,
            last_frame: 0,
            burst: reaction.burst(),
            burst_sent: 0,
            start: self.now,
            src: f.src,
            position: net.routes[flow as usize].data,
            priority: f.priority,
            standing: Standing::Idle,
            source_rate: f.source_rate,
            rate_when_sent: reaction.rate(),
            reaction,
            timer_at: Time::NEVER,
            wire_sent: 0,
            packets_sent: 0,
            cnps: 0,
            retransmitted: 0,
            paused_before: self.paused_time(queue),
            progress_at: self.now,
            sampled: Sampled::new(self.now),
        }));
        self.records.flow_started(flow);
        if net.settings.lossy {
            let timeout = net.settings.host.retransmit_timeout;
            self.events.push(f.src, self.now + timeout, key(kind::RETRANSMIT_TIMER, flow), 0);
        }
        self.sync_reaction(flow);
        if self.ns3_nic {
            self.ns3_add(f.src, flow);
            self.ns3_kick(f.src);
        }
    }

    /// Waits for the first flow of this part's hosts from number `first` on that waits for no other.
    pub(crate) fn await_flow(&mut self, first: u32) {
        let flows = self.net.flows.iter().enumerate().skip(first as usize);
        let waits = |flow| self.net.dependencies.flow_waits(flow);
        let next = flows.map(|(i, f)| (i as u32, f)).find(|(i, f)| self.owns(f.src) && !waits(*i));
        if let Some((number, flow)) = next {
            self.events.push_start(flow.start, number);
        }
    }

    /// An endless flow, or one that is to stop early, ends with its next packet, so that its receiver learns of it.
    pub(crate) fn flow_stop(&mut self, flow: u32) {
        let payload = self.net.wire.payload;
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        // Beyond all that was ever sent, or its receiver might have passed that point already.
        sender.size = sender.size.min(sender.snd_nxt.max(sender.gone_back_from) + payload);
        self.sync_reaction(flow);
    }

    /// After anything that may have changed a flow's rate, window, data or timer.
    #[inline]
    fn sync_reaction(&mut self, flow: u32) {
        if self.breakdown.is_some() {
            self.note_held(flow);
        }
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        let timer = sender.reaction.next_timer();
        if timer < sender.timer_at {
            sender.timer_at = timer;
            self.events.push(sender.src, timer.max(self.now), key(kind::REACTION_TIMER, flow), 0);
        }
        if self.ns3_nic {
            return; // Only what that NIC looks at moves it.
        }
        match sender.standing {
            Standing::Ready => {}
            Standing::Pacing => {
                // The gap after the last packet follows the rate.
                let due = sender.due(&self.net.settings.quirks);
                if due != sender.next_at {
                    sender.next_at = due;
                    let src = sender.src;
                    self.nic_repace(src, flow, due);
                }
            }
            Standing::Idle => {
                if sender.may_send(self.net.least_window) {
                    let src = sender.src;
                    match self.stand(flow) {
                        Some(due) => self.nic_arm(src, due),
                        None => self.nic_kick(src),
                    }
                }
            }
        }
    }

    /// Sends a flow's next packet, if it still may. The flow is out of the round robin.
    #[inline]
    pub(crate) fn send_data(&mut self, flow: u32, port_id: PortId, class: u8) -> bool {
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return false };
        sender.standing = Standing::Idle;
        if !sender.may_send(self.net.least_window) {
            return false;
        }
        self.emit(flow, port_id, class);
        if self.senders[flow as usize].as_deref().is_some_and(|s| s.may_send(self.net.least_window)) {
            self.stand(flow);
        }
        true
    }

    /// Puts a flow's next packet on the wire.
    #[inline(always)] // on the way of every packet
    pub(crate) fn emit(&mut self, flow: u32, port_id: PortId, class: u8) {
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        if self.ns3_nic && sender.reaction.next_timer() <= self.now {
            // A timer that was set long ago comes before the end of a transmission.
            sender.reaction.on_timer(self.now);
        }
        let wire = &self.net.wire;
        let left = sender.size - sender.snd_nxt;
        let payload = sender.next_payload(wire);
        let frame = payload + wire.data_overhead;
        let packet = Packet {
            seq: sender.snd_nxt,
            sent_at: self.now,
            flow,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: sender.position + 1,
            ingress: port_id,
            point: 0,
            size: frame as u16,
            payload: payload as u16,
            flow_count: 0,
            kind: Kind::Data,
            class,
            mark: Mark::None,
            flags: if payload == left { LAST } else { 0 },
            hops: 0,
        };
        if sender.snd_nxt == sender.snd_una {
            // Nothing was in flight: the silence that the retransmission timer waits for begins now.
            sender.progress_at = self.now;
        }
        sender.snd_nxt += payload;
        sender.wire_sent += frame;
        sender.packets_sent += 1;
        if sender.burst == 0 {
            sender.last_start = self.now;
            sender.last_frame = frame;
        } else {
            sender.pace_burst(self.now, payload, frame);
        }
        sender.rate_when_sent = sender.reaction.rate();
        sender.reaction.on_send(&Sent { now: self.now, payload, frame });
        let (id, src) = (self.packets.insert(packet), sender.src);
        if self.breakdown.is_some() {
            self.note_emission(flow, port_id, id);
        }
        self.put_on_wire(port_id, id);
        if self.lanes.is_some() {
            self.lane_sent(src, class, payload, frame);
        }
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        let timer = sender.reaction.next_timer();
        if timer < sender.timer_at {
            sender.timer_at = timer;
            self.events.push(sender.src, timer.max(self.now), key(kind::REACTION_TIMER, flow), 0);
        }
    }

    /// An ACK, NACK, CNP or CNM has arrived at the flow's source.
    #[inline(always)] // on the way of every packet
    pub(crate) fn feedback(&mut self, id: PacketId) {
        if self.breakdown.is_some() {
            self.note_feedback(id);
        }
        if self.lanes.is_some() {
            self.lane_feedback(id);
        }
        let packet = self.packets[id];
        let Some(sender) = self.senders[packet.flow as usize].as_deref_mut() else {
            return self.packets.remove(id); // the flow has completed
        };
        match packet.kind {
            Kind::Ack => {
                let newly_acked = packet.seq.saturating_sub(sender.snd_una);
                if newly_acked > 0 {
                    sender.snd_una = packet.seq;
                    sender.progress_at = self.now;
                    // After going back, what was sent twice may be acknowledged once.
                    sender.snd_nxt = sender.snd_nxt.max(packet.seq);
                }
                let done = sender.snd_una >= sender.size;
                if done && !self.ns3_nic {
                    self.packets.remove(id);
                    return self.flow_done(packet.flow);
                }
                if self.net.signals.acks {
                    let ack = ack_of(&self.packets, &self.net, id, self.now, newly_acked, sender.snd_nxt);
                    sender.reaction.on_ack(&ack);
                }
                if self.ns3_nic {
                    self.packets.remove(id);
                    return self.ns3_acked(packet.flow, newly_acked == packet.seq, done);
                }
            }
            Kind::Nack => {
                if packet.seq > sender.snd_una {
                    sender.snd_una = packet.seq;
                    sender.progress_at = self.now;
                    // The timer may have gone further back than the receiver was.
                    sender.snd_nxt = sender.snd_nxt.max(packet.seq);
                }
                if sender.snd_una >= sender.size {
                    self.packets.remove(id);
                    return self.flow_done(packet.flow);
                }
                if packet.seq < sender.snd_nxt && packet.seq >= sender.snd_una {
                    sender.go_back(packet.seq);
                    sender.reaction.on_loss(self.now);
                }
            }
            Kind::Cnp => {
                sender.cnps += 1;
                let rate = (packet.flags & HAS_RATE != 0).then_some(Rate(packet.seq));
                sender.reaction.on_cnp(self.now, &Cnp { mark: packet.mark, rate });
                self.records.notification(self.now, Kind::Cnp, packet.flow, None);
            }
            Kind::Cnm => {
                let cnm = Cnm { flow: packet.flow, point: packet.point, rate: Rate(packet.seq) };
                sender.reaction.on_cnm(self.now, &cnm);
                self.records.notification(self.now, Kind::Cnm, packet.flow, Some(packet.point));
            }
            Kind::Data | Kind::Pfc | Kind::CreditUpdate => {}
        }
        let src = sender.src;
        self.packets.remove(id);
        self.sync_reaction(packet.flow);
        if self.ns3_nic {
            self.ns3_kick(src);
        }
    }

    /// Where NICs work as in another simulator, what follows an ACK: the flow's first brings no rate yet, the last one
    /// still sets its rate, and each lets the NIC look for something to send.
    fn ns3_acked(&mut self, flow: u32, first: bool, done: bool) {
        let Some(sender) = self.senders[flow as usize].as_deref() else { return };
        let src = sender.src;
        if !first && self.net.settings.quirks.gap == PacingGap::RateInForce {
            self.ns3_repace(flow);
        }
        if done {
            self.flow_done(flow)
        } else {
            self.sync_reaction(flow)
        }
        self.ns3_kick(src);
    }

    pub(crate) fn reaction_timer(&mut self, flow: u32) {
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        let now = self.now;
        if sender.timer_at != now {
            return;
        }
        sender.timer_at = Time::NEVER;
        if sender.reaction.next_timer() <= now {
            sender.reaction.on_timer(now);
        }
        self.sync_reaction(flow);
    }

    /// In a lossy network: goes back to the first unacknowledged byte after a silence.
    pub(crate) fn retransmit_timer(&mut self, flow: u32) {
        let timeout = self.net.settings.host.retransmit_timeout;
        let now = self.now;
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        let mut next = sender.progress_at + timeout;
        if next <= now {
            next = now + timeout;
            if sender.snd_nxt > sender.snd_una {
                sender.go_back(sender.snd_una);
                sender.reaction.on_timeout(now);
            }
        }
        let src = sender.src;
        self.events.push(src, next, key(kind::RETRANSMIT_TIMER, flow), 0);
        self.sync_reaction(flow);
        if self.ns3_nic {
            self.ns3_kick(src);
        }
    }

    /// A flow's last byte is acknowledged, or an endless one has stopped: takes it out of its NIC's lists.
    fn flow_done(&mut self, flow: u32) {
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        let (src, priority, standing) = (sender.src, sender.priority, sender.standing);
        self.nic_forget(src, flow, priority, standing);
        self.close_account(flow);
        self.nics[src as usize].open_out -= 1;
        self.counters.flows_done += 1;
        self.counters.background_done += u64::from(self.net.is_background(flow));
        self.close_rates(flow);
        self.record_flow(flow, true);
        self.senders[flow as usize] = None;
        self.flow_sent(flow);
    }

    /// Writes a flow's outcome as it stands now.
    pub(crate) fn record_flow(&mut self, flow: u32, completed: bool) {
        let Some(sender) = self.senders[flow as usize].as_deref() else { return };
        let port = self.nics[sender.src as usize].port;
        let paused = self.paused_time(self.data_queue(port, DATA + sender.priority));
        let outcome = FlowOutcome {
            started: true,
            start: sender.start,
            fct: completed.then(|| self.now - sender.start),
            acked_bytes: sender.snd_una,
            packets_sent: sender.packets_sent,
            retransmitted_bytes: sender.retransmitted,
            cnps: sender.cnps,
            marks: Marks::default(), // its receiver's to tell
            paused: paused - sender.paused_before,
            hol_blocked: false, // known when all parts' roots are
        };
        self.records.outcomes.push((flow, outcome));
    }
}
