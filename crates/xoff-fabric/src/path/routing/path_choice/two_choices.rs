//! Two random choices (Mitzenmacher, IEEE TPDS 12(10), 2001): of two next hops drawn at random, the one with the shorter
//! egress queue.
//!
//! This smallest path choice is the example of CONTRIBUTING.md and is compiled only for tests.

use xoff_engine::Stream;

use super::{Candidate, ChoosePath, Load, below};
use crate::ids::PortId;

/// Each switch compares two of its candidates, which may be the same.
pub(super) struct TwoChoices;

impl ChoosePath for TwoChoices {
    const NAME: &'static str = "two_choices";
    const ADAPTS: bool = true;

    fn at_switch(
        candidates: &[Candidate],
        load: impl Fn(PortId) -> Load,
        random: &mut Stream,
    ) -> Option<PortId> {
        let mut draw =
            || candidates.get(below(candidates.len() as u64, random) as usize).map(|&(port, _)| port);
        let (first, second) = (draw()?, draw()?);
        Some(if load(second) < load(first) { second } else { first })
    }
}

#[cfg(test)]
mod tests {
    use xoff_engine::{Domain, Rate, Time, stream};
    use xoff_schemes::AnyScheme;

    use super::*;
    use crate::ids::NodeId;
    use crate::path::topology::{LeafSpine, TopologyKind};
    use crate::routing::{Ecmp, PathChoice, Routing};
    use crate::settings::{FlowControl, Settings};
    use crate::{Flow, Network, Recording, Simulation};

    /// A packet takes the longer of two queues only if both draws hit that queue: 1,000 of 4,000 packets in the mean, with a
    /// standard deviation of sqrt(4,000 x 1/4 x 3/4) = 27.4.
    #[test]
    fn the_longer_queue_gets_a_quarter() {
        let mut random = stream(1, Domain::Routing, 0);
        let load = |port| if port == PortId(7) { (1_000, true) } else { (0, false) };
        let mut pick =
            || PathChoice::TwoChoices.at_switch(&[(PortId(5), 1), (PortId(7), 1)], load, &mut random);
        let longer = (0..4_000).filter(|_| pick() == Some(PortId(7))).count();
        assert!(longer.abs_diff(1_000) < 3 * 27, "{longer}");
        assert_eq!(PathChoice::TwoChoices.at_switch(&[], load, &mut random), None);
    }

    /// Two hosts on two leaves with two spines. A packet of a lone flow finds both wires free, since all links have the same
    /// rate, so the first draw decides: 500 of 1,000 packets per spine, with a standard deviation of 15.8.
    #[test]
    fn a_lone_flow_takes_both_spines_alike() {
        let rate = Rate::from_gbps(100);
        let topology = LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 1, rate, ..LeafSpine::default() };
        let routing = Routing::Ecmp(Ecmp { choice: PathChoice::TwoChoices, ..Ecmp::default() });
        let settings = Settings { flow_control: FlowControl::None, ..Settings::default() };
        let payload = 1_000 * crate::settings::WireSizes::new(&settings, &Default::default()).payload;
        let flow = Flow::new(NodeId(0), NodeId(1), payload.into(), Time::ZERO, 0);
        let scheme = AnyScheme::read("none", serde_json::json!({})).expect("known").expect("no parameters");
        let topology = topology.build().expect("a leaf-spine");
        let net = Network::build(topology, &routing, settings, scheme, vec![flow], 1).expect("built");
        let mut sim = Simulation::new(net, None, Recording::default(), None);
        sim.run(&mut |_| true).expect("no loss");
        // Two links lead to hosts; links 2 and 3 lead from leaf 0, their end a, to the spines.
        let sent = [4, 6].map(|port| sim.port(PortId(port)).tx_packets);
        assert_eq!(sent.iter().sum::<u64>(), 1_000);
        assert!(sent[0].abs_diff(500) < 48, "{sent:?}");
    }
}
