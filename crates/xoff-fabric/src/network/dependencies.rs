//! Closed loops: flows that start when others have ended.
//!
//! [`xoff_engine::schedule`] defines milestones and dependencies. Here a step's host is a node of the topology.
//!
//! A milestone is known at one node, and what waits for it belongs to the same node. A network that is cut into partitions
//! therefore needs no messages for milestones, and its results do not depend on the number of threads. If a schedule asks
//! for more ([`Schedule::anywhere`]), its network is not cut.
//!
//! [`super::dependency_tracker`] follows the milestones of a run.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use petgraph::unionfind::UnionFind;
pub use xoff_engine::schedule::{Dependency, Hold, Milestone, Waiter};
use xoff_engine::{NicChoice, Time};

use super::Flows;
use crate::ids::{FlowId, NodeId};
use crate::path::topology::Topology;

/// A step at a node of the topology.
pub type Step = xoff_engine::schedule::Step<NodeId>;

/// What connects flows: dependencies, connections, and the flows that the run waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Steps, numbered in this order.
    pub steps: Vec<Step>,
    /// Dependencies. A flow or step with several dependencies waits for all of them, and for its `start`.
    pub dependencies: Vec<Dependency>,
    /// By flow: the number of its connection among those of its pair of hosts; `None` for a connection of its own.
    /// Flows of one connection take the same path. May be empty.
    pub connections: Vec<Option<u32>>,
    /// By flow: which NIC of the sender the flow's connection takes, where the connection's first flow decides; `None` for
    /// the settings' choice. May be empty.
    pub nics: Vec<Option<NicChoice>>,
    /// By flow: whether the run may end without it. May be empty.
    pub background: Vec<bool>,
    /// Whether a host may wait for milestones that only another host knows, and learns of them without delay.
    pub anywhere: bool,
}

/// Why dependencies are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependencyError {
    /// A dependency names a flow or step that does not exist.
    #[error("a dependency names {what} {number}, and there are {count}: expected a number below that")]
    Unknown {
        /// Flow or step.
        what: &'static str,
        /// Its number.
        number: u32,
        /// How many there are.
        count: usize,
    },
    /// The milestone is not known at the host that waits for it.
    #[error(
        "{then} at {waits} waits for {on}, which {known} alone knows: expected something that ends at {waits}"
    )]
    Elsewhere {
        /// What waits.
        then: String,
        /// The host that waits.
        waits: String,
        /// What is waited for.
        on: String,
        /// The host that knows the milestone.
        known: String,
    },
    /// Steps of several hosts take one processor.
    #[error("processor {number} is taken at {first} and at {second}: expected steps of one host")]
    Processor {
        /// Its number.
        number: u32,
        /// A host.
        first: String,
        /// Another.
        second: String,
    },
    /// Flows or steps wait for each other.
    #[error("{0} waits for itself: expected dependencies without a cycle")]
    Cycle(String),
    /// There are more dependencies than can be numbered.
    #[error("{0} dependencies are too many: at most 4294967295")]
    TooMany(usize),
}

/// What waits for a milestone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// A flow's number, or the number of flows plus a step's number.
    pub then: u32,
    pub delay: Time,
}

/// The dependencies, by milestone.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    flows: u32,
    steps: Vec<Step>,
    /// By flow, then step: the number of milestones that the flow or step waits for. Empty if nothing waits.
    waits: Vec<u32>,
    /// By milestone: its first edge; a last entry is the number of edges.
    first: Vec<u32>,
    edges: Vec<Edge>,
    /// Number of processors.
    processors: usize,
    anywhere: bool,
}

