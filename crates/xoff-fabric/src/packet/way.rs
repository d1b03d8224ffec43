//! The way of a packet that may complete its flow, and of its ACK: when the packet began on each link, and for how long it
//! was stopped before.
//!
//! In a lossless network, only a flow's last packet completes the flow. If packets are lost or overtake each other, any
//! packet may: the ACK that completes the flow answers whatever packet arrived last. The ACK is the same packet of the
//! pool, turned round, so that its way continues the data packet's.

use xoff_engine::Time;

use super::PacketId;
use crate::ids::PortId;

/// Number of causes that a flow's time is split by: those of [`crate::observe::breakdown::Cause`].
pub(crate) const CAUSES: usize = 11;

/// Times by cause.
pub(crate) type Spent = [Time; CAUSES];

/// A link of a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub port: PortId,
    /// When the packet's transmission began.
    pub started: Time,
    /// When the packet counts as arrived at the other end: with its last bit, or with its header.
    pub arrives: Time,
    /// For how long the port and class were stopped while the packet waited.
    pub paused: Time,
}

/// A packet's way so far.
#[derive(Debug)]
pub(crate) struct Way {
    /// When the packet left its sender.
    pub sent_at: Time,
    /// Its flow's time until then, by cause.
    pub spent: Spent,
    pub hops: Vec<Hop>,
    /// Total time for which the port and class had been stopped when the packet joined their queue; `None` if it does not
    /// wait.
    stopped_before: Option<Time>,
}

impl Way {
    /// The packet joins a queue whose port and class have been stopped for a total of `stopped`.
    pub fn wait(&mut self, stopped: Time) {
        self.stopped_before = Some(stopped);
    }

    /// The packet begins on a link; its port and class have been stopped for a total of `stopped`.
    pub fn hop(&mut self, port: PortId, started: Time, arrives: Time, stopped: Time) {
        let paused = self.stopped_before.take().map_or(Time::ZERO, |before| stopped - before);
        self.hops.push(Hop { port, started, arrives, paused });
    }
}

/// The ways of packets in a pool, by packet id.
#[derive(Default)]
pub(crate) struct Ways(Vec<Option<Box<Way>>>);

impl Ways {
    /// A data packet leaves its sender; `spent` is `None` if its way is not recorded.
    pub fn begin(&mut self, id: PacketId, now: Time, spent: Option<Spent>) {
        let way = |spent| Box::new(Way { sent_at: now, spent, hops: Vec::new(), stopped_before: None });
        self.put(id, spent.map(way));
    }

    /// Puts the way of a packet, which may have come from another partition, in its place.
    pub fn put(&mut self, id: PacketId, way: Option<Box<Way>>) {
        let place = id as usize;
        if place >= self.0.len() {
            if way.is_none() {
                return;
            }
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = way;
    }

    /// The way of a packet; `None` if it is not recorded.
    pub fn of(&mut self, id: PacketId) -> Option<&mut Way> {
        self.0.get_mut(id as usize)?.as_deref_mut()
    }

    /// Takes the way of a packet out.
    pub fn take(&mut self, id: PacketId) -> Option<Box<Way>> {
        self.0.get_mut(id as usize)?.take()
    }
}
