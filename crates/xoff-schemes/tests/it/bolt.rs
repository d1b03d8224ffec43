//! Bolt against numbers worked by hand from its algorithms: what a switch makes of the bits of a packet, and what a sender
//! makes of the bits of an ACK and of a switch's message.
//!
//! Throughout, C = 100 Gb/s = 12,500 B/us, T = 10 us, and packets of 1,000 B; 1,250 B on the wire, 0.1 us. C T is 125 packets.

use crate::common::{flow_env, port_env};
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::bolt::switch::BoltQueue;
use xoff_schemes::bolt::{Bolt, BoltSender, DEC, FIRST, INC, LAST};
use xoff_schemes::int::IntStack;
use xoff_schemes::{
    Ack, Cnm, CongestionPoint, FlowEnv, Labelled, Mark, Outgoing, PortEnv, QueueReport, QueueView,
    ReactionPoint, Scheme,
};

const LINE: Rate = Rate::from_gbps(100);
const FRAME: u64 = 1_250;

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn sender(params: &Bolt) -> BoltSender {
    assert_eq!(params.validate(), Ok(()));
    params.reaction(&FlowEnv { payload: 1_000, frame: FRAME, ..flow_env(LINE, Time::from_us(10)) })
}

/// At `now_us`, the ACK of `packet` with an RTT of `rtt_us`, while the packets before `next_packet` are sent.
fn ack(now_us: u64, rtt_us: u64, packet: u64, next_packet: u64, label: u8) -> Ack<'static> {
    Ack {
        now: Time::from_us(now_us),
        seq: (packet + 1) * 1_000,
        newly_acked: 1_000,
        snd_nxt: next_packet * 1_000,
        packet,
        next_packet,
        rtt: Some(Time::from_us(rtt_us)),
        mark: Mark::None,
        flow_count: 0,
        label,
        int: IntStack::default(),
    }
}

/// A switch's message of `bytes` queued on a link of `rate`, which the packet met that was sent at `sent_us`.
fn message(sent_us: u64, bytes: u32, rate: Rate) -> Cnm {
    let sent_at = Time::from_us(sent_us);
    Cnm { flow: 7, point: 4, rate, queue: Some(QueueReport { bytes, sent_at }) }
}

/// An egress queue of a 100 Gb/s port.
fn queue(params: &Bolt) -> BoltQueue {
    params.congestion(&PortEnv { frame: FRAME, ..port_env(LINE, Time::from_us(1)) })
}

/// A full packet with `label`, sent at 1 us, comes at `now_ns` as the `n`th of its port, with `waits` bytes queued before it.
/// Returns the packet's label behind the switch, and the messages.
fn come(queue: &mut BoltQueue, now_ns: u64, n: u64, waits: u64, label: u8) -> (u8, Vec<Cnm>) {
    let view = QueueView { now: ns(now_ns), bytes: waits + FRAME };
    let sent_at = Time::from_us(1);
    let packet = Labelled { flow: 7, bytes: FRAME, label, sent_at, arrived: n * FRAME };
    let mut out = Vec::new();
    (queue.on_label(&view, &packet, &mut out), out)
}

#[test]
fn a_flow_begins_with_the_bandwidth_delay_product_and_asks_for_more_after_its_first_ack() {
    let mut sender = sender(&Bolt::default());
    assert_eq!((sender.cwnd(), sender.window(), sender.rate()), (125.0, 125_000, LINE));
    let label = |sender: &BoltSender, left| sender.label(&Outgoing { left });
    // Before the first ACK: FIRST, and LAST if all that is left fits into the window. No request for more.
    assert_eq!(label(&sender, 1_000_000), FIRST);
    assert_eq!(label(&sender, 125_001), FIRST);
    assert_eq!(label(&sender, 125_000), FIRST | LAST);
    // After the first ACK, which makes the window 126 packets: INC, but for the last window.
    sender.on_ack(&ack(10, 10, 0, 125, 0));
    assert_eq!(label(&sender, u64::MAX), INC);
    assert_eq!(label(&sender, 126_001), INC);
    assert_eq!(label(&sender, 126_000), LAST);
    // A new message after idleness begins as the first one did, with the window as it was.
    sender.on_idle(Time::from_us(20));
    assert_eq!((label(&sender, 1_000_000), sender.cwnd()), (FIRST, 126.0));
}

