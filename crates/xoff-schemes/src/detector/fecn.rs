//! FECN: how InfiniBand's switches mark (InfiniBand Architecture Specification 1.4, Volume 1, Annex A10, as TCD,
//! SIGCOMM 2021, section 2.1, and the documentation of OpenSM's fields state it).
//!
//! A port whose queue is above the threshold is the *root* of congestion if it has credits to send, and a *victim* if
//! its packets are delayed for lack of credits. Roots mark. Victims mark if the victim mask includes their port, as it
//! usually includes ports to hosts: behind those there is no switch that could be the root.
//!
//! The sources leave open which packets of a port that had no credits a while ago are delayed: see [`Delayed`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Violation};

use crate::signals::Mark;
use crate::traits::{Detector, DetectorParams, PacketView, PortEnv, QueueView};

/// The largest value of the field Packet_Size: 255 units of 64 B.
const LARGEST_PACKET_SIZE: Bytes = Bytes(255 * 64);

/// Which packets a lack of credits has delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delayed {
    /// The packet at the head, for which the credits came. Packets behind it find credits at their turn: the port
    /// is a root again.
    #[default]
    Head,
    /// All packets that were in the queue when credits came. Only packets that arrive after that make the port a root.
    Queued,
}

/// Ports that mark as victims too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VictimMask {
    /// Ports to hosts.
    #[default]
    Hosts,
    /// No port.
    None,
    /// All ports.
    All,
}

/// Parameters of FECN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fecn {
    /// Queue length above which packets may be marked, in bytes; with 0 any backlog is enough. Default 50 KB (TCD,
    /// section 3.1.1); the specification's scale from 0 to 15 means what a switch's maker defines.
    pub threshold: Bytes,
    /// Packets between two marks that may be marked and are not, without unit; 0 marks each packet. The specification
    /// speaks of their mean number; here the number is the same each time. Default 0.
    pub marking_rate: u16,
    /// The minimum packet that may be marked, in bytes on the wire, at most 16,320 B (255 units of 64 B). Default 0.
    pub packet_size: Bytes,
    /// Ports that mark as victims too. Default `hosts`.
    pub victim_mask: VictimMask,
    /// Which packets count as delayed for lack of credits once there are some: the one at the `head` of the queue, as a
    /// port is a root while it has credits, or all that were `queued` then (in TCD, section 3.1.1, FECN errs on
    /// "packets arriving after the arrival of new credits"). Default `head`.
    pub delayed: Delayed,
}

impl Default for Fecn {
    fn default() -> Self {
        Fecn {
            threshold: Bytes(50_000),
            marking_rate: 0,
            packet_size: Bytes(0),
            victim_mask: VictimMask::default(),
            delayed: Delayed::default(),
        }
    }
}

/// FECN at an egress queue.
#[derive(Clone, Debug)]
pub struct FecnMarker {
    threshold: u64,
    packet_size: u64,
    marking_rate: u16,
    /// Whether victims mark too.
    masked: bool,
    delayed: Delayed,
    /// Packets in the queue that a lack of credits has delayed.
    held_up: u64,
    /// Packets that may be marked and pass before the next mark.
    to_pass: u16,
}

impl Detector for FecnMarker {
    #[inline]
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark {
        let victim = self.held_up > 0;
        self.held_up = self.held_up.saturating_sub(1);
        let eligible = queue.bytes > self.threshold && packet.bytes >= self.packet_size;
        if !eligible || (victim && !self.masked) {
            return Mark::None;
        }
        if self.to_pass > 0 {
            self.to_pass -= 1;
            return Mark::None;
        }
        self.to_pass = self.marking_rate;
        Mark::Ce
    }
    fn is_by_chance(&self, queue: &QueueView) -> bool {
        self.marking_rate > 0 && queue.bytes > self.threshold
    }
    fn unmarked_bytes(&self) -> Option<u64> {
        Some(self.threshold)
    }
    fn on_resume(&mut self, _queue: &QueueView, packets: &dyn Fn() -> u64) {
        self.held_up = match self.delayed {
            Delayed::Head => packets().min(1),
            Delayed::Queued => packets(),
        };
    }
}

impl DetectorParams for Fecn {
    const NAME: &'static str = "fecn";
    const TITLE: &'static str = "FECN: InfiniBand's marking, by queue length and credits";
    const SOURCE: &'static str = "InfiniBand Architecture Specification 1.4, Volume 1, Annex A10";
    const NEEDS_PAUSES: bool = true;
    // No threshold is below an empty queue, and no packet of an empty queue has waited for credits.
    const SEES_EMPTY_QUEUES: bool = false;
    type Detector = FecnMarker;

    fn validate(&self) -> Result<(), Violation> {
        if self.packet_size <= LARGEST_PACKET_SIZE {
            return Ok(());
        }
        let (given, max) = (self.packet_size, LARGEST_PACKET_SIZE);
        Err(Violation::new("packet_size", format!("is {given}"), format!("at most {max}")))
    }

    fn detector(&self, env: &PortEnv) -> FecnMarker {
        FecnMarker {
            threshold: self.threshold.0,
            packet_size: self.packet_size.0,
            marking_rate: self.marking_rate,
            masked: match self.victim_mask {
                VictimMask::Hosts => env.to_host,
                VictimMask::None => false,
                VictimMask::All => true,
            },
            delayed: self.delayed,
            held_up: 0,
            to_pass: 0,
        }
    }
}
