//! The network of xoff: packets, links, switches, host NICs, flow control, routing, topologies and telemetry.
//!
//! A packet's path leads through rooms: folders whose `mod.rs` says what the room owns and may touch.
//!
//! 1. `host`: a message starts on its connection ([`network::Connections`]), whose reaction point sets the rate. The NIC
//!    gives the connection a turn, and `host/emission.rs` makes a [`packet`].
//! 2. [`link`]: `link/wire.rs` puts the packet onto the wire, the one place where packets leave a node. Its arrival at the
//!    other end becomes an event ([`event`]).
//! 3. `switch`: `arrival.rs` charges the packet to its ingress port and finds the next hop, `forwarding.rs` takes it through
//!    its egress queue. Meanwhile flow control ([`link::flow_control`]) tells the neighbour, detectors mark the packet, and
//!    congestion points see it (`egress_hooks.rs`).
//! 4. `host`: `receiver.rs` takes the data by the rules of the transport (`host/transport/`), and turns the packet into an
//!    ACK, which passes links and switches in the same manner, in its own class, to `feedback.rs` at the sender.
//!
//! Other rooms: [`network`] is what never changes during a run, made from [`settings`] and [`path`] (topologies and
//! routing); [`observe`] has the probes that record a run; [`run`] hands events to the rooms, in partitions and windows of
//! time; `compat` imitates other simulators behind the same seams. Every handler gets the context of `ctx.rs` beside the
//! state that it changes.
//!
//! Dependencies between rooms point one way: `run` uses `compat`, `switch` and `host`; these use `link`; `link` uses the
//! context, which knows `observe`, `network` and `packet`; `network` uses `path` and `settings`.

mod compat;
mod ctx;
pub mod event;
pub mod fault;
mod host;
pub mod ids;
pub mod link;
pub mod network;
pub mod observe;
pub mod packet;
pub mod path;
pub mod run;
pub mod settings;
mod switch;

pub use network::{BuildError, Flow, Network, Schedule, UnloadedFct, network_env};
pub use observe::{Failure, Recording};
pub use path::{routing, topology};
pub use run::{
    Approximate, CriticalPath, Cut, Live, Progress, Simulation, Stop, UnknownState, needs_one_partition,
};
