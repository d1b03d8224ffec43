//! The parameters of routing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use xoff_engine::Violation;

use super::{PathChoice, RoutingError};
use crate::fault::Convergence;

/// Routing by name with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Routing {
    /// Each flow takes one of the shortest paths, by a hash.
    Ecmp(Ecmp),
    /// Each flow takes the only path in one of several spanning trees, by a hash.
    SpanningTrees(SpanningTrees),
    /// Listed paths, and ECMP for all other pairs.
    StaticRoutes(StaticRoutes),
    /// Fat-trees: the destination's number decides on each link upwards.
    DModK(DModK),
}

impl Default for Routing {
    fn default() -> Self {
        Routing::Ecmp(Ecmp::default())
    }
}

impl Routing {
    /// The names of all kinds of routing.
    pub const NAMES: &'static [&'static str] = &["ecmp", "spanning_trees", "static_routes", "d_mod_k"];

    /// The routing called `name`, with parameters read from `source`; `None` if there is no such routing.
    pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
        match name {
            "ecmp" => Some(Ecmp::deserialize(source).map(Routing::Ecmp)),
            "spanning_trees" => Some(SpanningTrees::deserialize(source).map(Routing::SpanningTrees)),
            "static_routes" => Some(StaticRoutes::deserialize(source).map(Routing::StaticRoutes)),
            "d_mod_k" => Some(DModK::deserialize(source).map(Routing::DModK)),
            _ => None,
        }
    }
    /// Fills in the defaults that depend on other keys.
    pub fn resolve(&mut self) {
        match self {
            Routing::Ecmp(ecmp) => ecmp.resolve(),
            Routing::SpanningTrees(_) | Routing::DModK(_) => {}
            Routing::StaticRoutes(routes) => routes.fallback.resolve(),
        }
    }
    /// What is wrong with the parameters whatever the topology; [`super::Router::new`] checks them against a topology.
    pub fn validate(&self) -> Vec<Violation> {
        let found = match self {
            Routing::Ecmp(ecmp) => ecmp.check().err().map(|error| error.violation()),
            Routing::StaticRoutes(StaticRoutes { fallback, .. }) if fallback.hash != EcmpHash::Own => {
                Some(RoutingError::FallbackHash.violation())
            }
            Routing::StaticRoutes(StaticRoutes { fallback, .. })
                if fallback.choice != PathChoice::PerConnection =>
            {
                Some(RoutingError::FallbackChoice(fallback.choice).violation())
            }
            Routing::StaticRoutes(StaticRoutes { fallback, .. }) if fallback.convergence.is_some() => {
                let why = "beside listed paths, which never change";
                let violation = RoutingError::Unneeded { key: "convergence", why }.violation();
                Some(violation.inside("fallback"))
            }
            Routing::StaticRoutes(StaticRoutes { fallback, .. }) => {
                fallback.check().err().map(|error| error.violation().inside("fallback"))
            }
            Routing::SpanningTrees(_) | Routing::DModK(_) => None,
        };
        found.into_iter().collect()
    }
    /// Who chooses among equal-cost paths, and when.
    pub fn choice(&self) -> PathChoice {
        match self {
            Routing::Ecmp(params) => params.choice,
            Routing::SpanningTrees(_) | Routing::StaticRoutes(_) | Routing::DModK(_) => {
                PathChoice::PerConnection
            }
        }
    }
    /// When routing knows of links that go down or come up.
    pub fn convergence(&self) -> Convergence {
        match self {
            Routing::Ecmp(params) => params.convergence.unwrap_or_default(),
            Routing::SpanningTrees(_) | Routing::StaticRoutes(_) | Routing::DModK(_) => Convergence::None,
        }
    }
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Routing::Ecmp(_) => "ecmp",
            Routing::SpanningTrees(_) => "spanning_trees",
            Routing::StaticRoutes(_) => "static_routes",
            Routing::DModK(_) => "d_mod_k",
        }
    }
}

/// The hash by which ECMP picks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcmpHash {
    /// xoff's own, from the scenario's seed; any names of nodes.
    #[default]
    Own,
    /// The hash of the ns-3 HPCC simulator, for the same paths as in that simulator: MurmurHash3 of addresses and ports.
    /// Each node's name must end in a unique number, its id in that simulator.
    Ns3Hpcc,
}

