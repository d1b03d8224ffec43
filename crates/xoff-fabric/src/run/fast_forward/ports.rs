//! What ports would have sent in the time that was carried forward.
//!
//! Telemetry reads a port's own count of bytes beside the network's clock, so that count must not jump.

use xoff_engine::Time;

use crate::host::recall::Recall;
use crate::host::rounds::Round;
use crate::ids::PortId;
use crate::link::port::Port;
use crate::network::Network;

/// Bytes and packets of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    bytes: u64,
    packets: u64,
}

/// By port: what was carried forward. Empty until the first jump.
#[derive(Default)]
pub(crate) struct CarriedPorts(Vec<Carried>);

impl CarriedPorts {
    /// Adds `packets` of so many `bytes` together at a port; `ports` is the number of all ports.
    pub fn add(&mut self, ports: usize, port: PortId, packets: u64, bytes: u64) {
        self.0.resize(ports, Carried::default());
        let port = &mut self.0[port.index()];
        port.packets += packets;
        port.bytes += bytes;
    }

    /// Adds what recalled messages sent, and the PAUSE and RESUME frames of recalled episodes.
    pub fn add_recalled(&mut self, net: &Network, recall: &Recall) {
        for (port, frames) in recall.pause_frames().filter(|(_, frames)| *frames > 0) {
            self.add(net.topology.ports() as usize, port, frames, frames * net.wire.pfc);
        }
        for (connection, at, sent) in recall.sent() {
            self.0.resize(net.topology.ports() as usize, Carried::default());
            let flow = net.connections.first_message(connection);
            for port in net.data_path_at(flow, at) {
                let port = &mut self.0[port.index()];
                port.packets += sent.packets;
                port.bytes += sent.bytes;
            }
            for (hop, port) in net.ack_path_at(flow, at).iter().enumerate() {
                let port = &mut self.0[port.index()];
                port.packets += sent.acks;
                port.bytes += sent.acks * (net.wire.ack + net.wire.ack_growth * hop as u64);
            }
        }
    }

    /// Adds what messages of `rounds` sent that were not simulated, by the paths of a simulated time.
    pub fn add_rounds(&mut self, net: &Network, round: &Round, rounds: u64, now: Time) {
        let ports = net.topology.ports() as usize;
        for (connection, sent) in round.sent() {
            let flow = net.connections.first_message(connection);
            for &port in net.data_path_at(flow, now) {
                self.add(ports, port, sent.packets * rounds, sent.bytes * rounds);
            }
            for (hop, port) in net.ack_path_at(flow, now).iter().enumerate() {
                let size = net.wire.ack + net.wire.ack_growth * hop as u64;
                self.add(ports, port, sent.acks * rounds, sent.acks * rounds * size);
            }
        }
    }

    /// Bits carried forward at a port.
    pub fn bits(&self, port: PortId) -> f64 {
        self.bytes(port) as f64 * 8.0
    }

    /// Bytes carried forward at a port.
    pub fn bytes(&self, port: PortId) -> u64 {
        self.0.get(port.index()).map_or(0, |carried| carried.bytes)
    }

    /// Adds everything to the ports' own counts, once, at the end of a run.
    pub fn settle(&self, ports: &mut [Port]) {
        for (port, carried) in ports.iter_mut().zip(&self.0) {
            port.tx_bytes += carried.bytes;
            port.tx_packets += carried.packets;
        }
    }
}
