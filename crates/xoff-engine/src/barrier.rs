//! A barrier for threads that meet every few microseconds.
//!
//! The operating system's barrier puts a thread to sleep, which takes longer than such a wait. Here a waiting thread spins
//! for a moment, and then yields its core to other threads between two checks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How often a waiting thread checks before it yields its core to others: some ten microseconds. It does not spin at all if
/// threads share cores, since the thread that it waits for may then need its core.
const SPINS: u32 = 2_000;

/// A fixed number of threads wait here for each other, again and again.
///
/// After [`Self::wait`] every thread sees what the others wrote before it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    abandoned: AtomicBool,
    spins: u32,
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
            spins: if threads <= cores { SPINS } else { 0 },
        }
    }

    /// Waits until all threads have arrived. Returns false if one of them never arrives, see [`Self::abandon`].
    #[must_use]
    pub fn wait(&self) -> bool {
        let round = self.round.load(Ordering::Relaxed);
        // The last thread to arrive has thereby seen what all others wrote, and publishes it with the new round.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
        } else {
            let mut spins = 0;
            while self.round.load(Ordering::Acquire) == round && !self.abandoned.load(Ordering::Relaxed) {
                if spins < self.spins {
                    spins += 1;
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
        }
        !self.abandoned.load(Ordering::Relaxed)
    }

    /// Releases all threads that wait here now or later, because a thread has ended early.
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
        // Each thread adds its number in each of 1,000 rounds: after each round all see the number of rounds times 0 + 1 + 2.
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
