//! Backpressure Flow Control (BFC) in its authors' first version: Goyal, Shah, Sharma, Alizadeh, Anderson: Backpressure Flow
//! Control, arXiv 1909.09923v1, 2019.
//!
//! A switch gives each flow a queue of its own at the egress port, while there are free ones. A queue is too long if it holds more than
//! its share of what the port sends until a pause takes effect: (HRTT + tau) mu / N_active, for the round-trip time of a link HRTT, the
//! time between two lists tau, the port's rate mu and the N_active queues that may send. A packet that makes its queue too long
//! has its flow held back at the neighbour that the packet came from: a switch there skips a queue whose first packet is of such a flow, a
//! host sends nothing of the flow. Each tau a queue that is short again lets one flow go on.
//!
//! # Readings
//!
//! - The version of NSDI 2022 (Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson) is another mechanism, which is not modelled: it
//!   pauses queues of the neighbour, not flows, at once and not by lists; it counts the packets that came while their queue was
//!   too long, and resumes a queue when they have left, without a limit; and a flow keeps its queue for a while after its last packet.
//! - Lists name flows, in place of a Bloom filter, which also stops a flow by chance; and only changes are told, as symbols that
//!   take no room on the wire. The paper's lists take 128 B each tau.
//! - HRTT is that of the link with the most: two delays, and two full frames, of which one is on the wire when a list comes and
//!   one before the list. tau is half of it. Lists go at multiples of tau.
//! - Queues take turns packet by packet; the paper's are served by deficit round robin.
//! - A flow that finds no free queue gets one by a hash of its number; the paper draws one at random. A virtual flow is a
//!   connection's number modulo `virtual_flows`, in place of a hash of addresses and ports.
//! - A flow that two ports of a switch hold back, since its packets take several paths or connections share it, goes on when both
//!   let it.
//! - A port and priority all of whose queues are held back counts as stopped in records.
//! - BFC does not prevent loss: the paper's switches have PFC beneath it. Here memory is unlimited unless `switch.buffer` says otherwise.

mod queues;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use xoff_engine::Time;

use super::{Accounting, Ctx, Effect, LinkControl, Links, Network, PacketId, PortId, QueueId};
use crate::event::{key, kind};
use crate::ids::ConnectionId;
use crate::settings::{self, FlowControl};
use queues::FlowQueues;

/// The lowest bit of a symbol: the flow is held back, or goes on.
const HOLD: u32 = 1;

/// Periods without a list after which none is expected in a state that comes again.
const LIST_MEMORY: u64 = 100;

/// A switch's egress port and priority.
#[derive(Clone, Default)]
struct Egress {
    waiting: FlowQueues,
    /// Flows that it has held back, each with the ingress queue by which it comes.
    holding: BTreeSet<(QueueId, u32)>,
    /// Those of them that the next list names for the first time.
    news: Vec<(QueueId, u32)>,
    /// The event of the next list is pending.
    armed: bool,
}

/// Backpressure Flow Control.
pub(crate) struct Bfc {
    params: settings::Bfc,
    /// Time between two lists.
    period: Time,
    /// When the last list was scheduled, on the network's clock.
    listed_at: Time,
    /// Time from a queue that is too long to packets that a pause has stopped.
    reaction: Time,
    /// By egress queue.
    egress: Vec<Egress>,
    /// By egress queue: flows that the neighbour holds back.
    paused: Vec<BTreeSet<u32>>,
    /// By ingress queue: flows that the neighbour was told to hold back, and for how many egress queues.
    told: Vec<BTreeMap<u32, u32>>,
}

impl Bfc {
    /// The virtual flow of a packet.
    fn flow(&self, ctx: &Ctx, id: PacketId) -> u32 {
        ctx.net.connections.of(ctx.packets[id].flow).0 % self.params.virtual_flows
    }

    /// The bytes above which a queue of an egress port and priority is too long.
    fn threshold(links: &Links<Self>, egress: QueueId) -> u64 {
        let own = &links.control;
        let active = own.egress[egress.index()].waiting.active(&own.paused[egress.index()]);
        links.ports[egress.port(links.priorities).index()].rate.bytes_in(own.reaction) / active
    }

    /// Lets an egress queue go on that was stopped, if a packet may go.
    fn go_on(links: &mut Links<Self>, ctx: &mut Ctx, egress: QueueId) {
        if links.stops[egress.index()].is_stopped() && Self::first(links, egress).is_some() {
            links.resume(ctx, egress);
        }
    }

    /// Schedules the next list of an egress queue.
    fn arm(links: &mut Links<Self>, ctx: &mut Ctx, egress: QueueId) {
        let period = links.control.period;
        let own = &mut links.control.egress[egress.index()];
        if !std::mem::replace(&mut own.armed, true) {
            let at = ctx.on_network_clock(Time((ctx.simulated().0 / period.0 + 1) * period.0));
            links.control.listed_at = ctx.now;
            let node = links.node_of(egress);
            ctx.schedule(node, at, key(kind::LINK_CONTROL_PERIOD, egress.0), 0);
        }
    }

