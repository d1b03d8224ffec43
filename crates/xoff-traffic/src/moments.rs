//! The times at which a pattern repeats: a single time, periodic times, or a Poisson process.

use xoff_engine::{Stream, Time};

use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::Scope;

/// The times at which a pattern sends.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    start: Time,
    every: Option<Time>,
    count: u64,
    end: Time,
    poisson: bool,
}

/// The keys of a pattern that repeats.
pub(crate) struct Repeat {
    pub(crate) start: Time,
    pub(crate) every: Option<Time>,
    /// The pattern's key for `count`.
    pub(crate) count_key: &'static str,
    pub(crate) count: Option<u64>,
    pub(crate) stop: Option<Time>,
    pub(crate) poisson: bool,
}

impl Moments {
    pub(crate) fn resolve(scope: &Scope<'_>, keys: Repeat) -> Result<Moments, Misfit> {
        let Repeat { start, every, count_key, count, stop, poisson } = keys;
        let end = scope.end(start, stop)?;
        if count == Some(0) {
            return Err(Fault::bounds(0, "1 or more").at(count_key));
        }
        if every == Some(Time::ZERO) {
            return Err(Fault::bounds(Time::ZERO, "a period above 0").at("every"));
        }
        if every.is_none() && (count.is_some_and(|n| n > 1) || poisson || stop.is_some()) {
            return Err(Fault::Missing("the period of the repetition").at("every"));
        }
        if every.is_some() && count.is_none() && end.is_none() {
            return Err(Fault::Missing("this key, `stop`, or `duration` in [run]").at(count_key));
        }
        let count = count.unwrap_or(if every.is_some() { u64::MAX } else { 1 });
        Ok(Moments { start, every, count, end: end.unwrap_or(Time::NEVER), poisson })
    }

    /// The number of moments; for a Poisson process the expected number.
    pub(crate) fn expected(&self) -> u128 {
        let span = self.end.saturating_sub(self.start).ps();
        self.every.map_or(1, |every| span.div_ceil(every.ps()).min(self.count)).into()
    }

    /// The moments in order; a Poisson process begins with a gap.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { moments: self, done: 0, last: None }
    }
}

/// A walk through [`Moments`].
pub(crate) struct Walk<'a> {
    moments: &'a Moments,
    done: u64,
    last: Option<Time>,
}

impl Walk<'_> {
    /// The next moment; `None` after the last one.
    pub(crate) fn next(&mut self, stream: &mut Stream) -> Option<Time> {
        let Moments { start, every, count, end, poisson } = *self.moments;
        if self.done == count {
            return None;
        }
        let every = every.unwrap_or(Time::ZERO);
        let at = match (poisson, self.last) {
            (false, None) => start,
            (false, Some(last)) => last.saturating_add(every),
            (true, last) => {
                last.unwrap_or(start).saturating_add(draw::exponential(stream, every.ps() as f64))
            }
        };
        (self.done, self.last) = (self.done + 1, Some(at));
        (at < end).then_some(at)
    }
}
