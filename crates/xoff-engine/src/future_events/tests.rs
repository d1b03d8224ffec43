use super::*;
use crate::random::mix;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// By argument: the time and argument of the next arrival.
#[derive(Default)]
struct Following(BTreeMap<u32, (Time, u32)>);

impl ArrivalLinks for Following {
    fn link(&mut self, arg: u32, time: Time, next: u32) {
        assert_eq!(self.0.insert(arg, (time, next)), None, "nothing is linked behind {arg} so far");
    }

    fn unlink(&mut self, arg: u32) -> (Time, u32) {
        self.0.remove(&arg).unwrap_or((Time::NEVER, 0))
    }
}

#[test]
fn windows_end_at_the_lookahead_and_after_common_events() {
    // Two entities, with a link of 100 ps each way: FIFO 0 leads to entity 1, FIFO 1 to entity 0.
    let mut events = FutureEvents::by_entity(2, [(1, 10), (0, 11)].map(Some).into_iter(), Time(100));
    let mut links = Following::default();
    events.push_start(Time(50), 6);
    events.push(1, Time(140), 2, 0);
    events.push_common(Time(120), 15);
    assert_eq!(events.earliest(), Time(50));

    // The first window begins at 50. It would end at 150, but the common event at 120 ends it at 121.
    assert_eq!(events.begin_window(Time(1_000)), Some(Time(50)..Time(121)));
    assert_eq!(events.take_start(Time(50)), None, "the window's end is not part of it");
    assert_eq!(events.take_start(Time(121)), Some((Time(50), 6)));
    assert_eq!(events.take_start(Time(121)), None);
    events.push(0, Time(50), 6, 0);
    events.list_turns();
    assert_eq!(events.open_next(), Some(0));
    assert_eq!(events.turn_ahead(1), None, "entity 1 has nothing before 140");
    assert_eq!(events.fifos(0).next(), Some((1, 0)));
    assert_eq!(events.next_up(), Next::Own);
    assert_eq!(events.take_own(), Event { time: Time(50), key: 6, arg: 0 });
    // The start sends 7 and 8 to entity 1 and schedules an event for 120, which is before the common event.
    let slot = events.slot(0, 10);
    events.arrive(&mut links, slot, Time(150), 7);
    events.arrive(&mut links, slot, Time(160), 8);
    events.push(0, Time(120), 0, 0);
    assert_eq!(events.next_up(), Next::Own);
    assert_eq!(events.take_own(), Event { time: Time(120), key: 0, arg: 0 });
    assert_eq!(events.next_up(), Next::Nothing);
    assert_eq!(events.open_next(), None, "entity 1 has nothing before 140");
    events.end_window();
    assert_eq!(events.take_common(Time(120)), None);
    assert_eq!(events.take_common(Time(121)), Some(Event { time: Time(120), key: 15, arg: 0 }));
    assert_eq!(events.take_common(Time(121)), None);

    // The second window lasts from 140 to 155, the limit asked for, and leaves the arrival at 160 to the third.
    assert_eq!(events.begin_window(Time(155)), Some(Time(140)..Time(155)));
    events.list_turns();
    assert_eq!((events.turn_ahead(1), events.open_next()), (Some(1), Some(1)));
    assert_eq!(events.next_up(), Next::Own);
    assert_eq!(events.take_own(), Event { time: Time(140), key: 2, arg: 0 });
    let Next::Arrival(first) = events.next_up() else { panic!("7 arrives at 150") };
    let arrival = Arrival { time: Time(150), fifo: 0, arg: 7, following: 8 };
    assert_eq!(events.take(&mut links, first), arrival);
    assert_eq!(events.next_up(), Next::Nothing);
    assert_eq!(events.open_next(), None);
    events.end_window();
    assert_eq!(events.begin_window(Time(160)), None);
    assert_eq!(events.earliest(), Time(160));
    assert_eq!(events.begin_window(Time(1_000)), Some(Time(160)..Time(260)));
}

#[test]
fn a_joint_queue_has_no_windows_and_its_starts_are_events() {
    let mut events = FutureEvents::joint(0..0);
    events.push_common(Time(50), 15);
    events.push_start(Time(50), 6);
    events.arrive(&mut Following::default(), events.slot(3, 11), Time(50), 7);
    assert!(!events.looks_ahead());
    assert_eq!(events.begin_window(Time::NEVER), None);
    assert_eq!(events.take_start(Time::NEVER), None);
    assert_eq!(events.pop_before(Time(50)), None);
    let mut pop = || events.pop_before(Time(51)).map(|e| (e.key, e.arg));
    assert_eq!([pop(), pop(), pop(), pop()], [Some((6, 0)), Some((11, 7)), Some((15, 0)), None]);
}

#[test]
fn a_joint_queue_may_keep_the_order_of_scheduling() {
    let mut events = FutureEvents::in_order_of_scheduling();
    events.push_common(Time(50), 15);
    events.push(0, Time(50), 6, 0);
    let mut pop = || events.pop_before(Time(51)).map(|e| e.key);
    assert_eq!([pop(), pop()], [Some(15), Some(6)]);
}

