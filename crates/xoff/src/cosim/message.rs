//! Messages, receives and events of a session.

use xoff_engine::Time;

/// A host, by its number from 0 in the order of the topology's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(pub u32);

/// A message's number. That of a message over the network is its `id` in the table of flows; numbers of messages of a host to
/// itself begin at 2^63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(pub u64);

impl MessageId {
    /// Bit of the messages of a host to itself.
    pub(super) const LOCAL: u64 = 1 << 63;

    /// Whether the message goes from a host to itself, and so has no row in the table of flows.
    pub fn is_local(self) -> bool {
        self.0 & MessageId::LOCAL != 0
    }
}

/// A receive's number, from 0 in the order of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReceiveId(pub u64);

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// Sending host.
    pub src: Host,
    /// Receiving host.
    pub dst: Host,
    /// Payload, at least 1 byte.
    pub bytes: u64,
    /// Tag by which [`super::Session::recv`] finds the message; `None` for a message that no receive is to find, and of which the
    /// session keeps nothing after its arrival.
    pub tag: Option<u64>,
    /// When the message is handed to its connection; `None` for now.
    pub at: Option<Time>,
    /// Data priority.
    pub priority: u8,
    /// Sending and receiving process on their hosts, for the mapping `per_process_pair`.
    pub processes: (u32, u32),
}

impl Send {
    /// A message that is sent now, without a tag, with priority 0.
    pub fn new(src: Host, dst: Host, bytes: u64) -> Send {
        Send { src, dst, bytes, tag: None, at: None, priority: 0, processes: (0, 0) }
    }
}

/// A message of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number.
    pub id: MessageId,
    /// Sending host.
    pub src: Host,
    /// Receiving host.
    pub dst: Host,
    /// Payload.
    pub bytes: u64,
    /// Its tag.
    pub tag: Option<u64>,
    /// When it was handed to its connection, or is to be.
    pub start: Time,
}

/// What has happened in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last ACK of a message is back at its sender: `at` less [`Message::start`] is the flow completion time.
    Sent {
        /// When.
        at: Time,
        /// The message.
        message: Message,
    },
    /// All of a message has arrived.
    Delivered {
        /// When.
        at: Time,
        /// The message.
        message: Message,
    },
    /// A receive has found its message: the later of the call and the arrival.
    Received {
        /// When.
        at: Time,
        /// The receive.
        receive: ReceiveId,
        /// The message.
        message: Message,
    },
    /// A time that [`super::Session::schedule`] was given has come.
    Timer {
        /// When.
        at: Time,
        /// The token that was given.
        token: u64,
    },
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> Time {
        match self {
            Event::Sent { at, .. }
            | Event::Delivered { at, .. }
            | Event::Received { at, .. }
            | Event::Timer { at, .. } => *at,
        }
    }

    /// Its message; `None` for a timer.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Event::Sent { message, .. }
            | Event::Delivered { message, .. }
            | Event::Received { message, .. } => Some(message),
            Event::Timer { .. } => None,
        }
    }
}

/// The counts of a session so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages given to [`super::Session::send`].
    pub messages: u64,
    /// Those of them that went from a host to itself.
    pub local_messages: u64,
    /// Messages of which all has arrived.
    pub delivered: u64,
    /// Messages whose last ACK is back.
    pub sent: u64,
    /// Payload bytes of delivered messages.
    pub delivered_bytes: u64,
    /// Sum of the completion times of sent messages, ps; `u64::MAX` if it does not fit.
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

impl Stats {
    /// Each count with its name, in the order of the fields.
    pub fn named(&self) -> [(&'static str, u64); 12] {
        [
            ("messages", self.messages),
            ("local_messages", self.local_messages),
            ("delivered", self.delivered),
            ("sent", self.sent),
            ("delivered_bytes", self.delivered_bytes),
            ("fct_sum_ps", self.fct_sum_ps),
            ("max_fct_ps", self.max_fct_ps),
            ("unexpected", self.unexpected),
            ("posted", self.posted),
            ("events", self.events),
            ("packet_hops", self.packet_hops),
            ("dropped_packets", self.dropped_packets),
        ]
    }
}
