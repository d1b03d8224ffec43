//! HPCC: High Precision Congestion Control (Li et al., SIGCOMM 2019), Algorithm 1.
//!
//! Switches write their egress port's load into each data packet (INT), the receiver echoes the load, and the sender
//! steers the bytes in flight towards a share `eta` of the bandwidth-delay product at the most loaded hop. FNCC
//! prints the same algorithm as its Algorithm 3; [`InFlight`] and [`Window`] serve both schemes.
//!
//! The load is averaged once per ACK, after the loop over hops: FNCC's listing indents the averaging into the loop,
//! which would weigh each new maximum on the way again. As in the authors' simulator the window stays between `min_rate`
//! times T and the NIC's bandwidth-delay product, and a flow starts with the latter. [`rate_form`] steers the rate
//! instead, rounded as in that simulator.
//!
//! # Reordering
//!
//! A round trip is counted in packets: it ends with the first ACK of a packet sent after the last update of the
//! reference window, and ACKs of older packets end none (the paper compares `ack.seq > lastUpdateSeq` with
//! `lastUpdateSeq = snd_nxt`, which is the same as long as packets arrive in order). If an ACK's record of a hop is
//! older than the record in memory, the differences of bytes and time would be negative: that hop is skipped, its u'
//! stays, and the newer record stays in memory (see [`IntMemory::compare`]). An ACK whose records are all older leaves
//! U as it is, and the window follows from U and the reference window as at any ACK. Records of different paths are not
//! told apart, unless the paths differ in length.
//!
//! # Idle
//!
//! The paper says nothing of connections that are idle; xoff keeps the state. The window and U stay, and the first ACK
//! after idleness measures the load over all of the idle time, with full weight, since tau = min(dt, T) = T. Hardware's
//! counters wrap around after 16.8 ms (the clock) or 134 MB (the bytes, section 4.1): after an idleness in which that
//! may happen the telemetry is forgotten, and the first ACK only fills the memory, as at the start of a flow.

pub mod rate_form;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation, as_double};

use self::rate_form::RateSender;
use crate::check;
use crate::detector::red::Red;
use crate::int::{IntMemory, MAX_INT_HOPS};
use crate::signals::{IntPath, Signals};
use crate::traits::{Ack, FlowEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of HPCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hpcc {
    /// Target utilization η, without unit, above 0 and at most 1. Default 0.95 (HPCC, section 5.1).
    pub eta: f64,
    /// Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0,
    /// which the authors' simulations used; the paper prints 5.
    pub max_stage: u32,
    /// What is steered. Default `window`, as in the paper.
    pub form: Form,
    /// Additive increase as a rate, in bits a second, in place of `w_ai`, which is this rate times T. Default: none.
    pub r_ai: Option<Rate>,
    /// Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of
    /// 12.8 us.
    pub w_ai: Bytes,
    /// The minimum rate, in bits a second. Default 100 Mb/s (the authors' simulator).
    pub min_rate: Rate,
    /// Reacts to each ACK, from a reference window that is updated once a round trip (HPCC, section 3.2). Otherwise
    /// only the first ACK of each round trip counts, and loads are measured over the time between those.
    /// Default true.
    pub fast_react: bool,
}

impl Default for Hpcc {
    fn default() -> Self {
        Hpcc {
            eta: 0.95,
            max_stage: 0,
            form: Form::Window,
            r_ai: None,
            w_ai: Bytes(80),
            min_rate: Rate::from_mbps(100),
            fast_react: true,
        }
    }
}

/// What HPCC's sender steers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The window; the rate is W / T (HPCC, Algorithm 1).
    #[default]
    Window,
    /// The rate in whole bits a second; the window is the rate's share of the bandwidth-delay product, rounded down
    /// (the authors' simulator).
    Rate,
}

/// The most loaded hop of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// The hop's index in data-path order; of equally loaded hops the first.
    pub hop: usize,
    /// Whether the hop is the path's last one.
    pub is_last: bool,
    /// The hop's u' over the latest interval, without averaging.
    pub utilization: f64,
    /// The hop's line rate in bytes a picosecond.
    pub bytes_per_ps: f64,
}

/// Normalized bytes in flight: function `MeasureInflight` of the algorithm with its state.
#[derive(Clone, Debug)]
pub struct InFlight {
    memory: IntMemory,
    /// u' of each hop.
    hops: [f64; MAX_INT_HOPS],
    bottleneck: Bottleneck,
    average: f64,
    base_rtt: Time,
    per_base_rtt: f64,
}

