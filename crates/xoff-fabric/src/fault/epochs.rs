//! What routing knows of links that are down.
//!
//! When a link goes down or comes up, routing learns of it after a stated time, all switches and hosts at once. Then a
//! connection whose path leads over a dead link gets the path that its hash picks among those without dead links, and other
//! connections keep theirs, as with resilient hashing. Packets under way keep the path with which they left. If packets go by next hops,
//! the switches take those of the network without the dead links. Where no path is left, the old one stays.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xoff_engine::Time;

use crate::ids::ConnectionId;
use crate::network::Route;
use crate::path::routing::NextHops;

use super::FaultPlan;

/// When routing knows of a link that went down or came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convergence {
    /// Never.
    #[default]
    None,
    /// So long after the link's change.
    After(Time),
}

/// [`Convergence::None`] in scenarios.
const NONE: &str = "none";

impl Serialize for Convergence {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Convergence::None => s.serialize_str(NONE),
            Convergence::After(time) => time.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Convergence {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        if text == NONE {
            return Ok(Convergence::None);
        }
        let unfit =
            || D::Error::invalid_value(Unexpected::Str(&text), &"\"none\" or a time such as \"50ms\"");
        text.parse().map(Convergence::After).map_err(|_| unfit())
    }
}

impl JsonSchema for Convergence {
    fn schema_name() -> Cow<'static, str> {
        "Convergence".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Time>();
        json_schema!({ "anyOf": [{ "const": NONE }, time] })
    }
}

/// A time in which routing knows the same.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub from: Time,
    /// Routes of connections that have another one than at the beginning.
    pub routes: Arc<HashMap<ConnectionId, Route>>,
    /// Other next hops than at the beginning.
    pub next_hops: Option<Arc<NextHops>>,
}

/// The times in which routing knows the same, in order. Before the first, it knows that all links are up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs(Vec<Epoch>);

/// Routes and next hops without some links.
pub(crate) type Detour = (Arc<HashMap<ConnectionId, Route>>, Option<Arc<NextHops>>);

impl Epochs {
    /// The epochs of `plan` under `convergence`; `detour` computes routes without the links that are down.
    pub fn new<E>(
        plan: &FaultPlan,
        convergence: Convergence,
        mut detour: impl FnMut(&[u32]) -> Result<Detour, E>,
    ) -> Result<Epochs, E> {
        let Convergence::After(delay) = convergence else { return Ok(Epochs::default()) };
        let mut known: BTreeMap<Vec<u32>, Detour> = BTreeMap::new();
        let mut epochs = Vec::new();
        for change in plan.link_changes() {
            let dead = plan.dead(change);
            let (routes, next_hops) = match known.get(&dead) {
                Some(detour) => detour.clone(),
                None => known.entry(dead.clone()).or_insert(detour(&dead)?).clone(),
            };
            epochs.push(Epoch { from: change.saturating_add(delay), routes, next_hops });
        }
        Ok(Epochs(epochs))
    }

    /// The epoch at a time; `None` before the first.
    pub fn at(&self, at: Time) -> Option<&Epoch> {
        let after = self.0.partition_point(|epoch| epoch.from <= at);
        self.0.get(after.checked_sub(1)?)
    }

    /// When they begin.
    pub fn begins(&self) -> impl Iterator<Item = Time> {
        self.0.iter().map(|epoch| epoch.from)
    }

    /// The routes of a connection in them, where it has another one than at the beginning.
    pub fn routes(&self, connection: ConnectionId) -> impl Iterator<Item = &Route> {
        self.0.iter().filter_map(move |epoch| epoch.routes.get(&connection))
    }

    /// When the last epoch begins.
    pub fn last(&self) -> Time {
        self.0.last().map_or(Time::ZERO, |epoch| epoch.from)
    }
}
