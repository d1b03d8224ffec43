//! Settings of switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};

use super::{FlowControl, MAX_FRAME, MAX_TIME, Trimming, Victim};

/// How an egress port chooses among its data priorities. Control packets always go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// A packet of each backlogged priority in turn.
    #[default]
    RoundRobin,
    /// The highest backlogged priority number first.
    Strict,
    /// InfiniBand's arbitration among virtual lanes (VLs), by two tables of weights: `vlarb_high` and `vlarb_low`, or the short
    /// form `weights` and `high_priority`, in which each VL stands once.
    Weighted,
}

/// An entry of a table of InfiniBand's arbitration among virtual lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VlWeight {
    /// The virtual lane, a data priority.
    pub vl: u8,
    /// What the lane may send in the entry's turn, in units of 64 B, from 0 to 255; an entry with 0 is skipped.
    pub weight: u8,
}

/// Maximum delay of a switch's pipeline.
const MAX_PIPELINE: Time = Time::from_ms(1);

/// Entries of a table of arbitration (InfiniBand Architecture Specification 1.3, 7.6.9).
const MAX_VL_ENTRIES: usize = 64;

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
    /// When its last bit has arrived.
    StoreAndForward,
    /// When its header has arrived, if the output is free and has credits for the whole packet.
    CutThrough,
}

/// What a PFC watchdog does with a queue in a storm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchdogAction {
    /// Drops what waits in the queue and what comes for it.
    #[default]
    Drop,
    /// Sends as if no PAUSE had come.
    Forward,
}

/// The PFC watchdog of a switch's egress queues, with SONiC's defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Watchdog {
    /// A queue that holds packets and is stopped for so long is in a storm.
    pub detection: Time,
    /// A queue in a storm that is not stopped for so long obeys PAUSE again.
    pub restoration: Time,
    /// What becomes of the packets of a queue in a storm.
    pub action: WatchdogAction,
}

impl Default for Watchdog {
    fn default() -> Self {
        let (detection, restoration) = (Time::from_ms(400), Time::from_ms(2_000));
        Watchdog { detection, restoration, action: WatchdogAction::Drop }
    }
}

impl Watchdog {
    fn validate(&self) -> Vec<Violation> {
        let times = [("detection", self.detection), ("restoration", self.restoration)];
        let within = |(key, time)| time_within(key, time, Time::from_us(1), MAX_TIME);
        times.into_iter().filter_map(within).collect()
    }
}

/// Switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Data priorities in use, numbered from 0; at most 8.
    pub priorities: u8,
    /// How an egress port chooses among its data priorities.
    pub scheduling: Scheduling,
    /// Weighted scheduling: what each priority may send in its turn, in units of 64 B, from 1 to 255. Priorities that are not
    /// listed have 1.
    pub weights: Vec<u8>,
    /// Weighted scheduling: priorities that go before the others, up to `high_limit`.
    pub high_priority: Vec<u8>,
    /// Weighted scheduling: once high priority has sent this many times 4096 B, a packet of low priority goes, if one waits; 0
    /// for after each packet, 255 for never (InfiniBand's Limit of High-Priority).
    pub high_limit: u8,
    /// Weighted scheduling: the high-priority table of arbitration, up to 64 entries such as `{ vl = 0, weight = 4 }`. A VL may
    /// stand in it several times, and in `vlarb_low` as well. In place of `weights` and `high_priority`.
    pub vlarb_high: Vec<VlWeight>,
    /// Weighted scheduling: the low-priority table, like `vlarb_high`. Each VL needs a weight above 0 in one of the two.
    pub vlarb_low: Vec<VlWeight>,
    /// Packet memory of each switch; without it, only flow control's thresholds bound the queues. Excludes credits,
    /// whose buffers belong to links.
    pub buffer: Option<Bytes>,
    /// Bytes of data that each egress port may hold in a lossy network, the packet on its wire included; a port that is slower
    /// than the fastest has its share. Twice as many bytes of control packets may wait beside them. Without it, ports share
    /// the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<Bytes>,
    /// Which packet makes room where data finds none below `queue_limit`.
    #[serde(skip_serializing_if = "Victim::is_default")]
    pub queue_victim: Victim,
    /// Data that finds no room below `queue_limit` is cut to its header, which goes on with control packets, so that its
    /// receiver can ask for it again at once; without it, such data is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimming: Option<Trimming>,
    /// Where packets wait. Without it, in virtual output queues if flow control is by credits (`cbfc`, `ue_cbfc`, `credit`), otherwise
    /// at the output.
    pub queueing: Option<Queueing>,
    /// When a packet is sent on. Without it, by cut-through if flow control is `cbfc` or `credit`, otherwise after all of it has
    /// arrived (store-and-forward).
    pub forwarding: Option<Forwarding>,
    /// Cut-through: bytes of a packet that must have arrived before it is sent on.
    pub cut_through_after: Bytes,
    /// Time that everything which comes to a switch takes through its pipeline, beside the transmission. It counts as a longer link
    /// into the switch: in base RTTs and in what buffers must hold, and for frames of flow control as well.
    #[serde(skip_serializing_if = "is_zero")]
    pub pipeline_delay: Time,
    /// The PFC watchdog of all egress queues: `watchdog = {}` for SONiC's defaults, or
    /// `{ detection = "400ms", restoration = "2s", action = "drop" }`. Without it, no watchdog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Watchdog>,
}

