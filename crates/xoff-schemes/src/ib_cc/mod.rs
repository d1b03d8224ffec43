//! InfiniBand congestion control (InfiniBand Architecture Specification 1.4, Volume 1, Annex A10).
//!
//! Switches mark (FECN, [`crate::detector::fecn`]), receivers send the mark back (BECN), and the sender delays the
//! flow's next packet by the entry of the congestion control table ([`table`]) at the flow's index CCTI:
//!
//! ```text
//! BECN:          CCTI = min(CCTI + CCTI_Increase, CCTI_Limit); the timer starts if it does not run
//! CCTI_Timer:    CCTI = max(CCTI - 1, CCTI_Min); it runs on while CCTI > CCTI_Min
//! after a packet of time t:  wait t * multiplier / 2^shift  before the next, so rate = C / (1 + multiplier / 2^shift)
//! ```
//!
//! That a BECN does not restart a running timer follows Linux' driver of Intel's adapter (hfi1). The driver takes the
//! time of a full packet for t, whatever the packet's size; the two differ after a flow's last packet only, which
//! nothing follows. The index belongs to a flow (its QP), or to a service level, which all flows of a host and priority
//! share: their packets then wait for each other ([`Scope`]). With ternary detection (TCD, SIGCOMM 2021, section 5.2.2)
//! a BECN may say that a port is undetermined.
//!
//! # Reordering
//!
//! Each BECN raises the index, in whatever order they come.
//!
//! # Idle
//!
//! CCTI_Timer runs on whether or not the QP or service level sends: the rules above name no packet, and hfi1's timer
//! starts anew on each expiry while CCTI > CCTI_Min. The index falls by one at each expiry.

mod reaction;
pub mod table;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Time, Violation};

use crate::check;
use crate::detector::fecn::Fecn;
use crate::signals::{Mark, Signals};
use crate::traits::{Arrival, Cnp, FlowEnv, NetworkEnv, NoOp, NotificationPoint, PortEnv, Scheme, SlEnv};
pub use reaction::Sender;
use reaction::Settings;
use table::{ENTRIES, LARGEST_MULTIPLIER, LARGEST_SHIFT, Shape, Table};

/// How a BECN travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Becn {
    /// In the ACK of the marked packet (reliable connections).
    #[default]
    Ack,
    /// In a CNP of its own for each marked packet, at once (unreliable transports).
    Cnp,
}

/// What a sender does on a BECN that reports an undetermined port, which only ternary detection sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undetermined {
    /// Nothing: the rate is not updated, and the timer goes on as it did (TCD, section 5.2.2).
    #[default]
    Ignore,
    /// A running timer restarts, so that the rate does not rise either.
    Hold,
}

/// Whose packets the injection rate delay holds back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The packets of the BECN's flow: each QP has an index of its own.
    #[default]
    Qp,
    /// All packets of the flow's host and priority: the flows share one index, and a packet of one waits for the
    /// packets of the others. The index outlives the flows, so that a new flow begins with the index that earlier flows
    /// left.
    Sl,
}

/// Parameters of InfiniBand congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IbCc {
    /// How a BECN travels. Default `ack`.
    pub becn: Becn,
    /// Whose packets are held back: the packets of one flow (`qp`) or all packets of a host's priority (`sl`), the two
    /// modes of an adapter's congestion control. Default `qp`.
    pub scope: Scope,
    /// Steps by which a BECN raises the index: CCTI_Increase, without unit, at least 1. Default 1; with TCD 2 (section
    /// 5.2.2, which calls 1 the default).
    pub ccti_increase: u16,
    /// The largest index: CCTI_Limit, without unit, below the table's length. Default: the table's last.
    pub ccti_limit: Option<u16>,
    /// The minimum index, at which flows start: CCTI_Min, without unit. Default 0.
    pub ccti_min: u16,
    /// Time after which the index falls by one: CCTI_Timer, in the specification a multiple of 1.024 us. Default 153.6
    /// us, 150 of them (attributed to Gran et al., IPDPS 2010, and not verified there).
    pub ccti_timer: Time,
    /// The congestion control table: a formula for 128 entries, or a `list`. The specification has none; `quadratic` is
    /// `mellanox` in eighths without rounding down. Default `quadratic`.
    pub cct: Shape,
    /// `mellanox` and `simula` only: the fabric constant k, without unit, from 0.001 to 1000. Default 0.218 (a study at
    /// LLNL, which has 0.408 for another fabric).
    pub fabric_constant: Option<f64>,
    /// `list` only: the table's multipliers, from 0 to 16,383, at most 128 of them.
    pub multipliers: Vec<u16>,
    /// `list` only: the shift of all entries, from 0 to 3. Default 3: multipliers are eighths of the packet's time.
    pub shift: Option<u8>,
    /// What a BECN that reports an undetermined port does. Default `ignore`.
    pub undetermined: Undetermined,
}

impl Default for IbCc {
    fn default() -> Self {
        IbCc {
            becn: Becn::default(),
            scope: Scope::default(),
            ccti_increase: 1,
            ccti_limit: None,
            ccti_min: 0,
            ccti_timer: Time::from_ns(150 * 1_024),
            cct: Shape::default(),
            fabric_constant: None,
            multipliers: Vec::new(),
            shift: None,
            undetermined: Undetermined::default(),
        }
    }
}

/// The default fabric constant.
const FABRIC_CONSTANT: f64 = 0.218;

