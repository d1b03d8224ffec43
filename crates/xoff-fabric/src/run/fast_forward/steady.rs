//! Whether all connections are steady, and how far their pace may be extrapolated.
//!
//! A connection's pace is measured between packets, not between looks: from the beginning of one packet to the beginning of
//! a later one. If its packets go at equal intervals, the pace is exact, whatever the looks' times are.
//!
//! The latest looks are taken as one observation of two halves, with all looks, the latest three quarters of them, and so on.
//! An observation takes twelve base RTTs, or one if nothing at all varies; and no less than a packet and its ACK take now, so that
//! whatever the network tells the senders has come to them.
//!
//! In each observation a connection must send in all four quarters at the same rate but for `e`, at most half of the tolerance,
//! and have the same limits of rate and window; under schemes with a state of their own but for chance ([`super::series`]).
//! Where `e` is zero, and what a connection sends comes back as ACKs at the same pace, the state repeats exactly, and a jump of whole
//! packets leaves it as it is; unless the scheme learns from ACKs or computes at switches, and so has a state that only the scheme
//! knows. Where reaction points learn from ACKs alone, they hear again what comes in a jump ([`crate::host::replay`]), and the jump is
//! as exact. Otherwise the rate swings about a mean, a jump
//! has at most [`MAX_SWINGS`] observations, and ends before a queue has changed by a few packets.
//!
//! Connections that compete for a link must repeat exactly: how they share it may hang on single packets, and after an
//! approximate jump it would go on in another way, by more than any tolerance; unless the run may be uncertain of that ([`super::Approximate`]).

use xoff_engine::Time;
use xoff_schemes::{AnyScheme, IntPath};

use super::account::Held;
use super::course::{Change, course, rate};
use super::history::{History, Look};
use crate::host::forward::{Pace, Pulse};
use crate::ids::{ConnectionId, FlowId, NodeId, PortId};
use crate::network::Network;
use crate::packet::Share;
use crate::settings::Order;

/// Minimum number of looks in an observation.
pub(super) const MIN_LOOKS: usize = 8;

/// Share of a link above which the connections that send by it compete.
const COMPETING_LOAD: f64 = 0.5;

/// All connections are steady.
pub(super) struct Steady {
    /// By connection under way: its pace.
    pub paces: Vec<Pace>,
    /// By connection under way: its change in a picosecond. Bytes in flight swing under schemes with a state of their own, of which nobody
    /// vouches for anything after a jump, and have no trend there.
    pub trends: Vec<Change>,
    /// Packets that come in one piece.
    batch: u64,
    /// Time between two updates of credits, which come at times of their own, and so at others after an approximate jump; zero without.
    updates: Time,
    /// How far the paces may be extrapolated.
    pub limit: Time,
    /// When the first message will have sent its last byte, from now.
    pub completion: Time,
    /// The pace of that message.
    first: usize,
    /// Relative difference between the quarters of the observation, the largest of all connections.
    pub difference: f64,
    /// Nothing differs at all.
    pub is_exact: bool,
    /// Connections compete for a link, and are to share it after a jump as before.
    competes: bool,
}

impl Steady {
    /// The steady state at the end of a history; by the longest observation in which all repeats exactly or, if there is none
    /// and `approximates`, in which all is steady. Connections that compete for a link are not steady unless they repeat exactly, or they `may_share`
    /// it in another way after a jump. The simulated time is `reached`.
    pub fn of(
        history: &History,
        (net, reached): (&Network, Time),
        tolerance: f64,
        (approximates, may_share): (bool, bool),
    ) -> Result<Steady, Held> {
        let looks = &history.looks[..];
        let (mut held, mut approximate): (_, Option<Steady>) = (None, None);
        let mut length = looks.len() / 2 * 2;
        while length >= MIN_LOOKS {
            let latest = &looks[looks.len() - length..];
            match Self::observe(history, latest, (net, reached), tolerance, may_share) {
                Ok(steady) if steady.is_exact => return Ok(steady),
                Ok(steady) => {
                    let is_better = |best: &Steady| steady.difference < best.difference;
                    if approximate.as_ref().is_none_or(is_better) {
                        approximate = Some(steady);
                    }
                }
                Err(why) => held = held.or(Some(why)),
            }
            length = (length * 3 / 4).max(length.min(MIN_LOOKS) - 2) / 2 * 2;
        }
        match approximate {
            Some(steady) if approximates => Ok(steady),
            Some(_) => Err(Held::Competing),
            None => Err(held.unwrap_or(Held::Observing)),
        }
    }