#[test]
fn the_window_grows_once_a_round_trip_and_with_each_granted_request() {
    // Packet 0 ends a round trip of its own: 126. The next one ends with packet 125, the first sent after that.
    let mut sender = sender(&Bolt::default());
    let mut give = |packet, next, label| {
        sender.on_ack(&ack(10, 10, packet, next, label));
        sender.cwnd()
    };
    assert_eq!(give(0, 125, 0), 126.0);
    assert_eq!(give(1, 126, 0), 126.0);
    // A request that came through: 127. One that met a congested switch, or none: nothing.
    assert_eq!(give(2, 127, INC), 127.0);
    assert_eq!(give(3, 128, DEC), 127.0);
    assert_eq!(give(4, 129, INC | DEC), 127.0);
    assert_eq!(give(124, 251, LAST), 127.0);
    // The round trip ends, with a request that came through: both.
    assert_eq!(give(125, 252, INC), 129.0);
    assert_eq!(sender.window(), 129_000);
    // The maximum is 256 packets, which is above the bandwidth-delay product.
    for packet in 126..500 {
        sender.on_ack(&ack(10, 10, packet, 10_000, INC));
    }
    assert_eq!(sender.cwnd(), 256.0);
}

#[test]
fn a_message_takes_a_packet_off_as_often_as_the_flows_share_of_the_queue_asks_for() {
    // Before an ACK the flow's rate is the line rate, all of the link. The message comes 4 us after the packet was sent and
    // tells of 8 packets: one packet each 0.5 us. The window was last reduced at the start, time 0.
    let mut sender = sender(&Bolt::default());
    let mut give = |now_ns: u64, cnm: &Cnm| {
        sender.on_cnm(ns(now_ns), cnm);
        sender.cwnd()
    };
    let told = message(0, 10_000, LINE);
    assert_eq!(give(4_000, &told), 124.0);
    // At 4.499 us the message took 4.499 us, for 8 packets one each 0.562375 us; 0.499 us have passed.
    assert_eq!(give(4_499, &told), 124.0);
    // At 4.572 us one each 0.5715 us, and 0.572 us have passed; at 4.571 us 0.571 us of 0.571375.
    assert_eq!(give(4_571, &told), 124.0);
    assert_eq!(give(4_572, &told), 123.0);
    // A link of four times the rate: a quarter of the share, so that 2 of 8 packets go in 6 us, one each 3 us.
    let faster = message(1, 10_000, Rate::from_gbps(400));
    assert_eq!(give(7_000, &faster), 123.0);
    // At 9.144 us the packet is 8.144 us old: one each 4.072 us, and 4.572 us have passed.
    assert_eq!(give(9_144, &faster), 122.0);
}

