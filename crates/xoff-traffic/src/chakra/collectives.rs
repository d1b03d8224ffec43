//! Matches the collectives of the ranks of a group.

use std::collections::BTreeMap;

use super::attributes::{Attributes, wrong};
use super::groups::Groups;
use super::{Action, Collective, Group, Source, Trace, TraceError, rank};
use crate::collective::CollectiveKind;
use crate::error::{Fault, shown};
use xoff_engine::Nearest;

/// The kinds by their number in the schema, with their names there.
const KINDS: [(&str, CollectiveKind); 10] = [
    ("all_reduce", CollectiveKind::AllReduce),
    ("reduce", CollectiveKind::Reduce),
    ("all_gather", CollectiveKind::AllGather),
    ("gather", CollectiveKind::Gather),
    ("scatter", CollectiveKind::Scatter),
    ("broadcast", CollectiveKind::Broadcast),
    ("all_to_all", CollectiveKind::AllToAll),
    ("reduce_scatter", CollectiveKind::ReduceScatter),
    ("reduce_scatter_block", CollectiveKind::ReduceScatter),
    ("barrier", CollectiveKind::Barrier),
];

/// Names of the group of all ranks, unless a trace or file gives one of these names to a group.
const ALL: [&str; 3] = ["", "0", "default_pg"];

/// A node that takes part in a collective.
struct Part {
    node: u32,
    group: u32,
    kind: CollectiveKind,
    size: u64,
    /// The root as the node has it.
    root: Option<u32>,
}

/// The collectives of the ranks that have been read.
pub(super) struct Pending {
    ranks: u32,
    /// Groups that stand in a file of their own.
    given: Groups,
    groups: Vec<Group>,
    known: BTreeMap<(String, Vec<u32>), u32>,
    /// Groups that the current rank has named.
    of_rank: BTreeMap<String, u32>,
    parts: Vec<Part>,
}

impl Pending {
    pub(super) fn new(ranks: u32, given: Groups) -> Pending {
        Pending {
            ranks,
            given,
            groups: Vec::new(),
            known: BTreeMap::new(),
            of_rank: BTreeMap::new(),
            parts: Vec::new(),
        }
    }

    /// The number of a group of a rank.
    fn group(&mut self, rank: u32, name: String, groups: &Groups) -> Result<u32, Fault> {
        if let Some(&number) = self.of_rank.get(&name) {
            return Ok(number);
        }
        let listed = match groups.get(&name).or_else(|| self.given.get(&name)) {
            Some(ranks) => ranks.as_slice(),
            None if ALL.contains(&name.as_str()) => &[],
            None => {
                let known = || groups.keys().chain(self.given.keys()).map(String::as_str);
                let (near, count) = (Nearest::of(&name, known()), known().count());
                let expected = match count {
                    0 => {
                        "`groups`, a file with the ranks of each group, or a trace that has them".to_string()
                    }
                    _ => format!("one of the {count} groups that are known{near}"),
                };
                return Err(Fault::bounds(format!("one of the unknown group `{}`", shown(&name)), expected));
            }
        };
        let ranks: Vec<u32> = if listed.is_empty() { (0..self.ranks).collect() } else { listed.to_vec() };
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let value = format!("of the group `{}`, which has rank {} twice", shown(&name), pair[0]);
            return Err(Fault::bounds(value, "each rank once"));
        }
        if let Some(&last) = sorted.last().filter(|&&last| last >= self.ranks) {
            let value = format!("of the group `{}`, which has rank {last}", shown(&name));
            return Err(Fault::bounds(value, format!("ranks from 0 to {}", self.ranks - 1)));
        }
        if sorted.binary_search(&rank).is_err() {
            let value =
                format!("of the group `{}`, which does not have the file's rank {rank}", shown(&name));
            return Err(Fault::bounds(value, "a group of the rank"));
        }
        let number = *self.known.entry((name.clone(), ranks.clone())).or_insert(self.groups.len() as u32);
        if number as usize == self.groups.len() {
            self.groups.push(Group { name: name.clone(), ranks });
        }
        self.of_rank.insert(name, number);
        Ok(number)
    }

    /// Forgets which groups the current rank has named: another rank begins, or the rank lists its groups.
    pub(super) fn forget_names(&mut self) {
        self.of_rank.clear();
    }
}

/// Adds the collective of a node.
pub(super) fn add(
    pending: &mut Pending,
    groups: &Groups,
    (rank, node): (u32, u32),
    attributes: &Attributes<'_>,
) -> Result<Action, Fault> {
    let kind = kind(attributes)?;
    let size = if kind == CollectiveKind::Barrier { 0 } else { rank::size(attributes, "a collective")? };
    let name = attributes.text("pg_name").or_else(|| attributes.text("comm_group")).unwrap_or_default();
    let group = pending.group(rank, name, groups)?;
    let root = ["root_rank", "root", "comm_src"]
        .into_iter()
        .find_map(|name| attributes.number(name, u64::from(u32::MAX)).transpose());
    let root = root.transpose()?.map(|root| root as u32).filter(|_| kind.has_root());
    pending.parts.push(Part { node, group, kind, size, root });
    Ok(Action::Collective(u32::MAX))
}

