//! The windows of a run, and the run's end.
//!
//! In a window each partition of the network handles its events by itself: no packet that leaves one partition during the
//! window arrives at another before the window's end, since a window is no longer than the minimum delay of the links
//! between partitions. Between windows all partitions have reached the same time, so only there does a run test whether it
//! is over. To end at the same time however the network is cut, it tests only where every cut has the end of a window: at
//! whole microseconds and, for the size of the record, right after a sample.

use xoff_engine::Time;

/// A run tests at multiples of this time whether it is over.
pub const GRID: Time = Time::from_us(1);

/// A run that delivers no payload for this long tests whether it is in a deadlock; after each test that finds none, it waits
/// twice as long. The test takes for stuck only what can never move again, however long it has stood still (see
/// [`is_blocked`](crate::link::flow_control::LinkControl::is_blocked)), so the wait serves only to test rarely.
pub const STANDSTILL: Time = Time::from_us(100);

/// Events between two reports of progress, which take a few hundredths of a second.
const EVENTS_BETWEEN_REPORTS: u64 = 200_000;

/// The totals of all partitions between two windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// A time that is not after the next event.
    pub next: Time,
    pub events: u64,
    pub flows_done: u64,
    pub delivered_bytes: u64,
    pub rows: u64,
    /// Packets in the network.
    pub in_flight: u32,
    /// Steps have yet to take a processor or to give it back.
    pub busy: bool,
    pub failed: bool,
    pub asked_to_stop: bool,
}

impl Totals {
    /// The totals of no partition.
    pub const NOTHING: Totals = Totals {
        next: Time::NEVER,
        events: 0,
        flows_done: 0,
        delivered_bytes: 0,
        rows: 0,
        in_flight: 0,
        busy: false,
        failed: false,
        asked_to_stop: false,
    };

    /// Adds a partition's totals.
    pub fn add(&mut self, other: &Totals) {
        self.next = self.next.min(other.next);
        self.events += other.events;
        self.flows_done += other.flows_done;
        self.delivered_bytes += other.delivered_bytes;
        self.rows += other.rows;
        self.in_flight += other.in_flight;
        self.busy |= other.busy;
        self.failed |= other.failed;
        self.asked_to_stop |= other.asked_to_stop;
    }
}

/// Why there is no further window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A partition failed.
    Failure,
    /// Every flow that the run waits for has completed, and every step given its processor back.
    FlowsDone,
    /// No event is left before the end of the run.
    NothingLeft,
    /// The rows have reached their limit.
    Rows,
    /// The events have exceeded their limit.
    Events,
    /// No payload has arrived for a [`STANDSTILL`]: the caller tests for a deadlock. Without one, another call gives the next
    /// window.
    StandsStill,
    /// `on_progress` asked the run to end.
    Asked,
}

/// The bounds of windows and of the run.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Maximum length of a window.
    pub lookahead: Time,
    /// The first time after the run.
    pub end: Time,
    /// Time between samples; `None` without samples.
    pub interval: Option<Time>,
    pub max_events: u64,
    pub max_rows: u64,
    /// The number of flows whose completion ends the run, once no step is busy; `None` if flows do not end the run.
    pub flows: Option<u64>,
    /// Whether a standstill ends the sequence of windows.
    pub watches_standstill: bool,
}

/// How long no payload has arrived. Its times are whole microseconds, the same however the network is cut.
#[derive(Clone, Debug)]
struct Standstill {
    delivered_bytes: u64,
    /// When the next test for a deadlock is due.
    due: Time,
    /// Time between the last test, or the last payload, and the next test.
    wait: Time,
}

impl Standstill {
    const fn new() -> Self {
        Standstill { delivered_bytes: 0, due: STANDSTILL, wait: STANDSTILL }
    }

    /// The time of a test for a deadlock that is due, `boundary` being the first whole microsecond after all events so far
    /// and `begin` not after the next event.
    fn since(&mut self, delivered_bytes: u64, boundary: Time, begin: Time) -> Option<Time> {
        if delivered_bytes != self.delivered_bytes {
            let due = boundary.saturating_add(STANDSTILL);
            *self = Standstill { delivered_bytes, due, wait: STANDSTILL };
        }
        let due = self.due;
        if begin < due {
            return None;
        }
        self.wait = self.wait.saturating_add(self.wait);
        self.due = due.saturating_add(self.wait);
        Some(due)
    }
}

