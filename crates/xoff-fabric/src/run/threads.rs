//! The partitions of a network, each simulated by a thread of its own.
//!
//! All threads handle their events of a window, put packets for other partitions into mailboxes, meet at a barrier, and
//! take in their mail. Reports and mailboxes exist twice, for even and odd windows, so that one barrier per window is
//! enough: no thread overwrites what another thread may still read.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xoff_engine::{Barrier, Time};

use super::partition::AnyPartition;
use super::simulation::Progress;
use super::windows::{End, Totals, Windows};
use crate::observe::Failure;
use crate::packet::Transit;

/// The report of a partition to the others after a window; on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Report {
    next: AtomicU64,
    events: AtomicU64,
    flows_done: AtomicU64,
    delivered_bytes: AtomicU64,
    rows: AtomicU64,
    in_flight: AtomicU32,
    busy: AtomicBool,
    failed: AtomicBool,
    asked_to_stop: AtomicBool,
}

/// The state that threads share, for even and odd windows.
struct Shared {
    barrier: Barrier,
    reports: [Vec<Report>; 2],
    /// By sending partition, then receiving partition.
    mail: [Vec<Mutex<Transit>>; 2],
}

impl Shared {
    fn new(partitions: &[Box<dyn AnyPartition>]) -> Self {
        let n = partitions.len();
        let reports = || (0..n).map(|_| Report::default()).collect();
        let mail = || (0..n * n).map(|_| Mutex::new(partitions[0].transit())).collect();
        Shared { barrier: Barrier::new(n), reports: [reports(), reports()], mail: [mail(), mail()] }
    }

    /// A mailbox. No thread ever waits for its lock: sender and receiver use it in different windows.
    fn mail(&self, window: usize, from: usize, to: usize) -> MutexGuard<'_, Transit> {
        let n = self.reports[0].len();
        self.mail[window % 2][from * n + to].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a partition's report and mail.
    fn post(&self, window: usize, number: usize, partition: &mut dyn AnyPartition, asked_to_stop: bool) {
        let (report, totals) = (&self.reports[window % 2][number], partition.totals());
        report.next.store(totals.next.0, Ordering::Relaxed);
        report.events.store(totals.events, Ordering::Relaxed);
        report.flows_done.store(totals.flows_done, Ordering::Relaxed);
        report.delivered_bytes.store(totals.delivered_bytes, Ordering::Relaxed);
        report.rows.store(totals.rows, Ordering::Relaxed);
        report.in_flight.store(totals.in_flight, Ordering::Relaxed);
        report.busy.store(totals.busy, Ordering::Relaxed);
        report.failed.store(totals.failed, Ordering::Relaxed);
        report.asked_to_stop.store(asked_to_stop, Ordering::Relaxed);
        for (to, outbox) in partition.outboxes().iter_mut().enumerate() {
            if !outbox.is_empty() {
                std::mem::swap(outbox, &mut *self.mail(window, number, to));
            }
        }
    }

    /// Takes in a partition's mail.
    fn collect(&self, window: usize, number: usize, partition: &mut dyn AnyPartition) {
        for from in 0..self.reports[0].len() {
            if from != number {
                partition.take_in(&mut self.mail(window, from, number));
            }
        }
    }

    fn totals(&self, window: usize) -> Totals {
        let mut all = Totals::NOTHING;
        for r in &self.reports[window % 2] {
            all.add(&Totals {
                next: Time(r.next.load(Ordering::Relaxed)),
                events: r.events.load(Ordering::Relaxed),
                flows_done: r.flows_done.load(Ordering::Relaxed),
                delivered_bytes: r.delivered_bytes.load(Ordering::Relaxed),
                rows: r.rows.load(Ordering::Relaxed),
                in_flight: r.in_flight.load(Ordering::Relaxed),
                busy: r.busy.load(Ordering::Relaxed),
                failed: r.failed.load(Ordering::Relaxed),
                asked_to_stop: r.asked_to_stop.load(Ordering::Relaxed),
            });
        }
        all
    }
}

/// Releases the other threads from the barrier if its own thread panics.
struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

/// Runs a partition through all windows, together with the partitions that share `shared`.
fn go(
    number: usize,
    partition: &mut dyn AnyPartition,
    shared: &Shared,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    let _watch = Watch(&shared.barrier);
    let mut asked_to_stop = false;
    for window in 0.. {
        shared.post(window, number, partition, asked_to_stop);
        if !shared.barrier.wait() {
            break;
        }
        shared.collect(window, number, partition);
        let totals = shared.totals(window);
        let limit = match windows.next(&totals) {
            Ok(limit) => limit,
            Err(end) => return end,
        };
        if windows.is_time_to_report() {
            asked_to_stop = !on_progress(&partition.progress(&totals, windows));
        }
        partition.run_until(limit, windows.budget(&totals));
    }
    End::Asked
}

/// Runs all partitions through windows until there is a reason to stop, the first partition on this thread.
pub(crate) fn together(
    partitions: &mut [Box<dyn AnyPartition>],
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<End, Failure> {
    let shared = Shared::new(partitions);
    let Some((first, others)) = partitions.split_first_mut() else { return Ok(End::NothingLeft) };
    std::thread::scope(|scope| {
        for (i, partition) in others.iter_mut().enumerate() {
            let (shared, mut windows) = (&shared, windows.clone());
            let work = move || go(i + 1, &mut **partition, shared, &mut windows, &mut |_| true);
            let thread = std::thread::Builder::new().name(format!("xoff-part-{}", i + 1));
            if let Err(reason) = thread.spawn_scoped(scope, work) {
                shared.barrier.abandon();
                return Err(Failure::NoThread { reason: reason.to_string() });
            }
        }
        Ok(go(0, &mut **first, &shared, windows, on_progress))
    })
}

/// Runs the only partition through windows until there is a reason to stop.
pub(crate) fn alone(
    partition: &mut dyn AnyPartition,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    loop {
        let totals = partition.totals();
        let limit = match windows.next(&totals) {
            Ok(limit) => limit,
            Err(end) => return end,
        };
        if windows.is_time_to_report() && !on_progress(&partition.progress(&totals, windows)) {
            return End::Asked;
        }
        partition.run_until(limit, windows.budget(&totals));
    }
}
