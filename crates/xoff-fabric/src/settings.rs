//! What can be set of packets, hosts, switches and flow control, apart from topology, traffic and scheme.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::IntFormat;
use xoff_schemes::throttle::AnyThrottle;

pub use crate::link::flow_control::counters::CounterWidth;

/// Sizes on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Packets {
    /// A full data frame on the wire, with every header and the scheme's signals. The payload of a full packet is
    /// what remains.
    pub mtu: Bytes,
    /// Payload of a full data packet; where given, headers and signals come on top of it and `mtu` follows.
    pub payload: Option<Bytes>,
    /// Headers of a data packet without signals: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
    pub header: Bytes,
    /// An ACK without signals: a data packet's headers and AETH 4.
    pub ack: Bytes,
    /// A CNP (from a receiver) or CNM (from a switch).
    pub cnp: Bytes,
    /// A PAUSE or RESUME frame (IEEE 802.1Qbb: the least Ethernet frame).
    pub pfc: Bytes,
    /// What the wire takes beside each frame: 20 B for Ethernet's preamble and least gap, or nothing as most
    /// published simulations have it.
    pub gap: Bytes,
    /// Width of INT's counters.
    pub int_format: IntFormat,
    /// INT counts bytes in units so many times as large: 128 B times this sent, 80 B times this queued. A power of two,
    /// at most 128.
    pub int_multi: u8,
    /// Hops that INT has room for.
    pub int_hops: u8,
    /// Period at which a switch refreshes the table that FNCC's ACKs read (FNCC, section 4.1, which gives no value);
    /// 0 reads live counters. Live, the records of different hops cover different moments of a packet or two, and
    /// the largest of several such noisy rates is too high: flows settle 5 to 10 % below eta. A table of 1 us
    /// averages over some packets at all hops.
    pub int_refresh: Time,
}

impl Default for Packets {
    fn default() -> Self {
        Packets {
            mtu: Bytes(1518),
            payload: None,
            header: Bytes(62),
            ack: Bytes(66),
            cnp: Bytes(66),
            pfc: Bytes(64),
            gap: Bytes(0),
            int_format: IntFormat::Hardware,
            int_multi: 1,
            int_hops: 5,
            int_refresh: Time::from_us(1),
        }
    }
}

/// The class in which ACKs travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckClass {
    /// With CNPs and CNMs ahead of all data, never paused.
    #[default]
    Control,
    /// In their flow's priority, behind its data in switches, and paused with it.
    Data,
    /// Ahead of all data and never paused at the host that sends them, in their flow's priority in switches. Hosts then
    /// do not stop when they should: a switch may run out of headroom.
    ControlAtHost,
}

/// The base RTT that schemes are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaseRtt {
    /// The largest over all pairs of hosts and the paths that routing may choose, for every flow (HPCC's and FNCC's
    /// T).
    #[default]
    Max,
    /// Each flow its own.
    PerPair,
}

/// Which flows a receiver counts into N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowCount {
    /// Flows with an incomplete message here, and those that delivered their last data within one base RTT.
    #[default]
    Recent,
    /// Every flow that ever delivered data here: their QPs stay open.
    AllOpenQps,
}

/// What is sent again, and in which order data may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// In order alone; in a lossy network the sender goes back to the first gap.
    #[default]
    GoBackN,
    /// What comes behind a gap is kept, and only what is missing is sent again (IRN: Mittal et al., SIGCOMM 2018).
    SelectiveRepeat,
    /// In any order, with selective ACKs: a message is complete when all of it is there.
    Unordered,
}

/// Host NICs and their transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// One cumulative ACK for this many data packets, and always one for the last. That many packets may be in
    /// flight whatever the window, or a small window would never be acknowledged.
    pub ack_every: u32,
    /// The class in which ACKs travel.
    pub ack_class: AckClass,
    /// Time from a data packet's arrival to its ACK's readiness.
    pub processing_delay: Time,
    /// The base RTT that schemes are given.
    pub base_rtt: BaseRtt,
    /// Which flows a receiver counts into N.
    pub flow_count: FlowCount,
    /// What is sent again, and in which order data may arrive.
    pub transport: Transport,
    /// `selective_repeat` and `unordered`: at most a bandwidth-delay product of payload in flight, whatever the scheme's
    /// window (IRN's BDP-FC).
    pub bdp_cap: bool,
    /// If packets may be lost: silence after which a sender sends what is not acknowledged again.
    pub retransmit_timeout: Time,
    /// If packets may be lost, `go_back_n`: least time between two NACKs for the same gap.
    pub nack_interval: Time,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            ack_every: 1,
            ack_class: AckClass::Control,
            processing_delay: Time::ZERO,
            base_rtt: BaseRtt::Max,
            flow_count: FlowCount::Recent,
            transport: Transport::GoBackN,
            bdp_cap: false,
            retransmit_timeout: Time::from_ms(1),
            nack_interval: Time::from_us(500),
        }
    }
}

