//! A partition of the network: the nodes that one thread simulates, with their state and their events.
//!
//! State belongs to nodes, and nodes affect each other only by packets and symbols that take a link's delay, so a network
//! can be cut into partitions along its links.

use std::any::Any;
use std::sync::Arc;

use xoff_engine::{CAN_FETCH, FutureEvents, MAX_FIFOS, Time};
use xoff_schemes::{IntFormat, IntPath};

use super::any_partition::{AddMessage, AnyPartition};
use super::cut::{Cut, needs_one_partition};
use super::deadlocked::deadlocked;
use super::fast_forward::{
    Allowance, Approximate, CarriedPorts, Counts, Jump, Signature, Traces, is_unknown,
};
use super::fetch::Following;
use super::simulation::Progress;
use super::windows::{GRID, Totals, Windows};
use crate::ctx::Ctx;
use crate::event::{ARRIVAL_KEYS, key, kind};
use crate::host::Hosts;
use crate::host::forward::{Pace, Pulse};
use crate::host::nic::NicScheduler;
use crate::host::recall::Recall;
use crate::host::replay::{Lesson, Period};
use crate::host::rounds::{Happening, Round};
use crate::host::start::await_flow;
use crate::ids::{ConnectionId, FlowId, NodeId, PortId, QueueId};
use crate::link::Links;
use crate::link::arrival_key;
use crate::link::buffer::{IngressQueue, Memory};
use crate::link::flow_control::LinkControl;
use crate::link::flow_control::counters::{ReceivingEnd, SendingEnd};
use crate::link::llr::RetryCounts;
use crate::link::port::Port;
use crate::network::dependencies::Milestone;
use crate::network::{BuildError, Network};
use crate::observe::{Counters, Failure, Probe, Probes, Recording, Records};
use crate::packet::{Boundary, Loads, Packets, PartitionId, Share, Transit};
use crate::settings::Order;
use crate::switch::{Marking, Switches};

/// The minimum delay of links with which nodes have event queues of their own; shorter windows have too few events each.
const MIN_WINDOW: Time = Time::from_ns(100);

/// From so many ports of the network on it is worth fetching ahead. With 768 ports (128 hosts) fetching costs 8 to 18 %. Beside a version
/// that fetched only a node's ports, when the node's turn came, it costs 5 to 11 % with 2,592 (432 hosts). With 4,116 (686 hosts) it costs up
/// to 12 % in 2 ms, no more than fetching nothing, and saves up to 6 % in 4 ms. With 6,144 (1,024 hosts) it saves up to a quarter, the more,
/// the longer the run and the busier the other cores. A run of 1 ms that has the machine to itself loses 5 to 6 %. Hosts fetched one packet ahead then.
const PORTS_IN_CACHE: u32 = 4000;

/// Packets in flight for each host for which there is room from the beginning: twice what 100 Gbps carry in 10 us.
const PACKETS_OF_HOST: usize = 256;

/// The state of a partition and its pending events.
pub(super) struct Partition<C, N: NicScheduler> {
    pub ctx: Ctx,
    pub links: Links<C>,
    pub switches: Switches,
    pub hosts: Hosts<N>,
    /// Ports of its nodes.
    pub own_ports: Vec<PortId>,
    /// All events before this time have been handled; only if nodes have event queues of their own.
    pub handled_until: Time,
    /// What nodes and packets are about to use is fetched into the nearest caches.
    pub fetches: bool,
    /// Packets whose needs are still to be fetched.
    pub following: Following,
    /// Each event is counted in its window.
    pub in_time: bool,
    /// What ports would have sent in the time that was carried forward.
    pub carried_ports: CarriedPorts,
}

