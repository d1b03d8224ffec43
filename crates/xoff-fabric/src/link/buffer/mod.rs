//! A switch's packet memory and the ingress accounting that decides on PAUSE and RESUME.
//!
//! Static thresholds compare the bytes of one (ingress port, priority) with Xoff and Xon. Dynamic thresholds
//! follow the shared-memory model of the HPCC simulator lineage: each pair has a reserve of its own, above the reserve
//! a share `alpha` of the free shared memory, and above that share a headroom. A packet is charged when it has arrived
//! in full and released when its transmission begins.

mod headroom;
mod memory;
#[cfg(test)]
mod tests;

pub use headroom::{LinkEnds, headroom, pfc_headroom, quanta_time};
pub use memory::{Memory, Overflow};

use std::hash::{Hash, Hasher};

use bytemuck::Zeroable;
use xoff_engine::{Rate, SparseList};

use crate::ids::{NodeId, PortId, QueueId};
use crate::network::Network;
use crate::settings::{FlowControl, Pfc};

/// Thresholds and state of one (ingress port, priority).
///
/// One cache line.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(align(64))]
pub struct IngressQueue {
    /// Bytes in the switch that arrived by this queue, without those in the headroom of dynamic thresholds.
    pub bytes: u64,
    /// Bytes in the headroom (dynamic thresholds only).
    headroom_used: u64,
    /// Whether the peer was told to pause.
    pausing: bool,
    /// The switch.
    pub node: NodeId,
    xoff: u64,
    xon: u64,
    /// Memory above the threshold.
    headroom: u64,
    /// Maximum number of bytes of headroom used so far.
    max_headroom: u64,
    /// Dynamic threshold: share of the free memory, in units of 2^-32.
    alpha: u64,
}

impl IngressQueue {
    /// All bytes charged to this queue.
    pub fn occupancy(&self) -> u64 {
        self.bytes + self.headroom_used
    }

    /// Whether the peer was told to pause ([`Accounting::set_pausing`]).
    pub fn is_pausing(&self) -> bool {
        self.pausing
    }
}

/// Doubles `alpha` for each started doubling from the hosts' `line_rate` to `rate`; the result is at most 1.
fn scaled_alpha(mut alpha: f64, rate: Rate, line_rate: Rate) -> f64 {
    let mut rate = rate.0;
    while rate > line_rate.0 && alpha < 1.0 {
        (alpha, rate) = ((2.0 * alpha).min(1.0), rate / 2);
    }
    alpha
}

impl IngressQueue {
    /// The thresholds of one ingress port and priority of switch `node` under `flow_control`, in a network whose hosts have
    /// `line_rate`.
    pub fn new(
        node: NodeId,
        flow_control: &FlowControl,
        ends: &LinkEnds,
        line_rate: Rate,
        mtu: u64,
        pfc_frames: u64,
    ) -> Self {
        let unlimited = IngressQueue {
            bytes: 0,
            headroom_used: 0,
            pausing: false,
            node,
            xoff: u64::MAX,
            xon: u64::MAX,
            headroom: 0,
            max_headroom: 0,
            alpha: 0,
        };
        match flow_control {
            FlowControl::Pfc(pfc) => {
                let headroom = pfc_headroom(pfc, ends, mtu, pfc_frames);
                let xoff = match (pfc.xoff, pfc.alpha) {
                    (Some(xoff), _) => xoff.0,
                    (None, Some(_)) => u64::MAX,
                    (None, None) => Pfc::default_xoff(ends.rate_in),
                };
                let xon = pfc.xon.map_or(xoff.saturating_sub(2 * mtu), |x| x.0);
                let alpha = pfc.alpha.map_or(0.0, |a| {
                    if pfc.alpha_by_rate { scaled_alpha(a, ends.rate_out, line_rate) } else { a }
                });
                IngressQueue { xoff, xon, headroom, alpha: (alpha * (1u64 << 32) as f64) as u64, ..unlimited }
            }
            other => other.thresholds().map_or(unlimited, |thresholds| IngressQueue {
                xoff: thresholds.stop,
                xon: thresholds.go,
                headroom: thresholds.slack,
                ..unlimited
            }),
        }
    }

    /// Bounds a default threshold by its `share` of the memory.
    fn bound(&mut self, share: u64, mtu: u64) {
        self.xoff = Pfc::bounded_xoff(self.xoff, share, mtu);
        self.xon = self.xoff.saturating_sub(2 * mtu);
    }

    /// The static threshold; `None` if thresholds are dynamic or there is none.
    pub fn static_xoff(&self) -> Option<u64> {
        (self.xoff != u64::MAX).then_some(self.xoff)
    }

    /// Memory above the threshold.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Maximum number of bytes used above the threshold.
    pub fn max_headroom(&self) -> u64 {
        self.max_headroom
    }
}

