//! The flows of a run's traffic, field by field.

use serde::{Serialize, Serializer};
use xoff_engine::{Column, MessageSize, NicChoice, Rate, Time};

use crate::closed_loop::Role;
use crate::generate::FlowSpec;

xoff_engine::columns! {
    /// Flows by number. A field that is the same for all of them takes the memory of one: in traffic of one pattern most are, so that a flow
    /// takes some 24 bytes in place of the 80 of a [`FlowSpec`].
    pub struct FlowList of FlowSpec {
        src: u32,
        dst: u32,
        size: MessageSize,
        start: Time,
        stop: Time,
        app_rate: Rate,
        priority: u8,
        label: u16,
        role: Option<Role>,
        connection: Option<u32>,
        background: bool,
        nic: Option<NicChoice>,
    }
}

impl FlowList {
    /// The flow with a number.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(&self, number: usize) -> FlowSpec {
        assert!(number < self.len(), "{} flows have no number {number}", self.len());
        self.at(number)
    }

    /// The senders of flows: see [`FlowSpec::src`].
    pub fn senders(&self) -> &Column<u32> {
        &self.src
    }

    /// The receivers of flows: see [`FlowSpec::dst`].
    pub fn receivers(&self) -> &Column<u32> {
        &self.dst
    }

    /// The payloads of flows.
    pub fn sizes(&self) -> &Column<MessageSize> {
        &self.size
    }

    /// When flows start: see [`FlowSpec::start`].
    pub fn starts(&self) -> &Column<Time> {
        &self.start
    }

    /// When flows end, complete or not: see [`FlowSpec::stop`].
    pub fn stops(&self) -> &Column<Time> {
        &self.stop
    }

    /// The rates at which applications make payload: see [`FlowSpec::app_rate`].
    pub fn app_rates(&self) -> &Column<Rate> {
        &self.app_rate
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

    /// The flows, by number. In traffic of many flows [`FlowList::iter`] takes less memory.
    pub fn to_vec(&self) -> Vec<FlowSpec> {
        self.iter().collect()
    }

    /// Adds a flow.
    pub fn push(&mut self, flow: FlowSpec) {
        self.add(flow);
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
