//! The sender: a packet goes for each credit.

use std::collections::VecDeque;

use xoff_engine::{Rate, Time};

use crate::traits::{Ack, FlowEnv, ReactionPoint, Sent};

/// A flow that sends a packet at line rate for each credit that has come.
#[derive(Clone, Debug)]
pub struct CreditedSender {
    rate: Rate,
    /// Payload bytes in flight.
    in_flight: u64,
    /// Numbers of the credits that wait for the wire, first to last.
    credits: VecDeque<u16>,
}

impl CreditedSender {
    /// A flow without credits.
    pub fn new(env: &FlowEnv) -> CreditedSender {
        CreditedSender { rate: env.line_rate, in_flight: 0, credits: VecDeque::new() }
    }
}

impl ReactionPoint for CreditedSender {
    fn on_send(&mut self, sent: &Sent) {
        self.in_flight += sent.payload;
    }
    /// Credits bring acknowledgements too, and one that comes late acknowledges nothing new: what is in flight is as it was.
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.newly_acked > 0 {
            self.in_flight = ack.snd_nxt.saturating_sub(ack.seq);
        }
    }
    fn on_credit(&mut self, _now: Time, number: u16) {
        self.credits.push_back(number);
    }
    fn spend_credit(&mut self) -> Option<u16> {
        self.credits.pop_front()
    }
    /// All that was in flight is sent again.
    fn on_loss(&mut self, _now: Time) {
        self.in_flight = 0;
    }
    /// Credits that found nothing to send are not kept for the next message.
    fn on_idle(&mut self, _now: Time) {
        self.in_flight = 0;
        self.credits.clear();
    }
    fn rate(&self) -> Rate {
        self.rate
    }
    /// A packet may go while less is in flight: one byte more for each credit lets just one packet go.
    fn window(&self) -> u64 {
        self.in_flight + u64::from(!self.credits.is_empty())
    }
}
