//! The base RTT is the greatest over all paths that routing may choose, whatever the seed.

use serde_json::json;
use xoff_engine::Time;
use xoff_fabric::network_env;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::Settings;
use xoff_fabric::topology::{AnyTopology, Topology};
use xoff_schemes::{IntPath, Signals};

/// Two hosts and two ways between them: over `t` 9 us there and 1 us back on each link, over `u` 2 us and 3 us.
fn diamond() -> Topology {
    let parameters = json!({
        "hosts": ["a", "b"], "switches": ["s", "t", "u", "v"],
        "links": [
            { "a": "a", "b": "s", "rate": "100Gbps", "delay": "1us" },
            { "a": "s", "b": "t", "rate": "100Gbps", "delay": "9us", "delay_back": "1us" },
            { "a": "t", "b": "v", "rate": "100Gbps", "delay": "9us", "delay_back": "1us" },
            { "a": "s", "b": "u", "rate": "100Gbps", "delay": "2us", "delay_back": "3us" },
            { "a": "u", "b": "v", "rate": "100Gbps", "delay": "2us", "delay_back": "3us" },
            { "a": "v", "b": "b", "rate": "100Gbps", "delay": "1us" },
        ],
    });
    AnyTopology::read("graph", parameters).expect("known").expect("valid").build().expect("a topology")
}

fn base_rtt(routing: serde_json::Value, seed: u64, signals: &Signals) -> Time {
    let topology = diamond();
    let routing: Routing = serde_json::from_value(routing).expect("routing");
    let router = Router::new(&topology, &routing, seed).expect("a router");
    network_env(&topology, &router, &Settings::default(), signals).expect("connected").base_rtt
}

/// Four links with a frame of 1518 B and an ACK of 66 B at 80 ps a byte: 4 x (121,440 + 5,280) = 506,880 ps.
const WIRE: Time = Time(506_880);

#[test]
fn the_slowest_of_equal_paths_counts_whatever_the_seed() {
    // Symmetric: over t 1 + 18 + 1 us there and 1 + 2 + 1 us back, 24 us; over u 1 + 4 + 1 and 1 + 6 + 1, 14 us.
    // An ACK that chooses for itself may take the slower way back: 20 us there over t, 8 us back over u.
    for seed in 0..8 {
        let none = Signals::default();
        assert_eq!(base_rtt(json!({ "name": "ecmp" }), seed, &none), Time::from_us(24) + WIRE);
        let asymmetric = json!({ "name": "ecmp", "symmetric": false });
        assert_eq!(base_rtt(asymmetric, seed, &none), Time::from_us(28) + WIRE);
    }
}

#[test]
fn the_slowest_tree_counts() {
    let trees = json!({ "name": "spanning_trees", "trees": 2, "roots": ["t", "u"] });
    let only_u = json!({ "name": "spanning_trees", "trees": 1, "roots": ["u"] });
    for seed in 0..8 {
        assert_eq!(base_rtt(trees.clone(), seed, &Signals::default()), Time::from_us(24) + WIRE);
        assert_eq!(base_rtt(only_u.clone(), seed, &Signals::default()), Time::from_us(14) + WIRE);
    }
}

#[test]
fn listed_routes_count_as_they_are_listed() {
    let over = |from: &str, to: &str, via: [&str; 3]| json!({ "from": from, "to": to, "via": via });
    let one = json!({ "name": "static_routes", "routes": [over("a", "b", ["s", "u", "v"])] });
    assert_eq!(base_rtt(one, 1, &Signals::default()), Time::from_us(14) + WIRE);
    // There over u, 6 us, and back over t, 4 us; b's data go over t, 4 us, and its ACKs over u, 6 us.
    let routes = [over("a", "b", ["s", "u", "v"]), over("b", "a", ["v", "t", "s"])];
    let two = json!({ "name": "static_routes", "routes": routes });
    assert_eq!(base_rtt(two, 1, &Signals::default()), Time::from_us(10) + WIRE);
}

#[test]
fn acks_grow_from_switch_to_switch() {
    // FNCC's ACK leaves its receiver with 2 B of INT header and grows by 8 B at each of three switches: 4 x 2 +
    // 8 + 16 + 24 = 56 B more at 80 ps.
    let signals = Signals { int: IntPath::Ack, ..Signals::default() };
    let rtt = base_rtt(json!({ "name": "ecmp" }), 1, &signals);
    assert_eq!(rtt, Time::from_us(24) + WIRE + Time(56 * 80));
}
