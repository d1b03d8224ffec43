//! The messages of a network, field by field.

use xoff_engine::{MessageSize, Rate, Time};

use super::Flow;
use crate::ids::{FlowId, NodeId};

xoff_engine::columns! {
    /// Messages by number. A field that is the same for all of them takes the memory of one: of most networks' messages nothing stops any, and
    /// all have one priority; those of a collective have one size.
    pub struct Flows of Flow {
        src: NodeId,
        dst: NodeId,
        size: MessageSize,
        start: Time,
        stop: Time,
        source_rate: Rate,
        priority: u8,
    }
}

impl Flows {
    /// A message.
    ///
    /// # Panics
    /// If there is none of this number, as all that follow.
    pub fn of(&self, flow: FlowId) -> Flow {
        assert!(flow.index() < self.len(), "{} messages have no number {flow}", self.len());
        self.at(flow.index())
    }

    /// The sending host of a message.
    #[inline]
    pub fn src(&self, flow: FlowId) -> NodeId {
        self.src.get(flow.index())
    }

    /// The receiving host of a message.
    #[inline]
    pub fn dst(&self, flow: FlowId) -> NodeId {
        self.dst.get(flow.index())
    }

    /// The payload of a message.
    #[inline]
    pub fn size(&self, flow: FlowId) -> MessageSize {
        self.size.get(flow.index())
    }

    /// When a message starts; of a dependent one, the earliest time.
    #[inline]
    pub fn start(&self, flow: FlowId) -> Time {
        self.start.get(flow.index())
    }

    /// When a message stops sending: see [`Flow::stop`].
    #[inline]
    pub fn stop(&self, flow: FlowId) -> Time {
        self.stop.get(flow.index())
    }

    /// The data priority of a message: see [`Flow::priority`].
    #[inline]
    pub fn priority(&self, flow: FlowId) -> u8 {
        self.priority.get(flow.index())
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, flow: Flow) {
        self.add(flow);
    }
}

impl From<Vec<Flow>> for Flows {
    fn from(flows: Vec<Flow>) -> Flows {
        flows.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_come_back() {
        // Each field differs in one of the messages.
        let like = Flow::new(NodeId(1), NodeId(2), 10.into(), Time::ZERO, 0);
        let flows = vec![
            like,
            Flow { src: NodeId(3), ..like },
            Flow { dst: NodeId(3), ..like },
            Flow { size: MessageSize::ENDLESS, ..like },
            Flow { start: Time(5), ..like },
            Flow { stop: Time(5), ..like },
            Flow { source_rate: Rate::from_gbps(1), ..like },
            Flow { priority: 1, ..like },
        ];
        let all = Flows::from(flows.clone());
        assert_eq!(all.iter().collect::<Vec<_>>(), flows);
    }
}