/// Pending events of the `owned` nodes: by node if each link has a delay of at least [`MIN_WINDOW`], else in one queue.
fn future_events(net: &Network, owned: &impl Fn(NodeId) -> bool) -> FutureEvents {
    if net.settings.quirks.order == Order::Scheduled {
        return FutureEvents::in_order_of_scheduling();
    }
    let topology = &net.topology;
    let ports = topology.port_ids();
    let delays = ports.clone().filter(|&p| owned(topology.node_of(p))).map(|p| topology.delay(p));
    let lookahead = delays.min().unwrap_or(Time::ZERO);
    let mut degree = vec![0; topology.nodes.len()];
    ports.clone().for_each(|p| degree[topology.node_of(p).index()] += 1);
    let too_many = degree.iter().any(|&n: &usize| n > MAX_FIFOS);
    if net.one_order || lookahead < MIN_WINDOW || too_many || needs_one_partition(net).is_some() {
        return FutureEvents::joint(ARRIVAL_KEYS);
    }
    let fifo = |p| {
        let node = topology.node_of(p);
        owned(node).then(|| (node.0, arrival_key(!net.is_host(node), p)))
    };
    FutureEvents::by_entity(topology.nodes.len(), ports.map(fifo), lookahead)
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// Partition `number` of `cut`, whose switches mark packets by `marking`.
    ///
    /// Lists by port, node or message have entries for the whole network, so that all partitions use the same numbers. The
    /// longest lists by port are sparse: their entries of ports elsewhere take no memory.
    pub fn new(
        net: &Arc<Network>,
        marking: &Marking<'_>,
        recording: &Recording,
        cut: &Cut,
        number: PartitionId,
    ) -> Self {
        let topology = &net.topology;
        let division = cut.division();
        let owned = |node: NodeId| division.is_some() || cut.partition_of(node) == usize::from(number);
        let own_ports: Vec<PortId> = topology.port_ids().filter(|&p| owned(topology.node_of(p))).collect();
        let all_hosts = net.topology.hosts();
        let hosts = all_hosts.iter().filter(|&&host| owned(host)).count();
        let parts = division.map_or(1, |division| division.parts());
        let room = hosts.saturating_mul(PACKETS_OF_HOST) / parts;
        let flows = net.flows.len().saturating_mul(hosts) / all_hosts.len().max(1) / parts;
        let mut packets = match net.signals.int {
            IntPath::Off => Packets::new(room),
            _ => {
                let settings = &net.settings.packets;
                let shift = settings.int_multi.max(1).ilog2() as u8;
                Packets::with_int(settings.int_format == IntFormat::Exact, shift, room)
            }
        };
        packets.ways = recording.breakdown.then(Box::default);
        packets.offers = recording.roots.is_some().then(Box::default);
        let events = future_events(net, &owned);
        let mut links = Links::<C>::new(
            net,
            &own_ports,
            owned,
            |node| cut.partition_of(node) as PartitionId,
            |port, key| events.slot(port.0, key),
        );
        let probes = Probes::new(net, recording, |port| owned(topology.node_of(port)), flows);
        packets.loads = links.carried.as_ref().map(|carried| Box::new(Loads::new(carried.each())));
        links.add_wire_hooks(probes.on_wire);
        links.tells_stops |= probes.on_flows || marking.detector.is_some();
        let switches = Switches::new(net, marking, &probes, &links, &own_ports, owned);
        // Partitions that divide the messages send each other nothing, and each takes itself for the only one.
        let others = if division.is_some() { 1 } else { cut.partitions() };
        let boundary = Boundary {
            number: if division.is_some() { 0 } else { number },
            partition_of: cut.by_node(),
            outboxes: (0..others).map(|_| packets.transit()).collect(),
            share: division.map(|division| division.share(number)),
        };
        let mut partition = Partition {
            links,
            switches,
            hosts: Hosts::new(net, &probes, owned),
            own_ports,
            handled_until: Time::ZERO,
            following: Following::NONE,
            // In a debug build always, so that tests go through it.
            fetches: cfg!(debug_assertions) || (CAN_FETCH && topology.ports() >= PORTS_IN_CACHE),
            in_time: false,
            carried_ports: CarriedPorts::default(),
            ctx: Ctx {
                now: Time::ZERO,
                carried: Time::ZERO,
                jumped_at: None,
                changes: 0,
                key: 0,
                net: net.clone(),
                events,
                packets,
                probes,
                counters: Counters::default(),
                boundary,
                failure: None,
                halts: false,
            },
        };
        partition.begin();
        partition
    }

    /// Schedules the first events.
    fn begin(&mut self) {
        let Partition { ctx, links, switches, hosts, own_ports, .. } = self;
        switches.begin_points(ctx, links, own_ports);
        let net = ctx.net.clone();
        if net.signals.int == IntPath::Ack && net.settings.packets.int_refresh > Time::ZERO {
            switches.refresh_int_table(ctx, links, own_ports);
        }
        C::begin(links, ctx, own_ports);
        await_flow(ctx, FlowId(0));
        hosts.begin_steps(ctx);
        self.schedule_sample();
        self.begin_faults();
    }
}

