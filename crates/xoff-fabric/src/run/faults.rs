//! Faults as events of the nodes that they concern, and how a run with faults ends.

use super::partition::Partition;
use crate::event::{key, kind};
use crate::fault::Act;
use crate::host::TAKE;
use crate::host::nic::NicScheduler;
use crate::ids::{PortId, QueueId};
use crate::link::flow_control::LinkControl;

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// Schedules what own nodes do about faults.
    pub(super) fn begin_faults(&mut self) {
        let net = self.ctx.net.clone();
        let Some(plan) = &net.faults else { return };
        for (number, step) in plan.steps().iter().enumerate() {
            if self.ctx.boundary.owns(step.node) {
                let index = net.first_other + number as u32;
                self.ctx.schedule(step.node, step.at, key(kind::FLOW_STOP, index), 0);
            }
        }
    }

    /// Something breaks or is whole again, or a watchdog's timer is over. The event repeats something if `arg` is not 0.
    #[cold]
    pub(super) fn fault_event(&mut self, index: u32, arg: u32) {
        let Partition { ctx, links, switches, hosts, .. } = self;
        let net = ctx.net.clone();
        let number = (index - net.first_other) as usize;
        let steps = net.faults.as_ref().map_or(&[][..], |plan| plan.steps());
        let Some(step) = steps.get(number) else {
            let (number, queues) = (number - steps.len(), links.stops.len());
            if number < queues {
                return switches.watchdog_timer(ctx, links, QueueId(number as u32));
            }
            let port = PortId((number - queues) as u32);
            if links.retry_event(ctx, port, arg) {
                self.port_ready(port);
            }
            return;
        };
        let is_host = net.is_host(step.node);
        match step.act {
            Act::Down(port) if is_host => hosts.link_down(ctx, links, port),
            Act::Down(port) => switches.link_down(ctx, links, port),
            Act::Up(port) if is_host => hosts.link_up(ctx, links, port),
            Act::Up(port) => switches.link_up(ctx, links, port),
            Act::Rate(port, rate) => links.set_rate(port, rate),
            Act::Storm(fault) => hosts.storm(ctx, links, index, fault),
            Act::Stop(_) | Act::Go if arg >= TAKE => hosts.take_held(ctx, links, PortId(arg - TAKE)),
            Act::Stop(_) if arg != 0 => hosts.repeat_pauses(ctx, links, index, step.node),
            Act::Stop(fault) => hosts.stop_receiver(ctx, links, index, fault),
            Act::Go => hosts.start_receiver(ctx, links, index, step.node),
        }
    }
}
