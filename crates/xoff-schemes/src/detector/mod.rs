//! Detectors: what an egress queue marks packets by. They combine with any scheme that reacts to marks.
//!
//! A new detector adds a file, which implements [`DetectorParams`], and one line in the list at the end of this
//! one.

pub mod fecn;
pub mod np_ecn;
pub mod red;
pub mod tcd;
pub mod ternary;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xoff_engine::Rate;

use crate::registry::SchemeInfo;
use crate::seams::{Detector, ParamError, Passing, PortEnv, PortState, QueueView};
use crate::signals::Mark;

/// A detector's parameters: they parse from a scenario, carry their documentation into the schema, and make the
/// detector of each egress queue.
pub trait DetectorParams: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line on what it is.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// Whether its queues have states to record.
    const HAS_STATES: bool = false;
    /// Whether it differs from plain marking only where flow control stops queues.
    const NEEDS_PAUSES: bool = false;
    /// The detector itself.
    type Detector: Detector;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), ParamError> {
        Ok(())
    }
    /// Fills in what follows from the detector that the scheme has of its own accord.
    fn serve(self, _own: &AnyDetector) -> Self {
        self
    }
    /// Refuses a switch port's rate for which there are no parameters.
    fn accepts(&self, _rate: Rate) -> Result<(), ParamError> {
        Ok(())
    }
    /// The detector of an egress queue, at a rate that is accepted. Defaults that depend on the port are filled in
    /// here.
    fn detector(&self, env: &PortEnv) -> Self::Detector;
}

macro_rules! detectors {
    ($($(#[$doc:meta])* $variant:ident = $params:ty;)*) => {
        /// A detector by name with its parameters.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name", rename_all = "snake_case")]
        pub enum AnyDetector { $($(#[$doc])* $variant($params)),* }

        /// The detector of an egress queue, of any kind.
        #[derive(Clone, Debug)]
        pub enum AnyMarker { $($(#[$doc])* $variant(<$params as DetectorParams>::Detector)),* }

        /// Every detector, in the order of the list.
        pub fn catalogue() -> Vec<SchemeInfo> {
            vec![$(SchemeInfo {
                name: <$params as DetectorParams>::NAME,
                title: <$params as DetectorParams>::TITLE,
                source: <$params as DetectorParams>::SOURCE,
                schema: schemars::schema_for!($params).to_value(),
                defaults: serde_json::to_value(<$params>::default()).unwrap_or_default(),
            }),*]
        }

        impl AnyDetector {
            /// The names of all detectors.
            pub const NAMES: &'static [&'static str] = &[$(<$params as DetectorParams>::NAME),*];

            /// The detector called `name`, its parameters read from `source`; none where there is no such one.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$params as DetectorParams>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyDetector::$variant));
                })*
                let _ = source;
                None
            }
            /// Its name in scenarios.
            pub fn name(&self) -> &'static str {
                match self { $(AnyDetector::$variant(_) => <$params as DetectorParams>::NAME),* }
            }
            /// See [`DetectorParams::HAS_STATES`].
            pub fn has_states(&self) -> bool {
                match self { $(AnyDetector::$variant(_) => <$params as DetectorParams>::HAS_STATES),* }
            }
            /// See [`DetectorParams::NEEDS_PAUSES`].
            pub fn needs_pauses(&self) -> bool {
                match self { $(AnyDetector::$variant(_) => <$params as DetectorParams>::NEEDS_PAUSES),* }
            }
            /// See [`DetectorParams::validate`].
            pub fn validate(&self) -> Result<(), ParamError> {
                match self { $(AnyDetector::$variant(d) => d.validate()),* }
            }
            /// See [`DetectorParams::serve`].
            pub fn serve(self, own: &AnyDetector) -> Self {
                match self { $(AnyDetector::$variant(d) => AnyDetector::$variant(d.serve(own))),* }
            }
            /// See [`DetectorParams::accepts`].
            pub fn accepts(&self, rate: Rate) -> Result<(), ParamError> {
                match self { $(AnyDetector::$variant(d) => d.accepts(rate)),* }
            }
            /// See [`DetectorParams::detector`].
            pub fn detector(&self, env: &PortEnv) -> AnyMarker {
                match self { $(AnyDetector::$variant(d) => AnyMarker::$variant(d.detector(env))),* }
            }
        }

        impl Detector for AnyMarker {
            #[inline]
            fn on_dequeue(&mut self, queue: &QueueView, packet: &Passing) -> Mark {
                match self { $(AnyMarker::$variant(d) => d.on_dequeue(queue, packet)),* }
            }
            fn on_pause(&mut self, queue: &QueueView) {
                match self { $(AnyMarker::$variant(d) => d.on_pause(queue)),* }
            }
            fn on_resume(&mut self, queue: &QueueView, packets: &dyn Fn() -> u64) {
                match self { $(AnyMarker::$variant(d) => d.on_resume(queue, packets)),* }
            }
            #[inline]
            fn state(&self) -> Option<PortState> {
                match self { $(AnyMarker::$variant(d) => d.state()),* }
            }
        }
    };
}

detectors! {
    /// Random early detection on the queue's length.
    Red = red::Red;
    /// Marks no packet that a PAUSE has held up.
    NpEcn = np_ecn::NpEcn;
    /// InfiniBand's marking, by queue length and credits.
    Fecn = fecn::Fecn;
    /// Ternary detection: congestion, no congestion, undetermined.
    Tcd = tcd::Tcd;
}
