//! Generates flows from patterns.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::{io, mem};

use serde::Serialize;
use xoff_engine::{Domain, MessageSize, NicChoice, Rate, Stream, Time, stream};

use crate::closed_loop::{Dependency, Hold, Milestone, Operation, Role, Step, Waiter};
use crate::connections::Numbering;
use crate::error::{Fault, Misfit, TrafficError};
use crate::files::{FileSource, Texts};
use crate::flow_list::FlowList;
use crate::hosts::{Directory, HostInfo};
use crate::pattern::Pattern;

/// Maximum number of flows that are generated: 50 million, 4 GB of [`FlowSpec`].
pub const MAX_FLOWS: u64 = 50_000_000;

/// One message from a host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlowSpec {
    /// Sender's index.
    pub src: u32,
    /// Receiver's index; never the sender's.
    pub dst: u32,
    /// Bytes of payload.
    pub size: MessageSize,
    /// When its first byte is ready; for a dependent flow, the earliest time.
    pub start: Time,
    /// When the flow ends, complete or not; [`Time::NEVER`] if only its size or the end of the run ends it.
    pub stop: Time,
    /// The rate at which the application makes its payload; [`Rate::UNLIMITED`] if all bytes are ready at the start.
    pub app_rate: Rate,
    /// Traffic class, 0 to 7.
    pub priority: u8,
    /// Index into [`Traffic::labels`].
    pub label: u16,
    /// The flow's part in a parallel program; `None` if it has none.
    pub role: Option<Role>,
    /// Number of its connection among those of the same sender, receiver and priority; `None` for a connection of its own.
    /// A pattern first writes the number of the pair of processes; its [`crate::ConnectionMapping`] turns that number into
    /// the connection's.
    pub connection: Option<u32>,
    /// Whether the run may end without this flow.
    pub background: bool,
    /// Which NIC the flow's connection takes at its sender; `None` if the pattern does not say.
    pub nic: Option<NicChoice>,
}

impl Default for FlowSpec {
    /// An endless flow from the first host to itself, which nothing stops and nothing limits.
    fn default() -> FlowSpec {
        FlowSpec {
            src: 0,
            dst: 0,
            size: MessageSize::ENDLESS,
            start: Time::ZERO,
            stop: Time::NEVER,
            app_rate: Rate::UNLIMITED,
            priority: 0,
            label: 0,
            role: None,
            connection: None,
            background: false,
            nic: None,
        }
    }
}

/// The load of a Poisson pattern, asked for and offered. A load is payload bytes divided by the bytes that the senders'
/// links carry in the window, without unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Place of the pattern in the list, from 0.
    pub pattern: usize,
    /// Index into [`Traffic::labels`].
    pub label: u16,
    /// Hosts that send.
    #[serde(skip)]
    pub senders: Vec<u32>,
    /// Name of the workload or of the file of its distribution, or the one size.
    pub workload: String,
    /// Beginning of the window.
    pub start: Time,
    /// End of the window.
    pub end: Time,
    /// Load asked for.
    pub asked: f64,
    /// Load of the flows that start within the window, with all of their bytes.
    pub offered: f64,
    /// Number of these flows.
    pub flows: u64,
    /// Their bytes; the largest number if the sum does not fit.
    pub bytes: u64,
    /// Mean size of these flows, in bytes; 0 if there are no flows.
    pub mean_sampled: f64,
    /// Mean size of the distribution, in bytes.
    pub mean: f64,
}

/// Flows, their groups and their dependencies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Flows sorted by start, then by the place of their pattern in the list, then in the order in which the pattern makes
    /// them.
    pub flows: FlowList,
    /// The loads of all Poisson patterns.
    pub offered: Vec<Load>,
    /// Names of the groups of flows; patterns with one label share a group.
    pub labels: Vec<String>,
    /// Names of the kernels of parallel programs.
    pub kernels: Vec<String>,
    /// Points in time at hosts, which wait for milestones and are milestones.
    pub steps: Vec<Step>,
    /// Which flows and steps wait for which milestones.
    pub dependencies: Vec<Dependency>,
    /// Operations of processes, each from one step to another.
    pub operations: Vec<Operation>,
    /// Whether a host may wait for milestones that only another host knows, and learns of them without delay.
    pub anywhere: bool,
    /// What patterns left out of their files, in one sentence each.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

