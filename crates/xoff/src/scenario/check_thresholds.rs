//! PFC's default threshold, and warnings of thresholds that the network cannot work with as they are meant to.

use std::collections::BTreeSet;

use xoff_engine::{Bytes, Rate};
use xoff_fabric::link::buffer::{LinkEnds, headroom, pfc_headroom};
use xoff_fabric::link::flow_control::sizing::Sizing;
use xoff_fabric::network::WireSizes;
use xoff_fabric::settings::{CreditUnit, FlowControl, Pfc, Settings};
use xoff_fabric::topology::{NodeId, NodeKind, PortId, Topology};
use xoff_schemes::Signals;
use xoff_schemes::detector::AnyDetector;
use xoff_traffic::Traffic;

use super::check::Checker;
use super::{Scenario, check_load};

/// The ports of each switch.
fn switches(topology: &Topology) -> Vec<Vec<PortId>> {
    let adjacency = topology.adjacency();
    let nodes = NodeId::all(topology.nodes.len()).zip(&topology.nodes);
    nodes
        .filter(|(_, node)| node.kind == NodeKind::Switch)
        .map(|(id, _)| adjacency.ports_of(id).to_vec())
        .collect()
}

/// Fills in PFC's default threshold, if it is the same at all ports. Ports of several rates keep each its own.
pub(super) fn resolve(s: &mut Scenario, signals: &Signals, topology: &Topology) {
    let wire = WireSizes::new(&s.settings(), signals);
    let (priorities, buffer, link) = (s.switch.priorities, s.switch.buffer, &s.link);
    let FlowControl::Pfc(pfc) = &mut s.flow_control else { return };
    if !pfc.has_default_xoff() {
        return;
    }
    let (frame, pfc_frames) = (wire.largest(), wire.pfc_frames(priorities));
    let mut found = BTreeSet::new();
    for ports in switches(topology) {
        let rooms = ports
            .iter()
            .map(|&port| pfc_headroom(pfc, &LinkEnds::at(topology, link, &wire, port), frame, pfc_frames));
        let headrooms = rooms.fold(0u64, u64::saturating_add).saturating_mul(priorities.into());
        let queues = ports.len() as u64 * u64::from(priorities);
        found.extend(ports.iter().map(|port| {
            let xoff = Pfc::default_xoff(topology.rate(port.peer()));
            buffer.map_or(xoff, |b| Pfc::bounded_xoff(xoff, b.0.saturating_sub(headrooms) / queues, frame))
        }));
    }
    if let (Some(xoff), 1) = (found.first(), found.len()) {
        pfc.xoff = Some(Bytes(*xoff));
    }
}

/// Warns of thresholds that stand in the wrong order or out of reach, of short headroom, and of loads beyond the links.
pub(super) fn all(
    c: &mut Checker<'_>,
    s: &Scenario,
    signals: &Signals,
    topology: &Topology,
    traffic: Option<&Traffic>,
) {
    if !c.problems.is_empty() {
        return; // Sizes may be too large to calculate with.
    }
    let wire = WireSizes::new(&s.settings(), signals);
    let queues = egress_queues(s, topology, &wire);
    if !silent_marks(c, s, &queues) {
        late_marks(c, s, &queues);
    }
    short_headroom(c, s, topology, &wire);
    if let Some(traffic) = traffic {
        check_load::all(c, topology.hosts().len(), traffic, &wire);
    }
}

/// An egress queue of a switch, to which something can come.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EgressQueue {
    rate: Rate,
    inputs: usize,
    /// The fewest inputs that bring more than the link carries; `None` if all of them do not.
    fewest: Option<usize>,
    /// The most that it can hold, in bytes: what flow control lets all other ports bring in; `None` without a bound.
    most: Option<u64>,
}

