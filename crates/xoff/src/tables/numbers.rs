//! Columns of numbers that are mostly 0 or missing: pages of memory to which nothing is written take none.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};

/// Numbers of a column, one for each row, which begin as 0.
pub(super) struct Numbers<T: ArrowPrimitiveType>(Vec<T::Native>);

impl<T: ArrowPrimitiveType> Numbers<T> {
    /// So many numbers.
    pub(super) fn new(rows: usize) -> Self {
        Numbers(vec![T::Native::default(); rows])
    }

    /// These numbers.
    pub(super) fn of(numbers: impl Iterator<Item = T::Native>) -> Self {
        let mut all = Self::new(numbers.size_hint().0);
        numbers.enumerate().for_each(|(row, number)| all.set(row, number));
        all
    }

    /// Sets the number of a row, at most of the one after the last.
    pub(super) fn set(&mut self, row: usize, number: T::Native) {
        if row == self.0.len() {
            self.0.push(number);
        } else if number != T::Native::default() {
            self.0[row] = number;
        }
    }

    pub(super) fn primitive(self) -> PrimitiveArray<T> {
        PrimitiveArray::new(self.0.into(), None)
    }

    /// The column.
    pub(super) fn array(self) -> ArrayRef {
        Arc::new(self.primitive())
    }
}

/// Numbers of a column that rows may lack.
pub(super) struct Optional<T: ArrowPrimitiveType> {
    numbers: Numbers<T>,
    are_there: BooleanBufferBuilder,
}

impl<T: ArrowPrimitiveType> Optional<T> {
    /// Room for so many rows.
    pub(super) fn new(rows: usize) -> Self {
        Optional { numbers: Numbers::new(rows), are_there: BooleanBufferBuilder::new(rows) }
    }

    /// These numbers.
    pub(super) fn of(numbers: impl Iterator<Item = Option<T::Native>>) -> Self {
        let mut all = Self::new(numbers.size_hint().0);
        numbers.for_each(|number| all.push(number));
        all
    }

    /// Adds the number of the next row.
    pub(super) fn push(&mut self, number: Option<T::Native>) {
        self.numbers.set(self.are_there.len(), number.unwrap_or_default());
        self.are_there.append(number.is_some());
    }

    pub(super) fn primitive(mut self) -> PrimitiveArray<T> {
        PrimitiveArray::new(self.numbers.0.into(), Some(self.are_there.finish().into()))
    }

    /// The column, which has as many rows as there was room for, or more.
    pub(super) fn array(self) -> ArrayRef {
        Arc::new(self.primitive())
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;

    use super::*;

    #[test]
    fn rows_come_in_order_whether_their_number_is_known_or_not() {
        // A filter does not say how many rows it leaves.
        let values = [0, 7, 0, 3];
        let known = Numbers::<UInt64Type>::of(values.into_iter()).array();
        let unknown = Numbers::<UInt64Type>::of(values.into_iter().filter(|_| true)).array();
        for column in [known, unknown] {
            assert_eq!(column.as_primitive::<UInt64Type>().values(), &values);
        }
        let values = [None, Some(0), Some(5), None];
        let known = Optional::<UInt64Type>::of(values.into_iter()).array();
        let unknown = Optional::<UInt64Type>::of(values.into_iter().filter(|_| true)).array();
        for column in [known, unknown] {
            assert_eq!(column.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>(), values);
        }
    }
}
