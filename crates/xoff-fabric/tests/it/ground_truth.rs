//! Detectors held against congestion roots, in networks worked by hand: where TCD, NP-ECN and RED are right, and where wrong.
//!
//! h0 and h1 at s0, the rest at s1, at 100 Gbps and 1 us a link. Frames of 1,000 B (952 B payload) take 80 ns. h0 sends
//! to h3 and h1 to h2, over the trunk s0->s1. Xoff is 100 KB, Xon 50 KB.
//!
//! *The burst.* h4 to h11 send 90 frames each to h3 at the start: 720 KB, which are at s1->h3 by 8.2 us and take 57.6 us
//! there. None of them reaches Xoff. Of h0's 21 Gbps (20 of payload), 2.6 KB a us, some 16 KB come among the burst and the
//! rest waits behind it. So s1 holds 100 KB of the trunk's by about 46 us and stops the trunk until, some 4 us after the
//! burst, it is down to 50 KB: a stop of less than 25 us, the only one of the trunk. In it the trunk's queue grows by what
//! is offered, and after it sends 100 Gbps.

use serde_json::{Value, json};
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::observe::detection::MarkRecord;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::{Flow, Network, Recording, Simulation};
use xoff_schemes::{AnyDetector, Mark};

use crate::common::{chain, flow, scheme};

const TRUNK: &str = "s0->s1";
const ROOT: &str = "s1->h3";

/// A port's marks: UE, and CE while it was a root and while it was none.
#[derive(Debug, PartialEq)]
struct Marks {
    ue: usize,
    right: usize,
    wrong: usize,
}

struct Outcome(Simulation);

impl Outcome {
    fn port(&self, name: &str) -> PortId {
        let topology = &self.0.network().topology;
        topology.port_ids().find(|&p| topology.port_name(p) == name).expect("a port of that name")
    }

    fn was_root(&self, port: PortId, time: Time) -> bool {
        self.0.records().roots.iter().any(|r| r.port == port && r.start <= time && time <= r.end)
    }

    fn marks(&self, name: &str) -> Marks {
        let port = self.port(name);
        let (ue, ce): (Vec<&MarkRecord>, Vec<&MarkRecord>) =
            self.0.records().marks.iter().filter(|m| m.port == port).partition(|m| m.mark == Mark::Ue);
        let right = ce.iter().filter(|m| self.was_root(port, m.time)).count();
        Marks { ue: ue.len(), right, wrong: ce.len() - right }
    }

    /// Start and end of the trunk's stops, in us.
    fn stops(&self) -> Vec<(f64, f64)> {
        let us = |time: Time| time.0 as f64 / 1e6;
        let port = self.port(TRUNK);
        self.0.records().pauses.iter().filter(|p| p.port == port).map(|p| (us(p.start), us(p.end))).collect()
    }
}

fn run(detector: &str, params: Value, flows: Vec<Flow>) -> Outcome {
    let topology = chain(2, &[0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], Rate::from_gbps(100), Time::from_us(1));
    let pfc = Pfc { xoff: Some(Bytes(100_000)), xon: Some(Bytes(50_000)), ..Pfc::default() };
    let mut settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    (settings.packets.mtu, settings.packets.header) = (Bytes(1_000), Bytes(48));
    // A rate that does not fall: what detectors say has no effect.
    let dcqcn = scheme("dcqcn", json!({ "min_rate": "100Gbps" }), Time::from_us(10));
    let net = Network::build(topology, &Routing::default(), settings, dcqcn, flows, 1).expect("a network");
    let detector = AnyDetector::read(detector, params).expect("a detector").expect("valid parameters");
    let recording = Recording { marks: true, pauses: true, roots: Some(30_000), ..Recording::default() };
    let mut sim = Simulation::new(net, Some(&detector), recording, None);
    sim.run(&mut |_| true).expect("no loss");
    Outcome(sim)
}

/// The burst, with h0's 20 Gbps for 120 us and as long `gbps` from h1.
fn burst(gbps: u64) -> Vec<Flow> {
    let paced =
        |src, dst, gbps| Flow { source_rate: Rate::from_gbps(gbps), ..flow(src, dst, gbps * 125 * 120) };
    let mut flows = vec![paced(0, 3, 20), paced(1, 2, gbps)];
    flows.extend((4..12).map(|src| flow(src, 3, 90 * 952)));
    flows
}

/// RED that marks each packet that leaves more than 20 KB behind.
fn red() -> Value {
    json!({ "k_min": "20KB", "k_max": "20KB" })
}

/// What holds after every burst, whatever h1 sends: one stop, and a root where the burst is, nowhere else.
fn check_burst(outcome: &Outcome) {
    let [(start, end)] = outcome.stops()[..] else { panic!("one stop: {:?}", outcome.stops()) };
    assert!(start > 40.0 && start < 52.0 && end > 60.0 && end < 72.0, "{start} to {end}");
    // Eight frames come to s1->h3 each 80 ns from 1.08 us on, and one goes: the k-th eight wait for 7 k + 1 frames, which
    // are 30 for k = 5 at the latest; h0's are not there yet.
    let roots = &outcome.0.records().roots;
    assert_eq!(roots.iter().map(|r| r.port).collect::<Vec<_>>(), [outcome.port(ROOT)], "{roots:?}");
    assert_eq!(roots[0].start, Time(1_000_000 + 5 * 80_000));
    // The burst and h0's packets among it take until 60 us, the 100 KB behind them 8 us more. What the trunk holds comes then
    // and would have come before: 1.08 + 57.6 + 0.21 t us are over at t = 74.3 us, if the queue is not empty earlier.
    let end = roots[0].end.0 as f64 / 1e6;
    assert!(end > 66.0 && end < 75.0, "{end}");
}

