//! Result tables as columns that JavaScript's typed arrays hold.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// A column of a result table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN if a row has none. Times in ps are exact up to 2^53 ps, which is 9,000 s. `true` is 1, and `false` is 0.
    Numbers(Vec<f64>),
    /// Names: for each row its place in the list of names, -1 if it has none.
    Names(Vec<i32>, Vec<String>),
}

/// The column `name`; `None` if the table has none, or one of another kind.
pub fn column(batch: &RecordBatch, name: &str) -> Option<Column> {
    let array = batch.column_by_name(name)?;
    macro_rules! numbers {
        ($kind:ty) => {
            numbers(array.as_primitive::<$kind>().iter().map(|value| value.map(|value| value as f64)))
        };
    }
    match array.data_type() {
        DataType::UInt8 => Some(numbers!(UInt8Type)),
        DataType::UInt32 => Some(numbers!(UInt32Type)),
        DataType::UInt64 => Some(numbers!(UInt64Type)),
        DataType::Int32 => Some(numbers!(Int32Type)),
        DataType::Float64 => Some(numbers!(Float64Type)),
        DataType::Boolean => Some(numbers(
            array.as_boolean().iter().map(|value| value.map(|value| f64::from(u8::from(value)))),
        )),
        DataType::Dictionary(..) => {
            let dictionary = array.as_dictionary_opt::<Int32Type>()?;
            let names = dictionary.values().as_string_opt::<i32>()?;
            let keys = dictionary.keys().iter().map(|key| key.unwrap_or(-1)).collect();
            Some(Column::Names(keys, names.iter().flatten().map(str::to_string).collect()))
        }
        _ => None,
    }
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> Column {
    Column::Numbers(values.map(|value| value.unwrap_or(f64::NAN)).collect())
}
