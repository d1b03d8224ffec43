//! A part of the network: the nodes that one thread simulates, their state and their events.
//!
//! The files that follow a packet's way add the handlers: [`crate::sender`], [`crate::nic`],
//! [`crate::switching`],
//! [`crate::pause`], [`crate::receiver`]. State belongs to nodes, and nodes touch each other only by packets that
//! take a link's delay, so a network can be cut into parts along its links.

use std::sync::Arc;

use xoff_engine::Time;
use xoff_schemes::detector::{AnyDetector, AnyMarker};
use xoff_schemes::int::{PackedRecord, PortReading};
use xoff_schemes::{IntFormat, IntPath};

use crate::agenda::{Agenda, arrival_key};
use crate::breakdown::sender::Breakdown;
use crate::buffer::{IngressQueue, Memory};
use crate::counters::{Counters, fingerprint};
use crate::credit::Credits;
use crate::cut::{Cut, PartId};
use crate::cut_through::CutThrough;
use crate::event::{index_of, kind, kind_of};
use crate::failure::Failure;
use crate::lanes::Lanes;
use crate::network::Network;
use crate::nic::Nic;
use crate::pacing::ABSENT;
use crate::packet::{Packets, Transit};
use crate::pause::PauseState;
use crate::port::{AWAY, DATA, Port, Queue};
use crate::receiver::Receiver;
use crate::records::{Recording, Records};
use crate::roots::RootWatch;
use crate::sender::Sender;
use crate::settings::{NicTimer, Order, Queueing, Scheduling};
use crate::simulation::Progress;
use crate::switch_point::SwitchPoints;
use crate::throttling::Throttles;
use crate::topology::{NodeId, PortId, peer};
use crate::vl_arbitration::VlArbiter;
use crate::voq::Voqs;
use crate::waiting::Waiting;
use crate::watching::Point;
use crate::windows::{Totals, Windows};

/// The state of a part and its pending events.
pub struct Part {
    pub(crate) now: Time,
    pub(crate) net: Arc<Network>,
    cut: Arc<Cut>,
    number: PartId,
    /// Ports of its nodes.
    pub(crate) own_ports: Vec<PortId>,
    /// By part: packets that have left for it.
    pub(crate) outboxes: Vec<Transit>,
    pub(crate) events: Agenda,
    pub(crate) packets: Packets,
    pub(crate) ports: Vec<Port>,
    /// By port, then class.
    pub(crate) queues: Vec<Queue>,
    /// By port, then priority.
    pub(crate) ingress: Vec<IngressQueue>,
    /// By port, then priority: what the peer's PAUSE frames did to the egress.
    pub(crate) pauses: Vec<PauseState>,
    /// By port, then priority; empty without marking.
    pub(crate) detectors: Vec<AnyMarker>,
    /// By port, then priority; empty without messages from switches.
    pub(crate) points: Vec<Point>,
    /// Points of whole switches; none unless the scheme has them.
    pub(crate) switch_points: Option<Box<SwitchPoints>>,
    /// Which queues are congestion roots; none unless that is recorded.
    pub(crate) roots: Option<Box<RootWatch>>,
    /// What links have room for; none unless flow control is by credits.
    pub(crate) credits: Option<Box<Credits>>,
    /// What slows hosts' ports; none unless there is such a thing.
    pub(crate) throttles: Option<Box<Throttles>>,
    /// What slows hosts' priorities; none unless the scheme has such reaction points.
    pub(crate) lanes: Option<Box<Lanes>>,
    /// Where data waits in switches that have its queues at their inputs; none where they have them at their outputs.
    pub(crate) voqs: Option<Box<Voqs>>,
    /// None where switches store and forward.
    pub(crate) cut_through: Option<Box<CutThrough>>,
    /// By port: arbitration among priorities by weights; empty without.
    pub(crate) arbiters: Vec<VlArbiter>,
    /// A packet may pass a quiet port without being counted in and out.
    pub(crate) passes: bool,
    /// Packets that pass a quiet port need more than telemetry on data.
    pub(crate) attentive: bool,
    /// Packets that go onto a wire need more than the time it takes.
    pub(crate) attends_wire: bool,
    /// By node.
    pub(crate) memories: Vec<Memory>,
    /// By node.
    pub(crate) nics: Vec<Nic>,
    /// By flow, from its start to its last ACK.
    pub(crate) senders: Vec<Option<Box<Sender>>>,
    /// By flow: its place in its NIC's pacing heap.
    pub(crate) places: Vec<u32>,
    /// What flows and steps wait for; none where nothing waits.
    pub(crate) waiting: Option<Box<Waiting>>,
    /// By flow, from its first data.
    pub(crate) receivers: Vec<Option<Box<Receiver>>>,
    /// By port: the snapshot that FNCC's ACKs read; empty when they read live counters.
    pub(crate) int_table: Vec<PortReading>,
    pub(crate) records: Records,
    /// What holds flows at their senders; none unless that is recorded.
    pub(crate) breakdown: Option<Box<Breakdown>>,
    pub(crate) counters: Counters,
    /// What broke first, with the time and key of the event.
    pub(crate) failure: Option<(Time, u32, Failure)>,
    /// The node at hand is to stop after this event.
    pub(crate) halt: bool,
    pub(crate) classes: usize,
    pub(crate) priorities: usize,
    pub(crate) strict: bool,
    /// Data packets pass a detector or a congestion point, or congestion roots are recorded.
    pub(crate) watched: bool,
    pub(crate) int: IntPath,
    /// Ports have an event at the end of each transmission, whether something waits or not.
    pub(crate) tells_when_ready: bool,
    /// NICs work as in another simulator, see [`crate::settings::NicTimer::Ns3`].
    pub(crate) ns3_nic: bool,
}