impl InFlight {
    /// Nothing measured yet, on a path with `base_rtt` as T; the average starts at 1.
    pub fn new(base_rtt: Time) -> Self {
        let base_rtt = base_rtt.max(Time(1));
        InFlight {
            memory: IntMemory::default(),
            hops: [0.0; MAX_INT_HOPS],
            bottleneck: Bottleneck { hop: 0, is_last: false, utilization: 0.0, bytes_per_ps: 0.0 },
            average: 1.0,
            base_rtt,
            per_base_rtt: 1.0 / base_rtt.0 as f64,
        }
    }

    /// Takes in an ACK's telemetry. Returns `false` if there is nothing to compare the telemetry with: at a flow's first ACK,
    /// and after a change of the path.
    ///
    /// A hop keeps its u' if its record shows the same moment as before (a switch that refreshes its table now and
    /// then) or an earlier one (an ACK out of order).
    #[inline]
    pub fn measure(&mut self, ack: &Ack<'_>) -> bool {
        let InFlight { memory, hops, per_base_rtt, .. } = self;
        let (mut worst, mut peak, mut peak_bytes_per_ps, mut tau) = (0, 0.0, 0.0, Time::ZERO);
        let compared = memory.compare(&ack.int, ack.now, ack.packet, |i, change| {
            let Some(utilization) = hops.get_mut(i) else { return };
            // q/(B T) + (tx/dt)/B with one division. A port whose speed the record cannot name is never loaded.
            let elapsed = as_double(change.elapsed.0);
            let capacity = elapsed * change.bytes_per_ps;
            if capacity > 0.0 {
                let rtts = elapsed * *per_base_rtt;
                let in_flight = as_double(change.queue_bytes) * rtts + as_double(change.tx_bytes);
                *utilization = in_flight / capacity;
            }
            if *utilization > peak {
                (worst, peak, peak_bytes_per_ps, tau) =
                    (i, *utilization, change.bytes_per_ps, change.elapsed);
            }
        });
        if compared == 0 {
            self.hops = [0.0; MAX_INT_HOPS];
            return false;
        }
        let weight = if tau >= self.base_rtt { 1.0 } else { tau.0 as f64 * self.per_base_rtt };
        self.average = (1.0 - weight) * self.average + weight * peak;
        self.bottleneck = Bottleneck {
            hop: worst,
            is_last: worst + 1 == compared,
            utilization: peak,
            bytes_per_ps: peak_bytes_per_ps,
        };
        true
    }

    /// The connection is busy again: forgets telemetry whose counters may have wrapped around while it was idle.
    pub fn on_busy(&mut self, now: Time) {
        self.memory.forget_if_wrapped(now);
    }

    /// U, the average of the maximum u'.
    #[inline]
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The most loaded hop at the latest measurement.
    #[inline]
    pub fn bottleneck(&self) -> Bottleneck {
        self.bottleneck
    }
}

/// Window and rate of a flow: function `ComputeWind` of the algorithm with its state.
#[derive(Clone, Debug)]
pub struct Window {
    eta: f64,
    w_ai: f64,
    max_stage: u32,
    stage: u32,
    reference: f64,
    /// The round trip ends with an ACK of this packet or a later one.
    last_update_packet: u64,
    min: f64,
    max: f64,
    bps_per_byte: f64,
    min_rate: Rate,
    line_rate: Rate,
    window: u64,
    rate: Rate,
}

impl Window {
    /// The bandwidth-delay product of the flow's NIC.
    pub fn new(params: &Hpcc, env: &FlowEnv) -> Self {
        let base_rtt = env.base_rtt.max(Time(1));
        let min_rate = params.min_rate.min(env.line_rate);
        let bytes = |rate: Rate| (rate.bytes_per_ps() * base_rtt.0 as f64).max(1.0);
        let mut window = Window {
            eta: params.eta,
            w_ai: params.r_ai.map_or(params.w_ai.0 as f64, |r| r.bytes_per_ps() * base_rtt.0 as f64),
            max_stage: params.max_stage,
            stage: 0,
            reference: bytes(env.line_rate),
            last_update_packet: 0,
            min: bytes(min_rate),
            max: bytes(env.line_rate),
            bps_per_byte: 8e12 / base_rtt.0 as f64,
            min_rate,
            line_rate: env.line_rate,
            window: 0,
            rate: env.line_rate,
        };
        window.apply(window.max);
        window
    }

