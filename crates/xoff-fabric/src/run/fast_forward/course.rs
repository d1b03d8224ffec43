//! What an observation says of one connection, and how far that may be extrapolated.

use xoff_engine::Time;

use super::account::Held;
use super::history::Look;
use super::series::{QUARTERS, Series, spread, strongest};
use crate::host::forward::{Pace, Pulse};
use crate::settings::WireSizes;

/// Packets that a connection sends at least in each half of an observation.
const MIN_PACKETS: u64 = 4;

/// Packets by which a connection's bytes in flight may change over a jump, by extrapolation.
const MAX_GROWTH: f64 = 4.0;

/// Jumps over rates that swing about a mean may be so many observations long.
const MAX_SWINGS: f64 = 4.0;

/// Base RTTs that an observation takes at least if rates swing.
const MIN_SWINGING: u64 = 12;

/// How a connection's state changes, in a picosecond or over all jumps in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Change {
    /// Relative change of its rate or limits.
    pub limits: f64,
    /// Growth of its bytes in flight, in packets; below zero if they become fewer.
    pub in_flight: f64,
}

impl Change {
    /// The sum of this and `time` of what changes by `trend` in a picosecond.
    pub fn and(self, trend: Change, time: Time) -> Change {
        let time = time.0 as f64;
        Change {
            limits: self.limits + trend.limits * time,
            in_flight: self.in_flight + trend.in_flight * time,
        }
    }
}

/// What an observation says of one connection.
#[derive(Debug)]
pub(super) struct Course {
    pub pace: Pace,
    /// Relative difference between the quarters of the observation.
    pub difference: f64,
    /// Change in a picosecond, by the halves of the observation: the state that a jump leaves as it is would have changed so. Limits of a
    /// reaction point that lives through jumps have none.
    pub trend: Change,
    /// Time between a packet's beginning and its ACK.
    round_trip: Time,
    /// Observations after which a limit that does not bind, and may fall unseen as it swings, can come to bind.
    unbound: f64,
    /// Its scheme states the same rate and window all the time.
    has_limits: bool,
}

impl Course {
    /// Whether it repeats exactly in the time `observed`, if what it tells is all its scheme's state: `is_known`. What varies, or has
    /// a state that may be about to change it, is observed for longer.
    ///
    /// # Errors
    /// If it was not observed for long enough, or is not steady.
    pub fn admit(
        &self,
        observed: Time,
        base_rtt: Time,
        tolerance: f64,
        is_known: bool,
    ) -> Result<bool, Held> {
        let exact = self.difference == 0.0 && self.trend.in_flight == 0.0 && self.has_limits;
        let rtts = if exact && is_known { 1 } else { MIN_SWINGING };
        if observed < self.round_trip.max(base_rtt * rtts) {
            return Err(Held::Observing);
        }
        if self.difference > tolerance / 2.0 {
            return Err(Held::RatesVary);
        }
        Ok(exact)
    }

    /// How far it may be extrapolated, after jumps in the message over which its state would have changed by `drift`.
    pub fn limit(&self, observed: Time, tolerance: f64, drift: Change) -> Time {
        let by_swings = observed.0 as f64 * MAX_SWINGS.max(tolerance / 2.0 / self.difference);
        let by_swings = if self.difference > 0.0 { by_swings } else { f64::INFINITY };
        let until = |most: f64, drift: f64, trend: f64| {
            let room = (most - drift * trend.signum()).max(0.0);
            if trend == 0.0 { f64::INFINITY } else { room / trend.abs() }
        };
        let by_trend = until(tolerance / 2.0, drift.limits, self.trend.limits);
        let by_growth = until(MAX_GROWTH, drift.in_flight, self.trend.in_flight);
        let by_limits = observed.0 as f64 * self.unbound;
        // The conversion saturates.
        Time(by_swings.min(by_trend).min(by_limits).min(by_growth) as u64)
    }
}

/// Bytes a picosecond.
pub(super) fn rate(bytes: u64, time: Time) -> f64 {
    bytes as f64 / time.0.max(1) as f64
}

