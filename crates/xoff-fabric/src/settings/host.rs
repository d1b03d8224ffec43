//! Host NICs and their transport.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, time_within};
use xoff_engine::{NicChoice, Time, Violation};

use super::{MAX_TIME, Uet};

/// The class in which ACKs travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckClass {
    /// With CNPs and CNMs ahead of all data, never paused.
    #[default]
    Control,
    /// In their flow's priority, behind its data in switches, and paused with it.
    Data,
    /// Ahead of all data and never paused at the host that sends them, in their flow's priority in switches. A
    /// PAUSE then does not stop all of a host's traffic: a switch may run out of headroom.
    ControlAtHost,
}

/// The base RTT that schemes are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaseRtt {
    /// The maximum over all pairs of hosts and the paths that routing may choose, for every flow (HPCC's and FNCC's
    /// T).
    #[default]
    Max,
    /// Each flow's own base RTT.
    PerPair,
}

/// Which flows a receiver counts into N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowCount {
    /// Flows with an incomplete message to this receiver, and those that delivered their last data within one base RTT.
    #[default]
    Recent,
    /// Every flow that ever delivered data to this receiver: their QPs stay open.
    AllOpenQps,
}

/// What is sent again, and in which order data may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Only in order; the sender goes back to the first gap.
    #[default]
    GoBackN,
    /// The receiver keeps packets behind a gap, and the sender sends only missing packets again (IRN: Mittal et al.,
    /// SIGCOMM 2018).
    SelectiveRepeat,
    /// In any order, with selective ACKs: a message is complete when all of it is there.
    Unordered,
    /// Ultra Ethernet's: in any order, with selective ACKs of several packets, NACKs of trimmed packets, and a timer for the
    /// oldest packet. Its schemes are `nscc`, `rccc` and `nscc_rccc`.
    Uet,
}

/// Host NICs and their transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// One cumulative ACK for this many data packets, and always one for the last. That many packets may be in
    /// flight whatever the window: otherwise a small window would never be acknowledged.
    pub ack_every: u32,
    /// The class in which ACKs travel.
    pub ack_class: AckClass,
    /// Time from a data packet's arrival to its ACK's readiness.
    pub processing_delay: Time,
    /// Time from the start of a message, when its doorbell is rung, until the NIC may begin its first packet: the doorbell's write
    /// over PCIe, and the fetch of the work request and of the first data.
    #[serde(skip_serializing_if = "is_zero")]
    pub doorbell_delay: Time,
    /// Minimum time between two messages that a NIC takes from its doorbells, in the order of their starts and whatever their
    /// connections: its message rate is at most one in this time. Messages that wait for their turn wait in the NIC.
    #[serde(skip_serializing_if = "is_zero")]
    pub message_interval: Time,
    /// Minimum time between the beginnings of two data packets of a NIC: its packet rate is at most one in this time. ACKs and
    /// control packets do not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub packet_interval: Time,
    /// Time from the data packet, or the timer, for which a receiver notifies its sender until its NIC has made the CNP. The delay of ACKs is
    /// `processing_delay`.
    #[serde(skip_serializing_if = "is_zero")]
    pub cnp_delay: Time,
    /// The base RTT that schemes are given.
    pub base_rtt: BaseRtt,
    /// Hosts with several NICs: the NIC that a connection takes at its sender, unless its traffic says otherwise.
    /// `round_robin` gives the sender's connections its NICs in turn, `hash` picks a NIC by a hash of hosts and connection,
    /// and a number, counted from 0, always picks that NIC. NIC k talks to NIC k mod n of a receiver with n NICs.
    pub nic: NicChoice,
    /// Which flows a receiver counts into N.
    pub flow_count: FlowCount,
    /// What is sent again, and in which order data may arrive.
    pub transport: Transport,
    /// `selective_repeat` and `unordered`: new packets go only while less than a bandwidth-delay product of payload is in
    /// flight, whatever the scheme's window (IRN's BDP-FC).
    pub bdp_cap: bool,
    /// In a lossy network, or if packets overtake each other: time without new acknowledgements after which a sender sends
    /// unacknowledged data again.
    pub retransmit_timeout: Time,
    /// In a lossy network, or if packets overtake each other, with `go_back_n`: minimum time between two NACKs for the same
    /// gap.
    pub nack_interval: Time,
    /// `uet`: Ultra Ethernet's transport.
    #[serde(skip_serializing_if = "Uet::is_default")]
    pub uet: Uet,
}