fn kind(attributes: &Attributes<'_>) -> Result<CollectiveKind, Fault> {
    let expected = "a number from 0 (all-reduce) to 9 (barrier), or its name";
    let Some(text) = attributes.text("comm_type") else {
        return Err(attributes.missing("a collective", "comm_type"));
    };
    let by_number = text.parse::<usize>().ok().and_then(|number| KINDS.get(number));
    let plain = text.to_ascii_lowercase().replace('-', "_");
    let by_name = || KINDS.iter().find(|(name, _)| *name == plain || name.replace('_', "") == plain);
    by_number.or_else(by_name).map(|(_, kind)| *kind).ok_or_else(|| {
        let near = Nearest::of(&plain, KINDS.map(|(name, _)| name));
        wrong("comm_type", &text, &format!("{expected}{near}"))
    })
}

/// Numbers the collectives, and checks that the ranks of each group agree.
pub(super) fn resolve(source: &Source<'_>, trace: &mut Trace, pending: Pending) -> Result<(), TraceError> {
    let Pending { groups, mut parts, .. } = pending;
    trace.groups = groups;
    // By group, then by rank, then in the order of the rank's file.
    parts.sort_by_key(|part| (part.group, part.node));
    let mut found = Vec::new();
    for parts in parts.chunk_by(|a, b| a.group == b.group) {
        let by_rank: BTreeMap<u32, &[Part]> = parts
            .chunk_by(|a, b| trace.rank_of(a.node) == trace.rank_of(b.node))
            .map(|parts| (trace.rank_of(parts[0].node), parts))
            .collect();
        let ranks = &trace.groups[parts[0].group as usize].ranks;
        let none: &[Part] = &[];
        let of = |rank: &u32| by_rank.get(rank).copied().unwrap_or(none);
        let (most, fewest) =
            (ranks.iter().max_by_key(|r| of(r).len()), ranks.iter().min_by_key(|r| of(r).len()));
        let (Some(most), Some(fewest)) = (most, fewest) else { continue };
        if of(most).len() > of(fewest).len() {
            let alone = &of(most)[of(fewest).len()];
            return Err(source.error(
                trace,
                alone.node,
                alone_fault(trace, alone, of(most).len(), *fewest, of(fewest).len()),
            ));
        }
        for number in 0..of(most).len() {
            let first = &of(&ranks[0])[number];
            for rank in &ranks[1..] {
                let other = &of(rank)[number];
                if (other.kind, other.size, other.root) != (first.kind, first.size, first.root) {
                    return Err(source.error(trace, other.node, disagreement(source, trace, first, other)));
                }
            }
            let root = root(ranks, first).map_err(|fault| source.error(trace, first.node, fault))?;
            let nodes: Vec<u32> = ranks.iter().map(|rank| of(rank)[number].node).collect();
            let (kind, size, group) = (first.kind, first.size, first.group);
            found.push((Collective { kind, size, root, group, first: 0 }, nodes));
        }
    }
    found.sort_by_key(|(_, nodes)| nodes.iter().min().copied());
    for (mut collective, nodes) in found {
        collective.first = trace.members.len() as u32;
        let number = trace.collectives.len() as u32;
        nodes.iter().for_each(|&node| trace.nodes[node as usize].action = Action::Collective(number));
        trace.collectives.push(collective);
        trace.members.extend(nodes);
    }
    Ok(())
}

/// The place of a collective's root in its group: the rank with that number if the group has it, otherwise that place.
fn root(ranks: &[u32], part: &Part) -> Result<u32, Fault> {
    let Some(root) = part.root else { return Ok(0) };
    let place = ranks.iter().position(|&rank| rank == root).map(|place| place as u32);
    place.or(Some(root).filter(|&root| (root as usize) < ranks.len())).ok_or_else(|| {
        let value = format!("a {} with root {root}, which its group does not have", part.kind.name());
        Fault::bounds(value, "a rank of the group, or a place in it")
    })
}

fn group_text(name: &str) -> String {
    if name.is_empty() { "of all ranks".into() } else { format!("of the group `{}`", shown(name)) }
}

fn alone_fault(trace: &Trace, part: &Part, has: usize, rank: u32, others: usize) -> Fault {
    let group = group_text(&trace.groups[part.group as usize].name);
    let value = format!(
        "a collective without counterpart: rank {} has {has} collectives {group}, and rank {rank} has {others}",
        trace.rank_of(part.node)
    );
    Fault::bounds(value, "as many at each rank of the group")
}

fn disagreement(source: &Source<'_>, trace: &Trace, first: &Part, other: &Part) -> Fault {
    let about = |part: &Part| {
        let root = part.root.map_or(String::new(), |root| format!(" with root {root}"));
        format!("{} of {} B{root}", part.kind.name(), part.size)
    };
    let rank = trace.rank_of(first.node);
    let words = rank::words(source, rank, (first.node - trace.first[rank as usize]) as usize);
    let value = format!(
        "{}, and rank {rank} has {} there, {}",
        about(other),
        about(first),
        words.replace("whose ", "")
    );
    Fault::bounds(
        value,
        format!(
            "the same collective at each rank, in the same order {}",
            group_text(&trace.groups[first.group as usize].name)
        ),
    )
}