/// The sequence of windows. Every thread that gives it the same totals gets the same windows.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    bounds: Bounds,
    /// The end of the last window.
    limit: Time,
    /// The time of the run's end, if that is not the last event's.
    now: Option<Time>,
    /// Events at the last report.
    reported: u64,
    report_due: bool,
    standstill: Standstill,
    /// Time carried forward since the last test for a standstill.
    carried: Time,
    /// Maximum number of packets in the network at the whole microseconds so far.
    max_in_flight: u32,
}

impl Windows {
    pub fn new(bounds: Bounds) -> Self {
        Windows {
            bounds,
            limit: Time::ZERO,
            now: None,
            reported: 0,
            report_due: false,
            standstill: Standstill::new(),
            carried: Time::ZERO,
            max_in_flight: 0,
        }
    }

    /// The end of the next window, which all partitions are to reach.
    ///
    /// # Errors
    /// [`End`], the reason why there is no further window.
    #[inline]
    pub fn next(&mut self, totals: &Totals) -> Result<Time, End> {
        if totals.failed {
            return Err(End::Failure);
        }
        if totals.asked_to_stop {
            return Err(End::Asked);
        }
        if totals.events > self.bounds.max_events {
            // The cut decides at which event the limit is exceeded, but not in which microsecond.
            return Err(self.over(End::Events, Time((self.limit.0.max(1) - 1) / GRID.0 * GRID.0)));
        }
        let full = totals.rows >= self.bounds.max_rows;
        if full
            && self
                .bounds
                .interval
                .is_some_and(|i| self.limit.0 > 1 && (self.limit.0 - 1).is_multiple_of(i.0))
        {
            return Err(self.over(End::Rows, Time(self.limit.0 - 1)));
        }
        let begin = totals.next.max(self.limit);
        let boundary = Time(self.limit.0.div_ceil(GRID.0).saturating_mul(GRID.0));
        if begin >= boundary || begin >= self.bounds.end {
            self.max_in_flight = self.max_in_flight.max(totals.in_flight);
            if self.have_all_flows(totals) {
                return Err(self.over(End::FlowsDone, boundary.min(Time(self.bounds.end.0 - 1))));
            }
            let arrived = boundary.saturating_add(std::mem::take(&mut self.carried));
            if self.bounds.watches_standstill
                && let Some(at) = self.standstill.since(totals.delivered_bytes, arrived, begin)
                && at < self.bounds.end
            {
                return Err(self.over(End::StandsStill, at));
            }
            if begin >= self.bounds.end {
                return Err(End::NothingLeft);
            }
            if full {
                return Err(self.over(End::Rows, boundary));
            }
            if totals.events - self.reported >= EVENTS_BETWEEN_REPORTS {
                self.reported = totals.events;
                self.report_due = true;
            }
        }
        let grid = (begin.0 / GRID.0 + 1).saturating_mul(GRID.0);
        let mut limit = begin.0.saturating_add(self.bounds.lookahead.0).min(grid).min(self.bounds.end.0);
        if let Some(interval) = self.bounds.interval {
            let sample = begin.0.max(1).div_ceil(interval.0).saturating_mul(interval.0);
            limit = limit.min(sample.saturating_add(1));
        }
        self.limit = Time(limit);
        Ok(self.limit)
    }

    fn over(&mut self, end: End, now: Time) -> End {
        self.now = Some(now);
        end
    }

    /// Goes on until all events before `end` are handled, whatever completes.
    pub fn go_on_until(&mut self, end: Time) {
        self.bounds = Bounds { end, flows: None, watches_standstill: false, ..self.bounds.clone() };
        self.now = None;
    }

    /// All partitions have gone on to a time, unless they have left events before that. Returns whether they have come so far, and the run goes on.
    pub fn reach(&mut self, limit: Time, totals: &Totals) -> bool {
        if totals.next < limit {
            return false;
        }
        self.limit = self.limit.max(limit);
        !self.have_all_flows(totals) && !totals.failed
    }

    /// Time was carried forward since the last window: if payload arrives, it does so until then.
    pub fn carry_forward(&mut self, time: Time) {
        self.carried = self.carried.saturating_add(time);
    }

    /// The time of the run's end; `None` for the time of the last event.
    pub fn now(&self) -> Option<Time> {
        self.now
    }

