//! Bolt's switch (NSDI 2023): messages to sources of packets that meet a queue, and tokens for those that
//! ask for more.

use xoff_engine::{Rate, Time};

use super::{Bolt, DEC, FIRST, INC, LAST};
use crate::traits::{Cnm, CongestionPoint, Labelled, PortEnv, QueueReport, QueueView};

/// Bolt's congestion point: tokens of an egress queue.
#[derive(Clone, Debug)]
pub struct BoltQueue {
    point: u32,
    rate: Rate,
    threshold: u64,
    /// A full packet on the wire, in bytes.
    frame: f64,
    max_pru_tokens: u32,
    pru_tokens: u32,
    supplies: bool,
    /// Bytes that the link could have carried and that did not come, at most a packet.
    sm_token: f64,
    seen_at: Time,
    /// Bytes that had come to the port then.
    arrived: u64,
}

impl BoltQueue {
    pub(super) fn new(params: &Bolt, env: &PortEnv) -> Self {
        BoltQueue {
            point: env.point,
            rate: env.rate,
            threshold: params.cc_threshold.map_or(env.frame, |bytes| bytes.0),
            frame: env.frame as f64,
            max_pru_tokens: if params.pru { params.max_pru_tokens } else { 0 },
            pru_tokens: 0,
            supplies: params.sm,
            sm_token: 0.0,
            seen_at: Time::ZERO,
            arrived: 0,
        }
    }

    /// PRU's tokens.
    pub fn pru_tokens(&self) -> u32 {
        self.pru_tokens
    }

    /// SM's token, in bytes.
    pub fn sm_token(&self) -> f64 {
        self.sm_token
    }

    /// Adds what the link could have carried since the last packet, and takes off what has come.
    fn count(&mut self, now: Time, arrived: u64) {
        let supply = self.rate.bytes_per_ps() * (now - self.seen_at).0 as f64;
        // Packets that waited for a link that went down are gone, and no longer count.
        let demand = arrived.saturating_sub(self.arrived) as f64;
        self.sm_token = (self.sm_token + supply - demand).min(self.frame);
        (self.seen_at, self.arrived) = (now, arrived);
    }

    /// Takes a token for a packet that asks for more; returns whether there was one.
    fn take_token(&mut self) -> bool {
        if self.pru_tokens > 0 {
            self.pru_tokens -= 1;
            return true;
        }
        let supplied = self.supplies && self.sm_token >= self.frame;
        if supplied {
            self.sm_token -= self.frame;
        }
        supplied
    }
}

impl CongestionPoint for BoltQueue {
    fn on_label(&mut self, queue: &QueueView, packet: &Labelled, out: &mut Vec<Cnm>) -> u8 {
        self.count(queue.now, packet.arrived);
        let (label, waits) = (packet.label, queue.bytes - packet.bytes);
        if waits >= self.threshold {
            if label & DEC == 0 {
                let bytes = u32::try_from(waits).unwrap_or(u32::MAX);
                let report = QueueReport { bytes, sent_at: packet.sent_at };
                out.push(Cnm { flow: packet.flow, point: self.point, rate: self.rate, queue: Some(report) });
            }
            return label & !INC | DEC;
        }
        if label & LAST != 0 {
            if label & FIRST == 0 {
                self.pru_tokens = (self.pru_tokens + 1).min(self.max_pru_tokens);
            }
        } else if label & INC != 0 && !self.take_token() {
            return label & !INC;
        }
        label
    }
}
