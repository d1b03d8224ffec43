//! Runs in which things break: each packet that is sent arrives, is lost for a stated cause, or is still in the network; the
//! run ends; and the bytes are the same on one thread and on three.

use arbitrary::Unstructured;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use xoff::fabric::Network;
use xoff::fabric::observe::{Departure, Hooks, OwnRow, Probe, Records};
use xoff::fabric::packet::Kind;
use xoff::prelude::Time;
use xoff::{Output, RunError, Scenario, Threads, run_on, run_with};
use xoff_fuzz::failing_scenario;

/// Data packets that leave hosts and arrive at hosts, counted at the wires.
#[derive(Default)]
struct Ends {
    sent: u64,
    arrivals: Vec<Time>,
}

impl Probe for Ends {
    fn hooks(&self) -> Hooks {
        Hooks::WIRE
    }

    fn on_depart(&mut self, departure: &Departure<'_>) {
        if departure.packet.kind != Kind::Data {
            return;
        }
        let topology = &departure.net.topology;
        let is_host = |port| departure.net.is_host(topology.node_of(port));
        self.sent += u64::from(is_host(departure.port));
        if is_host(departure.port.peer()) && departure.arrival < Time::NEVER {
            self.arrivals.push(departure.arrival);
        }
    }

    fn finish(&mut self, now: Time, records: &mut Records) {
        let before = self.arrivals.iter().filter(|at| **at < now).count();
        let until = self.arrivals.iter().filter(|at| **at <= now).count();
        for (name, count) in [("sent", self.sent), ("before", before as u64), ("until", until as u64)] {
            records.own.push(OwnRow { name, time: now, subject: 0, value: count as f64 });
        }
    }
}

fn number(output: &Output, key: &str) -> u64 {
    output.manifest["failures"]["data_packets"][key].as_u64().expect("a number")
}

/// Each data packet that was sent has arrived, was trimmed or dropped, or is in the network.
fn conserves(output: &Output, rows: &[OwnRow], text: &str) {
    let sum = |name| rows.iter().filter(|row| row.name == name).map(|row| row.value as u64).sum::<u64>();
    let (sent, dropped, inside) =
        (number(output, "sent"), number(output, "dropped"), number(output, "in_network"));
    let trimmed = number(output, "trimmed");
    assert_eq!(sum("sent"), sent, "{text}");
    // What arrives at the very end of the run is not handled if the run ends with its flows.
    let arrived = sum("before")..=sum("until");
    // What a stopped receiver has no room for has arrived, by the wire's count.
    let refused = output.manifest["failures"]["dropped_packets"]["receiver"].as_u64().unwrap_or(0);
    let left = (sent + refused).checked_sub(dropped + trimmed + inside);
    assert!(
        left.is_some_and(|left| arrived.contains(&left)),
        "{sent} sent, {dropped} dropped, {trimmed} trimmed, {inside} in the network, {arrived:?} arrived\n{text}"
    );
    let ports = &output.tables.iter().find(|table| table.name == "ports").expect("ports").batch;
    let by_port: u64 = ports["dropped"].as_primitive::<UInt64Type>().iter().flatten().sum();
    let by_cause = output.manifest["failures"]["dropped_packets"].as_object().expect("causes");
    let by_cause: u64 = by_cause.values().filter_map(|n| n.as_u64()).sum();
    let messages = output.manifest["lost_switch_messages"].as_u64().expect("a number");
    assert!(
        by_port <= by_cause && by_cause <= by_port + messages,
        "{by_port} by port, {by_cause} by cause\n{text}"
    );
}

/// How a run ended: whether it had results.
fn check(text: &str) -> Option<&'static str> {
    let scenario = Scenario::parse(text, "fuzz.toml", &[]).ok()?;
    let probe = |_: &Network| Box::new(Ends::default()) as Box<dyn Probe>;
    let one = run_with(Threads::UpTo(1), &scenario, &[&probe], &mut |_| true);
    let (output, end) = match one {
        Ok((output, rows)) => {
            conserves(&output, &rows, text);
            (Ok(output), "results")
        }
        Err(RunError::Failure(failure)) => panic!("{failure}\n{text}"),
        Err(error @ RunError::Stalled { .. }) => panic!("{error}\n{text}"),
        Err(error) => {
            let end = match &error {
                RunError::Stuck { unfinished, .. } => {
                    assert!(!unfinished.is_empty(), "{text}");
                    "unfinished"
                }
                RunError::Deadlock { .. } => "deadlock",
                RunError::TooManyEvents { .. } => "too many events",
                _ => "refused",
            };
            (Err(error), end)
        }
    };
    match (output, run_on(Threads::UpTo(3), &scenario, &mut |_| true)) {
        (_, Err(RunError::OneThread { .. })) => {}
        (Ok(one), Ok(other)) => {
            for (one, other) in one.tables.iter().zip(&other.tables) {
                assert!(
                    one.batch == other.batch,
                    "table {} differs between 1 and 3 threads\n{text}",
                    one.name
                );
            }
        }
        (Err(one), Err(other)) => assert_eq!(one, other, "{text}"),
        (one, other) => panic!("{:?} and {:?}\n{text}", one.err(), other.err()),
    }
    Some(end)
}

#[test]
fn a_failing_run_ends_and_loses_nothing_in_silence() {
    bolero::check!().with_generator(crate::bytes(500)).with_iterations(40).for_each(|bytes| {
        if let Ok(text) = failing_scenario(&mut Unstructured::new(bytes)) {
            check(&text);
        }
    });
}

/// `XOFF_FAILURES=1000 cargo test -p xoff-fuzz --test it many_failing -- --nocapture` tries so many valid scenarios, and says how
/// they end.
#[test]
fn many_failing_runs_end() {
    let wanted = std::env::var("XOFF_FAILURES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    // Bytes of a linear congruential generator (Knuth's MMIX).
    let mut state = 2u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut ends = std::collections::BTreeMap::new();
    let (mut valid, mut tried) = (0, 0);
    while valid < wanted {
        let bytes: Vec<u8> = (0..500).map(|_| next()).collect();
        let Ok(text) = failing_scenario(&mut Unstructured::new(&bytes)) else { continue };
        tried += 1;
        if let Some(end) = check(&text) {
            valid += 1;
            *ends.entry(end).or_insert(0) += 1;
        }
    }
    println!("{valid} of {tried} scenarios are valid: {ends:?}");
    assert!(valid * 10 > tried * 3, "{valid} of {tried}");
}
