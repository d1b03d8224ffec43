//! How a session maps messages to connections, and what it takes for messages within a host.

use xoff_engine::{Rate, Time};
use xoff_traffic::ConnectionMapping;

/// Settings of a session beside its scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How messages share connections, as `connection` of a traffic pattern. `None` for one connection from a host to another
    /// (`per_pair`), whose congestion control keeps its state from one message to the next; under the transport `uet`, each
    /// message has its own.
    pub connection: Option<ConnectionMapping>,
    /// Rate at which a host copies the payload of a message to itself, one message after the other; `None` if the copy takes no
    /// time.
    pub local_rate: Option<Rate>,
    /// Delay of a message of a host to itself, after the copy.
    pub local_delay: Time,
    /// Name of the session's messages in the results, in the column `label` of the table of flows.
    pub label: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { connection: None, local_rate: None, local_delay: Time::ZERO, label: "session".into() }
    }
}
