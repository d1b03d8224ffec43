//! All to all: each host sends one message to each other host.
//!
//! In round r = 1 to n - 1 host i sends to host i + r (mod n), so that each round is a permutation: the order of the
//! linear-shift exchange that collective libraries use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::error::{Fault, Misfit};
use crate::generate::{Plan, Scope};
use crate::hosts::HostList;
use crate::sizes;

/// A message from each host to each other one, open loop: the rounds start by the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host to another
    /// (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    #[serde(default)]
    pub connection: ConnectionMapping,
    /// When the first round starts.
    #[serde(default)]
    pub start: Time,
    /// Who takes part, two or more.
    #[serde(default)]
    pub hosts: HostList,
    /// Payload of each message, up to 1 TB.
    pub size: Bytes,
    /// Time from the start of a round to the start of the next one; with 0 all rounds start at the same time. Every round must start before the end
    /// of the run.
    #[serde(default)]
    pub stagger: Time,
}

/// The hosts of a pattern that needs two or more hosts.
pub(super) fn several(scope: &Scope<'_>, list: &HostList) -> Result<Vec<u32>, Misfit> {
    let hosts = scope.hosts.resolve(list).map_err(|fault| fault.at("hosts"))?;
    if hosts.len() < 2 {
        return Err(Fault::bounds(hosts.len(), "two hosts or more").at("hosts"));
    }
    Ok(hosts)
}

impl Params for AllToAll {
    const NAME: &'static str = "all_to_all";
    const TITLE: &'static str = "one message from each host to each other one, in rounds";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = several(scope, &self.hosts)?;
        let size = sizes::check(self.size)?;
        let rounds = hosts.len() - 1;
        let last =
            self.stagger.ps().checked_mul(rounds as u64 - 1).and_then(|t| t.checked_add(self.start.ps()));
        let end = scope.horizon.unwrap_or(Time::NEVER);
        if last.is_none_or(|last| Time(last) >= end) {
            let expected =
                format!("a time with which all {rounds} rounds start before {end}, the end of the run");
            return Err(Fault::bounds(self.stagger, expected).at("stagger"));
        }
        Ok(Plan {
            flows: hosts.len() as u128 * rounds as u128,
            cause: format!("{} hosts to {rounds} others each", hosts.len()),
            emit: Box::new(move |sink| {
                for round in 1..=rounds {
                    let at = self.start + self.stagger * (round as u64 - 1);
                    for (i, &src) in hosts.iter().enumerate() {
                        sink.message(src, hosts[(i + round) % hosts.len()], size, at);
                    }
                }
            }),
        })
    }
}
