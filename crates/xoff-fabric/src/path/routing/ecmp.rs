//! Equal-cost multipath (RFC 2992) by a hash of the flow.
//!
//! A table holds the distance of each switch to one destination switch; a link is a candidate if it leads nearer.
//! Tables are made when a path first asks for them: a fat-tree with k = 32 has 8192 hosts, but 512 destination
//! switches with 1280 distances each.
//!
//! Symmetric ECMP (FNCC, Section 3.1, Observation 2 and Fig. 5) cannot rest on a hash of the sorted addresses alone,
//! since the switches on the way back may have other sets of candidates. Here the path is chosen from the host with
//! the lower number to the other host, and followed backwards in the opposite direction: the two directions agree in any
//! topology, with parallel links too.

use std::sync::OnceLock;

use super::choice::Choice;
use super::params::Ecmp;
use super::switches::SwitchGraph;
use super::weights::Capacities;
use super::{End, reverse};
use crate::path::topology::{PortId, Topology};

/// Distance of a switch that is not reachable within the 65,534 links that 16 bits count.
pub(super) const FAR: u16 = u16::MAX;

/// Stands for the distance of a switch from [`FAR`] on.
const UNREACHABLE: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub(super) struct EcmpTable<C> {
    choice: C,
    symmetric: bool,
    /// For each destination switch, the distance of all switches modulo [`UNREACHABLE`], or that number. Switches with a link
    /// between them differ in distance by one at most, so that the remainders tell which one is nearer.
    distances: Box<[OnceLock<Box<[u8]>>]>,
    /// What the hash weighs links by; `None` if it takes all alike.
    capacities: Option<Capacities>,
}

impl<C: Choice> EcmpTable<C> {
    pub(super) fn new(graph: &SwitchGraph, topology: &Topology, params: &Ecmp, choice: C) -> Self {
        let distances = (0..graph.len()).map(|_| OnceLock::new()).collect();
        let capacities = params.is_weighted().then(|| Capacities::new(graph, topology));
        EcmpTable { choice, symmetric: params.is_symmetric(), distances, capacities }
    }

    /// The same choices on another graph of the same switches.
    pub(super) fn on(&self, graph: &SwitchGraph, topology: &Topology) -> Self
    where
        C: Clone,
    {
        let distances = (0..graph.len()).map(|_| OnceLock::new()).collect();
        let capacities = self.capacities.as_ref().map(|_| Capacities::new(graph, topology));
        EcmpTable { choice: self.choice.clone(), symmetric: self.symmetric, distances, capacities }
    }

    pub(super) fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// Appends the ports between the two switches; `None` if there is no path, or only one of more than 65,534 links.
    pub(super) fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        if self.symmetric && from.host() > to.host() {
            let start = out.len();
            self.choose(graph, to, from, key, out)?;
            reverse(&mut out[start..]);
            return Some(());
        }
        self.choose(graph, from, to, key, out)
    }

    fn choose(&self, graph: &SwitchGraph, from: End, to: End, key: u64, out: &mut Vec<PortId>) -> Option<()> {
        let distance = self.distances[to.switch as usize].get_or_init(|| {
            let remainder =
                |d: u32| if d < u32::from(FAR) { (d % u32::from(UNREACHABLE)) as u8 } else { UNREACHABLE };
            graph.distances(to.switch).into_iter().map(remainder).collect()
        });
        let hash = self.choice.flow(from.address(), to.address(), key);
        let mut at = from.switch;
        while at != to.switch {
            let left = distance[at as usize];
            if left == UNREACHABLE {
                return None;
            }
            let one_less = left.checked_sub(1).unwrap_or(UNREACHABLE - 1);
            let mut nearer = graph.links(at).iter().filter(|&&(_, next)| distance[next as usize] == one_less);
            let &(port, next) = match &self.capacities {
                None => {
                    let pick = self.choice.at(hash, graph.node(at), nearer.clone().count());
                    nearer.nth(pick)?
                }
                Some(capacities) => {
                    let weight =
                        |&&(port, next): &&(PortId, u32)| capacities.behind(graph, to.switch, port, next);
                    let total: u64 = nearer.clone().map(|link| weight(&link)).sum();
                    let mut pick = self.choice.at(hash, graph.node(at), total.max(1) as usize) as u64;
                    nearer.find(|link| {
                        let share = weight(link);
                        let is_picked = pick < share;
                        pick = pick.saturating_sub(share);
                        is_picked
                    })?
                }
            };
            out.push(port);
            at = next;
        }
        Some(())
    }
}
