//! What holds a flow at its sender, at each moment one thing.
//!
//! In this order, the first that applies: its own frame is on the wire; it has sent all its data; its window is full; its
//! source has not made the data; its pacing time has not come; its priority is stopped; the port's throttle holds data
//! back; else it waits for the wire or its turn. All of these are constant between two events of the flow or its NIC,
//! but for moments that are known ahead, so the time since the last event is dealt out when the next one comes.

use xoff_engine::Time;

use super::Cause;
use crate::ids::{FlowId, NodeId, PortId};
use crate::packet::way::{CAUSES, Spent};

/// What holds a flow from a moment on, until the next event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    /// What the flow waits for with all data sent.
    pub all_sent: Option<Cause>,
    /// As many bytes are in flight as the window allows.
    pub window_full: bool,
    /// When the source has made the next packet's data.
    pub data_ready_at: Time,
    /// When pacing lets the next packet go.
    pub departs_at: Time,
    /// The priority is stopped at the host's port.
    pub paused: bool,
    /// Until when the port's throttle holds data back.
    pub throttled_until: Time,
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
        let (held, spent) = (self.held, &mut self.spent);
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
        until(held.data_ready_at, Cause::Source);
        until(held.departs_at, Cause::Rate);
        if held.paused {
            until(now, Cause::Paused);
        }
        until(held.throttled_until, Cause::Throttled);
        until(now, Cause::Queueing);
        self.since = now;
    }
}

/// The accounts of a partition's flows.
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
    pub fn account_of(&mut self, flow: FlowId) -> Option<&mut Account> {
        self.accounts[flow as usize].as_deref_mut()
    }

    /// Something that may hold a flow of a host has changed.
    #[cold]
    pub fn on_held(&mut self, now: Time, flow: FlowId, node: NodeId, held: Held) {
        if let Some(account) = self.account_of(flow) {
            account.settle(now);
            account.held = held;
            return;
        }
        let (wire_cause, spent) = (Cause::Serialization, [Time::ZERO; CAUSES]);
        let account = Account { since: now, held, wire_until: now, wire_cause, spent };
        self.accounts[flow as usize] = Some(Box::new(account));
        self.open[node as usize].push(flow);
    }

    /// A flow's frame takes the wire until a time, again if it was sent before; says what the flow's time was spent with
    /// until now.
    #[cold]
    pub fn on_emission(&mut self, now: Time, flow: FlowId, wire_until: Time, again: bool) -> Option<Spent> {
        let account = self.account_of(flow)?;
        // A packet that goes again may be of a message before the current one of its connection.
        account.settle(now);
        account.wire_until = wire_until;
        account.wire_cause = if again { Cause::Recovery } else { Cause::Serialization };
        Some(account.spent)
    }

    /// Flows of a host that are under way.
    pub fn flows_of(&self, node: NodeId) -> Vec<FlowId> {
        self.open[node as usize].clone()
    }

    /// Until when a port's throttle holds data back, as last asked.
    pub fn throttled_until(&self, port: PortId) -> Time {
        self.throttled_until[port as usize]
    }

    /// A host's throttle says until when it holds data back; says whether that may hold flows from now on.
    pub fn on_throttle(&mut self, now: Time, port: PortId, until: Time) -> bool {
        let before = std::mem::replace(&mut self.throttled_until[port as usize], until);
        before != until && before.max(until) > now
    }

    /// A flow of a host has ended, and needs no account any more.
    pub fn close(&mut self, flow: FlowId, node: NodeId) {
        self.accounts[flow as usize] = None;
        self.open[node as usize].retain(|&f| f != flow);
    }
}
