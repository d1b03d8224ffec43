//! Prefetching of entries that are about to be used.

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Whether this processor is told to prefetch: all functions here do nothing on others.
pub const CAN_FETCH: bool = cfg!(target_arch = "x86_64");

/// Prefetches entry `index` of `all` into the nearest cache. If there is no such entry, prefetches what lies behind the last one: whether
/// there is one is unpredictable, and so no branch asks.
#[inline(always)] // two instructions
pub fn fetch_ahead<T>(all: &[T], index: u32) {
    fetch(all, index, 0);
}

/// Prefetches all lines of an entry.
#[inline(always)] // a few instructions
pub fn fetch_whole_ahead<T>(all: &[T], index: u32) {
    fetch_beginning_ahead(all, index, size_of::<T>());
    if align_of::<T>() < LINE {
        fetch(all, index, size_of::<T>() - 1);
    }
}

/// Prefetches the lines of the first `bytes` of an entry.
#[inline(always)] // a few instructions
pub fn fetch_beginning_ahead<T>(all: &[T], index: u32, bytes: usize) {
    for offset in (0..bytes.min(size_of::<T>())).step_by(LINE) {
        fetch(all, index, offset);
    }
}

/// Prefetches the line that lies `offset` bytes behind the beginning of an entry.
#[inline(always)]
fn fetch<T>(all: &[T], index: u32, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let entry: *const i8 = all.as_ptr().wrapping_add(all.len().min(index as usize)).cast();
        // Safety: a prefetch has no effect that a program could observe, whatever the address. Packets and lists lie in the
        // outer caches, and waiting for them would otherwise take an eighth of the run time.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(entry.wrapping_add(offset));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, index, offset);
}

/// Gets the lines of a place in a list, or behind it, for writing: the caller is about to fill the place, and another core has read what
/// was there before. It would otherwise wait for that core at each line.
#[inline(always)] // a few instructions
pub fn claim_ahead<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(LINE) {
        let line = all.as_ptr().wrapping_add(place).cast::<u8>().wrapping_add(offset);
        // Safety: as above. The compiler's own function for this takes the line for reading unless the program is compiled for processors
        // that are known to have this instruction; others do nothing.
        #[allow(unsafe_code, clippy::pointers_in_nomem_asm_block)]
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) line, options(nomem, nostack, preserves_flags));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, place);
}
