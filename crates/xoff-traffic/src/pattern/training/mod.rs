//! Training of a transformer on many ranks: computation, and the communication of tensor, pipeline, data and expert
//! parallelism, iteration after iteration, as a closed loop.
//!
//! - [`model`]: what a pass of a pipeline stage computes and sends, from the model's few numbers;
//! - [`layout`]: which rank is on which host, and which ranks form which groups;
//! - [`schedule`]: the order of passes in an iteration, written as steps and messages.
//!
//! Sources: D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021
//! (schedule 1F1B, section 2.2; parallelism and its bytes, section 3.2; FLOPs, appendix); M. Shoeybi et al., "Megatron-LM",
//! 2019 (the all-reduces of tensor parallelism, section 3); S. Rajbhandari et al., "ZeRO", SC 2020 (sharded optimizer,
//! section 7); D. Lepikhin et al., "GShard", ICLR 2021 (all-to-all of experts, section 3.2).

mod layout;
mod model;
mod schedule;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Rate, Time};

use super::collective::{MAX_PROCESSES, check_time, one};
use crate::collective::{CollectiveAlgorithm, CollectiveSettings, Protocol};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use crate::pattern::{Common, Params, common};
use crate::sizes::MAX_FLOW;
use layout::Layout;
use schedule::Schedule;

/// Names of the kernels in which a rank computes.
pub const COMPUTE_KERNELS: [&str; 3] = ["forward", "backward", "optimizer"];

/// Maximum bytes of a rank's gradients: 1 PiB.
const MAX_GRADIENTS: u64 = 1 << 50;

/// Maximum number of steps of all ranks: some gigabytes.
const MAX_STEPS: u128 = 50_000_000;

/// Name of the kernel that stands for a whole iteration of a rank.
pub const ITERATION_KERNEL: &str = "iteration";

