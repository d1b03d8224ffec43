//! Prefetching of entries that are about to be used.

/// Prefetches entry `index` of `all` into the nearest cache. Does nothing if there is no such entry.
#[inline(always)] // a single instruction
pub fn fetch_ahead<T>(all: &[T], index: u32) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // Safety: a prefetch has no effect that a program could observe, whatever the address. Packets and lists lie in the
        // outer caches, and waiting for them would otherwise take an eighth of the run time.
        #[allow(unsafe_code)]
        if let Some(entry) = all.get(index as usize) {
            unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *entry).cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, index);
}
