//! Chakra execution traces on an ideal star: how long they take, worked out by hand.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
use xoff::files;
use xoff::scenario::{Effort, OwnSchemes};
use xoff::{Output, Scenario, Threads, run_on};
use xoff_traffic::FileSource;

use crate::et::{Folder, Node, collective, compute, receive, send};

const US: u64 = 1_000_000;
/// A full packet, of 952 B of payload, on a link of 100 Gbps. ACKs have a byte, 80 ps.
const FRAME: u64 = 80_000;

fn scenario(hosts: usize, traffic: &str, files: &dyn FileSource) -> Result<Scenario, String> {
    let text = format!(
        r#"
        topology = {{ name = "star", hosts = {hosts}, rate = "100Gbps", delay = "1us" }}
        scheme = {{ name = "none" }}
        packets = {{ mtu = "1000B", header = "48B", ack = "1B", gap = "0B" }}
        traffic = [{{ pattern = "chakra", {traffic} }}]
        "#
    );
    Scenario::parse_from(&text, "star.toml", &[], files, &OwnSchemes::default(), Effort::Build)
        .map_err(|e| e.to_string())
}

fn run(hosts: usize, traffic: &str, files: &dyn FileSource) -> Output {
    let scenario = scenario(hosts, traffic, files).unwrap_or_else(|e| panic!("{e}"));
    run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Kernel, begin and end in ps of the operations of a rank.
fn operations(output: &Output, rank: u32) -> Vec<(String, u64, u64)> {
    let batch = &output.tables.iter().find(|t| t.name == "operations").expect("a table").batch;
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    let time = |name: &str| column(name).as_primitive::<UInt64Type>().clone();
    let process = column("process").as_primitive::<UInt32Type>();
    let kernels = column("kernel").as_dictionary::<Int32Type>();
    let names = kernels.values().as_string::<i32>();
    let (start, end) = (time("start_ps"), time("end_ps"));
    let word = |i: usize| names.value(kernels.keys().value(i) as usize).to_string();
    (0..batch.num_rows())
        .filter(|&i| process.value(i) == rank)
        .map(|i| (word(i), start.value(i), end.value(i)))
        .collect()
}

/// How long a rank takes from its beginning to its end, in ps.
fn iteration(output: &Output, rank: u32) -> u64 {
    let all = operations(output, rank);
    let (_, begin, end) = all.iter().find(|(kernel, ..)| kernel == "iteration").expect("an iteration");
    end - begin
}

fn is_near(found: u64, expected: u64) {
    let off = found.abs_diff(expected) as f64 / expected as f64;
    assert!(off < 0.01, "{found} ps is not within 1 % of {expected} ps");
}

/// From the first bit of a message to its arrival over two links with a switch in between: the packets before the last one
/// take two links one behind the other, and the last one follows.
fn there(bytes: u64) -> u64 {
    let (full, rest) = (bytes / 952, bytes % 952);
    (full + 1) * FRAME + (rest + 48) * 80 + 2 * US
}

/// A ring all-reduce of 1 MiB over 8 ranks as an algorithm's steps: 14 times each rank sends an eighth to the next one and then
/// receives one, and after each of the first seven sums for 7 us. The next send waits for the sum or the receive, and a
/// receive for the send before it.
fn ring() -> Folder {
    let rank = |rank: u64| {
        let mut nodes: Vec<Node> = Vec::new();
        let mut last: Option<u64> = None;
        for step in 0..14 {
            let id = nodes.len() as u64;
            nodes.push(send(id, (rank + 1) % 8, 131_072, 0).data(last.as_slice()));
            nodes.push(receive(id + 1, (rank + 7) % 8, 131_072, 0).data(&[id]));
            last = Some(id + 1);
            if step < 7 {
                nodes.push(compute(id + 2, 7).data(&[id + 1]));
                last = Some(id + 2);
            }
        }
        nodes
    };
    Folder::of(&(0..8).map(rank).collect::<Vec<_>>())
}

/// With ACKs of a byte, a step takes a message of 131,072 B: 137 full packets and one of 648 B,
/// 138 x 80,000 + 696 x 80 + 2,000,000 = 13,095,680 ps.
#[test]
fn a_ring_of_sends_and_receives_takes_its_steps() {
    assert_eq!(there(131_072), 13_095_680);
    // Sends end when their messages go: 14 steps and 7 sums, 232.3 us.
    let output = run(8, r#"trace = "t", eager = "1MB""#, &ring());
    (0..8).for_each(|rank| is_near(iteration(&output, rank), 14 * 13_095_680 + 7 * 7 * US));
    assert_eq!(output.manifest["jobs"][0]["processes"], 8);
    // With the last ACK, 2 us later: receives wait for that, 260.3 us.
    let output = run(8, r#"trace = "t""#, &ring());
    (0..8).for_each(|rank| is_near(iteration(&output, rank), 14 * (13_095_680 + 2 * US) + 7 * 7 * US));
}

/// The folder of ASTRA-sim's examples, if it is beside the repository.
fn golden() -> Option<PathBuf> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join("shared/golden/chakra")).find(|folder| folder.is_dir())
}

#[test]
fn the_ring_of_astra_sim_s_examples_takes_as_long() {
    let Some(golden) = golden() else { return };
    let source = files::Folder(&golden);
    let trace = r#"trace = "custom_ring_allreduce_8npus_1MB/custom_allreduce""#;
    let output = run(8, &format!(r#"{trace}, eager = "1MB""#), &source);
    (0..8).for_each(|rank| is_near(iteration(&output, rank), 14 * 13_095_680 + 7 * 7 * US));
    // Of each rank 14 sends, 14 receives, 7 sums, and the row of the whole.
    assert_eq!((0..8).map(|rank| operations(&output, rank).len()).sum::<usize>(), 8 * 36);
    assert_eq!(operations(&output, 3)[1].0, "recv: COMM_RECV_NODE_tb0_step1");
}

/// Collectives of 1 MiB a rank. Rings: all-reduce 2 (n - 1) steps of an n-th, reduce-scatter n - 1 of an n-th, all-gather n - 1 of
/// all that a rank has. All-to-all: n - 1 messages of an n-th one behind the other on each link. The last ACK comes 2 us later.
fn microbenchmark(kind: &str, ranks: u64) -> u64 {
    let size = 1 << 20;
    let own = match kind {
        "all_reduce" => 2 * (ranks - 1) * there(size / ranks),
        "reduce_scatter" => (ranks - 1) * there(size / ranks),
        "all_gather" => (ranks - 1) * there(size),
        _ => there((ranks - 1) * size / ranks),
    };
    own + 2 * US
}

#[test]
fn a_node_of_a_collective_takes_as_long_as_its_algorithm() {
    for (kind, name) in [(0, "all_reduce"), (7, "reduce_scatter"), (2, "all_gather"), (6, "all_to_all")] {
        let files = Folder::of(&vec![vec![collective(5, kind, 1 << 20)]; 4]);
        let output = run(4, r#"trace = "t""#, &files);
        let found = operations(&output, 2);
        assert_eq!(found[0].0, format!("{name}: coll"));
        is_near(found[0].2, microbenchmark(name, 4));
        is_near(iteration(&output, 2), microbenchmark(name, 4));
    }
    // An all-reduce by recursive doubling: 2 steps of 1 MiB.
    let files = Folder::of(&vec![vec![collective(5, 0, 1 << 20)]; 4]);
    let output = run(4, r#"trace = "t", algorithms = { all_reduce = "recursive_doubling" }"#, &files);
    is_near(iteration(&output, 0), 2 * there(1 << 20) + 2 * US);
}

#[test]
fn the_microbenchmarks_of_astra_sim_s_examples_take_as_long_as_their_algorithms() {
    let Some(golden) = golden() else { return };
    for kind in ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"] {
        for ranks in [4, 8] {
            let trace = format!(r#"trace = "{kind}/{ranks}npus_1MB/{kind}""#);
            let output = run(ranks as usize, &trace, &files::Folder(&golden));
            (0..ranks as u32).for_each(|rank| is_near(iteration(&output, rank), microbenchmark(kind, ranks)));
        }
    }
}

#[test]
fn resources_take_turns_and_go_on_beside_each_other() {
    // On the accelerator b waits for a; c is on the CPU; d waits for c, and for a and b since they have the accelerator; e loads
    // 2 MB at 16 Tbps; f has 4,000,000 operations at 10^12 a second, and 8 MB of memory, which take as long; g is done in no time.
    let busy = vec![
        compute(10, 5),
        compute(11, 3),
        compute(12, 4).int("is_cpu_op", 27, 1),
        compute(13, 1).data(&[12]),
        Node::new(14, "load", 2).int("tensor_size", 13, 2_000_000),
        Node::new(15, "gemm", 4).int("num_ops", 9, 4_000_000).int("tensor_size", 9, 8_000_000).control(13),
        Node::new(16, "label", 4).data(&[15, 14]),
        send(17, 1, 952, 0).data(&[16]).control(15),
    ];
    let files = Folder::of(&[busy, vec![receive(1, 0, 952, 0), compute(2, 1).data(&[1])]]);
    let traffic =
        r#"trace = "t", eager = "1KB", peak_flops = 1e12, memory_bandwidth = "16Tbps", overhead = "500ns""#;
    let output = run(2, traffic, &files);
    let sent = 13 * US;
    let expected = [
        ("compute: comp10", 0, 5 * US),
        ("compute: comp11", 5 * US, 8 * US),
        ("cpu: comp12", 0, 4 * US),
        ("compute: comp13", 8 * US, 9 * US),
        ("memory: load", 0, US),
        ("compute: gemm", 9 * US, 13 * US),
        ("send: to", sent, sent),
        ("iteration", 0, sent),
    ];
    assert_eq!(operations(&output, 0), expected.map(|(kernel, begin, end)| (kernel.to_string(), begin, end)));
    // Two frames and two links, and half a microsecond of overhead.
    let arrived = sent + 2 * FRAME + 2 * US + US / 2;
    let expected = [
        ("recv: from", 0, arrived),
        ("compute: comp2", arrived, arrived + US),
        ("iteration", 0, arrived + US),
    ];
    assert_eq!(operations(&output, 1), expected.map(|(kernel, begin, end)| (kernel.to_string(), begin, end)));
}

#[test]
fn groups_come_from_a_file_or_from_what_pytorch_lists() {
    // Ranks 0 and 2, and ranks 1 and 3, have an all-reduce each: two steps of 500,000 B. Values are of other types than those of
    // ASTRA-sim's examples.
    let node = |name: &str| {
        Node::new(7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7)
            .text("comm_type", "ALL_REDUCE")
            .text("comm_size", "1000000")
            .text("pg_name", name)
            .text("in_dtype", "Float")
            .int("is_cpu_op", 27, 0)
    };
    let expected = 2 * there(500_000) + 2 * US;
    let mut files = Folder::of(&[vec![node("11")], vec![node("12")], vec![node("11")], vec![node("12")]]);
    files.0.insert("groups.json".into(), br#"{"11": [0, 2], "12": [1, 3]}"#.to_vec());
    let output = run(4, r#"trace = "t", groups = "groups.json""#, &files);
    (0..4).for_each(|rank| is_near(iteration(&output, rank), expected));
    let error = scenario(4, r#"trace = "t""#, &files).unwrap_err();
    assert!(error.contains("whose node 7 (`ncclDevKernel_AllReduce_Sum_f32_RING_LL`)"), "{error}");
    assert!(error.contains("unknown group `11`"), "{error}");

    // PyTorch's form: a list in JSON, within a list in Python's notation. The same name stands for other ranks at other ranks.
    let listed = |ranks: &str| {
        let json = format!(
            r#"['[{{"pg_name": "0", "ranks": []}}, {{"pg_name": "1", "pg_desc": "x", "ranks": {ranks}}}]']"#
        );
        Node::new(1, "## process_group:init ##", 1).inputs(&json)
    };
    let rank = |ranks: &str| vec![listed(ranks), node("1").data(&[1])];
    let files = Folder::of(&[rank("[0, 2]"), rank("[1, 3]"), rank("[0, 2]"), rank("[1, 3]")]);
    let output = run(4, r#"trace = "t""#, &files);
    (0..4).for_each(|rank| is_near(iteration(&output, rank), expected));
}

#[test]
fn what_is_unknown_is_said_once() {
    let nodes = || vec![compute(1, 1).unknown(), collective(2, 9, 0).data(&[1]).unknown()];
    let files = Folder::of(&[nodes(), nodes()]);
    let scenario = scenario(2, r#"trace = "t""#, &files).unwrap();
    let said: Vec<&String> = scenario.warnings().iter().filter(|w| w.contains("up to number 99")).collect();
    assert_eq!(said.len(), 1, "{:?}", scenario.warnings());
}
