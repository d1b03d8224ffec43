//! The network of xoff: packets, links, switches, host NICs, flow control, routing, topologies and telemetry.
//!
//! The files follow a packet's way: [`sender`] (reaction point) makes it, [`nic`] (arbitration and
//! pacing) puts it on a link,
//! [`switching`] takes it through a switch, with [`buffer`] and [`pause`] for flow control, and [`receiver`] turns
//! it into an ACK or a CNP that goes the same way back. [`part`] holds their state and hands out the events,
//! [`network`] what never changes, [`records`] what is kept of a run. A network may be [`cut`] into parts, which go
//! through [`windows`] of time, each by a thread of its own ([`threads`]).

pub mod buffer;
pub mod build;
pub mod credit;
pub mod cut;
pub mod cut_through;
pub mod deadlock;
pub mod dependencies;
pub mod detection;
pub mod event;
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
pub mod windows;

pub use build::{BuildError, network_env};
pub use cut::{Cut, needs_one_part};
pub use dependencies::Schedule;
pub use network::{Alone, Flow, Network};
pub use part::Failure;
pub use records::Recording;
pub use simulation::{Progress, Simulation, Stop};
