//! Schemes that are not in the registry: another crate's, or a scheme known only when the program runs.
//!
//! Built-in schemes are dispatched by an enum, foreign ones by a boxed trait behind one more variant of it. Another
//! crate's scheme is a [`Scheme`] like any other, and [`Foreign::of`] makes it a foreign scheme.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use xoff_engine::{Rate, Time, Violation};

use crate::detector::AnyDetector;
use crate::signals::Signals;
use crate::traits::{
    Ack, Arrival, Cnm, Cnp, CongestionPoint, Credit, FlowEnv, Labelled, NetworkEnv, NotificationPoint,
    Outgoing, PacketView, PortEnv, QueueView, ReactionPoint, Scheme, Sent, SlEnv, SwitchEnv, SwitchPoint,
    sends_messages,
};

/// The failure of a scheme in a run; only a foreign scheme can fail.
#[derive(Clone, thiserror::Error)]
#[error("the scheme `{scheme}` broke at {at}: {what}")]
pub struct SchemeFailure {
    /// The scheme's name.
    pub scheme: String,
    /// Time of the failure.
    pub at: Time,
    /// What happened, in words.
    pub what: String,
    /// The error in the scheme's own language.
    pub cause: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for SchemeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq for SchemeFailure {
    fn eq(&self, other: &Self) -> bool {
        (&self.scheme, self.at, &self.what) == (&other.scheme, other.at, &other.what)
    }
}
impl Eq for SchemeFailure {}

/// A scheme that is not in the registry, with its parameters: the methods of [`Scheme`], and some more for schemes in
/// another language.
pub trait ForeignScheme: Send + Sync {
    /// The name in scenarios.
    fn name(&self) -> &str;
    /// The parameters, every default included.
    fn params(&self) -> Map<String, Value>;
    /// Where the scheme comes from, for the manifest.
    fn origin(&self) -> Value;
    /// See [`Scheme::validate`].
    fn validate(&self) -> Result<(), Violation> {
        Ok(())
    }
    /// See [`Scheme::resolve`]; `None` if there is nothing to fill in.
    fn resolve(&self, _env: &NetworkEnv) -> Option<Foreign> {
        None
    }
    /// See [`Scheme::signals`].
    fn signals(&self) -> Signals;
    /// See [`Scheme::detector`].
    fn detector(&self) -> AnyDetector;
    /// Whether the scheme's receivers or switches may send messages of their own.
    fn notifies(&self) -> bool;
    /// Whether all points must be called from one thread and in the order of time. Otherwise this holds for the points
    /// of one node only, and calls for different nodes come in any order.
    fn needs_one_thread(&self) -> bool {
        false
    }
    /// The same scheme for one run, in which it may fail; `None` if it cannot fail.
    fn for_run(&self) -> Option<Foreign> {
        None
    }
    /// Whether the scheme has failed in this run. The run asks after each window of simulated time.
    fn is_broken(&self) -> bool {
        false
    }
    /// The first failure in this run.
    fn failure(&self) -> Option<SchemeFailure> {
        None
    }
    /// See [`Scheme::reaction`].
    fn reaction(&self, env: &FlowEnv) -> ForeignReaction;
    /// See [`Scheme::sl_reaction`].
    fn sl_reaction(&self, _env: &SlEnv) -> Option<ForeignReaction> {
        None
    }
    /// See [`Scheme::notification`].
    fn notification(&self, env: &FlowEnv) -> ForeignNotification;
    /// See [`Scheme::congestion`].
    fn congestion(&self, env: &PortEnv) -> ForeignCongestion;
    /// See [`Scheme::switch`].
    fn switch(&self, _env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
        None
    }
}

/// A foreign scheme; clones share it.
#[derive(Clone)]
pub struct Foreign(Arc<dyn ForeignScheme>);

impl Foreign {
    /// A scheme that is known only when the program runs.
    pub fn new(scheme: impl ForeignScheme + 'static) -> Self {
        Foreign(Arc::new(scheme))
    }

    /// Another crate's scheme with these parameters.
    pub fn of<S>(params: S) -> Self
    where
        S: Scheme + Send + Sync + 'static,
        S::Reaction: Send + 'static,
        S::Notification: Send + 'static,
        S::Congestion: Send + 'static,
        S::DefaultDetector: Into<AnyDetector>,
    {
        Foreign::new(Typed(params))
    }
}

impl Deref for Foreign {
    type Target = dyn ForeignScheme;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Foreign").field(&self.name()).field(&self.params()).finish()
    }
}

