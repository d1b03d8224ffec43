//! The plan of a run's faults: what is broken when, and what each node has to do about it.

use std::collections::BTreeMap;

use xoff_engine::{Rate, Time};

use super::epochs::Epochs;
use super::outages::Outages;
use super::{Broken, Fault, FrameLoss, Outage};
use crate::ids::{ConnectionId, NodeId, PortId};
use crate::network::Route;
use crate::path::routing::NextHops;
use crate::path::topology::Topology;

/// What a node does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The port's link goes down.
    Down(PortId),
    /// The port's link comes up.
    Up(PortId),
    /// The port's link has another rate.
    Rate(PortId, Rate),
    /// The NIC at a port begins to babble: the fault, by its place in the plan.
    Storm(u32),
    /// The host stops to take data, or takes it slowly: the fault.
    Stop(u32),
    /// The host takes data again.
    Go,
}

/// The rate of a link whose own is `nominal`, if the lowest rate of faults is `lowest`.
fn lowered(nominal: Rate, lowest: Option<Rate>) -> Rate {
    lowest.map_or(nominal, |rate| rate.min(nominal))
}

/// A node's act at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub at: Time,
    pub node: NodeId,
    pub act: Act,
}

/// The faults of a run.
#[derive(Debug, Default)]
pub struct FaultPlan {
    /// By beginning.
    faults: Vec<Fault>,
    /// By link: when it is down.
    down: Vec<Outages>,
    /// By link that loses frames: the faults.
    lossy: BTreeMap<u32, Vec<u32>>,
    /// By link whose rate changes: the times at which it does so, each with the lowest rate of the faults in force from then on.
    slow: BTreeMap<u32, Vec<(Time, Option<Rate>)>>,
    /// By host that stops: when.
    stopped: BTreeMap<NodeId, Outages>,
    /// By time, then node.
    steps: Vec<Step>,
    /// What routing knows of links that are down.
    epochs: Epochs,
    /// When anything breaks, is whole again, or becomes known to routing, in order.
    changes: Vec<Time>,
    /// When something is broken that takes random numbers or keeps times of its own: frames are lost, a NIC babbles, a receiver stops or is slow.
    restless: Outages,
    /// What breaks may spoil a frame that began on a wire so long before: the most time from a frame's first bit to its arrival.
    foresight: Time,
}

impl FaultPlan {
    /// The plan of `faults`, in any order, without convergence of routing.
    pub fn new(topology: &Topology, mut faults: Vec<Fault>) -> FaultPlan {
        faults.sort_by_key(|fault| (fault.from, fault.event));
        let mut plan =
            FaultPlan { down: vec![Outages::default(); topology.links.len()], ..FaultPlan::default() };
        let (mut slow, mut receivers) =
            (BTreeMap::<u32, Vec<(Time, Time, Rate)>>::new(), BTreeMap::<NodeId, Vec<u32>>::new());
        for (number, fault) in (0u32..).zip(&faults) {
            let outage = Outage { from: fault.from, until: fault.until, fault: number };
            if fault.what.is_restless() {
                plan.restless.add(outage);
            }
            match fault.what {
                Broken::Link(link) => plan.down[link as usize].add(outage),
                Broken::Switch(node) => {
                    let links = topology.links.iter().zip(&mut plan.down);
                    links
                        .filter(|(link, _)| link.a == node || link.b == node)
                        .for_each(|(_, down)| down.add(outage));
                }
                Broken::Rate { link, rate } => {
                    slow.entry(link).or_default().push((fault.from, fault.until, rate));
                }
                Broken::Frames { link, .. } => plan.lossy.entry(link).or_default().push(number),
                Broken::PauseStorm { port, .. } => {
                    let node = topology.node_of(port);
                    plan.steps.push(Step { at: fault.from, node, act: Act::Storm(number) });
                }
                Broken::Receiver { host, rate, .. } => {
                    receivers.entry(host).or_default().push(number);
                    if rate.is_none() {
                        plan.stopped.entry(host).or_default().add(outage);
                    }
                }
            }
        }
        plan.faults = faults;
        for (link, outages) in plan.down.iter().enumerate() {
            for outage in outages.iter() {
                for port in PortId::of_link(link) {
                    let node = topology.node_of(port);
                    plan.steps.push(Step { at: outage.from, node, act: Act::Down(port) });
                    plan.steps.push(Step { at: outage.until, node, act: Act::Up(port) });
                }
            }
        }
        for (&host, faults) in &receivers {
            plan.hold_up(host, faults);
        }
        for (link, slow) in slow {
            plan.slow_down(topology, link, &slow);
        }
        plan.steps.retain(|step| step.at < Time::NEVER);
        // Stable: a node's acts of one time come in the order in which they were made.
        plan.steps.sort_by_key(|step| (step.at, step.node));
        plan.note_changes();
        plan
    }

