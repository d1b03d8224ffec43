//! GOAL schedules and flows that wait for each other on an ideal star: how long they take, worked out by hand.

use std::io;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
use serde_json::Value;
use xoff::{Output, Scenario, Threads, run_on};

const US: u64 = 1_000_000;
/// A full packet, of 952 B of payload, on a link of 100 Gbps; and one of a byte.
const FRAME: u64 = 80_000;
const BYTE: u64 = 49 * 80;
/// An ACK's way over two links.
const BACK: u64 = 2 * (50 * 80 + US);

/// From the first bit of `packets` full packets to the arrival of the last over two links with a switch in between.
fn there(packets: u64) -> u64 {
    (packets + 1) * FRAME + 2 * US
}

const PLAIN: &str = r#"
    topology = { name = "star", hosts = 2, rate = "100Gbps", delay = "1us" }
    scheme = { name = "none" }
    packets = { mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }
    traffic = [{ pattern = "goal", file = "f" }]
"#;

fn scenario(hosts: u32, traffic: &str, file: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
        topology = {{ name = "star", hosts = {hosts}, rate = "100Gbps", delay = "1us" }}
        scheme = {{ name = "none" }}
        packets = {{ mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }}
        traffic = [{{ {traffic} }}]
        "#
    );
    let files = |name: &str| -> io::Result<String> {
        if name == "f" { Ok(file.to_string()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    Scenario::parse_with(&text, "star.toml", &[], &files).map_err(|e| e.to_string())
}

fn run(hosts: u32, traffic: &str, file: &str) -> Output {
    let scenario = scenario(hosts, traffic, file).unwrap_or_else(|e| panic!("{e}"));
    run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Of each rank and ordinal: word, begin and end in ps.
fn operations(output: &Output) -> Vec<(u32, u32, String, u64, u64)> {
    let batch = &output.tables.iter().find(|t| t.name == "operations").expect("a table").batch;
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    let number = |name: &str| column(name).as_primitive::<UInt32Type>().clone();
    let time = |name: &str| column(name).as_primitive::<UInt64Type>().clone();
    let kernels = column("kernel").as_dictionary::<Int32Type>();
    let names = kernels.values().as_string::<i32>();
    let (process, iteration) = (number("process"), number("iteration"));
    let (start, end) = (time("start_ps"), time("end_ps"));
    let word = |i: usize| names.value(kernels.keys().value(i) as usize).to_string();
    (0..batch.num_rows())
        .map(|i| (process.value(i), iteration.value(i), word(i), start.value(i), end.value(i)))
        .collect()
}

/// Begin and end of the operations of a rank, in their order.
fn spans(output: &Output, rank: u32) -> Vec<(u64, u64)> {
    operations(output).into_iter().filter(|o| o.0 == rank).map(|o| (o.3, o.4)).collect()
}

fn job(output: &Output) -> &Value {
    &output.manifest["jobs"][0]
}

const PING_PONG: &str = "num_ranks 2
rank 0 {
l1: calc 1000
l2: send 9520b to 1 tag 1
l3: recv 952b from 1 tag 2
l4: calc 250
l2 requires l1
l4 requires l3
}
rank 1 {
l1: recv 9520b from 0 tag 1
l2: calc 500
l3: send 952b to 0 tag 2
l2 requires l1
l3 requires l2
}
";

#[test]
fn a_ping_pong_takes_its_calculations_and_messages() {
    // 1 us of computing, ten packets, 0.5 us, one packet, 0.25 us:
    // 1,000,000 + (11 x 80,000 + 2,000,000) + 500,000 + (2 x 80,000 + 2,000,000) + 250,000 = 6,790,000 ps.
    let output = run(2, r#"pattern = "goal", file = "f""#, PING_PONG);
    let (ping, pong) = (US + there(10), US + there(10) + 500_000 + there(1));
    assert_eq!(pong + 250_000, 6_790_000);
    // The send of up to 65,535 B ends when it goes; the receives begin at once.
    assert_eq!(spans(&output, 0), [(0, US), (US, US), (0, pong), (pong, pong + 250_000)]);
    let answer = ping + 500_000;
    assert_eq!(spans(&output, 1), [(0, ping), (ping, answer), (answer, answer)]);
    let words: Vec<String> = operations(&output).into_iter().map(|o| o.2).collect();
    assert_eq!(words, ["calc", "send", "recv", "calc", "recv", "calc", "send"]);
    // Messages are alone in any case.
    let expected = serde_json::json!({
        "label": "goal", "processes": 2, "operations": 7, "start_ps": 0, "completion_ps": 6_790_000,
        "ideal_completion_ps": 6_790_000,
    });
    assert_eq!(job(&output), &expected);
    // A long send ends with its last ACK.
    let eager = run(2, r#"pattern = "goal", file = "f", eager = "9519B", start = "3us""#, PING_PONG);
    assert_eq!(spans(&eager, 0)[1], (4 * US, 4 * US + there(10) + BACK));
    assert_eq!(
        (job(&eager)["start_ps"].as_u64(), job(&eager)["completion_ps"].as_u64()),
        (Some(3 * US), Some(6_790_000))
    );
}

#[test]
fn a_computation_that_a_run_does_not_see_the_end_of_has_none() {
    // The last computation goes from 6.54 us to 6.79 us, and the run to 6.6 us: one operation of seven, and so the job, has no end.
    for (duration, operations_without, completion) in [(6_600, 1, None), (6_790, 0, Some(6_790_000))] {
        let text = format!("run = {{ duration = \"{duration}ns\" }}\n{}", PLAIN);
        let files = |_: &str| -> io::Result<String> { Ok(PING_PONG.to_string()) };
        let scenario =
            Scenario::parse_with(&text, "star.toml", &[], &files).unwrap_or_else(|e| panic!("{e}"));
        let output = run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        let batch = &output.tables.iter().find(|t| t.name == "operations").expect("a table").batch;
        let ends = batch.column_by_name("end_ps").expect("a column");
        assert_eq!((batch.num_rows(), ends.null_count()), (7, operations_without));
        assert_eq!(job(&output)["completion_ps"].as_u64(), completion);
    }
}

#[test]
fn a_processor_computes_one_thing_at_a_time() {
    // Rank 0: a and b on one processor, in this order; c on another; d, of no time, as soon as a is over, though b has the
    // processor; e begins with b and so is ready at 2 us, but has to wait for b's end at 5 us. Its message then goes.
    let text = "num_ranks 2
        rank 0 {
        a: calc 2000
        b: calc 3000
        c: calc 1500 cpu 1
        d: calc 0
        e: calc 1000
        f: send 0b to 1
        d requires a
        e irequires b
        f requires e
        }
        rank 1 {
        recv 0b from 0
        }";
    let output = run(2, r#"pattern = "goal", file = "f""#, text);
    let expected = [(0, 2), (2, 5), (0, 1), (2, 2), (5, 6), (6, 6)];
    let mut expected = expected.map(|(begin, end)| (begin * US, end * US));
    expected[2].1 = 1_500_000;
    assert_eq!(spans(&output, 0), expected);
    // An empty message takes a packet of one byte.
    assert_eq!(spans(&output, 1), [(0, 6 * US + 2 * BYTE + 2 * US)]);
}

/// A ring of `ranks` in which each sends ten packets to the next, `steps` times, each time when the last has come.
fn ring(ranks: u32, steps: u32) -> String {
    let rank = |rank: u32| {
        let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let step = |s: u32| {
            let wait = if s > 0 { format!("s{s} requires r{}\n", s - 1) } else { String::new() };
            format!("s{s}: send 9520b to {next} tag 0\nr{s}: recv 9520b from {last} tag 0\n{wait}")
        };
        format!("rank {rank} {{\n{}}}\n", (0..steps).map(step).collect::<String>())
    };
    format!("num_ranks {ranks}\n{}", (0..ranks).map(rank).collect::<String>())
}

#[test]
fn a_ring_takes_its_steps() {
    // Each step: 1 us for the send, the message, 1 us for the receive. Within it nothing meets: a host's packets are out
    // (0.8 us) before the first ACK that it has to send (2.16 us), and its last ACK is out before the next step's send.
    let output = run(5, r#"pattern = "goal", file = "f", overhead = "1us""#, &ring(5, 8));
    let step = there(10) + 2 * US;
    let all = operations(&output);
    assert_eq!(all.len(), 5 * 16);
    assert!(
        all.iter().filter(|o| o.2 == "send").all(|o| o.3 == u64::from(o.1 / 2) * step && o.4 == o.3 + US)
    );
    assert!(all.iter().filter(|o| o.2 == "recv").all(|o| o.4 == u64::from(o.1 / 2 + 1) * step));
    assert_eq!(job(&output)["completion_ps"].as_u64(), Some(8 * step));
    assert_eq!(job(&output)["ideal_completion_ps"].as_u64(), Some(8 * step));
}

#[test]
fn on_an_ideal_network_an_incast_does_not_meet() {
    // Four ranks send 100 packets to rank 0 at once: on the ideal network each takes 101 packets' times and 2 us, in the run
    // the four share a link: 401 packets' times.
    let mut text = "num_ranks 5\n".to_string();
    for rank in 1..5 {
        text += &format!("rank {rank} {{\nsend 95200b to 0\n}}\n");
    }
    text += "rank 0 {\nrecv 95200b from 1\nrecv 95200b from 2\nrecv 95200b from 3\nrecv 95200b from 4\n}\n";
    let output = run(5, r#"pattern = "goal", file = "f", eager = "100KB""#, &text);
    assert_eq!(job(&output)["ideal_completion_ps"].as_u64(), Some(there(100)));
    assert_eq!(job(&output)["completion_ps"].as_u64(), Some(there(400)));
}

#[test]
fn ranks_of_one_host_take_no_network() {
    // Ranks 0 and 1 on host 0, 2 and 3 on host 1. 1,000 B within a host take 50 ns and 1,000 x 100 ps; rank 1 sends to itself
    // too. The long one's send ends when it has arrived.
    let text = "num_ranks 4
        rank 0 {
        send 1000b to 1
        send 100000b to 1 tag 1
        x: send 952b to 2
        }
        rank 1 {
        recv 1000b from 0
        recv 100000b from 0 tag 1
        send 0b to 1 tag 2
        recv 0b from 1 tag 2
        }
        rank 2 {
        recv 952b from 0
        }";
    let traffic =
        r#"pattern = "goal", file = "f", ranks_per_host = 2, local_rate = "80Gbps", local_delay = "50ns""#;
    let output = run(2, traffic, text);
    let long = 50_000 + 100_000 * 100;
    assert_eq!(spans(&output, 0), [(0, 0), (0, long), (0, 0)]);
    assert_eq!(spans(&output, 1), [(0, 150_000), (0, long), (0, 0), (0, 50_000)]);
    assert_eq!(spans(&output, 2), [(0, there(1))]);
    assert_eq!(output.manifest["flows"], 1);
    // Without a rate they take the delay alone, which is none.
    let output = run(2, r#"pattern = "goal", file = "f", ranks_per_host = 2"#, text);
    assert!(spans(&output, 1).iter().all(|span| *span == (0, 0)));
}

#[test]
fn a_run_that_ends_before_its_job_says_so() {
    let text = PING_PONG;
    let traffic = r#"pattern = "goal", file = "f""#;
    let mut scenario = scenario(2, traffic, text).unwrap_or_else(|e| panic!("{e}"));
    scenario.run.duration = Some(xoff_engine::Time::from_us(3));
    let output = run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(job(&output)["completion_ps"], Value::Null);
    assert_eq!(job(&output)["ideal_completion_ps"].as_u64(), Some(6_790_000));
}

#[test]
fn what_a_schedule_may_not_be_is_refused_at_its_key() {
    let wrong = |hosts: u32, traffic: &str, text: &str| scenario(hosts, traffic, text).expect_err("refused");
    let plain = r#"pattern = "goal", file = "f""#;
    for (found, expected) in [
        (
            wrong(2, plain, "num_ranks 2\nrank 0 {\nl1: send 5b\n}"),
            "has an error in line 3: `send` is the last word of its line",
        ),
        (wrong(2, r#"pattern = "goal", file = "g""#, ""), "names the file `g`, which cannot be read"),
        (
            wrong(2, plain, "num_ranks 1\nrank 0 {\ncalc 5\n}"),
            "is `f`, in which no message goes from one host to another",
        ),
        (wrong(2, plain, &ring(3, 1)), "`hosts` in [[traffic]] is room for 2 ranks"),
        (
            wrong(2, r#"pattern = "goal", file = "f", ranks_per_host = 0"#, PING_PONG),
            "`ranks_per_host` in [[traffic]] is 0",
        ),
        (
            wrong(2, r#"pattern = "goal", file = "f", local_rate = "0Gbps""#, PING_PONG),
            "`local_rate` in [[traffic]] is 0bps",
        ),
        (
            wrong(2, r#"pattern = "goal", file = "f", overhead = "2000s""#, PING_PONG),
            "`overhead` in [[traffic]] is 2000s",
        ),
        (wrong(2, r#"pattern = "goal", file = "f", rank = 3"#, PING_PONG), "`rank`"),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn schedules_do_not_depend_on_threads() {
    let text = r#"
        topology = { name = "fat_tree", k = 4 }
        scheme = { name = "dcqcn" }
        [[traffic]]
        pattern = "goal"
        file = "f"
        hosts = ["host15", "host0..host14"]
        overhead = "300ns"
        ranks_per_host = 2
        "#;
    let mut program = ring(16, 12).replace("num_ranks 16", "num_ranks 32");
    for rank in 16..32 {
        program += &format!(
            "rank {rank} {{\na: calc 700\nb: send 300000b to {}\nb requires a\nc: calc 900\n",
            47 - rank
        );
        program += &format!("d: recv 300000b from {}\ne: calc 50\ne requires d\n}}\n", 47 - rank);
    }
    let files = |_: &str| -> io::Result<String> { Ok(program.clone()) };
    let scenario = Scenario::parse_with(text, "threads.toml", &[], &files).unwrap_or_else(|e| panic!("{e}"));
    let on =
        |threads| run_on(Threads::UpTo(threads), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let (one, two, four) = (on(1), on(2), on(4));
    assert!(job(&one)["completion_ps"].as_u64() > job(&one)["ideal_completion_ps"].as_u64());
    for other in [two, four] {
        assert!(other.manifest["threads"].as_u64() > Some(1));
        for key in ["fingerprint", "events", "sim_time_ps", "jobs"] {
            assert_eq!(one.manifest[key], other.manifest[key], "{key}");
        }
        for (a, b) in one.tables.iter().zip(&other.tables) {
            assert_eq!(a.batch, b.batch, "{}", a.name);
        }
    }
}

/// By flow, in the order of the table: its start.
fn starts(output: &Output) -> Vec<u64> {
    let batch = &output.tables.iter().find(|t| t.name == "flows").expect("a table").batch;
    batch.column_by_name("start_ps").expect("a column").as_primitive::<UInt64Type>().values().to_vec()
}

#[test]
fn flows_of_a_list_start_when_others_end() {
    // Flow a of ten packets from host 0 to 1; b from host 0 with its last ACK; c of host 1 with its arrival; d of host 0 with
    // the last ACK of b and the arrival of c, but not before 50 us.
    let list = "src dst size start id after
        host0 host1 9520B 1us a -
        host0 host2 952B 0us b a:sent
        host1 host0 952B 0us c a:received
        host0 host1 1B 50us d b:sent+c:received
        ";
    let output = run(3, r#"pattern = "list", file = "f""#, list);
    let mut expected = [US, US + there(10) + BACK, US + there(10), 50 * US];
    expected.sort_unstable();
    let mut found = starts(&output);
    found.sort_unstable();
    assert_eq!(found, expected);
    // Host 2 knows nothing of flow a, unless everybody knows of everything.
    let across = "src dst size start id after\nhost0 host1 9520B 0us a -\nhost2 host1 952B 0us b a:sent\n";
    let refused = scenario(3, r#"pattern = "list", file = "f""#, across).expect_err("refused");
    assert!(
        refused.contains("line 3: `after` is `a:sent`, which the flow's sender does not know of"),
        "{refused}"
    );
    let traffic = r#"pattern = "list", file = "f", across_hosts = true"#;
    assert_eq!(starts(&run(3, traffic, across)), [0, there(10) + BACK]);
    let scenario = scenario(3, traffic, across).unwrap_or_else(|e| panic!("{e}"));
    let two = run_on(Threads::UpTo(2), &scenario, &mut |_| true).err().expect("refused").to_string();
    assert!(two.contains("across_hosts = true"), "{two}");
}

#[test]
fn lists_whose_flows_cannot_start_are_refused() {
    let refused = |rows: &str| {
        let list = format!("src dst size start id after\n{rows}");
        scenario(3, r#"pattern = "list", file = "f""#, &list).expect_err("refused")
    };
    for (rows, expected) in [
        ("host0 host1 1B 0us a b:sent", "line 2: `after` is `b:sent`"),
        ("host0 host1 1B 0us a a", "line 2: `after` is `a`"),
        ("host0 host1 1B 0us a a:done", "line 2: `after` is `a:done`"),
        ("host0 host1 1B 0us a:b -", "line 2: `id` is `a:b`"),
        ("host0 host1 1B 0us a -\nhost0 host1 1B 0us a -", "line 3: `id` is `a`, as in line 2"),
        ("host0 host1 1B 0us a a:sent", "line 2: `after` is waiting for the flow itself"),
        (
            "host0 host1 1B 0us x -\nhost0 host1 1B 0us a b:sent\nhost0 host2 1B 0us b a:sent\nhost0 host2 1B 0us c b:sent",
            "line 3: `after` is waiting for the flow itself",
        ),
    ] {
        let found = refused(rows);
        assert!(found.contains(expected), "{found}");
    }
}
