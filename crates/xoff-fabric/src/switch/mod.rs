//! Switches: a packet's arrival, its egress queue, and its transmission onto the next link.
//!
//! By default switches are output-queued with shared memory and store-and-forward: a packet is charged to its ingress port
//! when its last bit has arrived, waits in its egress queue, and is released when its transmission begins. With credits,
//! by default, packets wait at the inputs in virtual output queues and cut through.
//!
//! The room owns ingress accounting, virtual output queues, and the hooks at egress queues: detectors, congestion points,
//! points of whole switches, and the telemetry that ACKs read. It touches packets and links.

mod arrival;
mod detour;
mod egress_hooks;
mod egress_limits;
mod faults;
mod forwarding;
mod int_table;
mod known_loads;
mod messages;
mod next_hop;
mod switch_point;
mod voq;
mod watchdog;

use std::collections::BTreeSet;

use xoff_engine::{Stream, Time};
use xoff_schemes::{AnyDetector, Detector, IntPath};

use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId, QueueId};
use crate::link::buffer::Accounting;
use crate::link::flow_control::LinkControl;
use crate::link::{Effect, Links};
use crate::network::Network;
use crate::observe::{Probes, Resumed};
use crate::packet::{DATA, Kind, PacketId};
use crate::settings::{Queueing, UetOf};
use egress_hooks::EgressHooks;
pub(crate) use egress_hooks::Marking;
use egress_limits::EgressLimits;
use int_table::IntTable;
use known_loads::KnownLoads;
use switch_point::SwitchPoints;
use voq::Voqs;
use watchdog::Watchdog;

/// The switches of a partition.
pub(crate) struct Switches {
    /// Use of memories and ingress buffers by packets in switches.
    pub accounting: Accounting,
    /// Virtual output queues of data; `None` if data waits in queues at the outputs.
    voqs: Option<Box<Voqs>>,
    /// Detectors and congestion points of egress queues.
    hooks: EgressHooks,
    /// Points of whole switches; `None` unless the scheme has them.
    switch_points: Option<Box<SwitchPoints>>,
    /// `None` unless the settings ask for one.
    watchdog: Option<Box<Watchdog>>,
    /// The snapshot that FNCC's ACKs read.
    int_table: IntTable,
    /// Which packets get telemetry.
    int: IntPath,
    /// What switches know of each other's queues; `None` unless routing wants it.
    known_loads: Option<Box<KnownLoads>>,
    /// Adaptive routing: by ingress port, a stream of random numbers for path choices; otherwise empty.
    ties: Vec<Stream>,
    /// A packet may pass a quiet port without being counted in and out.
    fast_path: bool,
    /// A congestion point, a switch's point or a probe sees data packets that join or leave a queue.
    queue_hooks: bool,
    /// A detector sees data packets that leave a queue.
    marks: bool,
    /// Packets may find a dead link, a full egress queue or one that a watchdog empties, or credits their port's limit.
    may_refuse: bool,
    /// How much data may wait at each egress port; `None` without limits.
    limits: Option<Box<EgressLimits>>,
    /// By port: the data packet on the wire that is marked at the end of its transmission; empty if packets are marked as
    /// they leave their queue.
    marked_late: Vec<Option<PacketId>>,
    /// By [`Kind`], one bit each: packets that need more than telemetry on data where they pass a quiet port.
    hooked_kinds: u16,
}

/// See [`Switches::hooked_kinds`].
const ALL_KINDS: u16 = u16::MAX;