impl Dependencies {
    /// The dependencies of `schedule` among `flows`.
    ///
    /// # Errors
    /// [`DependencyError`].
    pub fn new(
        schedule: &Schedule,
        flows: &Flows,
        topology: &Topology,
    ) -> Result<Dependencies, DependencyError> {
        let (steps, wanted) = (schedule.steps.clone(), &schedule.dependencies);
        if steps.is_empty() && wanted.is_empty() {
            return Ok(Dependencies::default());
        }
        if u32::try_from(wanted.len()).is_err() {
            return Err(DependencyError::TooMany(wanted.len()));
        }
        let mut all = Dependencies {
            flows: flows.len() as u32,
            waits: vec![0; flows.len() + steps.len()],
            first: vec![0; 2 * flows.len() + steps.len() + 1],
            edges: vec![Edge { then: 0, delay: Time::ZERO }; wanted.len()],
            processors: 0,
            steps,
            anywhere: schedule.anywhere,
        };
        all.processors = all.count_processors(topology)?;
        for dependency in wanted {
            all.check(dependency, flows, topology)?;
            let (then, on) = (all.waiter(dependency.then), all.milestone(dependency.on));
            all.waits[then as usize] += 1;
            all.first[on + 1] += 1;
        }
        for i in 1..all.first.len() {
            all.first[i] += all.first[i - 1];
        }
        let mut next = all.first.clone();
        for d in wanted {
            let (then, on) = (all.waiter(d.then), all.milestone(d.on));
            all.edges[next[on] as usize] = Edge { then, delay: d.delay };
            next[on] += 1;
        }
        match all.walk(flows, &|_| Time::ZERO) {
            Ok(_) => Ok(all),
            Err(item) => Err(DependencyError::Cycle(all.name(item))),
        }
    }

    /// Whether there are neither dependencies nor steps.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The number of processors that steps take.
    pub(crate) fn processors(&self) -> usize {
        self.processors
    }

    /// Whether a host may wait for milestones that only another host knows.
    pub fn anywhere(&self) -> bool {
        self.anywhere
    }

    /// The number of flows.
    pub(crate) fn flows(&self) -> u32 {
        self.flows
    }

    /// By flow, then step: the number of milestones that the flow or step waits for.
    pub(crate) fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// Whether a flow waits for others.
    #[inline]
    pub fn flow_waits(&self, flow: FlowId) -> bool {
        flow.0 < self.flows && self.waits[flow.index()] > 0
    }

    /// Whether a flow waits for another one, by however many others. `false` too if that is not found among the first `most` flows and steps that wait
    /// for the other one.
    pub(crate) fn flow_waits_for(&self, flow: FlowId, on: FlowId, most: usize) -> bool {
        if !self.flow_waits(flow) || on.0 >= self.flows {
            return false;
        }
        let (mut queue, mut seen) = (VecDeque::from([on.0]), HashSet::from([on.0]));
        while let Some(item) = queue.pop_front() {
            for edge in self.milestones_of(item).flat_map(|milestone| self.after(milestone)) {
                if edge.then == flow.0 {
                    return true;
                }
                if seen.len() < most && seen.insert(edge.then) {
                    queue.push_back(edge.then);
                }
            }
        }
        false
    }

    /// The length of the longest chain if each flow takes the time that `lasts` gives.
    pub fn span(&self, flows: &Flows, lasts: &dyn Fn(FlowId) -> Time) -> Time {
        self.walk(flows, lasts).unwrap_or(Time::NEVER)
    }

    /// Goes through all flows and steps in an order that the dependencies allow. Returns the time at which the last of them
    /// ends, or a flow or step on a cycle if there is no such order.
    fn walk(&self, flows: &Flows, lasts: &dyn Fn(FlowId) -> Time) -> Result<Time, u32> {
        let start = |item: usize| {
            if item < flows.len() { flows.start(FlowId::at(item)) } else { self.step(item).start }
        };
        let mut left = self.waits.clone();
        let mut ready: Vec<Time> = (0..left.len()).map(start).collect();
        let mut queue: VecDeque<u32> = (0..left.len() as u32).filter(|&i| left[i as usize] == 0).collect();
        let (mut seen, mut last) = (0, Time::ZERO);
        while let Some(item) = queue.pop_front() {
            seen += 1;
            let lasts = if item < self.flows { lasts(FlowId(item)) } else { Time::ZERO };
            let end = ready[item as usize].saturating_add(lasts);
            last = last.max(end);
            for edge in self.milestones_of(item).flat_map(|m| self.after(m)) {
                let then = edge.then as usize;
                ready[then] = ready[then].max(end.saturating_add(edge.delay));
                left[then] -= 1;
                if left[then] == 0 {
                    queue.push_back(edge.then);
                }
            }
        }
        if seen == left.len() {
            return Ok(last);
        }
        Err(self.on_a_cycle(&left))
    }

