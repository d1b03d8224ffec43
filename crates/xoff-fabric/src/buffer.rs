//! A switch's packet memory and the ingress accounting that decides on PAUSE and RESUME.
//!
//! Static thresholds compare the bytes of one (ingress port, priority) with Xoff and Xon. Dynamic thresholds
//! follow the shared-memory model of the HPCC simulator lineage: each pair has a reserve of its own, above it a
//! share `alpha` of what is free of the shared memory, and above that its headroom. A packet is charged when it has
//! arrived in full and released when its transmission begins.

use xoff_engine::{Rate, Time};

use crate::settings::{FlowControl, Pfc};

/// Thresholds and state of one (ingress port, priority).
///
/// One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct IngressQueue {
    /// Bytes in the switch that came in here, without those in the headroom of dynamic thresholds.
    pub bytes: u64,
    /// Bytes in the headroom (dynamic thresholds only).
    headroom_used: u64,
    /// Whether the peer was told to pause.
    pub pausing: bool,
    /// The switch.
    pub node: u32,
    xoff: u64,
    xon: u64,
    /// Memory above the threshold.
    headroom: u64,
    /// Most bytes of it used so far.
    most_headroom: u64,
    /// Dynamic threshold: share of the free memory, in units of 2^-32.
    alpha: u64,
}

impl IngressQueue {
    /// All bytes charged here.
    pub fn occupancy(&self) -> u64 {
        self.bytes + self.headroom_used
    }
}

/// No room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Bytes that this ingress port and priority already has.
    pub occupancy: u64,
    /// What is full.
    pub full: Full,
}

/// What has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The headroom of the ingress port and priority.
    Headroom {
        /// Bytes that it has.
        size: u64,
        /// Bytes that the packet would have taken, with what is in it.
        needed: u64,
    },
    /// The switch's memory, before the headroom.
    Memory {
        /// Bytes that it has.
        size: u64,
    },
}

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Full::Headroom { size, needed } => {
                write!(f, "it would have taken {needed} B of headroom, and {size} B are there")
            }
            Full::Memory { size } => write!(f, "the switch's memory of {size} B (`switch.buffer`) is full"),
        }
    }
}

/// Dynamic thresholds of a switch.
#[derive(Clone, Copy, Debug)]
struct Dynamic {
    /// Memory without all reserves and headrooms.
    shareable: u64,
    shared_used: u64,
    reserve: u64,
    resume_offset: u64,
}

impl Dynamic {
    /// What one queue may hold of the shared memory once `more` bytes of it are taken.
    #[inline]
    fn threshold(&self, queue: &IngressQueue, more: u64) -> u64 {
        let free = self.shareable.saturating_sub(self.shared_used + more);
        ((u128::from(free) * u128::from(queue.alpha)) >> 32) as u64
    }
}

/// The packet memory of a switch.
///
/// One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Memory {
    capacity: u64,
    used: u64,
    dynamic: Option<Dynamic>,
}

/// What a link's ends must be known by to size a headroom.
#[derive(Clone, Copy, Debug)]
pub struct LinkEnds {
    /// Rate at which the peer sends to us.
    pub rate_in: Rate,
    /// Propagation delay from the peer to us.
    pub delay_in: Time,
    /// Our rate to the peer.
    pub rate_out: Rate,
    /// Propagation delay to the peer.
    pub delay_out: Time,
}

/// Bytes that can arrive above Xoff: the frame that crosses it, then what the peer sends until it stops. That is
/// our frame on the wire, the PAUSE frame with those of other priorities before it (`pfc_frames` bytes in all), both
/// propagation delays, the peer's response time and its frame on the wire: 2 MTU/C + 2 t_p for equal ends, after the
/// terms of IEEE 802.1Qbb's delay budget.
pub fn headroom(ends: &LinkEnds, mtu: u64, pfc_frames: u64, response_quanta: u32) -> u64 {
    let until_stopped = ends.rate_out.serialization(mtu)
        + ends.rate_out.serialization(pfc_frames)
        + ends.delay_out
        + ends.rate_in.serialization(mtu)
        + ends.delay_in
        + quanta_time(u64::from(response_quanta), ends.rate_in);
    mtu + ends.rate_in.bytes_in(until_stopped) + 1
}