impl IbCc {
    /// The congestion control table.
    pub fn table(&self) -> Table {
        match self.cct {
            Shape::List => {
                let shift = self.shift.unwrap_or(LARGEST_SHIFT);
                Table::List { multipliers: self.multipliers.clone(), shift }
            }
            shape => {
                let fabric_constant = self.fabric_constant.unwrap_or(FABRIC_CONSTANT);
                Table::Formula { shape, fabric_constant }
            }
        }
    }

    /// Number of entries of the table.
    fn entries(&self) -> usize {
        if self.cct == Shape::List { self.multipliers.len() } else { ENTRIES }
    }

    /// The largest index.
    fn limit(&self) -> u16 {
        self.ccti_limit.unwrap_or(self.entries().saturating_sub(1) as u16)
    }

    fn settings(&self) -> Settings {
        Settings {
            table: self.table(),
            increase: self.ccti_increase,
            limit: self.limit(),
            min: self.ccti_min,
            timer: self.ccti_timer,
            undetermined: self.undetermined,
            becn_on_acks: self.becn == Becn::Ack,
        }
    }

    /// Refuses a list that is not a valid table, and keys that the shape does not use.
    fn check_table(&self) -> Result<(), Violation> {
        let (list, scaled) = (self.cct == Shape::List, matches!(self.cct, Shape::Mellanox | Shape::Simula));
        let name = serde_json::to_value(self.cct).unwrap_or_default();
        for (key, foreign) in [
            ("fabric_constant", self.fabric_constant.is_some() && !scaled),
            ("multipliers", !self.multipliers.is_empty() && !list),
            ("shift", self.shift.is_some() && !list),
        ] {
            if foreign {
                let found = format!("has no meaning with `cct = {name}`");
                return Err(Violation::new(key, found, "to be left out"));
            }
        }
        if let Some(k) = self.fabric_constant {
            check::within("fabric_constant", k, 0.001, 1_000.0)?;
        }
        if let Some(shift) = self.shift.filter(|s| *s > LARGEST_SHIFT) {
            return Err(Violation::new(
                "shift",
                format!("is {shift}"),
                format!("a number from 0 to {LARGEST_SHIFT}"),
            ));
        }
        let entries = self.entries();
        if entries == 0 || entries > ENTRIES {
            let expected = format!("1 to {ENTRIES} with `cct = \"list\"`");
            return Err(Violation::new("multipliers", format!("has {entries} entries"), expected));
        }
        match self.multipliers.iter().find(|m| **m > LARGEST_MULTIPLIER) {
            Some(large) => {
                let expected = format!("numbers from 0 to {LARGEST_MULTIPLIER}");
                Err(Violation::new("multipliers", format!("has {large}"), expected))
            }
            None => Ok(()),
        }
    }
}

/// InfiniBand CC's receiver.
#[derive(Clone, Debug)]
pub struct BecnSender {
    becn: Becn,
}

impl NotificationPoint for BecnSender {
    #[inline]
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        let sends = self.becn == Becn::Cnp && arrival.mark != Mark::None;
        sends.then_some(Cnp { mark: arrival.mark, rate: None })
    }
}

impl Scheme for IbCc {
    const NAME: &'static str = "ib_cc";
    const TITLE: &'static str =
        "InfiniBand congestion control: delays between packets from a table, by FECN and BECN";
    const SOURCE: &'static str = "InfiniBand Architecture Specification 1.4, Volume 1, Annex A10";
    type Reaction = Sender;
    type Notification = BecnSender;
    type Congestion = NoOp;
    type DefaultDetector = Fecn;

    fn validate(&self) -> Result<(), Violation> {
        self.check_table()?;
        if self.ccti_increase == 0 {
            let expected = "at least 1, or BECNs would do nothing";
            return Err(Violation::new("ccti_increase", "is 0", expected));
        }
        let (limit, last) = (self.limit(), self.entries() - 1);
        if usize::from(limit) > last {
            let expected = format!("at most {last}, the table's last index");
            return Err(Violation::new("ccti_limit", format!("is {limit}"), expected));
        }
        if self.ccti_min > limit {
            let expected = format!("at most `ccti_limit`, {limit}");
            return Err(Violation::new("ccti_min", format!("is {}", self.ccti_min), expected));
        }
        check::time("ccti_timer", self.ccti_timer)
    }

    fn resolve(mut self, _env: &NetworkEnv) -> Self {
        self.ccti_limit = Some(self.limit());
        match self.cct {
            Shape::List => self.shift = self.shift.or(Some(LARGEST_SHIFT)),
            Shape::Mellanox | Shape::Simula => {
                self.fabric_constant = self.fabric_constant.or(Some(FABRIC_CONSTANT));
            }
            Shape::Quadratic | Shape::Ibsim => {}
        }
        self
    }

    fn signals(&self) -> Signals {
        let acks = self.becn == Becn::Ack;
        Signals { ecn: true, acks, marked_acks_only: acks, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> Sender {
        let settings = self.settings();
        let limit = match self.scope {
            Scope::Qp => settings.limit,
            // The service level's index applies, and it is never below this.
            Scope::Sl => settings.min,
        };
        Sender::new(Settings { limit, ..settings }, env.line_rate)
    }
    fn sl_reaction(&self, env: &SlEnv) -> Option<Sender> {
        (self.scope == Scope::Sl).then(|| Sender::new(self.settings(), env.line_rate))
    }
    fn notification(&self, _: &FlowEnv) -> BecnSender {
        BecnSender { becn: self.becn }
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
