//! Fetching ahead: what a host's next packets, and the connections that send next, are about to use.

use std::slice;

use xoff_engine::{fetch_ahead, fetch_whole_ahead};

use super::Hosts;
use super::nic::NicScheduler;
use crate::ids::{ConnectionId, NodeId};
use crate::network::Network;
use crate::packet::{Kind, Packet};

/// Whether a packet comes to the receiver of its connection.
#[inline(always)] // runs for every packet of a large network
fn comes_to_receiver(packet: &Packet) -> bool {
    matches!(packet.kind, Kind::Data | Kind::Rts)
}

impl<N: NicScheduler> Hosts<N> {
    /// Fetches the address of the receiver, or sender, that a packet comes to.
    #[inline(always)] // runs for every packet of a large network
    pub fn fetch_end_address(&self, net: &Network, packet: &Packet) {
        let Some(connection) = net.connections.get(packet.flow) else { return };
        if comes_to_receiver(packet) {
            fetch_ahead(&self.receivers, connection.0);
            fetch_ahead(&net.paths.routes, connection.0);
        } else {
            fetch_ahead(&self.senders, connection.0);
        }
    }

    /// Fetches the receiver, or sender, that a packet comes to.
    #[inline(always)] // runs for every packet of a large network
    pub fn fetch_end(&self, net: &Network, packet: &Packet) {
        let Some(connection) = net.connections.get(packet.flow) else { return };
        if comes_to_receiver(packet) {
            if let Some(Some(receiver)) = self.receivers.get(connection.index()) {
                fetch_whole_ahead(slice::from_ref(&**receiver), 0);
            }
        } else {
            self.fetch_sender(connection);
        }
    }

    #[inline(always)] // runs for every packet of a large network
    fn fetch_sender(&self, connection: ConnectionId) {
        if let Some(Some(sender)) = self.senders.get(connection.index()) {
            fetch_whole_ahead(slice::from_ref(&**sender), 0);
        }
    }

    /// Fetches the first NIC of a host.
    #[inline]
    pub fn fetch_nic(&self, host: NodeId) {
        fetch_whole_ahead(&self.nics, host.0);
    }

    /// Fetches in which order the connections of a host's first NIC come.
    #[inline]
    pub fn fetch_order(&self, host: NodeId) {
        self.nics[host.index()].scheduler.fetch_order();
    }

    /// Fetches the address of the sender whose pacing time comes first at a host.
    #[inline]
    pub fn fetch_first_sender_address(&self, host: NodeId) {
        if let Some(connection) = self.nics[host.index()].scheduler.first_paced() {
            fetch_ahead(&self.senders, connection.0);
        }
    }

    /// Fetches the sender whose pacing time comes first at a host.
    #[inline]
    pub fn fetch_first_sender(&self, host: NodeId) {
        if let Some(connection) = self.nics[host.index()].scheduler.first_paced() {
            self.fetch_sender(connection);
        }
    }
}
