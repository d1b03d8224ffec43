//! An iteration's passes in their order, written as steps and messages.
//!
//! A stage runs its micro-batches in the order 1F1B (Narayanan et al., section 2.2): as many forward passes as there are stages
//! behind it, then a forward and a backward pass in turn, then the backward passes that remain. A rank computes one pass after
//! the other; it sends activations and their gradients to its neighbours in the pipeline without waiting for them. The sums of
//! gradients run beside the last backward pass, one after the other.

use xoff_engine::{Stream, Time};

use super::layout::Layout;
use super::model::{Pass, Segment, Stage};
use super::{COMPUTE_KERNELS, ITERATION_KERNEL, Training};
use crate::closed_loop::{Milestone, Operation, Waiter};
use crate::collective::{CollectiveAlgorithm, CollectiveKind, CollectiveSettings, CollectiveSpec};
use crate::draw;
use crate::error::Misfit;
use crate::generate::{FlowSpec, Sink};
use crate::pattern::processes::{Process, Program};

/// Room for a rank's place on its host, in the number of a pair of ranks.
const PLACE_BITS: u32 = 10;

/// The number of the connection of the pipeline, among those of two ranks: collectives have those below.
const PIPELINE: u32 = 1 << 9;

/// What one job writes.
pub(super) struct Schedule<'a> {
    training: &'a Training,
    layout: Layout,
    settings: CollectiveSettings,
    /// By stage.
    stages: Vec<Stage<'a>>,
    /// By stage: the passes of a micro-batch, forward and backward.
    passes: Vec<[Pass; 2]>,
    /// By rank: how many times as long its passes take.
    factors: Vec<f64>,
}

/// A collective of some ranks; `algorithm` is `None` for the operation's default.
#[derive(Clone, Copy, Debug)]
struct Collective {
    kind: CollectiveKind,
    bytes: u64,
    algorithm: Option<CollectiveAlgorithm>,
}

impl Collective {
    fn of(kind: CollectiveKind, bytes: u64) -> Collective {
        Collective { kind, bytes, algorithm: None }
    }

    /// The collective of a part of a pass, with the name of its kernel; `None` for a computation.
    fn in_pass(segment: &Segment) -> Option<(Collective, &'static str)> {
        match *segment {
            Segment::Compute(_) => None,
            Segment::TensorSum(bytes) => Some((Collective::of(CollectiveKind::AllReduce, bytes), "tensor")),
            Segment::TensorGather(bytes) => {
                Some((Collective::of(CollectiveKind::AllGather, bytes), "tensor"))
            }
            Segment::ExpertExchange(bytes) => {
                Some((Collective::of(CollectiveKind::AllToAll, bytes), "expert"))
            }
        }
    }
}

/// The ranks of a part of a pass, by one of them.
fn group_of(segment: &Segment) -> fn(&Layout, u32) -> Vec<u32> {
    if matches!(segment, Segment::ExpertExchange(_)) { Layout::expert_group } else { Layout::sharers }
}

/// A pass of a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    micro_batch: u32,
    backward: bool,
}

/// The passes of a stage in order 1F1B.
fn order(stage: u32, stages: u32, micro_batches: u32) -> Vec<Task> {
    let before = (stages - stage - 1).min(micro_batches);
    let task = |micro_batch, backward| Task { micro_batch, backward };
    let mut tasks: Vec<Task> = (0..before).map(|m| task(m, false)).collect();
    for m in before..micro_batches {
        tasks.extend([task(m, false), task(m - before, true)]);
    }
    tasks.extend((micro_batches - before..micro_batches).map(|m| task(m, true)));
    tasks
}

