//! Running a network to its end, with periodic reports of progress.

use std::sync::Arc;

use xoff_engine::Time;
use xoff_schemes::detector::AnyDetector;

use super::any_partition::AnyPartition;
use super::apart::{Ends, Outcome, apart};
use super::critical_path::CriticalPath;
use super::cut::Cut;
use super::deadlocked::deadlocked;
use super::fast_forward::{self, Allowance, Approximate, FastForward, FastForwarded, Skips};
use super::pace::Pace;
use super::partitions;
use super::patience::{patience, settled_at};
use super::side_by_side::side_by_side;
use super::threads::{alone, in_turn, together};
use super::windows::{Bounds, End, Windows};
use crate::host::recall::Recall;
use crate::ids::{FlowId, PortId, QueueId};
use crate::link::buffer::IngressQueue;
use crate::link::flow_control::counters::{ReceivingEnd, SendingEnd};
use crate::link::llr::RetryCounts;
use crate::link::port::Port;
use crate::network::Network;
use crate::observe::records::FlowOutcome;
use crate::observe::{Counters, Failure, Probe, Recording, Records};

/// How far a run is.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// Simulated time.
    pub now: Time,
    /// Flows completed, of those that the run waits for.
    pub flows_done: u64,
    /// Flows that the run waits for.
    pub flows: u64,
    /// Events handled.
    pub events: u64,
    /// What was recorded so far; `None` if several threads record.
    pub records: Option<&'a Records>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every flow that the run waits for has completed, and every step given its processor back.
    FlowsDone,
    /// The duration has passed.
    Duration,
    /// `on_progress` asked the run to end.
    Asked,
    /// No event is pending, and some flows have not completed.
    Stalled,
    /// No payload has arrived for long, and something is broken that keeps the flows that are left from completing. A run with
    /// a duration does not end by this.
    Stuck,
    /// Ports wait for each other for ever: see [`Simulation::deadlock`]. A run with a duration does not end by this.
    Deadlock,
    /// The run has handled more events than its limit.
    Events,
    /// The run has recorded as many rows as its limit.
    Rows,
    /// The caller of a live run has closed it.
    Closed,
}

/// A network being simulated.
pub struct Simulation {
    pub(super) cut: Arc<Cut>,
    /// At least one.
    pub(super) partitions: Vec<Box<dyn AnyPartition>>,
    pub(super) recording: Recording,
    duration: Option<Time>,
    stops_with_flows: bool,
    max_events: u64,
    max_rows: u64,
    pub(super) now: Time,
    counters: Counters,
    records: Records,
    pub(super) max_packets_in_flight: u32,
    /// See [`Simulation::forget_packets`].
    has_forgotten: bool,
    critical_path: Option<CriticalPath>,
    /// Maximum number of threads.
    threads: usize,
    detector: Option<AnyDetector>,
    /// What may be skipped of a run that is fast-forwarded.
    allowance: Option<Allowance>,
    forwarded: Option<FastForwarded>,
}

impl Simulation {
    /// A simulation of `net` at time zero on one thread, with `detector` at each switch's egress queues. The run ends after
    /// `duration`, or with the microsecond in which the last flow completes.
    pub fn new(
        net: Network,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
    ) -> Self {
        let cut = Cut::single(&net);
        Self::cut(net, cut, detector, recording, duration)
    }

    /// A simulation like [`Simulation::new`], with a thread for each partition of `cut`, which must be a cut of `net`.
    /// Results do not depend on the cut.
    pub fn cut(
        net: Network,
        cut: Cut,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
    ) -> Self {
        let (net, cut) = (Arc::new(net), Arc::new(cut));
        Simulation {
            partitions: partitions(&net, detector, &recording, &cut, cut.threads()),
            cut,
            recording,
            duration,
            stops_with_flows: true,
            max_events: u64::MAX,
            max_rows: u64::MAX,
            now: Time::ZERO,
            counters: Counters::default(),
            records: Records::default(),
            max_packets_in_flight: 0,
            has_forgotten: false,
            critical_path: None,
            threads: usize::MAX,
            detector: detector.cloned(),
            allowance: None,
            forwarded: None,
        }
    }

