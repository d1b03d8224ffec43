//! Host NICs as the simulator of HPCC's authors has them (`quirks.nic = "ns3"`), for comparison with it.
//!
//! All flows of a host stand in one list, by start, and are looked through in turn. When none may send, a timer is set
//! to the least pacing time of the flows with data left, whether their window lets them send or not; if that time is
//! past, no timer is set and the NIC waits for an ACK, a RESUME or a new flow. A timer that is set is moved by a change
//! of rate alone, and only to an earlier time.

use xoff_engine::Time;

use crate::event::{key, kind};
use crate::part::Part;
use crate::port::DATA;
use crate::topology::NodeId;

/// What such a NIC keeps.
#[derive(Default)]
pub(crate) struct Ns3Nic {
    /// Flows of the host; those that have completed go when the search for the next packet passes them.
    flows: Vec<u32>,
    /// Place of the flow that sent last.
    last: usize,
    /// The timer, where one is set.
    wake_at: Option<Time>,
    /// Timers set so far: only the event of the last one counts.
    wakes: u32,
}

impl Ns3Nic {
    /// Flows of the host, some that have completed among them.
    pub(crate) fn flows(&self) -> impl Iterator<Item = u32> {
        self.flows.iter().copied()
    }
}

impl Part {
    /// A new flow of a host.
    pub(crate) fn ns3_add(&mut self, node: NodeId, flow: u32) {
        self.nics[node as usize].ns3.flows.push(flow);
    }

    /// The NIC's timer has run out.
    pub(crate) fn ns3_wake(&mut self, node: NodeId, number: u32) {
        let nic = &mut self.nics[node as usize].ns3;
        if nic.wake_at.is_some() && nic.wakes == number {
            nic.wake_at = None;
            self.ns3_kick(node);
        }
    }

    /// A flow's rate was set anew, maybe to what it was.
    pub(crate) fn ns3_repace(&mut self, flow: u32) {
        let quirks = &self.net.settings.quirks;
        let Some(sender) = self.senders[flow as usize].as_deref_mut() else { return };
        sender.next_at = sender.due(quirks);
        let (node, at, next_at) = (sender.src, sender.next_at.max(self.now), sender.next_at);
        if self.breakdown.is_some() {
            self.note_held(flow);
        }
        if self.nics[node as usize].ns3.wake_at.is_some_and(|wake| next_at < wake) {
            self.ns3_set_timer(node, at);
        }
    }

    fn ns3_set_timer(&mut self, node: NodeId, at: Time) {
        let nic = &mut self.nics[node as usize].ns3;
        nic.wake_at = Some(at);
        nic.wakes = nic.wakes.wrapping_add(1);
        self.events.push(node, at, key(kind::NIC_WAKE, node), nic.wakes);
    }

    /// Sends the next packet of an idle NIC, or sets its timer.
    pub(crate) fn ns3_kick(&mut self, node: NodeId) {
        let port_id = self.nics[node as usize].port;
        let port = &mut self.ports[port_id as usize];
        if !port.is_idle(self.now) {
            return;
        }
        let (queued, paused) = (port.sendable(), port.paused);
        if queued != 0 {
            let class = port.choose(queued, self.strict);
            return self.send_queued(port_id, class);
        }
        let Some((place, flow)) = self.ns3_next(node, paused) else { return self.ns3_wait(node) };
        self.nics[node as usize].ns3.last = place;
        let class = DATA + self.net.flows[flow as usize].priority;
        self.emit(flow, port_id, class);
        if let Some(sender) = self.senders[flow as usize].as_deref_mut() {
            sender.next_at = sender.due(&self.net.settings.quirks);
        }
        if self.breakdown.is_some() {
            self.note_held(flow);
        }
    }

    /// The flow whose turn it is and its place, after completed flows that the search has passed are gone.
    fn ns3_next(&mut self, node: NodeId, paused: u16) -> Option<(usize, u32)> {
        let nic = &mut self.nics[node as usize].ns3;
        let count = nic.flows.len();
        let (mut found, mut first_done) = (None, None::<usize>);
        for turn in 1..=count {
            let place = (turn + nic.last) % count;
            let flow = nic.flows[place];
            match self.senders[flow as usize].as_deref() {
                None => first_done = Some(first_done.map_or(place, |p| p.min(place))),
                Some(sender) => {
                    let may =
                        paused & 1 << (DATA + sender.priority) == 0 && sender.may_send(self.net.least_window);
                    if may && sender.next_at <= self.now {
                        found = Some((place, flow));
                        break;
                    }
                }
            }
        }
        if let Some(first) = first_done {
            let senders = &self.senders;
            let mut place = 0;
            nic.flows.retain(|&flow| {
                place += 1;
                place <= first || senders[flow as usize].is_some()
            });
            found = found.and_then(|(_, flow)| Some((nic.flows.iter().position(|&f| f == flow)?, flow)));
        }
        found
    }

    /// Nothing may be sent now: sets the timer, unless one is set.
    fn ns3_wait(&mut self, node: NodeId) {
        let nic = &self.nics[node as usize].ns3;
        let open = nic.flows.iter().filter_map(|&f| self.senders[f as usize].as_deref());
        let least = open.filter(|s| s.snd_nxt < s.size).map(|s| s.next_at).min();
        if let Some(at) = least
            && nic.wake_at.is_none()
            && at > self.now
        {
            self.ns3_set_timer(node, at);
        }
    }
}
