//! What a scheme needs on the wire, and how many bytes that takes.

use serde::{Deserialize, Serialize};

/// Congestion mark that a data packet carries. Ordered by severity: of two marks the greater one counts.
///
/// Plain ECN uses [`Mark::None`] and [`Mark::Ce`]; ternary detection (TCD, section 4) adds [`Mark::Ue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Mark {
    /// Not marked.
    #[default]
    None = 0,
    /// Undetermined: passed a port that had been paused.
    Ue = 2,
    /// Congestion encountered.
    Ce = 3,
}

/// On which packets switches write in-network telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IntPath {
    /// No telemetry.
    #[default]
    Off,
    /// On data packets, at each egress; the receiver echoes the stack in its ACK (HPCC).
    Data,
    /// On ACKs, at each egress of the return path, from the port the ACK came in on (FNCC, Algorithm 1).
    Ack,
}

/// The packets with which receivers let senders send, one data packet each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditPackets {
    /// Mean bytes on the wire.
    pub size: u16,
    /// Credits that a port holds while its limit does not let them go; what comes beyond is dropped.
    pub queue: u32,
}

/// The signals that a scheme declares. The network adds these fields and their bytes to the headers; a
/// scenario that cannot provide them is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Signals {
    /// Congestion points mark data packets: the scenario needs a detector.
    pub ecn: bool,
    /// In-network telemetry.
    pub int: IntPath,
    /// The sender's clock in every data packet, echoed in its ACK: an RTT sample at each ACK.
    pub timestamp: bool,
    /// The receiver's number of concurrent flows N in every ACK.
    pub flow_count: bool,
    /// A byte of the scheme's own in every data packet: reaction points write it, congestion points change it as packets join
    /// their queues, and ACKs bring it back. Each packet needs an ACK of its own.
    pub label: bool,
    /// Congestion points send messages (CNM) to senders and see each enqueue, dequeue and timer.
    pub congestion_point: bool,
    /// Switches have a point of their own, which sees data join any of their queues and sends messages (CNM).
    pub switch_point: bool,
    /// The switch point uses the bytes at which ingress ports are paused: there must be flow control.
    pub pause_threshold: bool,
    /// ACKs must retrace their data packets' path.
    pub symmetric_paths: bool,
    /// Receivers send credits, and a data packet goes only with one, whose number it brings back. Ports limit credits to what
    /// the data that answer them take on the link. Credits acknowledge data: only a message's last packet has an ACK. `None`
    /// if senders need no credits.
    pub credits: Option<CreditPackets>,
    /// Whether ACKs matter to the reaction point (schemes that react to CNPs alone say no, which saves work).
    pub acks: bool,
    /// An ACK without a mark changes nothing at the reaction point, which need not be told of it: that saves work, too.
    pub marked_acks_only: bool,
}

/// Bytes of the INT header that precedes the per-hop records: hop count and path id (HPCC, section 4.1).
pub const INT_HEADER_BYTES: u64 = 2;
/// Bytes of one hop's INT record (FNCC, section 4.3: 4 + 24 + 20 + 16 bit).
pub const INT_RECORD_BYTES: u64 = 8;
/// Bytes of the flow count N (FNCC, section 3.2.3: 16 bit).
pub const FLOW_COUNT_BYTES: u64 = 2;
/// Bytes of a sender's timestamp.
pub const TIMESTAMP_BYTES: u64 = 8;
/// Bytes of a label.
pub const LABEL_BYTES: u64 = 1;
/// Bytes of a credit's number in a data packet.
pub const CREDIT_BYTES: u64 = 2;

impl Signals {
    /// Bytes that these signals add to a data packet. INT on data reserves the records of all hops at
    /// the sender, so that the frame keeps its size on the way.
    pub fn data_bytes(&self, int_hops: u64) -> u64 {
        let int = if self.int == IntPath::Data { INT_HEADER_BYTES + INT_RECORD_BYTES * int_hops } else { 0 };
        int + if self.timestamp { TIMESTAMP_BYTES } else { 0 }
            + if self.label { LABEL_BYTES } else { 0 }
            + if self.credits.is_some() { CREDIT_BYTES } else { 0 }
    }

    /// Bytes that these signals add to an ACK when its receiver sends it.
    pub fn ack_bytes(&self, int_hops: u64) -> u64 {
        let int = match self.int {
            IntPath::Off => 0,
            IntPath::Data => INT_HEADER_BYTES + INT_RECORD_BYTES * int_hops,
            IntPath::Ack => INT_HEADER_BYTES,
        };
        int + if self.timestamp { TIMESTAMP_BYTES } else { 0 }
            + if self.flow_count { FLOW_COUNT_BYTES } else { 0 }
            + if self.label { LABEL_BYTES } else { 0 }
    }

    /// Bytes that an ACK grows by at each switch.
    pub fn ack_bytes_per_hop(&self) -> u64 {
        if self.int == IntPath::Ack { INT_RECORD_BYTES } else { 0 }
    }
}

/// Width of the INT counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntFormat {
    /// The hardware's fields, which round and wrap around: 4 bit speed, 24 bit nanoseconds, 20 bit of 128 B,
    /// 16 bit of 80 B (FNCC, section 4.3; units from HPCC, section 4.1).
    #[default]
    Hardware,
    /// Picoseconds and bytes in full. Takes the same bytes on the wire.
    Exact,
}
