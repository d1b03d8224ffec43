//! Running a network to its end, with a look at the progress now and then.

use std::sync::Arc;

use xoff_engine::Time;
use xoff_schemes::detector::AnyDetector;

use crate::buffer::IngressQueue;
use crate::counters::Counters;
use crate::credit::counters::{ReceivingEnd, SendingEnd};
use crate::cut::{Cut, PartId};
use crate::deadlock::deadlock;
use crate::failure::Failure;
use crate::network::Network;
use crate::part::Part;
use crate::port::Port;
use crate::records::{Recording, Records};
use crate::threads::{alone, together};
use crate::topology::{PortId, peer};
use crate::windows::{Bounds, End, Windows};

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Flows completed, of those that the run waits for.
    pub flows_done: u64,
    /// Flows that the run waits for.
    pub flows: u64,
    /// Events handled.
    pub events: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every flow that the run waits for has completed, and every step given its processor back.
    FlowsDone,
    /// The duration has passed.
    Duration,
    /// It was asked to.
    Asked,
    /// Nothing can happen any more, and flows are left.
    Stalled,
    /// Ports wait on each other for ever, see [`Simulation::deadlock`]; only runs without a duration end by this.
    Deadlock,
    /// It has handled as many events as it may.
    Events,
    /// It has recorded as many rows as it may.
    Rows,
}

/// A network being simulated.
pub struct Simulation {
    net: Arc<Network>,
    cut: Arc<Cut>,
    parts: Vec<Part>,
    recording: Recording,
    duration: Option<Time>,
    stops_with_flows: bool,
    max_events: u64,
    most_rows: u64,
    now: Time,
    counters: Counters,
    records: Records,
    most_packets_in_flight: u32,
}

impl Simulation {
    /// A simulation of `net` at time zero on one thread, with `detector` at each switch's egress queues, that ends after
    /// `duration` or with the microsecond in which the last flow completes.
    pub fn new(
        net: Network,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
    ) -> Self {
        let cut = Cut::whole(&net);
        Self::cut(net, cut, detector, recording, duration)
    }

    /// The same with a thread for each part of `cut`, which must be one of `net`. What comes out does not depend on it.
    pub fn cut(
        net: Network,
        cut: Cut,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
    ) -> Self {
        let (net, cut) = (Arc::new(net), Arc::new(cut));
        let part = |number| Part::new(net.clone(), detector, &recording, cut.clone(), number);
        Simulation {
            parts: (0..cut.parts() as PartId).map(part).collect(),
            net,
            cut,
            recording,
            duration,
            stops_with_flows: true,
            max_events: u64::MAX,
            most_rows: u64::MAX,
            now: Time::ZERO,
            counters: Counters::default(),
            records: Records::default(),
            most_packets_in_flight: 0,
        }
    }

    /// Runs to the end. `look` sees the progress now and then; when it says no, the run ends there with what it has.
    pub fn run(&mut self, look: &mut dyn FnMut(&Progress) -> bool) -> Result<Stop, Failure> {
        let end = self.duration.map_or(Time::NEVER, |d| d.saturating_add(Time(1)));
        let mut windows = Windows::new(Bounds {
            lookahead: self.cut.lookahead(),
            end,
            interval: self.recording.interval,
            max_events: self.max_events,
            most_rows: self.most_rows,
            flows: self.stops_with_flows.then_some(self.net.awaited()),
            watches_standstill: self.duration.is_none(),
        });
        let stop = loop {
            let end = match &mut self.parts[..] {
                [part] => alone(part, &mut windows, look),
                parts => together(parts, &mut windows, look)?,
            };
            break match end {
                End::Failure => return Err(self.failure()),
                End::FlowsDone => Stop::FlowsDone,
                End::NothingLeft if self.duration.is_some() => Stop::Duration,
                End::NothingLeft if self.deadlock().is_empty() => Stop::Stalled,
                End::NothingLeft => Stop::Deadlock,
                End::Rows => Stop::Rows,
                End::Events => Stop::Events,
                End::Asked => Stop::Asked,
                End::StandsStill if self.deadlock().is_empty() => continue,
                End::StandsStill => Stop::Deadlock,
            };
        };
        let last = self.parts.iter().map(Part::now).max().unwrap_or(Time::ZERO);
        self.now = match stop {
            Stop::Duration => self.duration.unwrap_or(last),
            Stop::Stalled | Stop::Asked => last,
            _ => windows.now().unwrap_or(last),
        };
        self.most_packets_in_flight = windows.most_in_flight();
        self.close();
        Ok(stop)
    }