impl Traffic {
    /// When an operation ends, given the times of all steps: with its last step or, if it has one step alone, when that step
    /// gives its processor back.
    pub fn end(&self, operation: &Operation, steps: &[Time]) -> Time {
        let end = steps.get(operation.end as usize).copied().unwrap_or(Time::NEVER);
        let hold = self.steps[operation.end as usize].hold.filter(|_| operation.begin == operation.end);
        hold.map_or(end, |hold| end.saturating_add(hold.time))
    }
}

/// The context in which a pattern is checked and makes its flows.
pub(crate) struct Scope<'a> {
    pub(crate) hosts: &'a Directory<'a>,
    pub(crate) horizon: Option<Time>,
    pub(crate) files: &'a dyn FileSource,
    /// Place of the pattern in the list.
    index: usize,
    seed: u64,
    warnings: RefCell<Vec<String>>,
}

impl Scope<'_> {
    /// The stream of the pattern itself.
    pub(crate) fn stream(&self) -> Stream {
        self.entity(u32::MAX)
    }
    /// The stream of one of its hosts.
    pub(crate) fn host_stream(&self, host: u32) -> Stream {
        self.entity(host)
    }
    /// A stream by number: a host's index, or `u32::MAX`, which no host has, since there are at most `u32::MAX` hosts.
    fn entity(&self, number: u32) -> Stream {
        stream(self.seed, Domain::Traffic, (self.index as u64) << 32 | u64::from(number))
    }
    /// Says what the pattern leaves out of its files, in one sentence.
    pub(crate) fn warn(&self, warning: String) {
        self.warnings.borrow_mut().push(warning);
    }
    /// The end of a pattern that has the keys `start` and `stop`: the earlier of `stop` and the end of the run.
    pub(crate) fn end(&self, start: Time, stop: Option<Time>) -> Result<Option<Time>, Misfit> {
        match stop.filter(|&stop| stop < Time::NEVER) {
            Some(stop) if stop <= start => {
                Err(Fault::bounds(stop, format!("a time after `start`, {start}")).at("stop"))
            }
            Some(stop) => Ok(Some(self.horizon.map_or(stop, |end| end.min(stop)))),
            None => Ok(self.horizon),
        }
    }
}

/// Collects the flows of all patterns.
pub(crate) struct Sink {
    flows: Vec<FlowSpec>,
    offered: Vec<Load>,
    steps: Vec<Step>,
    dependencies: Vec<Dependency>,
    operations: Vec<Operation>,
    kernels: Vec<String>,
    processors: u32,
    anywhere: bool,
    pattern: usize,
    priority: u8,
    nic: Option<NicChoice>,
    label: u16,
}