impl<'a> Schedule<'a> {
    /// The job's passes on the hosts of its ranks.
    pub(super) fn new(training: &'a Training, layout: Layout) -> Schedule<'a> {
        let stages: Vec<Stage<'_>> =
            (0..training.pipeline).map(|number| Stage::new(training, number)).collect();
        let passes = stages.iter().map(|stage| [stage.pass(false), stage.pass(true)]).collect();
        let mut factors = vec![1.0; layout.len() as usize];
        for straggler in &training.stragglers {
            factors[straggler.rank as usize] = straggler.factor;
        }
        Schedule { training, layout, settings: training.settings(), stages, passes, factors }
    }

    /// The pass that computes longest.
    pub(super) fn longest_pass(&self) -> &Pass {
        let all = self.passes.iter().flatten();
        all.max_by_key(|pass| pass.computes()).unwrap_or(&self.passes[0][0])
    }

    /// The largest activations of a micro-batch, and the largest gradients of a rank, in bytes.
    pub(super) fn largest_bytes(&self) -> (u64, u64) {
        let activations = self.stages.iter().map(|stage| stage.activations()).max().unwrap_or(0);
        let gradients = self.stages.iter().map(|stage| stage.gradients());
        (activations, gradients.map(|(dense, experts)| dense.max(experts)).max().unwrap_or(0))
    }

    fn spec(&self, collective: Collective) -> CollectiveSpec<'_> {
        let Collective { kind, bytes, algorithm } = collective;
        CollectiveSpec { kind, algorithm, bytes, root: 0, sizes: None, settings: &self.settings }
    }

    /// Refuses an algorithm that a group of replicas cannot have.
    pub(super) fn check(&self) -> Result<(), Misfit> {
        for stage in 0..self.training.pipeline {
            for (collective, experts) in self.sums(stage, 0).into_iter().chain(self.gathers(stage)) {
                for group in self.replicas(stage, experts) {
                    self.spec(collective).check(&self.layout.hosts_of(&group))?;
                }
            }
        }
        Ok(())
    }

    /// The steps of all iterations, about: each rank takes one for each part of a pass.
    pub(super) fn steps(&self) -> u128 {
        let parts =
            |passes: &[Pass; 2]| passes.iter().map(|pass| pass.segments.len() as u128 + 2).sum::<u128>();
        let t = self.training;
        let of_rank: u128 =
            self.passes.iter().map(|passes| u128::from(t.micro_batches()) * parts(passes)).sum();
        (of_rank + u128::from(t.buckets)) * u128::from(self.layout.stage_size()) * u128::from(t.iterations)
    }

    /// How long ranks of one host take around a ring over their links, without the network; `None` unless they are of one host. `laps`
    /// is 2 for a sum, and 1 for a gathering.
    fn local_ring(&self, group: &[u32], bytes: u64, laps: u64) -> Option<Time> {
        self.layout.is_one_host(group).then(|| {
            let steps = laps * (group.len() as u64 - 1);
            let part = bytes.div_ceil(group.len() as u64);
            let each = self.settings.local_rate.map_or(Time::ZERO, |rate| rate.time_for(part));
            Time(each.saturating_add(self.settings.local_delay).ps().saturating_mul(steps))
        })
    }

