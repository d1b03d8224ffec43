//! PFT at a NIC port: state, injection rate, and when the next packet may begin.

use xoff_engine::{Rate, Time};

use super::state::Average;
use crate::traits::{Changes, Throttle, ThrottleState};

/// Equation 1, with the injection rate that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub m: u32,
    pub n: u32,
    pub k: u64,
    /// Width of the random number; `None` for fixed intervals.
    pub bits: Option<u32>,
}

impl Law {
    /// f(c).
    fn f(&self, used: u64) -> u64 {
        let shifted = u128::from(used) << self.m >> self.n;
        u64::try_from(shifted + u128::from(self.k)).unwrap_or(u64::MAX)
    }

    /// The share of cycles in which a flit goes, as a fraction.
    pub(super) fn share(&self, used: u64) -> (u64, u64) {
        let f = self.f(used);
        match self.bits {
            None => (1, f.saturating_add(1)),
            Some(bits) => {
                let all = 1 << bits;
                (all - f.min(all), all)
            }
        }
    }
}

/// The rule that determines PFT's state, with the state.
#[derive(Clone, Debug)]
pub(super) enum Detection {
    Fixed { enter: u64, escape: u64, congested: bool },
    Average(Average),
}

/// PFT at a NIC port.
#[derive(Clone, Debug)]
pub struct PftGate {
    pub(super) rate: Rate,
    pub(super) clock_mhz: u64,
    pub(super) flit: Option<u64>,
    pub(super) law: Law,
    pub(super) detection: Detection,
    pub(super) used: u64,
    /// Cycles of the core that are over.
    pub(super) cycle: u64,
    /// The moment for which `work` holds.
    pub(super) now: Time,
    /// What is left of the last packet: its time without throttling, in picoseconds shifted left by [`FRACTION`] bits.
    pub(super) work: u128,
}

/// Bits of a picosecond's fraction in [`PftGate::work`], for packets whose flits do not take a whole number of
/// picoseconds.
const FRACTION: u32 = 20;
/// Picoseconds of a cycle at 1 MHz.
const PS_AT_1_MHZ: u64 = 1_000_000;

impl PftGate {
    fn congested(&self) -> bool {
        match &self.detection {
            Detection::Fixed { congested, .. } => *congested,
            Detection::Average(average) => average.congested,
        }
    }

    /// Number of the core's cycles that are over at `time`.
    fn cycles_by(&self, time: Time) -> u64 {
        (u128::from(time.0) * u128::from(self.clock_mhz) / u128::from(PS_AT_1_MHZ)) as u64
    }

    /// The first picosecond in which this number of cycles is over.
    fn end_of(&self, cycle: u64) -> Time {
        let ps = (u128::from(cycle) * u128::from(PS_AT_1_MHZ)).div_ceil(u128::from(self.clock_mhz));
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Share of the full rate in the current state, as a fraction.
    fn share(&self) -> (u64, u64) {
        if self.congested() { self.law.share(self.used) } else { (1, 1) }
    }

    /// Lets flits go up to `time`, at the rate of a share.
    fn pay(&mut self, (allowed, of): (u64, u64), time: Time) {
        let done = (u128::from((time - self.now).0) << FRACTION) * u128::from(allowed) / u128::from(of);
        self.work = self.work.saturating_sub(done);
        self.now = time;
    }

    fn advance(&mut self, now: Time, changes: &mut Changes) {
        let end = self.cycles_by(now);
        while self.cycle < end {
            let share = self.share();
            let Detection::Average(average) = &mut self.detection else { break };
            let (cycles, changed) = average.run(self.used, end - self.cycle);
            self.cycle += cycles;
            if changed {
                let at = self.end_of(self.cycle);
                self.pay(share, at);
                changes.push((at, self.state()));
            }
        }
        self.cycle = end;
        self.pay(self.share(), now);
    }
}

impl Throttle for PftGate {
    fn used_credits(&mut self, now: Time, used: u64, changes: &mut Changes) {
        self.advance(now, changes);
        self.used = used;
        if let Detection::Fixed { enter, escape, congested } = &mut self.detection {
            let before = *congested;
            *congested = if before { used >= *escape } else { used > *enter };
            if *congested != before {
                changes.push((now, self.state()));
            }
        }
    }

    fn on_send(&mut self, now: Time, bytes: u64, changes: &mut Changes) {
        self.advance(now, changes);
        self.work = match self.flit {
            None => u128::from(self.rate.time_for(bytes).0) << FRACTION,
            Some(flit) => {
                let cycles = u128::from(bytes.div_ceil(flit));
                ((cycles * u128::from(PS_AT_1_MHZ)) << FRACTION).div_ceil(u128::from(self.clock_mhz))
            }
        };
    }

    fn ready_at(&mut self, now: Time, changes: &mut Changes) -> Time {
        self.advance(now, changes);
        if !self.congested() || self.work == 0 {
            return now;
        }
        let (allowed, of) = self.share();
        let through = match u128::from(allowed) << FRACTION {
            0 => Time::NEVER,
            allowed => {
                let left = (self.work * u128::from(of)).div_ceil(allowed);
                now.saturating_add(Time(u64::try_from(left).unwrap_or(u64::MAX)))
            }
        };
        // In the Normal state nothing is held back.
        let normal = match &self.detection {
            Detection::Average(average) => {
                average.next_change(self.used).map_or(Time::NEVER, |n| self.end_of(self.cycle + n))
            }
            Detection::Fixed { .. } => Time::NEVER,
        };
        through.min(normal)
    }

    fn is_ready(&self) -> bool {
        !self.congested() || self.work == 0
    }

    fn is_indifferent(&self, fewest: u64, most: u64) -> bool {
        let (enter, escape) = match &self.detection {
            Detection::Fixed { enter, congested: false, .. } if most <= *enter => return true,
            Detection::Fixed { enter, escape, .. } => (*enter, *escape),
            Detection::Average(average) if average.stays_normal_up_to(most) => return true,
            Detection::Average(average) => (average.limits.enter, average.limits.escape),
        };
        let sides = |used: u64| (used > enter, used < escape, self.law.share(used));
        sides(fewest) == sides(most)
    }

    fn state(&self) -> ThrottleState {
        if self.congested() { ThrottleState::Congested } else { ThrottleState::Normal }
    }
}
