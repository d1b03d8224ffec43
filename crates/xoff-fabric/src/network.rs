//! What stays the same during a run: topology, settings, wire sizes, flows and their paths.

use xoff_engine::{Rate, Time};
use xoff_schemes::int::MAX_INT_HOPS;
use xoff_schemes::{AnyScheme, FlowEnv, IntPath, NetworkEnv, Signals};

use crate::cut_through::{lead, uniform};
use crate::dependencies::Dependencies;
use crate::settings::{BaseRtt, FlowControl, Quirks, RttOf, Settings};
use crate::topology::{NodeId, NodeKind, PortId, Topology};

/// A flow as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending host.
    pub src: NodeId,
    /// Receiving host.
    pub dst: NodeId,
    /// Payload bytes; none for a flow that sends until `stop` or the end of the run.
    pub size: Option<u64>,
    /// When it starts, or before when it does not where it waits for others.
    pub start: Time,
    /// When it stops sending.
    pub stop: Option<Time>,
    /// Payload rate at which its source makes data; none for all at once.
    pub source_rate: Option<Rate>,
    /// Data priority.
    pub priority: u8,
}

/// Sizes on the wire, in bytes, with the scheme's signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSizes {
    /// Payload of a full data packet.
    pub payload: u64,
    /// Headers and signals of a data packet.
    pub data_overhead: u64,
    /// An ACK when its receiver sends it.
    pub ack: u64,
    /// What an ACK grows by at each switch.
    pub ack_growth: u64,
    /// A CNP or CNM.
    pub cnp: u64,
    /// A PFC frame.
    pub pfc: u64,
    /// An update of credits for one priority.
    pub update: u64,
    /// What the wire takes beside each frame.
    pub gap: u64,
}

impl WireSizes {
    /// The sizes that `settings` give with `signals`.
    pub fn new(settings: &Settings, signals: &Signals) -> Self {
        let p = &settings.packets;
        let hops = u64::from(p.int_hops);
        let data_overhead = p.header.0 + signals.data_bytes(hops);
        WireSizes {
            payload: p.payload.map_or_else(|| p.mtu.0.saturating_sub(data_overhead), |b| b.0),
            data_overhead,
            ack: p.ack.0 + signals.ack_bytes(hops),
            ack_growth: signals.ack_bytes_per_hop(),
            cnp: p.cnp.0,
            pfc: p.pfc.0,
            update: match &settings.flow_control {
                FlowControl::Cbfc(cbfc) => cbfc.update_size.0,
                _ => 0,
            },
            gap: p.gap.0,
        }
    }

    /// A full data packet on the wire.
    pub fn frame(&self) -> u64 {
        self.payload + self.data_overhead
    }

    /// The most that the wire is taken for by one frame of data, ACK or notification, in bytes.
    pub fn largest(&self) -> u64 {
        let ack = self.ack + self.ack_growth * MAX_INT_HOPS as u64;
        self.frame().max(ack).max(self.cnp) + self.gap
    }

    /// What the wire is taken for by one PFC frame of each of `priorities`, in bytes.
    pub fn pfc_frames(&self, priorities: u8) -> u64 {
        (self.pfc + self.gap) * u64::from(priorities)
    }
}

/// Where a flow's paths lie in [`Network::paths`].
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// First egress port of the data path: the sender's.
    pub data: u32,
    /// First egress port of the ACK path: the receiver's.
    pub ack: u32,
    /// First egress port of the data path walked back, by which a switch's messages go.
    pub back: u32,
    /// Links of the data path.
    pub links: u8,
    /// Links of the ACK path.
    pub ack_links: u8,
}

/// A network with its traffic, ready to be simulated.
pub struct Network {
    /// Nodes and links.
    pub topology: Topology,
    /// Settings.
    pub settings: Settings,
    /// The scheme of every flow and queue.
    pub scheme: AnyScheme,
    /// What the scheme needs on the wire.
    pub signals: Signals,
    /// Sizes on the wire.
    pub wire: WireSizes,
    /// Sizes on the wire without any signal, for the ideal FCT.
    pub plain: WireSizes,
    /// Seed of every random stream.
    pub seed: u64,
    /// All flows; those that wait for no other by start.
    pub flows: Vec<Flow>,
    /// Which flows wait for which.
    pub dependencies: Dependencies,
    /// By flow: whether the run may end without it; empty where it waits for all.
    pub background: Vec<bool>,
    /// Egress ports of all paths.
    pub paths: Vec<PortId>,
    /// Each flow's paths.
    pub routes: Vec<Route>,
    /// Largest unloaded RTT over all pairs of hosts.
    pub base_rtt: Time,
    /// Greatest rate of a host's link.
    pub line_rate: Rate,
    /// Payload that may be in flight whatever the window: enough for `host.ack_every` packets.
    pub least_window: u64,
    /// All nodes' events are handled in one order, although the links would let nodes handle theirs one after the other.
    /// What comes out is the same; for tests.
    pub one_order: bool,
}

