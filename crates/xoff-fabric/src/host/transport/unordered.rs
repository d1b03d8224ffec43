//! Unordered delivery: the receiver takes packets in any order; an ACK names the packet's number and the prefix that has
//! arrived without a gap. A message is complete when all of it is there, whatever other messages lack.

use super::Verdict;
use super::arrivals::Arrivals;
use crate::packet::Packet;

/// A data packet of a message of `size` bytes has arrived; `size` is `None` for an endless message.
pub(super) fn on_data(arrivals: &mut Arrivals, packet: &Packet, size: Option<u64>) -> Verdict {
    let before = arrivals.prefix();
    if !arrivals.add(packet, size) {
        return Verdict::Again;
    }
    Verdict::taken(before, packet, arrivals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::ids::PortId;
    use crate::packet::{DATA, LAST};
    use xoff_engine::Time;

    /// Packet `number` of message `flow`; two messages of two packets each share the connection.
    fn packet(flow: FlowId, number: u32) -> Packet {
        let mut packet =
            Packet::data(flow, u64::from(number) * 1_000, number, 1_000, 1_062, DATA, PortId(0), Time::ZERO);
        packet.flags = if number % 2 == 1 { LAST } else { 0 };
        packet
    }

    #[test]
    fn a_message_is_complete_when_all_of_it_is_there() {
        // Message 4 is packets 0 and 1, message 5 is packets 2 and 3. They come as 1, 3, 2, 0: message 5 is complete with
        // packet 2, although packet 0 of message 4 is missing.
        let mut arrivals = Arrivals::new(FlowId(4));
        for (flow, number, complete) in
            [(4, 1, None), (5, 3, None), (5, 2, Some(FlowId(5))), (4, 0, Some(FlowId(4)))]
        {
            let verdict = on_data(&mut arrivals, &packet(FlowId(flow), number), Some(2_000));
            assert_eq!(verdict, Verdict::Taken { in_order: false }, "packet {number}");
            assert_eq!(arrivals.take_complete(), complete.into_iter().collect::<Vec<_>>(), "packet {number}");
        }
        assert_eq!(arrivals.prefix(), 4_000);
        assert_eq!(on_data(&mut arrivals, &packet(FlowId(4), 0), Some(2_000)), Verdict::Again);
    }
}
