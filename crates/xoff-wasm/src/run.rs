//! Running a scenario: its results, its network, and why it has none.

use serde::Serialize;
use serde_json::{Value, json};
use xoff::fabric::topology::{NodeKind, Topology};
use xoff::run::Progress;
use xoff::scenario::Effort;
use xoff::{Output, Scenario};

use crate::check::{Input, Problem, problems};

/// A run that has ended.
pub struct Finished {
    /// Manifest and tables.
    pub output: Output,
    /// See [`network`].
    pub network: Value,
}

/// Why a scenario has no results.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// The scenario is wrong.
    Scenario(Vec<Problem>),
    /// The run was broken off.
    Run(String),
}

/// Runs a scenario to its end, or until `on_progress` returns false; it is called about ten times a second.
///
/// # Errors
/// If the scenario is refused, or its run is broken off.
pub fn run(input: &Input<'_>, on_progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Finished, Refused> {
    let scenario: Scenario =
        input.scenario(Effort::Build).map_err(|error| Refused::Scenario(problems(error)))?;
    let output = xoff::run(&scenario, on_progress).map_err(|error| Refused::Run(error.to_string()))?;
    Ok(Finished { output, network: network(scenario.network()) })
}

/// The network as a drawing needs it: `nodes`, each `[name, tier, whether it is a host]`, and `links`, each the numbers of its two
/// nodes. Link `l` has port `2 l` at its first node and `2 l + 1` at its second.
pub fn network(topology: &Topology) -> Value {
    let nodes = topology.nodes.iter().map(|n| json!([n.name, n.tier, n.kind == NodeKind::Host]));
    let links = topology.links.iter().map(|l| json!([l.a.index(), l.b.index()]));
    json!({ "nodes": nodes.collect::<Vec<_>>(), "links": links.collect::<Vec<_>>() })
}
