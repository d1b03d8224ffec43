//! What a reaction point has heard in a period, and hears again.

use xoff_engine::Time;
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, AnyReaction, Carry, ReactionPoint, Sent};

use super::{Ahead, Call, Heard, Period};
use crate::ids::ConnectionId;

/// What a connection's reaction point has heard in a period.
#[derive(Debug)]
pub(crate) struct Lesson {
    pub(super) connection: ConnectionId,
    pub(super) heard: Vec<Heard>,
    /// What a period carries the point's stream forward by.
    pub(super) period: Ahead,
    /// Most bytes in flight in the period.
    pub(super) in_flight: u64,
    /// The longest round-trip time that it heard of.
    longest_rtt: Time,
}

impl Lesson {
    /// What a point, which set a `window` at the begin, has heard in a period of some time. `None` if that is nothing that a point can hear again, or if the period
    /// ends with another limit.
    pub(super) fn new(period: &Period, (window, heard): (u64, Vec<Heard>), time: Time) -> Option<Lesson> {
        let Period { connection, mut in_flight, bytes, packets } = *period;
        let mut most = in_flight;
        for heard in &heard {
            match heard.call {
                Call::Sent { payload, .. } => in_flight += payload,
                Call::Acked { newly_acked, .. } => in_flight = in_flight.checked_sub(newly_acked)?,
                Call::Other => return None,
            }
            most = most.max(in_flight);
        }
        let last = heard.last().map_or(window, |last| last.window);
        let lesson = Lesson::of(connection, heard, Ahead { time, bytes, packets }, most);
        lesson.is_same(last, window).then_some(lesson)
    }

    /// What the point of a connection, with at most so many bytes in flight, has heard in a period that carries its stream forward.
    pub(super) fn of(connection: ConnectionId, heard: Vec<Heard>, period: Ahead, in_flight: u64) -> Lesson {
        let rtt = |heard: &Heard| match heard.call {
            Call::Acked { rtt, .. } => rtt,
            _ => None,
        };
        let longest_rtt = heard.iter().filter_map(rtt).max().unwrap_or(Time::ZERO);
        Lesson { connection, heard, period, in_flight, longest_rtt }
    }

    /// Whether a point that sets a window here lets the connection go on as one that set the window `before`.
    fn is_same(&self, window: u64, before: u64) -> bool {
        window == before || window.min(before) > self.in_flight
    }

    /// Lets a point, whose stream is `ahead` of the one that was heard, hear a period again. Returns whether it sets the same limits.
    fn teach(&self, point: &mut AnyReaction, ahead: Ahead) -> bool {
        self.heard.iter().all(|heard| {
            let now = heard.at + ahead.time;
            match heard.call {
                Call::Sent { payload, frame } => point.on_send(&Sent { now, payload, frame }),
                Call::Acked { seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count } => {
                    point.on_ack(&Ack {
                        now,
                        seq: seq + ahead.bytes,
                        newly_acked,
                        snd_nxt: snd_nxt + ahead.bytes,
                        packet: packet + ahead.packets,
                        next_packet: next_packet + ahead.packets,
                        rtt,
                        mark,
                        flow_count,
                        label: 0,
                        int: IntStack::default(),
                    });
                }
                Call::Other => return false,
            }
            point.rate() == heard.rate
                && self.is_same(point.window(), heard.window)
                && point.next_timer() == Time::NEVER
        })
    }

    /// Lets a point hear periods `from` to `to` again, the first of which is number 1. Returns the first in which it sets other limits.
    pub(super) fn teach_periods(&self, point: &mut AnyReaction, from: u64, to: u64) -> Result<(), u64> {
        (from..=to)
            .try_for_each(|number| self.teach(point, self.period.times(number)).then_some(()).ok_or(number))
    }

    /// By what `periods` carry forward a point that has heard this so many times since it was heard first.
    pub(super) fn carry(&self, times: u64, periods: u64) -> Carry {
        let Ahead { time, bytes, packets } = self.period.times(periods);
        let first = self.heard.first().map_or(Time::NEVER, |heard| heard.at + self.period.time * (times + 1));
        Carry { time, bytes, packets, next: first, longest_rtt: self.longest_rtt }
    }

    /// Calls of the point in a period.
    pub(super) fn calls(&self) -> u64 {
        self.heard.len() as u64
    }
}
