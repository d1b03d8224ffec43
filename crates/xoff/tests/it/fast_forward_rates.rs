//! Senders whose rates CNPs have lowered (DCQCN): what they send is not recalled until they are at the line rate again.

use std::fmt::Write;

use xoff::{Scenario, Threads, run_on};

use crate::common::{numbers, numbers_or_null, table};
use crate::fast_forward::{FAST, collective_fault};

/// A GOAL program: ranks 1 and 2 send 40 kB each to rank 0, which computes for 100 us and answers both, `count` times. In turn `crowded` they
/// send 300 kB each, and so do ranks 3 to 5. These send 100 B in the first turn, if that is not crowded.
fn turns(count: u32, crowded: u32) -> String {
    let mut ranks: Vec<String> = (0..6).map(|rank| format!("rank {rank} {{\n")).collect();
    let mut say = |rank: usize, line: String| writeln!(ranks[rank], "{line}").expect("a string");
    for turn in 1..=count {
        let before = turn - 1;
        say(0, format!("c{turn}: calc 100000"));
        let mut give = |from: usize, answers: bool| {
            let bytes = if turn == crowded {
                300_000
            } else if answers {
                40_000
            } else {
                100
            };
            say(
                0,
                format!(
                    "r{turn}x{from}: recv {bytes}b from {from} tag {turn}\nc{turn} requires r{turn}x{from}"
                ),
            );
            say(from, format!("s{turn}: send {bytes}b to 0 tag {turn}"));
            if answers {
                let answer = format!("a{turn}x{from}");
                say(0, format!("{answer}: send 100b to {from} tag {turn}\n{answer} requires c{turn}"));
                say(from, format!("a{turn}: recv 100b from 0 tag {turn}\na{turn} requires s{turn}"));
            }
            if turn > 1 && answers {
                say(from, format!("s{turn} requires a{before}"));
            }
        };
        [1, 2].into_iter().for_each(|from| give(from, true));
        if turn == 1 || turn == crowded {
            [3, 4, 5].into_iter().for_each(|from| give(from, false));
            for to in [3, 4, 5].into_iter().filter(|_| turn > 1) {
                say(0, format!("g{to}: send 100b to {to} tag 0\ng{to} requires c{before}"));
                say(to, format!("g: recv 100b from 0 tag 0\ns{turn} requires g"));
            }
        }
    }
    ranks.iter().fold("num_ranks 6\n".to_string(), |text, rank| text + rank + "}\n")
}

/// CNPs lower the senders' rates, which rise by sent bytes or by time since: turns that are alike for a while are not for ever, although
/// nothing notifies their senders any more, and turns after that are not like those before.
#[test]
fn messages_below_the_line_rate_are_not_recalled() {
    for (scheme, crowded) in [
        (r#"byte_counter = "2MB", increase_timer = "300ms""#, 1),
        (r#"increase_timer = "3.1ms""#, 1),
        (r#"increase_timer = "3.1ms""#, 12),
    ] {
        let program = turns(40, crowded);
        let files = |_: &str| Ok(program.clone());
        let run = |fast: &str| {
            let text = format!(
                r#"
                topology = {{ name = "star", hosts = 6, rate = "100Gbps", delay = "500ns" }}
                scheme = {{ name = "dcqcn", {scheme} }}
                traffic = [{{ pattern = "goal", file = "f", connection = "per_pair" }}]
                run = {{ {fast} }}
                "#
            );
            let scenario =
                Scenario::parse_with(&text, "fast.toml", &[], &files).unwrap_or_else(|e| panic!("{e}"));
            run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
        };
        let [plain, fast] = ["", FAST].map(run);
        assert!(numbers(table(&plain, "flows"), "cnps").iter().sum::<u64>() > 0, "somebody is notified");
        let all = &fast.manifest["fast_forward"];
        // Before the crowd, turns are recalled.
        assert_eq!(all["recalled_messages"].as_u64() > Some(0), crowded > 1, "{all}");
        assert_eq!(all["uncertain_from_ps"], serde_json::Value::Null);
        let [all, after] = [&plain, &fast].map(|output| numbers_or_null(table(output, "flows"), "fct_ps"));
        assert_eq!(all, after, "{scheme}");
    }
}

/// A message of 1 MB on its way from a link of 100 Gbps to one of 40 Gbps makes CNPs. Those of 100 kB that follow it, each after an answer, take
/// the same time until enough bytes were sent to raise the rate.
#[test]
fn messages_alone_below_the_line_rate_are_not_recalled_by_their_like() {
    let mut ranks = ["rank 0 {\n", "rank 1 {\n"].map(String::from);
    for turn in 1..=60 {
        let (before, bytes) = (turn - 1, if turn == 1 { 1_000_000 } else { 100_000 });
        let after = if turn == 1 { String::new() } else { format!("s{turn} requires a{before}\n") };
        ranks[0] += &format!(
            "r{turn}: recv {bytes}b from 1 tag {turn}\nc{turn}: calc 20000\nc{turn} requires r{turn}\n\
             a{turn}: send 100b to 1 tag {turn}\na{turn} requires c{turn}\n"
        );
        ranks[1] += &format!(
            "s{turn}: send {bytes}b to 0 tag {turn}\n{after}a{turn}: recv 100b from 0 tag {turn}\na{turn} requires s{turn}\n"
        );
    }
    let program = format!("num_ranks 2\n{}}}\n{}}}\n", ranks[0], ranks[1]);
    let files = |_: &str| Ok(program.clone());
    let run = |fast: &str| {
        let text = format!(
            r#"
            scheme = {{ name = "dcqcn", byte_counter = "1MB", increase_timer = "300ms" }}
            traffic = [{{ pattern = "goal", file = "f", connection = "per_pair" }}]
            run = {{ {fast} }}
            [topology]
            name = "graph"
            hosts = ["host0", "host1"]
            switches = ["s"]
            links = [
                {{ a = "host0", b = "s", rate = "40Gbps", delay = "500ns" }},
                {{ a = "host1", b = "s", rate = "100Gbps", delay = "500ns" }},
            ]
            "#
        );
        let scenario =
            Scenario::parse_with(&text, "fast.toml", &[], &files).unwrap_or_else(|e| panic!("{e}"));
        run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
    };
    let [plain, fast] = ["", FAST].map(run);
    assert!(numbers(table(&plain, "flows"), "cnps").iter().sum::<u64>() > 0, "somebody is notified");
    assert_eq!(collective_fault(&plain, &fast), None);
}
