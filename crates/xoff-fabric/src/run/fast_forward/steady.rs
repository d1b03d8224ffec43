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
//! and have the same limits of rate and window. Where `e` is zero, and what a connection sends comes back as ACKs at the same pace,
//! the state repeats exactly, and a jump of whole packets leaves it as it is; unless the scheme learns from ACKs or computes at
//! switches, and so has a state that only the scheme knows. Otherwise the rate swings about a mean, a jump
//! has at most [`MAX_SWINGS`] observations, and ends before a queue has changed by a few packets.
//!
//! Connections that compete for a link must repeat exactly: how they share it may hang on single packets, and after an
//! approximate jump it would go on in another way, by more than any tolerance.

use xoff_engine::Time;

use super::account::Held;
use super::history::{History, Look};
use crate::host::forward::{Pace, Pulse};
use crate::ids::{ConnectionId, NodeId, PortId};
use crate::network::Network;

/// Minimum number of looks in an observation.
const MIN_LOOKS: usize = 8;

/// Packets that a connection sends at least in each half of an observation.
const MIN_PACKETS: u64 = 4;

/// Packets by which a connection's bytes in flight may change over a jump, by extrapolation.
const MAX_GROWTH: f64 = 4.0;

/// Jumps over rates that swing about a mean may be so many observations long.
const MAX_SWINGS: f64 = 4.0;

/// Base RTTs that an observation takes at least if rates swing.
const MIN_SWINGING: u64 = 12;

/// The quarters of an observation.
const QUARTERS: [usize; 4] = [0, 1, 2, 3];

/// Differences below it are differences of rounding.
const ROUNDING: f64 = 1e-12;

/// Share of a link above which the connections that send by it compete.
const COMPETING_LOAD: f64 = 0.5;

/// All connections are steady.
pub(super) struct Steady {
    /// By connection under way: its pace.
    pub paces: Vec<Pace>,
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
    /// Connections compete for a link.
    competes: bool,
}

/// What an observation says of one connection.
#[derive(Debug)]
struct Course {
    pace: Pace,
    difference: f64,
    /// Time between a packet's beginning and its ACK.
    round_trip: Time,
    /// Growth of its bytes in flight, in packets a picosecond.
    growth: f64,
    /// Its scheme states the same rate and window all the time.
    has_limits: bool,
}

impl Course {
    /// Whether it repeats exactly in the time `observed`.
    ///
    /// # Errors
    /// If it was not observed for long enough, or is not steady.
    fn admit(&self, observed: Time, base_rtt: Time, tolerance: f64) -> Result<bool, Held> {
        let exact = self.difference == 0.0 && self.growth == 0.0 && self.has_limits;
        if observed < self.round_trip.max(base_rtt * if exact { 1 } else { MIN_SWINGING }) {
            return Err(Held::Observing);
        }
        if self.difference > tolerance / 2.0 {
            return Err(Held::RatesVary);
        }
        Ok(exact)
    }

    /// How far it may be extrapolated.
    fn limit(&self, observed: Time, tolerance: f64) -> Time {
        let by_swings = observed.0 as f64 * MAX_SWINGS.max(tolerance / 2.0 / self.difference);
        let by_swings = if self.difference > 0.0 { by_swings } else { f64::INFINITY };
        // The conversion saturates: a growth of zero sets no limit.
        Time(by_swings.min(MAX_GROWTH / self.growth) as u64)
    }
}

