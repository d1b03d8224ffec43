//! Merges the records of all partitions into one; the result does not depend on how the network is cut.

use std::ops::AddAssign;

use xoff_engine::Time;

use super::losses;
use super::outcomes::Outcomes;
use super::records::{Recording, Records, Totals};
use crate::ids::PortId;
use crate::network::Network;
use crate::packet::PartitionId;

impl Records {
    /// The merged records of all partitions. Samples are sorted by time and in the order of `recording`, rates by time and
    /// flow, pauses by end and port, notifications by time and flow, roots by start and port, marks and states by time and
    /// port, packets by time, direction and port.
    pub(crate) fn merge(
        partitions: Vec<Records>,
        recording: &Recording,
        partition_of: &[PartitionId],
        net: &Network,
    ) -> Records {
        let mut all =
            Records { steps: vec![Time::NEVER; net.dependencies.steps().len()], ..Records::default() };
        let (mut ends, mut marked_flows) = (Vec::new(), Vec::new());
        let (mut queues, mut utilization) = (Vec::new(), Vec::new());
        for partition in partitions {
            ends.push(partition.partial.ends);
            append(&mut marked_flows, partition.partial.marked_flows);
            for (step, at) in partition.partial.steps_done {
                all.steps[step as usize] = at;
            }
            all.totals += partition.totals;
            append(&mut all.roots, partition.roots);
            append(&mut all.partial.waited, partition.partial.waited);
            append(&mut all.samples.rates, partition.samples.rates);
            append(&mut all.samples.variables, partition.samples.variables);
            append(&mut all.samples.priorities, partition.samples.priorities);
            append(&mut all.pauses, partition.pauses);
            append(&mut all.notifications, partition.notifications);
            append(&mut all.marks, partition.marks);
            append(&mut all.states, partition.states);
            append(&mut all.throttles, partition.throttles);
            append(&mut all.breakdown, partition.breakdown);
            append(&mut all.reordering, partition.reordering);
            append(&mut all.own, partition.own);
            append(&mut all.watchdog, partition.watchdog);
            if let Some(lost) = partition.losses {
                losses::add(all.losses.get_or_insert_default(), lost);
            }
            all.packets.append(partition.packets);
            queues.push(partition.samples.queues);
            utilization.push(partition.samples.utilization);
        }
        // No two rows are alike in these, so that their order is the network's.
        all.samples.rates.sort_by_key(|r| (r.time, r.flow));
        all.samples.priorities.sort_by_key(|s| (s.time, s.port, s.priority));
        // All rows of a flow come from its sender's partition, and stay in the order in which they were told.
        all.samples.variables.sort_by_key(|v| (v.time, v.flow));
        all.pauses.sort_by_key(|p| (p.end, p.port, p.priority, p.start));
        all.notifications.sort_by_key(|n| (n.time, n.flow));
        all.roots.sort_by_key(|r| (r.start, r.port, r.priority));
        all.totals.flow_tables.sort_unstable();
        let blocked = all.find_blocked(net);
        all.flows = Outcomes::new(net.flows.len(), &ends, marked_flows, &blocked);
        all.marks.sort_by_key(|m| (m.time, m.port));
        all.states.sort_by_key(|s| (s.time, s.port, s.priority));
        all.throttles.sort_by_key(|t| (t.time, t.port));
        // All rows of a flow come from its sender's partition.
        all.breakdown.sort_by_key(|b| b.flow);
        all.reordering.sort_by_key(|r| r.connection);
        all.watchdog.sort_by_key(|w| (w.detected, w.port, w.priority));
        all.own.sort_by_key(|row| (row.name, row.time, row.subject));
        all.packets.sort();
        let owners = |ports: &[PortId]| -> Vec<usize> {
            ports.iter().map(|&p| usize::from(partition_of[net.topology.node_of(p).index()])).collect()
        };
        all.samples.queues = interleave(queues, &owners(&recording.queues));
        all.samples.utilization = interleave(utilization, &owners(&recording.utilization));
        all.recording = recording.clone();
        all
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, part: Totals) {
        self.pause_frames += part.pause_frames;
        self.resume_frames += part.resume_frames;
        self.credit_updates += part.credit_updates;
        self.marks += part.marks;
        self.chances += part.chances;
        self.close_calls += part.close_calls;
        self.drops += part.drops;
        self.cnms_sent += part.cnms_sent;
        self.cnms_lost += part.cnms_lost;
        append(&mut self.flow_tables, part.flow_tables);
    }
}

fn append<T>(all: &mut Vec<T>, mut partition: Vec<T>) {
    if all.is_empty() {
        *all = partition;
    } else {
        all.append(&mut partition);
    }
}

/// Merges rows that come in batches: each batch has one row for each entry of `owners`, the partitions that have the rows.
fn interleave<T>(mut lists: Vec<Vec<T>>, owners: &[usize]) -> Vec<T> {
    if lists.len() == 1 {
        return lists.pop().unwrap_or_default();
    }
    let total: usize = lists.iter().map(Vec::len).sum();
    let mut rows: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let in_turn = owners.iter().cycle().take(total);
    in_turn.filter_map(|&owner| rows[owner].next()).collect()
}
