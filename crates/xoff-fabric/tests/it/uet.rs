//! Ultra Ethernet's transport: one flow alone by hand, trimming and what follows from it, timeouts, paths by entropy values,
//! and a lossless class.

use crate::common::flow;
use serde_json::json;
use xoff_engine::{Bytes, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{Ecmp, PathChoice, Router, Routing};
use xoff_fabric::settings::{
    EntropyChoice, FlowControl, Pfc, Quirks, Settings, Transport, Trimming, UetOf, Victim,
};
use xoff_fabric::topology::{AnyTopology, Topology};
use xoff_fabric::{Network, Recording, Simulation, Stop, network_env};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::detector::red::Red;

/// 16 hosts at 100 Gb/s, 1 us a link.
fn fat_tree() -> Topology {
    let topology = AnyTopology::read("fat_tree", json!({"k": 4, "rate": "100Gbps", "delay": "1us"}));
    topology.expect("known").expect("valid").build().expect("a fat-tree")
}

/// Frames of 4,150 B with 64 B of headers, 43 of which fit a queue, as does one bandwidth-delay product.
fn settings() -> Settings {
    let mut all = Settings { lossy: true, flow_control: FlowControl::None, ..Settings::default() };
    (all.packets.mtu, all.packets.header) = (Bytes(4_150), Bytes(64));
    (all.packets.ack, all.packets.cnp) = (Bytes(64), Bytes(64));
    all.host.transport = Transport::Uet;
    all.host.retransmit_timeout = Time::from_us(100);
    all.switch.queue_limit = Some(Bytes(178_450));
    all.switch.trimming = Some(Trimming::default());
    all
}

fn run(settings: Settings, scheme: &str, flows: Vec<Flow>, seed: u64) -> Simulation {
    let (topology, choice) = (fat_tree(), PathChoice::Entropy);
    let routing = Routing::Ecmp(Ecmp { choice, ..Ecmp::default() });
    let router = Router::new(&topology, &routing, seed).expect("routed");
    let scheme = AnyScheme::read(scheme, json!({})).expect("known").expect("valid");
    let env = network_env(&topology, &router, &settings, &scheme.signals()).expect("an env");
    let net = Network::build(topology, &routing, settings, scheme.resolve(&env), flows, seed).expect("built");
    let (k_min, k_max) = (Some(Bytes(37_350)), Some(Bytes(145_250)));
    let red = AnyDetector::Red(Red { k_min, k_max, p_max: 1.0, ..Red::default() });
    let mut sim = Simulation::new(net, Some(&red), Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true).expect("no failure"), Stop::FlowsDone);
    sim
}

fn fct(sim: &Simulation, flow: usize) -> Time {
    sim.records().outcomes()[flow].fct.expect("complete")
}

/// Each byte arrives once, whatever was trimmed, dropped or sent again.
fn assert_conserved(sim: &Simulation) {
    let sizes: u64 = sim.network().flows.iter().map(|flow| flow.size.bytes().unwrap_or(0)).sum();
    assert_eq!(sim.counters().delivered_bytes, sizes);
    assert_eq!(sim.buffered_bytes(), (0, 0));
}

/// Hosts from the last on send to host 0.
fn incast(senders: u32, size: u64) -> Vec<Flow> {
    (0..senders).map(|sender| flow(15 - sender, 0, size)).collect()
}