#[test]
fn the_share_of_a_flow_with_a_round_trip_time_is_its_windows() {
    // 126 packets of 1,250 B in 25.2 us: 6,250 B/us, half of the link. Of 8 packets 4 are the flow's: 4 us after the packet was
    // sent one goes each 1 us. The first message reduces; the next one 0.999 us later does not, and 1.3335 us are due 1.334 us
    // later.
    let mut sender = sender(&Bolt { ai: 1.0, ..Bolt::default() });
    sender.on_ack(&Ack { rtt: Some(ns(25_200)), ..ack(30, 25, 0, 125, 0) });
    assert_eq!(sender.cwnd(), 126.0);
    let told = message(96, 10_000, LINE);
    sender.on_cnm(ns(100_000), &told);
    assert_eq!(sender.cwnd(), 125.0);
    // 125 packets are 124/250 of it: 8 * 125 * 1,250/(25.2 * 12,500) = 3.968254 packets; 4.999 us / 3.968254 = 1.25975 us.
    sender.on_cnm(ns(100_999), &told);
    assert_eq!(sender.cwnd(), 125.0);
    // 5.34 us / 3.968254 = 1.34568 us after 1.34 us: not yet. 5.35 us: 1.3482 us after 1.35 us.
    sender.on_cnm(ns(101_340), &told);
    assert_eq!(sender.cwnd(), 125.0);
    sender.on_cnm(ns(101_350), &told);
    assert_eq!(sender.cwnd(), 124.0);
}

#[test]
fn small_windows_are_halved_and_paced() {
    let mut sender = sender(&Bolt { max_cwnd: Some(1.0), ..Bolt::default() });
    let told = message(2_000, 10_000, LINE);
    sender.on_ack(&ack(2_000, 20, 0, 1, 0));
    assert_eq!((sender.window(), sender.rate()), (1_000, LINE));
    // Half a packet of 1,250 B in 20 us: 10,000 b / 40 us = 250 Mb/s. Each message halves it.
    sender.on_cnm(Time::from_us(2_010), &told);
    assert_eq!((sender.cwnd(), sender.window(), sender.rate()), (0.5, 1, Rate::from_mbps(250)));
    sender.on_cnm(Time::from_us(2_010), &told);
    assert_eq!((sender.cwnd(), sender.rate()), (0.25, Rate::from_mbps(125)));
    // Down to 0.01 packets: 0.125, 0.0625, 0.03125, 0.015625, and no further than 0.01, 5 Mb/s.
    for _ in 0..10 {
        sender.on_cnm(Time::from_us(2_010), &told);
    }
    assert_eq!((sender.cwnd(), sender.rate()), (0.01, Rate::from_mbps(5)));
}

#[test]
fn losses_halve_the_window_once_a_round_trip() {
    let mut sender = sender(&Bolt { ai: 0.0, ..Bolt::default() });
    sender.on_ack(&ack(20, 20, 0, 125, 0));
    sender.on_loss(Time::from_us(21));
    assert_eq!(sender.cwnd(), 62.5);
    sender.on_loss(ns(40_999));
    assert_eq!(sender.cwnd(), 62.5);
    sender.on_timeout(Time::from_us(41));
    assert_eq!(sender.cwnd(), 31.25);
}

#[test]
fn a_queue_of_a_packet_is_congested_and_tells_the_source_once() {
    // 1,249 B before the packet are not congested, 1,250 B are: DEC in place of INC, and a message with the queue, the link's
    // rate, and the moment at which the packet was sent.
    let mut switch = queue(&Bolt::default());
    assert_eq!(come(&mut switch, 0, 1, FRAME - 1, LAST | FIRST), (LAST | FIRST, vec![]));
    let (label, messages) = come(&mut switch, 0, 2, FRAME, INC);
    let report = Some(QueueReport { bytes: 1_250, sent_at: Time::from_us(1) });
    assert_eq!((label, messages), (DEC, vec![Cnm { flow: 7, point: 4, rate: LINE, queue: report }]));
    // A packet that an earlier switch has told of goes on without a message.
    assert_eq!(come(&mut switch, 0, 3, 9_000, DEC), (DEC, vec![]));
    // LAST leaves no token in a congested queue.
    assert_eq!(come(&mut switch, 0, 4, FRAME, LAST).0, LAST | DEC);
    assert_eq!(switch.pru_tokens(), 0);
    let mut deeper = queue(&Bolt { cc_threshold: Some(Bytes(5_000)), ..Bolt::default() });
    assert_eq!(come(&mut deeper, 0, 1, 4_999, LAST), (LAST, vec![]));
    assert_eq!(come(&mut deeper, 0, 2, 5_000, LAST).1.len(), 1);
}

