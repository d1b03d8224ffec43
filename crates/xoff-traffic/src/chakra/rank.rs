//! Reads the file of a rank.

use std::io;

use prost::Message;
use xoff_engine::Time;

use super::attributes::{Attributes, wrong};
use super::collectives::{self, Pending};
use super::groups::{self, Groups};
use super::messages::{Messages, malformed, unknown_field};
use super::proto::{self, GlobalMetadata, METADATA_FIELDS, NODE_FIELDS};
use super::{Action, Costs, MAX_NODES, MAX_RANKS, Names, Node, Resource, Source, Trace, TraceError};
use crate::error::{Fault, shown};
use crate::files;
use crate::sizes::MAX_FLOW;

/// The longest time of a node, 1000 s.
const LONGEST: Time = Time::from_us(1_000_000_000);

/// How many numbers of ranks without a file are tried to find one that has a file.
const GAP: u32 = 64;

/// The number of ranks: as given, or as many as have a file.
pub(super) fn count(source: &Source<'_>) -> Result<u32, TraceError> {
    let missing = |rank: u32, expected: String| TraceError {
        file: source.file(rank),
        node: None,
        fault: Fault::bounds("not there", expected),
    };
    let is_there = |rank: u32| match source.files.open(&source.file(rank)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        // What is wrong with it comes out when it is read.
        _ => true,
    };
    if let Some(ranks) = source.ranks {
        return Ok(ranks);
    }
    let ranks = (0..MAX_RANKS).find(|&rank| !is_there(rank)).unwrap_or(MAX_RANKS);
    if let Some(other) = (ranks + 1..ranks + GAP).find(|&rank| is_there(rank)) {
        return Err(missing(ranks, format!("a file for each rank, as `{}`", source.file(other))));
    }
    if ranks == 0 {
        let expected = "files NAME.RANK.et, one for each rank from 0, and NAME here";
        return Err(missing(0, expected.into()));
    }
    Ok(ranks)
}

/// Gives each node of a file to `take`, with its place; stops at the first error. Returns the highest number of a field of the
/// metadata that is unknown.
fn nodes(
    source: &Source<'_>,
    rank: u32,
    mut take: impl FnMut(usize, u64, &[u8]) -> Result<(), (Option<String>, Fault)>,
) -> Result<Option<u32>, TraceError> {
    let error = |node: Option<String>, fault| TraceError { file: source.file(rank), node, fault };
    let file = source.files.open(&source.file(rank)).map_err(|e| {
        let expected = "a file for each rank, named relative to the scenario";
        error(None, Fault::bounds(format!("unreadable: {}", files::reason(&e)), expected))
    })?;
    let mut messages = Messages::new(file);
    let first = messages.next().map_err(|fault| error(None, fault))?;
    let expected = "Chakra's GlobalMetadata first, then its nodes";
    let Some(first) = first else { return Err(error(None, Fault::bounds("empty", expected))) };
    if let Err(why) = GlobalMetadata::decode(first) {
        return Err(error(None, malformed("its first message", 0, &why)));
    }
    let unknown = unknown_field(first, METADATA_FIELDS);
    let mut place = 0;
    loop {
        // The message borrows what holds the place of its beginning, which is that of the message before it has ended.
        let begin = messages.at();
        let Some(message) = messages.next().map_err(|fault| error(None, fault))? else { break };
        take(place, begin, message).map_err(|(node, fault)| error(node, fault))?;
        place += 1;
    }
    Ok(unknown)
}

/// A node in words: its id and name, which are read again from the file.
pub(super) fn words(source: &Source<'_>, rank: u32, wanted: usize) -> String {
    let mut words = String::new();
    // Both is as good as found: the file was read before.
    let _ = nodes(source, rank, |place, _, message| {
        if place < wanted {
            return Ok(());
        }
        if let Ok(node) = proto::Node::decode(message) {
            words = described(&node);
        }
        Err((None, Fault::Missing("the end")))
    });
    words
}

fn described(node: &proto::Node) -> String {
    format!("whose node {} (`{}`)", node.id, shown(&node.name))
}

