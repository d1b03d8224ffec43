//! A scheme of one's own: additive increase, multiplicative decrease on ECN marks, once a round trip.
//!
//! The window grows by `step` in a round trip without a mark and shrinks to its share `cut` in one with a mark, as TCP
//! Reno's does in congestion avoidance (RFC 5681, section 3.1) with the marks of RFC 3168 instead of losses. It is the
//! example of CONTRIBUTING.md. `cargo run -p xoff-schemes --example aimd` drives it without a network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};
use xoff_schemes::detector::red::Red;
use xoff_schemes::{Ack, FlowEnv, Mark, NoOp, PortEnv, ReactionPoint, Scheme, Signals};

/// Parameters of AIMD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aimd {
    /// What the window grows by in a round trip without a mark, in bytes. Default 1500 B, about a packet.
    pub step: Bytes,
    /// Share of the window that is left after a round trip with a mark, without unit, above 0 and below 1.
    /// Default 0.5 (RFC 5681).
    pub cut: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Aimd { step: Bytes(1500), cut: 0.5 }
    }
}

/// AIMD's sender.
#[derive(Clone, Debug)]
pub struct AimdSender {
    step: f64,
    cut: f64,
    window: f64,
    min: f64,
    max: f64,
    base_rtt: Time,
    line_rate: Rate,
    /// The round trip ends with the ACK of this byte or a later one.
    round_end: u64,
    /// A mark has been seen in this round trip.
    marked: bool,
}

impl ReactionPoint for AimdSender {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.marked |= ack.mark == Mark::Ce;
        if ack.packet < self.round_end {
            return;
        }
        let window = if self.marked { self.window * self.cut } else { self.window + self.step };
        self.window = window.clamp(self.min, self.max);
        self.round_end = ack.next_packet;
        self.marked = false;
    }
    /// A window each round trip, spread evenly over it.
    fn rate(&self) -> Rate {
        let bits_a_second = self.window * 8.0 / self.base_rtt.secs();
        Rate(bits_a_second as u64).min(self.line_rate)
    }
    fn window(&self) -> u64 {
        self.window as u64
    }
}

impl Scheme for Aimd {
    const NAME: &'static str = "aimd";
    const TITLE: &'static str = "AIMD: window from ECN marks, once a round trip";
    const SOURCE: &'static str = "RFC 5681, section 3.1; RFC 3168";
    type Reaction = AimdSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        if self.cut > 0.0 && self.cut < 1.0 {
            return Ok(());
        }
        Err(Violation::new("cut", format!("is {}", self.cut), "a number above 0 and below 1"))
    }
    /// Marks on data, which ACKs bring back.
    fn signals(&self) -> Signals {
        Signals { ecn: true, acks: true, ..Signals::default() }
    }
    /// Begins with the NIC's bandwidth-delay product, as the other window-based schemes do.
    fn reaction(&self, env: &FlowEnv) -> AimdSender {
        let max = env.line_rate.bytes_per_ps() * env.base_rtt.ps() as f64;
        let min = env.payload as f64;
        AimdSender {
            step: self.step.0 as f64,
            cut: self.cut,
            window: max.max(min),
            min,
            max: max.max(min),
            base_rtt: env.base_rtt,
            line_rate: env.line_rate,
            round_end: 0,
            marked: false,
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}

/// A flow at a 100 Gbps NIC with a base RTT of 8 us: the bandwidth-delay product is 100,000 B.
pub fn flow() -> FlowEnv {
    FlowEnv::new(0, Rate::from_gbps(100), Time::from_us(8), 1)
}

/// An ACK of all before `seq` that brings back `mark`, when `snd_nxt` comes next.
pub fn ack(seq: u64, snd_nxt: u64, mark: Mark) -> Ack<'static> {
    Ack {
        now: Time::ZERO,
        seq,
        newly_acked: 1456,
        snd_nxt,
        packet: (seq - 1) / 1456,
        next_packet: snd_nxt.div_ceil(1456),
        rtt: None,
        mark,
        flow_count: 0,
        label: 0,
        int: xoff_schemes::int::IntStack::default(),
    }
}

fn main() {
    let mut sender = Aimd::default().reaction(&flow());
    println!("round trip  mark  window, B  rate, Gbps");
    let mut snd_nxt = sender.window();
    for round in 1..=10 {
        let mark = if round % 4 == 1 { Mark::Ce } else { Mark::None };
        // The ACK of the first packet after what was in flight at the last one; another window is in flight by then.
        let seq = snd_nxt + 1456;
        snd_nxt = seq + sender.window();
        sender.on_ack(&ack(seq, snd_nxt, mark));
        println!(
            "{round:>10}  {mark:<4?}  {:>9}  {:>10.1}",
            sender.window(),
            sender.rate().bps() as f64 / 1e9
        );
    }
}
