//! What FNCC's ACKs read at a switch: ports' counters now, or as they were at the last refresh.

use xoff_schemes::int::PortReading;

use crate::event::{key, kind};
use crate::part::Part;
use crate::topology::PortId;

impl Part {
    /// What an ACK that came in by `port` reads of the data path's egress there (FNCC, Algorithm 1, line 8).
    #[inline]
    pub(crate) fn int_reading(&self, port: PortId) -> PortReading {
        self.int_table.get(port as usize).copied().unwrap_or_else(|| self.live_reading(port))
    }

    /// A port's counters now.
    #[inline]
    fn live_reading(&self, port: PortId) -> PortReading {
        let port = &self.ports[port as usize];
        PortReading {
            at: self.now,
            // The frame on the wire counts by the part that is through: whole frames would make the rate between
            // two readings jump by a frame's share.
            tx_bytes: port.sent_by(self.now),
            queue_bytes: port.queued_bytes,
            rate: port.rate,
        }
    }

    /// Takes the periodic snapshot of all ports' counters (FNCC, section 4.1).
    pub(crate) fn refresh_int_table(&mut self) {
        let mut table = std::mem::take(&mut self.int_table);
        if table.is_empty() {
            table.extend((0..self.ports.len() as u32).map(|p| self.live_reading(p)));
        }
        for &port in &self.own_ports {
            table[port as usize] = self.live_reading(port);
        }
        self.int_table = table;
        let next = self.now + self.net.settings.packets.int_refresh;
        self.events.push_common(next, key(kind::INT_REFRESH, 0));
    }
}
