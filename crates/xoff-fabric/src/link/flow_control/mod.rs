//! Flow control between the two ends of a link, behind one seam.
//!
//! [`LinkControl`] defines a flow control: whether a packet may go, what a packet takes at the receiving end and
//! gives back, the frames that the two ends exchange, and events of its own. Each kind is a file: [`none`], [`pfc`],
//! [`cbfc`], [`ue_cbfc`], [`bfc`], [`link_credit`]; the list of them is in `settings/flow_control/mod.rs`. [`crate::run`] chooses a run's
//! kind by the settings; the kind is compiled into the run's loop, so that there is no dispatch for each packet.
//!
//! An egress queue whose next packet may not go is *stopped* ([`Links::stop`]) until the packet may go
//! ([`Links::resume`]): for detectors and records, a stall for lack of credits is the same as a pause.

pub mod bfc;
pub mod cbfc;
pub mod counters;
pub(crate) mod credits;
mod flits;
pub mod link_credit;
pub mod none;
pub mod pfc;
mod returning;
pub mod sizing;
#[cfg(test)]
pub mod stop_and_go;
pub mod ue_cbfc;

use std::hash::Hasher;

use xoff_engine::Time;

use super::buffer::{Accounting, Overflow};
use super::{Effect, Links};
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{Packet, PacketId};
use credits::Credits;

