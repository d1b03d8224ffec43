//! Whatever stands in a schedule (GOAL), reading it ends with a schedule or with a line and what is wrong there.

use arbitrary::Unstructured;
use xoff::traffic::goal;
use xoff_fuzz::edited;

const SCHEDULE: &str = "num_ranks 3\n\nrank 0 {\nl1: calc 1000 cpu 1\nl2: send 64b to 1 tag 7\nl2 requires l1\n}\n\
                        rank 1 {\nl1: recv 64b from 0 tag 7 nic 0\nl2: send 5b to 2 tag 1\nl2 irequires l1\n}\n\
                        rank 2 {\n// the last\nl1: recv 5b from 1 tag 1\n}\n";

const WORDS: &[&str] = &[
    "rank",
    "num_ranks",
    "requires",
    "irequires",
    "send",
    "recv",
    "calc",
    "to",
    "from",
    "tag",
    "cpu",
    "nic",
    "l1",
    "l2",
    "{",
    "}",
    ":",
    "0",
    "1",
    "-1",
    "4294967296",
    "18446744073709551616",
    "b",
    "\n",
    "//",
    "/*",
];

#[test]
fn a_schedule_is_read_or_refused_at_a_line() {
    bolero::check!().with_generator(crate::bytes(200)).with_iterations(5_000).for_each(|bytes| {
        let Ok(text) = edited(SCHEDULE, WORDS, &mut Unstructured::new(bytes)) else { return };
        for ignore_tags in [false, true] {
            match goal::parse(&text, ignore_tags) {
                Ok(_) => {}
                Err(error) => assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}"),
            }
        }
    });
}
