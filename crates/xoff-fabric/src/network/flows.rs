//! The messages of a network, field by field.

use xoff_engine::{Column, MessageSize, Rate, Time};

use super::Flow;
use crate::ids::{FlowId, NodeId};

xoff_engine::columns! {
    /// Messages by number. A field that is the same for all of them takes the memory of one: of most networks' messages nothing stops any, and
    /// all have one priority; those of a collective have one size.
    pub struct Flows of Flow {
        src: NodeId as u32,
        dst: NodeId as u32,
        size: MessageSize,
        start: Time,
        stop: Time,
        source_rate: Rate,
        priority: u8,
    }
}

/// The fields of messages, each by message: those of [`Flow`].
pub struct FlowColumns<'a> {
    /// Numbers of the sending hosts.
    pub src: Column<u32>,
    /// Numbers of the receiving hosts.
    pub dst: Column<u32>,
    /// See [`Flow::size`].
    pub size: &'a Column<MessageSize>,
    /// See [`Flow::start`].
    pub start: &'a Column<Time>,
    /// See [`Flow::stop`].
    pub stop: &'a Column<Time>,
    /// See [`Flow::source_rate`].
    pub source_rate: &'a Column<Rate>,
    /// See [`Flow::priority`].
    pub priority: &'a Column<u8>,
}

/// The messages share the memory of the columns that they are made of.
impl From<FlowColumns<'_>> for Flows {
    /// # Panics
    /// If the columns differ in length.
    fn from(fields: FlowColumns<'_>) -> Flows {
        let FlowColumns { src, dst, size, start, stop, source_rate, priority } = fields;
        let lens = [dst.len(), size.len(), start.len(), stop.len(), source_rate.len(), priority.len()];
        assert!(
            lens.iter().all(|len| *len == src.len()),
            "{} senders, and other fields of {lens:?}",
            src.len()
        );
        Flows {
            src,
            dst,
            size: size.clone(),
            start: start.clone(),
            stop: stop.clone(),
            source_rate: source_rate.clone(),
            priority: priority.clone(),
        }
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
        NodeId(self.src.get(flow.index()))
    }

    /// The receiving host of a message.
    #[inline]
    pub fn dst(&self, flow: FlowId) -> NodeId {
        NodeId(self.dst.get(flow.index()))
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

    /// When messages start; of dependent ones, the earliest times.
    pub(crate) fn starts(&self) -> &Column<Time> {
        &self.start
    }

    /// The payloads of messages.
    pub(crate) fn sizes(&self) -> &Column<MessageSize> {
        &self.size
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
    fn fields_of_others_are_shared() {
        let (sizes, starts) = ([1, 2].map(MessageSize::from), [3, 4].map(Time));
        let (size, start): (Column<_>, Column<_>) =
            (sizes.into_iter().collect(), starts.into_iter().collect());
        let of = |n: u64| std::iter::repeat_n(n, 2);
        let mut flows = Flows::from(FlowColumns {
            src: of(5).map(|n| n as u32).collect(),
            dst: [6, 7].into_iter().collect(),
            size: &size,
            start: &start,
            stop: &of(8).map(Time).collect(),
            source_rate: &of(9).map(Rate).collect(),
            priority: &of(10).map(|n| n as u8).collect(),
        });
        let flow = |dst, size: u64, start| Flow {
            src: NodeId(5),
            dst: NodeId(dst),
            size: size.into(),
            start: Time(start),
            stop: Time(8),
            source_rate: Rate(9),
            priority: 10,
        };
        assert_eq!(flows.iter().collect::<Vec<_>>(), [flow(6, 1, 3), flow(7, 2, 4)]);
        assert_eq!(flows.size.values().as_ptr(), size.values().as_ptr());
        // A message more is none of the others' columns.
        flows.push(flow(8, 3, 5));
        assert_eq!((flows.len(), size.len(), start.values()), (3, 2, &starts[..]));
        assert_eq!(flows.of(FlowId(2)), flow(8, 3, 5));
    }

    #[test]
    #[should_panic(expected = "2 senders, and other fields of [1, 2, 2, 2, 2, 2]")]
    fn columns_of_different_length_are_refused() {
        let two = |n: u64| std::iter::repeat_n(n, 2);
        _ = Flows::from(FlowColumns {
            src: [0, 1].into_iter().collect(),
            dst: [1].into_iter().collect(),
            size: &two(1).map(MessageSize::from).collect(),
            start: &two(0).map(Time).collect(),
            stop: &two(0).map(Time).collect(),
            source_rate: &two(0).map(Rate).collect(),
            priority: &two(0).map(|n| n as u8).collect(),
        });
    }

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
