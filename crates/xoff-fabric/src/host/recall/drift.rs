//! By how much times may have drifted from those of the plain run.
//!
//! A message that may be wrong by some time shifts all that waits for it by as much, and so on: what messages of one program may be wrong
//! by adds up. Where messages come to one port one after the other, of two programs or of two ranks of one, they may overlap in the plain
//! run if they are no further apart than that; unless the later one waits for the other.

use std::collections::HashMap;

use xoff_engine::Time;

use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

/// A number of messages that wait for each other, by however many others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Program(u32);

/// Flows and steps at most among which is looked for a message that waits for another one.
const MOST_WAITING: usize = 256;

/// What messages of a program may be wrong by.
#[derive(Clone, Copy, Default)]
struct Errors {
    /// The largest of one message.
    largest: Time,
    /// The number of such messages on a connection, the largest of all connections.
    number: u32,
}

/// The errors of all programs.
#[derive(Default)]
pub(super) struct Drift {
    /// By message: its program; empty if each has one of its own.
    programs: Vec<u32>,
    errors: HashMap<Program, Errors>,
    /// Number of messages that may be wrong.
    numbers: HashMap<ConnectionId, u32>,
}

impl Drift {
    /// No errors so far.
    pub fn new(net: &Network) -> Drift {
        Drift { programs: net.dependencies.components(), ..Drift::default() }
    }

    /// A message's program.
    fn program(&self, flow: FlowId) -> Program {
        Program(self.programs.get(flow.index()).copied().unwrap_or(flow.0))
    }

    /// Whether two messages are of two programs.
    fn are_apart(&self, a: FlowId, b: FlowId) -> bool {
        self.program(a) != self.program(b)
    }

    /// By how much the start of the next message of a message's program may be wrong: the messages before it on its way of waiting are as many as
    /// those of a connection.
    pub fn of(&self, flow: FlowId) -> Time {
        let errors = self.errors.get(&self.program(flow));
        errors.map_or(Time::ZERO, |errors| errors.largest * u64::from(errors.number))
    }

    /// By how much a message, whose start may be wrong by a time, and one that comes to a port after it may be closer to each other in the plain run: not
    /// at all if the later one waits for it.
    fn apart(&self, net: &Network, (first, drift): (FlowId, Time), later: FlowId) -> Time {
        let apart = drift + self.of(later);
        let waits =
            || !self.are_apart(first, later) && net.dependencies.flow_waits_for(later, first, MOST_WAITING);
        if apart == Time::ZERO || waits() { Time::ZERO } else { apart }
    }

    /// Whether two messages may meet at a port in the plain run: one whose start may be wrong by a time, and whose last byte is there until another
    /// time, and a later one that comes there at a time. On one connection the later one waits behind the other, and nothing but the drift of two programs
    /// changes for how long.
    pub fn may_meet(
        &self,
        net: &Network,
        (first, drift, until): (FlowId, Time, Time),
        (later, at): (FlowId, Time),
    ) -> bool {
        let apart = || self.apart(net, (first, drift), later);
        if net.connections.of(first) != net.connections.of(later) {
            return at < until || at < until + apart();
        }
        self.are_apart(first, later) && {
            let apart = apart();
            apart > Time::ZERO && at < until + apart
        }
    }

    /// What was wrong before is past.
    pub fn forget(&mut self) {
        self.errors.clear();
        self.numbers.clear();
    }

    /// A message may be wrong by an error.
    pub fn add(&mut self, flow: FlowId, connection: ConnectionId, error: Time) {
        if error == Time::ZERO {
            return;
        }
        let program = self.program(flow);
        let number = self.numbers.entry(connection).or_insert(0);
        *number += 1;
        let errors = self.errors.entry(program).or_default();
        *errors = Errors { largest: errors.largest.max(error), number: errors.number.max(*number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_program_add_up_along_its_connections() {
        // Messages 0 to 3 are of one program, message 4 of another. Three of the first on one connection are wrong by up to 5 ns, and one on another
        // by 2 ns: what waits for them all may be wrong by three times 5 ns. The other program's one by 1 ns.
        let mut drift = Drift { programs: vec![7, 7, 7, 7, 9], ..Drift::default() };
        let [a, b, c] = [0, 1, 2].map(ConnectionId);
        for (flow, connection, ns) in [(0, a, 1), (1, a, 5), (2, a, 3), (3, b, 2), (4, c, 1), (2, b, 0)] {
            drift.add(FlowId(flow), connection, Time::from_ns(ns));
        }
        let of = |flow: u32| drift.of(FlowId(flow));
        assert_eq!([of(0), of(3), of(4)], [15, 15, 1].map(Time::from_ns));
        // Where nothing waits, each message has a program of its own.
        let apart = Drift::default();
        assert!(apart.program(FlowId(0)) != apart.program(FlowId(1)));
        assert_eq!(apart.of(FlowId(0)), Time::ZERO);
    }
}
