//! Running a network to its end, with a look at the progress now and then.

use std::sync::Arc;

use xoff_engine::Time;
use xoff_schemes::detector::AnyDetector;

use crate::network::Network;
use crate::part::{Counters, Failure, Part};
use crate::port::Port;
use crate::records::{Recording, Records};
use crate::topology::PortId;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Flows completed.
    pub flows_done: u64,
    /// Flows in all.
    pub flows: u64,
    /// Events handled.
    pub events: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every flow has completed.
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

/// Events between two looks at the progress: a few hundredths of a second.
const EVENTS_BETWEEN_LOOKS: u64 = 200_000;

/// A network being simulated.
pub struct Simulation {
    net: Arc<Network>,
    part: Part,
    duration: Option<Time>,
    max_events: u64,
}

impl Simulation {
    /// A simulation of `net` at time zero, with `detector` at each switch's egress queues, that ends after
    /// `duration` or when all flows have completed.
    pub fn new(
        net: Network,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
    ) -> Self {
        let net = Arc::new(net);
        let part = Part::new(net.clone(), detector, recording);
        Simulation { net, part, duration, max_events: u64::MAX }
    }

    /// Runs to the end. `look` sees the progress now and then; when it says no, the run ends there with what it has.
    pub fn run(&mut self, look: &mut dyn FnMut(&Progress) -> bool) -> Result<Stop, Failure> {
        let limit = self.duration.map_or(Time::NEVER, |d| d.saturating_add(Time(1)));
        let mut delivered = 0;
        let stop = loop {
            let budget = self.max_events - self.part.counters().events;
            let left = self.part.run_until(limit, EVENTS_BETWEEN_LOOKS.min(budget))?;
            let counters = self.part.counters();
            let flows = self.net.flows.len() as u64;
            if counters.flows_done == flows && self.duration_is_open() {
                break Stop::FlowsDone;
            }
            if !left {
                break match self.duration {
                    Some(duration) => {
                        self.part.advance_to(duration);
                        Stop::Duration
                    }
                    None => Stop::Stalled,
                };
            }
            if self.part.records().are_full() {
                break Stop::Rows;
            }
            if counters.events >= self.max_events {
                break Stop::Events;
            }
            let stands_still = std::mem::replace(&mut delivered, counters.delivered_bytes) == delivered;
            if stands_still && self.duration.is_none() && !self.part.deadlock().is_empty() {
                break Stop::Deadlock;
            }
            let progress = Progress {
                now: self.part.now(),
                flows_done: counters.flows_done,
                flows,
                events: counters.events,
            };
            if !look(&progress) {
                break Stop::Asked;
            }
        };
        self.part.close_records();
        Ok(stop)
    }

    /// Whether the run ends with its last flow rather than at a time.
    fn duration_is_open(&self) -> bool {
        self.part.stops_with_flows()
    }

    /// Lets the run go on to its duration after its last flow has completed.
    pub fn run_to_duration(&mut self) {
        self.part.stop_with_flows(false);
    }

    /// Ends the run after this many events.
    pub fn limit_events(&mut self, count: u64) {
        self.max_events = count;
    }

    /// Ends the run once it has recorded this many rows (see [`Records::rows`]). It ends with the sample that reaches
    /// the number, or for pauses and notifications with the next look at the progress.
    pub fn limit_rows(&mut self, count: usize) {
        self.part.records.limit_rows(count);
    }

    /// The egress ports that wait on each other for ever; empty where there is no deadlock.
    pub fn deadlock(&self) -> Vec<PortId> {
        self.part.deadlock()
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.net
    }

    /// The time of the last event, or the duration where that has passed.
    pub fn now(&self) -> Time {
        self.part.now()
    }

    /// Counts.
    pub fn counters(&self) -> &Counters {
        self.part.counters()
    }

    /// What was recorded.
    pub fn records(&self) -> &Records {
        self.part.records()
    }

    /// A port's totals.
    pub fn port(&self, port: PortId) -> &Port {
        &self.part.ports[port as usize]
    }

    /// Time for which an egress port's priority was stopped.
    pub fn paused(&self, port: PortId, priority: u8) -> Time {
        self.part.paused_time(self.part.data_queue(port, crate::port::DATA + priority))
    }

    /// Bytes in all switches' memories, and bytes charged to all ingress ports: always the same.
    pub fn buffered_bytes(&self) -> (u64, u64) {
        self.part.buffered_bytes()
    }

    /// Messages that receivers count as incomplete, of all hosts.
    pub fn open_messages(&self) -> u32 {
        self.part.nics.iter().map(|nic| nic.open_in).sum()
    }

    /// Most packets in the network at once.
    pub fn most_packets_in_flight(&self) -> u32 {
        self.part.packets.most_live()
    }

    /// Packets in the network.
    pub fn packets_in_flight(&self) -> u32 {
        self.part.packets_in_flight()
    }
}
