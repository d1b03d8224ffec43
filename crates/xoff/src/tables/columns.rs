//! Columns of a table that is being built.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray,
    UInt8Array, UInt32Array,
};
use arrow_schema::{Field, Schema};

use super::Table;
use super::numbers::{Numbers, Optional};

/// The unit that a column's name states; `None` for counts, names and ratios.
fn unit_of(column: &str) -> Option<&'static str> {
    match column.rsplit('_').next() {
        Some("ps") => Some("ps"),
        Some("bytes") => Some("B"),
        Some("bps") => Some("bit/s"),
        _ => None,
    }
}

/// A table that is being built.
pub(super) struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    pub(super) fn new() -> Self {
        Columns(Vec::new())
    }
    pub(super) fn add(self, name: &str, doc: &str, array: ArrayRef) -> Self {
        self.column(name, doc, array, false)
    }
    pub(super) fn column(mut self, name: &str, doc: &str, array: ArrayRef, nullable: bool) -> Self {
        let field = Field::new(name, array.data_type().clone(), nullable);
        let mut metadata = HashMap::from([("doc".to_string(), doc.to_string())]);
        metadata.extend(unit_of(name).map(|unit| ("unit".to_string(), unit.to_string())));
        self.0.push((field.with_metadata(metadata), array));
        self
    }
    pub(super) fn u64(self, name: &str, doc: &str, values: impl Iterator<Item = u64>) -> Self {
        self.add(name, doc, Numbers::<UInt64Type>::of(values).array())
    }
    pub(super) fn u64_or_null(
        self,
        name: &str,
        doc: &str,
        values: impl Iterator<Item = Option<u64>>,
    ) -> Self {
        self.column(name, doc, Optional::<UInt64Type>::of(values).array(), true)
    }
    pub(super) fn u32(self, name: &str, doc: &str, values: impl Iterator<Item = u32>) -> Self {
        self.add(name, doc, Arc::new(UInt32Array::from_iter_values(values)))
    }
    pub(super) fn u8(self, name: &str, doc: &str, values: impl Iterator<Item = u8>) -> Self {
        self.add(name, doc, Arc::new(UInt8Array::from_iter_values(values)))
    }
    pub(super) fn f64(self, name: &str, doc: &str, values: impl Iterator<Item = f64>) -> Self {
        self.add(name, doc, Arc::new(Float64Array::from_iter_values(values)))
    }
    pub(super) fn f64_or_null(
        self,
        name: &str,
        doc: &str,
        values: impl Iterator<Item = Option<f64>>,
    ) -> Self {
        self.column(name, doc, Optional::<Float64Type>::of(values).array(), true)
    }
    /// A column that only some runs have.
    pub(super) fn bools_if(
        self,
        has: bool,
        name: &str,
        doc: &str,
        values: impl Iterator<Item = bool>,
    ) -> Self {
        if !has {
            return self;
        }
        self.column(name, doc, Arc::new(values.map(Some).collect::<BooleanArray>()), false)
    }
    /// A column that only some runs have.
    pub(super) fn u64_if(self, has: bool, name: &str, doc: &str, values: impl Iterator<Item = u64>) -> Self {
        if has { self.u64(name, doc, values) } else { self }
    }
    /// A column that only some runs have, in which a row may have no value.
    pub(super) fn u8_or_null_if(
        self,
        has: bool,
        name: &str,
        doc: &str,
        values: impl Iterator<Item = Option<u8>>,
    ) -> Self {
        if !has {
            return self;
        }
        self.column(name, doc, Arc::new(values.collect::<UInt8Array>()), true)
    }
    pub(super) fn bool_or_null(
        self,
        name: &str,
        doc: &str,
        values: impl Iterator<Item = Option<bool>>,
    ) -> Self {
        self.column(name, doc, Arc::new(values.collect::<BooleanArray>()), true)
    }
    /// Adds names as a dictionary: each row is an index into `names`.
    pub(super) fn names(
        self,
        name: &str,
        doc: &str,
        rows: impl Iterator<Item = u32>,
        names: &ArrayRef,
    ) -> Self {
        let keys = Numbers::<Int32Type>::of(rows.map(|k| k as i32)).primitive();
        // Every key is an index of the names that it was made for.
        let array = DictionaryArray::<Int32Type>::new(keys, names.clone());
        self.add(name, doc, Arc::new(array))
    }
    /// Adds names, an array of texts, as a dictionary, in which a row may have no name.
    pub(super) fn names_or_null(
        self,
        name: &str,
        doc: &str,
        rows: impl Iterator<Item = Option<u32>>,
        names: &ArrayRef,
    ) -> Self {
        self.names_by_key(
            name,
            doc,
            Optional::of(rows.map(|key| key.map(|key| key as i32))).primitive(),
            names,
        )
    }
    /// Adds names, an array of texts, as a dictionary, by their indices in it, which rows may lack.
    pub(super) fn names_by_key(self, name: &str, doc: &str, keys: Int32Array, names: &ArrayRef) -> Self {
        // Every key is an index of the names that it was made for.
        let array = DictionaryArray::<Int32Type>::new(keys, names.clone());
        self.column(name, doc, Arc::new(array), true)
    }
    pub(super) fn table(self, name: &'static str) -> Table {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        // No error is possible: all columns are made from the rows of one table, each field is made from its array, and only
        // nullable columns contain nulls.
        Table {
            name,
            batch: batch.expect("fields are their arrays', and all columns have the rows of their table"),
        }
    }
}

pub(super) fn strings(items: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(items))
}

#[cfg(test)]
mod tests {
    use super::unit_of;

    #[test]
    fn units_follow_names() {
        let units = ["fct_ps", "bytes", "max_queue_bytes", "tx_bps", "slowdown"].map(unit_of);
        assert_eq!(units, [Some("ps"), Some("B"), Some("B"), Some("bit/s"), None]);
    }
}
