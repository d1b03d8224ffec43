//! Schedules in the GOAL format: what they say, and what is refused in which line.

use std::fmt::Write;

use proptest::prelude::*;
use xoff_traffic::goal::{self, Action, GoalError, Schedule};

const TWO: &str = "num_ranks 2
rank 0 {
l1: calc 1000
l2: send 64b to 1 tag 7 cpu 1
l2 requires l1
l3: recv 8b from 1
l3 irequires l2
}
rank 1 { // the other one
  /* what it
     gets */ first: recv 100 b from 0 tag 7 nic 0
  back: send 8b to 0
  back requires first
}
";

fn parse(text: &str) -> Result<Schedule, GoalError> {
    goal::parse(text, false)
}

#[test]
fn operations_and_what_they_wait_for() {
    let s = parse(TWO).unwrap();
    let actions: Vec<Action> = s.operations.iter().map(|o| o.action).collect();
    assert_eq!(
        actions,
        [
            Action::Calc { ns: 1000 },
            Action::Send { size: 64, to: 1, tag: 7 },
            Action::Recv { size: 8, from: 1, tag: 0 },
            Action::Recv { size: 100, from: 0, tag: 7 },
            Action::Send { size: 8, to: 0, tag: 0 },
        ]
    );
    let places: Vec<(u32, u32, u32)> = s.operations.iter().map(|o| (o.rank, o.line, o.cpu)).collect();
    assert_eq!(places, [(0, 3, 0), (0, 4, 1), (0, 6, 0), (1, 11, 0), (1, 12, 0)]);
    let waits: Vec<(u32, u32, bool)> = s.requirements.iter().map(|r| (r.then, r.on, r.ended)).collect();
    assert_eq!(waits, [(1, 0, true), (2, 1, false), (4, 3, true)]);
    // The send of 64 B fits into the receive of 100 B.
    assert_eq!(s.messages().collect::<Vec<_>>(), [(1, 3), (4, 2)]);
    let size = s.size();
    assert_eq!((size.ranks, size.operations, size.messages, size.bytes), (2, 5, 2, 72));
}

#[test]
fn messages_of_a_tag_belong_together_in_the_order_of_the_text() {
    let s = parse(
        "num_ranks 3
         rank 1 {
         a: recv 1b from 0 tag 5
         b: recv 2b from 0 tag 6
         c: recv 3b from 0 tag 5
         }
         rank 0 {
         send 1b to 1 tag 5
         send 3b to 1 tag 5
         send 2b to 1 tag 6
         calc 0
         }",
    )
    .unwrap();
    assert_eq!(s.messages().collect::<Vec<_>>(), [(3, 0), (4, 2), (5, 1)]);
    assert_eq!(s.partners[6], 6);
}

#[test]
fn messages_belong_together_by_order_where_tags_are_ignored() {
    let text = "num_ranks 2
        rank 0 {
        send 1b to 1 tag 5
        send 2b to 1 tag 6
        }
        rank 1 {
        recv 1b from 0 tag 15
        recv 2b from 0 tag 15
        }";
    assert!(parse(text).is_err());
    assert_eq!(goal::parse(text, true).unwrap().messages().collect::<Vec<_>>(), [(0, 2), (1, 3)]);
    // By order the one of 2 B would have to go into the receive of 1 B.
    let swapped = text.replace("send 1b", "send 3b");
    assert!(goal::parse(&swapped, true).unwrap_err().to_string().starts_with("line 7: `recv` is of 1B"));
}

fn refused(text: &str) -> String {
    parse(text).map(|s| s.size()).unwrap_err().to_string()
}

