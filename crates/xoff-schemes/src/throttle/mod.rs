//! Injection throttles: what slows a host's NIC port, over all of its traffic, by the port's used credits alone.
//!
//! A new throttle adds a file, which implements [`ThrottleParams`], and one line in the list at the end of this one.

pub mod pft;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use crate::registry::SchemeInfo;
use crate::seams::ParamError;

/// What a throttle knows of its NIC port.
#[derive(Clone, Debug)]
pub struct ThrottleEnv {
    /// The port's line rate.
    pub rate: Rate,
}

/// What a throttle takes the network for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ThrottleState {
    /// Packets go as fast as the wire takes them.
    #[default]
    Normal = 0,
    /// Packets are held back.
    Congested = 1,
}

impl ThrottleState {
    /// Its name in result tables.
    pub fn name(self) -> &'static str {
        match self {
            ThrottleState::Normal => "normal",
            ThrottleState::Congested => "congested",
        }
    }
}

/// Changes of state, each with its moment, in order.
pub type Changes = Vec<(Time, ThrottleState)>;

/// Throttle of a NIC port: says when the next data packet may begin.
///
/// Its state may change between two calls, by time alone; each call takes it to `now` first, and puts the changes on
/// the way into `changes`. Times never go back.
pub trait Throttle {
    /// Used credits are `used` from now on, in the unit in which flow control counts them. They begin as 0.
    fn used_credits(&mut self, now: Time, used: u64, changes: &mut Changes);
    /// The transmission of a data packet of `bytes` begins.
    fn on_send(&mut self, now: Time, bytes: u64, changes: &mut Changes);
    /// When the next data packet may begin, `now` at the earliest, if used credits stay as they are; [`Time::NEVER`] for
    /// not before they change. The wire itself may be taken for longer.
    fn ready_at(&mut self, now: Time, changes: &mut Changes) -> Time;
    /// The state as of the last call.
    fn state(&self) -> ThrottleState;
}

/// A throttle's parameters: they parse from a scenario, carry their documentation into the schema, and make the throttle
/// of each NIC port.
pub trait ThrottleParams: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line on what it is.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// The throttle itself.
    type Throttle: Throttle;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), ParamError> {
        Ok(())
    }
    /// Used credits up to which it never holds anything back, whatever their past.
    fn idle_up_to(&self) -> u64;
    /// Fills in defaults that depend on another parameter, so that a manifest shows them all.
    fn resolve(self) -> Self {
        self
    }
    /// The throttle of a NIC port, with 0 credits used at time 0.
    fn throttle(&self, env: &ThrottleEnv) -> Self::Throttle;
}

macro_rules! throttles {
    ($($(#[$doc:meta])* $variant:ident = $params:ty;)*) => {
        /// A throttle by name with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name", rename_all = "snake_case")]
        pub enum AnyThrottle { $($(#[$doc])* $variant($params)),* }

        /// The throttle of a NIC port, of any kind.
        #[derive(Clone, Debug)]
        pub enum AnyGate { $($(#[$doc])* $variant(<$params as ThrottleParams>::Throttle)),* }

        /// Every throttle, in the order of the list.
        pub fn catalogue() -> Vec<SchemeInfo> {
            vec![$(SchemeInfo {
                name: <$params as ThrottleParams>::NAME,
                title: <$params as ThrottleParams>::TITLE,
                source: <$params as ThrottleParams>::SOURCE,
                schema: schemars::schema_for!($params).to_value(),
                defaults: serde_json::to_value(<$params>::default()).unwrap_or_default(),
            }),*]
        }

        impl AnyThrottle {
            /// The names of all throttles.
            pub const NAMES: &'static [&'static str] = &[$(<$params as ThrottleParams>::NAME),*];

            /// The throttle called `name`, its parameters read from `source`; none where there is no such one.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$params as ThrottleParams>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyThrottle::$variant));
                })*
                let _ = source;
                None
            }
            /// Its name in scenarios.
            pub fn name(&self) -> &'static str {
                match self { $(AnyThrottle::$variant(_) => <$params as ThrottleParams>::NAME),* }
            }
            /// See [`ThrottleParams::validate`].
            pub fn validate(&self) -> Result<(), ParamError> {
                match self { $(AnyThrottle::$variant(t) => t.validate()),* }
            }
            /// See [`ThrottleParams::idle_up_to`].
            pub fn idle_up_to(&self) -> u64 {
                match self { $(AnyThrottle::$variant(t) => t.idle_up_to()),* }
            }
            /// See [`ThrottleParams::resolve`].
            pub fn resolve(self) -> Self {
                match self { $(AnyThrottle::$variant(t) => AnyThrottle::$variant(t.resolve())),* }
            }
            /// See [`ThrottleParams::throttle`].
            pub fn throttle(&self, env: &ThrottleEnv) -> AnyGate {
                match self { $(AnyThrottle::$variant(t) => AnyGate::$variant(t.throttle(env))),* }
            }
        }

        impl Throttle for AnyGate {
            fn used_credits(&mut self, now: Time, used: u64, changes: &mut Changes) {
                match self { $(AnyGate::$variant(t) => t.used_credits(now, used, changes)),* }
            }
            fn on_send(&mut self, now: Time, bytes: u64, changes: &mut Changes) {
                match self { $(AnyGate::$variant(t) => t.on_send(now, bytes, changes)),* }
            }
            fn ready_at(&mut self, now: Time, changes: &mut Changes) -> Time {
                match self { $(AnyGate::$variant(t) => t.ready_at(now, changes)),* }
            }
            fn state(&self) -> ThrottleState {
                match self { $(AnyGate::$variant(t) => t.state()),* }
            }
        }
    };
}

throttles! {
    /// Proactive flow throttling: intervals between flits that grow with used credits.
    Pft = pft::Pft;
}