/// Training of a transformer: iterations of forward and backward passes, with the communication of the parallelism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Name of the job, and of the group of its flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `placement` or `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: all from a rank to another that go over one channel
    /// (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this many connections from a
    /// host to another take them in turn (a number).
    #[serde(default = "per_process_pair")]
    pub connection: ConnectionMapping,
    /// When the first iteration starts.
    #[serde(default)]
    pub start: Time,
    /// Hosts that the job may have; it takes as many as its ranks need.
    #[serde(default)]
    pub hosts: HostList,
    /// Ranks (GPUs) on each host.
    #[serde(default = "eight")]
    pub ranks_per_host: u32,
    /// Which hosts the ranks get: `packed`, `random`, `rail_aware`, or `file`.
    #[serde(default)]
    pub placement: Placement,
    /// For `placement = "file"`: path of a file with the name of a host in each line, that of rank 0 first. `#` begins a comment.
    #[serde(default)]
    pub placement_file: Option<String>,
    /// Tensor parallelism: ranks that share each layer.
    #[serde(default = "one")]
    pub tensor: u32,
    /// Pipeline parallelism: stages, each with an equal part of the layers.
    #[serde(default = "one")]
    pub pipeline: u32,
    /// Data parallelism: replicas of the model, each with an equal part of the batch.
    #[serde(default = "one")]
    pub data: u32,
    /// Expert parallelism: ranks among which the experts of a layer are divided; a divisor of `data`.
    #[serde(default = "one")]
    pub expert: u32,
    /// Layers of the transformer.
    pub layers: u32,
    /// Hidden size: elements of a token's vector.
    pub hidden: u32,
    /// Tokens in a sequence.
    pub sequence: u32,
    /// Sequences in an iteration, over all replicas.
    pub batch: u32,
    /// Sequences in a micro-batch of a replica.
    #[serde(default = "one")]
    pub micro_batch: u32,
    /// Size of the vocabulary, for the embedding of the first stage and the logits of the last one; without it, neither counts.
    #[serde(default)]
    pub vocabulary: Option<u32>,
    /// Experts in each layer that has experts; without it, layers have none.
    #[serde(default)]
    pub experts: Option<u32>,
    /// Experts to which a token goes.
    #[serde(default = "one")]
    pub top_k: u32,
    /// Every how many layers one has experts.
    #[serde(default = "one")]
    pub expert_interval: u32,
    /// Bytes of an element of activations.
    #[serde(default = "two")]
    pub activation_bytes: u32,
    /// Bytes of an element of gradients, as they are summed over replicas.
    #[serde(default = "two")]
    pub gradient_bytes: u32,
    /// Floating-point operations that a rank achieves in a second, in 10^12 (TFLOP/s): its peak times the share that its kernels
    /// reach.
    pub tflops: f64,
    /// Whether the backward pass computes the activations again, which is a forward pass more.
    #[serde(default)]
    pub recompute: bool,
    /// Time of the optimizer's step.
    #[serde(default)]
    pub optimizer: Time,
    /// Parts in which the gradients are summed: each as soon as the last backward pass has computed it. With 1, the sum waits for
    /// the whole pass.
    #[serde(default = "one")]
    pub buckets: u32,
    /// Whether replicas divide the optimizer's state among them (ZeRO stage 1): gradients go by reduce-scatter, and parameters by
    /// all-gather after the optimizer's step, in place of one all-reduce.
    #[serde(default)]
    pub sharded: bool,
    /// The algorithm of the all-reduce of gradients; without it, `ring`.
    #[serde(default)]
    pub algorithm: Option<CollectiveAlgorithm>,
    /// Channels of a collective: parallel rings or trees, each for an equal part of the data, from 1 to 64.
    #[serde(default = "one")]
    pub channels: u32,
    /// Maximum size of a collective's message: a rank forwards a chunk when that chunk has arrived. Without it, messages are not
    /// divided.
    #[serde(default)]
    pub chunk: Option<Bytes>,
    /// How data go over the wire: NCCL's protocols add bytes and a latency to each step.
    #[serde(default)]
    pub protocol: Protocol,
    /// Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take only
    /// `local_delay`.
    #[serde(default)]
    pub local_rate: Option<Rate>,
    /// Delay of messages among ranks of one host.
    #[serde(default)]
    pub local_delay: Time,
    /// Time from the arrival of a message to the receiver's next action.
    #[serde(default)]
    pub overhead: Time,
    /// Iterations, one after the other.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Ranks that compute more slowly than the others.
    #[serde(default)]
    pub stragglers: Vec<Straggler>,
    /// Each pass of each rank takes its time times a number drawn between 1 - `jitter` and 1 + `jitter`; from 0 to 0.9.
    #[serde(default)]
    pub jitter: f64,
}

/// Which hosts the ranks of a job get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The hosts in the order of the list, each filled before the next one.
    #[default]
    Packed,
    /// Hosts drawn at random from the list, each filled before the next one.
    Random,
    /// The hosts rack by rack, each filled before the next one; each rank sends by the NIC of its own place in its host (modulo
    /// the number of NICs), so that ranks of equal place talk on one rail.
    RailAware,
    /// As `placement_file` says.
    File,
}

/// A rank that computes more slowly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Straggler {
    /// Number of the rank.
    pub rank: u32,
    /// How many times as long its passes take; above 0, and at most 1000.
    pub factor: f64,
}

const fn two() -> u32 {
    2
}

const fn eight() -> u32 {
    8
}

impl Training {
    /// The number of ranks.
    fn ranks(&self) -> u64 {
        u64::from(self.tensor) * u64::from(self.pipeline) * u64::from(self.data)
    }

    /// Micro-batches of a replica in an iteration.
    fn micro_batches(&self) -> u32 {
        (u64::from(self.batch) / (u64::from(self.data) * u64::from(self.micro_batch))) as u32
    }

    fn settings(&self) -> CollectiveSettings {
        CollectiveSettings {
            channels: self.channels,
            chunk: self.chunk,
            protocol: self.protocol,
            local_rate: self.local_rate,
            local_delay: self.local_delay,
            ..CollectiveSettings::default()
        }
    }