/// 2 MB from pod to pod: 489 frames of 4,150 B and one of 2,010 B take 489 x 332 + 160.8 ns = 162,508.8 ns at the NIC. The
/// last full frame is at the receiver 6 links later: -160.8 ns + 6 us + 5 x 332 ns after the NIC's end, and the last frame
/// 160.8 ns behind it, even where it overtakes others, since the last link sends without a pause. Its ACK of 64 B takes
/// 6 x (1 us + 5.12 ns). In all 176,199.52 ns. An ACK goes for the first packet, for each further four, and for the last: 124.
#[test]
fn one_flow_alone_takes_what_its_wires_take() {
    for choice in [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed]
    {
        let mut settings = settings();
        settings.host.uet.entropy = choice;
        let sim = run(settings, "nscc", vec![flow(0, 15, 2_000_000)], 1);
        assert_eq!(fct(&sim, 0), Time(176_199_520), "{choice:?}");
        let counts = sim.counters().uet;
        assert_eq!((counts.sent, counts.retransmitted, counts.nacks), (490, 0, 0));
        assert_eq!(counts.acks, 124, "{choice:?}");
        assert_conserved(&sim);
    }
}

/// One byte: 65 B there and 64 B back over 6 links each, 12 us + 6 x 129 x 80 ps.
#[test]
fn one_byte_takes_a_round_trip() {
    for scheme in ["nscc", "rccc", "nscc_rccc"] {
        assert_eq!(fct(&run(settings(), scheme, vec![flow(0, 15, 1)], 1), 0), Time(12_061_920), "{scheme}");
    }
}

/// Eight to one: eight windows of 1.5 bandwidth-delay products do not fit one queue, so headers arrive in place of data, and
/// all that was trimmed goes again: one NACK and one retransmission each. The wire of the receiver never rests for long: 8 x
/// 162.5 us, and not more than a twentieth above that.
#[test]
fn an_incast_is_trimmed_and_sent_again_at_once() {
    for scheme in ["nscc", "rccc", "nscc_rccc"] {
        let sim = run(settings(), scheme, incast(8, 2_000_000), 1);
        let (counts, trims) = (sim.counters().uet, sim.counters().trims);
        assert!(trims > 100, "{scheme}: {trims}");
        assert_eq!((counts.nacks, counts.retransmitted, counts.requests), (trims, trims, 0), "{scheme}");
        assert_eq!(sim.counters().drops, 0, "{scheme}");
        let last = (0..8).map(|number| fct(&sim, number)).max().expect("eight flows");
        assert!(last > Time::from_us(1_300) && last < Time::from_us(1_365), "{scheme}: {last:?}");
        assert_conserved(&sim);
    }
}

/// Receivers' credit keeps senders together: with RCCC, first and last of an incast end within 2 %.
#[test]
fn credit_is_fair() {
    let sim = run(settings(), "rccc", incast(8, 2_000_000), 1);
    let times: Vec<u64> = (0..8).map(|number| fct(&sim, number).0).collect();
    let (first, last) = (times.iter().min().expect("eight"), times.iter().max().expect("eight"));
    assert!(last - first < last / 50, "{times:?}");
}

/// Without trimming what is dropped goes again after the timeout, one packet at a time, and nothing is lost for good.
#[test]
fn without_trimming_timeouts_bring_back_what_was_dropped() {
    for (scheme, victim) in
        [("nscc", Victim::Arriving), ("rccc", Victim::Either), ("nscc_rccc", Victim::Either)]
    {
        let mut settings = settings();
        (settings.switch.trimming, settings.switch.queue_victim) = (None, victim);
        let sim = run(settings, scheme, incast(8, 500_000), 1);
        let counts = sim.counters().uet;
        assert!(sim.counters().drops > 50 && counts.nacks == 0, "{scheme}");
        assert!(counts.retransmitted >= sim.counters().drops, "{scheme}: {counts:?}");
        assert_conserved(&sim);
    }
}

/// Headers are lost too if twice a queue of them waits: a queue of one frame holds 8,300 B of headers, 129 of 64 B. Timeouts
/// bring them back.
#[test]
fn lost_headers_come_back_by_timeouts() {
    let mut settings = settings();
    settings.switch.queue_limit = Some(Bytes(4_150));
    settings.switch.trimming = Some(Trimming { size: Bytes(1_024) });
    let sim = run(settings, "nscc", incast(8, 500_000), 1);
    assert!(sim.counters().drops > 0 && sim.counters().trims > sim.counters().drops);
    assert_conserved(&sim);
}