impl Network {
    /// The links' ports of a flow's data path.
    pub fn data_path(&self, flow: u32) -> &[PortId] {
        let route = &self.routes[flow as usize];
        &self.paths[route.data as usize..][..route.links as usize]
    }

    /// The links' ports of a flow's ACK path.
    pub fn ack_path(&self, flow: u32) -> &[PortId] {
        let route = &self.routes[flow as usize];
        &self.paths[route.ack as usize..][..route.ack_links as usize]
    }

    /// Whether the run may end without a flow.
    #[inline]
    pub fn is_background(&self, flow: u32) -> bool {
        !self.background.is_empty() && self.background[flow as usize]
    }

    /// The number of flows with whose completion the run ends.
    pub fn awaited(&self) -> u64 {
        (self.flows.len() - self.background.iter().filter(|b| **b).count()) as u64
    }

    /// Whether a node is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        self.topology.nodes[node as usize].kind == NodeKind::Host
    }

    /// What a scheme knows of the whole network.
    pub fn env(&self) -> NetworkEnv {
        NetworkEnv { line_rate: self.line_rate, base_rtt: self.base_rtt }
    }

    /// What a flow's reaction and notification points know; `active_flows` is left to the sender, who counts them.
    pub fn flow_env(&self, flow: u32) -> FlowEnv {
        let path = self.data_path(flow);
        let base_rtt = match self.settings.host.base_rtt {
            BaseRtt::Max => self.base_rtt,
            BaseRtt::PerPair => {
                let times = UnloadedTimes::new(&self.topology, &self.wire, &self.settings);
                times.round_trip(path, self.ack_path(flow)) + self.settings.host.processing_delay
            }
        };
        FlowEnv {
            payload: self.wire.payload,
            frame: self.wire.frame(),
            hops: path.len() as u8 - 1,
            ack_delay: self.settings.host.processing_delay,
            ..FlowEnv::new(flow, self.topology.rate(path[0]), base_rtt, self.seed)
        }
    }

    /// Time from a flow's start to its sender's last ACK when it has the network for itself and sends at line rate
    /// without any signal on the wire; none for an endless flow.
    pub fn ideal_fct(&self, flow: u32) -> Option<Time> {
        Some(self.alone(flow)?.sent)
    }

    /// When a flow that starts at zero reaches its milestones under the same conditions; none for an endless flow.
    pub fn alone(&self, flow: u32) -> Option<Alone> {
        let size = self.flows[flow as usize].size?;
        let host = &self.settings.host;
        let lone = LoneFlow {
            topology: &self.topology,
            wire: &self.plain,
            data: self.data_path(flow),
            ack: self.ack_path(flow),
            ack_every: u64::from(host.ack_every),
            processing_delay: host.processing_delay,
            header: self.settings.switch.cut_through(&self.settings.flow_control),
        };
        Some(lone.times(size))
    }

    /// Whether switches write telemetry on data.
    pub fn int_on_data(&self) -> bool {
        self.signals.int == IntPath::Data
    }
}

/// What the time of a packet and its ACK through empty queues is made of.
pub(crate) struct UnloadedTimes<'a> {
    topology: &'a Topology,
    wire: &'a WireSizes,
    quirks: &'a Quirks,
    /// Where packets cut through and all links have one rate, the header's bytes: each link but the host's costs only
    /// those. In other networks each link counts as if it stored and forwarded.
    header: Option<u64>,
}

impl<'a> UnloadedTimes<'a> {
    pub fn new(topology: &'a Topology, wire: &'a WireSizes, settings: &'a Settings) -> Self {
        let header = settings.switch.cut_through(&settings.flow_control).filter(|_| uniform(topology));
        UnloadedTimes { topology, wire, quirks: &settings.quirks, header }
    }

    fn time(&self, port: PortId, bytes: u64) -> Time {
        let from_host = self.topology.nodes[self.topology.node_of(port) as usize].kind == NodeKind::Host;
        let bytes = match self.header {
            Some(header) if !from_host => bytes.min(header),
            _ => bytes,
        };
        self.topology.rate(port).serialization(bytes) + self.topology.delay(port)
    }

