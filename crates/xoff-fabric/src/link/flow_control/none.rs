//! No flow control: nothing is ever stopped, and queues grow up to the switch's memory.

use super::{Accounting, Ctx, LinkControl, Links, Network};

/// No flow control.
pub(crate) struct NoFlowControl;

impl LinkControl for NoFlowControl {
    fn new(_: &Network) -> Self {
        NoFlowControl
    }

    fn on_event(_: &mut Links<Self>, _: &mut Ctx, _: &mut Accounting, _: u32, _: u32, _: u32) {}
}