impl Sink {
    /// The number of the kernel called `name`.
    pub(crate) fn kernel(&mut self, name: &str) -> u16 {
        let known = self.kernels.iter().position(|k| k == name);
        // Patterns name a handful of them.
        known.unwrap_or_else(|| {
            self.kernels.push(name.into());
            self.kernels.len() - 1
        }) as u16
    }
    /// The number of kernels so far.
    pub(crate) fn kernels(&self) -> usize {
        self.kernels.len()
    }
    /// Makes room for so many more steps, dependencies and operations.
    pub(crate) fn reserve(&mut self, steps: usize, dependencies: usize, operations: usize) {
        self.steps.reserve_exact(steps);
        self.dependencies.reserve_exact(dependencies);
        self.operations.reserve_exact(operations);
    }
    /// Adds a flow; returns its number.
    pub(crate) fn numbered(&mut self, flow: FlowSpec) -> u32 {
        self.flows.push(flow);
        (self.flows.len() - 1) as u32
    }
    /// Adds a step of `host` not before `start`; returns its number.
    pub(crate) fn step(&mut self, host: u32, start: Time) -> u32 {
        self.any_step(Step { host, start, hold: None })
    }
    /// Adds a step of `host` not before `start` that holds a processor; returns the step's number.
    pub(crate) fn held_step(&mut self, host: u32, start: Time, hold: Hold) -> u32 {
        self.any_step(Step { host, start, hold: Some(hold) })
    }
    fn any_step(&mut self, step: Step) -> u32 {
        self.steps.push(step);
        (self.steps.len() - 1) as u32
    }
    /// Lets hosts wait for milestones that only other hosts know.
    pub(crate) fn wait_anywhere(&mut self) {
        self.anywhere = true;
    }
    /// A new processor's number.
    pub(crate) fn processor(&mut self) -> u32 {
        self.processors += 1;
        self.processors - 1
    }
    /// Lets `then` come no earlier than `delay` after `on`.
    pub(crate) fn after(&mut self, on: Milestone, then: Waiter, delay: Time) {
        self.dependencies.push(Dependency { on, then, delay });
    }
    /// Adds an operation of a process, and fills in its label.
    pub(crate) fn operation(&mut self, operation: Operation) {
        self.operations.push(Operation { label: self.label, ..operation });
    }
    /// Sorts the flows by start; flows with equal starts keep the order of patterns, and of flows within a pattern. Renumbers
    /// the flows in dependencies.
    fn sort(&mut self) {
        if self.dependencies.is_empty() {
            return self.flows.sort_by_key(|flow| flow.start);
        }
        if self.flows.is_sorted_by_key(|flow| flow.start) {
            return;
        }
        let mut order: Vec<u32> = (0..self.flows.len() as u32).collect();
        order.sort_by_key(|&i| self.flows[i as usize].start);
        let mut place = vec![0; order.len()];
        for (new, &old) in (0u32..).zip(&order) {
            place[old as usize] = new;
        }
        let flows = mem::take(&mut self.flows);
        self.flows = order.into_iter().map(|i| flows[i as usize]).collect();
        for d in &mut self.dependencies {
            if let Milestone::Sent(flow) | Milestone::Delivered(flow) = &mut d.on {
                *flow = place[*flow as usize];
            }
            if let Waiter::Flow(flow) = &mut d.then {
                *flow = place[*flow as usize];
            }
        }
    }
    /// Adds a message of `size` bytes.
    pub(crate) fn message(&mut self, src: u32, dst: u32, size: u64, start: Time) {
        self.flow(FlowSpec { size: size.into(), ..self.blank(src, dst, start) });
    }
    /// An endless flow with the pattern's class, NIC choice and label; not added yet.
    pub(crate) fn blank(&self, src: u32, dst: u32, start: Time) -> FlowSpec {
        let (priority, nic, label) = (self.priority, self.nic, self.label);
        FlowSpec { src, dst, start, priority, nic, label, ..FlowSpec::default() }
    }
    pub(crate) fn flow(&mut self, flow: FlowSpec) {
        self.flows.push(flow);
    }
    /// Adds the load of the current pattern, and fills in the pattern's place and label.
    pub(crate) fn load(&mut self, load: Load) {
        self.offered.push(Load { pattern: self.pattern, label: self.label, ..load });
    }
}

/// A pattern that passed its checks: its expected number of flows, the reason for that number, and the function that makes
/// the flows.
pub(crate) struct Plan<'a> {
    pub(crate) flows: u128,
    pub(crate) cause: String,
    pub(crate) emit: Box<dyn FnOnce(&mut Sink) + 'a>,
}

