//! The partitions of a network, simulated by several threads, or by the first one alone while the others do not help.
//!
//! All threads handle their partitions' events of a window, put packets for other partitions into mailboxes, meet at a
//! barrier, and take in their mail. Between two windows the first thread may part from the others: they sleep, and it
//! simulates all partitions in turn, until it calls the others and they are there. When it does either is for a [`Choice`] to say.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use xoff_engine::Barrier;

use super::any_partition::AnyPartition;
use super::critical_path::{CriticalPath, Meter};
use super::mail::Mail;
use super::pace::Choice;
use super::simulation::Progress;
use super::windows::{End, Windows};
use crate::observe::Failure;

#[cfg(test)]
mod tests;

/// How long a thread that was called spins for the first window, before it sleeps.
const ATTENTION: Duration = Duration::from_millis(2);
/// A thread at the barrier spins for as long as twice its own window took, within these limits: if the others take longer,
/// they do not have their cores.
const MIN_PATIENCE: Duration = Duration::from_micros(20);
const MAX_PATIENCE: Duration = Duration::from_millis(10);
/// The number of calls that ends the run.
const OVER: usize = usize::MAX;

/// A place in the sequence of windows: the reports and the mail of `window` are posted, those before are taken in.
#[derive(Clone)]
struct Place {
    window: usize,
    windows: Windows,
    asked_to_stop: bool,
}

/// What threads share.
struct Crew<'a> {
    /// Partition p belongs to thread p modulo the number of threads. No thread ever waits for a lock.
    seats: Vec<Mutex<&'a mut Box<dyn AnyPartition>>>,
    threads: usize,
    mail: Mail,
    barrier: Barrier,
    /// For even and odd windows: whether the first thread goes on alone from there.
    parts: [AtomicBool; 2],
    /// Calls of the first thread so far: after an odd number the others get ready, after an even one they begin.
    calls: AtomicUsize,
    called: Condvar,
    ready: AtomicUsize,
    /// Where the others begin. Its lock guards `calls` for those that sleep.
    start: Mutex<Place>,
}

impl<'a> Crew<'a> {
    fn new(partitions: &'a mut [Box<dyn AnyPartition>], threads: usize, windows: &Windows) -> Self {
        let mail = Mail::new(partitions);
        Crew {
            mail,
            seats: partitions.iter_mut().map(Mutex::new).collect(),
            threads,
            barrier: Barrier::new(threads),
            parts: [AtomicBool::new(false), AtomicBool::new(false)],
            calls: AtomicUsize::new(0),
            called: Condvar::new(),
            ready: AtomicUsize::new(0),
            start: Mutex::new(Place { window: 0, windows: windows.clone(), asked_to_stop: false }),
        }
    }

    fn seat(&self, number: usize) -> MutexGuard<'_, &'a mut Box<dyn AnyPartition>> {
        self.seats[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> MutexGuard<'_, Place> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts reports and mail of every `step`-th partition from `first`.
    fn post(&self, place: &Place, first: usize, step: usize) {
        for number in (first..self.seats.len()).step_by(step) {
            self.mail.post(place.window, number, &mut ***self.seat(number), place.asked_to_stop);
        }
    }

    /// Simulates the next window of every `step`-th partition from `first`, and posts what comes of it. Returns the number of
    /// events before the window.
    fn advance(
        &self,
        place: &mut Place,
        first: usize,
        step: usize,
        on_progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<u64, End> {
        let own = || (first..self.seats.len()).step_by(step);
        own().for_each(|number| self.mail.collect(place.window, number, &mut ***self.seat(number)));
        let totals = self.mail.totals(place.window);
        let limit = place.windows.next(&totals)?;
        if place.windows.is_time_to_report() {
            // The other partitions' records belong to their threads.
            let seat = self.seat(first);
            let progress = Progress { records: None, ..seat.progress(&totals, &place.windows) };
            place.asked_to_stop = !on_progress(&progress);
        }
        let budget = place.windows.budget(&totals);
        own().for_each(|number| self.seat(number).run_until(limit, budget));
        place.window += 1;
        self.post(place, first, step);
        Ok(totals.events)
    }

    /// Calls the other threads, to get ready or to begin.
    fn call(&self, place: Option<&Place>) {
        let mut start = self.start();
        if let Some(place) = place {
            *start = place.clone();
        }
        self.calls.fetch_add(1, Ordering::Release);
        self.called.notify_all();
    }

    /// Waits for a call. Returns false if the run is over.
    fn hears(&self, call: usize, attention: Duration) -> bool {
        let calls = || self.calls.load(Ordering::Acquire);
        let began = Instant::now();
        while calls() < call && began.elapsed() < attention {
            std::hint::spin_loop();
        }
        let mut start = self.start();
        while calls() < call {
            start = self.called.wait(start).unwrap_or_else(PoisonError::into_inner);
        }
        calls() != OVER
    }

    /// What a thread other than the first does.
    fn follow(&self, thread: usize) {
        let _watch = Watch(self);
        for call in (1..).step_by(2) {
            if !self.hears(call, Duration::ZERO) {
                return;
            }
            self.ready.fetch_add(1, Ordering::Release);
            if !self.hears(call + 1, ATTENTION) {
                return;
            }
            let mut place = self.start().clone();
            let mut patience = MAX_PATIENCE;
            while self.barrier.wait(patience) {
                if self.parts[place.window % 2].load(Ordering::Relaxed) {
                    break;
                }
                let began = Instant::now();
                if self.advance(&mut place, thread, self.threads, &mut |_| true).is_err() {
                    break;
                }
                patience = patience_after(began);
            }
        }
    }
}

fn patience_after(began: Instant) -> Duration {
    (began.elapsed() * 2).clamp(MIN_PATIENCE, MAX_PATIENCE)
}

/// Releases the other threads from barrier and sleep if its own thread panics.
struct Watch<'a, 'b>(&'a Crew<'b>);

impl Drop for Watch<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.barrier.abandon();
        }
    }
}

