//! How many times as fast a run can be on several threads: its critical path, without the cores that it would take.

use web_time::Instant;

use serde::Serialize;
use xoff_engine::Barrier;
use xoff_fabric::CriticalPath;
use xoff_fabric::observe::Recording;

use super::{RunError, Threads, simulate, simulation};
use crate::scenario::Scenario;

/// The best speed-ups of a run, as [`parallelism`] finds them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parallelism {
    /// Events of the run.
    pub events: u64,
    /// Seconds that an event takes on one thread, measured.
    pub event_s: f64,
    /// Seconds that two threads take to meet at a barrier, measured.
    pub barrier_s: f64,
    /// By number of threads.
    pub curve: Vec<OnThreads>,
}

/// The best speed-up on so many threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnThreads {
    /// Threads allowed.
    pub threads: u32,
    /// Partitions into which the network is cut for them, one for each thread that has work.
    pub partitions: usize,
    /// Windows, at the end of each of which the threads meet.
    pub windows: u64,
    /// Packets that crossed from one partition to another.
    pub crossings: u64,
    /// Seconds that the cut network takes on one thread, measured: what it takes beyond the whole one is the cut's.
    pub in_turn_s: f64,
    /// The sum over windows of the busiest partition's work, in events.
    pub busiest_events: f64,
    /// How many times as fast as on one thread, if a barrier takes no time.
    pub speedup_without_barriers: f64,
    /// How many times as fast as on one thread.
    pub speedup: f64,
}

impl OnThreads {
    /// The speed-up along `path`. To meet takes several threads longer than two, in proportion: each thread's arrival moves
    /// one cache line.
    fn new(
        threads: u32,
        partitions: usize,
        path: &CriticalPath,
        in_turn_s: f64,
        event_s: f64,
        barrier_s: f64,
    ) -> Self {
        let barrier = barrier_s * partitions as f64 / 2.0 / event_s.max(f64::MIN_POSITIVE);
        OnThreads {
            threads,
            partitions,
            windows: path.windows,
            crossings: path.crossings,
            in_turn_s,
            busiest_events: path.busiest,
            speedup_without_barriers: path.speedup(0.0),
            speedup: path.speedup(barrier),
        }
    }
}

/// Runs `scenario` on one thread, as a whole and then cut for each of `threads`, and finds its critical paths. Nothing is
/// recorded.
///
/// # Errors
/// A run breaks, or its network can only be simulated in one piece.
pub fn parallelism(scenario: &Scenario, threads: &[u32]) -> Result<Parallelism, RunError> {
    if scenario.is_counted() {
        return Err(RunError::Counted);
    }
    let run = |threads: u32| {
        let mut sim = simulation(Threads::UpTo(threads), scenario, Recording::default())?;
        sim.follow_critical_path();
        let began = Instant::now();
        simulate(scenario, &mut sim, &mut |_| true, None)?;
        Ok::<_, RunError>((sim, began.elapsed().as_secs_f64()))
    };
    let (whole, took) = run(1)?;
    let events = whole.counters().events;
    let (event_s, barrier_s) = (took / events.max(1) as f64, Barrier::measure());
    let alone = CriticalPath { events, busiest: events as f64, ..CriticalPath::default() };
    let on = |&threads: &u32| {
        let (sim, took) = run(threads)?;
        let path = sim.critical_path().unwrap_or(&alone);
        Ok(OnThreads::new(threads, sim.threads(), path, took, event_s, barrier_s))
    };
    let curve = threads.iter().map(on).collect::<Result<_, RunError>>()?;
    Ok(Parallelism { events, event_s, barrier_s, curve })
}
