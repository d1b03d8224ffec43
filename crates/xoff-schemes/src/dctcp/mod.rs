//! DCTCP: Data Center TCP (Alizadeh et al., SIGCOMM 2010; RFC 8257).
//!
//! Switches mark packets that leave a queue longer than K (the detector `red` with `step`), the receiver
//! echoes each mark, and the sender keeps α, a running estimate of the share of marked bytes, updated once a window of
//! data. The first mark of a window cuts the window to 1 - α/2 of itself; otherwise the window grows like TCP's.
//!
//! For what the paper leaves to TCP, RFC 5681 applies: slow start up to a threshold, then one packet a round trip; a
//! loss halves the window; no growth while something other than the window holds the flow back. The one departure is
//! the start: as RDMA flows do, a flow begins with the bandwidth-delay product, which is the threshold as well.
//! [`rate_form`] steers a rate instead, as in the simulator of HPCC's authors.
//!
//! # Reordering
//!
//! A window of data is counted in packets: it ends with the first ACK of a packet sent after the last one ended. ACKs
//! of older packets end no window and start no second cut; their marks and bytes count in the current window. While
//! packets overtake each other, the bytes in flight by which growth is judged include those that wait behind a gap at
//! the receiver.
//!
//! # Idle
//!
//! RFC 8257 leaves idle connections to TCP, and RFC 5681, section 4.1, would begin with slow start again after an
//! idleness of a retransmission timeout. RDMA flows do not begin with slow start, so xoff keeps window, threshold and
//! α. The window does not grow during idleness, since only ACKs make it grow.

pub mod rate_form;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use self::rate_form::RateSender;
use crate::check;
use crate::detector::red::Red;
use crate::signals::{Mark, Signals};
use crate::traits::{Ack, Carry, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of DCTCP. If the scenario names no detector, K is 30 KB for each 10 Gb/s of the port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dctcp {
    /// What is steered. Default `window`, as in the paper.
    pub form: Form,
    /// Weight of the latest window in α, without unit, above 0 and at most 1. Default 1/16 (DCTCP, section 4).
    pub g: f64,
    /// α of a new flow, without unit, from 0 to 1. Default 1, so that the first cut halves (RFC 8257).
    pub initial_alpha: f64,
    /// Increase a round trip, in bytes. Default: the payload of a full packet (RFC 5681, section 3.1).
    pub w_ai: Option<Bytes>,
    /// Increase a round trip as a rate, in bits a second, in place of `w_ai`, which is this rate times T. Default:
    /// none.
    pub r_ai: Option<Rate>,
    /// Window of a new flow, in bytes; below the bandwidth-delay product of its NIC the window doubles each round trip
    /// up to that product, or to the first mark. Only with `form = "window"`. Default: that product, as for RDMA flows.
    pub initial_window: Option<Bytes>,
    /// The minimum window, in full packets. Only with `form = "window"`. Default 2 (RFC 5681, equation 4).
    pub min_window: Option<u32>,
    /// The minimum rate, in bits a second. Only with `form = "rate"`. Default 100 Mb/s (HPCC's authors' simulator).
    pub min_rate: Option<Rate>,
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            form: Form::Window,
            g: 1.0 / 16.0,
            initial_alpha: 1.0,
            w_ai: None,
            r_ai: None,
            initial_window: None,
            min_window: None,
            min_rate: None,
        }
    }
}

/// What DCTCP's sender steers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The window; packets go at line rate as it lets them (DCTCP, section 3).
    #[default]
    Window,
    /// The rate in whole bits a second, from line rate down; the window is the rate's share of the bandwidth-delay
    /// product, rounded down (HPCC's authors' simulator).
    Rate,
}

/// K for each 10 Gb/s (HPCC's authors).
const STEP: Bytes = Bytes(30_000);
const MIN_WINDOW: u32 = 2;
const MIN_RATE: Rate = Rate::from_mbps(100);

