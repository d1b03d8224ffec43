//! NSCC's window at a sender.

use xoff_engine::{Rate, Time};

use super::{Nscc, Trigger};
use crate::uet::{bdp, max_window};

/// Bandwidth-delay product of the reference network, 100 Gb/s x 12 us, in bytes.
const REFERENCE_BDP: f64 = 150_000.0;
/// Round-trip time of the reference network, in ps.
const REFERENCE_RTT: f64 = 12e6;
/// Delays below this one count as none, in ps.
const NO_DELAY: Time = Time::from_us(1);
/// An adjustment is due after more than this many packets.
const ADJUST_PACKETS: u64 = 8;

/// What a window's constants follow from.
#[derive(Clone, Copy, Debug)]
pub struct NsccEnv {
    /// When the flow starts.
    pub now: Time,
    /// Rate of the sender's NIC.
    pub line_rate: Rate,
    /// Maximum base RTT of the network.
    pub network_rtt: Time,
    /// Base RTT that the flow starts with.
    pub base_rtt: Time,
    /// A full packet on the wire, in bytes.
    pub mtu: u64,
    /// Payload of a full packet, in bytes.
    pub payload: u64,
    /// Switches trim packets.
    pub trims: bool,
}

/// What an ACK or a NACK tells.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Now.
    pub now: Time,
    /// Bytes on the wire that have newly arrived; of a NACK, the bytes of the packet that was trimmed.
    pub bytes: u64,
    /// Round-trip time less the base RTT.
    pub delay: Time,
    /// The packet was marked.
    pub marked: bool,
    /// Bytes in flight after the ACK.
    pub in_flight: u64,
    /// The minimum RTT so far.
    pub base_rtt: Time,
}

/// NSCC's window.
#[derive(Clone, Debug)]
pub struct Window {
    params: Nscc,
    env: NsccEnv,
    target: Time,
    /// Proportional increase for each byte and ps below the target, fair increase for each byte, and the additive increase.
    alpha: f64,
    fair: f64,
    eta: u64,
    fast: f64,
    window: u64,
    max: u64,
    /// Bytes times bytes by which the window grows at the next adjustment.
    pending: f64,
    /// Bytes since the last adjustment.
    received: u64,
    adjusted_at: Time,
    added_at: Time,
    cut_at: Time,
    /// Mean delay in ps.
    mean: f64,
    /// Bytes that came back one after the other without delay.
    undelayed: u64,
    is_fast: bool,
    quick: QuickAdapt,
}

/// Quick adapt's state.
#[derive(Clone, Copy, Debug, Default)]
struct QuickAdapt {
    /// End of the period; `None` before the first.
    end: Option<Time>,
    achieved: u64,
    /// Bytes that have come back since it last acted, of `to_ignore`.
    ignored: u64,
    to_ignore: u64,
    triggered: bool,
}

impl Window {
    /// The window of a new flow.
    pub fn new(params: &Nscc, env: &NsccEnv) -> Window {
        let a = bdp(env.line_rate, env.network_rtt) as f64 / REFERENCE_BDP;
        let by_default = if env.trims { Time(env.network_rtt.0 / 4 * 3) } else { env.network_rtt };
        let payload = env.payload as f64;
        let max = max_window(env.line_rate, env.base_rtt);
        let start = params.initial_window.map_or(max, |packets| u64::from(packets) * env.mtu);
        Window {
            target: params.target_delay.unwrap_or(by_default),
            alpha: params.alpha * payload * a / REFERENCE_RTT,
            fair: params.fair_increase * payload * a,
            eta: (params.eta * payload * a) as u64,
            fast: params.fast_increase * a,
            window: start.clamp(env.mtu, max.max(env.mtu)),
            max: max.max(env.mtu),
            pending: 0.0,
            received: 0,
            adjusted_at: env.now,
            added_at: env.now,
            cut_at: env.now,
            mean: 0.0,
            undelayed: 0,
            is_fast: false,
            quick: QuickAdapt::default(),
            params: params.clone(),
            env: *env,
        }
    }

    /// Bytes on the wire that may be in flight.
    pub fn bytes(&self) -> u64 {
        self.window
    }

    /// The target delay.
    pub fn target(&self) -> Time {
        self.target
    }

    /// Bytes times bytes by which the window grows at the next adjustment.
    pub fn pending(&self) -> f64 {
        self.pending
    }

