//! The dumbbell: senders, a chain of switches, receivers.
//!
//! FNCC, Section 5.1 and Fig. 10: M = 3 switches, N = 2 or 4 senders on the first, the receiver on the last; all
//! links 100 Gbps and 1.5 us (Section 5). Congestion arises where the senders' flows meet, at `switch1->switch2`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Senders `sender0`, ... on `switch1`, switches `switch1` to `switchM` in a chain, receivers `receiver0`, ... on
/// `switchM`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dumbbell {
    /// Switches in the chain, FNCC's M; at least 1.
    pub switches: u32,
    /// Hosts on the first switch, FNCC's N; at least 1.
    pub senders: u32,
    /// Hosts on the last switch; at least 1.
    pub receivers: u32,
    /// Rate of every link, in bits a second.
    pub rate: Rate,
    /// Rate of the links between switches, in bits a second; without it, `rate`.
    pub trunk_rate: Option<Rate>,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Default for Dumbbell {
    fn default() -> Self {
        Dumbbell {
            switches: 3,
            senders: 2,
            receivers: 1,
            rate: Rate::from_gbps(100),
            trunk_rate: None,
            delay: Time::from_ns(1500),
        }
    }
}

impl TopologyKind for Dumbbell {
    const NAME: &'static str = "dumbbell";
    const TITLE: &'static str = "Senders and receivers at the two ends of a chain of switches";
    const SOURCE: &'static str = "FNCC, Section 5.1, Fig. 10";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("switches", self.switches, 1)?;
        at_least("senders", self.senders, 1)?;
        at_least("receivers", self.receivers, 1)?;
        let hosts = u128::from(self.senders) + u128::from(self.receivers);
        let switches = u128::from(self.switches);
        Size::new(hosts, switches, hosts + switches - 1, switches.min(2))
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let mut b = Builder::new(self.size()?);
        let sender = b.nodes("sender", 0, self.senders, NodeKind::Host);
        let receiver = b.nodes("receiver", 0, self.receivers, NodeKind::Host);
        let first = b.nodes("switch", 1, self.switches, NodeKind::Switch);
        let last = first + (self.switches - 1);
        for s in 0..self.senders {
            b.link(sender + s, first, self.rate, self.delay);
        }
        for r in 0..self.receivers {
            b.link(receiver + r, last, self.rate, self.delay);
        }
        for s in 0..self.switches - 1 {
            b.link(first + s, first + (s + 1), self.trunk_rate.unwrap_or(self.rate), self.delay);
        }
        b.finish()
    }
}
