//! Links: ports with their queues, the wire, and flow control between its two ends.
//!
//! The room owns the state of ports ([`port`]), of the queues at their egress ([`queue`]), of what flow control has
//! stopped ([`stop`]), and flow control itself ([`flow_control`]), which is chosen once a run. It touches packets and
//! the context, and neither switches nor hosts: a request of flow control to the node that owns a port is an [`Effect`],
//! which that node carries out.

pub mod buffer;
pub mod carried_loads;
mod credit_queues;
pub mod cut_through;
mod faults;
pub mod flow_control;
mod frame_ends;
pub mod llr;
pub mod port;
pub mod queue;
pub mod stop;
pub mod vl_arbitration;
mod wire;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use xoff_engine::{Event, SparseList, Stream, Time};
use xoff_schemes::QueueView;
use xoff_schemes::int::PackedRecord;

use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{NodeId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{DATA, PacketId, PartitionId};
use crate::settings::Scheduling;
use carried_loads::CarriedLoads;
use credit_queues::CreditQueues;
use cut_through::CutThrough;
use flow_control::LinkControl;
use frame_ends::FrameEnds;
use llr::Llr;
use port::{AWAY, Port};
use queue::Queue;
use stop::StopState;
use vl_arbitration::VlArbiter;

/// A request of flow control to the node that owns a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The packet, a frame of flow control, is to be sent by the port.
    Send(PortId, PacketId),
    /// The queue may not send from now on; only if [`Links::tells_stops`].
    Stopped(QueueId),
    /// The queue, which was stopped since the time, may send again.
    Resumed(QueueId, Time),
    /// The neighbour of the port lets a flow go on that it held back; only if [`LinkControl::QUEUES_FLOWS`].
    FlowResumed(PortId),
    /// The port's queues have more credits than before; only if [`Links::tells_credits`].
    Credited {
        /// The port.
        port: PortId,
        /// One of the port's queues is resumed next.
        resumes: bool,
    },
}

/// The key of arrivals by `ingress`, of a switch or a host.
#[inline]
pub(crate) fn arrival_key(at_switch: bool, ingress: PortId) -> u32 {
    key(if at_switch { kind::SWITCH_ARRIVAL } else { kind::HOST_ARRIVAL }, ingress.0)
}

/// With debug assertions, ports that a partition must not ask for are of no node, in networks with fewer ports than this.
const MOST_CHECKED: u32 = 4_096;

/// The ports of a partition, their queues and their flow control.
pub(crate) struct Links<C> {
    /// By port.
    pub ports: SparseList<Port>,
    /// By port, then class.
    pub queues: SparseList<Queue>,
    /// By queue of a data priority: the stops of the egress.
    pub stops: SparseList<StopState>,
    /// Flow control.
    pub control: C,
    /// Requests of flow control to nodes, to be carried out after each call.
    pub effects: Vec<Effect>,
    /// By port: arbitration among priorities by weights; empty if scheduling has no weights.
    arbiters: Vec<VlArbiter>,
    /// When packets count as arrived.
    cut_through: CutThrough,
    /// Queues that packets carry; `None` unless routing wants them.
    pub carried: Option<Box<CarriedLoads>>,
    /// Number of queues of a port.
    pub classes: usize,
    /// Number of data priorities.
    pub priorities: usize,
    /// The highest backlogged priority goes first.
    pub strict: bool,
    /// Each transmission ends with an event, whether something waits or not.
    pub ready_events: bool,
    /// Ends of transmissions that change nothing and so are no events; `None` unless `ready_events`.
    ends: Option<FrameEnds>,
    /// Hosts have throttles, which follow the credits in use.
    pub tells_credits: bool,
    /// A detector, a throttle or a probe follows the stops of queues: stops are effects too.
    pub tells_stops: bool,
    /// Packets that go onto a wire need [`Links::run_wire_hooks`], or at least the ends of their transmissions are events.
    pub wire_hooks: bool,
    /// The limits of receivers' credits; `None` unless the scheme has such credits.
    credit_queues: Option<Box<CreditQueues>>,
    /// Of all that `wire_hooks` stands for, packets need only these events.
    only_ends: bool,
    /// Link-level retry; `None` without it.
    llr: Option<Box<Llr>>,
    /// By port whose link has lost frames by chance: its stream of random numbers.
    frame_losses: BTreeMap<PortId, Stream>,
}