/// An α below this share of g counts as none, which no sum would tell from it: a share of marked bytes is at least 2^-64, so that
/// g times it is more than 2^54 times such an α, and 1 - α/2 is 1 to the last bit.
const NEGLIGIBLE: f64 = 1.0 / (1u128 << 120) as f64;

/// α after a round trip with a `share` of marks, with a gain `g`.
fn follow(alpha: f64, g: f64, share: f64) -> f64 {
    let alpha = (1.0 - g) * alpha + g * share;
    if alpha < g * NEGLIGIBLE { 0.0 } else { alpha }
}

/// DCTCP's sender.
#[derive(Clone, Debug, PartialEq)]
pub enum DctcpSender {
    /// As in the paper.
    Window(WindowSender),
    /// As in the simulator of HPCC's authors.
    Rate(RateSender),
}

impl ReactionPoint for DctcpSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        match self {
            DctcpSender::Window(sender) => sender.on_ack(ack),
            DctcpSender::Rate(sender) => sender.on_ack(ack),
        }
    }
    fn on_loss(&mut self, _now: Time) {
        match self {
            DctcpSender::Window(sender) => sender.on_loss(),
            DctcpSender::Rate(_) => {} // in that simulator a loss changes nothing
        }
    }
    fn carry(&mut self, carry: &Carry) -> bool {
        match self {
            DctcpSender::Window(sender) => sender.carry(carry),
            DctcpSender::Rate(sender) => sender.carry(carry),
        }
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }
    #[inline]
    fn rate(&self) -> Rate {
        match self {
            DctcpSender::Window(sender) => sender.line_rate,
            DctcpSender::Rate(sender) => sender.rate(),
        }
    }
    #[inline]
    fn window(&self) -> u64 {
        match self {
            DctcpSender::Window(sender) => sender.window as u64,
            DctcpSender::Rate(sender) => sender.window(),
        }
    }
    fn variables(&self, _now: Time, probe: &mut dyn FnMut(&str, f64)) {
        match self {
            DctcpSender::Window(sender) => probe("alpha", sender.alpha()),
            DctcpSender::Rate(sender) => probe("alpha", sender.alpha()),
        }
    }
}

/// DCTCP's sender as in the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSender {
    line_rate: Rate,
    payload: f64,
    g: f64,
    alpha: f64,
    /// Bytes a round trip.
    increase: f64,
    min: f64,
    /// The window at which slow start ends.
    threshold: f64,
    window: f64,
    /// The window of data whose marks α counts ends with an ACK of this packet or a later one.
    observed_until: u64,
    acked: u64,
    marked: u64,
    /// After a cut, until this packet or a later one is acknowledged: neither cut nor growth.
    reduced_until: Option<u64>,
    next_packet: u64,
}

impl WindowSender {
    fn new(params: &Dctcp, env: &FlowEnv) -> Self {
        let bdp = env.line_rate.bytes_in(env.base_rtt) as f64;
        let min = f64::from(params.min_window.unwrap_or(MIN_WINDOW)) * env.payload as f64;
        let increase = match params.r_ai {
            Some(rate) => rate.bytes_per_ps() * env.base_rtt.0 as f64,
            None => params.w_ai.map_or(env.payload, |w| w.0) as f64,
        };
        WindowSender {
            line_rate: env.line_rate,
            payload: env.payload as f64,
            g: params.g,
            alpha: params.initial_alpha,
            increase,
            min,
            threshold: bdp,
            window: params.initial_window.map_or(bdp, |w| w.0 as f64).max(min),
            observed_until: 0,
            acked: 0,
            marked: 0,
            reduced_until: None,
            next_packet: 0,
        }
    }

