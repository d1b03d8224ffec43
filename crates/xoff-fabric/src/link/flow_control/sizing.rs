//! The buffer size with which a link never stalls by itself.
//!
//! A place is given back when its packet has left, and the next update tells the sender. So between the sender's
//! transmission of a block and that of the next block for the same place lie: the propagation to the receiver, the packet's
//! time in the receiving switch, the time until the next update, a frame on the wire before the update, the update itself,
//! and the propagation back. The buffer must hold what the link carries in all this time.

use xoff_engine::{Rate, Time};
use xoff_schemes::int::MAX_INT_HOPS;

use super::counters::Unit;
use crate::ids::PortId;
use crate::network::WireSizes;
use crate::path::topology::Topology;
use crate::settings::{AckClass, CreditUnit, FlowControl, Settings};

/// InfiniBand's block of 64 bytes.
pub const BLOCK: Unit = Unit::of_bytes(64);

/// The buffer of an ingress port and priority, and the terms of its minimum size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// Rate at which the buffer fills.
    rate: Rate,
    /// Time between updates; zero if credits come back one by one.
    pub period: Time,
    /// Propagation there and back.
    pub propagation: Time,
    /// Time of a largest frame in the other direction, before an update, and of the update or the symbol.
    pub message: Time,
    /// Time of a largest packet on the link, and once more in the switch until its last bit has left.
    pub frames: Time,
    unit: Unit,
    /// Bytes of a full frame.
    frame: u64,
    /// Bytes of the largest packet that takes credits: a full frame, or an ACK if ACKs take credits and are larger.
    largest: u64,
    given: Option<u64>,
    /// Credits that the lanes of the port share.
    shared: u64,
}

impl Sizing {
    /// The buffer at `ingress`.
    pub fn of(topology: &Topology, ingress: PortId, settings: &Settings, wire: &WireSizes) -> Sizing {
        let (rate, back) = (topology.rate(ingress.peer()), topology.rate(ingress));
        let frame = wire.frame();
        let largest = match settings.host.ack_class {
            AckClass::Data => frame.max(wire.ack + wire.ack_growth * MAX_INT_HOPS as u64),
            AckClass::Control | AckClass::ControlAtHost => frame,
        };
        let sizing = Sizing {
            rate,
            period: Time::ZERO,
            propagation: topology.delay(ingress.peer()) + topology.delay(ingress),
            message: Time::ZERO,
            frames: rate.serialization(largest) * 2,
            unit: BLOCK,
            frame,
            largest,
            given: None,
            shared: settings.flow_control.shared_credits(),
        };
        match &settings.flow_control {
            FlowControl::Cbfc(cbfc) => Sizing {
                period: cbfc.update_period,
                message: back.serialization(wire.largest())
                    + back.serialization(wire.update * u64::from(settings.switch.priorities)),
                given: cbfc.buffer.map(|b| b.0 / 64),
                ..sizing
            },
            FlowControl::UeCbfc(cbfc) => Sizing {
                message: back.serialization(cbfc.message.0),
                unit: Unit::of_bytes(cbfc.cell.0),
                given: cbfc.buffer.map(|b| b.0 / cbfc.cell.0.max(1)),
                ..sizing
            },
            FlowControl::Credit(credit) => Sizing {
                message: back.serialization(credit.flit.0),
                unit: match credit.unit {
                    CreditUnit::Flit => Unit::of_bytes(credit.flit.0),
                    CreditUnit::Packet => Unit::PACKET,
                },
                given: credit.credits.map(u64::from),
                ..sizing
            },
            _ => sizing,
        }
    }

    /// Bytes that the link carries until a place is free for the next packet.
    pub fn round(&self) -> u64 {
        self.rate.bytes_in(self.period + self.propagation + self.message + self.frames) + 1
    }

    /// Credits with which the link never stalls by itself: those of the full frames that fill a round, plus one frame.
    pub fn needed(&self) -> u64 {
        let full = (self.round().div_ceil(self.frame) + 1) * self.unit.credits(self.frame);
        full.max(self.of_largest())
    }

    /// Credits of the buffer, for this priority alone.
    pub fn credits(&self) -> u64 {
        self.given.unwrap_or_else(|| self.needed())
    }

    /// The most credits that this priority may have: its own, and those that all priorities share.
    pub fn most(&self) -> u64 {
        self.credits() + self.shared
    }

    /// Credits of the largest packet, the minimum that a buffer must have.
    pub fn of_largest(&self) -> u64 {
        self.unit.credits(self.largest)
    }

    /// Bytes of an ACK that needs more credits than a full frame; `None` if no ACK does.
    pub fn large_ack(&self) -> Option<u64> {
        (self.largest > self.frame).then_some(self.largest)
    }

    /// Bytes carried in `time`.
    pub fn bytes_in(&self, time: Time) -> u64 {
        self.rate.bytes_in(time)
    }
}
