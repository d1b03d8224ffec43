//! Host NICs of the simulator of HPCC's authors (`quirks.nic = "ns3"`), for comparison with it.
//!
//! One list holds all flows of a host in the order of their starts; the NIC searches it in turn. When no flow may send,
//! a timer is set to the minimum pacing time of the flows with data left, whether their window lets them send or not; if
//! that time is past, no timer is set and the NIC waits for an ACK, a RESUME or a new flow. Only a change of rate moves
//! a timer that is set, and only to an earlier time.

use xoff_engine::Time;
use xoff_schemes::ReactionPoint;

use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::host::Hosts;
use crate::host::nic::{NicId, NicScheduler};
use crate::host::sender::Sender;
use crate::ids::ConnectionId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{DATA, PacketId};
use crate::settings::PacingGap;

/// The state of an ns-3 NIC.
#[derive(Default)]
pub(crate) struct Ns3Nic {
    /// Flows of the host; completed flows are removed when the search for the next packet passes them.
    flows: Vec<ConnectionId>,
    /// Place of the flow that sent last.
    last: usize,
    /// The timer, if one is set.
    wake_at: Option<Time>,
    /// Timers set so far: only the event of the last one counts.
    wakes: u32,
}

impl NicScheduler for Ns3Nic {
    const DONE_AFTER_REACTION: bool = true;
    type Shared = ();

    fn shared(_net: &Network) {}

    fn new(_priorities: usize) -> Self {
        Ns3Nic::default()
    }

    /// Flows of the host, including some that have completed.
    fn waiting(&self) -> Vec<ConnectionId> {
        self.flows.clone()
    }

    fn turns(&self, _now: Time) -> Vec<u64> {
        let flows = self.flows.iter().map(|connection| connection.0.into());
        if self.flows.is_empty() { Vec::new() } else { flows.chain([self.last as u64]).collect() }
    }

    fn on_start<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(nic) = hosts.senders[connection.index()].as_deref().map(|sender| sender.nic) else {
            return;
        };
        let flows = &mut hosts.nics[nic as usize].scheduler.flows;
        if !flows.contains(&connection) {
            flows.push(connection);
        }
        Self::kick(hosts, ctx, links, nic);
    }

    /// Does nothing: this NIC sees a change only when it next searches its flows.
    #[inline(always)]
    fn on_change<C: LinkControl>(_: &mut Hosts<Self>, _: &mut Ctx, _: &mut Links<C>, _: ConnectionId) {}

    /// Runs a due timer first: ns-3 handles simultaneous events in the order of scheduling, and the reaction point's timer
    /// was scheduled before the end of the last transmission.
    #[inline]
    fn before_emission(sender: &mut Sender, now: Time) {
        if sender.reaction.next_timer() <= now {
            sender.reaction.on_timer(now);
        }
    }

    /// A flow's first ACK sets no rate yet, the last ACK still sets the rate, and every ACK lets the NIC look for a packet
    /// to send.
    fn on_acked<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        id: PacketId,
        first: bool,
        done: bool,
    ) {
        let Some(sender) = hosts.senders[connection.index()].as_deref() else { return };
        let nic = sender.nic;
        if !first && ctx.net.settings.quirks.gap == PacingGap::RateInForce {
            hosts.ns3_repace(ctx, links, connection);
        }
        if done {
            hosts.connection_done(ctx, links, connection, id);
        } else {
            ctx.packets.remove(id);
            hosts.sync_reaction(ctx, links, connection);
        }
        Self::kick(hosts, ctx, links, nic);
    }

    fn after_feedback<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
    ) {
        Self::kick(hosts, ctx, links, nic);
    }

    /// Sends the next packet of an idle NIC, or sets its timer.
    fn kick<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let port_id = hosts.nics[nic as usize].port;
        let port = &mut links.ports[port_id.index()];
        if !port.is_idle(ctx.now) {
            return;
        }
        let (queued, paused) = (port.sendable(), port.paused);
        if queued != 0 {
            let class = port.choose(queued, links.strict);
            return hosts.send_queued(ctx, links, port_id, class);
        }
        let Some((place, connection)) = hosts.ns3_next(ctx, nic, paused) else {
            return hosts.ns3_wait(ctx, nic);
        };
        hosts.nics[nic as usize].scheduler.last = place;
        let Some(sender) = hosts.senders[connection.index()].as_deref() else { return };
        let class = DATA + sender.priority;
        hosts.emit(ctx, links, connection, port_id, class);
        if let Some(sender) = hosts.senders[connection.index()].as_deref_mut() {
            sender.pacing.next_at = sender.earliest_departure(&ctx.net.settings.quirks);
        }
        if ctx.probes.on_flows {
            hosts.on_held(ctx, links, connection);
        }
    }

    /// The NIC's timer has run out.
    fn wake<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        number: u32,
    ) {
        let scheduler = &mut hosts.nics[nic as usize].scheduler;
        if scheduler.wake_at.is_some() && scheduler.wakes == number {
            scheduler.wake_at = None;
            Self::kick(hosts, ctx, links, nic);
        }
    }
}

