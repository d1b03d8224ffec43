//! Ultra Ethernet's credit-based flow control (CBFC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};

use super::FlowControlKind;
use super::cbfc::is_zero;
use crate::settings::{MAX_CREDITS, MAX_FRAME, MAX_TIME};

/// Ultra Ethernet's credit-based flow control (CBFC), for each virtual channel (VC) of an Ethernet link: `switch.priorities` is the
/// number of VCs, at most 8 of the specification's 32.
///
/// A credit is a cell of the receiver's buffer. The sender counts the credits that its packets consume, the receiver counts those
/// that it frees and tells the sender its count, which is never reset: a later message makes up for one that was lost. Messages are
/// control ordered sets, which take no room on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UeCbfc {
    /// Bytes of a cell; a packet takes whole cells.
    pub cell: Bytes,
    /// Buffer of each ingress port and VC, in whole cells; without it, as much as keeps the link busy during a round trip, see
    /// `undersized`.
    pub buffer: Option<Bytes>,
    /// Memory of each ingress port that its lanes share, in whole cells, beside the `buffer` that is reserved for each of them: a lane that
    /// uses more than its reserved part takes places from here. The sender counts what its lanes use together.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_buffer: Bytes,
    /// Bytes of a message.
    pub message: Bytes,
    /// Time after which a receiver tells its count again, in case the message was lost.
    pub repeat: Time,
    /// Allow a buffer that is so small that a link stalls although nothing is in its way.
    pub undersized: bool,
}

impl Default for UeCbfc {
    fn default() -> Self {
        UeCbfc {
            cell: Bytes(256),
            buffer: None,
            shared_buffer: Bytes(0),
            message: Bytes(8),
            repeat: Time::from_us(10),
            undersized: false,
        }
    }
}

impl FlowControlKind for UeCbfc {
    const NAME: &'static str = "ue_cbfc";
    const HAS_CREDITS: bool = true;
    const IS_ETHERNET: bool = true;

    fn shared_credits(&self) -> u64 {
        self.shared_buffer.0 / self.cell.0.max(1)
    }

    fn validate(&self) -> Vec<Violation> {
        let cell = size_within("cell", self.cell, 1, MAX_FRAME);
        let room = self.cell.0.clamp(1, MAX_FRAME);
        let buffer = self.buffer.and_then(|b| size_within("buffer", b, room, MAX_CREDITS * room));
        let message = size_within("message", self.message, 1, 64);
        let repeat = time_within("repeat", self.repeat, Time::from_ns(1), MAX_TIME);
        let shared = size_within("shared_buffer", self.shared_buffer, 0, MAX_CREDITS * room);
        [cell, buffer, shared, message, repeat].into_iter().flatten().collect()
    }
}
