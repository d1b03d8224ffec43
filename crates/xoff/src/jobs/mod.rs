//! How long parallel programs take, in the run and on an ideal network.

mod iterations;

use serde::Serialize;
use xoff_engine::Time;
use xoff_fabric::Simulation;
use xoff_fabric::network::ideal_steps;
use xoff_traffic::Traffic;

pub use iterations::{Exposed, Iterations};

/// The operations of a traffic pattern's label, as one job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// The label.
    pub label: String,
    /// Number of processes that take part.
    pub processes: usize,
    /// Number of their operations.
    pub operations: usize,
    /// When the first operation began, ps; `None` if none began.
    pub start_ps: Option<u64>,
    /// Time from the beginning of the first operation to the end of the last one, ps; `None` if an operation has not ended.
    pub completion_ps: Option<u64>,
    /// The completion time if each message takes as long as it takes alone in the network, at line rate and without
    /// telemetry, ps; `None` if the job waits for an endless flow.
    pub ideal_completion_ps: Option<u64>,
    /// For training: its iterations; `None` for other jobs, and if no iteration has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
}

/// The jobs of a run, in the order of their labels; empty if its traffic has no operations.
pub fn all(sim: &Simulation, traffic: &Traffic) -> Vec<Job> {
    if traffic.operations.is_empty() {
        return Vec::new();
    }
    let ideal = ideal_steps(sim.network());
    let (labels, run) = ((0u16..).zip(&traffic.labels), (&sim.records().steps[..], sim.horizon()));
    labels.filter_map(|(number, label)| job(traffic, number, label, run, &ideal)).collect()
}

/// A label's job, by the times of all steps in the `run` up to its horizon, and by those of an ideal network.
fn job(
    traffic: &Traffic,
    number: u16,
    label: &str,
    (run, horizon): (&[Time], Time),
    ideal: &[Time],
) -> Option<Job> {
    let of_label = || traffic.operations.iter().filter(|o| o.label == number);
    let mut processes: Vec<u32> = of_label().map(|o| o.role.process).collect();
    let operations = processes.len();
    processes.sort_unstable();
    processes.dedup();
    let begin =
        |steps: &[Time]| of_label().map(|o| steps[o.begin as usize]).min().filter(|t| *t < Time::NEVER);
    let length = |steps: &[Time], until: Time| {
        let end =
            of_label().map(|o| traffic.end(o, steps)).max().filter(|t| *t <= until && *t < Time::NEVER)?;
        Some((end - begin(steps)?).ps())
    };
    (operations > 0).then(|| Job {
        label: label.to_string(),
        processes: processes.len(),
        operations,
        start_ps: begin(run).map(Time::ps),
        completion_ps: length(run, horizon),
        ideal_completion_ps: length(ideal, Time::NEVER),
        iterations: iterations::of(traffic, number, run, horizon),
    })
}
