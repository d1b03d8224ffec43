//! Listed paths between pairs of hosts, and ECMP for all other pairs.
//!
//! A route holds for both directions unless both are listed. ACKs are routed as packets from the receiver to the
//! sender: if the two directions are listed and differ, ACKs take the route of the opposite direction.

use std::collections::{BTreeMap, BTreeSet};

use super::choice::{Choice, Mixing};
use super::ecmp::EcmpTable;
use super::params::{EcmpHash, StaticRoute, StaticRoutes};
use super::switches::SwitchGraph;
use super::{End, HostNic, PathChoice, RoutingError, reverse};
use crate::path::topology::{NameIndex, NodeId, NodeKind, PortId, Topology};

#[derive(Clone, Debug)]
pub(super) struct StaticTable {
    /// The switches on the route from one NIC to another. If the two directions of a pair are each other's reversal,
    /// only one direction is kept, so that the choice among parallel links is made once for both.
    routes: BTreeMap<(HostNic, HostNic), Vec<u32>>,
    choice: Mixing,
    fallback: EcmpTable<Mixing>,
}

impl StaticTable {
    pub(super) fn new(
        topology: &Topology,
        graph: &SwitchGraph,
        params: &StaticRoutes,
        choice: Mixing,
    ) -> Result<StaticTable, RoutingError> {
        params.fallback.check()?;
        if params.fallback.hash != EcmpHash::Own {
            return Err(RoutingError::FallbackHash);
        }
        if params.fallback.choice != PathChoice::PerConnection {
            return Err(RoutingError::FallbackChoice(params.fallback.choice));
        }
        let reader = Reader { topology, graph, names: topology.names() };
        let mut routes = BTreeMap::new();
        for (i, route) in params.routes.iter().enumerate() {
            let (ends, via) = reader.read(i, route)?;
            for pair in ends {
                if routes.insert(pair, via.clone()).is_some() {
                    let (from, to) = (route.from.clone(), route.to.clone());
                    return Err(RoutingError::DuplicateRoute { route: i, from, to });
                }
            }
        }
        let spare: Vec<_> = routes
            .iter()
            .filter(|&(&(from, to), via)| {
                from > to && routes.get(&(to, from)).is_some_and(|back| back.iter().rev().eq(via.iter()))
            })
            .map(|(&pair, _)| pair)
            .collect();
        for pair in spare {
            routes.remove(&pair);
        }
        Ok(StaticTable {
            routes,
            choice,
            fallback: EcmpTable::new(graph, topology, &params.fallback, choice),
        })
    }

    pub(super) fn symmetric(&self) -> bool {
        self.fallback.symmetric()
            && self.routes.keys().all(|&(from, to)| !self.routes.contains_key(&(to, from)))
    }

    /// Whether the ACKs of pairs without a route take their data's path backwards.
    pub(super) fn fallback_is_symmetric(&self) -> bool {
        self.fallback.symmetric()
    }

    /// The switches on the route from one NIC to another: the listed route or, if only the opposite direction is listed,
    /// the reversed one. `None` if the pair has no route.
    pub(super) fn listed(&self, from: HostNic, to: HostNic) -> Option<Vec<u32>> {
        let back = || self.routes.get(&(to, from)).map(|via| via.iter().rev().copied().collect());
        self.routes.get(&(from, to)).cloned().or_else(back)
    }

    /// The switches on the route of the pair's ACKs, in the order of data; `None` unless both directions are listed.
    pub(super) fn listed_back(&self, from: HostNic, to: HostNic) -> Option<Vec<u32>> {
        let back = self.routes.get(&(from, to)).and(self.routes.get(&(to, from)))?;
        Some(back.iter().rev().copied().collect())
    }

