//! Bolt: congestion control in less than a round trip (Arslan, Li, Kumar, Dukkipati, NSDI 2023), by the rules of
//! its authors' simulator.
//!
//! Three mechanisms, by four bits in each data packet (FIRST, LAST, INC, DEC) and a window of packets at the sender:
//! - *sub-RTT control* (SRC): a switch whose queue is at or above a threshold sends a message of its own to the source of each
//!   packet that comes, with queue length, link rate and the moment at which the packet was sent. The sender takes a packet
//!   off its window so often that its share of the queue is gone within the time that the message took to come;
//! - *proactive ramp-up* (PRU): packets of a flow's last window have LAST. Each leaves a token in the switch, as it will not be
//!   followed by another packet, and a packet that asks for more (INC) takes one;
//! - *supply matching* (SM): the switch counts what its link could have carried and what came. What is left over, up to one
//!   packet, is given to packets that ask for more.
//!
//! A packet that keeps INC up to its receiver, and no DEC, brings its sender one more packet of window. Beside that, the window
//! grows by a packet a round trip, for fairness. [`switch`] has the congestion point.
//!
//! What that simulator says beyond the three mechanisms, and a reading of ours:
//! - a flow begins with the bandwidth-delay product of its NIC; FIRST marks the packets before its first ACK, and neither these
//!   nor those of the last window ask for more;
//! - a flow's rate is its window over the latest round-trip time; before the first one it is the line rate;
//! - a window of at most one packet is cut by `max_mdf` at each message, and below one packet it is a packet each RTT/cwnd;
//! - losses cut by `max_mdf`, at most once a round trip;
//! - PRU's tokens are at most 256.
//! - the additive increase is counted in packets here, where the simulator has a fifth bit: it goes out with one packet, and
//!   again when the packet's ACK has come.
//!
//! The queue is what waits when the packet comes, without the packet and the frame on the wire. What came to the port counts all
//! classes: ACKs in a class of their own take of the link too. Data is never dropped or trimmed for Bolt's sake: with PFC the
//! link's supply while it is paused counts as supply, which the cap of one packet bounds.
//!
//! # Reordering
//!
//! A round trip is counted in packets: the additive increase comes with the first ACK of a packet sent after the last one.
//! Tokens and bits belong to packets, in whatever order they come.
//!
//! # Idle
//!
//! As in the authors' simulator the window stays, and the round-trip time is forgotten: the next message's packets have FIRST
//! until an ACK comes, and the flow's rate is the line rate until then.

pub mod switch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use self::switch::BoltQueue;
use crate::check;
use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{Ack, Cnm, FlowEnv, NoOp, Outgoing, PortEnv, ReactionPoint, Scheme};

/// Bit of a label: the packet was sent before its flow's first ACK.
pub const FIRST: u8 = 1;
/// Bit of a label: no packet will follow when this one is acknowledged.
pub const LAST: u8 = 2;
/// Bit of a label: the sender asks for a larger window, and no switch has refused.
pub const INC: u8 = 4;
/// Bit of a label: a switch was congested.
pub const DEC: u8 = 8;

/// Parameters of Bolt. Windows are in full packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bolt {
    /// Queue length from which on a switch is congested: CC_THRESHOLD, in bytes. Default: a full packet on the wire, one MTU.
    pub cc_threshold: Option<Bytes>,
    /// Proactive ramp-up: tokens of flows that end. Default true.
    pub pru: bool,
    /// Supply matching: tokens of what the link has left over. Default true.
    pub sm: bool,
    /// The maximum number of PRU's tokens in a queue. Default 256 (the authors' simulator).
    pub max_pru_tokens: u32,
    /// Increase a round trip, in packets. Default 1 (the authors' simulator).
    pub ai: f64,
    /// The cut of a window of at most a packet, and at a loss, as a share of the window, above 0 and below 1. Default 0.5
    /// (the authors' simulator).
    pub max_mdf: f64,
    /// The minimum window, in packets. Default 0.01 (the authors' simulator: 15 B of 1,500).
    pub min_cwnd: f64,
    /// The maximum window, in packets. Default 256 (the authors' simulator, at 100 Gb/s), but at least the bandwidth-delay
    /// product of the flow's NIC.
    pub max_cwnd: Option<f64>,
}

impl Default for Bolt {
    fn default() -> Self {
        Bolt {
            cc_threshold: None,
            pru: true,
            sm: true,
            max_pru_tokens: 256,
            ai: 1.0,
            max_mdf: 0.5,
            min_cwnd: 0.01,
            max_cwnd: None,
        }
    }
}

/// Minimum of the maximum window by default, in packets.
const MAX_CWND: f64 = 256.0;

/// Bolt's sender. Windows in packets, times in picoseconds.
#[derive(Clone, Debug)]
pub struct BoltSender {
    ai: f64,
    max_mdf: f64,
    min: f64,
    max: f64,
    cwnd: f64,
    /// The latest round-trip time; `None` before the first ACK.
    rtt: Option<Time>,
    /// When the window was last reduced.
    reduced_at: Time,
    /// The additive increase comes with an ACK of this packet or a later one.
    next_increase_packet: u64,
    base_rtt: Time,
    line_rate: Rate,
    payload: f64,
    /// Bytes of a full packet on the wire.
    frame: f64,
    window: u64,
    rate: Rate,
}

