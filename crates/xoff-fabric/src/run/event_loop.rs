//! The order in which a partition handles its events, and the dispatch of events to rooms.
//!
//! Nodes affect each other only after a link's delay. If each link of a partition has a delay of at least `MIN_WINDOW`, the
//! nodes handle their events one node after the other, in windows no longer than the minimum delay: a node's ports, queues
//! and memory then stay in the cache, and its events need an order only among themselves. Otherwise, and if the settings
//! ask for one order of all events, all nodes share one queue. Results are the same.

use xoff_engine::{Arrival, Event, FutureEvents, Next, Time, fetch_ahead};

use super::partition::Partition;
use crate::ctx::Ctx;
use crate::event::{index_of, key, kind, kind_of};
use crate::host::nic::NicScheduler;
use crate::host::start::await_flow;
use crate::ids::{ConnectionId, FlowId, NodeId, PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::{Failure, fingerprint};
use crate::packet::DATA;

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// Handles the events before `limit`; stops early at a failure, or once about `count` events are handled.
    pub(super) fn handle_until(&mut self, limit: Time, count: u64) {
        let last = self.ctx.counters.events.saturating_add(count);
        match &self.ctx.events {
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => {
                self.run_in_order(limit, last, false);
            }
            FutureEvents::ByEntity(_) => self.run_by_node(limit, last),
        }
    }

    /// Handles the events before `limit` in one order, as [`Partition::handle_until`] does; stops right after one by which something
    /// has become of a message, if the caller is to hear of it at once.
    pub(super) fn handle_live(&mut self, limit: Time, count: u64, at_once: bool) {
        let last = self.ctx.counters.events.saturating_add(count);
        if self.run_in_order(limit, last, at_once) {
            C::end_window(&mut self.links, &mut self.ctx, limit, false);
            self.links.settle_ends(&mut self.ctx, limit);
        }
    }

    /// Handles the events of a joint queue before `limit`, until so many were handled that their number is `last`, or a failure; if `at_once`,
    /// until something has become of a message. Returns whether it found no more events before `limit`.
    fn run_in_order(&mut self, limit: Time, last: u64, at_once: bool) -> bool {
        while self.ctx.counters.events < last && self.ctx.failure.is_none() {
            let Some(event) = self.ctx.events.pop_before(limit) else { return true };
            // Most events name a port, and those of packets a packet.
            let (key, arg) = self.ctx.events.next_known();
            self.ctx.packets.prefetch_with_telemetry(arg);
            fetch_ahead(&self.links.ports, index_of(key));
            self.handle(event);
            if at_once && self.hosts.has_news() {
                return false;
            }
        }
        false
    }

    fn run_by_node(&mut self, limit: Time, last: u64) {
        let mut latest = self.ctx.now;
        while self.ctx.counters.events < last && self.ctx.failure.is_none() {
            let Some(window) = self.ctx.events.begin_window(limit) else { break };
            // Events that concern all nodes may schedule others for their own time, the last one of their window.
            if window.start + Time(1) < self.handled_until {
                return self.out_of_order(window.start, self.handled_until);
            }
            let end = window.end;
            self.handled_until = end;
            self.begin_starts(end);
            self.ctx.events.list_turns();
            if self.fetches {
                self.fetch_first_nodes();
            }
            while let Some(node) = self.ctx.events.open_next().map(NodeId) {
                // The node before this one may have got further.
                self.ctx.now = window.start;
                if self.fetches {
                    self.fetch_nodes(node);
                }
                if self.ctx.net.is_host(node) {
                    self.run_host(last)
                } else {
                    self.run_switch(node, last)
                }
                latest = latest.max(self.ctx.now);
            }
            // Events that concern all nodes come after all others of their time.
            self.ctx.events.end_window();
            while let Some(event) = self.ctx.events.take_common(end) {
                self.begin_event(event.time, event.key);
                self.rare_event(event.key, event.arg);
            }
            latest = latest.max(self.ctx.now);
        }
        self.ctx.now = latest;
    }

    /// Schedules at hosts the messages that start by themselves before `end`.
    fn begin_starts(&mut self, end: Time) {
        while let Some((time, key)) = self.ctx.events.take_start(end) {
            let flow = FlowId(index_of(key));
            let src = self.ctx.net.flows.src(flow);
            self.ctx.schedule(src, time, key, 0);
            await_flow(&mut self.ctx, flow.next());
        }
    }

    /// Handles a switch's events of a window.
    fn run_switch(&mut self, node: NodeId, last: u64) {
        loop {
            match self.ctx.events.next_up() {
                Next::Arrival(slot) => {
                    let Arrival { time, fifo, arg, following } =
                        self.ctx.events.take(&mut self.ctx.packets, slot);
                    self.ctx.packets.prefetch(following);
                    if self.fetches {
                        self.fetch_hops(following);
                    }
                    self.begin_event(time, key(kind::SWITCH_ARRIVAL, fifo));
                    self.switches.arrival(&mut self.ctx, &mut self.links, Some(node), PortId(fifo), arg);
                    if self.ctx.halts {
                        self.ctx.halts = false;
                        return;
                    }
                }
                // A window's arrivals are finite; a node's own events need not be.
                Next::Own if self.ctx.counters.events >= last => return,
                Next::Own => {
                    let event = self.ctx.events.take_own();
                    self.handle_own(event);
                }
                Next::Nothing => return,
            }
        }
    }

    /// Handles a host's events of a window.
    fn run_host(&mut self, last: u64) {
        loop {
            match self.ctx.events.next_up() {
                Next::Arrival(slot) => {
                    let Arrival { time, fifo, arg, following } =
                        self.ctx.events.take(&mut self.ctx.packets, slot);
                    if self.fetches {
                        self.fetch_ends(following);
                    } else {
                        self.ctx.packets.prefetch_with_telemetry(following);
                    }
                    self.begin_event(time, key(kind::HOST_ARRIVAL, fifo));
                    self.hosts.arrival(&mut self.ctx, &mut self.links, PortId(fifo), arg);
                }
                Next::Own if self.ctx.counters.events >= last => return,
                Next::Own => {
                    let event = self.ctx.events.take_own();
                    self.handle_own(event);
                }
                Next::Nothing => return,
            }
        }
    }

    /// Counts an event and sets the clock to its time.
    #[inline(always)] // runs for every event
    fn begin_event(&mut self, time: Time, key: u32) {
        if time < self.ctx.now {
            self.out_of_order(time, self.ctx.now);
        }
        let ctx = &mut self.ctx;
        ctx.now = time;
        if C::HAS_CREDITS {
            ctx.key = key;
        }
        ctx.counters.count(time, key);
    }

    /// Ends the run: an event at `time` comes after all events before `past`. Its node has changed since, so whatever it
    /// does now is wrong.
    #[cold]
    #[inline(never)]
    fn out_of_order(&mut self, time: Time, past: Time) {
        debug_assert!(time >= past, "time goes forward");
        self.ctx.fail(0, Failure::OutOfOrder { at: time, past });
    }

    /// Handles an event that a node has scheduled for itself.
    #[inline(always)] // runs for many events
    fn handle_own(&mut self, Event { time, key, arg }: Event) {
        self.begin_event(time, key);
        let index = index_of(key);
        debug_assert!(
            !matches!(kind_of(key), kind::SWITCH_ARRIVAL | kind::HOST_ARRIVAL),
            "they come by FIFOs"
        );
        match kind_of(key) {
            kind::PORT_READY => self.port_ready(PortId(index)),
            kind::NIC_WAKE => N::wake(&mut self.hosts, &mut self.ctx, &mut self.links, index, arg),
            kind::LINK_CONTROL_APPLY if C::HAS_CREDITS => self.link_control_event(key, arg),
            _ => self.rare_event(key, arg),
        }
    }

    /// Handles an event of a joint queue.
    #[inline(always)] // runs for every event, at one place
    fn handle(&mut self, Event { time, key, arg }: Event) {
        self.begin_event(time, key);
        let index = index_of(key);
        let Partition { ctx, links, switches, hosts, .. } = self;
        match kind_of(key) {
            kind::SWITCH_ARRIVAL => switches.arrival(ctx, links, None, PortId(index), arg),
            kind::HOST_ARRIVAL => hosts.arrival(ctx, links, PortId(index), arg),
            kind::PORT_READY => self.port_ready(PortId(index)),
            kind::NIC_WAKE => N::wake(hosts, ctx, links, index, arg),
            _ => self.rare_event(key, arg),
        }
    }

    /// A port has finished a frame: a switch's port for which another frame waits, or a host's port if each transmission ends
    /// with an event.
    #[inline(always)] // the way of every packet
    pub(super) fn port_ready(&mut self, port: PortId) {
        let Partition { ctx, links, switches, hosts, .. } = self;
        if links.ready_events {
            if links.keeps_wire(ctx, port) {
                return;
            }
            if ctx.net.is_host(links.ports[port.index()].node) {
                return hosts.port_ready(ctx, links, port);
            }
        }
        switches.port_ready(ctx, links, port);
    }

    #[cold]
    #[inline(never)]
    fn rare_event(&mut self, key: u32, arg: u32) {
        let (kind, index) = (kind_of(key), index_of(key));
        let Partition { ctx, links, switches, hosts, own_ports, .. } = self;
        match kind {
            kind::LINK_CONTROL_APPLY | kind::LINK_CONTROL_EXPIRY | kind::LINK_CONTROL_PERIOD => {
                self.link_control_event(key, arg)
            }
            kind::FLOW_START if index >= ctx.net.first_other => hosts.step_event(ctx, index, arg),
            kind::FLOW_START => hosts.flow_start(ctx, links, FlowId(index), arg),
            kind::FLOW_STOP if index >= ctx.net.first_other => self.fault_event(index, arg),
            kind::FLOW_STOP if arg > 0 => hosts.recalled_event(ctx, links, FlowId(index), arg),
            kind::FLOW_STOP => hosts.flow_stop(ctx, links, FlowId(index)),
            kind::ACK_READY => hosts.enqueue(ctx, links, index, arg),
            kind::REACTION_TIMER | kind::NOTIFICATION_TIMER | kind::RETRANSMIT_TIMER if N::OWN_TRANSPORT => {
                N::on_timer(hosts, ctx, links, kind, index)
            }
            kind::REACTION_TIMER => hosts.reaction_timer(ctx, links, ConnectionId(index)),
            kind::NOTIFICATION_TIMER => hosts.notification_timer(ctx, links, ConnectionId(index)),
            kind::CONGESTION_TIMER if index as usize >= links.stops.len() => {
                let port = PortId(index - links.stops.len() as u32);
                self.credit_event(port)
            }
            kind::CONGESTION_TIMER => switches.congestion_timer(ctx, links, index),
            kind::RETRANSMIT_TIMER => hosts.retransmit_timer(ctx, links, ConnectionId(index)),
            kind::INT_REFRESH => {
                switches.refresh_int_table(ctx, links, own_ports);
                self.count_once(key);
            }
            _ => {
                self.sample();
                self.count_once(key);
            }
        }
    }

    /// Flow control has an event of its own.
    #[inline]
    fn link_control_event(&mut self, key: u32, arg: u32) {
        let Partition { ctx, links, switches, .. } = self;
        C::on_event(links, ctx, &mut switches.accounting, kind_of(key), index_of(key), arg);
        self.settle_links();
    }

    /// The limit of a port lets its next credit go.
    fn credit_event(&mut self, port: PortId) {
        let Partition { ctx, links, switches, hosts, .. } = self;
        let Some(id) = links.next_credit(ctx, port) else { return };
        if ctx.net.is_host(links.ports[port.index()].node) {
            hosts.enqueue_credit(ctx, links, port, id);
        } else {
            switches.enqueue_credit(ctx, links, port, id);
        }
    }

    /// Lets the node that owns the port carry out the effects of flow control.
    fn settle_links(&mut self) {
        use crate::link::Effect;
        let Partition { ctx, links, switches, hosts, .. } = self;
        let port = match links.effects.first() {
            None => return,
            Some(&Effect::Send(port, _) | &Effect::Credited { port, .. } | &Effect::FlowResumed(port)) => {
                port
            }
            Some(&Effect::Stopped(queue) | &Effect::Resumed(queue, _)) => queue.port(links.priorities),
        };
        if ctx.net.is_host(links.ports[port.index()].node) {
            hosts.settle(ctx, links);
        } else {
            switches.settle(ctx, links);
        }
    }

    /// Takes back the count of an event that every partition has for its nodes, except in the first partition: the network
    /// has one such event.
    fn count_once(&mut self, key: u32) {
        let ctx = &mut self.ctx;
        if ctx.boundary.number > 0 {
            ctx.counters.events -= 1;
            ctx.counters.fingerprint = ctx.counters.fingerprint.wrapping_sub(fingerprint(ctx.now, key));
        }
    }

    /// Schedules the next sample.
    pub(super) fn schedule_sample(&mut self) {
        if let Some(interval) = self.ctx.probes.records.recording.interval {
            let next = self.ctx.now + interval;
            self.ctx.events.push_common(next, key(kind::SAMPLE, 0));
        }
    }

    /// Samples what the recording asks for.
    fn sample(&mut self) {
        let Partition { ctx, links, hosts, carried_ports, .. } = self;
        let (now, simulated) = (ctx.now, ctx.simulated());
        let ports = &mut links.ports;
        let queued = |port: PortId| {
            let port = &mut ports[port.index()];
            let sample = (port.queued_bytes, port.recent_max_bytes);
            port.fold_max();
            sample
        };
        ctx.probes.records.sample_queues(simulated, queued);
        if ctx.probes.records.samples_priorities() {
            sample_priorities(ctx, links, simulated);
        }
        let sent = |port: PortId| links.ports[port.index()].bits_sent_by(now) + carried_ports.bits(port);
        ctx.probes.records.sample_transmission(simulated, sent);
        hosts.sample(ctx);
        self.schedule_sample();
    }

    /// Records the stops that are still in force at the end of a run.
    pub(super) fn close_stops(&mut self) {
        let Partition { ctx, links, switches, hosts, own_ports, .. } = self;
        let priorities = links.priorities;
        for queue in own_ports.iter().flat_map(|&port| QueueId::all_at(port, priorities)) {
            if let Some((since, frames)) = links.stops[queue.index()].current() {
                let (port, priority) = (queue.port(links.priorities), queue.priority(links.priorities));
                if ctx.probes.on_stops {
                    if ctx.net.is_host(links.ports[port.index()].node) {
                        hosts.report_stop(ctx, links, queue, since);
                    } else {
                        switches.report_stop(ctx, links, queue, since);
                    }
                }
                let stop = ctx.stop_until_now(port, priority, since, frames);
                ctx.probes.stop_ended(stop);
            }
        }
    }
}

/// Samples the queues of switches by priority.
#[cold]
fn sample_priorities<C>(ctx: &mut Ctx, links: &Links<C>, time: Time) {
    let ports = ctx.probes.records.recording.queues.clone();
    for port in ports.into_iter().filter(|port| !ctx.net.is_host(links.ports[port.index()].node)) {
        for priority in 0..links.priorities as u8 {
            let class = DATA + priority;
            let bytes = links.view(ctx.now, port, class, 0).bytes;
            let queue = links.queue_id(port, class);
            ctx.probes.records.sample_priority(time, (port, priority), queue, bytes);
        }
    }
}
