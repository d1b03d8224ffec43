//! Injection throttles, which slow a NIC port, over all of its traffic.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xoff_engine::{Rate, Time, Violation};

/// What a throttle knows of its NIC port.
#[derive(Clone, Debug)]
pub struct ThrottleEnv {
    /// The port's line rate.
    pub rate: Rate,
}

/// The state in which a throttle sees the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ThrottleState {
    /// Packets are not held back.
    #[default]
    Normal = 0,
    /// Packets are held back.
    Congested = 1,
}

impl ThrottleState {
    /// The state's name in result tables.
    pub fn name(self) -> &'static str {
        match self {
            ThrottleState::Normal => "normal",
            ThrottleState::Congested => "congested",
        }
    }
}

/// Changes of state, each with its time, in order.
pub type Changes = Vec<(Time, ThrottleState)>;

/// Throttle of a NIC port: says when the next data packet may begin.
///
/// The state may change between two calls, by time alone; each call first brings the state to `now`, and adds the
/// changes in between to `changes`. Times never go back.
pub trait Throttle {
    /// `used` credits are in use from now on, in the unit in which flow control counts them; 0 at the beginning.
    fn used_credits(&mut self, now: Time, used: u64, changes: &mut Changes);
    /// The transmission of a data packet of `bytes` begins.
    fn on_send(&mut self, now: Time, bytes: u64, changes: &mut Changes);
    /// When the next data packet may begin, `now` at the earliest, if used credits stay as they are; [`Time::NEVER`]
    /// for not before they change. The wire itself may be busy for longer.
    fn ready_at(&mut self, now: Time, changes: &mut Changes) -> Time;
    /// Whether a data packet may begin, as of the last call.
    fn is_ready(&self) -> bool;
    /// Whether all numbers of used credits from `fewest` to `most`, among which is the current one, have the same effect,
    /// whatever the time, so that changes among them need not be told.
    fn is_indifferent(&self, fewest: u64, most: u64) -> bool;
    /// The state as of the last call.
    fn state(&self) -> ThrottleState;
}

/// A throttle's parameters: they parse from a scenario, carry their documentation into the schema, and make the
/// throttle of each NIC port.
pub trait ThrottleParams: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line that says what the throttle is.
    const TITLE: &'static str;
    /// Where the throttle is published.
    const SOURCE: &'static str;
    /// The throttle itself.
    type Throttle: Throttle;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), Violation> {
        Ok(())
    }
    /// Used credits up to which the throttle never holds anything back, whatever their past.
    fn idle_up_to(&self) -> u64;
    /// Fills in defaults that depend on another parameter, so that a manifest shows them all.
    fn resolve(self) -> Self {
        self
    }
    /// The throttle of a NIC port, with 0 credits used at time 0.
    fn throttle(&self, env: &ThrottleEnv) -> Self::Throttle;
}