/// Kinds of events, the high bits of a key; the others are an entity, a FIFO or a start.
const OWN: u32 = 0;
const ARRIVAL: u32 = 1 << 28;
const START: u32 = 6 << 28;
const LATE_OWN: u32 = 9 << 28;
const COMMON: u32 = 15 << 28;
const INDEX: u32 = (1 << 28) - 1;

/// How many of its events make new ones, by entity.
const FERTILE: usize = 40;
/// How many common events come.
const SAMPLES: usize = 20;

#[derive(Clone, Debug)]
struct Link {
    from: u32,
    to: u32,
    delay: u64,
}

/// A network of entities in which each event makes others, which depend on what its entity has handled before.
#[derive(Clone, Debug)]
struct Network {
    entities: u32,
    links: Vec<Link>,
    lookahead: u64,
    /// Times and entities of starts, in order.
    starts: Vec<(u64, u32)>,
    /// The time between common events.
    interval: u64,
    seed: u64,
}

/// What has happened: by entity its events, and for each common event how many events each entity had handled by then.
#[derive(Default, Debug, PartialEq)]
struct Log {
    entities: Vec<Vec<(u64, u32, u32)>>,
    common: Vec<(u64, Vec<usize>)>,
}

struct Run<'a> {
    net: &'a Network,
    events: FutureEvents,
    following: Following,
    log: Log,
    /// By entity: how many events it has made.
    made: Vec<u32>,
    /// By link: its last arrival.
    last: Vec<u64>,
}

impl Run<'_> {
    /// Everything that happens in a network.
    fn log(net: &Network, events: FutureEvents) -> Log {
        let entities = net.entities as usize;
        let log = Log { entities: vec![Vec::new(); entities], common: Vec::new() };
        let (made, last) = (vec![0; entities], vec![0; net.links.len()]);
        let mut run = Run { net, events, following: Following::default(), log, made, last };
        run.push_start(0);
        run.events.push_common(Time(net.interval), COMMON);
        // A run goes on from limit to limit.
        while run.events.earliest() < Time::NEVER {
            let limit = Time((run.events.earliest().0 / 700 + 1) * 700);
            if run.events.looks_ahead() { run.by_entity(limit) } else { run.in_order(limit) }
        }
        run.log
    }

    fn in_order(&mut self, limit: Time) {
        while let Some(event) = self.events.pop_before(limit) {
            let index = event.key & INDEX;
            match event.key & !INDEX {
                COMMON => self.sample(event),
                ARRIVAL => self.handle(self.net.links[index as usize].to, event),
                START => {
                    self.push_start(index as usize + 1);
                    self.handle(self.net.starts[index as usize].1, event);
                }
                _ => self.handle(index, event),
            }
        }
    }

    fn by_entity(&mut self, limit: Time) {
        while let Some(end) = self.events.begin_window(limit).map(|window| window.end) {
            while let Some((time, key)) = self.events.take_start(end) {
                let index = (key & INDEX) as usize;
                self.events.push(self.net.starts[index].1, time, key, 0);
                self.push_start(index + 1);
            }
            self.events.list_turns();
            self.events.fetch_turns();
            while let Some(entity) = self.events.open_next() {
                loop {
                    let event = match self.events.next_up() {
                        Next::Arrival(slot) => {
                            let Arrival { time, fifo, arg, .. } = self.events.take(&mut self.following, slot);
                            Event { time, key: ARRIVAL | fifo, arg }
                        }
                        Next::Own => self.events.take_own(),
                        Next::Nothing => break,
                    };
                    self.handle(entity, event);
                }
            }
            self.events.end_window();
            while let Some(event) = self.events.take_common(end) {
                self.sample(event);
            }
        }
    }

    fn push_start(&mut self, index: usize) {
        if let Some(&(time, _)) = self.net.starts.get(index) {
            self.events.push_start(Time(time), START | index as u32);
        }
    }

    fn sample(&mut self, event: Event) {
        let handled = self.log.entities.iter().map(Vec::len).collect();
        self.log.common.push((event.time.0, handled));
        if self.log.common.len() < SAMPLES {
            self.events.push_common(event.time + Time(self.net.interval), event.key);
        }
    }

    /// Logs an event and makes up to two own events, now or later, and up to two arrivals at other entities.
    fn handle(&mut self, entity: u32, Event { time, key, arg }: Event) {
        let handled = &mut self.log.entities[entity as usize];
        handled.push((time.0, key, arg));
        if handled.len() > FERTILE {
            return;
        }
        let mut draw = mix(self.net.seed ^ mix(u64::from(entity) << 32 | handled.len() as u64));
        let mut below = |n: u64| {
            draw = mix(draw);
            draw % n
        };
        for _ in 0..below(3) {
            let kind = if below(2) == 0 { OWN } else { LATE_OWN };
            let offset = below(4) * below(2 * self.net.lookahead);
            let arg = self.next_arg(entity);
            self.events.push(entity, time + Time(offset), kind | entity, arg);
        }
        let outgoing: Vec<usize> =
            (0..self.net.links.len()).filter(|&l| self.net.links[l].from == entity).collect();
        for _ in 0..below(3).min(outgoing.len() as u64) {
            let link = outgoing[below(outgoing.len() as u64) as usize];
            let at = (time.0 + self.net.links[link].delay + below(3) * 50).max(self.last[link]);
            self.last[link] = at;
            let slot = self.events.slot(link as u32, ARRIVAL | link as u32);
            let arg = self.next_arg(entity);
            self.events.arrive(&mut self.following, slot, Time(at), arg);
        }
    }

    /// An argument that no other event has, smaller than those before: it says nothing about the order of arrivals.
    fn next_arg(&mut self, entity: u32) -> u32 {
        let made = &mut self.made[entity as usize];
        *made += 1;
        u32::MAX - (*made * self.net.entities + entity)
    }
}

