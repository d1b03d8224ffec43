//! The parts of a network, each simulated by a thread of its own.
//!
//! All threads handle their events of a window, leave what crosses to other parts in mailboxes, meet, and take in what
//! is for them. What they tell of themselves and their mail are kept twice, for even and odd windows, so that meeting
//! once a window is enough: nobody writes anew what another may still read.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xoff_engine::{Barrier, Time};

use super::partition::AnyPartition;
use super::simulation::Progress;
use super::windows::{End, Totals, Windows};
use crate::observe::Failure;
use crate::packet::Transit;

/// What a part tells the others after a window; on cache lines of its own.
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

/// What the threads share, for even and odd windows.
struct Shared {
    barrier: Barrier,
    reports: [Vec<Report>; 2],
    /// From each part to each.
    mail: [Vec<Mutex<Transit>>; 2],
}

impl Shared {
    fn new(parts: &[Box<dyn AnyPartition>]) -> Self {
        let n = parts.len();
        let reports = || (0..n).map(|_| Report::default()).collect();
        let mail = || (0..n * n).map(|_| Mutex::new(parts[0].transit())).collect();
        Shared { barrier: Barrier::new(n), reports: [reports(), reports()], mail: [mail(), mail()] }
    }

    /// Nobody ever waits for it: sender and receiver have it in different windows.
    fn mail(&self, window: usize, from: usize, to: usize) -> MutexGuard<'_, Transit> {
        let n = self.reports[0].len();
        self.mail[window % 2][from * n + to].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a part's report and mail.
    fn leave(&self, window: usize, number: usize, part: &mut dyn AnyPartition, asked_to_stop: bool) {
        let (report, totals) = (&self.reports[window % 2][number], part.totals());
        report.next.store(totals.next.0, Ordering::Relaxed);
        report.events.store(totals.events, Ordering::Relaxed);
        report.flows_done.store(totals.flows_done, Ordering::Relaxed);
        report.delivered_bytes.store(totals.delivered_bytes, Ordering::Relaxed);
        report.rows.store(totals.rows, Ordering::Relaxed);
        report.in_flight.store(totals.in_flight, Ordering::Relaxed);
        report.busy.store(totals.busy, Ordering::Relaxed);
        report.failed.store(totals.failed, Ordering::Relaxed);
        report.asked_to_stop.store(asked_to_stop, Ordering::Relaxed);
        for (to, outbox) in part.outboxes().iter_mut().enumerate() {
            if !outbox.is_empty() {
                std::mem::swap(outbox, &mut *self.mail(window, number, to));
            }
        }
    }

    /// Takes in a part's mail.
    fn collect(&self, window: usize, number: usize, part: &mut dyn AnyPartition) {
        for from in 0..self.reports[0].len() {
            if from != number {
                part.take_in(&mut self.mail(window, from, number));
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

/// Lets the others go when its thread ends by a panic.
struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

/// Goes through windows with a part; `windows` and what the threads share decide with which others.
fn go(
    number: usize,
    part: &mut dyn AnyPartition,
    shared: &Shared,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    let _watch = Watch(&shared.barrier);
    let mut asked_to_stop = false;
    for window in 0.. {
        shared.leave(window, number, part, asked_to_stop);
        if !shared.barrier.wait() {
            break;
        }
        shared.collect(window, number, part);
        let totals = shared.totals(window);
        let limit = match windows.next(&totals) {
            Ok(limit) => limit,
            Err(end) => return end,
        };
        if windows.is_time_to_report() {
            asked_to_stop = !on_progress(&part.progress(&totals, windows));
        }
        part.run_until(limit, windows.budget(&totals));
    }
    End::Asked
}

/// Goes through windows with all parts until there is a reason to stop, the first part in this thread.
pub(crate) fn together(
    parts: &mut [Box<dyn AnyPartition>],
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<End, Failure> {
    let shared = Shared::new(parts);
    let Some((first, others)) = parts.split_first_mut() else { return Ok(End::NothingLeft) };
    std::thread::scope(|scope| {
        for (i, part) in others.iter_mut().enumerate() {
            let (shared, mut windows) = (&shared, windows.clone());
            let work = move || go(i + 1, &mut **part, shared, &mut windows, &mut |_| true);
            let thread = std::thread::Builder::new().name(format!("xoff-part-{}", i + 1));
            if let Err(reason) = thread.spawn_scoped(scope, work) {
                shared.barrier.abandon();
                return Err(Failure::NoThread { reason: reason.to_string() });
            }
        }
        Ok(go(0, &mut **first, &shared, windows, on_progress))
    })
}

/// Goes through windows with the only part there is.
pub(crate) fn alone(
    part: &mut dyn AnyPartition,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    loop {
        let totals = part.totals();
        let limit = match windows.next(&totals) {
            Ok(limit) => limit,
            Err(end) => return end,
        };
        if windows.is_time_to_report() && !on_progress(&part.progress(&totals, windows)) {
            return End::Asked;
        }
        part.run_until(limit, windows.budget(&totals));
    }
}
