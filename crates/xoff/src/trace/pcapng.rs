//! A capture in pcapng, with an interface for each port.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use xoff_fabric::topology::{NodeId, PortId};

use super::Trace;
use super::addresses::mac;
use super::frame::Framer;

/// Time stamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Picoseconds in a nanosecond.
const PS: u64 = 1000;
/// The direction in the flags of a packet (pcapng's `epb_flags`, bits 0 and 1).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Writes the packets of a run. Time 0 of the run is time 0 of the file.
pub fn write(trace: &Trace, snap_length: u32, out: &mut impl Write) -> io::Result<()> {
    blocks(trace, snap_length, out).map_err(|error| match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    })
}

fn blocks(trace: &Trace, snap_length: u32, out: &mut impl Write) -> Result<(), PcapError> {
    let framer = Framer::new(trace, snap_length);
    let section = SectionHeaderBlock {
        // A fixed byte order gives the same file on every machine.
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(trace.about.clone().into()),
            SectionHeaderOption::UserApplication(concat!("xoff ", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..SectionHeaderBlock::default()
    };
    let mut file = PcapNgWriter::with_section_header(out, section)?;
    for &port in &trace.ports {
        file.write_pcapng_block(interface(trace, port, snap_length))?;
    }
    file.write_pcapng_block(names(trace, &framer))?;
    let rows = trace.records.packets.rows();
    for row in rows {
        // `ports` is sorted.
        let Ok(interface) = trace.ports.binary_search(&row.port) else { continue };
        let frame = framer.frame(row);
        file.write_pcapng_block(EnhancedPacketBlock {
            interface_id: interface as u32,
            timestamp: Duration::from_nanos(row.time.ps() / PS),
            original_len: frame.length as u32,
            data: Cow::Owned(frame.bytes),
            options: vec![EnhancedPacketOption::Flags(if row.inbound { INBOUND } else { OUTBOUND })],
        })?;
    }
    Ok(())
}

fn interface(trace: &Trace, port: PortId, snap_length: u32) -> InterfaceDescriptionBlock<'static> {
    let topology = &trace.net.topology;
    let name = |port: PortId| &topology.nodes[topology.node_of(port).index()].name;
    let about = format!("port of {} on its link with {}", name(port), name(port.peer()));
    InterfaceDescriptionBlock {
        linktype: DataLink::ETHERNET,
        snaplen: snap_length,
        options: vec![
            InterfaceDescriptionOption::IfName(topology.port_name(port).into()),
            InterfaceDescriptionOption::IfDescription(about.into()),
            InterfaceDescriptionOption::IfMacAddr(mac(port).to_vec().into()),
            InterfaceDescriptionOption::IfSpeed(topology.rate(port).bps()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            // No frame check sequence is in the file.
            InterfaceDescriptionOption::IfFcsLen(0),
        ],
    }
}

/// The names of all nodes by their addresses.
fn names(trace: &Trace, framer: &Framer<'_>) -> NameResolutionBlock<'static> {
    let nodes = trace.net.topology.nodes.iter().enumerate();
    let record = |(node, of): (usize, &xoff_fabric::topology::Node)| {
        Record::Ipv4(Ipv4Record {
            ip_addr: framer.addresses.of(NodeId::at(node)).to_vec().into(),
            names: vec![of.name.clone().into()],
        })
    };
    NameResolutionBlock { records: nodes.map(record).collect(), options: Vec::new() }
}
