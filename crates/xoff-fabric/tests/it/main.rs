//! All integration tests of this crate, as modules of one binary: to compile and link a binary for each file would take
//! longer than to run the tests. `cargo test -p xoff-fabric --test it topology` runs the tests of one module.

mod base_rtt;
mod breakdown;
mod bursts;
mod capture;
mod common;
mod connections;
mod credit;
mod credit_bounds;
mod credit_flits;
mod cut;
mod deadlock;
mod dependencies;
mod detection;
mod flow_control;
mod ground_truth;
mod lanes;
mod lone_flow;
mod long_queues;
mod nics;
mod processors;
mod properties;
mod reaction;
mod records;
mod roots;
mod routing;
mod routing_d_mod_k;
mod routing_ns3_hpcc;
mod spraying;
mod switch_point;
mod throttle;
mod topology;
mod transport_properties;
mod transports;
mod vl_arbitration;