/// Flow control between the two ends of every link.
///
/// Handlers are associated functions on [`Links`], since flow control needs the ports' state beside its own, which is
/// [`Links::control`]. What the node that owns a port must do is pushed to [`Links::effects`].
///
/// A flow control of its own defines [`LinkControl::new`] and [`LinkControl::on_event`]; what is not defined lets packets go
/// and counts them at the switch's memory and, with [`LinkControl::credits`], in the counters of credits.
pub(crate) trait LinkControl: Sized + Send + 'static {
    /// A packet goes only if its neighbour has room for it: senders ask [`LinkControl::may_send`], and every packet is
    /// counted in and out of its switch.
    const HAS_CREDITS: bool = false;

    /// Flow control holds single flows back: the egress ports of switches have queues by flow, which flow control keeps, in place
    /// of one for each data class. The five functions that follow are called only then.
    const QUEUES_FLOWS: bool = false;

    /// A packet of `size` bytes that came by an ingress queue joins the queues of an egress port and priority.
    fn push(
        _links: &mut Links<Self>,
        _ctx: &mut Ctx,
        _egress: QueueId,
        _ingress: QueueId,
        _id: PacketId,
        _size: u64,
    ) {
    }

    /// The packet whose turn it is at an egress port and priority; `None` if all that wait are held back.
    fn first(_links: &Links<Self>, _egress: QueueId) -> Option<PacketId> {
        None
    }

    /// Takes that packet.
    fn take(_links: &mut Links<Self>, _egress: QueueId) {}

    /// The packets that wait for an egress port and priority.
    fn waiting(_links: &Links<Self>, _egress: QueueId) -> Vec<PacketId> {
        Vec::new()
    }

    /// Whether the neighbour lets a host send packets of a connection by an egress port and priority.
    fn flow_may_go(_links: &Links<Self>, _egress: QueueId, _connection: ConnectionId) -> bool {
        true
    }

    /// The state at the beginning of a run.
    fn new(net: &Network) -> Self;

    /// The counters of credits; `None` if flow control has no credits.
    #[inline(always)]
    fn credits(&self) -> Option<&Credits> {
        None
    }

    /// Tells apart the states of flow control that go on in different ways from `now` on, wherever they are in time, but for pending events
    /// and what is on wires.
    fn hash_state(links: &Links<Self>, _now: Time, hasher: &mut impl Hasher) {
        if let Some(credits) = links.control.credits() {
            credits.hash_used(hasher);
        }
    }

    /// What a pending event of flow control does, as a number that is the same wherever the network is in time: by its kind, its index and its
    /// argument. `None` if it does nothing of which [`LinkControl::hash_state`] does not tell.
    fn describe(_links: &Links<Self>, _kind: u32, _index: u32, arg: u32) -> Option<u64> {
        Some(arg.into())
    }

    /// What an update of credits on its wire says, as a number that is the same wherever the network is in time.
    fn describe_update(_links: &Links<Self>, _update: &Packet) -> u64 {
        0
    }

    /// Shows the credits on their way that are no events: the egress queue to which they come, when, and how many.
    fn visit_returning(_links: &Links<Self>, _visit: impl FnMut(QueueId, Time, u32)) {}

    /// See [`LinkControl::credits`].
    #[inline(always)]
    fn credits_mut(&mut self) -> Option<&mut Credits> {
        None
    }

    /// Schedules the first events of `ports`, which are the partition's own.
    fn begin(_links: &mut Links<Self>, _ctx: &mut Ctx, _ports: &[PortId]) {}

    /// The time of the first event that flow control keeps outside [`Ctx::events`]; [`Time::NEVER`] if there is none.
    fn earliest(_links: &Links<Self>) -> Time {
        Time::NEVER
    }

    /// A window with all events before `limit` ends: handles those events that flow control keeps outside [`Ctx::events`], or leaves those of
    /// which nobody will have noticed anything to a later window, if they may be handled `late`.
    fn end_window(_links: &mut Links<Self>, _ctx: &mut Ctx, _limit: Time, _late: bool) {}

    /// The last window was over: handles all events that were left to a later one.
    fn end_late(_links: &mut Links<Self>, _ctx: &mut Ctx) {}

    /// Whether a packet of `size` bytes that has arrived by an ingress `queue` may go on by the `egress` queue at once, with
    /// `leaving` bytes; if so, it is counted in, and [`LinkControl::on_left`] counts it out. Called only if
    /// [`LinkControl::HAS_CREDITS`].
    fn passes(
        _links: &mut Links<Self>,
        _ctx: &mut Ctx,
        _queue: QueueId,
        _egress: QueueId,
        _size: u64,
        _leaving: u64,
    ) -> bool {
        true
    }

    /// Charges a packet of `size` bytes that has arrived at a switch to its ingress `queue`.
    ///
    /// # Errors
    /// [`Overflow`] if there is no room for the packet.
    #[inline(always)]
    fn admit(
        links: &mut Links<Self>,
        _ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow> {
        accounting.charge(queue, size)?;
        if let Some(credits) = links.control.credits_mut() {
            credits.receive(queue, size);
        }
        Ok(())
    }

    /// A packet of `size` bytes that came in by an ingress `queue` is about to leave its switch.
    #[inline(always)]
    fn release(
        _links: &mut Links<Self>,
        _ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) {
        accounting.release(queue, size);
    }

    /// A packet of `size` bytes that arrived by an ingress `queue` has begun on the wire of `egress`; its last bit leaves
    /// when the wire becomes free.
    fn on_left(_links: &mut Links<Self>, _ctx: &mut Ctx, _egress: PortId, _queue: QueueId, _size: u64) {}

    /// A packet of a data class has come to a host, which takes it out of the ingress `queue` at once.
    fn on_consumed(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) {}

    /// Whether a packet of `size` bytes may go by an egress `queue`; if not, the queue is stopped until it may.
    fn may_send(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) -> bool {
        true
    }

    /// A packet of `size` bytes goes onto the wire from an egress `queue`; only if [`LinkControl::HAS_CREDITS`].
    #[inline(always)]
    fn on_sent(links: &mut Links<Self>, _ctx: &mut Ctx, queue: QueueId, size: u64) {
        if let Some(credits) = links.control.credits_mut() {
            credits.spend(queue, size);
        }
    }

    /// A frame of flow control has come in by `port`, whose egress it concerns. The frame ends here.
    fn on_frame(_links: &mut Links<Self>, ctx: &mut Ctx, _port: PortId, id: PacketId) {
        ctx.packets.remove(id);
    }

    /// A frame of flow control is about to go onto the wire of `port`.
    fn on_frame_sent(_links: &mut Links<Self>, _ctx: &mut Ctx, _port: PortId, _id: PacketId) {}

    /// A packet of `size` bytes that has gone onto the wire from an egress `queue` is lost there: its credits come back at once.
    fn on_lost(links: &mut Links<Self>, queue: QueueId, size: u64) {
        if let Some(credits) = links.control.credits_mut() {
            credits.unspend(queue, size);
        }
    }

    /// A packet of `size` bytes that was admitted from an ingress `queue` is dropped and leaves its switch by no port. The
    /// switch has released its memory.
    fn on_dropped(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) {}

    /// A frame of flow control that waited for the wire of `port` is dropped.
    fn on_frame_dropped(_links: &mut Links<Self>, _ctx: &mut Ctx, _port: PortId, _id: PacketId) {}

    /// The link of an own `port` goes down. Credits need nothing: those of lost packets are back, and those that come back
    /// meanwhile count, as the initialisation of the link would say.
    fn on_link_down(_links: &mut Links<Self>, _ctx: &mut Ctx, _port: PortId) {}

    /// The link of an own `port` is up again; `accounting` is that of the partition's switches.
    fn on_link_up(_links: &mut Links<Self>, _ctx: &mut Ctx, _accounting: &mut Accounting, _port: PortId) {}

    /// An event of flow control: one of the kinds `LINK_CONTROL_APPLY`, `LINK_CONTROL_EXPIRY` and `LINK_CONTROL_PERIOD`
    /// of [`crate::event`], with the index and argument that it was scheduled with.
    fn on_event(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        kind: u32,
        index: u32,
        arg: u32,
    );

    /// Credits that an egress `port` uses at a time, as far as its node knows; `None` if flow control has no credits. The time is
    /// that of the port's last change or later.
    fn used_credits(links: &Links<Self>, port: PortId, _at: Time) -> Option<u64> {
        links.control.credits().map(|credits| credits.used(port, links.priorities))
    }

    /// A packet of `size` bytes has just begun on the wire of a `port` whose used credits are followed.
    fn on_followed_departure(_links: &mut Links<Self>, _ctx: &Ctx, _port: PortId, _size: u64) {}

    /// When the used credits of a `port` change next by themselves, after a time: by flits that leave and credits that come
    /// back. `None` if they do not.
    fn next_credit_change(_links: &Links<Self>, _port: PortId, _after: Time) -> Option<Time> {
        None
    }

    /// The fewest and the most used credits of a `port` from a time on, if they change only by themselves; `None` if they do
    /// not change.
    fn credit_bounds(_links: &Links<Self>, _port: PortId, _from: Time) -> Option<(u64, u64)> {
        None
    }

    /// Whether the other end, with `there` and its `accounting`, has no room for what a stopped egress `queue` waits to
    /// send, so that only a departure at the other end after `now` lets the queue go on.
    fn is_blocked(
        here: &Links<Self>,
        there: &Links<Self>,
        _accounting: &Accounting,
        queue: QueueId,
        _now: Time,
    ) -> bool {
        let ends = here.control.credits().zip(there.control.credits());
        ends.is_some_and(|(here_credits, there)| !here_credits.would_fit(queue, there, here.priorities))
    }

    /// Both ends' counters of an egress `queue`, the other end being `there`; `None` if flow control has no credits.
    fn counters<'a>(
        here: &'a Links<Self>,
        there: &'a Links<Self>,
        queue: QueueId,
    ) -> Option<(&'a counters::SendingEnd, &'a counters::ReceivingEnd)> {
        let other = queue.other_end(here.priorities).index();
        let (here, there) = here.control.credits().zip(there.control.credits())?;
        Some((&here.sending[queue.index()], &there.receiving[other]))
    }
}
