//! Collectives and GPCNeT's tests on an ideal star: how long they take, by formula.

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use xoff::{Output, Scenario, Threads, run_on};

/// 100 Gbps, 1 us a link. A full packet has 952 B of payload and takes 80 ns on a link, an ACK of 50 B 4 ns.
fn scenario(hosts: u32, traffic: &str) -> Scenario {
    let text = format!(
        r#"
        topology = {{ name = "star", hosts = {hosts}, rate = "100Gbps", delay = "1us" }}
        scheme = {{ name = "none" }}
        packets = {{ mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }}
        traffic = [{{ {traffic} }}]
        "#
    );
    Scenario::parse(&text, "star.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn run(hosts: u32, traffic: &str) -> Output {
    run_on(Threads::UpTo(1), &scenario(hosts, traffic), &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// By row of the operations of a kernel: process, iteration, and its length in ps.
fn operations(output: &Output, kernel: &str) -> Vec<(u32, u32, u64)> {
    let batch = &output.tables.iter().find(|t| t.name == "operations").expect("a table").batch;
    let number =
        |name: &str| batch.column_by_name(name).expect("a column").as_primitive::<UInt32Type>().clone();
    let time =
        |name: &str| batch.column_by_name(name).expect("a column").as_primitive::<UInt64Type>().clone();
    let kernels =
        batch.column_by_name("kernel").expect("a column").as_dictionary::<arrow_array::types::Int32Type>();
    let names = kernels.values().as_string::<i32>();
    let (process, iteration) = (number("process"), number("iteration"));
    let (start, end) = (time("start_ps"), time("end_ps"));
    (0..batch.num_rows())
        .filter(|&i| names.value(kernels.keys().value(i) as usize) == kernel)
        .map(|i| (process.value(i), iteration.value(i), end.value(i) - start.value(i)))
        .collect()
}

const PAYLOAD: u64 = 952;
const US: u64 = 1_000_000;
/// Of a full packet, and of one with 8 B.
const FRAME: u64 = 80_000;
const SHORT: u64 = 56 * 80;

/// From the first bit of `packets` full packets to the arrival of the last over two links with a switch in between.
fn there(packets: u64) -> u64 {
    (packets + 1) * FRAME + 2 * US
}

/// An ACK's way.
const BACK: u64 = 2 * (50 * 80 + US);

#[test]
fn a_ring_allreduce_takes_its_phases() {
    // 5 ranks, blocks of 10 packets: 8 phases. Within a phase nothing meets: each host sends to one and gets from one, its
    // packets are out (0.8 us) before the first ACK that it must send (2.16 us). The overhead is longer than an ACK takes.
    let traffic = |more: &str| {
        let size = 5 * 10 * PAYLOAD;
        format!(r#"pattern = "allreduce", algorithm = "ring", size = "{size}B"{more}"#)
    };
    let lengths = |more: &str| operations(&run(5, &traffic(more)), "allreduce");
    let expected = 8 * (there(10) + 3 * US);
    assert_eq!(lengths(r#", overhead = "3us""#), (0..5).map(|p| (p, 0, expected)).collect::<Vec<_>>());
    // With a short overhead, what ends a phase is the last ACK.
    let acknowledged = lengths(r#", overhead = "1us""#);
    assert!(acknowledged.iter().all(|o| o.2 == 8 * (there(10) + BACK)), "{acknowledged:?}");
    // Unless nobody waits for it.
    let eager = lengths(r#", overhead = "1us", acknowledged = false"#);
    assert!(eager.iter().all(|o| o.2 == 8 * (there(10) + US)), "{eager:?}");
    // Three of them, and 7 us of computing in between, which does not count into them.
    let output = run(5, &traffic(r#", overhead = "3us", repetitions = 3, compute = "7us""#));
    let all = operations(&output, "allreduce");
    assert_eq!(all.len(), 15);
    assert!(all.iter().all(|o| o.2 == expected));
    let last = (3 * expected + 2 * 7 * US).div_ceil(US) * US;
    // The run ends when the last ACK is there, which is before the last overhead is over.
    let end = output.manifest["sim_time_ps"].as_u64().expect("a time");
    assert!(end <= last && end + 2 * US >= last, "{end} {last}");
}

#[test]
fn a_tree_allreduce_takes_log_n_phases_up_and_down() {
    // 4 ranks, 10 packets, an overhead o of 1 us, which is less than an ACK's way. Up: 1 > 0 and 3 > 2, then 2 > 0. Down:
    // 0 > 2; when 0 has the ACK of that, 0 > 1, and 2 > 3 an overhead after the arrival at 2.
    let size = 10 * PAYLOAD;
    let traffic = format!(r#"pattern = "allreduce", algorithm = "tree", size = "{size}B", overhead = "1us""#);
    let (t, o) = (there(10), US);
    let up = 2 * (t + o);
    let expected = [
        // 0: all is there, then two messages and their ACKs, one after the other.
        up + 2 * (t + BACK),
        up + (t + BACK) + t + o,
        // 2: the message from 0, then its own to 3 until the ACK.
        up + (t + o) + t + BACK,
        up + 2 * (t + o),
    ];
    let found: Vec<u64> = operations(&run(4, &traffic), "allreduce").iter().map(|o| o.2).collect();
    assert_eq!(found, expected);
}

#[test]
fn halving_doubling_takes_halves_and_quarters_and_back() {
    // 4 ranks, 16 packets: exchanges of 8, 4, 4 and 8.
    let size = 16 * PAYLOAD;
    let traffic = format!(
        r#"pattern = "allreduce", algorithm = "halving_doubling", size = "{size}B", overhead = "3us""#
    );
    let expected = 2 * (there(8) + there(4)) + 4 * 3 * US;
    let found = operations(&run(4, &traffic), "allreduce");
    assert!(found.len() == 4 && found.iter().all(|o| o.2 == expected), "{found:?} {expected}");
}

#[test]
fn recursive_doubling_and_all_to_all_take_their_phases() {
    let size = 10 * PAYLOAD;
    let doubling = format!(
        r#"pattern = "allreduce", algorithm = "recursive_doubling", size = "{size}B", overhead = "3us""#
    );
    let found = operations(&run(8, &doubling), "allreduce");
    assert!(found.len() == 8 && found.iter().all(|o| o.2 == 3 * (there(10) + 3 * US)), "{found:?}");
    let exchange = format!(r#"pattern = "all_to_all_collective", size = "{size}B", overhead = "3us""#);
    let found = operations(&run(5, &exchange), "all_to_all");
    assert!(found.len() == 5 && found.iter().all(|o| o.2 == 4 * (there(10) + 3 * US)), "{found:?}");
}

/// 15 hosts: 12 congestors, 3 for the tests.
fn gpcnet(more: &str) -> Output {
    run(15, &format!(r#"pattern = "gpcnet", rings = 2, latency_iterations = 5{more}"#))
}

#[test]
fn an_isolated_latency_test_takes_an_exchange_of_8_bytes() {
    // A process sends 8 B to its left, then to its right. So what comes from the right is first, what comes from the left a
    // packet's time later: on the last link at 3 packets' times, each of 56 B. Then the overhead, 0.5 us.
    let output = gpcnet(r#", congestors = false, tests = ["latency"]"#);
    let found = operations(&output, "latency");
    assert_eq!(found.len(), 2 * 5 * 3);
    assert!(found.iter().all(|o| o.2 == 3 * SHORT + 2 * US + 500_000), "{found:?}");
    assert_eq!(output.manifest["warnings"], serde_json::json!([]));
}

#[test]
fn an_isolated_allreduce_takes_log_n_exchanges() {
    // 20 hosts, 4 for the tests: two phases of 8 B.
    let traffic =
        r#"pattern = "gpcnet", congestors = false, tests = ["allreduce"], allreduce_iterations = 3"#;
    let found = operations(&run(20, traffic), "allreduce");
    assert_eq!(found.len(), 3 * 4);
    assert!(found.iter().all(|o| o.2 == 2 * (2 * SHORT + 2 * US + 500_000)), "{found:?}");
}

#[test]
fn an_isolated_bandwidth_test_fills_the_link() {
    // 16 messages of 131,072 B, each 138 packets of which the last has 648 B: 138 x 48 B of headers. They take a link of
    // 12.5 B/ns for 16 x (131,072 + 6,624) / 12.5 = 176.3 us. On it go also the ACKs of as many packets the other way, one
    // each: 16 x 138 x 4 ns = 8.8 us. After it a packet's way, its ACK's, and a barrier of 2 rounds.
    let output = gpcnet(r#", congestors = false, tests = ["bandwidth"], bandwidth_iterations = 2"#);
    let found = operations(&output, "bandwidth");
    assert_eq!(found.len(), 2 * 2 * 3);
    let wire = 16 * (131_072 + 138 * 48) * 80;
    let acks = 16 * 138 * 4_000;
    let least = wire + there(0) + BACK + 2 * (2 * SHORT + 2 * US + 500_000);
    for o in &found {
        // ACKs may wait for packets at both ends, but not for more than the links have to carry.
        assert!((least..least + acks + 20 * FRAME).contains(&o.2), "{} {least}", o.2);
    }
}

#[test]
fn congestors_hold_up_the_tests_and_go_on_while_they_run() {
    let alone = gpcnet(r#", congestors = false, tests = ["latency"]"#);
    // On a star they meet at no port but the congestors' own: the tests take as long as alone.
    let beside = gpcnet(r#", tests = ["latency"], congestor_iterations = 1000"#);
    assert_eq!(operations(&alone, "latency"), operations(&beside, "latency"));
    // Without need nobody waits for them.
    assert_eq!(beside.manifest["warnings"], serde_json::json!([]));
    assert!(beside.manifest["flows_done"].as_u64() < beside.manifest["flows"].as_u64());
    assert_eq!(beside.manifest["complete"], true);
    // With one iteration each they are through long before.
    let few = gpcnet(r#", tests = ["latency"], congestor_iterations = 1"#);
    let warning = few.manifest["warnings"][0].as_str().expect("a warning");
    // Of 12 congestor hosts all send but the roots of the two incasts.
    assert!(warning.contains("10 of 10 congestor processes of `gpcnet`"), "{warning}");
    assert!(warning.contains("congestor_iterations"), "{warning}");
}

/// By iteration: when the one sender of an incast of 952 B, one packet, starts its messages, in ps. Two of four hosts run it.
fn sends(kernel: &str, more: &str) -> Vec<u64> {
    let traffic = format!(
        r#"pattern = "gpcnet", congestor_share = 0.5, congestor_kernels = ["{kernel}"], congestor_size = "{PAYLOAD}B",
           congestor_iterations = 9, tests = ["latency"], rings = 1, latency_iterations = 1{more}"#
    );
    let traffic =
        if more.contains("overhead") { traffic } else { format!(r#"{traffic}, overhead = "100ns""#) };
    let output = run(4, &traffic.replace('\n', " "));
    let batch = &output.tables.iter().find(|t| t.name == "flows").expect("a table").batch;
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    let kernels = column("kernel").as_dictionary::<arrow_array::types::Int32Type>();
    let names = kernels.values().as_string::<i32>();
    let starts = column("start_ps").as_primitive::<UInt64Type>();
    let of_kernel = |&i: &usize| names.value(kernels.keys().value(i) as usize) == kernel;
    (0..batch.num_rows()).filter(of_kernel).map(|i| starts.value(i)).collect()
}

#[test]
fn eager_sends_go_on_while_messages_are_unacknowledged() {
    const O: u64 = 100_000;
    // A message's last ACK is back 2.16 us + 2.008 us after its start. A packet takes 80 ns, so messages 100 ns apart, an
    // overhead, do not wait for each other.
    let acked = there(1) + BACK;
    assert_eq!(acked, 4_168_000);
    let with = |outstanding: u32| sends("two_sided_incast", &format!(", eager_outstanding = {outstanding}"));
    // One message: an overhead after each ACK.
    let each_acked: Vec<u64> = (0..9).map(|i| i * (acked + O)).collect();
    assert_eq!(with(1), each_acked);
    // Three: at 0, 100 and 200 ns; then each an overhead after the ACK of the third before it, which are 100 ns apart too.
    let threes: Vec<u64> = (0..9).map(|i| i / 3 * (acked + O) + i % 3 * O).collect();
    assert_eq!(with(3), threes);
    // 9 or more: none waits for an ACK, and 256 are the default.
    let at_once: Vec<u64> = (0..9).map(|i| i * O).collect();
    assert_eq!(with(9), at_once);
    assert_eq!(sends("two_sided_incast", ""), at_once);
    // With 8, only the last one waits, for the ACK of the first.
    assert_eq!(with(8), [&at_once[..8], &[acked + O]].concat());
    // A message above the eager limit goes by rendezvous: the sender waits for each ACK. At the limit it does not.
    assert_eq!(sends("two_sided_incast", r#", eager = "951B""#), each_acked);
    assert_eq!(sends("two_sided_incast", r#", eager = "952B""#), at_once);
    // A put is flushed: one at a time, and without an overhead.
    assert_eq!(sends("put_incast", ""), (0..9).map(|i| i * acked).collect::<Vec<_>>());
}

#[test]
fn a_full_send_queue_paces_the_next_send_too() {
    // Without an overhead three messages are handed over at 0 and leave one after the other, 80 ns apart; their ACKs come so too.
    // The next three follow one by one with these ACKs, not all with the first.
    let starts = sends("two_sided_incast", r#", eager_outstanding = 3, overhead = "0us""#);
    let acked = there(1) + BACK;
    let expected: Vec<u64> = (0..9).map(|i| if i < 3 { 0 } else { i / 3 * acked + i % 3 * FRAME }).collect();
    assert_eq!(starts, expected);
}

#[test]
fn closed_loops_do_not_depend_on_threads() {
    let text = r#"
        topology = { name = "fat_tree", k = 4 }
        scheme = { name = "dcqcn" }
        [[traffic]]
        pattern = "gpcnet"
        processes = 2
        rings = 1
        latency_iterations = 4
        bandwidth_iterations = 1
        bandwidth_size = "16KiB"
        allreduce_iterations = 4
        congestor_iterations = 60
        [[traffic]]
        pattern = "mpi_io"
        duration = "100us"
        messages = 200
        io_servers = 1
    "#;
    let scenario = Scenario::parse(text, "threads.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let on =
        |threads| run_on(Threads::UpTo(threads), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let (one, two, four) = (on(1), on(2), on(4));
    assert!(one.manifest["flows_done"].as_u64() > Some(200));
    for other in [two, four] {
        assert!(other.manifest["threads"].as_u64() > Some(1));
        for key in ["fingerprint", "events", "sim_time_ps", "flows_done"] {
            assert_eq!(one.manifest[key], other.manifest[key], "{key}");
        }
        for (a, b) in one.tables.iter().zip(&other.tables) {
            assert_eq!(a.batch, b.batch, "{}", a.name);
        }
    }
}
