//! No flow control: nothing is ever stopped, and queues grow up to the switch's memory.

use super::{Accounting, Ctx, LinkControl, Links, Network, Overflow, PacketId, PortId, QueueId};

/// No flow control.
pub(crate) struct NoFlowControl;

impl LinkControl for NoFlowControl {
    fn new(_: &Network) -> Self {
        NoFlowControl
    }

    #[inline(always)]
    fn admit(
        _: &mut Links<Self>,
        _: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow> {
        accounting.charge(queue, size).map(|_| ())
    }

    #[inline(always)]
    fn release(_: &mut Links<Self>, _: &mut Ctx, accounting: &mut Accounting, queue: QueueId, size: u64) {
        accounting.release(queue, size);
    }

    fn on_frame(_: &mut Links<Self>, ctx: &mut Ctx, _: PortId, id: PacketId) {
        ctx.packets.remove(id);
    }

    fn on_frame_sent(_: &mut Links<Self>, _: &mut Ctx, _: PortId, _: PacketId) {}

    fn on_event(_: &mut Links<Self>, _: &mut Ctx, _: &mut Accounting, _: u32, _: u32, _: u32) {}

    fn is_blocked(_: &Links<Self>, _: &Links<Self>, _: &Accounting, _: QueueId) -> bool {
        false
    }
}
