//! Congestion roots, the ground truth of where congestion comes from; with them, the flows that head-of-line blocking held
//! up.
//!
//! An egress queue of a switch is a *congestion root* while more traffic is offered to the queue's link than the link can
//! carry. *Offered* means without the stops of flow control: a packet is offered to a link at the time at which it would
//! have come had no link been stopped, which is its arrival less the time for which stops have held it back so far. Each
//! queue has a [`VirtualQueue`] beside it, which gets the same packets at the times of their offer and is never stopped:
//! it holds what the link alone would have made wait. The queue becomes a root when a packet joins the queue that would
//! have found a backlog of at least the *growth* with itself, while other packets are in the real queue. It stops being a
//! root when as much time has passed as the last packets would have waited, so that the virtual queue would be empty if
//! nothing more came; or when the real queue is empty. Time in which the queue is stopped does not count for that, since
//! what comes is late by it; but a packet that joins a stopped queue and would have found no backlog ends the root. No queue
//! length at which a detector marks, no time since a RESUME and no detector's window is in this rule.
//!
//! For how long stops have held a packet back follows from hop to hop. A packet leaves a switch when it really leaves the
//! queue, and would have left when it leaves the virtual queue; the difference goes with the packet to the next node. A
//! host's NIC has a virtual queue too. Data is offered to the NIC when its source has made it, but no earlier than the
//! packet's departure less the time for which stops have kept the NIC's wire idle since the NIC last had nothing to send.
//! Windows, pacing and congestion control are taken as they were: what they hold back is not offered. A frame of another
//! class or kind takes its time on the wire from a virtual queue when the frame really leaves.
//!
//! What follows from the rule:
//! - In a network without stops a queue is as long as its virtual queue, to one frame on the wire.
//! - A link whose inputs carry no more than the link is never a root, however long stops make its queue.
//! - Inputs that resume together and send what they held make no root of a link that would have been idle meanwhile.
//! - A root that PFC holds at its length by stopping its inputs stays a root: what its inputs hold back was offered.
//! - A queue may be overloaded and stopped at one time, and is a root then.
//!
//! Where the rule errs. Only packets that have come count, so that a link whose traffic all waits behind other stops is no
//! root before the traffic comes. The reactions of senders are those of the run, not of a run without stops. A paced
//! flow whose NIC is idle between packets counts as held back only for the packet that waited. A root may last until its
//! real queue is empty although newer traffic, which was not held back, would fit. Of idle times long ago a virtual queue knows
//! only the sum, and dates it too late. Below the growth nothing is a root.
//!
//! A flow is *HoL-blocked* if a packet of the flow waited behind a PAUSE, in a switch or in its host, and no egress queue
//! of the flow's path was a root at any moment of that pause. The roots of all partitions are known only at the end of a
//! run, when their records are merged.

mod virtual_queue;

use std::collections::BTreeSet;

use xoff_engine::{Rate, Time};

use super::probe::{Hooks, Probe, Resumed};
use super::records::Records;
use super::rows::{RootRecord, Waited};
use crate::ids::{FlowId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{DATA, Kind, Packet};
use crate::settings::Clock;
use virtual_queue::VirtualQueue;

/// An egress queue of a switch.
#[derive(Clone, Debug, Default)]
struct Watched {
    offered: VirtualQueue,
    /// When the queue stops being a root if nothing more comes.
    until: Time,
    /// Maximum number of bytes in the queue since it became a root.
    high: u64,
    /// When the queue became a root; `None` if it is none.
    since: Option<Time>,
    /// Since when the queue is stopped.
    stopped: Option<Time>,
}

/// A priority of a host's NIC.
#[derive(Clone, Debug, Default)]
struct Nic {
    offered: VirtualQueue,
    /// Time for which stops have kept the wire idle since the NIC last had nothing to send.
    lag: Time,
    /// Total time of the priority's stops, and of the wire's idleness, at the last departure.
    stopped: Time,
    idle: Time,
}

/// The link of a port.
#[derive(Clone, Debug)]
struct Link {
    rate: Rate,
    /// Time to send as many bytes as the growth of a root.
    growth: Time,
    /// Whether the port is a host's.
    is_host: bool,
    /// Until when the wire is taken, and for how long it has been idle; of hosts' ports only.
    busy_until: Time,
    idle: Time,
}

/// A packet of a class begins on the wire of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub port: PortId,
    pub kind: Kind,
    pub class: u8,
    pub size: u64,
    /// Total time for which the port and class have been stopped.
    pub stopped: Time,
}

