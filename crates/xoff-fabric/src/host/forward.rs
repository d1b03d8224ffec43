//! Time that is carried forward over steady connections: what a host tells of them, and what a jump changes.
//!
//! A jump leaves all packets, timers and reaction points in flight as they are on the network's clock. A message loses the
//! bytes that it would have sent meanwhile, off its end. A reaction point whose timers run while nothing notifies it lives
//! through the jump by its timers and the packets that it would have sent.

use std::hash::{Hash, Hasher};

use xoff_engine::{Rate, Time};
use xoff_schemes::{ReactionPoint, Sent};

use super::Hosts;
use super::nic::NicScheduler;
use super::recall::Recall;
use super::transport::Reception;
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, FlowId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::detection::Marks;

/// Timers and packets of a jump that a reaction point lives through, at most. By then it has come to the line rate, where they change
/// nothing.
const MAX_TIMERS: u32 = 1_000_000;

/// A connection with a message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pulse {
    pub connection: ConnectionId,
    pub flow: FlowId,
    /// Bytes of the connection that were sent, the number of its next packet, and when the last packet began.
    pub sent: u64,
    pub next_packet: u32,
    pub sent_at: Time,
    /// Bytes of the connection that are acknowledged, and when the last ACK of new data came.
    pub acked: u64,
    pub acked_at: Time,
    /// Bytes of the message that are still to be sent; `u64::MAX` for an endless message.
    pub left: u64,
    pub rate: Rate,
    pub window: u64,
    /// Number of CNPs and CNMs so far.
    pub notified: u32,
    /// Its reaction point has a timer.
    pub has_timer: bool,
    /// Its reaction point sends packets in bursts, which end where the connection's offset says so.
    pub has_bursts: bool,
    /// Packets are sent again.
    pub resends: bool,
    /// The same, or an earlier message is not wholly acknowledged.
    pub repairs: bool,
    /// When the next packet is there to be sent, if the source has yet to make some of the message, or the NIC to prepare it.
    pub ready_at: Option<Time>,
}

impl Pulse {
    /// Its source, which has yet to make some of the message, has made more than it has sent.
    pub fn is_behind(&self) -> bool {
        self.ready_at.is_some_and(|at| at <= self.sent_at)
    }
}

#[cfg(test)]
impl Pulse {
    /// A message at 100 Gbps of which nothing is sent, and `left` bytes are to be.
    pub fn of(left: u64) -> Pulse {
        Pulse {
            connection: ConnectionId(0),
            flow: FlowId(0),
            sent: 0,
            next_packet: 0,
            sent_at: Time::ZERO,
            acked: 0,
            acked_at: Time::ZERO,
            left,
            rate: Rate::from_gbps(100),
            window: u64::MAX,
            notified: 0,
            has_timer: false,
            has_bursts: false,
            resends: false,
            repairs: false,
            ready_at: None,
        }
    }
}

/// How fast a steady connection sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    pub connection: ConnectionId,
    /// Time between two packets: `time` for each `packets` of them.
    pub time: Time,
    pub packets: u64,
    /// When the last packet began.
    pub sent_at: Time,
    /// Nothing notifies its reaction point.
    pub is_quiet: bool,
    /// Its reaction point has heard again what comes in the next jump, and does not live through it.
    pub is_taught: bool,
    /// How far its reaction point has lived through the next jump.
    pub lived: Time,
}

impl Pace {
    /// The number of packets in `time`, rounded to the nearest.
    pub fn packets_in(&self, time: Time) -> u64 {
        let doubled = 2 * u128::from(time.0) * u128::from(self.packets) / u128::from(self.time.0.max(1));
        doubled.div_ceil(2) as u64
    }