impl BoltSender {
    fn new(params: &Bolt, env: &FlowEnv) -> Self {
        let payload = env.payload.max(1) as f64;
        let bdp = env.line_rate.bytes_in(env.base_rtt) as f64 / payload;
        let max = params.max_cwnd.unwrap_or(MAX_CWND.max(bdp)).max(params.min_cwnd);
        let mut sender = BoltSender {
            ai: params.ai,
            max_mdf: params.max_mdf,
            min: params.min_cwnd,
            max,
            cwnd: 0.0,
            rtt: None,
            reduced_at: env.now,
            next_increase_packet: 0,
            base_rtt: env.base_rtt.max(Time(1)),
            line_rate: env.line_rate,
            payload,
            frame: env.frame as f64,
            window: 0,
            rate: env.line_rate,
        };
        sender.set(bdp);
        sender
    }

    /// The current window, in packets.
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Sets the window. One of a packet or more limits bytes in flight, unpaced; a smaller one is a packet each RTT/cwnd.
    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd.clamp(self.min, self.max);
        if self.cwnd >= 1.0 {
            self.window = (self.cwnd * self.payload) as u64;
            self.rate = self.line_rate;
        } else {
            let rtt = self.rtt.unwrap_or(self.base_rtt).0.max(1) as f64;
            self.window = 1;
            self.rate =
                Rate((self.frame * 8e12 * self.cwnd / rtt + 0.5) as u64).clamp(Rate(1), self.line_rate);
        }
    }

    /// The flow's share of a link of rate `link`.
    fn share(&self, link: Rate) -> f64 {
        let bytes_per_ps = match self.rtt {
            Some(rtt) => self.cwnd * self.frame / rtt.0.max(1) as f64,
            None => self.line_rate.bytes_per_ps(),
        };
        bytes_per_ps / link.bytes_per_ps()
    }

    fn reduce(&mut self, now: Time, cwnd: f64) {
        self.reduced_at = now;
        self.set(cwnd);
    }
}

impl ReactionPoint for BoltSender {
    fn label(&self, packet: &Outgoing) -> u8 {
        let is_last = packet.left as f64 <= self.cwnd * self.payload;
        let first = if self.rtt.is_none() { FIRST } else { 0 };
        let inc = if first == 0 && !is_last { INC } else { 0 };
        first | inc | if is_last { LAST } else { 0 }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rtt = ack.rtt.or(self.rtt);
        let mut cwnd = self.cwnd;
        if ack.packet >= self.next_increase_packet {
            cwnd += self.ai;
            self.next_increase_packet = ack.next_packet;
        }
        if ack.label & (INC | DEC) == INC {
            cwnd += 1.0;
        }
        self.set(cwnd);
    }

    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        let Some(queue) = cnm.queue else { return };
        if self.cwnd <= 1.0 {
            return self.set(self.cwnd * (1.0 - self.max_mdf));
        }
        // The flow's part of the queue, in packets, goes within the time that the message took.
        let part = f64::from(queue.bytes) / self.frame * self.share(cnm.rate);
        let interval = now.saturating_sub(queue.sent_at).0 as f64 / part;
        if now.saturating_sub(self.reduced_at).0 as f64 >= interval {
            self.reduce(now, self.cwnd - 1.0);
        }
    }

    fn on_loss(&mut self, now: Time) {
        if now.saturating_sub(self.reduced_at) >= self.rtt.unwrap_or(self.base_rtt) {
            self.reduce(now, self.cwnd * (1.0 - self.max_mdf));
        }
    }

    fn on_idle(&mut self, _: Time) {
        self.rtt = None;
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.rate
    }
    #[inline]
    fn window(&self) -> u64 {
        self.window
    }
}

impl Scheme for Bolt {
    const NAME: &'static str = "bolt";
    const TITLE: &'static str =
        "Bolt: window from messages and tokens of switches, in less than a round trip";
    const SOURCE: &'static str =
        "Arslan, Li, Kumar, Dukkipati, Bolt: Sub-RTT Congestion Control for Ultra-Low Latency, NSDI 2023";
    type Reaction = BoltSender;
    type Notification = NoOp;
    type Congestion = BoltQueue;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.cc_threshold.map_or(Ok(()), |bytes| check::bytes("cc_threshold", bytes))?;
        if !self.pru && self.max_pru_tokens != Bolt::default().max_pru_tokens {
            let found = "has no meaning with `pru = false`";
            return Err(Violation::new("max_pru_tokens", found, "to be left out"));
        }
        check::within("ai", self.ai, 0.0, 1e6)?;
        if !(self.max_mdf > 0.0 && self.max_mdf < 1.0) {
            let found = format!("is {}", self.max_mdf);
            return Err(Violation::new("max_mdf", found, "a number above 0 and below 1"));
        }
        check::above("min_cwnd", self.min_cwnd, 0.0, 1e6)?;
        self.max_cwnd.map_or(Ok(()), |cwnd| check::within("max_cwnd", cwnd, self.min_cwnd, 1e6))
    }
    fn signals(&self) -> Signals {
        Signals { timestamp: true, label: true, congestion_point: true, acks: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> BoltSender {
        BoltSender::new(self, env)
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, env: &PortEnv) -> BoltQueue {
        BoltQueue::new(self, env)
    }
}
