//! All reaction points of a jump hear their lessons together, as often as all of them set the same limits.
//!
//! A point that comes again into a state in which it was, but that clock and stream are ahead, hears the same from there on and does the same. So it
//! sets the limits that it set since, however often the period comes, and need not hear it: it is carried forward by whole cycles. Windows at their
//! maximum, and averages that have settled to the last bit, are such states. One that follows round trips may need as many periods as a round
//! trip has.

use xoff_schemes::{AnyReaction, ReactionPoint};

use super::lesson::Lesson;

/// Periods after which the points of all connections are compared, one of which may have changed a limit: one, then two, and so on up to this
/// many. So what is heard in vain costs little.
const MOST_AT_ONCE: u64 = 64;

/// Calls after which a point is compared with what it was before, which takes as long as a few of them.
const CALLS_BETWEEN: u64 = 32;

/// Calls of reaction points in a jump, which take half a second or so: nobody can interrupt the run meanwhile, or see its progress.
const MOST_CALLS: u64 = 1 << 24;

/// A point that hears its lesson.
struct Pupil<'a> {
    lesson: &'a Lesson,
    point: AnyReaction,
    /// How often the point has heard its lesson.
    heard: u64,
    /// The number of periods after which the point is as it was, once that is known.
    cycle: Option<u64>,
    /// The point after fewer periods, and how many these were; `None` if the point cannot be carried.
    earlier: Option<(u64, AnyReaction)>,
}

impl<'a> Pupil<'a> {
    /// A copy of a point that has heard nothing again yet; `None` if it cannot be copied.
    fn new(point: &AnyReaction, lesson: &'a Lesson) -> Option<Pupil<'a>> {
        let earlier = match point.try_clone()?.carry(&lesson.carry(0, 1)) {
            true => Some((0, point.try_clone()?)),
            false => None,
        };
        let cycle = (lesson.calls() == 0).then_some(1);
        Some(Pupil { lesson, point: point.try_clone()?, heard: 0, cycle, earlier })
    }

    /// Calls of the point in each further period.
    fn calls(&self) -> u64 {
        if self.cycle.is_some() { 0 } else { self.lesson.calls() }
    }

    /// What becomes of the point that hears its lesson until it has heard it `to` times, or comes again into a state; or the first period in which
    /// it sets other limits.
    fn hear(&self, to: u64) -> Result<Progress, u64> {
        let copy = |point: &AnyReaction, heard: u64| point.try_clone().ok_or(heard + 1);
        let (mut point, mut heard) = (copy(&self.point, self.heard)?, self.heard);
        let mut newer: Option<(u64, AnyReaction)> = None;
        let between = (CALLS_BETWEEN / self.lesson.calls()).max(1);
        while heard < to {
            self.lesson.teach_periods(&mut point, heard + 1, heard + 1)?;
            heard += 1;
            let Some((times, earlier)) = newer.as_ref().or(self.earlier.as_ref()) else { continue };
            if !heard.is_multiple_of(between) {
                continue;
            }
            let since = heard - times;
            if point.repeats(earlier, &self.lesson.carry(*times, since)) {
                return Ok(Progress { point, heard, cycle: Some(since), newer });
            }
            if heard >= 2 * times {
                newer = Some((heard, copy(&point, heard)?));
            }
        }
        Ok(Progress { point, heard, cycle: None, newer })
    }

    /// The point is what has become of it.
    fn go_on(&mut self, progress: Progress) {
        (self.point, self.heard, self.cycle) = (progress.point, progress.heard, progress.cycle);
        self.earlier = progress.newer.or(self.earlier.take());
    }

    /// The point after `periods`, no fewer than it has heard.
    fn after(mut self, periods: u64) -> AnyReaction {
        if let Some(cycle) = self.cycle.filter(|_| self.lesson.calls() > 0) {
            let whole = (periods - self.heard) / cycle * cycle;
            self.point.carry(&self.lesson.carry(self.heard, whole));
            self.heard += whole;
        }
        // It sets the same limits as in the periods before.
        let _ = self.lesson.teach_periods(&mut self.point, self.heard + 1, periods);
        self.point
    }
}

/// What has become of a point.
struct Progress {
    point: AnyReaction,
    heard: u64,
    cycle: Option<u64>,
    /// The point after fewer periods, in place of the earlier one.
    newer: Option<(u64, AnyReaction)>,
}

/// Lets `points` hear their lessons `periods` times, or as often as all of them set the same limits, or as [`MOST_CALLS`] allow. Returns how
/// often. Points that cannot be copied hear nothing.
pub(super) fn teach(points: &mut [AnyReaction], lessons: &[Lesson], periods: u64) -> u64 {
    let pupils = points.iter().zip(lessons).map(|(point, lesson)| Pupil::new(point, lesson));
    let Some(mut pupils) = pupils.collect::<Option<Vec<Pupil>>>() else { return 0 };
    let (mut done, mut at_once, mut calls_left) = (0, 1, MOST_CALLS);
    while done < periods {
        let calls: u64 = pupils.iter().map(Pupil::calls).sum();
        if calls == 0 {
            done = periods;
            break;
        }
        if done > 0 && calls_left < calls {
            break;
        }
        let to = periods.min(done + at_once.min(calls_left / calls).max(1));
        at_once = (at_once * 2).min(MOST_AT_ONCE);
        calls_left = calls_left.saturating_sub(calls * (to - done));
        let mut hears: Vec<&mut Pupil> = pupils.iter_mut().filter(|pupil| pupil.cycle.is_none()).collect();
        let all: Vec<Result<Progress, u64>> = hears.iter().map(|pupil| pupil.hear(to)).collect();
        if let Some(first) = all.iter().filter_map(|each| each.as_ref().err()).min() {
            done = first - 1;
            break;
        }
        hears.iter_mut().zip(all.into_iter().flatten()).for_each(|(pupil, progress)| pupil.go_on(progress));
        done = to;
    }
    points.iter_mut().zip(pupils).for_each(|(point, pupil)| *point = pupil.after(done));
    done
}
