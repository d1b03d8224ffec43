//! When a thing is broken: spans of time that neither overlap nor touch.

use xoff_engine::Time;

/// A span of time in which something is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    pub from: Time,
    /// The first moment after it.
    pub until: Time,
    /// The fault that begins it, by its place in the plan.
    pub fault: u32,
}

/// The outages of a thing, in order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Outages(Vec<Outage>);

impl Outages {
    /// Adds an outage that does not begin before the others; together they are one if they meet.
    pub fn add(&mut self, outage: Outage) {
        if outage.from >= outage.until {
            return;
        }
        match self.0.last_mut() {
            Some(last) if outage.from <= last.until => last.until = last.until.max(outage.until),
            _ => self.0.push(outage),
        }
    }

    /// The first outage at any time after `begin` or at it, up to and including `end`.
    pub fn between(&self, begin: Time, end: Time) -> Option<&Outage> {
        let first = self.0.partition_point(|outage| outage.until <= begin);
        self.0.get(first).filter(|outage| outage.from <= end)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Outage> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(from: u64, until: u64, fault: u32) -> Outage {
        Outage { from: Time(from), until: Time(until), fault }
    }

    #[test]
    fn outages_that_meet_are_one() {
        // 10 to 20 and 15 to 18, then 20 to 30 meet; 40 to 50 stands alone, and an empty one is none.
        let mut all = Outages::default();
        let spans = [(10, 20, 0), (15, 18, 1), (20, 30, 2), (35, 35, 3), (40, 50, 4)];
        spans.into_iter().for_each(|(from, until, fault)| all.add(outage(from, until, fault)));
        let spans: Vec<_> = all.iter().copied().collect();
        assert_eq!(spans, [outage(10, 30, 0), outage(40, 50, 4)]);
        // A span from 30 to 39 lies between the two; one that reaches 40 does not, and 29 is the last moment of the first.
        let fault = |begin, end| all.between(Time(begin), Time(end)).map(|outage| outage.fault);
        assert_eq!(
            [fault(30, 39), fault(30, 40), fault(29, 39), fault(50, 60)],
            [None, Some(4), Some(0), None]
        );
    }
}
