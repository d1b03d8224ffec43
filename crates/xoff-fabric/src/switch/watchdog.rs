//! The PFC watchdog of switches, as operators run it (SONiC's: [PFC watchdog](https://github.com/sonic-net/SONiC/wiki/PFC-Watchdog)).
//!
//! An egress queue that holds packets and was stopped by PAUSE for the whole detection time, in which it sent nothing, is in a
//! storm. The watchdog then drops what waits in the queue and what comes for it, or lets the queue send as if no PAUSE had
//! come. When the queue has not been stopped for the restoration time, it obeys PAUSE again. SONiC polls counters; here a storm is
//! found at the moment when the detection time is over. Packets that come in by the port are taken as before.

use xoff_engine::Time;

use super::Switches;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::fault::Cause;
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::link::port::DROPS;
use crate::network::Network;
use crate::observe::losses::WatchdogRecord;
use crate::packet::{DATA, Frame};
use crate::settings::{Watchdog as Settings, WatchdogAction};

/// An egress queue as its watchdog sees it.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// The storm that the queue is in.
    storm: Option<WatchdogRecord>,
    /// When the queue was last resumed, in a storm.
    resumed_at: Time,
    /// The timer's event is pending.
    armed: bool,
}

/// The watchdogs of a partition's switches.
pub(super) struct Watchdog {
    settings: Settings,
    /// By queue.
    queues: Vec<Watched>,
}

impl Watchdog {
    pub fn new(net: &Network) -> Option<Box<Watchdog>> {
        let settings = net.settings.switch.watchdog.clone()?;
        let queues = net.topology.ports() as usize * usize::from(net.settings.switch.priorities);
        Some(Box::new(Watchdog { settings, queues: vec![Watched::default(); queues] }))
    }
}

impl Switches {
    /// Counts a packet of a port that is dropped, if a watchdog drops it.
    pub(super) fn count_storm_loss<C>(
        &mut self,
        links: &Links<C>,
        egress: PortId,
        cause: Cause,
        frame: Frame,
    ) {
        if cause != Cause::Watchdog || frame.class < DATA {
            return;
        }
        let Some(watchdog) = &mut self.watchdog else { return };
        let queue = links.queue_id(egress, frame.class);
        if let Some(record) = &mut watchdog.queues[queue.index()].storm {
            record.packets += 1;
            record.bytes += frame.size();
        }
    }

    /// Whether a watchdog drops what comes for an egress queue.
    pub(super) fn drops_storm(&self, queue: QueueId) -> bool {
        let Some(watchdog) = &self.watchdog else { return false };
        let drops = watchdog.settings.action == WatchdogAction::Drop;
        drops && watchdog.queues[queue.index()].storm.is_some()
    }