impl Steady {
    /// The steady state at the end of a history; by the longest observation in which all repeats exactly or, if there is none
    /// and `approximates`, in which all is steady.
    pub fn of(history: &History, net: &Network, tolerance: f64, approximates: bool) -> Result<Steady, Held> {
        let looks = &history.looks[..];
        let (mut held, mut approximate): (_, Option<Steady>) = (None, None);
        let mut length = looks.len() / 2 * 2;
        while length >= MIN_LOOKS {
            let latest = &looks[looks.len() - length..];
            match Self::observe(latest, history.base_rtt, net, tolerance) {
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

    fn observe(looks: &[Look], base_rtt: Time, net: &Network, tolerance: f64) -> Result<Steady, Held> {
        let (first, last) = (&looks[0], &looks[looks.len() - 1]);
        let (observed, payload) = (last.at - first.at, net.wire.payload);
        let mut steady = Steady {
            paces: Vec::with_capacity(last.pulses.len()),
            limit: Time::NEVER,
            completion: Time::NEVER,
            first: 0,
            difference: 0.0,
            is_exact: true,
            competes: false,
        };
        let mut inexact = Vec::new();
        for (i, pulse) in last.pulses.iter().enumerate() {
            let course = course(looks, i, payload)?;
            let exact = course.admit(observed, base_rtt, tolerance)?;
            // Below the line's rate, its timers may raise the rate in the midst of a jump.
            let line = net.topology.rate(net.data_path(pulse.flow)[0]);
            if !exact || (pulse.has_timer && pulse.rate < line) {
                inexact.push(i);
            }
            steady.limit = steady.limit.min(course.limit(observed, tolerance));
            let completion = match pulse.left {
                u64::MAX => Time::NEVER,
                left => course.pace.time_of(left / payload),
            };
            if completion < steady.completion {
                (steady.completion, steady.first) = (completion, i);
            }
            steady.difference = steady.difference.max(course.difference);
            steady.paces.push(course.pace);
        }
        let competing = competing(&steady.paces, net);
        if inexact.iter().any(|&i| competing[i]) {
            return Err(Held::Competing);
        }
        if (0..competing.len()).any(|i| competing[i] && last.pulses[i].has_timer) {
            return Err(Held::Competing);
        }
        steady.competes = competing.contains(&true);
        steady.is_exact = inexact.is_empty() && is_known(net);
        Ok(steady)
    }

    /// A time of at most `time` in which each message sends whole packets, or at least the one that completes first. `None` if
    /// not all of them would send whole packets, and connections compete or an approximation is not allowed.
    pub fn whole_packets(&mut self, time: Time, approximates: bool) -> Option<Time> {
        let period = self.paces.iter().try_fold(1, |all, pace| {
            let period = pace.time.0 / gcd(pace.time.0, pace.packets);
            (all / gcd(all, period)).checked_mul(period).filter(|&period| period <= time.0)
        });
        match (period, self.paces.get(self.first)) {
            (Some(period), _) => Some(Time(time.0 / period * period)),
            (None, _) if self.competes || !approximates => None,
            (None, Some(pace)) => {
                self.is_exact = false;
                Some(pace.time_of((pace.packets_in(time)).saturating_sub(1)))
            }
            (None, None) => Some(time),
        }
    }

    /// The estimated relative error of the rates over a jump: how they differ, and half a packet.
    pub fn error(&self, time: Time) -> f64 {
        let slowest = self.paces.iter().map(|pace| pace.time_of(1)).max().unwrap_or(Time::ZERO);
        let half_a_packet = slowest.0 as f64 / 2.0 / time.0.max(1) as f64;
        if self.is_exact { 0.0 } else { self.difference + half_a_packet }
    }
}

/// Whether the rate and window of a scheme, and its timers, are all its state while nothing notifies its senders. What a scheme
/// learns from each ACK, or computes at switches, is known to the scheme alone.
fn is_known(net: &Network) -> bool {
    !(net.signals.acks || net.signals.congestion_point || net.signals.switch_point)
}

/// Whether connections of two hosts lead by one port between switches.
pub(super) fn may_meet(net: &Network) -> bool {
    let connections = net.connections.count(net.flows.len());
    if net.paths.next_hops.is_some() {
        return connections > 1;
    }
    let mut senders: Vec<Option<NodeId>> = vec![None; net.topology.ports() as usize];
    ConnectionId::all(connections).any(|connection| {
        let flow = net.connections.first_message(connection);
        let (src, path) = (net.flows[flow.index()].src, net.data_path(flow));
        let trunks = &path[1..path.len().max(2) - 1];
        trunks.iter().any(|port| *senders[port.index()].get_or_insert(src) != src)
    })
}

/// By pace: whether the connection competes with another one, at a port that both fill by half or more. How such connections
/// share the port may depend on the smallest difference in time.
fn competing(paces: &[Pace], net: &Network) -> Vec<bool> {
    if net.paths.next_hops.is_some() {
        return vec![paces.len() > 1; paces.len()];
    }
    let path = |pace: &Pace| net.data_path(net.connections.first_message(pace.connection));
    let mut loads = vec![(0_u32, 0.0); net.topology.ports() as usize];
    for pace in paces {
        let bytes = pace.packets * net.wire.frame();
        for port in path(pace) {
            let (flows, load) = &mut loads[port.index()];
            *flows += 1;
            *load += rate(bytes, pace.time) / net.topology.rate(*port).bytes_per_ps();
        }
    }
    let is_shared = |port: &PortId| loads[port.index()].0 > 1 && loads[port.index()].1 > COMPETING_LOAD;
    paces.iter().map(|pace| path(pace).iter().any(is_shared)).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// Bytes a picosecond.
fn rate(bytes: u64, time: Time) -> f64 {
    bytes as f64 / time.0.max(1) as f64
}

/// What the connection at place `i` does during an observation.
fn course(looks: &[Look], i: usize, payload: u64) -> Result<Course, Held> {
    let of = |look: &Look| look.pulses[i];
    let (first, last) = (of(&looks[0]), of(&looks[looks.len() - 1]));
    let (early, late) = looks.split_at(looks.len() / 2);
    let middle = of(&late[0]);
    if last.repairs || last.left == 0 {
        return Err(if last.left == 0 { Held::Completion } else { Held::Repairs });
    }
    let sent = |a: &Pulse, b: &Pulse| (b.sent - a.sent, b.sent_at.saturating_sub(a.sent_at));
    let halves = [sent(&first, &middle), sent(&middle, &last)];
    if halves.iter().any(|(bytes, time)| *bytes < MIN_PACKETS * payload || *time == Time::ZERO) {
        return Err(Held::FewPackets);
    }
    let (bytes, time) = sent(&first, &last);
    let acked = (last.acked - first.acked, last.acked_at.saturating_sub(first.acked_at));
    if acked.0 < MIN_PACKETS * payload {
        return Err(Held::FewPackets);
    }
    let in_flight = |look: &Look| of(look).sent - of(look).acked;
    // A window far beyond what is in flight binds nothing.
    let binding = 2 * looks.iter().map(in_flight).max().unwrap_or(0);
    let ends = [0, early.len() / 2, early.len(), early.len() + late.len() / 2, looks.len() - 1];
    let quarter = |q: usize| &looks[ends[q]..=ends[q + 1]];
    let by_rate = QUARTERS.map(|q| {
        let (bytes, time) = sent(&of(&looks[ends[q]]), &of(&looks[ends[q + 1]]));
        rate(bytes, time)
    });
    let by_window = QUARTERS.map(|q| mean(quarter(q).iter().map(|look| of(look).window.min(binding))));
    let by_stated = QUARTERS.map(|q| mean(quarter(q).iter().map(|look| of(look).rate.bps())));
    let pace = Pace {
        connection: last.connection,
        time,
        packets: bytes / payload,
        sent_at: last.sent_at,
        is_quiet: first.notified == last.notified,
        lived: Time::ZERO,
    };
    let by_acks = spread(&[rate(bytes, time), rate(acked.0, acked.1)]);
    Ok(Course {
        round_trip: pace.time_of(last.sent.saturating_sub(last.acked) / payload),
        pace,
        difference: [by_rate, by_window, by_stated].into_iter().fold(by_acks, |max, of| spread(&of).max(max)),
        has_limits: looks.iter().all(|look| (of(look).rate, of(look).window) == (first.rate, first.window)),
        growth: by_acks * rate(bytes, time) / payload as f64,
    })
}

/// By how much values differ, relative to the largest; rounding is none.
fn spread(values: &[f64]) -> f64 {
    let (min, max) = values.iter().fold((f64::INFINITY, 0.0_f64), |(min, max), &v| (min.min(v), max.max(v)));
    let spread = (max - min) / max.max(f64::MIN_POSITIVE);
    if spread < ROUNDING { 0.0 } else { spread }
}

fn mean(values: impl ExactSizeIterator<Item = u64>) -> f64 {
    let count = values.len();
    values.map(u128::from).sum::<u128>() as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use xoff_engine::Rate;

    use super::*;
    use crate::ids::FlowId;

    /// Sixteen looks, 1 us apart, at a connection with a packet of 1,000 B each 100 ns, and from look 8 on each `late` ps.
    fn looks(late: u64) -> Vec<Look> {
        let sent_at = |packet: u64| Time(packet.min(80) * 100_000 + packet.saturating_sub(80) * late);
        let look = |i: u64| {
            let packet = i * 10;
            let pulse = Pulse {
                connection: ConnectionId(0),
                flow: FlowId(0),
                sent: packet * 1_000,
                sent_at: sent_at(packet),
                acked: packet * 1_000,
                acked_at: sent_at(packet) + Time::from_us(1),
                left: 1_000_000,
                rate: Rate::from_gbps(80),
                window: u64::MAX,
                notified: 0,
                has_timer: false,
                repairs: false,
            };
            Look { at: Time::from_us(i), pulses: vec![pulse] }
        };
        (0..16).map(look).collect()
    }

    fn of(difference: f64, growth: f64) -> Course {
        let course = course(&looks(100_000), 0, 1_000).expect("steady");
        Course { difference, growth, ..course }
    }

    #[test]
    fn a_connection_is_steady_if_its_quarters_differ_by_half_the_tolerance() {
        // 100.5 ns instead of 100 ns between packets are 0.4975 % less in the last quarters, 100.6 ns 0.596 %.
        let difference = |late| course(&looks(late), 0, 1_000).map(|c| c.difference).expect("enough packets");
        assert_eq!(difference(100_000), 0.0);
        assert!((difference(100_500) - (1.0 - 1.0 / 1.005)).abs() < 1e-9);
        let (long, rtt) = (Time::from_us(1_000), Time::from_us(5));
        assert_eq!(of(difference(100_500), 0.0).admit(long, rtt, 0.01), Ok(false));
        assert_eq!(of(difference(100_600), 0.0).admit(long, rtt, 0.01), Err(Held::RatesVary));
        assert_eq!(of(difference(100_600), 0.0).admit(long, rtt, 0.012), Ok(false));
    }

    #[test]
    fn rates_that_swing_are_observed_for_twelve_rtts_and_exact_ones_for_one() {
        let (rtt, ps) = (Time::from_us(5), Time(1));
        for (difference, long, exact) in [(0.0, rtt, true), (0.001, rtt * 12, false)] {
            assert_eq!(of(difference, 0.0).admit(long, rtt, 0.01), Ok(exact));
            assert_eq!(of(difference, 0.0).admit(long - ps, rtt, 0.01), Err(Held::Observing));
        }
        // A packet's way and its ACK's may take longer than the base RTT.
        let slow = Course { round_trip: Time::from_us(7), ..of(0.0, 0.0) };
        assert_eq!(slow.admit(Time::from_us(6), rtt, 0.01), Err(Held::Observing));
    }

    #[test]
    fn swings_and_growth_set_limits() {
        // At 0.4 % of 0.5 %: four observations of 100 us; at 0.1 %: five. A packet each 2^30 ps is four in 2^32 ps.
        let observed = Time::from_us(100);
        assert_eq!(of(0.004, 0.0).limit(observed, 0.01), Time::from_us(400));
        assert_eq!(of(0.001, 0.0).limit(observed, 0.01), Time::from_us(500));
        assert_eq!(of(0.0, 2.0_f64.powi(-30)).limit(observed, 0.01), Time(1 << 32));
        assert_eq!(of(0.0, 0.0).limit(observed, 0.01), Time::NEVER);
    }

    #[test]
    fn what_is_sent_again_or_ends_is_not_steady() {
        let with = |change: fn(&mut Pulse)| {
            let mut looks = looks(100_000);
            looks.iter_mut().for_each(|look| change(&mut look.pulses[0]));
            course(&looks, 0, 1_000).map(|_| ()).expect_err("not steady")
        };
        assert_eq!(with(|pulse| pulse.repairs = true), Held::Repairs);
        assert_eq!(with(|pulse| pulse.left = 0), Held::Completion);
        // Three packets in a half are too few, and so are ACKs of three packets.
        assert_eq!(with(|pulse| pulse.sent = pulse.sent / 25_000 * 1_000), Held::FewPackets);
        assert_eq!(with(|pulse| pulse.acked = pulse.acked / 50_000 * 1_000), Held::FewPackets);
    }
}
