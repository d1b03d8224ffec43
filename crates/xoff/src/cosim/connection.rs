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
    pub fn next(&mut self, send: &Send) -> Option<u32> {
        let hosts = (send.src.0, send.dst.0, send.priority);
        match self.mapping {
            ConnectionMapping::PerMessage => None,
            ConnectionMapping::PerPair => Some(0),
            ConnectionMapping::PerProcessPair => {
                let count = &mut self.count;
                let key = (hosts.0, hosts.1, hosts.2, send.processes.0, send.processes.1);
                Some(*self.pairs.entry(key).or_insert_with(|| {
                    let next = count.entry(hosts).or_default();
                    *next += 1;
                    *next - 1
                }))
            }
            ConnectionMapping::Count(connections) => {
                let turn = self.count.entry(hosts).or_default();
                let number = *turn % connections.max(1);
                *turn = (number + 1) % connections.max(1);
                Some(number)
            }
        }
    }
}
