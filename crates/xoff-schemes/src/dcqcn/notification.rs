//! DCQCN's receiver: at most one CNP per flow and interval (SIGCOMM 2015, section 3.1).

use xoff_engine::Time;

use super::Np;
use crate::signals::Mark;
use crate::traits::{Arrival, Cnp, NotificationPoint};

/// Sends the CNPs of one flow. A CNP reports the maximum mark since the previous CNP.
#[derive(Clone, Debug)]
pub struct CnpPacer {
    /// `None`: marks come back on ACKs and nothing is sent.
    rule: Option<Np>,
    interval: Time,
    pending: Mark,
    /// When the pending mark is reported; [`Time::NEVER`] without one.
    due: Time,
    /// [`Np::Immediate`]: the time from which a mark is reported at once. [`Np::Periodic`]: the flow's first packet.
    reference: Option<Time>,
}

impl CnpPacer {
    /// A receiver that sends CNPs.
    pub(super) fn new(rule: Np, interval: Time) -> Self {
        CnpPacer { rule: Some(rule), interval, pending: Mark::None, due: Time::NEVER, reference: None }
    }

    /// A receiver that sends none.
    pub(crate) fn silent() -> Self {
        CnpPacer { rule: None, interval: Time::NEVER, pending: Mark::None, due: Time::NEVER, reference: None }
    }

    fn report(&mut self) -> Option<Cnp> {
        let mark = std::mem::take(&mut self.pending);
        self.due = Time::NEVER;
        Some(Cnp { mark, rate: None })
    }
}

impl NotificationPoint for CnpPacer {
    #[inline]
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        let rule = self.rule?;
        let now = arrival.now;
        if rule == Np::Periodic && self.reference.is_none() {
            self.reference = Some(now);
        }
        if arrival.mark == Mark::None {
            return None;
        }
        self.pending = self.pending.max(arrival.mark);
        match (rule, self.reference) {
            (Np::Immediate, Some(open)) if now < open => {
                self.due = open;
                None
            }
            (Np::Immediate, _) => {
                self.reference = Some(now.saturating_add(self.interval));
                self.report()
            }
            (Np::Periodic, first) => {
                if self.due == Time::NEVER {
                    let first = first.unwrap_or(now);
                    let periods = (now - first).0 / self.interval.0.max(1) + 1;
                    self.due = first.saturating_add(Time(self.interval.0.saturating_mul(periods)));
                }
                None
            }
        }
    }

    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        if now < self.due || self.due == Time::NEVER {
            return None;
        }
        if self.rule == Some(Np::Immediate) {
            self.reference = Some(now.saturating_add(self.interval));
        }
        self.report()
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.due
    }
}
