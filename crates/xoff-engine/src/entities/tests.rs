use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn event(time: u64, key: u32, arg: u32) -> Event {
    Event { time: Time(time), key, arg }
}

/// The key of a FIFO's arrivals.
fn key_of(fifo: u32) -> u32 {
    1_000 + fifo
}

fn queues(entities: usize, fifos: &[u32]) -> EntityQueues {
    EntityQueues::new(entities, fifos.iter().zip(0..).map(|(&entity, fifo)| Some((entity, key_of(fifo)))))
}

/// By argument: the time and argument of the next arrival.
#[derive(Default)]
struct Following(Vec<(Time, u32)>);

impl Following {
    fn of(&mut self, arg: u32) -> &mut (Time, u32) {
        let min_len = arg as usize + 1;
        self.0.resize(self.0.len().max(min_len), (Time::NEVER, 0));
        &mut self.0[arg as usize]
    }
}

impl ArrivalLinks for Following {
    fn link(&mut self, arg: u32, time: Time, next: u32) {
        *self.of(arg) = (time, next);
    }

    fn unlink(&mut self, arg: u32) -> (Time, u32) {
        std::mem::replace(self.of(arg), (Time::NEVER, 0))
    }
}

fn arrive(queues: &mut EntityQueues, links: &mut Following, fifo: u32, time: u64, arg: u32) {
    queues.arrive(links, queues.slot(fifo), Time(time), arg);
}

fn take(queues: &mut EntityQueues, links: &mut Following) -> Option<(u64, u32, u32)> {
    match queues.next_up() {
        Next::Arrival(slot) => {
            let Arrival { time, fifo, arg, .. } = queues.take(links, slot);
            Some((time.0, key_of(fifo), arg))
        }
        Next::Own => {
            let e = queues.take_own();
            Some((e.time.0, e.key, e.arg))
        }
        Next::Nothing => None,
    }
}

/// All events before `limit` in one window, as entity, time, key and argument.
fn window(queues: &mut EntityQueues, links: &mut Following, limit: u64) -> Vec<(u32, u64, u32, u32)> {
    queues.begin_window(queues.earliest(), Time(limit));
    queues.list_turns();
    let mut all = Vec::new();
    while let Some(entity) = queues.open_next() {
        while let Some((time, key, arg)) = take(queues, links) {
            all.push((entity, time, key, arg));
        }
    }
    queues.end_window();
    all
}

#[test]
fn an_entity_handles_its_events_of_a_window_in_order_before_the_next_entity_does() {
    // FIFOs 0 and 1 lead to entity 130, FIFO 2 to entity 2.
    let mut queues = queues(200, &[130, 130, 2]);
    let mut links = Following::default();
    arrive(&mut queues, &mut links, 0, 700, 0);
    arrive(&mut queues, &mut links, 1, 600, 1);
    queues.push(130, event(600, 2, 2));
    queues.push(130, event(600, 2_000, 5));
    queues.push(2, event(900, 1, 3));
    arrive(&mut queues, &mut links, 2, 1_500, 4);
    assert_eq!(queues.earliest(), Time(600));
    let first =
        [(2, 900, 1, 3), (130, 600, 2, 2), (130, 600, 1_001, 1), (130, 600, 2_000, 5), (130, 700, 1_000, 0)];
    assert_eq!(
        window(&mut queues, &mut links, 1_500),
        first,
        "an arrival at the limit belongs to the next window"
    );
    assert_eq!(queues.earliest(), Time(1_500));
    assert_eq!(window(&mut queues, &mut links, 2_500), [(2, 1_500, 1_002, 4)]);
    assert_eq!(queues.earliest(), Time::NEVER);
}

#[test]
fn arrivals_of_one_fifo_at_one_time_come_as_they_were_sent() {
    // A frame of 1 B takes 0.2 ns at 40 Gbps, which a clock of whole nanoseconds makes none: three arrive at once. FIFO 1's
    // arrival at that time has a higher key.
    let mut queues = queues(1, &[0, 0]);
    let mut links = Following::default();
    for arg in [5, 3, 4] {
        arrive(&mut queues, &mut links, 0, 700, arg);
    }
    arrive(&mut queues, &mut links, 1, 700, 6);
    let expected = [(0, 700, 1_000, 5), (0, 700, 1_000, 3), (0, 700, 1_000, 4), (0, 700, 1_001, 6)];
    assert_eq!(window(&mut queues, &mut links, 1_000), expected);
}

