//! Communicator groups: from a file, or from the metadata of a trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::proto::Node;
use super::{Source, TraceError};
use crate::error::{Fault, shown};

/// The ranks of groups by name; empty for all ranks.
pub(super) type Groups = BTreeMap<String, Vec<u32>>;

/// The groups in the source's file.
pub(super) fn given(source: &Source<'_>) -> Result<Groups, TraceError> {
    let Some(text) = source.groups else { return Ok(Groups::new()) };
    let expected = "groups as `{\"NAME\": [RANK, ...], ...}`";
    let wrong =
        |what: String| TraceError { file: "groups".into(), node: None, fault: Fault::bounds(what, expected) };
    let found: BTreeMap<String, Value> =
        serde_json::from_str(text).map_err(|error| wrong(format!("no table of groups: {error}")))?;
    let ranks = |(name, value): (String, Value)| {
        let ranks = Vec::<u32>::deserialize(value);
        ranks
            .map(|ranks| (name.clone(), ranks))
            .map_err(|error| wrong(format!("wrong for the group `{}`: {error}", shown(&name))))
    };
    found.into_iter().map(ranks).collect()
}

/// A group as PyTorch lists it in the inputs of its node `## process_group:init ##`.
#[derive(Deserialize)]
struct ProcessGroup {
    #[serde(alias = "group_name", alias = "name")]
    pg_name: Value,
    #[serde(default)]
    ranks: Vec<u32>,
}

/// Adds the groups that a metadata node lists, if it lists any.
pub(super) fn listed(node: &Node, groups: &mut Groups) -> Result<(), Fault> {
    let Some(inputs) = node.inputs.as_ref().filter(|_| node.name.contains("process_group")) else {
        return Ok(());
    };
    // A list in JSON, within a list in Python's notation: `['[{"pg_name": "0", ...}]']`.
    let (Some(begin), Some(end)) = (inputs.values.find("[{"), inputs.values.rfind("}]")) else {
        return Ok(());
    };
    let text = inputs.values.get(begin..end + 2).unwrap_or_default().replace("\\\"", "\"");
    let found: Vec<ProcessGroup> = serde_json::from_str(&text).map_err(|error| {
        let expected = "process groups as PyTorch writes them, each with `pg_name` and `ranks`";
        Fault::bounds(format!("one whose list of process groups is malformed: {error}"), expected)
    })?;
    for group in found {
        let name = group.pg_name.as_str().map_or_else(|| group.pg_name.to_string(), str::to_string);
        groups.insert(name, group.ranks);
    }
    Ok(())
}
