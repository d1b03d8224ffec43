//! Which ways there are: topologies, and routing over them.
//!
//! The room owns the graph of nodes and links ([`topology`]) and the choice of paths in it ([`routing`]). It touches
//! nothing that moves.

pub mod routing;
pub mod topology;
