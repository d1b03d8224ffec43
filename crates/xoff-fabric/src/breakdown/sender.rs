//! What holds a flow at its sender, at each moment one thing.
//!
//! In this order, the first that applies: its own frame is on the wire; it has sent all its data; its window is full; its
//! source has not made the data; its pacing time has not come; its priority is stopped; the port's throttle holds data
//! back; else it waits for the wire or its turn. All of these are constant between two events of the flow or its NIC,
//! but for moments that are known ahead, so the time since the last event is dealt out when the next one comes.

use xoff_engine::Time;

use super::Cause;
use crate::packet::{LAST, PacketId};
use crate::part::Part;
use crate::port::DATA;
use crate::sender::Standing;
use crate::topology::{NodeId, PortId};

/// Times by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent([Time; Cause::ALL.len()]);

impl Spent {
    pub fn of(&self, cause: Cause) -> Time {
        self.0[cause as usize]
    }
}

/// What holds a flow from a moment on, until the next event.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// What it waits for with all data sent.
    all_sent: Option<Cause>,
    window_full: bool,
    /// When the source has made the next packet's data.
    made_at: Time,
    /// When pacing lets it go.
    due: Time,
    paused: bool,
    throttled_until: Time,
}

/// A flow's account of its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    /// What lies before is dealt out.
    since: Time,
    held: Held,
    /// Until when the flow's last frame takes the wire, and whether it was sent for the first time.
    wire_until: Time,
    wire_cause: Cause,
    pub spent: Spent,
}

impl Account {
    /// Deals out the time up to now.
    pub fn settle(&mut self, now: Time) {
        let (held, spent) = (self.held, &mut self.spent.0);
        let mut at = self.since;
        let mut until = |end: Time, cause: Cause| {
            let end = end.min(now).max(at);
            spent[cause as usize] += end - at;
            at = end;
        };
        until(self.wire_until, self.wire_cause);
        if let Some(cause) = held.all_sent {
            until(now, cause);
        }
        if held.window_full {
            until(now, Cause::Window);
        }
        until(held.made_at, Cause::Source);
        until(held.due, Cause::Rate);
        if held.paused {
            until(now, Cause::Paused);
        }
        until(held.throttled_until, Cause::Throttled);
        until(now, Cause::Queueing);
        self.since = now;
    }
}

/// The accounts of a part's flows.
pub(crate) struct Breakdown {
    /// By flow, from its start to its end.
    accounts: Vec<Option<Box<Account>>>,
    /// By node: its flows under way.
    open: Vec<Vec<u32>>,
    /// By port: until when its throttle holds data back, as last asked.
    throttled_until: Vec<Time>,
}

impl Breakdown {
    /// No flow yet.
    pub fn new(flows: usize, nodes: usize, ports: usize) -> Box<Breakdown> {
        Box::new(Breakdown {
            accounts: vec![None; flows],
            open: vec![Vec::new(); nodes],
            throttled_until: vec![Time::ZERO; ports],
        })
    }

    /// The account of a flow under way.
    pub fn account_of(&mut self, flow: u32) -> Option<&mut Account> {
        self.accounts[flow as usize].as_deref_mut()
    }
}

impl Part {
    /// Something that may hold a flow has changed.
    #[cold]
    pub(crate) fn note_held(&mut self, flow: u32) {
        let now = self.now;
        let Some(held) = self.held(flow) else { return };
        let Some(breakdown) = self.breakdown.as_deref_mut() else { return };
        if let Some(account) = breakdown.account_of(flow) {
            account.settle(now);
            account.held = held;
            return;
        }
        let wire_cause = Cause::Serialization;
        let account = Account { since: now, held, wire_until: now, wire_cause, spent: Spent::default() };
        breakdown.accounts[flow as usize] = Some(Box::new(account));
        breakdown.open[self.net.flows[flow as usize].src as usize].push(flow);
    }

    /// A flow's packet is about to go onto the wire of its NIC's port; what its sender counts has been counted.
    #[cold]
    pub(crate) fn note_emission(&mut self, flow: u32, port: PortId, id: PacketId) {
        self.note_held(flow);
        let Some(sender) = self.senders[flow as usize].as_deref() else { return };
        let (packet, port) = (&self.packets[id], &self.ports[port as usize]);
        let (again, counts) =
            (sender.goes_again(packet.seq), packet.flags & LAST != 0 || self.net.settings.lossy);
        let wire_until = self.now + port.serialization(packet.size.into()) + port.gap;
        let Some(account) = self.breakdown.as_deref_mut().and_then(|b| b.account_of(flow)) else { return };
        account.wire_until = wire_until;
        account.wire_cause = if again { Cause::Recovery } else { Cause::Serialization };
        let spent = counts.then_some(account.spent);
        if let Some(ways) = &mut self.packets.ways {
            ways.begin(id, self.now, spent);
        }
    }

    /// What holds a flow from now on.
    fn held(&self, flow: u32) -> Option<Held> {
        let sender = self.senders[flow as usize].as_deref()?;
        let settings = &self.net.settings;
        let port = self.nics[sender.src as usize].port;
        let all_sent = sender.snd_nxt >= sender.size;
        let waits_for = if settings.lossy { Cause::Recovery } else { Cause::InFlight };
        Some(Held {
            all_sent: all_sent.then_some(waits_for),
            window_full: !sender.may_send(self.net.least_window),
            made_at: sender.made_at(),
            due: if self.ns3_nic || sender.standing == Standing::Ready {
                sender.next_at
            } else {
                sender.due(&settings.quirks)
            },
            paused: self.ports[port as usize].paused & 1 << (DATA + sender.priority) != 0,
            throttled_until: self.breakdown.as_deref()?.throttled_until[port as usize],
        })
    }

    /// A port was stopped or may go on: if it is a host's, that holds the host's flows.
    #[cold]
    pub(crate) fn note_port(&mut self, port: PortId) {
        let node = self.ports[port as usize].node;
        if self.net.is_host(node) {
            self.note_node(node);
        }
    }

    /// A host's throttle says until when it holds data back.
    #[cold]
    pub(crate) fn note_throttle_until(&mut self, port: PortId, until: Time) {
        let Some(breakdown) = self.breakdown.as_deref_mut() else { return };
        let before = std::mem::replace(&mut breakdown.throttled_until[port as usize], until);
        if before != until && before.max(until) > self.now {
            self.note_node(self.ports[port as usize].node);
        }
    }

    fn note_node(&mut self, node: NodeId) {
        let Some(breakdown) = self.breakdown.as_deref_mut() else { return };
        let flows = std::mem::take(&mut breakdown.open[node as usize]);
        for &flow in &flows {
            self.note_held(flow);
        }
        if let Some(breakdown) = self.breakdown.as_deref_mut() {
            breakdown.open[node as usize] = flows;
        }
    }

    /// A flow has ended, and needs no account any more.
    pub(crate) fn close_account(&mut self, flow: u32) {
        let Some(breakdown) = self.breakdown.as_deref_mut() else { return };
        breakdown.accounts[flow as usize] = None;
        breakdown.open[self.net.flows[flow as usize].src as usize].retain(|&f| f != flow);
    }
}
