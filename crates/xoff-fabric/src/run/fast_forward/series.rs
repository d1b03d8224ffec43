//! What was seen of a value in the quarters of an observation: how much it differs, and whether it goes up or down.

/// The quarters of an observation.
pub(super) const QUARTERS: [usize; 4] = [0, 1, 2, 3];

/// Differences below it are differences of rounding.
const ROUNDING: f64 = 1e-12;

/// Standard errors of a quarter's mean by which the largest and the smallest of four such means differ by chance at most, with a probability
/// of 99.9 %: the studentized range of four normal values. There may be a hundred connections.
const BY_CHANCE: f64 = 5.3;

/// Standard errors of the slope of a line through four values that it has by chance at most, with a probability of 95 %: Student's t with two
/// degrees of freedom.
const SLOPE_BY_CHANCE: f64 = 4.3;

/// A limit that is above what it limits by no more than this share of itself is why that is no more: rounding, and headers, take some.
const BINDING: f64 = 0.05;

/// The means of a value in the quarters of an observation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series {
    means: [f64; 4],
    /// By how much the means may differ by chance, relative to the largest.
    noise: f64,
    /// A trend may be chance.
    swings: bool,
}

impl Series {
    /// Of a value that is known at each moment, such as the packets sent so far.
    pub fn known(means: [f64; 4]) -> Series {
        Series { means, noise: 0.0, swings: true }
    }

    /// Of a value that was seen now and then, of which about `independent` values in a quarter do not depend on each other: when it swings,
    /// the means of what was seen swing too.
    pub fn seen(quarters: [&[f64]; 4], independent: f64) -> Series {
        let means = quarters.map(mean);
        let squares = quarters.iter().zip(means).flat_map(|(values, mean)| {
            let deviation = move |value: &f64| (value - mean) * (value - mean);
            values.iter().map(deviation)
        });
        let values: usize = quarters.iter().map(|values| values.len()).sum();
        // Four means are taken from as many values.
        let variance = squares.sum::<f64>() / values.saturating_sub(4).max(1) as f64;
        let error = (variance / independent.max(1.0)).sqrt();
        let largest = means.into_iter().fold(f64::MIN_POSITIVE, f64::max);
        Series { means, noise: BY_CHANCE * error / largest, swings: true }
    }

    /// The same, with all differences and trends taken as they are.
    pub fn as_it_is(self) -> Series {
        Series { noise: 0.0, swings: false, ..self }
    }

    /// By how much the quarters differ, relative to the largest, and beyond chance.
    pub fn difference(&self) -> f64 {
        (spread(&self.means) - self.noise).max(0.0)
    }

    /// The relative change over an observation, by the line through the means of its halves, and beyond chance. The difference of the means of
    /// two halves errs as much as the mean of a quarter, and the change over an observation, which is twice that difference, twice as much: that
    /// is well below the noise.
    pub fn trend(&self) -> f64 {
        let [first, second, third, fourth] = self.means;
        let (early, late) = (first + second, third + fourth);
        if spread(&self.means) == 0.0 || self.swings && !self.has_slope() {
            return 0.0;
        }
        let trend = 2.0 * (late - early) / early.max(late);
        trend.signum() * (trend.abs() - self.noise).max(0.0)
    }

    /// Whether the line through the quarters goes up or down by more than by chance, as their distances from the line say.
    fn has_slope(&self) -> bool {
        let center = mean(&self.means);
        // The middles of the quarters, from the middle of the observation on: the sum of their squares is 5 quarters squared.
        let places = [-1.5, -0.5, 0.5, 1.5];
        let slope = places.iter().zip(self.means).map(|(place, mean)| place * mean).sum::<f64>() / 5.0;
        let distance = |(place, mean): (&f64, f64)| (mean - center - slope * place).powi(2);
        let squares: f64 = places.iter().zip(self.means).map(distance).sum();
        slope.abs() > SLOPE_BY_CHANCE * (squares / 2.0 / 5.0).sqrt()
    }

    /// Whether the value is what limits another one, of which `used` is the most.
    pub fn binds(&self, used: f64) -> bool {
        used >= (1.0 - BINDING) * mean(&self.means)
    }

