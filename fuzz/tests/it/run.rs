//! Whole runs of small scenarios: what goes in comes out, ports send no more than their links carry, and the bytes are the
//! same on one thread and on three. Built with debug assertions, the simulator checks itself at every event besides.

use arbitrary::Unstructured;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use xoff::{Output, RunError, Scenario, Threads, run_on};
use xoff_fuzz::small_scenario;

fn table<'a>(output: &'a Output, name: &str) -> &'a RecordBatch {
    &output.tables.iter().find(|table| table.name == name).expect("a table of every run").batch
}

fn sum(batch: &RecordBatch, column: &str) -> u64 {
    batch[column].as_primitive::<UInt64Type>().iter().flatten().sum()
}

/// What holds in any run.
fn check(output: &Output, text: &str) {
    // ns-3's clock cuts every transmission to whole nanoseconds, so a link carries more than its rate there.
    let exact = !text.contains("clock = \"ns3\"");
    for name in ["ports", "utilization"].into_iter().filter(|_| exact) {
        let shares = &table(output, name)["utilization"];
        for share in shares.as_primitive::<Float64Type>().iter().flatten() {
            assert!((0.0..1.0 + 1e-9).contains(&share), "{name}: utilization {share}\n{text}");
        }
    }
    let flows = table(output, "flows");
    // A message is never complete before its last byte, and a receiver takes no byte that was not sent.
    let sizes = flows["size_bytes"].as_primitive::<UInt64Type>();
    let acked = flows["acked_bytes"].as_primitive::<UInt64Type>();
    let completed = flows["fct_ps"].as_primitive::<UInt64Type>();
    for flow in 0..flows.num_rows() {
        let (size, came) = (sizes.iter().nth(flow).flatten(), acked.value(flow));
        assert!(size.is_none_or(|size| came <= size), "flow {flow}: {came} B of {size:?}\n{text}");
        if completed.iter().nth(flow).flatten().is_some() {
            assert!(
                size.is_none_or(|size| came == size),
                "flow {flow} is complete with {came} B of {size:?}\n{text}"
            );
        }
    }
    if !text.contains("lossy") {
        assert_eq!(sum(table(output, "ports"), "dropped"), 0, "{text}");
    }
}

fn same(one: &Output, other: &Output, text: &str) {
    for (one, other) in one.tables.iter().zip(&other.tables) {
        assert!(one.batch == other.batch, "table {} differs between 1 and 3 threads\n{text}", one.name);
    }
}

#[test]
fn a_small_run_keeps_what_every_run_keeps() {
    bolero::check!().with_generator(crate::bytes(400)).with_iterations(60).for_each(|bytes| {
        let Ok(text) = small_scenario(&mut Unstructured::new(bytes)) else { return };
        let Ok(scenario) = Scenario::parse(&text, "fuzz.toml", &[]) else { return };
        match run_on(Threads::UpTo(1), &scenario, &mut |_| true) {
            Ok(output) => {
                check(&output, &text);
                match run_on(Threads::UpTo(3), &scenario, &mut |_| true) {
                    Ok(other) => same(&output, &other, &text),
                    Err(RunError::OneThread { .. }) => {}
                    Err(error) => panic!("on 3 threads: {error}\n{text}"),
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

#[test]
fn most_small_scenarios_can_be_run_and_all_are_small() {
    // A target whose scenarios are refused tests nothing, and one whose scenarios have millions of messages tests few. Bytes of
    // a linear congruential generator (Knuth's MMIX).
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let read = |bytes: Vec<u8>| {
        let text = small_scenario(&mut Unstructured::new(&bytes)).expect("enough bytes");
        let scenario = Scenario::parse(&text, "fuzz.toml", &[]).ok()?;
        assert!(scenario.needs() < 10_000_000, "{} B\n{text}", scenario.needs());
        Some(scenario)
    };
    let valid = (0..200).filter_map(|_| read((0..400).map(|_| next()).collect())).count();
    assert!(valid > 150, "{valid} of 200");
}
