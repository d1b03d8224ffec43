//! Injection throttles at hosts: when the next data packet of a NIC may go, by the credits that the port uses.
//!
//! A throttle is told of each change of its port's used credits. Changes that follow from the time alone (flits that leave,
//! credits that come back one by one) it is told when it is next asked, unless they make no difference to it. Used credits
//! are the credits of packets that are on their way to the neighbour or, as far as the host knows, in the neighbour's
//! buffer. Without credits (PFC), a host knows only whether it is paused: while it is, the neighbour's threshold divided by
//! 16 B counts as used credits, otherwise none.

use xoff_engine::Time;
use xoff_schemes::throttle::{AnyGate, AnyThrottle};
use xoff_schemes::{Changes, Throttle, ThrottleEnv};

use super::Hosts;
use super::nic::NicScheduler;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::observe::Records;
use crate::observe::rows::ThrottleRecord;

/// Bytes of one credit if flow control has no credits: a flit.
const FLIT: u64 = 16;

/// The throttles of a partition's hosts.
pub(crate) struct Throttles {
    /// By port; `None` at switches and in other partitions.
    gates: Vec<Option<AnyGate>>,
    /// By port: the time up to which its throttle has been told.
    told: Vec<Time>,
    /// Credits that count as used while a port is paused, if flow control has no credits.
    paused: u64,
    /// Changes of state in one call; kept so that its allocation is used again.
    changes: Changes,
}

impl Throttles {
    /// A throttle at each host's port that is `owned`.
    pub fn new(params: &AnyThrottle, net: &Network, owned: impl Fn(NodeId) -> bool) -> Box<Throttles> {
        let gate = |port| {
            let node = net.topology.node_of(port);
            let env = ThrottleEnv { rate: net.topology.rate(port) };
            (net.is_host(node) && owned(node)).then(|| params.throttle(&env))
        };
        let threshold = net.settings.flow_control.stop_bytes(net.settings.switch.buffer, net.env.line_rate);
        let gates: Vec<Option<AnyGate>> = net.topology.port_ids().map(gate).collect();
        Box::new(Throttles {
            told: vec![Time::ZERO; gates.len()],
            gates,
            paused: threshold / FLIT,
            changes: Changes::new(),
        })
    }

    /// The number of credits that the port uses has changed; without credits, whether the port is paused has changed.
    fn on_credits<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) {
        self.catch_up(ctx.now, links, port);
        let Some(gate) = &mut self.gates[port.index()] else { return };
        let used = match C::used_credits(links, port, ctx.now) {
            Some(used) => used,
            None if links.ports[port.index()].paused != 0 => self.paused,
            None => 0,
        };
        gate.used_credits(ctx.now, used, &mut self.changes);
        record(&mut ctx.probes.records, port, &mut self.changes);
    }

    /// Tells a port's throttle of the changes of used credits, up to `now`, that follow from the time alone.
    fn catch_up<C: LinkControl>(&mut self, now: Time, links: &Links<C>, port: PortId) {
        let told = std::mem::replace(&mut self.told[port.index()], now);
        let Some(gate) = &mut self.gates[port.index()] else { return };
        let Some((fewest, most)) = C::credit_bounds(links, port, told) else { return };
        let mut at = if gate.is_indifferent(fewest, most) { now } else { told };
        while let Some(next) = C::next_credit_change(links, port, at).filter(|&next| next <= now) {
            gate.used_credits(next, C::used_credits(links, port, next).unwrap_or(0), &mut self.changes);
            at = next;
        }
        gate.used_credits(now, C::used_credits(links, port, now).unwrap_or(0), &mut self.changes);
    }

    /// A host's port sends a data packet of `bytes`, which takes its credits.
    pub fn on_send<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId, bytes: u64) {
        debug_assert!(!C::HAS_CREDITS || self.told[port.index()] == ctx.now, "it was asked whether to send");
        C::on_followed_departure(links, ctx, port, bytes);
        if let Some(gate) = &mut self.gates[port.index()] {
            gate.on_send(ctx.now, bytes, &mut self.changes);
            record(&mut ctx.probes.records, port, &mut self.changes);
        }
        if C::HAS_CREDITS {
            self.on_credits(ctx, links, port);
        }
    }

    /// When the next data packet may go from a host's port: now, later, or not before its used credits change by an event.
    fn ready_at<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) -> Time {
        self.catch_up(ctx.now, links, port);
        let Some(gate) = &mut self.gates[port.index()] else { return ctx.now };
        let until = gate.ready_at(ctx.now, &mut self.changes);
        record(&mut ctx.probes.records, port, &mut self.changes);
        let moves = until > ctx.now && C::next_credit_change(links, port, ctx.now).is_some();
        if moves { foresee(gate.clone(), links, port, ctx.now) } else { until }
    }
}

/// When the next data packet may go by a `gate` that holds it back `now`, with used credits that change by themselves.
fn foresee<C: LinkControl>(mut gate: AnyGate, links: &Links<C>, port: PortId, now: Time) -> Time {
    let (mut at, mut changes) = (now, Changes::new());
    while let Some(next) = C::next_credit_change(links, port, at) {
        let mut before = gate.clone();
        gate.used_credits(next, C::used_credits(links, port, next).unwrap_or(0), &mut changes);
        if gate.is_ready() {
            return before.ready_at(at, &mut changes).min(next);
        }
        at = next;
    }
    gate.ready_at(at, &mut changes)
}

/// Records changes of a port's throttle.
fn record(records: &mut Records, port: PortId, changes: &mut Changes) {
    if records.recording.throttles {
        let rows = changes.iter().map(|&(time, state)| ThrottleRecord { time, port, state });
        records.throttles.extend(rows);
    }
    changes.clear();
}

impl<N: NicScheduler> Hosts<N> {
    /// The credits of a host's port have changed.
    pub(super) fn throttle_credits<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) {
        if let Some(throttles) = &mut self.throttles {
            throttles.on_credits(ctx, links, port);
        }
    }

    /// A host's port was paused or resumed. With credits, changes of the credits tell the throttle, and this does nothing.
    pub(super) fn throttle_pause<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) {
        if !C::HAS_CREDITS {
            self.throttle_credits(ctx, links, port);
        }
    }

    /// When the next data packet may go from a host's port: now, later, or not before its used credits change.
    #[inline]
    pub(super) fn throttled_until<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        port: PortId,
    ) -> Time {
        if self.throttles.is_none() && self.costs.is_none() {
            return ctx.now;
        }
        self.gate_until(ctx, links, port)
    }

    fn gate_until<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) -> Time {
        let until = self.throttles.as_mut().map_or(ctx.now, |throttles| throttles.ready_at(ctx, links, port));
        let nic = self.nic_of(links, port);
        let held_until = until.max(self.next_packet(nic));
        let (now, breakdown) = (ctx.now, &mut ctx.probes.breakdown);
        if breakdown.as_mut().is_some_and(|breakdown| breakdown.on_throttle(now, port, held_until)) {
            self.on_nic_changed(ctx, links, nic);
        }
        until
    }

    /// Advances all throttles to the end of the run.
    pub(super) fn close_throttles<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>) {
        for port in PortId::all(links.ports.len()) {
            if ctx.boundary.owns(ctx.net.topology.node_of(port)) {
                self.throttled_until(ctx, links, port);
            }
        }
    }
}