/// A time for which a queue was a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    queue: QueueId,
    start: Time,
    end: Time,
    max_bytes: u64,
}

/// Which of a partition's queues are roots.
pub(crate) struct RootWatch {
    /// By port, then priority.
    queues: Vec<Watched>,
    /// Likewise.
    nics: Vec<Nic>,
    /// By port.
    links: Vec<Link>,
    clock: Clock,
    /// Bytes of the gap after a frame.
    gap: u64,
    ended: Vec<Ended>,
    /// Number of data priorities.
    priorities: usize,
}

impl RootWatch {
    /// A watch over the empty queues of a network, for roots with a virtual queue of `growth` bytes.
    pub(crate) fn new(growth: u64, net: &Network) -> Self {
        let links = net.topology.port_ids().map(|port| {
            let is_host = net.is_host(net.topology.node_of(port));
            Link::new(net.topology.rate(port), growth, is_host)
        });
        let priorities = usize::from(net.settings.switch.priorities);
        Self::over(links.collect(), net.settings.quirks.clock, net.wire.gap, priorities)
    }

    fn over(links: Vec<Link>, clock: Clock, gap: u64, priorities: usize) -> Self {
        let count = links.len() * priorities;
        let (queues, nics) = (vec![Watched::default(); count], vec![Nic::default(); count]);
        RootWatch { queues, nics, links, clock, gap, ended: Vec::new(), priorities }
    }

    /// Time that a frame takes on the link of a port, with the gap after it.
    fn frame_time(&self, port: PortId, size: u64) -> Time {
        let rate = self.links[port.index()].rate;
        self.clock.serialization(rate, size) + self.clock.serialization(rate, self.gap)
    }

    /// A data packet of `size` bytes has joined a switch's queue, which has `bytes` with the packet; it was offered at
    /// `offered`. Returns when the packet would have left.
    pub(crate) fn enqueue(
        &mut self,
        queue: QueueId,
        size: u64,
        bytes: u64,
        offered: Time,
        now: Time,
    ) -> Time {
        self.end_if_over(queue, now);
        let port = queue.port(self.priorities);
        let (time, growth) = (self.frame_time(port, size), self.links[port.index()].growth);
        let q = &mut self.queues[queue.index()];
        let leaves = q.offered.serve(offered, time);
        let waits = leaves - offered;
        q.until = q.until.max(now + waits);
        if q.stopped.is_some() && waits <= time {
            self.end(queue, now);
            return leaves;
        }
        if q.since.is_some() {
            q.high = q.high.max(bytes);
        } else if waits >= growth && bytes > size {
            (q.since, q.high) = (Some(now), bytes);
        }
        leaves
    }

    /// A data packet of `size` bytes has left a switch's queue with `bytes` behind it.
    fn dequeue(&mut self, queue: QueueId, size: u64, bytes: u64, now: Time) {
        if bytes == 0 {
            self.end_if_over(queue, now);
            let sent = now + self.frame_time(queue.port(self.priorities), size);
            let q = &mut self.queues[queue.index()];
            q.until = q.until.min(sent);
        }
    }

    /// A packet begins on a wire. `planned` is, at a switch, when it would have left and, at a host, when its data was
    /// made. Returns for how long stops have held the packet back, if it is data.
    pub(crate) fn depart(&mut self, sent: Sent, planned: Time, now: Time) -> Time {
        let time = self.frame_time(sent.port, sent.size);
        let left = now + time;
        let link = &mut self.links[sent.port.index()];
        if link.is_host {
            link.idle += now.saturating_sub(link.busy_until);
            link.busy_until = left;
            let idle = link.idle;
            if sent.kind != Kind::Data {
                return Time::ZERO;
            }
            let nic = &mut self.nics[QueueId::new(sent.port, sent.class - DATA, self.priorities).index()];
            return left.saturating_sub(nic.send(planned, now, time, sent.stopped, idle));
        }
        for priority in 0..self.priorities as u8 {
            if sent.kind == Kind::Data && sent.class == DATA + priority {
                continue;
            }
            let queue = QueueId::new(sent.port, priority, self.priorities);
            self.end_if_over(queue, now);
            let q = &mut self.queues[queue.index()];
            q.offered.serve(now, time);
            if q.until > now {
                q.until += time;
            }
        }
        left.saturating_sub(planned)
    }

    /// Ends a root whose time is over by `now`.
    fn end_if_over(&mut self, queue: QueueId, now: Time) {
        let q = &self.queues[queue.index()];
        let end = q.until;
        if q.stopped.is_none() && end <= now {
            self.end(queue, end);
        }
    }

