//! Flow control between neighbours: PAUSE frames, or one of two kinds of credits.
//!
//! [`flow_controls`] lists them. A kind consists of its settings, which implement [`FlowControlKind`], and of its behaviour
//! at the two ends of a link, which implements `LinkControl` (`link/flow_control/mod.rs`). Only the list names types of
//! another room.

mod bfc;
mod cbfc;
mod link_credit;
mod pfc;
mod ue_cbfc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

pub use bfc::Bfc;
pub use cbfc::{Cbfc, CounterWidth};
pub use link_credit::{CreditGranularity, CreditUnit, LinkCredits};
pub use pfc::Pfc;
pub use ue_cbfc::UeCbfc;

/// The settings of one kind of flow control; a scenario's table `[flow_control]` is read into this type.
pub trait FlowControlKind: Serialize + serde::de::DeserializeOwned + JsonSchema {
    /// Name in scenarios.
    const NAME: &'static str;
    /// Whether the sender needs a credit for each packet.
    const HAS_CREDITS: bool = false;

    /// Whether frames are those of Ethernet, in switches that store and forward unless they are told otherwise.
    const IS_ETHERNET: bool = !Self::HAS_CREDITS;

    /// What is wrong with the settings by themselves.
    fn validate(&self) -> Vec<Violation>;

    /// The thresholds at which an ingress queue stops its peer and lets the peer go on; `None` if ingress queues have no
    /// threshold, or one that [`crate::link::buffer`] computes.
    fn thresholds(&self) -> Option<Thresholds> {
        None
    }

    /// Time between two credit updates; `None` if flow control sends no updates.
    fn update_period(&self) -> Option<Time> {
        None
    }

    /// Bytes of a credit update on the wire.
    fn update_size(&self) -> Bytes {
        Bytes(0)
    }

    /// Whether a stop ends by itself unless it is repeated, and nothing repeats it.
    fn stops_expire(&self) -> bool {
        false
    }

    /// Bytes in an ingress queue that stop its peer, a host whose NIC has `line_rate`, with `buffer` bytes a switch; 0 if
    /// nothing is stopped or credits stop it.
    fn stop_bytes(&self, _buffer: Option<Bytes>, _line_rate: Rate) -> u64 {
        self.thresholds().map_or(0, |thresholds| thresholds.stop)
    }

    /// Credits of a port that its lanes share, beside those that are reserved for each lane.
    fn shared_credits(&self) -> u64 {
        0
    }

    /// Bytes between the thresholds that stop the sender and let the sender go on, with frames of at most `frame` bytes;
    /// `None` if there are no thresholds.
    fn hysteresis(&self, _frame: u64) -> Option<Bytes> {
        self.thresholds().map(|t| Bytes(t.stop.saturating_sub(t.go)))
    }
}

/// Thresholds of an ingress queue that do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The peer is told to stop when a packet brings the queue above this number of bytes.
    pub stop: u64,
    /// The peer is told to go on when the queue falls to this number of bytes.
    pub go: u64,
    /// Bytes above `stop`, for packets that arrive until the peer has stopped.
    pub slack: u64,
}

/// The list of flow controls: name in scenarios (in snake case), settings, and control. A new flow control adds an entry.
macro_rules! flow_controls {
    ($then:ident) => {
        $then! {
            /// Priority-based Flow Control.
            Pfc = $crate::settings::Pfc, $crate::link::flow_control::pfc::Pfc;
            /// InfiniBand's credit-based flow control.
            Cbfc = $crate::settings::Cbfc, $crate::link::flow_control::cbfc::Cbfc;
            /// Ultra Ethernet's credit-based flow control.
            UeCbfc = $crate::settings::UeCbfc, $crate::link::flow_control::ue_cbfc::UeCbfc;
            /// Link credits of HPC fabrics.
            Credit = $crate::settings::LinkCredits, $crate::link::flow_control::link_credit::LinkCredit;
            /// Backpressure Flow Control, by flow.
            Bfc = $crate::settings::Bfc, $crate::link::flow_control::bfc::Bfc;
            #[cfg(test)]
            /// Stop-and-go.
            StopAndGo = $crate::link::flow_control::stop_and_go::StopAndGo, $crate::link::flow_control::stop_and_go::Control;
        }
    };
}
pub(crate) use flow_controls;

