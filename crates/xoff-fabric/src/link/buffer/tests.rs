use super::*;
use crate::observe::Full;
use xoff_engine::{Bytes, Time};

fn ends() -> LinkEnds {
    let (rate, delay) = (Rate::from_gbps(100), Time(1_500_000));
    LinkEnds { rate_in: rate, delay_in: delay, rate_out: rate, delay_out: delay, retries: 0 }
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
    let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
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
    let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
    let mut memory = Memory::new(&flow_control, None, 0, 1);
    for _ in 0..3 {
        assert!(memory.charge(&mut queue, 1_000).is_ok());
    }
    // 3,000 B are there; a fourth packet makes 4,000 B, 2,000 B above Xoff with 1,500 B of headroom.
    let full = Full::Headroom { size: 1_500, needed: 2_000 };
    assert_eq!(memory.charge(&mut queue, 1_000), Err(Overflow { occupancy: 3_000, full }));
    assert_eq!(queue.bytes, 3_000);
    // A memory of 3,500 B in which another queue has 3,000 B is full before that.
    let mut memory = Memory::new(&flow_control, Some(3_500), 0, 2);
    let mut other = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
    for _ in 0..3 {
        assert!(memory.charge(&mut other, 1_000).is_ok());
    }
    let full = Full::Memory { size: 3_500 };
    assert_eq!(memory.charge(&mut queue, 1_000), Err(Overflow { occupancy: 3_000, full }));
}