/// The headroom that `pfc` gives to a port and priority: given, as a multiple of rate times delay, or computed.
pub fn pfc_headroom(pfc: &Pfc, ends: &LinkEnds, mtu: u64, pfc_frames: u64) -> u64 {
    match (pfc.headroom, pfc.headroom_bdp) {
        (Some(bytes), _) => bytes.0,
        (None, Some(times)) => ends.rate_in.bytes_in(ends.delay_in) * u64::from(times),
        (None, None) => headroom(ends, mtu, pfc_frames, pfc.response_quanta),
    }
}

/// Twice `alpha` for each doubling of the hosts' `line_rate` up to `rate` that has begun, at most 1.
fn scaled_alpha(mut alpha: f64, rate: Rate, line_rate: Rate) -> f64 {
    let mut rate = rate.0;
    while rate > line_rate.0 && alpha < 1.0 {
        (alpha, rate) = ((2.0 * alpha).min(1.0), rate / 2);
    }
    alpha
}

/// The time of pause quanta: 512 bit times each, at the port's rate.
pub fn quanta_time(quanta: u64, rate: Rate) -> Time {
    rate.time_for(quanta * 64)
}

impl IngressQueue {
    /// The thresholds of one ingress port and priority of switch `node` under `flow_control`, in a network whose hosts have `line_rate`.
    pub fn new(
        node: u32,
        flow_control: &FlowControl,
        ends: &LinkEnds,
        line_rate: Rate,
        mtu: u64,
        pfc_frames: u64,
    ) -> Self {
        let unlimited = IngressQueue {
            bytes: 0,
            headroom_used: 0,
            pausing: false,
            node,
            xoff: u64::MAX,
            xon: u64::MAX,
            headroom: 0,
            most_headroom: 0,
            alpha: 0,
        };
        match flow_control {
            FlowControl::None | FlowControl::Cbfc(_) | FlowControl::Credit(_) => unlimited,
            FlowControl::Pfc(pfc) => {
                let headroom = pfc_headroom(pfc, ends, mtu, pfc_frames);
                let xoff = pfc.xoff.map_or(u64::MAX, |x| x.0);
                let xon = pfc.xon.map_or(xoff.saturating_sub(2 * mtu), |x| x.0);
                let alpha = pfc.alpha.map_or(0.0, |a| {
                    if pfc.alpha_by_rate { scaled_alpha(a, ends.rate_out, line_rate) } else { a }
                });
                IngressQueue { xoff, xon, headroom, alpha: (alpha * (1u64 << 32) as f64) as u64, ..unlimited }
            }
        }
    }

    /// Memory above the threshold.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Most bytes used of the memory above the threshold.
    pub fn most_headroom(&self) -> u64 {
        self.most_headroom
    }
}

impl Memory {
    /// The memory of a switch whose ingress queues have `headrooms` bytes of headroom in all, over `queues` pairs of
    /// port and priority. Without `capacity` it is unlimited.
    pub fn new(flow_control: &FlowControl, capacity: Option<u64>, headrooms: u64, queues: u64) -> Self {
        let dynamic = match flow_control {
            FlowControl::Pfc(Pfc { alpha: Some(_), reserve, resume_offset, .. }) => Some(Dynamic {
                shareable: capacity.unwrap_or(u64::MAX).saturating_sub(headrooms + queues * reserve.0),
                shared_used: 0,
                reserve: reserve.0,
                resume_offset: resume_offset.0,
            }),
            _ => None,
        };
        Memory { capacity: capacity.unwrap_or(u64::MAX), used: 0, dynamic }
    }

    /// Bytes in the memory.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes above which a queue's peer is paused now.
    pub fn xoff(&self, queue: &IngressQueue) -> u64 {
        self.dynamic.as_ref().map_or(queue.xoff, |d| d.threshold(queue, 0).saturating_add(d.reserve))
    }

    /// Whether a packet that leaves as soon as it has arrived changes nothing: it fits without headroom, and neither PAUSE
    /// nor RESUME follows. It may say no where that is so, near a dynamic threshold.
    #[inline]
    pub fn lets_through(&self, queue: &IngressQueue, size: u64) -> bool {
        let bytes = queue.bytes + size;
        let below = match &self.dynamic {
            None => bytes <= queue.xoff,
            Some(dynamic) => {
                let shared = bytes.saturating_sub(dynamic.reserve);
                (queue.headroom_used == 0) & (shared < dynamic.threshold(queue, size))
            }
        };
        below & !queue.pausing & (self.used + size <= self.capacity)
    }

