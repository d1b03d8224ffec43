//! Runs without a duration in which no payload arrives any more, although something is always due.

use crate::common::{flow, scheme, simulate, star};
use serde_json::json;
use xoff_engine::{Bytes, Time};
use xoff_fabric::settings::{Cbfc, FlowControl, Settings};
use xoff_fabric::{Cut, Flow, Network, Recording, Simulation, Stop, routing::Routing};

/// Samples every 10 ms.
fn sampled() -> Recording {
    Recording { interval: Some(Time::from_us(10_000)), ..Recording::default() }
}

/// Two hosts on two switches whose memory has no room for a full packet, only for one of `last` bytes: every full packet is
/// lost, and sent again after 1 ms without an ACK.
fn lossy(recording: Recording, partitions: usize) -> Simulation {
    let mut settings = Settings { flow_control: FlowControl::None, lossy: true, ..Settings::default() };
    settings.switch.buffer = Some(Bytes(500));
    let flows = vec![flow(0, 1, 100), flow(0, 1, 100_000)];
    let none = scheme("none", json!({}), Time::from_us(1));
    let net =
        Network::build(star(&[0, 1]), &Routing::default(), settings, none, flows, 1).expect("a network");
    let cut = Cut::into(&net, partitions, None);
    Simulation::cut(net, cut, None, recording, None)
}

#[test]
fn a_run_whose_packets_are_all_lost_ends_after_a_second() {
    // 100 B take three links, 3 x 1 us and less than 20 ns each: payload arrives in the fourth microsecond. Looks come after
    // 100, 200, 400 us and so on, at 100 (2^n - 1) us: the first after a second is that of n = 14.
    for (recording, partitions) in [(Recording::default(), 1), (sampled(), 1), (sampled(), 2)] {
        let mut sim = lossy(recording, partitions);
        assert_eq!(sim.threads(), partitions);
        let end = sim.run(&mut |_| true);
        assert_eq!(
            (end, sim.now()),
            (Ok(Stop::StandsStill { since: Time::from_us(4) }), Time::from_us(1_638_304))
        );
        assert_eq!(sim.counters().flows_done, 1);
    }
}

#[test]
fn what_is_yet_to_come_is_waited_for() {
    // Samples alone are due meanwhile, or updates of credits.
    for (flow_control, late) in
        [(FlowControl::None, 300_000), (FlowControl::Cbfc(Cbfc::default()), 2_500_000)]
    {
        let settings = Settings { flow_control, ..Settings::default() };
        let none = scheme("none", json!({}), Time::from_us(1));
        let flows = vec![flow(0, 1, 952), Flow { start: Time::from_us(late), ..flow(0, 1, 952) }];
        let mut sim = simulate(star(&[0, 1]), settings, none, flows, sampled(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        assert!(sim.now() > Time::from_us(late));
    }
}
