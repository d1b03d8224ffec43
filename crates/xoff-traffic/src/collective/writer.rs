//! Writes collectives as flows, steps and dependencies.
//!
//! A message between hosts is a flow. A message between ranks of one host is a step, which holds the sending rank's local port
//! for the time that the message takes at the local rate.

use xoff_engine::schedule::Hold;
use xoff_engine::{NicChoice, Time};

use super::lane::{Sending, Transfer, Wire};
use super::spec::ranks_by_host;
use super::{CollectiveAlgorithm, CollectiveSettings, CollectiveSpec};
use crate::closed_loop::{Milestone, Operation, Waiter};
use crate::generate::FlowSpec;
use crate::pattern::processes::{Process, Program};

/// Room for the number of a process on its host, in the number of a pair of processes.
const SLICE_BITS: u32 = 10;

/// A milestone with the time from it to what a rank does next; `None` if nothing has to be waited for.
type Event = Option<(Milestone, Time)>;

struct Writer<'p, 's> {
    program: &'p mut Program<'s>,
    ranks: &'p mut [Process],
    settings: &'p CollectiveSettings,
    algorithm: CollectiveAlgorithm,
    /// By rank: the step at which its part ends.
    ends: Vec<u32>,
    /// By rank: bytes that it sends, the protocol's included.
    bytes: Vec<u64>,
    channel: u32,
    /// Number of the connection among those of two processes.
    connection: u32,
}

impl Writer<'_, '_> {
    fn after(&mut self, event: Event, then: Waiter) {
        if let Some((on, delay)) = event {
            self.program.sink.after(on, then, delay);
        }
    }

    /// Time between an arrival and what its receiver does next.
    fn pause(&self, within: bool) -> Time {
        self.program.overhead.saturating_add(self.settings.latency(self.algorithm, within))
    }

    /// A flow from one host to another.
    fn flow(&mut self, from: Process, to: Process, bytes: u64) -> (Waiter, Sending<Event>) {
        let pair = from.slice << SLICE_BITS | to.slice;
        let sink = &mut *self.program.sink;
        let mut flow = FlowSpec {
            // An empty message still takes a packet, of one byte.
            size: bytes.max(1).into(),
            connection: Some(self.connection << (2 * SLICE_BITS) | pair),
            background: self.program.background,
            ..sink.blank(from.host, to.host, self.program.start)
        };
        // Ranks of one host begin with different NICs.
        let nic = |nics: u32| NicChoice::Nic((from.slice + self.channel) % nics);
        flow.nic = self.settings.nics.map(nic).or(from.nic).or(flow.nic);
        flow.role = Some(self.program.role(&from));
        let flow = self.program.sink.numbered(flow);
        let sent = (bytes > self.program.eager).then_some((Milestone::Sent(flow), Time::ZERO));
        let arrival = Some((Milestone::Delivered(flow), self.pause(false)));
        (Waiter::Flow(flow), Sending { arrival, sent })
    }

    /// A message within a host.
    fn local(&mut self, from: usize, bytes: u64) -> (Waiter, Sending<Event>) {
        let (host, start) = (self.ranks[from].host, self.program.start);
        let time = self.settings.local_rate.map_or(Time::ZERO, |rate| rate.time_for(bytes));
        let step = if time == Time::ZERO {
            self.program.sink.step(host, start)
        } else {
            let sink = &mut *self.program.sink;
            let processor = *self.ranks[from].port.get_or_insert_with(|| sink.processor());
            sink.held_step(host, start, Hold { processor, time })
        };
        let arrives = time.saturating_add(self.settings.local_delay).saturating_add(self.pause(true));
        let on = Milestone::Step(step);
        (Waiter::Step(step), Sending { arrival: Some((on, arrives)), sent: Some((on, time)) })
    }
}

impl Wire for Writer<'_, '_> {
    type Event = Event;

    fn send(&mut self, transfer: &Transfer<'_>, needs: &[Event]) -> Sending<Event> {
        let (from, to) = (self.ranks[transfer.from], self.ranks[transfer.to]);
        let bytes = self.settings.protocol.bytes(transfer.bytes);
        self.bytes[transfer.from] += bytes;
        let (message, sending) =
            if from.host == to.host { self.local(transfer.from, bytes) } else { self.flow(from, to, bytes) };
        self.program.sink.after(Milestone::Step(from.at), message, Time::ZERO);
        needs.iter().for_each(|&event| self.after(event, message));
        self.after(sending.arrival, Waiter::Step(self.ends[transfer.to]));
        self.after(sending.sent, Waiter::Step(self.ends[transfer.from]));
        sending
    }

    fn join(&mut self, rank: usize, needs: &[Event]) -> Event {
        let step = self.program.sink.step(self.ranks[rank].host, self.program.start);
        needs.iter().for_each(|&event| self.after(event, Waiter::Step(step)));
        Some((Milestone::Step(step), Time::ZERO))
    }
}

impl Program<'_> {
    /// Writes a collective of all `ranks`, and one operation for each. It begins for each rank at its current step, and leaves
    /// the rank at the step that ends the collective for it: its messages have arrived and, if they are not eager, been
    /// acknowledged. The caller has checked the spec ([`CollectiveSpec::check`]).
    pub(crate) fn collective(&mut self, ranks: &mut [Process], spec: &CollectiveSpec<'_>) {
        if ranks.len() < 2 {
            return;
        }
        let ends: Vec<u32> = ranks.iter().map(|rank| self.next_step(rank)).collect();
        let hosts: Vec<u32> = ranks.iter().map(|rank| rank.host).collect();
        let by_host = ranks_by_host(&hosts);
        let (lanes, bytes) = (spec.lanes(&hosts), vec![0; ranks.len()]);
        let count = lanes.count() as usize;
        let (settings, algorithm) = (spec.settings, spec.algorithm());
        let mut writer =
            Writer { program: self, ranks, settings, algorithm, ends, bytes, channel: 0, connection: 0 };
        for number in 0..count {
            let (channel, tree) =
                (number as u32 % lanes.channels, number as u32 / lanes.channels % lanes.trees);
            writer.connection = 2 * channel + tree;
            writer.channel = channel;
            spec.run(&mut writer, &spec.lane(&hosts, number, count), &by_host, tree == 1);
        }
        let (ends, bytes) = (writer.ends, writer.bytes);
        for ((process, end), bytes) in ranks.iter_mut().zip(ends).zip(bytes) {
            let (role, host, begin) = (self.role(process), process.host, process.at);
            self.sink.operation(Operation { label: 0, role, ring: 0, host, bytes, begin, end });
            process.at = end;
        }
    }
}
