//! InfiniBand's credit-based flow control (CBFC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};

use super::FlowControlKind;
use crate::settings::{MAX_CREDITS, MAX_FRAME, MAX_TIME};

/// Width of the counters in InfiniBand's updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterWidth {
    /// 64 bits: the counters never wrap.
    #[default]
    Wide,
    /// 12 bits, as in InfiniBand's flow control packets. A comparison modulo 4096 is only clear up to half of that, so
    /// no more than 2048 blocks (128 KiB) are ever granted, however large the buffer.
    #[serde(rename = "12_bit")]
    TwelveBit,
}

/// InfiniBand's credit-based flow control (CBFC), for each virtual lane: `switch.priorities` is the number of lanes.
///
/// The receiver tells the sender every `update_period` up to which block of 64 bytes it may send (FCCL); the sender does not
/// begin a packet for whose blocks it has no credit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cbfc {
    /// Buffer of each ingress port and lane; without it, as much as keeps the link busy: the bytes that the link
    /// carries from one update to the next and in a round trip, see `undersized`.
    pub buffer: Option<Bytes>,
    /// Memory of each ingress port that its lanes share, in whole blocks, beside the `buffer` that is reserved for each of them: a lane that
    /// uses more than its reserved part takes places from here. The sender counts what its lanes use together (as in
    /// Omni-Path; InfiniBand has counts by lane alone).
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_buffer: Bytes,
    /// Time between two updates of a port (T_c). The specification asks for an update at least every 65,536 symbol times, 65.5
    /// us at 4 x 10 Gbps; 4.096 us is the value in the InfiniBand simulator of TCD's authors.
    pub update_period: Time,
    /// Size of an update on the wire, 6 bytes and framing. Each lane has an update of its own.
    pub update_size: Bytes,
    /// Send an update also when a packet has left the buffer and no other packet waits for the wire to the sender.
    pub on_change: bool,
    /// Width of the counters.
    pub counters: CounterWidth,
    /// Allow a buffer that is so small that a link stalls although nothing is in its way.
    pub undersized: bool,
}

impl Default for Cbfc {
    fn default() -> Self {
        Cbfc {
            buffer: None,
            shared_buffer: Bytes(0),
            update_period: Time(4_096_000),
            update_size: Bytes(8),
            on_change: false,
            counters: CounterWidth::Wide,
            undersized: false,
        }
    }
}

pub(super) fn is_zero(size: &Bytes) -> bool {
    size.0 == 0
}

impl FlowControlKind for Cbfc {
    const NAME: &'static str = "cbfc";
    const HAS_CREDITS: bool = true;

    fn update_period(&self) -> Option<Time> {
        Some(self.update_period)
    }

    fn update_size(&self) -> Bytes {
        self.update_size
    }

    fn shared_credits(&self) -> u64 {
        self.shared_buffer.0 / 64
    }

    fn validate(&self) -> Vec<Violation> {
        let buffer = self.buffer.and_then(|buffer| size_within("buffer", buffer, 64, MAX_CREDITS * 64));
        let narrow = (self.shared_buffer.0 > 0 && self.counters == CounterWidth::TwelveBit).then(|| {
            let found = format!(
                "is {}, and counters of 12 bits do not tell how much a lane uses",
                self.shared_buffer
            );
            Violation::new("shared_buffer", found, "`counters = \"wide\"`, or 0B")
        });
        let found = [
            narrow,
            size_within("shared_buffer", self.shared_buffer, 0, MAX_CREDITS * 64),
            time_within("update_period", self.update_period, Time::from_ns(1), MAX_TIME),
            size_within("update_size", self.update_size, 1, MAX_FRAME),
            buffer,
        ];
        found.into_iter().flatten().collect()
    }
}
