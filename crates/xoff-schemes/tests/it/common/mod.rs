//! What the conformance tests share.

use xoff_engine::{Domain, Rate, Time, stream};
use xoff_schemes::{FlowEnv, PortEnv};

/// A flow at a NIC of `line_rate` with `base_rtt`, in frames of 1518 bytes over three switches.
pub fn flow_env(line_rate: Rate, base_rtt: Time) -> FlowEnv {
    FlowEnv { hops: 3, ..FlowEnv::new(7, line_rate, base_rtt, 1) }
}

/// An egress queue of a switch towards another one, with frames of 1,000 bytes and no flow control.
pub fn port_env(rate: Rate, delay: Time) -> PortEnv {
    PortEnv {
        point: 4,
        rate,
        delay,
        payload: 1_000,
        frame: 1_000,
        to_host: false,
        hysteresis: None,
        credit_period: None,
        random: stream(1, Domain::Marking, 4).into(),
    }
}