impl<C: LinkControl> Links<C> {
    /// Tells apart whose turn is next among priorities with weights.
    pub fn hash_turns(&self, hasher: &mut impl Hasher) {
        self.arbiters.hash(hasher);
    }

    /// Idle links, of which the partition has the ports `own`. `slot` gives the place where the arrivals at a port, which have a
    /// key, wait; arrivals at nodes that are not `owned` leave for the partition that `partition_of` gives.
    ///
    /// A partition knows its own ports and their peers.
    pub fn new(
        net: &Network,
        own: &[PortId],
        owned: impl Fn(NodeId) -> bool,
        partition_of: impl Fn(NodeId) -> PartitionId,
        slot: impl Fn(PortId, u32) -> u32,
    ) -> Self {
        let (topology, quirks) = (&net.topology, &net.settings.quirks);
        let of = |port: PortId| {
            let node = topology.node_of(port);
            let (rate, delay) = (topology.rate(port), topology.delay(port));
            let code = PackedRecord::speed_code(rate).unwrap_or(0);
            let peer = topology.node_of(port.peer());
            let arrivals = match owned(node) == owned(peer) {
                true => slot(port.peer(), arrival_key(!net.is_host(peer), port.peer())),
                false => AWAY + u32::from(partition_of(peer)),
            };
            let to_switch = !net.is_host(peer);
            let port = Port::new(node, rate, delay, arrivals, code);
            let mut port = port.with_wire(net.wire.gap, quirks.clock, to_switch);
            port.end = FrameEnds::of_port(net.is_host(node));
            port
        };
        let ports = topology.ports();
        let priorities = usize::from(net.settings.switch.priorities);
        let classes = usize::from(DATA) + priorities;
        let arbiters = match net.settings.switch.scheduling {
            Scheduling::Weighted => vec![VlArbiter::new(&net.settings.switch); ports as usize],
            Scheduling::RoundRobin | Scheduling::Strict => Vec::new(),
        };
        let cut_through = CutThrough::new(net);
        let llr = Llr::new(net);
        let ready_events = quirks.ready_events() || llr.is_some();
        let carried = CarriedLoads::new(net);
        let credit_queues = CreditQueues::new(net);
        // Where credits have a queue of their own, the end of a frame may let one of them go.
        let ends = FrameEnds::new::<C>(net, llr.is_some()).filter(|_| credit_queues.is_none());
        let others = llr.is_some()
            || (cut_through.is_used() && !C::HAS_CREDITS)
            || !arbiters.is_empty()
            || carried.is_some()
            || net.faults.is_some()
            || net.settings.link.errors().is_some();
        let is_far = |port: &PortId| !owned(topology.node_of(*port));
        let known = own.iter().copied().chain(own.iter().map(|port| port.peer()).filter(is_far));
        let mut known = SparseList::with(ports as usize, known.map(|port| (port.index(), of(port))));
        if cfg!(debug_assertions) && ports < MOST_CHECKED {
            let unknown = topology.port_ids().filter(|port| is_far(port) && is_far(&port.peer()));
            unknown.for_each(|port| known[port.index()].node = NodeId(u32::MAX));
        }
        let queues = own.iter().flat_map(|port| port.index() * classes..(port.index() + 1) * classes);
        Links {
            ports: known,
            queues: SparseList::with(ports as usize * classes, queues.map(|place| (place, Queue::EMPTY))),
            stops: SparseList::zeros(ports as usize * priorities),
            control: C::new(net),
            effects: Vec::new(),
            classes,
            priorities,
            strict: net.settings.switch.scheduling == Scheduling::Strict,
            ready_events,
            ends,
            tells_credits: net.settings.throttle.is_some(),
            tells_stops: net.settings.throttle.is_some() || net.settings.switch.watchdog.is_some(),
            wire_hooks: ready_events || others,
            only_ends: !others,
            credit_queues,
            llr,
            frame_losses: BTreeMap::new(),
            arbiters,
            cut_through,
            carried,
        }
    }
}

impl<C> Links<C> {
    /// Packets that go onto a wire need [`Links::run_wire_hooks`] if a probe listens to wires.
    pub fn add_wire_hooks(&mut self, on_wire: bool) {
        self.wire_hooks |= on_wire;
        self.only_ends &= !on_wire;
    }

    /// Whether packets need more on their way to a wire than that the ends of their transmissions are events.
    pub fn has_wire_hooks(&self) -> bool {
        self.wire_hooks && !self.only_ends
    }

