//! The parameters of routing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use xoff_engine::violation::number_within;
use xoff_engine::{Bytes, Time, Violation};

use super::k_shortest::MAX_PATHS;
use super::{MAX_LANES, PathChoice, RoutingError};

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

/// Which paths packets take between groups (Kim et al., ISCA 2008, Section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DragonflyVariant {
    /// Minimal: by one link between groups.
    #[default]
    Min,
    /// By a random intermediate group, drawn for each packet.
    Valiant,
    /// For each packet, minimal or by an intermediate group, by the queues of the source's router.
    UgalL,
    /// For each packet, minimal or by an intermediate group, by the queues at the links between groups, which packets
    /// carry along inside of their group.
    UgalG,
}

impl DragonflyVariant {
    /// Whether packets may go by an intermediate group.
    pub fn detours(self) -> bool {
        self != DragonflyVariant::Min
    }
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            DragonflyVariant::Min => "min",
            DragonflyVariant::Valiant => "valiant",
            DragonflyVariant::UgalL => "ugal_l",
            DragonflyVariant::UgalG => "ugal_g",
        }
    }
    /// Who chooses among paths, and when.
    pub fn choice(self) -> PathChoice {
        match self {
            DragonflyVariant::Min => PathChoice::PerConnection,
            DragonflyVariant::Valiant => PathChoice::PerPacket,
            DragonflyVariant::UgalL | DragonflyVariant::UgalG => PathChoice::Adaptive,
        }
    }
}

/// Routing in dragonflies, with a virtual lane for each group that a path passes (Kim et al., ISCA 2008, Section 4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dragonfly {
    /// Which paths packets take: `min` takes 2 virtual lanes for each priority of traffic, the others 3.
    pub variant: DragonflyVariant,
    /// `ugal_l` and `ugal_g`: bytes by which queue times links of the minimal path may exceed those of the other path before
    /// a packet takes the other path.
    /// Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Bytes>,
    /// `ugal_g`: what a router knows of the queue of another one counts as empty after this time. Default 20 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget_after: Option<Time>,
}

/// The default of [`Dragonfly::forget_after`]: some round trips inside of a group.
const FORGET_AFTER: Time = Time::from_us(20);

impl Dragonfly {
    /// Refuses keys that belong to other variants.
    fn check(&self) -> Result<(), RoutingError> {
        let (key, why) = match self.variant {
            DragonflyVariant::Min | DragonflyVariant::Valiant if self.bias.is_some() => {
                ("bias", "unless `variant` is `ugal_l` or `ugal_g`: others compare no queues")
            }
            variant if variant != DragonflyVariant::UgalG && self.forget_after.is_some() => {
                ("forget_after", "unless `variant` is `ugal_g`: others know their own queues alone")
            }
            _ => return Ok(()),
        };
        Err(RoutingError::Unneeded { key, why })
    }

    fn resolve(&mut self) {
        if matches!(self.variant, DragonflyVariant::UgalL | DragonflyVariant::UgalG) {
            self.bias = Some(self.bias());
        }
        if self.variant == DragonflyVariant::UgalG {
            self.forget_after = Some(self.forget_after());
        }
    }

    /// The bias in use.
    pub(crate) fn bias(&self) -> Bytes {
        self.bias.unwrap_or(Bytes(0))
    }

    /// The time in use after which a queue is forgotten.
    pub(crate) fn forget_after(&self) -> Time {
        self.forget_after.unwrap_or(FORGET_AFTER)
    }

    /// The number of virtual lanes for each priority of traffic.
    pub fn lanes(&self) -> u8 {
        if self.variant.detours() { 3 } else { 2 }
    }
}

/// Dimension order on a torus or a HyperX: to the receiver's place in the first dimension, then in the second, and so on. A torus
/// takes 2 virtual lanes for each priority of traffic, so that its rings never deadlock (Dally and Seitz 1987). No parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {}

/// Each flow takes one of the k shortest paths between its switches, by a hash (Jellyfish: Singla et al., NSDI 2012, Section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KShortest {
    /// Paths between two switches, at most; from 1 to 64.
    pub k: u32,
    /// Virtual lanes for each priority of traffic, one for each link between switches, so that paths never deadlock; paths
    /// with more links are left out. From 1 to 8; 1 takes paths of any length, which may deadlock.
    pub lanes: u8,
}

impl Default for KShortest {
    fn default() -> Self {
        KShortest { k: 8, lanes: 4 }
    }
}

impl KShortest {
    fn check(&self) -> Option<Violation> {
        number_within("k", self.k.into(), 1, MAX_PATHS.into())
            .or_else(|| number_within("lanes", self.lanes.into(), 1, MAX_LANES.into()))
    }
}
