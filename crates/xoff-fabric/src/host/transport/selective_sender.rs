//! The sender's side of transports with selective acknowledgement: which packets are in flight, acknowledged or lost.

use std::collections::{BTreeSet, VecDeque};

use crate::host::sender::{Segment, SendStream};
use crate::ids::FlowId;
use crate::packet::LAST;
use crate::settings::{Host, Transport};

/// A packet that was sent and may be missing.
#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: u64,
    payload: u16,
    flow: FlowId,
    flags: u8,
    acked: bool,
    /// The packet was sent again since the last timeout: another NACK does not mark it as lost once more.
    again: bool,
}

/// The packets of a connection between the first that is missing and the next new one.
pub(crate) struct SelectiveSender {
    /// Number of the first of these packets.
    first: u32,
    slots: VecDeque<Slot>,
    /// Numbers, counted from the beginning of the connection, of packets to be sent again.
    lost: BTreeSet<u32>,
    /// No new packet is sent with this number of payload bytes in flight (IRN, section 3.2: BDP-FC); `None` for no limit.
    cap: Option<u64>,
}

impl SelectiveSender {
    /// The state of a connection under `host`'s transport, with `cap` as limit of bytes in flight if `host` sets a limit;
    /// `None` under go-back-N.
    pub fn new(host: &Host, cap: u64) -> Option<Box<SelectiveSender>> {
        (host.transport != Transport::GoBackN).then(|| {
            Box::new(SelectiveSender {
                first: 0,
                slots: VecDeque::new(),
                lost: BTreeSet::new(),
                cap: host.bdp_cap.then_some(cap),
            })
        })
    }

    /// Whether a new packet may go: no lost packet waits, and the cap is not reached.
    pub fn may_send_new(&self, stream: &SendStream) -> bool {
        self.lost.is_empty() && self.cap.is_none_or(|cap| stream.snd_nxt - stream.snd_una < cap)
    }

    /// Whether a packet waits to be sent again.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The first packet to be sent again.
    pub fn next_lost(&self) -> Option<Segment> {
        let &number = self.lost.first()?;
        let slot = self.slots.get(number.wrapping_sub(self.first) as usize)?;
        Some(Segment {
            offset: slot.offset,
            payload: slot.payload.into(),
            number,
            last: slot.flags & LAST != 0,
            again: true,
        })
    }

    /// Registers a packet that is sent, which belongs to message `flow` if it is new; returns the packet's message.
    pub fn on_send(&mut self, segment: &Segment, flow: FlowId, stream: &mut SendStream) -> FlowId {
        if segment.again {
            self.lost.remove(&segment.number);
            let slot = self.slots.get_mut(segment.number.wrapping_sub(self.first) as usize);
            return slot.map_or(flow, |slot| {
                slot.again = true;
                slot.flow
            });
        }
        let flags = if segment.last { LAST } else { 0 };
        self.slots.push_back(Slot {
            offset: segment.offset,
            payload: segment.payload as u16,
            flow,
            flags,
            acked: false,
            again: false,
        });
        stream.snd_nxt += segment.payload;
        stream.next_packet = segment.number.wrapping_add(1);
        flow
    }

