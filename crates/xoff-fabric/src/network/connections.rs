//! Connections: which connection a message belongs to.
//!
//! A connection (a queue pair of RDMA) goes from one host to another. It has one reaction point, one 5-tuple and so one
//! path, and carries its messages one after the other. A message without a connection number of its own in the
//! [`super::Schedule`] has a connection to itself.

use std::collections::HashMap;

use super::Flows;
use crate::ids::{ConnectionId, FlowId, NodeId};

/// Which connection each message belongs to.
///
/// If every message has a connection to itself, message and connection have the same number, and all lists are empty.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    /// By message: its connection; empty if every message has one to itself.
    of_flow: Vec<ConnectionId>,
    /// By connection: its first message; empty if `of_flow` is.
    first: Vec<FlowId>,
    /// By connection: the number of its messages; empty if `of_flow` is.
    messages: Vec<u32>,
}

impl Connections {
    /// The connections of `flows`. `numbers` gives, by flow, a connection's number among those of the same pair of hosts and
    /// priority; a flow without a number has a connection to itself.
    pub fn new(flows: &Flows, numbers: &[Option<u32>]) -> Connections {
        if numbers.iter().all(Option::is_none) {
            return Connections::default();
        }
        let mut known: HashMap<(NodeId, NodeId, u8, u32), ConnectionId> = HashMap::new();
        let mut all = Connections { of_flow: Vec::with_capacity(flows.len()), ..Connections::default() };
        for (number, flow) in flows.iter().enumerate() {
            let next = ConnectionId::at(all.first.len());
            let key = numbers.get(number).copied().flatten();
            let connection = match key {
                Some(key) => *known.entry((flow.src, flow.dst, flow.priority, key)).or_insert(next),
                None => next,
            };
            if connection == next {
                all.first.push(FlowId::at(number));
                all.messages.push(0);
            }
            all.messages[connection.index()] += 1;
            all.of_flow.push(connection);
        }
        all
    }

    /// The connection of a message.
    #[inline(always)] // runs for every packet
    pub fn of(&self, flow: FlowId) -> ConnectionId {
        if self.of_flow.is_empty() { flow.own_connection() } else { self.of_flow[flow.index()] }
    }

    /// The connection of a message whose number may be that of no message: the connection is then `None`, or beyond all connections.
    #[inline(always)] // runs for every packet of a large network
    pub fn get(&self, flow: FlowId) -> Option<ConnectionId> {
        if self.of_flow.is_empty() {
            Some(flow.own_connection())
        } else {
            self.of_flow.get(flow.index()).copied()
        }
    }

    /// A connection's first message, which has the same ends and priority as the others.
    #[inline]
    pub fn first_message(&self, connection: ConnectionId) -> FlowId {
        if self.first.is_empty() { connection.own_message() } else { self.first[connection.index()] }
    }

    /// Whether a connection carries more than one message.
    #[inline]
    pub fn is_shared(&self, connection: ConnectionId) -> bool {
        !self.messages.is_empty() && self.messages[connection.index()] > 1
    }

    /// Adds a message that was not known when the run began: on `connection`, which has carried others, or on one of its own or
    /// the first of a `shared` one. Nobody knows how many more a shared one will carry.
    pub(super) fn add(
        &mut self,
        flow: FlowId,
        connection: Option<ConnectionId>,
        shared: bool,
    ) -> ConnectionId {
        if self.first.is_empty() {
            if connection.is_none() && !shared {
                return flow.own_connection();
            }
            // Until now, every message had a connection to itself.
            self.of_flow = ConnectionId::all(flow.index()).collect();
            self.first = FlowId::all(flow.index()).collect();
            self.messages = vec![1; flow.index()];
        }
        let connection = connection.unwrap_or_else(|| {
            self.first.push(flow);
            self.messages.push(if shared { 2 } else { 1 });
            ConnectionId::at(self.first.len() - 1)
        });
        self.of_flow.push(connection);
        connection
    }

    /// The number of connections that carry this number of `flows`.
    pub fn count(&self, flows: usize) -> usize {
        if self.first.is_empty() { flows } else { self.first.len() }
    }
}
