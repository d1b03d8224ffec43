//! xoff: scenarios, building a network from one, running it, result tables.

pub mod catalogue;
pub mod jobs;
pub mod run;
pub mod scenario;
pub mod store;
pub mod summary;
pub mod tables;
pub mod trace;

pub use run::{Output, RunError, Threads, run, run_on};
pub use scenario::{Scenario, ScenarioError};
