//! A fast-forwarded run whose parts cannot affect each other: each is simulated by itself, with windows and a clock of its own, so that
//! time is carried forward in one part whatever others do.
//!
//! First each part goes on until its own messages have completed. The latest of these times is the run's end, and all parts go
//! on until then: messages that the run does not wait for may still send.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use xoff_engine::Time;

use super::any_partition::AnyPartition;
use super::division::Division;
use super::fast_forward::{Allowance, FastForward, FastForwarded, alone};
use super::simulation::{Progress, Stop};
use super::windows::{Bounds, End, Windows};
use crate::observe::Failure;

/// How often the first thread reports progress while only others have something to do.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// How a run ends.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    /// With its messages.
    pub with_flows: bool,
    /// With this time, at the latest.
    pub duration: Option<Time>,
    /// With as many events, or rows of records.
    pub max_events: u64,
    pub max_rows: u64,
}

/// What all parts came to.
pub(super) struct Outcome {
    pub stop: Stop,
    pub now: Time,
    pub forwarded: FastForwarded,
    /// The sum of the parts' maximum numbers of packets at a whole microsecond.
    pub max_in_flight: u32,
}

/// A part.
struct Part<'a> {
    number: usize,
    partition: &'a mut dyn AnyPartition,
    windows: Windows,
    forward: FastForward,
    /// How it ended; `None` until it has begun.
    end: Option<End>,
}

/// How far the parts are.
struct Shared {
    /// By part: messages completed, events, and simulated time.
    flows_done: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
    now: Vec<AtomicU64>,
    /// Messages that the run waits for.
    flows: u64,
    max_events: u64,
    /// All parts are to end: the caller asked for it, or the run is to be simulated as a whole.
    asked: AtomicBool,
    gives_up: AtomicBool,
}

impl Shared {
    fn new(parts: usize, flows: u64, max_events: u64) -> Shared {
        let numbers = || (0..parts).map(|_| AtomicU64::new(0)).collect();
        Shared {
            flows_done: numbers(),
            events: numbers(),
            now: numbers(),
            flows,
            max_events,
            asked: AtomicBool::new(false),
            gives_up: AtomicBool::new(false),
        }
    }

    fn note(&self, part: usize, progress: &Progress<'_>) {
        self.flows_done[part].store(progress.flows_done, Ordering::Relaxed);
        self.events[part].store(progress.events, Ordering::Relaxed);
        self.now[part].store(progress.now.0, Ordering::Relaxed);
        if self.events.iter().map(|n| n.load(Ordering::Relaxed)).sum::<u64>() > self.max_events {
            self.give_up();
        }
    }

    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn give_up(&self) {
        self.gives_up.store(true, Ordering::Relaxed);
    }

    fn has_given_up(&self) -> bool {
        self.gives_up.load(Ordering::Relaxed)
    }

    fn is_to_end(&self) -> bool {
        self.is_asked() || self.has_given_up()
    }

    /// Reports the progress of the run, whose time is the mean of the parts' times.
    fn report(&self, on_progress: &mut dyn FnMut(&Progress<'_>) -> bool) {
        let all = |of: &[AtomicU64]| of.iter().map(|n| u128::from(n.load(Ordering::Relaxed))).sum::<u128>();
        let progress = Progress {
            now: Time((all(&self.now) / self.now.len().max(1) as u128) as u64),
            flows_done: all(&self.flows_done) as u64,
            flows: self.flows,
            events: all(&self.events) as u64,
            records: None,
        };
        if !on_progress(&progress) {
            self.asked.store(true, Ordering::Relaxed);
        }
    }
}

impl Part<'_> {
    /// Simulates the part until there is a reason to stop; `report` is called every few hundredths of a second.
    fn go_on(&mut self, shared: &Shared, report: &mut dyn FnMut()) {
        let Part { partition, windows, forward, number, .. } = self;
        let mut on_progress = |progress: &Progress<'_>| {
            shared.note(*number, progress);
            report();
            !shared.is_to_end()
        };
        let end = loop {
            if shared.is_to_end() {
                break End::Asked;
            }
            match alone(&mut **partition, windows, forward, &mut on_progress) {
                End::StandsStill if !partition.is_deadlocked() => {}
                end => break end,
            }
        };
        shared.note(*number, &partition.progress(&partition.totals(), windows));
        if !matches!(end, End::FlowsDone | End::NothingLeft | End::Asked) {
            shared.give_up();
        }
        self.end = Some(end);
    }
}

