//! xoff's own NIC: round robin among the connections that may send.
//!
//! A connection that may send waits in its priority's round robin or, until its pacing time, in a heap; the NIC has one
//! wake-up pending for whatever comes first.

use std::collections::{BTreeSet, VecDeque};

use xoff_engine::{Time, fetch_ahead};

use super::Hosts;
use super::nic::{NicId, NicScheduler};
use super::pacing::PacingHeap;
use super::sender::SendState;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{ConnectionId, PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::DATA;

/// Every class of a port.
const ALL_CLASSES: u16 = u16::MAX;
/// The classes that go before data.
const CONTROL_CLASSES: u16 = (1 << DATA) - 1;

/// The state of a NIC.
pub(crate) struct PacedNic {
    /// The earliest pending wake-up.
    wake_at: Time,
    /// By priority: connections that may send now, in turn.
    ready: Vec<VecDeque<ConnectionId>>,
    /// Priorities with a connection in `ready`, as classes.
    ready_classes: u16,
    /// Connections that wait for their pacing time.
    pacing: PacingHeap,
    /// Connections whose turn has come while the neighbour held their flow back.
    held: BTreeSet<ConnectionId>,
}

impl PacedNic {
    /// A connection joins the round robin of its priority.
    #[inline]
    fn make_ready(&mut self, connection: ConnectionId, priority: u8) {
        self.ready[priority as usize].push_back(connection);
        self.ready_classes |= 1 << (DATA + priority);
    }
}

impl NicScheduler for PacedNic {
    type Shared = ();

    fn shared(_net: &Network) {}

    fn new(priorities: usize) -> Self {
        PacedNic {
            wake_at: Time::NEVER,
            ready: vec![VecDeque::new(); priorities],
            ready_classes: 0,
            pacing: PacingHeap::default(),
            held: BTreeSet::new(),
        }
    }

    #[inline]
    fn fetch_order(&self) {
        fetch_ahead(&self.ready, 0);
        // An empty list has no address, and to look for a page there takes time.
        if !self.pacing.entries().is_empty() {
            fetch_ahead(self.pacing.entries(), 0);
        }
    }

    #[inline]
    fn first_paced(&self) -> Option<ConnectionId> {
        self.pacing.first().map(|(_, connection)| connection)
    }

    fn waiting(&self) -> Vec<ConnectionId> {
        self.ready.iter().flatten().copied().chain(self.pacing.connections()).collect()
    }

    fn turns(&self, now: Time) -> Vec<u64> {
        let ready = self.ready.iter().flatten().map(|connection| (Time::ZERO, *connection));
        let mut paced: Vec<_> = self.pacing.entries().to_vec();
        paced.sort_unstable();
        let all = ready.chain(paced.into_iter().map(|(at, connection)| (at.saturating_sub(now), connection)));
        all.flat_map(|(wait, connection)| [wait.0, connection.0.into()]).collect()
    }

    #[inline]
    fn on_change<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(sender) = hosts.senders[connection.index()].as_deref_mut() else { return };
        let nic = sender.nic;
        match sender.state {
            SendState::Ready => {}
            SendState::Pacing => {
                // The gap after the last packet follows the rate.
                let at = sender.earliest_departure(&ctx.net.settings.quirks);
                if at != sender.pacing.next_at {
                    sender.pacing.next_at = at;
                    let scheduler = &mut hosts.nics[nic as usize].scheduler;
                    scheduler.pacing.update(at, connection, &mut hosts.pacing_places);
                    hosts.arm(ctx, links, nic, at);
                }
            }
            SendState::Idle => {
                if sender.may_send(ctx.net.wire.min_window) {
                    match hosts.schedule_connection(ctx, links, connection) {
                        Some(at) => hosts.arm(ctx, links, nic, at),
                        None => Self::kick(hosts, ctx, links, nic),
                    }
                }
            }
        }
    }

    #[inline]
    fn after_emission<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        hosts.schedule_connection(ctx, links, connection);
    }

    #[inline]
    fn kick<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let port = &links.ports[hosts.nics[nic as usize].port.index()];
        if port.is_idle(ctx.now) {
            hosts.send_next(ctx, links, nic);
        } else if !links.is_held(hosts.nics[nic as usize].port) {
            let busy_until = port.busy_until;
            hosts.arm(ctx, links, nic, busy_until);
        }
    }

    #[inline]
    fn wake<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        _arg: u32,
    ) {
        let scheduler = &mut hosts.nics[nic as usize].scheduler;
        if scheduler.wake_at != ctx.now {
            return; // an earlier wake-up took its place
        }
        scheduler.wake_at = Time::NEVER;
        Self::kick(hosts, ctx, links, nic);
    }

    #[inline]
    fn before_own_packet<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        _links: &mut Links<C>,
        nic: NicId,
    ) {
        hosts.release_paced(ctx, nic);
    }

    /// Arms the wake-up for what is left to send.
    #[inline(always)] // runs for every packet
    fn rearm<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let own = &hosts.nics[nic as usize];
        let port = &links.ports[own.port.index()];
        let (queued, ready) = (port.sendable(), own.scheduler.ready_classes & !port.paused);
        let busy_until = port.busy_until;
        if queued | ready != 0 {
            let mut at = busy_until;
            if hosts.slows {
                at = at.max(hosts.slowed_until(ctx, links, nic, queued, ready));
            }
            if at < Time::NEVER {
                hosts.arm(ctx, links, nic, at);
            }
        }
        // A connection that waits for its service level does not hold up other connections.
        if (queued | ready == 0 || (hosts.slows && hosts.sl_reactions.is_some()))
            && let Some((at, _)) = hosts.nics[nic as usize].scheduler.pacing.first()
        {
            hosts.arm(ctx, links, nic, at);
        }
    }

    #[cold]
    fn on_flow_resumed<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
    ) {
        for connection in std::mem::take(&mut hosts.nics[nic as usize].scheduler.held) {
            Self::on_change(hosts, ctx, links, connection);
        }
    }

    fn forget(hosts: &mut Hosts<Self>, connection: ConnectionId, nic: NicId, priority: u8, state: SendState) {
        let scheduler = &mut hosts.nics[nic as usize].scheduler;
        match state {
            SendState::Idle => {}
            SendState::Pacing => scheduler.pacing.remove(connection, &mut hosts.pacing_places),
            SendState::Ready => {
                let ready = &mut scheduler.ready[priority as usize];
                ready.retain(|&c| c != connection);
                if ready.is_empty() {
                    scheduler.ready_classes &= !(1 << (DATA + priority));
                }
            }
        }
    }
}