    /// α, the estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let marked = ack.mark == Mark::Ce;
        self.next_packet = ack.next_packet;
        self.acked += ack.newly_acked;
        self.marked += if marked { ack.newly_acked } else { 0 };
        if ack.packet >= self.observed_until && self.acked > 0 {
            let share = self.marked as f64 / self.acked as f64;
            self.alpha = follow(self.alpha, self.g, share);
            (self.acked, self.marked) = (0, 0);
            self.observed_until = ack.next_packet;
        }
        if self.reduced_until.is_some_and(|end| ack.packet >= end) {
            self.reduced_until = None;
        }
        if self.reduced_until.is_some() {
            return;
        }
        if marked {
            self.reduce(1.0 - self.alpha / 2.0);
        } else {
            self.grow(ack);
        }
    }

    fn reduce(&mut self, share: f64) {
        self.window = (self.window * share).max(self.min);
        self.threshold = self.window;
        self.reduced_until = Some(self.next_packet);
    }

    /// Grows the window if the window held the flow back, that is, had no room for another full packet.
    #[inline]
    fn grow(&mut self, ack: &Ack<'_>) {
        let in_flight = ack.snd_nxt - ack.seq.min(ack.snd_nxt) + ack.newly_acked;
        if in_flight as f64 + self.payload < self.window {
            return;
        }
        let acked = ack.newly_acked as f64;
        if self.window < self.threshold {
            self.window = (self.window + acked).min(self.threshold);
        } else {
            self.window += self.increase * acked / self.window;
        }
    }

    fn carry(&mut self, carry: &Carry) {
        self.observed_until += carry.packets;
        self.reduced_until = self.reduced_until.map(|end| end + carry.packets);
        self.next_packet += carry.packets;
    }

    fn on_loss(&mut self) {
        if self.reduced_until.is_none() {
            self.reduce(0.5);
        }
    }
}

impl Scheme for Dctcp {
    const NAME: &'static str = "dctcp";
    const TITLE: &'static str = "DCTCP: window from the share of marked bytes";
    const SOURCE: &'static str = "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010";
    type Reaction = DctcpSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        check::above("g", self.g, 0.0, 1.0)?;
        check::within("initial_alpha", self.initial_alpha, 0.0, 1.0)?;
        if let Some(r_ai) = self.r_ai {
            check::rate("r_ai", r_ai)?;
            if self.w_ai.is_some() {
                return Err(Violation::new("w_ai", "beside `r_ai`", "one of them"));
            }
        }
        self.w_ai.map_or(Ok(()), |w| check::bytes("w_ai", w))?;
        self.initial_window.map_or(Ok(()), |w| check::bytes("initial_window", w))?;
        self.min_rate.map_or(Ok(()), |r| check::rate("min_rate", r))?;
        if self.min_window == Some(0) {
            return Err(Violation::new("min_window", "is 0", "1 packet or more"));
        }
        let (form, other, keys) = match self.form {
            Form::Window => ("window", "rate", [("min_rate", self.min_rate.is_some()), ("", false)]),
            Form::Rate => (
                "rate",
                "window",
                [
                    ("initial_window", self.initial_window.is_some()),
                    ("min_window", self.min_window.is_some()),
                ],
            ),
        };
        match keys.iter().find(|(_, given)| *given) {
            Some((key, _)) => {
                let found = format!("has no effect with `form = \"{form}\"`");
                Err(Violation::new(*key, found, format!("none, or `form = \"{other}\"`")))
            }
            None => Ok(()),
        }
    }
    fn resolve(mut self, _: &NetworkEnv) -> Self {
        match self.form {
            Form::Window => self.min_window = self.min_window.or(Some(MIN_WINDOW)),
            Form::Rate => self.min_rate = self.min_rate.or(Some(MIN_RATE)),
        }
        self
    }
    fn signals(&self) -> Signals {
        Signals { ecn: true, acks: true, ..Signals::default() }
    }
    fn detector(&self) -> Red {
        Red::step(STEP)
    }
    fn reaction(&self, env: &FlowEnv) -> DctcpSender {
        match self.form {
            Form::Window => DctcpSender::Window(WindowSender::new(self, env)),
            Form::Rate => DctcpSender::Rate(RateSender::new(self, env)),
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
