//! What each switch knows of the queues at the links between groups of its own group: see `link/carried_loads.rs`.

use xoff_engine::Time;

use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::network::Network;
use crate::packet::{PacketId, Packets};

/// In place of a port's number, for links inside of groups.
const INSIDE: u32 = u32::MAX;

/// A queue at another switch.
#[derive(Clone, Copy, Default)]
struct Known {
    bytes: u32,
    /// When the packet came that has brought this; zero if none has.
    at: Time,
}

/// What switches know of each other.
pub(crate) struct KnownLoads {
    /// By port: its number among all ports at links between groups of its group, or [`INSIDE`].
    number: Vec<u32>,
    /// By node, then by port of its group.
    known: Vec<Vec<Known>>,
    forget_after: Time,
}

impl KnownLoads {
    /// Nothing is known so far; `None` if packets carry no queues.
    pub fn new<C>(net: &Network, links: &Links<C>) -> Option<Box<KnownLoads>> {
        let detours = net.paths.next_hops.as_ref()?.detours()?;
        let carried = links.carried.as_ref()?;
        let mut number = vec![INSIDE; net.topology.ports() as usize];
        let mut counts = vec![0; detours.groups as usize];
        let switches = || NodeId::all(carried.ports.len()).filter(|&node| !net.is_host(node));
        for node in switches() {
            for port in &carried.ports[node.index()] {
                let count = &mut counts[detours.group(node) as usize];
                number[port.index()] = *count;
                *count += 1;
            }
        }
        let mut known = vec![Vec::new(); carried.ports.len()];
        for node in switches() {
            known[node.index()] = vec![Known::default(); counts[detours.group(node) as usize] as usize];
        }
        Some(Box::new(KnownLoads { number, known, forget_after: detours.forget_after }))
    }

    /// A switch reads what a packet carries that came by `ingress`, if from another switch of its group.
    pub fn learn<C>(
        &mut self,
        now: Time,
        packets: &Packets,
        links: &Links<C>,
        node: NodeId,
        ingress: PortId,
        id: PacketId,
    ) {
        let (Some(loads), Some(carried)) = (&packets.loads, &links.carried) else { return };
        if self.number[ingress.index()] != INSIDE {
            return;
        }
        let from = links.ports[ingress.peer().index()].node;
        for (port, &bytes) in carried.ports[from.index()].iter().zip(loads.of(id)) {
            let number = self.number[port.index()] as usize;
            self.known[node.index()][number] = Known { bytes, at: now };
        }
    }

    /// The bytes in the queue at a link between groups, as far as a switch of the group knows that has not the port itself.
    pub fn load(&self, now: Time, node: NodeId, port: PortId) -> u64 {
        let known = self.known[node.index()][self.number[port.index()] as usize];
        if known.at + self.forget_after < now { 0 } else { known.bytes.into() }
    }
}
