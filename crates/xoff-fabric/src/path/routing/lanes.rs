//! Virtual lanes: by which a packet passes each link, where routing takes several of them against deadlocks.
//!
//! The data priority of a packet in the network is `p L + l`: `p` is the priority of its traffic (InfiniBand's service level),
//! `L` the number of lanes that routing takes, and `l` the lane. Packets leave hosts on lane 0. A switch sets the next lane by
//! the link that the packet came by, the link that it leaves by, and its lane so far: InfiniBand's table from service level
//! to virtual lane has a row for each such pair of ports (Architecture Specification 1.3, 7.6.6), and PFC's priorities may be
//! changed at a switch in the same manner.

use crate::ids::PortId;
use crate::path::topology::Topology;

/// Maximum number of lanes: as many as PFC has priorities.
pub const MAX_LANES: u8 = 8;

/// How the lane changes from link to link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneRule {
    /// One more behind each link between two groups (Kim et al., ISCA 2008, Section 4.1).
    BehindGroups,
    /// Along a ring, 1 from the link that closes the ring on, and 0 before; 0 again in the next dimension (Dally and Seitz,
    /// IEEE Transactions on Computers 1987, Section IV).
    Dateline,
    /// One more behind each switch.
    ByHop,
}

/// What lanes depend on, of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneLink {
    /// Counted from 1; 0 for links of hosts.
    pub dimension: u8,
    /// The link joins two groups, or closes a ring.
    pub crosses: bool,
}

/// The lanes of a network's packets.
#[derive(Clone, Debug)]
pub struct Lanes {
    count: u8,
    rule: LaneRule,
    /// By link.
    links: Vec<LaneLink>,
}

impl Lanes {
    /// So many lanes by a rule, with what `link` says of each link.
    pub(super) fn new(
        topology: &Topology,
        count: u8,
        rule: LaneRule,
        link: impl Fn(PortId) -> LaneLink,
    ) -> Lanes {
        let links = (0..topology.links.len()).map(|number| link(PortId::of_link(number)[0])).collect();
        Lanes { count, rule, links }
    }

    /// The number of lanes that each priority of traffic takes.
    pub fn count(&self) -> u8 {
        self.count
    }

    /// The lane by which a packet leaves a switch by `egress` that has come by `ingress`, on `lane`.
    #[inline]
    pub fn next(&self, ingress: PortId, egress: PortId, lane: u8) -> u8 {
        let (from, to) = (self.links[ingress.link()], self.links[egress.link()]);
        match self.rule {
            LaneRule::BehindGroups => lane + u8::from(from.crosses),
            LaneRule::Dateline => {
                u8::from(to.crosses) + if from.dimension == to.dimension { lane } else { 0 }
            }
            LaneRule::ByHop => lane + u8::from(from.dimension != 0 && to.dimension != 0),
        }
        .min(self.count - 1)
    }

    /// The data priority of a packet behind a switch, by its data priority before the switch.
    #[inline]
    pub fn next_priority(&self, ingress: PortId, egress: PortId, priority: u8) -> u8 {
        let lane = priority % self.count;
        priority - lane + self.next(ingress, egress, lane)
    }

    /// A path with the lane of each link.
    pub fn along(&self, path: &[PortId]) -> Vec<(PortId, u8)> {
        let mut lane = 0;
        let mut links: Vec<(PortId, u8)> = Vec::with_capacity(path.len());
        for &port in path {
            // The ingress of a switch is the other end of the link before.
            if let Some(&(before, _)) = links.last() {
                lane = self.next(before.peer(), port, lane);
            }
            links.push((port, lane));
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::topology::{Dragonfly, TopologyKind};

    fn lanes(rule: LaneRule, links: &[(u8, bool)]) -> Lanes {
        let links = links.iter().map(|&(dimension, crosses)| LaneLink { dimension, crosses }).collect();
        Lanes { count: 4, rule, links }
    }

    fn along(lanes: &Lanes, links: &[u32]) -> Vec<u8> {
        let path: Vec<PortId> = links.iter().map(|&link| PortId(2 * link)).collect();
        lanes.along(&path).into_iter().map(|(_, lane)| lane).collect()
    }

    #[test]
    fn lanes_change_as_the_rule_says() {
        // Host, local, global, local, global, local, host: the lane counts the links between groups that lie behind.
        let links = [(0, false), (1, false), (1, true)];
        let path = [0, 1, 2, 1, 2, 1, 0];
        assert_eq!(along(&lanes(LaneRule::BehindGroups, &links), &path), [0, 0, 0, 1, 1, 2, 2]);
        // The first link between switches is lane 0, the fifth would be lane 4 of 4.
        assert_eq!(along(&lanes(LaneRule::ByHop, &links), &path), [0, 0, 1, 2, 3, 3, 3]);
        // Two links of dimension 1, of which the second closes the ring, one more, then dimension 2 without and with such a link.
        let links = [(0, false), (1, false), (1, true), (2, false), (2, true)];
        assert_eq!(
            along(&lanes(LaneRule::Dateline, &links), &[0, 1, 2, 1, 3, 4, 3, 0]),
            [0, 0, 1, 1, 0, 1, 1, 0]
        );
    }

    #[test]
    fn priorities_of_traffic_keep_to_lanes_of_their_own() {
        // Four lanes: priority 1 of traffic has 4 to 7. Behind a global link 5, its lane 1, becomes 6.
        let topology = Dragonfly::default().build().expect("a dragonfly");
        let link = |port: PortId| LaneLink { dimension: 1, crosses: port.link() == 0 };
        let lanes = Lanes::new(&topology, 4, LaneRule::BehindGroups, link);
        assert_eq!(lanes.next_priority(PortId(1), PortId(2), 5), 6);
        assert_eq!(lanes.next_priority(PortId(3), PortId(2), 5), 5);
    }
}