    /// A flow or step on a cycle. `left` gives the number of milestones that each flow or step waits for and that never
    /// come. Each item that never starts waits for another such item, so a walk back from item to item, as long as there
    /// are items, ends on a cycle.
    fn on_a_cycle(&self, left: &[u32]) -> u32 {
        let mut waits_for = vec![u32::MAX; left.len()];
        for item in (0..left.len() as u32).filter(|&i| left[i as usize] > 0) {
            for edge in self.milestones_of(item).flat_map(|m| self.after(m)) {
                waits_for[edge.then as usize] = item;
            }
        }
        let mut item = left.iter().position(|&n| n > 0).unwrap_or(0);
        for _ in 0..left.len() {
            item = waits_for[item] as usize;
        }
        item as u32
    }

    /// What waits for a milestone, by the number that [`Dependencies::milestone`] gives it.
    #[inline]
    pub(crate) fn after(&self, milestone: usize) -> &[Edge] {
        &self.edges[self.first[milestone] as usize..self.first[milestone + 1] as usize]
    }

    /// The milestones of a flow, or of a step, by their numbers.
    fn milestones_of(&self, item: u32) -> Range<usize> {
        let first = if item < self.flows { 2 * item as usize } else { (item + self.flows) as usize };
        first..first + if item < self.flows { 2 } else { 1 }
    }

    fn step(&self, item: usize) -> Step {
        self.steps[item - self.flows as usize]
    }

    fn waiter(&self, then: Waiter) -> u32 {
        match then {
            Waiter::Flow(flow) => flow,
            Waiter::Step(step) => self.flows + step,
        }
    }

    /// By flow, then step: the number of milestones that it waits for whose times are not known from the schedule alone: all but those of steps without a
    /// processor that wait for none of these. Such steps come as the run begins, with their times. Empty if nothing waits.
    pub(crate) fn unknown_waits(&self) -> Vec<u32> {
        let mut left = self.waits.clone();
        let mut queue: Vec<u32> = (0..left.len() as u32).filter(|&item| left[item as usize] == 0).collect();
        while let Some(item) = queue.pop() {
            if item < self.flows || self.step(item as usize).hold.is_some() {
                continue;
            }
            for edge in self.milestones_of(item).flat_map(|milestone| self.after(milestone)) {
                let left = &mut left[edge.then as usize];
                *left -= 1;
                if *left == 0 {
                    queue.push(edge.then);
                }
            }
        }
        left
    }

