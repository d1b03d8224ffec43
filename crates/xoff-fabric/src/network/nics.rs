//! The NICs to which a connection is bound.

use std::collections::HashMap;

use rand::Rng;
use xoff_engine::random::mix;
use xoff_engine::{Domain, NicChoice, stream};

use super::Flow;
use crate::ids::NodeId;
use crate::path::routing::{HostNic, Router, RoutingError};

/// Assigns NICs to connections, in the order of connections.
pub(super) struct NicAssignment {
    salt: u64,
    /// By sender: the number of connections that took NICs in turn.
    in_turn: HashMap<NodeId, u32>,
    /// By pair of hosts: the number of connections that took NICs by hash.
    of_pair: HashMap<(NodeId, NodeId), u64>,
    /// By pair of NICs: the number of connections.
    of_nics: HashMap<(HostNic, HostNic), u64>,
}

impl NicAssignment {
    pub fn new(seed: u64) -> Self {
        NicAssignment {
            salt: stream(seed, Domain::Nics, 0).next_u64(),
            in_turn: HashMap::new(),
            of_pair: HashMap::new(),
            of_nics: HashMap::new(),
        }
    }

    /// The NICs of the next connection, from a flow's sender to its receiver, and the connection's number among those of
    /// these NICs. The number is the key of the connection's path, so that one pair's traffic never moves another's paths.
    pub fn next(
        &mut self,
        router: &Router,
        flow: &Flow,
        choice: NicChoice,
    ) -> Result<((HostNic, HostNic), u64), RoutingError> {
        let (src, dst, nics) = (flow.src, flow.dst, router.nics(flow.src)?);
        let nic = match choice {
            NicChoice::Nic(nic) => nic,
            _ if nics == 1 => 0,
            NicChoice::RoundRobin => {
                let turn = self.in_turn.entry(src).or_default();
                *turn += 1;
                (*turn - 1) % nics
            }
            NicChoice::Hash => {
                let pair = u64::from(src.0) << 32 | u64::from(dst.0);
                let number = self.of_pair.entry((src, dst)).or_default();
                *number += 1;
                (mix(mix(self.salt ^ pair) ^ (*number - 1)) % u64::from(nics)) as u32
            }
        };
        let ends = router.ends(src, dst, nic)?;
        let number = self.of_nics.entry(ends).or_default();
        *number += 1;
        Ok((ends, *number - 1))
    }
}