/// The bytes that may be in a switch of the packets that came in by a port, for one priority; `None` without a bound.
pub(super) fn room(settings: &Settings, topology: &Topology, wire: &WireSizes, port: PortId) -> Option<u64> {
    let credits = || Sizing::of(topology, port, settings, wire).most();
    match &settings.flow_control {
        FlowControl::Pfc(pfc) => {
            let by_rate = || pfc.has_default_xoff().then(|| Pfc::default_xoff(topology.rate(port.peer())));
            let xoff = pfc.xoff.map(|xoff| xoff.0).or_else(by_rate)?;
            let pfc_frames = wire.pfc_frames(settings.switch.priorities);
            Some(xoff.saturating_add(pfc_headroom(
                pfc,
                &LinkEnds::at(topology, &settings.link, wire, port),
                wire.largest(),
                pfc_frames,
            )))
        }
        FlowControl::Cbfc(_) => Some(credits().saturating_mul(64)),
        FlowControl::UeCbfc(cbfc) => Some(credits().saturating_mul(cbfc.cell.0)),
        FlowControl::Credit(credit) => {
            let unit = if credit.unit == CreditUnit::Packet { wire.frame() } else { credit.flit.0 };
            Some(credits().saturating_mul(unit))
        }
        _ => None,
    }
}

/// The egress queues of all switches. Of those that are alike, which in a regular network almost all are, there is one.
fn egress_queues(s: &Scenario, topology: &Topology, wire: &WireSizes) -> BTreeSet<EgressQueue> {
    let settings = s.settings();
    let mut queues = BTreeSet::new();
    for ports in switches(topology) {
        let rooms: Vec<Option<u64>> =
            ports.iter().map(|&port| room(&settings, topology, wire, port)).collect();
        let all = rooms.iter().try_fold(0u64, |sum, &room| Some(sum.saturating_add(room?)));
        let arriving = Arriving::new(ports.iter().map(|port| topology.rate(port.peer())));
        let inputs = ports.len().saturating_sub(1);
        for (&port, own) in ports.iter().zip(&rooms).filter(|_| inputs > 0) {
            // A queue grows also behind a neighbour that pauses the port.
            let rate = topology.rate(port);
            let most = all.zip(*own).map(|(all, own)| all - own.min(all));
            let most = most.into_iter().chain(s.switch.buffer.map(|b| b.0)).min();
            let fewest = arriving.fewest_above(rate, topology.rate(port.peer()));
            queues.insert(EgressQueue { rate, inputs, fewest, most });
        }
    }
    queues
}

/// The rates at which a switch's links bring packets.
struct Arriving {
    /// The highest first.
    rates: Vec<u64>,
    /// The sums of the first rates, of none at first.
    sums: Vec<u128>,
}

impl Arriving {
    fn new(rates: impl Iterator<Item = Rate>) -> Arriving {
        let mut rates: Vec<u64> = rates.map(Rate::bps).collect();
        rates.sort_unstable_by(|a, b| b.cmp(a));
        let mut sums = vec![0];
        for &rate in &rates {
            sums.push(sums[sums.len() - 1] + u128::from(rate));
        }
        Arriving { rates, sums }
    }

    /// The fewest links, other than one of rate `own`, that bring more than `rate`.
    fn fewest_above(&self, rate: Rate, own: Rate) -> Option<usize> {
        let fewest = |above: u128| self.sums.partition_point(|&sum| sum <= above);
        let place = self.rates.partition_point(|&r| r > own.bps());
        let among_faster = fewest(u128::from(rate.bps()));
        if among_faster <= place {
            return Some(among_faster);
        }
        let with_own = fewest(u128::from(rate.bps()) + u128::from(own.bps()));
        (with_own < self.sums.len()).then(|| with_own - 1)
    }
}

/// The queue length at which marks begin at ports of `rate`, and its key.
fn first_mark(detector: &AnyDetector, rate: Rate) -> Option<(u64, &'static str)> {
    match detector {
        AnyDetector::Fecn(fecn) => Some((fecn.threshold.0, "threshold")),
        _ => {
            let red = detector.red()?;
            let key = if red.step.is_some() { "step" } else { "k_min" };
            Some((red.thresholds(rate).0, key))
        }
    }
}