/// How an egress port chooses among its data priorities. Control packets always go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// A packet of each backlogged priority in turn.
    #[default]
    RoundRobin,
    /// The highest backlogged priority number first.
    Strict,
    /// By `weights`, with `high_priority` lanes before the others, as InfiniBand arbitrates among virtual lanes.
    Weighted,
}

/// Where packets wait in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// At the output, first in, first out, in a memory that all ports share.
    Output,
    /// At the input, in a virtual output queue for each output; an output serves its inputs round robin.
    VirtualOutput,
}

/// When a switch sends a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// When its last bit is there.
    StoreAndForward,
    /// When its header is there, if the output is free and has credits for all of it.
    CutThrough,
}

/// Switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Data priorities in use, numbered from 0; at most 8.
    pub priorities: u8,
    /// How an egress port chooses among them.
    pub scheduling: Scheduling,
    /// Weighted scheduling: of each priority, what it may send in its turn, in units of 64 B, from 1 to 255. Priorities that
    /// are not listed have 1.
    pub weights: Vec<u8>,
    /// Weighted scheduling: priorities that go before the others, up to `high_limit`.
    pub high_priority: Vec<u8>,
    /// Weighted scheduling: after so many times 4096 B of high priority a packet of low priority goes, if there is one;
    /// 255 for never (InfiniBand's limit of high priority).
    pub high_limit: u8,
    /// Packet memory of each switch; without it, only flow control's thresholds bound the queues. Not with credits, whose
    /// buffers belong to links.
    pub buffer: Option<Bytes>,
    /// Where packets wait. Without it, at virtual output queues where flow control is by credits (`cbfc`, `credit`), else
    /// at the output.
    pub queueing: Option<Queueing>,
    /// When a packet is sent on. Without it, by cut-through where flow control is by credits, else store-and-forward.
    pub forwarding: Option<Forwarding>,
    /// Cut-through: bytes of a packet that must be there before it is sent on.
    pub cut_through_after: Bytes,
}

impl Default for Switch {
    fn default() -> Self {
        Switch {
            priorities: 1,
            scheduling: Scheduling::RoundRobin,
            weights: Vec::new(),
            high_priority: Vec::new(),
            high_limit: 255,
            buffer: None,
            queueing: None,
            forwarding: None,
            cut_through_after: Bytes(64),
        }
    }
}

impl Switch {
    /// Where packets wait under `flow_control`.
    pub fn queueing(&self, flow_control: &FlowControl) -> Queueing {
        let usual = if flow_control.has_credits() { Queueing::VirtualOutput } else { Queueing::Output };
        self.queueing.unwrap_or(usual)
    }

    /// When a packet is sent on under `flow_control`.
    pub fn forwarding(&self, flow_control: &FlowControl) -> Forwarding {
        let usual =
            if flow_control.has_credits() { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        self.forwarding.unwrap_or(usual)
    }
}

/// Priority-based Flow Control (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pfc {
    /// Static threshold: PAUSE when a port's ingress bytes of a priority exceed this.
    pub xoff: Option<Bytes>,
    /// Static threshold: RESUME when they fall to this; without it, two frames below `xoff`.
    pub xon: Option<Bytes>,
    /// Dynamic threshold: PAUSE when ingress bytes reach this share of the free shared memory. Needs
    /// `switch.buffer`; excludes `xoff`. Powers of two are what hardware offers (0.125 is common).
    pub alpha: Option<f64>,
    /// Dynamic threshold: a port faster than the hosts' has twice the share for each doubling of the rate begun, up to
    /// all that is free.
    pub alpha_by_rate: bool,
    /// Dynamic threshold: RESUME this far below the threshold.
    pub resume_offset: Bytes,
    /// Dynamic threshold: memory that each port and priority has to itself.
    pub reserve: Bytes,
    /// Memory of each port and priority above its threshold, for what arrives until the peer stops; without it,
    /// computed from the link: 2 t_p C + 3 MTU + a PAUSE frame of each priority + response time.
    pub headroom: Option<Bytes>,
    /// Headroom as so many times rate times propagation delay of the link's incoming direction, rounded down, in place
    /// of `headroom`; from 1 to 1000. It knows nothing of frames: on short links it may be too little.
    pub headroom_bdp: Option<u32>,
    /// How long a peer may take to obey a PAUSE, in quanta of 512 bit times; counts into the headroom and
    /// delays the stop.
    pub response_quanta: u32,
    /// Pause time of a PAUSE frame in quanta of 512 bit times at the port's rate.
    pub quanta: u16,
    /// Send PAUSE again at half its time while the threshold is still exceeded. Without it the peer goes on when the
    /// time is over, and the next packet above the threshold makes another PAUSE: what comes until that works may be
    /// more than the headroom has left, and then ends the run.
    pub refresh: bool,
    /// A pause ends by itself after its quanta; otherwise only by a RESUME.
    pub expires: bool,
}

