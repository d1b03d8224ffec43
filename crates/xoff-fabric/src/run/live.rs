//! A run whose messages come from outside while it goes on, as in a co-simulation.
//!
//! The caller adds messages, lets simulated time pass, and hears what has become of messages: that the last byte has arrived, or
//! that the last ACK is back. So that the caller may answer at the very time of an event, all events have one order, and the
//! network has one partition and one thread. Apart from that, a message fares as in a run that knows of the message from the
//! beginning.

use xoff_engine::Time;
use xoff_schemes::detector::AnyDetector;

use super::simulation::{Simulation, Stop};
use super::windows::{Bounds, End, Windows};
use crate::ids::FlowId;
use crate::network::dependencies::Milestone;
use crate::network::{BuildError, Flow, Growth, Network};
use crate::observe::{Counters, Failure, Recording};
use crate::path::routing::Router;

/// Why a live run goes no further for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Something has become of a message.
    News,
    /// The time that was asked for has come.
    Reached,
    /// Nothing is left to happen before the time that was asked for, nor before the end of the run.
    Idle,
    /// The caller asked for a pause.
    Asked,
    /// The run ends here: [`Stop::Deadlock`], [`Stop::Stuck`], [`Stop::Events`] or [`Stop::Rows`].
    Stopped(Stop),
}

/// A network being simulated, to which messages are added.
pub struct Live {
    sim: Simulation,
    growth: Growth,
    windows: Windows,
    /// All events before this time may be handled: the end of the current window.
    window: Time,
    limits: Limits,
}

impl Live {
    /// A live run of `net` at time zero, which was built with `router`; `growth` is that of the network. It goes on to
    /// `duration` at the latest.
    pub fn new(
        mut net: Network,
        growth: Growth,
        detector: Option<&AnyDetector>,
        recording: Recording,
        duration: Option<Time>,
        limits: Limits,
    ) -> Live {
        net.one_order = true;
        let mut sim = Simulation::new(net, detector, recording, duration);
        let windows = Windows::new(Bounds {
            lookahead: Time::NEVER,
            end: duration.map_or(Time::NEVER, |d| d.saturating_add(Time(1))),
            interval: sim.recording.interval,
            max_events: limits.max_events,
            max_rows: limits.max_rows,
            flows: None,
            watches_standstill: duration.is_none(),
        });
        sim.limit_rows(usize::try_from(limits.max_rows).unwrap_or(usize::MAX));
        sim.partitions[0].keep_news();
        Live { sim, growth, windows, window: Time::ZERO, limits }
    }

    /// Adds a message, which starts at its `start`: not before the time that the run has reached. It has a connection of its
    /// own, or the one with this `number` among those that messages of the same hosts and priority share.
    ///
    /// # Errors
    /// [`BuildError`] if there is no path for the message, or no room.
    pub fn add(&mut self, router: &Router, flow: Flow, number: Option<u32>) -> Result<FlowId, BuildError> {
        let growth = &mut self.growth;
        self.sim.partitions[0]
            .add_message(&mut |net| growth.add(net, router, flow, number), self.limits.rates)
    }

    /// Handles all events up to `time`, which is included; if the caller is to hear `at_once` of what becomes of messages, only up
    /// to the first event of that kind. `go_on` is asked every few hundredths of a second; if it returns `false`, the run pauses.
    ///
    /// # Errors
    /// [`Failure`] if the run cannot go on: a packet is lost in a lossless network, or a scheme fails.
    pub fn advance(
        &mut self,
        time: Time,
        at_once: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Pause, Failure> {
        let target = time.saturating_add(Time(1));
        loop {
            let partition = &mut self.sim.partitions[0];
            let limit = self.window.min(target);
            let budget = self.windows.budget(&partition.totals());
            partition.run_live(limit, budget, at_once);
            let totals = partition.totals();
            if totals.failed {
                return Err(self.sim.failure());
            }
            if totals.events > self.limits.max_events {
                return Ok(Pause::Stopped(Stop::Events));
            }
            if at_once && partition.has_news() {
                return Ok(Pause::News);
            }
            if self.window >= target {
                return Ok(Pause::Reached);
            }
            if self.windows.is_time_to_report() && !go_on() {
                return Ok(Pause::Asked);
            }
            match self.windows.next(&totals) {
                // What comes next lies behind the time that was asked for, and the caller may still add something before.
                Ok(end) => self.window = end,
                // A caller who names a time gets it, whatever stands still.
                Err(End::StandsStill) if time == Time::NEVER => {
                    if let Some(stop) = self.sim.standstill(&self.windows) {
                        return Ok(Pause::Stopped(stop));
                    }
                }
                Err(End::StandsStill) => {}
                Err(End::Events) => return Ok(Pause::Stopped(Stop::Events)),
                Err(End::Rows) => return Ok(Pause::Stopped(Stop::Rows)),
                Err(End::Failure) => return Err(self.sim.failure()),
                Err(End::NothingLeft | End::FlowsDone | End::Asked) => return Ok(Pause::Idle),
            }
        }
    }

    /// What has become of messages since the last call, with the times, in the order in which it has.
    pub fn take_news(&mut self) -> Vec<(Time, Milestone)> {
        self.sim.partitions[0].take_news()
    }

    /// The network with all messages so far.
    pub fn network(&self) -> &Network {
        self.sim.network()
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.sim.partitions[0].now()
    }

    /// The counts so far.
    pub fn counters(&self) -> Counters {
        self.sim.partitions[0].counters()
    }

    /// The simulation as it stands: for what it can tell of ports and queues.
    pub fn simulation(&self) -> &Simulation {
        &self.sim
    }

    /// Ends the run at `now`, with its counts and records.
    pub fn close(mut self, now: Time) -> Simulation {
        self.sim.now = now;
        self.sim.max_packets_in_flight = self.windows.max_in_flight();
        self.sim.close();
        self.sim
    }
}

/// The limits of a live run, and what of added messages is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of events.
    pub max_events: u64,
    /// Maximum number of recorded rows.
    pub max_rows: u64,
    /// Whether the rates of added messages are sampled.
    pub rates: bool,
}
