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
/// The first time together lasts this many seconds before what an event takes alone is measured again, and each further one
/// [`GROWTH`] times as long, until one fails.
const FIRST_SPAN: f64 = 20e-3;
const GROWTH: f64 = 4.0;
const MAX_SPAN: f64 = 4.0;
/// To measure takes a few windows alone. Where windows are large, a time together lasts as long as this many of them alone, but no
/// longer than [`MAX_STRETCH`] times its span: what a window takes may have been measured while another process held the core.
const SPAN_WINDOWS: f64 = 200.0;
const MAX_STRETCH: f64 = 8.0;
/// Calls after a change that are not measured. At the first of them, the last window was simulated as before the change; the window
/// after it finds the caches as others left them.
const UNMEASURED: u8 = 2;
/// Judge the first window together only if it takes this many times its time alone, and an [`INTERVAL`] more: another process has a core.
const HOPELESS: f64 = 2.0;
/// The rest alone is a multiple of what was lost: first `MIN_REST`, and after each further attempt that fails `REST_GROWTH` times the
/// last, until an attempt gains more than its end loses.
const MIN_REST: f64 = 4.0;
const REST_GROWTH: f64 = 16.0;
const MAX_REST: f64 = 256.0;
/// Ignore losses up to this many seconds.
const MIN_LOSS: f64 = 0.2e-3;
/// Maximum loss that counts, in seconds: a process that was stopped for a minute has lost nothing by its threads.
const MAX_LOSS: f64 = 50e-3;
/// End the rest once windows hold this many times the events of those before the attempt that failed; a further failure is still one more in
/// the row, since single windows may differ by as much.
const DENSER: f64 = 2.0;
/// Maximum gain that is left to pay for losses, in seconds: a core that is gone for good is to be noticed soon.
const MAX_CREDIT: f64 = 20e-3;
/// Another process may have held the core while an event's time alone was measured: from one measurement to the next it
/// grows by no more than this factor.
const MAX_RISE: f64 = 1.5;

/// The choice between one thread and several, made anew before each window.
pub(super) trait Choice {
    /// Whether the next window that is to be together waits for the others, where windows alone would pass until they are there. It is
    /// asked before the first window too, which is together if so.
    fn waits_for_others(&self) -> bool;
    /// Whether the next window is to be simulated together. It is called after each window, with the time and the number of events
    /// before it: `now`, in seconds, and `events`.
    fn wants_company(&mut self, now: f64, events: u64) -> bool;
    /// The other threads are there for the next window; the last one began at the time `now`.
    fn joined(&mut self, now: f64);
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
    /// Time and number of events at the last change.
    begin: (f64, u64),
    /// Calls that are not measured: see [`UNMEASURED`].
    unmeasured: u8,
    /// When the next attempt together may begin.
    resume_at: f64,
    /// When the time together ends for a measurement, and how long the next one lasts.
    measure_at: f64,
    span: f64,
    /// Seconds gained together since the last attempt that failed.
    gained: f64,
    /// Those of them that are left to pay for losses, up to [`MAX_CREDIT`].
    credit: f64,
    /// Events in a window of the last interval alone.
    density: f64,
    /// The same when the last attempt failed, or in its windows if they had more.
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
            begin: (0.0, 0),
            unmeasured: UNMEASURED,
            resume_at: 0.0,
            measure_at: FIRST_SPAN,
            span: FIRST_SPAN,
            gained: 0.0,
            credit: 0.0,
            density: 0.0,
            failed_at: f64::INFINITY,
            rest: 0.0,
        }
    }

    fn begin_interval(&mut self, now: f64, events: u64) {
        (self.from, self.windows) = ((now, events), 0);
    }

    /// Seconds gained since a time and number of events, if all that was together.
    fn gain(&self, since: (f64, u64), now: f64, events: u64) -> f64 {
        let done = events.saturating_sub(since.1) as f64;
        self.alone.map_or(0.0, |alone| alone * done - (now - since.0))
    }

    /// Whether a first window together was so slow that it says enough.
    fn is_hopeless(&self, time: f64, done: f64) -> bool {
        self.alone.is_some_and(|alone| time > HOPELESS * alone * done + INTERVAL)
    }

    /// Takes in what an event takes alone: a run's first events may wait for memory, so that a second interval has to confirm them.
    fn learn(&mut self, now: f64, time: f64, done: f64) {
        let (takes, density) = (time / done, done / f64::from(self.windows));
        self.density = density;
        let Some(before) = self.alone else {
            self.alone = Some(takes);
            return;
        };
        let takes = takes.min(before * MAX_RISE);
        (self.alone, self.measured) = (Some(takes), true);
        if density >= self.failed_at * DENSER {
            (self.resume_at, self.failed_at) = (now, f64::INFINITY);
        }
    }

    /// Ends the time together if what it has lost exceeds its credit, or if it has lasted.
    fn judge(&mut self, now: f64, events: u64) {
        let (gain, done) = (self.gain(self.from, now, events), events.saturating_sub(self.from.1) as f64);
        self.gained += gain;
        self.credit = (self.credit + gain).min(MAX_CREDIT);
        if self.credit < -MIN_LOSS {
            self.rest = if self.gained > 0.0 { MIN_REST } else { self.rest * REST_GROWTH };
            self.rest = self.rest.clamp(MIN_REST, MAX_REST);
            // What the windows cost that are not measured is lost too.
            let lost = f64::max(-self.credit, -self.gain(self.begin, now, events));
            self.resume_at = now + self.rest * lost.min(MAX_LOSS);
            self.failed_at = self.density.max(done / f64::from(self.windows));
            (self.gained, self.credit, self.span) = (0.0, 0.0, FIRST_SPAN);
        } else if now < self.measure_at {
            return;
        } else {
            self.rest = 0.0;
            self.span = (self.span * GROWTH).min(MAX_SPAN);
        }
        self.together = false;
        self.measured = false;
        self.unmeasured = UNMEASURED;
    }
}