    /// Charges a packet that has arrived; says whether the peer must be paused.
    #[inline]
    pub fn charge(&mut self, queue: &mut IngressQueue, size: u64) -> Result<bool, Overflow> {
        if self.used + size > self.capacity {
            return Err(Overflow {
                occupancy: queue.occupancy(),
                full: Full::Memory { size: self.capacity },
            });
        }
        if self.dynamic.is_some() {
            return self.charge_dynamic(queue, size);
        }
        let bytes = queue.bytes + size;
        if bytes > queue.xoff {
            if bytes - queue.xoff > queue.headroom {
                return Err(self.overflow(queue, size));
            }
            queue.bytes = bytes;
            queue.most_headroom = queue.most_headroom.max(bytes - queue.xoff);
            self.used += size;
            return Ok(!queue.pausing);
        }
        queue.bytes = bytes;
        self.used += size;
        Ok(false)
    }

    /// Releases a packet that is leaving; says whether the peer may go on.
    #[inline]
    pub fn release(&mut self, queue: &mut IngressQueue, size: u64) -> bool {
        self.used -= size;
        if self.dynamic.is_some() {
            return self.release_dynamic(queue, size);
        }
        queue.bytes -= size;
        queue.pausing && queue.bytes <= queue.xon
    }

    fn overflow(&self, queue: &IngressQueue, size: u64) -> Overflow {
        let occupancy = queue.occupancy();
        let above = match &self.dynamic {
            None => (occupancy + size).saturating_sub(queue.xoff.min(occupancy)),
            Some(_) => queue.headroom_used + size,
        };
        Overflow { occupancy, full: Full::Headroom { size: queue.headroom, needed: above } }
    }

    fn charge_dynamic(&mut self, queue: &mut IngressQueue, size: u64) -> Result<bool, Overflow> {
        let Some(dynamic) = &mut self.dynamic else { return Ok(false) };
        let threshold = dynamic.threshold(queue, 0);
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        let bytes = queue.bytes + size;
        let fits = bytes <= dynamic.reserve || size + shared <= threshold;
        if !fits && size + queue.headroom_used > queue.headroom {
            return Err(self.overflow(queue, size));
        }
        if bytes <= dynamic.reserve {
            queue.bytes = bytes;
        } else if bytes - dynamic.reserve > threshold {
            queue.headroom_used += size;
            queue.most_headroom = queue.most_headroom.max(queue.headroom_used);
        } else {
            queue.bytes = bytes;
            dynamic.shared_used += size.min(bytes - dynamic.reserve);
        }
        self.used += size;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        Ok(!queue.pausing && (queue.headroom_used > 0 || shared >= dynamic.threshold(queue, 0)))
    }

