//! Any collective operation, as [`crate::collective`] writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Rate, Time};

use super::pair_sizes::PairSizes;
use super::{MAX_PROCESSES, check_time, one, yes};
use crate::collective::{CollectiveAlgorithm, CollectiveKind, CollectiveSettings, CollectiveSpec, Protocol};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope, Sink};
use crate::hosts::HostList;
use crate::pattern::processes::{Process, Program};
use crate::pattern::{Common, Params, common};
use crate::sizes;

/// Maximum number of ranks: every algorithm sends at least as many messages.
const MAX_RANKS: u64 = 1_000_000;

/// A collective operation, once or several times one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `nics` or `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: all from a rank to another that go over one channel
    /// (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this many connections from a
    /// host to another take them in turn (a number).
    #[serde(default = "per_process_pair")]
    pub connection: ConnectionMapping,
    /// When the first operation starts.
    #[serde(default)]
    pub start: Time,
    /// Who takes part: the first `ranks_per_host` ranks on the first of these hosts, and so on; two ranks or more.
    #[serde(default)]
    pub hosts: HostList,
    /// Ranks on each host.
    #[serde(default = "one")]
    pub ranks_per_host: u32,
    /// The operation.
    pub kind: CollectiveKind,
    /// The algorithm; without it, the first one that docs/collectives.md has for the operation.
    #[serde(default)]
    pub algorithm: Option<CollectiveAlgorithm>,
    /// Size as nccl-tests counts it, up to 1 TB: the larger of what a rank has before and after; a barrier has none.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// The root's number, for operations that have one.
    #[serde(default)]
    pub root: u32,
    /// For `all_to_all_v`: the bytes of the rank that receives most, divided by the mean, as of the busiest expert in a mixture
    /// of experts. The ranks' shares follow a power law; which rank gets which share is drawn.
    #[serde(default)]
    pub imbalance: Option<f64>,
    /// For `all_to_all_v`: path of a file with a line for each sending rank and in it a size with unit for each receiving rank; `size`
    /// is then left out.
    #[serde(default)]
    pub matrix: Option<String>,
    /// Channels: parallel rings or trees, each for an equal part of the data and with connections of its own, from 1 to 64.
    #[serde(default = "one")]
    pub channels: u32,
    /// Maximum size of a message: a rank forwards a chunk when that chunk has arrived. Without it, messages are not divided.
    #[serde(default)]
    pub chunk: Option<Bytes>,
    /// How data go over the wire: NCCL's protocols add bytes and a latency to each step.
    #[serde(default)]
    pub protocol: Protocol,
    /// Time between the arrival of a message from another host and what its receiver does next, beside `overhead`; without it,
    /// the protocol's.
    #[serde(default)]
    pub step_latency: Option<Time>,
    /// NICs of a host: channel c of the rank with place p on its host sends by NIC (p + c) modulo this number. Without it, as `nic` or `host.nic` says.
    #[serde(default)]
    pub nics: Option<u32>,
    /// Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take only
    /// `local_delay`.
    #[serde(default)]
    pub local_rate: Option<Rate>,
    /// Delay of messages among ranks of one host.
    #[serde(default)]
    pub local_delay: Time,
    /// Time between the arrival of a message from a rank of the same host and what its receiver does next, beside `overhead`;
    /// without it, the protocol's.
    #[serde(default)]
    pub local_step_latency: Option<Time>,
    /// The algorithm between hosts if `algorithm` is `hierarchical`; without it, the operation's first one.
    #[serde(default)]
    pub across: Option<CollectiveAlgorithm>,
    /// Number of operations, one after the other.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// Time that a rank computes between an operation and the next one.
    #[serde(default)]
    pub compute: Time,
    /// Time from the arrival of a message to the receiver's next action: the sum, matching and software.
    #[serde(default)]
    pub overhead: Time,
    /// Whether an operation ends for a rank only with the last ACK of its messages, and a step of a pairwise exchange too, as with
    /// blocking sends of large messages.
    #[serde(default = "yes")]
    pub acknowledged: bool,
}

impl Collective {
    fn settings(&self) -> CollectiveSettings {
        CollectiveSettings {
            channels: self.channels,
            chunk: self.chunk,
            protocol: self.protocol,
            step_latency: self.step_latency,
            nics: self.nics,
            local_rate: self.local_rate,
            local_delay: self.local_delay,
            local_step_latency: self.local_step_latency,
            across: self.across,
        }
    }

    /// The size in bytes; 0 if the operation has none.
    fn bytes(&self) -> Result<u64, Misfit> {
        let without = self.kind == CollectiveKind::Barrier || self.matrix.is_some();
        match (self.size, without) {
            (Some(size), false) => sizes::check(size),
            (None, true) => Ok(0),
            (Some(_), true) if self.matrix.is_some() => {
                Err(Fault::Unneeded("`matrix` gives the sizes").at("size"))
            }
            (Some(_), true) => Err(Fault::Unneeded("a barrier has no data").at("size")),
            (None, false) => Err(Fault::Missing("a size such as `\"64MiB\"`").at("size")),
        }
    }

