//! A link's time as the link would have spent it had no link been stopped.

use std::collections::VecDeque;

use xoff_engine::Time;

/// Maximum number of idle times that a virtual queue remembers one by one.
const MAX_IDLE: usize = 2_048;

/// The queue of a link that nobody stops. Frames are added in the order in which they really come, each with the time at
/// which it would have come; a frame gets the first idle time of the link from that time on. So the link's backlog at any
/// moment is what it would have been, whatever the order in which the frames are added.
#[derive(Clone, Debug, Default)]
pub(super) struct VirtualQueue {
    /// Idle times before `busy_until`, in order, from start to end. The oldest are joined if there are too many: their sum
    /// then ends when the last of them ended.
    idle: VecDeque<(Time, Time)>,
    /// From when on the link is idle.
    busy_until: Time,
}

impl VirtualQueue {
    /// Adds a frame that would have come at `offered` and takes `time` on the link; returns when it would have been sent.
    pub fn serve(&mut self, offered: Time, time: Time) -> Time {
        let mut left = time;
        let mut at = self.idle.partition_point(|&(_, end)| end <= offered);
        while let Some(&(begin, end)) = self.idle.get(at) {
            let start = begin.max(offered);
            let used = left.min(end - start);
            left = left - used;
            let stop = start + used;
            match (begin < start, stop < end) {
                (true, true) => {
                    self.idle[at] = (begin, start);
                    self.idle.insert(at + 1, (stop, end));
                }
                (true, false) => {
                    self.idle[at] = (begin, start);
                    at += 1;
                }
                (false, true) => self.idle[at] = (stop, end),
                (false, false) => _ = self.idle.remove(at),
            }
            if left == Time::ZERO {
                self.join_oldest();
                return stop;
            }
        }
        let start = self.busy_until.max(offered);
        if start > self.busy_until {
            self.idle.push_back((self.busy_until, start));
            self.join_oldest();
        }
        self.busy_until = start + left;
        self.busy_until
    }

    fn join_oldest(&mut self) {
        while self.idle.len() > MAX_IDLE
            && let Some((start, end)) = self.idle.pop_front()
            && let Some(next) = self.idle.front_mut()
        {
            next.0 = next.0 - (end - start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_frame_gets_the_idle_time_that_it_would_have_found() {
        // Frames of 10: from 0 to 10 and from 50 to 60, so that 10 to 50 is idle.
        let mut q = VirtualQueue::default();
        assert_eq!(q.serve(Time(0), Time(10)), Time(10));
        assert_eq!(q.serve(Time(50), Time(10)), Time(60));
        // Two that were held back: 20 to 30, and of 25 to 50 the idle 30 to 40.
        assert_eq!(q.serve(Time(20), Time(10)), Time(30));
        assert_eq!(q.serve(Time(25), Time(10)), Time(40));
        // 10 to 20 and 40 to 50 are left. A frame of 25 from 5 on takes both and 5 behind the 60.
        assert_eq!(q.serve(Time(5), Time(25)), Time(65));
        assert_eq!((q.idle.len(), q.busy_until), (0, Time(65)));
        // One that comes when the link has been idle for 35.
        assert_eq!(q.serve(Time(100), Time(10)), Time(110));
        assert_eq!(q.idle, [(Time(65), Time(100))]);
    }

    #[test]
    fn the_order_of_arrival_does_not_change_the_backlog() {
        // Frames of 10 that would have come at 0, 0, 5 and 40: busy from 0 to 30 and from 40 to 50.
        let offered = [0, 0, 5, 40];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]] {
            let mut q = VirtualQueue::default();
            let sent: Vec<u64> = order.iter().map(|&k| q.serve(Time(offered[k]), Time(10)).0).collect();
            assert_eq!(sent.iter().max(), Some(&50), "{order:?}");
            assert_eq!(q.busy_until, Time(50));
            let idle: u64 = q.idle.iter().map(|(start, end)| (*end - *start).0).sum();
            assert_eq!(idle, 10, "{order:?}");
        }
    }

    #[test]
    fn the_oldest_idle_times_are_joined_and_their_sum_stays() {
        // A frame of 10 each 30 leaves 20 idle each time, 44 times more than it remembers before the last frame.
        let mut q = VirtualQueue::default();
        for k in 0..=MAX_IDLE as u64 + 44 {
            q.serve(Time(30 * k), Time(10));
        }
        assert_eq!(q.idle.len(), MAX_IDLE);
        let idle: u64 = q.idle.iter().map(|(start, end)| (*end - *start).0).sum();
        assert_eq!(idle, (MAX_IDLE as u64 + 44) * 20);
        // 45 are in the first one, which ends at 45 x 30.
        assert_eq!(q.idle[0], (Time(45 * 30 - 45 * 20), Time(45 * 30)));
    }
}
