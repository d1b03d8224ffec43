//! Two long flows that share a link of 100 Gb/s, the second from 300 us on: what each has in the second half, and the queue
//! that they leave, against what a scheme's paper says of its fixed point.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;

use crate::common::{floats, load, numbers, numbers_or_null, rows, run, table};
use xoff::Output;
use xoff_fabric::ids::PortId;

/// The bottleneck of the dumbbell.
const LINK: &str = "switch1->switch2";

/// The share of a link, at the flows' sources, that a flow's payload has when the link is full: 1,456 of 1,518 B, or less
/// with signals.
fn payload_share(output: &Output) -> f64 {
    let wire = &output.manifest["wire"];
    let bytes = |key: &str| wire[key].as_u64().unwrap_or_else(|| panic!("no {key}")) as f64;
    bytes("payload_bytes") / bytes("frame_bytes")
}

/// What two flows come to in the second half of 2 ms.
struct Sharing {
    /// Goodput of each flow, as shares of what the link carries.
    shares: [f64; 2],
    /// The bottleneck's mean and longest queue, in bytes.
    mean_queue: f64,
    max_queue: u64,
    /// The link's bandwidth-delay product, in bytes.
    pipe: f64,
}

fn share(scheme: &str, set: &[(&str, &str)]) -> Sharing {
    let set = [&[("scheme.name", scheme), ("run.duration", "2ms")], set].concat();
    let scenario = load("dumbbell", &set);
    let rate = scenario.network().rate(PortId(0)).bps() as f64;
    let output = run(&scenario);
    let queues = table(&output, "queues");
    let (times, bytes, most) =
        (numbers(queues, "time_ps"), numbers(queues, "bytes"), numbers(queues, "max_bytes"));
    let late: Vec<_> =
        rows(queues, "port", LINK).into_iter().filter(|&i| times[i] >= 1_000_000_000).collect();
    let rates = table(&output, "rates");
    let (times, goodput) = (numbers(rates, "time_ps"), floats(rates, "goodput_bps"));
    let flow = rates.column_by_name("flow").expect("a column").as_primitive::<UInt32Type>();
    let full = rate * payload_share(&output);
    let shares = [0, 1].map(|of| {
        let own = (0..times.len()).filter(|&i| flow.value(i) == of && times[i] > 1_000_000_000);
        let samples: Vec<f64> = own.map(|i| goodput[i].expect("a rate")).collect();
        samples.iter().sum::<f64>() / samples.len() as f64 / full
    });
    Sharing {
        shares,
        mean_queue: late.iter().map(|&i| bytes[i] as f64).sum::<f64>() / late.len() as f64,
        max_queue: late.iter().map(|&i| most[i]).max().expect("samples"),
        pipe: rate / 8e12 * output.manifest["base_rtt_ps"].as_u64().expect("a base RTT") as f64,
    }
}

/// Appendix A of PowerTCP: with β = b τ/10 each, two flows settle at half the link each and a queue of 2 β, a fifth of the
/// pipe: 31,301 B at a base RTT of 12.52 us. At 25 and 400 Gb/s the same shares.
#[test]
fn powertcp_flows_have_half_each_and_a_queue_of_both_increases() {
    for (scheme, set) in [
        ("powertcp", &[][..]),
        ("powertcp", &[("scheme.old_window", "packet")]),
        ("powertcp", &[("topology.rate", "25Gbps")]),
        ("powertcp", &[("topology.rate", "400Gbps")]),
        ("theta_powertcp", &[]),
    ] {
        let sharing = share(scheme, set);
        for share in sharing.shares {
            assert!((0.49..=0.51).contains(&share), "{scheme} {set:?}: {:?}", sharing.shares);
        }
        let expected = 0.2 * sharing.pipe;
        // Frames come whole, and telemetry in units of 128 B.
        let off = (sharing.mean_queue - expected).abs();
        assert!(
            off < 0.2 * expected + 1_518.0,
            "{scheme} {set:?}: {} B for {expected} B",
            sharing.mean_queue
        );
        assert!(
            (sharing.max_queue as f64) < 1.4 * expected + 1_518.0,
            "{scheme} {set:?}: {}",
            sharing.max_queue
        );
    }
}