macro_rules! define {
    ($($(#[cfg($cfg:meta)])? $(#[doc = $doc:literal])* $variant:ident = $settings:ty, $control:ty;)*) => {
        /// Flow control between neighbours.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name", rename_all = "snake_case")]
        pub enum FlowControl {
            /// None: queues grow up to `switch.buffer`.
            None,
            $($(#[cfg($cfg)])? $(#[doc = $doc])* $variant($settings)),*
        }

        impl FlowControl {
            /// The names of all kinds.
            pub const NAMES: &'static [&'static str] =
                &["none", $($(#[cfg($cfg)])? <$settings as FlowControlKind>::NAME),*];

            /// The flow control called `name`, with settings read from `source`; `None` if there is no such flow control,
            /// and for `none`, which has no settings.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $($(#[cfg($cfg)])? if name == <$settings as FlowControlKind>::NAME {
                    return Some(<$settings>::deserialize(source).map(FlowControl::$variant));
                })*
                let _ = source;
                None
            }

            /// Its name in scenarios.
            pub fn name(&self) -> &'static str {
                match self {
                    FlowControl::None => "none",
                    $($(#[cfg($cfg)])? FlowControl::$variant(_) => <$settings as FlowControlKind>::NAME,)*
                }
            }

            /// See [`FlowControlKind::HAS_CREDITS`].
            pub fn has_credits(&self) -> bool {
                match self {
                    FlowControl::None => false,
                    $($(#[cfg($cfg)])? FlowControl::$variant(_) => <$settings as FlowControlKind>::HAS_CREDITS,)*
                }
            }

            /// See [`FlowControlKind::IS_ETHERNET`].
            pub fn is_ethernet(&self) -> bool {
                match self {
                    FlowControl::None => true,
                    $($(#[cfg($cfg)])? FlowControl::$variant(_) => <$settings as FlowControlKind>::IS_ETHERNET,)*
                }
            }

            /// See [`FlowControlKind::validate`].
            pub fn validate(&self) -> Vec<Violation> {
                match self {
                    FlowControl::None => Vec::new(),
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.validate(),)*
                }
            }

            /// See [`FlowControlKind::thresholds`].
            pub fn thresholds(&self) -> Option<Thresholds> {
                match self {
                    FlowControl::None => None,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.thresholds(),)*
                }
            }

            /// See [`FlowControlKind::update_period`].
            pub fn update_period(&self) -> Option<Time> {
                match self {
                    FlowControl::None => None,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.update_period(),)*
                }
            }

            /// See [`FlowControlKind::update_size`].
            pub fn update_size(&self) -> Bytes {
                match self {
                    FlowControl::None => Bytes(0),
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.update_size(),)*
                }
            }

            /// See [`FlowControlKind::stops_expire`].
            pub fn stops_expire(&self) -> bool {
                match self {
                    FlowControl::None => false,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.stops_expire(),)*
                }
            }

            /// See [`FlowControlKind::stop_bytes`].
            pub fn stop_bytes(&self, buffer: Option<Bytes>, line_rate: Rate) -> u64 {
                match self {
                    FlowControl::None => 0,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.stop_bytes(buffer, line_rate),)*
                }
            }

            /// See [`FlowControlKind::shared_credits`].
            pub fn shared_credits(&self) -> u64 {
                match self {
                    FlowControl::None => 0,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.shared_credits(),)*
                }
            }

            /// See [`FlowControlKind::hysteresis`].
            pub fn hysteresis(&self, frame: u64) -> Option<Bytes> {
                match self {
                    FlowControl::None => None,
                    $($(#[cfg($cfg)])? FlowControl::$variant(settings) => settings.hysteresis(frame),)*
                }
            }
        }
    };
}
flow_controls!(define);

impl Default for FlowControl {
    fn default() -> Self {
        FlowControl::Pfc(Pfc::default())
    }
}