    /// Tells neighbours which flows of an egress queue to hold back, and which go on.
    fn tell(links: &mut Links<Self>, ctx: &mut Ctx, egress: QueueId) {
        let threshold = Self::threshold(links, egress);
        let own = &mut links.control;
        let resumes = own.params.resumes as usize;
        let state = &mut own.egress[egress.index()];
        state.armed = false;
        let news = std::mem::take(&mut state.news);
        let released = state.waiting.release(threshold, resumes);
        let goes_on = state.waiting.holds();
        for flow in &released {
            state.holding.remove(flow);
        }
        // A flow whose queue was too long and is short again within a period is in no list.
        for &(ingress, flow) in news.iter().filter(|flow| !released.contains(flow)) {
            let holders = links.control.told[ingress.index()].entry(flow).or_default();
            *holders += 1;
            if *holders == 1 {
                links.signal_peer(ctx, ingress, flow << 1 | HOLD, ctx.now, 0);
            }
        }
        for &(ingress, flow) in released.iter().filter(|flow| !news.contains(flow)) {
            let told = &mut links.control.told[ingress.index()];
            let Some(holders) = told.get_mut(&flow) else { continue };
            *holders -= 1;
            if *holders == 0 {
                told.remove(&flow);
                links.signal_peer(ctx, ingress, flow << 1, ctx.now, 0);
            }
        }
        if goes_on {
            Self::arm(links, ctx, egress);
        }
    }
}

impl LinkControl for Bfc {
    const QUEUES_FLOWS: bool = true;

    fn new(net: &Network) -> Self {
        let params = match &net.settings.flow_control {
            FlowControl::Bfc(params) => params.clone(),
            _ => settings::Bfc::default(),
        };
        let topology = &net.topology;
        let (priorities, frame) = (usize::from(net.settings.switch.priorities), net.wire.largest());
        let around = |port: PortId| {
            topology.delay(port) + topology.delay(port.peer()) + topology.rate(port).serialization(2 * frame)
        };
        let hop = topology.port_ids().map(around).max().unwrap_or(Time(2));
        let period = params.period.unwrap_or(Time(hop.0 / 2)).max(Time(1));
        let queues = topology.ports() as usize * priorities;
        Bfc {
            params,
            period,
            listed_at: Time::ZERO,
            reaction: hop + period,
            egress: vec![Egress::default(); queues],
            paused: vec![BTreeSet::new(); queues],
            told: vec![BTreeMap::new(); queues],
        }
    }

    fn push(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        egress: QueueId,
        ingress: QueueId,
        id: PacketId,
        size: u64,
    ) {
        let own = &mut links.control;
        let flow = own.flow(ctx, id);
        let count = own.params.queues as usize;
        let bytes = own.egress[egress.index()].waiting.push(count, flow, id, size);
        let is_long = bytes > Self::threshold(links, egress);
        let state = &mut links.control.egress[egress.index()];
        if is_long && state.holding.insert((ingress, flow)) {
            state.waiting.hold(ingress, flow);
            state.news.push((ingress, flow));
            Self::arm(links, ctx, egress);
        }
        Self::go_on(links, ctx, egress);
    }

    fn first(links: &Links<Self>, egress: QueueId) -> Option<PacketId> {
        let own = &links.control;
        own.egress[egress.index()].waiting.first(&own.paused[egress.index()])
    }

    fn take(links: &mut Links<Self>, egress: QueueId) {
        let own = &mut links.control;
        own.egress[egress.index()].waiting.take(&own.paused[egress.index()]);
    }

    fn waiting(links: &Links<Self>, egress: QueueId) -> Vec<PacketId> {
        links.control.egress[egress.index()].waiting.packets().collect()
    }

    fn hash_state(links: &Links<Self>, now: Time, hasher: &mut impl Hasher) {
        let Bfc { egress, paused, told, period, listed_at, .. } = &links.control;
        for (place, state) in egress.iter().enumerate() {
            if !state.waiting.is_empty() || !state.holding.is_empty() || state.armed {
                state.waiting.hash_order(hasher);
                (place, &state.holding, &state.news, state.armed).hash(hasher);
            }
        }
        for (place, (paused, told)) in paused.iter().zip(told).enumerate() {
            if !paused.is_empty() || !told.is_empty() {
                (place, paused, told).hash(hasher);
            }
        }
        // Lists go at multiples of their period, which matters as long as lists go now and then.
        if now.saturating_sub(*listed_at) < *period * LIST_MEMORY {
            (now.0 % period.0).hash(hasher);
        }
    }

    fn flow_may_go(links: &Links<Self>, egress: QueueId, connection: ConnectionId) -> bool {
        let own = &links.control;
        !own.paused[egress.index()].contains(&(connection.0 % own.params.virtual_flows))
    }

    fn on_event(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        _: &mut Accounting,
        event: u32,
        index: u32,
        arg: u32,
    ) {
        let queue = QueueId(index);
        if event == kind::LINK_CONTROL_PERIOD {
            return Self::tell(links, ctx, queue);
        }
        let (flow, paused) = (arg >> 1, &mut links.control.paused[queue.index()]);
        if arg & HOLD != 0 {
            paused.insert(flow);
            return;
        }
        paused.remove(&flow);
        Self::go_on(links, ctx, queue);
        links.effects.push(Effect::FlowResumed(queue.port(links.priorities)));
    }
}
