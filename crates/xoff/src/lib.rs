//! xoff: scenarios, building a network from one, running it, result tables.

pub mod scenario;

pub use scenario::{Scenario, ScenarioError};
