//! Hosts whose link is down, whose NIC babbles PAUSE, or whose receiver has stopped or is slow.
//!
//! A host keeps what it has to send while its link is down. A receiver that has stopped keeps what arrives, and a slow one takes it
//! packet by packet at its rate, as over PCIe: each when its last bit has come that way. A NIC with more than its buffer's bytes of
//! a priority sends PAUSE, or gives no credits back, or drops what comes if there is no flow control. Once the receiver goes on, it
//! takes what its NICs keep at twice the rate of their links.

use std::collections::{BTreeMap, VecDeque};

use xoff_engine::{Rate, Time};

use super::Hosts;
use super::nic::NicScheduler;
use super::receiver::Receiver;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::fault::{Broken, Cause};
use crate::ids::{ConnectionId, NodeId, PortId, QueueId};
use crate::link::Links;
use crate::link::buffer::quanta_time;
use crate::link::flow_control::LinkControl;
use crate::packet::{DATA, Packet, PacketId};
use crate::settings::FlowControl;

/// Pause time of a frame of a babbling NIC, in quanta.
const QUANTA: u16 = u16::MAX;

/// The argument of an event that repeats a PAUSE; the argument of a step's own event is 0.
const REPEAT: u32 = 1;

/// The argument of an event with which a host takes what the NIC of port 0 holds; those of the other ports follow.
pub(crate) const TAKE: u32 = 2;

/// What the NIC of a stopped host keeps.
#[derive(Default)]
struct Held {
    packets: VecDeque<PacketId>,
    /// By data priority.
    bytes: [u64; 8],
    /// Data priorities that the NIC has paused, one bit each.
    paused: u8,
    /// The event is pending with which the host takes the next packet.
    drains: bool,
}

/// A host that takes no data, or takes it slowly.
struct Stopped {
    fault: u32,
    /// The index of the event by which the host repeats its PAUSE.
    index: u32,
    buffer: u64,
    repeats: bool,
    /// The index of the event by which the host takes a packet that it holds, while it is slow and once it goes on.
    goes_on: Option<u32>,
    /// The rate at which it takes them while it is slow.
    rate: Option<Rate>,
    /// Receivers, which see nothing of what is held.
    receivers: BTreeMap<ConnectionId, Box<Receiver>>,
    /// By port.
    held: BTreeMap<PortId, Held>,
}

impl Stopped {
    /// Ports whose NICs take nothing now.
    fn idle_ports(&self) -> Vec<PortId> {
        self.held.iter().filter(|(_, held)| !held.drains).map(|(&port, _)| port).collect()
    }

    /// Schedules when a slow host has taken the first packet that a NIC holds, if it holds one.
    fn schedule_take<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) {
        let (Some(index), Some(rate), Some(held)) = (self.goes_on, self.rate, self.held.get_mut(&port))
        else {
            return;
        };
        let Some(&first) = held.packets.front() else { return };
        held.drains = true;
        let at = ctx.now + rate.serialization(u64::from(ctx.packets[first].size)).max(Time(1));
        let host = links.ports[port.index()].node;
        ctx.schedule(host, at, key(kind::FLOW_STOP, index), port.0 + TAKE);
    }
}

/// Hosts that take no data, or take it slowly.
#[derive(Default)]
pub(super) struct StoppedHosts {
    all: BTreeMap<NodeId, Stopped>,
    /// A stopped host takes a packet that it has held.
    takes: bool,
}

impl StoppedHosts {
    /// Whether a host takes no data now.
    pub fn has(&self, host: NodeId) -> bool {
        !self.takes && self.all.contains_key(&host)
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// The link of a port goes down.
    pub fn link_down<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        links.take_down(ctx, port);
        self.settle(ctx, links);
    }

