//! An execution trace in Chakra's format, replayed as a closed loop.
//!
//! A node begins when all nodes that it waits for have ended. What a rank computes takes turns on its accelerator, in the
//! order in which nodes become ready and, of those that are ready together, in the order of the file; nodes with `is_cpu_op`
//! take turns on its CPU, loads and stores on its memory, and storage nodes on its storage. These four go on beside each other,
//! and communication goes on beside all of them: messages and collectives wait for the network alone. (ASTRA-sim also lets a
//! rank have one send or collective at a time; a trace that wants that says so by its dependencies.) A *send* begins with its
//! message, and ends, if the message is not eager, with the last ACK. A *receive* ends when it has begun and its message has
//! arrived. A *collective* begins at each rank with its node there, and is written by [`crate::collective`].

mod algorithms;
mod writer;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Rate, Time};

pub use algorithms::ChakraAlgorithms;

use super::collective::{MAX_PROCESSES, check_time, one};
use super::{Common, Params, common};
use crate::chakra::{self, Costs, Source, Trace};
use crate::collective::{CollectiveKind, CollectiveSettings, CollectiveSpec};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::{Fault, Misfit};
use crate::files::FileSource;
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use writer::Writer;

/// Computations, messages and collectives of ranks that wait for each other, from the files of an execution trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chakra {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: all from a rank to another (`"per_process_pair"`; those of
    /// each channel of a collective have one of their own), all from a host to another (`"per_pair"`), none (`"per_message"`), or
    /// this many connections from a host to another take them in turn (a number).
    #[serde(default = "per_process_pair")]
    pub connection: ConnectionMapping,
    /// When the first nodes may begin.
    #[serde(default)]
    pub start: Time,
    /// The trace: rank R has the file `TRACE.R.et`, so `"traces/all_reduce"` stands for `traces/all_reduce.0.et` and so on.
    pub trace: String,
    /// Number of ranks; without it, as many as there are files, from rank 0 on.
    #[serde(default)]
    pub ranks: Option<u32>,
    /// Path of a JSON file with the ranks of each communicator group, `{"NAME": [RANK, ...], ...}`, as ASTRA-sim reads it; without
    /// it, the groups that PyTorch lists in the trace.
    #[serde(default)]
    pub groups: Option<String>,
    /// Hosts of the ranks: the first ranks on the first of these hosts, and so on. There may be more hosts than needed.
    #[serde(default)]
    pub hosts: HostList,
    /// Ranks on each host.
    #[serde(default = "one")]
    pub ranks_per_host: u32,
    /// Floating-point operations of a rank in a second, such as `312e12`: a computation without a duration and with `num_ops`
    /// takes as long as these take, or its `tensor_size` at `memory_bandwidth` if that is longer (a roofline).
    #[serde(default)]
    pub peak_flops: Option<f64>,
    /// Rate of a rank's memory, such as `"16Tbps"` for 2 TB/s: a load or store without a duration takes its `tensor_size` at this rate.
    #[serde(default)]
    pub memory_bandwidth: Option<Rate>,
    /// Time from the arrival of a message to the receiver's next action.
    #[serde(default)]
    pub overhead: Time,
    /// A send of up to this size ends when its message goes, a longer one with the last ACK of its message.
    #[serde(default)]
    pub eager: Bytes,
    /// Algorithms of collectives, such as `{ all_reduce = "double_binary_tree" }`; those that are not named have the first one that
    /// docs/collectives.md lists for them.
    #[serde(default)]
    pub algorithms: ChakraAlgorithms,
    /// How collectives are carried out: channels, chunks, protocol, and the links within a host.
    #[serde(default)]
    pub collectives: CollectiveSettings,
    /// Rate of messages between ranks of one host, which use no network and do not delay each other; without it, they take
    /// only `local_delay`. Those of collectives have `collectives.local_rate`.
    #[serde(default)]
    pub local_rate: Option<Rate>,
    /// Delay of messages between ranks of one host.
    #[serde(default)]
    pub local_delay: Time,
}

impl Chakra {
    /// The size of the trace; else what is wrong with it, in words.
    ///
    /// # Errors
    /// As for a scenario that has the pattern.
    pub fn size(&self, files: &dyn FileSource) -> Result<chakra::Size, String> {
        let words = |Misfit { key, fault }| format!("`{key}` {fault}");
        self.check().and_then(|()| self.read(files)).map(|trace| trace.size()).map_err(words)
    }

    fn read(&self, files: &dyn FileSource) -> Result<Trace, Misfit> {
        let text = |name: &String| files.text(name).map_err(|e| Fault::file(name, &e).at("groups"));
        let groups = self.groups.as_ref().map(text).transpose()?;
        let source = Source { files, name: &self.trace, ranks: self.ranks, groups: groups.as_deref() };
        let costs = Costs { peak_flops: self.peak_flops, memory_bandwidth: self.memory_bandwidth };
        chakra::read(&source, costs).map_err(|error| error.into_fault().at("trace"))
    }

