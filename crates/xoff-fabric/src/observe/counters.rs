//! Counts of a run, and its fingerprint.

use xoff_engine::Time;

/// Counts of what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Packets of any kind received at any node.
    pub packet_hops: u64,
    /// Sum over all events of a hash of time and key: the same for the same sequence of events, however the
    /// network is cut into parts.
    pub fingerprint: u64,
    /// Flows completed.
    pub flows_done: u64,
    /// Of these, the flows that the run does not wait for.
    pub background_done: u64,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
}

impl Counters {
    /// Counts an event.
    #[inline(always)] // the way of every event
    pub(crate) fn count(&mut self, time: Time, key: u32) {
        self.events += 1;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint(time, key));
    }

    /// Adds a part's.
    pub(crate) fn add(&mut self, part: &Counters) {
        self.events += part.events;
        self.packet_hops += part.packet_hops;
        self.fingerprint = self.fingerprint.wrapping_add(part.fingerprint);
        self.flows_done += part.flows_done;
        self.background_done += part.background_done;
        self.delivered_bytes += part.delivered_bytes;
        self.drops += part.drops;
    }
}

/// A folded multiplication mixes an event's time and key; the sum over events does not depend on the order of nodes.
#[inline]
pub(crate) fn fingerprint(time: Time, key: u32) -> u64 {
    let mixed = u128::from(time.0 ^ u64::from(key) << 32) * 0x9E37_79B9_7F4A_7C15;
    (mixed >> 64) as u64 ^ mixed as u64
}
