//! The pattern `collective` on an ideal star: how long each algorithm takes, by the alpha-beta model's closed forms.
//!
//! Alpha is what a message takes beside its bytes on one link: the way over two links of 1 us and, at the switch, a full packet once
//! more, since the switch stores and forwards. Beta is a full packet's time by its payload. Messages are whole packets. An
//! ACK goes back for each message only, so that ACKs take next to nothing of the links.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use xoff::{Output, Scenario, Threads, run_on};

/// 100 Gbps, 1 us a link. A full packet has 952 B of payload and takes 80 ns on a link.
fn run(hosts: u32, traffic: &str) -> Output {
    let text = format!(
        r#"
        topology = {{ name = "star", hosts = {hosts}, rate = "100Gbps", delay = "1us" }}
        scheme = {{ name = "none" }}
        host = {{ ack_every = 1000000 }}
        packets = {{ mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }}
        traffic = [{{ pattern = "collective", {traffic} }}]
        "#
    );
    let scenario = Scenario::parse(&text, "star.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

const PAYLOAD: u64 = 952;
const US: u64 = 1_000_000;
const FRAME: u64 = 80_000;

/// From the first bit of `packets` full packets to the arrival of the last.
fn there(packets: u64) -> u64 {
    (packets + 1) * FRAME + 2 * US
}

/// An ACK's way.
const BACK: u64 = 2 * (50 * 80 + US);

/// The time from the first beginning to the last end of the only operation of all ranks, in ps; without ACKs.
fn time(hosts: u32, packets: u64, traffic: &str) -> u64 {
    let size = packets * PAYLOAD;
    let output = run(hosts, &format!(r#"size = "{size}B", acknowledged = false, {traffic}"#));
    span(&output)
}

fn span(output: &Output) -> u64 {
    let batch = &output.tables.iter().find(|t| t.name == "operations").expect("a table").batch;
    let column =
        |name: &str| batch.column_by_name(name).expect("a column").as_primitive::<UInt64Type>().clone();
    let (start, end) = (column("start_ps"), column("end_ps"));
    end.values().iter().max().expect("a row") - start.values().iter().min().expect("a row")
}

/// Within 1 % of the closed form, and not faster.
#[track_caller]
fn close(found: u64, expected: u64) {
    let ratio = found as f64 / expected as f64;
    assert!((0.9999..1.01).contains(&ratio), "{found} ps, {ratio:.4} of {expected} ps");
}

#[test]
fn a_ring_takes_2_n_less_1_steps() {
    // 5 ranks, blocks of 20 packets. Each of 8 steps: a message's way and the step's latency of 3 us.
    let found = time(5, 100, r#"kind = "all_reduce", algorithm = "ring", step_latency = "3us""#);
    close(found, 8 * (there(20) + 3 * US));
    // Half of them for reduce-scatter and for all-gather.
    for kind in ["reduce_scatter", "all_gather"] {
        close(time(5, 100, &format!(r#"kind = "{kind}", algorithm = "ring""#)), 4 * there(20));
    }
}

#[test]
fn a_ring_of_chunks_fills_its_links() {
    // 4 ranks, blocks of 400 packets (32 us on a link) in 8 chunks of 50 packets. A chunk takes 50 packets' time and 2.08 us more
    // to arrive, 6.08 us: long before its rank has sent the other chunks. So the links never rest: 6 steps of 400 packets, and
    // what the last packet takes beside.
    let found = time(4, 1600, r#"kind = "all_reduce", algorithm = "ring", chunk = "47600B""#);
    close(found, 6 * 400 * FRAME + there(0));
    // The same data over 4 channels without chunks: messages of 100 packets share each link. Links cannot carry them faster than
    // that, and no step takes longer than if all four waited for each other; since they do not, one channel's wait is filled
    // by the others.
    let found = time(4, 1600, r#"kind = "all_reduce", algorithm = "ring", channels = 4"#);
    assert!((6 * 400 * FRAME + there(0)..6 * there(400)).contains(&found), "{found}");
}

#[test]
fn protocols_add_bytes_and_latency() {
    // Blocks of 20 packets' payload, 19,040 B. LL sends twice as many bytes, 40 packets, and takes 2.7 us a step; LL128 sends
    // ceil(19,040 / 120) x 128 = 159 x 128 = 20,352 B, 21 full packets and one of 360 B, and takes 4 us; Simple takes 14 us.
    let ring = |protocol: &str| {
        time(5, 100, &format!(r#"kind = "all_reduce", algorithm = "ring", protocol = "{protocol}""#))
    };
    close(ring("ll"), 8 * (there(40) + 2_700_000));
    close(ring("ll128"), 8 * (there(21) + (360 + 48) * 80 + 4 * US));
    close(ring("simple"), 8 * (there(20) + 14 * US));
}

#[test]
fn recursive_algorithms_take_log_n_steps() {
    // 8 ranks, 160 packets: halves of 80, quarters of 40, eighths of 20, and back.
    let found = time(8, 160, r#"kind = "all_reduce", algorithm = "halving_doubling", step_latency = "1us""#);
    close(found, 2 * (there(80) + there(40) + there(20)) + 6 * US);
    close(
        time(8, 160, r#"kind = "reduce_scatter", algorithm = "halving_doubling""#),
        there(80) + there(40) + there(20),
    );
    close(
        time(8, 160, r#"kind = "all_gather", algorithm = "recursive_doubling""#),
        there(80) + there(40) + there(20),
    );
    close(time(8, 50, r#"kind = "all_reduce", algorithm = "recursive_doubling""#), 3 * there(50));
}

#[test]
fn bruck_takes_log_n_steps_for_any_number() {
    // 5 ranks, 20 packets each: 1, 2 and 1 blocks.
    close(time(5, 100, r#"kind = "all_gather", algorithm = "bruck""#), there(20) + there(40) + there(20));
    // All-to-all among 5, 20 packets a pair. Distances 1 to 4: 1 and 3 have the first bit, 2 and 3 the second, 4 the third.
    close(time(5, 100, r#"kind = "all_to_all", algorithm = "bruck""#), 2 * there(40) + there(20));
    // A barrier: 3 rounds of a byte, each a packet of 49 B over two links.
    let output = run(5, r#"kind = "barrier", acknowledged = false"#);
    // ACKs of 4 ns go the same way.
    close(span(&output), 3 * (2 * 49 * 80 + 2 * US));
}

#[test]
fn all_to_all_takes_n_less_1_messages() {
    // 6 ranks, 20 packets a pair. Pairwise with acknowledgement: a step ends with the last ACK.
    let pairwise = r#"kind = "all_to_all", algorithm = "pairwise""#;
    let size = 6 * 20 * PAYLOAD;
    close(span(&run(6, &format!(r#"size = "{size}B", {pairwise}"#))), 5 * (there(20) + BACK));
    close(time(6, 120, pairwise), 5 * there(20));
    // Spread with 200 packets a pair: 1000 packets out of each host and into each host, one alpha.
    close(time(6, 1200, r#"kind = "all_to_all", algorithm = "spread""#), there(1000));
}

#[test]
fn trees_and_chains_for_one_root() {
    // A chain of 5, 8 chunks of 20 packets: the last chunk leaves the root after 7 chunks' time and takes 4 hops.
    let chain = r#"kind = "broadcast", algorithm = "ring", chunk = "19040B", root = 2"#;
    close(time(5, 160, chain), 7 * 20 * FRAME + 4 * there(20));
    close(time(5, 160, &chain.replace("broadcast", "reduce")), 7 * 20 * FRAME + 4 * there(20));
    // A binomial tree of 8: log2 8 hops of all bytes; with blocking sends the root's second message goes after the first one's ACK.
    let size = 50 * PAYLOAD;
    let tree = format!(r#"kind = "broadcast", algorithm = "tree", size = "{size}B", root = 5"#);
    close(span(&run(8, &tree)), 3 * (there(50) + BACK));
    close(time(8, 50, r#"kind = "reduce", algorithm = "tree", root = 3"#), {
        // The root gets from 3 children, 50 packets each: the first two come together after a hop, so what counts is the
        // longest chain, in which each hop begins when all before has come.
        3 * there(50)
    });
}

#[test]
fn two_trees_in_a_pipeline_take_twice_the_bytes() {
    // 4 ranks. Tree 1: 1 and 3 under 2, 2 under 0; tree 2: 2 and 0 under 1, 1 under 3. Rank 2 sends half of the data to 0, 1 and 3 in
    // tree 1 and to 1 in tree 2, and so does rank 1: 4 halves. Ranks 0 and 3 send 2 halves. So the busiest links carry twice
    // the data; what a chunk takes to the root and back, 4 hops of which the last is counted in the data, comes on top.
    let packets = 20_000;
    let found =
        time(4, packets, r#"kind = "all_reduce", algorithm = "double_binary_tree", chunk = "57120B""#);
    close(found, 2 * packets * FRAME + 3 * there(60));
}

/// Two ranks a host; 800 Gbps within it, 10 ps a byte, and 0.5 us of delay.
const PAIRS: &str =
    r#"algorithm = "hierarchical", ranks_per_host = 2, local_rate = "800Gbps", local_delay = "500ns""#;
const LOCAL_DELAY: u64 = 500_000;

#[test]
fn a_hierarchy_uses_local_links_first() {
    // 3 hosts, 1200 packets in 10 chunks. Within a host each rank sends a half of each chunk, 60 packets' payload: 0.5712 us and the
    // delay. Between hosts each of the two places has a ring of 3, whose 4 steps take a third of that half, 200 packets in
    // all; both rings share the host's NIC, which never rests, since a chunk of 20 packets has arrived long before the
    // other chunks are out. Then the last half goes back.
    let local = 60 * PAYLOAD * 10 + LOCAL_DELAY;
    let found = time(3, 1200, &format!(r#"kind = "all_reduce", chunk = "57120B", {PAIRS}"#));
    close(found, 2 * local + 4 * 2 * 200 * FRAME + there(0));
    // A broadcast: along the chain of 3 hosts, and then to the other rank of the last one.
    let found = time(3, 50, &format!(r#"kind = "broadcast", {PAIRS}"#));
    close(found, 2 * there(50) + 50 * PAYLOAD * 10 + LOCAL_DELAY);
    // An all-to-all, 60 packets a pair: each rank gives the other one what it has for its place on 3 hosts, 180 packets'
    // payload. Then each has for each of 2 hosts what two ranks send there, 2 x 120 packets, and both ranks share the NIC.
    let found = time(3, 360, &format!(r#"kind = "all_to_all", {PAIRS}"#));
    close(found, 180 * PAYLOAD * 10 + LOCAL_DELAY + there(2 * 2 * 120));
}

#[test]
fn an_h100_server_as_astra_sim_s_analytical_model_has_it() {
    // ASTRA-sim's validated configuration of a server of 8 H100: a switch, 400 GB/s a rank, 936.25 ns of latency, 10 ns at the end
    // points, a ring. An all-reduce of 1 MiB takes 14 steps of 131,072 B: 936.25 + 327.68 + 10 ns each, 17.835 us. Packets here
    // have 8 B of header and are stored once: 0.4 % more.
    let text = r#"
        topology = { name = "star", hosts = 8, rate = "3200Gbps", delay = "468125ps" }
        scheme = { name = "none" }
        host = { ack_every = 1000000 }
        packets = { mtu = "1024B", header = "8B", ack = "8B", gap = "0B" }
        traffic = [{ pattern = "collective", kind = "all_reduce", algorithm = "ring", size = "1MiB", step_latency = "10ns",
            acknowledged = false }]
        "#;
    let scenario = Scenario::parse(&text.replace("\n            ", " "), "h100.toml", &[])
        .unwrap_or_else(|e| panic!("{e}"));
    let output = run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    close(span(&output), 14 * (936_250 + 327_680 + 10_000));
}
