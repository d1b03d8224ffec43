//! Flow-size distributions as piecewise-linear cumulative functions.
//!
//! A distribution is a list of points (bytes, probability that a flow has at most so many bytes). Between two points sizes
//! are uniform, so that the inverse transform is a linear interpolation and the mean is the sum of the trapezoids
//! `(p2 - p1) (x1 + x2) / 2`, as in the traffic generator of HPCC (Li et al., SIGCOMM 2019). Two points of one size
//! make a vertical jump: that share of flows has exactly this size. The same holds for the first point's probability if it is
//! not zero.

mod error;

use std::borrow::Cow;

use xoff_engine::Stream;

use crate::draw;
use crate::error::shown;
pub use error::{CdfError, Place};

/// The largest size that a point may have, in bytes: 2^50, which doubles hold exactly with room to multiply.
pub const MAX_SIZE: f64 = (1u64 << 50) as f64;

/// Maximum relative difference of the last probability from 1 (from 100 in percent).
const TOLERANCE: f64 = 1e-9;

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeCdf {
    /// Points (bytes, probability), in which neither number ever falls; the last probability is 1.
    points: Cow<'static, [(f64, f64)]>,
}

impl SizeCdf {
    /// A distribution from points (bytes, probability from 0 to 1, or to 100 if the last is 100).
    ///
    /// # Errors
    /// Any of [`CdfError`], naming the point.
    pub fn new(points: Vec<(f64, f64)>) -> Result<SizeCdf, CdfError> {
        SizeCdf::checked(points, Place::Point)
    }

