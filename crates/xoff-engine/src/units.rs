//! Times, rates and sizes: integers with types of their own.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use bytemuck::Zeroable;

/// Bits per byte times picoseconds per second: `bytes * BIT_PS_PER_BYTE / bits_per_second` is a time in picoseconds.
const BIT_PS_PER_BYTE: u64 = 8_000_000_000_000;

/// A moment or a duration of simulated time, in picoseconds. 64 bits hold 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Zeroable)]
#[repr(transparent)]
pub struct Time(pub u64);

impl Time {
    /// The beginning of the simulation, or a duration of zero.
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const NEVER: Time = Time(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_ns(n: u64) -> Time {
        Time(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Time {
        Time(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_ms(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds, rounded to the nearest double.
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The sum, or [`Time::NEVER`] if the sum does not fit.
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
    /// The difference, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
    /// The moment so long before this one: zero if that would be negative, and [`Time::NEVER`] before [`Time::NEVER`].
    pub const fn before(self, by: Time) -> Time {
        if self.0 == Time::NEVER.0 { self } else { self.saturating_sub(by) }
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, n: u64) -> Time {
        Time(self.0 * n)
    }
}
impl Div<u64> for Time {
    type Output = Time;
    fn div(self, n: u64) -> Time {
        Time(self.0 / n)
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Zeroable)]
pub struct Rate(pub u64);

impl Rate {
    /// Without limit: serialization takes no time.
    pub const UNLIMITED: Rate = Rate(u64::MAX);

    /// `n` megabits per second.
    pub const fn from_mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// `n` gigabits per second.
    pub const fn from_gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Bytes per picosecond, as a double, for control laws.
    pub fn bytes_per_ps(self) -> f64 {
        self.0 as f64 / BIT_PS_PER_BYTE as f64
    }
    /// The time that `bytes` take at this rate, rounded up to a whole picosecond; exact for every standard Ethernet and
    /// InfiniBand rate. `bytes` must be below 2.3 million, as in every frame; [`Rate::time_for`] takes any amount.
    #[inline]
    pub const fn serialization(self, bytes: u64) -> Time {
        Time((bytes * BIT_PS_PER_BYTE).div_ceil(self.0))
    }
    /// The time that `bytes` take at this rate as computed by ns-3: seconds as a double, converted to a fixed-point number
    /// with 64 binary places and truncated to whole nanoseconds. 1000 B at 100 Gbps take 80 ns, but ns-3 computes 79 ns.
    pub fn ns3_time(self, bytes: u64) -> Time {
        /// 2^64, which no `u64` reaches.
        const PLACES: f64 = 18_446_744_073_709_551_616.0;
        let seconds = (bytes as f64 * 8.0) / self.0 as f64;
        let nanoseconds =
            |fraction: f64| ((u128::from((fraction * PLACES) as u64) * 1_000_000_000) >> 64) as u64;
        // Frames take less than a second: their time needs no slow operation.
        Time::from_ns(if seconds < 1.0 {
            nanoseconds(seconds)
        } else {
            seconds.trunc() as u64 * 1_000_000_000 + nanoseconds(seconds.fract())
        })
    }
    /// The time that any number of bytes takes at this rate, rounded up; [`Time::NEVER`] if the time does not fit.
    pub const fn time_for(self, bytes: u64) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        let ps = (bytes as u128 * BIT_PS_PER_BYTE as u128).div_ceil(self.0 as u128);
        if ps > u64::MAX as u128 { Time::NEVER } else { Time(ps as u64) }
    }
    /// The bytes that pass in `time`, rounded down.
    pub const fn bytes_in(self, time: Time) -> u64 {
        (self.0 as u128 * time.0 as u128 / BIT_PS_PER_BYTE as u128) as u64
    }
    /// Picoseconds per byte; `None` if that is not a whole number.
    pub const fn ps_per_byte(self) -> Option<u64> {
        if self.0 != 0 && BIT_PS_PER_BYTE.is_multiple_of(self.0) {
            Some(BIT_PS_PER_BYTE / self.0)
        } else {
            None
        }
    }
}

/// `n` as a double, for control laws. `n` must be below 2^63, as every time and size of a run is: converting a signed number
/// takes one instruction, an unsigned one seven. [`Time::NEVER`] and [`Rate::UNLIMITED`] are too large.
#[inline]
pub fn as_double(n: u64) -> f64 {
    debug_assert!(n <= i64::MAX as u64, "{n} is beyond any run");
    n as i64 as f64
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_a_whole_number_of_picoseconds_at_every_standard_rate() {
        // 8 bits / 100e9 bit/s = 80 ps; / 1.6e12 = 5 ps; / 25e9 = 320 ps; / 1e9 = 8000 ps.
        for (gbps, ps) in
            [(1, 8000), (10, 800), (25, 320), (40, 200), (100, 80), (400, 20), (800, 10), (1600, 5)]
        {
            assert_eq!(Rate::from_gbps(gbps).serialization(1), Time(ps));
            assert_eq!(Rate::from_gbps(gbps).ps_per_byte(), Some(ps));
        }
    }

    #[test]
    fn an_odd_rate_rounds_up_and_never_sends_early() {
        // 3 Gbps: one byte is 2666.67 ps; three bytes are exactly 8000 ps.
        assert_eq!(Rate::from_gbps(3).serialization(1), Time(2667));
        assert_eq!(Rate::from_gbps(3).serialization(3), Time(8000));
        assert_eq!(Rate::from_gbps(3).time_for(3_000_000_000), Time(8_000_000_000_000));
    }

    #[test]
    fn times_are_counted_in_picoseconds() {
        // 7 + 5 ns = 12 ns, less 5 ns is 7 ns; five times 5 ns are 25 ns, a fifth of 5 ns is 1 ns.
        let (mut sum, five) = (Time::from_ns(7), Time::from_ns(5));
        sum += five;
        assert_eq!((sum, Time::from_ns(7) + five, sum - five), (Time(12_000), Time(12_000), Time(7_000)));
        assert_eq!((five * 5, five / 5), (Time(25_000), Time(1_000)));
        assert_eq!(
            (five.saturating_sub(sum), Time(1).saturating_add(Time::NEVER)),
            (Time::ZERO, Time::NEVER)
        );
        // 12 ns before 5 ns is no time, and what never comes does not come earlier either.
        assert_eq!(
            [sum.before(five), five.before(sum), Time::NEVER.before(five)],
            [Time(7_000), Time::ZERO, Time::NEVER]
        );
    }

    #[test]
    fn ns3_truncates_times_to_nanoseconds() {
        // 1090 B at 100 Gbps are 87.2 ns, 1048 B 83.84, 60 B 4.8, 43 B 3.44; at 400 Gbps 21.8, and 43 B 0.86. 1000 B
        // are 80 ns, but 8e-8 is not a binary fraction, and the double below it gives 79 ns.
        let (slow, fast) = (Rate::from_gbps(100), Rate::from_gbps(400));
        for (rate, bytes, ns) in [
            (slow, 1090, 87),
            (slow, 1048, 83),
            (slow, 60, 4),
            (slow, 43, 3),
            (fast, 1090, 21),
            (fast, 43, 0),
        ] {
            assert_eq!(rate.ns3_time(bytes), Time::from_ns(ns), "{bytes} B at {rate}");
        }
        assert_eq!(slow.ns3_time(1000), Time::from_ns(79));
        assert_eq!(Rate(1).ns3_time(1), Time::from_ns(8_000_000_000));
        // From a second on, the whole seconds count apart: 8 bits at 7 bit/s take 1.142857142857 s, cut to whole ns. Those
        // at 9 bit/s take 0.888888888888 s.
        assert_eq!(Rate(7).ns3_time(1), Time::from_ns(1_142_857_142));
        assert_eq!(Rate(9).ns3_time(1), Time::from_ns(888_888_888));
        assert_eq!(Rate(8).ns3_time(1), Time::from_ns(1_000_000_000));
    }

    #[test]
    fn bytes_and_time_are_inverse() {
        // 156,250 B pass in 12.5 us at 100 Gbps: the BDP of FNCC's dumbbell, headers aside.
        assert_eq!(Rate::from_gbps(100).bytes_in(Time(12_500_000)), 156_250);
        assert_eq!(Rate::from_gbps(100).time_for(156_250), Time(12_500_000));
    }
}