/// The ingress accounting of a partition's switches: a buffer for each ingress port and priority, and each switch's
/// memory.
pub struct Accounting {
    /// By queue.
    pub buffers: SparseList<IngressQueue>,
    /// By node.
    pub memories: Vec<Memory>,
}

impl Accounting {
    /// Tells apart what is in ingress buffers, and which of them pause their peers.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        for (place, buffer) in self.buffers.iter().enumerate() {
            if buffer.occupancy() > 0 || buffer.pausing {
                (place, buffer.bytes, buffer.headroom_used, buffer.pausing).hash(hasher);
            }
        }
    }

    /// Empty buffers at the ports `own`, with the thresholds that the network's flow control gives them.
    pub fn new(net: &Network, own: &[PortId]) -> Accounting {
        let topology = &net.topology;
        let fc = &net.settings.flow_control;
        let priorities = net.settings.switch.priorities;
        let (frame, pfc_frames) = (net.wire.largest(), net.wire.pfc_frames(priorities));
        let mut headrooms = vec![0u64; topology.nodes.len()];
        let mut queues = vec![0u64; topology.nodes.len()];
        let mut buffers =
            SparseList::<IngressQueue>::zeros(topology.ports() as usize * usize::from(priorities));
        for &port in own {
            let ends = LinkEnds::of(net, port);
            let node = topology.node_of(port).index();
            for queue in QueueId::all_at(port, priorities.into()) {
                let buffer =
                    IngressQueue::new(NodeId::at(node), fc, &ends, net.env.line_rate, frame, pfc_frames);
                headrooms[node] = headrooms[node].saturating_add(buffer.headroom());
                queues[node] += 1;
                buffers[queue.index()] = buffer;
            }
        }
        let capacity = net.settings.switch.buffer.map(|b| b.0);
        if let (Some(capacity), FlowControl::Pfc(pfc)) = (capacity, fc)
            && pfc.has_default_xoff()
        {
            for queue in own.iter().flat_map(|&port| QueueId::all_at(port, priorities.into())) {
                let buffer = &mut buffers[queue.index()];
                let node = buffer.node.index();
                buffer.bound(capacity.saturating_sub(headrooms[node]) / queues[node], frame);
            }
        }
        let memories = headrooms.iter().zip(&queues).map(|(&h, &q)| Memory::new(fc, capacity, h, q));
        let mut memories: Vec<_> = memories.collect();
        for queue in own.iter().flat_map(|&port| QueueId::all_at(port, priorities.into())) {
            let buffer = &buffers[queue.index()];
            memories[buffer.node.index()].keep_calm_with(buffer);
        }
        Accounting { memories, buffers }
    }

    /// The peer of an ingress queue was told to pause, or to go on.
    pub fn set_pausing(&mut self, queue: QueueId, pausing: bool) {
        let buffer = &mut self.buffers[queue.index()];
        if buffer.pausing != pausing {
            buffer.pausing = pausing;
            self.memories[buffer.node.index()].count_alarm(pausing);
        }
    }

    /// Charges a packet of `size` bytes that has arrived; returns whether the peer must be paused.
    ///
    /// # Errors
    /// [`Overflow`] if there is no room for the packet.
    #[inline(always)] // runs for every packet
    pub fn charge(&mut self, queue: QueueId, size: u64) -> Result<bool, Overflow> {
        let buffer = &mut self.buffers[queue.index()];
        self.memories[buffer.node.index()].charge(buffer, size)
    }

    /// Whether a packet of `size` bytes that leaves a switch as soon as it has arrived changes nothing
    /// ([`Memory::lets_through`]). In a calm switch the queue stays out of the cache.
    #[inline(always)] // runs for every packet
    pub fn lets_through(&self, node: NodeId, queue: QueueId, size: u64) -> bool {
        let memory = &self.memories[node.index()];
        let of_queue = || memory.lets_through(&self.buffers[queue.index()], size);
        let is_calm = memory.is_calm(size);
        debug_assert!(!is_calm || of_queue(), "in a calm memory each queue lets packets through");
        is_calm || of_queue()
    }

    /// Whether an ingress queue is above the threshold at which its peer is paused.
    pub fn is_over(&self, queue: QueueId) -> bool {
        let buffer = &self.buffers[queue.index()];
        buffer.occupancy() > self.memories[buffer.node.index()].xoff(buffer)
    }

    /// Releases a packet of `size` bytes that is leaving; returns whether the peer may go on.
    #[inline(always)] // runs for every packet
    pub fn release(&mut self, queue: QueueId, size: u64) -> bool {
        let buffer = &mut self.buffers[queue.index()];
        self.memories[buffer.node.index()].release(buffer, size)
    }
}
