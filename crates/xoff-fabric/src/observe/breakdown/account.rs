//! What holds a flow at its sender: one cause at each moment.
//!
//! The cause is the first that applies, in this order: the flow's own frame is on the wire; the flow has sent all its data;
//! its window is full; its source has not made the data; its pacing time has not come; its priority is stopped; the port's
//! throttle holds data back; otherwise the flow waits for the wire or its turn. Between two events of the flow or its NIC
//! these change only at times that are known ahead, so the time since the last event is split when the next event comes.

use xoff_engine::Time;

use super::Cause;
use crate::ids::{FlowId, NodeId, PortId};
use crate::packet::way::{CAUSES, Spent};

/// What holds a flow from now until the next event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    /// What the flow waits for with all data sent.
    pub all_sent: Option<Cause>,
    /// As many bytes are in flight as the window allows.
    pub window_full: bool,
    /// When the source makes the next packet.
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
    /// The time before this is in `spent`.
    since: Time,
    held: Held,
    /// Until when the flow's last frame takes the wire.
    wire_until: Time,
    /// The cause of the last frame's time: serialization, or recovery if the frame was a retransmission.
    wire_cause: Cause,
    /// Time by cause.
    pub spent: Spent,
}

impl Account {
    /// Splits the time up to now among causes.
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
    open: Vec<Vec<FlowId>>,
    /// By port: until when its throttle holds data back, by the throttle's last answer.
    throttled_until: Vec<Time>,
}

impl Breakdown {
    /// No accounts yet.
    pub fn new(flows: usize, nodes: usize, ports: usize) -> Box<Breakdown> {
        Box::new(Breakdown {
            accounts: vec![None; flows],
            open: vec![Vec::new(); nodes],
            throttled_until: vec![Time::ZERO; ports],
        })
    }

    /// Makes room for this number of flows.
    pub fn grow(&mut self, flows: usize) {
        self.accounts.resize(flows, None);
    }

    /// The account of a flow under way.
    pub fn account_of(&mut self, flow: FlowId) -> Option<&mut Account> {
        self.accounts[flow.index()].as_deref_mut()
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
        self.accounts[flow.index()] = Some(Box::new(account));
        self.open[node.index()].push(flow);
    }

    /// A flow's frame takes the wire until `wire_until`; `again` says that it is a retransmission. Returns the flow's time
    /// by cause up to now; `None` if the flow has no account.
    #[cold]
    pub fn on_emission(&mut self, now: Time, flow: FlowId, wire_until: Time, again: bool) -> Option<Spent> {
        let account = self.account_of(flow)?;
        // A retransmission may belong to a message before the connection's current one.
        account.settle(now);
        account.wire_until = wire_until;
        account.wire_cause = if again { Cause::Recovery } else { Cause::Serialization };
        Some(account.spent)
    }

    /// Flows of a host that are under way.
    pub fn flows_of(&self, node: NodeId) -> Vec<FlowId> {
        self.open[node.index()].clone()
    }

    /// Until when a port's throttle holds data back, by the throttle's last answer.
    pub fn throttled_until(&self, port: PortId) -> Time {
        self.throttled_until[port.index()]
    }

    /// Takes a throttle's answer until when it holds data back; returns whether that changes what holds flows.
    pub fn on_throttle(&mut self, now: Time, port: PortId, until: Time) -> bool {
        let before = std::mem::replace(&mut self.throttled_until[port.index()], until);
        before != until && before.max(until) > now
    }

    /// Drops the account of a host's flow, which has ended.
    pub fn close(&mut self, flow: FlowId, node: NodeId) {
        self.accounts[flow.index()] = None;
        self.open[node.index()].retain(|&f| f != flow);
    }
}
