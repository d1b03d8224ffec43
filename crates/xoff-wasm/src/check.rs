//! Checking a scenario that a user writes: what is wrong and where, or what it amounts to.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use xoff::Scenario;
use xoff::scenario::{Effort, Location, OwnSchemes, ScenarioError};

/// The name of a scenario in messages.
pub const ORIGIN: &str = "scenario";

/// What a user gives: a scenario's text, the files that it names, and keys that are set from outside.
#[derive(Clone, Debug, Default)]
pub struct Input<'a> {
    /// The text, in TOML.
    pub text: &'a str,
    /// The text of each file that the scenario names.
    pub files: BTreeMap<String, String>,
    /// Keys with dots and their values, set in order before anything is read.
    pub overrides: Vec<(String, String)>,
}

impl Input<'_> {
    /// The scenario, with so much of it built; a sweep or a tuning in it is left out.
    ///
    /// # Errors
    /// If the scenario is refused.
    pub fn scenario(&self, effort: Effort) -> Result<Scenario, ScenarioError> {
        let file = |name: &str| {
            let missing = || io::Error::new(io::ErrorKind::NotFound, "the page has no such file");
            self.files.get(name).cloned().ok_or_else(missing)
        };
        let own = OwnSchemes::default();
        Scenario::parse_among(self.text, ORIGIN, &self.overrides, &file, &own, effort).map(Scenario::alone)
    }
}

/// What a check finds.
#[derive(Debug, Default, Serialize)]
pub struct Checked {
    /// What is wrong, in the order of the text; empty if the scenario can be run.
    pub problems: Vec<Problem>,
    /// Settings that are allowed but probably not meant.
    pub warnings: Vec<String>,
    /// The scenario with every default; `None` if it is refused.
    pub scenario: Option<Scenario>,
    /// Bytes that a run needs at its peak, estimated.
    pub needs: u64,
}

/// A problem of a scenario.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Line, from 1; 0 if no line is at fault.
    pub line: usize,
    /// Column in characters, from 1; 0 if no line is at fault.
    pub column: usize,
    /// Length in characters.
    pub length: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected.
    pub expected: Option<String>,
    /// Further hints.
    pub notes: Vec<String>,
}

/// Checks a scenario. Large networks and large numbers of messages are counted and not built, so that it answers within about a
/// second.
pub fn check(input: &Input<'_>) -> Checked {
    match input.scenario(Effort::Count) {
        Ok(scenario) => Checked {
            problems: Vec::new(),
            warnings: scenario.warnings().to_vec(),
            needs: scenario.needs(),
            scenario: Some(scenario),
        },
        Err(error) => Checked { problems: problems(error), ..Checked::default() },
    }
}

/// The problems of a scenario that was refused.
pub fn problems(error: ScenarioError) -> Vec<Problem> {
    let problem = |p: xoff::scenario::Problem| {
        let (line, column, length) = match p.place {
            Location::File { line, column, length, .. } => (line, column, length),
            Location::Whole { .. } | Location::Override { .. } => (0, 0, 0),
        };
        Problem { line, column, length, message: p.message, expected: p.expected, notes: p.notes }
    };
    error.problems.into_iter().map(problem).collect()
}
