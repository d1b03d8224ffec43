//! The flow table of a switch (SRCC, section III-D): for each flow the port by which it comes in, learned from its
//! data, and how many flows each egress queue has seen recently.

use std::collections::HashMap;

use xoff_engine::Time;

/// No entry.
const NONE: u32 = u32::MAX;

/// A flow in the table. Entries are linked in the order in which they were last seen.
#[derive(Clone, Copy, Debug)]
struct Entry {
    flow: u32,
    /// Port by which the flow comes in.
    port: u32,
    /// Egress queue to which the flow goes.
    queue: u32,
    seen: Time,
    /// When a message was last sent to the flow; `None` if none was.
    told: Option<Time>,
    older: u32,
    newer: u32,
}

/// A switch's flow table.
#[derive(Debug)]
pub struct FlowTable {
    window: Time,
    timeout: Time,
    /// By flow: its entry. Never iterated over.
    index: HashMap<u32, u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// The oldest entry that counts as active.
    first_active: u32,
    /// By egress queue: flows seen within the window.
    active: Vec<u32>,
    max_flows: usize,
}

impl FlowTable {
    /// An empty table of a switch with `queues` egress queues, whose flows are active for `window` after their last
    /// packet and forgotten after `timeout`, which is no shorter.
    pub fn new(queues: u32, window: Time, timeout: Time) -> Self {
        FlowTable {
            window,
            timeout,
            index: HashMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            first_active: NONE,
            active: vec![0; queues as usize],
            max_flows: 0,
        }
    }

    /// A packet of `flow` goes from `port` to `queue`; returns the flow's place in the table.
    pub fn touch(&mut self, now: Time, flow: u32, port: u32, queue: u32) -> u32 {
        self.advance(now);
        let place = match self.index.get(&flow).copied() {
            Some(place) => {
                if self.is_active(place, now) {
                    self.active[self.entries[place as usize].queue as usize] -= 1;
                }
                self.unlink(place);
                place
            }
            None => self.insert(flow),
        };
        let entry = &mut self.entries[place as usize];
        (entry.port, entry.queue, entry.seen) = (port, queue, now);
        (entry.older, entry.newer) = (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = place,
            newest => self.entries[newest as usize].newer = place,
        }
        self.newest = place;
        if self.first_active == NONE {
            self.first_active = place;
        }
        self.active[queue as usize] += 1;
        place
    }

    /// Number of flows of an egress queue within the window before the last packet.
    pub fn active(&self, queue: u32) -> u32 {
        self.active[queue as usize]
    }

    /// Whether the flow at `place` may be sent a message now, `interval` after the last one at the earliest. If so,
    /// notes the message.
    pub fn tell(&mut self, place: u32, now: Time, interval: Time) -> bool {
        let told = &mut self.entries[place as usize].told;
        let due = told.is_none_or(|last| last.saturating_add(interval) <= now);
        if due {
            *told = Some(now);
        }
        due
    }

    /// The port by which a flow comes in; `None` if the flow is not, or no longer, in the table.
    pub fn port(&mut self, now: Time, flow: u32) -> Option<u32> {
        self.advance(now);
        self.index.get(&flow).map(|&place| self.entries[place as usize].port)
    }

    /// Maximum number of flows in the table so far.
    pub fn max_flows(&self) -> usize {
        self.max_flows
    }

    fn is_active(&self, place: u32, now: Time) -> bool {
        self.entries[place as usize].seen.saturating_add(self.window) > now
    }

    /// Brings the ages of flows up to `now`.
    fn advance(&mut self, now: Time) {
        while self.first_active != NONE && !self.is_active(self.first_active, now) {
            let entry = &self.entries[self.first_active as usize];
            self.active[entry.queue as usize] -= 1;
            self.first_active = entry.newer;
        }
        while self.oldest != NONE {
            let (place, entry) = (self.oldest, self.entries[self.oldest as usize]);
            if entry.seen.saturating_add(self.timeout) > now {
                break;
            }
            self.unlink(place);
            self.index.remove(&entry.flow);
            self.free.push(place);
        }
    }

    fn insert(&mut self, flow: u32) -> u32 {
        let entry = Entry { flow, port: 0, queue: 0, seen: Time::ZERO, told: None, older: NONE, newer: NONE };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.index.insert(flow, place);
        self.max_flows = self.max_flows.max(self.index.len());
        place
    }

    /// Takes an entry out of the order.
    fn unlink(&mut self, place: u32) {
        let Entry { older, newer, .. } = self.entries[place as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        if self.first_active == place {
            self.first_active = newer;
        }
    }
}
