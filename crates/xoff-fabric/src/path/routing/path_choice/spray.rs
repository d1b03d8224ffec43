//! Packet spraying at the sender, as in NDP (Handley et al., Re-architecting datacenter networks and stacks for low latency and
//! high performance, SIGCOMM 2017, section 3): a connection sends a packet on each of the equal-cost paths in random order,
//! and then draws another order. So all paths get the same number of packets, and senders do not synchronize.

use xoff_engine::{Stream, Time};

use super::below;

/// Maximum number of paths whose order is kept; with more paths, each packet's path is drawn by itself.
const MAX_ORDERED: u32 = 4096;

/// A connection's choice of paths.
pub struct Spray {
    random: Stream,
    /// The paths: first the `left` ones that this round has still to use, then the others.
    order: Vec<u32>,
    left: u32,
    /// A flowlet ends when no packet has left for this time.
    flowlet_gap: Time,
    /// The current flowlet's path, and when its last packet left; `None` before the first packet.
    flowlet: Option<(u32, Time)>,
}

impl Spray {
    /// The choice before the first packet.
    pub fn new(random: Stream, flowlet_gap: Time) -> Spray {
        Spray { random, order: Vec::new(), left: 0, flowlet_gap, flowlet: None }
    }

    /// The number, below `paths`, of the path of a packet that leaves now: that of the packet before, unless that one left
    /// longer ago than the gap.
    pub fn of_flowlet(&mut self, paths: u32, now: Time) -> u32 {
        let path = match self.flowlet {
            Some((path, last)) if now <= last + self.flowlet_gap => path,
            _ => self.below(paths),
        };
        self.flowlet = Some((path, now));
        path
    }

    /// A random number below `count`.
    pub fn below(&mut self, count: u32) -> u32 {
        below(count.into(), &mut self.random) as u32
    }

    /// The number, below `paths`, of the next packet's path.
    pub fn next(&mut self, paths: u32) -> u32 {
        if paths > MAX_ORDERED {
            return self.below(paths);
        }
        if self.left == 0 {
            self.order = (0..paths).collect();
            self.left = paths;
        }
        let place = self.below(self.left) as usize;
        self.left -= 1;
        self.order.swap(place, self.left as usize);
        self.order[self.left as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn a_flowlet_keeps_its_path_until_a_gap() {
        // A packet each microsecond for 100 us: one path. Then gaps of 10.001 us: of 400 draws among 4 paths each has 100 in the mean, with a
        // standard deviation of sqrt(400 x 1/4 x 3/4) = 8.7.
        let mut spray = Spray::new(stream(1, Domain::Routing, 1), Time::from_us(10));
        let first = spray.of_flowlet(4, Time::ZERO);
        assert!((1..=100).all(|us| spray.of_flowlet(4, Time::from_us(us)) == first));
        assert_eq!(spray.of_flowlet(4, Time::from_us(110)), first, "a gap of just 10 us ends no flowlet");
        let mut counts = [0_u32; 4];
        for draw in 1..=400 {
            counts[spray.of_flowlet(4, Time::from_us(110) + Time::from_ns(10_001) * draw) as usize] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(100) < 35), "{counts:?}");
    }

    #[test]
    fn each_round_takes_each_path_once_in_an_order_of_its_own() {
        // Four paths have 24 orders. 100 rounds leave out one of these with a probability of at most 24 x (23/24)^100 = 0.34,
        // and have fewer than 12 different orders with less than 1e-9.
        let mut spray = Spray::new(stream(1, Domain::Routing, 1), Time::ZERO);
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let order: Vec<u32> = (0..4).map(|_| spray.next(4)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            orders.insert(order);
        }
        assert!(orders.len() >= 12, "{}", orders.len());
        assert!((0..100).all(|_| spray.next(5_000) < 5_000));
    }
}
