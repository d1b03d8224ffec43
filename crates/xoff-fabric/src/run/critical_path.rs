//! The critical path that the windows of a run allow: how much faster it could be on so many threads.
//!
//! In each window the threads wait for the one that has the most to do. The sum of that over all windows is the shortest
//! time that this cut allows, however many cores there are.

/// Work of a partition that takes in a packet from another one, in events: 11 to 19 ns were measured where an event takes 40
/// to 57 ns. To copy the packet out takes no longer than to schedule its arrival.
const CROSSING: f64 = 0.25;

/// The work of the busiest partition, summed over the windows of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// Windows.
    pub windows: u64,
    /// Events of all partitions.
    pub events: u64,
    /// Packets that crossed from one partition to another.
    pub crossings: u64,
    /// Over all windows, the sum of the busiest partition's work, in events.
    pub busiest: f64,
}

impl CriticalPath {
    /// Adds a window: for each partition its events, and the packets that came to it from others.
    pub fn add(&mut self, partitions: impl IntoIterator<Item = (u64, u64)>) {
        let mut busiest = 0.0;
        for (events, crossings) in partitions {
            self.events += events;
            self.crossings += crossings;
            busiest = f64::max(busiest, events as f64 + CROSSING * crossings as f64);
        }
        self.windows += 1;
        self.busiest += busiest;
    }

    /// How many times as fast as on one thread the run can be at best, if a barrier takes as long as so many events.
    pub fn speedup(&self, barrier: f64) -> f64 {
        let critical = self.busiest + self.windows as f64 * barrier;
        if critical > 0.0 { self.events as f64 / critical } else { 1.0 }
    }
}

/// Follows the windows of a run whose partitions one thread simulates in turn.
#[derive(Debug)]
pub(super) struct Meter {
    pub path: CriticalPath,
    /// By partition: its events so far.
    events: Vec<u64>,
}

impl Meter {
    /// Goes on with `path`, whose events are those of all partitions so far.
    pub fn new(path: CriticalPath) -> Self {
        Meter { path, events: Vec::new() }
    }

    /// Adds a window: `posted` gives for each partition its events so far, and the packets that it sent to each partition.
    pub fn add<I: Iterator<Item = u64>>(&mut self, posted: impl Iterator<Item = (u64, I)>) {
        let mut partitions: Vec<(u64, u64)> = Vec::new();
        for (number, (events, sent)) in posted.enumerate() {
            self.events.resize(self.events.len().max(number + 1), 0);
            partitions.resize(partitions.len().max(number + 1), (0, 0));
            // An event that all partitions have is counted once, so that a partition's count may fall.
            partitions[number].0 = events.saturating_sub(self.events[number]);
            self.events[number] = self.events[number].max(events);
            for (to, packets) in sent.enumerate() {
                partitions.resize(partitions.len().max(to + 1), (0, 0));
                partitions[to].1 += packets;
            }
        }
        self.path.add(partitions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_takes_as_long_as_its_busiest_partition() {
        // Three windows of two partitions. 100 and 60 events: 100. 40 and 80: 80. None and 20: 20. That is 300 events in 200,
        // 1.5 times as fast, and with a barrier of 10 events a window in 230: 1.304 times.
        let mut path = CriticalPath::default();
        for window in [[(100, 0), (60, 0)], [(40, 0), (80, 0)], [(0, 0), (20, 0)]] {
            path.add(window);
        }
        assert_eq!((path.windows, path.events, path.busiest), (3, 300, 200.0));
        assert_eq!(path.speedup(0.0), 1.5);
        assert_eq!(path.speedup(10.0), 300.0 / 230.0);
    }

    #[test]
    fn packets_that_cross_are_work_where_they_arrive() {
        // 40 packets come to the first partition and 80 to the second, a quarter of an event each: 100 + 10 and 96 + 20
        // events of work. So the two come to 196 events in 116.
        let mut meter = Meter::new(CriticalPath::default());
        meter.add([(100, [0, 80].into_iter()), (96, [40, 0].into_iter())].into_iter());
        assert_eq!((meter.path.crossings, meter.path.busiest), (120, 116.0));
        assert_eq!(meter.path.speedup(0.0), 196.0 / 116.0);
        // Counts go on from there: 50 and 64 more events.
        meter.add([(150, [0, 0].into_iter()), (160, [0, 0].into_iter())].into_iter());
        assert_eq!((meter.path.events, meter.path.busiest), (310, 180.0));
    }

    #[test]
    fn a_run_of_one_partition_or_of_nothing_is_no_faster() {
        let mut path = CriticalPath::default();
        assert_eq!(path.speedup(10.0), 1.0);
        path.add([(100, 0)]);
        assert_eq!(path.speedup(0.0), 1.0);
    }
}
