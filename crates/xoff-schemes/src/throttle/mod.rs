//! The list of injection throttles, which slow a host's NIC port, over all of its traffic, by the port's used credits.
//!
//! A new throttle adds a file that implements [`ThrottleParams`], and one line in the list at the end of this file.

pub mod pft;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Time, Violation};

use crate::catalogue::CatalogueEntry;
use crate::traits::{Changes, Throttle, ThrottleEnv, ThrottleParams, ThrottleState};

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
        pub fn catalogue() -> Vec<CatalogueEntry> {
            vec![$(CatalogueEntry::of::<$params>(
                <$params as ThrottleParams>::NAME,
                <$params as ThrottleParams>::TITLE,
                <$params as ThrottleParams>::SOURCE,
            )),*]
        }

        impl AnyThrottle {
            /// The names of all throttles.
            pub const NAMES: &'static [&'static str] = &[$(<$params as ThrottleParams>::NAME),*];

            /// The throttle called `name`, with parameters read from `source`; `None` if no throttle has that name.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$params as ThrottleParams>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyThrottle::$variant));
                })*
                let _ = source;
                None
            }
            /// The throttle's name in scenarios.
            pub fn name(&self) -> &'static str {
                match self { $(AnyThrottle::$variant(_) => <$params as ThrottleParams>::NAME),* }
            }
            /// See [`ThrottleParams::validate`].
            pub fn validate(&self) -> Result<(), Violation> {
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
            fn is_ready(&self) -> bool {
                match self { $(AnyGate::$variant(t) => t.is_ready()),* }
            }
            fn is_indifferent(&self, fewest: u64, most: u64) -> bool {
                match self { $(AnyGate::$variant(t) => t.is_indifferent(fewest, most)),* }
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
