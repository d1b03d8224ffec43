//! Congestion control for lossless networks, sans-IO: one file or folder per scheme, with its congestion, notification
//! and reaction point.
//!
//! The crate knows no simulator: [`traits`] says what a scheme sees and states, [`registry`] lists the schemes,
//! [`detector`] the detectors and [`throttle`] the injection throttles.

pub mod bolt;
pub mod catalogue;
mod check;
pub mod dcqcn;
pub mod dctcp;
pub mod detector;
pub mod expresspass;
pub mod fncc;
pub mod foreign;
pub mod hpcc;
pub mod ib_cc;
pub mod int;
pub mod none;
pub mod nscc;
pub mod nscc_rccc;
pub mod patched_timely;
pub mod pcn;
pub mod powertcp;
pub mod rccc;
pub mod registry;
pub mod rocc;
pub mod rtt;
pub mod signals;
pub mod sqcc;
pub mod srcc;
pub mod swift;
pub mod throttle;
pub mod timely;
pub mod traits;
pub mod uet;

pub use catalogue::CatalogueEntry;
pub use detector::{AnyDetector, AnyMarker};
pub use foreign::{Foreign, ForeignScheme, SchemeFailure};
pub use registry::{AnyCongestion, AnyNotification, AnyReaction, AnyScheme};
pub use signals::{CreditPackets, IntFormat, IntPath, Mark, Signals};
pub use throttle::{AnyGate, AnyThrottle};
pub use traits::*;
pub use uet::Uet;