    /// The sums of gradients of a stage's rank, for one bucket, each with whether it is of experts.
    fn sums(&self, stage: u32, bucket: u32) -> Vec<(Collective, bool)> {
        let (dense, experts) = self.stages[stage as usize].gradients();
        let of = |bytes: u64| {
            let (b, n) = (u64::from(bucket), u64::from(self.training.buckets));
            // As a product these could exceed 64 bits.
            let until = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(n)) as u64;
            until(b + 1) - until(b)
        };
        let sharded = self.training.sharded;
        let kind = if sharded { CollectiveKind::ReduceScatter } else { CollectiveKind::AllReduce };
        let algorithm = self.training.algorithm;
        let sums = [(of(dense), false), (of(experts), true)].into_iter().filter(|(bytes, _)| *bytes > 0);
        sums.map(|(bytes, experts)| (Collective { kind, bytes, algorithm }, experts)).collect()
    }

    /// What replicas gather after the optimizer's step, as [`Schedule::sums`].
    fn gathers(&self, stage: u32) -> Vec<(Collective, bool)> {
        let (dense, experts) = self.stages[stage as usize].gradients();
        let t = self.training;
        let of = |gradients: u64| gradients / u64::from(t.gradient_bytes) * u64::from(t.activation_bytes);
        let all = [(of(dense), false), (of(experts), true)].into_iter();
        let there = all.filter(|(bytes, _)| t.sharded && *bytes > 0);
        there.map(|(bytes, experts)| (Collective::of(CollectiveKind::AllGather, bytes), experts)).collect()
    }

    /// The groups of a stage's ranks, each once; `group` gives that of a rank.
    fn groups(&self, stage: u32, group: impl Fn(&Layout, u32) -> Vec<u32>) -> Vec<Vec<u32>> {
        let size = self.layout.stage_size();
        let of = |rank| Some(group(&self.layout, rank)).filter(|members| members[0] == rank);
        (stage * size..(stage + 1) * size).filter_map(of).collect()
    }

    /// The replicas of a stage that sum gradients: of the parameters that all have, or of the experts.
    fn replicas(&self, stage: u32, experts: bool) -> Vec<Vec<u32>> {
        self.groups(stage, if experts { Layout::expert_replicas } else { Layout::replicas })
    }

    /// The messages of an iteration, those within hosts of its collectives included.
    pub(super) fn messages(&self) -> u128 {
        let t = self.training;
        let (mut sum, micro) = (0u128, u128::from(t.micro_batches()));
        for stage in 0..t.pipeline {
            let buckets = (0..t.buckets).flat_map(|bucket| self.sums(stage, bucket));
            for (collective, experts) in buckets.chain(self.gathers(stage)) {
                sum += self.messages_among(&self.replicas(stage, experts), collective);
            }
            for segment in self.passes[stage as usize].iter().flat_map(|pass| &pass.segments) {
                sum += micro * self.messages_of(stage, segment);
            }
            let size = self.layout.stage_size();
            if stage > 0 {
                let ranks = stage * size..(stage + 1) * size;
                let apart = ranks.filter(|&r| self.layout.host(r) != self.layout.host(r - size)).count();
                sum += 2 * micro * apart as u128;
            }
        }
        sum
    }

    /// The messages of a collective of each group.
    fn messages_among(&self, groups: &[Vec<u32>], collective: Collective) -> u128 {
        groups.iter().map(|group| self.spec(collective).messages(&self.layout.hosts_of(group))).sum()
    }

    fn messages_of(&self, stage: u32, segment: &Segment) -> u128 {
        let Some((collective, _)) = Collective::in_pass(segment) else { return 0 };
        let mut groups = self.groups(stage, group_of(segment));
        // What stays within a host and around a ring is no message.
        groups
            .retain(|group| matches!(segment, Segment::ExpertExchange(_)) || !self.layout.is_one_host(group));
        self.messages_among(&groups, collective)
    }

    /// Writes all iterations.
    pub(super) fn emit(&self, sink: &mut Sink, stream: Stream) {
        let training = self.training;
        let program = Program {
            sink,
            start: training.start,
            overhead: training.overhead,
            eager: 0,
            background: false,
            kernel: 0,
            iteration: 0,
        };
        let mut writer = Writer { of: self, program, stream, ranks: vec![], beside: vec![] };
        for rank in 0..self.layout.len() {
            let (host, place) = (self.layout.host(rank), self.layout.place(rank));
            let mut process = writer.program.process(host, rank, place);
            process.nic = self.layout.nic(rank);
            writer.ranks.push(process);
        }
        for iteration in 0..training.iterations {
            writer.program.iteration = iteration;
            writer.iteration();
        }
    }
}

/// Writes iterations.
struct Writer<'a, 'p> {
    of: &'a Schedule<'a>,
    program: Program<'p>,
    stream: Stream,
    /// By rank: what it computes, one pass after the other.
    ranks: Vec<Process>,
    /// By rank: what goes on beside that, one sum of gradients after the other.
    beside: Vec<Process>,
}

