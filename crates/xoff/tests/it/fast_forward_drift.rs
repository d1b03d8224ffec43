//! Messages that begin just behind a recalled one, whose time may be a little wrong.

use std::path::Path;

use arrow_array::cast::AsArray;
use xoff::{Output, Scenario, Threads, run_on};

use crate::common::{numbers, table};
use crate::fast_forward::FAST;

/// Four hosts at 100 Gbps, ACKs for each eighth packet, and some traffic.
fn scenario(traffic: &str) -> String {
    format!(
        "topology = {{ name = \"star\", hosts = 4, rate = \"100Gbps\", delay = \"500ns\" }}\nscheme = {{ name = \"none\" }}\n\
         flow_control = {{ name = \"pfc\", xoff = \"500KB\" }}\nhost = {{ ack_every = 8 }}\n{traffic}"
    )
}

/// A host's messages to another one at regular times, in ns, on one connection.
fn regular(src: u32, dst: u32, size: &str, every: u64, repeat: u64, start: u64) -> String {
    format!(
        "[[traffic]]\npattern = \"incast\"\nsenders = [\"host{src}\"]\nreceiver = \"host{dst}\"\nsize = \"{size}\"\nevery = \"{every}ns\"\n\
         repeat = {repeat}\nstart = \"{start}ns\"\nconnection = \"per_pair\"\n"
    )
}

/// Runs a scenario of a folder.
fn run(folder: &Path, text: &str, fast: &str) -> Output {
    let file = folder.join("drift.toml");
    std::fs::write(&file, format!("{text}\n[run]\n{fast}\n")).expect("a file");
    let scenario = Scenario::load(&file, &[]).unwrap_or_else(|e| panic!("{e}"));
    run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Compares a run plain and fast: some messages are recalled, and all errors beyond the tolerance of 1 % are of uncertain messages, of which there are some.
fn assert_honest(folder: &Path, text: &str) {
    let (plain, fast) = (run(folder, text, ""), run(folder, text, FAST));
    let [a, b] = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
    let uncertain = table(&fast, "flows").column_by_name("uncertain").expect("a column").as_boolean();
    let wrong: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b) * 100 > *a).collect();
    assert!(wrong.contains(&true), "the scenario says nothing");
    for (number, (wrong, uncertain)) in wrong.iter().zip(uncertain).enumerate() {
        assert!(!wrong || uncertain == Some(true), "{number}: {} {}", a[number], b[number]);
    }
    assert!(fast.manifest["fast_forward"]["recalled_messages"].as_u64() > Some(20));
}

/// 4 MB take 335.8 us, and 20 KB begin on the same connection 1.8 us before the last ACK: at first after all data are sent. As the 2 MB of the other direction, which begin 5 us later
/// each time, come into that time, their ACKs of 50 B for each eight frames of 1,000 B take up to 0.6 % of it: 1 us, less than the tolerance. But 20 KB take 3.8 us, and wait for it.
#[test]
fn a_short_message_behind_a_long_one_is_as_uncertain_as_that_is_long() {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for i in 0..60 {
        let (long, short, back) = (i * 700_000, i * 700_000 + 333_962, 460_000 + i * 705_000);
        lines.push((long, format!("host0 host1 4MB {long}ns")));
        lines.push((short, format!("host0 host1 20KB {short}ns")));
        lines.push((back, format!("host1 host0 2MB {back}ns")));
    }
    lines.sort();
    let text: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let place = tempfile::tempdir().expect("a folder");
    std::fs::write(place.path().join("messages.txt"), text.join("\n") + "\n").expect("a file");
    let list = "[[traffic]]\npattern = \"list\"\nfile = \"messages.txt\"\nconnection = \"per_pair\"\n";
    assert_honest(place.path(), &scenario(list));
}

/// The same on two connections that share their ports. 40 MB take 3.3 ms, and may be wrong by 18 us: 20 KB that begin 50 ns after the last ACK meet them in the plain run, but no
/// data of a message that is over in the fast one.
#[test]
fn a_message_that_may_have_met_a_recalled_one_is_uncertain() {
    let place = tempfile::tempdir().expect("a folder");
    let alone = scenario(&regular(0, 1, "40MB", 7_000_000, 1, 0));
    let over = numbers(table(&run(place.path(), &alone, ""), "flows"), "fct_ps")[0] / 1_000;
    let traffic = regular(0, 1, "40MB", 7_000_000, 45, 0)
        + &regular(0, 1, "20KB", 7_000_000, 45, over + 50)
        + &regular(1, 0, "20MB", 7_080_000, 45, 4_600_000);
    assert_honest(place.path(), &scenario(&traffic));
}
