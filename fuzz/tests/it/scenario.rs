//! Whatever stands in a scenario, reading it ends with a scenario or with a message that names the place.

use arbitrary::Unstructured;
use xoff::Scenario;
use xoff_fuzz::{edited, small_scenario};

/// Words that somebody might write, most of them wrong where they end up.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "4294967296",
    "18446744073709551616",
    "1e308",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"x\"",
    "\"all\"",
    "\"none\"",
    "\"host0\"",
    "\"1us\"",
    "\"0ps\"",
    "\"18446744s\"",
    "\"0bps\"",
    "\"0B\"",
    "\"1TB\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "name",
    "size",
    "=",
    "\n",
    "\"\u{1b}[2J\"",
    "\"\u{202e}\"",
    "[traffic]",
    "[[traffic]]",
    "\"graph\"",
    "\"list\"",
    "file = \"/dev/zero\"\n",
    "k = 128\n",
    "hosts = 1000000\n",
    "[tune]\n",
    "[sweep]\n",
];

#[test]
fn a_scenario_is_read_or_refused_with_a_message() {
    bolero::check!().with_iterations(2_000).for_each(|bytes| {
        let mut bytes = Unstructured::new(bytes);
        let Ok(text) = small_scenario(&mut bytes).and_then(|text| edited(&text, WORDS, &mut bytes)) else {
            return;
        };
        if let Err(error) = Scenario::parse(&text, "fuzz.toml", &[]) {
            let message = error.to_string();
            assert!(message.starts_with("error: ") && message.contains("--> "), "{message:?}");
            assert!(!message.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{message:?}");
        }
    });
}
