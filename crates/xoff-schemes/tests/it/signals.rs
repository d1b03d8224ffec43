//! Bytes that signals take on the wire: a record of INT has 4 + 24 + 20 + 16 = 64 bits (FNCC, section 4.3).

use xoff_schemes::{IntPath, Signals};

#[test]
fn each_signal_takes_its_bytes() {
    let with = |int, timestamp, flow_count| Signals { int, timestamp, flow_count, ..Signals::default() };
    let bytes = |signals: Signals| (signals.data_bytes(5), signals.ack_bytes(5), signals.ack_bytes_per_hop());
    assert_eq!(bytes(with(IntPath::Off, false, false)), (0, 0, 0));
    // A header of 2 B and five records of 8 B: 42 B on data, and on the ACK that brings them back (HPCC).
    assert_eq!(bytes(with(IntPath::Data, false, false)), (42, 42, 0));
    // FNCC's ACKs leave with the header and grow at each switch.
    assert_eq!(bytes(with(IntPath::Ack, false, false)), (0, 2, 8));
    // A timestamp of 8 B goes and comes back; N, 2 B, comes with ACKs alone.
    assert_eq!(bytes(with(IntPath::Off, true, true)), (8, 10, 0));
    assert_eq!(bytes(with(IntPath::Data, true, true)), (50, 52, 0));
    // A label is a byte, there and back.
    let label = Signals { label: true, timestamp: true, ..Signals::default() };
    assert_eq!(bytes(label), (9, 9, 0));
}
