//! Queues of a switch at its links between groups, as packets carry them to other switches of the group.

use super::PacketId;

/// What the packets of a pool carry: the same number of queues each.
pub(crate) struct Loads {
    /// Queues that a packet carries.
    pub each: usize,
    /// By packet: bytes in each queue.
    bytes: Vec<u32>,
}

impl Loads {
    /// Packets that carry so many queues each.
    pub fn new(each: usize) -> Loads {
        Loads { each, bytes: Vec::new() }
    }

    /// The queues that a packet carries.
    pub fn of(&self, id: PacketId) -> &[u32] {
        let first = id as usize * self.each;
        self.bytes.get(first..first + self.each).unwrap_or(&[])
    }

    /// The queues that a packet carries, to be written.
    pub fn of_mut(&mut self, id: PacketId) -> &mut [u32] {
        let first = id as usize * self.each;
        if self.bytes.len() < first + self.each {
            self.bytes.resize(first + self.each, 0);
        }
        &mut self.bytes[first..first + self.each]
    }
}
