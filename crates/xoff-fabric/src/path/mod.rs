//! Paths: topologies, and routing over them.
//!
//! The room owns the graph of nodes and links ([`topology`]) and the choice of paths in it ([`routing`]). It depends on
//! nothing that changes during a run.

pub mod routing;
pub mod topology;
