//! FECN: roots of congestion mark, victims do not, as Annex A10 tells them apart; and TCD around it.

use crate::common::port_env;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::detector::fecn::{Delayed, Fecn, FecnMarker, VictimMask};
use xoff_schemes::detector::red::Red;
use xoff_schemes::detector::tcd::Tcd;
use xoff_schemes::detector::ternary::Rules;
use xoff_schemes::{AnyDetector, Detector, DetectorParams, Mark, PacketView, PortEnv, PortState, QueueView};

use Mark::{Ce, None as Unmarked, Ue};

/// A port at 40 Gbps towards another switch.
fn port() -> PortEnv {
    port_env(Rate::from_gbps(40), Time::from_us(4))
}

fn at(now_us: u64, bytes: u64) -> QueueView {
    QueueView { now: Time::from_us(now_us), bytes }
}

/// A packet of `size` bytes leaves `bytes` behind.
fn leave_sized(marker: &mut FecnMarker, bytes: u64, size: u64) -> Mark {
    marker.on_dequeue(&at(1, bytes), &PacketView { flow: 0, bytes: size })
}

/// Packets of 1,000 B leave.
fn leave(marker: &mut FecnMarker, bytes: &[u64]) -> Vec<Mark> {
    bytes.iter().map(|&bytes| leave_sized(marker, bytes, 1_000)).collect()
}

/// Credits come after a stall, for `packets` in the queue.
fn stall(marker: &mut FecnMarker, packets: u64) {
    marker.on_pause(&at(0, packets * 1_000));
    marker.on_resume(&at(1, packets * 1_000), &|| packets);
}

#[test]
fn a_root_marks_all_above_its_threshold() {
    // TCD's 50 KB: above, not at.
    let mut marker = Fecn::default().detector(&port());
    assert_eq!(leave(&mut marker, &[0, 50_000, 50_001, 500_000]), [Unmarked, Unmarked, Ce, Ce]);
    assert_eq!(marker.state(), None);
    // 0 marks with any backlog.
    let mut marker = Fecn { threshold: Bytes(0), ..Fecn::default() }.detector(&port());
    assert_eq!(leave(&mut marker, &[0, 1]), [Unmarked, Ce]);
}

#[test]
fn the_head_that_waited_for_credits_is_a_victims() {
    // Three packets wait when the credits come: the first was delayed, the others find credits.
    let mut marker = Fecn::default().detector(&port());
    stall(&mut marker, 60);
    assert_eq!(leave(&mut marker, &[59_000, 58_000, 57_000]), [Unmarked, Ce, Ce]);
    // Below the threshold it was delayed as well, and counts.
    stall(&mut marker, 50);
    assert_eq!(leave(&mut marker, &[49_000, 51_000]), [Unmarked, Ce]);
    // Nothing waited: nothing was delayed.
    stall(&mut marker, 0);
    assert_eq!(leave(&mut marker, &[51_000]), [Ce]);
}

#[test]
fn all_that_were_queued_may_count_as_delayed() {
    // Three packets wait, and one arrives behind them after the credits.
    let queued = Fecn { delayed: Delayed::Queued, threshold: Bytes(0), ..Fecn::default() };
    let mut marker = queued.detector(&port());
    stall(&mut marker, 3);
    assert_eq!(leave(&mut marker, &[3_000, 2_000, 1_000, 1]), [Unmarked, Unmarked, Unmarked, Ce]);
    // A second stall counts again what is there.
    stall(&mut marker, 3);
    assert_eq!(leave(&mut marker, &[2_000]), [Unmarked]);
    stall(&mut marker, 1);
    assert_eq!(leave(&mut marker, &[2_000, 2_000]), [Unmarked, Ce]);
}

#[test]
fn victims_mark_where_the_mask_has_their_port() {
    let to_host = PortEnv { to_host: true, ..port() };
    for (victim_mask, port, mark) in [
        (VictimMask::Hosts, port(), Unmarked),
        (VictimMask::Hosts, to_host.clone(), Ce),
        (VictimMask::None, to_host, Unmarked),
        (VictimMask::All, port(), Ce),
    ] {
        let mut marker = Fecn { victim_mask, ..Fecn::default() }.detector(&port);
        stall(&mut marker, 60);
        assert_eq!(leave(&mut marker, &[59_000]), [mark], "{victim_mask:?}");
        // Not below the threshold.
        stall(&mut marker, 60);
        assert_eq!(leave(&mut marker, &[50_000]), [Unmarked], "{victim_mask:?}");
    }
}

#[test]
fn between_two_marks_as_many_packets_pass_as_the_marking_rate_says() {
    let mut marker = Fecn { marking_rate: 2, ..Fecn::default() }.detector(&port());
    // Packets below the threshold, and victims, are not eligible and do not count.
    let bytes = [60_000, 60_000, 50_000, 60_000, 60_000, 60_000];
    assert_eq!(leave(&mut marker, &bytes), [Ce, Unmarked, Unmarked, Unmarked, Ce, Unmarked]);
    stall(&mut marker, 60);
    assert_eq!(leave(&mut marker, &[60_000, 60_000, 60_000]), [Unmarked, Unmarked, Ce]);
}

#[test]
fn packets_below_the_packet_size_are_never_marked() {
    let mut marker = Fecn { packet_size: Bytes(512), marking_rate: 1, ..Fecn::default() }.detector(&port());
    let marks: Vec<Mark> =
        [511, 512, 511, 512, 512].map(|size| leave_sized(&mut marker, 60_000, size)).into();
    // 512 marked; 511 neither marked nor counted; 512 passes; 512 marked.
    assert_eq!(marks, [Unmarked, Ce, Unmarked, Unmarked, Ce]);
}