/// Bolt's threshold is a frame, of 1,518 B: the queue is one or two on average, and never more than a few, on a full link.
/// Shares become equal by a packet a round trip, slowly.
#[test]
fn bolt_fills_a_link_with_a_queue_of_a_few_frames() {
    for rate in ["25Gbps", "100Gbps", "400Gbps"] {
        let sharing = share("bolt", &[("topology.rate", rate)]);
        let [first, second] = sharing.shares;
        assert!(first + second > 0.995, "{rate}: {:?}", sharing.shares);
        assert!(first.min(second) > 0.4, "{rate}: {:?}", sharing.shares);
        assert!(sharing.mean_queue < 2.0 * 1_518.0, "{rate}: {} B", sharing.mean_queue);
        assert!(sharing.max_queue <= 4 * 1_518, "{rate}: {} B", sharing.max_queue);
    }
}

/// The bottleneck's longest queue from the second flow's start at 300 us on, and when the first flow has 95 % of the link's
/// payload again after the second one has ended, as the end of the first interval of 10 us, in microseconds.
fn join_and_leave(scheme: &str, set: &[(&str, &str)]) -> (u64, u64) {
    let own = [("scheme.name", scheme), ("traffic.1.size", "5MB"), ("record.interval", "10us")];
    let set = [&own[..], &[("run.duration", "3ms")], set].concat();
    let output = run(&load("dumbbell", &set));
    let flows = table(&output, "flows");
    let ended = 300_000_000 + numbers_or_null(flows, "fct_ps")[1].expect("it completes");
    let queues = table(&output, "queues");
    let most = numbers(queues, "max_bytes");
    let peak = rows(queues, "port", LINK).into_iter().map(|i| most[i]).max().expect("samples");
    let rates = table(&output, "rates");
    let (times, goodput) = (numbers(rates, "time_ps"), floats(rates, "goodput_bps"));
    let flow = rates.column_by_name("flow").expect("a column").as_primitive::<UInt32Type>();
    let full = 0.95 * 100e9 * payload_share(&output);
    let mut back =
        (0..times.len()).filter(|&i| flow.value(i) == 0 && times[i] > ended && goodput[i] > Some(full));
    (peak, (times[back.next().expect("it comes back")] - ended) / 1_000_000)
}

/// Both flows send at line rate when the second one joins, until they hear of the queue. HPCC hears of it a round trip later,
/// Bolt after the way from switch 1 and back.
#[test]
fn bolt_hears_of_a_new_flow_in_less_than_a_round_trip() {
    let (bolt, hpcc) = (join_and_leave("bolt", &[]).0, join_and_leave("hpcc", &[]).0);
    assert!((bolt as f64) < 0.75 * hpcc as f64, "{bolt} B against {hpcc} B");
}

/// When one flow ends, the other one has about 60 % of its pipe of 107 packets. By a packet a round trip of 12.5 us it has 95 % 37
/// round trips later, after about 460 us. Tokens of the last window, or of the supply, bring it there in a few round trips,
/// and sooner if it has both.
#[test]
fn bolts_tokens_give_a_flow_the_bandwidth_of_one_that_ends() {
    let back = |set: &[(&str, &str)]| join_and_leave("bolt", set).1;
    let (no_ramp_up, no_supply) = (("scheme.pru", "false"), ("scheme.sm", "false"));
    let (both, supply, ramp_up) = (back(&[]), back(&[no_ramp_up]), back(&[no_supply]));
    let neither = back(&[no_ramp_up, no_supply]);
    assert!((350..600).contains(&neither), "{neither} us");
    assert!(both < supply.min(ramp_up) && supply.max(ramp_up) < 125, "{both}, {supply}, {ramp_up} us");
}
