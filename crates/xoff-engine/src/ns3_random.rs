//! The random streams of ns-3, for comparison with its runs.
//!
//! ns-3 numbers the sources of randomness of a run in the order of their creation, and gives each source a stream of
//! L'Ecuyer's MRG32k3a (Operations Research 47(1), 1999; the streams as in L'Ecuyer, Simard, Chen and Kelton, Operations
//! Research 50(6), 2002). Streams are 2^127 numbers apart, and a run uses substream 1 of each. A simulator that creates a
//! new source for each number therefore draws the first number of one stream after the other.

use std::sync::{Arc, Mutex, PoisonError};

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;

type Matrix = [[u64; 3]; 3];

/// One step of the two recurrences. Negative factors are taken modulo M1 and M2.
const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];

fn product(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    let entry = |i: usize, j: usize| (0..3).fold(0, |sum, k| (sum + a[i][k] * b[k][j] % m) % m);
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

fn apply(a: &Matrix, v: &[u64; 3], m: u64) -> [u64; 3] {
    std::array::from_fn(|i| (0..3).fold(0, |sum, k| (sum + a[i][k] * v[k] % m) % m))
}

/// `a` to the power of `exponent`.
fn to_the(a: &Matrix, mut exponent: u64, m: u64) -> Matrix {
    let (mut result, mut square) = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], *a);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &square, m);
        }
        square = product(&square, &square, m);
        exponent >>= 1;
    }
    result
}

/// `a` to the power of 2^`doublings`.
fn power(a: &Matrix, doublings: u32, m: u64) -> Matrix {
    (0..doublings).fold(*a, |a, _| product(&a, &a, m))
}

/// `times` advances in one, in both recurrences.
fn jump(by: &(Matrix, Matrix), times: u64) -> (Matrix, Matrix) {
    (to_the(&by.0, times, M1), to_the(&by.1, times, M2))
}

/// The first numbers of ns-3's streams, one after the other.
#[derive(Clone, Debug)]
pub struct Ns3Streams {
    state: ([u64; 3], [u64; 3]),
    to_next: (Matrix, Matrix),
}

impl Ns3Streams {
    /// The streams from `first` on, for ns-3's `seed` (by default 1) and the substream of its run `run` (by default 1).
    pub fn new(seed: u32, run: u32, first: u64) -> Self {
        let to_next = (power(&A1, 127, M1), power(&A2, 127, M2));
        let substream = (power(&A1, 76, M1), power(&A2, 76, M2));
        let mut streams = Ns3Streams { state: ([seed.into(); 3], [seed.into(); 3]), to_next };
        streams.advance(&jump(&substream, run.into()));
        streams.advance(&jump(&to_next, first));
        streams
    }

    fn advance(&mut self, by: &(Matrix, Matrix)) {
        self.state = (apply(&by.0, &self.state.0, M1), apply(&by.1, &self.state.1, M2));
    }

    /// The first number of the current stream, above 0 and below 1. The next call draws from the next stream.
    pub fn next_uniform(&mut self) -> f64 {
        let (a, b) = (apply(&A1, &self.state.0, M1)[2], apply(&A2, &self.state.1, M2)[2]);
        self.advance(&self.to_next.clone());
        let difference = if a > b { a - b } else { a + M1 - b };
        difference as f64 / (M1 + 1) as f64
    }
}

/// Streams that all random choices of a network share.
#[derive(Clone, Debug)]
pub struct SharedNs3Streams(Arc<Mutex<Ns3Streams>>);

impl SharedNs3Streams {
    /// See [`Ns3Streams::new`].
    pub fn new(seed: u32, run: u32, first: u64) -> Self {
        SharedNs3Streams(Arc::new(Mutex::new(Ns3Streams::new(seed, run, first))))
    }

    /// See [`Ns3Streams::next_uniform`].
    pub fn next_uniform(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next_uniform()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // From a state of six times 12345: a = (1403580 - 810728) x 12345 mod M1 = 3023790853 and
        // b = (527612 - 1370589) x 12345 mod M2 = 2478282264, so (a - b) / (M1 + 1) = 0.1270111...
        let number = Ns3Streams::new(12345, 0, 0).next_uniform();
        assert_eq!(number, (3_023_790_853u64 - 2_478_282_264) as f64 / 4_294_967_088.0);
        assert!((number - 0.127_011_122).abs() < 1e-9);
    }

    #[test]
    fn a_jump_equals_its_steps() {
        let v = [1, 20, 300];
        let stepped = (0..8).fold(v, |v, _| apply(&A1, &v, M1));
        assert_eq!(apply(&power(&A1, 3, M1), &v, M1), stepped);
        // Starting at stream 2 gives what comes after two streams.
        let mut streams = Ns3Streams::new(1, 1, 0);
        let third = (0..3).map(|_| streams.next_uniform()).last();
        assert_eq!(third, Some(Ns3Streams::new(1, 1, 2).next_uniform()));
        // Streams far out: number 1000 comes after the first thousand, and the last of 32 bits takes no time.
        let mut streams = Ns3Streams::new(1, 1, 0);
        let stepped = (0..=1000).map(|_| streams.next_uniform()).last();
        assert_eq!(stepped, Some(Ns3Streams::new(1, 1, 1000).next_uniform()));
        let mut before = Ns3Streams::new(1, 1, u64::from(u32::MAX) - 1);
        let last = (0..2).map(|_| before.next_uniform()).last();
        assert_eq!(last, Some(Ns3Streams::new(1, 1, u32::MAX.into()).next_uniform()));
        // Stream 1 of the published package with seed 12345.
        assert!((Ns3Streams::new(12345, 0, 1).next_uniform() - 0.759_581_862).abs() < 1e-9);
    }
}
