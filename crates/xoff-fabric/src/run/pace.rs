//! Whether several threads are faster than one, found out while the run goes on.
//!
//! The first thread can simulate all partitions by itself ([`super::threads`]), and results do not depend on who does. So it
//! measures what an event takes alone and what it takes together, and goes on alone where the others do not help: windows
//! with few events, or cores that other processes hold. There one thread at a barrier waits for another that does not run,
//! for as long as the operating system's time slice in each window.
//!
//! What was lost together is made good before the next attempt: the rest alone is a multiple of it, which grows from one
//! attempt to the next as long as they fail.

/// Seconds over which a rate is measured, if that is longer than a window.
const INTERVAL: f64 = 1e-3;
/// The first time together lasts so many seconds before what an event takes alone is measured again, and each further one
/// [`GROWTH`] times as long.
const FIRST_SPAN: f64 = 20e-3;
const GROWTH: f64 = 4.0;
const MAX_SPAN: f64 = 4.0;
/// The rest after a loss, as a multiple of it: so much the first time, and from attempt to attempt [`REST_GROWTH`] times as
/// much until one gains more than its end loses.
const MIN_REST: f64 = 2.0;
const REST_GROWTH: f64 = 8.0;
const MAX_REST: f64 = 256.0;
/// A loss counts as at least so many seconds.
const MIN_LOSS: f64 = 0.2e-3;
/// Another process may have held the core while an event's time alone was measured: from one measurement to the next it
/// grows by no more than this factor.
const MAX_RISE: f64 = 1.5;

/// The choice between one thread and several, made anew before each window.
pub(super) trait Choice {
    /// Whether they are not to be waited for when they are called: the next window begins together.
    fn joins_at_once(&self) -> bool;
    /// Whether the next window is to be simulated together; at the time `now`, in seconds, with so many `events` handled.
    fn wants_company(&mut self, now: f64, events: u64) -> bool;
    /// The other threads are there, at the time `now` with so many `events` handled.
    fn joined(&mut self, now: f64, events: u64);
}

/// The choice by what is measured.
#[derive(Debug)]
pub(super) struct Pace {
    /// Seconds that an event takes alone; `None` if that is not known yet.
    alone: Option<f64>,
    /// Whether that was measured since the last time together.
    measured: bool,
    together: bool,
    /// Time and number of events at the begin of the interval.
    from: (f64, u64),
    /// Whether the interval is to begin with the next window: the first one alone finds the caches as others left them.
    skips: bool,
    /// When the next attempt together may begin.
    resume_at: f64,
    /// When the time together ends for a measurement, and how long the next one lasts.
    measure_at: f64,
    span: f64,
    /// Seconds gained in this time together.
    gained: f64,
    /// The last rest as a multiple of the loss.
    rest: f64,
}

impl Pace {
    /// The pace of a run that begins at time 0, on several threads at once or after a measurement.
    pub fn new(together: bool) -> Self {
        Pace {
            alone: None,
            measured: false,
            together,
            from: (0.0, 0),
            skips: !together,
            resume_at: 0.0,
            measure_at: FIRST_SPAN,
            span: FIRST_SPAN,
            gained: 0.0,
            rest: 0.0,
        }
    }

    /// Ends the time together if it has lost, or if it has lasted.
    fn judge(&mut self, now: f64, time: f64, done: f64) {
        let loss = self.alone.map_or(0.0, |alone| time - alone * done);
        self.gained -= loss;
        if loss > 0.0 {
            let more = if self.gained > 0.0 { MIN_REST } else { self.rest * REST_GROWTH };
            self.rest = more.clamp(MIN_REST, MAX_REST);
            self.resume_at = now + self.rest * loss.max(MIN_LOSS);
        } else if now < self.measure_at {
            return;
        }
        self.together = false;
        self.measured = false;
        self.skips = true;
    }
}

impl Choice for Pace {
    fn joins_at_once(&self) -> bool {
        self.together
    }

    fn wants_company(&mut self, now: f64, events: u64) -> bool {
        let (time, done) = (now - self.from.0, events.saturating_sub(self.from.1));
        if self.skips {
            self.skips = false;
            self.from = (now, events);
        } else if time >= INTERVAL && done > 0 {
            self.from = (now, events);
            if self.together {
                self.judge(now, time, done as f64);
            } else {
                let takes = time / done as f64;
                self.alone = Some(self.alone.map_or(takes, |alone| takes.min(alone * MAX_RISE)));
                self.measured = true;
            }
        }
        self.together || (self.measured && now >= self.resume_at)
    }

