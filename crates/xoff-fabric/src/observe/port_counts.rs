//! Counts by port that many runs do not need.

use std::ops::AddAssign;

use crate::ids::PortId;

/// A count for each port. All together take memory once one of them is to be changed: in many runs no packet is dropped, and none is marked.
#[derive(Clone, Debug, Default)]
pub struct PortCounts<T> {
    /// By port; empty while all are zero.
    counts: Vec<T>,
    ports: usize,
}

impl<T: Copy + Default> PortCounts<T> {
    /// Zero for each of so many ports.
    pub fn new(ports: usize) -> Self {
        PortCounts { counts: Vec::new(), ports }
    }

    /// The count of a port; zero if there is no such port.
    pub fn of(&self, port: PortId) -> T {
        self.counts.get(port.index()).copied().unwrap_or_default()
    }

    /// The count of a port, to be changed.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn at(&mut self, port: PortId) -> &mut T {
        self.begin();
        &mut self.counts[port.index()]
    }

    /// The counts, by port.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> {
        PortId::all(self.ports).map(|port| self.of(port))
    }

    /// The counts, by port, to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut T> {
        self.begin();
        self.counts.iter_mut()
    }

    #[inline]
    fn begin(&mut self) {
        if self.counts.is_empty() {
            self.counts.resize(self.ports, T::default());
        }
    }
}

/// Counts are equal if those of all ports are, whether they take memory or not.
impl<T: Copy + Default + PartialEq> PartialEq for PortCounts<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Copy + Default + AddAssign> AddAssign for PortCounts<T> {
    fn add_assign(&mut self, other: Self) {
        self.ports = self.ports.max(other.ports);
        if self.counts.is_empty() {
            self.counts = other.counts;
        } else {
            self.counts.iter_mut().zip(other.counts).for_each(|(sum, n)| *sum += n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_memory_from_the_first_on() {
        let mut counts = PortCounts::new(3);
        assert_eq!((counts.of(PortId(2)), counts.counts.capacity()), (0, 0));
        assert_eq!(counts.iter().collect::<Vec<u64>>(), [0, 0, 0]);
        *counts.at(PortId(1)) += 5;
        assert_eq!(counts.iter().collect::<Vec<_>>(), [0, 5, 0]);
        // Of no port that is not there is anything known.
        assert_eq!(counts.of(PortId(3)), 0);
    }

    #[test]
    fn sums_are_those_of_all_parts() {
        let part = |port: Option<u32>| {
            let mut part = PortCounts::<u64>::new(2);
            port.into_iter().for_each(|port| *part.at(PortId(port)) += 1);
            part
        };
        let sum = |parts: &[Option<u32>]| {
            let mut all = PortCounts::default();
            parts.iter().for_each(|&port| all += part(port));
            all.iter().collect::<Vec<_>>()
        };
        assert_eq!(sum(&[None, None]), [0, 0]);
        assert_eq!(sum(&[None, Some(1), None, Some(1), Some(0)]), [1, 2]);
        let mut with_none = part(None);
        with_none += PortCounts::default();
        assert_eq!(with_none.iter().collect::<Vec<_>>(), [0, 0]);
        // Counts that have begun and are zero all the same are those that have not.
        let mut begun = PortCounts::new(2);
        begun.iter_mut().for_each(|n| *n = 0);
        assert!(begun == part(None) && begun != part(Some(0)));
    }
}