/// Tells the other threads that the run is over.
struct Dismissal<'a, 'b>(&'a Crew<'b>);

impl Drop for Dismissal<'_, '_> {
    fn drop(&mut self) {
        let _start = self.0.start();
        self.0.calls.store(OVER, Ordering::Release);
        self.0.called.notify_all();
    }
}

/// What the first thread does.
struct Lead<'a, 'b, P> {
    crew: &'a Crew<'b>,
    place: Place,
    pace: P,
    began: Instant,
    /// Whether the others exist; until the first call they do not.
    has_others: bool,
    is_called: bool,
    together: bool,
}

impl<'a, P: Choice> Lead<'a, '_, P> {
    fn run<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        on_progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<End, Failure>
    where
        'a: 'scope,
    {
        let Lead { crew, .. } = *self;
        crew.post(&self.place, 0, 1);
        let (mut wants, mut patience) = (self.pace.waits_for_others(), MAX_PATIENCE);
        // When the last window began, in seconds.
        let mut now = 0.0;
        loop {
            if wants && !self.together {
                self.gather(scope, now)?;
            }
            let mut step = 1;
            if self.together {
                crew.parts[self.place.window % 2].store(!wants, Ordering::Relaxed);
                if !crew.barrier.wait(patience) {
                    return Ok(End::Asked);
                }
                if wants {
                    step = crew.threads;
                } else {
                    (self.together, self.is_called) = (false, false);
                    crew.ready.store(0, Ordering::Relaxed);
                }
            }
            let began = Instant::now();
            let events = match crew.advance(&mut self.place, 0, step, on_progress) {
                Ok(before) => before,
                Err(end) => return Ok(end),
            };
            patience = patience_after(began);
            now = (began - self.began).as_secs_f64();
            wants = self.pace.wants_company(now, events);
        }
    }

    /// Calls the others, and goes on together once they are there; waits for them if the pace says so.
    fn gather<'scope>(&mut self, scope: &'scope Scope<'scope, '_>, now: f64) -> Result<(), Failure>
    where
        'a: 'scope,
    {
        let crew = self.crew;
        if !self.is_called {
            self.is_called = true;
            crew.call(None);
        }
        if !self.has_others {
            self.has_others = true;
            for number in 1..crew.threads {
                let thread = std::thread::Builder::new().name(format!("xoff-part-{number}"));
                let spawned = thread.spawn_scoped(scope, move || crew.follow(number));
                spawned.map_err(|reason| Failure::NoThread { reason: reason.to_string() })?;
            }
        }
        // A thread that is not ready may not even have seen that it was to part, by a flag that the next window sets anew.
        let are_ready = || crew.ready.load(Ordering::Acquire) == crew.threads - 1;
        while self.pace.waits_for_others() && !are_ready() {
            std::thread::yield_now();
        }
        if are_ready() {
            crew.call(Some(&self.place));
            self.pace.joined(now);
            self.together = true;
        }
        Ok(())
    }
}

/// Runs all partitions through windows until there is a reason to stop, on up to `threads` threads, of which this is the
/// first; `pace` says when it is alone.
pub(crate) fn together(
    partitions: &mut [Box<dyn AnyPartition>],
    threads: usize,
    pace: impl Choice,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<End, Failure> {
    let crew = Crew::new(partitions, threads, windows);
    let place = crew.start().clone();
    let mut lead = Lead {
        crew: &crew,
        place,
        pace,
        began: Instant::now(),
        has_others: false,
        is_called: false,
        together: false,
    };
    let end = std::thread::scope(|scope| {
        // Dropped in this order before the scope waits for its threads.
        let (_dismissal, _watch) = (Dismissal(&crew), Watch(&crew));
        lead.run(scope, on_progress)
    });
    *windows = lead.place.windows;
    end
}

/// Runs all partitions in turn on this thread, and adds their windows to `path`.
pub(crate) fn in_turn(
    partitions: &mut [Box<dyn AnyPartition>],
    path: &mut CriticalPath,
    windows: &mut Windows,
    on_progress: &mut dyn FnMut(&Progress) -> bool,
) -> End {
    let crew = Crew::new(partitions, 1, windows);
    let mut place = crew.start().clone();
    let mut meter = Meter::new(std::mem::take(path));
    crew.post(&place, 0, 1);
    let end = loop {
        if let Err(end) = crew.advance(&mut place, 0, 1, on_progress) {
            break end;
        }
        meter.add((0..crew.seats.len()).map(|number| crew.mail.posted(place.window, number)));
    };
    (*path, *windows) = (meter.path, place.windows);
    end
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
