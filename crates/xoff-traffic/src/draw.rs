//! Draws from a stream whose values depend on nothing but its 64-bit words, so that no library's version changes a
//! run's traffic.

use rand::Rng;
use xoff_engine::{Stream, Time};

/// Uniform in [0, 1), a multiple of 2^-53.
#[inline]
pub(crate) fn unit(stream: &mut Stream) -> f64 {
    (stream.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform in 0..n without bias, by multiplication and rejection (Lemire, "Fast Random Integer Generation in an
/// Interval", ACM TOMACS 29:1, 2019). `n` must not be 0.
#[inline]
pub(crate) fn below(stream: &mut Stream, n: u64) -> u64 {
    // The products whose low word is below this are the 2^64 mod n excess ones.
    let reject_below = n.wrapping_neg() % n;
    loop {
        let product = u128::from(stream.next_u64()) * u128::from(n);
        if product as u64 >= reject_below {
            return (product >> 64) as u64;
        }
    }
}

/// One of 0..n other than `not`, uniformly; `n` at least 2.
#[inline]
pub(crate) fn other(stream: &mut Stream, n: u64, not: u64) -> u64 {
    let drawn = below(stream, n - 1);
    drawn + u64::from(drawn >= not)
}

/// Exponential with `mean` picoseconds, by inversion, to the nearest picosecond.
#[inline]
pub(crate) fn exponential(stream: &mut Stream, mean: f64) -> Time {
    // 1 - u lies in (0, 1], so the logarithm is finite. A conversion to u64 saturates.
    Time(libm::round(-libm::log(1.0 - unit(stream)) * mean) as u64)
}

/// Puts a uniform choice of `count` of the items into the first places, in random order (the first steps of a
/// Fisher-Yates shuffle). `count` must not exceed the number of items.
pub(crate) fn choose<T>(stream: &mut Stream, items: &mut [T], count: usize) {
    for i in 0..count {
        let j = i + below(stream, (items.len() - i) as u64) as usize;
        items.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    fn any() -> Stream {
        stream(1, Domain::Traffic, 0)
    }

    #[test]
    fn below_reaches_each_value_equally_often() {
        // 30,000 draws of 0..3: each count is binomial with mean 10,000 and sigma sqrt(30000/3*2/3) = 81.6; five sigma
        // are 408.
        let mut s = any();
        let mut counts = [0i64; 3];
        for _ in 0..30_000 {
            counts[below(&mut s, 3) as usize] += 1;
        }
        assert!(counts.iter().all(|c| (c - 10_000).abs() < 408), "{counts:?}");
        assert_eq!(below(&mut s, 1), 0);
    }

    #[test]
    fn other_never_gives_the_excluded_one_and_reaches_the_rest() {
        let mut s = any();
        let mut seen = [false; 5];
        for _ in 0..1000 {
            seen[other(&mut s, 5, 2) as usize] = true;
        }
        assert_eq!(seen, [true, true, false, true, true]);
        assert_eq!(other(&mut s, 2, 0), 1);
    }

    #[test]
    fn exponential_has_its_mean_and_its_spread() {
        // The mean of n = 100,000 draws has sigma mean/sqrt(n) = 0.32 %; the share above the mean is 1/e = 36.79 % with
        // sigma sqrt(0.3679*0.6321/n) = 0.15 %. Five sigma each.
        let (mut s, n, mean) = (any(), 100_000, 1e6);
        let draws: Vec<f64> = (0..n).map(|_| exponential(&mut s, mean).ps() as f64).collect();
        let average = draws.iter().sum::<f64>() / f64::from(n);
        let above = draws.iter().filter(|d| **d > mean).count() as f64 / f64::from(n);
        assert!((average / mean - 1.0).abs() < 0.016, "{average}");
        assert!((above - 0.367_879).abs() < 0.0077, "{above}");
    }

    #[test]
    fn chosen_items_are_distinct_and_every_item_gets_its_turn() {
        // Choosing 2 of 5: an item is first with probability 1/5. Of 5,000 trials 1,000 are expected, sigma 28.3.
        let mut s = any();
        let mut items = [0, 1, 2, 3, 4];
        let mut first = [0i64; 5];
        for _ in 0..5000 {
            choose(&mut s, &mut items, 2);
            assert_ne!(items[0], items[1]);
            first[items[0]] += 1;
        }
        assert!(first.iter().all(|c| (c - 1000).abs() < 142), "{first:?}");
    }
}