/// Half of the network sends to the other half. Entropy values spread the packets over all four paths, and REPS and the bitmap
/// learn: all flows end within a third of the 176 us that they take alone.
#[test]
fn entropy_values_spread_a_permutation() {
    let permutation = || (0..16).map(|src| flow(src, (src + 8) % 16, 2_000_000)).collect::<Vec<_>>();
    for choice in [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed]
    {
        let mut many = settings();
        many.host.uet.entropy = choice;
        let sim = run(many, "nscc", permutation(), 1);
        let last = (0..16).map(|number| fct(&sim, number)).max().expect("16 flows");
        assert!(last < Time::from_us(235), "{choice:?}: {last:?}");
        assert_conserved(&sim);
    }
    // With one value a flow has one path, and some of the 16 flows collide: the slowest takes twice as long at least.
    let mut one = settings();
    one.host.uet.paths = 1;
    let sim = run(one, "nscc", permutation(), 1);
    let last = (0..16).map(|number| fct(&sim, number)).max().expect("16 flows");
    assert!(last > Time::from_us(320), "{last:?}");
    assert_conserved(&sim);
}

/// In a lossless class PFC stops the senders: nothing is trimmed, dropped or sent again.
#[test]
fn a_lossless_class_loses_nothing() {
    let mut settings = settings();
    (settings.lossy, settings.switch.queue_limit, settings.switch.trimming) = (false, None, None);
    settings.flow_control = FlowControl::Pfc(Pfc { xoff: Some(Bytes(100_000)), ..Pfc::default() });
    for scheme in ["nscc", "rccc"] {
        let sim = run(settings.clone(), scheme, incast(8, 2_000_000), 1);
        let counts = sim.counters().uet;
        assert_eq!((counts.retransmitted, counts.nacks, sim.counters().drops), (0, 0, 0), "{scheme}");
        assert_conserved(&sim);
    }
    let pauses: u64 =
        run(settings, "nscc", incast(8, 2_000_000), 1).records().totals.pause_frames.iter().sum();
    assert!(pauses > 0);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for quirk in [UetOf::Specification, UetOf::Htsim] {
        let with = |seed| {
            let mut settings = settings();
            settings.quirks = Quirks { uet: quirk, ..Quirks::default() };
            settings.switch.queue_victim = Victim::Either;
            let sim = run(settings, "nscc_rccc", incast(8, 500_000), seed);
            (sim.counters().fingerprint, sim.port(PortId(0)).tx_packets)
        };
        assert_eq!(with(3), with(3));
        assert_ne!(with(3).0, with(4).0);
    }
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let nscc = AnyScheme::read("nscc", json!({})).expect("known").expect("valid");
    let dctcp = AnyScheme::read("dctcp", json!({})).expect("known").expect("valid");
    let keys = |settings: &Settings, scheme: &AnyScheme| {
        settings.validate(scheme).into_iter().map(|violation| violation.key.to_string()).collect::<Vec<_>>()
    };
    assert!(keys(&settings(), &nscc).is_empty());
    assert_eq!(keys(&settings(), &dctcp), ["host.transport"]);
    let mut other = settings();
    other.host.transport = Transport::Unordered;
    assert_eq!(keys(&other, &nscc), ["host.transport", "switch.trimming"]);
    let mut lossless = settings();
    lossless.lossy = false;
    assert_eq!(keys(&lossless, &nscc), ["switch.queue_limit"]);
    let mut small = settings();
    small.switch.queue_limit = Some(Bytes(4_149));
    assert_eq!(keys(&small, &nscc), ["switch.queue_limit"]);
    let mut alone = settings();
    alone.switch.queue_limit = None;
    assert_eq!(keys(&alone, &nscc), ["switch.trimming"]);
    let mut odd = settings();
    odd.host.uet.paths = 48;
    assert_eq!(keys(&odd, &nscc), ["host.uet.paths"]);
}
