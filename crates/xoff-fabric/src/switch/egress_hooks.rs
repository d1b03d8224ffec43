//! Hooks at egress queues: detectors, which mark packets, and congestion points, which send messages to flows' sources. The
//! hooks also tell probes and the points of whole switches.

use xoff_engine::{Domain, SparseList, Time, fetch_beginning_ahead, stream};
use xoff_schemes::detector::{AnyDetector, AnyMarker};
use xoff_schemes::{
    AnyCongestion, CongestionPoint, Detector, Labelled, MarkingRandom, PacketView, PortEnv, QueueView,
};

use super::Switches;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::PacketId;

/// How packets are marked.
pub(crate) struct Marking<'a> {
    /// The detector of each egress queue; `None` if packets are not marked.
    pub detector: Option<&'a AnyDetector>,
    /// The random numbers that all detectors share, for data and for ACKs in data classes, and from which frames of flow
    /// control take numbers; `None` if each detector has a stream of its own, for data only.
    pub shared: Option<MarkingRandom>,
}

/// What of a detector is worth fetching: the common kinds of detectors are shorter than the longest kind.
const DETECTOR_BYTES: usize = 128;

/// A queue longer than this part of the length at which marks begin is close to being marked: ACKs beside data make it longer as hosts drift apart.
const CLOSE: u64 = 4;

/// A congestion point and its pending timer.
pub(super) struct Point {
    state: AnyCongestion,
    timer_at: Time,
}

/// The detectors and congestion points of a partition's egress queues.
pub(super) struct EgressHooks {
    /// By queue: its place in the two lists that follow, plus 1; 0 for queues of hosts and of other partitions. Empty if nothing has
    /// either.
    places: SparseList<u32>,
    /// Empty if packets are not marked.
    detectors: Vec<AnyMarker>,
    /// Empty if the scheme has no congestion points.
    points: Vec<Point>,
    /// ACKs in data classes pass the detectors too.
    pub marks_acks: bool,
    /// What frames of flow control draw numbers from, if they have any.
    frame_numbers: Option<MarkingRandom>,
}

impl EgressHooks {
    /// The detectors and congestion points of the queues at the ports `own` of switches, each with random numbers of its own unless
    /// `marking` says otherwise.
    pub fn new(net: &Network, marking: &Marking<'_>, own: &[PortId]) -> EgressHooks {
        let priorities = usize::from(net.settings.switch.priorities);
        let is_hooked = marking.detector.is_some() || net.signals.congestion_point;
        let queues = if is_hooked { net.topology.ports() as usize * priorities } else { 0 };
        let mut hooks = EgressHooks {
            places: SparseList::zeros(queues),
            detectors: Vec::new(),
            points: Vec::new(),
            marks_acks: marking.shared.is_some() && marking.detector.is_some(),
            frame_numbers: marking.shared.clone(),
        };
        let at_switches = own.iter().filter(|port| is_hooked && !net.is_host(net.topology.node_of(**port)));
        for (place, &port) in (0u32..).step_by(priorities).zip(at_switches) {
            for (place, queue) in (place..).zip(QueueId::all_at(port, priorities)) {
                hooks.places[queue.index()] = place + 1;
                let point = queue.0;
                let env = |domain, shared: Option<&MarkingRandom>| PortEnv {
                    point,
                    rate: net.topology.rate(port),
                    delay: net.topology.delay(port),
                    payload: net.wire.payload,
                    frame: net.wire.frame(),
                    to_host: net.is_host(net.topology.node_of(port.peer())),
                    credit_period: net.settings.flow_control.update_period(),
                    hysteresis: net.settings.flow_control.hysteresis(net.wire.largest()),
                    random: shared
                        .cloned()
                        .unwrap_or_else(|| stream(net.seed, domain, u64::from(point)).into()),
                };
                if let Some(detector) = marking.detector {
                    hooks.detectors.push(detector.detector(&env(Domain::Marking, marking.shared.as_ref())));
                }
                if net.signals.congestion_point {
                    let state = net.scheme.congestion(&env(Domain::Congestion, None));
                    hooks.points.push(Point { state, timer_at: Time::NEVER });
                }
            }
        }
        hooks
    }

    /// Forgets all detectors and congestion points.
    pub fn end(&mut self) {
        (self.places, self.detectors, self.points) = (SparseList::default(), Vec::new(), Vec::new());
    }

