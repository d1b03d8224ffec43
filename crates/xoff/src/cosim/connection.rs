//! Which connection a session's message takes.

use std::collections::HashMap;

use xoff_traffic::ConnectionMapping;

use super::message::Send;

/// Numbers the connections of a session, as [`ConnectionMapping`] says; memory grows with the number of pairs.
#[derive(Debug)]
pub(super) struct Numbers {
    pub mapping: ConnectionMapping,
    /// By sender, receiver and priority: the number of messages, or of pairs of processes.
    count: HashMap<(u32, u32, u8), u32>,
    /// By hosts, priority and processes: the connection's number among those of the hosts.
    pairs: HashMap<(u32, u32, u8, u32, u32), u32>,
}

impl Numbers {
    pub fn new(mapping: ConnectionMapping) -> Numbers {
        Numbers { mapping, count: HashMap::new(), pairs: HashMap::new() }
    }

    /// The number of a message's connection among those of its hosts and priority; `None` for one of its own.
    pub fn next(&self, send: &Send) -> Option<u32> {
        let hosts = hosts_of(send);
        let count = self.count.get(&hosts).copied().unwrap_or(0);
        match self.mapping {
            ConnectionMapping::PerMessage => None,
            ConnectionMapping::PerPair => Some(0),
            ConnectionMapping::PerProcessPair => {
                Some(self.pairs.get(&pair_of(send)).copied().unwrap_or(count))
            }
            ConnectionMapping::Count(connections) => Some(count % connections.max(1)),
        }
    }

    /// The message is sent on the connection that [`Numbers::next`] gave.
    pub fn take(&mut self, send: &Send) {
        match self.mapping {
            ConnectionMapping::PerMessage | ConnectionMapping::PerPair => {}
            ConnectionMapping::PerProcessPair => {
                let count = self.count.entry(hosts_of(send)).or_default();
                self.pairs.entry(pair_of(send)).or_insert_with(|| {
                    *count += 1;
                    *count - 1
                });
            }
            ConnectionMapping::Count(connections) => {
                let turn = self.count.entry(hosts_of(send)).or_default();
                *turn = (*turn + 1) % connections.max(1);
            }
        }
    }
}

fn hosts_of(send: &Send) -> (u32, u32, u8) {
    (send.src.0, send.dst.0, send.priority)
}

fn pair_of(send: &Send) -> (u32, u32, u8, u32, u32) {
    (send.src.0, send.dst.0, send.priority, send.processes.0, send.processes.1)
}