impl Writer<'_, '_> {
    fn iteration(&mut self) {
        let begin: Vec<u32> = self.ranks.iter().map(|rank| rank.at).collect();
        self.beside = self.ranks.clone();
        self.passes();
        for stage in 0..self.of.training.pipeline {
            self.end(stage);
        }
        self.program.kernel = self.program.sink.kernel(ITERATION_KERNEL);
        for (rank, begin) in begin.into_iter().enumerate() {
            self.record(rank, begin, 0);
        }
    }

    /// Writes the passes of all stages, each after those that it waits for.
    fn passes(&mut self) {
        let t = self.of.training;
        let orders: Vec<Vec<Task>> =
            (0..t.pipeline).map(|stage| order(stage, t.pipeline, t.micro_batches())).collect();
        let mut next = vec![0; orders.len()];
        // By stage, direction and micro-batch: whether the pass is written.
        let mut written =
            vec![
                [vec![false; t.micro_batches() as usize], vec![false; t.micro_batches() as usize]];
                orders.len()
            ];
        let mut arrivals = Arrivals::new();
        while let Some(stage) = (0..orders.len()).find(|&stage| {
            orders[stage].get(next[stage]).is_some_and(|task| {
                let (m, direction) = (task.micro_batch as usize, usize::from(task.backward));
                match (task.backward, stage) {
                    (false, 0) => true,
                    (false, _) => written[stage - 1][direction][m],
                    (true, last) if last + 1 == orders.len() => true,
                    (true, _) => written[stage + 1][direction][m],
                }
            })
        }) {
            let task = orders[stage][next[stage]];
            let is_last = next[stage] + 1 == orders[stage].len();
            self.task(stage as u32, task, is_last, &mut arrivals);
            written[stage][usize::from(task.backward)][task.micro_batch as usize] = true;
            next[stage] += 1;
        }
    }

    /// Writes a pass of all ranks of a stage; the last one of an iteration with the sums of gradients beside it.
    fn task(&mut self, stage: u32, task: Task, is_last: bool, arrivals: &mut Arrivals) {
        let of = self.of;
        let size = of.layout.stage_size();
        let ranks = stage * size..(stage + 1) * size;
        for rank in ranks.clone() {
            if let Some((on, delay)) = arrivals.take(rank, task) {
                let process = &mut self.ranks[rank as usize];
                let next = self.program.next_step(process);
                self.program.sink.after(on, Waiter::Step(next), delay);
                process.at = next;
            }
        }
        let factors: Vec<f64> = ranks.clone().map(|rank| self.factor(rank)).collect();
        let pass = &of.passes[stage as usize][usize::from(task.backward)];
        let kernel = COMPUTE_KERNELS[usize::from(task.backward)];
        // Sums of gradients begin as parts of the last pass end: its computation is cut into as many parts.
        let parts = if is_last { of.training.buckets } else { 1 };
        for (bucket, segments) in (0u32..).zip(pass.cut(parts)) {
            for segment in &segments {
                self.segment(stage, segment, kernel, &factors);
            }
            if is_last {
                self.sum_gradients(stage, bucket);
            }
        }
        for rank in ranks {
            self.send_on(stage, rank, task, arrivals);
        }
    }

    /// How many times as long a pass of a rank takes.
    fn factor(&mut self, rank: u32) -> f64 {
        let jitter = self.of.training.jitter;
        let drawn =
            if jitter > 0.0 { 1.0 + jitter * (2.0 * draw::unit(&mut self.stream) - 1.0) } else { 1.0 };
        self.of.factors[rank as usize] * drawn
    }

