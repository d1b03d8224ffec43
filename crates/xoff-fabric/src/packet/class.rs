//! Classes of packets, which decide what goes first at a port and what flow control may stop.

/// Class of PFC frames and credit updates, which go first and are never paused.
pub const MAC_CONTROL: u8 = 0;
/// Class of CNPs, CNMs and, unless they travel in a data class, ACKs. They go before all data and are never paused.
pub const CONTROL: u8 = 1;
/// Class of data priority 0; priority p is `DATA + p`.
pub const DATA: u8 = 2;
/// Maximum number of data priorities.
pub const MAX_PRIORITIES: usize = 8;
