//! Execution traces in the format of Chakra: a graph of a rank's computations, messages and collectives for each rank.
//!
//! S. Sridharan et al., "Chakra: Advancing Performance Benchmarking and Co-design using Standardized Execution Traces"
//! (arXiv:2305.14516, 2023), and MLCommons' schema `et_def.proto`, version 0.0.4 with the storage nodes that came after it.
//! A trace is a file `NAME.RANK.et` for each rank, as ASTRA-sim reads it: a message of metadata, then a message for each node,
//! each behind its length. Files are read as streams; what is kept of a node takes 36 B, and 4 B for each dependency.
//!
//! Readings, where the schema leaves room: `comm_size` is what a rank has before the collective, as in ASTRA-sim and in what
//! Chakra's converter writes for PyTorch; so each rank of an all-gather contributes `comm_size`, and each rank of an all-to-all
//! or reduce-scatter has `comm_size` for all ranks together. The n-th collective of a group at a rank belongs to the n-th one of
//! that group at its other ranks, in the order of the files.

mod attributes;
mod collectives;
mod groups;
mod matching;
mod messages;
mod order;
mod proto;
mod rank;

use std::collections::HashMap;

use serde::Serialize;
use xoff_engine::{Rate, Time};

use crate::collective::CollectiveKind;
use crate::error::Fault;
use crate::files::FileSource;
use rank::Reader;

/// Maximum number of ranks.
pub(crate) const MAX_RANKS: u32 = 1_000_000;

/// Maximum number of nodes of all ranks: 100 million, 4 GB.
const MAX_NODES: usize = 100_000_000;

/// Maximum number of different names that are kept; nodes of a trace with more have none.
const MAX_NAMES: usize = 1_000;

/// What a node without a duration takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Floating-point operations of a rank in a second.
    pub peak_flops: Option<f64>,
    /// Rate of a rank's memory.
    pub memory_bandwidth: Option<Rate>,
}

/// What serves a rank's nodes one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The accelerator.
    Gpu,
    /// The processor of the host, for nodes with `is_cpu_op`.
    Cpu,
    /// The memory, for load and store nodes.
    Memory,
    /// Storage, for storage, batch and checkpoint nodes.
    Storage,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Joins others, in no time.
    Nothing,
    /// Keeps a resource busy.
    Busy {
        /// Which one.
        on: Resource,
        /// For how long.
        time: Time,
    },
    /// Sends a message.
    Send {
        /// Payload in bytes.
        size: u64,
        /// The receiving rank.
        to: u32,
        /// Number that tells messages between two ranks apart.
        tag: u32,
    },
    /// Receives a message.
    Receive {
        /// Its payload in bytes.
        size: u64,
        /// The sending rank.
        from: u32,
        /// Number that tells messages between two ranks apart.
        tag: u32,
    },
    /// Takes part in the collective with this place in [`Trace::collectives`].
    Collective(u32),
}

/// A node of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What the node does.
    pub action: Action,
    /// The end of its dependencies in [`Trace::dependencies`]; they begin where those of the node before end.
    dependencies: u32,
    /// Index into [`Trace::names`]; `u32::MAX` if it is not kept.
    name: u32,
}

/// A collective of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What it does.
    pub kind: CollectiveKind,
    /// Bytes that a rank has before it.
    pub size: u64,
    /// The rank that has a part of its own, by its place in the group.
    pub root: u32,
    /// Index into [`Trace::groups`].
    pub group: u32,
    /// Its first node in [`Trace::members`].
    first: u32,
}

/// Ranks that communicate with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name; empty for all ranks.
    pub name: String,
    /// Its ranks, in the order of the group.
    pub ranks: Vec<u32>,
}

/// A trace that can complete: each send has its receive, the ranks of each group agree, and no node waits for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Nodes rank by rank, in the order of the files.
    pub nodes: Vec<Node>,
    /// By rank: its first node; the last entry is the number of nodes.
    pub first: Vec<u32>,
    /// What nodes wait for, by place in `nodes`, node by node.
    pub dependencies: Vec<u32>,
    /// By node: a send's receive, a receive's send, and any other node itself.
    pub partners: Vec<u32>,
    /// Names of nodes; empty if there are more than are kept.
    pub names: Vec<String>,
    /// Collectives in the order of their first nodes.
    pub collectives: Vec<Collective>,
    /// Groups of ranks.
    pub groups: Vec<Group>,
    /// The nodes of each collective, one for each rank of the group in the group's order.
    pub members: Vec<u32>,
    /// What was left out of the files, in one sentence each.
    pub warnings: Vec<String>,
}