#[test]
fn red_takes_a_victim_for_congested() {
    // 25 Gbps for some 20 us make 55 KB in the trunk's queue. It drains at 75 Gbps: RED marks what leaves in the first 4 us.
    let outcome = run("red", red(), burst(4));
    check_burst(&outcome);
    let trunk = outcome.marks(TRUNK);
    assert!(trunk.wrong > 20 && trunk.wrong < 60, "{trunk:?}");
    assert_eq!((trunk.ue, trunk.right), (0, 0));
    let root = outcome.marks(ROOT);
    assert!(root.right > 500 && root.wrong == 0, "{root:?}");
}

#[test]
fn np_ecn_spares_what_a_stop_has_held_up() {
    // The 55 KB leave unmarked, and less than 15 KB come while they do.
    let outcome = run("np_ecn", json!({ "rule": "red", "red": red() }), burst(4));
    check_burst(&outcome);
    assert_eq!(outcome.marks(TRUNK), Marks { ue: 0, right: 0, wrong: 0 });
    let root = outcome.marks(ROOT);
    assert!(root.right > 500 && root.wrong == 0, "{root:?}");
}

#[test]
fn np_ecn_marks_what_comes_behind_packets_that_a_stop_has_held_up() {
    // 42 Gbps for some 20 us make more than 80 KB. While these leave, 42 % as much comes, more than 30 KB: it waits only
    // because of the stop too, but came after the RESUME.
    let outcome = run("np_ecn", json!({ "rule": "red", "red": red() }), burst(20));
    check_burst(&outcome);
    let trunk = outcome.marks(TRUNK);
    assert!(trunk.wrong > 5 && trunk.right == 0, "{trunk:?}");
}

#[test]
fn tcd_tells_a_victim_from_a_root() {
    // max(T_on) is 103.8 us by the equation: (2 x 50 KB + 27 KB) / (0.1 x 12.5 KB a us) + 2.16 us. What the trunk sends
    // after its stop is UE. s1->h3 was never stopped.
    let outcome = run("tcd", json!({ "red": red() }), burst(20));
    check_burst(&outcome);
    let trunk = outcome.marks(TRUNK);
    assert!(trunk.ue > 100 && (trunk.right, trunk.wrong) == (0, 0), "{trunk:?}");
    let root = outcome.marks(ROOT);
    assert!(root.right > 500 && (root.ue, root.wrong) == (0, 0), "{root:?}");
}

#[test]
fn tcd_with_a_short_window_takes_what_is_released_for_congestion() {
    // h0 and h1 offer 20 + 74 Gbps of payload, 98.7 Gbps, so the trunk is never overloaded. In the stop h1 reaches Xoff at
    // s0 and is stopped; it resumes at 50 KB and then sends at 100 Gbps what it has made meanwhile, so that the trunk gets
    // 121 Gbps and its queue grows by 2.6 KB a us. A T_on of 5 us is over by then.
    let sends = |params| run("tcd", params, burst(74));
    let short = sends(json!({ "red": red(), "max_on": "5us" }));
    check_burst(&short);
    let trunk = short.marks(TRUNK);
    assert!(trunk.wrong > 100 && trunk.right == 0, "{trunk:?}");
    let long = sends(json!({ "red": red() })).marks(TRUNK);
    assert!((long.right, long.wrong) == (0, 0) && long.ue > trunk.ue, "{long:?}");
}

#[test]
fn tcd_misses_an_overload_that_is_stopped_again_within_its_window() {
    // h0 and h1 offer the trunk 200 Gbps for more than 600 us. h4 and h5 send to h3 as h0 does, so that s1->h3 sends a third
    // of 100 Gbps from each input. Half of what the trunk sends is h0's, 50 Gbps: s1 holds 50 KB more of it, from Xon to
    // Xoff, after 24 us, and stops the trunk. So T_on is never 103.8 us.
    let flows = || [(0, 3), (1, 2), (4, 3), (5, 3)].map(|(src, dst)| flow(src, dst, 4_000_000)).into();
    let outcome = run("tcd", json!({ "red": red() }), flows());
    let stops = outcome.stops();
    let (first, last) = (stops[0].0, stops[stops.len() - 1].1);
    assert!(
        stops.len() > 10 && last > 500.0 && stops.windows(2).all(|s| s[1].0 - s[0].1 < 100.0),
        "{stops:?}"
    );
    // The second frames of the 29th pair wait for 30, at 1 us + 29 x 80 ns.
    let trunk = outcome.port(TRUNK);
    let roots: Vec<_> = outcome.0.records().roots.iter().filter(|r| r.port == trunk).collect();
    assert!(
        roots.len() == 1 && roots[0].start == Time(3_320_000) && roots[0].end > Time::from_us(600),
        "{roots:?}"
    );
    let within = |mark| {
        let marks = outcome.0.records().marks.iter().filter(|m| m.port == trunk && m.mark == mark);
        marks.filter(|m| m.time.0 as f64 > first * 1e6 && (m.time.0 as f64) < last * 1e6).count()
    };
    assert!(within(Mark::Ue) > 1_000 && within(Mark::Ce) == 0);
    // RED marks it, and is right but for the first: from the 21st pair on more than 20 KB stay behind, and 30 KB make a root
    // 8 pairs later.
    let red = run("red", red(), flows()).marks(TRUNK);
    assert!(red.right > 1_000 && red.wrong <= 8, "{red:?}");
}