    /// The pairs of NICs that have a route of their own in at least one direction.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (HostNic, HostNic)> {
        self.routes.keys().copied()
    }

    /// Maximum number of links between switches of a listed route.
    pub(super) fn longest(&self) -> usize {
        self.routes.values().map(|via| via.len() - 1).max().unwrap_or(0)
    }

    /// Appends the ports between the two switches; `None` if there is no path.
    pub(super) fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let start = out.len();
        if let Some(via) = self.routes.get(&(from.nic, to.nic)) {
            self.follow(graph, via, self.choice.flow(from.address(), to.address(), key), out)
        } else if let Some(via) = self.routes.get(&(to.nic, from.nic)) {
            self.follow(graph, via, self.choice.flow(to.address(), from.address(), key), out)?;
            reverse(&mut out[start..]);
            Some(())
        } else {
            self.fallback.path(graph, from, to, key, out)
        }
    }

    fn follow(&self, graph: &SwitchGraph, via: &[u32], hash: u64, out: &mut Vec<PortId>) -> Option<()> {
        for hop in via.windows(2) {
            let mut parallel = graph.links(hop[0]).iter().filter(|&&(_, to)| to == hop[1]);
            let pick = self.choice.at(hash, graph.node(hop[0]), parallel.clone().count().max(1));
            out.push(parallel.nth(pick)?.0);
        }
        Some(())
    }
}

/// Pairs of NICs: the sender's and the receiver's.
type Ends = Vec<(HostNic, HostNic)>;

/// Turns names into a checked route.
struct Reader<'t> {
    topology: &'t Topology,
    graph: &'t SwitchGraph,
    names: NameIndex<'t>,
}

impl Reader<'_> {
    /// The pairs of NICs for which a route holds, and the route's switches. The pairs are all NICs of the two hosts that are
    /// attached to the route's first and last switch.
    fn read(&self, i: usize, route: &StaticRoute) -> Result<(Ends, Vec<u32>), RoutingError> {
        let from = self.node(format!("routes[{i}].from"), &route.from, NodeKind::Host)?;
        let to = self.node(format!("routes[{i}].to"), &route.to, NodeKind::Host)?;
        if from == to {
            return Err(RoutingError::SameHost { host: route.from.clone() });
        }
        let mut via = Vec::with_capacity(route.via.len());
        let mut passed = BTreeSet::new();
        for (j, name) in route.via.iter().enumerate() {
            let node = self.node(format!("routes[{i}].via[{j}]"), name, NodeKind::Switch)?;
            let switch = self.graph.switch(node);
            if !passed.insert(switch) {
                return Err(RoutingError::Loop { route: i, switch: name.clone() });
            }
            via.push(switch);
        }
        let not_linked = |a: &String, b: &String| {
            let (a, b) = (a.clone(), b.clone());
            Err(RoutingError::NotLinked { route: i, a, b })
        };
        let ends = route.via.first().zip(route.via.last()).zip(via.first().zip(via.last()));
        let Some(((first_name, last_name), (first, last))) = ends else {
            return not_linked(&route.from, &route.to);
        };
        if self.graph.nics_at(from, *first).next().is_none() {
            return not_linked(&route.from, first_name);
        }
        for (hop, names) in via.windows(2).zip(route.via.windows(2)) {
            if !self.graph.links(hop[0]).iter().any(|&(_, to)| to == hop[1]) {
                return not_linked(&names[0], &names[1]);
            }
        }
        if self.graph.nics_at(to, *last).next().is_none() {
            return not_linked(last_name, &route.to);
        }
        let pairs = self.graph.nics_at(from, *first);
        let pairs = pairs.flat_map(|from| self.graph.nics_at(to, *last).map(move |to| (from, to)));
        Ok((pairs.collect(), via))
    }

    fn node(&self, key: String, name: &str, kind: NodeKind) -> Result<NodeId, RoutingError> {
        let name = name.to_string();
        let Some(node) = self.names.find(&name) else {
            let nearest = self.names.nearest(&name);
            return Err(RoutingError::UnknownNode { key, name, nearest });
        };
        if self.topology.nodes[node.index()].kind != kind {
            let expected = if kind == NodeKind::Host { "host" } else { "switch" };
            return Err(RoutingError::WrongKind { key, name, expected });
        }
        Ok(node)
    }
}