/// Warns of marks that begin where PAUSE has stopped as many senders as it takes to make a queue.
fn late_marks(c: &mut Checker<'_>, s: &Scenario, queues: &BTreeSet<EgressQueue>) {
    let (Some(detector), FlowControl::Pfc(Pfc { xoff: Some(xoff), .. })) = (&s.detector, &s.flow_control)
    else {
        return;
    };
    let late = |queue: &EgressQueue| {
        let (mark, key) = first_mark(detector, queue.rate)?;
        let stopped = mark.checked_div(xoff.0)?.min(queue.inputs as u64);
        (stopped >= queue.fewest? as u64).then_some((mark, key, queue.rate, stopped))
    };
    if let Some((mark, key, rate, inputs)) = queues.iter().filter_map(late).max() {
        let with = if inputs == 1 { "one input".to_string() } else { format!("up to {inputs} inputs") };
        c.warnings.push(format!(
            "marks begin at {} (`{key}` at {rate}), PAUSE at {xoff} an input (`xoff`): with {with} PAUSE comes before any mark",
            Bytes(mark)
        ));
    }
}

/// Warns of marks that no queue is ever long enough for. Returns whether it did.
fn silent_marks(c: &mut Checker<'_>, s: &Scenario, queues: &BTreeSet<EgressQueue>) -> bool {
    let Some(detector) = &s.detector else { return false };
    let reach = |queue: &EgressQueue| {
        let (mark, key) = first_mark(detector, queue.rate)?;
        queue.most.filter(|&most| mark >= most).map(|most| (most, mark, key))
    };
    let found: Option<Vec<_>> = queues.iter().map(reach).collect();
    let Some((most, mark, key)) = found.and_then(|found| found.into_iter().max()) else { return false };
    c.warnings.push(format!(
        "nothing is ever marked: marks begin at {} (`{key}`), and no queue can hold more than {}",
        Bytes(mark),
        Bytes(most)
    ));
    true
}

/// Warns of less headroom than what arrives until the neighbour has stopped.
fn short_headroom(c: &mut Checker<'_>, s: &Scenario, topology: &Topology, wire: &WireSizes) {
    let FlowControl::Pfc(pfc) = &s.flow_control else { return };
    let (frame, pfc_frames) = (wire.largest(), wire.pfc_frames(s.switch.priorities));
    let key = if pfc.headroom.is_some() { "headroom" } else { "headroom_bdp" };
    let lacking = switches(topology).into_iter().flatten().filter_map(|port| {
        let ends = LinkEnds::at(topology, &s.link, wire, port);
        let given = pfc_headroom(pfc, &ends, frame, pfc_frames);
        let needed = headroom(&ends, frame, pfc_frames, pfc.response_quanta);
        (given < needed).then(|| (needed - given, needed, given, port))
    });
    if let Some((_, needed, given, port)) = lacking.max() {
        c.warnings.push(format!(
            "`{key}` in [flow_control] is {} at `{}`, and up to {} can arrive after PAUSE: packets may be lost",
            Bytes(given),
            topology.port_name(port.peer()),
            Bytes(needed)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ports of 400, 100, 100 and 100 Gb/s. Out of the first, 400 Gb/s, come the three others, 300 together: never more. Out of
    /// another, 100 Gb/s, comes the first, 400. Out of a port of 450 Gb/s that brings 100: 400 and 100, two. Of four equal ports two
    /// bring more than one carries, and of two never.
    #[test]
    fn the_fewest_inputs_that_exceed_a_port() {
        let gbps = |g: &u64| Rate::from_mbps(g * 1_000);
        let of = |rates: &[u64], rate, own| {
            Arriving::new(rates.iter().map(gbps)).fewest_above(gbps(&rate), gbps(&own))
        };
        let mixed = [100, 400, 100, 100];
        assert_eq!(of(&mixed, 400, 400), None);
        assert_eq!(of(&mixed, 100, 100), Some(1));
        assert_eq!(of(&mixed, 450, 100), Some(2));
        assert_eq!(of(&[100; 4], 100, 100), Some(2));
        assert_eq!(of(&[100; 2], 100, 100), None);
    }
}
