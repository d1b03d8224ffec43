//! The telemetry that schemes add to headers, as bytes of a packet's payload. `docs/packets.md` has the layout.

use xoff_fabric::Network;
use xoff_fabric::observe::capture::PacketRecord;
use xoff_fabric::packet::{HAS_RATE, Kind};
use xoff_schemes::signals::INT_RECORD_BYTES;
use xoff_schemes::{IntPath, Mark};

use super::CodePoints;

/// Appends the telemetry of a data packet or ACK, with as many bytes as the network counts for it.
pub fn append(net: &Network, row: &PacketRecord, int: &[u64], bytes: &mut Vec<u8>) {
    let is_data = row.kind == Kind::Data;
    let signals = &net.signals;
    if signals.int == IntPath::Data || (signals.int == IntPath::Ack && !is_data) {
        // HPCC, Fig. 7: the number of hops in 4 bits and the path id in 12 bits, which no scheme here reads.
        bytes.extend(((int.len() as u16) << 12).to_be_bytes());
        int.iter().for_each(|record| bytes.extend(record.to_be_bytes()));
        if signals.int == IntPath::Data {
            // The sender reserves the bytes of all hops.
            let room = usize::from(net.settings.packets.int_hops).saturating_sub(int.len());
            bytes.resize(bytes.len() + room * INT_RECORD_BYTES as usize, 0);
        }
    }
    if signals.timestamp {
        bytes.extend(row.sent_at.ps().to_be_bytes());
    }
    if signals.flow_count && !is_data {
        bytes.extend(row.flow_count.to_be_bytes());
    }
    if signals.label {
        bytes.push(row.label);
    }
}

/// The 16 bytes that a CNP reserves (IBTA, Annex A17.9.3). They are zero with DCQCN. Otherwise they hold the rate, if the
/// scheme sends one, the congestion point of a CNM, and the code point of a CNP if there are three code points.
pub fn notification(row: &PacketRecord, code_points: CodePoints) -> [u8; 16] {
    let mut bytes = [0; 16];
    if row.kind == Kind::Cnm || row.flags & HAS_RATE != 0 {
        bytes[..8].copy_from_slice(&row.seq.to_be_bytes());
    }
    if row.kind == Kind::Cnm {
        bytes[8..12].copy_from_slice(&row.point.to_be_bytes());
    } else if code_points == CodePoints::Ternary {
        bytes[12] = match row.mark {
            Mark::None => 0b01,
            Mark::Ue => 0b10,
            Mark::Ce => 0b11,
        };
    }
    bytes
}
