//! What a NIC takes time for beside its wire: doorbells, messages and packets.
//!
//! A message that is ready rings the NIC's doorbell, and its first packet may begin [`Host::doorbell_delay`] later. The NIC takes
//! messages from doorbells one by one, in the order of their starts, one each [`Host::message_interval`], and begins data packets one
//! each [`Host::packet_interval`]. Control packets and ACKs cost neither: a NIC makes them from what it receives.

use xoff_engine::Time;

use super::Hosts;
use super::nic::{NicId, NicScheduler};
use crate::settings::Host;

/// The costs of a partition's NICs, and when each is free again.
pub(crate) struct NicCosts {
    doorbell_delay: Time,
    message_interval: Time,
    packet_interval: Time,
    /// By NIC: when it may take the next message.
    next_message: Vec<Time>,
    /// By NIC: when it may begin the next data packet.
    next_packet: Vec<Time>,
}

impl NicCosts {
    /// The costs of idle NICs; `None` if nothing costs time.
    pub fn new(host: &Host, nics: usize) -> Option<Box<NicCosts>> {
        let (doorbell_delay, message_interval) = (host.doorbell_delay, host.message_interval);
        let packet_interval = host.packet_interval;
        let next = || vec![Time::ZERO; nics];
        (doorbell_delay.max(message_interval).max(packet_interval) > Time::ZERO).then(|| {
            Box::new(NicCosts {
                doorbell_delay,
                message_interval,
                packet_interval,
                next_message: next(),
                next_packet: next(),
            })
        })
    }

    /// A message starts at a NIC `now`. Returns the time until the NIC may begin its first packet.
    fn on_message(&mut self, now: Time, nic: NicId) -> Time {
        let next = &mut self.next_message[nic as usize];
        let taken = now.max(*next);
        *next = taken.saturating_add(self.message_interval);
        (taken - now).saturating_add(self.doorbell_delay)
    }

    /// A NIC begins a data packet `now`.
    pub fn on_packet(&mut self, now: Time, nic: NicId) {
        self.next_packet[nic as usize] = now + self.packet_interval;
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// The time until a NIC may begin the first packet of a message that starts `now`.
    #[inline]
    pub(super) fn message_cost(&mut self, now: Time, nic: NicId) -> Time {
        self.costs.as_mut().map_or(Time::ZERO, |costs| costs.on_message(now, nic))
    }

    /// When a NIC may begin its next data packet, if packets cost time; otherwise long ago.
    pub(super) fn next_packet(&self, nic: NicId) -> Time {
        self.costs.as_ref().map_or(Time::ZERO, |costs| costs.next_packet[nic as usize])
    }
}