/// Equal-cost multipath: at each switch a hash of the flow picks one of the links on a shortest path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ecmp {
    /// The hash by which a switch picks: xoff's `own`, from the scenario's seed, or `ns3_hpcc`, that of the ns-3 HPCC
    /// simulator, for the same paths as in that simulator. `ns3_hpcc` needs a unique number, the id in that simulator, at
    /// the end of each node's name.
    pub hash: EcmpHash,
    /// `own` only, `per_connection` only: ACKs take their data's path backwards (FNCC, Fig. 5); otherwise they hash their
    /// own swapped addresses. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetric: Option<bool>,
    /// `ns3_hpcc` only: UDP destination port of every flow. Source ports count up from 10000 for each pair of
    /// hosts, in the order of flows. Default 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_port: Option<u16>,
    /// Who chooses among equal-cost paths, and when: the hash once a connection, the sender for each packet, or each
    /// switch for each packet. `host.transport` says what becomes of packets that overtake others.
    pub choice: PathChoice,
    /// `own` only: when routing knows of a link that an `[[event]]` has taken down or brought up, so long after the event, or
    /// `none` for never. Connections whose path is dead then get another one. Without it, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
}

/// The destination port that the examples of the ns-3 HPCC simulator use.
const DST_PORT: u16 = 100;

impl Ecmp {
    /// Whether ACKs always take their data's path backwards.
    pub fn is_symmetric(&self) -> bool {
        self.hash == EcmpHash::Own && self.symmetric.unwrap_or(true)
    }

    /// Refuses keys that belong to the other hash.
    pub(crate) fn check(&self) -> Result<(), RoutingError> {
        let (key, why) = match self.hash {
            EcmpHash::Ns3Hpcc if self.convergence.is_some() => {
                ("convergence", "with `hash = \"ns3_hpcc\"`, whose paths never change")
            }
            EcmpHash::Own if self.dst_port.is_some() => {
                ("dst_port", "without `hash = \"ns3_hpcc\"`: the own hash knows no ports")
            }
            EcmpHash::Ns3Hpcc if self.symmetric.is_some() => {
                ("symmetric", "with `hash = \"ns3_hpcc\"`, whose ACKs hash swapped addresses and ports")
            }
            EcmpHash::Own if self.choice != PathChoice::PerConnection && self.symmetric.is_some() => {
                ("symmetric", "unless `choice = \"per_connection\"`: other ACKs choose paths of their own")
            }
            EcmpHash::Ns3Hpcc if self.choice != PathChoice::PerConnection => {
                ("choice", "with `hash = \"ns3_hpcc\"`, which chooses once a connection")
            }
            _ => return Ok(()),
        };
        Err(RoutingError::Unneeded { key, why })
    }

    /// The destination port in use.
    pub(crate) fn port(&self) -> u16 {
        self.dst_port.unwrap_or(DST_PORT)
    }

    fn resolve(&mut self) {
        match self.hash {
            EcmpHash::Own if self.choice == PathChoice::PerConnection => {
                self.symmetric = self.symmetric.or(Some(true));
            }
            EcmpHash::Own => {}
            EcmpHash::Ns3Hpcc => self.dst_port = Some(self.port()),
        }
    }
}

/// Several spanning trees of the switches (FNCC, Section 3.1, Observation 2 and Fig. 6, after TCP-Bolt).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpanningTrees {
    /// Number of trees; at least 1. The default gives each core switch of FNCC's fat-tree with k = 8 a tree of its own.
    pub trees: u32,
    /// Names of the switches at which the trees are rooted, in turn; without them, the switches of the highest
    /// tier, evenly chosen.
    pub roots: Vec<String>,
}

impl Default for SpanningTrees {
    fn default() -> Self {
        SpanningTrees { trees: 16, roots: Vec::new() }
    }
}

/// Listed paths, and ECMP for all other pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticRoutes {
    /// The listed paths.
    pub routes: Vec<StaticRoute>,
    /// Routing of the pairs that are not listed.
    pub fallback: Ecmp,
}

/// A path from one host to another. It also holds for the opposite direction, unless that direction is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticRoute {
    /// Name of the sending host.
    pub from: String,
    /// Name of the receiving host.
    pub to: String,
    /// Names of all switches on the path, from the sender's to the receiver's. If two of them have parallel links, the
    /// flow's hash picks one link.
    pub via: Vec<String>,
}

/// D-mod-k, InfiniBand's static routing in fat-trees (Zahavi 2010; TCD, section 5.2.2): all packets to one host pass
/// one switch of the top tier, whoever sends them. No parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DModK {}
