//! Messages that receivers and switches send to a flow's sender.

use xoff_engine::{Rate, Time};

use crate::signals::Mark;

/// A congestion notification packet, from a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cnp {
    /// The mark that the packet reports; [`Mark::None`] if the scheme also reports the absence of congestion.
    pub mark: Mark,
    /// A rate that the receiver measured or asks for; `None` if the scheme sends no rate.
    pub rate: Option<Rate>,
}

/// A congestion notification message, from a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cnm {
    /// The flow to which the message is addressed.
    pub flow: u32,
    /// The congestion point, unique in the network.
    pub point: u32,
    /// The rate that the congestion point grants, or that of its link.
    pub rate: Rate,
    /// What the message reports of the queue; `None` if the scheme's messages have a rate alone.
    pub queue: Option<QueueReport>,
}

/// What a congestion notification message reports of the queue that a data packet has met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueReport {
    /// Bytes queued, up to 4 GiB.
    pub bytes: u32,
    /// When the data packet left its sender.
    pub sent_at: Time,
}
