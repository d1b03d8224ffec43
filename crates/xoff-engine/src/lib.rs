//! The engine of xoff: simulated time, quantities, event queues, random streams and schedules.
//!
//! The engine knows nothing of networks. Time is an integer number of picoseconds, so that one byte at any standard link
//! rate takes a whole number of ticks, and no time of a packet is rounded.
//!
//! [`FutureEvents`] keeps the pending events of a run. It uses [`EventQueue`], one queue for all events, or
//! [`EntityQueues`], a queue for each entity.

pub mod ahead;
pub mod barrier;
pub mod column;
pub mod entities;
mod event;
pub mod future_events;
mod insert;
pub mod message_size;
pub mod nic_choice;
pub mod ns3_random;
pub mod quantity;
pub mod random;
pub mod schedule;
pub mod sparse;
pub mod spelling;
pub mod units;
pub mod violation;
pub mod wheel;
mod window_events;

pub use ahead::{CAN_FETCH, claim_ahead, fetch_ahead, fetch_beginning_ahead, fetch_whole_ahead};
pub use barrier::Barrier;
pub use column::Column;
pub use entities::{Arrival, ArrivalLinks, EntityQueues, MAX_FIFOS, Next};
pub use event::Event;
pub use future_events::FutureEvents;
pub use message_size::MessageSize;
pub use nic_choice::NicChoice;
pub use ns3_random::SharedNs3Streams;
pub use quantity::QuantityError;
pub use random::{Domain, Stream, stream};
pub use sparse::SparseList;
pub use spelling::Nearest;
pub use units::{Bytes, Rate, Time, as_double};
pub use violation::Violation;
pub use wheel::EventQueue;
pub use wheel::scheduled::ScheduledQueue;