    /// The first of what broke in the parts' last window: what comes before it in another part has happened too. A
    /// scheme that breaks does so on one thread, which goes on to the window's end unless something else breaks later.
    fn failure(&mut self) -> Failure {
        if let Some(broken) = self.net.scheme.failure() {
            return broken.into();
        }
        let broken = self.parts.iter_mut().filter_map(|part| part.failure.take());
        let first = broken.min_by_key(|(time, key, _)| (*time, *key));
        first.map_or_else(|| Failure::NoThread { reason: "a part is lost".into() }, |(.., failure)| failure)
    }

    /// Puts together what the parts have.
    fn close(&mut self) {
        for part in &mut self.parts {
            part.advance_to(self.now);
            part.close_records();
            self.counters.add(part.counters());
        }
        let records = self.parts.iter_mut().map(|part| std::mem::take(&mut part.records)).collect();
        self.records = Records::merge(records, &self.recording, &self.cut, &self.net);
    }

    /// Lets the run go on to its duration after its last flow has completed.
    pub fn run_to_duration(&mut self) {
        self.stops_with_flows = false;
    }

    /// Ends the run with the microsecond in which it has handled more than this many events.
    pub fn limit_events(&mut self, count: u64) {
        self.max_events = count;
    }

    /// Ends the run once it has recorded this many rows (see [`Records::rows`]): with the sample that reaches the
    /// number, or with the microsecond.
    pub fn limit_rows(&mut self, count: usize) {
        self.most_rows = count as u64;
    }

    /// The egress ports that wait on each other for ever; empty where there is no deadlock.
    pub fn deadlock(&self) -> Vec<PortId> {
        deadlock(&self.parts, &self.cut)
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.net
    }

    /// The number of parts, each simulated by a thread.
    pub fn threads(&self) -> usize {
        self.parts.len()
    }

    /// When the run ended.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Counts, at the end of the run.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What was recorded, at the end of the run.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The network, and what was recorded, at the end of the run.
    pub fn into_records(self) -> (Arc<Network>, Records) {
        (self.net, self.records)
    }

    /// The part that has a port.
    fn part(&self, port: PortId) -> &Part {
        &self.parts[self.cut.part_of(self.net.topology.node_of(port))]
    }

    /// What a port's and priority's ingress holds.
    pub(crate) fn ingress(&self, port: PortId, priority: u8) -> &IngressQueue {
        let part = self.part(port);
        &part.ingress[port as usize * part.priorities + usize::from(priority)]
    }

    /// A port's totals.
    pub fn port(&self, port: PortId) -> &Port {
        &self.part(port).ports[port as usize]
    }

    /// Time for which an egress port's priority was stopped.
    pub fn paused(&self, port: PortId, priority: u8) -> Time {
        let part = self.part(port);
        part.paused_time(part.data_queue(port, crate::port::DATA + priority))
    }

    /// Both ends' credits of an egress port's priority; none where flow control is not by credits.
    pub fn credits(&self, port: PortId, priority: u8) -> Option<(&SendingEnd, &ReceivingEnd)> {
        let (here, there) = (self.part(port), self.part(peer(port)));
        let queue = here.data_queue(port, crate::port::DATA + priority);
        let sending = here.credits.as_ref()?.sending(queue);
        Some((sending, there.credits.as_ref()?.receiving(here.other_end(queue))))
    }

    /// Bytes in all switches' memories, and bytes charged to all ingress ports: always the same.
    pub fn buffered_bytes(&self) -> (u64, u64) {
        let bytes = self.parts.iter().map(Part::buffered_bytes);
        bytes.fold((0, 0), |(memories, ports), (m, p)| (memories + m, ports + p))
    }

    /// Messages that receivers count as incomplete, of all hosts.
    pub fn open_messages(&self) -> u32 {
        self.parts.iter().flat_map(|part| &part.nics).map(|nic| nic.open_in).sum()
    }

    /// Most packets in the network at any whole microsecond, at the end of the run.
    pub fn most_packets_in_flight(&self) -> u32 {
        self.most_packets_in_flight
    }

    /// Packets in the network.
    pub fn packets_in_flight(&self) -> u32 {
        self.parts.iter().map(Part::packets_in_flight).sum()
    }
}