    /// By flow, then step: a number that it shares with all that it waits for or that wait for it, by however many others. Empty if
    /// nothing waits.
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut sets = UnionFind::<u32>::new(self.waits.len());
        let milestones = self.first.len().saturating_sub(1);
        for milestone in 0..milestones {
            let item = match milestone.checked_sub(2 * self.flows as usize) {
                None => milestone as u32 / 2,
                Some(step) => self.flows + step as u32,
            };
            self.after(milestone).iter().for_each(|edge| {
                sets.union(item, edge.then);
            });
        }
        // Steps of one processor wait for each other.
        let mut last = vec![None; self.processors];
        for (step, hold) in self.steps.iter().enumerate().filter_map(|(i, step)| Some((i, step.hold?))) {
            let step = self.flows + step as u32;
            if let Some(before) = last[hold.processor as usize].replace(step) {
                sets.union(before, step);
            }
        }
        sets.into_labeling()
    }

    /// The number of a milestone.
    pub(crate) fn milestone(&self, on: Milestone) -> usize {
        match on {
            Milestone::Sent(flow) => 2 * flow as usize,
            Milestone::Delivered(flow) => 2 * flow as usize + 1,
            Milestone::Step(step) => 2 * self.flows as usize + step as usize,
        }
    }

    fn name(&self, item: u32) -> String {
        if item < self.flows { format!("flow {item}") } else { format!("step {}", item - self.flows) }
    }

    /// The number of processors, each of one host.
    fn count_processors(&self, topology: &Topology) -> Result<usize, DependencyError> {
        let mut host_of: Vec<Option<NodeId>> = Vec::new();
        for (step, hold) in self.steps.iter().filter_map(|s| Some((s, s.hold?))) {
            let number = hold.processor as usize;
            if number >= self.steps.len() {
                let count = self.steps.len();
                return Err(DependencyError::Unknown { what: "processor", number: hold.processor, count });
            }
            host_of.resize(host_of.len().max(number + 1), None);
            let first = *host_of[number].get_or_insert(step.host);
            if first != step.host {
                let name = |node: NodeId| topology.nodes[node.index()].name.clone();
                let (first, second) = (name(first), name(step.host));
                return Err(DependencyError::Processor { number: hold.processor, first, second });
            }
        }
        Ok(host_of.len())
    }

    /// Refuses a dependency on a flow or step that does not exist, or on a milestone that the waiting host does not know.
    fn check(&self, d: &Dependency, flows: &Flows, topology: &Topology) -> Result<(), DependencyError> {
        let flow = |number: u32| {
            let unknown = DependencyError::Unknown { what: "flow", number, count: flows.len() };
            if (number as usize) < flows.len() { Ok(flows.of(FlowId(number))) } else { Err(unknown) }
        };
        let step = |number: u32| {
            let unknown = DependencyError::Unknown { what: "step", number, count: self.steps.len() };
            self.steps.get(number as usize).ok_or(unknown)
        };
        let known = match d.on {
            Milestone::Delivered(f) => flow(f)?.dst,
            Milestone::Sent(f) => flow(f)?.src,
            Milestone::Step(s) => step(s)?.host,
        };
        let waits = match d.then {
            Waiter::Flow(f) => flow(f)?.src,
            Waiter::Step(s) => step(s)?.host,
        };
        if known == waits || self.anywhere {
            return Ok(());
        }
        let host = |node: NodeId| topology.nodes[node.index()].name.clone();
        let then = self.name(self.waiter(d.then));
        let on = match d.on {
            Milestone::Delivered(f) => format!("the delivery of flow {f}"),
            Milestone::Sent(f) => format!("the last ACK of flow {f}"),
            Milestone::Step(s) => format!("step {s}"),
        };
        Err(DependencyError::Elsewhere { then, waits: host(waits), on, known: host(known) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_waits_for_another_one_by_others() {
        // Flow 1 waits for the delivery of flow 0, flow 2 for that of flow 1, and flow 3 for the last ACK of flow 0: flows 2 and 3 are two branches.
        let edge = |then| Edge { then, delay: Time::ZERO };
        let all = Dependencies {
            flows: 4,
            waits: vec![0, 1, 1, 1],
            // Milestones 0 and 1 are flow 0's last ACK and its delivery, and so on.
            first: vec![0, 1, 2, 2, 3, 3, 3, 3, 3],
            edges: vec![edge(3), edge(1), edge(2)],
            ..Dependencies::default()
        };
        let waits = |flow: u32, on: u32| all.flow_waits_for(FlowId(flow), FlowId(on), 8);
        for (flow, on) in [(1, 0), (2, 0), (3, 0), (2, 1)] {
            assert!(waits(flow, on) && !waits(on, flow), "{flow} waits for {on}");
        }
        assert!(!waits(3, 2) && !waits(2, 3) && !waits(3, 1));
        // Flow 2 is the third that waits, by way of flow 1; nothing is found among the flow itself alone.
        assert!(!all.flow_waits_for(FlowId(2), FlowId(0), 1));
        assert!(!Dependencies::default().flow_waits_for(FlowId(1), FlowId(0), 8));
    }
}
