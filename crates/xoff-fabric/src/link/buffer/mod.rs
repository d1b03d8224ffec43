//! A switch's packet memory and the ingress accounting that decides on PAUSE and RESUME.
//!
//! Static thresholds compare the bytes of one (ingress port, priority) with Xoff and Xon. Dynamic thresholds
//! follow the shared-memory model of the HPCC simulator lineage: each pair has a reserve of its own, above the reserve
//! a share `alpha` of the free shared memory, and above that share a headroom. A packet is charged when it has arrived
//! in full and released when its transmission begins.

mod headroom;
#[cfg(test)]
mod tests;

pub use headroom::{LinkEnds, headroom, pfc_headroom, quanta_time};

use bytemuck::Zeroable;
use xoff_engine::{Rate, SparseList};

use crate::ids::{NodeId, PortId, QueueId};
use crate::network::Network;
use crate::observe::Full;
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
    pub pausing: bool,
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
}

/// The memory has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Bytes that the ingress port and priority already has.
    pub occupancy: u64,
    /// What is full.
    pub full: Full,
}

/// Dynamic thresholds of a switch.
#[derive(Clone, Copy, Debug)]
struct Dynamic {
    /// Bytes of memory without all reserves and headrooms.
    shareable: u64,
    shared_used: u64,
    reserve: u64,
    resume_offset: u64,
}

impl Dynamic {
    /// Bytes of the shared memory that one queue may hold once `more` bytes of it are taken.
    #[inline]
    fn threshold(&self, queue: &IngressQueue, more: u64) -> u64 {
        let free = self.shareable.saturating_sub(self.shared_used + more);
        ((u128::from(free) * u128::from(queue.alpha)) >> 32) as u64
    }
}

/// The packet memory of a switch.
///
/// One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Memory {
    capacity: u64,
    used: u64,
    dynamic: Option<Dynamic>,
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

impl Memory {
    /// The memory of a switch whose ingress queues have `headrooms` bytes of headroom in all, over `queues` pairs of
    /// port and priority. Without `capacity` it is unlimited.
    pub fn new(flow_control: &FlowControl, capacity: Option<u64>, headrooms: u64, queues: u64) -> Self {
        let dynamic = match flow_control {
            FlowControl::Pfc(Pfc { alpha: Some(_), reserve, resume_offset, .. }) => Some(Dynamic {
                shareable: capacity
                    .unwrap_or(u64::MAX)
                    .saturating_sub(headrooms.saturating_add(queues.saturating_mul(reserve.0))),
                shared_used: 0,
                reserve: reserve.0,
                resume_offset: resume_offset.0,
            }),
            _ => None,
        };
        Memory { capacity: capacity.unwrap_or(u64::MAX), used: 0, dynamic }
    }

    /// Bytes in the memory.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes above which a queue's peer is paused now.
    pub fn xoff(&self, queue: &IngressQueue) -> u64 {
        self.dynamic.as_ref().map_or(queue.xoff, |d| d.threshold(queue, 0).saturating_add(d.reserve))
    }

    /// Whether a packet that leaves as soon as it has arrived changes nothing: it fits without headroom, and neither PAUSE
    /// nor RESUME follows. Near a dynamic threshold the answer may be `false` although nothing would change.
    #[inline]
    pub fn lets_through(&self, queue: &IngressQueue, size: u64) -> bool {
        let bytes = queue.bytes + size;
        let below = match &self.dynamic {
            None => bytes <= queue.xoff,
            Some(dynamic) => {
                let shared = bytes.saturating_sub(dynamic.reserve);
                (queue.headroom_used == 0) & (shared < dynamic.threshold(queue, size))
            }
        };
        below & !queue.pausing & (self.used + size <= self.capacity)
    }

    /// Charges a packet that has arrived; returns whether the peer must be paused.
    #[inline]
    pub fn charge(&mut self, queue: &mut IngressQueue, size: u64) -> Result<bool, Overflow> {
        if self.used + size > self.capacity {
            return Err(Overflow {
                occupancy: queue.occupancy(),
                full: Full::Memory { size: self.capacity },
            });
        }
        if self.dynamic.is_some() {
            return self.charge_dynamic(queue, size);
        }
        let bytes = queue.bytes + size;
        if bytes > queue.xoff {
            if bytes - queue.xoff > queue.headroom {
                return Err(self.overflow(queue, size));
            }
            queue.bytes = bytes;
            queue.max_headroom = queue.max_headroom.max(bytes - queue.xoff);
            self.used += size;
            return Ok(!queue.pausing);
        }
        queue.bytes = bytes;
        self.used += size;
        Ok(false)
    }

    /// Releases a packet that is leaving; returns whether the peer may go on.
    #[inline]
    pub fn release(&mut self, queue: &mut IngressQueue, size: u64) -> bool {
        self.used -= size;
        if self.dynamic.is_some() {
            return self.release_dynamic(queue, size);
        }
        queue.bytes -= size;
        queue.pausing && queue.bytes <= queue.xon
    }

    fn overflow(&self, queue: &IngressQueue, size: u64) -> Overflow {
        let occupancy = queue.occupancy();
        let above = match &self.dynamic {
            None => (occupancy + size).saturating_sub(queue.xoff.min(occupancy)),
            Some(_) => queue.headroom_used + size,
        };
        Overflow { occupancy, full: Full::Headroom { size: queue.headroom, needed: above } }
    }

    fn charge_dynamic(&mut self, queue: &mut IngressQueue, size: u64) -> Result<bool, Overflow> {
        let Some(dynamic) = &mut self.dynamic else { return Ok(false) };
        let threshold = dynamic.threshold(queue, 0);
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        let bytes = queue.bytes + size;
        let fits = bytes <= dynamic.reserve || size + shared <= threshold;
        if !fits && size + queue.headroom_used > queue.headroom {
            return Err(self.overflow(queue, size));
        }
        if bytes <= dynamic.reserve {
            queue.bytes = bytes;
        } else if bytes - dynamic.reserve > threshold {
            queue.headroom_used += size;
            queue.max_headroom = queue.max_headroom.max(queue.headroom_used);
        } else {
            queue.bytes = bytes;
            dynamic.shared_used += size.min(bytes - dynamic.reserve);
        }
        self.used += size;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        Ok(!queue.pausing && (queue.headroom_used > 0 || shared >= dynamic.threshold(queue, 0)))
    }

    fn release_dynamic(&mut self, queue: &mut IngressQueue, size: u64) -> bool {
        let Some(dynamic) = &mut self.dynamic else { return false };
        let from_headroom = size.min(queue.headroom_used);
        queue.headroom_used -= from_headroom;
        let rest = size - from_headroom;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        dynamic.shared_used -= rest.min(shared);
        queue.bytes -= rest;
        let shared = queue.bytes.saturating_sub(dynamic.reserve);
        queue.pausing
            && queue.headroom_used == 0
            && (shared == 0 || shared + dynamic.resume_offset <= dynamic.threshold(queue, 0))
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
        Accounting { memories: memories.collect(), buffers }
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
