//! Reaction points that all flows of a host and priority share: their packets are paced together, whichever flow they are
//! of. InfiniBand's service levels have them where the injection rate delay is one by SL.
//!
//! They hold back data that flows send, and no ACKs. Their timers are taken late, but at the times at which they ran out:
//! nothing asks a lane before its NIC has something to send, or feedback comes.

use xoff_engine::{Rate, Time};
use xoff_schemes::{AnyReaction, Cnm, Cnp, ReactionPoint, Sent, SlEnv};

use crate::network::Network;
use crate::packet::{HAS_RATE, Kind, PacketId};
use crate::part::Part;
use crate::port::{DATA, MAX_PRIORITIES};
use crate::sender::{Sender, ack_of};
use crate::settings::{PacingGap, Quirks};
use crate::topology::NodeId;

/// The class of a data priority, as a bit.
fn class_bit(priority: usize) -> u16 {
    1 << (usize::from(DATA) + priority)
}

/// A host's priority.
struct Lane {
    reaction: AnyReaction,
    rate_when_sent: Rate,
    /// Beginning of the last packet, and its bytes on the wire.
    last_start: Time,
    last_frame: u64,
}

impl Lane {
    /// Takes its timers up to `now`.
    fn advance(&mut self, now: Time) {
        loop {
            let timer = self.reaction.next_timer();
            if timer > now {
                return;
            }
            self.reaction.on_timer(timer);
        }
    }

    /// When its next packet may go, at the rate as it stands.
    fn due(&self, quirks: &Quirks) -> Time {
        let rate = match quirks.gap {
            PacingGap::RateInForce => self.reaction.rate(),
            PacingGap::RateWhenSent => self.rate_when_sent,
        };
        self.last_start + quirks.clock.serialization(rate, self.last_frame)
    }
}

/// The lanes of a part's hosts.
pub(crate) struct Lanes {
    /// By node, then priority; none at switches and in other parts.
    of: Vec<Vec<Lane>>,
}

impl Lanes {
    /// A lane for each priority of each host that is `owned`; none where the scheme has no such reaction points.
    pub fn new(net: &Network, owned: impl Fn(NodeId) -> bool) -> Option<Box<Lanes>> {
        let topology = &net.topology;
        let mut of: Vec<Vec<Lane>> = topology.nodes.iter().map(|_| Vec::new()).collect();
        for port in 0..topology.ports() {
            let node = topology.node_of(port);
            if !net.is_host(node) || !owned(node) {
                continue;
            }
            for _ in 0..net.settings.switch.priorities {
                let reaction = net.scheme.sl_reaction(&SlEnv { line_rate: topology.rate(port) })?;
                let rate_when_sent = reaction.rate();
                let lane = Lane { reaction, rate_when_sent, last_start: Time::ZERO, last_frame: 0 };
                of[node as usize].push(lane);
            }
        }
        Some(Box::new(Lanes { of }))
    }

    /// The rate of the lane that a flow goes by.
    pub fn rate(&mut self, now: Time, flow: &Sender) -> Rate {
        let lane = &mut self.of[flow.src as usize][usize::from(flow.priority)];
        lane.advance(now);
        lane.reaction.rate()
    }
}

impl Part {
    /// Of `classes`, those in which a host's flows may send as far as its lanes go.
    #[inline]
    pub(crate) fn open_lanes(&mut self, node: NodeId, classes: u16) -> u16 {
        if self.lanes.is_none() { classes } else { classes & self.lanes_due(node).0 }
    }

    /// When the first of a host's `classes` may send as far as its lanes go, or one of these may change its rate.
    #[inline]
    pub(crate) fn lanes_open_at(&mut self, node: NodeId, classes: u16) -> Time {
        if self.lanes.is_none() {
            return self.now;
        }
        let (open, times) = self.lanes_due(node);
        let first = |(priority, &at)| (classes & class_bit(priority) != 0).then_some(at);
        if open & classes != 0 {
            return self.now;
        }
        times.iter().enumerate().filter_map(first).min().unwrap_or(self.now)
    }

    /// The classes that may send now, and when to look again, by priority.
    fn lanes_due(&mut self, node: NodeId) -> (u16, [Time; MAX_PRIORITIES]) {
        let (mut open, mut times) = (class_bit(0) - 1, [Time::NEVER; MAX_PRIORITIES]);
        let Some(lanes) = &mut self.lanes else { return (u16::MAX, times) };
        let (now, quirks) = (self.now, &self.net.settings.quirks);
        for (priority, lane) in lanes.of[node as usize].iter_mut().enumerate() {
            lane.advance(now);
            let due = lane.due(quirks);
            times[priority] = due.min(lane.reaction.next_timer());
            if due <= now {
                open |= class_bit(priority);
            }
        }
        (open, times)
    }

    /// A flow's packet goes from a host in a data class.
    #[cold]
    pub(crate) fn lane_sent(&mut self, node: NodeId, class: u8, payload: u64, frame: u64) {
        let now = self.now;
        let Some(lanes) = &mut self.lanes else { return };
        let lane = &mut lanes.of[node as usize][usize::from(class - DATA)];
        lane.advance(now);
        (lane.last_start, lane.last_frame) = (now, frame);
        lane.rate_when_sent = lane.reaction.rate();
        lane.reaction.on_send(&Sent { now, payload, frame });
    }

    /// An ACK, CNP or CNM has come to a host, whose flow may have completed.
    #[cold]
    pub(crate) fn lane_feedback(&mut self, id: PacketId) {
        let packet = self.packets[id];
        let flow = &self.net.flows[packet.flow as usize];
        let now = self.now;
        let Some(lanes) = &mut self.lanes else { return };
        let lane = &mut lanes.of[flow.src as usize][usize::from(flow.priority)];
        lane.advance(now);
        match packet.kind {
            Kind::Ack if self.net.signals.acks => {
                let sender = self.senders[packet.flow as usize].as_deref();
                let (acked, next) = sender.map_or((packet.seq, packet.seq), |s| (s.snd_una, s.snd_nxt));
                let newly_acked = packet.seq.saturating_sub(acked);
                let ack = ack_of(&self.packets, &self.net, id, now, newly_acked, next.max(packet.seq));
                lane.reaction.on_ack(&ack);
            }
            Kind::Cnp => {
                let rate = (packet.flags & HAS_RATE != 0).then_some(Rate(packet.seq));
                lane.reaction.on_cnp(now, &Cnp { mark: packet.mark, rate });
            }
            Kind::Cnm => {
                let cnm = Cnm { flow: packet.flow, point: packet.point, rate: Rate(packet.seq) };
                lane.reaction.on_cnm(now, &cnm);
            }
            Kind::Ack | Kind::Nack | Kind::Data | Kind::Pfc | Kind::CreditUpdate => {}
        }
        // A rate that has risen lets the next packet go earlier.
        self.nic_rearm(flow.src);
    }
}