    fn check(&self) -> Result<(), Misfit> {
        let positive = [
            (self.tensor, "tensor"),
            (self.pipeline, "pipeline"),
            (self.data, "data"),
            (self.expert, "expert"),
            (self.layers, "layers"),
            (self.hidden, "hidden"),
            (self.sequence, "sequence"),
            (self.batch, "batch"),
            (self.micro_batch, "micro_batch"),
            (self.top_k, "top_k"),
            (self.expert_interval, "expert_interval"),
            (self.activation_bytes, "activation_bytes"),
            (self.gradient_bytes, "gradient_bytes"),
            (self.buckets, "buckets"),
            (self.iterations, "iterations"),
        ];
        if let Some((_, key)) = positive.into_iter().find(|(value, _)| *value == 0) {
            return Err(Fault::bounds(0, "a number from 1").at(key));
        }
        // Each is larger than any model's; products are checked later.
        let limits = [
            (self.hidden, 1 << 20, "hidden"),
            (self.sequence, 1 << 24, "sequence"),
            (self.micro_batch, 1 << 16, "micro_batch"),
            (self.layers, 1 << 16, "layers"),
            (self.activation_bytes, 16, "activation_bytes"),
            (self.gradient_bytes, 16, "gradient_bytes"),
            (self.tensor, 1 << 16, "tensor"),
            (self.pipeline, 1 << 16, "pipeline"),
            (self.data, 1 << 16, "data"),
            (self.top_k, 1 << 10, "top_k"),
            (self.buckets, 1 << 10, "buckets"),
            (self.vocabulary.unwrap_or(1), 1 << 24, "vocabulary"),
            (self.experts.unwrap_or(1), 1 << 16, "experts"),
        ];
        if let Some((value, most, key)) = limits.into_iter().find(|(value, most, _)| value > most) {
            return Err(Fault::bounds(value, format!("at most {most}")).at(key));
        }
        if !(1..=MAX_PROCESSES).contains(&self.ranks_per_host) {
            let expected = format!("a number from 1 to {MAX_PROCESSES}");
            return Err(Fault::bounds(self.ranks_per_host, expected).at("ranks_per_host"));
        }
        if !self.layers.is_multiple_of(self.pipeline) {
            let expected = format!("a divisor of the {} layers", self.layers);
            return Err(Fault::bounds(self.pipeline, expected).at("pipeline"));
        }
        if !u64::from(self.batch).is_multiple_of(u64::from(self.data) * u64::from(self.micro_batch)) {
            let each = u64::from(self.data) * u64::from(self.micro_batch);
            let expected = format!("a multiple of `data` times `micro_batch`, {each}");
            return Err(Fault::bounds(self.batch, expected).at("batch"));
        }
        self.check_experts()?;
        self.check_compute()?;
        let (overhead, optimizer) = (self.overhead, self.optimizer);
        check_time(overhead, "overhead")?;
        check_time(optimizer, "optimizer")?;
        match (self.placement, &self.placement_file) {
            (Placement::File, None) => {
                Err(Fault::Missing("a file with the name of a host in each line").at("placement_file"))
            }
            (Placement::File, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => Err(Fault::Unneeded("`placement` is not `file`").at("placement_file")),
        }
    }

    fn check_experts(&self) -> Result<(), Misfit> {
        let Some(experts) = self.experts else {
            let given =
                [(self.expert, "expert"), (self.top_k, "top_k"), (self.expert_interval, "expert_interval")];
            return match given.into_iter().find(|(value, _)| *value != 1) {
                Some((_, key)) => Err(Fault::Unneeded("without `experts` no layer has experts").at(key)),
                None => Ok(()),
            };
        };
        if !self.data.is_multiple_of(self.expert) {
            let expected = format!("a divisor of `data`, {}", self.data);
            return Err(Fault::bounds(self.expert, expected).at("expert"));
        }
        if experts == 0 || !experts.is_multiple_of(self.expert) {
            let expected = format!("a multiple of `expert`, {}", self.expert);
            return Err(Fault::bounds(experts, expected).at("experts"));
        }
        if self.top_k > experts {
            return Err(Fault::bounds(self.top_k, format!("at most the {experts} experts")).at("top_k"));
        }
        let of_stage = self.layers / self.pipeline;
        if !of_stage.is_multiple_of(self.expert_interval) {
            let expected = format!("a divisor of the {of_stage} layers of a stage");
            return Err(Fault::bounds(self.expert_interval, expected).at("expert_interval"));
        }
        Ok(())
    }

    fn check_compute(&self) -> Result<(), Misfit> {
        if !(self.tflops > 0.0 && self.tflops <= 1e9) {
            return Err(Fault::bounds(self.tflops, "a number above 0 and at most 1e9").at("tflops"));
        }
        if !(0.0..=0.9).contains(&self.jitter) {
            return Err(Fault::bounds(self.jitter, "a number from 0 to 0.9").at("jitter"));
        }
        let mut seen = std::collections::BTreeSet::new();
        for straggler in &self.stragglers {
            if u64::from(straggler.rank) >= self.ranks() {
                let expected = format!("ranks below {}, the number of ranks", self.ranks());
                return Err(Fault::bounds(format!("of rank {}", straggler.rank), expected).at("stragglers"));
            }
            if !seen.insert(straggler.rank) {
                let twice = format!("of rank {}, twice", straggler.rank);
                return Err(Fault::bounds(twice, "each rank once").at("stragglers"));
            }
            if !(straggler.factor > 0.0 && straggler.factor <= 1000.0) {
                let expected = "factors above 0 and at most 1000";
                return Err(Fault::bounds(format!("{} times", straggler.factor), expected).at("stragglers"));
            }
        }
        Ok(())
    }

    /// Refuses passes whose time, bytes or number no run can have.
    fn check_passes(&self, schedule: &Schedule<'_>) -> Result<(), Misfit> {
        if schedule.longest_pass().longest() > Time::from_us(1_000_000_000) {
            let expected = "a rate at which a pass of a stage ends within 1000 s";
            return Err(Fault::bounds(self.tflops, expected).at("tflops"));
        }
        let (activations, gradients) = schedule.largest_bytes();
        if activations > MAX_FLOW.0 {
            let expected = format!(
                "such that a micro-batch's activations, now {}, have at most {MAX_FLOW}",
                Bytes(activations)
            );
            return Err(Fault::bounds(self.hidden, expected).at("hidden"));
        }
        if gradients > MAX_GRADIENTS {
            let (found, most) = (Bytes(gradients), Bytes(MAX_GRADIENTS));
            let expected = format!("such that a rank's gradients, now {found}, have at most {most}");
            return Err(Fault::bounds(self.layers, expected).at("layers"));
        }
        let steps = schedule.steps();
        if steps > MAX_STEPS {
            let expected = format!("such that ranks take at most {MAX_STEPS} steps, now about {steps}");
            return Err(Fault::bounds(self.batch, expected).at("batch"));
        }
        Ok(())
    }

    /// Refuses settings of collectives that no group can have.
    fn check_collectives(&self) -> Result<(), Misfit> {
        if self.sharded && self.algorithm.is_some() {
            let why = "with `sharded` gradients go by reduce-scatter and all-gather, around a ring";
            return Err(Fault::Unneeded(why).at("algorithm"));
        }
        self.settings().check()
    }
}

impl Params for Training {
    const NAME: &'static str = "training";
    const TITLE: &'static str =
        "training of a transformer with tensor, pipeline, data and expert parallelism, as a closed loop";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        self.check()?;
        let layout = Layout::new(self, scope)?;
        if layout.is_one_host(&(0..layout.len()).collect::<Vec<_>>()) {
            let found =
                format!("{}, so that all {} ranks are on one host", self.ranks_per_host, layout.len());
            let expected = "ranks on several hosts: what stays within a host does not use the network";
            return Err(Fault::bounds(found, expected).at("ranks_per_host"));
        }
        self.check_collectives()?;
        let schedule = Schedule::new(self, layout);
        self.check_passes(&schedule)?;
        schedule.check()?;
        let each = schedule.messages();
        let stream = scope.stream();
        Ok(Plan {
            flows: each * u128::from(self.iterations),
            cause: format!(
                "{} iterations of {} micro-batches on {} ranks",
                self.iterations,
                self.micro_batches(),
                self.ranks()
            ),
            emit: Box::new(move |sink| schedule.emit(sink, stream)),
        })
    }
}
