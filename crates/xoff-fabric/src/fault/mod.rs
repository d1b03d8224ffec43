//! What breaks during a run: links that go down, links that lose frames or slow down, switches that reboot, NICs that
//! babble PAUSE, and receivers that stop.
//!
//! All of it is known when a run begins: a [`FaultPlan`] answers at any time what is broken, so that every partition of the
//! network knows it without asking another one. The sender of a frame decides whether the frame arrives: a frame is lost if its
//! link is down at any time between the frame's first bit and its arrival.
//!
//! The room owns the plan, which never changes during a run. What links, switches and hosts do when something breaks
//! stands in their own rooms.

mod epochs;
mod outages;
mod plan;

use xoff_engine::{Rate, Time};

pub use epochs::Convergence;
pub(crate) use epochs::{Detour, Epochs};
pub(crate) use outages::Outage;
pub(crate) use plan::Act;
pub use plan::FaultPlan;

use crate::ids::{NodeId, PortId};

/// Something that is broken for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is broken.
    pub what: Broken,
    /// Since when.
    pub from: Time,
    /// Until when, this moment excluded; [`Time::NEVER`] for ever.
    pub until: Time,
    /// The entry of the scenario that the fault comes from.
    pub event: u32,
}

/// What is broken.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// A link is down, in both directions.
    Link(u32),
    /// A switch reboots: all its links are down, and its memory is empty afterwards.
    Switch(NodeId),
    /// A link has a lower rate, in both directions.
    Rate {
        /// The link.
        link: u32,
        /// Its rate.
        rate: Rate,
    },
    /// A link loses frames, in both directions.
    Frames {
        /// The link.
        link: u32,
        /// How many.
        loss: FrameLoss,
    },
    /// A host's NIC sends PAUSE without end.
    PauseStorm {
        /// The NIC's port.
        port: PortId,
        /// The data priorities, one bit each.
        priorities: u8,
    },
    /// A host takes no data, or takes it slowly.
    Receiver {
        /// The host.
        host: NodeId,
        /// The rate at which it takes what each of its NICs receives; `None` if it takes nothing.
        rate: Option<Rate>,
        /// Bytes of a priority that a NIC of the host keeps before it sends PAUSE.
        buffer: u64,
    },
}

impl Broken {
    /// Whether it takes random numbers or keeps times of its own, unlike a link that is down or slower.
    fn is_restless(&self) -> bool {
        matches!(self, Broken::Frames { .. } | Broken::PauseStorm { .. } | Broken::Receiver { .. })
    }

    /// Its name in scenarios and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Broken::Link(_) => "link_down",
            Broken::Switch(_) => "switch_reboot",
            Broken::Rate { .. } => "degrade",
            Broken::Frames { .. } => "bit_errors",
            Broken::PauseStorm { .. } => "pause_storm",
            Broken::Receiver { rate: None, .. } => "receiver_stop",
            Broken::Receiver { rate: Some(_), .. } => "receiver_slow",
        }
    }
}

/// How many frames a link loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameLoss {
    /// A frame of b bytes is lost with the probability 1 - (1 - ber)^(8 b): bit errors are independent, and one of them spoils
    /// the frame.
    BitErrorRate(f64),
    /// Each frame is lost with this probability, whatever its size.
    Share(f64),
}

impl FrameLoss {
    /// The probability that a frame of `bytes` is lost.
    pub fn probability(self, bytes: u64) -> f64 {
        match self {
            // By the logarithm, since 1 - 1e-12 has few digits.
            FrameLoss::BitErrorRate(ber) => -libm::expm1(8.0 * bytes as f64 * libm::log1p(-ber)),
            FrameLoss::Share(share) => share,
        }
    }

    /// The probability that an ordered set of `bytes`, which is no frame, is lost.
    pub fn of_ordered_set(self, bytes: u64) -> f64 {
        match self {
            FrameLoss::BitErrorRate(_) => self.probability(bytes),
            FrameLoss::Share(_) => 0.0,
        }
    }
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A buffer was full.
    Buffer,
    /// The link was down, or went down while the packet was on it.
    LinkDown,
    /// A bit error.
    BitErrors,
    /// A PFC watchdog dropped what waited behind a storm.
    Watchdog,
    /// The receiver had stopped or was slow, and its buffer was full.
    Receiver,
    /// The packet had passed too many links, while routing changed.
    HopLimit,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 6] =
        [Cause::Buffer, Cause::LinkDown, Cause::BitErrors, Cause::Watchdog, Cause::Receiver, Cause::HopLimit];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Buffer => "buffer",
            Cause::LinkDown => "link_down",
            Cause::BitErrors => "bit_errors",
            Cause::Watchdog => "watchdog",
            Cause::Receiver => "receiver",
            Cause::HopLimit => "hop_limit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_if_each_of_its_bits_does() {
        // 1,000 B are 8,000 bits: (1 - 1e-5)^8000 = e^-0.0800004 = 0.923116, and at 1e-12 8e-9 of the frames are lost.
        let lost = |ber| FrameLoss::BitErrorRate(ber).probability(1_000);
        assert!((lost(1e-5) - 0.076_884).abs() < 1e-6, "{}", lost(1e-5));
        assert!((lost(1e-12) - 8e-9).abs() < 1e-15);
        assert_eq!((lost(0.0), FrameLoss::Share(0.25).probability(1)), (0.0, 0.25));
    }
}
