//! Virtual output queues: each input of a switch has a queue for each output and priority, so that a packet never waits
//! behind a packet for another output.
//!
//! An output serves its inputs round robin, one packet at a time. An input can send to several outputs at the same time,
//! so only the outputs' links limit what passes a switch.

use bytemuck::Zeroable;
use xoff_engine::SparseList;

use crate::ids::PortId;
use crate::packet::{NO_PACKET, PacketId, Packets};
use crate::path::topology::Topology;

const NONE: u32 = u32::MAX;

/// The queue of an input for an output and priority. Zeros are an empty queue: most queues of a large network are never used, and
/// take no memory.
#[derive(Clone, Copy, Zeroable)]
struct Voq {
    /// The number of the first packet plus 1, or 0.
    head: u32,
    /// The last packet, if there is a first one.
    tail: PacketId,
    /// The next queue in the ring of the output and priority, if the queue is in it.
    next: u32,
}

impl Voq {
    /// The first packet; [`NO_PACKET`] if the queue is empty.
    #[inline]
    fn first(&self) -> PacketId {
        self.head.wrapping_sub(1)
    }

    #[inline]
    fn set_first(&mut self, id: PacketId) {
        self.head = id.wrapping_add(1);
    }
}

const _: () = assert!(NO_PACKET == u32::MAX, "and so an empty queue begins with 0");

/// The queues of an output and priority that hold packets, in the order in which they are served.
#[derive(Clone, Copy)]
struct Ring {
    first: u32,
    last: u32,
}

/// All virtual output queues.
pub(crate) struct Voqs {
    priorities: usize,
    /// By port: the number of its node's ports.
    inputs: Vec<u32>,
    /// By port: its number among its node's ports.
    number: Vec<u32>,
    /// By output port: its first queue.
    first: Vec<u32>,
    /// By output port, priority and input.
    queues: SparseList<Voq>,
    /// By output port and priority.
    rings: Vec<Ring>,
}

impl Voqs {
    /// Empty queues for each pair of ports of a node and each priority.
    pub fn new(topology: &Topology, priorities: usize) -> Self {
        let ports = topology.port_ids();
        let mut of_node = vec![0u32; topology.nodes.len()];
        let number = ports.clone().map(|port| {
            let count = &mut of_node[topology.node_of(port).index()];
            *count += 1;
            *count - 1
        });
        let number: Vec<u32> = number.collect();
        let inputs: Vec<u32> = ports.map(|port| of_node[topology.node_of(port).index()]).collect();
        let mut queues = 0;
        let first = inputs.iter().map(|&inputs| {
            queues += inputs * priorities as u32;
            queues - inputs * priorities as u32
        });
        let first = first.collect();
        let rings = vec![Ring { first: NONE, last: NONE }; topology.ports() as usize * priorities];
        Voqs { priorities, inputs, number, first, queues: SparseList::zeros(queues as usize), rings }
    }

    /// A packet that came in by `input` joins the queue for an output and priority.
    #[inline]
    pub fn push(
        &mut self,
        output: PortId,
        priority: usize,
        input: PortId,
        id: PacketId,
        packets: &mut Packets,
    ) {
        let out = output.index();
        let place = self.first[out] + priority as u32 * self.inputs[out] + self.number[input.index()];
        packets[id].next = NO_PACKET;
        let queue = &mut self.queues[place as usize];
        let last = std::mem::replace(&mut queue.tail, id);
        if queue.first() != NO_PACKET {
            packets[last].next = id;
            return;
        }
        queue.set_first(id);
        self.append(out * self.priorities + priority, place);
    }

    /// Puts a queue at the end of its ring.
    #[inline]
    fn append(&mut self, ring: usize, place: u32) {
        self.queues[place as usize].next = NONE;
        let ring = &mut self.rings[ring];
        if ring.first == NONE {
            ring.first = place;
        } else {
            self.queues[ring.last as usize].next = place;
        }
        ring.last = place;
    }

    /// The packet whose turn it is; [`NO_PACKET`] if no packet waits.
    #[inline]
    pub fn head(&self, output: PortId, priority: usize) -> PacketId {
        let first = self.rings[output.index() * self.priorities + priority].first;
        if first == NONE { NO_PACKET } else { self.queues[first as usize].first() }
    }

    /// Takes the packet whose turn it is, of an output and priority that has one.
    #[inline]
    pub fn pop(&mut self, output: PortId, priority: usize, packets: &Packets) -> PacketId {
        let ring = output.index() * self.priorities + priority;
        let place = self.rings[ring].first;
        let queue = &mut self.queues[place as usize];
        let id = queue.first();
        queue.set_first(packets[id].next);
        let (next, more) = (queue.next, queue.first() != NO_PACKET);
        self.rings[ring].first = next;
        if more {
            self.append(ring, place);
        }
        packets.prefetch_with_telemetry(self.head(output, priority));
        id
    }

    /// The packets queued for an output and priority, input by input.
    pub fn packets(&self, output: PortId, priority: usize, packets: &Packets) -> Vec<PacketId> {
        let mut ids = Vec::new();
        let mut place = self.rings[output.index() * self.priorities + priority].first;
        while place != NONE {
            let queue = &self.queues[place as usize];
            let mut id = queue.first();
            while id != NO_PACKET {
                ids.push(id);
                id = packets[id].next;
            }
            place = queue.next;
        }
        ids
    }
}