    /// The link of a port comes up.
    pub fn link_up<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        links.bring_up(port);
        let nic = self.nic_of(links, port);
        N::kick(self, ctx, links, nic);
    }

    /// Sends a PAUSE or RESUME of some data priorities.
    fn send_pfc<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port: PortId,
        priorities: u8,
        quanta: u16,
    ) {
        if links.ports[port.index()].is_dead() {
            return;
        }
        let nic = self.nic_of(links, port);
        for priority in (0..links.priorities as u8).filter(|priority| priorities & (1 << priority) != 0) {
            let id = ctx.packets.insert(Packet::pfc(port, priority, quanta, ctx.net.wire.pfc, ctx.now));
            self.enqueue(ctx, links, nic, id);
        }
    }

    /// Half of a PAUSE's time at a port, after which it is repeated.
    fn half_pause(ctx: &Ctx, port: PortId) -> Time {
        quanta_time(u64::from(QUANTA), ctx.net.topology.rate(port.peer())) / 2
    }

    /// The NIC of a fault babbles: sends PAUSE, and again at half its time; at the end of the fault a RESUME.
    pub fn storm<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, index: u32, fault: u32) {
        let net = ctx.net.clone();
        let Some(fault) = net.faults.as_ref().and_then(|plan| plan.faults().get(fault as usize)) else {
            return;
        };
        let Broken::PauseStorm { port, priorities } = fault.what else { return };
        if ctx.simulated() >= fault.until {
            return self.send_pfc(ctx, links, port, priorities, 0);
        }
        self.send_pfc(ctx, links, port, priorities, QUANTA);
        let next = (ctx.now + Self::half_pause(ctx, port)).min(ctx.on_network_clock(fault.until));
        ctx.schedule(links.ports[port.index()].node, next, key(kind::FLOW_STOP, index), REPEAT);
    }

    /// A host stops to take data, or takes it slowly.
    pub fn stop_receiver<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, index: u32, fault: u32) {
        let Some(plan) = &ctx.net.faults else { return };
        let Broken::Receiver { host, buffer, rate } = plan.faults()[fault as usize].what else { return };
        let goes_on = rate.map(|_| index);
        if let Some(stopped) = self.stopped.all.get_mut(&host) {
            // The host has not yet taken all that it has held.
            (stopped.fault, stopped.buffer) = (fault, buffer);
            (stopped.goes_on, stopped.rate) = (goes_on, rate);
            for port in stopped.idle_ports() {
                stopped.schedule_take(ctx, links, port);
            }
            return;
        }
        let mut receivers = BTreeMap::new();
        for connection in ConnectionId::all(self.receivers.len()) {
            if ctx.net.ends(connection).dst == host
                && let Some(receiver) = self.receivers[connection.index()].take()
            {
                receivers.insert(connection, receiver);
            }
        }
        self.holds = true;
        let (held, repeats) = (BTreeMap::new(), false);
        let stopped = Stopped { fault, index, buffer, repeats, goes_on, rate, receivers, held };
        self.stopped.all.insert(host, stopped);
    }

    /// A host takes data again: first what its NICs hold, in order.
    pub fn start_receiver<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        index: u32,
        host: NodeId,
    ) {
        let Some(stopped) = self.stopped.all.get_mut(&host) else { return };
        (stopped.goes_on, stopped.rate) = (Some(index), None);
        for port in stopped.idle_ports() {
            self.take_held(ctx, links, port);
        }
        self.end_stop(ctx, host);
    }

    /// A host takes the first packet that a NIC holds, and schedules the next one.
    pub fn take_held<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        let host = links.ports[port.index()].node;
        let Some(stopped) = self.stopped.all.get_mut(&host) else { return };
        let (goes_on, buffer, is_slow) = (stopped.goes_on, stopped.buffer, stopped.rate.is_some());
        let Some(held) = stopped.held.get_mut(&port) else { return };
        held.drains = false;
        let Some(index) = goes_on else { return };
        let Some(id) = held.packets.pop_front() else { return self.end_stop(ctx, host) };
        let packet = ctx.packets[id];
        let (size, priority) = (u64::from(packet.size), packet.class - DATA);
        let bytes = &mut held.bytes[usize::from(priority)];
        *bytes -= size;
        let resumes = *bytes <= buffer / 2 && held.paused & (1 << priority) != 0;
        if resumes {
            held.paused &= !(1 << priority);
        }
        if is_slow {
            stopped.schedule_take(ctx, links, port);
        } else {
            held.drains = true;
            let next = ctx.now + (links.ports[port.index()].serialization(size) / 2).max(Time(1));
            ctx.schedule(host, next, key(kind::FLOW_STOP, index), port.0 + TAKE);
        }
        if resumes {
            self.send_pfc(ctx, links, port, 1 << priority, 0);
        }
        let connection = ctx.net.connections.of(packet.flow);
        if let Some(stopped) = self.stopped.all.get_mut(&host) {
            self.receivers[connection.index()] = stopped.receivers.remove(&connection);
        }
        self.stopped.takes = true;
        self.arrival(ctx, links, port, id);
        ctx.counters.packet_hops -= 1; // counted when the packet came
        self.stopped.takes = false;
        if let Some(stopped) = self.stopped.all.get_mut(&host)
            && let Some(receiver) = self.receivers[connection.index()].take()
        {
            stopped.receivers.insert(connection, receiver);
        }
    }

    /// Ends the stop of a host that goes on and holds nothing any more.
    fn end_stop(&mut self, ctx: &mut Ctx, host: NodeId) {
        let Some(stopped) = self.stopped.all.get(&host) else { return };
        let is_empty = stopped.held.values().all(|held| held.packets.is_empty() && !held.drains);
        if stopped.goes_on.is_some()
            && stopped.rate.is_none()
            && is_empty
            && let Some(stopped) = self.stopped.all.remove(&host)
        {
            self.holds = !self.stopped.all.is_empty();
            self.restore_receivers(ctx, stopped.receivers, host);
        }
    }

    /// Gives a host its receivers back, with their timers.
    fn restore_receivers(
        &mut self,
        ctx: &mut Ctx,
        receivers: BTreeMap<ConnectionId, Box<Receiver>>,
        host: NodeId,
    ) {
        for (connection, mut receiver) in receivers {
            // Its events have found no receiver meanwhile.
            receiver.forget_timer();
            if receiver.has_timer() {
                let at = receiver.set_timer(ctx);
                ctx.schedule(host, at, key(kind::NOTIFICATION_TIMER, connection.0), 0);
            }
            self.receivers[connection.index()] = Some(receiver);
        }
    }

    /// The run has ended: receivers of stopped hosts count as the others do.
    pub(super) fn end_stops(&mut self) {
        for stopped in self.stopped.all.values_mut() {
            for (connection, receiver) in std::mem::take(&mut stopped.receivers) {
                self.receivers[connection.index()] = Some(receiver);
            }
        }
    }

    /// A data packet has come to a host that takes none, or is slow.
    #[cold]
    pub(super) fn hold<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port: PortId,
        id: PacketId,
    ) {
        let host = links.ports[port.index()].node;
        let Some(stopped) = self.stopped.all.get_mut(&host) else { return };
        let (size, priority) = (u64::from(ctx.packets[id].size), ctx.packets[id].class - DATA);
        let held = stopped.held.entry(port).or_default();
        let bytes = &mut held.bytes[usize::from(priority)];
        let is_full = *bytes + size > stopped.buffer;
        if is_full && ctx.net.settings.flow_control == FlowControl::None {
            let fault = Some(stopped.fault);
            return ctx.lose((port, port), id, Cause::Receiver, fault);
        }
        *bytes += size;
        held.packets.push_back(id);
        let is_new = is_full && held.paused & (1 << priority) == 0;
        if stopped.goes_on.is_some() && !held.drains {
            if stopped.rate.is_none() {
                return self.take_held(ctx, links, port);
            }
            stopped.schedule_take(ctx, links, port);
        }
        if !is_new || !matches!(ctx.net.settings.flow_control, FlowControl::Pfc(_)) {
            return;
        }
        let Some(held) = stopped.held.get_mut(&port) else { return };
        held.paused |= 1 << priority;
        let (index, repeats) = (stopped.index, std::mem::replace(&mut stopped.repeats, true));
        self.send_pfc(ctx, links, port, 1 << priority, QUANTA);
        if !repeats {
            let next = ctx.now + Self::half_pause(ctx, port);
            ctx.schedule(host, next, key(kind::FLOW_STOP, index), REPEAT);
        }
    }

    /// Repeats the PAUSE of a stopped host.
    pub fn repeat_pauses<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        index: u32,
        host: NodeId,
    ) {
        let Some(stopped) = self.stopped.all.get_mut(&host).filter(|stopped| stopped.index == index) else {
            return;
        };
        let paused: Vec<_> = stopped.held.iter().map(|(&port, held)| (port, held.paused)).collect();
        if paused.iter().all(|&(_, paused)| paused == 0) {
            stopped.repeats = false;
            return;
        }
        let Some(next) = paused.iter().map(|&(port, _)| Self::half_pause(ctx, port)).min() else { return };
        for (port, paused) in paused {
            self.send_pfc(ctx, links, port, paused, QUANTA);
        }
        ctx.schedule(host, ctx.now + next, key(kind::FLOW_STOP, index), REPEAT);
    }

    /// Number of data packets that stopped hosts hold.
    pub fn held_packets(&self) -> u64 {
        let held = self.stopped.all.values().flat_map(|stopped| stopped.held.values());
        held.map(|held| held.packets.len() as u64).sum()
    }

    /// Whether data that has come by an ingress `queue` keeps its credits, since the host has stopped.
    #[cold]
    pub(super) fn keeps_credits<C>(&self, links: &Links<C>, queue: QueueId) -> bool {
        self.stopped.has(links.node_of(queue))
    }
}