/// The flows of `patterns` among `hosts`.
///
/// `horizon` is the end of the run: nothing starts at or after it, and patterns without an end of their own end there.
/// `files` gives the text of a file that a pattern names, or the reason why it cannot. All patterns are checked, and the
/// number of flows is estimated, before the first flow is made.
///
/// # Errors
/// [`TrafficError`], for the first pattern that is wrong, or for more than [`MAX_FLOWS`] flows.
pub fn generate(
    patterns: &[Pattern],
    hosts: &[HostInfo],
    seed: u64,
    horizon: Option<Time>,
    files: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Traffic, TrafficError> {
    let text = |name: &str| files(name).map_err(io::Error::other);
    generate_if(patterns, hosts, seed, horizon, &Texts(&text), &mut |_| true).map(Option::unwrap_or_default)
}

/// The flows of `patterns` like [`generate`]; `None` if `admits` refuses their expected numbers, by pattern, before the first
/// flow is made.
///
/// # Errors
/// As for [`generate`].
pub fn generate_if(
    patterns: &[Pattern],
    hosts: &[HostInfo],
    seed: u64,
    horizon: Option<Time>,
    files: &dyn FileSource,
    admits: &mut dyn FnMut(&[u64]) -> bool,
) -> Result<Option<Traffic>, TrafficError> {
    if patterns.len() > usize::from(u16::MAX) {
        return Err(TrafficError::TooManyPatterns(patterns.len()));
    }
    let directory = Directory::new(hosts)?;
    let scope =
        |index| Scope { hosts: &directory, horizon, files, index, seed, warnings: RefCell::default() };
    let scopes: Vec<Scope<'_>> = (0..patterns.len()).map(scope).collect();
    let (mut plans, mut count) = (Vec::with_capacity(patterns.len()), 0u128);
    for (index, (pattern, scope)) in patterns.iter().zip(&scopes).enumerate() {
        let label = || pattern.label().to_string();
        let plan = check_common(pattern, scope)
            .and_then(|()| own_label(pattern, &patterns[..index]))
            .and_then(|()| pattern.plan(scope));
        let plan = plan.map_err(|Misfit { key, fault }| TrafficError::Pattern {
            index,
            label: label(),
            key,
            fault,
        })?;
        count = count.saturating_add(plan.flows);
        if count > u128::from(MAX_FLOWS) {
            let (label, cause) = (label(), plan.cause);
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            return Err(TrafficError::TooManyFlows { index, label, count, limit: MAX_FLOWS, cause });
        }
        plans.push(plan);
    }

    // The sum is at most `MAX_FLOWS`.
    let counts: Vec<u64> = plans.iter().map(|plan| plan.flows as u64).collect();
    if !admits(&counts) {
        return Ok(None);
    }
    let (mut labels, mut known, mut connections) = (Vec::new(), BTreeMap::new(), Numbering::default());
    // A Poisson process may exceed its expected number by a few parts in a thousand if there are many flows.
    let flows = Vec::with_capacity((count + count / 100) as usize);
    let mut sink = Sink {
        flows,
        offered: Vec::new(),
        steps: Vec::new(),
        dependencies: Vec::new(),
        operations: Vec::new(),
        kernels: Vec::new(),
        processors: 0,
        anywhere: false,
        pattern: 0,
        priority: 0,
        nic: None,
        label: 0,
    };
    for (index, (pattern, plan)) in patterns.iter().zip(plans).enumerate() {
        let label = *known.entry(pattern.label()).or_insert_with(|| {
            labels.push(pattern.label().to_string());
            // There are no more labels than patterns, which fit.
            (labels.len() - 1) as u16
        });
        (sink.pattern, sink.priority, sink.label) = (index, pattern.priority(), label);
        sink.nic = pattern.nic();
        let first = sink.flows.len();
        (plan.emit)(&mut sink);
        connections.number(pattern.connection(), &mut sink.flows[first..]);
    }
    sink.sort();
    let warnings = scopes.iter().flat_map(|scope| scope.warnings.take()).collect();
    let Sink { flows, offered, steps, dependencies, operations, kernels, anywhere, .. } = sink;
    let flows = flows.into_iter().collect();
    Ok(Some(Traffic { flows, offered, labels, kernels, steps, dependencies, operations, anywhere, warnings }))
}

/// Refuses a job with the label of an earlier one: their iterations could not be told apart.
fn own_label(pattern: &Pattern, earlier: &[Pattern]) -> Result<(), Misfit> {
    let is_job = |pattern: &Pattern| matches!(pattern, Pattern::Training(_));
    if is_job(pattern) && earlier.iter().any(|other| is_job(other) && other.label() == pattern.label()) {
        let found = format!("`{}`, as that of another job", pattern.label());
        return Err(Fault::bounds(found, "a label of its own for each job").at("label"));
    }
    Ok(())
}

/// Checks the keys that every pattern has.
fn check_common(pattern: &Pattern, scope: &Scope<'_>) -> Result<(), Misfit> {
    if pattern.priority() > 7 {
        return Err(Fault::bounds(pattern.priority(), "a priority from 0 to 7").at("priority"));
    }
    if pattern.label().is_empty() {
        return Err(Fault::bounds("empty", "a name").at("label"));
    }
    pattern.connection().check(pattern.has_processes())?;
    let (start, end) = (pattern.start(), scope.horizon.unwrap_or(Time::NEVER));
    if start < end { Ok(()) } else { Err(Fault::AfterEnd { start, end }.at("start")) }
}
