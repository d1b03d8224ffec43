//! Small scenarios in which things break.

use std::fmt::Write;

use arbitrary::Unstructured;

use crate::{Result, small_scenario};

const TIMES: [&str; 6] = ["1ns", "100ns", "3us", "20us", "50us", "120us"];
const CONVERGENCES: [&str; 4] = ["none", "0s", "5us", "60us"];
const WATCHDOGS: [&str; 3] = [
    "watchdog = { detection = \"10us\", restoration = \"20us\" }",
    "watchdog = { detection = \"30us\", restoration = \"10us\", action = \"forward\" }",
    "watchdog = {}",
];

/// A scenario like those of [`small_scenario`] with up to four events. Senders wait a few dozen microseconds for an ACK, some
/// networks find other paths, some have a watchdog, and some runs have no duration.
///
/// # Errors
/// The bytes have come to their end.
pub fn failing_scenario(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(1..=4)? {
        event(&mut text, bytes)?;
    }
    let timeout = bytes.choose(&["20us", "35us", "100us"])?;
    let nack = bytes.choose(&["0s", "10us", "500us"])?;
    let (converges, watches) = (bytes.ratio(2, 3)?, bytes.ratio(1, 3)?);
    let (convergence, watchdog) = (bytes.choose(&CONVERGENCES)?, bytes.choose(&WATCHDOGS)?);
    let endless = bytes.ratio(1, 3)?;
    let mut all = small_scenario(bytes)?;
    let host = format!("retransmit_timeout = \"{timeout}\"\nnack_interval = \"{nack}\"\n");
    add(&mut all, "host", &host);
    if converges {
        add(&mut all, "routing", &format!("convergence = \"{convergence}\"\n"));
    }
    if watches && all.contains("pfc") {
        add(&mut all, "switch", &format!("{watchdog}\n"));
    }
    if endless && all.contains("stop = \"flows\"") {
        all = all.replacen("duration = \"200us\"\n", "", 1);
    }
    // An [[event]] may stand anywhere behind the keys of the top level.
    all += &text;
    Ok(all)
}

/// Adds keys to a table, which may not be there yet.
fn add(text: &mut String, table: &str, keys: &str) {
    let head = format!("[{table}]\n");
    if text.contains(&head) {
        *text = text.replacen(&head, &format!("{head}{keys}"), 1);
    } else {
        *text += &format!("{head}{keys}");
    }
}

fn event(text: &mut String, bytes: &mut Unstructured<'_>) -> Result<()> {
    let link = bytes.choose(&["random", "random", "random_trunk"])?;
    let kind = match bytes.int_in_range(0..=8)? {
        0..=2 => format!("kind = \"link_down\"\nlink = \"{link}\""),
        3 => format!(
            "kind = \"degrade\"\nlink = \"{link}\"\nrate = \"{}\"",
            bytes.choose(&["1Mbps", "3Gbps", "10Gbps"])?
        ),
        4 => format!(
            "kind = \"bit_errors\"\nlink = \"{link}\"\nber = {}",
            bytes.choose(&["1e-12", "1e-6", "1e-4", "0.01"])?
        ),
        5 => format!(
            "kind = \"bit_errors\"\nlink = \"{link}\"\nloss = {}",
            bytes.choose(&["0.001", "0.1", "0.9"])?
        ),
        6 => "kind = \"switch_reboot\"\nswitch = \"random\"".into(),
        7 if bytes.ratio(1, 2)? => format!(
            "kind = \"receiver_slow\"\nhost = \"random\"\nrate = \"{}\"\nbuffer = \"{}\"",
            bytes.choose(&["100Mbps", "5Gbps", "90Gbps"])?,
            bytes.choose(&["0B", "5KB", "50KB"])?
        ),
        7 => "kind = \"pause_storm\"\nhost = \"random\"".into(),
        _ => format!(
            "kind = \"receiver_stop\"\nhost = \"random\"\nbuffer = \"{}\"",
            bytes.choose(&["0B", "5KB", "50KB"])?
        ),
    };
    let (at, length) = (bytes.int_in_range(0..=150)?, bytes.choose(&TIMES)?);
    let when = match bytes.int_in_range(0..=4)? {
        0 => format!("at = \"{at}us\""),
        1 | 2 => format!("at = \"{at}us\"\nfor = \"{length}\""),
        3 => format!("at = \"{at}us\"\nfor = \"{length}\"\nevery = \"130us\"\nuntil = \"400us\""),
        _ => format!("mean_time_between = \"{length}\"\nmean_for = \"7us\"\nuntil = \"180us\""),
    };
    // Writing to a string does not fail.
    let _ = write!(text, "[[event]]\n{kind}\n{when}\n");
    Ok(())
}
