//! A barrier for threads that meet every few microseconds.
//!
//! The operating system's own puts a thread to sleep, which costs more than such a wait lasts. Here a thread looks
//! again and again for a moment, and then lets others have its core between two looks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Looks before a waiting thread offers its core to others, some ten microseconds; none where threads share cores, since
/// then the one that is waited for may need this very core.
const LOOKS: u32 = 2_000;

/// Where a fixed number of threads wait for each other, again and again.
///
/// What a thread wrote before [`Self::wait`] the others see after it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    abandoned: AtomicBool,
    looks: u32,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
            looks: if threads <= cores { LOOKS } else { 0 },
        }
    }

    /// Waits until all threads are here. Returns false when one of them never comes, see [`Self::abandon`].
    #[must_use]
    pub fn wait(&self) -> bool {
        let round = self.round.load(Ordering::Relaxed);
        // The last to arrive has so seen what all others wrote, and hands it on with the new round.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
        } else {
            let mut looks = 0;
            while self.round.load(Ordering::Acquire) == round && !self.abandoned.load(Ordering::Relaxed) {
                if looks < self.looks {
                    looks += 1;
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
        }
        !self.abandoned.load(Ordering::Relaxed)
    }

    /// Lets all go that wait here now or later: a thread has ended early.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn nobody_is_a_round_ahead() {
        // Each thread adds its number in each of 1,000 rounds: after each, all see rounds times 0 + 1 + 2.
        let (barrier, sum) = (Barrier::new(3), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for number in 0..3 {
                let (barrier, sum) = (&barrier, &sum);
                scope.spawn(move || {
                    for round in 1..=1_000 {
                        sum.fetch_add(number, Ordering::Relaxed);
                        assert!(barrier.wait());
                        assert_eq!(sum.load(Ordering::Relaxed), 3 * round);
                        assert!(barrier.wait());
                    }
                });
            }
        });
    }

    #[test]
    fn an_abandoned_barrier_lets_everybody_go() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            barrier.abandon();
            assert!(!waiting.join().expect("no panic"));
        });
        assert!(!barrier.wait());
    }
}
