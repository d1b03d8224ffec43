//! A part's pending events, and the order in which it handles them.
//!
//! Nodes touch each other only by what takes a link's delay. Where each link of a part has one worth the name, the nodes
//! handle their events one after the other, in windows no longer than the least delay: a node's ports, queues and memory
//! then stay in the cache, and its events need an order only among themselves. Otherwise, and where one order of all
//! events is asked for, all nodes share one queue. What happens is the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xoff_engine::{Arrival, EntityQueues, Event, EventQueue, MAX_FIFOS, Next, Time, fetch_ahead};

use crate::counters::fingerprint;
use crate::cut::needs_one_part;
use crate::event::{index_of, key, kind, kind_of};
use crate::network::Network;
use crate::packet::{PacketId, Packets};
use crate::part::Part;
use crate::settings::Order;
use crate::topology::{NodeId, PortId};

/// The least delay of links between nodes with queues of their own; shorter windows have too few events each.
const LEAST_WINDOW: Time = Time::from_ns(100);

/// Fewer ports than these and their packets fit into a core's own caches, and fetching them ahead costs more than it saves:
/// with 768 ports (128 hosts) it cost 3 %, with 6,144 (1,024 hosts) it saved a tenth.
const PORTS_IN_CACHE: u32 = 2048;

/// Pending events.
#[allow(clippy::large_enum_variant)] // there is one of it, and its larger variant is on the way of every event
pub(crate) enum Agenda {
    /// In one queue.
    Joint(Box<EventQueue>),
    /// Of each node by itself.
    ByNode(ByNode),
}

/// Pending events by node.
pub(crate) struct ByNode {
    nodes: EntityQueues,
    /// The longest window.
    lookahead: Time,
    /// Events that concern all nodes: samples and the like.
    common: BinaryHeap<Reverse<Event>>,
    /// A node's ports have left the nearest caches when its turn comes again.
    fetches: bool,
    /// The next flow that starts by itself, and when.
    start: Option<(Time, u32)>,
}

impl Agenda {
    /// Nothing to do, for nodes that are `owned`.
    pub fn new(net: &Network, owned: impl Fn(NodeId) -> bool) -> Agenda {
        if net.settings.quirks.order == Order::Scheduled {
            return Agenda::Joint(Box::new(EventQueue::in_order_of_scheduling()));
        }
        let topology = &net.topology;
        let ports = 0..topology.ports();
        let lookahead =
            ports.clone().filter(|&p| owned(topology.node_of(p))).map(|p| topology.delay(p)).min();
        let lookahead = lookahead.unwrap_or(Time::ZERO);
        let mut degree = vec![0; topology.nodes.len()];
        ports.clone().for_each(|p| degree[topology.node_of(p) as usize] += 1);
        let too_many = degree.iter().any(|&n: &usize| n > MAX_FIFOS);
        if net.one_order || lookahead < LEAST_WINDOW || too_many || needs_one_part(net).is_some() {
            return Agenda::Joint(Box::new(EventQueue::new()));
        }
        let fifos: Vec<_> = ports.map(|p| (topology.node_of(p), arrival_key(net, p))).collect();
        Agenda::ByNode(ByNode {
            nodes: EntityQueues::new(topology.nodes.len(), &fifos),
            lookahead,
            common: BinaryHeap::new(),
            fetches: topology.ports() >= PORTS_IN_CACHE,
            start: None,
        })
    }

    /// Adds an event of a node that it has scheduled for itself, or that takes a link's delay.
    #[inline]
    pub fn push(&mut self, node: NodeId, time: Time, key: u32, arg: u32) {
        match self {
            Agenda::Joint(queue) => queue.push(time, key, arg),
            Agenda::ByNode(all) => all.nodes.push(node, Event { time, key, arg }),
        }
    }

    /// Where arrivals with a key go, see [`Self::arrive`].
    pub fn place(&self, key: u32) -> u32 {
        match self {
            Agenda::Joint(_) => key,
            Agenda::ByNode(all) => all.nodes.slot(index_of(key)),
        }
    }

    /// Adds the arrival of a packet at a [`Self::place`].
    #[inline(always)] // on the way of every packet
    pub fn arrive(&mut self, packets: &mut Packets, place: u32, time: Time, id: PacketId) {
        match self {
            Agenda::Joint(queue) => queue.push(time, place, id),
            Agenda::ByNode(all) => all.nodes.arrive(packets, place, time, id),
        }
    }