    /// How long no payload had arrived when the last test for a deadlock was due.
    pub fn silent_for(&self) -> Time {
        // After each test the wait is twice as long, so that the waits before add up to the current one less the first.
        self.standstill.wait.saturating_sub(STANDSTILL)
    }

    /// Maximum number of packets in the network at the whole microseconds so far.
    pub fn max_in_flight(&self) -> u32 {
        self.max_in_flight
    }

    /// Whether every flow that the run waits for has completed, and no step is busy.
    pub fn have_all_flows(&self, totals: &Totals) -> bool {
        self.bounds.flows == Some(totals.flows_done) && !totals.busy
    }

    /// The end of the last window.
    pub fn limit(&self) -> Time {
        self.limit
    }

    /// Number of events after which a partition may stop in the next window: they exceed the limit of events.
    pub fn budget(&self, totals: &Totals) -> u64 {
        self.bounds.max_events.saturating_sub(totals.events).saturating_add(1)
    }

    /// Whether it is time for a report of progress.
    #[inline]
    pub fn is_time_to_report(&mut self) -> bool {
        std::mem::take(&mut self.report_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Totals = Totals { next: Time::ZERO, ..Totals::NOTHING };

    const FREE: Bounds = Bounds {
        lookahead: Time::NEVER,
        end: Time::NEVER,
        interval: None,
        max_events: u64::MAX,
        max_rows: u64::MAX,
        flows: None,
        watches_standstill: false,
    };

    fn at(next: u64) -> Totals {
        Totals { next: Time(next), ..START }
    }

    #[test]
    fn windows_are_as_long_as_the_lookahead_and_end_at_microseconds_and_samples() {
        let mut windows =
            Windows::new(Bounds { lookahead: Time(400_000), interval: Some(Time(450_000)), ..FREE });
        // From 0: 0.4 us; then to the sample at 0.45 us, itself included; from there 0.4 us; to the sample at 0.9 us;
        // to 1 us. A next event at 2.1 us begins the next window, which reaches the sample at 2.25 us.
        let ends = [0, 400_000, 450_001, 850_001, 900_001, 2_100_000].map(|next| windows.next(&at(next)));
        let expected = [400_000, 450_001, 850_001, 900_001, 1_000_000, 2_250_001];
        assert_eq!(ends, expected.map(|end| Ok(Time(end))));
    }

    #[test]
    fn a_run_ends_with_the_microsecond_of_its_last_flow() {
        for lookahead in [Time(300_000), Time::NEVER] {
            let mut windows = Windows::new(Bounds { flows: Some(2), lookahead, ..FREE });
            let mut limit = Time::ZERO;
            let end = loop {
                // The second flow completes at 2.5 us, and something happens every 100 ns.
                let done = if limit > Time(2_500_000) { 2 } else { 1 };
                match windows.next(&Totals { flows_done: done, ..at(limit.0 + 99_999) }) {
                    Ok(next) => limit = next,
                    Err(end) => break end,
                }
            };
            assert_eq!((end, windows.now()), (End::FlowsDone, Some(Time(3_000_000))));
        }
    }

    #[test]
    fn a_standstill_is_noticed_after_100_us_and_then_after_twice_as_long() {
        // The last payload arrives at 30.5 us, which is seen at 31 us, and something else happens every 250 ns. Tests are due
        // at 131 us, 200 us later at 331 us, and at 731 us; then payload arrives again from 740 us until 800.5 us, and a test
        // is due at 901 us. Nothing happens from there to 2 ms: the tests of 1101 us and 1501 us are of the same state. The
        // next ones are due at 2301 us and, after the end, at 3901 us.
        for lookahead in [Time(300_000), Time::NEVER] {
            let bounds = Bounds { lookahead, watches_standstill: true, end: Time(3_000_000_000), ..FREE };
            let mut windows = Windows::new(bounds);
            let (mut limit, mut found) = (Time::ZERO, vec![]);
            loop {
                let done = Time(limit.0.max(1) - 1);
                let delivered_bytes = match done.0 {
                    0..30_500_000 => done.0 / 500_000,
                    30_500_000..740_000_000 => 61,
                    _ => 61 + done.0.min(800_500_000) / 500_000,
                };
                let next = limit.0.next_multiple_of(250_000);
                let next = if (901_000_000..2_000_000_000).contains(&next) { 2_000_000_000 } else { next };
                match windows.next(&Totals { delivered_bytes, ..at(next) }) {
                    Ok(next) => limit = next,
                    Err(End::StandsStill) => found.extend(windows.now().map(|now| now.0 / 1_000_000)),
                    Err(end) => break assert_eq!(end, End::NothingLeft),
                }
            }
            assert_eq!(found, [131, 331, 731, 901, 1101, 1501, 2301], "{lookahead}");
        }
    }

    #[test]
    fn payload_that_was_carried_forward_has_arrived_until_then() {
        // 50 ms are carried forward from 30 us on, with payload. The next test is due 100 us after that, not in the midst of it.
        let bounds = Bounds { watches_standstill: true, ..FREE };
        let mut windows = Windows::new(bounds);
        assert_eq!(windows.next(&at(29_500_000)), Ok(Time(30_000_000)));
        windows.carry_forward(Time::from_ms(50));
        let totals = |next| Totals { delivered_bytes: 1_000, ..at(next) };
        assert_eq!(windows.next(&totals(50_030_000_000)), Ok(Time(50_031_000_000)));
        assert_eq!(windows.next(&totals(50_130_000_000)), Err(End::StandsStill));
        assert_eq!((windows.now(), windows.silent_for()), (Some(Time(50_130_000_000)), STANDSTILL));
    }

    #[test]
    fn windows_go_on_where_partitions_have_left_events() {
        // Partitions went on to 5 us by themselves. They have left an event at 4.1 us: the next window still holds it.
        let mut windows = Windows::new(Bounds { flows: Some(1), ..FREE });
        assert_eq!(windows.next(&at(3_500_000)), Ok(Time(4_000_000)));
        assert!(!windows.reach(Time(5_000_000), &at(4_100_000)));
        assert_eq!(windows.next(&at(4_100_000)), Ok(Time(5_000_000)));
        // They have left none, and the run goes on, or its last flow has completed by 6.2 us: it ends at 7 us.
        assert!(windows.reach(Time(6_200_000), &at(6_300_000)));
        assert!(!windows.reach(Time(6_200_000), &Totals { flows_done: 1, ..at(6_300_000) }));
        let done = |next| Totals { flows_done: 1, ..at(next) };
        assert_eq!(windows.next(&done(6_300_000)), Ok(Time(7_000_000)));
        assert_eq!(windows.next(&done(7_100_000)), Err(End::FlowsDone));
        assert_eq!(windows.now(), Some(Time(7_000_000)));
    }

    #[test]
    fn a_run_whose_duration_comes_first_ends_there() {
        let mut windows = Windows::new(Bounds { flows: Some(1), end: Time(700_001), ..FREE });
        assert_eq!(windows.next(&START), Ok(Time(700_001)));
        assert_eq!(windows.clone().next(&at(900_000)), Err(End::NothingLeft));
        assert_eq!(windows.next(&Totals { flows_done: 1, ..at(900_000) }), Err(End::FlowsDone));
        assert_eq!(windows.now(), Some(Time(700_000)));
    }

    #[test]
    fn packets_are_counted_at_whole_microseconds() {
        // One more packet in each 0.3 us up to 1.2 us, then one fewer in each 0.3 us: 3 packets are there at 1 us (since 0.3,
        // 0.6 and 0.9 us), 2 at 2 us, and the 4 between 1.2 and 1.5 us do not count.
        let in_flight = |time: u64| (time / 300_000).min(8 - time / 300_000) as u32;
        for lookahead in [Time(300_000), Time::NEVER] {
            let mut windows = Windows::new(Bounds { lookahead, end: Time(2_000_000), ..FREE });
            let mut limit = Time::ZERO;
            while let Ok(next) =
                windows.next(&Totals { in_flight: in_flight(limit.0.max(1) - 1), ..at(limit.0) })
            {
                limit = next;
            }
            assert_eq!(windows.max_in_flight(), 3);
        }
    }

    #[test]
    fn too_many_events_are_placed_in_their_microsecond() {
        for (lookahead, events) in [(Time(300_000), 11), (Time::NEVER, 17)] {
            let mut windows = Windows::new(Bounds { max_events: 10, lookahead, ..FREE });
            assert!(windows.next(&at(4_100_000)).is_ok());
            assert_eq!(windows.next(&Totals { events, ..at(4_500_000) }), Err(End::Events));
            assert_eq!(windows.now(), Some(Time(4_000_000)));
        }
    }
}
