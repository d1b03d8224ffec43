//! Congestion control for lossless networks, sans-IO: one file a scheme, its congestion, notification and reaction
//! point together.
//!
//! The crate knows no simulator: [`seams`] says what a scheme sees and states, [`registry`] lists the schemes.

mod check;
pub mod dcqcn;
pub mod dctcp;
pub mod detector;
pub mod fncc;
pub mod foreign;
pub mod hpcc;
pub mod ib_cc;
pub mod int;
pub mod none;
pub mod patched_timely;
pub mod pcn;
pub mod registry;
pub mod rocc;
pub mod rtt;
pub mod seams;
pub mod signals;
pub mod sqcc;
pub mod srcc;
pub mod swift;
pub mod throttle;
pub mod timely;

pub use detector::{AnyDetector, AnyMarker, DetectorParams};
pub use foreign::{Foreign, ForeignScheme, SchemeFailure};
pub use registry::{AnyCongestion, AnyNotification, AnyReaction, AnyScheme};
pub use seams::*;
pub use signals::{IntFormat, IntPath, Mark, Signals};
pub use throttle::{AnyGate, AnyThrottle, Throttle, ThrottleEnv, ThrottleParams, ThrottleState};