impl Default for Pfc {
    fn default() -> Self {
        Pfc {
            xoff: None,
            xon: None,
            alpha: None,
            alpha_by_rate: false,
            resume_offset: Bytes(3 * 1024),
            reserve: Bytes(4 * 1024),
            headroom: None,
            headroom_bdp: None,
            response_quanta: 0,
            quanta: u16::MAX,
            refresh: true,
            expires: true,
        }
    }
}

/// InfiniBand's credit-based flow control (CBFC), for each virtual lane: `switch.priorities` is the number of lanes.
///
/// The receiver tells the sender every `update_period` up to which block of 64 bytes it may send (FCCL); the sender does not
/// begin a packet for whose blocks it has no credit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cbfc {
    /// Buffer of each ingress port and lane; without it, as much as keeps the link busy: what it carries in the time from
    /// one update to the next and there and back, see `undersized`.
    pub buffer: Option<Bytes>,
    /// Time between two updates of a port (T_c). The specification wants one at least every 65,536 symbol times, 65.5 us
    /// at 4 x 10 Gbps; 4.096 us is what the IB simulator of TCD's authors has.
    pub update_period: Time,
    /// An update on the wire, one for each lane. 6 bytes and framing.
    pub update_size: Bytes,
    /// Send an update as well when a packet has left the buffer and nothing else waits for the wire back.
    pub on_change: bool,
    /// Width of the counters.
    pub counters: CounterWidth,
    /// Allow a buffer with which a link stalls although nobody is in its way.
    pub undersized: bool,
}

impl Default for Cbfc {
    fn default() -> Self {
        Cbfc {
            buffer: None,
            update_period: Time(4_096_000),
            update_size: Bytes(8),
            on_change: false,
            counters: CounterWidth::Wide,
            undersized: false,
        }
    }
}

/// What a link credit stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreditUnit {
    /// A flit of a packet.
    #[default]
    Flit,
    /// A whole packet, of whatever size.
    Packet,
}

/// Link credits of HPC fabrics: the sender has as many as its neighbour's input buffer has places, spends them with each
/// packet, and gets them back when the packet has left that buffer (PFT, section III.A).
///
/// Credits travel back beside the data, as symbols that take no room on the wire, and arrive a flit's time and the
/// propagation delay after the packet has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkCredits {
    /// What a credit stands for.
    pub unit: CreditUnit,
    /// A flit: 16 B are what 100 Gbps carry in a cycle of 700 MHz.
    pub flit: Bytes,
    /// Credits of each ingress port and priority, 4096 flits of 16 B being 64 KiB; without it, as many as keep the link
    /// busy: for what it carries there and back, see `undersized`.
    pub credits: Option<u32>,
    /// Allow so few credits that a link stalls although nobody is in its way.
    pub undersized: bool,
}

impl Default for LinkCredits {
    fn default() -> Self {
        LinkCredits { unit: CreditUnit::Flit, flit: Bytes(16), credits: None, undersized: false }
    }
}

/// Flow control between neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum FlowControl {
    /// None: queues grow up to `switch.buffer`.
    None,
    /// Priority-based Flow Control.
    Pfc(Pfc),
    /// InfiniBand's credit-based flow control.
    Cbfc(Cbfc),
    /// Link credits of HPC fabrics.
    Credit(LinkCredits),
}

