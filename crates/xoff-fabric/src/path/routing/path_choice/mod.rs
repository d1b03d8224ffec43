//! Who chooses among equal-cost paths, and when.
//!
//! [`PathChoice`], at the end of this file, lists the choices; each choice is a file that implements [`ChoosePath`]. The
//! sender calls [`PathChoice::at_sender`] for each data packet, and a switch calls [`PathChoice::at_switch`].

mod adaptive;
mod entropy;
mod flowlet;
mod per_connection;
mod per_packet;
mod spray;
#[cfg(test)]
mod two_choices;

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Stream, Time};

use crate::ids::PortId;
pub use spray::Spray;

/// An egress port that leads nearer to the destination, and the number of shortest paths behind it.
pub type Candidate = (PortId, u32);

/// The load of an egress port: bytes in the queues, and whether a frame is on the wire. The smaller the load, the sooner a
/// packet leaves.
pub type Load = (u64, bool);

/// A way to choose among equal-cost paths.
trait ChoosePath {
    /// Name in scenarios.
    const NAME: &'static str;
    /// Packets have no fixed path: each switch looks up the next hops towards a packet's destination.
    const BY_NEXT_HOPS: bool = true;
    /// The sender draws the number of each packet's path.
    const SPRAYS: bool = false;
    /// Each switch compares its egress queues.
    const ADAPTS: bool = false;
    /// Each switch hashes an entropy value that the packet carries.
    const HASHES: bool = false;

    /// The number, below `paths`, of the path that a data packet takes; called only if [`ChoosePath::SPRAYS`]. Each
    /// connection has a [`Spray`] of its own.
    fn at_sender(_paths: u32, _spray: &mut Spray, _now: Time) -> u32 {
        0
    }

    /// The next hop of a data packet among `candidates`; called only if [`ChoosePath::ADAPTS`]. Each ingress port of a
    /// switch has a stream of random numbers of its own.
    fn at_switch(
        candidates: &[Candidate],
        _load: impl Fn(PortId) -> Load,
        _random: &mut Stream,
    ) -> Option<PortId> {
        candidates.first().map(|&(port, _)| port)
    }
}

/// A random number below `count`.
fn below(count: u64, random: &mut Stream) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

macro_rules! path_choices {
    ($($(#[cfg($cfg:meta)])? $(#[doc = $doc:literal])* $variant:ident = $choice:ty;)*) => {
        /// Who chooses among equal-cost paths, and when.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum PathChoice { $($(#[cfg($cfg)])? $(#[doc = $doc])* $variant),* }

        impl PathChoice {
            /// Every choice, in the order of the list.
            #[cfg(test)]
            const ALL: &'static [PathChoice] = &[$($(#[cfg($cfg)])? PathChoice::$variant),*];

            /// Its name in scenarios.
            pub fn name(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice as ChoosePath>::NAME),* }
            }

            /// Whether each switch looks up the next hops towards a packet's destination.
            pub fn is_by_next_hops(self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice as ChoosePath>::BY_NEXT_HOPS),* }
            }

            /// Whether the sender draws the number of each packet's path.
            pub fn sprays(self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice as ChoosePath>::SPRAYS),* }
            }

            /// Whether each switch compares its egress queues.
            pub fn adapts(self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice as ChoosePath>::ADAPTS),* }
            }

            /// Whether each switch hashes an entropy value that the packet carries.
            #[inline]
            pub fn hashes(self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice as ChoosePath>::HASHES),* }
            }

            /// The number, below `paths`, of the path that a data packet takes.
            #[inline]
            pub fn at_sender(self, paths: u32, spray: &mut Spray, now: Time) -> u32 {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice>::at_sender(paths, spray, now)),* }
            }

            /// The next hop of a data packet among `candidates`; `None` if there is none.
            #[inline]
            pub fn at_switch(
                self,
                candidates: &[Candidate],
                load: impl Fn(PortId) -> Load,
                random: &mut Stream,
            ) -> Option<PortId> {
                match self { $($(#[cfg($cfg)])? Self::$variant => <$choice>::at_switch(candidates, load, random)),* }
            }
        }
    };
}

path_choices! {
    /// The hash, once a connection.
    PerConnection = per_connection::PerConnection;
    /// The sender, for each packet: every equal-cost path equally often, in random order (packet spraying, as in NDP:
    /// Handley et al., SIGCOMM 2017).
    PerPacket = per_packet::PerPacket;
    /// The sender, whenever a connection has sent nothing for `flowlet_gap`: one of the equal-cost paths, at random.
    Flowlet = flowlet::Flowlet;
    /// Each switch, for each data packet: the equal-cost next hop with the shortest egress queue (adaptive routing).
    Adaptive = adaptive::Adaptive;
    /// The sender puts an entropy value into each packet, by `host.uet.entropy`, and each switch hashes it (Ultra Ethernet).
    Entropy = entropy::Entropy;
    #[cfg(test)]
    /// Each switch, for each data packet: of two next hops drawn at random, the one with the shorter egress queue.
    TwoChoices = two_choices::TwoChoices;
}

#[expect(clippy::derivable_impls, reason = "the list names no default")]
impl Default for PathChoice {
    fn default() -> Self {
        PathChoice::PerConnection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_scenarios_write() {
        for &choice in PathChoice::ALL {
            assert_eq!(serde_json::to_value(choice).expect("a name"), choice.name());
        }
    }
}