    /// Writes a segment of a pass for all ranks of a stage.
    fn segment(&mut self, stage: u32, segment: &Segment, kernel: &str, factors: &[f64]) {
        let of = self.of;
        let first = stage * of.layout.stage_size();
        match *segment {
            Segment::Compute(time) => {
                self.program.kernel = self.program.sink.kernel(kernel);
                for (rank, factor) in (first..).zip(factors) {
                    let time = Time(libm::round(time.ps() as f64 * factor) as u64);
                    self.spend(rank as usize, time);
                }
            }
            Segment::TensorSum(_) | Segment::TensorGather(_) | Segment::ExpertExchange(_) => {
                let Some((collective, kernel)) = Collective::in_pass(segment) else { return };
                self.program.kernel = self.program.sink.kernel(kernel);
                for group in of.groups(stage, group_of(segment)) {
                    let local = match *segment {
                        Segment::TensorSum(bytes) => of.local_ring(&group, bytes, 2),
                        Segment::TensorGather(bytes) => of.local_ring(&group, bytes, 1),
                        _ => None,
                    };
                    match local {
                        Some(time) => self.spend_together(&group, time),
                        None => self.collective(&group, collective),
                    }
                }
            }
        }
    }

    /// A rank is busy for `time`.
    fn spend(&mut self, rank: usize, time: Time) {
        let begin = self.ranks[rank].at;
        self.program.compute(&mut self.ranks[rank], time);
        self.record(rank, begin, 0);
    }

    /// Ranks of one host are busy together for `time`, from when the last of them comes on.
    fn spend_together(&mut self, group: &[u32], time: Time) {
        let begins: Vec<u32> = group.iter().map(|&rank| self.ranks[rank as usize].at).collect();
        let met = self.program.next_step(&self.ranks[group[0] as usize]);
        for &begin in &begins[1..] {
            self.program.sink.after(Milestone::Step(begin), Waiter::Step(met), Time::ZERO);
        }
        for (&rank, begin) in group.iter().zip(begins) {
            self.ranks[rank as usize].at = met;
            self.program.compute(&mut self.ranks[rank as usize], time);
            self.record(rank as usize, begin, 0);
        }
    }

    /// Records an operation of the current kernel, from a step of a rank to its last step.
    fn record(&mut self, rank: usize, begin: u32, bytes: u64) {
        let process = &self.ranks[rank];
        let (role, host, end) = (self.program.role(process), process.host, process.at);
        self.program.sink.operation(Operation { label: 0, role, ring: 0, host, bytes, begin, end });
    }

    /// A collective of some ranks, for which they stop computing.
    fn collective(&mut self, group: &[u32], collective: Collective) {
        let mut members: Vec<Process> = group.iter().map(|&rank| self.ranks[rank as usize]).collect();
        self.program.collective(&mut members, &self.of.spec(collective));
        for (&rank, process) in group.iter().zip(members) {
            self.ranks[rank as usize] = process;
        }
    }

    /// A collective of some ranks beside what they compute, after what they have computed so far and after the one before.
    fn collective_beside(&mut self, group: &[u32], collective: Collective) {
        let mut members = Vec::with_capacity(group.len());
        for &rank in group {
            let (computed, mut process) = (self.ranks[rank as usize].at, self.beside[rank as usize]);
            let next = self.program.next_step(&process);
            self.program.sink.after(Milestone::Step(computed), Waiter::Step(next), Time::ZERO);
            process.at = next;
            members.push(process);
        }
        self.program.collective(&mut members, &self.of.spec(collective));
        for (&rank, process) in group.iter().zip(members) {
            self.beside[rank as usize] = process;
        }
    }

    fn sum_gradients(&mut self, stage: u32, bucket: u32) {
        self.program.kernel = self.program.sink.kernel("gradients");
        for (collective, experts) in self.of.sums(stage, bucket) {
            self.beside_in_groups(stage, collective, experts);
        }
    }

    fn beside_in_groups(&mut self, stage: u32, collective: Collective, experts: bool) {
        for group in self.of.replicas(stage, experts).iter().filter(|group| group.len() > 1) {
            self.collective_beside(group, collective);
        }
    }

