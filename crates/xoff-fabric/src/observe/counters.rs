//! Counts of a run, and its fingerprint.

use xoff_engine::Time;

/// Counts of Ultra Ethernet's transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UetCounters {
    /// Data packets sent for the first time.
    pub sent: u64,
    /// Data packets sent again.
    pub retransmitted: u64,
    /// Requests to send (RTS).
    pub requests: u64,
    /// ACKs at senders.
    pub acks: u64,
    /// NACKs at senders.
    pub nacks: u64,
    /// PULLs at senders.
    pub pulls: u64,
}

impl UetCounters {
    /// Adds another partition's counts.
    fn add(&mut self, other: &UetCounters) {
        self.sent += other.sent;
        self.retransmitted += other.retransmitted;
        self.requests += other.requests;
        self.acks += other.acks;
        self.nacks += other.nacks;
        self.pulls += other.pulls;
    }
}

/// Counts of receivers' credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditCounters {
    /// Credits that receivers sent, those that their own port dropped included.
    pub sent: u64,
    /// Credits that ports dropped.
    pub dropped: u64,
    /// Credits that data packets took.
    pub used: u64,
}

/// Counts of what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Packets of any kind received at any node.
    pub packet_hops: u64,
    /// Sum over all events of a hash of time and key: the same for the same events, however the network is cut into
    /// partitions.
    pub fingerprint: u64,
    /// Flows completed.
    pub flows_done: u64,
    /// Completed flows that the run does not wait for.
    pub background_done: u64,
    /// Payload bytes that receivers have taken, each byte once.
    pub delivered_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets trimmed.
    pub trims: u64,
    /// Counts of Ultra Ethernet's transport.
    pub uet: UetCounters,
    /// Counts of receivers' credits.
    pub credits: CreditCounters,
}

impl Counters {
    /// Counts an event.
    #[inline(always)] // runs for every event
    pub(crate) fn count(&mut self, time: Time, key: u32) {
        self.events += 1;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint(time, key));
    }

    /// Counts an event if it `happens`, without a branch.
    #[inline(always)] // runs for every packet at a switch, in the order of scheduling
    pub(crate) fn count_if(&mut self, happens: bool, time: Time, key: u32) {
        self.events += u64::from(happens);
        self.fingerprint = self.fingerprint.wrapping_add(u64::from(happens) * fingerprint(time, key));
    }

    /// Adds another partition's counts.
    pub(crate) fn add(&mut self, other: &Counters) {
        self.events += other.events;
        self.packet_hops += other.packet_hops;
        self.fingerprint = self.fingerprint.wrapping_add(other.fingerprint);
        self.flows_done += other.flows_done;
        self.background_done += other.background_done;
        self.delivered_bytes += other.delivered_bytes;
        self.drops += other.drops;
        self.trims += other.trims;
        self.uet.add(&other.uet);
        self.credits.sent += other.credits.sent;
        self.credits.dropped += other.credits.dropped;
        self.credits.used += other.credits.used;
    }
}

/// A folded multiplication mixes an event's time and key; the sum over events does not depend on the order of nodes.
#[inline]
pub(crate) fn fingerprint(time: Time, key: u32) -> u64 {
    let mixed = u128::from(time.0 ^ u64::from(key) << 32) * 0x9E37_79B9_7F4A_7C15;
    (mixed >> 64) as u64 ^ mixed as u64
}