impl<C: LinkControl, N: NicScheduler> AnyPartition for Partition<C, N> {
    fn run_until(&mut self, limit: Time, count: u64) {
        self.handle_until(limit, count);
        // Events that were left to a later window would make windows of a time in which nothing else happens.
        let is_busy = self.ctx.events.earliest() < limit.saturating_add(GRID);
        C::end_window(&mut self.links, &mut self.ctx, limit, is_busy && !self.in_time);
        self.links.settle_ends(&mut self.ctx, limit);
    }

    fn run_live(&mut self, limit: Time, count: u64, at_once: bool) {
        self.handle_live(limit, count, at_once);
    }

    fn count_in_time(&mut self) {
        self.in_time = true;
        C::end_late(&mut self.links, &mut self.ctx);
    }

    fn take_news(&mut self) -> Vec<(Time, Milestone)> {
        self.hosts.take_news()
    }

    fn has_news(&self) -> bool {
        self.hosts.has_news()
    }

    fn counters(&self) -> Counters {
        self.ctx.counters
    }

    fn keep_news(&mut self) {
        self.hosts.keep_news();
    }

    fn add_message(&mut self, change: AddMessage<'_>, rates: bool) -> Result<FlowId, BuildError> {
        let Partition { ctx, hosts, .. } = self;
        let net = Arc::get_mut(&mut ctx.net).ok_or(BuildError::Held)?;
        let flow = change(net)?;
        hosts.grow(net.paths.routes.len());
        let (src, start) = (net.flows.src(flow), net.flows.start(flow));
        if let Some(breakdown) = &mut ctx.probes.breakdown {
            breakdown.grow(net.flows.len());
        }
        if rates {
            ctx.probes.records.recording.rates.push(flow);
        }
        ctx.schedule(src, start, key(kind::FLOW_START, flow.0), 0);
        Ok(flow)
    }

    fn totals(&self) -> Totals {
        let ctx = &self.ctx;
        let next = ctx.events.earliest().min(C::earliest(&self.links)).min(self.links.earliest_end());
        Totals {
            next: ctx
                .boundary
                .outboxes
                .iter()
                .fold(next, |next, outbox| next.min(outbox.earliest()))
                .saturating_add(ctx.carried),
            events: ctx.counters.events,
            flows_done: ctx.counters.flows_done - ctx.counters.background_done,
            delivered_bytes: ctx.counters.delivered_bytes,
            rows: ctx.probes.rows() as u64,
            in_flight: self.packets_in_flight(),
            busy: self.hosts.is_busy(),
            failed: ctx.failure.is_some() || ctx.net.scheme.is_broken(),
            asked_to_stop: false,
        }
    }