impl Part {
    /// Part `number` of `cut`, with `detector` at each switch's egress queues.
    ///
    /// What it keeps by port, node or flow has room for all of the network, so that the same numbers hold everywhere.
    pub(crate) fn new(
        net: Arc<Network>,
        detector: Option<&AnyDetector>,
        recording: &Recording,
        cut: Arc<Cut>,
        number: PartId,
    ) -> Self {
        let priorities = net.settings.switch.priorities as usize;
        let classes = DATA as usize + priorities;
        let topology = &net.topology;
        let ports = topology.ports();
        let owned = |node| cut.part_of(node) == usize::from(number);
        let events = Agenda::new(&net, owned);
        let of = |port: PortId| {
            let node = topology.node_of(port);
            let to = topology.node_of(peer(port));
            let (rate, delay) = (topology.rate(port), topology.delay(port));
            let code = PackedRecord::speed_code(rate).unwrap_or(0);
            let stays = cut.part_of(node) == cut.part_of(to);
            let arrivals = if stays { events.place(arrival_key(&net, peer(port))) } else { AWAY };
            Port::new(node, rate, delay, arrivals, code).with_wire(net.wire.gap, net.settings.quirks.clock)
        };
        let own_ports: Vec<PortId> = (0..ports).filter(|&p| owned(topology.node_of(p))).collect();
        let quirks = &net.settings.quirks;
        let credits = Credits::new(&net);
        let switch_points = SwitchPoints::new(&net, owned);
        let voqs = net.settings.switch.queueing(&net.settings.flow_control) == Queueing::VirtualOutput;
        let mut part = Part {
            now: Time::ZERO,
            packets: match net.signals.int {
                IntPath::Off => Packets::new(),
                _ => {
                    let packets = &net.settings.packets;
                    let shift = packets.int_multi.max(1).ilog2() as u8;
                    Packets::with_int(packets.int_format == IntFormat::Exact, shift)
                }
            },
            ports: (0..ports).map(of).collect(),
            events,
            queues: vec![Queue::EMPTY; ports as usize * classes],
            ingress: Vec::new(),
            pauses: vec![PauseState::default(); ports as usize * priorities],
            detectors: Vec::new(),
            points: Vec::new(),
            arbiters: match net.settings.switch.scheduling {
                Scheduling::Weighted => vec![VlArbiter::new(&net.settings.switch); ports as usize],
                Scheduling::RoundRobin | Scheduling::Strict => Vec::new(),
            },
            passes: credits.is_none() && switch_points.is_none(),
            voqs: voqs.then(|| Box::new(Voqs::new(topology, priorities))),
            cut_through: CutThrough::new(topology, &net.settings),
            lanes: Lanes::new(&net, owned),
            throttles: net.settings.throttle.as_ref().map(|t| Throttles::new(t, &net, owned)),
            credits,
            switch_points,
            roots: recording.roots.map(|growth| {
                let queues = ports as usize * priorities;
                Box::new(RootWatch::new(growth, queues))
            }),
            memories: Vec::new(),
            nics: Nic::all(topology, priorities, owned),
            senders: (0..net.flows.len()).map(|_| None).collect(),
            places: vec![ABSENT; net.flows.len()],
            waiting: Waiting::new(&net.dependencies, &net.flows),
            receivers: (0..net.flows.len()).map(|_| None).collect(),
            int_table: Vec::new(),
            records: Records::new(recording.of(|port| owned(topology.node_of(port))), &net),
            breakdown: recording
                .breakdown
                .then(|| Breakdown::new(net.flows.len(), topology.nodes.len(), ports as usize)),
            counters: Counters::default(),
            failure: None,
            halt: false,
            classes,
            priorities,
            strict: net.settings.switch.scheduling == Scheduling::Strict,
            watched: detector.is_some()
                || net.signals.congestion_point
                || net.signals.switch_point
                || recording.roots.is_some(),
            attentive: false,
            attends_wire: false,
            int: net.signals.int,
            tells_when_ready: quirks.order == Order::Scheduled || quirks.nic == NicTimer::Ns3,
            ns3_nic: quirks.nic == NicTimer::Ns3,
            outboxes: Vec::new(),
            own_ports,
            net: net.clone(),
            cut,
            number,
        };
        part.attends_wire = part.credits.is_some()
            || part.cut_through.is_some()
            || part.throttles.is_some()
            || part.tells_when_ready
            || part.breakdown.is_some()
            || part.records.capture.is_some()
            || !part.arbiters.is_empty();
        part.attentive = part.attends_wire
            || part.watched
            || part.int == IntPath::Ack
            || part.net.settings.quirks.marking_stream.is_some();
        part.packets.ways = recording.breakdown.then(Box::default);
        part.outboxes.resize_with(part.cut.parts(), || part.packets.transit());
        part.build_memories();
        part.build_points(detector);
        if net.signals.int == IntPath::Ack && net.settings.packets.int_refresh > Time::ZERO {
            part.refresh_int_table();
        }
        part.begin_updates();
        part.await_flow(0);
        part.begin_steps();
        part.schedule_sample(Time::ZERO);
        part
    }

