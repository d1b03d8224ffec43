//! Go-back-N: the receiver takes data only in order; in a lossy network a NACK names the gap, and the sender goes back to
//! the gap.

use xoff_engine::Time;

use super::Verdict;
use crate::network::Network;
use crate::packet::{LAST, Packet};

/// A receiver that takes data in order.
pub(crate) struct GoBackN {
    /// All before this offset has arrived.
    pub expected: u64,
    /// The gap that the last NACK named, and when the NACK was sent.
    nacked: (u64, Time),
    /// The next data begins a message.
    between_messages: bool,
    /// The last data has begun a message.
    pub begins: bool,
}

impl Default for GoBackN {
    /// The first message begins when the receiver opens, even if the first data to arrive is behind a gap.
    fn default() -> Self {
        GoBackN { expected: 0, nacked: (u64::MAX, Time::ZERO), between_messages: false, begins: false }
    }
}

impl GoBackN {
    /// A data packet has arrived.
    #[inline(always)] // runs for every packet
    pub fn on_data(&mut self, packet: &Packet, net: &Network, now: Time) -> Verdict {
        if packet.seq != self.expected {
            return self.out_of_order(packet, net, now);
        }
        self.expected += u64::from(packet.payload);
        self.begins = std::mem::replace(&mut self.between_messages, packet.flags & LAST != 0);
        Verdict::Taken { in_order: true }
    }

    /// The packet is behind a gap, or has arrived before.
    #[cold]
    fn out_of_order(&mut self, packet: &Packet, net: &Network, now: Time) -> Verdict {
        if packet.seq < self.expected {
            return Verdict::Again;
        }
        let (gap, at) = self.nacked;
        if gap == self.expected && now < at + net.settings.host.nack_interval {
            return Verdict::Refused;
        }
        self.nacked = (self.expected, now);
        Verdict::Gap
    }
}
