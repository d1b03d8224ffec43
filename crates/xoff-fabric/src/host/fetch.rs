//! Fetching ahead: what a host's next packets, and the connections whose turns come next, are about to use.

use std::slice;

use xoff_engine::{fetch_ahead, fetch_whole_ahead};

use super::Hosts;
use super::nic::NicScheduler;
use crate::ids::NodeId;
use crate::network::Network;
use crate::packet::{Kind, Packet};

impl<N: NicScheduler> Hosts<N> {
    /// Fetches the address of the end of the connection that a packet comes to.
    #[inline(always)] // runs for every packet of a large network
    pub fn fetch_end_address(&self, net: &Network, packet: &Packet) {
        let Some(connection) = net.connections.get(packet.flow) else { return };
        if packet.kind == Kind::Data {
            fetch_ahead(&self.receivers, connection.0);
            fetch_ahead(&net.paths.routes, connection.0);
        } else {
            fetch_ahead(&self.senders, connection.0);
        }
    }

    /// Fetches the end of the connection that a packet comes to.
    #[inline(always)] // runs for every packet of a large network
    pub fn fetch_end(&self, net: &Network, packet: &Packet) {
        let Some(connection) = net.connections.get(packet.flow) else { return };
        if packet.kind == Kind::Data {
            if let Some(Some(receiver)) = self.receivers.get(connection.index()) {
                fetch_whole_ahead(slice::from_ref(&**receiver), 0);
            }
        } else if let Some(Some(sender)) = self.senders.get(connection.index()) {
            fetch_whole_ahead(slice::from_ref(&**sender), 0);
        }
    }

    /// Fetches the NIC of a host.
    #[inline]
    pub fn fetch_nic(&self, host: NodeId) {
        fetch_whole_ahead(&self.nics, host.0);
    }

    /// Fetches the turns of a host's connections.
    #[inline]
    pub fn fetch_turns(&self, host: NodeId) {
        N::fetch_turns(&self.nics[host.index()].scheduler);
    }

    /// Fetches the address of the connection whose turn comes first at a host.
    #[inline]
    pub fn fetch_first_sender_address(&self, host: NodeId) {
        if let Some(connection) = N::first_turn(&self.nics[host.index()].scheduler) {
            fetch_ahead(&self.senders, connection.0);
        }
    }

    /// Fetches the connection whose turn comes first at a host.
    #[inline]
    pub fn fetch_first_sender(&self, host: NodeId) {
        let Some(connection) = N::first_turn(&self.nics[host.index()].scheduler) else { return };
        if let Some(Some(sender)) = self.senders.get(connection.index()) {
            fetch_whole_ahead(slice::from_ref(&**sender), 0);
        }
    }
}
