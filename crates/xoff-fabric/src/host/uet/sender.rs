//! A connection at its sender.

use std::collections::{BTreeMap, VecDeque};

use xoff_engine::Time;
use xoff_schemes::nscc::Window;
use xoff_schemes::rccc::Credit;

use super::entropy::Entropy;
use crate::host::message::Message;
use crate::host::nic::NicId;

/// A packet that was sent or is to be sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    /// When it was sent last.
    pub at: Time,
    /// Bytes on the wire.
    pub frame: u16,
    /// Payload bytes; 0 for a request to send (RTS).
    pub payload: u16,
}

/// Packets of a connection, by PSN.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    /// Those that nothing has come back of.
    pub sent: BTreeMap<u32, Out>,
    /// Those to be sent again.
    pub again: BTreeMap<u32, Out>,
    /// Every transmission, first to last; those of packets that have come back since are dropped at the front.
    order: VecDeque<(Time, u32)>,
    /// The next new PSN.
    pub next: u32,
    /// All PSNs before this one have arrived.
    pub cumulative: u32,
    /// Bytes on the wire that the receiver has got, as the sender knows.
    pub received: u64,
    /// Bytes in flight.
    pub in_flight: u64,
}

impl Outstanding {
    /// A packet goes.
    pub fn send(&mut self, psn: u32, out: Out) {
        self.again.remove(&psn);
        self.sent.insert(psn, out);
        self.order.push_back((out.at, psn));
        self.in_flight += u64::from(out.frame);
    }

    /// The packet that was sent first of those that nothing has come back of.
    pub fn oldest(&mut self) -> Option<(Time, u32)> {
        while let Some(&(at, psn)) = self.order.front() {
            if self.sent.get(&psn).is_some_and(|out| out.at == at) {
                return Some((at, psn));
            }
            self.order.pop_front();
        }
        None
    }

    /// A packet counts as lost; returns its bytes on the wire, `None` if it was not out.
    pub fn lose(&mut self, psn: u32) -> Option<u64> {
        let out = self.sent.remove(&psn)?;
        self.again.insert(psn, out);
        self.in_flight = self.in_flight.saturating_sub(out.frame.into());
        Some(out.frame.into())
    }

    /// All PSNs before `cumulative` have arrived, and those of a bitmap from `base` on.
    pub fn arrived(&mut self, cumulative: u32, base: u32, mut bitmap: u64) {
        if cumulative > self.cumulative {
            self.cumulative = cumulative;
            self.sent = self.sent.split_off(&cumulative);
            self.again = self.again.split_off(&cumulative);
        }
        while bitmap != 0 {
            let psn = base + bitmap.trailing_zeros();
            self.sent.remove(&psn);
            self.again.remove(&psn);
            bitmap &= bitmap - 1;
        }
    }

    /// The receiver has got `received` bytes; returns how many of them are news.
    pub fn receive(&mut self, received: u64) -> u64 {
        let news = received.saturating_sub(self.received);
        self.received += news;
        self.in_flight = self.in_flight.saturating_sub(news);
        news
    }
}

/// A connection at its sender.
pub(super) struct UetSender {
    pub out: Outstanding,
    pub message: Message,
    /// Payload bytes that were never sent.
    pub left: u64,
    /// Number of data packets of the message.
    pub packets: u32,
    /// Number of RTSs sent, each with a PSN of its own.
    pub requests: u32,
    /// When the last RTS went; `None` before the first.
    pub requested_at: Option<Time>,
    pub nic: NicId,
    pub priority: u8,
    pub window: Option<Box<Window>>,
    pub credit: Option<Credit>,
    /// The minimum round-trip time so far.
    pub base_rtt: Time,
    pub entropy: Entropy,
    /// The connection stands in its NIC's round robin.
    pub is_ready: bool,
    /// The pending event of the retransmission timer; `NEVER` without one.
    pub armed: Time,
}

impl UetSender {
    /// Bytes on the wire of the next packet; `None` if there is nothing to send.
    pub fn next_frame(&self, payload: u64, overhead: u64) -> Option<u64> {
        match self.out.again.first_key_value() {
            Some((_, out)) => Some(out.frame.into()),
            None => (self.left > 0).then(|| self.left.min(payload) + overhead),
        }
    }

    /// Whether window and credit let a packet of this many bytes go.
    pub fn permits(&self, frame: u64) -> bool {
        self.window.as_ref().is_none_or(|window| window.bytes() >= self.out.in_flight + frame)
            && self.credit.as_ref().is_none_or(Credit::is_open)
    }

    /// Payload bytes and RTSs aside, bytes on the wire that are still to be sent.
    pub fn backlog(&self, payload: u64, overhead: u64) -> u64 {
        let again: u64 = self.out.again.values().map(|out| u64::from(out.frame)).sum();
        again + self.left + self.left.div_ceil(payload) * overhead
    }

    /// Whether all of the message has arrived.
    pub fn is_done(&self) -> bool {
        self.out.cumulative >= self.packets + self.requests
    }

    /// Payload bytes before the first packet that is missing.
    pub fn acked(&self, size: u64, payload: u64) -> u64 {
        (u64::from(self.out.cumulative.saturating_sub(self.requests)) * payload).min(size)
    }
}
