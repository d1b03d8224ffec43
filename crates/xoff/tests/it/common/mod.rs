//! Ready scenarios, their runs, and columns of the results.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, UInt64Type};
use xoff::{Output, Scenario};

/// The folder of the ready scenarios.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// A ready scenario with keys set.
pub fn load(name: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::load(&folder().join(format!("{name}.toml")), &set).unwrap_or_else(|e| panic!("{e}"))
}

/// Whether a scheme is of Ultra Ethernet's transport.
pub fn is_of_uet(scheme: &str) -> bool {
    ["nscc", "rccc", "nscc_rccc"].contains(&scheme)
}

/// The keys that make a scenario one of this scheme.
pub fn scheme_keys(scheme: &str) -> Vec<(&str, &str)> {
    let transport = is_of_uet(scheme).then_some(("host.transport", "uet"));
    [("scheme.name", scheme)].into_iter().chain(transport).collect()
}

/// A finished run.
pub fn run(scenario: &Scenario) -> Output {
    xoff::run(scenario, &mut |_| true).unwrap_or_else(|e| panic!("{:?}: {e}", scenario.title))
}

/// A table of a run.
pub fn table<'a>(output: &'a Output, name: &str) -> &'a RecordBatch {
    &output.tables.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no table {name}")).batch
}

fn values<T: ArrowPrimitiveType>(table: &RecordBatch, column: &str) -> Vec<Option<T::Native>> {
    let column = table.column_by_name(column).unwrap_or_else(|| panic!("no column {column}"));
    column.as_primitive::<T>().iter().collect()
}

/// A column of numbers that may be null.
pub fn numbers_or_null(table: &RecordBatch, column: &str) -> Vec<Option<u64>> {
    values::<UInt64Type>(table, column)
}

/// A column of numbers without nulls.
pub fn numbers(table: &RecordBatch, column: &str) -> Vec<u64> {
    numbers_or_null(table, column).into_iter().map(|v| v.expect("no null")).collect()
}

/// A column of floating-point numbers that may be null.
pub fn floats(table: &RecordBatch, column: &str) -> Vec<Option<f64>> {
    values::<Float64Type>(table, column)
}

/// A column of names.
pub fn names(table: &RecordBatch, column: &str) -> Vec<String> {
    let column = table.column_by_name(column).unwrap_or_else(|| panic!("no column {column}"));
    let dictionary = column.as_dictionary::<Int32Type>();
    let words = dictionary.values().as_string::<i32>();
    dictionary.keys().iter().map(|k| words.value(k.expect("no null") as usize).to_string()).collect()
}

/// The sum of a column.
pub fn total(output: &Output, name: &str, column: &str) -> u64 {
    numbers(table(output, name), column).iter().sum()
}

/// The rows of a table where `column` is `name`.
pub fn rows(table: &RecordBatch, column: &str, name: &str) -> Vec<usize> {
    let found: Vec<usize> =
        names(table, column).iter().enumerate().filter(|(_, n)| *n == name).map(|(i, _)| i).collect();
    assert!(!found.is_empty(), "no {column} {name}");
    found
}

/// A number of a run's manifest.
pub fn count(output: &Output, key: &str) -> u64 {
    output.manifest[key].as_u64().unwrap_or_else(|| panic!("no number {key}"))
}
