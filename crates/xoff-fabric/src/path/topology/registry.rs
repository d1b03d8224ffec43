//! The list of topologies. A new topology adds one line here and nothing elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Size, Topology, TopologyError};

/// The parameters of one kind of topology; a scenario's table is read into this type.
pub trait TopologyKind: Serialize + serde::de::DeserializeOwned + JsonSchema + Default {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One line of description.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;

    /// The numbers of nodes and links, without building them: a topology that is too large for the machine is refused by this.
    ///
    /// # Errors
    /// [`TopologyError`] if a parameter is not valid, or the topology is too large.
    fn size(&self) -> Result<Size, TopologyError>;

    /// Builds the nodes and links, checked by [`Topology::validate`].
    ///
    /// # Errors
    /// [`TopologyError`] if a parameter is not valid.
    fn build(&self) -> Result<Topology, TopologyError>;
}

/// A kind of topology in a catalogue.
#[derive(Clone, Debug)]
pub struct TopologyInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line of description.
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// JSON schema of its parameters, with their documentation.
    pub schema: serde_json::Value,
    /// Its defaults.
    pub defaults: serde_json::Value,
}

macro_rules! topologies {
    ($($(#[cfg($cfg:meta)])? $(#[doc = $doc:literal])* $variant:ident = $params:ty;)*) => {
        /// A topology by name with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name", rename_all = "snake_case")]
        pub enum AnyTopology { $($(#[cfg($cfg)])? $(#[doc = $doc])* $variant($params)),* }

        $($(#[cfg($cfg)])? impl From<$params> for AnyTopology {
            fn from(params: $params) -> AnyTopology {
                AnyTopology::$variant(params)
            }
        })*

        /// Every kind of topology, in the order of the registry.
        pub fn catalogue() -> Vec<TopologyInfo> {
            vec![$($(#[cfg($cfg)])? TopologyInfo {
                name: <$params as TopologyKind>::NAME,
                title: <$params as TopologyKind>::TITLE,
                source: <$params as TopologyKind>::SOURCE,
                schema: schemars::schema_for!($params).to_value(),
                defaults: serde_json::to_value(<$params>::default()).unwrap_or_default(),
            }),*]
        }

        impl AnyTopology {
            /// The names of all kinds of topology.
            pub const NAMES: &'static [&'static str] = &[$($(#[cfg($cfg)])? <$params as TopologyKind>::NAME),*];

            /// The topology called `name`, with parameters read from `source`; `None` if there is no such
            /// topology.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, source: D) -> Option<Result<Self, D::Error>> {
                $($(#[cfg($cfg)])? if name == <$params as TopologyKind>::NAME {
                    return Some(<$params>::deserialize(source).map(AnyTopology::$variant));
                })*
                let _ = source;
                None
            }
            /// Its name in scenarios.
            pub fn name(&self) -> &'static str {
                match self { $($(#[cfg($cfg)])? AnyTopology::$variant(_) => <$params as TopologyKind>::NAME),* }
            }
            /// See [`TopologyKind::size`].
            pub fn size(&self) -> Result<Size, TopologyError> {
                match self { $($(#[cfg($cfg)])? AnyTopology::$variant(t) => t.size()),* }
            }
            /// See [`TopologyKind::build`].
            pub fn build(&self) -> Result<Topology, TopologyError> {
                match self { $($(#[cfg($cfg)])? AnyTopology::$variant(t) => t.build()),* }
            }
        }
    };
}

topologies! {
    /// Switches in a chain between senders and receivers.
    Dumbbell = super::Dumbbell;
    /// A chain whose congestion is at its first, middle or last hop.
    Chain = super::Chain;
    /// Hosts on one switch.
    Star = super::Star;
    /// Three tiers of equal switches.
    FatTree = super::FatTree;
    /// Two tiers, each leaf connected to each spine.
    LeafSpine = super::LeafSpine;
    /// A leaf for each rail.
    RailOptimized = super::RailOptimized;
    /// Two top-of-rack switches for each NIC.
    Hpn = super::Hpn;
    /// Groups of routers.
    Dragonfly = super::Dragonfly;
    /// Groups of leaves and spines.
    DragonflyPlus = super::DragonflyPlus;
    /// Rings in every dimension.
    Torus = super::Torus;
    /// All linked with all in every dimension.
    Hyperx = super::HyperX;
    /// A random regular graph.
    Jellyfish = super::Jellyfish;
    /// Any nodes and links.
    Graph = super::Graph;
    #[cfg(test)]
    /// Switches in a circle.
    Ring = super::ring::Ring;
}