    /// Sends what a pass made to the neighbour in the pipeline that waits for it.
    fn send_on(&mut self, stage: u32, rank: u32, task: Task, arrivals: &mut Arrivals) {
        let of = self.of;
        let size = of.layout.stage_size();
        let to = match (task.backward, stage) {
            (false, last) if last + 1 == of.training.pipeline => return,
            (false, _) => rank + size,
            (true, 0) => return,
            (true, _) => rank - size,
        };
        let bytes = of.stages[stage as usize].to_next();
        let (from, to_process) = (self.ranks[rank as usize], self.ranks[to as usize]);
        let begin = Milestone::Step(from.at);
        if from.host == to_process.host {
            let time = of.settings.local_rate.map_or(Time::ZERO, |rate| rate.time_for(bytes));
            let delay = time.saturating_add(of.settings.local_delay).saturating_add(of.training.overhead);
            arrivals.put(to, task, (begin, delay));
            return;
        }
        self.program.kernel = self.program.sink.kernel("pipeline");
        let pair = from.slice << PLACE_BITS | to_process.slice;
        let blank = self.program.sink.blank(from.host, to_process.host, of.training.start);
        let flow = self.program.sink.numbered(FlowSpec {
            size: bytes.into(),
            role: Some(self.program.role(&from)),
            connection: Some(PIPELINE << (2 * PLACE_BITS) | pair),
            nic: from.nic.or(blank.nic),
            ..blank
        });
        self.program.sink.after(begin, Waiter::Flow(flow), Time::ZERO);
        arrivals.put(to, task, (Milestone::Delivered(flow), of.training.overhead));
    }

    /// The end of an iteration: a rank waits for its sums, the optimizer takes its step, and replicas gather what they divided.
    fn end(&mut self, stage: u32) {
        let of = self.of;
        let size = of.layout.stage_size();
        let ranks = (stage * size) as usize..((stage + 1) * size) as usize;
        self.join(ranks.clone());
        self.program.kernel = self.program.sink.kernel(COMPUTE_KERNELS[2]);
        if of.training.optimizer > Time::ZERO {
            ranks.clone().for_each(|rank| self.spend(rank, of.training.optimizer));
        }
        self.program.kernel = self.program.sink.kernel("parameters");
        for (collective, experts) in of.gathers(stage) {
            self.beside_in_groups(stage, collective, experts);
        }
        self.join(ranks);
    }

    /// Lets ranks go on only after what goes on beside their computation.
    fn join(&mut self, ranks: std::ops::Range<usize>) {
        for rank in ranks {
            let beside = self.beside[rank].at;
            let process = &mut self.ranks[rank];
            if beside != process.at {
                let next = self.program.next_step(process);
                self.program.sink.after(Milestone::Step(beside), Waiter::Step(next), Time::ZERO);
                process.at = next;
            }
            self.beside[rank].at = self.ranks[rank].at;
        }
    }
}

/// What passes wait for, by rank, direction and micro-batch.
struct Arrivals(std::collections::BTreeMap<(u32, bool, u32), (Milestone, Time)>);

impl Arrivals {
    fn new() -> Arrivals {
        Arrivals(std::collections::BTreeMap::new())
    }

    fn put(&mut self, rank: u32, task: Task, arrival: (Milestone, Time)) {
        self.0.insert((rank, task.backward, task.micro_batch), arrival);
    }

    fn take(&mut self, rank: u32, task: Task) -> Option<(Milestone, Time)> {
        self.0.remove(&(rank, task.backward, task.micro_batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_forward_one_backward() {
        let text = |stage, stages, m| {
            let name = |t: Task| format!("{}{}", if t.backward { 'B' } else { 'F' }, t.micro_batch);
            order(stage, stages, m).into_iter().map(name).collect::<Vec<_>>().join(" ")
        };
        // Narayanan et al., Fig. 4: the first of four stages runs four forward passes before its first backward pass, the last one
        // none between its forward and its backward passes.
        assert_eq!(text(0, 4, 5), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
        assert_eq!(text(2, 4, 5), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
        assert_eq!(text(3, 4, 5), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
        // Fewer micro-batches than stages behind.
        assert_eq!(text(0, 4, 2), "F0 F1 B0 B1");
        assert_eq!(text(0, 1, 2), "F0 B0 F1 B1");
    }
}
