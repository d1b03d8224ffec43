//! What was seen of a network's connections since something last changed.

use std::collections::HashMap;

use xoff_engine::Time;

use super::super::any_partition::AnyPartition;
use super::course::Change;
use super::jump::{Counts, Since};
use super::steady;
use crate::host::forward::{Pace, Pulse};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

/// Looks in a history; when it is full, every other look is dropped and looks are half as frequent from then on.
const MAX_LOOKS: usize = 64;

/// Looks in a base RTT.
const LOOKS_PER_RTT: u64 = 8;

/// All connections at a moment.
pub(super) struct Look {
    pub at: Time,
    pub pulses: Vec<Pulse>,
}

/// Values of the counts that jumps extrapolate, and when they were taken.
type CountsThen = Option<(Time, Counts)>;

/// Looks at the network, from the last change of its messages on.
pub(super) struct History {
    pub looks: Vec<Look>,
    /// The largest RTT of a packet through empty queues.
    pub base_rtt: Time,
    /// Time between two looks, at the beginning of a history and now.
    first_spacing: Time,
    spacing: Time,
    next: Time,
    /// See [`AnyPartition::version`].
    version: [u64; 4],
    /// Nothing but marks that hung on chance ended the looks before.
    by_chance: bool,
    /// Marks hung on chance between the last two looks.
    has_drawn: bool,
    /// The counts at about half of the history, and at its beginning or an earlier half.
    counts: [CountsThen; 2],
    /// By connection under way: time carried forward that its whole packets have not used up, in ps.
    debts: Vec<i64>,
    /// By connection: the message under way, and how its state would have changed over all jumps in it.
    drifts: HashMap<ConnectionId, (FlowId, Change)>,
}

impl History {
    /// No looks yet.
    pub fn new(base_rtt: Time) -> History {
        let spacing = Time((base_rtt / LOOKS_PER_RTT).0.max(Time::from_us(1).0));
        History {
            base_rtt,
            looks: Vec::new(),
            first_spacing: spacing,
            spacing,
            next: Time::ZERO,
            version: [0; 4],
            by_chance: false,
            has_drawn: false,
            counts: [None, None],
            debts: Vec::new(),
            drifts: HashMap::new(),
        }
    }

    /// Time between two looks.
    pub fn spacing(&self) -> Time {
        self.spacing
    }

    /// Whether it is time for another look.
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Whether two connections send by one port at the simulated time `reached`.
    pub fn meet(&self, net: &Network, reached: Time) -> bool {
        self.looks.last().is_some_and(|look| steady::meet(&look.pulses, net, reached))
    }

    /// Looks at the network; returns whether something has changed since the last look.
    pub fn look(&mut self, now: Time, partition: &mut dyn AnyPartition) -> bool {
        let version = partition.version();
        self.has_drawn = false;
        if version != self.version {
            self.by_chance = version[..3] == self.version[..3];
            self.has_drawn = version[3] != self.version[3];
            self.version = version;
            self.looks.clear();
            self.counts = [None, None];
            self.spacing = self.first_spacing;
        }
        let pulses = partition.pulses();
        let is_same = |look: &Look| {
            let ids =
                |pulses: &[Pulse]| -> Vec<_> { pulses.iter().map(|p| (p.connection, p.flow)).collect() };
            ids(&look.pulses) == ids(&pulses)
        };
        if self.looks.last().is_some_and(|look| !is_same(look)) {
            self.looks.clear();
        }
        if self.looks.is_empty() {
            self.debts = vec![0; pulses.len()];
        }
        if self.looks.len() == MAX_LOOKS {
            let mut keep = false;
            self.looks.retain(|_| {
                keep = !keep;
                !keep
            });
            self.spacing = self.spacing + self.spacing;
        }
        self.looks.push(Look { at: now, pulses });
        // Where messages come and go with each look, nothing is ever extrapolated.
        if self.looks.len() >= steady::MIN_LOOKS / 2 && self.looks.len().is_power_of_two() {
            self.counts.swap(0, 1);
            self.counts[1] = Some((now, partition.counts(false)));
        }
        self.next = now + self.spacing;
        self.looks.len() == 1
    }

    /// Whether nothing but marks that hung on chance keeps the history short.
    pub fn is_by_chance(&self) -> bool {
        self.by_chance
    }

    /// Whether marks hung on chance between the last two looks.
    pub fn has_drawn(&self) -> bool {
        self.has_drawn
    }

    /// The run has gone on without looks: what was seen before is past.
    pub fn forget(&mut self) {
        self.looks.clear();
    }

    /// The counts at an earlier moment.
    pub fn counts(&self, now: Time) -> Option<Since<'_>> {
        let earlier = self.counts.iter().flatten().find(|(at, _)| *at < now);
        earlier.map(|(at, counts)| Since { ago: now - *at, counts, repeats: false })
    }

    /// By pace: the packets that a jump over `time` carries forward.
    pub fn packets(&mut self, paces: &[Pace], time: Time) -> Vec<u64> {
        let packets = |(pace, debt): (&Pace, &mut i64)| {
            let due = time.0.saturating_add_signed(*debt);
            let packets = pace.packets_in(Time(due));
            *debt = due as i64 - pace.time_of(packets).0 as i64;
            packets
        };
        paces.iter().zip(&mut self.debts).map(packets).collect()
    }

    /// By how much a message's state would have changed over all jumps in it.
    pub fn drift(&self, pulse: &Pulse) -> Change {
        let drift = self.drifts.get(&pulse.connection).filter(|drift| drift.0 == pulse.flow);
        drift.map_or(Change::default(), |drift| drift.1)
    }

    /// States would have changed by these `trends`, each of a picosecond, over a jump of `time`.
    pub fn drifted(&mut self, trends: &[Change], time: Time) {
        let Some(look) = self.looks.last() else { return };
        let changing = |(_, trend): &(&Pulse, &Change)| **trend != Change::default();
        for (pulse, &trend) in look.pulses.iter().zip(trends).filter(changing) {
            let drift = self.drift(pulse).and(trend, time);
            self.drifts.insert(pulse.connection, (pulse.flow, drift));
        }
    }

    /// A jump has taken `packets` of each connection off the message's end.
    pub fn jumped(&mut self, partition: &mut dyn AnyPartition, packets: impl Iterator<Item = u64>) {
        let payload = partition.network().wire.payload;
        for (i, packets) in packets.enumerate() {
            for look in &mut self.looks {
                let left = &mut look.pulses[i].left;
                if *left != u64::MAX {
                    *left -= packets * payload;
                }
            }
        }
        // The counts were extrapolated too.
        self.counts = [None, Some((self.next.saturating_sub(self.spacing), partition.counts(false)))];
    }
}