/// Reads files, rank by rank.
pub(super) struct Reader<'a> {
    source: &'a Source<'a>,
    ranks: u32,
    costs: Costs,
    trace: Trace,
    names: Names,
    pending: Pending,
    /// The highest unknown number of a field, of the metadata and of nodes, with its file.
    unknown: [Option<(u32, String)>; 2],
    /// Of the current rank: ids of nodes.
    ids: Vec<u64>,
    /// Of the current rank: ids of what nodes wait for.
    wanted: Vec<u64>,
    /// Of the current rank: groups that its metadata lists.
    groups: Groups,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source<'a>, ranks: u32, costs: Costs, given: Groups) -> Reader<'a> {
        Reader {
            source,
            ranks,
            costs,
            trace: Trace { first: vec![0], ..Trace::default() },
            names: Names::default(),
            pending: Pending::new(ranks, given),
            unknown: [None, None],
            ids: Vec::new(),
            wanted: Vec::new(),
            groups: Groups::new(),
        }
    }

    /// Reads the file of a rank.
    pub(super) fn read(&mut self, rank: u32) -> Result<(), TraceError> {
        self.ids.clear();
        self.wanted.clear();
        self.groups.clear();
        self.pending.forget_names();
        let begin = self.trace.nodes.len();
        let source = self.source;
        let unknown = nodes(source, rank, |place, begins, message| {
            let node = proto::Node::decode(message)
                .map_err(|why| (None, malformed(&format!("node {place}"), begins, &why)))?;
            if let Some(number) = unknown_field(message, NODE_FIELDS) {
                self.note_unknown(1, number, rank);
            }
            self.add(rank, &node).map_err(|fault| (Some(described(&node)), fault))
        })?;
        if let Some(number) = unknown {
            self.note_unknown(0, number, rank);
        }
        self.link(begin)?;
        self.trace.first.push(self.trace.nodes.len() as u32);
        Ok(())
    }

    /// Remembers an unknown field.
    fn note_unknown(&mut self, kind: usize, number: u32, rank: u32) {
        let noted = &mut self.unknown[kind];
        if noted.as_ref().is_none_or(|(known, _)| *known < number) {
            *noted = Some((number, self.source.file(rank)));
        }
    }

    fn add(&mut self, rank: u32, node: &proto::Node) -> Result<(), Fault> {
        if self.trace.nodes.len() == MAX_NODES {
            return Err(Fault::bounds("one too many", format!("at most {MAX_NODES} nodes of all ranks")));
        }
        let action = self.action(rank, node)?;
        let begin = self.wanted.len();
        self.wanted.extend(node.ctrl_deps.iter().chain(&node.data_deps));
        self.wanted[begin..].sort_unstable();
        let mut kept = begin;
        for place in begin..self.wanted.len() {
            if place == begin || self.wanted[place] != self.wanted[kept - 1] {
                self.wanted[kept] = self.wanted[place];
                kept += 1;
            }
        }
        self.wanted.truncate(kept);
        // Counted from the rank's first dependency, as far as the rank is read.
        let dependencies = u32::try_from(self.trace.dependencies.len() + kept).map_err(|_| {
            Fault::bounds("one with too many dependencies", "at most 4294967295 of all nodes")
        })?;
        let name = self.names.number(&node.name);
        self.trace.nodes.push(Node { action, dependencies, name });
        self.ids.push(node.id);
        Ok(())
    }

    /// Finds the nodes that the rank's nodes wait for.
    fn link(&mut self, begin: usize) -> Result<(), TraceError> {
        let first = begin as u32;
        let sorted = self.ids.is_sorted_by(|a, b| a < b);
        let mut order: Vec<u32> = if sorted { Vec::new() } else { (0..self.ids.len() as u32).collect() };
        order.sort_by_key(|&place| self.ids[place as usize]);
        if let Some(pair) = order.windows(2).find(|p| self.ids[p[0] as usize] == self.ids[p[1] as usize]) {
            let id = self.ids[pair[1] as usize];
            let fault = Fault::bounds(format!("there twice: two nodes have the id {id}"), "ids of their own");
            return Err(self.error(pair[1], fault));
        }
        let place = |id: u64| -> Result<u32, usize> {
            if sorted {
                self.ids.binary_search(&id).map(|place| place as u32)
            } else {
                order.binary_search_by_key(&id, |&p| self.ids[p as usize]).map(|i| order[i])
            }
        };
        let mut node = begin;
        let before = self.trace.dependencies.len();
        for (number, &id) in self.wanted.iter().enumerate() {
            while self.trace.nodes[node].dependencies as usize <= before + number {
                node += 1;
            }
            match place(id) {
                Ok(place) => self.trace.dependencies.push(first + place),
                Err(next) => {
                    let at = |i: usize| if sorted { self.ids[i] } else { self.ids[order[i] as usize] };
                    let near = [next.checked_sub(1), Some(next).filter(|&i| i < self.ids.len())];
                    let near = near.into_iter().flatten().map(at).min_by_key(|known| known.abs_diff(id));
                    let near = near.map_or(String::new(), |id| format!(", of which {id} is the nearest"));
                    let value = format!("one that waits for node {id}, which the file does not have");
                    let fault = Fault::bounds(value, format!("ids of nodes of this file{near}"));
                    return Err(self.error((node - begin) as u32, fault));
                }
            }
        }
        Ok(())
    }

    /// The error of a node of the current rank, by its place in the file.
    fn error(&self, place: u32, fault: Fault) -> TraceError {
        let rank = self.trace.first.len() as u32 - 1;
        let words = words(self.source, rank, place as usize);
        TraceError { file: self.source.file(rank), node: Some(words), fault }
    }

    /// The trace, with collectives that are not matched yet.
    pub(super) fn finish(mut self) -> (Trace, Pending) {
        for (what, noted) in ["the metadata", "nodes"].into_iter().zip(self.unknown) {
            self.trace.warnings.extend(noted.map(|(number, file)| {
                format!("{file}: {what} of this trace have fields that xoff does not know, up to number {number}; they were skipped")
            }));
        }
        self.trace.names = self.names.list;
        (self.trace, self.pending)
    }

    fn action(&mut self, rank: u32, node: &proto::Node) -> Result<Action, Fault> {
        let attributes = Attributes(&node.attr);
        match node.r#type {
            0 => Ok(Action::Nothing),
            1 => {
                self.pending.forget_names();
                groups::listed(node, &mut self.groups).map(|()| Action::Nothing)
            }
            2 | 3 => self.busy(node, &attributes, Resource::Memory),
            4 if attributes.flag("is_cpu_op")? => self.busy(node, &attributes, Resource::Cpu),
            4 => self.busy(node, &attributes, Resource::Gpu),
            5 => {
                let (to, tag) = (
                    self.peer(rank, &attributes, "send", "comm_dst", "comm_src")?,
                    attributes.tag("comm_tag")?,
                );
                Ok(Action::Send { size: size(&attributes, "a send")?, to, tag })
            }
            6 => {
                let (from, tag) = (
                    self.peer(rank, &attributes, "receive", "comm_src", "comm_dst")?,
                    attributes.tag("comm_tag")?,
                );
                Ok(Action::Receive { size: size(&attributes, "a receive")?, from, tag })
            }
            7 => {
                let node = self.trace.nodes.len() as u32;
                collectives::add(&mut self.pending, &self.groups, (rank, node), &attributes)
            }
            8..=10 => self.busy(node, &attributes, Resource::Storage),
            other => {
                let expected =
                    "a type from 0 (invalid) to 10 (checkpoint), such as 4 (compute) or 7 (collective)";
                Err(Fault::bounds(format!("of the unknown type {other}"), expected))
            }
        }
    }

    /// The other rank of a send or receive.
    fn peer(
        &self,
        rank: u32,
        attributes: &Attributes<'_>,
        what: &str,
        other: &str,
        own: &str,
    ) -> Result<u32, Fault> {
        let most = u64::from(self.ranks) - 1;
        if let Some(own_rank) = attributes.number(own, u64::from(u32::MAX))?
            && own_rank != u64::from(rank)
        {
            let expected = format!("{rank}, the rank of the file, or no `{own}`");
            return Err(wrong(own, &own_rank.to_string(), &expected));
        }
        match attributes.number(other, u64::from(u32::MAX))? {
            None => Err(attributes.missing(&format!("a {what}"), other)),
            Some(found) if found > most => {
                let expected = format!(
                    "a rank from 0 to {most}, as there are files from {} to {}",
                    self.source.file(0),
                    self.source.file(most as u32)
                );
                Err(wrong(other, &found.to_string(), &expected))
            }
            Some(found) => Ok(found as u32),
        }
    }

    /// A node that keeps a resource busy: for its duration, or if that is 0 for its operations or bytes.
    fn busy(&self, node: &proto::Node, attributes: &Attributes<'_>, on: Resource) -> Result<Action, Fault> {
        let time = match node.duration_micros {
            0 => self.cost(attributes, on)?,
            us => Time::from_us(us.min(LONGEST.ps() / 1_000_000 + 1)),
        };
        if time > LONGEST {
            return Err(Fault::bounds(
                format!("one that takes more than {LONGEST}"),
                format!("at most {LONGEST}"),
            ));
        }
        Ok(if time == Time::ZERO { Action::Nothing } else { Action::Busy { on, time } })
    }

    /// The time of a node without a duration: a roofline of operations and memory for computations, bytes by the memory's
    /// rate for loads and stores.
    fn cost(&self, attributes: &Attributes<'_>, on: Resource) -> Result<Time, Fault> {
        let bytes = attributes.number("tensor_size", u64::MAX)?.unwrap_or(0);
        let operations = match on {
            Resource::Gpu | Resource::Cpu => attributes.number("num_ops", u64::MAX)?.unwrap_or(0),
            Resource::Memory | Resource::Storage => 0,
        };
        let of_memory = match (self.costs.memory_bandwidth, on) {
            (_, Resource::Storage) => Time::ZERO,
            (Some(rate), _) => rate.time_for(bytes),
            (None, Resource::Memory) if bytes > 0 => {
                let value = format!("a memory node of {bytes} B without a duration");
                return Err(Fault::bounds(value, "a duration, or `memory_bandwidth` in the scenario"));
            }
            (None, _) => Time::ZERO,
        };
        let of_operations = match self.costs.peak_flops {
            _ if operations == 0 => Time::ZERO,
            Some(peak) => Time((operations as f64 / peak * 1e12).min(1e18) as u64),
            None => {
                let value = format!("a computation of {operations} operations without a duration");
                return Err(Fault::bounds(value, "a duration, or `peak_flops` in the scenario"));
            }
        };
        // Without operations, `tensor_size` of a computation says nothing of its time.
        Ok(if on == Resource::Memory || operations > 0 { of_operations.max(of_memory) } else { Time::ZERO })
    }
}

/// Bytes of an element by the names that PyTorch gives types.
fn element(dtype: &str) -> Option<u64> {
    Some(match dtype.to_ascii_lowercase().as_str() {
        "double" | "float64" | "long" | "int64" | "long int" => 8,
        "float" | "float32" | "int" | "int32" => 4,
        "half" | "float16" | "bfloat16" | "short" | "int16" | "c10::half" | "c10::bfloat16" => 2,
        "byte" | "char" | "uint8" | "int8" | "bool" | "float8_e4m3fn" | "float8_e5m2" => 1,
        _ => return None,
    })
}

/// The bytes of a message or collective: `comm_size`, or a number of elements with their type.
pub(super) fn size(attributes: &Attributes<'_>, what: &str) -> Result<u64, Fault> {
    if let Some(size) = attributes.number("comm_size", MAX_FLOW.0)? {
        return Ok(size);
    }
    let elements = attributes.number("in_msg_nelems", MAX_FLOW.0)?;
    match (elements, attributes.text("in_dtype").and_then(|dtype| element(&dtype))) {
        (Some(elements), Some(bytes)) if elements.saturating_mul(bytes) <= MAX_FLOW.0 => Ok(elements * bytes),
        _ => Err(attributes.missing(what, "comm_size")),
    }
}