    /// Adds an event that concerns all nodes and comes after all others of its time.
    pub fn push_common(&mut self, time: Time, key: u32) {
        match self {
            Agenda::Joint(queue) => queue.push(time, key, 0),
            Agenda::ByNode(all) => all.common.push(Reverse(Event { time, key, arg: 0 })),
        }
    }

    /// Adds the start of the next flow that starts by itself.
    pub fn push_start(&mut self, time: Time, flow: u32) {
        match self {
            Agenda::Joint(queue) => queue.push(time, key(kind::FLOW_START, flow), 0),
            Agenda::ByNode(all) => all.start = Some((time, flow)),
        }
    }

    /// Whether flows' starts are looked for ahead of their time, not by the start before.
    pub fn looks_ahead(&self) -> bool {
        matches!(self, Agenda::ByNode(_))
    }

    /// A time that is not after the next event's; [`Time::NEVER`] where nothing is pending.
    pub fn earliest(&self) -> Time {
        match self {
            Agenda::Joint(queue) => queue.earliest().unwrap_or(Time::NEVER),
            Agenda::ByNode(all) => all.earliest(),
        }
    }
}

impl ByNode {
    fn earliest(&self) -> Time {
        let start = self.start.map_or(Time::NEVER, |(time, _)| time);
        self.nodes.earliest().min(start).min(self.next_common())
    }

    fn next_common(&self) -> Time {
        self.common.peek().map_or(Time::NEVER, |Reverse(event)| event.time)
    }
}

impl Part {
    /// Handles the events before `limit`, of which it expects no more than `count`, up to a failure.
    pub(crate) fn run_until(&mut self, limit: Time, count: u64) {
        let last = self.counters.events.saturating_add(count);
        match &self.events {
            Agenda::Joint(_) => self.run_in_order(limit, last),
            Agenda::ByNode(_) => self.run_by_node(limit, last),
        }
    }

    fn run_in_order(&mut self, limit: Time, last: u64) {
        while self.counters.events < last && self.failure.is_none() {
            let Agenda::Joint(queue) = &mut self.events else { return };
            let Some(event) = queue.pop_before(limit) else { return };
            if let Some(arg) = queue.next_arg() {
                self.packets.prefetch(arg);
            }
            self.handle(event.time, event.key, event.arg);
        }
    }

    fn run_by_node(&mut self, limit: Time, last: u64) {
        let mut latest = self.now;
        while self.counters.events < last && self.failure.is_none() {
            let Some(end) = self.begin_window(limit) else { break };
            while let Some(node) = self.open_next() {
                self.fetch_node();
                if self.net.is_host(node) {
                    self.run_host(last)
                } else {
                    self.run_switch(node, last)
                }
                latest = latest.max(self.now);
            }
            self.end_window(end);
            latest = latest.max(self.now);
        }
        self.now = latest;
    }

    /// Begins the next window before `limit`, if anything happens until then; says where it ends.
    fn begin_window(&mut self, limit: Time) -> Option<Time> {
        let Agenda::ByNode(all) = &mut self.events else { return None };
        let begin = all.earliest();
        if begin >= limit {
            return None;
        }
        let end = limit.min(begin + all.lookahead).min(all.next_common().saturating_add(Time(1)));
        all.nodes.begin_window(end);
        self.begin_starts(end);
        Some(end)
    }

    /// Tells hosts of the flows that start by themselves before `end`.
    fn begin_starts(&mut self, end: Time) {
        while let Agenda::ByNode(all) = &mut self.events
            && let Some((time, flow)) = all.start.take_if(|(time, _)| *time < end)
        {
            let event = Event { time, key: key(kind::FLOW_START, flow), arg: 0 };
            all.nodes.push(self.net.flows[flow as usize].src, event);
            self.await_flow(flow + 1);
        }
    }

    fn open_next(&mut self) -> Option<NodeId> {
        let Agenda::ByNode(all) = &mut self.events else { return None };
        all.nodes.open_next()
    }

