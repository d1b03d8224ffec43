//! The table of packets.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, UInt64Builder};
use arrow_schema::{DataType, Field};
use xoff_fabric::Simulation;
use xoff_fabric::observe::capture::PacketRecord;
use xoff_fabric::packet::{HAS_RATE, Kind, NO_FLOW};
use xoff_schemes::Mark;

use super::columns::{Columns, strings};
use super::{Names, Table};

/// Names of the kinds of packets, in the order of [`Kind`].
const KINDS: [&str; 11] =
    ["data", "ack", "nack", "cnp", "cnm", "pfc", "trimmed", "pull", "rts", "credits", "credit"];

pub(super) fn packets(sim: &Simulation, names: &Names) -> Table {
    let packets = &sim.records().packets;
    let rows = packets.rows();
    let of = |kinds: &'static [Kind], value: fn(&PacketRecord) -> u64| {
        rows.iter().map(move |r| kinds.contains(&r.kind).then(|| value(r)))
    };
    let rate = |r: &PacketRecord| r.kind == Kind::Cnm || (r.kind == Kind::Cnp && r.flags & HAS_RATE != 0);
    let mark = |r: &PacketRecord| match r.mark {
        Mark::None => None,
        Mark::Ce => Some(0),
        Mark::Ue => Some(1),
    };
    // "element" is Parquet's own name for an element of a list.
    let element = Arc::new(Field::new("element", DataType::UInt64, true));
    let mut int = ListBuilder::new(UInt64Builder::new()).with_field(element);
    for row in rows {
        int.values().append_slice(packets.int(row));
        int.append(true);
    }
    Columns::new()
        .u64(
            "time_ps",
            "out: when its first bit goes onto the wire; in: when its last bit has arrived, or its header if switches cut \
             through; ps",
            rows.iter().map(|r| r.time.ps()),
        )
        .names("port", "the port", rows.iter().map(|r| r.port.0), &names.ports)
        .names(
            "direction",
            "out or in",
            rows.iter().map(|r| u32::from(r.inbound)),
            &strings(["out", "in"].into_iter().map(String::from)),
        )
        .names(
            "kind",
            "data, ack, nack, cnp (from a receiver), cnm (from a switch), pfc, trimmed, pull, rts, or credits (an update of \
             them)",
            rows.iter().map(|r| r.kind as u32),
            &strings(KINDS.into_iter().map(String::from)),
        )
        .u64_or_null(
            "flow",
            "flow id; null: a packet of flow control",
            rows.iter().map(|r| (r.flow != NO_FLOW).then_some(r.flow.0.into())),
        )
        .u64_or_null(
            "priority",
            "data priority, or the one that flow control concerns; null: a control packet, before all data",
            rows.iter().map(|r| r.priority().map(u64::from)),
        )
        .u64_or_null(
            "offset_bytes",
            "data: offset of its first payload byte in its connection; ack, nack: all bytes before this offset have arrived",
            of(&[Kind::Data, Kind::Ack, Kind::Nack], |r| r.seq),
        )
        .u64("size_bytes", "bytes on the wire", rows.iter().map(|r| r.size.into()))
        .u64("payload_bytes", "payload of data", rows.iter().map(|r| r.payload.into()))
        .u64("sent_ps", "when the packet, or the one that it acknowledges, was sent first, ps", rows.iter().map(|r| r.sent_at.ps()))
        .names_or_null(
            "mark",
            "ce or ue, on data, or as an ack or cnp brings it back; null: not marked",
            rows.iter().map(mark),
            &strings(["ce", "ue"].into_iter().map(String::from)),
        )
        .u64_or_null("rate_bps", "the rate that a cnp or cnm carries, bit/s", rows.iter().map(|r| rate(r).then_some(r.seq)))
        .u64_or_null("quanta", "pause time of a pfc frame in quanta of 512 bits; 0: resume", of(&[Kind::Pfc], |r| r.seq))
        .add(
            "int",
            "telemetry that the packet carries, a number per hop in the order of stamping: 4 bit rate, 24 bit ns, 20 bit bytes sent / 128, \
             16 bit bytes queued / 80",
            Arc::new(int.finish()),
        )
        .table("packets")
}