#[test]
fn every_malformed_line_is_named() {
    let inside = |line: &str| format!("num_ranks 4\nrank 0 {{\n{line}\n}}\nrank 1 {{\nl1: calc 5\n}}\n");
    for (line, expected) in [
        (
            "l1 calc 5",
            "line 3: `l1` is followed by `calc`: expected `:` and an operation, `requires` or `irequires`",
        ),
        (
            "l1",
            "line 3: `l1` is the last word of its line: expected `:` and an operation, `requires` or `irequires`",
        ),
        (
            "l1: clac 5",
            "line 3: `l1` is followed by `clac`: expected `send`, `recv` or `calc`; did you mean `calc`?",
        ),
        ("l1:", "line 3: `l1` is the last word of its line: expected `send`, `recv` or `calc`"),
        ("7: calc 5", "line 3: `7` is no label: expected a label, `send`, `recv`, `calc` or `}`"),
        ("l1: calc five", "line 3: `calc` is five: expected a whole number up to 1000000000000"),
        ("l1: calc -5", "line 3: `calc` is -5: expected a whole number"),
        ("l1: calc 1000000000001", "line 3: `calc` is 1000000000001: expected"),
        ("l1: calc", "line 3: `calc` is the last word of its line: expected a whole number"),
        ("l1: calc 5 tag 3", "line 3: `tag` is behind a `calc`: expected `cpu` or `nic`"),
        ("l1: calc 5 cpu 256", "line 3: `cpu` is 256: expected a whole number up to 255"),
        ("l1: send 5 to 1", "line 3: `send` is 5, followed by `to`: expected `b` behind it, as in `send 5b`"),
        ("l1: send to 1", "line 3: `send` is to: expected a size, such as `5b`, up to 1000000000000"),
        ("l1: send 5b from 1", "line 3: `send` is followed by `from`: expected `to`"),
        ("l1: recv 5b to 1", "line 3: `recv` is followed by `to`: expected `from`"),
        ("l1: send 5b to 4", "line 3: `to` is 4: expected a whole number up to 3"),
        ("l1: send 1000000000001b to 1", "line 3: `send` is 1000000000001: expected"),
        ("l1: recv 5b from -1", "line 3: `from` is any rank: expected a rank, since messages are matched"),
        ("l1: recv 5b from 1 tag -1", "line 3: `tag` is any tag: expected a number, since messages are"),
        ("l1: recv 5b from 1 tag 4294967295", "line 3: `tag` is any tag"),
        ("l1: send 5b to 1 tag", "line 3: `tag` is the last word of its line"),
        (
            "l1: send 5b to 1 tga 3",
            "line 3: `tga` is behind a `send`: expected `tag`, `cpu` or `nic`; did you mean `tag`?",
        ),
        ("l1: send 5b to 1 tag 3 tag 4", "line 3: `tag` is there twice: expected it once"),
        ("l1: send 5b to 1 nic 1", "line 3: `nic` is 1: expected 0, since a host has one NIC"),
        ("l1: calc 5\nl1: calc 6", "line 4: `l1` is there already, in line 3: expected labels of their own"),
        (
            "l1: calc 5\nl1 requires l2",
            "line 4: `l2` is the label of no operation: expected a label of rank 0; did you mean `l1`?",
        ),
        (
            "l1: calc 5\nl1 requires what",
            "line 4: `what` is the label of no operation: expected a label of rank 0 such as `l1`",
        ),
        ("l1: calc 5\nl1 requires", "line 4: `requires` is the last word of its line: expected the label"),
        ("l1: calc 5\nl1 irequires l1 l1", "line 4: `l1` is followed by `l1`: expected the end of the line"),
        ("rank 2 {", "line 3: `rank` is followed by `2`: expected `:` and an operation"),
        ("num_ranks 4", "line 3: `num_ranks` is there twice"),
        ("} }", "line 3: `}` is outside of a rank: expected `num_ranks N` and then `rank R {`"),
        ("/* l1: calc 5", "line 3: `/*` is missing: expected `*/` behind it"),
        ("§", "line 3: `§` is no label"),
    ] {
        let found = refused(&inside(line));
        assert!(found.starts_with(expected), "{line}\n{found}");
    }
    for (text, expected) in [
        ("", "line 1: `num_ranks` is missing: expected `num_ranks N` in the first line"),
        ("rank 0 {\n}", "line 1: `rank` is before `num_ranks`: expected `num_ranks N` first"),
        ("num_ranks 0", "line 1: `num_ranks` is 0: expected a whole number from 1 to 1000000"),
        ("num_ranks 5000000", "line 1: `num_ranks` is 5000000: expected"),
        ("num_ranks 2", "line 1: `rank` is missing: expected `rank R {` with operations in it"),
        ("num_ranks 2\nrank 2 {\n}", "line 2: `rank` is 2: expected a whole number up to 1"),
        ("num_ranks 2\nrank 1\n{\n}", "line 2: `rank` is the last word of its line: expected `{`"),
        (
            "num_ranks 2\nrank 0 {\n}\nrank 0 {\n}",
            "line 4: `rank` is 0, as in line 2: expected each rank once",
        ),
        ("num_ranks 2\nrank 0 {\ncalc 5\n", "line 2: `rank` is missing: expected `}` behind its operations"),
        ("num_ranks 2\ncalc 5\n", "line 2: `calc` is outside of a rank"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn what_can_never_complete_is_refused() {
    let two = |a: &str, b: &str| format!("num_ranks 2\nrank 0 {{\n{a}\n}}\nrank 1 {{\n{b}\n}}\n");
    // Two sends, one receive, and the other way around; another tag; another rank.
    for (a, b, line, word, counts) in [
        (
            "send 5b to 1\nsend 5b to 1",
            "recv 5b from 0",
            4,
            "send",
            "2 sends of rank 0 to rank 1 with tag 0, and 1 receive there for them: expected as many receives as sends",
        ),
        (
            "send 5b to 1",
            "recv 5b from 0\nrecv 5b from 0",
            7,
            "recv",
            "1 send of rank 0 to rank 1 with tag 0, and 2 receives there for them",
        ),
        (
            "send 5b to 1 tag 1",
            "recv 5b from 0 tag 2",
            3,
            "send",
            "with tag 1, and 0 receives there for them: expected as many receives as sends, or `--ignore-tags` of the import, `ignore_tags = true` in a scenario, with which all have one",
        ),
        (
            "send 5b to 0",
            "recv 5b from 0",
            3,
            "send",
            "1 send of rank 0 to rank 0 with tag 0, and 0 receives there",
        ),
    ] {
        let found = refused(&two(a, b));
        let start = format!("line {line}: `{word}` is without counterpart: ");
        assert!(found.starts_with(&start) && found.contains(counts), "{found}");
    }
    let short = refused(&two("send 20b to 1", "recv 10b from 0"));
    assert_eq!(
        short,
        "line 6: `recv` is of 10B, and the message, of line 3, has 20B: expected room for the message"
    );
    // An operation behind itself; two behind each other; over a message: rank 0's send waits for its receive, whose message
    // waits for a receive of the send's.
    for (a, b, lines) in [
        (
            "l1: calc 5\nl1 requires l1",
            "calc 5",
            "line 3: `calc` is waiting for itself: each of these lines waits for the next, 3 > 3:",
        ),
        (
            "l1: calc 5\nl2: calc 5\nl1 requires l2\nl2 irequires l1",
            "calc 5",
            "line 3: `calc` is waiting for itself: each of these lines waits for the next, 3 > 4 > 3:",
        ),
        (
            "a: recv 5b from 1\nb: send 5b to 1\nb requires a",
            "c: recv 5b from 0\nd: send 5b to 0\nd requires c",
            "line 3: `recv` is waiting for itself: each of these lines waits for the next, 3 > 9 > 8 > 4 > 3:",
        ),
    ] {
        let found = refused(&two(a, b));
        assert!(found.starts_with(lines), "{found}");
    }
    // A send may wait for a receive that is posted and not there yet.
    assert!(
        parse(&two(
            "a: recv 5b from 1\nb: send 5b to 1\nb irequires a",
            "c: recv 5b from 0\nd: send 5b to 0\nd requires c"
        ))
        .is_ok()
    );
}

#[test]
fn a_hundred_thousand_operations_are_read() {
    // 100 ranks in a ring, 500 rounds of a send and a receive behind it: 100,000 operations, 50,000 messages of 1,000 B, and
    // 499 lines a rank that wait. One tag serves all rounds, so that the n-th send of a rank belongs to the n-th receive of the
    // next rank. Chains of 1,000 operations lead from rank to rank: what looks for circles must not recurse.
    let (ranks, rounds) = (100, 500);
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        writeln!(text, "rank {rank} {{").unwrap();
        for round in 0..rounds {
            writeln!(text, "s{round}: send 1000b to {next} tag 1\nr{round}: recv 1000b from {last} tag 1")
                .unwrap();
            if round > 0 {
                writeln!(text, "s{round} requires r{}", round - 1).unwrap();
            }
        }
        text.push_str("}\n");
    }
    let schedule = parse(&text).unwrap();
    let size = goal::Size { ranks, operations: 100_000, messages: 50_000, bytes: 50_000_000 };
    assert_eq!((schedule.size(), schedule.requirements.len()), (size, 49_900));
    let send = |rank: u32, round: u32| 2 * (rounds * rank + round);
    let sends = (0..ranks).flat_map(|rank| (0..rounds).map(move |round| (rank, round)));
    let expected = sends.map(|(rank, round)| (send(rank, round), send((rank + 1) % ranks, round) + 1));
    assert!(schedule.messages().eq(expected));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is written, there is an answer, and an error names a line of the text.
    #[test]
    fn nothing_panics(lines in prop::collection::vec("(num_ranks [0-3]|rank [0-3] \\{|\\}|(l[1-3]: ?)?(send|recv|calc|snd) [0-9]{0,3}b? ?(to|from)? ?-?[0-3]?( (tag|cpu|nic) [0-9])?|l[1-3] i?requires l[1-3]|/\\*|\\*/|//|\\PC{0,12})", 0..30)) {
        let text = lines.join("\n");
        if let Err(error) = parse(&text) {
            prop_assert!((1..=text.lines().count().max(1)).contains(&error.line), "{error}");
        }
    }
}
