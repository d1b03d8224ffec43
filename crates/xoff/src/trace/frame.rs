//! Ethernet frames from the records of packets: RoCEv2 (IBTA, Annex A17) and PFC (IEEE 802.1Qbb).

use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, UdpHeader};
use xoff_fabric::Network;
use xoff_fabric::ids::QueueId;
use xoff_fabric::observe::capture::PacketRecord;
use xoff_fabric::packet::{Kind, LAST};
use xoff_schemes::Mark;

use super::addresses::{Addresses, ROCE_PORT, mac, queue_pair, udp_source};
use super::{CodePoints, Trace, telemetry};

const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
const BTH: usize = 12;
const ICRC: usize = 4;
/// Length of the frame check sequence, which captures leave out.
const FCS: usize = 4;
/// An Ethernet frame has at least 64 bytes with its check sequence.
const MIN_FRAME: usize = 64 - FCS;
/// Time to live of a packet at its sender: the maximum number of its hops.
const TIME_TO_LIVE: u8 = 64;

/// The longest message that RETH's length may state (IBTA, 9.7.6).
const LONGEST_MESSAGE: u64 = 1 << 31;

/// Opcodes of reliable connections. Data has those of RDMA WRITE, whose payload dissectors leave alone: Wireshark 4.0 takes
/// some payloads of SEND for other protocols, and calls those of up to 12 B malformed.
mod opcode {
    pub const WRITE_FIRST: u8 = 0x06;
    pub const WRITE_MIDDLE: u8 = 0x07;
    pub const WRITE_LAST: u8 = 0x08;
    pub const WRITE_ONLY: u8 = 0x0A;
    pub const ACKNOWLEDGE: u8 = 0x11;
    pub const CNP: u8 = 0x81;
}

/// AETH's syndrome of an ACK without a limit of credits.
const ACK: u8 = 0b000_11111;
/// AETH's syndrome of a NAK for a sequence error.
const NAK_SEQUENCE_ERROR: u8 = 0b011_00000;
/// BTH: backward explicit congestion notification.
const BECN: u8 = 0x40;
/// BTH: an acknowledgement is asked for.
const ACK_REQUEST: u8 = 0x80;
/// The key of the default partition (P_Key), to which all nodes belong.
const DEFAULT_PARTITION: u16 = 0xFFFF;

/// The captured bytes of a frame, and the length on the wire of the whole frame without the check sequence.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub length: usize,
}

/// Makes frames of a run's packets.
pub struct Framer<'t> {
    trace: &'t Trace,
    pub addresses: Addresses,
    snap_length: usize,
}

impl<'t> Framer<'t> {
    pub fn new(trace: &'t Trace, snap_length: u32) -> Self {
        Framer { trace, addresses: Addresses::new(&trace.net), snap_length: snap_length as usize }
    }

    /// The frame of a packet.
    pub fn frame(&self, row: &PacketRecord) -> Frame {
        match row.kind {
            Kind::Pfc => self.pfc(row),
            _ => self.roce(row),
        }
    }

    fn ethernet(&self, row: &PacketRecord, destination: [u8; 6], ether_type: u16) -> [u8; ETHERNET] {
        let source = mac(row.sender());
        Ethernet2Header { source, destination, ether_type: EtherType(ether_type) }.to_bytes()
    }

    /// A PFC frame (IEEE 802.1Q, 36.2): the priorities that it pauses or resumes, and the quanta of each.
    fn pfc(&self, row: &PacketRecord) -> Frame {
        let priority = row.priority().unwrap_or(0);
        let mut bytes = self.ethernet(row, [0x01, 0x80, 0xC2, 0, 0, 0x01], 0x8808).to_vec();
        bytes.extend(0x0101u16.to_be_bytes());
        bytes.extend((1u16 << priority).to_be_bytes());
        let quanta = |p| if p == priority { row.seq as u16 } else { 0 };
        (0..8).for_each(|p| bytes.extend(quanta(p).to_be_bytes()));
        bytes.resize(MIN_FRAME, 0);
        self.captured(bytes, row)
    }

