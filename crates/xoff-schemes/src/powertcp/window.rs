//! PowerTCP's control law (NSDI 2022, Equation 7) and the earlier window that it starts from.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use crate::traits::{Carry, FlowEnv};

/// Which earlier window PowerTCP's law divides by power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OldWindow {
    /// The one that was remembered last, once a round trip (PowerTCP, section 3.3).
    #[default]
    RoundTrip,
    /// The one at which the acknowledged packet was sent (PowerTCP, Equation 7).
    Packet,
}

/// Parameters of the control law; see [`super::PowerTcp`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub gamma: f64,
    pub expected_flows: f64,
    pub old_window: OldWindow,
    pub min_rate: Rate,
}

/// Windows of the past.
#[derive(Clone, Debug, PartialEq)]
enum Past {
    /// The window to start from until an ACK of packet `until` or a later one comes.
    RoundTrip { window: f64, until: u64 },
    /// The windows in force from the transmission of each packet on, first to last, and the one in force before them.
    Packet { before: f64, windows: VecDeque<(u64, f64)> },
}

/// Window and rate of a flow: function `UpdateWindow` of both algorithms with its state. Windows in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerWindow {
    gamma: f64,
    beta: f64,
    min: f64,
    max: f64,
    window: f64,
    past: Past,
    bps_per_byte: f64,
    min_rate: Rate,
    line_rate: Rate,
    rate: Rate,
}

impl PowerWindow {
    /// The bandwidth-delay product of the flow's NIC.
    pub(super) fn new(law: &Law, env: &FlowEnv) -> Self {
        let base_rtt = env.base_rtt.max(Time(1)).0 as f64;
        let bytes = |rate: Rate| (rate.bytes_per_ps() * base_rtt).max(1.0);
        let (max, min_rate) = (bytes(env.line_rate), law.min_rate.min(env.line_rate));
        PowerWindow {
            gamma: law.gamma,
            beta: max / law.expected_flows,
            min: bytes(min_rate),
            max,
            window: max,
            past: match law.old_window {
                OldWindow::RoundTrip => Past::RoundTrip { window: max, until: 0 },
                OldWindow::Packet => Past::Packet { before: max, windows: VecDeque::new() },
            },
            bps_per_byte: 8e12 / base_rtt,
            min_rate,
            line_rate: env.line_rate,
            rate: env.line_rate,
        }
    }

    /// The earlier window for an ACK of `packet`: `GetCwnd`.
    #[inline]
    fn old(&mut self, packet: u64) -> f64 {
        match &mut self.past {
            Past::RoundTrip { window, .. } => *window,
            Past::Packet { before, windows } => {
                while let Some(&(from, window)) = windows.front()
                    && from <= packet
                {
                    *before = window;
                    windows.pop_front();
                }
                *before
            }
        }
    }

    /// Follows a normalized power, for an ACK of `packet`.
    #[inline]
    pub fn update(&mut self, packet: u64, power: f64) {
        // Without any power the quotient is infinite, and the window at its maximum.
        let target = self.old(packet) / power + self.beta;
        let window = self.gamma * target + (1.0 - self.gamma) * self.window;
        self.window = window.clamp(self.min, self.max);
        let rate = (self.window * self.bps_per_byte + 0.5) as u64;
        self.rate = Rate(rate).clamp(self.min_rate, self.line_rate);
    }

    /// Remembers the current window for the packets from `next_packet` on, when an ACK of `packet` has come: `UpdateOld`.
    #[inline]
    pub fn remember(&mut self, packet: u64, next_packet: u64) {
        match &mut self.past {
            Past::RoundTrip { window, until } => {
                if packet >= *until {
                    (*window, *until) = (self.window, next_packet);
                }
            }
            Past::Packet { windows, .. } => match windows.back_mut() {
                Some((from, window)) if *from == next_packet => *window = self.window,
                _ => windows.push_back((next_packet, self.window)),
            },
        }
    }

    /// Carries the packets from which on there is another window to start from forward.
    pub(super) fn carry(&mut self, carry: &Carry) {
        match &mut self.past {
            Past::RoundTrip { until, .. } => *until += carry.packets,
            Past::Packet { windows, .. } => windows.iter_mut().for_each(|(from, _)| *from += carry.packets),
        }
    }

    /// The current window, to the nearest byte.
    #[inline]
    pub fn bytes(&self) -> u64 {
        (self.window + 0.5) as u64
    }

    /// The pacing rate, w / τ.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }
}
