//! Allreduce: each rank ends up with the sum of the data of all ranks, by one of the algorithms of [`crate::collective::phases`].
//!
//! The pattern is a closed loop: a rank sends its messages of a phase when it has received those of the phase before. Ranks
//! wait for nothing else, so a late rank delays the others only as far as the algorithm requires.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::{collective, one, yes};
use crate::collective::phases::{self, Phase};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use crate::pattern::all_to_all::several;
use crate::pattern::{Common, Params, common};
use crate::sizes;

/// Sums over all ranks, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allreduce {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: all from a process to another
    /// (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this many connections from a
    /// host to another take them in turn (a number).
    #[serde(default = "per_process_pair")]
    pub connection: ConnectionMapping,
    /// When the first allreduce starts.
    #[serde(default)]
    pub start: Time,
    /// Who takes part, two or more: one rank each, in this order.
    #[serde(default)]
    pub hosts: HostList,
    /// The algorithm.
    pub algorithm: AllreduceAlgorithm,
    /// Bytes that each rank has, up to 1 TB.
    pub size: Bytes,
    /// Processes on each host. Each takes part in an allreduce of its own, with one process of every host.
    #[serde(default = "one")]
    pub processes: u32,
    /// Number of allreduces, one after the other.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// Time that a rank computes between an allreduce and the next one.
    #[serde(default)]
    pub compute: Time,
    /// Time from the arrival of a message to the receiver's next action: the sum, matching and software.
    #[serde(default)]
    pub overhead: Time,
    /// Whether a rank also waits for the last ACK of its messages before it begins the next phase, as in a blocking send of
    /// a large message.
    #[serde(default = "yes")]
    pub acknowledged: bool,
}

/// An algorithm for allreduce among N ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllreduceAlgorithm {
    /// Around a ring: 2 (N - 1) phases of an N-th of the size each.
    Ring,
    /// Up a binomial tree and down again: 2 ceil(log2 N) phases of the whole size.
    Tree,
    /// Recursive halving and doubling (Rabenseifner): 2 log2 N phases of a half, a quarter, ... of the size and back; two
    /// more phases of the whole size if N is no power of two.
    HalvingDoubling,
    /// Recursive doubling: log2 N phases of the whole size; two more phases if N is no power of two.
    RecursiveDoubling,
}

impl AllreduceAlgorithm {
    /// The number of messages of [`AllreduceAlgorithm::phases`], without making these.
    fn messages(self, ranks: usize) -> u128 {
        let (n, inside) = (ranks as u128, 1u128 << ranks.ilog2());
        // Ranks beyond the power of two give their data away before, and get the result after.
        let (exchanges, folded) = (inside * u128::from(ranks.ilog2()), 2 * (n - inside));
        match self {
            AllreduceAlgorithm::Ring => 2 * n * (n - 1),
            AllreduceAlgorithm::Tree => 2 * (n - 1),
            AllreduceAlgorithm::HalvingDoubling => 2 * exchanges + folded,
            AllreduceAlgorithm::RecursiveDoubling => exchanges + folded,
        }
    }

    fn phases(self, ranks: usize, size: u64) -> Vec<Phase> {
        match self {
            AllreduceAlgorithm::Ring => phases::ring(ranks, size),
            AllreduceAlgorithm::Tree => phases::tree(ranks, size),
            AllreduceAlgorithm::HalvingDoubling => phases::halving_doubling(ranks, size),
            AllreduceAlgorithm::RecursiveDoubling => phases::recursive_doubling(ranks, size),
        }
    }
}

impl Params for Allreduce {
    const NAME: &'static str = "allreduce";
    const TITLE: &'static str =
        "allreduce by ring, tree, halving-doubling or recursive doubling, as a closed loop";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = several(scope, &self.hosts)?;
        let size = sizes::check(self.size)?;
        let splits = matches!(self.algorithm, AllreduceAlgorithm::Ring | AllreduceAlgorithm::HalvingDoubling);
        if splits && size < hosts.len() as u64 {
            let expected = format!("at least a byte for each of {} ranks", hosts.len());
            return Err(Fault::bounds(self.size, expected).at("size"));
        }
        let (ranks, algorithm) = (hosts.len(), self.algorithm);
        let messages = algorithm.messages(ranks);
        collective!(self, Self::NAME).plan(hosts, messages, move || algorithm.phases(ranks, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_as_they_are_made() {
        use AllreduceAlgorithm::{HalvingDoubling, RecursiveDoubling, Ring, Tree};
        // Five ranks: around the ring 2 * 4 phases of 5; down and up the tree 2 * 4 messages; four ranks in 2 phases of 4, and
        // one pair before and after: 8 + 2, or twice 8 with halving and doubling.
        let five = [Ring, Tree, RecursiveDoubling, HalvingDoubling].map(|algorithm| algorithm.messages(5));
        assert_eq!(five, [40, 8, 10, 18]);
        for ranks in 2..40 {
            for algorithm in [Ring, Tree, RecursiveDoubling, HalvingDoubling] {
                let made = phases::messages(&algorithm.phases(ranks, 1000));
                assert_eq!(algorithm.messages(ranks), made, "{algorithm:?} among {ranks}");
            }
        }
    }
}
