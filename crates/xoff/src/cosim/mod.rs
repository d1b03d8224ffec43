//! Co-simulation: another program gives a network messages while simulated time passes, and hears what becomes of them.
//!
//! A [`Session`] is a scenario that is under way: topology, scheme, switches and hosts as usual, and `[[traffic]]`, if there is
//! any, as background. The other program calls [`Session::send`], [`Session::recv`] and [`Session::schedule`], and lets time
//! pass by [`Session::advance_until`] or, to the next event, [`Session::advance_to_next`]. A session has no clock and no threads
//! of its own and shares nothing with another one: the same calls give the same events and the same result tables, however
//! many sessions a process has.
//!
//! A session runs on one thread, since the caller may answer each event at the event's own time. Messages fare as in a plain
//! run: a session whose messages are those of a run, sent in the order of the run's flows and on the same connections, has the
//! same table of flows.
//!
//! ```
//! use xoff::cosim::{Event, Options, Send, Session};
//! use xoff::prelude::*;
//!
//! let star = Star { hosts: 3, ..Star::default() };
//! let scenario = ScenarioBuilder::new(star, AnyScheme::Dctcp(Default::default())).build_for_session()?;
//! let mut session = Session::open(scenario, Options::default())?;
//! let (a, b) = (session.host("host0")?, session.host("host1")?);
//!
//! // host0 sends, and host1 answers as soon as the message is there.
//! session.recv(a, b, 7)?;
//! session.send(Send { tag: Some(7), ..Send::new(a, b, 1_000_000) })?;
//! let mut answered = None;
//! loop {
//!     let events = session.advance_to_next(None)?;
//!     if events.is_empty() {
//!         break; // nothing is left that could happen
//!     }
//!     for event in events {
//!         match event {
//!             Event::Received { .. } => answered = Some(session.send(Send::new(b, a, 64))?),
//!             Event::Sent { at, message } if Some(message.id) == answered => {
//!                 println!("the answer was acknowledged {at} after the beginning");
//!             }
//!             _ => {}
//!         }
//!     }
//! }
//! let output = session.close()?;
//! assert_eq!(output.summary().completed, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod error;
mod local;
mod matching;
mod message;
mod options;
mod passing;
mod session;

pub use error::SessionError;
pub use message::{Event, Host, Message, MessageId, ReceiveId, Send, Stats};
pub use options::Options;
pub use session::Session;