    /// An ACK has arrived.
    pub fn on_ack(&mut self, ack: &Sample) {
        self.set_base_rtt(ack.base_rtt);
        let towards = if !ack.marked && ack.delay > self.target { ack.base_rtt.0 / 4 } else { ack.delay.0 };
        self.mean += self.params.delay_gain * (towards as f64 - self.mean);
        self.received += ack.bytes;
        self.quick.achieved += ack.bytes;
        self.quick.ignored += ack.bytes;
        if self.quick_adapt(ack, false) {
            (self.pending, self.received) = (0.0, 0);
            return;
        }
        match (ack.marked, ack.delay >= self.target) {
            (false, true) => {
                self.end_fast();
                self.pending += self.fair * ack.bytes as f64;
            }
            (false, false) => self.increase(ack),
            (true, true) => {
                self.end_fast();
                self.decrease(ack);
            }
            (true, false) => self.end_fast(),
        }
        self.clamp();
        if self.received > ADJUST_PACKETS * self.env.mtu
            || ack.now.saturating_sub(self.adjusted_at) > self.env.network_rtt
        {
            self.adjust(ack.now);
        }
        self.clamp();
    }

    /// A NACK has arrived; `spares` says that the window does not shrink by it. Its packet counts as delayed by a whole RTT.
    pub fn on_nack(&mut self, nack: &Sample, spares: bool) {
        self.set_base_rtt(nack.base_rtt);
        self.mean += self.params.delay_gain * (self.env.network_rtt.0 as f64 - self.mean);
        self.quick.ignored += nack.bytes;
        self.quick.triggered = true;
        if !self.quick_adapt(nack, true) && !spares {
            self.end_fast();
            self.window = self.window.saturating_sub(nack.bytes);
        }
        self.clamp();
    }

    /// A packet of this many bytes was not acknowledged in time.
    pub fn on_timeout(&mut self, bytes: u64) {
        self.window = self.window.saturating_sub(bytes).max(self.env.mtu);
    }

    /// Quick adapt; returns whether the ACK or NACK has no other effect.
    fn quick_adapt(&mut self, seen: &Sample, is_nack: bool) -> bool {
        if self.quick.ignored < self.quick.to_ignore && (seen.marked || is_nack) {
            return true;
        }
        if self.quick.end.is_some_and(|end| seen.now <= end) {
            return false;
        }
        let late = seen.delay > Time(4 * self.target.0);
        let mut acts = false;
        if self.quick.end.is_some()
            && (self.quick.triggered || is_nack || late)
            && self.quick.achieved < self.max >> self.params.qa_gate
        {
            acts = true;
            self.end_fast();
            self.quick.triggered = false;
            self.window = self.quick.achieved.max(self.env.mtu);
            (self.quick.to_ignore, self.quick.ignored) = (seen.in_flight, 0);
        }
        if self.params.qa_trigger == Trigger::Period {
            self.quick.triggered = false;
        }
        self.quick.achieved = 0;
        self.quick.end = Some(seen.now + seen.base_rtt + self.target);
        acts
    }

    /// Proportional increase, or fast increase once a window has come back without delay.
    fn increase(&mut self, ack: &Sample) {
        if ack.delay < NO_DELAY {
            self.undelayed += ack.bytes;
            if self.is_fast || self.undelayed > self.window {
                self.is_fast = true;
                self.window += (ack.bytes as f64 * self.fast) as u64;
                return;
            }
        } else {
            self.end_fast();
        }
        self.pending += self.alpha * ack.bytes as f64 * (self.target.0 - ack.delay.0) as f64;
    }

    fn end_fast(&mut self) {
        (self.is_fast, self.undelayed) = (false, 0);
    }

    fn decrease(&mut self, ack: &Sample) {
        let target = self.target.0 as f64;
        if self.mean > target && ack.now.saturating_sub(self.cut_at) > ack.base_rtt {
            let keeps = 1.0 - self.params.gamma * (self.mean - target) / self.mean;
            self.window = (self.window as f64 * keeps.max(self.params.max_cut)) as u64;
            self.cut_at = ack.now;
        }
    }

    fn adjust(&mut self, now: Time) {
        self.window += (self.pending / self.window as f64) as u64;
        self.clamp();
        if now.saturating_sub(self.added_at) > self.env.network_rtt {
            self.window += self.eta;
            self.added_at = now;
        }
        (self.pending, self.received, self.adjusted_at) = (0.0, 0, now);
    }

    fn set_base_rtt(&mut self, base_rtt: Time) {
        self.max = max_window(self.env.line_rate, base_rtt).max(self.env.mtu);
    }

    fn clamp(&mut self) {
        self.window = self.window.clamp(self.env.mtu, self.max);
    }
}