fn is_zero(time: &Time) -> bool {
    *time == Time::ZERO
}

impl Default for Switch {
    fn default() -> Self {
        Switch {
            priorities: 1,
            scheduling: Scheduling::RoundRobin,
            weights: Vec::new(),
            high_priority: Vec::new(),
            high_limit: 255,
            vlarb_high: Vec::new(),
            vlarb_low: Vec::new(),
            buffer: None,
            queue_limit: None,
            queue_victim: Victim::Arriving,
            trimming: None,
            queueing: None,
            forwarding: None,
            cut_through_after: Bytes(64),
            pipeline_delay: Time::ZERO,
            watchdog: None,
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
            if flow_control.is_ethernet() { Forwarding::StoreAndForward } else { Forwarding::CutThrough };
        self.forwarding.unwrap_or(usual)
    }

    /// Whether the tables of arbitration are given as such.
    fn has_vl_tables(&self) -> bool {
        !(self.vlarb_high.is_empty() && self.vlarb_low.is_empty())
    }

    /// The high-priority and the low-priority table of weighted scheduling.
    pub fn vl_tables(&self) -> (Vec<VlWeight>, Vec<VlWeight>) {
        if self.has_vl_tables() {
            return (self.vlarb_high.clone(), self.vlarb_low.clone());
        }
        let weight = |vl: u8| self.weights.get(usize::from(vl)).copied().unwrap_or(1);
        let all = (0..self.priorities).map(|vl| VlWeight { vl, weight: weight(vl) });
        all.partition(|entry| self.high_priority.contains(&entry.vl))
    }

    /// What is wrong with the tables of arbitration.
    fn validate_vl_tables(&self) -> Vec<Violation> {
        let mut all = Vec::new();
        for (key, table) in [("vlarb_high", &self.vlarb_high), ("vlarb_low", &self.vlarb_low)] {
            if table.len() > MAX_VL_ENTRIES {
                let found = format!("has {} entries", table.len());
                all.push(Violation::new(key, found, format!("at most {MAX_VL_ENTRIES}")));
            }
            if let Some(place) = table.iter().position(|entry| entry.vl >= self.priorities) {
                let (vl, priorities) = (table[place].vl, self.priorities);
                let found = format!("names VL {vl} in entry {}, and `priorities` is {priorities}", place + 1);
                let expected = match priorities {
                    1 => "VL 0".to_string(),
                    _ => format!("a VL from 0 to {}", priorities.saturating_sub(1)),
                };
                all.push(Violation::new(key, found, expected));
            }
        }
        if !self.has_vl_tables() {
            return all;
        }
        let tables = || self.vlarb_high.iter().chain(&self.vlarb_low);
        let idle = (0..self.priorities).find(|&vl| !tables().any(|e| e.vl == vl && e.weight > 0));
        if let Some(vl) = idle {
            let key = if self.vlarb_low.is_empty() { "vlarb_high" } else { "vlarb_low" };
            let found =
                format!("leaves VL {vl} without a weight in either table, so that it would never send");
            all.push(Violation::new(key, found, format!("an entry such as {{ vl = {vl}, weight = 1 }}")));
        }
        for (key, is_set) in
            [("weights", !self.weights.is_empty()), ("high_priority", !self.high_priority.is_empty())]
        {
            if is_set {
                let found = "stands beside `vlarb_high` or `vlarb_low`, which say the same";
                all.push(Violation::new(key, found, "to be left out"));
            }
        }
        all
    }

    /// What is wrong with the settings by themselves. [`super::Settings::validate`] compares them with other tables.
    pub fn validate(&self) -> Vec<Violation> {
        let mut all: Vec<Violation> =
            number_within("priorities", self.priorities.into(), 1, 8).into_iter().collect();
        if let Some(zero) = self.weights.iter().position(|&weight| weight == 0) {
            let found = format!("has a 0, for priority {zero}");
            all.push(Violation::new("weights", found, "numbers from 1 to 255"));
        }
        if self.weights.len() > self.priorities.into() {
            let found = format!("has {} numbers for {} priorities", self.weights.len(), self.priorities);
            all.push(Violation::new("weights", found, format!("at most {}", self.priorities)));
        }
        if let Some(lane) = self.high_priority.iter().find(|&&lane| lane >= self.priorities) {
            let found = format!("names priority {lane}, and `priorities` is {}", self.priorities);
            all.push(Violation::new("high_priority", found, format!("numbers below {}", self.priorities)));
        }
        all.extend(self.validate_vl_tables());
        if let Some(watchdog) = &self.watchdog {
            all.extend(watchdog.validate().into_iter().map(|violation| violation.inside("watchdog")));
        }
        all.extend(self.queue_limit.and_then(|limit| size_within("queue_limit", limit, 1, 1 << 40)));
        if let Some(trimming) = &self.trimming {
            all.extend(trimming.validate().into_iter().map(|violation| violation.inside("trimming")));
            if self.queue_limit.is_none() {
                let found = "is set, and nothing says when a packet finds no room";
                all.push(Violation::new("trimming", found, "`queue_limit` beside it, such as \"178KB\""));
            }
        }
        all.extend(time_within("pipeline_delay", self.pipeline_delay, Time::ZERO, MAX_PIPELINE));
        all.extend(size_within("cut_through_after", self.cut_through_after, 1, MAX_FRAME));
        all
    }
}