    fn progress(&self, totals: &Totals, windows: &Windows) -> Progress<'_> {
        Progress {
            now: windows.limit(),
            flows_done: totals.flows_done,
            flows: self.ctx.net.awaited(),
            events: totals.events,
            records: Some(&self.ctx.probes.records),
        }
    }

    fn outboxes(&mut self) -> &mut [Transit] {
        &mut self.ctx.boundary.outboxes
    }

    fn take_in(&mut self, transit: &mut Transit) {
        self.ctx.packets.take_in(transit, &mut self.ctx.events);
    }

    fn transit(&self) -> Transit {
        self.ctx.packets.transit()
    }

    fn add_probe(&mut self, probe: Box<dyn Probe>) {
        self.ctx.probes.add(probe);
        self.links.add_wire_hooks(self.ctx.probes.on_wire);
        self.links.tells_stops |= self.ctx.probes.on_flows;
        self.switches.on_probe_added(&self.ctx.probes);
    }

    fn now(&self) -> Time {
        self.ctx.simulated()
    }

    fn take_failure(&mut self) -> Option<(Time, u32, Failure)> {
        self.ctx.failure.take()
    }

    fn close(&mut self, end: Time) -> (Counters, Records) {
        let Partition { ctx, links, hosts, .. } = self;
        ctx.now = ctx.now.max(ctx.on_network_clock(end));
        hosts.close(ctx, links);
        self.close_stops();
        let Partition { ctx, links, switches, hosts, .. } = self;
        switches.close_storms(ctx, links);
        ctx.probes.finish(ctx.now);
        ctx.probes.records.totals.flow_tables.extend(switches.max_flows());
        self.own_ports.iter().for_each(|port| links.ports[port.index()].fold_max());
        if let Some(recall) = hosts.recall() {
            self.carried_ports.add_recalled(&ctx.net, recall);
        }
        self.carried_ports.settle(&mut links.ports);
        // What only goes on with a run makes room for the run's tables.
        ctx.events = FutureEvents::joint(ARRIVAL_KEYS);
        ctx.packets.end_telemetry();
        hosts.end();
        switches.end();
        (ctx.counters, std::mem::take(&mut ctx.probes.records))
    }

    fn forget_packets(&mut self) {
        self.ctx.packets.forget_all();
    }

    fn port(&self, port: PortId) -> &Port {
        &self.links.ports[port.index()]
    }

    fn skipped_bytes(&self, port: PortId) -> u64 {
        self.carried_ports.bytes(port)
    }

    fn retries(&self, port: PortId) -> Option<RetryCounts> {
        self.links.retry_counts(self.ctx.now, port)
    }

    fn ingress(&self, queue: QueueId) -> &IngressQueue {
        &self.switches.accounting.buffers[queue.index()]
    }

    fn stopped(&self, queue: QueueId) -> Time {
        self.links.stopped_time(self.ctx.now, queue)
    }

    fn buffered_bytes(&self) -> (u64, u64) {
        let accounting = &self.switches.accounting;
        let memories = accounting.memories.iter().map(Memory::used).sum();
        (memories, accounting.buffers.iter().map(IngressQueue::occupancy).sum())
    }

    fn open_receptions(&self) -> u32 {
        self.hosts.open_receptions()
    }

    fn packets_in_flight(&self) -> u32 {
        self.ctx.packets.live() + self.ctx.boundary.departed() as u32
    }

    fn data_in_network(&self) -> u64 {
        let boundary = &self.ctx.boundary;
        let live = self.ctx.packets.live_data() - self.hosts.held_packets();
        live + boundary.outboxes.iter().map(Transit::data).sum::<u64>()
    }

    fn charged(&self) -> Vec<(QueueId, QueueId)> {
        self.switches.charged(&self.ctx, &self.links, &self.own_ports)
    }

    fn is_deadlocked(&self) -> bool {
        !deadlocked(&self.ctx.net, &[self], &|_| self).is_empty()
    }

    fn is_held(&self, queue: QueueId, there: &dyn AnyPartition) -> bool {
        let Some(there) = there.as_any().downcast_ref::<Self>() else { return false };
        self.links.stops[queue.index()].is_stopped()
            && C::is_blocked(&self.links, &there.links, &there.switches.accounting, queue, self.ctx.now)
    }

    fn credits<'a>(
        &'a self,
        queue: QueueId,
        there: &'a dyn AnyPartition,
    ) -> Option<(&'a SendingEnd, &'a ReceivingEnd)> {
        let there = there.as_any().downcast_ref::<Self>()?;
        C::counters(&self.links, &there.links, queue)
    }

    fn carried(&self) -> Time {
        self.ctx.carried
    }

    fn version(&self) -> [u64; 4] {
        self.version_now()
    }

    fn is_slowed(&self) -> bool {
        self.hosts.is_slowed()
    }

    fn traces(&self) -> (Traces, u64) {
        self.traces_now()
    }

    fn is_at_rest(&self, unknown_waits: &[u32]) -> bool {
        self.rests(unknown_waits)
    }

    fn begin_anew(&mut self) {
        self.hosts.begin_anew();
    }

    fn has_port_states(&self) -> bool {
        self.switches.has_port_states()
    }

    fn bits_sent(&self, port: PortId, now: Time) -> f64 {
        self.links.ports[port.index()].bits_sent_by(now.saturating_sub(self.ctx.carried))
    }

    fn has_notices(&self) -> bool {
        self.ctx.packets.has_notices()
    }

    fn note_error(&mut self, error: f64) {
        self.hosts.note_error(self.ctx.simulated(), error);
    }

    fn holds_times(&self) -> bool {
        self.hosts.holds_times() || self.switches.is_in_storm()
    }

    fn network(&self) -> &Arc<Network> {
        &self.ctx.net
    }

    fn pulses(&mut self) -> Vec<Pulse> {
        self.pulses_now()
    }

    fn signature(&self, now: Time) -> Signature {
        self.signature_at(now)
    }

    fn counts(&mut self, with_ports: bool) -> Counts {
        self.counts_now(with_ports)
    }

    fn marks(&self) -> u64 {
        self.marks_now()
    }

    fn follow_messages(&mut self, allowance: Allowance) {
        self.in_time = true;
        // Jumps give events new places in the order of scheduling.
        self.links.make_ends_events();
        // Samples look at messages under way, updates of credits are counted, and BFC and watchdogs keep states between messages.
        let by_packets = C::HAS_CREDITS || C::QUEUES_FLOWS || is_unknown(&self.ctx.net);
        let may = allowance.recalls
            && self.ctx.probes.records.recording.interval.is_none()
            && !by_packets
            && self.ctx.net.settings.switch.watchdog.is_none();
        self.ctx.probes.chances = Some(0);
        let persists = allowance.approximate == Approximate::Always;
        self.hosts.follow_messages(&self.ctx, allowance.tolerance, may, persists);
    }

    fn share(&self) -> Option<&Share> {
        self.ctx.boundary.share.as_ref()
    }

    fn recall(&self) -> Option<&Recall> {
        self.hosts.recall()
    }

    fn first_external(&self) -> Time {
        self.next_external()
    }

    fn first_stated(&self) -> Time {
        self.next_stated()
    }

    fn may_have_rounds(&self) -> bool {
        self.hosts.may_have_rounds(&self.ctx)
    }

    fn are_points_settled(&self) -> bool {
        self.hosts.are_points_settled(&self.ctx)
    }

    fn hear(&mut self) {
        self.hosts.hear();
    }

    fn heard(&mut self) -> Vec<Happening> {
        self.hosts.heard()
    }

    fn rounds_ahead(&self, round: &Round, most: u64) -> u64 {
        self.hosts.rounds_ahead(&self.ctx, round, most)
    }

    fn jump_rounds(&mut self, round: &Round, rounds: u64, jump: &Jump<'_>) -> bool {
        self.carry_rounds(round, rounds, jump)
    }

    fn live_through(&mut self, now: Time, paces: &mut [Pace], time: Time, tolerance: f64) -> (Time, f64) {
        self.ctx.now = self.ctx.now.max(now);
        self.hosts.live_through(&self.ctx, paces, time, tolerance)
    }

    fn listen(&mut self, connections: &[ConnectionId]) {
        self.hosts.listen(connections);
    }

    fn lessons(&mut self, periods: &[Period], time: Time) -> Option<Vec<Lesson>> {
        self.hosts.lessons(periods, time)
    }

    fn replay(&mut self, lessons: &[Lesson], periods: u64) -> u64 {
        self.hosts.replay(lessons, periods)
    }

    fn jump(&mut self, jump: &Jump<'_>) {
        self.carry_forward(jump);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
