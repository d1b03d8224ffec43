//! Samples of schemes' own variables, and of queues by priority.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use xoff::Scenario;

fn tables(text: &str) -> Vec<xoff::tables::Table> {
    let scenario = Scenario::parse(text, "sampled.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    xoff::run(&scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}")).tables
}

fn table<'a>(tables: &'a [xoff::tables::Table], name: &str) -> &'a RecordBatch {
    &tables.iter().find(|table| table.name == name).expect("a table").batch
}

const LONE: &str = r#"
    topology = { name = "star", hosts = 3, rate = "100Gbps", delay = "1us" }
    scheme = { name = "dctcp", g = 0.25 }
    traffic = [
        { pattern = "flow", label = "seen", src = "host1", dst = "host0", size = "1MB" },
        { pattern = "flow", label = "unseen", src = "host2", dst = "host0", size = "1KB", start = "1ms" },
    ]
    record = { interval = "1us", variables = ["seen"] }
"#;

#[test]
fn dctcp_without_marks_forgets_alpha_by_g_each_window() {
    // alpha <- (1 - g) alpha + g F (SIGCOMM 2010, equation 1), with F = 0, g = 1/4 and 1 at first: powers of 3/4.
    let tables = tables(LONE);
    let rows = table(&tables, "variables");
    let value = rows.column_by_name("value").expect("a column").as_primitive::<Float64Type>();
    let flow = rows.column_by_name("flow").expect("a column").as_primitive::<UInt32Type>();
    assert!(rows.num_rows() > 50 && flow.values().iter().all(|&flow| flow == 0));
    assert_eq!(value.value(0), 1.0);
    let mut power = 1.0;
    for &now in value.values() {
        while now < power {
            power *= 0.75;
        }
        assert_eq!(now, power);
    }
    assert!(power < 0.1, "{power}");
    let names = rows.column_by_name("name").expect("a column").as_any_dictionary().values().clone();
    assert_eq!(names.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("alpha")]);
}

#[test]
fn the_last_row_of_a_flow_is_that_of_its_end() {
    let tables = tables(LONE);
    let time = table(&tables, "variables").column(0).as_primitive::<UInt64Type>().clone();
    let fct = table(&tables, "flows").column_by_name("fct_ps").expect("a column").clone();
    assert_eq!(time.values().last(), Some(&fct.as_primitive::<UInt64Type>().value(0)));
}

#[test]
fn queues_of_two_priorities_have_rows_of_each() {
    // A sender of each priority to one host: with strict priority the higher one does not wait, and all that waits for long is
    // of the lower one. Of 100 us each, 2 x 1 MB take 160 us on the shared link.
    let text = r#"
        topology = { name = "star", hosts = 3, rate = "100Gbps", delay = "1us" }
        scheme = { name = "none" }
        switch = { priorities = 2, scheduling = "strict" }
        traffic = [
            { pattern = "flow", src = "host1", dst = "host0", size = "1MB", priority = 0 },
            { pattern = "flow", src = "host2", dst = "host0", size = "1MB", priority = 1 },
        ]
        record = { interval = "5us", queues = "switches" }
    "#;
    let tables = tables(text);
    let rows = table(&tables, "queues");
    let numbers = |name: &str| {
        let column = rows.column_by_name(name).expect("a column");
        column.as_primitive::<UInt64Type>().values().to_vec()
    };
    let (time, bytes, most) = (numbers("time_ps"), numbers("bytes"), numbers("max_bytes"));
    let priority = rows.column_by_name("priority").expect("a column").as_primitive::<UInt8Type>();
    assert!(time.is_sorted());
    let of = |wanted: Option<u8>| {
        (0..rows.num_rows())
            .filter(move |&row| (!priority.is_null(row)).then(|| priority.value(row)) == wanted)
    };
    let sum = |wanted| of(wanted).map(|row| bytes[row]).sum::<u64>();
    // Ports carry data or ACKs: what of a whole port is no data are ACKs of at most a frame each.
    let (whole, low, high) = (sum(None), sum(Some(0)), sum(Some(1)));
    assert!(whole >= low + high && whole - low - high < whole / 100, "{whole} {low} {high}");
    assert!(high < low / 20, "{high} {low}");
    assert_eq!(of(None).count() * 2, of(Some(0)).count() + of(Some(1)).count());
    assert!((0..rows.num_rows()).all(|row| most[row] >= bytes[row]));
    // PFC stops the lower priority at its threshold, and the peak of the whole port is no lower than that of a part.
    let peak = |wanted| of(wanted).map(|row| most[row]).max();
    assert!(peak(None) >= peak(Some(0)) && peak(Some(0)) > peak(Some(1)));
}

#[test]
fn a_network_with_one_priority_has_no_column_of_priorities() {
    let text = LONE.replace("variables = [\"seen\"]", "queues = \"switches\"");
    assert!(table(&tables(&text), "queues").column_by_name("priority").is_none());
}

#[test]
fn an_unknown_label_is_named() {
    let text = LONE.replace("[\"seen\"]", "[\"sen\"]");
    let error = Scenario::parse(&text, "sampled.toml", &[]).expect_err("no such label").to_string();
    assert!(error.contains("`variables` in [record] names the unknown traffic label \"sen\""), "{error}");
}
