//! Ports: an egress and the link that leaves it.

use bytemuck::Zeroable;
use xoff_engine::{Rate, Time};

use crate::ids::NodeId;
use crate::packet::PartitionId;
use crate::settings::Clock;

/// From this value on, [`Port::arrivals`] says that the peer is in another partition of the network: its number, and this.
pub const AWAY: u32 = u32::MAX - PartitionId::MAX as u32;

/// Bit of [`Port::paused`]: the link is down, and no class may send.
pub const DEAD: u16 = 1 << 15;
/// Bit of [`Port::paused`]: a PFC watchdog drops packets of some class.
pub const DROPS: u16 = 1 << 14;

/// An egress port and its link. Times are exact: see [`Rate::serialization`].
///
/// What every packet needs is in the first cache line, and all else in the second one. In runs in the order of scheduling and with clocks
/// that cut times, each packet needs both lines.
#[derive(Clone, Debug, Zeroable)]
#[repr(C, align(64))]
pub struct Port {
    /// Until when the wire is taken.
    pub busy_until: Time,
    /// Bytes sent or being sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes queued in all classes.
    pub queued_bytes: u64,
    /// Propagation delay of the link.
    pub delay: Time,
    /// Time that the wire stays taken after each frame (preamble and minimum gap, if they count).
    pub gap: Time,
    /// Picoseconds per byte, or 0 if that is not a whole number.
    ps_per_byte: u32,
    /// The place in the future events where a packet's arrival at the peer goes, or the peer's partition: see [`AWAY`].
    pub arrivals: u32,
    /// Classes with packets, one bit each.
    pub backlog: u16,
    /// Classes that may not send, with [`DEAD`] and [`DROPS`], which keep packets off the quick way.
    pub paused: u16,
    /// A wake-up at `busy_until` is pending.
    pub armed: bool,
    /// The class that round robin tries first.
    pub turn: u8,
    /// INT's code of the rate.
    pub speed_code: u8,
    /// A switch is at the other end.
    pub to_switch: bool,
    /// The node that the port belongs to.
    pub node: NodeId,
    /// How times on the wire are computed if a byte's time is not a whole number of picoseconds.
    clock: Clock,
    /// Line rate.
    pub rate: Rate,
    /// Maximum of bytes queued so far.
    pub max_queued_bytes: u64,
    /// Maximum of bytes queued since the last sample.
    pub recent_max_bytes: u64,
    /// Bytes of the last short and of the last long frame whose time on the wire was not a product, which most frames are like.
    recent_bytes: [u16; 2],
    /// The times of these frames.
    recent_times: [Time; 2],
    /// What [`super::frame_ends`] knows of the end of the frame on the wire.
    pub end: u64,
}

const _: () = assert!(size_of::<Port>() == 128, "a port takes two cache lines");

/// Frames of fewer bytes are short, as those without payload are.
const SHORT: u64 = 256;

impl Port {
    /// An idle port.
    pub fn new(node: NodeId, rate: Rate, delay: Time, arrivals: u32, speed_code: u8) -> Self {
        Port {
            busy_until: Time::ZERO,
            tx_bytes: 0,
            queued_bytes: 0,
            delay,
            gap: Time::ZERO,
            ps_per_byte: rate.ps_per_byte().and_then(|ps| u32::try_from(ps).ok()).unwrap_or(0),
            arrivals,
            node,
            backlog: 0,
            paused: 0,
            armed: false,
            turn: 0,
            speed_code,
            to_switch: false,
            clock: Clock::Exact,
            rate,
            tx_packets: 0,
            max_queued_bytes: 0,
            recent_max_bytes: 0,
            recent_bytes: [0; 2],
            recent_times: [Time::ZERO; 2],
            end: 0,
        }
    }

    /// With `bytes` of gap after each frame, times reckoned by `clock`, and a switch at the other end if the wire leads `to_switch`.
    pub fn with_wire(self, bytes: u64, clock: Clock, to_switch: bool) -> Self {
        let ps_per_byte = if clock == Clock::Exact { self.ps_per_byte } else { 0 };
        Port { gap: clock.serialization(self.rate, bytes), clock, ps_per_byte, to_switch, ..self }
    }