    fn joined(&mut self, now: f64, events: u64) {
        self.together = true;
        self.skips = false;
        self.from = (now, events);
        self.gained = 0.0;
        self.measure_at = now + self.span;
        self.span = (self.span * GROWTH).min(MAX_SPAN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a second of windows of 100 events, each of which takes 0.1 ms alone and as long as `together` says at that
    /// time. Returns the time at which the others are there, in shares of all, and the number of events.
    fn second(pace: Pace, together: impl Fn(f64) -> f64) -> (f64, u64) {
        second_of(pace, |_| 0.1e-3, together)
    }

    /// The same with windows that take as long as `alone` says at that time.
    fn second_of(mut pace: Pace, alone: impl Fn(f64) -> f64, together: impl Fn(f64) -> f64) -> (f64, u64) {
        let (mut now, mut events, mut joined, mut shared) = (0.0, 0, false, 0.0);
        while now < 1.0 {
            let takes = if joined { together(now) } else { alone(now) };
            shared += if joined { takes } else { 0.0 };
            now += takes;
            events += 100;
            let wants = pace.wants_company(now, events);
            if wants && !joined {
                pace.joined(now, events);
            }
            joined = wants;
        }
        (shared / now, events)
    }

    #[test]
    fn threads_that_help_are_used_nearly_all_the_time() {
        // Together a window takes 55 us: 18,182 of them fit into a second. It begins alone for 1.2 ms, and measures again
        // after 20, 80 and 320 ms: four measurements, in each of which 12 windows take 1.2 ms, the time of 22. So 40 are lost.
        let (shared, events) = second(Pace::new(false), |_| 55e-6);
        assert!(shared > 0.99, "{shared}");
        assert!((1_812_000..=1_816_000).contains(&events), "{events}");
    }

    #[test]
    fn threads_that_wait_for_their_cores_cost_little() {
        // The other core is held by another process: every window takes 16 ms, the time slice. Alone 10,000 windows fit into
        // the second. The first attempt loses 16 ms and rests twice as long, 32 ms; the second rests 254 ms; and the third
        // 2 s, beyond the second. 48 ms are lost, a twentieth.
        let (shared, events) = second(Pace::new(false), |_| 16e-3);
        assert!(shared < 0.05, "{shared}");
        assert!((945_000..=1_000_000).contains(&events), "{events}");
    }

    #[test]
    fn windows_with_nothing_to_share_are_left_to_one_thread() {
        // Together takes a tenth longer: each attempt of 1 ms loses 0.1 ms, which counts as 0.2 ms, and rests 0.4, 3, 26
        // and at most 51 ms. Some 22 attempts lose 2.2 ms.
        let (shared, events) = second(Pace::new(false), |_| 0.11e-3);
        assert!(shared < 0.04, "{shared}");
        assert!(events > 995_000, "{events}");
    }

    #[test]
    fn a_hiccup_is_forgiven() {
        // Once, at half a second, a window takes 5 ms, which is less than was gained: the rest is twice that.
        let (shared, events) =
            second(Pace::new(false), |now| if (0.5..0.505).contains(&now) { 5e-3 } else { 55e-6 });
        assert!(shared > 0.97, "{shared}");
        assert!(events > 1_795_000, "{events}");
    }

    #[test]
    fn one_thread_that_has_become_faster_is_noticed() {
        // Alone a window takes 0.1 ms at first and 0.04 ms from 0.2 s on; together always 55 us. Measured at 1, 22 and 104 ms and,
        // after 320 ms, at 0.43 s, from where on attempts together lose. Until then 7,800 windows, then 14,200.
        let alone = |now: f64| if now < 0.2 { 0.1e-3 } else { 0.04e-3 };
        let (shared, events) = second_of(Pace::new(false), alone, |_| 55e-6);
        assert!((0.40..0.46).contains(&shared), "{shared}");
        assert!((2_150_000..2_220_000).contains(&events), "{events}");
    }

    #[test]
    fn a_number_that_was_asked_for_is_used_at_once() {
        // The first measurement comes after 20 ms.
        let mut pace = Pace::new(true);
        assert!((1..=199_u32).all(|window| pace.wants_company(f64::from(window) * 0.1e-3, window.into())));
        assert!((200..=220_u32).any(|window| !pace.wants_company(f64::from(window) * 0.1e-3, window.into())));
    }
}