    /// Observations after which the value, which may change unseen by its noise in each, can have fallen to `used`.
    pub fn observations_until(&self, used: f64) -> f64 {
        let room = 1.0 - used / mean(&self.means).max(f64::MIN_POSITIVE);
        if self.noise == 0.0 { f64::INFINITY } else { room.max(0.0) / self.noise }
    }
}

/// The trend of several values that goes furthest up or down.
pub(super) fn strongest(all: &[Series]) -> f64 {
    let trends = all.iter().map(Series::trend);
    trends.fold(0.0, |most, of| if of.abs() > most.abs() { of } else { most })
}

/// By how much values differ, relative to the largest; rounding is none.
pub(super) fn spread(values: &[f64]) -> f64 {
    let (min, max) = values.iter().fold((f64::INFINITY, 0.0_f64), |(min, max), &v| (min.min(v), max.max(v)));
    let spread = (max - min) / max.max(f64::MIN_POSITIVE);
    if spread < ROUNDING { 0.0 } else { spread }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_value_that_swings_differs_by_chance() {
        // Values of 90 and 110, with means of 105, 95, 100 and 100: the squares of their distances from these are 300, 300, 400 and 400,
        // 1,400 / 12 = 117 in the mean but for the four means: a standard deviation of 10.8, and of four values a standard error of 5.4. 5.3 times
        // that is 28.6, more than the 10 by which the means differ.
        let values: [[f64; 4]; 4] = [
            [110.0, 110.0, 90.0, 110.0],
            [90.0, 110.0, 90.0, 90.0],
            [110.0, 90.0, 110.0, 90.0],
            [90.0, 110.0, 90.0, 110.0],
        ];
        let swings = Series::seen([&values[0], &values[1], &values[2], &values[3]], 4.0);
        assert!((swings.noise - 28.6 / 105.0).abs() < 1e-3, "{}", swings.noise);
        assert_eq!((swings.difference(), swings.trend()), (0.0, 0.0));
        assert!((swings.as_it_is().difference() - 10.0 / 105.0).abs() < 1e-12);
        // Values that stay the same within each quarter differ by no chance.
        let steps = Series::seen([&[105.0; 4], &[95.0; 4], &[100.0; 4], &[100.0; 4]], 4.0);
        assert!((steps.difference() - 10.0 / 105.0).abs() < 1e-12);
        // A quarter as many values say less: the error is larger by the root of four.
        let fewer = Series::seen([&values[0], &values[1], &values[2], &values[3]], 1.0);
        assert!((fewer.noise / swings.noise - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_trend_is_what_goes_up_or_down_by_more_than_by_chance() {
        // The halves' means are 1 % apart, at moments half an observation apart: 2 % of the larger in an observation. The line through the quarters
        // goes up by 0.4 a quarter, and they are 0.1, 0.3, 0.3 and 0.1 away from it: a standard error of (0.2 / 2 / 5)^0.5 = 0.14, of which 0.4 is
        // 2.8.
        let steps = Series::known([99.0, 99.0, 100.0, 100.0]);
        assert!((steps.as_it_is().trend() - 0.02).abs() < 1e-12);
        assert_eq!(steps.trend(), 0.0);
        // On a line there is no chance: 2 x 0.8 / 100 in an observation.
        assert!((Series::known([99.0, 99.4, 99.8, 100.2]).trend() - 0.016).abs() < 1e-12);
        assert!((Series::known([100.2, 99.8, 99.4, 99.0]).trend() + 0.016).abs() < 1e-12);
        assert_eq!(Series::known([7.0; 4]).trend(), 0.0);
        // Windows that fall by more than rates rise count.
        let falls = Series::known([4.0, 4.0, 3.0, 3.0]).as_it_is();
        assert!((strongest(&[steps.as_it_is(), falls]) + 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_limit_that_is_close_to_what_it_limits_binds_and_another_may_come_to() {
        let limit = Series { means: [100.0; 4], noise: 0.1, swings: true };
        assert!(limit.binds(95.0) && !limit.binds(94.0));
        // From 100 to 80 in two observations, of a tenth each; never without chance, and at once where it is there already.
        assert!((limit.observations_until(80.0) - 2.0).abs() < 1e-12);
        assert_eq!(limit.as_it_is().observations_until(80.0), f64::INFINITY);
        assert_eq!(limit.observations_until(120.0), 0.0);
    }
}