    /// Runs to the end. `on_progress` is called every few hundredths of a second; if it returns `false`, the run ends with the
    /// results so far.
    ///
    /// # Errors
    /// [`Failure`] if the run cannot go on: a packet is lost in a lossless network, a scheme fails, or no thread can start.
    pub fn run(&mut self, on_progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Stop, Failure> {
        if let Some(allowance) = self.allowance
            && let Some(stop) = self.run_apart(allowance, on_progress)?
        {
            return Ok(stop);
        }
        let end = self.duration.map_or(Time::NEVER, |d| d.saturating_add(Time(1)));
        let mut windows = Windows::new(Bounds {
            lookahead: self.cut.lookahead(),
            end,
            interval: self.recording.interval,
            max_events: self.max_events,
            max_rows: self.max_rows,
            flows: self.stops_with_flows.then_some(self.network().awaited()),
            // With a duration, flows elsewhere go on until then.
            watches_standstill: self.stops_with_flows && self.duration.is_none(),
        });
        if let (Some(allowance), [only]) = (self.allowance, &mut self.partitions[..]) {
            only.follow_messages(allowance);
        }
        if self.max_events < u64::MAX || self.critical_path.is_some() {
            self.partitions.iter_mut().for_each(|partition| partition.count_in_time());
        }
        let mut forward = self.allowance.map(|allowed| FastForward::new(allowed, end, &*self.partitions[0]));
        let stop = loop {
            let end = match (&mut self.partitions[..], &mut self.critical_path, &mut forward) {
                ([only], _, Some(forward)) => {
                    fast_forward::alone(&mut **only, &mut windows, forward, on_progress)
                }
                ([only], _, None) => alone(&mut **only, &mut windows, on_progress),
                (all, Some(path), _) => in_turn(all, path, &mut windows, on_progress),
                (all, None, _) => {
                    let pace = Pace::new(!self.cut.begins_alone());
                    together(all, self.cut.threads(), pace, &mut windows, on_progress)?
                }
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
                End::StandsStill => match self.standstill(&windows) {
                    Some(stop) => stop,
                    None => continue,
                },
            };
        };
        self.partitions.iter_mut().for_each(|partition| partition.count_in_time());
        let last = self.partitions.iter().map(|partition| partition.now()).max().unwrap_or(Time::ZERO);
        self.now = match stop {
            Stop::Duration => self.duration.unwrap_or(last),
            Stop::Stalled | Stop::Asked => last,
            _ => windows.now().unwrap_or(last),
        };
        self.max_packets_in_flight = windows.max_in_flight();
        self.forwarded = forward.map(|forward| forward.outcome(&*self.partitions[0]));
        self.close();
        Ok(stop)
    }

    /// How the run ends if no payload has arrived for a while; `None` if it goes on.
    pub(super) fn standstill(&self, windows: &Windows) -> Option<Stop> {
        let deadlock = || !self.deadlock().is_empty();
        let Some(patience) = patience(self.network()) else { return deadlock().then_some(Stop::Deadlock) };
        // The payload of a recalled message arrives all at once.
        let is_recalling = |recall: &Recall| recall.is_recalling();
        let mut all = self.partitions.iter();
        let busy =
            all.any(|partition| partition.totals().busy || partition.recall().is_some_and(is_recalling));
        let waits = windows.silent_for() < patience
            || windows.now().is_none_or(|now| now < settled_at(self.network()).saturating_add(patience));
        match waits || busy {
            true => None,
            false if deadlock() => Some(Stop::Deadlock),
            false => Some(Stop::Stuck),
        }
    }

    /// The first failure of the partitions' last window: all partitions have handled everything before it. A scheme that
    /// fails runs on one thread, which goes on to the window's end, so the scheme's failure comes first.
    pub(super) fn failure(&mut self) -> Failure {
        if let Some(broken) = self.network().scheme.failure() {
            return broken.into();
        }
        let broken = self.partitions.iter_mut().filter_map(|partition| partition.take_failure());
        let first = broken.min_by_key(|(time, key, _)| (*time, *key));
        first.map_or_else(
            || Failure::NoThread { reason: "a partition is lost".into() },
            |(.., failure)| failure,
        )
    }

    /// Closes the partitions, and merges their counts and records.
    pub(super) fn close(&mut self) {
        let (now, threads) = (self.now, self.cut.threads().min(self.threads));
        let partitions = self.partitions.iter_mut().collect();
        let closed = side_by_side(partitions, threads, |partition| partition.close(now));
        let (counters, records): (Vec<_>, Vec<_>) = closed.into_iter().unzip();
        counters.iter().for_each(|counters| self.counters.add(counters));
        self.records = Records::merge(records, &self.recording, &self.cut.by_node(), self.network());
    }

    /// Follows the run's critical path: one thread simulates all partitions in turn. Call this before the run.
    pub fn follow_critical_path(&mut self) {
        self.critical_path = Some(CriticalPath::default());
    }

    /// The critical path of the run, if it was followed and the network is cut.
    pub fn critical_path(&self) -> Option<&CriticalPath> {
        self.critical_path.as_ref().filter(|path| path.windows > 0)
    }

    /// Adds a probe, made by `probe`, to each partition. Call this before the run.
    pub fn add_probe(&mut self, probe: impl Fn(&Network) -> Box<dyn Probe>) {
        for partition in &mut self.partitions {
            let probe = probe(partition.network());
            partition.add_probe(probe);
        }
    }

    /// Fast-forwards the run over its steady states, with errors of completion times up to `tolerance`: see
    /// [`crate::run::fast_forward`]. Only a simulation on one partition is fast-forwarded, only with records of flows,
    /// totals and samples, and without probes. Where messages are of several parts that cannot affect each other, each part is
    /// fast-forwarded by itself, on up to `threads` threads. Call this before the run.
    pub fn fast_forward(&mut self, tolerance: f64, threads: usize) {
        self.allowance = Some(Allowance { tolerance, approximate: Approximate::Apart, recalls: true });
        self.threads = threads.max(1);
        let net = self.shared_network();
        let cut = Cut::by_messages(&net, &self.recording).filter(|_| self.partitions.len() == 1);
        if let Some(cut) = cut {
            self.divide(&net, cut);
        }
    }

    /// Recalls no messages in a run that is fast-forwarded. Call this before the run.
    pub fn recall_no_messages(&mut self) {
        self.allowance = self.allowance.map(|allowance| Allowance { recalls: false, ..allowance });
    }

    /// Which jumps of a run that is fast-forwarded may be approximate. Call this before the run.
    pub fn approximate(&mut self, approximate: Approximate) {
        self.allowance = self.allowance.map(|allowance| Allowance { approximate, ..allowance });
    }

    fn divide(&mut self, net: &Arc<Network>, cut: Cut) {
        let threads = cut.threads().min(self.threads);
        self.partitions = partitions(net, self.detector.as_ref(), &self.recording, &cut, threads);
        self.cut = Arc::new(cut);
    }

    /// Runs the parts of a run, each by itself; `None` if it is to be simulated as a whole.
    fn run_apart(
        &mut self,
        allowance: Allowance,
        on_progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Option<Stop>, Failure> {
        let Some(division) = self.cut.division().cloned() else { return Ok(None) };
        let ends = Ends {
            with_flows: self.stops_with_flows,
            duration: self.duration,
            max_events: self.max_events,
            max_rows: self.max_rows,
        };
        let outcome = apart(&mut self.partitions, &division, self.threads, allowance, ends, on_progress)?;
        let Some(Outcome { stop, now, forwarded, max_in_flight }) = outcome else {
            let net = self.shared_network();
            let single = Cut::single(&net);
            self.divide(&net, single);
            return Ok(None);
        };
        (self.now, self.forwarded, self.max_packets_in_flight) = (now, Some(forwarded), max_in_flight);
        self.close();
        Ok(Some(stop))
    }

    /// What was skipped; `None` before the end of the run, and if it was not fast-forwarded.
    pub fn forwarded(&self) -> Option<&FastForwarded> {
        self.forwarded.as_ref()
    }

    /// Whether the completion time of a message with an outcome may differ by more than the tolerance from that of the run without fast-forward: it ended, or
    /// was under way at the run's end, after its part had become uncertain.
    pub fn is_uncertain(&self, flow: FlowId, outcome: &FlowOutcome) -> bool {
        let part = self.cut.division().map_or(0, |division| division.part_of(flow));
        let Some(from) = self.skips_of(part).and_then(|part| part.uncertain_from) else {
            return false;
        };
        outcome.fct.map_or(self.now, |fct| outcome.start + fct) >= from
    }

    fn skips_of(&self, part: usize) -> Option<&Skips> {
        self.forwarded.as_ref()?.parts.get(part)
    }

    /// Time that was carried forward between two times in the part of a step; none if the run was not fast-forwarded.
    pub fn skipped_beside_step(&self, step: u32, from: Time, to: Time) -> Time {
        let part = self.cut.division().map_or(0, |division| division.part_of_step(step));
        self.skips_of(part).map_or(Time::ZERO, |part| part.between(from, to))
    }

    /// Time that was carried forward between two times in a run with samples, which is of one part; none if the run was not
    /// fast-forwarded.
    pub fn skipped_between(&self, from: Time, to: Time) -> Time {
        self.skips_of(0).map_or(Time::ZERO, |part| part.between(from, to))
    }

    /// Bytes among those that a port has sent that were not simulated, but carried forward or of messages that were recalled.
    pub fn skipped_bytes(&self, port: PortId) -> u64 {
        self.partition(port).skipped_bytes(port)
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
        self.max_rows = count as u64;
    }

    /// The number of rows that ends the run, see [`Simulation::limit_rows`].
    pub fn row_limit(&self) -> u64 {
        self.max_rows
    }

    /// The egress ports that wait for each other for ever; empty if there is no deadlock. First come the ports of a circle,
    /// each waiting for the next and the last for the first, then the others, ascending.
    pub fn deadlock(&self) -> Vec<PortId> {
        let all: Vec<&dyn AnyPartition> = self.with_packets().iter().map(|partition| &**partition).collect();
        deadlocked(self.network(), &all, &|port| self.partition(port))
    }

    /// The network, to look at while the simulation runs.
    pub fn shared_network(&self) -> Arc<Network> {
        self.partitions[0].network().clone()
    }

    /// The network.
    pub fn network(&self) -> &Network {
        self.partitions[0].network()
    }

    /// The number of threads that simulate the network.
    pub fn threads(&self) -> usize {
        self.partitions.len().min(self.threads)
    }

    /// When the run ended.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The last time of which the run says what a program did. A computation's end is known when the computation begins: a run that
    /// ends with its last message does not wait for it, and it counts unless it is after the run's duration.
    pub fn horizon(&self) -> Time {
        let is_done = self.counters.flows_done == self.network().flows.len() as u64;
        if is_done { self.duration.unwrap_or(Time::NEVER) } else { self.now }
    }

    /// The counts of the run; zero before its end.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The records of the run; empty before its end.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The network and the records of the run; the records are empty before its end.
    pub fn into_records(self) -> (Arc<Network>, Records) {
        (self.partitions[0].network().clone(), self.records)
    }

    /// The partition that has a port.
    fn partition(&self, port: PortId) -> &dyn AnyPartition {
        &*self.partitions[self.cut.partition_of_port(port, self.network().topology.node_of(port))]
    }

    fn queue(&self, port: PortId, priority: u8) -> QueueId {
        QueueId::new(port, priority, self.network().settings.switch.priorities.into())
    }

    /// The accounting of a port's and priority's ingress.
    pub(crate) fn ingress(&self, port: PortId, priority: u8) -> &IngressQueue {
        self.partition(port).ingress(self.queue(port, priority))
    }

    /// A port's totals.
    pub fn port(&self, port: PortId) -> &Port {
        self.partition(port).port(port)
    }

    /// Bits that have left a port by the end of the run; the part of a frame that has left need not be whole.
    pub fn bits_sent(&self, port: PortId) -> f64 {
        self.partition(port).bits_sent(port, self.now)
    }

    /// What the link-level retry of an egress port did; `None` without LLR.
    pub fn retries(&self, port: PortId) -> Option<RetryCounts> {
        self.partition(port).retries(port)
    }

    /// Time for which an egress port's priority was stopped.
    pub fn paused(&self, port: PortId, priority: u8) -> Time {
        self.partition(port).stopped(self.queue(port, priority))
    }

    /// Both ends' credits of an egress port's priority; `None` if flow control has no credits.
    pub fn credits(&self, port: PortId, priority: u8) -> Option<(&SendingEnd, &ReceivingEnd)> {
        self.partition(port).credits(self.queue(port, priority), self.partition(port.peer()))
    }

    /// Bytes in all switches' memories, and bytes charged to all ingress ports. The two are always equal.
    pub fn buffered_bytes(&self) -> (u64, u64) {
        let bytes = self.partitions.iter().map(|partition| partition.buffered_bytes());
        bytes.fold((0, 0), |(memories, ports), (m, p)| (memories + m, ports + p))
    }

    /// Connections with a message that their receivers count as incomplete, of all hosts.
    pub fn open_receptions(&self) -> u32 {
        self.partitions.iter().map(|partition| partition.open_receptions()).sum()
    }

    /// Maximum number of packets in the network at any whole microsecond; 0 before the end of the run.
    pub fn max_packets_in_flight(&self) -> u32 {
        self.max_packets_in_flight
    }

    /// Forgets the packets that are in the network of a run that is over, and gives their memory back. What they tell must not
    /// be asked any more: [`Simulation::deadlock`], [`Simulation::data_packets_in_network`] and [`Simulation::packets_in_flight`].
    pub fn forget_packets(&mut self) {
        self.has_forgotten = true;
        self.partitions.iter_mut().for_each(|partition| partition.forget_packets());
    }

    /// Number of data packets in the network, without those that a stopped receiver holds, which have arrived.
    pub fn data_packets_in_network(&self) -> u64 {
        self.with_packets().iter().map(|partition| partition.data_in_network()).sum()
    }

    /// Number of packets in the network.
    pub fn packets_in_flight(&self) -> u32 {
        self.with_packets().iter().map(|partition| partition.packets_in_flight()).sum()
    }

    /// The partitions, whose packets are still known.
    fn with_packets(&self) -> &[Box<dyn AnyPartition>] {
        debug_assert!(!self.has_forgotten, "the packets are forgotten");
        &self.partitions
    }
}
