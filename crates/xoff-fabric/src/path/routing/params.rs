//! The parameters of routing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use xoff_engine::{Time, Violation};

pub use super::lane_params::{DimensionOrder, Dragonfly, DragonflyVariant, KShortest};
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
    /// Dragonfly and dragonfly+: minimal, by an intermediate group, or adaptive.
    Dragonfly(Dragonfly),
    /// Torus and HyperX: one dimension after the other.
    DimensionOrder(DimensionOrder),
    /// Each flow takes one of the k shortest paths, by a hash.
    KShortest(KShortest),
}

impl Default for Routing {
    fn default() -> Self {
        Routing::Ecmp(Ecmp::default())
    }
}

impl Routing {
    /// The names of all kinds of routing.
    pub const NAMES: &'static [&'static str] =
        &["ecmp", "spanning_trees", "static_routes", "d_mod_k", "dragonfly", "dimension_order", "k_shortest"];

    /// The routing called `name`, with parameters read from `source`; `None` if there is no such routing.
    pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
        match name {
            "ecmp" => Some(Ecmp::deserialize(source).map(Routing::Ecmp)),
            "spanning_trees" => Some(SpanningTrees::deserialize(source).map(Routing::SpanningTrees)),
            "static_routes" => Some(StaticRoutes::deserialize(source).map(Routing::StaticRoutes)),
            "d_mod_k" => Some(DModK::deserialize(source).map(Routing::DModK)),
            "dragonfly" => Some(Dragonfly::deserialize(source).map(Routing::Dragonfly)),
            "dimension_order" => Some(DimensionOrder::deserialize(source).map(Routing::DimensionOrder)),
            "k_shortest" => Some(KShortest::deserialize(source).map(Routing::KShortest)),
            _ => None,
        }
    }
    /// Fills in the defaults that depend on other keys.
    pub fn resolve(&mut self) {
        match self {
            Routing::Ecmp(ecmp) => ecmp.resolve(),
            Routing::SpanningTrees(_)
            | Routing::DModK(_)
            | Routing::DimensionOrder(_)
            | Routing::KShortest(_) => {}
            Routing::Dragonfly(params) => params.resolve(),
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
            Routing::Dragonfly(params) => params.check().err().map(|error| error.violation()),
            Routing::KShortest(params) => params.check(),
            Routing::SpanningTrees(_) | Routing::DModK(_) | Routing::DimensionOrder(_) => None,
        };
        found.into_iter().collect()
    }
    /// Who chooses among equal-cost paths, and when.
    pub fn choice(&self) -> PathChoice {
        match self {
            Routing::Ecmp(params) => params.choice,
            Routing::Dragonfly(params) => params.variant.choice(),
            Routing::SpanningTrees(_)
            | Routing::StaticRoutes(_)
            | Routing::DModK(_)
            | Routing::DimensionOrder(_)
            | Routing::KShortest(_) => PathChoice::PerConnection,
        }
    }

    /// When routing knows of links that go down or come up.
    pub fn convergence(&self) -> Convergence {
        match self {
            Routing::Ecmp(params) => params.convergence.unwrap_or_default(),
            Routing::SpanningTrees(_)
            | Routing::StaticRoutes(_)
            | Routing::DModK(_)
            | Routing::Dragonfly(_)
            | Routing::DimensionOrder(_)
            | Routing::KShortest(_) => Convergence::None,
        }
    }

    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Routing::Ecmp(_) => "ecmp",
            Routing::SpanningTrees(_) => "spanning_trees",
            Routing::StaticRoutes(_) => "static_routes",
            Routing::DModK(_) => "d_mod_k",
            Routing::Dragonfly(_) => "dragonfly",
            Routing::DimensionOrder(_) => "dimension_order",
            Routing::KShortest(_) => "k_shortest",
        }
    }
    /// A flowlet ends when no packet has left for this time.
    pub(crate) fn flowlet_gap(&self) -> Time {
        match self {
            Routing::Ecmp(params) => params.flowlet_gap.unwrap_or(FLOWLET_GAP),
            _ => FLOWLET_GAP,
        }
    }
    /// The number of virtual lanes that each priority of traffic takes; `rings` says that the topology is a torus with
    /// rings of more than two switches.
    pub fn lanes(&self, rings: bool) -> u8 {
        match self {
            Routing::Dragonfly(params) => params.lanes(),
            Routing::DimensionOrder(_) => 1 + u8::from(rings),
            Routing::KShortest(params) => params.lanes,
            Routing::Ecmp(_) | Routing::SpanningTrees(_) | Routing::StaticRoutes(_) | Routing::DModK(_) => 1,
        }
    }
    /// A violation of the key `choice` in the words of this routing, which may have another key for it.
    pub fn in_own_words(&self, violation: Violation) -> Violation {
        let Routing::Dragonfly(params) = self else { return violation };
        if violation.key != "choice" {
            return violation;
        }
        let choice = format!("`{}`", params.variant.choice().name());
        let found = violation.found.replacen(&choice, &format!("`{}`", params.variant.name()), 1);
        let expected = violation.expected.replacen("`per_connection`", "`min`", 1);
        Violation::new("variant", found, expected)
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
    /// `choice = "flowlet"` only: the connection's next packet begins a flowlet if its last one left longer ago than this. Default
    /// 50 us, some round trips (LetFlow, NSDI 2017, has 500 us at 10 Gbps).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Time>,
    /// `own` with `per_connection` only: the hash picks links in proportion to the capacity behind them (WCMP: Zhou et al., EuroSys 2014),
    /// which is the lower one of the link's rate and the sum of what lies behind; otherwise all links alike. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted: Option<bool>,
    /// `own` only: when routing knows of a link that an `[[event]]` has taken down or brought up, so long after the event, or
    /// `none` for never. Connections whose path is dead then get another one. Without it, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
}

/// The default of [`Ecmp::flowlet_gap`].
const FLOWLET_GAP: Time = Time::from_us(50);

/// The destination port that the examples of the ns-3 HPCC simulator use.
const DST_PORT: u16 = 100;

impl Ecmp {
    /// Whether ACKs always take their data's path backwards.
    pub fn is_symmetric(&self) -> bool {
        self.hash == EcmpHash::Own && self.symmetric.unwrap_or(true)
    }

    /// Whether the hash picks links in proportion to capacities.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weighted.unwrap_or(false)
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
            _ if self.choice != PathChoice::Flowlet && self.flowlet_gap.is_some() => {
                ("flowlet_gap", "unless `choice = \"flowlet\"`: others know no flowlets")
            }
            EcmpHash::Ns3Hpcc if self.is_weighted() => {
                ("weighted", "with `hash = \"ns3_hpcc\"`, which knows no weights")
            }
            EcmpHash::Own if self.is_weighted() && self.choice != PathChoice::PerConnection => {
                ("weighted", "unless `choice = \"per_connection\"`: weights are those of the hash")
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
        if self.choice == PathChoice::Flowlet {
            self.flowlet_gap = self.flowlet_gap.or(Some(FLOWLET_GAP));
        }
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
