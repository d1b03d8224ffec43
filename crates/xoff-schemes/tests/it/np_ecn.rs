//! NP-ECN: the packets that were queued when a pause ended leave unmarked, each one counted.

use crate::common::port_env;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::detector::np_ecn::{NpEcn, NpEcnMarker, Rule};
use xoff_schemes::detector::red::Red;
use xoff_schemes::{Detector, DetectorParams, Mark, PacketView, PortEnv, QueueView};

fn port() -> PortEnv {
    PortEnv {
        frame: 1_030,
        hysteresis: Some(Bytes(2_060)),
        ..port_env(Rate::from_gbps(40), Time::from_us(4))
    }
}

fn view(bytes: u64) -> QueueView {
    QueueView { now: Time::from_us(1), bytes }
}

fn leave(marker: &mut NpEcnMarker, bytes: u64) -> Mark {
    marker.on_dequeue(&view(bytes), &PacketView { flow: 0, bytes: 1_030 })
}

#[test]
fn any_backlog_is_marked_and_an_empty_queue_is_not() {
    let mut marker = NpEcn::default().detector(&port());
    assert_eq!(leave(&mut marker, 1), Mark::Ce);
    assert_eq!(leave(&mut marker, 0), Mark::None);
    assert_eq!(marker.state(), None);
}

#[test]
fn packets_that_a_pause_held_up_are_not_marked() {
    // Three packets wait at the end of the pause, and two more come behind them. The first three leave unmarked, the
    // fourth has the fifth behind it, and the fifth nothing.
    let mut marker = NpEcn::default().detector(&port());
    marker.on_pause(&view(0));
    marker.on_resume(&view(3_090), &|| 3);
    let marks: Vec<Mark> = [4_120, 3_090, 2_060, 1_030, 0].map(|bytes| leave(&mut marker, bytes)).into();
    assert_eq!(marks, [Mark::None, Mark::None, Mark::None, Mark::Ce, Mark::None]);
    // The next pause counts anew: of two, one has left when a second one ends with three.
    marker.on_resume(&view(2_060), &|| 2);
    assert_eq!(leave(&mut marker, 3_090), Mark::None);
    marker.on_resume(&view(3_090), &|| 3);
    let marks: Vec<Mark> = [3_090, 2_060, 2_060, 1_030].map(|bytes| leave(&mut marker, bytes)).into();
    assert_eq!(marks, [Mark::None, Mark::None, Mark::None, Mark::Ce]);
}

#[test]
fn with_red_a_packet_needs_reds_mark_too() {
    let red = Red { k_min: Some(Bytes(5_000)), k_max: Some(Bytes(6_000)), p_max: 0.0, ..Red::default() };
    let mut marker = NpEcn { rule: Rule::Red, red: Some(red) }.detector(&port());
    assert_eq!(leave(&mut marker, 5_000), Mark::None);
    assert_eq!(leave(&mut marker, 6_001), Mark::Ce);
    marker.on_resume(&view(6_001), &|| 1);
    assert_eq!(leave(&mut marker, 6_001), Mark::None);
    assert_eq!(leave(&mut marker, 6_001), Mark::Ce);
    // Without a table of its own it is RED's default, 160 and 640 KB at 40 Gbps.
    let mut marker = NpEcn { rule: Rule::Red, red: None }.detector(&port());
    assert_eq!((leave(&mut marker, 160_000), leave(&mut marker, 640_001)), (Mark::None, Mark::Ce));
}

#[test]
fn parameters_that_mean_nothing_are_refused_by_key() {
    let red = || Some(Red { k_max: Some(Bytes(1)), ..Red::default() });
    assert_eq!(NpEcn { rule: Rule::Backlog, red: red() }.validate().unwrap_err().key, "red");
    assert_eq!(NpEcn { rule: Rule::Red, red: red() }.validate().unwrap_err().key, "red.k_max");
    assert!(NpEcn { rule: Rule::Red, red: None }.validate().is_ok() && NpEcn::default().validate().is_ok());
    assert!(NpEcn::default().accepts(Rate::from_gbps(1)).is_ok());
}
