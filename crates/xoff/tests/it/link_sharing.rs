//! Two long flows that share a link of 100 Gb/s, the second from 300 us on: what each has in the second half, and the queue
//! that they leave, against what a scheme's paper says of its fixed point.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;

use crate::common::{floats, load, numbers, rows, run, table};
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