impl Choice for Pace {
    fn waits_for_others(&self) -> bool {
        self.together
    }

    fn wants_company(&mut self, now: f64, events: u64) -> bool {
        let (time, done) = (now - self.from.0, events.saturating_sub(self.from.1) as f64);
        self.windows += 1;
        let mut lasted = time >= INTERVAL && done > 0.0;
        if self.unmeasured > 0 {
            self.unmeasured -= 1;
            if self.unmeasured > 0 {
                self.begin = (now, events);
            }
            lasted = self.unmeasured == 0 && self.together && self.is_hopeless(time, done);
            if !lasted {
                self.begin_interval(now, events);
            }
        }
        if lasted {
            match self.together {
                true => self.judge(now, events),
                false => self.learn(now, time, done),
            }
            self.begin_interval(now, events);
        }
        self.together || (self.measured && now >= self.resume_at)
    }

    fn joined(&mut self, now: f64) {
        self.together = true;
        self.unmeasured = UNMEASURED;
        let window = self.alone.unwrap_or(0.0) * self.density;
        let stretched = (SPAN_WINDOWS * window).min(MAX_STRETCH * self.span);
        self.measure_at = now + self.span.max(stretched);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a second of windows of 100 events, each of which takes 0.1 ms alone and as long as `together` says at that
    /// time. Returns the share of time for which the others are there, and the number of events.
    fn second(pace: Pace, together: impl Fn(f64) -> f64) -> (f64, u64) {
        second_of(pace, |now, _| (100, 0.1e-3, together(now)))
    }

    /// The same with windows of which `window` says their events, and how long they take alone and together: at that time, and whether the
    /// window before was simulated in the other way.
    fn second_of(mut pace: Pace, window: impl Fn(f64, bool) -> (u64, f64, f64)) -> (f64, u64) {
        let (mut now, mut events, mut joined, mut changed, mut shared) = (0.0, 0, false, true, 0.0);
        while now < 1.0 {
            let before = (now, events);
            let (more, alone, together) = window(now, changed);
            let takes = if joined { together } else { alone };
            shared += if joined { takes } else { 0.0 };
            now += takes;
            events += more;
            let wants = pace.wants_company(before.0, before.1);
            if wants && !joined {
                pace.joined(before.0);
            }
            changed = wants != joined;
            joined = wants;
        }
        (shared / now, events)
    }

    #[test]
    fn threads_that_help_are_used_nearly_all_the_time() {
        // Together a window takes 55 us: 18,182 of them fit into a second. It begins alone for 2.1 ms, and measures again
        // after 20, 80 and 320 ms, for 1.3 ms each: 60 windows, which take the time of 109. So 49 are lost.
        let (shared, events) = second(Pace::new(false), |_| 55e-6);
        assert!(shared > 0.99, "{shared}");
        assert!((1_812_000..=1_816_000).contains(&events), "{events}");
    }

    #[test]
    fn threads_that_wait_for_their_cores_cost_little() {
        // The other core is held by another process: every window takes 16 ms, the time slice. Alone 10,000 windows fit into
        // the second. An attempt loses two windows: after the first it is given up, when the second has begun. The first rests for four
        // times the 16 ms that are known by then, 64 ms, and the second 16 times as long, beyond the second. 64 ms are lost.
        let (shared, events) = second(Pace::new(false), |_| 16e-3);
        assert!(shared < 0.07, "{shared}");
        assert!((930_000..=940_000).contains(&events), "{events}");
    }

    #[test]
    fn single_windows_do_not_end_a_rest() {
        // The same with windows of 1,000 events in 0.15 ms, of which one in 12 ms has 10,000 in 1.5 ms. Such a window ends
        // the first rest, and perhaps another one, but each rest is 16 times as long as the last: two or three attempts, which lose 64 or 96 ms.
        let window = |now: f64, _| {
            let is_large = (now * 1e3) as u64 % 12 == 6;
            if is_large { (10_000, 1.5e-3, 16e-3) } else { (1_000, 0.15e-3, 16e-3) }
        };
        let (shared, _) = second_of(Pace::new(false), window);
        assert!((0.05..0.11).contains(&shared), "{shared}");
    }

    #[test]
    fn windows_with_nothing_to_share_are_left_to_one_thread() {
        // Together takes 12 % longer: each attempt loses 0.11 ms in each of two intervals, and rests four times as long, 0.9 ms,
        // then 14 ms, and 55 ms from there on: 19 attempts of 20 windows, which lose 5 ms in all.
        let (shared, events) = second(Pace::new(false), |_| 0.112e-3);
        assert!(shared < 0.05, "{shared}");
        assert!(events > 994_000, "{events}");
    }

    #[test]
    fn large_windows_are_not_judged_by_the_first_after_a_change() {
        // 2 ms alone, 1.1 ms together, but 2.4 ms for the first of either, with cold caches. Together lasts eight times 20 ms, and
        // then as long as 200 windows alone, before what an event takes alone is measured again: in three windows each time, four
        // with the begin. Those 13 take 28 ms, and four cold ones together 10 ms: 962 ms for 875 windows more.
        let window = |_, changed| {
            let cold = if changed { 2.4e-3 } else { 0.0 };
            (10_000, f64::max(2e-3, cold), f64::max(1.1e-3, cold))
        };
        let (shared, events) = second_of(Pace::new(false), window);
        assert!(shared > 0.97, "{shared}");
        assert!((8_900_000..=8_950_000).contains(&events), "{events}");
    }

    #[test]
    fn the_first_window_together_counts_among_losses() {
        // 2 ms alone. Together the first window takes 4.9 ms, with cold caches, and each further one 2.5 ms: an attempt loses 2.9 and
        // 0.5 ms before it is given up, and 0.5 ms in the window that has begun by then. It rests four times 3.4 ms, then 64 times that, 218 ms,
        // then 0.9 s: three attempts of 9.9 ms in a second.
        let window = |_, changed| (10_000, 2e-3, if changed { 4.9e-3 } else { 2.5e-3 });
        let (shared, _) = second_of(Pace::new(false), window);
        assert!((0.025..0.035).contains(&shared), "{shared}");
    }

    #[test]
    fn interruptions_are_paid_for_by_what_was_gained() {
        // Ten times as fast together, 10 us a window; in each 20 ms one thread is interrupted for 8 ms. The 12 ms before have
        // gained 108 ms, of which 20 ms count. So the threads part only to measure, and alone are the same 60 windows as above, in 6 ms.
        // Of the other 994 ms, 12 of each 20 hold 100 windows a millisecond: 59,640.
        let together = |now: f64| if now % 20e-3 < 12e-3 { 10e-6 } else { 8e-3 };
        let (shared, events) = second(Pace::new(false), together);
        assert!(shared > 0.99, "{shared}");
        assert!((5_850_000..=6_050_000).contains(&events), "{events}");
    }

    #[test]
    fn a_measurement_does_not_spend_what_was_gained() {
        // The third time together begins at 105 ms. An interruption of 8 ms right after that is paid for by the second, so that alone are
        // the same 60 windows as without.
        let together = |now: f64| if (0.1055..0.1135).contains(&now) { 8e-3 } else { 55e-6 };
        let (shared, events) = second(Pace::new(false), together);
        assert!(shared > 0.99, "{shared}");
        // 8 ms are 145 windows of 55 us.
        assert!((1_796_000..=1_802_000).contains(&events), "{events}");
    }

    #[test]
    fn a_core_that_is_gone_for_good_is_missed_soon() {
        // From half a second on every window takes 16 ms. The credit of 20 ms pays for the first of them; the second leaves 12 ms
        // to be made good, in 47 ms, when a third has begun. The next attempt loses two windows and rests for 1 s, 64 times the 16 ms that
        // are known by then. So 80 ms are lost, and in the other 420 ms there are 4,200 windows.
        let (_, events) = second(Pace::new(false), |now| if now < 0.5 { 55e-6 } else { 16e-3 });
        let before = 5 * second(Pace::new(false), |_| 55e-6).1 / 10;
        assert!((410_000..=430_000).contains(&(events - before)), "{events} {before}");
    }

    #[test]
    fn a_process_that_was_stopped_goes_on_together() {
        // At half a second the process stands still for 10 s, in a window together. That counts as 50 ms, four times as long alone: 0.2 s
        // of the 5 s that follow.
        let (mut pace, mut now, mut alone) = (Pace::new(false), 0.0, 0.0);
        let (mut joined, mut events, mut stood) = (false, 0, false);
        while now < 15.5 {
            let stops = joined && now >= 0.5 && !stood;
            stood |= stops;
            let takes = if stops {
                10.0
            } else if joined {
                55e-6
            } else {
                0.1e-3
            };
            let before = (now, events);
            (now, events) = (now + takes, events + 100);
            alone += if joined { 0.0 } else { takes };
            let wants = pace.wants_company(before.0, before.1);
            if wants && !joined {
                pace.joined(before.0);
            }
            joined = wants;
        }
        assert!(stood && (0.2..0.23).contains(&alone), "{alone}");
    }

    #[test]
    fn a_slow_begin_is_not_taken_for_the_rule() {
        // Two windows take 100 ms, since memory comes new; then 0.1 ms alone, and together 16 ms. As with the lost core 64 ms are lost
        // of the other 800.
        let window = |now: f64, _| (100, if now < 0.15 { 0.1 } else { 0.1e-3 }, 16e-3);
        let (shared, events) = second_of(Pace::new(false), window);
        assert!(shared < 0.07, "{shared}");
        assert!((730_000..=740_000).contains(&events), "{events}");
    }

    #[test]
    fn windows_that_have_more_to_do_are_tried_at_once() {
        // Windows of 100 events, 12 % slower together, for 0.4 s: by then a rest lasts 55 ms. From there on windows of 1,000
        // events, which take 1 ms alone and 0.2 ms together: after two alone they are shared but for two measurements, after 160 and
        // 200 ms, three windows each. That leaves 591 ms with 2,955 windows; with 8 alone and 4,000 small ones before, less 20 that were
        // lost, 3,361,000 events.
        let window = |now, _| if now < 0.4 { (100, 0.1e-3, 0.112e-3) } else { (1_000, 1e-3, 0.2e-3) };
        let (shared, events) = second_of(Pace::new(false), window);
        assert!((0.59..0.63).contains(&shared), "{shared}");
        assert!((3_350_000..=3_370_000).contains(&events), "{events}");
    }

    #[test]
    fn one_thread_that_has_become_faster_is_noticed() {
        // Alone a window takes 0.1 ms at first and 0.04 ms from 0.2 s on; together always 55 us. Measured at 1, 22 and 104 ms and,
        // after 320 ms, at 0.43 s, by when there are 7,700 windows. From there on each window together loses 15 us, and the credit of 20 ms
        // pays for 1,340 of them, until 0.50 s. Then attempts fail: 12,400 windows.
        let window = |now, _| (100, if now < 0.2 { 0.1e-3 } else { 0.04e-3 }, 55e-6);
        let (shared, events) = second_of(Pace::new(false), window);
        assert!((0.49..0.52).contains(&shared), "{shared}");
        assert!((2_130_000..2_160_000).contains(&events), "{events}");
    }

    #[test]
    fn a_number_that_was_asked_for_is_used_at_once() {
        // The first measurement comes after 20 ms.
        let mut pace = Pace::new(true);
        assert!((1..=199_u32).all(|window| pace.wants_company(f64::from(window) * 0.1e-3, window.into())));
        assert!((200..=220_u32).any(|window| !pace.wants_company(f64::from(window) * 0.1e-3, window.into())));
    }
}
