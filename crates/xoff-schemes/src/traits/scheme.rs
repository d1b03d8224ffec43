//! A scheme: its parameters, and the points that they make.

use std::any::TypeId;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xoff_engine::{Rate, Time, Violation};

use super::congestion::{CongestionPoint, PortEnv};
use super::detector::DetectorParams;
use super::notification::NotificationPoint;
use super::reaction::{FlowEnv, ReactionPoint, SlEnv};
use super::switch::{SwitchEnv, SwitchPoint};
use crate::signals::Signals;
use crate::uet::Uet;

/// What is known of the whole network when defaults are filled in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkEnv {
    /// The maximum line rate of the hosts.
    pub line_rate: Rate,
    /// The largest base RTT over all pairs of hosts.
    pub base_rtt: Time,
}

/// For schemes without a notification point or a congestion point of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOp;
impl NotificationPoint for NoOp {}
impl CongestionPoint for NoOp {}

/// A scheme: a named set of congestion, notification and reaction point with its parameters.
///
/// The parameters are the type that implements this trait: they parse from a scenario, carry their documentation
/// into the schema, and make the points of each flow and queue.
pub trait Scheme: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line that says what the scheme is.
    const TITLE: &'static str;
    /// Where the scheme is published.
    const SOURCE: &'static str;
    /// The reaction point.
    type Reaction: ReactionPoint + Clone;
    /// The notification point; [`NoOp`] if the scheme has none.
    type Notification: NotificationPoint;
    /// The congestion point; [`NoOp`] if the scheme has none.
    type Congestion: CongestionPoint;
    /// The detector that marks packets if the scheme wants marks and the scenario names no detector.
    type DefaultDetector: DetectorParams;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), Violation> {
        Ok(())
    }
    /// Fills in defaults that depend on the network or on another parameter, so that a manifest shows them all.
    fn resolve(self, _env: &NetworkEnv) -> Self {
        self
    }
    /// What the scheme needs on the wire.
    fn signals(&self) -> Signals;
    /// The parameters of the default detector.
    fn detector(&self) -> Self::DefaultDetector {
        Self::DefaultDetector::default()
    }
    /// The reaction point of a new flow. The parameters are resolved.
    fn reaction(&self, env: &FlowEnv) -> Self::Reaction;
    /// The reaction point that all flows of a host and service level (priority) share, beside their own; `None` if the
    /// scheme has no such point. Its rate paces the packets of these flows as if they were one flow; its window is
    /// ignored. It sees every ACK, CNP and CNM for one of the flows, and no losses, which are a flow's own.
    fn sl_reaction(&self, _env: &SlEnv) -> Option<Self::Reaction> {
        None
    }
    /// The notification point of a new flow.
    fn notification(&self, env: &FlowEnv) -> Self::Notification;
    /// The congestion point of an egress queue.
    fn congestion(&self, env: &PortEnv) -> Self::Congestion;
    /// The point of a whole switch, for schemes that declare [`Signals::switch_point`].
    fn switch(&self, _env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
        None
    }
    /// What the scheme controls in Ultra Ethernet's transport; `None` for a scheme of the other transports.
    fn uet(&self) -> Option<Uet> {
        None
    }
}

/// Whether a scheme's receivers or switches may send messages of their own: CNPs or CNMs.
pub(crate) fn sends_messages<S: Scheme>(scheme: &S) -> bool
where
    S::Notification: 'static,
    S::Congestion: 'static,
{
    let no_op = TypeId::of::<NoOp>();
    (TypeId::of::<S::Notification>() != no_op && scheme.signals().credits.is_none())
        || TypeId::of::<S::Congestion>() != no_op
        || scheme.signals().switch_point
}