    fn release_dynamic(&mut self, queue: &mut IngressQueue, size: u64) -> bool {
        let Some(dynamic) = &mut self.dynamic else { return false };
        let from_headroom = size.min(queue.headroom_used);
        queue.headroom_used -= from_headroom;
        let rest = size - from_headroom;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        dynamic.shared_used -= rest.min(shared);
        queue.bytes -= rest;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        queue.pausing
            && queue.headroom_used == 0
            && (shared == 0 || shared + dynamic.resume_offset <= dynamic.threshold(queue, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::Bytes;

    fn ends() -> LinkEnds {
        let (rate, delay) = (Rate::from_gbps(100), Time(1_500_000));
        LinkEnds { rate_in: rate, delay_in: delay, rate_out: rate, delay_out: delay }
    }

    #[test]
    fn headroom_is_the_response_time_in_bytes() {
        // 2 t_p C = 2 x 1.5 us x 12.5 GB/s = 37,500 B; two frames on the wires 3,036 B; PAUSE 64 B; the frame that
        // crosses Xoff 1,518 B; one byte for rounding: 42,119 B. Response of 394 quanta adds 394 x 64 = 25,216 B.
        assert_eq!(headroom(&ends(), 1518, 64, 0), 42_119);
        assert_eq!(headroom(&ends(), 1518, 64, 394), 42_119 + 25_216);
        // A PAUSE of each of eight priorities: 7 x 64 B more.
        assert_eq!(headroom(&ends(), 1518, 8 * 64, 0), 42_119 + 448);
    }

    #[test]
    fn the_longest_pause_is_that_of_the_standard() {
        // 65,535 quanta of 512 bit: 335.5 us at 100 Gbps, 838.8 us at 40 Gbps.
        assert_eq!(quanta_time(65_535, Rate::from_gbps(100)), Time(335_539_200));
        assert_eq!(quanta_time(65_535, Rate::from_gbps(40)), Time(838_848_000));
    }

    #[test]
    fn static_thresholds_pause_above_xoff_and_resume_at_xon() {
        let flow_control = FlowControl::Pfc(Pfc { xoff: Some(Bytes(10_000)), ..Pfc::default() });
        let mut queue = IngressQueue::new(0, &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
        let mut memory = Memory::new(&flow_control, None, 0, 1);
        for _ in 0..10 {
            assert_eq!(memory.charge(&mut queue, 1_000), Ok(false)); // up to 10,000 B: at Xoff, not above
        }
        assert_eq!(memory.charge(&mut queue, 1_000), Ok(true));
        queue.pausing = true;
        assert_eq!(memory.charge(&mut queue, 1_000), Ok(false)); // 12,000 B, already pausing
        for left in [11_000, 10_000, 9_000] {
            assert!(!memory.release(&mut queue, 1_000), "{left} B are above Xon = 10,000 - 2 x 1,000");
        }
        assert!(memory.release(&mut queue, 1_000));
        assert_eq!((queue.bytes, memory.used()), (8_000, 8_000));
    }

    #[test]
    fn a_packet_beyond_the_headroom_says_what_it_would_have_taken() {
        let pfc = Pfc { xoff: Some(Bytes(2_000)), headroom: Some(Bytes(1_500)), ..Pfc::default() };
        let flow_control = FlowControl::Pfc(pfc);
        let mut queue = IngressQueue::new(0, &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
        let mut memory = Memory::new(&flow_control, None, 0, 1);
        for _ in 0..3 {
            assert!(memory.charge(&mut queue, 1_000).is_ok());
        }
        // 3,000 B are there; a fourth packet makes 4,000 B, 2,000 B above Xoff with 1,500 B of headroom.
        let full = Full::Headroom { size: 1_500, needed: 2_000 };
        assert_eq!(memory.charge(&mut queue, 1_000), Err(Overflow { occupancy: 3_000, full }));
        assert_eq!(queue.bytes, 3_000);
        // A memory of 3,500 B is full before that.
        let mut memory = Memory { used: 3_000, ..Memory::new(&flow_control, Some(3_500), 0, 1) };
        let full = Full::Memory { size: 3_500 };
        assert_eq!(memory.charge(&mut queue, 1_000), Err(Overflow { occupancy: 3_000, full }));
    }

    #[test]
    fn headroom_and_share_may_follow_the_rate() {
        // 3 x 100 Gbps x 1.5 us = 56,250 B. At 400 Gbps two doublings of 100 Gbps: 1/8 becomes 1/2; 101 Gbps is one
        // doubling begun; 1/2 becomes all, not more.
        let pfc = Pfc { headroom_bdp: Some(3), ..Pfc::default() };
        assert_eq!(pfc_headroom(&pfc, &ends(), 1_000, 64), 56_250);
        let base = Rate::from_gbps(100);
        assert_eq!(scaled_alpha(0.125, Rate::from_gbps(400), base), 0.5);
        assert_eq!(scaled_alpha(0.125, Rate::from_gbps(101), base), 0.25);
        assert_eq!(scaled_alpha(0.125, Rate::from_gbps(40), base), 0.125);
        assert_eq!(scaled_alpha(0.5, Rate::from_gbps(400), base), 1.0);
    }

    #[test]
    fn a_packet_that_fits_its_reserve_needs_no_shared_memory() {
        // 10,000 B with a reserve of 2,000 B and headroom of 500 B for each of two queues: 5,000 B to share. The first
        // queue takes its reserve and, with alpha 8, up to 8/9 of those: four packets. What is left times 8 is
        // below 1,000 B only when shared memory is nearly full; let all of it be used.
        let pfc =
            Pfc { alpha: Some(8.0), reserve: Bytes(2_000), headroom: Some(Bytes(500)), ..Pfc::default() };
        let flow_control = FlowControl::Pfc(pfc);
        let mut first = IngressQueue::new(0, &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
        let mut second = first;
        let mut memory = Memory::new(&flow_control, Some(10_000), 1_000, 2);
        for size in [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000] {
            assert!(memory.charge(&mut first, size).is_ok(), "2,000 B of reserve and 5,000 B shared");
        }
        assert!(memory.charge(&mut first, 1_000).is_err(), "nothing is left to share");
        assert!(memory.charge(&mut second, 1_000).is_ok(), "a reserve is its queue's own");
    }

    #[test]
    fn dynamic_threshold_is_a_share_of_what_is_free() {
        // 100,000 B, alpha 1/2, one queue with reserve 1,000 B and headroom 9,000 B: 90,000 B to share. With s bytes
        // shared the threshold is (90,000 - s)/2, reached at s = 30,000: 31,000 B with the reserve.
        let pfc = Pfc {
            alpha: Some(0.5),
            reserve: Bytes(1_000),
            resume_offset: Bytes(3_000),
            headroom: Some(Bytes(9_000)),
            ..Pfc::default()
        };
        let flow_control = FlowControl::Pfc(pfc);
        let mut queue = IngressQueue::new(0, &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
        let mut memory = Memory::new(&flow_control, Some(100_000), 9_000, 1);
        for _ in 0..30 {
            assert_eq!(memory.charge(&mut queue, 1_000), Ok(false));
        }
        assert_eq!(memory.charge(&mut queue, 1_000), Ok(true)); // 31,000 B
        queue.pausing = true;
        // The next goes to the headroom; nine of them fit, not ten.
        for _ in 0..9 {
            assert_eq!(memory.charge(&mut queue, 1_000), Ok(false));
        }
        assert!(memory.charge(&mut queue, 1_000).is_err());
        for _ in 0..9 {
            assert!(!memory.release(&mut queue, 1_000)); // the headroom empties first
        }
        // Resume when s + 3,000 <= (90,000 - s)/2, that is s <= 28,000: after two more packets.
        assert!(!memory.release(&mut queue, 1_000)); // s = 29,000
        assert!(memory.release(&mut queue, 1_000)); // s = 28,000
    }

    proptest::proptest! {
        /// What is let through is what changes nothing: charged and released at once, it makes neither PAUSE nor RESUME and
        /// leaves all as it was. Static thresholds let through all such packets.
        #[test]
        fn what_is_let_through_changes_nothing(
            alpha in proptest::option::of(0.01..4.0f64),
            others in 0u64..40_000,
            mine in proptest::collection::vec(64u64..1_600, 0..30),
            left in 0usize..30,
            size in 64u64..1_600,
        ) {
            let pfc = match alpha {
                None => Pfc { xoff: Some(Bytes(12_000)), ..Pfc::default() },
                Some(_) => Pfc { alpha, ..Pfc::default() },
            };
            let flow_control = FlowControl::Pfc(pfc);
            let mut queue = IngressQueue::new(0, &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
            let mut other = queue;
            let mut memory = Memory::new(&flow_control, Some(140_000), 2 * queue.headroom(), 2);
            for _ in 0..others / 1_000 {
                other.pausing |= memory.charge(&mut other, 1_000).unwrap_or(true);
            }
            for &size in &mine {
                queue.pausing |= memory.charge(&mut queue, size).unwrap_or(true);
            }
            for &size in mine.iter().take(left.min(queue_packets(&queue, &mine))) {
                queue.pausing &= !memory.release(&mut queue, size);
            }
            let (memory_before, queue_before) = (memory.clone(), queue);
            let lets_through = memory.lets_through(&queue, size);
            let pauses = memory.charge(&mut queue, size);
            let resumes = pauses.is_ok() && memory.release(&mut queue, size);
            let nothing = pauses == Ok(false)
                && !resumes
                && queue.occupancy() == queue_before.occupancy()
                && queue.bytes == queue_before.bytes
                && memory.used() == memory_before.used();
            proptest::prop_assert!(nothing || !lets_through);
            if alpha.is_none() {
                proptest::prop_assert_eq!(lets_through, nothing && !queue_before.pausing);
            }
        }
    }

    /// How many of `packets` a queue surely holds: all, or none where some found no room.
    fn queue_packets(queue: &IngressQueue, packets: &[u64]) -> usize {
        if queue.occupancy() == packets.iter().sum::<u64>() { packets.len() } else { 0 }
    }
}
