//! Flow control between the two ends of a link, behind one seam.
//!
//! [`LinkControl`] defines a flow control: whether a packet may go, what a packet takes at the receiving end and
//! gives back, the frames that the two ends exchange, and events of its own. Each kind is a file: [`none`], [`pfc`],
//! [`cbfc`], [`link_credit`]; the list of them is in `settings/flow_control/mod.rs`. [`crate::run`] chooses a run's
//! kind by the settings; the kind is compiled into the run's loop, so that there is no dispatch for each packet.
//!
//! An egress queue whose next packet may not go is *stopped* ([`Links::stop`]) until the packet may go
//! ([`Links::resume`]): for detectors and records, a stall for lack of credits is the same as a pause.

pub mod cbfc;
pub mod counters;
pub(crate) mod credits;
pub mod link_credit;
pub mod none;
pub mod pfc;
mod returning;
pub mod sizing;
#[cfg(test)]
pub mod stop_and_go;

use xoff_engine::Time;

use super::buffer::{Accounting, Overflow};
use super::{Effect, Links};
use crate::ctx::Ctx;
use crate::ids::{PortId, QueueId};
use crate::network::Network;
use crate::packet::PacketId;

/// Flow control between the two ends of every link.
///
/// Handlers are associated functions on [`Links`], since flow control needs the ports' state beside its own, which is
/// [`Links::control`]. What the node that owns a port must do is pushed to [`Links::effects`].
pub(crate) trait LinkControl: Sized + Send + 'static {
    /// A packet goes only if its neighbour has room for it: senders ask [`LinkControl::may_send`], and every packet is
    /// counted in and out of its switch.
    const HAS_CREDITS: bool = false;

    /// The state at the beginning of a run.
    fn new(net: &Network) -> Self;

    /// Schedules the first events of `ports`, which are the partition's own.
    fn begin(_links: &mut Links<Self>, _ctx: &mut Ctx, _ports: &[PortId]) {}

    /// The time of the first event that flow control keeps outside [`Ctx::events`]; [`Time::NEVER`] if there is none.
    fn earliest(_links: &Links<Self>) -> Time {
        Time::NEVER
    }

    /// A window with all events before `limit` ends: handles those events that flow control keeps outside [`Ctx::events`].
    fn end_window(_links: &mut Links<Self>, _ctx: &mut Ctx, _limit: Time) {}

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
    fn admit(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow>;

    /// A packet of `size` bytes that came in by an ingress `queue` is about to leave its switch.
    fn release(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    );

    /// A packet of `size` bytes that arrived by an ingress `queue` has begun on the wire of `egress`; its last bit leaves
    /// when the wire becomes free.
    fn on_left(_links: &mut Links<Self>, _ctx: &mut Ctx, _egress: PortId, _queue: QueueId, _size: u64) {}

    /// A packet of a data class has come to a host, which takes it out of the ingress `queue` at once.
    fn on_consumed(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) {}

    /// Whether a packet of `size` bytes may go by an egress `queue`; if not, the queue is stopped until it may.
    fn may_send(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) -> bool {
        true
    }

    /// A packet of `size` bytes goes onto the wire from an egress `queue`; called only if [`LinkControl::HAS_CREDITS`].
    fn on_sent(_links: &mut Links<Self>, _ctx: &mut Ctx, _queue: QueueId, _size: u64) {}

    /// A frame of flow control has arrived by `port`; it concerns the egress of `port`. The frame ends here.
    fn on_frame(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId);

    /// A frame of flow control is about to go onto the wire of `port`.
    fn on_frame_sent(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId);

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

    /// Credits that an egress `port` uses, as far as its node knows; `None` if flow control has no credits.
    fn used_credits(_links: &Links<Self>, _port: PortId) -> Option<u64> {
        None
    }

    /// Whether the other end, with `there` and its `accounting`, has no room for the packet that a stopped egress `queue`
    /// waits to send, so that only a departure at the other end lets the queue go on.
    fn is_blocked(here: &Links<Self>, there: &Links<Self>, accounting: &Accounting, queue: QueueId) -> bool;

    /// Both ends' counters of an egress `queue`, the other end being `there`; `None` if flow control has no credits.
    fn counters<'a>(
        _here: &'a Links<Self>,
        _there: &'a Links<Self>,
        _queue: QueueId,
    ) -> Option<(&'a counters::SendingEnd, &'a counters::ReceivingEnd)> {
        None
    }
}