    /// A distribution from a text: one point per line, columns separated by blanks or commas; `#` begins a comment.
    ///
    /// Two columns are size in bytes and probability, from 0 to 1 or in percent: the form of HPCC's and of most public
    /// generators. Three columns are ns-2's form `size n probability`, whose middle column must be a number and is not used.
    ///
    /// # Errors
    /// Any of [`CdfError`], naming the line.
    pub fn parse(text: &str) -> Result<SizeCdf, CdfError> {
        let (mut points, mut lines, mut columns) = (Vec::new(), Vec::new(), None);
        for (n, line) in text.lines().enumerate() {
            let place = Place::Line(n + 1);
            let content = line.split('#').next().unwrap_or_default();
            let mut numbers = Vec::new();
            for word in content.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()) {
                let number = word.parse::<f64>();
                numbers.push(number.map_err(|_| CdfError::NotANumber { place, text: shown(word) })?);
            }
            let found = numbers.len();
            if found == 0 {
                continue;
            }
            let expected = match columns.get_or_insert(found) {
                2 => "2 as on the first line: size and probability",
                3 => "3 as on the first line: size, a number that is not used, probability",
                _ => "2 (size and probability) or 3 (ns-2's form)",
            };
            if !(2..=3).contains(&found) || Some(found) != columns {
                return Err(CdfError::Columns { place, found, expected });
            }
            points.push((numbers[0], numbers[found - 1]));
            lines.push(n + 1);
        }
        SizeCdf::checked(points, |point| Place::Line(lines[point - 1]))
    }

    /// A distribution from a table of this crate; tests check each table with [`SizeCdf::new`].
    pub(crate) const fn table(points: &'static [(f64, f64)]) -> SizeCdf {
        SizeCdf { points: Cow::Borrowed(points) }
    }

    fn checked(mut points: Vec<(f64, f64)>, place: impl Fn(usize) -> Place) -> Result<SizeCdf, CdfError> {
        let count = points.len();
        let &(_, last) = points.last().ok_or(CdfError::Empty)?;
        if count == 1 {
            return Err(CdfError::OnePoint(place(1)));
        }
        let max = if (last / 100.0 - 1.0).abs() <= TOLERANCE { 100.0 } else { 1.0 };
        let mut before = (0.0, 0.0);
        for (i, &(size, probability)) in points.iter().enumerate() {
            let place = place(i + 1);
            if !(0.0..=MAX_SIZE).contains(&size) {
                return Err(CdfError::Size { place, size });
            }
            if !(0.0..=max * (1.0 + TOLERANCE)).contains(&probability) {
                return Err(CdfError::Probability { place, probability, max });
            }
            if size < before.0 {
                return Err(CdfError::SizeFalls { place, size, before: before.0 });
            }
            if probability < before.1 {
                return Err(CdfError::ProbabilityFalls { place, probability, before: before.1 });
            }
            before = (size, probability);
        }
        if (last / max - 1.0).abs() > TOLERANCE {
            return Err(CdfError::LastNotOne { place: place(count), probability: last });
        }
        for point in &mut points {
            point.1 = (point.1 / max).min(1.0);
        }
        points[count - 1].1 = 1.0;
        let cdf = SizeCdf { points: Cow::Owned(points) };
        let mean = cdf.mean();
        if mean < 1.0 { Err(CdfError::Mean(mean)) } else { Ok(cdf) }
    }

    /// The points: (bytes, probability).
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The largest size, in bytes.
    pub fn max(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.0)
    }

    /// A moment of the distribution: the sum over points and segments, given the mean of x^n over a uniform segment.
    fn moment(&self, segment: impl Fn(f64, f64) -> f64) -> f64 {
        let first = self.points.first().map_or(0.0, |&(x, p)| p * segment(x, x));
        let pairs = self.points.windows(2);
        pairs.fold(first, |sum, w| sum + (w[1].1 - w[0].1) * segment(w[0].0, w[1].0))
    }

    /// The mean size, in bytes.
    pub fn mean(&self) -> f64 {
        self.moment(|a, b| (a + b) / 2.0)
    }

    /// The mean of the squared size, in bytes squared; with the mean, it tells how far the load of a finite number of flows
    /// may be from the load that was asked for.
    pub fn mean_square(&self) -> f64 {
        // The integral of x^2 over a uniform segment from a to b.
        self.moment(|a, b| (a * a + a * b + b * b) / 3.0)
    }

    /// The share of flows with at most `size` bytes.
    pub fn probability(&self, size: f64) -> f64 {
        let after = self.points.partition_point(|&(x, _)| x <= size);
        let Some(&(x1, p1)) = after.checked_sub(1).and_then(|i| self.points.get(i)) else { return 0.0 };
        let Some(&(x2, p2)) = self.points.get(after) else { return 1.0 };
        p1 + (p2 - p1) * (size - x1) / (x2 - x1)
    }

    /// The size in bytes that a share `p` of flows does not exceed: the inverse of [`SizeCdf::probability`].
    pub fn quantile(&self, p: f64) -> f64 {
        let after = self.points.partition_point(|&(_, q)| q <= p);
        let Some(&(x2, p2)) = self.points.get(after) else { return self.max() };
        let Some(&(x1, p1)) = after.checked_sub(1).and_then(|i| self.points.get(i)) else { return x2 };
        x1 + (x2 - x1) * (p - p1) / (p2 - p1)
    }

    /// A flow's size in bytes by inverse transform, rounded to the nearest byte, at least 1.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        (libm::round(self.quantile(draw::unit(stream))) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn interpolation_by_hand() {
        // A tenth of the flows has exactly 100 B, 40 % lie evenly between 100 and 1000 B, half jumps to 2000 B.
        let cdf = SizeCdf::new(vec![(100.0, 0.1), (1000.0, 0.5), (2000.0, 0.5), (2000.0, 1.0)]).unwrap();
        assert_eq!(cdf.quantile(0.05), 100.0);
        // 0.3 is half way from 0.1 to 0.5.
        assert!((cdf.quantile(0.3) - 550.0).abs() < 1e-9);
        assert_eq!(cdf.quantile(0.75), 2000.0);
        assert_eq!(cdf.quantile(1.0), 2000.0);
        // 0.1 * 100 + 0.4 * 550 + 0.5 * 2000 = 1230.
        assert!((cdf.mean() - 1230.0).abs() < 1e-9);
        // 0.1 * 1e4 + 0.4 * (1e4 + 1e5 + 1e6) / 3 + 0.5 * 4e6 = 1000 + 148,000 + 2,000,000.
        assert!((cdf.mean_square() - 2_149_000.0).abs() < 1e-6);
        assert_eq!(cdf.probability(99.0), 0.0);
        assert_eq!(cdf.probability(100.0), 0.1);
        assert!((cdf.probability(550.0) - 0.3).abs() < 1e-12);
        assert_eq!(cdf.probability(1500.0), 0.5);
        assert_eq!(cdf.probability(2000.0), 1.0);
    }

    #[test]
    fn the_public_forms_mean_the_same() {
        let hpcc = SizeCdf::parse("0 0\n10000 15\n20000 20 # percent\n\n30000 100\n").unwrap();
        let tgen = SizeCdf::parse("# size probability\r\n0     0\r\n10000 0.15\r\n20000 0.2\r\n30000 1\r\n")
            .unwrap();
        let ns2 = SizeCdf::parse("0 1 0\n10000 1 0.15\n20000 1 0.2\n30000 1 1\n").unwrap();
        let csv = SizeCdf::parse("0,0\n1e4, 0.15\n2e4,\t.2\n3e4,1").unwrap();
        assert_eq!(hpcc, tgen);
        assert_eq!(hpcc, ns2);
        assert_eq!(hpcc, csv);
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |text: &str| SizeCdf::parse(text).unwrap_err();
        let line = Place::Line;
        assert_eq!(wrong("# nothing\n"), CdfError::Empty);
        assert_eq!(wrong("#\n5 1"), CdfError::OnePoint(line(2)));
        assert!(
            matches!(wrong("0 0\n\n10 0.5 1 1\n20 1"), CdfError::Columns { place, found: 4, .. } if place == line(3))
        );
        assert!(
            matches!(wrong("0 0\n10 1 1"), CdfError::Columns { place, found: 3, .. } if place == line(2))
        );
        assert!(
            matches!(wrong("62874\n0 0\n10 1"), CdfError::Columns { place, found: 1, .. } if place == line(1))
        );
        assert!(
            matches!(wrong("0 0\n1KB 1"), CdfError::NotANumber { place, text } if place == line(2) && text == "1KB")
        );
        assert!(matches!(wrong("-1 0\n5 1"), CdfError::Size { place, .. } if place == line(1)));
        assert!(matches!(wrong("0 0\ninf 1"), CdfError::Size { place, .. } if place == line(2)));
        assert!(matches!(wrong("0 0\n1.2e15 1"), CdfError::Size { place, .. } if place == line(2)));
        assert!(matches!(wrong("0 0\nnan 0.5\n9 1"), CdfError::Size { place, .. } if place == line(2)));
        assert!(matches!(wrong("0 0\n5 NaN\n9 1"), CdfError::Probability { place, .. } if place == line(2)));
        assert!(
            matches!(wrong("0 0\n5 1.5\n9 1"), CdfError::Probability { place, max: 1.0, .. } if place == line(2))
        );
        assert!(
            matches!(wrong("0 0\n5 101\n9 100"), CdfError::Probability { place, max: 100.0, .. } if place == line(2))
        );
        assert!(matches!(wrong("0 -0.1\n9 1"), CdfError::Probability { place, .. } if place == line(1)));
        assert!(matches!(wrong("10 0\n5 0.5\n9 1"), CdfError::SizeFalls { place, .. } if place == line(2)));
        assert!(
            matches!(wrong("0 0\n5 .5\n9 .4\n9 1"), CdfError::ProbabilityFalls { place, .. } if place == line(3))
        );
        assert!(matches!(wrong("0 0\n9 0.99"), CdfError::LastNotOne { place, .. } if place == line(2)));
        // Half of 0 to 1 B: the mean is half a byte.
        assert_eq!(wrong("0 0\n1 1"), CdfError::Mean(0.5));
        // All of the probability at 0 B.
        assert_eq!(wrong("0 1\n1 1"), CdfError::Mean(0.0));
        assert_eq!(
            SizeCdf::new(vec![(0.0, 0.0), (5.0, 0.5), (4.0, 1.0)]),
            Err(CdfError::SizeFalls { place: Place::Point(3), size: 4.0, before: 5.0 })
        );
    }

    #[test]
    fn a_flow_has_at_least_a_byte() {
        // 90 % of the flows would have nothing.
        let cdf = SizeCdf::new(vec![(0.0, 0.9), (100.0, 1.0)]).unwrap();
        let mut s = stream(1, Domain::Traffic, 0);
        let draws: Vec<u64> = (0..1000).map(|_| cdf.sample(&mut s)).collect();
        assert!(draws.iter().all(|&d| d >= 1));
        assert!(draws.contains(&1) && draws.iter().any(|&d| d > 1));
    }

    /// Points that make a valid distribution.
    fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((1u32..1_000_000, 0u32..1000), 1..20).prop_map(|steps| {
            let total: u32 = steps.iter().map(|s| s.1).sum::<u32>() + 1;
            let (mut x, mut p, mut out) = (0.0, 0, vec![(2.0, 0.0)]);
            for (dx, dp) in steps {
                x += f64::from(dx);
                p += dp;
                out.push((2.0 + x, f64::from(p) / f64::from(total)));
            }
            out.push((2.0 + x, 1.0));
            out
        })
    }

    proptest! {
        #[test]
        fn quantile_inverts_probability(points in points(), p in 0.0f64..1.0) {
            let cdf = SizeCdf::new(points).unwrap();
            let size = cdf.quantile(p);
            // At a jump the probability of the size is the jump's upper end, hence at least p.
            prop_assert!(cdf.probability(size) >= p - 1e-9);
            prop_assert!(size >= 2.0 && size <= cdf.max());
        }
        #[test]
        fn quantile_never_falls(points in points(), p in 0.0f64..1.0, q in 0.0f64..1.0) {
            let cdf = SizeCdf::new(points).unwrap();
            prop_assert!(cdf.quantile(p.min(q)) <= cdf.quantile(p.max(q)) + 1e-6);
        }
        #[test]
        fn no_text_panics(s in "([0-9.,eE#\n -]|nan|inf| ){0,60}") {
            if let Ok(cdf) = SizeCdf::parse(&s) {
                prop_assert!(cdf.mean() >= 1.0 && cdf.sample(&mut stream(1, Domain::Traffic, 0)) >= 1);
            }
        }
        #[test]
        fn no_numbers_panic(points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..6), p: f64) {
            if let Ok(cdf) = SizeCdf::new(points) {
                let _ = cdf.quantile(p);
                let _ = cdf.probability(p);
            }
        }
    }
}
