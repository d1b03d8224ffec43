//! The stops of an egress queue by flow control: since when the queue is stopped, and the total time of its stops.

use bytemuck::Zeroable;
use xoff_engine::Time;

/// The stops of one egress queue. Zeros are a queue that was never stopped.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
pub struct StopState {
    is_stopped: bool,
    /// Since when, if the queue is stopped.
    since: Time,
    /// PAUSE frames received during this stop.
    frames: u32,
    /// Total time of the stops before the current one.
    total: Time,
}

impl StopState {
    /// Total time of stops up to `now`.
    pub fn total(&self, now: Time) -> Time {
        if self.is_stopped { self.total + (now - self.since) } else { self.total }
    }

    /// The total time of the stops that are over.
    pub fn total_mut(&mut self) -> &mut Time {
        &mut self.total
    }

    /// The current stop: since when, and its PAUSE frames.
    pub fn current(&self) -> Option<(Time, u32)> {
        self.is_stopped.then_some((self.since, self.frames))
    }

    /// Whether the queue is stopped.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Counts a PAUSE frame, which begins or prolongs a stop.
    pub fn count_frame(&mut self) {
        self.frames += 1;
    }

    /// The queue may not send from now on.
    pub fn stop(&mut self, now: Time) {
        (self.is_stopped, self.since) = (true, now);
    }

    /// Ends the stop; returns since when the queue was stopped, and by how many PAUSE frames. `None` if it was not stopped.
    pub fn resume(&mut self, now: Time) -> Option<(Time, u32)> {
        if !std::mem::take(&mut self.is_stopped) {
            return None;
        }
        self.total += now - self.since;
        Some((self.since, std::mem::take(&mut self.frames)))
    }
}