    fn place(&self, queue: QueueId) -> Option<usize> {
        self.places.get(queue.index())?.checked_sub(1).map(|place| place as usize)
    }

    /// The detector of a queue, if it has one.
    #[inline]
    pub fn detector(&mut self, queue: QueueId) -> Option<&mut AnyMarker> {
        let place = self.place(queue)?;
        self.detectors.get_mut(place)
    }

    /// Whether RED, or no detector, marks packets, and marks none in a queue of the `length` that is given for it. Other detectors are not asked.
    pub fn marks_none_at(&self, length: impl Fn(QueueId) -> u64) -> bool {
        let marks_none = |queue: QueueId| match self.place(queue).and_then(|place| self.detectors.get(place))
        {
            None => true,
            Some(AnyMarker::Red(red)) => length(queue) <= red.k_min(),
            Some(_) => false,
        };
        (0..self.places.len() as u32).map(QueueId).all(marks_none)
    }

    /// Fetches the detector of a queue into the cache, if the queue has one.
    #[inline]
    pub fn fetch_detector(&self, queue: QueueId) {
        if let Some(place) = self.place(queue) {
            fetch_beginning_ahead(&self.detectors, place as u32, DETECTOR_BYTES);
        }
    }

    /// Whether detectors tell states of ports apart.
    pub fn has_states(&self) -> bool {
        self.detectors.first().is_some_and(|detector| detector.state().is_some())
    }

    /// The congestion point of a queue, if it has one.
    #[inline]
    fn point(&mut self, queue: QueueId) -> Option<&mut Point> {
        let place = self.place(queue)?;
        self.points.get_mut(place)
    }

    /// Draws the numbers of frames of flow control, which nothing reads.
    #[cold]
    pub fn number_frames(&mut self, frames: u32) {
        let Some(random) = &mut self.frame_numbers else { return };
        for _ in 0..frames {
            random.next_uniform();
        }
    }
}

/// A detector's or congestion point's view of a packet.
fn packet_view(ctx: &Ctx, id: PacketId) -> PacketView {
    let packet = &ctx.packets[id];
    PacketView { flow: ctx.net.connections.of(packet.flow).0, bytes: u64::from(packet.size) }
}