impl FlowControl {
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            FlowControl::None => "none",
            FlowControl::Pfc(_) => "pfc",
            FlowControl::Cbfc(_) => "cbfc",
            FlowControl::Credit(_) => "credit",
        }
    }

    /// Time between two updates of credits; none where there are none.
    pub fn update_period(&self) -> Option<Time> {
        match self {
            FlowControl::Cbfc(cbfc) => Some(cbfc.update_period),
            _ => None,
        }
    }

    /// Whether a packet goes only where there is room for it.
    pub fn has_credits(&self) -> bool {
        matches!(self, FlowControl::Cbfc(_) | FlowControl::Credit(_))
    }

    /// Whether a pause ends by itself.
    pub fn expires(&self) -> bool {
        matches!(self, FlowControl::Pfc(Pfc { expires: true, .. }))
    }

    /// Bytes between the thresholds that stop the sender and let it go on, with frames of at most `mtu` bytes; none
    /// without flow control.
    pub fn hysteresis(&self, mtu: u64) -> Option<Bytes> {
        match self {
            FlowControl::None | FlowControl::Cbfc(_) | FlowControl::Credit(_) => None,
            FlowControl::Pfc(Pfc { xoff: Some(xoff), xon, .. }) => {
                let xon = xon.map_or(xoff.0.saturating_sub(2 * mtu), |xon| xon.0);
                Some(Bytes(xoff.0.saturating_sub(xon)))
            }
            FlowControl::Pfc(pfc) => Some(pfc.resume_offset),
        }
    }
}

impl Default for FlowControl {
    fn default() -> Self {
        FlowControl::Pfc(Pfc { xoff: Some(Bytes(500_000)), ..Pfc::default() })
    }
}

/// How times of transmission are reckoned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// In picoseconds, exact.
    #[default]
    Exact,
    /// Cut to whole nanoseconds as ns-3 does: 1090 B at 100 Gbps take 87 ns in place of 87.2.
    Ns3,
}

impl Clock {
    /// The time that `bytes`, a frame's, take at `rate`.
    #[inline]
    pub fn serialization(self, rate: Rate, bytes: u64) -> Time {
        match self {
            Clock::Exact => rate.serialization(bytes),
            Clock::Ns3 => rate.ns3_time(bytes),
        }
    }
}

/// The order of simultaneous events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By what they are and whom they concern, arrivals by ingress port.
    #[default]
    ByPort,
    /// As they were scheduled, the end of a transmission before its arrival.
    Scheduled,
}

/// When a NIC with nothing to send looks again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicTimer {
    /// When the next of its flows may send.
    #[default]
    NextToSend,
    /// As the simulator of HPCC's authors: at the least pacing time of all flows with data left, whether their window
    /// lets them send or not, and if that is past, only when something else happens; once set, the timer is moved by a
    /// change of rate alone.
    Ns3,
}

/// What the gap after a packet follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingGap {
    /// The rate in force: a change of rate moves the next packet.
    #[default]
    RateInForce,
    /// The rate when the packet was sent.
    RateWhenSent,
}

/// What the base RTT is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttOf {
    /// A full frame there and its ACK back.
    #[default]
    FrameAndAck,
    /// A full packet's payload there, without headers, and propagation alone back.
    Payload,
}

/// What other simulators do differently, to compare with them; xoff's own ways are the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// How times of transmission are reckoned.
    pub clock: Clock,
    /// The order of simultaneous events.
    pub order: Order,
    /// When a NIC with nothing to send looks again.
    pub nic: NicTimer,
    /// What the gap after a packet follows.
    pub gap: PacingGap,
    /// What the base RTT is made of.
    pub base_rtt: RttOf,
    /// RED draws from ns-3's random streams (seed 1, run 1), from this one on, a new one for each number, and for ACKs
    /// in data queues as well; without it each queue has a stream of its own.
    pub marking_stream: Option<u32>,
}

/// Everything about the network that is not topology, routing, scheme or traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Sizes on the wire.
    pub packets: Packets,
    /// Host NICs.
    pub host: Host,
    /// Switches.
    pub switch: Switch,
    /// Flow control between neighbours.
    pub flow_control: FlowControl,
    /// Packets may be dropped for lack of buffer, and are then sent again; otherwise a drop ends the run.
    pub lossy: bool,
    /// What is as in another simulator.
    pub quirks: Quirks,
    /// What slows hosts' ports.
    pub throttle: Option<AnyThrottle>,
}