    /// Fetches what the node at hand is about to use: its ports, and the packets that come first, which no packet before them
    /// has fetched.
    #[inline]
    fn fetch_node(&self) {
        if let Agenda::ByNode(all) = &self.events
            && all.fetches
        {
            for (port, packet) in all.nodes.fifos() {
                self.packets.prefetch(packet);
                fetch_ahead(&self.ports, port);
                fetch_ahead(&self.ingress, port * self.priorities as u32);
            }
        }
    }

    /// Ends a window with the events that concern all nodes.
    fn end_window(&mut self, end: Time) {
        let Agenda::ByNode(all) = &mut self.events else { return };
        all.nodes.end_window();
        while let Agenda::ByNode(all) = &mut self.events
            && all.next_common() < end
            && let Some(Reverse(event)) = all.common.pop()
        {
            self.handle(event.time, event.key, event.arg);
        }
    }

    /// Handles a switch's events of a window.
    fn run_switch(&mut self, node: NodeId, last: u64) {
        while let Agenda::ByNode(all) = &mut self.events {
            match all.nodes.next_up() {
                Next::Arrival(slot) => {
                    let Arrival { time, fifo, arg, following } = all.nodes.take(&mut self.packets, slot);
                    self.packets.prefetch(following);
                    self.begin_event(time, key(kind::SWITCH_ARRIVAL, fifo));
                    self.switch_arrival(node, fifo, arg);
                    if self.halt {
                        self.halt = false;
                        return;
                    }
                }
                // Arrivals of a window come to an end, what a node does by itself need not.
                Next::Own if self.counters.events >= last => return,
                Next::Own => {
                    let event = all.nodes.take_own();
                    self.handle_own(event);
                }
                Next::Nothing => return,
            }
        }
    }

    /// Handles a host's events of a window.
    fn run_host(&mut self, last: u64) {
        while let Agenda::ByNode(all) = &mut self.events {
            match all.nodes.next_up() {
                Next::Arrival(slot) => {
                    let Arrival { time, fifo, arg, following } = all.nodes.take(&mut self.packets, slot);
                    self.packets.prefetch(following);
                    self.begin_event(time, key(kind::HOST_ARRIVAL, fifo));
                    self.host_arrival(fifo, arg);
                }
                Next::Own if self.counters.events >= last => return,
                Next::Own => {
                    let event = all.nodes.take_own();
                    self.handle_own(event);
                }
                Next::Nothing => return,
            }
        }
    }

    /// Counts an event, whose time it is.
    #[inline(always)] // the way of every event
    fn begin_event(&mut self, time: Time, key: u32) {
        debug_assert!(time >= self.now || self.events.looks_ahead(), "time goes forward");
        self.now = time;
        self.counters.events += 1;
        self.counters.fingerprint = self.counters.fingerprint.wrapping_add(fingerprint(time, key));
    }

    /// Handles an event that a node has scheduled for itself.
    #[inline(always)] // the way of many events
    fn handle_own(&mut self, Event { time, key, arg }: Event) {
        self.begin_event(time, key);
        let index = index_of(key);
        debug_assert!(
            !matches!(kind_of(key), kind::SWITCH_ARRIVAL | kind::HOST_ARRIVAL),
            "they come by FIFOs"
        );
        match kind_of(key) {
            kind::PORT_READY => self.port_ready(index),
            kind::NIC_WAKE => self.nic_wake(index, arg),
            _ => self.rare_event(key, arg),
        }
    }

    #[inline(never)]
    fn handle(&mut self, time: Time, key: u32, arg: u32) {
        self.begin_event(time, key);
        let index = index_of(key);
        match kind_of(key) {
            kind::SWITCH_ARRIVAL => self.switch_arrival(self.net.topology.node_of(index), index, arg),
            kind::HOST_ARRIVAL => self.host_arrival(index, arg),
            kind::PORT_READY => self.port_ready(index),
            kind::NIC_WAKE => self.nic_wake(index, arg),
            _ => self.rare_event(key, arg),
        }
    }
}

/// The key of arrivals by `ingress`.
pub(crate) fn arrival_key(net: &Network, ingress: PortId) -> u32 {
    let host = net.is_host(net.topology.node_of(ingress));
    key(if host { kind::HOST_ARRIVAL } else { kind::SWITCH_ARRIVAL }, ingress)
}