fn networks() -> impl Strategy<Value = Network> {
    let links = prop::collection::vec((0u32..8, 0u32..8, 0u64..200), 1..20);
    let starts = prop::collection::vec((0u64..3_000, 0u32..8), 1..10);
    let parts = (1u32..8, links, 1u64..400, starts, 1u64..600, any::<u64>());
    parts.prop_map(|(entities, links, lookahead, mut starts, interval, seed)| {
        starts.sort_unstable();
        Network {
            entities,
            links: links
                .into_iter()
                .map(|(from, to, more)| Link {
                    from: from % entities,
                    to: to % entities,
                    delay: lookahead + more,
                })
                .collect(),
            lookahead,
            starts: starts.into_iter().map(|(time, entity)| (time, entity % entities)).collect(),
            interval,
            seed,
        }
    })
}

proptest! {
    /// Delays are at least the lookahead, so windows change no entity's history, and at common events every entity has
    /// handled the same events as with a joint queue. Several arrivals of one link may have one time.
    #[test]
    fn every_entity_has_the_same_history_with_a_joint_queue_and_with_a_queue_of_its_own(net in networks()) {
        let fifos = net.links.iter().zip(0..).map(|(link, fifo)| Some((link.to, ARRIVAL | fifo)));
        let by_entity = FutureEvents::by_entity(net.entities as usize, fifos, Time(net.lookahead));
        let joint = Run::log(&net, FutureEvents::joint(ARRIVAL..START));
        prop_assert_eq!(joint.common.len(), SAMPLES);
        prop_assert!(joint.entities.iter().all(|log| log.is_sorted_by_key(|(time, ..)| *time)));
        prop_assert_eq!(Run::log(&net, by_entity), joint);
    }
}

/// The times and keys of all events, in the order in which they come.
fn all_of(mut events: FutureEvents) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    while let Some(event) = events.pop_before(Time::NEVER) {
        found.push((event.time.0, event.key));
    }
    while let Some(window) = events.begin_window(Time::NEVER) {
        found.extend(events.take_start(window.end).map(|(time, key)| (time.0, key)));
        events.list_turns();
        while events.open_next().is_some() {
            while events.next_up() == Next::Own {
                let event = events.take_own();
                found.push((event.time.0, event.key));
            }
        }
        events.end_window();
        found.extend(events.take_common(window.end).map(|event| (event.time.0, event.key)));
    }
    found
}

#[test]
fn what_comes_from_outside_comes_forward_and_all_else_stays() {
    // Keys from 6 are of what comes from outside: the start at 9,000 and the events at 8,000, 20,000,000 (beyond the wheel's
    // horizon) and 9,500. 7,000 earlier they come at 2,000, 1,000, 19,993,000 and 2,500; key 3 stays at 1,500.
    let is_external = |key: u32| key >= 6;
    for mut events in [FutureEvents::joint(0..0), FutureEvents::by_entity(2, std::iter::empty(), Time(100))] {
        events.push_start(Time(9_000), 6);
        events.push(0, Time(8_000), 7, 0);
        events.push(0, Time(20_000_000), 8, 0);
        events.push(1, Time(1_500), 3, 0);
        events.push_common(Time(9_500), 15);
        assert_eq!(events.first_of(is_external), Time(8_000));
        events.bring_forward(Time(7_000), is_external);
        assert_eq!(events.first_of(is_external), Time(1_000));
        assert_eq!(all_of(events), [(1_000, 7), (1_500, 3), (2_000, 6), (2_500, 15), (19_993_000, 8)]);
    }
}

#[test]
fn events_that_are_removed_do_not_come() {
    // Of a start at 9,000, events soon and beyond the wheel's horizon, and a common one, those with keys from 6 to 8 are removed: 3 and 15 are left.
    let joint = FutureEvents::joint(0..0);
    for mut events in [joint, FutureEvents::by_entity(2, std::iter::empty(), Time(100))] {
        events.push_start(Time(9_000), 6);
        events.push(0, Time(8_000), 7, 0);
        events.push(0, Time(20_000_000), 8, 0);
        events.push(1, Time(1_500), 3, 0);
        events.push_common(Time(9_500), 15);
        events.remove(|key| (6..=8).contains(&key));
        assert_eq!(all_of(events), [(1_500, 3), (9_500, 15)]);
    }
}