impl Switches {
    /// Empty switches, which mark packets by `marking`.
    pub fn new<C: LinkControl>(
        net: &Network,
        marking: &Marking<'_>,
        probes: &Probes,
        links: &Links<C>,
        own: &[PortId],
        owned: impl Fn(NodeId) -> bool,
    ) -> Self {
        let priorities = links.priorities;
        let voqs = net.settings.switch.queueing(&net.settings.flow_control) == Queueing::VirtualOutput;
        let hooks = EgressHooks::new(net, marking, own);
        let switch_points = SwitchPoints::new(net, &owned);
        let limits = EgressLimits::new(net);
        let queue_hooks =
            net.signals.congestion_point || switch_points.is_some() || probes.on_queues || limits.is_some();
        let marks = marking.detector.is_some();
        let watchdog = Watchdog::new(net);
        let limits_credits = net.signals.credits.is_some();
        let may_refuse = limits.is_some() || net.faults.is_some() || watchdog.is_some() || limits_credits;
        let late = marks && net.settings.quirks.uet == UetOf::Htsim;
        Switches {
            accounting: Accounting::new(net, own),
            voqs: voqs.then(|| Box::new(Voqs::new(&net.topology, priorities))),
            watchdog,
            int_table: IntTable::default(),
            int: net.signals.int,
            known_loads: KnownLoads::new(net, links),
            ties: next_hop::ties(net),
            fast_path: switch_points.is_none() && !limits_credits && !C::QUEUES_FLOWS,
            queue_hooks,
            marks,
            hooked_kinds: if queue_hooks || links.has_wire_hooks() || late || hooks.marks_acks {
                ALL_KINDS
            } else {
                // A detector that sees no empty queues relies on seeing each data packet that waits: where some are dropped from a
                // queue, one of the conditions above holds.
                let marks_passing = marking.detector.is_some_and(AnyDetector::sees_empty_queues);
                u16::from(marks_passing) << Kind::Data as u8
                    | u16::from(net.signals.int == IntPath::Ack) << Kind::Ack as u8
            },
            may_refuse,
            limits,
            marked_late: if late { vec![None; net.topology.ports() as usize] } else { Vec::new() },
            hooks,
            switch_points,
        }
    }

    /// Fetches the detector of an egress queue into the cache, if the queue has one.
    #[inline]
    pub fn fetch_detector(&self, queue: QueueId) {
        self.hooks.fetch_detector(queue);
    }

    /// A probe has been added after [`Switches::new`].
    pub fn on_probe_added(&mut self, probes: &Probes) {
        self.queue_hooks |= probes.on_queues;
        if probes.on_queues || probes.on_wire {
            self.hooked_kinds = ALL_KINDS;
        }
    }

    /// Forgets detectors, congestion points and the table of counters after the run.
    pub fn end(&mut self) {
        self.hooks.end();
        self.int_table = IntTable::default();
    }

    /// By switch that has a point: maximum number of flows in the point's table.
    pub fn max_flows(&self) -> impl Iterator<Item = (NodeId, u64)> {
        self.switch_points.iter().flat_map(|points| points.max_flows())
    }

    /// The ingress queues that the packets which wait for one of `ports` are charged to, each with the egress queue where they wait;
    /// every pair once, however many packets it has.
    pub fn charged<C: LinkControl>(
        &self,
        ctx: &Ctx,
        links: &Links<C>,
        ports: &[PortId],
    ) -> Vec<(QueueId, QueueId)> {
        let mut pairs = Vec::new();
        for &port in ports {
            for priority in 0..links.priorities as u8 {
                let egress = QueueId::new(port, priority, links.priorities);
                let waiting = packets_waiting(self.voqs.as_deref(), ctx, links, port, DATA + priority);
                let charged = waiting.into_iter().map(|id| {
                    let packet = &ctx.packets[id];
                    QueueId::new(packet.ingress, packet.ingress_class() - DATA, links.priorities)
                });
                let distinct: BTreeSet<QueueId> = charged.collect();
                pairs.extend(distinct.into_iter().map(|ingress| (ingress, egress)));
            }
        }
        pairs
    }