/// What the connection at place `i` does during an observation of a network with a `base_rtt`. If it `may_swing`, differences and trends that
/// may be chance do not count: where a scheme has a state of its own, so that nobody vouches for what comes of a jump.
pub(super) fn course(
    looks: &[Look],
    i: usize,
    wire: &WireSizes,
    (base_rtt, may_swing): (Time, bool),
) -> Result<Course, Held> {
    let of = |look: &Look| look.pulses[i];
    let payload = wire.payload;
    let (first, last) = (of(&looks[0]), of(&looks[looks.len() - 1]));
    let (early, late) = looks.split_at(looks.len() / 2);
    let middle = of(&late[0]);
    if last.left == 0 {
        return Err(Held::Completion);
    }
    // A source's backlog comes to an end, and with it the pace.
    if looks.iter().any(|look| of(look).is_behind()) {
        return Err(Held::Drift);
    }
    // What is sent again counts as not sent until then, so that an earlier look may have more bytes.
    if looks.iter().any(|look| of(look).repairs) {
        return Err(Held::Repairs);
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
    let most_in_flight = looks.iter().map(in_flight).max().unwrap_or(0);
    // A window far beyond what is in flight binds nothing.
    let binding = 2 * most_in_flight;
    let limits = |pulse: &Pulse| (pulse.rate, pulse.window.min(binding));
    let ends = [0, early.len() / 2, early.len(), early.len() + late.len() / 2, looks.len() - 1];
    let by_rate = Series::known(QUARTERS.map(|q| {
        let (bytes, time) = sent(&of(&looks[ends[q]]), &of(&looks[ends[q + 1]]));
        rate(bytes, time)
    }));
    // What a scheme states is seen now and then; it may swing in less than a round trip.
    let observed = looks[looks.len() - 1].at - looks[0].at;
    let independent = observed.0 as f64 / 4.0 / base_rtt.0.max(1) as f64;
    let seen = |value: &dyn Fn(&Pulse) -> u64| {
        let quarter = |q: usize| -> Vec<f64> {
            looks[ends[q]..=ends[q + 1]].iter().map(|look| value(&of(look)) as f64).collect()
        };
        let quarters = QUARTERS.map(quarter);
        Series::seen(QUARTERS.map(|q| &quarters[q][..]), independent.min(quarters[0].len() as f64))
    };
    let by_window = seen(&|pulse| pulse.window.min(binding));
    let by_stated = seen(&|pulse| pulse.rate.bps());
    let pace = Pace {
        connection: last.connection,
        time,
        packets: bytes / payload,
        sent_at: last.sent_at,
        is_quiet: first.notified == last.notified,
        is_taught: false,
        lived: Time::ZERO,
    };
    let by_acks = spread(&[rate(bytes, time), rate(acked.0, acked.1)]);
    let bps = rate(bytes / payload * wire.frame(), time) * 8e12;
    let all = [by_rate, by_window, by_stated];
    let all = if may_swing { all } else { all.map(Series::as_it_is) };
    let [_, by_window, by_stated] = all;
    let unbound = |series: Series, used: f64| match series.binds(used) {
        true => f64::INFINITY,
        false => series.observations_until(used),
    };
    let limits_trend = if last.has_timer && pace.is_quiet { 0.0 } else { strongest(&all) / time.0 as f64 };
    let growth = by_acks.copysign(rate(bytes, time) - rate(acked.0, acked.1)) * rate(bytes, time);
    Ok(Course {
        round_trip: pace.time_of(last.sent.saturating_sub(last.acked) / payload),
        difference: all.iter().fold(by_acks, |max, of| of.difference().max(max)),
        trend: Change { limits: limits_trend, in_flight: growth / payload as f64 },
        unbound: unbound(by_window, most_in_flight as f64).min(unbound(by_stated, bps)),
        pace,
        has_limits: looks.iter().all(|look| limits(&of(look)) == limits(&first)),
    })
}

#[cfg(test)]
mod tests {
    use xoff_engine::Rate;
    use xoff_schemes::Signals;

    use super::*;
    use crate::settings::Settings;

    /// Sixteen looks, 1 us apart, at a connection with a packet of 1,000 B each 100 ns, and from look 8 on each `late` ps.
    fn looks(late: u64) -> Vec<Look> {
        let sent_at = |packet: u64| Time(packet.min(80) * 100_000 + packet.saturating_sub(80) * late);
        let look = |i: u64| {
            let packet = i * 10;
            let pulse = Pulse {
                sent: packet * 1_000,
                sent_at: sent_at(packet),
                acked: packet * 1_000,
                acked_at: sent_at(packet) + Time::from_us(1),
                ..Pulse::of(1_000_000)
            };
            Look { at: Time::from_us(i), pulses: vec![pulse] }
        };
        (0..16).map(look).collect()
    }

    /// Packets of 1,000 B without headers, and a base RTT of 1 us.
    fn seen(looks: &[Look], may_swing: bool) -> Result<Course, Held> {
        let wire = WireSizes::new(&Settings::default(), &Signals::default());
        let wire = WireSizes { payload: 1_000, data_overhead: 0, ..wire };
        course(looks, 0, &wire, (Time::from_us(1), may_swing))
    }

    fn of(difference: f64, growth: f64) -> Course {
        let course = seen(&looks(100_000), false).expect("steady");
        Course { difference, trend: Change { in_flight: growth, ..course.trend }, ..course }
    }

    #[test]
    fn a_connection_is_steady_if_its_quarters_differ_by_half_the_tolerance() {
        // 100.5 ns instead of 100 ns between packets are 0.4975 % less in the last quarters, 100.6 ns 0.596 %.
        let difference = |late| seen(&looks(late), false).map(|c| c.difference).expect("enough packets");
        assert_eq!(difference(100_000), 0.0);
        assert!((difference(100_500) - (1.0 - 1.0 / 1.005)).abs() < 1e-9);
        let (long, rtt) = (Time::from_us(1_000), Time::from_us(5));
        assert_eq!(of(difference(100_500), 0.0).admit(long, rtt, 0.01, true), Ok(false));
        assert_eq!(of(difference(100_600), 0.0).admit(long, rtt, 0.01, true), Err(Held::RatesVary));
        assert_eq!(of(difference(100_600), 0.0).admit(long, rtt, 0.012, true), Ok(false));
    }

    #[test]
    fn rates_that_swing_are_observed_for_twelve_rtts_and_exact_ones_for_one() {
        let (rtt, ps) = (Time::from_us(5), Time(1));
        for (difference, long, exact) in [(0.0, rtt, true), (0.001, rtt * 12, false)] {
            assert_eq!(of(difference, 0.0).admit(long, rtt, 0.01, true), Ok(exact));
            assert_eq!(of(difference, 0.0).admit(long - ps, rtt, 0.01, true), Err(Held::Observing));
        }
        // A scheme with a state of its own may be about to change its rate.
        assert_eq!(of(0.0, 0.0).admit(rtt * 12, rtt, 0.01, false), Ok(true));
        assert_eq!(of(0.0, 0.0).admit(rtt * 12 - ps, rtt, 0.01, false), Err(Held::Observing));
        // A packet's way and its ACK's may take longer than the base RTT.
        let slow = Course { round_trip: Time::from_us(7), ..of(0.0, 0.0) };
        assert_eq!(slow.admit(Time::from_us(6), rtt, 0.01, true), Err(Held::Observing));
    }

    #[test]
    fn swings_and_growth_set_limits() {
        // At 0.4 % of 0.5 %: four observations of 100 us; at 0.1 %: five. A packet each 2^30 ps is four in 2^32 ps.
        let observed = Time::from_us(100);
        let none = Change::default();
        assert_eq!(of(0.004, 0.0).limit(observed, 0.01, none), Time::from_us(400));
        assert_eq!(of(0.001, 0.0).limit(observed, 0.01, none), Time::from_us(500));
        assert_eq!(of(0.0, 2.0_f64.powi(-30)).limit(observed, 0.01, none), Time(1 << 32));
        assert_eq!(of(0.0, 0.0).limit(observed, 0.01, none), Time::NEVER);
        // After three packets in earlier jumps there is room for one more, or for seven fewer; after four for none.
        let grown = |growth: f64, grown: f64| {
            of(0.0, growth).limit(observed, 0.01, Change { in_flight: grown, ..none })
        };
        assert_eq!(grown(2.0_f64.powi(-30), 3.0), Time(1 << 30));
        assert_eq!(grown(-2.0_f64.powi(-30), 3.0), Time(7 << 30));
        assert_eq!(grown(2.0_f64.powi(-30), 4.0), Time::ZERO);
    }

    #[test]
    fn a_trend_may_go_on_for_half_the_tolerance_over_all_jumps_of_a_message() {
        // 0.1 % in 1 us: the 0.5 % are over in 5 us; in 3 us after 0.2 % in earlier jumps, in 7 us if those went down, and never
        // in none at all.
        let of_limits = |limits: f64| Change { limits, in_flight: 0.0 };
        let course = Course { trend: of_limits(1e-9), ..of(0.0, 0.0) };
        for (drift, us) in [(0.0, 5), (0.002, 3), (-0.002, 7), (0.006, 0)] {
            let limit = course.limit(Time::from_us(100), 0.01, of_limits(drift));
            assert!(limit.0.abs_diff(Time::from_us(us).0) <= 1, "{drift}: {limit:?}");
        }
        // Reaction points with timers live through jumps, unless something notifies them.
        let of = |has_timer, notified| {
            let mut looks = looks(100_500);
            looks.iter_mut().for_each(|look| look.pulses[0].has_timer = has_timer);
            looks[15].pulses[0].notified = notified;
            seen(&looks, false).expect("steady").trend.limits
        };
        assert!(of(false, 0) < 0.0 && of(true, 1) < 0.0);
        assert_eq!(of(true, 0), 0.0);
    }

    #[test]
    fn a_rate_that_swings_about_what_is_sent_is_steady_where_nobody_vouches_for_jumps() {
        // 1,000 B each 100 ns are 80 Gbps. The stated rate, seen once a base RTT, is 3 % above or below 80 Gbps; or above or below 120 Gbps,
        // which does not limit what is sent, and may fall to 80 Gbps unseen.
        let swinging = |mean: u64| {
            let mut looks = looks(100_000);
            let signs = [1, 1, -1, 1, -1, -1, 1, -1, 1, -1, -1, 1, -1, 1, 1, -1];
            for (look, sign) in looks.iter_mut().zip(signs) {
                look.pulses[0].rate = Rate(mean * 1_000_000_000 / 100 * (100 + 3 * sign) as u64);
            }
            looks
        };
        let strict = seen(&swinging(80), false).expect("known");
        assert!(strict.difference > 0.005 && !strict.has_limits);
        let limit = |looks: &[Look]| {
            let course = seen(looks, true).expect("known");
            assert!(course.difference == 0.0 && course.trend.limits == 0.0 && !course.has_limits);
            course.limit(Time::from_us(15), 0.01, Change::default())
        };
        assert_eq!(limit(&swinging(80)), Time::NEVER);
        // A third of 120 Gbps is room. Quarters of five looks (the first: four and a half of the swing; none differs from the mean by more than
        // all of it) have a standard deviation of 3 % or a little more, and of 3.75 RTTs a standard error of about 1.6 %: 5.3 times that
        // is some 9 %, which is four observations.
        let long = limit(&swinging(120)).0 as f64 / Time::from_us(15).0 as f64;
        assert!((3.0..5.0).contains(&long), "{long}");
    }

    #[test]
    fn what_is_sent_again_or_ends_is_not_steady() {
        let with = |change: fn(&mut Pulse)| {
            let mut looks = looks(100_000);
            looks.iter_mut().for_each(|look| change(&mut look.pulses[0]));
            seen(&looks, false).map(|_| ()).expect_err("not steady")
        };
        assert_eq!(with(|pulse| pulse.repairs = true), Held::Repairs);
        // At look 4 packets up to 84 are sent; those from 50 on are sent again, up to look 8, which has only 80. From look 9 on all
        // goes on as if nothing had been.
        let mut looks = looks(100_000);
        looks[4].pulses[0].sent = 85_000;
        looks[5..=8].iter_mut().for_each(|look| look.pulses[0].repairs = true);
        assert_eq!(seen(&looks, false).map(|_| ()), Err(Held::Repairs));
        assert_eq!(with(|pulse| pulse.left = 0), Held::Completion);
        assert_eq!(with(|pulse| pulse.ready_at = Some(pulse.sent_at)), Held::Drift);
        // Three packets in a half are too few, and so are ACKs of three packets.
        assert_eq!(with(|pulse| pulse.sent = pulse.sent / 25_000 * 1_000), Held::FewPackets);
        assert_eq!(with(|pulse| pulse.acked = pulse.acked / 50_000 * 1_000), Held::FewPackets);
    }
}