    fn roce(&self, row: &PacketRecord) -> Frame {
        let net = &self.trace.net;
        let mut transport = Vec::with_capacity(256);
        self.transport(row, &mut transport);
        let body = match row.kind {
            Kind::Data => usize::from(row.payload),
            _ => 0,
        };
        // The length of each header is a multiple of 4 B, so only the bytes after the headers need padding.
        let pad = (4 - (transport.len() + body) % 4) % 4;
        transport[1] |= (pad as u8) << 4;
        let udp_length = UDP + transport.len() + body + pad + ICRC;
        let (source, destination) = self.ends(net, row);
        // A frame longer than the longest datagram gets the maximum length that the field can hold.
        let length = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
        let mut ip = Ipv4Header {
            dscp: dscp(row),
            ecn: ecn(row, self.trace.code_points),
            total_len: length(IPV4 + udp_length),
            dont_fragment: true,
            time_to_live: TIME_TO_LIVE + 1 - row.links.clamp(1, TIME_TO_LIVE),
            protocol: IpNumber::UDP,
            source,
            destination,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let udp = UdpHeader {
            source_port: udp_source(row.flow),
            destination_port: ROCE_PORT,
            length: length(udp_length),
            // Annex A17: senders may leave the checksum at zero, since the ICRC protects the packet.
            checksum: 0,
        };
        let mut bytes = self.ethernet(row, mac(row.sender().peer()), 0x0800).to_vec();
        bytes.extend(ip.to_bytes());
        bytes.extend(udp.to_bytes());
        bytes.extend(transport);
        let whole = bytes.len() + body + pad + ICRC;
        if self.snap_length >= whole {
            bytes.resize(whole - ICRC, 0);
            let icrc = icrc(&bytes[ETHERNET..]);
            bytes.extend(icrc);
        } else {
            bytes.resize(whole, 0);
        }
        self.captured(bytes, row)
    }

    /// The frame of these bytes, padded if the network counts more bytes.
    fn captured(&self, mut bytes: Vec<u8>, row: &PacketRecord) -> Frame {
        let length = bytes.len().max(usize::from(row.size).saturating_sub(FCS)).max(MIN_FRAME);
        bytes.resize(length.min(self.snap_length), 0);
        Frame { bytes, length }
    }

    /// IPv4 addresses of the packet's sender and receiver.
    fn ends(&self, net: &Network, row: &PacketRecord) -> ([u8; 4], [u8; 4]) {
        let flow = net.flows.of(row.flow);
        let (source, destination) = match row.kind {
            Kind::Data => (flow.src, flow.dst),
            Kind::Cnm => {
                let port = QueueId(row.point).port(net.settings.switch.priorities.into());
                (net.topology.node_of(port), flow.src)
            }
            _ => (flow.dst, flow.src),
        };
        (self.addresses.of(source), self.addresses.of(destination))
    }

    /// BTH, the headers behind it, and telemetry.
    fn transport(&self, row: &PacketRecord, bytes: &mut Vec<u8>) {
        let net = &self.trace.net;
        let payload = net.wire.payload;
        let last = row.flags & LAST != 0;
        let opcode = match (row.kind, row.seq == 0, last) {
            (Kind::Data, true, true) => opcode::WRITE_ONLY,
            (Kind::Data, true, false) => opcode::WRITE_FIRST,
            (Kind::Data, false, true) => opcode::WRITE_LAST,
            (Kind::Data, false, false) => opcode::WRITE_MIDDLE,
            (Kind::Ack | Kind::Nack, ..) => opcode::ACKNOWLEDGE,
            _ => opcode::CNP,
        };
        // All packets of a flow but the last are full, so a packet's number follows from its offset.
        let psn = match row.kind {
            Kind::Data | Kind::Nack => row.seq / payload,
            Kind::Ack => row.seq.div_ceil(payload).saturating_sub(1),
            _ => 0,
        };
        let becn = if opcode == opcode::CNP { BECN } else { 0 };
        let asks = row.kind == Kind::Data && (last || net.settings.host.ack_every == 1);
        let mut header = [0; BTH];
        header[0] = opcode;
        header[2..4].copy_from_slice(&DEFAULT_PARTITION.to_be_bytes());
        header[4..8].copy_from_slice(&queue_pair(row.flow).to_be_bytes());
        header[4] = becn;
        header[8..12].copy_from_slice(&(psn as u32 & 0xFF_FFFF).to_be_bytes());
        header[8] = if asks { ACK_REQUEST } else { 0 };
        bytes.extend(header);
        match row.kind {
            Kind::Data if row.seq == 0 => {
                // RETH: a virtual address and a key, which the simulator does not model, and the length of the message.
                bytes.extend([0; 12]);
                let size = net.flows.size(row.flow).bytes().unwrap_or(LONGEST_MESSAGE);
                bytes.extend((size.min(LONGEST_MESSAGE) as u32).to_be_bytes());
            }
            Kind::Ack | Kind::Nack => {
                let syndrome = if row.kind == Kind::Ack { ACK } else { NAK_SEQUENCE_ERROR };
                let messages = u8::from(self.is_all(row));
                bytes.extend([syndrome, 0, 0, messages]);
            }
            Kind::Cnp | Kind::Cnm => {
                return bytes.extend(telemetry::notification(row, self.trace.code_points));
            }
            _ => {}
        }
        telemetry::append(net, row, self.trace.records.packets.int(row), bytes);
    }

    /// Whether an ACK acknowledges its whole flow, which is one message.
    fn is_all(&self, row: &PacketRecord) -> bool {
        let outcome = self.trace.records.flows.of(row.flow);
        let size = self.trace.net.flows.size(row.flow).bytes();
        size.is_some_and(|size| row.seq >= size) || (outcome.fct.is_some() && row.seq >= outcome.acked_bytes)
    }
}

/// The class selector of the packet's priority. Control packets have that of network control (CS6), which NICs use for
/// CNPs.
fn dscp(row: &PacketRecord) -> IpDscp {
    const BY_PRIORITY: [IpDscp; 8] = [
        IpDscp::CS0,
        IpDscp::CS1,
        IpDscp::CS2,
        IpDscp::CS3,
        IpDscp::CS4,
        IpDscp::CS5,
        IpDscp::CS6,
        IpDscp::CS7,
    ];
    row.priority().map_or(IpDscp::CS6, |p| BY_PRIORITY[usize::from(p) % 8])
}

/// The code point of a packet. Only data packets are marked: ACKs and CNPs bring marks back in their headers.
fn ecn(row: &PacketRecord, code_points: CodePoints) -> IpEcn {
    match (row.kind, code_points, row.mark) {
        (Kind::Data, CodePoints::Ecn, Mark::None) => IpEcn::Ect0,
        (Kind::Data, CodePoints::Ternary, Mark::None) => IpEcn::Ect1,
        (Kind::Data, CodePoints::Ternary, Mark::Ue) => IpEcn::Ect0,
        (Kind::Data, CodePoints::Ecn | CodePoints::Ternary, _) => IpEcn::CongestionExperienced,
        _ => IpEcn::NotEct,
    }
}

/// The invariant CRC (Annex A17.3.3) of a packet, given from its IPv4 header to its pad. It is Ethernet's CRC over eight
/// bytes of ones, in place of InfiniBand's local header, and the packet with ones in the fields that routers may change.
fn icrc(packet: &[u8]) -> [u8; ICRC] {
    const TYPE_OF_SERVICE: usize = 1;
    const TTL: usize = 8;
    const CHECKSUM: usize = 10;
    const UDP_CHECKSUM: usize = IPV4 + 6;
    const CONGESTION_BITS: usize = IPV4 + UDP + 4;
    let mut headers: [u8; IPV4 + UDP + BTH] = [0; IPV4 + UDP + BTH];
    headers.copy_from_slice(&packet[..IPV4 + UDP + BTH]);
    for place in
        [TYPE_OF_SERVICE, TTL, CHECKSUM, CHECKSUM + 1, UDP_CHECKSUM, UDP_CHECKSUM + 1, CONGESTION_BITS]
    {
        headers[place] = 0xFF;
    }
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[0xFF; 8]);
    crc.update(&headers);
    crc.update(&packet[IPV4 + UDP + BTH..]);
    crc.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CNP captured on a ConnectX-4 Lx, published with Scapy's tests of RoCE, from its IPv4 header to its ICRC.
    const CAPTURED: &str = "45c2003c718c4000401191610a0011010a001201 000012b700280000 8100ffff4000011800000000 \
                            00000000000000000000000000000000 82fd002a";

    #[test]
    fn the_icrc_is_that_of_a_real_nic() {
        let digits: Vec<u8> = CAPTURED.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
        let packet: Vec<u8> = digits.chunks(2).map(|pair| byte(pair).expect("hexadecimal")).collect();
        let (body, crc) = packet.split_at(packet.len() - ICRC);
        assert_eq!(icrc(body), crc);
    }
}
