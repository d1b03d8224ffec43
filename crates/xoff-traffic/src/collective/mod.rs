//! Collective operations as NCCL and MPI run them, for every pattern whose processes take part in them.
//!
//! A [`CollectiveSpec`] says which operation, by which algorithm, of how many bytes; [`Program::collective`] writes it as
//! messages and what each of them waits for. The data are divided into lanes, a lane for each chunk of each channel
//! ([`lane`]); a file for each family of algorithms says who sends what to whom in a lane.
//!
//! [`phases`] has the older form of some of them, in which ranks wait for all of a phase before they begin the next one: the
//! patterns `allreduce`, `all_to_all_collective` and `gpcnet` run those.
//!
//! [`Program::collective`]: crate::pattern::processes::Program::collective

mod bruck;
#[cfg(test)]
mod data_flow;
mod direct;
mod double_tree;
mod hierarchical;
mod kinds;
pub(crate) mod lane;
pub(crate) mod phases;
mod recursive;
mod ring;
mod settings;
mod spec;
mod tree;
mod writer;

pub use kinds::{CollectiveAlgorithm, CollectiveKind};
pub use settings::{CollectiveSettings, Protocol};
pub(crate) use spec::CollectiveSpec;