    /// Whether the ACK of `packet` answers a packet that was sent after the last update of the reference window.
    #[inline]
    pub fn is_due(&self, packet: u64) -> bool {
        packet >= self.last_update_packet
    }

    /// The next update comes with an ACK of `next_packet` or a later packet.
    #[inline]
    pub fn begin_round(&mut self, next_packet: u64) {
        self.last_update_packet = next_packet;
    }

    /// Computes the window for a normalized load of `utilization`; with `update` the window becomes the new reference.
    #[inline]
    pub fn compute(&mut self, utilization: f64, update: bool) {
        let (window, stage) = if utilization >= self.eta || self.stage >= self.max_stage {
            (self.reference * (self.eta / utilization) + self.w_ai, 0)
        } else {
            (self.reference + self.w_ai, self.stage + 1)
        };
        let window = self.apply(window);
        if update {
            self.reference = window;
            self.stage = stage;
        }
    }

    /// Sets the reference window W^c alone, in bytes.
    pub fn set_reference(&mut self, window: f64) {
        self.reference = window.clamp(self.min, self.max);
    }

    /// Sets window and reference, in bytes, and restarts the additive stages.
    pub fn set(&mut self, window: f64) {
        self.reference = self.apply(window);
        self.stage = 0;
    }

    /// Makes `window` the current window, within its bounds, and returns it.
    #[inline]
    fn apply(&mut self, window: f64) -> f64 {
        let window = window.clamp(self.min, self.max);
        self.window = (window + 0.5) as u64;
        self.rate = Rate((window * self.bps_per_byte + 0.5) as u64).clamp(self.min_rate, self.line_rate);
        window
    }

    /// The current window, to the nearest byte.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.window
    }

    /// The pacing rate, W / T.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

/// HPCC's sender.
#[derive(Clone, Debug)]
pub enum HpccSender {
    /// As in the paper.
    Window(WindowSender),
    /// As in the authors' simulator.
    Rate(RateSender),
}

impl ReactionPoint for HpccSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        match self {
            HpccSender::Window(sender) => sender.on_ack(ack),
            HpccSender::Rate(sender) => sender.on_ack(ack),
        }
    }
    fn on_busy(&mut self, now: Time) {
        match self {
            HpccSender::Window(sender) => sender.in_flight.on_busy(now),
            HpccSender::Rate(sender) => sender.on_busy(now),
        }
    }
    #[inline]
    fn rate(&self) -> Rate {
        match self {
            HpccSender::Window(sender) => sender.window.rate(),
            HpccSender::Rate(sender) => sender.rate(),
        }
    }
    #[inline]
    fn window(&self) -> u64 {
        match self {
            HpccSender::Window(sender) => sender.window.bytes(),
            HpccSender::Rate(sender) => sender.window(),
        }
    }
    fn variables(&self, _now: Time, probe: &mut dyn FnMut(&str, f64)) {
        if let HpccSender::Window(sender) = self {
            probe("u", sender.in_flight.average());
        }
    }
}

/// HPCC's sender as in the paper.
#[derive(Clone, Debug)]
pub struct WindowSender {
    in_flight: InFlight,
    window: Window,
    fast_react: bool,
}

impl WindowSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let due = self.window.is_due(ack.packet);
        if !due && !self.fast_react {
            return;
        }
        if self.in_flight.measure(ack) {
            self.window.compute(self.in_flight.average(), due);
        }
        if due {
            self.window.begin_round(ack.next_packet);
        }
    }
}

impl Scheme for Hpcc {
    const NAME: &'static str = "hpcc";
    const TITLE: &'static str = "HPCC: window from in-network telemetry on data packets";
    const SOURCE: &'static str = "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019";
    type Reaction = HpccSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        check::above("eta", self.eta, 0.0, 1.0)?;
        if let Some(r_ai) = self.r_ai {
            check::rate("r_ai", r_ai)?;
            if self.w_ai != Hpcc::default().w_ai {
                return Err(Violation::new("w_ai", "beside `r_ai`", "one of them"));
            }
        }
        check::rate("min_rate", self.min_rate)
    }
    fn signals(&self) -> Signals {
        Signals { int: IntPath::Data, acks: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> HpccSender {
        match self.form {
            Form::Window => HpccSender::Window(WindowSender {
                in_flight: InFlight::new(env.base_rtt),
                window: Window::new(self, env),
                fast_react: self.fast_react,
            }),
            Form::Rate => HpccSender::Rate(RateSender::new(self, env)),
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