/// Simulates all of `parts`, each on one of up to `threads` threads, of which this is the first.
fn simulate(
    parts: Vec<&mut Part<'_>>,
    shared: &Shared,
    threads: usize,
    on_progress: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<(), Failure> {
    let (threads, busy) = (threads.min(parts.len()), AtomicUsize::new(0));
    let queue = Mutex::new(parts.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let _leaves = Leaves(&busy);
        while let Some(part) = next() {
            part.go_on(shared, &mut || ());
        }
    };
    std::thread::scope(|scope| {
        for number in 1..threads {
            busy.fetch_add(1, Ordering::Relaxed);
            let thread = std::thread::Builder::new().name(format!("xoff-apart-{number}"));
            if let Err(reason) = thread.spawn_scoped(scope, work) {
                shared.give_up();
                return Err(Failure::NoThread { reason: reason.to_string() });
            }
        }
        while let Some(part) = next() {
            part.go_on(shared, &mut || shared.report(on_progress));
        }
        while busy.load(Ordering::Acquire) > 0 {
            std::thread::sleep(REPORT_EVERY);
            shared.report(on_progress);
        }
        Ok(())
    })
}

/// A thread that leaves, also by a panic.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Runs all parts on up to `threads` threads. `None` if one of them ends in another way than with its messages, at the run's end or
/// because it was asked to: how and when the run ends then hangs on all parts at a time.
///
/// # Errors
/// [`Failure`] if no thread can start.
pub(super) fn apart(
    partitions: &mut [Box<dyn AnyPartition>],
    division: &Division,
    threads: usize,
    allowance: Allowance,
    ends: Ends,
    on_progress: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Option<Outcome>, Failure> {
    let shared = Shared::new(partitions.len(), division.all_awaited(), ends.max_events);
    let max_rows = ends.max_rows / partitions.len().max(1) as u64;
    let end = ends.duration.map_or(Time::NEVER, |duration| duration.saturating_add(Time(1)));
    let windows = |number: usize| {
        Windows::new(Bounds {
            lookahead: Time::NEVER,
            end,
            interval: None,
            max_events: ends.max_events,
            max_rows,
            flows: ends.with_flows.then(|| division.awaited(number)),
            watches_standstill: ends.with_flows && ends.duration.is_none(),
        })
    };
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(partitions.len());
    for (number, partition) in partitions.iter_mut().enumerate() {
        let partition = &mut **partition;
        partition.follow_messages(allowance);
        let (windows, forward) = (windows(number), FastForward::new(allowance, end, partition));
        parts.push(Part { number, partition, windows, forward, end: None });
    }
    let awaits = |part: &&mut Part<'_>| !ends.with_flows || division.awaited(part.number) > 0;
    simulate(parts.iter_mut().filter(awaits).collect(), &shared, threads, on_progress)?;
    let mut over = None;
    if !shared.is_to_end() {
        let Some((stop, end)) = common_end(&parts, ends.duration) else { return Ok(None) };
        let until = if stop == Stop::Duration { end.saturating_add(Time(1)) } else { end };
        let mut left: Vec<_> = parts.iter_mut().filter(|part| part.end != Some(End::NothingLeft)).collect();
        for part in &mut left {
            part.windows.go_on_until(until);
            part.forward.go_on_until(until);
        }
        simulate(left, &shared, threads, on_progress)?;
        over = Some((stop, end));
    }
    if shared.has_given_up() && !shared.is_asked() {
        return Ok(None);
    }
    let last = parts.iter().map(|part| part.partition.now()).max().unwrap_or(Time::ZERO);
    let (stop, now) = over.filter(|_| !shared.is_asked()).unwrap_or((Stop::Asked, last));
    Ok(Some(Outcome {
        stop,
        now,
        max_in_flight: parts.iter().map(|part| part.windows.max_in_flight()).sum(),
        forwarded: FastForwarded::of_parts(
            parts.into_iter().map(|part| part.forward.outcome(&*part.partition)),
        ),
    }))
}

/// How and when a run ends whose parts have come to their own ends: with the latest of these. `None` if one ended in another way.
fn common_end(parts: &[Part<'_>], duration: Option<Time>) -> Option<(Stop, Time)> {
    let mut latest = (Stop::FlowsDone, Time::ZERO);
    for (part, end) in parts.iter().filter_map(|part| Some((part, part.end?))) {
        match end {
            End::FlowsDone => latest.1 = latest.1.max(part.windows.now()?),
            End::NothingLeft => latest = (Stop::Duration, duration?),
            _ => return None,
        }
    }
    Some(latest)
}
