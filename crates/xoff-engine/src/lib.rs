//! The engine of xoff: simulated time, quantities, the event queue, random streams and schedules.
//!
//! It knows no network. Time is an integer number of picoseconds, so that one byte at any standard link
//! rate is a whole number of ticks and nothing is rounded on a packet's way.

pub mod ahead;
pub mod barrier;
mod due;
pub mod entities;
pub mod ns3_random;
pub mod quantity;
pub mod random;
pub mod schedule;
pub mod spelling;
pub mod units;
pub mod violation;
pub mod wheel;

pub use ahead::fetch_ahead;
pub use barrier::Barrier;
pub use entities::{Arrival, EntityQueues, Links, MOST_LANES, Next};
pub use ns3_random::SharedNs3Streams;
pub use quantity::QuantityError;
pub use random::{Domain, Stream, stream};
pub use spelling::Nearest;
pub use units::{Bytes, Rate, Time, as_double};
pub use violation::Violation;
pub use wheel::{Event, EventQueue, MOST_SCHEDULED};