/// The size of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes of all ranks.
    pub nodes: usize,
    /// Number of messages that nodes send.
    pub messages: usize,
    /// Number of collectives.
    pub collectives: usize,
    /// Payload bytes of the messages.
    pub bytes: u64,
    /// What was left out of the files, in one sentence each.
    pub warnings: Vec<String>,
}

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}: {} {fault}", node.as_deref().unwrap_or("which"))]
pub struct TraceError {
    /// The file, as written with the rank's number.
    pub file: String,
    /// The node in words; `None` for the file as a whole.
    pub node: Option<String>,
    /// What is wrong, and what was expected.
    pub fault: Fault,
}

impl TraceError {
    /// The error as a fault of a key.
    pub(crate) fn into_fault(self) -> Fault {
        Fault::Trace { path: self.file, node: self.node, fault: Box::new(self.fault) }
    }
}

/// What a trace is read from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Gives the files.
    pub files: &'a dyn FileSource,
    /// The files' name without `.RANK.et`.
    pub name: &'a str,
    /// Number of ranks; `None` to count the files.
    pub ranks: Option<u32>,
    /// Communicator groups as JSON text, `{"NAME": [RANK, ...]}`; `None` if the trace has them itself.
    pub groups: Option<&'a str>,
}

impl Source<'_> {
    /// The name of a rank's file.
    fn file(&self, rank: u32) -> String {
        format!("{}.{rank}.et", self.name)
    }

    /// An error of a node, whose id and name are looked up in its file.
    fn error(&self, trace: &Trace, node: u32, fault: Fault) -> TraceError {
        let rank = trace.rank_of(node);
        let words = rank::words(self, rank, (node - trace.first[rank as usize]) as usize);
        TraceError { file: self.file(rank), node: Some(words), fault }
    }
}

/// Reads a trace.
///
/// # Errors
/// [`TraceError`], for the first node that is malformed or has something that is not modelled; then for groups whose ranks
/// disagree, for messages without a counterpart, and for nodes that wait for themselves.
pub fn read(source: &Source<'_>, costs: Costs) -> Result<Trace, TraceError> {
    let ranks = rank::count(source)?;
    let given = groups::given(source)?;
    let mut reader = Reader::new(source, ranks, costs, given);
    for rank in 0..ranks {
        reader.read(rank)?;
    }
    let (mut trace, pending) = reader.finish();
    collectives::resolve(source, &mut trace, pending)?;
    trace.partners = matching::partners(source, &trace)?;
    order::check(source, &trace)?;
    Ok(trace)
}

impl Trace {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.first.len().saturating_sub(1) as u32
    }

    /// The rank of a node.
    pub fn rank_of(&self, node: u32) -> u32 {
        self.first.partition_point(|&first| first <= node) as u32 - 1
    }

    /// What a node waits for.
    pub fn waits_for(&self, node: u32) -> &[u32] {
        let begin = node.checked_sub(1).map_or(0, |before| self.nodes[before as usize].dependencies);
        &self.dependencies[begin as usize..self.nodes[node as usize].dependencies as usize]
    }

    /// The name of a node; `None` if names are not kept.
    pub fn name_of(&self, node: u32) -> Option<u32> {
        let name = self.nodes[node as usize].name;
        ((name as usize) < self.names.len()).then_some(name)
    }

    /// The nodes of a collective, in the order of the ranks of its group.
    pub fn members_of(&self, collective: &Collective) -> &[u32] {
        let ranks = self.groups[collective.group as usize].ranks.len();
        &self.members[collective.first as usize..collective.first as usize + ranks]
    }

    /// The messages that nodes send: their sends and receives by place in `nodes`.
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let nodes = (0u32..).zip(&self.nodes).zip(&self.partners);
        nodes
            .filter(|((_, node), _)| matches!(node.action, Action::Send { .. }))
            .map(|((send, _), &receive)| (send, receive))
    }

    /// The trace's size.
    pub fn size(&self) -> Size {
        let sizes = self.nodes.iter().filter_map(|node| match node.action {
            Action::Send { size, .. } => Some(size),
            _ => None,
        });
        let (messages, bytes) = sizes.fold((0, 0u64), |(n, sum), size| (n + 1, sum.saturating_add(size)));
        Size {
            ranks: self.ranks(),
            nodes: self.nodes.len(),
            messages,
            collectives: self.collectives.len(),
            bytes,
            warnings: self.warnings.clone(),
        }
    }
}

/// Numbers names, up to a limit.
#[derive(Default)]
struct Names {
    known: HashMap<String, u32>,
    list: Vec<String>,
    is_full: bool,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.known.get(name) {
            return number;
        }
        if self.is_full || self.list.len() == MAX_NAMES {
            (self.is_full, self.known, self.list) = (true, HashMap::new(), Vec::new());
            return u32::MAX;
        }
        let number = self.list.len() as u32;
        self.known.insert(name.into(), number);
        self.list.push(name.into());
        number
    }
}