    /// Takes note of the times from which on the network is another one.
    fn note_changes(&mut self) {
        let bounds = self.faults.iter().flat_map(|fault| [fault.from, fault.until]);
        let mut times: Vec<Time> = bounds.chain(self.epochs.begins()).collect();
        times.retain(|time| *time < Time::NEVER);
        times.sort_unstable();
        times.dedup();
        self.changes = times;
    }

    /// The number of changes before a time or at it: of what is broken, and of what routing knows of it.
    pub(crate) fn changes_until(&self, at: Time) -> usize {
        self.changes.partition_point(|change| *change <= at)
    }

    /// When the latest of these changes was; zero if there was none.
    pub(crate) fn unchanged_since(&self, at: Time) -> Time {
        self.changes_until(at).checked_sub(1).map_or(Time::ZERO, |last| self.changes[last])
    }

    /// Whether nothing changes from a time to another one, both included, and nothing is broken that takes random numbers or keeps times
    /// of its own.
    pub(crate) fn is_calm(&self, from: Time, until: Time) -> bool {
        let before = self.changes.partition_point(|change| *change < from);
        before == self.changes_until(until) && !self.is_restless(from)
    }

    /// When the next change after a time comes; [`Time::NEVER`] if none does.
    pub(crate) fn next_change(&self, after: Time) -> Time {
        self.changes.get(self.changes_until(after)).copied().unwrap_or(Time::NEVER)
    }

    /// From when on frames may begin on a wire that the next change after a time spoils; [`Time::NEVER`] if none comes.
    pub(crate) fn next_effect(&self, after: Time) -> Time {
        self.next_change(after).before(self.foresight)
    }

    /// Whether something is broken at a time that takes random numbers, or keeps times of its own.
    pub(crate) fn is_restless(&self, at: Time) -> bool {
        self.restless.between(at, at).is_some()
    }

    /// Lets a link have a rate from one time to another, several times, and makes the steps of its two ports.
    fn slow_down(&mut self, topology: &Topology, link: u32, slow: &[(Time, Time, Rate)]) {
        let mut bounds: Vec<(Time, Rate, bool)> =
            slow.iter().flat_map(|&(from, until, rate)| [(from, rate, true), (until, rate, false)]).collect();
        bounds.sort_unstable();
        // By rate: the number of faults in force.
        let mut in_force = BTreeMap::<Rate, i64>::new();
        let mut changes = Vec::new();
        for at in bounds.chunk_by(|a, b| a.0 == b.0) {
            for &(_, rate, begins) in at {
                let count = in_force.entry(rate).or_default();
                *count += if begins { 1 } else { -1 };
                if *count == 0 {
                    in_force.remove(&rate);
                }
            }
            changes.push((at[0].0, in_force.keys().next().copied()));
        }
        for &(at, lowest) in &changes {
            for port in PortId::of_link(link as usize) {
                let act = Act::Rate(port, lowered(topology.rate(port), lowest));
                self.steps.push(Step { at, node: topology.node_of(port), act });
            }
        }
        self.slow.insert(link, changes);
    }

