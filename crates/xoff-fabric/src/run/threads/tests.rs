use std::sync::Arc;

use serde_json::json;
use xoff_engine::Time;
use xoff_schemes::AnyScheme;

use super::*;
use crate::network::{Flow, Network};
use crate::observe::{Counters, Recording};
use crate::path::topology::AnyTopology;
use crate::routing::Routing;
use crate::run::Cut;
use crate::run::partitions;
use crate::run::windows::Bounds;
use crate::settings::{FlowControl, Settings};

/// Goes on alone for some windows, and then together for as many.
struct Turns {
    windows: u32,
    length: u32,
}

impl Choice for Turns {
    fn waits_for_others(&self) -> bool {
        true
    }

    fn wants_company(&mut self, _: f64, _: u64) -> bool {
        self.windows += 1;
        self.windows / self.length % 2 == 1
    }

    fn joined(&mut self, _: f64) {}
}

/// 16 hosts of a fat-tree with two flows of `size` bytes each, in four partitions.
fn network(size: u64) -> (Arc<Network>, Cut) {
    let tree = AnyTopology::read("fat_tree", json!({ "k": 4 })).expect("known").expect("valid");
    let topology = tree.build().expect("a fat-tree");
    let hosts = topology.hosts();
    let flow = |i: usize| {
        let (src, dst) = (hosts[i % 16], hosts[(i % 16 + 3 + i / 16 * 5) % 16]);
        Flow::new(src, dst, size.into(), Time::from_us(i as u64), 0)
    };
    let scheme = AnyScheme::read("none", json!({})).expect("known").expect("no parameters");
    let flows: Vec<_> = (0..32).map(flow).collect();
    let settings = Settings { flow_control: FlowControl::None, ..Settings::default() };
    let net = Network::build(topology, &Routing::default(), settings, scheme, flows, 1).expect("built");
    let cut = Cut::into(&net, 4, None);
    (Arc::new(net), cut)
}

fn windows(cut: &Cut, net: &Network) -> Windows {
    Windows::new(Bounds {
        lookahead: cut.lookahead(),
        end: Time::NEVER,
        interval: None,
        max_events: u64::MAX,
        max_rows: u64::MAX,
        flows: Some(net.awaited()),
        watches_standstill: false,
    })
}

fn counted(all: &mut [Box<dyn AnyPartition>], end: Time) -> Counters {
    let mut counters = Counters::default();
    all.iter_mut().for_each(|partition| counters.add(&partition.close(end).0));
    counters
}

/// The same events happen whoever simulates a partition: one thread all of them, or two or three threads in turns with the
/// first one alone, changing after each window, after every third, or after every fiftieth.
#[test]
fn threads_come_and_go_and_events_stay_the_same() {
    let (net, cut) = network(100_000);
    assert_eq!(cut.partitions(), 4);
    let mut all = partitions(&net, None, &Recording::default(), &cut, 2);
    let mut path = CriticalPath::default();
    let mut bounds = windows(&cut, &net);
    assert_eq!(in_turn(&mut all, &mut path, &mut bounds, &mut |_| true), End::FlowsDone);
    let (expected, end) = (counted(&mut all, Time::ZERO), bounds.now());
    assert_eq!((expected.flows_done, expected.delivered_bytes), (32, 3_200_000));
    // Each event was handled in one of the windows, and no window allows more than its four partitions.
    assert_eq!(path.events, expected.events);
    assert!(path.windows > 30 && (1.0..=4.0).contains(&path.speedup(0.0)), "{path:?}");
    for threads in [2, 3] {
        for length in [1, 3, 50] {
            let mut all = partitions(&net, None, &Recording::default(), &cut, 2);
            let mut bounds = windows(&cut, &net);
            let turns = Turns { windows: 0, length };
            let stop = together(&mut all, threads, turns, &mut bounds, &mut |_| true);
            assert_eq!((stop.expect("no failure"), bounds.now()), (End::FlowsDone, end));
            assert_eq!(counted(&mut all, Time::ZERO), expected, "{threads} threads, turns of {length}");
        }
    }
}

/// A thread that breaks releases the others, and its panic is the run's. Reports come after 200,000 events: 32 MB are some
/// 22,000 packets, of which most take six links, and their ACKs.
#[test]
#[should_panic(expected = "progress")]
fn a_panic_of_the_first_thread_ends_the_others() {
    let (net, cut) = network(1_000_000);
    let mut all = partitions(&net, None, &Recording::default(), &cut, 2);
    let turns = Turns { windows: 1_000_000, length: 1_000_000 };
    let _ = together(&mut all, 2, turns, &mut windows(&cut, &net), &mut |_| panic!("progress"));
}
