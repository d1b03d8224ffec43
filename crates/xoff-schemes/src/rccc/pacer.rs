//! A receiver's PULLs to all its senders.

use std::collections::{BTreeMap, VecDeque};

use xoff_engine::{Rate, Time};

use super::Rccc;
use super::credit::QUANTUM;

/// A PULL of no quanta takes the time of this many.
const EMPTY_PULL: u64 = 4;

/// A flow at its receiver.
#[derive(Clone, Copy, Debug, Default)]
struct Puller {
    /// Quanta that the sender wants to have got since the start.
    target: u64,
    /// Quanta granted since the start.
    pulled: u64,
    /// Quanta for packets that were trimmed.
    again: u64,
    /// Quanta that may be granted beyond `target`.
    ahead: u64,
    waits: Waits,
}

/// In which list a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Nowhere,
    /// It wants credit.
    Wanting,
    /// It has got all that it wanted.
    Satisfied,
}

/// A PULL to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// The flow.
    pub flow: u32,
    /// Quanta granted since the flow's start.
    pub total: u64,
    /// The flow got more than it wanted, for what it may want next.
    pub is_slow: bool,
}

/// The pacer of a receiver: flows that want credit take turns; while none does, satisfied flows get some ahead.
#[derive(Clone, Debug)]
pub struct Pacer {
    rate: Rate,
    per_pull: u64,
    share: f64,
    flows: BTreeMap<u32, Puller>,
    wanting: VecDeque<u32>,
    satisfied: VecDeque<u32>,
    /// When the next PULL may go.
    next_at: Time,
}

impl Pacer {
    /// A pacer without flows at a host whose link has this rate.
    pub fn new(params: &Rccc, rate: Rate) -> Pacer {
        Pacer {
            rate,
            per_pull: params.pull_quanta.into(),
            share: params.pull_rate,
            flows: BTreeMap::new(),
            wanting: VecDeque::new(),
            satisfied: VecDeque::new(),
            next_at: Time::ZERO,
        }
    }

    /// A packet of a flow has said that its sender wants `target` quanta since the start; at most `ahead` bytes may be
    /// granted beyond that.
    pub fn on_target(&mut self, flow: u32, target: u64, ahead: u64) {
        let puller = self.flows.entry(flow).or_default();
        puller.ahead = ahead.div_ceil(QUANTUM);
        if target > puller.target {
            puller.target = target;
            self.want(flow);
        }
    }

    /// A packet of a flow has come trimmed: its `bytes` are to be sent again.
    pub fn on_trim(&mut self, flow: u32, bytes: u64) {
        self.flows.entry(flow).or_default().again += bytes.div_ceil(QUANTUM);
        self.want(flow);
    }

    fn want(&mut self, flow: u32) {
        let Some(puller) = self.flows.get_mut(&flow) else { return };
        let wants = puller.target > puller.pulled || puller.again > 0;
        if !wants || puller.waits == Waits::Wanting {
            return;
        }
        if puller.waits == Waits::Satisfied {
            self.satisfied.retain(|&other| other != flow);
        }
        puller.waits = Waits::Wanting;
        self.wanting.push_back(flow);
    }

    /// When the next PULL goes; `None` while no flow may get one.
    pub fn next_at(&self) -> Option<Time> {
        (!self.wanting.is_empty() || !self.satisfied.is_empty()).then_some(self.next_at)
    }

    /// The PULL that goes now, at a share `slowed` of the pacer's rate.
    pub fn pull(&mut self, now: Time, slowed: f64) -> Option<Pull> {
        let is_slow = self.wanting.is_empty();
        let flow = if is_slow { self.satisfied.pop_front() } else { self.wanting.pop_front() }?;
        let puller = self.flows.get_mut(&flow)?;
        let granted = if is_slow {
            self.per_pull
        } else if puller.again > 0 {
            let granted = puller.again.min(self.per_pull);
            puller.again -= granted;
            puller.target += granted;
            granted
        } else {
            puller.target.saturating_sub(puller.pulled).min(self.per_pull)
        };
        puller.pulled += granted;
        puller.waits = if puller.again > 0 || puller.target > puller.pulled {
            self.wanting.push_back(flow);
            Waits::Wanting
        } else if puller.pulled < puller.target + puller.ahead {
            self.satisfied.push_back(flow);
            Waits::Satisfied
        } else {
            Waits::Nowhere
        };
        let quanta = if granted == 0 { EMPTY_PULL } else { granted };
        let quantum = (self.rate.serialization(QUANTUM).0 as f64 / (self.share * slowed)) as u64;
        self.next_at = now + Time(quanta * quantum);
        Some(Pull { flow, total: puller.pulled, is_slow })
    }
}
