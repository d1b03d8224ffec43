//! The network of xoff: packets, links, switches, host NICs, flow control, routing, topologies and telemetry.

pub mod settings;
pub mod topology;