/// As in a scenario: the name, then the parameters.
impl Serialize for Foreign {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let params = self.params();
        let mut map = serializer.serialize_map(Some(params.len() + 1))?;
        map.serialize_entry("name", self.name())?;
        params.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

/// Another crate's scheme.
struct Typed<S>(S);

impl<S> ForeignScheme for Typed<S>
where
    S: Scheme + Send + Sync + 'static,
    S::Reaction: Send + 'static,
    S::Notification: Send + 'static,
    S::Congestion: Send + 'static,
    S::DefaultDetector: Into<AnyDetector>,
{
    fn name(&self) -> &str {
        S::NAME
    }
    fn params(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.0) {
            Ok(Value::Object(params)) => params,
            // Parameters that are not a struct, or cannot be serialized, have nothing to show.
            _ => Map::new(),
        }
    }
    fn origin(&self) -> Value {
        json!({
            "language": "rust", "type": std::any::type_name::<S>(), "title": S::TITLE, "source": S::SOURCE,
        })
    }
    fn validate(&self) -> Result<(), Violation> {
        self.0.validate()
    }
    fn resolve(&self, env: &NetworkEnv) -> Option<Foreign> {
        Some(Foreign::of(self.0.clone().resolve(env)))
    }
    fn signals(&self) -> Signals {
        self.0.signals()
    }
    fn detector(&self) -> AnyDetector {
        self.0.detector().into()
    }
    fn notifies(&self) -> bool {
        sends_messages(&self.0)
    }
    fn reaction(&self, env: &FlowEnv) -> ForeignReaction {
        ForeignReaction(Box::new(self.0.reaction(env)))
    }
    fn sl_reaction(&self, env: &SlEnv) -> Option<ForeignReaction> {
        self.0.sl_reaction(env).map(|shared| ForeignReaction(Box::new(shared)))
    }
    fn notification(&self, env: &FlowEnv) -> ForeignNotification {
        ForeignNotification(Box::new(self.0.notification(env)))
    }
    fn congestion(&self, env: &PortEnv) -> ForeignCongestion {
        ForeignCongestion(Box::new(self.0.congestion(env)))
    }
    fn switch(&self, env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
        self.0.switch(env)
    }
}

/// A foreign scheme's reaction point.
pub struct ForeignReaction(pub Box<dyn ReactionPoint + Send>);

impl fmt::Debug for ForeignReaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignReaction({}, {} B)", self.0.rate(), self.0.window())
    }
}

impl ReactionPoint for ForeignReaction {
    fn on_send(&mut self, sent: &Sent) {
        self.0.on_send(sent)
    }
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.0.on_ack(ack)
    }
    fn label(&self, packet: &Outgoing) -> u8 {
        self.0.label(packet)
    }
    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        self.0.on_cnp(now, cnp)
    }
    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        self.0.on_cnm(now, cnm)
    }
    fn on_credit(&mut self, now: Time, number: u16) {
        self.0.on_credit(now, number)
    }
    fn spend_credit(&mut self) -> Option<u16> {
        self.0.spend_credit()
    }
    fn on_loss(&mut self, now: Time) {
        self.0.on_loss(now)
    }
    fn on_timeout(&mut self, now: Time) {
        self.0.on_timeout(now)
    }
    fn on_idle(&mut self, now: Time) {
        self.0.on_idle(now)
    }
    fn on_busy(&mut self, now: Time) {
        self.0.on_busy(now)
    }
    fn on_timer(&mut self, now: Time) {
        self.0.on_timer(now)
    }
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
    fn rate(&self) -> Rate {
        self.0.rate()
    }
    fn window(&self) -> u64 {
        self.0.window()
    }
    fn burst(&self) -> u64 {
        self.0.burst()
    }
    fn variables(&self, now: Time, probe: &mut dyn FnMut(&str, f64)) {
        self.0.variables(now, probe);
    }
}

/// A foreign scheme's notification point.
pub struct ForeignNotification(pub Box<dyn NotificationPoint + Send>);

impl fmt::Debug for ForeignNotification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForeignNotification")
    }
}

impl NotificationPoint for ForeignNotification {
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        self.0.on_data(arrival)
    }
    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        self.0.on_timer(now)
    }
    fn on_request(&mut self, now: Time, wants: bool) {
        self.0.on_request(now, wants);
    }
    fn credit(&mut self, now: Time) -> Option<Credit> {
        self.0.credit(now)
    }
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
}

/// A foreign scheme's congestion point.
pub struct ForeignCongestion(pub Box<dyn CongestionPoint + Send>);

impl fmt::Debug for ForeignCongestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForeignCongestion")
    }
}

impl CongestionPoint for ForeignCongestion {
    fn on_enqueue(&mut self, queue: &QueueView, packet: &PacketView) {
        self.0.on_enqueue(queue, packet)
    }
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) {
        self.0.on_dequeue(queue, packet)
    }
    fn on_label(&mut self, queue: &QueueView, packet: &Labelled, out: &mut Vec<Cnm>) -> u8 {
        self.0.on_label(queue, packet, out)
    }
    fn on_timer(&mut self, queue: &QueueView, out: &mut Vec<Cnm>) {
        self.0.on_timer(queue, out)
    }
    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }
}