#[test]
fn a_packet_that_fills_the_headroom_to_the_last_byte_fits() {
    // 2,000 B up to Xoff and as many above: four packets of 1,000 B. A byte more is too much, and so it is with a headroom of a
    // byte less, which the fourth packet finds 999 B large.
    for (headroom, fitting) in [(2_000, 4), (1_999, 3)] {
        let pfc = Pfc { xoff: Some(Bytes(2_000)), headroom: Some(Bytes(headroom)), ..Pfc::default() };
        let flow_control = FlowControl::Pfc(pfc);
        let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
        let mut memory = Memory::new(&flow_control, None, 0, 1);
        let fits = (0..5).take_while(|_| memory.charge(&mut queue, 1_000).is_ok()).count();
        assert_eq!((fits, queue.bytes), (fitting, 1_000 * fitting as u64));
        assert_eq!(queue.max_headroom(), queue.bytes - 2_000);
    }
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
    // queue takes its reserve and, with alpha 8, as much as shared memory has: a fifth shared packet finds 1,000 B free,
    // and its queue may hold 8 x 1,000 B. The eighth packet finds nothing free.
    let pfc = Pfc { alpha: Some(8.0), reserve: Bytes(2_000), headroom: Some(Bytes(500)), ..Pfc::default() };
    let flow_control = FlowControl::Pfc(pfc);
    let mut first = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
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
    // shared the threshold is (90,000 - s)/2, which s reaches at 30,000 B: 31,000 B with the reserve.
    let pfc = Pfc {
        alpha: Some(0.5),
        reserve: Bytes(1_000),
        resume_offset: Bytes(3_000),
        headroom: Some(Bytes(9_000)),
        ..Pfc::default()
    };
    let flow_control = FlowControl::Pfc(pfc);
    let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
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
    /// A packet that is let through changes nothing: charged and released at once, it causes neither PAUSE nor RESUME and
    /// leaves the state as it was. Static thresholds let all such packets through.
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
        let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
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

/// A switch of `queues` alike with `capacity` bytes, in which nothing is.
fn switch(flow_control: &FlowControl, capacity: u64, queues: usize) -> (Memory, Vec<IngressQueue>) {
    let queue = IngressQueue::new(NodeId(0), flow_control, &ends(), Rate::from_gbps(100), 1_000, 64);
    let number = queues as u64;
    let mut memory = Memory::new(flow_control, Some(capacity), number * queue.headroom(), number);
    memory.keep_calm_with(&queue);
    (memory, vec![queue; queues])
}

#[test]
fn a_memory_is_calm_while_no_queue_can_be_near_its_threshold() {
    // One queue may hold half of what is free of 90,000 B. If it holds all u bytes, that is u < (90,000 - u) / 2, u < 30,000: with 29,999 B
    // the half is 30,000.5 B, and with 30,000 B it is 30,000 B, which is not above u.
    let pfc = Pfc { alpha: Some(0.5), reserve: Bytes(0), headroom: Some(Bytes(5_000)), ..Pfc::default() };
    let (memory, queues) = switch(&FlowControl::Pfc(pfc.clone()), 100_000, 2);
    for (size, calm) in [(29_999, true), (30_000, false)] {
        assert_eq!((memory.is_calm(size), memory.lets_through(&queues[0], size)), (calm, calm), "{size} B");
    }
    // With a threshold of 12,000 B the whole memory may hold as much, unless it is smaller.
    for (capacity, most) in [(100_000, 12_000), (11_000, 11_000)] {
        let pfc = Pfc { xoff: Some(Bytes(12_000)), headroom: Some(Bytes(0)), ..Pfc::default() };
        let (memory, _) = switch(&FlowControl::Pfc(pfc), capacity, 2);
        assert_eq!((memory.is_calm(most), memory.is_calm(most + 1)), (true, false), "{capacity} B");
    }
    // A queue that pauses its peer may have to let it go on, however empty the memory is.
    let (mut memory, _) = switch(&FlowControl::Pfc(pfc.clone()), 100_000, 2);
    memory.count_alarm(true);
    assert!(!memory.is_calm(1));
    memory.count_alarm(false);
    assert!(memory.is_calm(1));
    // A queue may hold eight times what is free: one takes 80,000 B, and the other finds room for 9,000 B; then 1,000 B are free, and
    // its tenth packet goes to the headroom. When the first queue is empty, the second one still has to pause its peer.
    let (mut memory, mut queues) = switch(&FlowControl::Pfc(Pfc { alpha: Some(8.0), ..pfc }), 100_000, 2);
    for (queue, packets) in [(0, 80), (1, 10)] {
        (0..packets).for_each(|_| assert!(memory.charge(&mut queues[queue], 1_000).is_ok()));
    }
    (0..80).for_each(|_| assert!(!memory.release(&mut queues[0], 1_000)));
    assert_eq!((memory.is_calm(1), memory.lets_through(&queues[1], 1)), (false, false));
    memory.release(&mut queues[1], 1_000);
    assert_eq!((memory.is_calm(1), memory.lets_through(&queues[1], 1)), (true, true));
}

proptest::proptest! {
    /// Where a memory is calm, each of its queues lets the packet through, whatever came and left before and who was told to pause.
    #[test]
    fn in_a_calm_memory_each_queue_lets_packets_through(
        alpha in proptest::option::of(0.01..4.0f64),
        forgets in proptest::bool::ANY,
        packets in proptest::collection::vec((0usize..3, 64u64..1_600, proptest::bool::ANY), 0..200),
        size in 64u64..1_600,
    ) {
        let headroom = Some(Bytes(20_000));
        let pfc = match alpha {
            None => Pfc { xoff: Some(Bytes(12_000)), headroom, ..Pfc::default() },
            Some(_) => Pfc { alpha, headroom, ..Pfc::default() },
        };
        let (mut memory, mut queues) = switch(&FlowControl::Pfc(pfc), 140_000, 3);
        let mut held: [Vec<u64>; 3] = Default::default();
        for (number, bytes, comes) in packets {
            let (queue, held) = (&mut queues[number], &mut held[number]);
            let pausing = if comes {
                let Ok(pauses) = memory.charge(queue, bytes) else { continue };
                held.push(bytes);
                (queue.pausing || pauses) && !forgets
            } else {
                let Some(bytes) = held.pop() else { continue };
                !memory.release(queue, bytes) && queue.pausing
            };
            if queue.pausing != pausing {
                queue.pausing = pausing;
                memory.count_alarm(pausing);
            }
            for queue in &queues {
                proptest::prop_assert!(memory.lets_through(queue, size) || !memory.is_calm(size));
            }
        }
        let rest = queues.iter_mut().zip(&held);
        rest.for_each(|(queue, held)| held.iter().for_each(|&bytes| { memory.release(queue, bytes); }));
        let pausing = queues.iter().filter(|queue| queue.pausing).count();
        proptest::prop_assert_eq!((memory.used(), memory.is_calm(0)), (0, pausing == 0));
    }
}

/// How many of `packets` a queue certainly holds: all, or 0 if some found no room.
fn queue_packets(queue: &IngressQueue, packets: &[u64]) -> usize {
    if queue.occupancy() == packets.iter().sum::<u64>() { packets.len() } else { 0 }
}

/// What 25 Gb/s bring in 40 us is 125,000 B, 800 Gb/s bring 4,000,000 B. PAUSE comes above that, RESUME two frames below.
#[test]
fn a_default_threshold_follows_the_rate_of_the_incoming_link() {
    let flow_control = FlowControl::default();
    for (gbps, xoff) in [(25, 125_000), (100, 500_000), (800, 4_000_000)] {
        let ends = LinkEnds { rate_in: Rate::from_gbps(gbps), ..ends() };
        let mut queue = IngressQueue::new(NodeId(0), &flow_control, &ends, Rate::from_gbps(100), 1_000, 64);
        assert_eq!((queue.xoff, queue.xon), (xoff, xoff - 2_000), "{gbps} Gb/s");
        queue.bound(20_000, 1_000);
        assert_eq!((queue.xoff, queue.xon), (20_000, 18_000));
        queue.bound(10, 1_000);
        assert_eq!((queue.xoff, queue.xon), (2_000, 0), "never below two frames");
    }
}
