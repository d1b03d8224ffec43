//! Structs and constants that C sees.

use std::ffi::c_char;

/// The default mapping: one connection from a host to another; under the transport `uet`, one for each message.
pub const XOFF_CONNECTION_DEFAULT: u32 = 0;
/// Each message has a connection to itself.
pub const XOFF_CONNECTION_PER_MESSAGE: u32 = 1;
/// One connection from a host to another; its congestion control keeps its state from one message to the next.
pub const XOFF_CONNECTION_PER_PAIR: u32 = 2;
/// One connection from a process to another.
pub const XOFF_CONNECTION_PER_PROCESS_PAIR: u32 = 3;
/// `connections` of them from a host to another; messages take them in turn.
pub const XOFF_CONNECTION_COUNT: u32 = 4;

/// No tag: the message is found by no receive.
pub const XOFF_NO_TAG: u64 = 18446744073709551615;
/// The current time.
pub const XOFF_NOW: u64 = 18446744073709551615;
/// No limit of time.
pub const XOFF_NO_LIMIT: u64 = 18446744073709551615;

/// The last ACK of a message is back at its sender.
pub const XOFF_EVENT_SENT: u32 = 1;
/// All of a message has arrived.
pub const XOFF_EVENT_DELIVERED: u32 = 2;
/// A receive has found its message.
pub const XOFF_EVENT_RECEIVED: u32 = 3;
/// A time that was scheduled has come.
pub const XOFF_EVENT_TIMER: u32 = 4;

/// How a session is opened; begin with `xoff_options()`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct XoffOptions {
    /// Settings on top of the scenario, each as "key=value", such as "scheme.name=hpcc"; NULL if there are none.
    pub sets: *const *const c_char,
    /// The number of settings.
    pub set_count: usize,
    /// How messages share connections: an XOFF_CONNECTION_ constant.
    pub connection: u32,
    /// The number of connections from a host to another, for XOFF_CONNECTION_COUNT.
    pub connections: u32,
    /// Rate at which a host copies a message to itself, in bit/s; 0 if the copy takes no time.
    pub local_bps: u64,
    /// Delay of a message of a host to itself, after the copy, in ps.
    pub local_delay_ps: u64,
    /// Name of the session's messages in the results; NULL for "session".
    pub label: *const c_char,
}

/// A message to be sent; begin with `xoff_message()`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XoffMessage {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload, at least 1 byte.
    pub bytes: u64,
    /// Tag for receives, or XOFF_NO_TAG.
    pub tag: u64,
    /// When it is handed to its connection, in ps, or XOFF_NOW.
    pub at_ps: u64,
    /// Data priority.
    pub priority: u32,
    /// Sending process, for XOFF_CONNECTION_PER_PROCESS_PAIR; otherwise 0.
    pub src_process: u32,
    /// Receiving process; otherwise 0.
    pub dst_process: u32,
}

/// What has happened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XoffEvent {
    /// When, in ps.
    pub at_ps: u64,
    /// The message's number; 0 for a timer, as the fields from here to `start_ps`.
    pub message: u64,
    /// Its payload.
    pub bytes: u64,
    /// Its tag, or XOFF_NO_TAG.
    pub tag: u64,
    /// When it was handed to its connection, in ps.
    pub start_ps: u64,
    /// The receive's number for XOFF_EVENT_RECEIVED, the token for XOFF_EVENT_TIMER; otherwise 0.
    pub id: u64,
    /// An XOFF_EVENT_ constant.
    pub kind: u32,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
}

/// The counts of a session so far.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XoffStats {
    /// Messages sent.
    pub messages: u64,
    /// Those of them that went from a host to itself.
    pub local_messages: u64,
    /// Messages of which all has arrived.
    pub delivered: u64,
    /// Messages whose last ACK is back.
    pub sent: u64,
    /// Payload bytes of delivered messages.
    pub delivered_bytes: u64,
    /// Sum of the completion times of sent messages, ps.
    pub fct_sum_ps: u64,
    /// Maximum completion time of a sent message, ps.
    pub max_fct_ps: u64,
    /// Messages that have arrived and wait for a receive.
    pub unexpected: u64,
    /// Receives that wait for a message.
    pub posted: u64,
    /// Events of the network.
    pub events: u64,
    /// Packets that crossed a link, one for each link.
    pub packet_hops: u64,
    /// Packets that were dropped.
    pub dropped_packets: u64,
}