impl Hosts<PacedNic> {
    /// Puts an idle connection that may send into the round robin, or into the pacing heap; returns its pacing time in the
    /// second case.
    #[inline]
    fn schedule_connection<C>(
        &mut self,
        ctx: &Ctx,
        links: &Links<C>,
        connection: ConnectionId,
    ) -> Option<Time> {
        let sender = self.senders[connection.index()].as_deref_mut()?;
        let nic = &mut self.nics[sender.nic as usize];
        let at = sender.earliest_departure(&ctx.net.settings.quirks);
        sender.pacing.next_at = at;
        // A connection whose time comes before the wire is free waits for the wire, not for its time.
        if at <= ctx.now.max(links.ports[nic.port.index()].busy_until) {
            sender.state = SendState::Ready;
            nic.scheduler.make_ready(connection, sender.priority);
            None
        } else {
            sender.state = SendState::Pacing;
            nic.scheduler.pacing.insert(at, connection, &mut self.pacing_places);
            Some(at)
        }
    }

    /// Makes sure that the NIC wakes no later than the last of: `at`, the time when its wire is free, and now.
    #[inline(always)] // runs for every packet
    fn arm<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, nic: NicId, at: Time) {
        let own = &mut self.nics[nic as usize];
        let at = at.max(links.ports[own.port.index()].busy_until).max(ctx.now);
        if at < own.scheduler.wake_at {
            own.scheduler.wake_at = at;
            ctx.schedule(own.host, at, key(kind::NIC_WAKE, nic), 0);
        }
    }

    /// Moves the connections whose pacing time has come into the round robin.
    #[inline(always)] // runs for every packet
    fn release_paced(&mut self, ctx: &Ctx, nic: NicId) {
        let first = self.nics[nic as usize].scheduler.pacing.first();
        if first.is_some_and(|(at, _)| at <= ctx.now) {
            self.release_due(ctx, nic);
        }
    }

    #[inline(never)]
    fn release_due(&mut self, ctx: &Ctx, nic: NicId) {
        let scheduler = &mut self.nics[nic as usize].scheduler;
        while let Some((at, connection)) = scheduler.pacing.first() {
            if at > ctx.now {
                break;
            }
            let Some(sender) = self.senders[connection.index()].as_deref_mut() else { break };
            sender.state = SendState::Ready;
            scheduler.pacing.remove(connection, &mut self.pacing_places);
            scheduler.make_ready(connection, sender.priority);
        }
    }

    /// Sends the next packet of an idle NIC and arms its next wake-up.
    #[inline]
    fn send_next<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let port_id = self.nics[nic as usize].port;
        self.release_paced(ctx, nic);
        let (classes, open) =
            if self.slows { self.open_classes(ctx, links, nic) } else { (ALL_CLASSES, ALL_CLASSES) };
        loop {
            let port = &mut links.ports[port_id.index()];
            let queued = port.sendable() & classes;
            let flows = self.nics[nic as usize].scheduler.ready_classes & !port.paused & open;
            if queued != 0 {
                let class = links.choose(port_id, queued);
                if C::HAS_CREDITS && class >= DATA && !self.queued_may_leave(ctx, links, port_id, class) {
                    continue;
                }
                self.send_queued(ctx, links, port_id, class);
                break;
            }
            if flows == 0 {
                break;
            }
            let class = links.choose(port_id, flows);
            if C::HAS_CREDITS && !self.data_may_leave(ctx, links, nic, class) {
                continue;
            }
            let scheduler = &mut self.nics[nic as usize].scheduler;
            let ready = &mut scheduler.ready[(class - DATA) as usize];
            let Some(connection) = ready.pop_front() else {
                scheduler.ready_classes &= !(1 << class);
                continue;
            };
            if ready.is_empty() {
                scheduler.ready_classes &= !(1 << class);
            }
            if C::QUEUES_FLOWS && self.is_held_back(links, nic, connection, port_id, class) {
                continue;
            }
            if self.send_data(ctx, links, connection, port_id, class) {
                break;
            }
        }
        PacedNic::rearm(self, ctx, links, nic);
    }

    /// The classes of which queued packets may go from a NIC, and those of which connections may, as far as the costs of packets,
    /// throttles and shared reaction points let them.
    #[cold]
    fn open_classes<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
    ) -> (u16, u16) {
        let port = self.nics[nic as usize].port;
        // While a throttle holds back data, control packets may go.
        let held_back = self.throttled_until(ctx, links, port) > ctx.now;
        let classes = if held_back { CONTROL_CLASSES } else { ALL_CLASSES };
        let open = if self.next_packet(nic) > ctx.now { CONTROL_CLASSES } else { classes };
        (classes, if self.sl_reactions.is_none() { open } else { open & self.sl_open(ctx, nic) })
    }

    /// How long the costs of packets, throttles and shared reaction points hold back the `queued` classes of a NIC and those of its `ready`
    /// connections.
    #[cold]
    fn slowed_until<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        queued: u16,
        ready: u16,
    ) -> Time {
        let mut at = ctx.now;
        if queued & CONTROL_CLASSES == 0 {
            at = at.max(self.throttled_until(ctx, links, self.nics[nic as usize].port));
        }
        if queued == 0 {
            at = at.max(self.next_packet(nic));
            if self.sl_reactions.is_some() {
                at = at.max(self.sl_open_at(ctx, nic, ready));
            }
        }
        at
    }

    /// Whether the neighbour holds the flow of a connection back whose turn has come; if so, the connection waits until it may go on.
    fn is_held_back<C: LinkControl>(
        &mut self,
        links: &Links<C>,
        nic: NicId,
        connection: ConnectionId,
        port: PortId,
        class: u8,
    ) -> bool {
        if C::flow_may_go(links, links.queue_id(port, class), connection) {
            return false;
        }
        if let Some(sender) = self.senders[connection.index()].as_deref_mut() {
            sender.state = SendState::Idle;
            self.nics[nic as usize].scheduler.held.insert(connection);
        }
        true
    }

    /// Whether the first packet of a data class's queue has the credits that it needs; if not, the class is stopped.
    fn queued_may_leave<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port: PortId,
        class: u8,
    ) -> bool {
        let id = links.queues[links.place(port, class)].first();
        let (queue, size) = (links.queue_id(port, class), u64::from(ctx.packets[id].size));
        self.may_leave(ctx, links, queue, size)
    }

    /// Whether the connection whose turn it is has the credits for its next packet; if not, the class is stopped. True for
    /// a connection that may no longer send, because `send_data` takes that one out.
    fn data_may_leave<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        class: u8,
    ) -> bool {
        let own = &self.nics[nic as usize];
        let first = own.scheduler.ready[(class - DATA) as usize].front();
        let sender = first.and_then(|&connection| self.senders[connection.index()].as_deref());
        let Some(sender) = sender.filter(|s| s.may_send(ctx.net.wire.min_window)) else { return true };
        let frame = sender.next_segment(&ctx.net.wire).payload + ctx.net.wire.data_overhead;
        let queue = links.queue_id(own.port, class);
        self.may_leave(ctx, links, queue, frame)
    }

    #[inline]
    fn may_leave<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        queue: QueueId,
        size: u64,
    ) -> bool {
        let may_send = C::may_send(links, ctx, queue, size);
        if !may_send && !links.effects.is_empty() {
            self.settle(ctx, links);
        }
        may_send
    }
}
