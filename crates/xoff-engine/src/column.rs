//! A list of values that are often all the same.

use std::sync::Arc;

/// Values by number, which take the memory of one as long as all are equal. A copy takes memory of its own once a value is added to it, or
/// to what it is a copy of.
///
/// Of many messages, most fields are the same for all: none is stopped, all have one priority, the messages of a collective have one size.
#[derive(Clone, Debug)]
pub struct Column<T> {
    /// One value if all are equal, else each; empty if there is none.
    values: Arc<Vec<T>>,
    len: usize,
    /// Values for which there is to be room once not all are equal.
    room: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { values: Arc::default(), len: 0, room: 0 }
    }
}

impl<T: Copy + PartialEq> Column<T> {
    /// No values, with room for so many.
    pub fn with_room(room: usize) -> Self {
        Column { room, ..Column::default() }
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value with a number.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, number: usize) -> T {
        assert!(number < self.len, "a column of {} values has no number {number}", self.len);
        self.at(number)
    }

    /// The value with a number that the caller knows to be below the length: of some columns of one length, one needs a check.
    #[inline]
    pub fn at(&self, number: usize) -> T {
        debug_assert!(number < self.len, "a column of {} values has no number {number}", self.len);
        self.values[number.min(self.values.len() - 1)]
    }

    /// All different values, one of them if all are equal, and else each as often as it is there.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Adds a value.
    pub fn push(&mut self, value: T) {
        if self.values.len() != 1 || self.values[0] != value {
            let values = Arc::make_mut(&mut self.values);
            if let [first] = values[..] {
                values.reserve_exact(self.room.max(self.len + 1) - 1);
                values.resize(self.len, first);
            }
            values.push(value);
        }
        self.len += 1;
    }

    /// The values, by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> {
        (0..self.len).map(|number| self.at(number))
    }
}

/// Columns are equal if their values are, whatever there is room for.
impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.len, &self.values) == (other.len, &other.values)
    }
}

impl<T: Eq> Eq for Column<T> {}

impl<T: Copy + PartialEq> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values = values.into_iter();
        let mut column = Column::with_room(values.size_hint().0);
        values.for_each(|value| column.push(value));
        column
    }
}

/// The type of the values in a column of [`columns!`](crate::columns).
#[doc(hidden)]
#[macro_export]
macro_rules! stored {
    ($type:ty) => {
        $type
    };
    ($type:ty as $stored:ty) => {
        $stored
    };
}

/// Defines a list of rows that lies field by field, each in a [`Column`]: `struct List of Row { field: Type, .. }`, with all fields of the row. A field
/// `Type as Other` is kept as another type, from and to which it is converted. The module of the definition decides who may look at which column, and who
/// may add a row.
#[macro_export]
macro_rules! columns {
    ($(#[$doc:meta])* $vis:vis struct $list:ident of $row:ident { $first:ident: $kind:ty $(as $first_stored:ty)?, $($field:ident: $type:ty $(as $stored:ty)?,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $list {
            $first: $crate::Column<$crate::stored!($kind $(as $first_stored)?)>,
            $($field: $crate::Column<$crate::stored!($type $(as $stored)?)>,)*
        }

        impl $list {
            /// The number of rows.
            pub fn len(&self) -> usize {
                self.$first.len()
            }

            /// Whether there is no row.
            pub fn is_empty(&self) -> bool {
                self.$first.is_empty()
            }

            /// The rows, by number.
            pub fn iter(&self) -> impl DoubleEndedIterator<Item = $row> + ExactSizeIterator + Clone {
                (0..self.len()).map(|number| self.at(number))
            }

            /// A row whose number is below the length.
            #[inline]
            fn at(&self, number: usize) -> $row {
                $row { $first: self.$first.at(number).into(), $($field: self.$field.at(number).into(),)* }
            }

            fn add(&mut self, row: $row) {
                self.$first.push(row.$first.into());
                $(self.$field.push(row.$field.into());)*
            }
        }

        impl FromIterator<$row> for $list {
            fn from_iter<I: IntoIterator<Item = $row>>(rows: I) -> Self {
                let rows = rows.into_iter();
                let room = rows.size_hint().0;
                let mut list = $list {
                    $first: $crate::Column::with_room(room),
                    $($field: $crate::Column::with_room(room),)*
                };
                rows.for_each(|row| list.add(row));
                list
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_take_the_room_of_one() {
        let mut column: Column<u64> = std::iter::repeat_n(7, 1_000).collect();
        assert_eq!((column.len(), column.values.len()), (1_000, 1));
        assert_eq!((column.get(0), column.get(999)), (7, 7));
        column.push(8);
        column.push(7);
        assert_eq!((column.len(), column.values.len()), (1_002, 1_002));
        assert_eq!((column.get(999), column.get(1_000), column.get(1_001)), (7, 8, 7));
    }

    #[test]
    fn a_column_is_the_list_that_it_was_made_of() {
        // All lists of up to five values out of two.
        for len in 0..=5 {
            for bits in 0..1u32 << len {
                let list: Vec<u32> = (0..len).map(|place| bits >> place & 1).collect();
                let column: Column<u32> = list.iter().copied().collect();
                assert_eq!(column.iter().collect::<Vec<_>>(), list);
                // A filter does not say how many values it leaves: there is no room for them beforehand.
                assert_eq!(list.iter().copied().filter(|_| true).collect::<Column<u32>>(), column);
                assert_eq!((0..list.len()).map(|number| column.get(number)).collect::<Vec<_>>(), list);
                assert_eq!((column.len(), column.is_empty()), (list.len(), list.is_empty()));
            }
        }
    }

    #[test]
    #[should_panic(expected = "a column of 2 values has no number 2")]
    fn a_value_beyond_the_last_is_refused() {
        let column: Column<u8> = [1, 1].into_iter().collect();
        column.get(2);
    }
}