    /// The queue of a port and data class.
    #[inline]
    pub fn queue_id(&self, port: PortId, class: u8) -> QueueId {
        QueueId::new(port, class - DATA, self.priorities)
    }

    /// The place of a port's and class's queue in [`Links::queues`].
    #[inline]
    pub fn place(&self, port: PortId, class: u8) -> usize {
        port.index() * self.classes + class as usize
    }

    /// The class of a queue of a data priority.
    pub fn class_of(&self, queue: QueueId) -> u8 {
        DATA + queue.priority(self.priorities)
    }

    /// The node that owns the port of a queue.
    pub fn node_of(&self, queue: QueueId) -> NodeId {
        self.ports[queue.port(self.priorities).index()].node
    }

    /// A detector's or congestion point's view of an egress queue, with `more` bytes that pass without queueing.
    pub fn view(&self, now: Time, port: PortId, class: u8, more: u64) -> QueueView {
        QueueView { now, bytes: self.queues[self.place(port, class)].bytes + more }
    }

    /// Time for which a queue was stopped, up to now.
    pub fn stopped_time(&self, now: Time, queue: QueueId) -> Time {
        self.stops[queue.index()].total(now)
    }

    /// Time for which a port and class were stopped up to now; zero for classes that are never stopped.
    pub fn stopped_for(&self, now: Time, port: PortId, class: u8) -> Time {
        if class < DATA { Time::ZERO } else { self.stopped_time(now, self.queue_id(port, class)) }
    }

    /// The class to send from among `sendable`, which is not empty.
    #[inline]
    pub fn choose(&mut self, port: PortId, sendable: u16) -> u8 {
        match self.arbiters.get_mut(port.index()) {
            Some(arbiter) if sendable & 0b11 == 0 => arbiter.choose(sendable),
            _ => self.ports[port.index()].choose(sendable, self.strict),
        }
    }

    /// Stops a queue that may send, until [`Links::resume`].
    pub fn stop(&mut self, ctx: &mut Ctx, queue: QueueId) {
        let (port, class) = (queue.port(self.priorities), self.class_of(queue));
        self.stops[queue.index()].stop(ctx.now);
        self.ports[port.index()].paused |= 1 << class;
        ctx.probes.on_stop(ctx.now, queue);
        if self.tells_stops {
            self.effects.push(Effect::Stopped(queue));
        }
    }

    /// Lets a stopped queue go on.
    pub fn resume(&mut self, ctx: &mut Ctx, queue: QueueId) {
        let Some((since, frames)) = self.stops[queue.index()].resume(ctx.now) else { return };
        let (port, class) = (queue.port(self.priorities), self.class_of(queue));
        let stop = ctx.stop_until_now(port, class - DATA, since, frames);
        ctx.probes.stop_ended(stop);
        let port = &mut self.ports[port.index()];
        // If the link is down, which is the highest bit, all classes stay stopped.
        port.paused &= !((1 - (port.paused >> 15)) << class);
        self.effects.push(Effect::Resumed(queue, since));
    }

    /// An egress queue has more credits than before, and goes on if it `resumes`.
    #[inline]
    pub fn credited(&mut self, ctx: &mut Ctx, queue: QueueId, resumes: bool) {
        if self.tells_credits {
            self.effects.push(Effect::Credited { port: queue.port(self.priorities), resumes });
        }
        if resumes {
            self.resume(ctx, queue);
        }
    }

    /// Tells the other end of an ingress `queue`'s link `arg`, by a symbol of `bytes` that leaves at time `at` and takes no
    /// room on the wire. At the other end [`LinkControl::on_event`] gets `LINK_CONTROL_APPLY` with the egress queue and
    /// `arg`.
    #[inline]
    pub fn signal_peer(&self, ctx: &mut Ctx, queue: QueueId, arg: u32, at: Time, bytes: u64) {
        let port = &self.ports[queue.port(self.priorities).index()];
        let time = port.symbol_arrival(at, bytes);
        let there = queue.other_end(self.priorities);
        let node = self.ports[there.port(self.priorities).index()].node;
        let key = key(kind::LINK_CONTROL_APPLY, there.0);
        if port.arrivals >= AWAY {
            ctx.boundary.outbox(port.arrivals).signal(node, Event { time, key, arg });
        } else {
            ctx.schedule(node, time, key, arg);
        }
    }
}
