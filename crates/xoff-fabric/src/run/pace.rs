//! Whether several threads are faster than one, found out while the run goes on.
//!
//! The first thread can simulate all partitions by itself ([`super::threads`]), and results do not depend on who does. So it
//! measures what an event takes alone and what it takes together, and goes on alone where the others do not help: windows
//! with few events, or cores that other processes hold. There one thread at a barrier waits for another that does not run,
//! for as long as the operating system's time slice in each window.
//!
//! What was gained together pays for what is lost: an interruption of one thread, for which all others wait, does not end a
//! time together that has gained more. What was lost together is made good before the next attempt: the rest alone is a
//! multiple of it, which grows from one attempt to the next as long as they fail, unless windows have far more to do than at the
//! last attempt.

/// Seconds over which a rate is measured, if that is longer than a window.
const INTERVAL: f64 = 1e-3;
/// The first time together lasts so many seconds before what an event takes alone is measured again, and each further one
/// [`GROWTH`] times as long, until one fails.
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
/// An attempt that failed says nothing about windows with so many times as many events: the rest is over.
const DENSER: f64 = 2.0;
/// Gains pay for so many seconds of losses at most, so that a core that is gone for good is noticed soon.
const MAX_CREDIT: f64 = 20e-3;
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
    /// Windows in the interval.
    windows: u32,
    /// Whether the interval is to begin with the next window: the first one alone finds the caches as others left them.
    skips: bool,
    /// When the next attempt together may begin.
    resume_at: f64,
    /// When the time together ends for a measurement, and how long the next one lasts.
    measure_at: f64,
    span: f64,
    /// Seconds gained in this time together.
    gained: f64,
    /// Those of them that have not paid for losses, up to [`MAX_CREDIT`].
    credit: f64,
    /// Events in a window when the last attempt failed.
    failed_at: f64,
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
            windows: 0,
            skips: !together,
            resume_at: 0.0,
            measure_at: FIRST_SPAN,
            span: FIRST_SPAN,
            gained: 0.0,
            credit: 0.0,
            failed_at: f64::INFINITY,
            rest: 0.0,
        }
    }

    fn begin_interval(&mut self, now: f64, events: u64) {
        (self.from, self.windows) = ((now, events), 0);
    }

    /// Ends the time together if what it has lost exceeds its credit, or if it has lasted.
    fn judge(&mut self, now: f64, time: f64, done: f64, density: f64) {
        let gain = self.alone.map_or(0.0, |alone| alone * done - time);
        self.gained += gain;
        self.credit = (self.credit + gain).min(MAX_CREDIT);
        if self.credit < 0.0 {
            self.rest = if self.gained > 0.0 { MIN_REST } else { self.rest * REST_GROWTH };
            self.rest = self.rest.clamp(MIN_REST, MAX_REST);
            self.resume_at = now + self.rest * self.credit.abs().max(MIN_LOSS);
            (self.failed_at, self.span) = (density, FIRST_SPAN);
        } else if now < self.measure_at {
            return;
        } else {
            self.span = (self.span * GROWTH).min(MAX_SPAN);
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
        self.windows += 1;
        if self.skips {
            self.skips = false;
            self.begin_interval(now, events);
        } else if time >= INTERVAL && done > 0 {
            let (done, density) = (done as f64, done as f64 / f64::from(self.windows));
            self.begin_interval(now, events);
            if self.together {
                self.judge(now, time, done, density);
            } else {
                let takes = time / done;
                self.alone = Some(self.alone.map_or(takes, |alone| takes.min(alone * MAX_RISE)));
                self.measured = true;
                if density >= self.failed_at * DENSER {
                    (self.rest, self.resume_at, self.failed_at) = (0.0, now, f64::INFINITY);
                }
            }
        }
        self.together || (self.measured && now >= self.resume_at)
    }

    fn joined(&mut self, now: f64, events: u64) {
        self.together = true;
        self.skips = false;
        self.begin_interval(now, events);
        (self.gained, self.credit) = (0.0, 0.0);
        self.measure_at = now + self.span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a second of windows of 100 events, each of which takes 0.1 ms alone and as long as `together` says at that
    /// time. Returns the share of time for which the others are there, and the number of events.
    fn second(pace: Pace, together: impl Fn(f64) -> f64) -> (f64, u64) {
        second_of(pace, |now| (100, 0.1e-3, together(now)))
    }

    /// The same with windows of which `window` says at that time their events, and how long they take alone and together.
    fn second_of(mut pace: Pace, window: impl Fn(f64) -> (u64, f64, f64)) -> (f64, u64) {
        let (mut now, mut events, mut joined, mut shared) = (0.0, 0, false, 0.0);
        while now < 1.0 {
            let (more, alone, together) = window(now);
            let takes = if joined { together } else { alone };
            shared += if joined { takes } else { 0.0 };
            now += takes;
            events += more;
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
    fn interruptions_are_paid_for_by_what_was_gained() {
        // Ten times as fast together, 10 us a window; in each 20 ms one thread is interrupted for 8 ms. The 12 ms before have
        // gained 108 ms, of which 20 ms count. So the threads part only to measure, four times, of which each takes 12 windows
        // alone: 5 ms. Of the other 995 ms, 12 of each 20 hold 100 windows a millisecond: 59,700.
        let together = |now: f64| if now % 20e-3 < 12e-3 { 10e-6 } else { 8e-3 };
        let (shared, events) = second(Pace::new(false), together);
        assert!(shared > 0.99, "{shared}");
        assert!((5_850_000..=6_050_000).contains(&events), "{events}");
    }

    #[test]
    fn a_core_that_is_gone_for_good_is_missed_soon() {
        // From half a second on every window takes 16 ms. The credit of 20 ms pays for the first of them; the second leaves 12 ms
        // to be made good, in 24 ms. An attempt then loses 16 ms and rests 255 ms, eight times twice as long, and so does one
        // more, beyond the second: 64 ms are lost, and in the other 436 ms there are 4,360 windows.
        let (_, events) = second(Pace::new(false), |now| if now < 0.5 { 55e-6 } else { 16e-3 });
        let before = 5 * second(Pace::new(false), |_| 55e-6).1 / 10;
        assert!((420_000..=445_000).contains(&(events - before)), "{events} {before}");
    }

    #[test]
    fn windows_that_have_more_to_do_are_tried_at_once() {
        // Windows of 100 events, a tenth slower together, for 0.4 s: by then a rest lasts 51 ms. From there on windows of 1,000
        // events, which take 1 ms alone and 0.2 ms together: after one or two alone they are shared but for three measurements, two
        // windows each: 592 ms with 2,960 windows. With 8 alone and 4,000 small ones before, that is 3,368,000 events.
        let window = |now: f64| if now < 0.4 { (100, 0.1e-3, 0.11e-3) } else { (1_000, 1e-3, 0.2e-3) };
        let (shared, events) = second_of(Pace::new(false), window);
        assert!((0.58..0.61).contains(&shared), "{shared}");
        assert!((3_355_000..=3_375_000).contains(&events), "{events}");
    }

    #[test]
    fn one_thread_that_has_become_faster_is_noticed() {
        // Alone a window takes 0.1 ms at first and 0.04 ms from 0.2 s on; together always 55 us. Measured at 1, 22 and 104 ms and,
        // after 320 ms, at 0.43 s, from where on attempts together lose. Until then 7,800 windows, then 14,200.
        let window = |now: f64| (100, if now < 0.2 { 0.1e-3 } else { 0.04e-3 }, 55e-6);
        let (shared, events) = second_of(Pace::new(false), window);
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