    /// Refuses keys that mean nothing for this operation.
    fn check_keys(&self) -> Result<(), Misfit> {
        if self.kind != CollectiveKind::AllToAllV {
            let why = "only `all_to_all_v` has sizes of its own for each pair of ranks";
            for (given, key) in [(self.imbalance.is_some(), "imbalance"), (self.matrix.is_some(), "matrix")] {
                if given {
                    return Err(Fault::Unneeded(why).at(key));
                }
            }
        }
        if self.root != 0 && !self.kind.has_root() {
            return Err(Fault::Unneeded("the operation has no root").at("root"));
        }
        if !(1..=MAX_PROCESSES).contains(&self.ranks_per_host) {
            let expected = format!("a number from 1 to {MAX_PROCESSES}");
            return Err(Fault::bounds(self.ranks_per_host, expected).at("ranks_per_host"));
        }
        if self.repetitions == 0 {
            return Err(Fault::bounds(0, "a number from 1").at("repetitions"));
        }
        if self.nics.is_some() && self.nic.is_some() {
            return Err(Fault::Unneeded("`nics` says which NIC each channel takes").at("nic"));
        }
        if self.ranks_per_host == 1 {
            let local = [
                (self.local_rate.is_some(), "local_rate"),
                (self.local_delay > Time::ZERO, "local_delay"),
                (self.local_step_latency.is_some(), "local_step_latency"),
            ];
            if let Some((_, key)) = local.into_iter().find(|(given, _)| *given) {
                return Err(Fault::Unneeded(
                    "with one rank on each host there are no messages within a host",
                )
                .at(key));
            }
        }
        check_time(self.compute, "compute")?;
        check_time(self.overhead, "overhead")
    }

    fn spec<'a>(
        &self,
        bytes: u64,
        sizes: Option<&'a [u64]>,
        settings: &'a CollectiveSettings,
    ) -> CollectiveSpec<'a> {
        let (kind, algorithm, root) = (self.kind, self.algorithm, self.root as usize);
        CollectiveSpec { kind, algorithm, bytes, root, sizes, settings }
    }

    /// Where the messages come from, for the refusal of too many.
    fn cause(&self, spec: &CollectiveSpec<'_>, hosts: &[u32]) -> String {
        let each = spec.messages(hosts);
        let name = spec.algorithm().name();
        let chunks = spec.parts(hosts);
        format!("{} times {each} messages of {} by {name}: {chunks}", self.repetitions, self.kind.name())
    }

    fn emit(&self, sink: &mut Sink, hosts: &[u32], spec: &CollectiveSpec<'_>) {
        let kernel = sink.kernel(self.kind.name());
        let mut program = Program {
            sink,
            start: self.start,
            overhead: self.overhead,
            eager: if self.acknowledged { 0 } else { u64::MAX },
            background: false,
            kernel,
            iteration: 0,
        };
        let numbered = (0u32..).zip(hosts);
        let mut ranks: Vec<Process> = numbered
            .map(|(number, &host)| program.process(host, number, number % self.ranks_per_host))
            .collect();
        for repetition in 0..self.repetitions {
            program.iteration = repetition;
            if repetition > 0 {
                ranks.iter_mut().for_each(|rank| program.compute(rank, self.compute));
            }
            program.collective(&mut ranks, spec);
        }
    }
}

impl Params for Collective {
    const NAME: &'static str = "collective";
    const TITLE: &'static str = "a collective operation as NCCL or MPI runs it, with channels, chunks and protocols, as a closed loop";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        self.check_keys()?;
        let bytes = self.bytes()?;
        let resolved = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        let count = resolved.len() as u64 * u64::from(self.ranks_per_host);
        if count > MAX_RANKS {
            let expected = format!("at most {MAX_RANKS} ranks in all");
            return Err(Fault::bounds(format!("{} with {count} ranks", self.ranks_per_host), expected)
                .at("ranks_per_host"));
        }
        let hosts: Vec<u32> = resolved
            .iter()
            .flat_map(|&host| std::iter::repeat_n(host, self.ranks_per_host as usize))
            .collect();
        if hosts.len() < 2 {
            return Err(Fault::bounds("one rank", "two ranks or more").at("hosts"));
        }
        let sizes = PairSizes::read(self, bytes, hosts.len(), scope)?;
        let settings = self.settings();
        let spec = self.spec(bytes, sizes.as_deref(), &settings);
        spec.check(&hosts)?;
        if resolved.len() < 2 {
            let expected = "two hosts or more: what stays within a host does not use the network";
            return Err(Fault::bounds("one host", expected).at("hosts"));
        }
        let (cause, messages) = (self.cause(&spec, &hosts), spec.messages(&hosts));
        Ok(Plan {
            flows: messages * u128::from(self.repetitions),
            cause,
            emit: Box::new(move |sink| {
                let spec = self.spec(bytes, sizes.as_deref(), &settings);
                self.emit(sink, &hosts, &spec);
            }),
        })
    }
}