    fn build_memories(&mut self) {
        let net = self.net.clone();
        let topology = &net.topology;
        let fc = &net.settings.flow_control;
        let (frame, pfc_frames) = (net.wire.largest(), net.wire.pfc_frames(net.settings.switch.priorities));
        let mut headrooms = vec![0u64; topology.nodes.len()];
        let mut queues = vec![0u64; topology.nodes.len()];
        for port in 0..topology.ports() {
            let ends = net.link_ends(port);
            let node = topology.node_of(port) as usize;
            for _ in 0..self.priorities {
                let queue = IngressQueue::new(node as u32, fc, &ends, net.line_rate, frame, pfc_frames);
                headrooms[node] += queue.headroom();
                queues[node] += 1;
                self.ingress.push(queue);
            }
        }
        let capacity = net.settings.switch.buffer.map(|b| b.0);
        self.memories =
            headrooms.iter().zip(&queues).map(|(&h, &q)| Memory::new(fc, capacity, h, q)).collect();
    }

    /// The time of the last event handled.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Counts so far.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Bytes in all switches' memories, and bytes charged to all ingress ports.
    pub fn buffered_bytes(&self) -> (u64, u64) {
        let memories = self.memories.iter().map(Memory::used).sum();
        (memories, self.ingress.iter().map(IngressQueue::occupancy).sum())
    }

    /// Packets that it has in its nodes and on its links, with those that have left it in this window.
    pub fn packets_in_flight(&self) -> u32 {
        let left: usize = self.outboxes.iter().map(Transit::len).sum();
        self.packets.live() + left as u32
    }

    /// Moves the clock to the end of a run whose last event lies before it.
    pub(crate) fn advance_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Whether a node is in this part.
    #[inline]
    pub(crate) fn owns(&self, node: NodeId) -> bool {
        self.cut.part_of(node) == usize::from(self.number)
    }

    /// What the windows depend on.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        let next = self.events.earliest();
        Totals {
            next: self.outboxes.iter().fold(next, |next, outbox| next.min(outbox.earliest())),
            events: self.counters.events,
            flows_done: self.counters.flows_done - self.counters.background_done,
            delivered_bytes: self.counters.delivered_bytes,
            rows: self.records.rows() as u64,
            in_flight: self.packets_in_flight(),
            busy: self.waiting.as_ref().is_some_and(|waiting| waiting.busy()),
            failed: self.failure.is_some() || self.net.scheme.is_broken(),
            asked_to_stop: false,
        }
    }

    /// How far the run is.
    pub(crate) fn progress(&self, totals: &Totals, windows: &Windows) -> Progress {
        Progress {
            now: windows.limit(),
            flows_done: totals.flows_done,
            flows: self.net.awaited(),
            events: totals.events,
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn rare_event(&mut self, key: u32, arg: u32) {
        let index = index_of(key);
        match kind_of(key) {
            kind::LINK_CONTROL_APPLY if self.credits.is_some() => self.credit_event(index, arg),
            kind::LINK_CONTROL_APPLY => self.apply_pause(index, arg),
            kind::PAUSE_EXPIRY => self.pause_expiry(index),
            kind::LINK_CONTROL_PERIOD if self.credits.is_some() => self.credit_period(index),
            kind::LINK_CONTROL_PERIOD => self.pause_refresh(index),
            kind::FLOW_START if index as usize >= self.net.flows.len() => self.step_event(index, arg),
            kind::FLOW_START => self.flow_start(index, arg),
            kind::FLOW_STOP => self.flow_stop(index),
            kind::ACK_READY => self.nic_enqueue(index, arg),
            kind::REACTION_TIMER => self.reaction_timer(index),
            kind::NOTIFICATION_TIMER => self.notification_timer(index),
            kind::CONGESTION_TIMER => self.congestion_timer(index),
            kind::RETRANSMIT_TIMER => self.retransmit_timer(index),
            kind::INT_REFRESH => {
                self.count_once(key);
                self.refresh_int_table()
            }
            _ => {
                self.count_once(key);
                self.sample()
            }
        }
    }

    /// An event that every part has for its nodes is one event of the network: that of the first part.
    fn count_once(&mut self, key: u32) {
        if self.number > 0 {
            self.counters.events -= 1;
            self.counters.fingerprint = self.counters.fingerprint.wrapping_sub(fingerprint(self.now, key));
        }
    }

    /// The part that a node is in.
    pub(crate) fn part_of(&self, node: NodeId) -> usize {
        self.cut.part_of(node)
    }
}
