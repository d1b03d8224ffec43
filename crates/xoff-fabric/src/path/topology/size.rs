//! How large a topology is, known before it is built.

use super::error::TopologyError;
use super::validate::check_size;

/// The numbers of a topology's nodes and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Links.
    pub links: u64,
    /// Switches that have hosts, at most: routing keeps something for each pair of them.
    pub host_switches: u64,
}

impl Size {
    /// A size within the maximum. The counts are 128 bits wide, so that products of three 32-bit parameters are exact.
    ///
    /// # Errors
    /// [`TopologyError::TooLarge`].
    pub(super) fn new(
        hosts: u128,
        switches: u128,
        links: u128,
        host_switches: u128,
    ) -> Result<Size, TopologyError> {
        check_size(hosts + switches, links)?;
        let [hosts, switches, links, host_switches] =
            [hosts, switches, links, host_switches].map(|count| count as u64);
        Ok(Size { hosts, switches, links, host_switches })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        AnyTopology, Chain, Dragonfly, DragonflyPlus, Dumbbell, FatTree, Hpn, HyperX, Jellyfish, Join,
        LeafSpine, NodeKind, RailOptimized, RailSpines, Star, Torus,
    };

    #[test]
    fn sizes_are_those_of_what_is_built() {
        // A fat-tree of k = 4: 16 hosts, 8 edge, 8 aggregation and 4 core switches, 16 links in each of three tiers.
        let size = AnyTopology::from(FatTree { k: 4, ..FatTree::default() }).size().unwrap();
        assert_eq!((size.hosts, size.switches, size.links, size.host_switches), (16, 20, 48, 8));
        let railed = LeafSpine { leaves: 4, rails: 2, planes: 2, ..LeafSpine::default() };
        let shared = RailOptimized { spine: RailSpines::Shared, ..RailOptimized::default() };
        let all: [AnyTopology; 17] = [
            shared.into(),
            RailOptimized::default().into(),
            Hpn::default().into(),
            Hpn { dual_plane: false, ..Hpn::default() }.into(),
            FatTree { k: 4, cores_per_agg: Some(1), planes: 2, ..FatTree::default() }.into(),
            Dragonfly { groups: Some(4), ..Dragonfly::default() }.into(),
            DragonflyPlus::default().into(),
            Torus { dimensions: vec![3, 2, 4], hosts_per_switch: 2, ..Torus::default() }.into(),
            HyperX { links_per_pair: 2, ..HyperX::default() }.into(),
            Jellyfish { switches: 7, degree: 3, ..Jellyfish::default() }.into(),
            FatTree { k: 4, rails: 2, planes: 2, ..FatTree::default() }.into(),
            LeafSpine::default().into(),
            railed.into(),
            Star::default().into(),
            Dumbbell::default().into(),
            Chain { join: Join::Middle, switches: 5, ..Chain::default() }.into(),
            AnyTopology::Graph(FatTree::default().build_listed()),
        ];
        for topology in all {
            let (size, built) = (topology.size().unwrap(), topology.build().unwrap());
            let of = |kind| built.nodes.iter().filter(|node| node.kind == kind).count() as u64;
            let counts = (of(NodeKind::Host), of(NodeKind::Switch), built.links.len() as u64);
            assert_eq!((size.hosts, size.switches, size.links), counts, "{topology:?}");
            let leaves = built.nodes.iter().filter(|node| node.tier == 1).count() as u64;
            assert!(leaves <= size.host_switches && size.host_switches <= size.switches, "{topology:?}");
        }
    }

    impl FatTree {
        fn build_listed(&self) -> super::super::Graph {
            use super::super::TopologyKind;
            self.build().unwrap().listed()
        }
    }
}
