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
fn simultaneous_events_may_keep_the_order_of_scheduling() {
    let mut queue = EventQueue::in_order_of_scheduling();
    for (time, key) in [(6_000, 9), (5_000, 3), (5_000, 1), (5_000, 2), (100_000_000, 0)] {
        queue.push(Time(time), key, key + 10);
    }
    let mut popped = || queue.pop().map(|e| (e.time.0, e.key, e.arg));
    assert_eq!(popped(), Some((5_000, 3, 13)));
    assert_eq!(popped(), Some((5_000, 1, 11)));
    assert_eq!(popped(), Some((5_000, 2, 12)));
    assert_eq!(popped(), Some((6_000, 9, 19)));
    assert_eq!(popped(), Some((100_000_000, 0, 10)));
}

#[test]
fn the_order_of_scheduling_holds_within_the_current_slot_and_beyond_the_horizon() {
    // Slots are 0.512 ns wide. All events lie in the slot that begins at 51.2 us; the first two are pushed when that is beyond
    // the horizon of 16.8 us, the next two when 40 us have passed, and the last one while the slot is being emptied.
    let mut queue = EventQueue::in_order_of_scheduling();
    queue.push(Time(51_200_300), 9, 0);
    queue.push(Time(51_200_100), 8, 0);
    queue.push(Time(40_000_000), 0, 0);
    let mut order = Vec::new();
    while let Some(event) = queue.pop() {
        match event.key {
            0 => [7, 6].iter().for_each(|&key| queue.push(Time(51_200_300), key, 0)),
            8 => queue.push(Time(51_200_300), 1, 0),
            _ => {}
        }
        order.push(event.key);
    }
    assert_eq!(order, [0, 8, 9, 7, 6, 1]);
}

#[test]
fn the_order_of_scheduling_holds_among_many_events_of_a_slot() {
    // 200 events of the slot that begins at 51.2 us, with falling keys, in turn 300 ps and 100 ps after its beginning: those at
    // 100 ps come first, and each half in the order in which it was pushed. So it is whether all are pushed when the slot is
    // beyond the horizon (at 0 us), on the wheel (at 40 us), or half of them then.
    for early in [200, 100, 0] {
        let mut queue = EventQueue::in_order_of_scheduling();
        let push = |queue: &mut EventQueue, pushed: std::ops::Range<u32>| {
            pushed.for_each(|n| queue.push(Time(51_200_000 + [300, 100][n as usize % 2]), 199 - n, 0))
        };
        queue.push(Time(40_000_000), 1_000, 0);
        push(&mut queue, 0..early);
        assert_eq!(queue.pop().map(|e| e.key), Some(1_000));
        push(&mut queue, early..200);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| 199 - e.key).collect();
        let expected: Vec<u32> = (1..200).step_by(2).chain((0..200).step_by(2)).collect();
        assert_eq!(order, expected, "{early} pushed early");
    }
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
    /// Compares random pushes, near and far, and random pops with a list that is searched for the earliest event and, among
    /// simultaneous ones, for the one that was pushed first.
    #[test]
    fn pops_in_order_of_scheduling(steps in prop::collection::vec((0u8..3, 0u64..3, 0u64..40, 0u32..5), 1..400)) {
        let (mut queue, mut model, mut now) = (EventQueue::in_order_of_scheduling(), Vec::new(), 0u64);
        let pop = |queue: &mut EventQueue, model: &mut Vec<(u64, u32, u32)>| {
            let popped = queue.pop().map(|e| (e.time.0, e.key, e.arg));
            let first = (0..model.len()).min_by_key(|&i| (model[i].0, i));
            (popped, first.map(|i| model.remove(i)))
        };
        for (i, (what, scale, offset, key)) in steps.into_iter().enumerate() {
            if what < 2 {
                // Offsets of up to 4 ns, 4 us and 4 ms, in steps of 0.1 ns, 0.1 us and 0.1 ms.
                let time = now + offset * [100, 100_000, 100_000_000][scale as usize];
                queue.push(Time(time), key, i as u32);
                model.push((time, key, i as u32));
            } else {
                let (popped, expected) = pop(&mut queue, &mut model);
                prop_assert_eq!(popped, expected);
                now = expected.map_or(now, |e| e.0);
            }
            prop_assert_eq!(queue.len(), model.len());
        }
        while !model.is_empty() {
            let (popped, expected) = pop(&mut queue, &mut model);
            prop_assert_eq!(popped, expected);
        }
        prop_assert_eq!(queue.pop(), None);
    }

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