    /// Whether the rate of any link changes.
    pub(crate) fn changes_rates(&self) -> bool {
        !self.slow.is_empty()
    }

    /// The rate of a port's link at a time: the lowest of the faults in force, but no more than the link's own.
    pub(crate) fn rate(&self, topology: &Topology, port: PortId, at: Time) -> Rate {
        let changes = self.slow.get(&(port.link() as u32)).map_or(&[][..], Vec::as_slice);
        let last = changes.partition_point(|&(from, _)| from <= at).checked_sub(1);
        lowered(topology.rate(port), last.and_then(|last| changes[last].1))
    }

    /// The steps of a host whose receiver stops or is slow: at each time it has stopped if any fault in force says so, and has
    /// the lowest of their rates otherwise.
    fn hold_up(&mut self, host: NodeId, faults: &[u32]) {
        let fault = |number: u32| &self.faults[number as usize];
        let mut times: Vec<Time> =
            faults.iter().flat_map(|&number| [fault(number).from, fault(number).until]).collect();
        times.sort_unstable();
        times.dedup();
        let (mut steps, mut last) = (Vec::new(), None);
        for at in times {
            let in_force =
                faults.iter().filter(|&&number| fault(number).from <= at && at < fault(number).until);
            let worst = in_force.copied().min_by_key(|&number| match fault(number).what {
                Broken::Receiver { rate, .. } => (rate, number), // no rate comes first
                _ => (None, number),
            });
            if worst != last {
                steps.push(Step { at, node: host, act: worst.map_or(Act::Go, Act::Stop) });
                last = worst;
            }
        }
        self.steps.append(&mut steps);
    }

    /// Lets frames of up to `bytes` begin on the wires.
    pub(crate) fn foresee(&mut self, topology: &Topology, bytes: u64) {
        let changed = self.slow.values().flatten().filter_map(|(_, rate)| *rate);
        let lowest = changed.min();
        let on_wire = |port| {
            lowered(topology.rate(port), lowest).serialization(bytes).saturating_add(topology.delay(port))
        };
        self.foresight = topology.port_ids().map(on_wire).max().unwrap_or(Time::ZERO);
    }

    /// Lets routing know of links that are down.
    pub(crate) fn set_epochs(&mut self, epochs: Epochs) {
        self.epochs = epochs;
        self.note_changes();
    }

    /// Whether routing learns of links that go down.
    pub(crate) fn converges(&self) -> bool {
        self.epochs.last() > Time::ZERO
    }

    /// The faults, by their beginning.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// What the nodes do, by time.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// When the last link has gone down or come up, with the time at which routing knows of it, and the last other step is done.
    pub fn settled_at(&self) -> Time {
        let last = self.steps.last().map_or(Time::ZERO, |step| step.at);
        let ends = self.faults.iter().map(|fault| fault.until).filter(|until| *until < Time::NEVER);
        last.max(ends.max().unwrap_or(Time::ZERO)).max(self.epochs.last())
    }

    /// The outage of a link at any time after `begin` or at it, up to and including `end`.
    pub(crate) fn outage(&self, link: usize, begin: Time, end: Time) -> Option<&Outage> {
        self.down[link].between(begin, end)
    }

    /// By link: whether it is down at a time.
    pub(super) fn dead(&self, at: Time) -> Vec<u32> {
        let down = self.down.iter().zip(0u32..);
        down.filter(|(outages, _)| outages.between(at, at).is_some()).map(|(_, link)| link).collect()
    }

