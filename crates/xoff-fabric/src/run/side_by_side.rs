//! What each partition needs before and after its windows, done on several cores.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What `work` makes of each of `items`, in their order, on up to `threads` threads.
pub(super) fn side_by_side<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let helpers = 1..threads.min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || -> Vec<(usize, R)> {
        std::iter::from_fn(next).map(|(number, item)| (number, work(item))).collect()
    };
    let mut done = thread::scope(|scope| {
        // A thread that cannot start leaves its items to the others.
        let start = |number| {
            thread::Builder::new().name(format!("xoff-side-{number}")).spawn_scoped(scope, worker).ok()
        };
        let helpers: Vec<_> = helpers.filter_map(start).collect();
        let mut done = worker();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn results_have_the_order_of_their_items() {
        for threads in [1, 3, 2_000] {
            let squares = side_by_side((0..1_000_u64).collect(), threads, |n| n * n);
            assert_eq!(squares, (0..1_000).map(|n| n * n).collect::<Vec<u64>>());
            assert!(side_by_side(Vec::<u8>::new(), threads, |n| n).is_empty());
        }
    }

    #[test]
    fn as_many_threads_as_allowed_take_part() {
        let caller = thread::current().id();
        let alone = side_by_side((0..100).collect(), 1, |_| thread::current().id());
        assert!(alone.iter().all(|&thread| thread == caller));
        // Of three threads each is there: an item waits until three have begun, or for as long as no machine takes.
        let begun = AtomicUsize::new(0);
        let wait = |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            let from = Instant::now();
            while begun.load(Ordering::Relaxed) < 3 && from.elapsed() < Duration::from_secs(20) {
                thread::yield_now();
            }
            thread::current().id()
        };
        let three: HashSet<_> = side_by_side((0..100).collect(), 3, wait).into_iter().collect();
        assert_eq!(three.len(), 3);
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_is_the_callers() {
        side_by_side((0..10).collect(), 2, |n| assert!(n != 7, "item {n}"));
    }
}
