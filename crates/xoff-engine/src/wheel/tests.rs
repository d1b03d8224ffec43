use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn simultaneous_events_come_by_key_whichever_was_pushed_first() {
    let mut queue = EventQueue::new();
    for key in [3, 1, 2] {
        queue.push(Time(5_000), key, 0);
    }
    let keys: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
    assert_eq!(keys, [1, 2, 3]);
}

#[test]
fn what_comes_by_one_link_at_one_time_comes_as_it_was_sent() {
    // Keys 10 to 19 are links. Slots are 0.512 ns wide; times 51.2001 us and 51.2003 us lie in one slot, which is beyond the
    // horizon of 16.8 us when 9, 8 and 7 are pushed, within it for 6 and 5, and being emptied for 2 and 1. The argument
    // decides only for key 20, which is no link.
    let mut queue = EventQueue::with_links(10..20);
    queue.push(Time(51_200_100), 1, 0);
    for arg in [9, 7, 8] {
        queue.push(Time(51_200_300), 12, arg);
    }
    queue.push(Time(40_000_000), 0, 0);
    let mut order = Vec::new();
    while let Some(event) = queue.pop() {
        match event.key {
            0 => [(12, 6), (20, 4), (12, 5), (20, 3)]
                .iter()
                .for_each(|&(key, arg)| queue.push(Time(51_200_300), key, arg)),
            1 => [2, 1].iter().for_each(|&arg| queue.push(Time(51_200_300), 12, arg)),
            _ => order.push(event.arg),
        }
    }
    assert_eq!(order, [9, 7, 8, 6, 5, 2, 1, 3, 4]);
}

#[test]
fn an_event_beyond_the_horizon_comes_at_its_time() {
    // The horizon is 16.8 us. One event comes at 1 s, one after an hour, and one is pushed last but comes second.
    let mut queue = EventQueue::new();
    queue.push(Time(1_000_000_000_000), 1, 0);
    queue.push(Time(3_600_000_000_000_000), 2, 0);
    assert_eq!(queue.pop().map(|e| e.key), Some(1));
    queue.push(Time(1_000_000_000_500), 3, 0);
    assert_eq!(queue.pop().map(|e| e.key), Some(3));
    assert_eq!(queue.pop().map(|e| e.key), Some(2));
    assert_eq!(queue.pop(), None);
}

proptest! {
    /// Compares random pushes, near and far, and random pops, with and without a limit, with a sorted set.
    #[test]
    fn pops_in_order(steps in prop::collection::vec((0u8..4, 0u64..3, 0u64..200_000, 0u32..5), 1..400)) {
        let (mut queue, mut model, mut now) = (EventQueue::new(), BTreeSet::new(), 0u64);
        for (i, (what, scale, offset, key)) in steps.into_iter().enumerate() {
            if what < 2 {
                // Offsets of up to 200 ns, 20 us and 2 ms: near slots, the whole wheel, beyond its horizon.
                let time = now + offset * [1, 100, 10_000][scale as usize];
                queue.push(Time(time), key, i as u32);
                model.insert((time, key, i as u32));
            } else {
                let limit = if what == 2 { u64::MAX } else { now + offset };
                let expected = model.first().copied().filter(|e| e.0 < limit);
                let popped = queue.pop_before(Time(limit)).map(|e| (e.time.0, e.key, e.arg));
                prop_assert_eq!(popped, expected);
                if let Some(e) = expected {
                    model.remove(&e);
                    now = e.0;
                }
            }
            prop_assert_eq!(queue.len(), model.len());
            let (bound, next) = (queue.earliest().map(|t| t.0), model.first().map(|e| e.0));
            prop_assert_eq!(bound.is_some(), next.is_some());
            prop_assert!(bound <= next && next.unwrap_or(0) < bound.unwrap_or(0) + (1 << SLOT_BITS));
        }
        while let Some(e) = queue.pop() {
            prop_assert_eq!(Some((e.time.0, e.key, e.arg)), model.pop_first());
        }
        prop_assert!(model.is_empty());
    }
}
