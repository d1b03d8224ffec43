//! Lists of which only some entries are used.

use std::mem::{align_of, needs_drop};
use std::ops::{Deref, DerefMut};
use std::slice;

use bytemuck::Zeroable;

/// A list that begins with zeros, of a fixed length.
///
/// Systems hand out zeroed memory page by page as it is written, so entries that nobody writes take addresses but, except for those
/// that share a page with written ones, no memory. That is so for long lists; the allocator puts short ones where others were before, and
/// writes the zeros itself, as it does for a [`Vec`] of entries that are aligned to cache lines.
pub struct SparseList<T> {
    /// The first entry, in `memory`.
    start: *mut T,
    len: usize,
    /// Zeroed bytes with room for the entries.
    _memory: Vec<u8>,
}

impl<T: Zeroable> SparseList<T> {
    /// A list of `len` zeros.
    ///
    /// # Panics
    /// If so many entries have more bytes than there are addresses.
    pub fn zeros(len: usize) -> Self {
        const { assert!(!needs_drop::<T>(), "entries are not dropped") };
        let bytes = len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(align_of::<T>()));
        let bytes = bytes.expect("a list has fewer bytes than there are addresses");
        let mut memory = vec![0u8; bytes];
        let start = memory.as_mut_ptr();
        // At most the alignment is skipped, for which there is room.
        let start = start.wrapping_add(start.align_offset(align_of::<T>())).cast();
        SparseList { start, len, _memory: memory }
    }

    /// A list of `len` entries: those that `entries` gives, each with its index, and zeros.
    ///
    /// # Panics
    /// If an index is beyond the list, and see [`SparseList::zeros`].
    pub fn with(len: usize, entries: impl IntoIterator<Item = (usize, T)>) -> Self {
        let mut list = SparseList::zeros(len);
        entries.into_iter().for_each(|(index, entry)| list[index] = entry);
        list
    }
}

impl<T: Zeroable> Default for SparseList<T> {
    fn default() -> Self {
        SparseList::zeros(0)
    }
}

impl<T> Deref for SparseList<T> {
    type Target = [T];
    #[inline(always)] // runs several times for every packet
    fn deref(&self) -> &[T] {
        // Safety: `start` is aligned and has room for `len` entries in memory that the list owns and that does not move; the entries
        // were zeros, which `T: Zeroable` makes valid, and are written only as entries, by `deref_mut`.
        #[allow(unsafe_code)]
        unsafe {
            slice::from_raw_parts(self.start, self.len)
        }
    }
}

impl<T> DerefMut for SparseList<T> {
    #[inline(always)] // runs several times for every packet
    fn deref_mut(&mut self) -> &mut [T] {
        // Safety: as for `deref`; nobody else has a reference to the entries while the list is borrowed.
        #[allow(unsafe_code)]
        unsafe {
            slice::from_raw_parts_mut(self.start, self.len)
        }
    }
}

// Safety: the list owns its entries, as a `Vec` does.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for SparseList<T> {}
// Safety: a shared list gives only shared entries.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for SparseList<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// As ports are.
    #[derive(Clone, Debug, PartialEq, Zeroable)]
    #[repr(align(64))]
    struct Line(u64);

    #[test]
    fn entries_are_where_they_belong_and_the_others_are_zero() {
        assert_eq!(SparseList::with(5, [(3, 7), (1, 9)])[..], [0, 9, 0, 7, 0]);
        assert!(SparseList::<u8>::default().is_empty());
        for len in [1, 3, 20_000] {
            let mut lines = SparseList::with(len, [(len - 1, Line(7))]);
            assert_eq!(lines.as_ptr() as usize % 64, 0);
            assert_eq!(
                (lines.len(), &lines[len - 1], lines[..len - 1].contains(&Line(0))),
                (len, &Line(7), len > 1)
            );
            lines[0] = Line(8);
            assert_eq!(lines.iter().map(|line| line.0).sum::<u64>(), if len == 1 { 8 } else { 15 });
        }
    }

    #[test]
    #[should_panic(expected = "fewer bytes than there are addresses")]
    fn a_list_has_an_end() {
        _ = SparseList::<u64>::zeros(usize::MAX / 4);
    }
}