#[test]
fn the_last_fifo_of_all_is_not_taken_for_an_empty_one() {
    // The maximum number of FIFOs, and a time beyond the five hours that heads distinguish: 2.16e16 ps are six hours.
    let six_hours = 21_600_000_000_000_000;
    let mut queues = queues(1, &[0; MAX_FIFOS]);
    let mut links = Following::default();
    arrive(&mut queues, &mut links, MAX_FIFOS as u32 - 1, six_hours, 7);
    let last = (0, six_hours, key_of(MAX_FIFOS as u32 - 1), 7);
    assert_eq!(window(&mut queues, &mut links, six_hours + 1), [last]);
}

#[test]
fn times_beyond_hours_are_distinguished() {
    // 2^54 ps are five hours; here the arrivals of two FIFOs and an own event meet after a week, 6.048e17 ps.
    let week = 604_800_000_000_000_000;
    let mut queues = queues(1, &[0, 0]);
    let mut links = Following::default();
    arrive(&mut queues, &mut links, 0, week + 2, 0);
    arrive(&mut queues, &mut links, 1, week + 1, 1);
    queues.push(0, event(week + 1, 2, 2));
    // A window ends before its limit.
    let first = [(0, week + 1, 2, 2), (0, week + 1, 1_001, 1)];
    assert_eq!(window(&mut queues, &mut links, week + 2), first);
    assert_eq!(window(&mut queues, &mut links, week + 10), [(0, week + 2, 1_000, 0)]);
}

proptest! {
    /// Compares with a sorted set. Each handled event makes an own event, near or far, or an arrival beyond the window, each
    /// after its FIFO's last one. Entity e has e % 7 FIFOs, the last entity has 40.
    #[test]
    fn every_entity_handles_its_events_in_order(
        first in prop::collection::vec((0u32..150, 0u64..5_000), 1..40),
        makes in prop::collection::vec((any::<bool>(), 0u64..3_000, 0usize..1_000), 1..40),
    ) {
        let of = |entity: u32| std::iter::repeat_n(entity, if entity == 149 { 40 } else { entity as usize % 7 });
        let fifos: Vec<u32> = (0..150).flat_map(of).collect();
        let (mut queues, mut links) = (queues(150, &fifos), Following::default());
        let mut model: Vec<BTreeSet<(u64, u32, u32)>> = vec![BTreeSet::new(); 150];
        let mut last = vec![0; fifos.len()];
        for (i, &(entity, time)) in first.iter().enumerate() {
            queues.push(entity, event(time, 7, i as u32));
            model[entity as usize].insert((time, 7, i as u32));
        }
        let (mut made, mut handled) = (first.len() as u32, 0);
        while queues.earliest() < Time::NEVER {
            let begin = queues.earliest();
            prop_assert_eq!(Some(begin.0), model.iter().filter_map(|m| m.first()).map(|e| e.0).min());
            let limit = begin + Time(1_000);
            queues.begin_window(queues.earliest(), limit);
            queues.list_turns();
            let mut next = queues.turn_ahead(1);
            while let Some(entity) = queues.open_next() {
                // The entity that was to come next has come, and what is fetched for those to come changes nothing.
                prop_assert_eq!(Some(entity), next);
                next = queues.turn_ahead(1);
                queues.fetch_turns();
                while let Some(now) = take(&mut queues, &mut links) {
                    prop_assert_eq!(Some(now), model[entity as usize].pop_first());
                    handled += 1;
                    if handled > 2_000 {
                        continue;
                    }
                    let (own, offset, fifo) = makes[handled % makes.len()];
                    let fifo = (fifo + handled) % fifos.len();
                    if own {
                        let new = event(now.0 + offset, offset as u32 % 3, made);
                        queues.push(entity, new);
                        model[entity as usize].insert((new.time.0, new.key, new.arg));
                    } else {
                        let time = (limit.0 + offset).max(last[fifo] + 1);
                        last[fifo] = time;
                        arrive(&mut queues, &mut links, fifo as u32, time, made);
                        prop_assert_eq!(queues.last_of(queues.slot(fifo as u32)), Some(made));
                        model[fifos[fifo] as usize].insert((time, key_of(fifo as u32), made));
                    }
                    made += 1;
                }
                let left = model[entity as usize].first().map(|e| e.0);
                prop_assert!(left.is_none_or(|time| time >= limit.0));
            }
            queues.end_window();
        }
        prop_assert!(model.iter().all(BTreeSet::is_empty));
    }
}
