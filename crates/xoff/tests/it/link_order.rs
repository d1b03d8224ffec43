//! A link is first in, first out, also where an imitated clock gives small frames no time, and no port sends more than its rate.

use crate::common::{floats, numbers, run, table, total};
use xoff::Scenario;

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "order.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Two hosts send ten full packets and one of 10 B of payload to a third one, 20 times. On 800 Gbps a last frame of 72 B takes
/// 0.72 ns, which ns-3's clock cuts to none: it arrives at the same time as the frame before it. Nothing is lost and nothing
/// may overtake on a link, so nothing is sent again: 2 * 20 * 11 = 440 packets. Links of 50 ns have one queue of events for the
/// whole network, those of 200 ns one for each node.
#[test]
fn a_frame_that_takes_no_time_does_not_overtake() {
    for delay in ["50ns", "200ns"] {
        for control in ["cbfc", "pfc"] {
            let output = run(&parse(&format!(
                r#"
                topology = {{ name = "star", hosts = 3, rate = "800Gbps", delay = "{delay}" }}
                scheme = {{ name = "none" }}
                flow_control = {{ name = "{control}" {xoff} }}
                quirks = {{ clock = "ns3" }}
                [[traffic]]
                pattern = "burst"
                senders = ["host0", "host2"]
                receivers = "host1"
                size = "14570B"
                count = 20
                every = "1us"
                connection = "per_pair"
                "#,
                xoff = if control == "pfc" { ", xoff = \"500KB\"" } else { "" }
            )));
            assert_eq!(total(&output, "flows", "retransmitted_bytes"), 0, "{delay} {control}");
            assert_eq!(total(&output, "flows", "packets_sent"), 440, "{delay} {control}");
        }
    }
}

/// Under CBFC with ns-3's clock at 100 Gbps: a frame of 1518 B takes 121.44 ns, cut to 121, and an ACK of 66 B 5.28 ns, cut to 5.
/// 100 packets over two links of 1 us: the first frame is at the receiver after 2 * (121 + 1000) = 2242 ns, the last one 99 * 121
/// ns later, at 14,221 ns, and its ACK takes 2 * (5 + 1000) = 2010 ns: 16,231 ns. Updates of credits share the wire: at most
/// one waits before a frame at each of the four ports.
#[test]
fn credits_with_a_clock_of_whole_nanoseconds_cost_no_more_than_their_updates() {
    let output = run(&parse(
        r#"
        topology = { name = "star", hosts = 16, rate = "100Gbps", delay = "1us" }
        scheme = { name = "none" }
        flow_control = { name = "cbfc" }
        quirks = { clock = "ns3" }
        traffic = [{ pattern = "permutation", size = "145600B" }]
        "#,
    ));
    let fct = numbers(table(&output, "flows"), "fct_ps");
    assert_eq!(fct.len(), 16);
    for fct in fct {
        assert!((16_231_000..16_300_000).contains(&fct), "{fct}");
    }
    assert_eq!(total(&output, "flows", "retransmitted_bytes"), 0);
}

/// At 13 Gbps a byte takes 615.4 ps, so that after 10 ps an eighth of a bit has left, and not a byte: the two senders' ports have
/// sent all the time and the others never. A frame of 1518 B takes 934,153.85 ps, rounded to 934,154: 0.15 ps of the 10 ps.
#[test]
fn utilization_is_at_most_1_however_short_the_run() {
    let scenario = |rate: &str, clock: &str, duration: &str| {
        parse(&format!(
            r#"
            topology = {{ name = "star", hosts = 3, rate = "{rate}", delay = "1us" }}
            scheme = {{ name = "none" }}
            flow_control = {{ name = "cbfc", update_period = "1ms" }}
            quirks = {{ clock = "{clock}" }}
            run = {{ duration = "{duration}" }}
            record = {{ interval = "1ns", queues = "all", utilization = true }}
            [[traffic]]
            pattern = "incast"
            senders = 2
            receiver = "host2"
            size = "100KB"
            "#
        ))
    };
    let output = run(&scenario("13Gbps", "exact", "10ps"));
    let mut ports: Vec<f64> = floats(table(&output, "ports"), "utilization").into_iter().flatten().collect();
    ports.sort_by(f64::total_cmp);
    assert!(ports[..4].iter().all(|share| *share == 0.0), "{ports:?}");
    assert!(ports[4..].iter().all(|share| (0.97..=1.0).contains(share)), "{ports:?}");
    for (rate, clock) in [("13Gbps", "exact"), ("100Gbps", "exact"), ("100Gbps", "ns3"), ("400Gbps", "ns3")] {
        let output = run(&scenario(rate, clock, "5us"));
        for name in ["ports", "utilization"] {
            let shares: Vec<f64> =
                floats(table(&output, name), "utilization").into_iter().flatten().collect();
            let most = shares.iter().copied().fold(0.0, f64::max);
            assert!((0.99..=1.0).contains(&most), "{rate} {clock} {name}: {most}");
        }
    }
}
