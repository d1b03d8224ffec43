//! ECMP that shares flows by the capacity behind links, against shares by hand.

use xoff_engine::Rate;
use xoff_fabric::routing::{Ecmp, Router, Routing};
use xoff_fabric::topology::{NodeId, PortId};

use crate::routing::{network, path};

#[test]
fn weighted_hashes_share_flows_by_the_capacity_behind_links() {
    // From switch 0 two ways lead to switch 3: by switch 1 at 300 Gbps all the way, and by switch 2 at 400 Gbps and then 100 Gbps.
    // So 3 of 4 flows go by switch 1: of 4,000 flows 3,000 in the mean, with a standard deviation of sqrt(4,000 x 3/16) = 27.
    let mut t = network(4, &[(0, 1), (1, 3), (0, 2), (2, 3)], &[0, 3]);
    for (link, gbps) in (t.links.len() - 4..).zip([300, 300, 400, 100]) {
        (t.links[link].rate_ab, t.links[link].rate_ba) = (Rate::from_gbps(gbps), Rate::from_gbps(gbps));
    }
    let by_first = |weighted| {
        let routing = Routing::Ecmp(Ecmp { weighted, ..Ecmp::default() });
        let router = Router::new(&t, &routing, 1).unwrap();
        let first = |key: &u64| path(&router, NodeId(0), NodeId(1), *key)[1];
        let one = PortId(2 * (t.links.len() as u32 - 4));
        (0..4_000).filter(|key| first(key) == one).count()
    };
    assert!(by_first(Some(true)).abs_diff(3_000) < 100, "{}", by_first(Some(true)));
    assert!(by_first(None).abs_diff(2_000) < 120, "{}", by_first(None));
}

#[test]
fn weighted_hashes_add_up_what_next_hops_carry_onwards() {
    // From switch 0 to switch 6 by switch 1, whose two ways onwards carry 100 Gbps each, one by its first and one by its last link, or
    // by switch 2, whose one way does; all other links have 400 Gbps, also one from 1 to 2, which leads no nearer. The capacity behind the link to 1 is 200 Gbps, and 100 Gbps behind the link to 2: of 3,000 flows 2,000 go by
    // switch 1 in the mean, with a standard deviation of sqrt(3,000 x 2/9) = 26. Nearer switches have higher numbers here.
    let between = [(0, 1), (1, 3), (1, 4), (3, 6), (4, 6), (0, 2), (2, 5), (5, 6), (1, 2)];
    let mut t = network(7, &between, &[0, 6]);
    let first = t.links.len() - between.len();
    for (link, gbps) in (first..).zip([400, 100, 400, 400, 100, 400, 100, 400, 400]) {
        (t.links[link].rate_ab, t.links[link].rate_ba) = (Rate::from_gbps(gbps), Rate::from_gbps(gbps));
    }
    let router =
        Router::new(&t, &Routing::Ecmp(Ecmp { weighted: Some(true), ..Ecmp::default() }), 1).unwrap();
    let by = |link: usize, hop: usize| {
        let port = PortId(2 * (first + link) as u32);
        (0..3_000).filter(|&key| path(&router, NodeId(0), NodeId(1), key)[hop] == port).count()
    };
    assert!(by(0, 1).abs_diff(2_000) < 100, "{}", by(0, 1));
    // Of those, half go on by each of two ways.
    assert!(by(1, 2).abs_diff(1_000) < 100, "{}", by(1, 2));
    // A link that carries less than what is behind it counts for itself: 50 Gbps to switch 1, so that 1 of 3 flows goes there.
    (t.links[first].rate_ab, t.links[first].rate_ba) = (Rate::from_gbps(50), Rate::from_gbps(50));
    let router =
        Router::new(&t, &Routing::Ecmp(Ecmp { weighted: Some(true), ..Ecmp::default() }), 1).unwrap();
    let port = PortId(2 * first as u32);
    let count = (0..3_000).filter(|&key| path(&router, NodeId(0), NodeId(1), key)[1] == port).count();
    assert!(count.abs_diff(1_000) < 100, "{count}");
}
