//! DCTCP's sender as in the simulator of HPCC's authors (`cc_mode` 8): a rate in whole bits a second from
//! line rate down, and the window W R / C, rounded down, with W the bandwidth-delay product.
//!
//! The differences from the paper are more than roundings: α counts marked ACKs, divided by one more than the number of
//! packets that were in flight when the count began; the first round trip's marks go into the second's count; the rate
//! rises once a round trip, by a fixed step, and never above line rate.

use xoff_engine::Rate;

use super::{Dctcp, MIN_RATE, follow};
use crate::signals::Mark;
use crate::traits::{Ack, Carry, FlowEnv};

/// State of a flow's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct RateSender {
    g: f64,
    alpha: f64,
    /// Increase a round trip, bit/s.
    increase: u64,
    min: u64,
    max: u64,
    /// Window at line rate, in bytes.
    full_window: u64,
    payload: u64,
    rate: u64,
    /// The current round trip ends with an ACK of this packet or a later one; 0 before the first.
    round_until: u64,
    marked_acks: u64,
    /// Packets over which `marked_acks` is a share.
    packets: u64,
    /// After a cut, until this packet or a later one is acknowledged: neither cut nor growth.
    reduced_until: Option<u64>,
}

impl RateSender {
    pub(super) fn new(params: &Dctcp, env: &FlowEnv) -> Self {
        let line = env.line_rate.0;
        let increase = params.r_ai.map_or_else(
            || {
                let bytes = params.w_ai.map_or(env.payload, |w| w.0);
                (bytes as f64 * 8e12 / env.base_rtt.0.max(1) as f64) as u64
            },
            |rate| rate.0,
        );
        RateSender {
            g: params.g,
            alpha: params.initial_alpha,
            increase,
            min: params.min_rate.unwrap_or(MIN_RATE).0.min(line),
            max: line,
            full_window: env.line_rate.bytes_in(env.base_rtt).max(1),
            payload: env.payload.max(1),
            rate: line,
            round_until: 0,
            marked_acks: 0,
            packets: 1,
            reduced_until: None,
        }
    }

    /// α, the estimate of the share of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) {
        let marked = ack.mark == Mark::Ce;
        self.marked_acks += u64::from(marked);
        let round_ends = ack.packet >= self.round_until;
        if round_ends {
            self.end_round(ack);
        }
        if self.reduced_until.is_some_and(|end| ack.packet >= end) {
            self.reduced_until = None;
        }
        if marked && self.reduced_until.is_none() {
            self.rate = ((self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64).max(self.min);
            self.reduced_until = Some(ack.next_packet);
        }
        if round_ends && self.reduced_until.is_none() {
            self.rate = self.rate.saturating_add(self.increase).min(self.max);
        }
    }

    fn end_round(&mut self, ack: &Ack<'_>) {
        let counted_from = if self.round_until == 0 {
            0
        } else {
            let share = (self.marked_acks as f64 / self.packets as f64).min(1.0);
            self.alpha = follow(self.alpha, self.g, share);
            self.marked_acks = 0;
            ack.seq.min(ack.snd_nxt)
        };
        self.packets = (ack.snd_nxt - counted_from) / self.payload + 1;
        self.round_until = ack.next_packet;
    }

    pub(super) fn carry(&mut self, carry: &Carry) {
        // 0 says that there was no round trip yet.
        if self.round_until > 0 {
            self.round_until += carry.packets;
        }
        self.reduced_until = self.reduced_until.map(|end| end + carry.packets);
    }

    #[inline]
    pub(super) fn rate(&self) -> Rate {
        Rate(self.rate)
    }

    #[inline]
    pub(super) fn window(&self) -> u64 {
        let window = u128::from(self.full_window) * u128::from(self.rate) / u128::from(self.max);
        (window as u64).max(1)
    }
}
