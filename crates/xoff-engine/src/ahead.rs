//! Prefetching of entries that are about to be used.

/// Prefetches entry `index` of `all` into the nearest cache. Does nothing if there is no such entry.
#[inline(always)] // a single instruction
pub fn fetch_ahead<T>(all: &[T], index: u32) {
    if let Some(entry) = all.get(index as usize) {
        fetch::<true, T>(entry, 0);
    }
}

/// Prefetches all of entry `index` of `all` into a core's own outer cache: the entry is used soon, but not next. Does nothing
/// if there is no such entry.
#[inline(always)] // few instructions
pub fn fetch_far_ahead<T>(all: &[T], index: usize) {
    if let Some(entry) = all.get(index) {
        fetch_whole(entry);
    }
}

/// Prefetches all of `entry` as [`fetch_far_ahead`] does.
#[inline(always)] // few instructions
pub fn fetch_whole<T>(entry: &T) {
    (0..size_of::<T>()).step_by(64).for_each(|offset| fetch::<false, T>(entry, offset));
}

/// Prefetches the cache line at `offset` in `entry`, into the nearest cache if `next`.
#[inline(always)] // a single instruction
fn fetch<const NEXT: bool, T>(entry: &T, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let address = (&raw const *entry).cast::<i8>().wrapping_add(offset);
        // Safety: a prefetch has no effect that a program could observe, whatever the address. Packets and lists lie in the
        // outer caches, and waiting for them would otherwise take an eighth of the run time.
        #[allow(unsafe_code)]
        unsafe {
            if NEXT { _mm_prefetch::<_MM_HINT_T0>(address) } else { _mm_prefetch::<_MM_HINT_T1>(address) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (entry, offset);
}
