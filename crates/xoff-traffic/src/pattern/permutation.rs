//! Permutation traffic: each host sends to one other host and receives from one other host.
//!
//! The permutation is uniform among those without a fixed point (derangements): permutations are drawn until one has no
//! fixed point. The share of derangements tends to 1/e, so that about three permutations are drawn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Stream, Time};

use super::all_to_all::several;
use super::{Common, Params, common, flow};
use crate::connections::ConnectionMapping;
use crate::draw;
use crate::error::Misfit;
use crate::generate::{FlowSpec, Plan, Scope};
use crate::hosts::HostList;

/// A flow from each host to another, so that each receives one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
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
    /// When all flows start.
    #[serde(default)]
    pub start: Time,
    /// Who takes part, two or more.
    #[serde(default)]
    pub hosts: HostList,
    /// Payload of each flow, up to 1 TB; without it, flows are endless until `stop` or the end of the run.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// When the flows end even if bytes are left.
    #[serde(default)]
    pub stop: Option<Time>,
}

/// A uniform derangement of `0..n`, `n` at least 2.
fn derangement(stream: &mut Stream, n: usize) -> Vec<usize> {
    let mut to: Vec<usize> = (0..n).collect();
    loop {
        draw::choose(stream, &mut to, n);
        if to.iter().enumerate().all(|(from, to)| from != *to) {
            return to;
        }
    }
}

impl Params for Permutation {
    const NAME: &'static str = "permutation";
    const TITLE: &'static str = "each host to one other at random, each receiving one flow";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = several(scope, &self.hosts)?;
        let (size, stop) = flow::ends(scope, self.start, self.size, self.stop)?;
        Ok(Plan {
            flows: hosts.len() as u128,
            cause: format!("{} hosts", hosts.len()),
            emit: Box::new(move |sink| {
                let to = derangement(&mut scope.stream(), hosts.len());
                for (&src, to) in hosts.iter().zip(to) {
                    let blank = sink.blank(src, hosts[to], self.start);
                    sink.flow(FlowSpec { size, stop, ..blank });
                }
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn derangements_of_four_are_equally_likely() {
        // There are 9 derangements of 4. Of 9,000 draws each is expected 1,000 times, sigma sqrt(9000/9*8/9) = 29.8;
        // five sigma are 149.
        let mut s = stream(3, Domain::Traffic, 0);
        let mut counts = std::collections::BTreeMap::<Vec<usize>, i64>::new();
        for _ in 0..9000 {
            *counts.entry(derangement(&mut s, 4)).or_default() += 1;
        }
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|n| (n - 1000).abs() < 149), "{counts:?}");
    }
}
