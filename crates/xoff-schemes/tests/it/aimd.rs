//! The example scheme of CONTRIBUTING.md against numbers worked out by hand.

#[path = "../../examples/aimd.rs"]
#[allow(dead_code)] // its `main`
mod example;

use example::{Aimd, ack, flow};
use xoff_engine::{Bytes, Rate};
use xoff_schemes::{Mark, ReactionPoint, Scheme};

#[test]
fn a_flow_begins_with_the_bandwidth_delay_product() {
    // 12.5 GB/s x 8 us = 100,000 B, at line rate.
    let sender = Aimd::default().reaction(&flow());
    assert_eq!((sender.window(), sender.rate()), (100_000, Rate::from_gbps(100)));
}

#[test]
fn a_marked_round_trip_halves_the_window_once_and_others_add_a_step() {
    let mut sender = Aimd::default().reaction(&flow());
    // The first ACK ends a round trip of its own: halved. 50,000 B in 8 us are 50 Gbps.
    sender.on_ack(&ack(1_456, 100_000, Mark::Ce));
    assert_eq!((sender.window(), sender.rate()), (50_000, Rate::from_gbps(50)));
    // The next one ends with packet 69, the first beyond 100,000 B; marks until then count into it, and cut nothing yet.
    sender.on_ack(&ack(50_000, 130_000, Mark::Ce));
    sender.on_ack(&ack(100_000, 150_000, Mark::None));
    assert_eq!(sender.window(), 50_000);
    sender.on_ack(&ack(101_456, 151_456, Mark::None));
    assert_eq!(sender.window(), 25_000);
    // Without a mark: 25,000 + 1,500.
    sender.on_ack(&ack(152_912, 180_000, Mark::None));
    assert_eq!(sender.window(), 26_500);
}

#[test]
fn the_window_stays_between_a_packet_and_the_bandwidth_delay_product() {
    let params = Aimd { step: Bytes(70_000), cut: 0.001 };
    let mut sender = params.reaction(&flow());
    sender.on_ack(&ack(1_456, 1_456, Mark::Ce));
    assert_eq!(sender.window(), 1_456); // not 100 B
    sender.on_ack(&ack(2_912, 2_912, Mark::None));
    assert_eq!(sender.window(), 71_456);
    sender.on_ack(&ack(4_368, 4_368, Mark::None));
    assert_eq!(sender.window(), 100_000); // not 141,456 B
}

#[test]
fn a_cut_to_nothing_or_none_is_refused() {
    for cut in [0.0, 1.0, f64::NAN] {
        let error = Aimd { cut, ..Aimd::default() }.validate().unwrap_err();
        assert_eq!(error.key, "cut");
    }
    assert_eq!(Aimd::default().validate(), Ok(()));
}
