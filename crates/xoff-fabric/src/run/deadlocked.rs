//! Whether ports of a network in partitions wait for each other for ever.

use super::any_partition::AnyPartition;
use crate::ids::{PortId, QueueId};
use crate::network::Network;
use crate::observe::deadlock::deadlock;

/// The egress ports that wait for each other for ever, in a network in `partitions`, of which `of` gives that of a port.
pub(super) fn deadlocked<'a>(
    net: &Network,
    partitions: &[&'a dyn AnyPartition],
    of: &dyn Fn(PortId) -> &'a dyn AnyPartition,
) -> Vec<PortId> {
    let priorities = usize::from(net.settings.switch.priorities);
    let is_held = |queue: QueueId| {
        let port = queue.port(priorities);
        of(port).is_held(queue, of(port.peer()))
    };
    let queues = net.topology.ports() * priorities as u32;
    let held: Vec<bool> = (0..queues).map(|queue| is_held(QueueId(queue))).collect();
    if !held.contains(&true) {
        return Vec::new();
    }
    let charged: Vec<_> = partitions.iter().flat_map(|partition| partition.charged()).collect();
    let is_shared = net.settings.flow_control.shared_credits() > 0;
    deadlock(held, &charged, priorities, is_shared)
}
