//! A chain in which two flows meet at the first, a middle or the last hop.
//!
//! FNCC, Section 5.4 and Fig. 11: flow0 runs from `sender0` on the first switch through the whole chain to
//! `receiver0` on the last; flow1 starts at `sender1`, on the switch where it joins. All links have the same rate,
//! so the only port that can be offered more than it sends is the first one that both flows share:
//! - `first`: `sender1` on `switch1`, congestion at `switch1->switch2`;
//! - `middle`: `sender1` on the middle switch or, if there are two in the middle, on the one nearer to `sender0`; with
//!   three switches, congestion at `switch2->switch3`;
//! - `last`: `sender1` on the last switch, congestion at its port to `receiver0`.
//!
//! The figure's text does not say where flow1 ends. Here it ends at a receiver of its own, `receiver1` on the last
//! switch, if congestion is to be ahead of the last hop: the last hops then carry one flow each and cannot congest
//! even for a moment. If congestion is to be at the last hop, both flows end at `receiver0`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Where the second sender joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// On the first switch: congestion at the first switch's port to the second.
    #[default]
    First,
    /// On the middle switch: congestion at its port to the next one.
    Middle,
    /// On the last switch: congestion at its port to the receiver.
    Last,
}

/// Switches `switch1` to `switchM` in a chain, `sender0` on the first, `sender1` where flow1 joins, `receiver0` on
/// the last, and there also `receiver1` unless the last hop is to be congested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chain {
    /// Switches in the chain; at least 1 for `last`, 2 for `first`, 3 for `middle`.
    pub switches: u32,
    /// Where the second sender joins.
    pub join: Join,
    /// Rate of every link, in bits a second.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Default for Chain {
    fn default() -> Self {
        Chain { switches: 3, join: Join::First, rate: Rate::from_gbps(100), delay: Time::from_ns(1500) }
    }
}

impl Chain {
    /// The number of receivers.
    fn receivers(&self) -> u32 {
        if self.join == Join::Last { 1 } else { 2 }
    }
}

impl TopologyKind for Chain {
    const NAME: &'static str = "chain";
    const TITLE: &'static str = "Two flows that meet at the first, middle or last hop of a chain of switches";
    const SOURCE: &'static str = "FNCC, Section 5.4, Fig. 11";

    fn size(&self) -> Result<Size, TopologyError> {
        let min = match self.join {
            Join::First => 2,
            Join::Middle => 3,
            Join::Last => 1,
        };
        at_least("switches", self.switches, min)?;
        let (hosts, switches) = (u128::from(2 + self.receivers()), u128::from(self.switches));
        Size::new(hosts, switches, hosts + switches - 1, switches.min(3))
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let (receivers, switches) = (self.receivers(), self.switches);
        let join = match self.join {
            Join::First => 1,
            Join::Middle => switches.div_ceil(2),
            Join::Last => switches,
        };
        let sender = b.nodes("sender", 0, 2, NodeKind::Host);
        let receiver = b.nodes("receiver", 0, receivers, NodeKind::Host);
        let first = b.nodes("switch", 1, switches, NodeKind::Switch);
        let last = first + (switches - 1);
        b.link(sender, first, self.rate, self.delay);
        b.link(sender + 1, first + (join - 1), self.rate, self.delay);
        for r in 0..receivers {
            b.link(receiver + r, last, self.rate, self.delay);
        }
        for s in 0..switches - 1 {
            b.link(first + s, first + (s + 1), self.rate, self.delay);
        }
        b.finish()
    }
}
