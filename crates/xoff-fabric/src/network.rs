//! What stays the same during a run: topology, settings, wire sizes, flows and their paths.

use xoff_engine::{Domain, stream};
use xoff_engine::{Rate, Time};
use xoff_schemes::int::MAX_INT_HOPS;
use xoff_schemes::{AnyScheme, FlowEnv, IntPath, NetworkEnv, Signals};

use crate::settings::{BaseRtt, Quirks, RttOf, Settings};
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
    /// When it starts.
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
    /// All flows, by start.
    pub flows: Vec<Flow>,
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
        FlowEnv {
            flow,
            line_rate: self.topology.rate(path[0]),
            base_rtt: match self.settings.host.base_rtt {
                BaseRtt::Max => self.base_rtt,
                BaseRtt::PerPair => {
                    let quirks = &self.settings.quirks;
                    unloaded_rtt(&self.topology, &self.wire, quirks, path, self.ack_path(flow))
                        + self.settings.host.processing_delay
                }
            },
            payload: self.wire.payload,
            frame: self.wire.frame(),
            hops: path.len() as u8 - 1,
            ack_delay: self.settings.host.processing_delay,
            active_flows: 0,
            stream: stream(self.seed, Domain::Reaction, u64::from(flow)),
        }
    }

    /// Time from a flow's start to its sender's last ACK when it has the network for itself and sends at line rate
    /// without any signal on the wire; none for an endless flow.
    pub fn ideal_fct(&self, flow: u32) -> Option<Time> {
        let size = self.flows[flow as usize].size?;
        let host = &self.settings.host;
        let lone = LoneFlow {
            topology: &self.topology,
            wire: &self.plain,
            data: self.data_path(flow),
            ack: self.ack_path(flow),
            ack_every: u64::from(host.ack_every),
            processing_delay: host.processing_delay,
        };
        Some(lone.fct(size))
    }

    /// Whether switches write telemetry on data.
    pub fn int_on_data(&self) -> bool {
        self.signals.int == IntPath::Data
    }
}

/// Time of a full data packet on the link that leaves by `port`, store and forward.
pub fn data_time(topology: &Topology, wire: &WireSizes, quirks: &Quirks, port: PortId) -> Time {
    let bytes = match quirks.base_rtt {
        RttOf::FrameAndAck => wire.frame(),
        RttOf::Payload => wire.payload,
    };
    topology.rate(port).serialization(bytes) + topology.delay(port)
}

/// Time of its ACK on the link that leaves by `port` after `hop` switches; it grows at each switch's egress.
pub fn ack_time(topology: &Topology, wire: &WireSizes, quirks: &Quirks, port: PortId, hop: usize) -> Time {
    let size = match quirks.base_rtt {
        RttOf::FrameAndAck => wire.ack + wire.ack_growth * hop as u64,
        RttOf::Payload => 0,
    };
    topology.rate(port).serialization(size) + topology.delay(port)
}

/// Round-trip time of a full packet and its ACK through empty queues.
fn unloaded_rtt(
    topology: &Topology,
    wire: &WireSizes,
    quirks: &Quirks,
    data: &[PortId],
    ack: &[PortId],
) -> Time {
    let there = data.iter().map(|&p| data_time(topology, wire, quirks, p));
    let back = ack.iter().enumerate().map(|(hop, &p)| ack_time(topology, wire, quirks, p, hop));
    there.chain(back).fold(Time::ZERO, |sum, t| sum + t)
}

/// A flow alone in the network.
struct LoneFlow<'a> {
    topology: &'a Topology,
    wire: &'a WireSizes,
    data: &'a [PortId],
    ack: &'a [PortId],
    ack_every: u64,
    processing_delay: Time,
}

impl LoneFlow<'_> {
    /// The flow completion time, exact: packets queue only behind their own flow's, so this is a line of queues in
    /// tandem that all packets enter at once.
    fn fct(&self, size: u64) -> Time {
        let payload = self.wire.payload;
        let packets = size.div_ceil(payload).max(1);
        let last = size - (packets - 1) * payload + self.wire.data_overhead;
        let times = |ports: &[PortId], bytes: u64| -> Vec<Time> {
            ports.iter().map(|&p| self.topology.rate(p).serialization(bytes)).collect()
        };
        // The wire's gap holds back only what follows on the same link.
        let (full, end, gap) =
            (times(self.data, self.wire.frame()), times(self.data, last), times(self.data, self.wire.gap));

        // When the last packet has left each link, without propagation, which adds the same to all. Packet i of the
        // full ones leaves a link at the sum of full times so far + (i - 1) times the slowest so far.
        let (mut through, mut slowest, mut now) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for ((&full, &end), &gap) in full.iter().zip(&end).zip(&gap) {
            (through, slowest) = (through + full, slowest.max(full + gap));
            if packets > 1 {
                now = now.max(through + slowest * (packets - 2) + gap);
            }
            now += end;
        }
        // ACKs are alike, so the last one leaves the last link when it has passed all of them behind the one that
        // held it up most: itself, the first of the train, or the one before it, with the slowest link's time for
        // each ACK in between. Those in the train come evenly.
        let ack = times(self.ack, self.wire.ack);
        let ack_gap = times(self.ack, self.wire.gap);
        let slowest_ack = ack.iter().zip(&ack_gap).map(|(&t, &g)| t + g).max().unwrap_or(Time::ZERO);
        let earlier = (packets - 1) / self.ack_every;
        if earlier > 0 {
            let first = through + slowest * (self.ack_every - 1);
            let before = through + slowest * (earlier * self.ack_every - 1);
            now = now.max(first + slowest_ack * earlier).max(before + slowest_ack);
        }
        now = ack.iter().fold(now, |at, &t| at + t);
        let propagation =
            self.data.iter().chain(self.ack).fold(Time::ZERO, |s, &p| s + self.topology.delay(p));
        now + propagation + self.processing_delay
    }
}
