//! ECMP as in the ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), so that each flow and its ACKs take
//! the same path as in that simulator and runs can be compared flow by flow.
//!
//! A switch picks by MurmurHash3 (x86, 32 bit) of source address, destination address and the two ports, seeded with
//! the switch's id, modulo the number of next hops. The next hops are in the order in which a breadth-first search from the
//! destination visits them; the search takes a switch's neighbours in descending order of ids, which is an accident in that
//! simulator, but decides every path. ACKs swap addresses and ports, and so choose for themselves.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::path::routing::{Ecmp, End, PathTable, RoutingError, SwitchGraph, UNREACHED};
use crate::path::topology::{NodeId, PortId, Topology};

/// Source port of the first flow between two hosts.
const FIRST_SRC_PORT: u16 = 10_000;

/// The paths of all flows.
#[derive(Debug)]
pub(crate) struct Ns3Table {
    dst_port: u16,
    /// Id of each node in that simulator: the number at the end of the node's name.
    ids: Box<[u16]>,
    /// For each destination switch, the search from it.
    searches: Box<[OnceLock<Search>]>,
}

/// A breadth-first search of the switches.
#[derive(Clone, Debug)]
struct Search {
    /// Links to each switch, or [`UNREACHED`].
    distance: Box<[u32]>,
    /// When each switch was visited.
    turn: Box<[u32]>,
}

/// The addresses and ports of a packet's two ends, in the form that the hash takes.
#[derive(Clone, Copy, Debug)]
struct Tuple([u8; 12]);

impl Tuple {
    fn new(src: u16, dst: u16, src_port: u16, dst_port: u16) -> Tuple {
        // A node's number is the middle two bytes of its address, 11.0.0.1 for node 0.
        let address = |id: u16| 0x0b00_0001 + (u32::from(id) << 8);
        let ports = u32::from(src_port) | u32::from(dst_port) << 16;
        let mut bytes = [0; 12];
        for (place, word) in bytes.chunks_exact_mut(4).zip([address(src), address(dst), ports]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Tuple(bytes)
    }

    fn hash(&self, switch: u16) -> u32 {
        mur3::murmurhash3_x86_32(&self.0, switch.into())
    }
}

impl Ns3Table {
    pub fn new(topology: &Topology, graph: &SwitchGraph, params: &Ecmp) -> Result<Self, RoutingError> {
        let ids = ids(topology)?;
        if let Some(host) = topology.hosts().into_iter().find(|&host| graph.nics(host) > 1) {
            let host = topology.nodes[host.index()].name.clone();
            return Err(RoutingError::SeveralNics { host });
        }
        let name = |switch: u32| topology.nodes[graph.node(switch).index()].name.clone();
        for switch in 0..graph.len() as u32 {
            let mut neighbours: Vec<u32> = graph.links(switch).iter().map(|&(_, to)| to).collect();
            neighbours.sort_unstable();
            if let Some(pair) = neighbours.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(RoutingError::ParallelLinks { a: name(switch), b: name(pair[0]) });
            }
        }
        let searches = (0..graph.len()).map(|_| OnceLock::new()).collect();
        Ok(Ns3Table { dst_port: params.port(), ids, searches })
    }
}

impl PathTable for Ns3Table {
    fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        ack: bool,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let search = self.searches[to.switch as usize].get_or_init(|| self.search(graph, to.switch));
        // That simulator's ports have 16 bits too.
        let flows_port = FIRST_SRC_PORT.wrapping_add(key as u16);
        let ports = if ack { (self.dst_port, flows_port) } else { (flows_port, self.dst_port) };
        let tuple = Tuple::new(self.id(from.host()), self.id(to.host()), ports.0, ports.1);
        let mut at = from.switch;
        while at != to.switch {
            let left = search.distance[at as usize];
            if left == UNREACHED {
                return None;
            }
            let nearer = |&&(_, next): &&(PortId, u32)| search.distance[next as usize] == left - 1;
            let mut hops: Vec<(PortId, u32)> = graph.links(at).iter().filter(nearer).copied().collect();
            hops.sort_unstable_by_key(|&(_, next)| search.turn[next as usize]);
            let pick = tuple.hash(self.id(graph.node(at))) as usize % hops.len();
            let (port, next) = hops[pick];
            out.push(port);
            at = next;
        }
        Some(())
    }
}

impl Ns3Table {
    fn id(&self, node: NodeId) -> u16 {
        self.ids[node.index()]
    }

    fn search(&self, graph: &SwitchGraph, target: u32) -> Search {
        let mut distance = vec![UNREACHED; graph.len()];
        let mut turn = vec![UNREACHED; graph.len()];
        let mut queue = vec![target];
        distance[target as usize] = 0;
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            turn[at as usize] = next as u32;
            next += 1;
            let mut neighbours: Vec<u32> = graph.links(at).iter().map(|&(_, to)| to).collect();
            neighbours.sort_unstable_by_key(|&n| std::cmp::Reverse(self.id(graph.node(n))));
            for to in neighbours {
                if distance[to as usize] == UNREACHED {
                    distance[to as usize] = distance[at as usize] + 1;
                    queue.push(to);
                }
            }
        }
        Search { distance: distance.into(), turn: turn.into() }
    }
}

/// The id of each node: the number at the end of its name.
fn ids(topology: &Topology) -> Result<Box<[u16]>, RoutingError> {
    let mut known: BTreeMap<u16, &str> = BTreeMap::new();
    let mut ids = Vec::with_capacity(topology.nodes.len());
    for node in &topology.nodes {
        let name = node.name.as_str();
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // Fails both without digits and with too large a number.
        let number = name[digits..].parse().map_err(|_| RoutingError::NoNumber { node: name.into() })?;
        if let Some(other) = known.insert(number, name) {
            return Err(RoutingError::SameNumber { a: other.into(), b: name.into(), number });
        }
        ids.push(number);
    }
    Ok(ids.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_murmur3_of_12_little_endian_bytes() {
        // Published vectors of MurmurHash3_x86_32: empty with seeds 0, 1 and 2^32 - 1, and four bytes 21 43 65 87.
        let hash = mur3::murmurhash3_x86_32;
        assert_eq!(hash(&[], 0), 0);
        assert_eq!(hash(&[], 1), 0x514e_28b7);
        assert_eq!(hash(&[], u32::MAX), 0x81f1_6f39);
        assert_eq!(hash(&[0x21, 0x43, 0x65, 0x87], 0), 0xf55b_516b);
        assert_eq!(hash(&[0x21, 0x43, 0x65, 0x87], 0x5082_edee), 0x2362_f9de);
        // Node 13 = 0xd to 0x104f, ports 10000 = 0x2710 and 100 = 0x64: 0b000d01, 0b104f01, 0x00642710.
        let tuple = Tuple::new(13, 0x104f, 10_000, 100);
        assert_eq!(tuple.0, [0x01, 0x0d, 0x00, 0x0b, 0x01, 0x4f, 0x10, 0x0b, 0x10, 0x27, 0x64, 0x00]);
        // The hash of these bytes with seed 7, worked out apart from this program.
        assert_eq!(tuple.hash(7), 3_378_358_647);
    }
}
