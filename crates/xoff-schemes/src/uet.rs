//! What a scheme controls in Ultra Ethernet's transport: the sender's window, the receiver's credit, or both.

use xoff_engine::{Rate, Time};

use crate::nscc::Nscc;
use crate::rccc::Rccc;

/// The controls of a flow in Ultra Ethernet's transport; a packet needs the permission of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uet {
    /// The sender's window.
    pub nscc: Option<Nscc>,
    /// The receiver's credit.
    pub rccc: Option<Rccc>,
}

/// The bandwidth-delay product in bytes.
pub fn bdp(rate: Rate, rtt: Time) -> u64 {
    (u128::from(rate.bps()) * u128::from(rtt.0) / 8_000_000_000_000) as u64
}

/// The maximum window: 1.5 bandwidth-delay products.
pub fn max_window(rate: Rate, rtt: Time) -> u64 {
    bdp(rate, rtt) * 3 / 2
}
