//! Whatever stands in a scenario, reading it ends with a scenario or with a message that names the place.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use xoff::Scenario;
use xoff_fuzz::{edited, small_scenario};

/// A good scenario with every kind of table.
const ALL_TABLES: &str = include_str!("all_tables.toml");

/// What somebody might write, most of it wrong where it ends up.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "255",
    "65536",
    "4294967296",
    "18446744073709551616",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"x\"",
    "\"all\"",
    "\"none\"",
    "\"host0\"",
    "\"hostile\"",
    "\"1us\"",
    "\"0ps\"",
    "\"18446744s\"",
    "\"1Gbps\"",
    "\"3.7Gbps\"",
    "\"0bps\"",
    "\"1B\"",
    "\"0B\"",
    "\"1TB\"",
    "\"18446744073709551615B\"",
    "\"\u{0}\u{1b}[2J\"",
    "\"\u{202e}\u{1f3f3}\"",
    "[]",
    "[[]]",
    "{}",
    "[{}]",
    "[\"host0\", 3]",
    "1979-05-27",
    "{ name = \"none\" }",
    "\"ecmp\"",
    "\"graph\"",
    "\"list\"",
    "\"pfc\"",
    "\"fncc\"",
    "\"hpcc\"",
    "\"rocc\"",
    "\"red\"",
];

/// Pieces of a scenario's text beside those.
const PIECES: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "#",
    "-",
    " ",
    "\t",
    "\n",
    "a",
    "b",
    "\u{e4}",
    "name",
    "size",
    "\u{1b}[2J",
    "[traffic]",
    "[[traffic]]",
    "file = \"/dev/zero\"\n",
    "k = 128\n",
    "hosts = 1000000\n",
    "[tune]\n",
    "[sweep]\n",
];

static TEXTS: LazyLock<Vec<&str>> = LazyLock::new(|| [WORDS, PIECES].concat());

/// Keys of scenarios, and some that no scenario has.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let own = xoff::scenario::keys().iter().map(|key| key.path.replace("[]", ".0")).collect::<Vec<_>>();
    let others = ["traffic.1.size", "traffic.9.size", "a.b.c", "", ".", "seed.x", "topology", "scheme"]
        .map(String::from);
    [own, others.into()].concat()
});

/// Settings of the command line.
type Settings = Vec<(String, String)>;

/// A text and settings on top of it.
fn written(bytes: &mut Unstructured<'_>) -> Result<(String, Settings)> {
    let mut set = Settings::new();
    let text = match bytes.int_in_range(0..=5)? {
        0 => edited(&small_scenario(bytes)?, &TEXTS, bytes)?,
        1 => edited(ALL_TABLES, &TEXTS, bytes)?,
        2 => {
            let mut lines: Vec<&str> = ALL_TABLES.lines().collect();
            let from = bytes.choose_index(lines.len())?;
            let line = if bytes.arbitrary()? { lines[from] } else { lines.remove(from) };
            lines.insert(bytes.choose_index(lines.len())?, line);
            lines.join("\n")
        }
        3 => {
            for _ in 0..bytes.int_in_range(1..=4)? {
                let key = if bytes.ratio(1, 8)? { bytes.arbitrary()? } else { bytes.choose(&KEYS)?.clone() };
                let value = if bytes.ratio(1, 8)? { bytes.arbitrary()? } else { *bytes.choose(WORDS)? };
                set.push((key, value.into()));
            }
            ALL_TABLES.into()
        }
        4 => {
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(0..=100)? {
                text += bytes.choose(&TEXTS)?;
            }
            text
        }
        _ => String::from_utf8_lossy(bytes.bytes(bytes.len().min(400))?).into(),
    };
    Ok((text, set))
}

/// The message if the scenario is refused.
fn refusal(text: &str, set: &[(String, String)]) -> Option<String> {
    let message = Scenario::parse(text, "fuzz.toml", set).err()?.to_string();
    assert!(message.starts_with("error: ") && message.contains("--> "), "{message:?}");
    assert!(!message.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{message:?}");
    Some(message)
}

#[test]
fn a_scenario_is_read_or_refused_with_a_message() {
    assert_eq!(refusal(ALL_TABLES, &[]), None);
    bolero::check!().with_generator(crate::bytes(400)).with_iterations(4_000).for_each(|bytes| {
        if let Ok((text, set)) = written(&mut Unstructured::new(bytes)) {
            refusal(&text, &set);
        }
    });
}

#[test]
fn deep_nesting_is_refused() {
    for deep in [
        format!("{}x = 1", "a.".repeat(100_000)),
        format!("[{}x]", "a.".repeat(100_000)),
        format!("x = {{ {}x = 1 }}", "a.".repeat(100_000)),
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{ x = ".repeat(100_000)),
        "[[a]]\n".repeat(10_000),
    ] {
        assert!(refusal(&deep, &[]).is_some());
    }
    let key = vec!["a"; 100_000].join(".");
    assert!(refusal(ALL_TABLES, &[(key, "1".into())]).is_some());
    assert!(refusal(ALL_TABLES, &[("x".into(), "[".repeat(100_000))]).is_some());
    assert!(refusal(ALL_TABLES, &[("x".into(), format!("{{ {}x = 1 }}", "a.".repeat(100_000)))]).is_some());
}
