//! Where the paths of connections lie, and how packets go along them.
//!
//! All paths lie in one list of egress ports. A packet knows its place there: which port comes next, and in which direction the packet goes
//! along the list. Backwards, the packet takes the other ends of the links, in reverse order: so an ACK path that is its data's path
//! backwards, as that of most networks is, takes no memory and no cache line of its own.
//!
//! A place is the index of a port or, backwards, the complement of the index: so the place behind it is one more in both directions.

use xoff_engine::fetch_ahead;

use crate::ids::PortId;
use crate::packet::BY_HOP;

/// The most entries of the list of egress ports: no place is the number of a port with [`BY_HOP`].
pub(super) const MOST_HOPS: u32 = BY_HOP >> 1;

/// The egress ports of all paths, one path after the other.
#[derive(Clone, Debug, Default)]
pub struct PathPorts {
    ports: Vec<PortId>,
}

impl PathPorts {
    /// The egress port at a place.
    ///
    /// # Panics
    /// If no path is there.
    #[inline(always)] // runs for every packet
    pub(crate) fn at(&self, place: u32) -> PortId {
        let backwards = all_if_backwards(place);
        // The two ports of a link differ in the last bit.
        PortId(self.ports[(place ^ backwards) as usize].0 ^ (backwards & 1))
    }

    /// Fetches the egress port at a place into the cache, if there is one.
    #[inline(always)] // runs for every packet of a large network
    pub(crate) fn fetch(&self, place: u32) {
        fetch_ahead(&self.ports, place ^ all_if_backwards(place));
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.ports.len()
    }

    /// Makes room for the paths of so many more connections, by those that there are of `known` ones. Where the system gives memory when it is used, room that
    /// is not used takes none.
    pub(super) fn make_room(&mut self, known: usize, more: usize) {
        let hops = self.ports.len().saturating_mul(more) / known.max(1);
        // What cannot be had at once is asked for again as the list grows.
        _ = self.ports.try_reserve_exact(hops.saturating_add(hops / 16));
    }

    /// The list, for more paths to be added behind the others.
    pub(super) fn list_mut(&mut self) -> &mut Vec<PortId> {
        &mut self.ports
    }

    /// The egress ports of a route's data path.
    pub(super) fn data(&self, route: &Route) -> &[PortId] {
        &self.ports[route.first as usize..][..usize::from(route.links)]
    }

    /// The egress ports of a route's ACK path.
    pub(super) fn ack(&self, route: &Route) -> Path<'_> {
        if route.has_ack_path {
            let first = route.first as usize + usize::from(route.links);
            Path { ports: &self.ports[first..][..usize::from(route.ack_links)], backwards: false }
        } else {
            Path { ports: self.data(route), backwards: true }
        }
    }
}

/// All bits if a place is one backwards, else none.
#[inline(always)]
const fn all_if_backwards(place: u32) -> u32 {
    (place.cast_signed() >> 31).cast_unsigned()
}

/// A connection's paths in a [`PathPorts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index of the data path's first egress port, which is the sender's.
    pub(super) first: u32,
    /// Number of links of the data path.
    pub links: u8,
    /// Number of links of the ACK path.
    pub ack_links: u8,
    /// The ACK path is another one than the data path backwards, and lies behind the data path.
    pub(super) has_ack_path: bool,
}

impl Route {
    /// The place of an egress port of the data path, given its number, from 0 for the sender's.
    #[inline(always)] // runs for every packet
    pub(crate) fn data(&self, hop: u32) -> u32 {
        self.first + hop
    }

    /// The place of an egress port of the data path backwards, which the switches' messages take: from 0 for the receiver's.
    #[inline(always)] // runs for every packet
    pub(crate) fn back(&self, hop: u32) -> u32 {
        // Behind the path this may be the place behind the beginning of the list.
        !(self.first + u32::from(self.links)).wrapping_sub(1 + hop)
    }

    /// The place of an egress port of the ACK path: from 0 for the receiver's.
    #[inline(always)] // runs for every packet
    pub(crate) fn ack(&self, hop: u32) -> u32 {
        if self.has_ack_path { self.data(u32::from(self.links) + hop) } else { self.back(hop) }
    }
}

/// The egress ports of a path that may be another one backwards.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    ports: &'a [PortId],
    backwards: bool,
}

impl<'a> Path<'a> {
    /// The path of these egress ports.
    pub fn of(ports: &'a [PortId]) -> Path<'a> {
        Path { ports, backwards: false }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether the path has no link, as that of no connection.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// The egress port of a link, from 0.
    ///
    /// # Panics
    /// If the path has no such link.
    pub fn at(&self, hop: usize) -> PortId {
        if self.backwards { self.ports[self.ports.len() - 1 - hop].peer() } else { self.ports[hop] }
    }

    /// The first egress port, which is that of a host.
    ///
    /// # Panics
    /// If the path has no link.
    pub fn first(&self) -> PortId {
        self.at(0)
    }

    /// The egress ports, first to last.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = PortId> + ExactSizeIterator + use<'a> {
        (0..self.len()).map(move |hop| self.at(hop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::is_by_hop;

    #[test]
    fn packets_go_along_the_list_and_back() {
        // Two links, 0 to 1 and 2 to 3, then an ACK path of their own links for a second connection.
        let mut ports = PathPorts::default();
        ports.list_mut().extend([0, 2, 4, 6, 9].map(PortId));
        let go = |mut place: u32, links: u8| {
            let mut seen = Vec::new();
            for _ in 0..links {
                seen.push(ports.at(place).0);
                assert!(!is_by_hop(place));
                place = place.wrapping_add(1);
            }
            // Behind a path there is a place, too, which is not taken for the number of a port.
            assert!(!is_by_hop(place));
            seen
        };
        let mirrored = Route { first: 0, links: 2, ack_links: 2, has_ack_path: false };
        assert_eq!(go(mirrored.data(0), 2), [0, 2]);
        assert_eq!(go(mirrored.ack(0), 2), [3, 1]);
        assert_eq!(go(mirrored.back(1), 1), [1]);
        assert_eq!(mirrored.back(2), mirrored.back(1).wrapping_add(1));
        assert_eq!(ports.ack(&mirrored).iter().collect::<Vec<_>>(), [PortId(3), PortId(1)]);
        assert_eq!(ports.ack(&mirrored).first(), PortId(3));
        let apart = Route { first: 2, links: 2, ack_links: 1, has_ack_path: true };
        assert_eq!(go(apart.data(0), 2), [4, 6]);
        assert_eq!(go(apart.ack(0), 1), [9]);
        assert_eq!(go(apart.back(0), 2), [7, 5]);
        assert_eq!(ports.ack(&apart).iter().collect::<Vec<_>>(), [PortId(9)]);
        assert_eq!(size_of::<Route>(), 8);
        // The last place of the longest list, in both directions.
        let last = Route { first: MOST_HOPS - 1, links: 1, ack_links: 1, has_ack_path: false };
        assert!(![last.data(0), last.data(1), last.back(0)].into_iter().any(is_by_hop));
        assert!(is_by_hop(BY_HOP) && is_by_hop(BY_HOP | (MOST_HOPS - 1)));
    }
}
