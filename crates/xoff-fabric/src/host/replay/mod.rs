//! Reaction points that learn from ACKs, in time that is carried forward: each hears again what it heard in a period of a network that
//! repeats exactly, as often as periods are skipped.
//!
//! Such a point has a state that only its scheme knows, and that may change without a limit changing: a share of marks that fades, a window
//! that grows beyond what is in flight. As long as a point sets the same limits at the same places of each period, or windows that limit
//! nothing, the network goes on as in the period that was heard, and the point comes out of the jump in the state in which it would be
//! without the jump, to the last bit. What a period does to a point is a [`Lesson`]; all points of a jump hear theirs [together](pupils), until each
//! of them is found to do the same again and again.

mod lesson;
mod pupils;
#[cfg(test)]
mod tests;

use xoff_engine::{Rate, Time};
use xoff_schemes::{AnyReaction, Mark};

use super::Hosts;
use super::nic::NicScheduler;
use crate::ids::ConnectionId;
pub(crate) use lesson::Lesson;
use pupils::teach;

/// What a reaction point hears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Sent {
        payload: u64,
        frame: u64,
    },
    Acked {
        seq: u64,
        newly_acked: u64,
        snd_nxt: u64,
        packet: u64,
        next_packet: u64,
        rtt: Option<Time>,
        mark: Mark,
        flow_count: u16,
    },
    /// Something else, which does not come again in a network that repeats.
    Other,
}

/// What a reaction point has heard, when, on its own clock, and the limits that it set then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heard {
    pub at: Time,
    pub call: Call,
    pub rate: Rate,
    pub window: u64,
}

/// By how much a point's stream is ahead of its connection's: what was carried forward over the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub time: Time,
    pub bytes: u64,
    pub packets: u64,
}

impl Ahead {
    fn times(self, periods: u64) -> Ahead {
        Ahead { time: self.time * periods, bytes: self.bytes * periods, packets: self.packets * periods }
    }
}

/// What a connection did in a period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub connection: ConnectionId,
    /// Bytes in flight at the begin.
    pub in_flight: u64,
    /// What it sent since.
    pub bytes: u64,
    pub packets: u64,
}

impl<N: NicScheduler> Hosts<N> {
    /// Notes from now on what the reaction points of connections with a message under way hear.
    pub fn listen(&mut self, connections: &[ConnectionId]) {
        for connection in connections {
            if let Some(sender) = self.senders[connection.index()].as_deref_mut() {
                sender.reaction.listen();
            }
        }
    }

    /// Ends that. All `periods` have taken the same `time`. `None` if a point has heard something that does not come again.
    pub fn lessons(&mut self, periods: &[Period], time: Time) -> Option<Vec<Lesson>> {
        let lesson = |period: &Period| {
            let reaction = &mut self.senders[period.connection.index()].as_deref_mut()?.reaction;
            Lesson::new(period, reaction.stop_listening(), time)
        };
        // All of them stop listening.
        let lessons: Vec<Option<Lesson>> = periods.iter().map(lesson).collect();
        lessons.into_iter().collect()
    }

    /// Lets the reaction points hear their lessons `periods` times, or as often as none of them sets another limit; returns how often.
    /// Their clocks and streams are then ahead by as many periods.
    pub fn replay(&mut self, lessons: &[Lesson], periods: u64) -> u64 {
        let copy =
            |lesson: &Lesson| self.senders[lesson.connection.index()].as_deref()?.reaction.copy_of_point();
        let Some(mut points) = lessons.iter().map(copy).collect::<Option<Vec<AnyReaction>>>() else {
            return 0;
        };
        let done = teach(&mut points, lessons, periods);
        for (point, lesson) in points.into_iter().zip(lessons) {
            if let Some(sender) = self.senders[lesson.connection.index()].as_deref_mut() {
                sender.reaction.put_point(point, lesson.period.times(done));
            }
        }
        done
    }
}