impl Hosts<Ns3Nic> {
    /// A flow's rate was set, possibly to the same value.
    fn ns3_repace<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, connection: ConnectionId) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let next_at = sender.earliest_departure(&ctx.net.settings.quirks);
        sender.pacing.next_at = next_at;
        let nic = sender.nic;
        if ctx.probes.on_flows {
            self.on_held(ctx, links, connection);
        }
        if self.nics[nic as usize].scheduler.wake_at.is_some_and(|wake| next_at < wake) {
            let at = next_at.max(ctx.now);
            self.ns3_set_timer(ctx, nic, at);
        }
    }

    fn ns3_set_timer(&mut self, ctx: &mut Ctx, nic: NicId, at: Time) {
        let own = &mut self.nics[nic as usize];
        own.scheduler.wake_at = Some(at);
        own.scheduler.wakes = own.scheduler.wakes.wrapping_add(1);
        ctx.schedule(own.host, at, key(kind::NIC_WAKE, nic), own.scheduler.wakes);
    }

    /// The flow whose turn it is, with its place. If the search passes completed flows, this removes them, and all completed
    /// flows behind the first of them in the list.
    fn ns3_next(&mut self, ctx: &Ctx, nic: NicId, paused: u16) -> Option<(usize, ConnectionId)> {
        let scheduler = &mut self.nics[nic as usize].scheduler;
        let count = scheduler.flows.len();
        let (mut found, mut first_done) = (None, None::<usize>);
        for turn in 1..=count {
            let place = (turn + scheduler.last) % count;
            let connection = scheduler.flows[place];
            match self.senders[connection.index()].as_deref() {
                None => first_done = Some(first_done.map_or(place, |p| p.min(place))),
                Some(sender) => {
                    let may = paused & 1 << (DATA + sender.priority) == 0
                        && sender.may_send(ctx.net.wire.min_window);
                    if may && sender.pacing.next_at <= ctx.now {
                        found = Some((place, connection));
                        break;
                    }
                }
            }
        }
        if let Some(first) = first_done {
            let senders = &self.senders;
            let mut place = 0;
            scheduler.flows.retain(|&connection| {
                place += 1;
                place <= first || senders[connection.index()].is_some()
            });
            let flows = &scheduler.flows;
            found = found.and_then(|(_, found)| Some((flows.iter().position(|&c| c == found)?, found)));
        }
        found
    }

    /// Nothing may be sent now: sets the timer, unless one is set.
    fn ns3_wait(&mut self, ctx: &mut Ctx, nic: NicId) {
        let scheduler = &self.nics[nic as usize].scheduler;
        let open = scheduler.flows.iter().filter_map(|&c| self.senders[c.index()].as_deref());
        let min = open.filter(|s| s.stream.snd_nxt < s.message.end).map(|s| s.pacing.next_at).min();
        if let Some(at) = min
            && scheduler.wake_at.is_none()
            && at > ctx.now
        {
            self.ns3_set_timer(ctx, nic, at);
        }
    }
}