    /// A queue may not send from now on.
    fn stop(&mut self, queue: QueueId, now: Time) {
        self.end_if_over(queue, now);
        self.queues[queue.index()].stopped = Some(now);
    }

    /// A queue may send again: the time of the stop does not count.
    fn resume(&mut self, queue: QueueId, now: Time) {
        let q = &mut self.queues[queue.index()];
        if let Some(since) = q.stopped.take() {
            q.until += now - since;
        }
    }

    fn end(&mut self, queue: QueueId, end: Time) {
        let q = &mut self.queues[queue.index()];
        if let Some(start) = q.since.take() {
            self.ended.push(Ended { queue, start, end, max_bytes: q.high });
        }
    }
}

impl Link {
    fn new(rate: Rate, growth: u64, is_host: bool) -> Link {
        Link { rate, growth: rate.time_for(growth), is_host, busy_until: Time::ZERO, idle: Time::ZERO }
    }
}

impl Nic {
    /// Sends a packet that takes `time` and whose data was made at `made`; the priority has been stopped and the wire idle
    /// for these totals. Returns when the packet would have been sent had the NIC never been stopped.
    fn send(&mut self, made: Time, now: Time, time: Time, stopped: Time, idle: Time) -> Time {
        let (paused, unused) = (stopped - self.stopped, idle - self.idle);
        (self.stopped, self.idle) = (stopped, idle);
        // Idleness of less than a frame comes from pacing near the link's rate.
        let caught_up = unused > paused + time;
        self.lag = if caught_up { paused } else { self.lag + paused.min(unused) };
        self.offered.serve(made.max(now.saturating_sub(self.lag)).min(now), time)
    }
}

impl Probe for RootWatch {
    fn hooks(&self) -> Hooks {
        Hooks::QUEUES | Hooks::STOPS | Hooks::WIRE
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, packet: &Packet, bytes: u64) {
        self.dequeue(queue, packet.size.into(), bytes, now);
    }

    fn on_stop(&mut self, now: Time, queue: QueueId) {
        self.stop(queue, now);
    }

    /// A stop of an egress queue is over: all packets in the queue have waited behind the stop.
    fn on_resume(&mut self, resumed: &Resumed<'_>, records: &mut Records) {
        self.resume(resumed.queue, resumed.now);
        let (start, end) = (resumed.since, resumed.now);
        let mut flows = resumed.waiting.to_vec();
        flows.sort_unstable();
        flows.dedup();
        records.partial.waited.extend(flows.into_iter().map(|flow| Waited { flow, start, end }));
    }

    /// Ends the roots that still exist at the end of a run, and records all roots.
    fn finish(&mut self, now: Time, records: &mut Records) {
        for queue in (0..self.queues.len() as u32).map(QueueId) {
            self.end_if_over(queue, now);
            self.end(queue, now);
        }
        let priorities = self.priorities;
        records.roots.extend(self.ended.drain(..).map(|root| RootRecord {
            port: root.queue.port(priorities),
            priority: root.queue.priority(priorities),
            start: root.start,
            end: root.end,
            max_bytes: root.max_bytes,
        }));
    }
}

impl Records {
    /// The flows that head-of-line blocking held up, by number.
    pub(crate) fn find_blocked(&mut self, net: &Network) -> Vec<FlowId> {
        let waited = std::mem::take(&mut self.partial.waited);
        self.partial.waits = waited.len();
        if waited.is_empty() {
            return Vec::new();
        }
        let priorities = usize::from(net.settings.switch.priorities);
        let queue = |port: PortId, priority: u8| QueueId::new(port, priority, priorities).index();
        let mut by_queue: Vec<Vec<(Time, Time)>> =
            vec![Vec::new(); net.topology.ports() as usize * priorities];
        // Rows are sorted by start and do not overlap for one queue, so their ends are in order too.
        for root in &self.roots {
            by_queue[queue(root.port, root.priority)].push((root.start, root.end));
        }
        let mut blocked = BTreeSet::new();
        for wait in waited {
            if blocked.contains(&wait.flow) {
                continue;
            }
            let priority = net.flows.priority(wait.flow);
            let guilty = net.data_path(wait.flow).iter().any(|&port| {
                let roots = &by_queue[queue(port, priority)];
                let first = roots.partition_point(|&(_, end)| end < wait.start);
                roots.get(first).is_some_and(|&(start, _)| start <= wait.end)
            });
            if !guilty {
                blocked.insert(wait.flow);
            }
        }
        blocked.into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
