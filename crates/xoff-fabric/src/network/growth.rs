//! Messages that join a network while it runs: their connections, and the paths of these.

use std::collections::HashMap;
use std::mem;

use xoff_engine::NicChoice;

use super::build::PathWriter;
use super::nics::NicAssignment;
use super::route::MOST_HOPS;
use super::{BuildError, Flow, Network};
use crate::event::MAX_INDEX;
use crate::ids::{ConnectionId, FlowId, NodeId};
use crate::path::routing::{Lanes, Router};

/// What picks connections and their paths for messages that join a network: the counts that [`Network::along`] leaves behind.
pub struct Growth {
    nics: NicAssignment,
    /// By sender, receiver, priority and number: the connection that messages share.
    known: HashMap<(NodeId, NodeId, u8, u32), ConnectionId>,
}

impl Growth {
    /// The counts of `net`, which was built with `router`; `nics` are those of [`super::Schedule::nics`]. Makes room in `net` for
    /// as many messages as events can name.
    ///
    /// # Errors
    /// [`BuildError`] if there is no room, or if routing is to find ways around links, which it knows for the connections of
    /// the beginning alone.
    pub fn new(net: &mut Network, router: &Router, nics: &[Option<NicChoice>]) -> Result<Growth, BuildError> {
        let ports = net.topology.ports() as usize;
        let queues = ports * usize::from(net.settings.switch.priorities);
        let faults = net.faults.as_ref().map_or(0, |plan| plan.steps().len());
        let others = net.dependencies.steps().len().max(faults + queues + ports);
        let room = (MAX_INDEX as usize).saturating_sub(others);
        if net.flows.len() > room {
            let limit = room as u32;
            return Err(BuildError::TooMany { what: "flows", count: net.flows.len(), limit });
        }
        if net.paths.next_hops.is_none() && net.faults.as_ref().is_some_and(|plan| plan.converges()) {
            return Err(BuildError::NoDetourLater);
        }
        net.first_other = room as u32;
        let mut counts = NicAssignment::new(net.seed);
        for connection in ConnectionId::all(net.paths.routes.len()) {
            let first = net.connections.first_message(connection);
            let choice = nics.get(first.index()).copied().flatten().unwrap_or(net.settings.host.nic);
            counts.next(router, &net.flows.of(first), choice)?;
        }
        Ok(Growth { nics: counts, known: HashMap::new() })
    }

    /// Adds `flow` to `net`, on a connection of its own or on the one with this `number` among those that messages of the same
    /// hosts and priority share. Connections of the beginning are not among them.
    ///
    /// # Errors
    /// [`BuildError`] if there is no path, or no room.
    pub fn add(
        &mut self,
        net: &mut Network,
        router: &Router,
        mut flow: Flow,
        number: Option<u32>,
    ) -> Result<FlowId, BuildError> {
        let id = FlowId::at(net.flows.len());
        if id.0 >= net.first_other {
            let (count, limit) = (id.index() + 1, net.first_other);
            return Err(BuildError::TooMany { what: "flows", count, limit });
        }
        if flow.size == 0.into() {
            return Err(BuildError::NoData { flow: id.index() });
        }
        flow.priority *= net.paths.lanes.as_ref().map_or(1, Lanes::count);
        let key = number.map(|number| (flow.src, flow.dst, flow.priority, number));
        let known = key.and_then(|key| self.known.get(&key).copied());
        if known.is_none() {
            let (ends, turn) = self.nics.next(router, &flow, net.settings.host.nic)?;
            let ports = mem::take(&mut net.paths.ports);
            let before = ports.len();
            let mut writer = PathWriter::new(router, ports);
            let route = writer.route(ends, turn);
            let longest = writer.longest;
            net.paths.ports = mem::take(&mut writer.ports);
            let fits = net.check_hops(longest.saturating_sub(1)).and_then(|()| {
                let (count, limit) = (net.paths.ports.len(), MOST_HOPS);
                let fits = count <= limit as usize;
                if fits {
                    Ok(())
                } else {
                    Err(BuildError::TooMany { what: "hops of all paths", count, limit })
                }
            });
            match route.and_then(|route| fits.map(|()| route)) {
                Ok(route) => net.paths.routes.push(route),
                Err(error) => {
                    net.paths.ports.list_mut().truncate(before);
                    return Err(error);
                }
            }
        }
        let connection = net.connections.add(id, known, key.is_some());
        if let Some(key) = key {
            self.known.insert(key, connection);
        }
        if !net.background.is_empty() {
            net.background.push(false);
        }
        net.flows.push(flow);
        Ok(id)
    }
}
