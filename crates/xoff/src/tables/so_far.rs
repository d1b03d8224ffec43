//! Tables of a run that goes on: what was recorded since the last look.

use xoff_engine::Time;
use xoff_fabric::Network;
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::Records;
use xoff_fabric::observe::records::FlowOutcome;
use xoff_traffic::Traffic;

use super::columns::{Columns, strings};
use super::{Names, Table, breakdown, events, samples};

/// What a look at a run that goes on has seen. Rows come in the order in which one thread recorded them.
pub struct SoFar {
    names: Names,
    /// Rows seen, or the place behind them, of outcomes, queues, rates, utilization, variables, pauses, roots, breakdown and
    /// queues by priority.
    seen: [usize; 9],
    /// By message: its outcome if it has ended.
    outcomes: Vec<Option<FlowOutcome>>,
}

impl SoFar {
    /// Before the first look.
    pub fn new(net: &Network) -> SoFar {
        SoFar { names: Names::new(net), seen: [0; 9], outcomes: vec![None; net.flows.len()] }
    }

    /// The rows since the last look, by table; of messages all that have started by `now` as far as that is known: those
    /// that wait for others only once they have ended. What was skipped is known at the end of a run, and has no columns here.
    pub fn look(&mut self, net: &Network, traffic: &Traffic, records: &Records, now: Time) -> Vec<Table> {
        let samples = &records.samples;
        let lengths = [
            records.ended_so_far(),
            samples.queues.len(),
            samples.rates.len(),
            samples.utilization.len(),
            samples.variables.len(),
            records.pauses.len(),
            records.roots.len(),
            records.breakdown.len(),
            samples.priorities.len(),
        ];
        let [outcomes, queues, rates, utilization, variables, pauses, roots, parts, priorities] =
            std::mem::replace(&mut self.seen, lengths);
        for (flow, outcome) in records.outcomes_so_far(outcomes) {
            self.outcomes[flow.index()] = Some(outcome);
        }
        let names = &self.names;
        vec![
            self.flows(net, traffic, now),
            samples::queues(&samples.queues[queues..], &samples.priorities[priorities..], names, None),
            samples::rates(&samples.rates[rates..], None),
            samples::utilization(
                &samples.utilization[utilization..],
                |port| net.topology.rate(port),
                names,
                None,
            ),
            samples::variables(&samples.variables[variables..]),
            events::pauses(&records.pauses[pauses..], names, false),
            events::roots(&records.roots[roots..], names),
            breakdown::breakdown(&records.breakdown[parts..], names),
        ]
    }

    fn flows(&self, net: &Network, traffic: &Traffic, now: Time) -> Table {
        let of = |i: usize| net.flows.of(FlowId::at(i));
        let waits = |i: usize| net.dependencies.flow_waits(FlowId::at(i));
        let rows: Vec<usize> = (0..net.flows.len())
            .filter(|&i| self.outcomes[i].is_some() || (of(i).start <= now && !waits(i)))
            .collect();
        let fct = |i: usize| self.outcomes[i].and_then(|outcome| outcome.fct);
        let slowdown = |i: usize| {
            let (fct, ideal) = (fct(i)?, net.ideal_fct(FlowId::at(i))?);
            Some(fct.ps() as f64 / ideal.ps() as f64)
        };
        Columns::new()
            .u32("id", "flow number", rows.iter().map(|&i| i as u32))
            .names(
                "label",
                "its traffic pattern",
                rows.iter().map(|&i| u32::from(traffic.flows.labels().get(i))),
                &strings(traffic.labels.iter().cloned()),
            )
            .names("src", "sending host", rows.iter().map(|&i| of(i).src.0), &self.names.nodes)
            .names("dst", "receiving host", rows.iter().map(|&i| of(i).dst.0), &self.names.nodes)
            .u8("priority", "data priority", rows.iter().map(|&i| net.traffic_priority(FlowId::at(i))))
            .u64_or_null("size_bytes", "payload; null: endless", rows.iter().map(|&i| of(i).size.bytes()))
            .u64(
                "start_ps",
                "start, ps",
                rows.iter().map(|&i| self.outcomes[i].map_or(of(i).start, |outcome| outcome.start).ps()),
            )
            .u64_or_null(
                "fct_ps",
                "completion time, ps; null: incomplete",
                rows.iter().map(|&i| fct(i).map(Time::ps)),
            )
            .f64_or_null(
                "slowdown",
                "fct_ps over that alone in the network",
                rows.iter().map(|&i| slowdown(i)),
            )
            .table("flows")
    }
}
