//! The settings of packets, hosts, switches and flow control, apart from topology, traffic and scheme.
//!
//! Each table of settings has a file of its own, with its check. [`Settings::validate`] runs all these checks, and further
//! ones that compare one table with another or with the scheme.

pub(crate) mod flow_control;
mod host;
mod link;
mod packets;
mod quirks;
mod switch;
mod uet;
mod validate;
mod wire_sizes;

use xoff_engine::Time;
use xoff_schemes::throttle::AnyThrottle;

pub use flow_control::{
    Bfc, Cbfc, CounterWidth, CreditGranularity, CreditUnit, FlowControl, FlowControlKind, LinkCredits, Pfc,
    Thresholds, UeCbfc,
};
pub use host::{AckClass, BaseRtt, FlowCount, Host, Transport};
pub use link::{LinkSettings, Llr, LlrSizing};
pub use packets::Packets;
pub use quirks::{Clock, NicTimer, Order, PacingGap, Quirks, RttOf, UetOf};
pub use switch::{Forwarding, Queueing, Scheduling, Switch, VlWeight, Watchdog, WatchdogAction};
pub use uet::{EntropyChoice, Trimming, Uet, Victim};
pub use wire_sizes::WireSizes;

/// Maximum size of a frame in bytes.
pub const MAX_FRAME: u64 = 65_535;
/// Maximum delay of a host and maximum time of a timer: the maximum delay of a link.
const MAX_TIME: Time = crate::path::topology::MAX_DELAY;
/// Maximum number of credits of a buffer.
const MAX_CREDITS: u64 = 1 << 30;

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
    /// Errors on links, and their repair.
    pub link: LinkSettings,
    /// Packets may be dropped for lack of buffer, and are then sent again; otherwise a drop ends the run.
    pub lossy: bool,
    /// Behaviour taken over from other simulators.
    pub quirks: Quirks,
    /// The injection throttle of hosts' ports; `None` without one.
    pub throttle: Option<AnyThrottle>,
}