    fn check(&self) -> Result<(), Misfit> {
        if !(1..=MAX_PROCESSES).contains(&self.ranks_per_host) {
            let expected = format!("a number from 1 to {MAX_PROCESSES}");
            return Err(Fault::bounds(self.ranks_per_host, expected).at("ranks_per_host"));
        }
        if self.ranks.is_some_and(|ranks| !(1..=chakra::MAX_RANKS).contains(&ranks)) {
            let expected = format!("a number from 1 to {}", chakra::MAX_RANKS);
            return Err(Fault::bounds(self.ranks.unwrap_or(0), expected).at("ranks"));
        }
        if let Some(peak) = self.peak_flops.filter(|peak| !(1.0..=1e24).contains(peak)) {
            return Err(Fault::bounds(peak, "operations in a second, from 1 to 1e24, such as 312e12")
                .at("peak_flops"));
        }
        for (rate, key) in [(self.memory_bandwidth, "memory_bandwidth"), (self.local_rate, "local_rate")] {
            if rate == Some(Rate(0)) {
                return Err(Fault::bounds(Rate(0), "a rate above 0").at(key));
            }
        }
        check_time(self.overhead, "overhead")?;
        check_time(self.local_delay, "local_delay")?;
        self.collectives.check().map_err(|misfit| within("collectives", misfit))
    }

    /// What [`crate::collective`] is to write for a collective of a group with so many ranks.
    fn spec(&self, collective: &chakra::Collective, ranks: usize) -> CollectiveSpec<'_> {
        let kind = collective.kind;
        let bytes = match kind {
            // There a size is the larger of what a rank has before and after.
            CollectiveKind::AllGather | CollectiveKind::Gather => {
                collective.size.saturating_mul(ranks as u64)
            }
            _ => collective.size,
        };
        CollectiveSpec {
            kind,
            algorithm: self.algorithms.of(kind),
            bytes,
            root: collective.root as usize,
            sizes: None,
            settings: &self.collectives,
        }
    }

    /// The messages of all collectives among ranks on `hosts`, those within hosts included.
    fn collective_messages(&self, trace: &Trace, hosts: &[u32]) -> Result<u128, Misfit> {
        let mut known: HashMap<(CollectiveKind, u64, u32), u128> = HashMap::new();
        let mut sum = 0;
        for collective in &trace.collectives {
            let key = (collective.kind, collective.size, collective.group);
            if let Some(messages) = known.get(&key) {
                sum += messages;
                continue;
            }
            let ranks = &trace.groups[collective.group as usize].ranks;
            let of_group: Vec<u32> = ranks.iter().map(|&rank| hosts[rank as usize]).collect();
            let spec = self.spec(collective, of_group.len());
            if of_group.len() > 1 {
                let named = |misfit: Misfit| match misfit.key {
                    "algorithm" => Misfit { key: "algorithms", ..misfit },
                    _ => within("collectives", misfit),
                };
                spec.check(&of_group).map_err(named)?;
            }
            let messages = spec.messages(&of_group);
            known.insert(key, messages);
            sum += messages;
        }
        Ok(sum)
    }
}

/// The misfit of a key of a table.
fn within(table: &'static str, Misfit { key, fault }: Misfit) -> Misfit {
    let value = fault.found();
    let value = format!("wrong: `{key}` {value}");
    Misfit { key: table, fault: Fault::bounds(value, fault.expected()) }
}

impl Params for Chakra {
    const NAME: &'static str = "chakra";
    const TITLE: &'static str =
        "a training job's computations, messages and collectives, as a Chakra execution trace has them";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        self.check()?;
        let trace = self.read(scope.files)?;
        trace
            .warnings
            .iter()
            .for_each(|warning| scope.warn(format!("[[traffic]] `{}`: {warning}", self.trace)));
        let hosts: Vec<u32> = hosts
            .iter()
            .flat_map(|&host| std::iter::repeat_n(host, self.ranks_per_host as usize))
            .take(trace.ranks() as usize)
            .collect();
        if hosts.len() < trace.ranks() as usize {
            let expected = format!("as many as `{}` has, {}", self.trace, trace.ranks());
            return Err(Fault::bounds(format!("room for {} ranks", hosts.len()), expected).at("hosts"));
        }
        let collectives = self.collective_messages(&trace, &hosts)?;
        let host = |node: u32| hosts[trace.rank_of(node) as usize];
        let sends = trace.messages().filter(|&(send, receive)| host(send) != host(receive)).count();
        let crosses = |c: &chakra::Collective| {
            let ranks = &trace.groups[c.group as usize].ranks;
            ranks.iter().any(|&rank| hosts[rank as usize] != hosts[ranks[0] as usize])
        };
        if sends == 0 && !trace.collectives.iter().any(crosses) {
            let value = format!("`{}`, in which no message goes from one host to another", self.trace);
            return Err(Fault::bounds(value, "a trace with such messages").at("trace"));
        }
        Ok(Plan {
            flows: sends as u128 + collectives,
            cause: format!("{sends} sends and {} collectives in `{}`", trace.collectives.len(), self.trace),
            emit: Box::new(move |sink| Writer::new(self, &trace, &hosts, sink).write()),
        })
    }
}