    /// When links go down or come up.
    pub(super) fn link_changes(&self) -> Vec<Time> {
        let spans = self.down.iter().flat_map(Outages::iter).flat_map(|outage| [outage.from, outage.until]);
        let mut times: Vec<Time> = spans.filter(|time| *time < Time::NEVER).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The faults that make a link lose frames at a time.
    pub(crate) fn losses(&self, link: usize, at: Time) -> impl Iterator<Item = (u32, FrameLoss)> {
        let all = self.lossy.get(&(link as u32)).into_iter().flatten();
        all.filter_map(move |&number| {
            let fault = &self.faults[number as usize];
            match fault.what {
                Broken::Frames { loss, .. } if fault.from <= at && at < fault.until => Some((number, loss)),
                _ => None,
            }
        })
    }

    /// The outage of a host's receiver at a time.
    pub(crate) fn receiver_outage(&self, host: NodeId, at: Time) -> Option<&Outage> {
        self.stopped.get(&host)?.between(at, at)
    }

    /// The route of a connection at a time; `None` for the route that it began with.
    pub(crate) fn route(&self, connection: ConnectionId, at: Time) -> Option<&Route> {
        self.epochs.at(at)?.routes.get(&connection)
    }

    /// The routes of a connection other than the one that it began with.
    pub(crate) fn detours(&self, connection: ConnectionId) -> impl Iterator<Item = &Route> {
        self.epochs.routes(connection)
    }

    /// The next hops of all switches at a time; `None` for those that the run began with.
    pub(crate) fn next_hops(&self, at: Time) -> Option<&NextHops> {
        self.epochs.at(at)?.next_hops.as_deref()
    }

    /// What is down at a time on the links of `ports`.
    pub fn down_on(&self, ports: &[PortId], at: Time) -> Option<u32> {
        ports
            .iter()
            .map(|port| port.link())
            .find(|&link| self.outage(link, at, at).is_some())
            .map(|link| link as u32)
    }

    /// Whether a host takes no data at a time.
    pub fn has_stopped(&self, host: NodeId, at: Time) -> bool {
        self.receiver_outage(host, at).is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::topology::AnyTopology;

    #[test]
    fn a_link_has_the_lowest_rate_of_the_faults_in_force() {
        // 25 Gbps from 1 to 6 us; within it 10 Gbps from 2 to 4 us, and 25 Gbps again from 3 to 5 us; 400 Gbps is more than the link has, and
        // a fault that ends as it begins is none.
        let star = AnyTopology::read("star", json!({ "hosts": 2, "rate": "100Gbps" }))
            .expect("known")
            .expect("valid");
        let topology = star.build().expect("a star");
        let at = |gbps, from, until| Fault {
            what: Broken::Rate { link: 1, rate: Rate::from_gbps(gbps) },
            from: Time::from_us(from),
            until: Time::from_us(until),
            event: 0,
        };
        let faults = vec![at(25, 1, 6), at(10, 2, 4), at(25, 3, 5), at(400, 0, 9), at(1, 7, 7)];
        let plan = FaultPlan::new(&topology, faults);
        let [port, peer] = PortId::of_link(1);
        let rate = |port, time| plan.rate(&topology, port, time).0 / 1_000_000_000;
        let rates = [0, 1, 2, 3, 4, 5, 6, 7, 9].map(|us| rate(port, Time::from_us(us)));
        assert_eq!(rates, [100, 25, 10, 10, 25, 25, 100, 100, 100]);
        assert_eq!(rate(port, Time::from_us(4) - Time(1)), 10);
        assert_eq!(rate(PortId::of_link(0)[0], Time::from_us(3)), 100);
        // Both ends take these rates at these times.
        for port in [port, peer] {
            let steps = plan.steps().iter().filter_map(|step| match step.act {
                Act::Rate(of, rate) if of == port => Some((step.at, rate)),
                _ => None,
            });
            let expected = [0, 1, 2, 3, 4, 5, 6, 7, 9].map(Time::from_us).into_iter().zip(rates);
            let expected: Vec<_> = expected.map(|(at, gbps)| (at, Rate::from_gbps(gbps))).collect();
            assert_eq!(steps.collect::<Vec<_>>(), expected);
        }
        assert!(plan.changes_rates() && !FaultPlan::default().changes_rates());
    }
}
