//! The context that every handler gets beside the state of its own room: the time, the network, pending events, the
//! packets and the probes.

use std::sync::Arc;

use xoff_engine::{FutureEvents, Time};

use crate::fault::Cause;
use crate::ids::{NodeId, PortId};
use crate::network::Network;
use crate::observe::rows::PauseRecord;
use crate::observe::{Counters, Failure, Probes};
use crate::packet::{Boundary, PacketId, Packets};

/// The context of a partition's handlers.
pub(crate) struct Ctx {
    /// The time of the current event, on the network's clock.
    pub now: Time,
    /// The time that was carried forward so far: simulated time is ahead of the network's clock by it. Zero unless the run is
    /// fast-forwarded.
    pub carried: Time,
    /// When time was last carried forward, on the network's clock; `None` if it never was.
    pub jumped_at: Option<Time>,
    /// Number of messages that have started or were stopped.
    pub changes: u64,
    /// The key of the current event; set only if flow control has credits.
    pub key: u32,
    /// What stays the same during a run.
    pub net: Arc<Network>,
    /// Pending events of the partition's nodes.
    pub events: FutureEvents,
    /// Packets in the partition's nodes and on its links.
    pub packets: Packets,
    /// The probes that listen to this partition.
    pub probes: Probes,
    /// Counts of what has happened.
    pub counters: Counters,
    /// The other partitions.
    pub boundary: Boundary,
    /// The first failure, with the time and key of its event.
    pub failure: Option<(Time, u32, Failure)>,
    /// The current node stops after this event.
    pub halts: bool,
}

impl Ctx {
    /// Schedules an event of the current node, or one that comes after a link's delay.
    #[inline]
    pub fn schedule(&mut self, node: NodeId, time: Time, key: u32, arg: u32) {
        self.events.push(node.0, time, key, arg);
    }

    /// Simulated time.
    #[inline]
    pub fn simulated(&self) -> Time {
        self.now + self.carried
    }

    /// A stop of an egress queue since a time on the network's clock that ends now, after so many PAUSE frames, in simulated time.
    pub fn stop_until_now(&self, port: PortId, priority: u8, since: Time, frames: u32) -> PauseRecord {
        PauseRecord {
            port,
            priority,
            start: since + self.carried,
            end: self.simulated(),
            frames,
            is_over_jump: self.jumped_at.is_some_and(|jump| since < jump),
        }
    }

    /// The network's clock at the simulated time `at`, which is not before the current one.
    pub fn on_network_clock(&self, at: Time) -> Time {
        at.before(self.carried)
    }

    /// A packet is lost, at an egress port or on its link, or at the switch that it entered by an ingress port; a `fault` may be
    /// to blame.
    #[cold]
    pub fn lose(&mut self, at: (PortId, PortId), id: PacketId, cause: Cause, fault: Option<u32>) {
        self.counters.drops += 1;
        let packet = self.packets[id];
        self.probes.on_loss(self.simulated(), at, &packet, cause, fault);
        self.packets.remove(id);
    }

    /// Ends the run with `failure`, which the event `key` found, unless an earlier event has failed.
    #[cold]
    pub fn fail(&mut self, key: u32, failure: Failure) {
        self.halts = true;
        let broken = (self.now, key, failure);
        let first = self.failure.take().filter(|first| (first.0, first.1) < (broken.0, broken.1));
        self.failure = Some(first.unwrap_or(broken));
    }
}
