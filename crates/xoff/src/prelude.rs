//! The names that most programs need.

pub use xoff_engine::{Bytes, Rate, Time};
pub use xoff_fabric::Simulation;
pub use xoff_fabric::routing::Routing;
pub use xoff_fabric::settings::{FlowControl, Host, Packets, Pfc, Settings, Switch};
pub use xoff_fabric::topology::{AnyTopology, Chain, Dumbbell, FatTree, Graph, LeafSpine, Star};
pub use xoff_schemes::AnyScheme;
pub use xoff_schemes::detector::AnyDetector;
pub use xoff_traffic::Pattern;
/// A traffic pattern of one flow.
pub use xoff_traffic::pattern::Flow as FlowPattern;

pub use crate::network::{NetworkBuilder, NetworkError};
pub use crate::run::{Output, RunError, Threads, run, run_on, run_with};
pub use crate::scenario::{Scenario, ScenarioBuilder, ScenarioError};
pub use crate::summary::Summary;