    /// Arms the timer of a queue's watchdog, unless it is armed.
    fn arm_watchdog<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, queue: QueueId, at: Time) {
        let Some(watchdog) = &mut self.watchdog else { return };
        if std::mem::replace(&mut watchdog.queues[queue.index()].armed, true) {
            return;
        }
        let first =
            ctx.net.first_other as usize + ctx.net.faults.as_ref().map_or(0, |plan| plan.steps().len());
        let index = first as u32 + queue.0;
        ctx.schedule(links.node_of(queue), at, key(kind::FLOW_STOP, index), 0);
    }

    /// An egress queue was stopped.
    pub(super) fn watch<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, queue: QueueId) {
        let Some(watchdog) = &self.watchdog else { return };
        let detection = watchdog.settings.detection;
        if watchdog.queues[queue.index()].storm.is_none() {
            let at = ctx.now + detection;
            return self.arm_watchdog(ctx, links, queue, at);
        }
        if watchdog.settings.action == WatchdogAction::Forward {
            self.ignore_pause(ctx, links, queue);
        }
    }

    /// Whether a watchdog has found a storm that is not over. A stop that comes again with all else is as old after a jump as it would be.
    pub fn is_in_storm(&self) -> bool {
        let watchdog = self.watchdog.as_deref();
        watchdog.is_some_and(|watchdog| watchdog.queues.iter().any(|watched| watched.storm.is_some()))
    }

    /// Lets a stopped queue send.
    fn ignore_pause<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, queue: QueueId) {
        let (port, class) = (queue.port(links.priorities), links.class_of(queue));
        links.ports[port.index()].paused &= !(1 << class);
        self.kick(ctx, links, port);
    }

    /// An egress queue may send again.
    #[cold]
    pub(super) fn watch_resumed<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, queue: QueueId) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let watched = &mut watchdog.queues[queue.index()];
        if watched.storm.is_some() {
            watched.resumed_at = ctx.now;
            let at = ctx.now + watchdog.settings.restoration;
            self.arm_watchdog(ctx, links, queue, at);
        }
    }

    /// The timer of a queue's watchdog: a storm is found or over, or the timer is armed anew.
    pub fn watchdog_timer<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, queue: QueueId) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let Settings { detection, restoration, action } = watchdog.settings;
        let watched = &mut watchdog.queues[queue.index()];
        watched.armed = false;
        let stopped = links.stops[queue.index()].current().map(|(since, _)| since);
        let (port, class) = (queue.port(links.priorities), links.class_of(queue));
        match (&watched.storm, stopped) {
            (None, None) => {}
            (Some(_), Some(_)) => {} // resumed later, if at all
            (None, Some(since)) => {
                let holds = links.ports[port.index()].backlog & (1 << class) != 0;
                if since + detection > ctx.now {
                    return self.arm_watchdog(ctx, links, queue, since + detection);
                }
                if !holds {
                    let at = ctx.now + detection;
                    return self.arm_watchdog(ctx, links, queue, at);
                }
                let priority = class - DATA;
                let (detected, restored) = (ctx.simulated(), None);
                let record = WatchdogRecord {
                    port,
                    priority,
                    stopped: since + ctx.carried,
                    detected,
                    restored,
                    packets: 0,
                    bytes: 0,
                };
                watched.storm = Some(record);
                match action {
                    WatchdogAction::Forward => self.ignore_pause(ctx, links, queue),
                    WatchdogAction::Drop => {
                        links.ports[port.index()].paused |= DROPS;
                        self.flush(ctx, links, port, class, (Cause::Watchdog, None));
                    }
                }
            }
            (Some(_), None) if watched.resumed_at + restoration > ctx.now => {
                let at = watched.resumed_at + restoration;
                self.arm_watchdog(ctx, links, queue, at)
            }
            (Some(_), None) => self.end_storm(ctx, links, queue, true),
        }
    }

    /// The storm of a queue is over, or the run is.
    fn end_storm<C>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, queue: QueueId, is_restored: bool) {
        let Some(watchdog) = &mut self.watchdog else { return };
        let Some(mut record) = watchdog.queues[queue.index()].storm.take() else { return };
        record.restored = is_restored.then_some(ctx.simulated());
        ctx.probes.records.watchdog.push(record);
        let port = queue.port(links.priorities);
        let others =
            (0..links.priorities as u8).map(|priority| QueueId::new(port, priority, links.priorities));
        if !others.into_iter().any(|queue| watchdog.queues[queue.index()].storm.is_some()) {
            links.ports[port.index()].paused &= !DROPS;
        }
    }

    /// The link of a port goes down: storms of its queues are over.
    pub(super) fn forget_storms<C>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        for priority in 0..links.priorities as u8 {
            self.end_storm(ctx, links, QueueId::new(port, priority, links.priorities), true);
        }
    }

    /// The run has ended: records storms that are not over.
    pub fn close_storms<C>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) {
        for queue in 0..self.watchdog.as_ref().map_or(0, |watchdog| watchdog.queues.len()) as u32 {
            self.end_storm(ctx, links, QueueId(queue), false);
        }
    }
}
