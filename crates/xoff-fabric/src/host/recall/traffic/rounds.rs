//! Messages under way as rounds are not simulated: they go on as others.

use std::collections::HashMap;
use std::mem;

use xoff_engine::Time;

use super::{Traffic, Way};
use crate::host::rounds::{Names, Open, Round};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

impl Traffic {
    /// When the last message of a connection started, if it is under way.
    pub fn latest_on(&self, connection: ConnectionId) -> Option<Time> {
        let (number, last) = self.on[connection.index()];
        self.open.get(&last).filter(|_| number > 0).map(|open| open.start)
    }

    /// Whether a message under way is delivered.
    pub fn is_delivered(&self, flow: FlowId) -> bool {
        self.open.get(&flow).is_some_and(|open| open.delivered.is_some())
    }

    /// A message that waits on a connection is not under way; returns its way.
    pub fn forget(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<Way> {
        let open = self.open.remove(&flow)?;
        self.leave(net.connections.of(flow), open.way);
        for port in net.data_ports(&open.route) {
            self.data[port.index()].retain(|there| there.flow != flow);
        }
        self.leave_acks(net, &open, now);
        Some(open.way)
    }

    /// These are the messages of a connection, of which the last ones are not added yet.
    pub fn note_line(&mut self, connection: ConnectionId, line: &[Open]) {
        let number = self.on[connection.index()].0 as usize;
        let Some(last) = number.checked_sub(1).and_then(|last| line.get(last)) else { return };
        self.on[connection.index()].1 = last.flow;
        if let Some(open) = self.open.get_mut(&last.flow) {
            open.next = None;
        }
    }

    /// Others do not learn from a message what it took.
    pub fn teach_nothing(&mut self, flow: FlowId) {
        if let Some(open) = self.open.get_mut(&flow) {
            open.met = true;
        }
    }

    /// From `now` on a `time` is carried forward, over rounds: messages under way go on as those of other `names`, which are as far then.
    pub fn carry_rounds(&mut self, net: &Network, (now, time): (Time, Time), round: &Round, names: &Names) {
        let name = |flow: FlowId| names.get(&flow).map_or(flow, |other| other.flow);
        let later = |at: Time| at + time;
        let mut growth = Vec::with_capacity(self.acks.len());
        for acks in &mut self.acks {
            acks.count_until(now);
            let before = acks.sums;
            acks.count_until(now + time);
            growth.push([acks.sums[0] - before[0], acks.sums[1] - before[1]]);
        }
        // A message that waits may have started long before the round, and the other one as well.
        let start = |flow: FlowId| self.open.get(&flow).map_or(Time::ZERO, |open| open.start);
        let shifts: HashMap<FlowId, Time> =
            names.iter().map(|(&flow, other)| (flow, other.start.saturating_sub(start(flow)))).collect();
        for (flow, mut open) in mem::take(&mut self.open) {
            if let Some(other) = names.get(&flow) {
                // What it took since its start teaches nothing of others.
                (open.start, open.met) = (other.start, true);
                open.delivered = open.delivered.map(later);
                for (port, sums) in net.data_ports(&open.route).iter().zip(&mut open.before) {
                    let growth = growth[port.index()];
                    *sums = [sums[0] + growth[0], sums[1] + growth[1]];
                }
            }
            for comer in &mut open.comers {
                comer.at += shifts.get(&comer.flow).copied().unwrap_or_default();
                comer.flow = name(comer.flow);
            }
            open.behind = open.behind.map(name);
            open.next = open.next.map(name);
            open.found.iter_mut().for_each(|found| *found = name(*found));
            self.open.insert(name(flow), open);
        }
        self.on.iter_mut().for_each(|(_, last)| *last = name(*last));
        self.data.iter_mut().flatten().for_each(|there| there.flow = name(there.flow));
        let recent = now.saturating_sub(round.length);
        for late in &mut self.late {
            for last in late.last.iter_mut().filter(|last| round.has(last.connection)) {
                (last.delivered, last.until) = (later(last.delivered), later(last.until));
            }
            if late.forgotten > recent {
                late.forgotten = later(late.forgotten);
            }
        }
    }
}
