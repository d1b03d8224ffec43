//! What the conformance tests share.

use xoff_engine::{Domain, Rate, Time, stream};
use xoff_schemes::FlowEnv;

/// A flow at a NIC of `line_rate` with `base_rtt`, in frames of 1518 bytes over three switches.
pub fn flow_env(line_rate: Rate, base_rtt: Time) -> FlowEnv {
    FlowEnv {
        flow: 7,
        line_rate,
        base_rtt,
        payload: 1_456,
        frame: 1_518,
        hops: 3,
        ack_delay: Time::ZERO,
        active_flows: 0,
        stream: stream(1, Domain::Reaction, 7),
    }
}
