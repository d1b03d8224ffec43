//! Paths around links that are down.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use xoff_engine::NicChoice;
use xoff_schemes::IntPath;

use super::build::PathWriter;
use super::nics::NicAssignment;
use super::route::{MOST_HOPS, Path, PathPorts};
use super::{BuildError, Network, Route};
use crate::event::MAX_INDEX;
use crate::fault::{Convergence, Detour, Epochs, Fault, FaultPlan};
use crate::ids::ConnectionId;
use crate::path::routing::{HostNic, Router};

/// What picks a connection's path: its NICs, and its number among the connections of these NICs.
type PathKey = ((HostNic, HostNic), u64);

impl Network {
    /// The network with `faults`, perhaps none, of which `router`, with which the network was built, learns by `convergence`.
    /// `nics` are those of [`super::Schedule::nics`].
    ///
    /// # Errors
    /// [`BuildError`] if routing cannot do without a link, or telemetry has no room for a longer path.
    pub fn with_faults(
        mut self,
        router: &Router,
        faults: Vec<Fault>,
        convergence: Convergence,
        nics: &[Option<NicChoice>],
    ) -> Result<Network, BuildError> {
        let mut plan = FaultPlan::new(&self.topology, faults);
        plan.foresee(&self.topology, self.wire.largest());
        let queues = self.topology.ports() as usize * usize::from(self.settings.switch.priorities);
        let ports = self.topology.ports() as usize;
        let entities = self.flows.len() + plan.steps().len() + queues + ports;
        if entities > MAX_INDEX as usize {
            return Err(BuildError::TooMany {
                what: "flows, queues, ports and times of events",
                count: entities,
                limit: MAX_INDEX,
            });
        }
        let keys = match convergence {
            Convergence::None => Vec::new(),
            Convergence::After(_) => self.path_keys(router, nics)?,
        };
        let mut ports = mem::take(&mut self.paths.ports);
        let epochs = Epochs::new(&plan, convergence, |dead| -> Result<Detour, BuildError> {
            let around = router.without(dead).ok_or(BuildError::NoDetour)?;
            if self.paths.next_hops.is_some() {
                let next_hops = (!dead.is_empty()).then(|| around.next_hops()).flatten();
                if let Some(hops) = &next_hops {
                    self.check_hops(hops.max_links().saturating_sub(1))?;
                }
                return Ok((Arc::default(), next_hops.map(Arc::new)));
            }
            let mut writer = PathWriter::new(&around, mem::take(&mut ports));
            let routes = self.detours(&mut writer, &keys, dead);
            ports = mem::take(&mut writer.ports);
            self.check_hops(writer.longest.saturating_sub(1))?;
            Ok((Arc::new(routes), None))
        })?;
        if ports.len() > MOST_HOPS as usize {
            let limit = MOST_HOPS;
            return Err(BuildError::TooMany { what: "hops of all paths", count: ports.len(), limit });
        }
        self.paths.ports = ports;
        plan.set_epochs(epochs);
        self.faults = Some(Box::new(plan));
        self.loses = true;
        Ok(self)
    }

    /// Refuses paths of more switches than telemetry has room for.
    pub(super) fn check_hops(&self, hops: usize) -> Result<(), BuildError> {
        let room = self.settings.packets.int_hops;
        if self.signals.int != IntPath::Off && hops > usize::from(room) {
            return Err(BuildError::TooManyHops { hops, room });
        }
        Ok(())
    }

    /// By connection: what picks its path.
    fn path_keys(&self, router: &Router, choices: &[Option<NicChoice>]) -> Result<Vec<PathKey>, BuildError> {
        let mut nics = NicAssignment::new(self.seed);
        let key = |connection| {
            let first = self.connections.first_message(connection);
            let choice = choices.get(first.index()).copied().flatten().unwrap_or(self.settings.host.nic);
            Ok(nics.next(router, &self.flows.of(first), choice)?)
        };
        ConnectionId::all(self.paths.routes.len()).map(key).collect()
    }

    /// The routes of connections whose first route leads over a `dead` link, if there are others.
    fn detours(
        &self,
        writer: &mut PathWriter<'_>,
        keys: &[PathKey],
        dead: &[u32],
    ) -> HashMap<ConnectionId, Route> {
        let mut routes = HashMap::new();
        for (number, route) in self.paths.routes.iter().enumerate() {
            let is_dead = |path: Path<'_>| path.iter().any(|port| dead.contains(&(port.link() as u32)));
            let crosses =
                |ports: &PathPorts, r: &Route| is_dead(Path::of(ports.data(r))) || is_dead(ports.ack(r));
            if !crosses(&writer.ports, route) {
                continue;
            }
            let (ends, key) = keys[number];
            let (before, longest) = (writer.ports.len(), writer.longest);
            match writer.route(ends, key) {
                Ok(other) if !crosses(&writer.ports, &other) => {
                    _ = routes.insert(ConnectionId::at(number), other)
                }
                _ => {
                    writer.ports.list_mut().truncate(before);
                    writer.longest = longest;
                }
            }
        }
        routes
    }
}
