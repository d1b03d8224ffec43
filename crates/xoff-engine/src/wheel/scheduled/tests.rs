use super::*;
use proptest::prelude::*;

#[test]
fn simultaneous_events_may_keep_the_order_of_scheduling() {
    let mut queue = ScheduledQueue::new();
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
    // the horizon of 4.2 us, the next two when 40 us have passed, and the last one while the slot is being emptied.
    let mut queue = ScheduledQueue::new();
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
        let mut queue = ScheduledQueue::new();
        let push = |queue: &mut ScheduledQueue, pushed: std::ops::Range<u32>| {
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
fn a_limit_before_events_beyond_the_horizon_leaves_room_for_events_before_it() {
    // The horizon is 4.2 us, and buckets behind it are 2.1 us wide. At time zero, 10 us is beyond it; nothing is before 9 us. What is
    // pushed after that at 1 us, on the wheel, and at 9.9 us, in the bucket of 10 us, comes before.
    let mut queue = ScheduledQueue::new();
    queue.push(Time(10_000_000), 3, 0);
    queue.push(Time(10_100_000), 4, 0);
    assert_eq!(queue.pop_before(Time(9_000_000)), None);
    queue.push(Time(1_000_000), 1, 0);
    queue.push(Time(9_900_000), 2, 0);
    let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
    assert_eq!(order, [1, 2, 3, 4]);
}

#[test]
fn an_event_with_a_reserved_place_comes_where_it_would_have_come() {
    // Slots are 0.512 ns wide. Of the events at 5 ns, places for keys 1 and 2 are reserved. Key 2 is pushed first, both before the slot is
    // emptied; then key 5, whose place was reserved at 5 ns behind keys 3 and 4, is pushed while the slot is being emptied.
    let mut queue = ScheduledQueue::new();
    let mut places = Vec::new();
    for key in 0..5 {
        match key {
            1 | 2 => places.push(queue.reserve()),
            _ => queue.push(Time(5_000), key, 0),
        }
    }
    queue.push_at(places[1], Time(5_000), 2, 0);
    queue.push_at(places[0], Time(5_000), 1, 0);
    let mut order = Vec::new();
    let mut later = None;
    while let Some(event) = queue.pop() {
        match event.key {
            0 => later = Some(queue.reserve()),
            1 => queue.push(Time(5_000), 6, 0),
            3 => later.into_iter().for_each(|place| queue.push_at(place, Time(5_000), 5, 0)),
            _ => {}
        }
        order.push((event.key, queue.place()));
    }
    assert_eq!(order, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]);
}

proptest! {
    /// Compares random pushes, near and far, and random pops, with and without a limit, with a list that is searched for the earliest
    /// event and, among simultaneous ones, for the one that was pushed first. The earliest event is known up to a slot of 512 ps.
    #[test]
    fn pops_in_order_of_scheduling(steps in prop::collection::vec((0u8..4, 0u64..3, 0u64..40, 0u32..5), 1..400)) {
        let (mut queue, mut model, mut now) = (ScheduledQueue::new(), Vec::new(), 0u64);
        let pop = |queue: &mut ScheduledQueue, model: &mut Vec<(u64, u32, u32)>, limit: u64| {
            let popped = queue.pop_before(Time(limit)).map(|e| (e.time.0, e.key, e.arg));
            let first = (0..model.len()).min_by_key(|&i| (model[i].0, i)).filter(|&i| model[i].0 < limit);
            (popped, first.map(|i| model.remove(i)))
        };
        for (i, (what, scale, offset, key)) in steps.into_iter().enumerate() {
            // Offsets of up to 4 ns, 12 us and 4 ms, in steps of 0.1 ns, 0.3 us and 0.1 ms: near slots, the wheel and the first
            // buckets behind it, buckets far beyond.
            let time = now + offset * [100, 300_000, 100_000_000][scale as usize];
            if what < 2 {
                queue.push(Time(time), key, i as u32);
                model.push((time, key, i as u32));
            } else {
                let limit = if what == 2 { u64::MAX } else { time };
                let (popped, expected) = pop(&mut queue, &mut model, limit);
                prop_assert_eq!(popped, expected);
                now = expected.map_or(now, |e| e.0);
            }
            prop_assert_eq!(queue.all().count(), model.len());
            let (known, first) = (queue.earliest(), model.iter().map(|event| event.0).min());
            prop_assert_eq!(known.is_some(), first.is_some());
            prop_assert!(known.zip(first).is_none_or(|(known, first)| known.0 <= first && first < known.0 + (1 << SLOT_BITS)));
        }
        while !model.is_empty() {
            let (popped, expected) = pop(&mut queue, &mut model, u64::MAX);
            prop_assert_eq!(popped, expected);
        }
        prop_assert_eq!(queue.pop(), None);
    }

    /// The same, where some events get a place long before they are pushed: they are pushed when half of what comes before them is
    /// gone, or never.
    #[test]
    fn reserved_places_hold(
        steps in prop::collection::vec((0u8..5, 0u64..3, 0u64..40), 1..400),
        late in prop::collection::vec(0u32..1_000, 400),
    ) {
        let (mut queue, mut model, mut reserved, mut now) = (ScheduledQueue::new(), Vec::new(), Vec::new(), (0, 0));
        for (i, (what, scale, offset)) in steps.into_iter().enumerate() {
            let time = now.0 + offset * [100, 300_000, 100_000_000][scale as usize];
            match what {
                0 => {
                    queue.push(Time(time), i as u32, 0);
                    model.push((time, i));
                }
                1 => reserved.push(((time, i), queue.reserve())),
                2 if !reserved.is_empty() => {
                    let (order, place) = reserved.remove(late[i] as usize % reserved.len());
                    // An event that would be over cannot be pushed any more.
                    if order > now {
                        queue.push_at(place, Time(order.0), order.1 as u32, 0);
                        model.push(order);
                    }
                }
                _ => {
                    let first = (0..model.len()).min_by_key(|&n| model[n]);
                    let expected = first.map(|n| model.remove(n));
                    let popped = queue.pop().map(|e| (e.time.0, e.key as usize));
                    prop_assert_eq!(popped, expected);
                    now = expected.unwrap_or(now);
                }
            }
        }
    }
}
