//! Transports: what is sent again, and in which order data may arrive.
//!
//! `host.transport` sets the one transport of a run. [`go_back_n`] takes data only in order, and the sender goes back to a
//! gap. [`selective_repeat`] keeps data behind a gap and sends only missing packets again. [`unordered`] takes packets in
//! any order: a message is complete when all of it is there. Schemes state rate and window, whatever the transport is.

mod arrivals;
mod go_back_n;
mod selective_repeat;
mod selective_sender;
mod unordered;

pub(crate) use selective_sender::SelectiveSender;

use xoff_engine::Time;

use crate::ids::FlowId;
use crate::network::Network;
use crate::packet::{LAST, Packet};
use crate::settings::Transport;
use arrivals::Arrivals;
use go_back_n::GoBackN;

/// What a receiver does with a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The packet is taken. If it is not `in_order`, its ACK goes at once.
    Taken {
        /// The packet is the next one, and no later packet is kept.
        in_order: bool,
    },
    /// The packet is kept, and something is missing before it: a NACK says so.
    Kept,
    /// The packet is here already: an ACK says so.
    Again,
    /// Something is missing before the packet, which is discarded: a NACK says so.
    Gap,
    /// The packet is discarded without an answer.
    Refused,
}

impl Verdict {
    /// The verdict on a packet that is taken when all before offset `before` had arrived.
    fn taken(before: u64, packet: &Packet, arrivals: &Arrivals) -> Verdict {
        Verdict::Taken {
            in_order: packet.seq == before && arrivals.prefix() == before + u64::from(packet.payload),
        }
    }
}

/// A connection's receiving end.
pub(crate) enum Reception {
    /// Only in order.
    GoBackN(GoBackN),
    /// In any order, delivered in order.
    SelectiveRepeat(Box<Arrivals>),
    /// In any order.
    Unordered(Box<Arrivals>),
}

impl Reception {
    /// The state before the first arrival of a connection whose first message is `flow`.
    pub fn new(net: &Network, flow: FlowId) -> Reception {
        match net.settings.host.transport {
            Transport::GoBackN => Reception::GoBackN(GoBackN::default()),
            Transport::SelectiveRepeat => Reception::SelectiveRepeat(Box::new(Arrivals::new(flow))),
            // Receivers of Ultra Ethernet's transport are in `host/uet`.
            Transport::Unordered | Transport::Uet => Reception::Unordered(Box::new(Arrivals::new(flow))),
        }
    }

    /// A data packet has arrived.
    #[inline(always)] // runs for every packet
    pub fn on_data(&mut self, packet: &Packet, net: &Network, now: Time) -> Verdict {
        match self {
            Reception::GoBackN(reception) => reception.on_data(packet, net, now),
            Reception::SelectiveRepeat(arrivals) => selective_repeat::on_data(arrivals, packet),
            Reception::Unordered(arrivals) => {
                unordered::on_data(arrivals, packet, net.flows.size(packet.flow).bytes())
            }
        }
    }

    /// All before this offset of the connection has arrived.
    #[inline]
    pub fn expected(&self) -> u64 {
        match self {
            Reception::GoBackN(reception) => reception.expected,
            Reception::SelectiveRepeat(arrivals) | Reception::Unordered(arrivals) => arrivals.prefix(),
        }
    }

    /// Number of messages that begin with a packet that was taken, without the first message of the connection.
    #[inline]
    pub fn begun(&mut self) -> u32 {
        match self {
            Reception::GoBackN(reception) => u32::from(std::mem::take(&mut reception.begins)),
            Reception::SelectiveRepeat(arrivals) | Reception::Unordered(arrivals) => arrivals.take_begun(),
        }
    }

    /// The messages that a packet which was taken completes.
    pub fn complete(&mut self, packet: &Packet) -> Vec<FlowId> {
        match self {
            Reception::GoBackN(_) if packet.flags & LAST != 0 => vec![packet.flow],
            Reception::GoBackN(_) => Vec::new(),
            Reception::SelectiveRepeat(arrivals) | Reception::Unordered(arrivals) => arrivals.take_complete(),
        }
    }

    /// Whether a message may begin or be complete with a packet that was taken; `last` says that the packet ends its
    /// message.
    #[inline(always)] // runs for every packet
    pub fn bounds_messages(&self, last: bool) -> bool {
        match self {
            Reception::GoBackN(reception) => last | reception.begins,
            Reception::SelectiveRepeat(_) | Reception::Unordered(_) => true,
        }
    }
}