fn is_zero(time: &Time) -> bool {
    *time == Time::ZERO
}

impl Default for Host {
    fn default() -> Self {
        Host {
            ack_every: 1,
            ack_class: AckClass::Control,
            processing_delay: Time::ZERO,
            doorbell_delay: Time::ZERO,
            message_interval: Time::ZERO,
            packet_interval: Time::ZERO,
            cnp_delay: Time::ZERO,
            base_rtt: BaseRtt::Max,
            nic: NicChoice::RoundRobin,
            flow_count: FlowCount::Recent,
            transport: Transport::GoBackN,
            bdp_cap: false,
            retransmit_timeout: Time::from_ms(1),
            nack_interval: Time::from_us(500),
            uet: Uet::default(),
        }
    }
}

impl Host {
    /// The costs of sending that take time, by key.
    fn costs(&self) -> impl Iterator<Item = (&'static str, Time)> {
        let costs = [
            ("doorbell_delay", self.doorbell_delay),
            ("message_interval", self.message_interval),
            ("packet_interval", self.packet_interval),
        ];
        costs.into_iter().filter(|&(_, time)| time > Time::ZERO)
    }

    /// Refuses costs of NICs under a `nic` or transport that does not know them.
    pub(super) fn validate_costs(&self, is_ns3: bool, all: &mut Vec<Violation>) {
        let is_uet = self.transport == Transport::Uet;
        let (which, other) = match (is_ns3, is_uet) {
            (true, _) => ("`nic = \"ns3\"` in [quirks]", "`nic = \"next_to_send\"`"),
            (_, true) => ("`transport = \"uet\"`", "another `transport`"),
            _ => return,
        };
        let cnp = (is_uet && self.cnp_delay > Time::ZERO).then_some(("cnp_delay", self.cnp_delay));
        for (key, time) in self.costs().chain(cnp) {
            let found = format!("is {time}, and {which} does not know this delay");
            all.push(Violation::new(format!("host.{key}"), found, format!("{other}, or 0")));
        }
    }

    /// What is wrong with the settings.
    pub fn validate(&self) -> Vec<Violation> {
        let times = [
            ("processing_delay", self.processing_delay, Time::ZERO),
            ("doorbell_delay", self.doorbell_delay, Time::ZERO),
            ("message_interval", self.message_interval, Time::ZERO),
            ("packet_interval", self.packet_interval, Time::ZERO),
            ("cnp_delay", self.cnp_delay, Time::ZERO),
            ("retransmit_timeout", self.retransmit_timeout, Time::from_ns(1)),
            ("nack_interval", self.nack_interval, Time::ZERO),
        ];
        let times = times.into_iter().filter_map(|(key, time, min)| time_within(key, time, min, MAX_TIME));
        let cap = (self.bdp_cap && self.transport == Transport::GoBackN).then(|| {
            let found = "is true, and `transport` is `go_back_n`, which knows no cap";
            Violation::new(
                "bdp_cap",
                found,
                "`selective_repeat` or `unordered` as `transport`, or no `bdp_cap`",
            )
        });
        number_within("ack_every", self.ack_every.into(), 1, u32::MAX.into())
            .into_iter()
            .chain(times)
            .chain(cap)
            .chain(self.uet.validate(self.transport).into_iter().map(|violation| violation.inside("uet")))
            .collect()
    }
}
