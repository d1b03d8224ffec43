//! The flows of a run's traffic, field by field.

use serde::{Serialize, Serializer};
use xoff_engine::{Column, MessageSize, NicChoice, Rate, Time};

use crate::closed_loop::Role;
use crate::generate::FlowSpec;

/// Flows by number. A field that is the same for all of them takes the memory of one: in traffic of one pattern most are, so that a flow
/// takes some 24 bytes in place of the 80 of a [`FlowSpec`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowList {
    src: Column<u32>,
    dst: Column<u32>,
    size: Column<MessageSize>,
    start: Column<Time>,
    stop: Column<Time>,
    app_rate: Column<Rate>,
    priority: Column<u8>,
    label: Column<u16>,
    role: Column<Option<Role>>,
    connection: Column<Option<u32>>,
    background: Column<bool>,
    nic: Column<Option<NicChoice>>,
}

impl FlowList {
    /// No flows, with room for so many.
    fn with_room(room: usize) -> FlowList {
        FlowList {
            src: Column::with_room(room),
            dst: Column::with_room(room),
            size: Column::with_room(room),
            start: Column::with_room(room),
            stop: Column::with_room(room),
            app_rate: Column::with_room(room),
            priority: Column::with_room(room),
            label: Column::with_room(room),
            role: Column::with_room(room),
            connection: Column::with_room(room),
            background: Column::with_room(room),
            nic: Column::with_room(room),
        }
    }

    /// The number of flows.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Whether there is no flow.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// The flow with a number.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(&self, number: usize) -> FlowSpec {
        assert!(number < self.len(), "{} flows have no number {number}", self.len());
        self.at(number)
    }

    /// A flow whose number is below the length.
    #[inline]
    fn at(&self, number: usize) -> FlowSpec {
        FlowSpec {
            src: self.src.at(number),
            dst: self.dst.at(number),
            size: self.size.at(number),
            start: self.start.at(number),
            stop: self.stop.at(number),
            app_rate: self.app_rate.at(number),
            priority: self.priority.at(number),
            label: self.label.at(number),
            role: self.role.at(number),
            connection: self.connection.at(number),
            background: self.background.at(number),
            nic: self.nic.at(number),
        }
    }

    /// The priorities of flows.
    pub fn priorities(&self) -> &Column<u8> {
        &self.priority
    }

    /// The labels of flows: see [`FlowSpec::label`].
    pub fn labels(&self) -> &Column<u16> {
        &self.label
    }

    /// The parts of flows in parallel programs: see [`FlowSpec::role`].
    pub fn roles(&self) -> &Column<Option<Role>> {
        &self.role
    }

    /// The numbers of flows' connections: see [`FlowSpec::connection`].
    pub fn connections(&self) -> &Column<Option<u32>> {
        &self.connection
    }

    /// Which flows the run may end without.
    pub fn backgrounds(&self) -> &Column<bool> {
        &self.background
    }

    /// Which NICs flows take: see [`FlowSpec::nic`].
    pub fn nics(&self) -> &Column<Option<NicChoice>> {
        &self.nic
    }

    /// The flows, by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FlowSpec> + Clone {
        (0..self.len()).map(|number| self.at(number))
    }

    /// The flows, by number. In traffic of many flows [`FlowList::iter`] takes less memory.
    pub fn to_vec(&self) -> Vec<FlowSpec> {
        self.iter().collect()
    }

    /// Adds a flow.
    pub fn push(&mut self, flow: FlowSpec) {
        self.src.push(flow.src);
        self.dst.push(flow.dst);
        self.size.push(flow.size);
        self.start.push(flow.start);
        self.stop.push(flow.stop);
        self.app_rate.push(flow.app_rate);
        self.priority.push(flow.priority);
        self.label.push(flow.label);
        self.role.push(flow.role);
        self.connection.push(flow.connection);
        self.background.push(flow.background);
        self.nic.push(flow.nic);
    }
}

impl FromIterator<FlowSpec> for FlowList {
    fn from_iter<I: IntoIterator<Item = FlowSpec>>(flows: I) -> FlowList {
        let flows = flows.into_iter();
        let mut list = FlowList::with_room(flows.size_hint().0);
        flows.for_each(|flow| list.push(flow));
        list
    }
}

/// As a list of [`FlowSpec`]s.
impl Serialize for FlowList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_back_its_flows() {
        // Each field differs in one of the flows.
        let like = FlowSpec { src: 1, dst: 2, size: 10.into(), ..FlowSpec::default() };
        let role = Some(Role { kernel: 1, process: 2, iteration: 3 });
        let flows = [
            like,
            FlowSpec { src: 3, ..like },
            FlowSpec { dst: 3, ..like },
            FlowSpec { size: MessageSize::ENDLESS, ..like },
            FlowSpec { start: Time(5), ..like },
            FlowSpec { stop: Time(5), ..like },
            FlowSpec { app_rate: Rate::from_gbps(1), ..like },
            FlowSpec { priority: 1, ..like },
            FlowSpec { label: 1, ..like },
            FlowSpec { role, ..like },
            FlowSpec { connection: Some(0), ..like },
            FlowSpec { background: true, ..like },
            FlowSpec { nic: Some(NicChoice::RoundRobin), ..like },
        ];
        let list: FlowList = flows.into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), flows);
    }
}
