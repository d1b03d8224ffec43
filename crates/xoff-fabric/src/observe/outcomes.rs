//! The outcomes of messages: in the order of their ends while a run goes on, by number once it is over.
//!
//! They are most of what a long run keeps: there is one copy of them at any time, but for those of all partitions but one while
//! these are put together.

use super::records::FlowOutcome;
use crate::ids::FlowId;

/// No message has this number.
const NONE: FlowId = FlowId(u32::MAX);

/// Messages that have ended, in the order of their ends, and their outcomes. No message ends twice.
#[derive(Default)]
pub(crate) struct Outcomes {
    flows: Vec<FlowId>,
    rows: Vec<FlowOutcome>,
}

impl Outcomes {
    /// Without outcomes, with room for those of `flows` messages where there are addresses enough. Room that is not used takes no
    /// memory.
    pub fn with_room(flows: usize) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let room = outcomes.rows.try_reserve_exact(flows);
        _ = room.and_then(|()| outcomes.flows.try_reserve_exact(flows));
        outcomes
    }

    /// Adds the outcome of a message that has ended.
    pub fn push(&mut self, flow: FlowId, outcome: FlowOutcome) {
        self.flows.push(flow);
        self.rows.push(outcome);
    }

    /// The number of messages that have ended.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Messages in the order of their ends, without the first `seen`.
    pub fn after(&self, seen: usize) -> impl Iterator<Item = (FlowId, &FlowOutcome)> {
        self.flows.iter().copied().zip(&self.rows).skip(seen)
    }

    /// The outcomes of `count` messages by number; those that have not ended have the default. Rows are swapped until each has
    /// its place.
    pub fn by_flow(self, count: usize) -> Vec<FlowOutcome> {
        let Outcomes { mut flows, mut rows } = self;
        flows.resize(count, NONE);
        rows.resize(count, FlowOutcome::default());
        for place in 0..count {
            // Each swap brings a row to its place, from where it never goes.
            while flows[place] != NONE && flows[flows[place].index()] != flows[place] {
                let own = flows[place].index();
                flows.swap(place, own);
                rows.swap(place, own);
            }
            debug_assert!(flows[place] == NONE || flows[place].index() == place, "no message ends twice");
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_gets_its_messages_place() {
        // Of five messages 3, 0, 4 and 1 end, in this order, after as many packets as their number and ten; 2 does not.
        let mut outcomes = Outcomes::with_room(5);
        for flow in [3, 0, 4, 1] {
            let packets_sent = 10 + u64::from(flow);
            outcomes
                .push(FlowId(flow), FlowOutcome { started: true, packets_sent, ..FlowOutcome::default() });
        }
        let last: Vec<_> = outcomes.after(2).map(|(flow, row)| (flow, row.packets_sent)).collect();
        assert_eq!((outcomes.len(), last), (4, vec![(FlowId(4), 14), (FlowId(1), 11)]));
        let rows = outcomes.by_flow(5);
        let packets: Vec<_> = rows.iter().map(|row| (row.started, row.packets_sent)).collect();
        assert_eq!(packets, [(true, 10), (true, 11), (false, 0), (true, 13), (true, 14)]);
    }
}
