//! Paths by an intermediate group, which the first switch of a packet's path may choose.

use xoff_engine::Time;

use super::NextHops;
use super::metric::Metric;
use super::params::{Dragonfly, DragonflyVariant};
use super::switches::SwitchGraph;
use crate::ids::{NodeId, PortId};
use crate::path::topology::{Shape, Topology};

/// What the first switch knows of the ways by other groups.
#[derive(Clone, Debug)]
pub struct Detours {
    /// How it chooses.
    pub variant: DragonflyVariant,
    /// Bytes times links by which the minimal path may exceed a detour.
    pub bias: u64,
    /// What is known of the queues of other switches counts as empty after this time.
    pub forget_after: Time,
    /// Number of groups.
    pub groups: u32,
    /// By node: its group.
    group_of: Vec<u32>,
}

impl Detours {
    pub(super) fn new(topology: &Topology, metric: &Metric, params: &Dragonfly) -> Option<Detours> {
        let Shape::Groups(group_of) = &topology.shape else { return None };
        let (variant, groups) = (params.variant, metric.groups());
        let (bias, forget_after) = (params.bias().0, params.forget_after());
        let group_of = group_of.clone();
        variant.detours().then_some(Detours { variant, bias, forget_after, groups, group_of })
    }

    /// The group of a switch.
    #[inline]
    pub fn group(&self, switch: NodeId) -> u32 {
        self.group_of[switch.index()]
    }

    /// The group with this number among all but two different ones.
    pub fn other_group(&self, number: u32, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b), a.max(b));
        let group = number + u32::from(number >= low);
        group + u32::from(group >= high)
    }
}

/// Where a packet goes next: by a group, or on to its destination; and a number that picks among equal next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The group that the packet has yet to reach.
    pub via: Option<u32>,
    /// The number.
    pub number: u16,
}

/// Bit of a packet's path number: the packet has a group to reach.
const HAS_VIA: u32 = 1 << 31;
const VIA_SHIFT: u32 = 16;
/// Maximum number of groups that a course can name.
pub const MAX_GROUPS: u32 = 1 << (31 - VIA_SHIFT);

impl Course {
    /// The course in a packet's path number.
    pub fn of(bits: u32) -> Course {
        let via = (bits & HAS_VIA != 0).then_some((bits & !HAS_VIA) >> VIA_SHIFT);
        Course { via, number: bits as u16 }
    }

    /// The course as a packet's path number.
    pub fn bits(self) -> u32 {
        let via = self.via.map_or(0, |group| HAS_VIA | group << VIA_SHIFT);
        via | u32::from(self.number)
    }
}

/// What a course leads by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The first port.
    pub first: PortId,
    /// The first port between two groups.
    pub between: Option<PortId>,
    /// Links to the destination's switch.
    pub links: u32,
}

impl NextHops {
    /// The next hop from a switch on a course to the host's port `end`, which becomes the course from there on; `None` if there
    /// is no way.
    pub fn step(&self, switch: NodeId, end: PortId, course: &mut Course) -> Option<PortId> {
        if let (Some(via), Some(detours)) = (course.via, self.detours())
            && detours.group(switch) == via
        {
            course.via = None;
        }
        let candidates = match course.via {
            Some(group) => self.towards_group(switch, group),
            None => match self.towards(switch, end) {
                Ok(last) => return Some(last),
                Err(candidates) => candidates,
            },
        };
        let mut number = u64::from(course.number);
        let port = super::next_hops::share(candidates, &mut number);
        course.number = number as u16;
        port
    }

    /// What a course from a switch to the host's port `end` leads by; `None` if there is no way.
    pub fn way(&self, switch: NodeId, end: PortId, mut course: Course) -> Option<Way> {
        let detours = self.detours()?;
        let (mut at, mut way) = (switch, None::<Way>);
        loop {
            let port = self.step(at, end, &mut course)?;
            if port == end.peer() {
                return way;
            }
            let next = self.node_of(port.peer());
            let crosses = detours.group(at) != detours.group(next);
            let way = way.get_or_insert(Way { first: port, between: None, links: 0 });
            way.links += 1;
            if crosses && way.between.is_none() {
                way.between = Some(port);
            }
            at = next;
        }
    }
}

/// For each group: the candidates' distances, as [`NextHops`] needs them.
pub(super) fn towards_groups(graph: &SwitchGraph, metric: &Metric) -> Vec<Vec<u32>> {
    let distances = |group| {
        let members: Vec<u32> = metric.members(group).collect();
        metric.distances(graph, &members)
    };
    (0..metric.groups()).map(distances).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_a_path_number() {
        for via in [None, Some(0), Some(MAX_GROUPS - 1)] {
            let course = Course { via, number: 65_535 };
            assert_eq!(Course::of(course.bits()), course);
        }
    }

    #[test]
    fn every_other_group_has_a_number() {
        // Of six groups all but 1 and 4: 0, 2, 3 and 5.
        let variant = DragonflyVariant::Valiant;
        let detours = Detours { variant, bias: 0, forget_after: Time::ZERO, groups: 6, group_of: Vec::new() };
        for (a, b) in [(1, 4), (4, 1)] {
            let all: Vec<u32> = (0..4).map(|number| detours.other_group(number, a, b)).collect();
            assert_eq!(all, [0, 2, 3, 5]);
        }
    }
}
