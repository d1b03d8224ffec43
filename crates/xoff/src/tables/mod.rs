//! Result tables as Arrow record batches, each column with its meaning.

mod breakdown;
mod buffer_sizing;
mod columns;
mod events;
mod failures;
mod flows;
mod numbers;
mod outcomes;
mod packets;
mod ports;
mod reordering;
mod retries;
mod samples;
mod so_far;

use arrow_array::{ArrayRef, RecordBatch};
use xoff_fabric::{Network, Simulation};
use xoff_traffic::Traffic;

use columns::strings;
use samples::SkippedTime;
pub use so_far::SoFar;

/// A result table.
pub struct Table {
    /// Its name, which is also the name of its file.
    pub name: &'static str,
    /// Its columns.
    pub batch: RecordBatch,
}

impl Table {
    /// Each column's name and meaning.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.batch.schema_ref().fields().iter();
        fields.map(|f| (f.name().as_str(), f.metadata().get("doc").map_or("", String::as_str)))
    }
}

/// All tables of a run, empty ones included.
pub fn all(sim: &Simulation, traffic: &Traffic) -> Vec<Table> {
    let names = Names::new(sim.network());
    let records = sim.records();
    let (samples, skips) = (&records.samples, SkippedTime::of(sim));
    vec![
        flows::flows(sim, traffic, &names),
        ports::ports(sim, &names),
        samples::queues(&samples.queues, &samples.priorities, &names, skips),
        samples::rates(&samples.rates, skips),
        samples::utilization(&samples.utilization, |port| sim.port(port).rate, &names, skips),
        events::pauses(&records.pauses, &names, sim.forwarded().is_some()),
        events::roots(&records.roots, &names),
        events::notifications(sim),
        events::marks(sim, &names),
        events::states(sim, &names),
        flows::operations(sim, traffic, &names),
        events::throttles(sim, &names),
        breakdown::breakdown(&records.breakdown, &names),
        reordering::reordering(sim, &names),
        packets::packets(sim, &names),
        failures::events(sim),
        failures::drops(sim, &names),
        failures::watchdog(sim, &names),
        retries::retries(sim, &names),
        samples::variables(&samples.variables),
    ]
}

/// Names of nodes and ports, shared by the tables.
struct Names {
    nodes: ArrayRef,
    ports: ArrayRef,
}

impl Names {
    fn new(net: &Network) -> Self {
        Names {
            nodes: strings(net.topology.nodes.iter().map(|n| n.name.clone())),
            ports: strings(net.topology.each_port_name()),
        }
    }
}
