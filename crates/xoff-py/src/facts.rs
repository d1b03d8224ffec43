//! Facts that Python takes from Rust, so that they exist once: quantities, units, columns of tables, near names, statistics.

use arrow_schema::{DataType, FieldRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use xoff::fabric::Recording;
use xoff::fabric::ids::PortId;
use xoff::summary::Slowdown;
use xoff::{NetworkBuilder, memory, tables};
use xoff_engine::{Bytes, Nearest, Rate, Time};
use xoff_schemes::detector::red::Red;
use xoff_traffic::Traffic;

/// Bytes that the process may still take, and what sets the limit; `None` if the system does not tell.
#[pyfunction]
pub fn free_memory() -> Option<(u64, &'static str)> {
    memory::free().map(|free| (free.bytes, free.what))
}

/// Queue lengths, in bytes, at a port of `bps`: up to the first RED with these parameters, as JSON, marks nothing, above the
/// second everything. `None` if the parameters are not RED's.
#[pyfunction]
pub fn red_thresholds(parameters: &str, bps: u64) -> Option<(u64, u64)> {
    let red: Red = serde_json::from_str(parameters).ok()?;
    Some(red.thresholds(Rate(bps)))
}

/// A rate in bit/s; `None` if the text is no rate.
#[pyfunction]
pub fn read_rate(text: &str) -> Option<u64> {
    text.parse().ok().map(|Rate(bps)| bps)
}

/// A time in ps; `None` if the text is no time.
#[pyfunction]
pub fn read_time(text: &str) -> Option<u64> {
    text.parse().ok().map(|Time(ps)| ps)
}

/// A size in bytes; `None` if the text is no size.
#[pyfunction]
pub fn read_size(text: &str) -> Option<u64> {
    text.parse().ok().map(|Bytes(bytes)| bytes)
}

/// A rate as a scenario has it.
#[pyfunction]
pub fn rate_text(bps: u64) -> String {
    Rate(bps).to_string()
}

/// A time as a scenario has it.
#[pyfunction]
pub fn time_text(ps: u64) -> String {
    Time(ps).to_string()
}

/// A size as a scenario has it.
#[pyfunction]
pub fn size_text(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// The end of a message that names the nearest of `known`; empty if none is near.
#[pyfunction]
pub fn nearest(name: &str, known: Vec<String>) -> String {
    Nearest::of(name, known.iter().map(String::as_str)).to_string()
}

/// Mean and percentiles of slowdowns; `None` if there are none.
#[pyfunction]
pub fn slowdown_statistics(py: Python<'_>, values: Vec<f64>) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Some(Slowdown { mean, p50, p95, p99 }) = Slowdown::of(values) else { return Ok(None) };
    let statistics = PyDict::new(py);
    for (name, value) in [("mean", mean), ("p50", p50), ("p95", p95), ("p99", p99)] {
        statistics.set_item(name, value)?;
    }
    Ok(Some(statistics))
}

/// The columns of every table, as JSON: table, column, and what the column holds, its unit and its meaning. In some runs a table has
/// more: see [`columns_of_some_runs`].
#[pyfunction]
pub fn columns() -> PyResult<String> {
    let tables = tables_of(|_| {}, false)?;
    let described = tables.iter().map(|table| (table.name.to_string(), Value::Object(described(table))));
    crate::to_json(&described.collect::<Map<_, _>>())
}

/// The columns that only some runs have, as JSON: as [`columns`], and which runs.
#[pyfunction]
pub fn columns_of_some_runs() -> PyResult<String> {
    let plain = tables_of(|_| {}, false)?;
    let sampled = |net: &mut NetworkBuilder| {
        // The switch's port of the first link.
        let queues = vec![PortId(1)];
        net.recording(Recording { interval: Some(Time(1)), queues, ..Recording::default() });
    };
    let prioritized = |net: &mut NetworkBuilder| {
        sampled(net);
        net.settings().switch.priorities = 2;
    };
    let some = [
        (tables_of(|_| {}, true)?, "with `run.fast_forward`"),
        (tables_of(sampled, true)?, "with `run.fast_forward` and `record.interval`"),
        (tables_of(prioritized, false)?, "with several data priorities and samples of switches' queues"),
    ];
    let mut found: Map<String, Value> = Map::new();
    for (tables, which) in &some {
        for (table, ordinary) in tables.iter().zip(&plain) {
            let schema = ordinary.batch.schema_ref();
            let more = described(table).into_iter().filter(|(name, _)| schema.index_of(name).is_err());
            let columns = found.entry(table.name).or_insert_with(|| json!({}));
            for (name, mut about) in more {
                // The first condition is the weakest under which a column is there.
                if columns.get(&name).is_none() {
                    about["runs"] = json!(which);
                    columns[&name] = about;
                }
            }
        }
    }
    found.retain(|_, columns| columns.as_object().is_some_and(|columns| !columns.is_empty()));
    crate::to_json(&found)
}

/// The tables of a network of two hosts and a switch without traffic, after `change`. Columns depend on settings and on what is
/// recorded, and on nothing else that happens in a run.
fn tables_of(change: impl FnOnce(&mut NetworkBuilder), is_forwarded: bool) -> PyResult<Vec<tables::Table>> {
    let mut net = NetworkBuilder::new();
    let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("switch"));
    for host in [a, b] {
        net.link(host, switch, Rate::from_gbps(1), Time::ZERO);
    }
    change(net.duration(Time(1)));
    let mut simulation = net.simulation().map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    if is_forwarded {
        simulation.fast_forward(0.01, 1);
    }
    simulation.run_to_duration();
    simulation.run(&mut |_| true).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    Ok(tables::all(&simulation, &Traffic::default()))
}

fn described(table: &tables::Table) -> Map<String, Value> {
    let column = |field: &FieldRef| {
        let holds = match field.data_type() {
            DataType::Boolean => "flag",
            DataType::Dictionary(..) | DataType::Utf8 => "name",
            _ => "number",
        };
        let said = |key: &str| field.metadata().get(key).map_or("", String::as_str);
        (field.name().clone(), json!({ "holds": holds, "unit": said("unit"), "doc": said("doc") }))
    };
    table.batch.schema_ref().fields().iter().map(column).collect()
}