impl Switches {
    /// Schedules the first timers of the congestion points at switches' ports.
    pub fn begin_points<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, ports: &[PortId]) {
        for &port in ports {
            if self.hooks.points.is_empty() || ctx.net.is_host(links.ports[port.index()].node) {
                continue;
            }
            for priority in 0..links.priorities as u8 {
                self.sync_point_timer(ctx, links, QueueId::new(port, priority, links.priorities));
            }
        }
    }

    /// A data packet joins a queue, or passes the empty queue with `more` bytes.
    pub(super) fn on_enqueue<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
        more: u64,
    ) {
        let view = links.view(ctx.now, egress, class, more);
        let queue = links.queue_id(egress, class);
        if ctx.probes.on_queues {
            ctx.probes.on_enqueue(ctx.now, queue, &mut ctx.packets, id, view.bytes);
        }
        if self.switch_points.is_some() {
            self.switch_point_enqueue(ctx, links, egress, id, class, view.bytes);
        }
        if let Some(point) = self.hooks.point(queue) {
            point.state.on_enqueue(&view, &packet_view(ctx, id));
            if ctx.net.signals.label {
                self.relabel(ctx, links, egress, queue, id, more, &view);
            }
            self.sync_point_timer(ctx, links, queue);
        }
    }

    /// A data packet leaves its queue, whose detector may mark it.
    #[inline(always)] // runs for every packet, with marking
    pub(super) fn mark<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
    ) {
        if let Some(late) = self.marked_late.get_mut(egress.index()) {
            *late = Some(id);
            return;
        }
        self.mark_now(ctx, links, egress, id, class);
    }

    /// The wire of a port is free again: the data packet that has just left may be marked.
    #[cold]
    pub(super) fn mark_late<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, egress: PortId) {
        if let Some(id) = self.marked_late.get_mut(egress.index()).and_then(Option::take) {
            let class = ctx.packets[id].class;
            self.mark_now(ctx, links, egress, id, class);
        }
    }

    #[inline(always)] // runs for every packet, with marking
    fn mark_now<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, egress: PortId, id: PacketId, class: u8) {
        let queue = links.queue_id(egress, class);
        let Some(detector) = self.hooks.detector(queue) else { return };
        let view = links.view(ctx.simulated(), egress, class, 0);
        let mark = detector.on_dequeue(&view, &packet_view(ctx, id));
        if let Some(chances) = &mut ctx.probes.chances {
            let is_by_chance = detector.is_by_chance(&view);
            let is_close = detector.unmarked_bytes().is_some_and(|bytes| view.bytes > bytes / CLOSE);
            *chances += u64::from(is_by_chance);
            let totals = &mut ctx.probes.records.totals;
            *totals.chances.at(egress) += u64::from(is_by_chance);
            *totals.close_calls.at(egress) += u64::from(is_close);
        }
        let packet = &mut ctx.packets[id];
        if mark > packet.mark {
            packet.mark = mark;
            ctx.probes.on_mark(ctx.now, egress, packet, mark);
        }
        if ctx.probes.records.records_states() {
            let state = detector.state();
            ctx.probes.records.state(ctx.now, queue, links.priorities, state);
        }
    }

    /// A data packet leaves its queue.
    pub(super) fn on_dequeue<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
    ) {
        let view = links.view(ctx.now, egress, class, 0);
        let queue = links.queue_id(egress, class);
        if let Some(limits) = &mut self.limits {
            let size = ctx.packets[id].size.into();
            let ends = ctx.now + links.ports[egress.index()].serialization(size);
            limits.on_depart(egress, ends, size);
        }
        if ctx.probes.on_queues {
            ctx.probes.on_dequeue(ctx.now, queue, &ctx.packets[id], view.bytes);
        }
        if self.switch_points.is_some() {
            self.switch_point_dequeue(ctx, links, egress, id, class);
        }
        if let Some(point) = self.hooks.point(queue) {
            point.state.on_dequeue(&view, &packet_view(ctx, id));
            self.sync_point_timer(ctx, links, queue);
        }
    }

    /// A congestion point changes the label of a packet that has joined its queue, or that passes with `more` bytes.
    #[cold]
    #[allow(clippy::too_many_arguments)] // where to, what, and what the caller knows of the queue
    fn relabel<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        queue: QueueId,
        id: PacketId,
        more: u64,
        view: &QueueView,
    ) {
        let (port, packet) = (&links.ports[egress.index()], &ctx.packets[id]);
        let labelled = Labelled {
            flow: ctx.net.connections.of(packet.flow).0,
            bytes: u64::from(packet.size),
            label: packet.label,
            sent_at: packet.sent_at,
            arrived: port.tx_bytes + port.queued_bytes + more,
        };
        let mut messages = Vec::new();
        let Some(point) = self.hooks.point(queue) else { return };
        ctx.packets[id].label = point.state.on_label(view, &labelled, &mut messages);
        for message in messages {
            self.send_cnm(ctx, links, egress, &message);
        }
    }

    /// An ACK leaves a data queue whose detector sees ACKs too: the detector draws a random number, but the mark is dropped,
    /// since senders ignore an ACK's own mark.
    pub(super) fn on_ack_dequeue<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
    ) {
        let view = links.view(ctx.simulated(), egress, class, 0);
        let queue = links.queue_id(egress, class);
        if let Some(detector) = self.hooks.detector(queue) {
            detector.on_dequeue(&view, &packet_view(ctx, id));
        }
    }

    /// Schedules a congestion point's next timer if it is earlier than the scheduled one.
    fn sync_point_timer<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, queue: QueueId) {
        let Some(point) = self.hooks.point(queue) else { return };
        let next = point.state.next_timer();
        if next < point.timer_at {
            point.timer_at = next;
            ctx.schedule(links.node_of(queue), next, key(kind::CONGESTION_TIMER, queue.0), 0);
        }
    }

    /// A congestion point's timer: its messages depart.
    pub fn congestion_timer<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, index: u32) {
        let queue = QueueId(index);
        let Some(point) = self.hooks.point(queue) else { return };
        if point.timer_at != ctx.now {
            return;
        }
        point.timer_at = Time::NEVER;
        if point.state.next_timer() <= ctx.now {
            let (egress, class) = (queue.port(links.priorities), links.class_of(queue));
            let mut messages = Vec::new();
            point.state.on_timer(&links.view(ctx.now, egress, class, 0), &mut messages);
            for message in messages {
                self.send_cnm(ctx, links, egress, &message);
            }
        }
        self.sync_point_timer(ctx, links, queue);
    }
}
