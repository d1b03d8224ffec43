//! The contents of a packet's slice: its name, its arrow and its annotations.

use xoff_fabric::observe::capture::PacketRecord;
use xoff_fabric::packet::Kind;
use xoff_schemes::Mark;

use super::proto::DebugAnnotation;

/// Names of the annotations of a packet's slice. The number of an annotation is its index plus 1.
pub(super) const ANNOTATIONS: [&str; 6] =
    ["offset_bytes", "size_bytes", "priority", "mark", "rate_bps", "quanta"];

/// A kind's name.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Data => "data",
        Kind::Ack => "ACK",
        Kind::Nack => "NACK",
        Kind::Cnp => "CNP",
        Kind::Cnm => "CNM",
        Kind::Trimmed => "trimmed",
        Kind::Pull => "PULL",
        Kind::Rts => "RTS",
        Kind::Pfc => "PFC frame",
        Kind::CreditUpdate => "update of credits",
        Kind::Credit => "credit",
    }
}

/// The id of the arrow that connects a packet's slices. It is a hash of the flow and the time at which the packet left its
/// sender, which its ACK repeats: no two packets of a flow leave their sender at the same time.
pub(super) fn arrow(row: &PacketRecord) -> Option<u64> {
    let chain: u64 = match row.kind {
        Kind::Data | Kind::Trimmed | Kind::Ack | Kind::Nack => 1,
        Kind::Cnp => 2,
        Kind::Cnm => 3,
        Kind::Pull | Kind::Rts | Kind::Pfc | Kind::CreditUpdate | Kind::Credit => return None,
    };
    // A folded multiplication is a good hash: with 10^8 chains, two of them share an id with a probability of 3 in 10,000.
    let key = u128::from(row.sent_at.ps() ^ 0x9E37_79B9_7F4A_7C15)
        * u128::from((u64::from(row.flow.0) << 2 | chain).wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1);
    Some((key >> 64) as u64 ^ key as u64)
}

/// The annotations of a packet's slice.
pub(super) fn annotations(row: &PacketRecord) -> Vec<DebugAnnotation> {
    let number = |name: u64, value: u64| DebugAnnotation {
        name_iid: Some(name),
        uint_value: Some(value),
        string_value: None,
    };
    let mut all = vec![number(2, row.size.into())];
    match row.kind {
        Kind::Data | Kind::Trimmed | Kind::Ack | Kind::Nack => all.push(number(1, row.seq)),
        Kind::Cnm => all.push(number(5, row.seq)),
        Kind::Pfc => all.push(number(6, row.seq)),
        Kind::Cnp | Kind::Pull | Kind::Rts | Kind::CreditUpdate | Kind::Credit => {}
    }
    all.extend(row.priority().map(|priority| number(3, priority.into())));
    let mark = match row.mark {
        Mark::None => None,
        Mark::Ue => Some("UE"),
        Mark::Ce => Some("CE"),
    };
    all.extend(mark.map(|mark| DebugAnnotation {
        name_iid: Some(4),
        uint_value: None,
        string_value: Some(mark.to_string()),
    }));
    all
}
