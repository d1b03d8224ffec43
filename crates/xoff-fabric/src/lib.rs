//! The network of xoff: packets, links, switches, host NICs, flow control, routing, topologies and telemetry.
//!
//! The files follow a packet's way, and are read in this order:
//!
//! 1. [`sender`]: the flow's reaction point says how fast, and a [`packet`] is made. [`nic`] arbitrates between flows,
//!    [`pacing`] holds those that wait for their time, [`throttling`] a port that a throttle slows down.
//! 2. `wire`: `put_on_wire`, the one place where a packet leaves a node. `agenda` keeps the events that follow, node by
//!    node where links are long enough, and hands them out in the order of the keys of [`event`].
//! 3. [`switching`]: arrival, egress queue, departure. On the way [`buffer`] accounts for it and [`pause`] tells the
//!    neighbour, or [`credit`] does both; it waits in its [`port`], or with queues at the inputs in `voq`; among
//!    priorities [`vl_arbitration`] chooses; [`cut_through`] lets it go before its last bit has come.
//! 4. At each egress queue a detector marks it and a congestion point looks at it (`watching`), or
//!    the point of the whole switch does (`switch_point`); [`detection`] keeps marks and states, [`roots`] who is to blame.
//! 5. [`receiver`] turns it into an ACK or a CNP, which goes the same way back, through steps 1 to 3 in its class, to
//!    `feedback` in [`sender`].
//!
//! Around that: [`network`] is what never changes, made by [`build`] from [`settings`], [`topology`] and [`routing`];
//! [`records`] is what is kept of a run; [`dependencies`] starts flows that wait for others; [`deadlock`] says why
//! nothing moves any more; [`simulation`] drives it all. A network may be [`cut`] into parts, which go through
//! [`windows`] of time, each by a thread of its own ([`threads`]), and whose records `merge` puts together. `nic_ns3` is
//! the NIC of another simulator, for comparisons.

mod agenda;
pub mod breakdown;
pub mod buffer;
pub mod build;
pub mod capture;
pub mod counters;
pub mod credit;
pub mod cut;
pub mod cut_through;
pub mod deadlock;
pub mod dependencies;
pub mod detection;
pub mod event;
pub mod failure;
mod int_table;
mod lanes;
mod merge;
pub mod network;
pub mod nic;
mod nic_ns3;
pub mod pacing;
pub mod packet;
pub mod part;
pub mod pause;
pub mod port;
pub mod receiver;
pub mod records;
pub mod replay;
pub mod room;
pub mod roots;
pub mod routing;
pub mod sender;
pub mod settings;
pub mod simulation;
mod switch_point;
pub mod switching;
pub mod threads;
pub mod throttling;
pub mod topology;
pub mod vl_arbitration;
mod voq;
mod waiting;
mod watching;
pub mod windows;
mod wire;

pub use build::{BuildError, network_env};
pub use cut::{Cut, needs_one_part};
pub use dependencies::Schedule;
pub use failure::Failure;
pub use network::{Alone, Flow, Network};
pub use records::Recording;
pub use simulation::{Progress, Simulation, Stop};
