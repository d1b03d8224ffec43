//! What the builder of a topology knows of its structure, for routing that relies on it.

/// The structure of a network; nothing is known of one that is a list of nodes and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Any network.
    #[default]
    Any,
    /// Groups of switches, with links inside of groups and links that join two groups. By node: the group of the switch, or
    /// [`Shape::NONE`] for hosts.
    Groups(Vec<u32>),
    /// Switches at the points of a grid.
    Grid(Grid),
}

impl Shape {
    /// In place of a group or a point, for hosts.
    pub const NONE: u32 = u32::MAX;
}

/// Switches at the points of a grid, linked along its dimensions only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Points of each dimension.
    pub extents: Vec<u32>,
    /// By node: the switch's point, counted with the first dimension fastest, or [`Shape::NONE`] for hosts.
    pub points: Vec<u32>,
    /// Each dimension is a ring, in which a switch is linked with the two next to it; otherwise a switch is linked with all
    /// others of its row.
    pub rings: bool,
}

impl Grid {
    /// A point's place in a dimension.
    pub fn coordinate(&self, point: u32, dimension: usize) -> u32 {
        point / self.stride(dimension) % self.extents[dimension]
    }

    /// The point with another place in a dimension.
    pub fn moved(&self, point: u32, dimension: usize, to: u32) -> u32 {
        let stride = self.stride(dimension);
        point - self.coordinate(point, dimension) * stride + to * stride
    }

    /// The first dimension in which two points differ.
    pub fn first_difference(&self, a: u32, b: u32) -> Option<usize> {
        (0..self.extents.len()).find(|&d| self.coordinate(a, d) != self.coordinate(b, d))
    }

    fn stride(&self, dimension: usize) -> u32 {
        self.extents[..dimension].iter().product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted_with_the_first_dimension_fastest() {
        // In a grid of 4 x 3, point 6 = 2 + 4 x 1 is at (2, 1); at (2, 2) is point 10, and at (0, 1) point 4.
        let grid = Grid { extents: vec![4, 3], points: Vec::new(), rings: true };
        assert_eq!((grid.coordinate(6, 0), grid.coordinate(6, 1)), (2, 1));
        assert_eq!((grid.moved(6, 1, 2), grid.moved(6, 0, 0)), (10, 4));
        assert_eq!(
            [(6, 10), (6, 4), (6, 6)].map(|(a, b)| grid.first_difference(a, b)),
            [Some(1), Some(0), None]
        );
    }
}
