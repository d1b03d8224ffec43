//! The packet memory of a switch: whether a packet has room, and when a queue's peer must be told to pause or may go on.

use super::IngressQueue;
use crate::observe::Full;
use crate::settings::{FlowControl, Pfc};

/// The memory has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Bytes that the ingress port and priority already has.
    pub occupancy: u64,
    /// What is full.
    pub full: Full,
}

/// Dynamic thresholds of a switch.
#[derive(Clone, Copy, Debug, Default)]
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
    /// With at most so many bytes in the whole memory and without alarms, no queue is near a threshold.
    calm: u64,
    /// The number of queues that pause their peer, plus the number of those that use headroom of dynamic thresholds.
    alarms: u32,
    is_dynamic: bool,
    /// Zeros if thresholds are static.
    dynamic: Dynamic,
}

const _: () = assert!(size_of::<Memory>() == 64, "one cache line");

impl Memory {
    /// The memory of a switch whose ingress queues have `headrooms` bytes of headroom in all, over `queues` pairs of
    /// port and priority. Without `capacity` it is unlimited.
    ///
    /// [`Memory::keep_calm_with`] has to tell the memory of each of these pairs before [`Memory::is_calm`] is asked.
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
        let capacity = capacity.unwrap_or(u64::MAX);
        Memory {
            capacity,
            used: 0,
            calm: capacity,
            alarms: 0,
            is_dynamic: dynamic.is_some(),
            dynamic: dynamic.unwrap_or_default(),
        }
    }

    /// Lowers what the memory may hold in calm to what cannot reach the threshold of a `queue`, whoever holds the bytes.
    ///
    /// If the memory holds u bytes, a queue holds at most u of them, and at most u of the S bytes to share are taken. The queue is
    /// below a dynamic threshold, which is a (S - u) rounded down, if u + 1 <= a (S - u), that is u <= (a S - 1) / (1 + a).
    pub(super) fn keep_calm_with(&mut self, queue: &IngressQueue) {
        let calm = if self.is_dynamic {
            let (one, alpha) = (1u128 << 32, u128::from(queue.alpha));
            let share = (alpha * u128::from(self.dynamic.shareable)).saturating_sub(one);
            u64::try_from(share / (one + alpha)).unwrap_or(u64::MAX)
        } else {
            queue.xoff
        };
        self.calm = self.calm.min(calm);
    }

    fn dynamic(&self) -> Option<&Dynamic> {
        self.is_dynamic.then_some(&self.dynamic)
    }

    /// Bytes in the memory.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes above which a queue's peer is paused now.
    pub fn xoff(&self, queue: &IngressQueue) -> u64 {
        self.dynamic().map_or(queue.xoff, |d| d.threshold(queue, 0).saturating_add(d.reserve))
    }

    /// Whether each queue lets a packet through ([`Memory::lets_through`]), by what the memory as a whole holds. The answer may be
    /// `false` although they do.
    #[inline]
    pub fn is_calm(&self, size: u64) -> bool {
        (self.used + size <= self.calm) & (self.alarms == 0)
    }

    /// Counts an alarm that begins or ends.
    pub(super) fn count_alarm(&mut self, begins: bool) {
        self.alarms = if begins { self.alarms + 1 } else { self.alarms - 1 };
    }

    /// Whether a packet that leaves as soon as it has arrived changes nothing: it fits without headroom, and neither PAUSE
    /// nor RESUME follows. Near a dynamic threshold the answer may be `false` although nothing would change.
    #[inline]
    pub fn lets_through(&self, queue: &IngressQueue, size: u64) -> bool {
        let bytes = queue.bytes + size;
        let below = match self.dynamic() {
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
        if self.is_dynamic {
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
        if self.is_dynamic {
            return self.release_dynamic(queue, size);
        }
        queue.bytes -= size;
        queue.pausing && queue.bytes <= queue.xon
    }

    fn overflow(&self, queue: &IngressQueue, size: u64) -> Overflow {
        let occupancy = queue.occupancy();
        let above = if self.is_dynamic {
            queue.headroom_used + size
        } else {
            (occupancy + size).saturating_sub(queue.xoff.min(occupancy))
        };
        Overflow { occupancy, full: Full::Headroom { size: queue.headroom, needed: above } }
    }

    fn charge_dynamic(&mut self, queue: &mut IngressQueue, size: u64) -> Result<bool, Overflow> {
        let dynamic = &mut self.dynamic;
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
            self.alarms += u32::from(queue.headroom_used == 0);
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
        let dynamic = &mut self.dynamic;
        let from_headroom = size.min(queue.headroom_used);
        queue.headroom_used -= from_headroom;
        self.alarms -= u32::from(from_headroom > 0 && queue.headroom_used == 0);
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
