//! The messages of a network, field by field.

use xoff_engine::{Column, MessageSize, Rate, Time};

use super::Flow;
use crate::ids::{FlowId, NodeId};

/// Messages by number. A field that is the same for all of them takes the memory of one: of most networks' messages nothing stops any, and
/// all have one priority; those of a collective have one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    src: Column<NodeId>,
    dst: Column<NodeId>,
    size: Column<MessageSize>,
    start: Column<Time>,
    stop: Column<Time>,
    source_rate: Column<Rate>,
    priority: Column<u8>,
}

impl Flows {
    /// No messages, with room for so many.
    fn with_room(room: usize) -> Flows {
        Flows {
            src: Column::with_room(room),
            dst: Column::with_room(room),
            size: Column::with_room(room),
            start: Column::with_room(room),
            stop: Column::with_room(room),
            source_rate: Column::with_room(room),
            priority: Column::with_room(room),
        }
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// A message.
    ///
    /// # Panics
    /// If there is none of this number, as all that follow.
    pub fn of(&self, flow: FlowId) -> Flow {
        assert!(flow.index() < self.len(), "{} messages have no number {flow}", self.len());
        self.at(flow.index())
    }

    /// A message whose number is below the length.
    #[inline]
    fn at(&self, number: usize) -> Flow {
        Flow {
            src: self.src.at(number),
            dst: self.dst.at(number),
            size: self.size.at(number),
            start: self.start.at(number),
            stop: self.stop.at(number),
            source_rate: self.source_rate.at(number),
            priority: self.priority.at(number),
        }
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

    /// The messages, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Flow> + ExactSizeIterator + Clone {
        (0..self.len()).map(|number| self.at(number))
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, flow: Flow) {
        self.src.push(flow.src);
        self.dst.push(flow.dst);
        self.size.push(flow.size);
        self.start.push(flow.start);
        self.stop.push(flow.stop);
        self.source_rate.push(flow.source_rate);
        self.priority.push(flow.priority);
    }
}

impl FromIterator<Flow> for Flows {
    fn from_iter<I: IntoIterator<Item = Flow>>(flows: I) -> Flows {
        let flows = flows.into_iter();
        let mut all = Flows::with_room(flows.size_hint().0);
        flows.for_each(|flow| all.push(flow));
        all
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
