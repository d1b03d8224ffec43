//! The random numbers of an egress queue.

use std::fmt;
use std::sync::Arc;

use rand::Rng;
use xoff_engine::Stream;

/// Uniform random numbers in [0, 1) for the congestion point or the detector of an egress queue.
#[derive(Clone)]
pub enum MarkingRandom {
    /// The queue's own stream: the numbers depend on the run's seed and the queue alone.
    Own(Stream),
    /// Numbers from elsewhere, which several queues may share; see [`MarkingRandom::shared`].
    Shared(Arc<dyn Fn() -> f64 + Send + Sync>),
}

impl MarkingRandom {
    /// Numbers in [0, 1) that `draw` gives, one a call, in the order in which all its users ask.
    pub fn shared(draw: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        MarkingRandom::Shared(Arc::new(draw))
    }

    /// The next number in [0, 1). Of the queue's own stream: the upper 53 bits of 64, which a double holds exactly.
    #[inline]
    pub fn next_uniform(&mut self) -> f64 {
        match self {
            MarkingRandom::Own(stream) => (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64,
            MarkingRandom::Shared(draw) => draw(),
        }
    }
}

impl From<Stream> for MarkingRandom {
    fn from(stream: Stream) -> Self {
        MarkingRandom::Own(stream)
    }
}

impl fmt::Debug for MarkingRandom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkingRandom::Own(stream) => f.debug_tuple("Own").field(stream).finish(),
            MarkingRandom::Shared(_) => f.write_str("Shared"),
        }
    }
}
