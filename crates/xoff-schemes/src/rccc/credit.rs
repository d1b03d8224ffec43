//! A sender's credit.

/// Bytes of a quantum of credit.
pub const QUANTUM: u64 = 256;

/// A sender's credit, in bytes on the wire. A packet may go while there is any: the last one may take it below zero.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    bytes: i64,
    /// Quanta that the receiver has granted since the start.
    pulled: u64,
    /// No ACK, NACK or PULL has come back.
    speculates: bool,
}

impl Credit {
    /// The speculative credit of a new flow.
    pub fn new(max: u64) -> Credit {
        Credit { bytes: max as i64, pulled: 0, speculates: true }
    }

    /// Whether a packet may go.
    pub fn is_open(&self) -> bool {
        self.bytes > 0
    }

    /// Bytes left; below zero if the last packet took more than there was.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// A packet of this many bytes goes.
    pub fn spend(&mut self, bytes: u64) {
        self.bytes -= bytes as i64;
    }

    /// Something has come back: speculation ends, and with it its credit.
    pub fn on_feedback(&mut self) {
        if std::mem::replace(&mut self.speculates, false) {
            self.bytes = 0;
        }
    }

    /// A PULL has arrived: the receiver has granted `total` quanta since the start.
    pub fn on_pull(&mut self, total: u64, max: u64) {
        self.on_feedback();
        let extra = total.saturating_sub(self.pulled);
        self.pulled += extra;
        self.bytes = (self.bytes + (extra * QUANTUM) as i64).min(max as i64);
    }

    /// What the receiver is told: the total number of quanta that it should have granted. `wanted` is what the sender
    /// could send now, at most `max`; while it speculates it wants a packet at least, if it has anything left; `flows` is the number of flows that wait at the NIC.
    pub fn demand(&self, wanted: u64, max: u64, flows: usize, mtu: u64) -> u64 {
        let missing = (wanted.min(max) as i64 - self.bytes).max(0) as u64;
        let share = missing / flows.max(1) as u64;
        let share = if self.speculates && wanted > 0 { share.max(mtu) } else { share };
        self.pulled + share.div_ceil(QUANTUM)
    }
}
