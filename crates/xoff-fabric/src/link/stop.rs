//! The stops of an egress queue by flow control: since when the queue is stopped, and the total time of its stops.

use xoff_engine::Time;

/// The stops of one egress queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct StopState {
    /// Since when the queue is stopped.
    since: Option<Time>,
    /// PAUSE frames received during this stop.
    frames: u32,
    /// Total time of the stops before the current one.
    total: Time,
}

impl StopState {
    /// Total time of stops up to `now`.
    pub fn total(&self, now: Time) -> Time {
        self.total + self.since.map_or(Time::ZERO, |since| now - since)
    }

    /// The total time of the stops that are over.
    pub fn total_mut(&mut self) -> &mut Time {
        &mut self.total
    }

    /// The current stop: since when, and its PAUSE frames.
    pub fn current(&self) -> Option<(Time, u32)> {
        self.since.map(|since| (since, self.frames))
    }

    /// Whether the queue is stopped.
    pub fn is_stopped(&self) -> bool {
        self.since.is_some()
    }

    /// Counts a PAUSE frame, which begins or prolongs a stop.
    pub fn count_frame(&mut self) {
        self.frames += 1;
    }

    /// The queue may not send from now on.
    pub fn stop(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// Ends the stop; returns since when the queue was stopped, and by how many PAUSE frames. `None` if it was not stopped.
    pub fn resume(&mut self, now: Time) -> Option<(Time, u32)> {
        let since = self.since.take()?;
        self.total += now - since;
        Some((since, std::mem::take(&mut self.frames)))
    }
}