    /// Time of a full data packet on the link that leaves by `port`.
    pub fn data(&self, port: PortId) -> Time {
        self.time(
            port,
            match self.quirks.base_rtt {
                RttOf::FrameAndAck => self.wire.frame(),
                RttOf::Payload => self.wire.payload,
            },
        )
    }

    /// Time of its ACK on the link that leaves by `port` after `hop` switches; it grows at each switch's egress.
    pub fn ack(&self, port: PortId, hop: usize) -> Time {
        self.time(
            port,
            match self.quirks.base_rtt {
                RttOf::FrameAndAck => self.wire.ack + self.wire.ack_growth * hop as u64,
                RttOf::Payload => 0,
            },
        )
    }

    /// Round-trip time of a full packet and its ACK.
    fn round_trip(&self, data: &[PortId], ack: &[PortId]) -> Time {
        let there = data.iter().map(|&p| self.data(p));
        let back = ack.iter().enumerate().map(|(hop, &p)| self.ack(p, hop));
        there.chain(back).fold(Time::ZERO, |sum, t| sum + t)
    }
}

/// When a flow that has the network for itself reaches its milestones, from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Its last byte arrives at the receiver.
    pub delivered: Time,
    /// Its last ACK arrives at the sender.
    pub sent: Time,
}

/// A flow alone in the network.
struct LoneFlow<'a> {
    topology: &'a Topology,
    wire: &'a WireSizes,
    data: &'a [PortId],
    ack: &'a [PortId],
    ack_every: u64,
    processing_delay: Time,
    /// Bytes that must be there before a packet is sent on; none where all of it must.
    header: Option<u64>,
}

impl LoneFlow<'_> {
    /// The times of its milestones, exact: packets queue only behind their own flow's, so this is a line of queues in
    /// tandem that all packets enter at once.
    fn times(&self, size: u64) -> Alone {
        let payload = self.wire.payload;
        let packets = size.div_ceil(payload).max(1);
        let (frame, last) = (self.wire.frame(), size - (packets - 1) * payload + self.wire.data_overhead);
        // When the last packet begins on each link, without propagation, which adds the same to all. Packet i of the full
        // ones leaves a link when the first one does and (i - 1) times the slowest so far later. The wire's gap holds back
        // only what follows on the same link.
        let (mut first, mut slowest, mut now) = (Time::ZERO, Time::ZERO, Time::ZERO);
        let mut through = Time::ZERO;
        for (hop, &port) in self.data.iter().enumerate() {
            let rate = self.topology.rate(port);
            let (full, gap) = (rate.serialization(frame), rate.serialization(self.wire.gap));
            (through, slowest) = (first + full, slowest.max(full + gap));
            if packets > 1 {
                now = now.max(through + slowest * (packets - 2) + gap);
            }
            first += self.lead(self.data, hop, frame);
            now += self.lead(self.data, hop, last);
        }
        let propagation = |path: &[PortId]| path.iter().fold(Time::ZERO, |s, &p| s + self.topology.delay(p));
        let delivered = now + propagation(self.data);
        // ACKs are alike, so the last one leaves the last link when it has passed all of them behind the one that
        // held it up most: itself, the first of the train, or the one before it, with the slowest link's time for
        // each ACK in between. Those in the train come evenly.
        let ack_time = |&port: &PortId| {
            let rate = self.topology.rate(port);
            rate.serialization(self.wire.ack) + rate.serialization(self.wire.gap)
        };
        let slowest_ack = self.ack.iter().map(ack_time).max().unwrap_or(Time::ZERO);
        let earlier = (packets - 1) / self.ack_every;
        if earlier > 0 {
            let first = through + slowest * (self.ack_every - 1);
            let before = through + slowest * (earlier * self.ack_every - 1);
            now = now.max(first + slowest_ack * earlier).max(before + slowest_ack);
        }
        now = (0..self.ack.len()).fold(now, |at, hop| at + self.lead(self.ack, hop, self.wire.ack));
        let sent = now + propagation(self.data) + propagation(self.ack) + self.processing_delay;
        Alone { delivered, sent }
    }

    /// Time from the start of `bytes` on a link of a path to where the next one may start, or to their end on the last.
    fn lead(&self, path: &[PortId], hop: usize, bytes: u64) -> Time {
        let rate = self.topology.rate(path[hop]);
        match path.get(hop + 1) {
            Some(&next) => lead(self.header, bytes, rate, self.topology.rate(next)),
            None => rate.serialization(bytes),
        }
    }
}