    fn observe(
        history: &History,
        looks: &[Look],
        (net, reached): (&Network, Time),
        tolerance: f64,
        may_share: bool,
    ) -> Result<Steady, Held> {
        let (first, last) = (&looks[0], &looks[looks.len() - 1]);
        let (observed, payload) = (last.at - first.at, net.wire.payload);
        let mut steady = Steady {
            paces: Vec::with_capacity(last.pulses.len()),
            trends: Vec::with_capacity(last.pulses.len()),
            batch: u64::from(net.settings.host.ack_every.max(1)),
            updates: net.settings.flow_control.update_period().unwrap_or(Time::ZERO),
            limit: Time::NEVER,
            completion: Time::NEVER,
            first: 0,
            difference: 0.0,
            is_exact: true,
            competes: false,
        };
        let tells = net.has_known_state() || hear_again(net, &last.pulses);
        let mut inexact = Vec::new();
        for (i, pulse) in last.pulses.iter().enumerate() {
            let course = course(looks, i, &net.wire, (history.base_rtt, !net.has_known_state()))?;
            let exact = course.admit(observed, history.base_rtt, tolerance, tells)?;
            if !exact || may_rise(pulse, net) {
                inexact.push(i);
            }
            steady.limit = steady.limit.min(course.limit(observed, tolerance, history.drift(pulse)));
            let completion = match pulse.left {
                u64::MAX => Time::NEVER,
                left => course.pace.time_of(left / payload),
            };
            if completion < steady.completion {
                (steady.completion, steady.first) = (completion, i);
            }
            steady.difference = steady.difference.max(course.difference);
            steady.paces.push(course.pace);
            let in_flight = if net.has_known_state() { course.trend.in_flight } else { 0.0 };
            steady.trends.push(Change { in_flight, ..course.trend });
        }
        let competing = competing(&steady.paces, net, reached);
        let is_inexact = |i: usize| inexact.contains(&i) || last.pulses[i].has_timer;
        let hangs_on_packets = (0..competing.len()).any(|i| competing[i] && is_inexact(i));
        if hangs_on_packets && !may_share {
            return Err(Held::Competing);
        }
        steady.competes = !may_share && competing.contains(&true);
        steady.is_exact = inexact.is_empty() && !hangs_on_packets && tells && !hides_order(net);
        Ok(steady)
    }

    /// The shortest time in which each connection sends whole packets, for whole ACKs, and updates of credits come as often; `None`
    /// if that is more than `most`.
    pub fn period(&self, net: &Network, most: Time) -> Option<Time> {
        let acks = u64::from(net.settings.host.ack_every.max(1));
        let of = |pace: &Pace| {
            // So many packets take a whole number of picoseconds.
            let whole = pace.packets / gcd(pace.time.0, pace.packets);
            let packets = whole / gcd(whole, acks) * acks;
            packets.checked_mul(pace.time.0).map(|time| time / pace.packets.max(1))
        };
        let updates = net.settings.flow_control.update_period().map(|period| Some(period.0));
        let all = self.paces.iter().map(of).chain(updates);
        let common = |all: u64, period: Option<u64>| {
            let period = period?.max(1);
            (all / gcd(all, period)).checked_mul(period).filter(|&period| period <= most.0)
        };
        all.into_iter().try_fold(1, common).map(Time)
    }

    /// A time of at most `time` in which the message that completes first sends whole packets. `None` if connections compete.
    pub fn whole_packets(&self, time: Time) -> Option<Time> {
        match self.paces.get(self.first) {
            _ if self.competes => None,
            Some(pace) => Some(pace.time_of((pace.packets_in(time)).saturating_sub(1))),
            None => Some(time),
        }
    }

    /// The estimated relative error of the rates over a jump, but for what reaction points with timers change in it: how they differ, how
    /// much they would have changed, half of the packets for which an ACK comes, which may be sent in one piece, and the time between two
    /// updates of credits.
    pub fn error(&self, time: Time) -> f64 {
        let slowest = self.paces.iter().map(|pace| pace.time_of(1)).max().unwrap_or(Time::ZERO);
        let half_a_piece = self.batch as f64 * slowest.0 as f64 / 2.0;
        let pieces = (half_a_piece + self.updates.0 as f64) / time.0.max(1) as f64;
        let change =
            self.trends.iter().fold(0.0_f64, |max, trend| max.max(trend.limits.abs())) * time.0 as f64;
        if self.is_exact { 0.0 } else { self.difference.max(change) + pieces }
    }
}