#[test]
fn packets_of_a_last_window_leave_tokens_for_those_that_ask() {
    // The link is full throughout: a packet each 0.1 us. SM alone would have a token for the first packet, after idleness.
    let mut switch = queue(&Bolt { sm: false, ..Bolt::default() });
    assert_eq!(come(&mut switch, 0, 1, 0, INC).0, 0);
    // Two packets of a last window make two tokens; one of a window that is the first, too, makes none.
    for (n, label) in [(2, LAST), (3, LAST), (4, LAST | FIRST)] {
        assert_eq!(come(&mut switch, n * 100, n, 0, label), (label, vec![]));
    }
    assert_eq!(switch.pru_tokens(), 2);
    // The next two requests take them, the third gets none; a packet that asks for nothing takes none.
    let labels: Vec<_> =
        [INC, 0, INC, INC].iter().zip(5..).map(|(&l, n)| come(&mut switch, n * 100, n, 0, l).0).collect();
    assert_eq!((labels, switch.pru_tokens()), (vec![INC, 0, INC, 0], 0));
    // No more than the maximum, and none without PRU.
    for (pru, tokens) in [(true, 3), (false, 0)] {
        let max_pru_tokens = if pru { 3 } else { 256 };
        let mut switch = queue(&Bolt { sm: false, pru, max_pru_tokens, ..Bolt::default() });
        (0..9).for_each(|n| assert_eq!(come(&mut switch, n * 100, n, 0, LAST).0, LAST));
        assert_eq!(switch.pru_tokens(), tokens);
    }
}

#[test]
fn what_the_link_could_have_carried_is_given_to_those_that_ask() {
    // The first packet comes at 1 us: 12,500 B of supply less its 1,250 B, but at most a packet: 1,250 B.
    let mut switch = queue(&Bolt::default());
    let mut at = |now_ns, n, label| {
        let label = come(&mut switch, now_ns, n, 0, label).0;
        (label, switch.sm_token())
    };
    assert_eq!(at(1_000, 1, 0), (0, 1_250.0));
    // 0.1 us later 1,250 B of supply and of demand: the token is whole, and the request takes it.
    assert_eq!(at(1_100, 2, INC), (INC, 0.0));
    // 0.15 us later: 1,875 - 1,250 = 625 B are left over, which is not enough; 0.1 us later neither.
    assert_eq!(at(1_250, 3, INC), (0, 625.0));
    assert_eq!(at(1_350, 4, INC), (0, 625.0));
    // 0.15 us later 1,250 B: enough.
    assert_eq!(at(1_500, 5, INC), (INC, 0.0));
    // Three packets' bytes have come, this one and two of another class, in 0.1 us: 2,500 B too many.
    assert_eq!(at(1_600, 8, INC), (0, -2_500.0));
    // Without SM nothing is given.
    let mut without = queue(&Bolt { sm: false, ..Bolt::default() });
    assert_eq!(come(&mut without, 1_000, 1, 0, INC).0, 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let key = |params: Bolt| params.validate().map_err(|e| e.key).unwrap_err();
    assert_eq!(key(Bolt { cc_threshold: Some(Bytes(0)), ..Bolt::default() }), "cc_threshold");
    assert_eq!(key(Bolt { pru: false, max_pru_tokens: 9, ..Bolt::default() }), "max_pru_tokens");
    assert_eq!(key(Bolt { ai: -1.0, ..Bolt::default() }), "ai");
    assert_eq!(key(Bolt { max_mdf: 1.0, ..Bolt::default() }), "max_mdf");
    assert_eq!(key(Bolt { min_cwnd: 0.0, ..Bolt::default() }), "min_cwnd");
    assert_eq!(key(Bolt { max_cwnd: Some(0.001), ..Bolt::default() }), "max_cwnd");
}
