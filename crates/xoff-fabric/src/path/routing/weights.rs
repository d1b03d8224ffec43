//! What weighted ECMP weighs links by (Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness in Data Centers", EuroSys
//! 2014): the capacity of the shortest paths behind each link. Of a link it is the lower one of its rate and the sum of the capacities of the links
//! that lead on from its other end.

use std::sync::OnceLock;

use super::switches::{SwitchGraph, UNREACHED};
use crate::path::topology::{PortId, Topology};

/// A unit of capacity, in bits a second: sums of weights stay small.
const UNIT: u64 = 1_000_000;

/// Capacities towards each switch.
#[derive(Clone, Debug)]
pub(super) struct Capacities {
    /// By port: its rate, in units.
    rates: Box<[u64]>,
    /// By destination switch: what all next hops of each switch carry; made when a path first asks for them.
    onwards: Box<[OnceLock<Box<[u64]>>]>,
}

impl Capacities {
    pub fn new(graph: &SwitchGraph, topology: &Topology) -> Capacities {
        let rates = topology.port_ids().map(|port| (topology.rate(port).bps() / UNIT).max(1)).collect();
        Capacities { rates, onwards: (0..graph.len()).map(|_| OnceLock::new()).collect() }
    }

    /// The capacity of the paths to the switch `to` that begin with the link of a port, which leads to the switch `next`.
    pub fn behind(&self, graph: &SwitchGraph, to: u32, port: PortId, next: u32) -> u64 {
        let onwards = self.onwards[to as usize].get_or_init(|| self.towards(graph, to));
        self.rates[port.index()].min(onwards[next as usize])
    }

    fn towards(&self, graph: &SwitchGraph, to: u32) -> Box<[u64]> {
        let distance = graph.distances(to);
        let mut order: Vec<u32> = (0..graph.len() as u32).collect();
        order.sort_by_key(|&at| distance[at as usize]);
        let mut onwards = vec![0; graph.len()].into_boxed_slice();
        onwards[to as usize] = u64::MAX;
        for at in order.into_iter().filter(|&at| at != to && distance[at as usize] != UNREACHED) {
            let nearer = graph
                .links(at)
                .iter()
                .filter(|&&(_, next)| distance[next as usize] + 1 == distance[at as usize]);
            let sum: u64 =
                nearer.map(|&(port, next)| self.rates[port.index()].min(onwards[next as usize])).sum();
            onwards[at as usize] = sum;
        }
        onwards
    }
}
