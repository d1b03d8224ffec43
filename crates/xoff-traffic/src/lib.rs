//! Flow sizes, arrivals and traffic patterns: from a list of pattern descriptions to the list of flows.
//!
//! The crate needs no network, only a list of hosts with names, line rates and racks. The same patterns, hosts and
//! seed give the same flows on every machine: random numbers come from streams that belong to a pattern or to one of
//! its hosts, and logarithms from a library with reproducible bits.
//!
//! - [`cdf`]: piecewise-linear flow-size distributions, from tables or from the text files of public generators;
//! - [`workloads`]: the published distributions, by name;
//! - [`chakra`]: execution traces of training jobs, from files;
//! - [`closed_loop`]: flows that start when others have ended;
//! - [`collective`]: collective operations as NCCL and MPI run them;
//! - [`connections`]: which connection carries which message;
//! - [`goal`]: schedules of parallel programs, from text;
//! - [`pattern`]: the patterns, as serde types with their JSON schema;
//! - [`generate()`]: the flows.

pub mod cdf;
pub mod chakra;
pub mod closed_loop;
pub mod collective;
pub mod connections;
mod cycle;
mod draw;
pub mod error;
pub mod files;
pub mod flow_list;
pub mod generate;
pub mod goal;
pub mod hosts;
mod moments;
pub mod pattern;
mod sizes;
pub mod workloads;

pub use cdf::{CdfError, SizeCdf};
pub use collective::{CollectiveAlgorithm, CollectiveKind, CollectiveSettings, Protocol};
pub use connections::ConnectionMapping;
pub use error::{Fault, TrafficError};
pub use files::FileSource;
pub use flow_list::FlowList;
pub use generate::{FlowSpec, Load, MAX_FLOWS, Traffic, generate, generate_if};
pub use hosts::{HostInfo, HostList, Senders};
pub use pattern::Pattern;