    /// All bytes before `seq` and the packet with this `number` have arrived; returns how many bytes are newly acknowledged.
    pub fn on_ack(&mut self, seq: u64, number: u32, stream: &mut SendStream) -> u64 {
        let mut newly_acked = 0;
        if let Some(slot) = self.slots.get_mut(number.wrapping_sub(self.first) as usize)
            && !std::mem::replace(&mut slot.acked, true)
        {
            newly_acked += u64::from(slot.payload);
            stream.sacked += u64::from(slot.payload);
            self.lost.remove(&number);
        }
        while let Some(slot) = self.slots.front()
            && (slot.acked || slot.offset + u64::from(slot.payload) <= seq)
        {
            let payload = u64::from(slot.payload);
            if slot.acked {
                stream.sacked -= payload;
            } else {
                newly_acked += payload;
                self.lost.remove(&self.first);
            }
            stream.snd_una = slot.offset + payload;
            self.slots.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        newly_acked
    }

    /// The packet with this `number` arrived behind a gap: missing packets before it are lost, unless they were sent again
    /// already (IRN, section 3.1). Returns whether this call marked any packet as lost.
    pub fn on_gap(&mut self, number: u32) -> bool {
        let before = self.lost.len();
        let until = number.wrapping_sub(self.first) as usize;
        if until > self.slots.len() {
            return false; // an ACK overtook the NACK: all data up to the NACK's packet has arrived
        }
        for (place, slot) in self.slots.iter().take(until).enumerate() {
            if !slot.acked && !slot.again {
                self.lost.insert(self.first.wrapping_add(place as u32));
            }
        }
        self.lost.len() > before
    }

    /// No ACK made progress for the timeout: all missing packets are lost.
    pub fn on_timeout(&mut self) {
        for (place, slot) in self.slots.iter_mut().enumerate() {
            slot.again = false;
            if !slot.acked {
                self.lost.insert(self.first.wrapping_add(place as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(packets: u32) -> (SelectiveSender, SendStream) {
        let host = Host { transport: Transport::SelectiveRepeat, ..Host::default() };
        let mut sender = *SelectiveSender::new(&host, 0).expect("selective");
        let mut stream = SendStream::default();
        for number in 0..packets {
            let offset = u64::from(number) * 1_000;
            let segment = Segment { offset, payload: 1_000, number, last: false, again: false };
            sender.on_send(&segment, FlowId(0), &mut stream);
        }
        (sender, stream)
    }

    #[test]
    fn what_is_missing_before_a_gap_is_sent_again_once() {
        // Packets 0 to 4 are in flight; 0 arrives, then 3: packets 1 and 2 are lost. In flight: 1, 2, 4.
        let (mut sender, mut stream) = sender(5);
        assert_eq!(sender.on_ack(1_000, 0, &mut stream), 1_000);
        assert_eq!(sender.on_ack(1_000, 3, &mut stream), 1_000);
        assert!(sender.on_gap(3));
        assert_eq!((stream.snd_una, stream.sacked, stream.in_flight()), (1_000, 1_000, 3_000));
        for number in [1, 2] {
            let segment = sender.next_lost().expect("a lost packet");
            assert_eq!((segment.number, segment.offset), (number, u64::from(number) * 1_000));
            sender.on_send(&segment, FlowId(0), &mut stream);
        }
        // Packet 4 arrives behind the same gap: nothing is lost anew.
        assert_eq!(sender.on_ack(1_000, 4, &mut stream), 1_000);
        assert!(!sender.on_gap(4) && !sender.has_lost());
        // Packet 1 closes half of the gap, packet 2 the rest: all 5,000 B are acknowledged.
        assert_eq!(sender.on_ack(2_000, 1, &mut stream), 1_000);
        assert_eq!(sender.on_ack(5_000, 2, &mut stream), 1_000);
        assert_eq!((stream.snd_una, stream.sacked, stream.in_flight()), (5_000, 0, 0));
    }

    #[test]
    fn an_overtaken_nack_loses_nothing() {
        // Packets 0 to 4 are in flight; 2 comes first, then 0 and 1, whose ACK of 3,000 B overtakes the NACK of packet 2.
        let (mut sender, mut stream) = sender(5);
        assert_eq!(sender.on_ack(3_000, 1, &mut stream), 3_000);
        assert_eq!(sender.on_ack(0, 2, &mut stream), 0);
        assert!(!sender.on_gap(2) && !sender.has_lost());
        assert_eq!((stream.snd_una, stream.in_flight()), (3_000, 2_000));
    }

    #[test]
    fn a_timeout_loses_all_that_is_missing() {
        let (mut sender, mut stream) = sender(3);
        sender.on_ack(0, 1, &mut stream);
        sender.on_timeout();
        assert_eq!(sender.lost.iter().copied().collect::<Vec<_>>(), [0, 2]);
        assert!(!sender.may_send_new(&stream), "what is lost goes first");
    }
}
