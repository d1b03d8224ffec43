//! From settings to a network, whatever they name: here own parts and those that imitate other simulators meet.

use std::sync::Arc;

use xoff_schemes::AnyScheme;

use crate::compat::ns3::ecmp::Ns3Table;
use crate::network::{BuildError, Flows, Network, Schedule, network_env};
use crate::path::routing::{EcmpHash, Router, Routing, RoutingError};
use crate::path::topology::Topology;
use crate::settings::Settings;

impl Router {
    /// Prepares `routing` on a topology that [`Topology::validate`] accepts and that the router shares. The choices among equal paths follow
    /// from `seed` alone.
    pub fn new(
        topology: impl Into<Arc<Topology>>,
        routing: &Routing,
        seed: u64,
    ) -> Result<Router, RoutingError> {
        let topology = topology.into();
        match routing {
            Routing::Ecmp(params) if params.hash == EcmpHash::Ns3Hpcc => {
                params.check()?;
                Router::by_table(topology, |topology, graph| {
                    Ok(Arc::new(Ns3Table::new(topology, graph, params)?))
                })
            }
            _ => Router::by_own_rules(topology, routing, seed),
        }
    }
}

impl Network {
    /// Builds the network of `topology` with `flows`, which must be sorted by start. The scheme's parameters must
    /// be resolved.
    pub fn build(
        topology: impl Into<Arc<Topology>>,
        routing: &Routing,
        settings: Settings,
        scheme: AnyScheme,
        flows: impl Into<Flows>,
        seed: u64,
    ) -> Result<Network, BuildError> {
        let topology = Arc::unwrap_or_clone(topology.into()).with_pipelines(settings.switch.pipeline_delay);
        let topology = Arc::new(topology);
        let router = Router::new(topology.clone(), routing, seed)?;
        let env = network_env(&topology, &router, &settings, &scheme.signals())?;
        Network::along(topology, &router, env, settings, scheme, flows, Schedule::default(), seed)
    }
}
