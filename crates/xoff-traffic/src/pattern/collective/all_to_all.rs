//! All-to-all as a collective: each rank sends a message to each other rank by pairwise exchange, in a closed loop. For an
//! all-to-all whose rounds start by the clock see [`crate::pattern::all_to_all`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::{collective, one, yes};
use crate::collective::phases;
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::Misfit;
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use crate::pattern::all_to_all::several;
use crate::pattern::{Common, Params, common};
use crate::sizes;

/// Exchanges of all ranks with all, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAllCollective {
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
    /// When the first exchange starts.
    #[serde(default)]
    pub start: Time,
    /// Who takes part, two or more: one rank each, in this order.
    #[serde(default)]
    pub hosts: HostList,
    /// Payload from each rank to each other one, up to 1 TB.
    pub size: Bytes,
    /// Processes on each host. Each takes part in an exchange of its own, with one process of every host.
    #[serde(default = "one")]
    pub processes: u32,
    /// Number of exchanges, one after the other.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// Time that a rank computes between an exchange and the next one.
    #[serde(default)]
    pub compute: Time,
    /// Time from the arrival of a message to the receiver's next action: matching and software.
    #[serde(default)]
    pub overhead: Time,
    /// Whether a rank also waits for the last ACK of its messages before it begins the next phase, as in a blocking send of
    /// a large message.
    #[serde(default = "yes")]
    pub acknowledged: bool,
}

impl Params for AllToAllCollective {
    const NAME: &'static str = "all_to_all_collective";
    const TITLE: &'static str = "all-to-all by pairwise exchange, as a closed loop";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = several(scope, &self.hosts)?;
        let (ranks, size) = (hosts.len(), sizes::check(self.size)?);
        let messages = ranks as u128 * (ranks as u128 - 1);
        collective!(self, "all_to_all").plan(hosts, messages, move || phases::all_to_all(ranks, size))
    }
}
