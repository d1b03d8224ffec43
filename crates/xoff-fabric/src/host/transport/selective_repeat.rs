//! Selective repeat, as in IRN (Mittal et al., SIGCOMM 2018, section 3): the receiver keeps what comes behind a gap and
//! delivers it in order. It answers such a packet with a NACK that names both the first missing byte and the packet that
//! arrived; the sender sends only the missing packets again.

use super::Verdict;
use super::arrivals::Arrivals;
use crate::packet::Packet;

/// A data packet has arrived.
pub(super) fn on_data(arrivals: &mut Arrivals, packet: &Packet) -> Verdict {
    let before = arrivals.prefix();
    if !arrivals.add(packet, None) {
        return Verdict::Again;
    }
    if packet.seq > before { Verdict::Kept } else { Verdict::taken(before, packet, arrivals) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::ids::PortId;
    use crate::packet::{DATA, LAST};
    use xoff_engine::Time;

    fn packet(number: u32) -> Packet {
        let mut packet = Packet::data(
            FlowId(7),
            u64::from(number) * 1_000,
            number,
            1_000,
            1_062,
            DATA,
            PortId(0),
            Time::ZERO,
        );
        packet.flags = if number == 2 { LAST } else { 0 };
        packet
    }

    #[test]
    fn a_gap_is_told_and_what_comes_behind_it_is_kept() {
        // Packets 0, 2, 1 of a message of three: 2 comes behind a gap; with 1 all 3,000 B are there.
        let mut arrivals = Arrivals::new(FlowId(7));
        assert_eq!(on_data(&mut arrivals, &packet(0)), Verdict::Taken { in_order: true });
        assert_eq!(on_data(&mut arrivals, &packet(2)), Verdict::Kept);
        assert_eq!((arrivals.prefix(), arrivals.take_complete()), (1_000, vec![]));
        assert_eq!(on_data(&mut arrivals, &packet(2)), Verdict::Again);
        // The packet that closes the gap is answered at once, however many packets an ACK collects.
        assert_eq!(on_data(&mut arrivals, &packet(1)), Verdict::Taken { in_order: false });
        assert_eq!((arrivals.prefix(), arrivals.take_complete()), (3_000, vec![FlowId(7)]));
    }
}