    /// Gives the link another rate, for frames that begin from now on.
    pub fn set_rate(&mut self, rate: Rate, speed_code: Option<u8>) {
        let ps_per_byte = rate.ps_per_byte().and_then(|ps| u32::try_from(ps).ok()).unwrap_or(0);
        self.ps_per_byte = if self.clock == Clock::Exact { ps_per_byte } else { 0 };
        self.rate = rate;
        self.speed_code = speed_code.unwrap_or(self.speed_code);
        self.recent_bytes = [0; 2];
    }

    /// Whether the link is down.
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.paused & DEAD != 0
    }

    /// Whether a frame may be put on the wire, and nothing waits or is paused.
    #[inline]
    pub fn is_quiet(&self, now: Time) -> bool {
        (self.busy_until <= now) & (self.backlog | self.paused | u16::from(self.armed) == 0)
    }

    /// Whether a frame may be put on the wire.
    #[inline]
    pub fn is_idle(&self, now: Time) -> bool {
        self.busy_until <= now && !self.armed
    }

    /// Starts a frame of `bytes` on the idle wire; returns when the frame's last bit arrives.
    #[inline(always)] // runs for every packet
    pub fn start(&mut self, now: Time, bytes: u64) -> Time {
        debug_assert!(self.busy_until <= now, "one frame at a time");
        let sent = now + self.frame_time(bytes);
        self.busy_until = sent + self.gap;
        self.tx_bytes += bytes;
        self.tx_packets += 1;
        sent + self.delay
    }

    /// When a symbol of `bytes` arrives that leaves at time `at` and takes no room on the wire.
    #[inline]
    pub fn symbol_arrival(&self, at: Time, bytes: u64) -> Time {
        at + self.serialization(bytes) + self.delay
    }

    /// The same at another rate than the current one.
    pub fn symbol_arrival_by(&self, rate: Rate, at: Time, bytes: u64) -> Time {
        at + self.clock.serialization(rate, bytes) + self.delay
    }

    /// Time of `bytes` on the wire.
    #[inline]
    pub fn serialization(&self, bytes: u64) -> Time {
        if self.ps_per_byte != 0 {
            Time(bytes * u64::from(self.ps_per_byte))
        } else {
            self.clock.serialization(self.rate, bytes)
        }
    }

    /// The same for a frame that goes onto the wire, remembered for the next one.
    #[inline(always)] // runs for every packet
    fn frame_time(&mut self, bytes: u64) -> Time {
        if self.ps_per_byte != 0 {
            return Time(bytes * u64::from(self.ps_per_byte));
        }
        debug_assert!(bytes <= u16::MAX.into(), "packets have no more bytes than that");
        let class = usize::from(bytes >= SHORT);
        let (known, time) = (&mut self.recent_bytes[class], &mut self.recent_times[class]);
        if u64::from(*known) != bytes {
            (*known, *time) = (bytes as u16, self.clock.serialization(self.rate, bytes));
        }
        *time
    }

    /// Starts a new interval for `recent_max_bytes`, which counts into the maximum of the run.
    pub fn fold_max(&mut self) {
        self.max_queued_bytes = self.longest_queue();
        self.recent_max_bytes = self.queued_bytes;
    }

    /// Maximum of bytes queued so far, also in the interval that goes on.
    pub fn longest_queue(&self) -> u64 {
        self.max_queued_bytes.max(self.recent_max_bytes)
    }

    /// Whose turn is next among classes, and whether an event will let the port send.
    pub fn turn(&self) -> (u8, bool) {
        (self.turn, self.armed)
    }

    /// Classes that have packets and may send.
    #[inline]
    pub fn sendable(&self) -> u16 {
        self.backlog & !self.paused
    }

    /// The class to send from among `sendable`, which is not empty: control first, then the highest priority
    /// (`strict`) or the next in turn.
    #[inline]
    pub fn choose(&mut self, sendable: u16, strict: bool) -> u8 {
        if sendable & 0b11 != 0 {
            return sendable.trailing_zeros() as u8;
        }
        if strict {
            return 15 - sendable.leading_zeros() as u8;
        }
        let from_turn = sendable & (!0 << self.turn);
        let class = if from_turn != 0 { from_turn } else { sendable }.trailing_zeros() as u8;
        self.turn = class + 1;
        class
    }

    /// Whole bytes that have left by `now`, as telemetry reads them: a frame on the wire counts with the part that has left.
    #[inline]
    pub fn sent_by(&self, now: Time) -> u64 {
        let left = self.busy_until.saturating_sub(now + self.gap);
        if left == Time::ZERO {
            return self.tx_bytes;
        }
        let unsent = if self.ps_per_byte != 0 {
            left.0.div_ceil(u64::from(self.ps_per_byte))
        } else {
            self.rate.bytes_in(left)
        };
        self.tx_bytes.saturating_sub(unsent)
    }

    /// Bits that have left by `now`; the part of a frame that has left need not be whole.
    pub fn bits_sent_by(&self, now: Time) -> f64 {
        let left = self.busy_until.saturating_sub(now + self.gap);
        (self.tx_bytes as f64 * 8.0 - left.secs() * self.rate.bps() as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{CONTROL, MAC_CONTROL};

    fn port() -> Port {
        Port::new(NodeId(0), Rate::from_gbps(100), Time::from_us(1), 0, 8)
    }

    #[test]
    fn what_every_packet_needs_is_one_cache_line() {
        use std::mem::offset_of;
        assert_eq!((offset_of!(Port, to_switch), size_of::<Port>()), (63, 128));
    }

    #[test]
    fn control_goes_first_then_round_robin() {
        let mut p = port();
        let (all, data) = (0b11111, 0b11100);
        assert_eq!(p.choose(all, false), MAC_CONTROL);
        let order: Vec<u8> = (0..5).map(|_| p.choose(data, false)).collect();
        assert_eq!(order, [2, 3, 4, 2, 3]);
        assert_eq!(p.choose(0b00100, false), 2);
    }

    #[test]
    fn strict_takes_the_highest_priority_number() {
        let mut p = port();
        assert_eq!(p.choose(0b11100, true), 4);
        assert_eq!(p.choose(0b11110, true), CONTROL);
    }

    #[test]
    fn a_remembered_time_is_that_of_the_same_frame() {
        // At 13 Gbps a byte takes 8000/13 ps: 64 B take 39,384.6 ps, 65 B 40,000, 1000 B 615,384.6 and 1001 B 616,000,
        // each rounded up. Frames of the same length and of others follow each other, short and long.
        let mut p = Port::new(NodeId(0), Rate::from_gbps(13), Time::ZERO, 0, 8);
        let mut now = Time::ZERO;
        let times = [64, 1000, 64, 1000, 65, 1001, 1000, 64].map(|bytes| {
            let end = p.start(now, bytes);
            (end - std::mem::replace(&mut now, end)).0
        });
        assert_eq!(times, [39_385, 615_385, 39_385, 615_385, 40_000, 616_000, 615_385, 39_385]);
    }

    /// The bits that have left by a time, rounded to a thousandth.
    fn bits(port: &Port, now: u64) -> f64 {
        (port.bits_sent_by(Time(now)) * 1000.0).round() / 1000.0
    }

    #[test]
    fn a_frame_on_the_wire_counts_by_its_part() {
        // 8000 bits at 100 Gbps take 80 ns: after 60 ns 6000 have left, and after 1 ps a tenth of a bit.
        let mut p = port();
        p.start(Time::ZERO, 1000);
        assert_eq!([0, 1, 60_000, 90_000].map(|now| bits(&p, now)), [0.0, 0.1, 6000.0, 8000.0]);
        assert_eq!([60_000, 60_079, 90_000].map(|now| p.sent_by(Time(now))), [750, 750, 1000]);
        // With a gap of 20 B the wire is taken until 81.6 ns, and the frame has left at 80 ns.
        let mut p = port().with_wire(20, Clock::Exact, false);
        p.start(Time::ZERO, 1000);
        assert_eq!([60_000, 80_000].map(|now| bits(&p, now)), [6000.0, 8000.0]);
        assert_eq!([60_000, 80_000].map(|now| p.sent_by(Time(now))), [750, 1000]);
        // At 13 Gbps a byte takes 615.38 ps, no whole number: after 10 ps 0.13 bits have left, and not a whole byte.
        let mut p = Port::new(NodeId(0), Rate::from_gbps(13), Time::from_us(1), 0, 8);
        p.start(Time::ZERO, 1000);
        assert!((p.bits_sent_by(Time(10)) - 0.13).abs() < 0.01, "{}", p.bits_sent_by(Time(10)));
    }
}
