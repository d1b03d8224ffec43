//! A barrier for threads that meet every few microseconds.
//!
//! The operating system's barrier puts a thread to sleep, which takes longer than such a wait. Here a waiting thread spins
//! for as long as its patience lasts, and then yields its core to other threads between two checks: the thread that it waits
//! for may need that core. A core that is yielded comes back only when the operating system's time slice is over, which is as
//! long as a thousand windows, so patience is to last for longer than the others usually take.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Checks between two looks at the clock, which takes as long as some of them.
const CHECKS: u32 = 64;
/// Rounds of a batch, and batches, by which a barrier is measured.
const ROUNDS: u32 = 200;
const BATCHES: u32 = 100;

/// A fixed number of threads wait here for each other, again and again.
///
/// After [`Self::wait`] every thread sees what the others wrote before it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    abandoned: AtomicBool,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Seconds that a barrier takes two threads, measured: the median of many batches of rounds. The least would say too little: a
    /// virtual machine may put both threads on one core's hardware threads for a while, where a barrier takes a tenth of
    /// what it takes two distant cores.
    pub fn measure() -> f64 {
        let barrier = Barrier::new(2);
        let patience = Duration::from_micros(100);
        let rounds = || (0..ROUNDS).all(|_| barrier.wait(patience));
        let batch = |_| {
            let began = Instant::now();
            rounds();
            began.elapsed().as_secs_f64() / f64::from(ROUNDS)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..BATCHES).all(|_| rounds()));
            let mut batches: Vec<f64> = (0..BATCHES).map(batch).collect();
            batches.sort_unstable_by(f64::total_cmp);
            batches[batches.len() / 2]
        })
    }

    /// Waits until all threads have arrived, and spins for as long as `patience`. Returns false if one of them never arrives,
    /// see [`Self::abandon`].
    #[must_use]
    pub fn wait(&self, patience: Duration) -> bool {
        let round = self.round.load(Ordering::Relaxed);
        // The last thread to arrive has thereby seen what all others wrote, and publishes it with the new round.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
        } else {
            self.await_others(round, patience);
        }
        !self.abandoned.load(Ordering::Relaxed)
    }

    fn await_others(&self, round: usize, patience: Duration) {
        let waits = || self.round.load(Ordering::Acquire) == round && !self.abandoned.load(Ordering::Relaxed);
        let mut began = None;
        loop {
            for _ in 0..CHECKS {
                if !waits() {
                    return;
                }
                std::hint::spin_loop();
            }
            if began.get_or_insert_with(Instant::now).elapsed() >= patience {
                break;
            }
        }
        while waits() {
            std::thread::yield_now();
        }
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

    const PATIENCE: Duration = Duration::from_micros(20);

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
                        assert!(barrier.wait(PATIENCE));
                        assert_eq!(sum.load(Ordering::Relaxed), 3 * round);
                        assert!(barrier.wait(PATIENCE));
                    }
                });
            }
        });
    }

    #[test]
    fn an_abandoned_barrier_lets_everybody_go() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait(PATIENCE));
            barrier.abandon();
            assert!(!waiting.join().expect("no panic"));
        });
        assert!(!barrier.wait(PATIENCE));
    }
}