#[test]
fn tcd_takes_the_credit_period_for_the_longest_on_period() {
    let credits = PortEnv { credit_period: Some(Time::from_us(40)), ..port() };
    assert_eq!(Tcd::default().max_on(&credits), Time::from_us(40));
    // Half of the link to expect doubles it (section 4.5); what is given stands.
    assert_eq!(Tcd { share: 0.5, ..Tcd::default() }.max_on(&credits), Time::from_us(80));
    let given = Tcd { max_on: Some(Time::from_us(7)), ..Tcd::default() };
    assert_eq!(given.max_on(&credits), Time::from_us(7));
    // T = max(T_on), high 50 KB, low 2 MTU.
    let limits = *around_fecn(Rules::Paper).detector(&credits).limits();
    assert_eq!((limits.max_on, limits.period), (Time::from_us(40), Time::from_us(40)));
    assert_eq!((limits.low, limits.high, limits.rise), (2_000, 50_000, 1));
    let limits = *around_fecn(Rules::Code).detector(&credits).limits();
    assert_eq!((limits.low, limits.rise), (2_000, 900));
}

fn around_fecn(rules: Rules) -> Tcd {
    Tcd { rules, fecn: Some(Fecn { marking_rate: 1, ..Fecn::default() }), ..Tcd::default() }
}

#[test]
fn tcd_marks_ce_by_fecn_and_ue_in_its_place_after_a_stall() {
    use PortState::{Congestion, NonCongestion, Released, Undetermined};
    let credits = PortEnv { credit_period: Some(Time::from_us(40)), ..port() };
    let mut marker = around_fecn(Rules::Paper).detector(&credits);
    let mut leave = |now, bytes, stalled: bool| {
        if stalled {
            marker.on_pause(&at(now - 1, bytes));
            marker.on_resume(&at(now, bytes), &|| 60);
        }
        let mark = marker.on_dequeue(&at(now, bytes), &PacketView { flow: 0, bytes: 1_000 });
        (mark, marker.state())
    };
    // Never stalled: FECN's threshold, and each second packet.
    assert_eq!(leave(1, 50_000, false), (Unmarked, Some(NonCongestion)));
    assert_eq!(leave(2, 50_001, false), (Ce, Some(Congestion)));
    assert_eq!(leave(3, 60_000, false), (Unmarked, Some(Congestion)));
    assert_eq!(leave(4, 60_000, false), (Ce, Some(Congestion)));
    // Stalled: UE for T_c from the update on, whatever the marking rate.
    assert_eq!(leave(10, 60_000, true), (Ue, Some(Undetermined)));
    assert_eq!(leave(49, 60_000, false), (Ue, Some(Undetermined)));
    assert_eq!(leave(50, 60_000, false), (Unmarked, Some(Released)));
    // Grown over a period T: congested, and FECN decides: the packet after its last mark passes.
    assert_eq!(leave(90, 60_001, false), (Unmarked, Some(Congestion)));
    assert_eq!(leave(91, 60_001, false), (Ce, Some(Congestion)));
    // Stalled again, and drained to two packets.
    assert_eq!(leave(100, 60_001, true), (Ue, Some(Undetermined)));
    assert_eq!(leave(140, 2_001, false), (Unmarked, Some(Released)));
    assert_eq!(leave(141, 2_000, false), (Unmarked, Some(NonCongestion)));
}

#[test]
fn tcd_wraps_the_marking_of_the_scheme_that_it_serves() {
    let tcd = |json| AnyDetector::read("tcd", json).expect("a detector").expect("valid");
    let wrapped = |detector: AnyDetector, own: &AnyDetector| match detector.serve(own) {
        AnyDetector::Tcd(tcd) => (tcd.red.is_some(), tcd.fecn.map(|f| f.threshold)),
        other => panic!("{}", other.name()),
    };
    let fecn = AnyDetector::Fecn(Fecn { threshold: Bytes(7), ..Fecn::default() });
    let red = AnyDetector::Red(Red::default());
    assert_eq!(wrapped(tcd(json!({})), &fecn), (false, Some(Bytes(7))));
    assert_eq!(wrapped(tcd(json!({})), &red), (true, None));
    // What is given stands.
    assert_eq!(wrapped(tcd(json!({ "red": {} })), &fecn), (true, None));
    assert_eq!(wrapped(tcd(json!({ "fecn": {} })), &red), (false, Some(Bytes(50_000))));
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    assert_eq!(Fecn::default().validate(), Ok(()));
    let large = Fecn { packet_size: Bytes(16_321), ..Fecn::default() };
    assert!(Fecn { packet_size: Bytes(16_320), ..Fecn::default() }.validate().is_ok());
    assert_eq!(large.validate().unwrap_err().key, "packet_size");
    let nested = Tcd { fecn: Some(large), ..Tcd::default() }.validate().unwrap_err();
    assert_eq!(nested.key, "fecn.packet_size");
    assert!(nested.to_string().starts_with("`fecn.packet_size` is"), "{nested}");
    let both = Tcd { fecn: Some(Fecn::default()), red: Some(Red::default()), ..Tcd::default() };
    assert_eq!(both.validate().unwrap_err().key, "fecn");
    assert_eq!(Tcd { fecn: Some(Fecn::default()), ..Tcd::default() }.validate(), Ok(()));
}
