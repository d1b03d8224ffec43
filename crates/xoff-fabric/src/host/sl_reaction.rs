//! Reaction points that all flows of a NIC and priority share: each paces the packets of these flows together.
//! InfiniBand's service levels have such reaction points if the injection rate delay applies per SL.
//!
//! They hold back flows' data, but not ACKs. Their timers run late, but with the time at which they expired as current
//! time: nothing asks a shared reaction point before its NIC has something to send, or feedback comes.

use xoff_engine::{Rate, Time};
use xoff_schemes::{AnyReaction, Cnp, ReactionPoint, Sent, SlEnv};

use super::Hosts;
use super::feedback::{ack_of, matters};
use super::nic::{NicId, NicScheduler};
use crate::ctx::Ctx;
use crate::ids::NodeId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{DATA, Kind, MAX_PRIORITIES, PacketId};
use crate::settings::{PacingGap, Quirks};

/// The class of a data priority, as a bit.
fn class_bit(priority: usize) -> u16 {
    1 << (usize::from(DATA) + priority)
}

/// The shared reaction point of a host's priority, and its pacing.
struct SlReaction {
    reaction: AnyReaction,
    rate_when_sent: Rate,
    /// Beginning of the last packet, and its bytes on the wire.
    last_start: Time,
    last_frame: u64,
}

impl SlReaction {
    /// Runs the timers that expire up to `now`.
    fn advance(&mut self, now: Time) {
        loop {
            let timer = self.reaction.next_timer();
            if timer > now {
                return;
            }
            self.reaction.on_timer(timer);
        }
    }

    /// When its next packet may go, at the current rate.
    fn earliest_departure(&self, quirks: &Quirks) -> Time {
        let rate = match quirks.gap {
            PacingGap::RateInForce => self.reaction.rate(),
            PacingGap::RateWhenSent => self.rate_when_sent,
        };
        self.last_start + quirks.clock.serialization(rate, self.last_frame)
    }
}

/// The shared reaction points of a partition's NICs.
pub(crate) struct SlReactions {
    /// By NIC, then priority; empty for switches and for nodes of other partitions.
    of: Vec<Vec<SlReaction>>,
}

impl SlReactions {
    /// A reaction point for each priority of each host's NIC that is `owned`; `None` if the scheme has none.
    pub fn new(net: &Network, owned: impl Fn(NodeId) -> bool) -> Option<Box<SlReactions>> {
        let topology = &net.topology;
        let mut of: Vec<Vec<SlReaction>> = topology.nodes.iter().map(|_| Vec::new()).collect();
        let mut seen = vec![false; topology.nodes.len()];
        for port in topology.port_ids() {
            let node = topology.node_of(port);
            if !net.is_host(node) || !owned(node) {
                continue;
            }
            let mut reactions = Vec::new();
            for _ in 0..net.settings.switch.priorities {
                let reaction = net.scheme.sl_reaction(&SlEnv { line_rate: topology.rate(port) })?;
                let rate_when_sent = reaction.rate();
                reactions.push(SlReaction {
                    reaction,
                    rate_when_sent,
                    last_start: Time::ZERO,
                    last_frame: 0,
                });
            }
            // NICs are numbered as in `nic::all`.
            if std::mem::replace(&mut seen[node.index()], true) {
                of.push(reactions);
            } else {
                of[node.index()] = reactions;
            }
        }
        Some(Box::new(SlReactions { of }))
    }

    /// The rate of a NIC's priority.
    pub fn rate(&mut self, now: Time, nic: NicId, priority: u8) -> Rate {
        let shared = &mut self.of[nic as usize][usize::from(priority)];
        shared.advance(now);
        shared.reaction.rate()
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// The classes in which shared reaction points let a NIC's flows send now.
    pub(super) fn sl_open(&mut self, ctx: &Ctx, nic: NicId) -> u16 {
        self.sl_departures(ctx, nic).0
    }

    /// When shared reaction points let the first of a NIC's `classes` send, or when one of them may change its rate,
    /// whichever is earlier.
    pub(super) fn sl_open_at(&mut self, ctx: &Ctx, nic: NicId, classes: u16) -> Time {
        let (open, times) = self.sl_departures(ctx, nic);
        let first = |(priority, &at)| (classes & class_bit(priority) != 0).then_some(at);
        if open & classes != 0 {
            return ctx.now;
        }
        times.iter().enumerate().filter_map(first).min().unwrap_or(ctx.now)
    }

    /// The classes that may send now, and when to look again, by priority.
    fn sl_departures(&mut self, ctx: &Ctx, nic: NicId) -> (u16, [Time; MAX_PRIORITIES]) {
        let (mut open, mut times) = (class_bit(0) - 1, [Time::NEVER; MAX_PRIORITIES]);
        let Some(shared) = &mut self.sl_reactions else { return (u16::MAX, times) };
        let (now, quirks) = (ctx.now, &ctx.net.settings.quirks);
        for (priority, shared) in shared.of[nic as usize].iter_mut().enumerate() {
            shared.advance(now);
            let at = shared.earliest_departure(quirks);
            times[priority] = at.min(shared.reaction.next_timer());
            if at <= now {
                open |= class_bit(priority);
            }
        }
        (open, times)
    }

    /// A NIC sends a flow's packet in a data class.
    #[cold]
    pub(super) fn sl_sent(&mut self, ctx: &Ctx, nic: NicId, class: u8, payload: u64, frame: u64) {
        let now = ctx.now;
        let Some(shared) = &mut self.sl_reactions else { return };
        let shared = &mut shared.of[nic as usize][usize::from(class - DATA)];
        shared.advance(now);
        (shared.last_start, shared.last_frame) = (now, frame);
        shared.rate_when_sent = shared.reaction.rate();
        shared.reaction.on_send(&Sent { now, payload, frame });
    }

    /// An ACK, CNP or CNM has come to a host, whose flow may have completed.
    #[cold]
    pub(super) fn sl_feedback<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, id: PacketId) {
        let packet = ctx.packets[id];
        let (flow, now) = (ctx.net.flows.of(packet.flow), ctx.now);
        let connection = ctx.net.connections.of(packet.flow);
        let nic = self.nic_of(links, ctx.net.data_path(packet.flow)[0]);
        let Some(shared) = &mut self.sl_reactions else { return };
        let shared = &mut shared.of[nic as usize][usize::from(flow.priority)];
        shared.advance(now);
        match packet.kind {
            Kind::Ack if matters(&ctx.net.signals, packet.mark) => {
                let stream = self.senders[connection.index()].as_deref().map(|sender| sender.stream);
                let acked = stream.map_or(packet.seq, |s| s.snd_una);
                let next = stream.map_or((packet.seq, packet.number.wrapping_add(1)), |s| {
                    (s.snd_nxt.max(packet.seq), s.next_packet)
                });
                let newly_acked = packet.seq.saturating_sub(acked);
                let ack = ack_of(&ctx.packets, &ctx.net, id, (now, now), newly_acked, next, (0, 0));
                shared.reaction.on_ack(&ack);
            }
            Kind::Cnp => shared.reaction.on_cnp(now, &Cnp { mark: packet.mark, rate: packet.rate() }),
            Kind::Cnm => shared.reaction.on_cnm(now, &packet.message(connection.0)),
            _ => {}
        }
        // A rate that has risen lets the next packet go earlier.
        N::rearm(self, ctx, links, nic);
    }
}