    /// Carries out the effects of flow control on switches' ports.
    pub fn settle<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) {
        if let [Effect::Resumed(queue, since)] = links.effects[..] {
            // Under credits this is what most events do.
            links.effects.clear();
            return self.on_resumed(ctx, links, queue, since);
        }
        let frames = self.carry_out(ctx, links);
        self.hooks.number_frames(frames);
    }

    /// Carries out the effects of flow control on switches' ports, except for the numbers of frames; returns how many frames
    /// were sent.
    #[cold]
    #[inline(never)]
    fn carry_out<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) -> u32 {
        let mut effects = std::mem::take(&mut links.effects);
        let mut frames = 0;
        for effect in effects.drain(..) {
            match effect {
                Effect::Send(port, id) => {
                    frames += 1;
                    let frame = ctx.packets[id].frame();
                    self.enqueue_own(ctx, links, port, id, frame);
                }
                Effect::Stopped(queue) => {
                    let (port, class) = (queue.port(links.priorities), links.class_of(queue));
                    let view = links.view(ctx.simulated(), port, class, 0);
                    if let Some(detector) = self.hooks.detector(queue) {
                        detector.on_pause(&view);
                    }
                    if !C::HAS_CREDITS {
                        self.watch(ctx, links, queue);
                    }
                }
                Effect::Resumed(queue, since) => self.on_resumed(ctx, links, queue, since),
                Effect::Credited { .. } | Effect::FlowResumed(_) => {}
            }
        }
        if links.effects.is_empty() {
            links.effects = effects; // keeps the allocation
        }
        frames
    }

    /// An egress queue may send again.
    fn on_resumed<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        queue: QueueId,
        since: Time,
    ) {
        let (port, class) = (queue.port(links.priorities), links.class_of(queue));
        let (voqs, sees_acks) = (self.voqs.as_deref(), self.hooks.marks_acks);
        if let Some(detector) = self.hooks.detector(queue) {
            let view = links.view(ctx.simulated(), port, class, 0);
            // Other packets of the class, such as ACKs, leave without the detector.
            let seen = |id: &PacketId| {
                let kind = ctx.packets[*id].kind;
                kind == Kind::Data || (kind == Kind::Ack && sees_acks)
            };
            let count =
                || packets_waiting(voqs, ctx, links, port, class).iter().filter(|id| seen(id)).count();
            detector.on_resume(&view, &|| count() as u64);
        }
        if ctx.probes.on_stops {
            self.report_stop(ctx, links, queue, since);
        }
        if !C::HAS_CREDITS && self.watchdog.is_some() {
            self.watch_resumed(ctx, links, queue);
        }
        self.kick(ctx, links, port);
    }

    /// See [`EgressHooks::marks_none_at`].
    pub fn marks_none_at(&self, length: impl Fn(QueueId) -> u64) -> bool {
        self.hooks.marks_none_at(length)
    }

    /// Whether detectors tell states of ports apart.
    pub fn has_port_states(&self) -> bool {
        self.hooks.has_states()
    }

    /// The packets that wait for a port in a class, in their order for each input.
    pub fn waiting<C: LinkControl>(
        &self,
        ctx: &Ctx,
        links: &Links<C>,
        port: PortId,
        class: u8,
    ) -> Vec<PacketId> {
        packets_waiting(self.voqs.as_deref(), ctx, links, port, class)
    }

    /// Tells probes that a stop which began at `since` is over, with the messages that have waited behind it.
    pub fn report_stop<C: LinkControl>(&self, ctx: &mut Ctx, links: &Links<C>, queue: QueueId, since: Time) {
        let (port, class) = (queue.port(links.priorities), links.class_of(queue));
        let waiting = packets_waiting(self.voqs.as_deref(), ctx, links, port, class);
        let data = waiting.into_iter().map(|id| &ctx.packets[id]).filter(|p| p.kind == Kind::Data);
        let waiting: Vec<_> = data.map(|packet| packet.flow).collect();
        let (now, bytes) = (ctx.now, links.queues[links.place(port, class)].bytes);
        ctx.probes.on_resume(&Resumed { now, queue, since, bytes, waiting: &waiting });
    }
}

/// The packets that wait for a port in a class, in their order for each input.
fn packets_waiting<C: LinkControl>(
    voqs: Option<&Voqs>,
    ctx: &Ctx,
    links: &Links<C>,
    port: PortId,
    class: u8,
) -> Vec<PacketId> {
    if C::QUEUES_FLOWS && class >= DATA {
        return C::waiting(links, links.queue_id(port, class));
    }
    match voqs {
        Some(voqs) if class >= DATA => voqs.packets(port, (class - DATA).into(), &ctx.packets),
        _ => {
            let place = port.index() * links.classes + class as usize;
            links.queues[place].packets(&ctx.packets).collect()
        }
    }
}
