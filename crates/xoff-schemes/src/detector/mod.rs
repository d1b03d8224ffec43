//! The list of detectors. A detector combines with any scheme that reacts to marks.
//!
//! A new detector adds a file that implements [`DetectorParams`], and one line in the list at the end of this file.

pub mod fecn;
pub mod np_ecn;
pub mod red;
pub mod tcd;
pub mod ternary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Violation};

use crate::catalogue::CatalogueEntry;
use crate::signals::Mark;
use crate::traits::{Detector, DetectorParams, PacketView, PortEnv, PortState, QueueView};

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
        pub fn catalogue() -> Vec<CatalogueEntry> {
            vec![$(CatalogueEntry::of::<$params>(
                <$params as DetectorParams>::NAME,
                <$params as DetectorParams>::TITLE,
                <$params as DetectorParams>::SOURCE,
            )),*]
        }

        $(impl From<$params> for AnyDetector {
            fn from(params: $params) -> Self {
                AnyDetector::$variant(params)
            }
        })*

        impl AnyDetector {
            /// The names of all detectors.
            pub const NAMES: &'static [&'static str] = &[$(<$params as DetectorParams>::NAME),*];

            /// The detector called `name`, with parameters read from `source`; `None` if no detector has that name.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $(if name == <$params as DetectorParams>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyDetector::$variant));
                })*
                let _ = source;
                None
            }
            /// The detector's name in scenarios.
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
            /// See [`DetectorParams::SEES_EMPTY_QUEUES`].
            pub fn sees_empty_queues(&self) -> bool {
                match self { $(AnyDetector::$variant(_) => <$params as DetectorParams>::SEES_EMPTY_QUEUES),* }
            }
            /// See [`DetectorParams::validate`].
            pub fn validate(&self) -> Result<(), Violation> {
                match self { $(AnyDetector::$variant(d) => d.validate()),* }
            }
            /// See [`DetectorParams::accepts`].
            pub fn accepts(&self, rate: Rate) -> Result<(), Violation> {
                match self { $(AnyDetector::$variant(d) => d.accepts(rate)),* }
            }
            /// See [`DetectorParams::detector`].
            pub fn detector(&self, env: &PortEnv) -> AnyMarker {
                match self { $(AnyDetector::$variant(d) => AnyMarker::$variant(d.detector(env))),* }
            }
        }

        impl Detector for AnyMarker {
            #[inline]
            fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark {
                match self { $(AnyMarker::$variant(d) => d.on_dequeue(queue, packet)),* }
            }
            fn is_by_chance(&self, queue: &QueueView) -> bool {
                match self { $(AnyMarker::$variant(d) => d.is_by_chance(queue)),* }
            }
            fn unmarked_bytes(&self) -> Option<u64> {
                match self { $(AnyMarker::$variant(d) => d.unmarked_bytes()),* }
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

impl AnyDetector {
    /// RED's parameters, if RED decides on its marks.
    pub fn red(&self) -> Option<red::Red> {
        match self {
            AnyDetector::Red(red) => Some(red.clone()),
            AnyDetector::NpEcn(np_ecn) => {
                (np_ecn.rule == np_ecn::Rule::Red).then(|| np_ecn.red.clone().unwrap_or_default())
            }
            AnyDetector::Tcd(tcd) => tcd.red.clone(),
            AnyDetector::Fecn(_) => None,
        }
    }

    /// Fills in the parameters that depend on `own`, the scheme's default detector: TCD wraps the scheme's own marking.
    pub fn serve(self, own: &AnyDetector) -> Self {
        match (self, own) {
            (AnyDetector::Tcd(tcd), AnyDetector::Fecn(fecn)) => AnyDetector::Tcd(tcd.wrap_fecn(fecn)),
            (AnyDetector::Tcd(tcd), _) => AnyDetector::Tcd(tcd.wrap_red()),
            (other, _) => other,
        }
    }
}