/// Whether reaction points learn from ACKs, round-trip times and counts of flows alone, so that they can hear again what comes in a jump. What
/// switches write is not heard again.
pub(super) fn learns_from_acks(net: &Network) -> bool {
    let signals = &net.signals;
    let computes = signals.congestion_point || signals.switch_point || signals.credits.is_some();
    let writes = signals.int != IntPath::Off || signals.label;
    signals.acks && !computes && !writes
}

/// Whether the reaction points of connections under way learn so, and have no timers and no bursts, which would have a state of their own.
pub(super) fn hear_again(net: &Network, pulses: &[Pulse]) -> bool {
    learns_from_acks(net) && !pulses.iter().any(|pulse| pulse.has_timer || pulse.has_bursts)
}

/// Whether the timers of a connection may raise its rate in the midst of a jump: below the line's rate they may.
pub(super) fn may_rise(pulse: &Pulse, net: &Network) -> bool {
    pulse.has_timer && pulse.rate < net.topology.rate(net.data_path(pulse.flow)[0])
}

/// Whether receivers keep times of their own, against which a jump would move all else: when packets came in PCN.
pub(super) fn holds_times(net: &Network) -> bool {
    matches!(net.scheme, AnyScheme::Pcn(_))
}

/// Whether what an approximate jump may be wrong by comes to no more in what follows. InfiniBand's reaction points go by whole steps of a
/// table, at times of a timer, so that a mark or a BECN that comes a little later changes their rates by a step.
pub(super) fn forgets(net: &Network) -> bool {
    net.has_known_state() && !matches!(net.scheme, AnyScheme::IbCc(_))
}

/// Whether simultaneous events come in an order that no state tells: that of their scheduling.
pub(super) fn hides_order(net: &Network) -> bool {
    net.settings.quirks.order == Order::Scheduled
}

/// Whether packets that a jump skips may have drawn random numbers: where they choose their way as they go, or where frames have numbers
/// of one stream.
pub(super) fn draws_by_packet(net: &Network) -> bool {
    net.paths.next_hops.is_some() || net.settings.quirks.marking_stream.is_some()
}

/// Whether a scheme does not feel that updates of credits, which come from time to time, shift against the packets in an approximate jump, or there are
/// none. What a scheme with a state of its own learns from that may be more than any tolerance.
pub(super) fn feels_no_updates(net: &Network) -> bool {
    net.has_known_state() || net.settings.flow_control.update_period().is_none()
}

/// Whether connections of two hosts lead by one port between switches, at any time; of those in `share`, if there is one.
pub(super) fn may_meet(net: &Network, share: Option<&Share>) -> bool {
    let connections = net.connections.count(net.flows.len());
    if net.paths.next_hops.is_some() {
        return connections > 1;
    }
    let mut senders: Vec<Option<NodeId>> = vec![None; net.topology.ports() as usize];
    let is_own = |flow: FlowId| share.is_none_or(|share| share.has(flow.index()));
    ConnectionId::all(connections).any(|connection| {
        let flow = net.connections.first_message(connection);
        let src = net.flows.src(flow);
        let mut paths = net.routes_of(connection).map(|route| net.data_ports(route));
        is_own(flow)
            && paths.any(|path| {
                let trunks = &path[1..path.len().max(2) - 1];
                trunks.iter().any(|port| *senders[port.index()].get_or_insert(src) != src)
            })
    })
}

/// Whether two connections under way send by one port at a simulated time.
pub(super) fn meet(pulses: &[Pulse], net: &Network, at: Time) -> bool {
    if net.paths.next_hops.is_some() {
        return pulses.len() > 1;
    }
    let mut taken = vec![false; net.topology.ports() as usize];
    let mut ports = pulses.iter().flat_map(|pulse| net.data_path_at(pulse.flow, at));
    ports.any(|port| std::mem::replace(&mut taken[port.index()], true))
}

/// By pace: whether the connection competes with another one at a simulated time, at a port that both fill by half or more. How such
/// connections share the port may depend on the smallest difference in time.
fn competing(paces: &[Pace], net: &Network, at: Time) -> Vec<bool> {
    let path = |pace: &Pace| net.data_path_at(net.connections.first_message(pace.connection), at);
    let mut loads = vec![(0_u32, 0.0); net.topology.ports() as usize];
    for pace in paces {
        let bytes = pace.packets * net.wire.frame();
        for port in path(pace) {
            let (flows, load) = &mut loads[port.index()];
            *flows += 1;
            *load += rate(bytes, pace.time) / net.rate_at(*port, at).bytes_per_ps();
        }
    }
    let is_shared = |port: &PortId| loads[port.index()].0 > 1 && loads[port.index()].1 > COMPETING_LOAD;
    paces.iter().map(|pace| path(pace).iter().any(is_shared)).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