    /// The time of `packets`, rounded down.
    pub fn time_of(&self, packets: u64) -> Time {
        let time = u128::from(packets) * u128::from(self.time.0) / u128::from(self.packets.max(1));
        Time(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// Something at hosts always keeps times of its own that cannot be carried forward: throttles, reaction points of service levels,
    /// what slows NICs.
    pub fn is_slowed(&self) -> bool {
        self.slows
    }

    /// Receivers keep such times now: they are to notify their senders at some time, or take what their NICs have held.
    pub fn holds_times(&self) -> bool {
        self.holds || self.receivers.iter().flatten().any(|receiver| receiver.has_timer())
    }

    /// The connections with a message under way that is simulated. Only those are looked at: there may be a million others.
    fn open_connections(&self) -> Vec<ConnectionId> {
        let sends = |connection: &ConnectionId| {
            self.senders[connection.index()].as_deref().is_some_and(|sender| !sender.is_idle())
        };
        self.recall().into_iter().flat_map(Recall::connections).filter(sends).collect()
    }

    /// All connections with a message under way.
    pub fn pulses(&mut self, ctx: &Ctx) -> Vec<Pulse> {
        let open = self.open_connections();
        let pulse = |connection: ConnectionId| {
            let (rate, window) = self.rates_of(ctx, connection);
            let sender = self.senders[connection.index()].as_deref()?;
            let stream = &sender.stream;
            let endless = sender.message.end == u64::MAX;
            let resends = stream.gone_back_from > stream.snd_una
                || sender.selective.as_ref().is_some_and(|selective| selective.has_lost());
            Some(Pulse {
                connection,
                flow: sender.message.flow,
                sent: stream.snd_nxt,
                next_packet: stream.next_packet,
                sent_at: sender.pacing.last_start(),
                acked: stream.snd_una,
                acked_at: sender.progress_at,
                left: if endless { u64::MAX } else { sender.message.end - stream.snd_nxt },
                rate,
                window,
                has_timer: sender.reaction.next_timer() != Time::NEVER,
                has_bursts: sender.reaction.burst() > 0,
                notified: sender.reaction.notified(),
                resends,
                repairs: resends || sender.others.has_sent(),
                ready_at: (!sender.message.is_ready()).then(|| sender.data_ready_at()),
            })
        };
        open.into_iter().filter_map(pulse).collect()
    }

    /// What receivers have yet to acknowledge, the messages before those under way, those that receivers still count, and whose turn is next at NICs, with times from `now` on.
    pub fn hash_state(&self, now: Time, hasher: &mut impl Hasher) {
        for connection in self.open_connections() {
            if let Some(receiver) = self.receivers[connection.index()].as_deref() {
                (connection, receiver.unacked()).hash(hasher);
            }
            if let Some(sender) = self.senders[connection.index()].as_deref() {
                sender.hash_messages(hasher);
            }
        }
        for (place, nic) in self.nics.iter().enumerate() {
            let turns = nic.scheduler.turns(now);
            if !turns.is_empty() {
                (place, turns).hash(hasher);
            }
            // Those of which the time is over are forgotten at the next ACK.
            for until in nic.counts.recent_in.iter().filter(|until| **until > now) {
                (place, until.saturating_sub(now)).hash(hasher);
            }
        }
    }

    /// Lets the reaction points live through the next `time` alone, by their timers and by packets at their pace. Returns
    /// the time after which the first of them states a rate or window that differs by more than `tolerance`, at most `time`, and the
    /// largest relative change of a rate or window until then.
    pub fn live_through(&mut self, ctx: &Ctx, paces: &mut [Pace], time: Time, tolerance: f64) -> (Time, f64) {
        let (payload, frame) = (ctx.net.wire.payload, ctx.net.wire.frame());
        let (mut reached, mut largest, mut has_timer) = (time, 0.0_f64, Vec::new());
        let lives = |pace: &&mut Pace| pace.is_quiet && !pace.is_taught;
        for pace in paces.iter_mut().filter(lives) {
            let Some(sender) = self.senders[pace.connection.index()].as_deref_mut() else {
                has_timer.push(true);
                continue;
            };
            let reaction = &mut sender.reaction;
            has_timer.push(reaction.next_timer() != Time::NEVER);
            if reaction.next_timer() == Time::NEVER {
                continue;
            }
            pace.lived = reached;
            let (rate, window) = (reaction.rate().bps(), reaction.window());
            let change = |before: u64, now: u64| before.abs_diff(now) as f64 / before.max(1) as f64;
            let mut sent = 1;
            for _ in 0..MAX_TIMERS {
                let departs = (pace.sent_at + pace.time_of(sent)).max(ctx.now);
                let timer = reaction.next_timer();
                let next = timer.min(departs);
                if next > ctx.now + reached {
                    break;
                }
                if timer <= departs {
                    reaction.on_timer(timer);
                } else {
                    reaction.on_send(&Sent { now: departs, payload, frame });
                    sent += 1;
                }
                let change = change(rate, reaction.rate().bps()).max(change(window, reaction.window()));
                if change > tolerance {
                    reached = next.max(ctx.now) - ctx.now;
                    pace.lived = reached;
                    break;
                }
                largest = largest.max(change);
            }
        }
        // A point without a timer does nothing meanwhile, but may ask later how long ago something was, as DCQCN's does for α.
        for (pace, has_timer) in paces.iter_mut().filter(lives).zip(has_timer) {
            pace.lived = if has_timer { pace.lived } else { reached };
        }
        (reached, largest)
    }

    /// Carries a connection's message forward by `packets`, of which all but those in flight have arrived.
    pub fn carry(&mut self, ctx: &mut Ctx, pace: &Pace, packets: u64, time: Time) {
        let (payload, frame) = (ctx.net.wire.payload, ctx.net.wire.frame());
        let Some(sender) = self.senders[pace.connection.index()].as_deref_mut() else { return };
        sender.message.carry(time, packets, payload, frame);
        ctx.counters.delivered_bytes += packets * payload;
        if let Some(receiver) = self.receivers[pace.connection.index()].as_deref_mut()
            && let Reception::Unordered(arrivals) = receiver.reception_mut()
        {
            arrivals.carry(sender.message.flow, packets * payload);
        }
    }

    /// Carries the clocks of reaction points forward, and the starts of messages that wait.
    pub fn carry_clocks<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        paces: &[Pace],
        time: Time,
    ) {
        for sender in self.senders.iter_mut().flatten() {
            sender.others.queued_mut().for_each(|message| message.carried_time += time);
            if sender.is_idle() {
                sender.reaction.set_ahead(time);
            }
        }
        for pace in paces.iter().filter(|pace| pace.is_quiet) {
            let Some(sender) = self.senders[pace.connection.index()].as_deref_mut() else { continue };
            if pace.lived > Time::ZERO {
                sender.reaction.set_ahead(pace.lived);
                self.sync_reaction(ctx, links, pace.connection);
            }
        }
    }

    /// The counts of messages under way that a jump extrapolates; always in the same order as long as no message starts or completes.
    pub fn visit_counts(&mut self, mut visit: impl FnMut(&mut u64)) {
        for connection in self.open_connections() {
            let sender = self.senders[connection.index()].as_deref_mut();
            visit(sender.map_or(&mut 0, |sender| &mut sender.message.cnps));
            let mut none = Marks::default();
            let receiver = self.receivers[connection.index()].as_deref_mut();
            let marks = receiver.map_or(&mut none, |receiver| receiver.marks_mut());
            visit(&mut marks.ce);
            visit(&mut marks.ue);
        }
    }
}
