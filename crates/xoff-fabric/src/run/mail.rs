//! What partitions tell each other between windows: reports of their totals, and packets.
//!
//! Reports and mailboxes exist twice, for even and odd windows, so that one barrier per window is enough: no thread
//! overwrites what another thread may still read.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xoff_engine::Time;

use super::any_partition::AnyPartition;
use super::windows::Totals;
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

/// A mailbox: the packets that one partition sends to another in a window; on cache lines of its own.
#[repr(align(128))]
struct Mailbox(Mutex<Transit>);

/// Reports and mailboxes of all partitions, for even and odd windows.
pub(super) struct Mail {
    reports: [Vec<Report>; 2],
    /// By sending partition, then receiving partition.
    boxes: [Vec<Mailbox>; 2],
}

impl Mail {
    pub fn new(partitions: &[Box<dyn AnyPartition>]) -> Self {
        let n = partitions.len();
        let reports = || (0..n).map(|_| Report::default()).collect();
        let boxes = || (0..n * n).map(|_| Mailbox(Mutex::new(partitions[0].transit()))).collect();
        Mail { reports: [reports(), reports()], boxes: [boxes(), boxes()] }
    }

    /// A mailbox. No thread ever waits for its lock: sender and receiver use it in different windows.
    fn mailbox(&self, window: usize, from: usize, to: usize) -> MutexGuard<'_, Transit> {
        let n = self.reports[0].len();
        self.boxes[window % 2][from * n + to].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a partition's report and mail.
    pub fn post(&self, window: usize, number: usize, partition: &mut dyn AnyPartition, asked_to_stop: bool) {
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
                std::mem::swap(outbox, &mut *self.mailbox(window, number, to));
            }
        }
    }

    /// Takes in a partition's mail.
    pub fn collect(&self, window: usize, number: usize, partition: &mut dyn AnyPartition) {
        for from in 0..self.reports[0].len() {
            if from != number {
                partition.take_in(&mut self.mailbox(window, from, number));
            }
        }
    }

    /// Sums up the reports of all partitions.
    pub fn totals(&self, window: usize) -> Totals {
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

    /// The events that a partition has handled so far, and the packets that it has just posted to each other partition.
    pub fn posted(&self, window: usize, number: usize) -> (u64, impl Iterator<Item = u64> + '_) {
        let events = self.reports[window % 2][number].events.load(Ordering::Relaxed);
        let to = 0..self.reports[0].len();
        (events, to.map(move |to| self.mailbox(window, number, to).len() as u64))
    }
}
