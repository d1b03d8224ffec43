//! Reaction points that learn from ACKs, in time that is carried forward: each hears again what it heard in a period of a network that
//! repeats exactly, as often as periods are skipped.
//!
//! Such a point has a state that only its scheme knows, and that may change without a limit changing: a share of marks that fades, a window
//! that grows beyond what is in flight. As long as a point sets the same limits at the same places of each period, or windows that limit
//! nothing, the network goes on as in the period that was heard, and the point comes out of the jump in the state in which it would be
//! without the jump, to the last bit.

use xoff_engine::{Rate, Time};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, AnyReaction, Mark, ReactionPoint, Sent};

use super::Hosts;
use super::nic::NicScheduler;
use crate::ids::ConnectionId;

/// Periods after which the points of all connections are compared, one of which may have changed a limit: one, then two, and so on up to this
/// many. So what is heard in vain costs little.
const MOST_AT_ONCE: u64 = 64;

/// Calls of reaction points in a jump, which take half a second or so: nobody can interrupt the run meanwhile, or see its progress.
const MOST_CALLS: u64 = 1 << 24;

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

/// What a connection's reaction point has heard in a period.
#[derive(Debug)]
pub(crate) struct Lesson {
    connection: ConnectionId,
    heard: Vec<Heard>,
    /// What a period carries the point's stream forward by.
    period: Ahead,
    /// Most bytes in flight in the period.
    in_flight: u64,
}

impl Lesson {
    /// What a point, which set a `window` at the begin, has heard in a period of some time. `None` if that is nothing that a point can hear again, or if the period
    /// ends with another limit.
    fn new(period: &Period, (window, heard): (u64, Vec<Heard>), time: Time) -> Option<Lesson> {
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
        let period = Ahead { time, bytes, packets };
        let last = heard.last().map_or(window, |last| last.window);
        let lesson = Lesson { connection, heard, period, in_flight: most };
        lesson.is_same(last, window).then_some(lesson)
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
    fn teach_periods(&self, point: &mut AnyReaction, from: u64, to: u64) -> Result<(), u64> {
        (from..=to)
            .try_for_each(|number| self.teach(point, self.period.times(number)).then_some(()).ok_or(number))
    }
}

/// Lets `points` hear their lessons `periods` times, or as often as all of them set the same limits, or as [`MOST_CALLS`] allow. Returns how
/// often. A point that cannot be copied hears nothing.
fn teach(points: &mut [AnyReaction], lessons: &[Lesson], periods: u64) -> u64 {
    let calls: usize = lessons.iter().map(|lesson| lesson.heard.len()).sum();
    if calls == 0 {
        return periods;
    }
    let periods = periods.min((MOST_CALLS / calls as u64).max(1));
    let (mut done, mut at_once) = (0, 1);
    while done < periods {
        let to = periods.min(done + at_once);
        at_once = (at_once * 2).min(MOST_AT_ONCE);
        let mut copies: Vec<AnyReaction> = points.iter().filter_map(AnyReaction::try_clone).collect();
        if copies.len() < points.len() {
            return 0;
        }
        let all = copies.iter_mut().zip(lessons);
        let first = all.filter_map(|(point, lesson)| lesson.teach_periods(point, done + 1, to).err()).min();
        let Some(first) = first else {
            points.iter_mut().zip(copies).for_each(|(point, copy)| *point = copy);
            done = to;
            continue;
        };
        for (point, lesson) in points.iter_mut().zip(lessons) {
            // It set the same limits in its copy.
            let _ = lesson.teach_periods(point, done + 1, first - 1);
        }
        return first - 1;
    }
    done
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use xoff_schemes::{AnyScheme, FlowEnv};

    use super::*;

    const GBPS_100: Rate = Rate::from_gbps(100);
    const PAYLOAD: u64 = 1_000;
    const PERIOD: Period =
        Period { connection: ConnectionId(0), in_flight: 3_000, bytes: PAYLOAD, packets: 1 };

    fn sender(name: &str) -> AnyReaction {
        let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
        scheme.reaction(&FlowEnv { payload: PAYLOAD, ..FlowEnv::new(0, GBPS_100, Time::from_us(8), 1) })
    }

    fn ack(number: u64, mark: Mark) -> Call {
        let (seq, snd_nxt) = ((number + 1) * PAYLOAD, (number + 51) * PAYLOAD);
        let (packet, next_packet, rtt) = (number, number + 51, Some(Time::from_us(8)));
        Call::Acked { seq, newly_acked: PAYLOAD, snd_nxt, packet, next_packet, rtt, mark, flow_count: 1 }
    }

    /// 50 packets, one each 160 ns, and their ACKs, as a point hears them that sets these limits: a period of 8 us.
    fn lesson(point: &AnyReaction, mark: Mark, in_flight: u64) -> Lesson {
        let (rate, window) = (point.rate(), point.window());
        let heard = (0..50).flat_map(|number| {
            let at = Time(number * 160_000);
            let calls = [Call::Sent { payload: PAYLOAD, frame: 1_062 }, ack(number, mark)];
            calls.map(|call| Heard { at, call, rate, window })
        });
        let period = Ahead { time: Time::from_us(8), bytes: 50 * PAYLOAD, packets: 50 };
        Lesson { connection: ConnectionId(0), heard: heard.collect(), period, in_flight }
    }

    /// A point that hears so many further periods one after the other, each with its own times, offsets and numbers.
    fn straight(mut point: AnyReaction, periods: u64, mark: Mark) -> AnyReaction {
        for number in 50..(periods + 1) * 50 {
            let now = Time(number * 160_000);
            point.on_send(&Sent { now, payload: PAYLOAD, frame: 1_062 });
            let Call::Acked { seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count } =
                ack(number, mark)
            else {
                unreachable!("an ACK");
            };
            let (int, label) = (IntStack::default(), 0);
            let ack = Ack {
                now,
                seq,
                newly_acked,
                snd_nxt,
                packet,
                next_packet,
                rtt,
                mark,
                flow_count,
                label,
                int,
            };
            point.on_ack(&ack);
        }
        point
    }

    #[test]
    fn a_point_that_hears_a_period_again_is_as_if_it_had_gone_on() {
        for name in ["swift", "dctcp", "theta_powertcp", "patched_timely", "sqcc"] {
            let mut points = [sender(name), sender(name)];
            let lessons = [0, 1].map(|_| lesson(&points[0], Mark::None, 0));
            // More than are compared at a time, and no multiple of them.
            assert_eq!(teach(&mut points, &lessons, 150), 150, "{name}");
            let expected = format!("{:?}", straight(sender(name), 150, Mark::None));
            assert!(points.iter().all(|point| format!("{point:?}") == expected), "{name}");
        }
    }

    #[test]
    fn all_points_stop_before_the_period_in_which_one_sets_another_limit() {
        // All packets of the first are marked: a share of marks of 1 halves DCTCP's window in each round trip, which is a period. 100 Gbps have
        // 100,000 B in flight in 8 us, the initial window: 50,000, 25,000 and 12,500 B follow, and the fourth cut, to 6,250 B, is below the 10,000 B
        // that are in flight. The second one's window grows meanwhile, which limits nothing.
        let mut points = [sender("dctcp"), sender("dctcp")];
        assert_eq!(points[0].window(), 100_000);
        let lessons = [lesson(&points[0], Mark::Ce, 10_000), lesson(&points[1], Mark::None, 10_000)];
        let done = teach(&mut points, &lessons, 1_000);
        assert!((2..=4).contains(&done), "{done}");
        for (point, mark) in points.iter().zip([Mark::Ce, Mark::None]) {
            assert_eq!(format!("{point:?}"), format!("{:?}", straight(sender("dctcp"), done, mark)));
        }
        assert!(
            points[0].window() > 10_000 && straight(sender("dctcp"), done + 1, Mark::Ce).window() <= 10_000
        );
        // Where the window limits what is in flight, the first change ends it.
        let lessons = [lesson(&points[0], Mark::Ce, 100_000)];
        assert_eq!(teach(&mut [sender("dctcp")], &lessons, 1_000), 0);
    }

    #[test]
    fn a_jump_in_which_nobody_hears_anything_takes_no_time_and_a_long_one_ends() {
        // Half a second without a message under way, in periods of a picosecond.
        assert_eq!(teach(&mut [], &[], 500_000_000_000), 500_000_000_000);
        // 100 calls a period: 2^24 of them are 167,772 periods, the last one not whole.
        let mut points = [sender("dctcp")];
        let lessons = [lesson(&points[0], Mark::None, 0)];
        assert_eq!(teach(&mut points, &lessons, 1_000_000), 167_772);
    }

    #[test]
    fn what_does_not_come_again_is_no_lesson() {
        let heard = |call| Heard { at: Time::ZERO, call, rate: GBPS_100, window: u64::MAX };
        let lesson = |calls: &[Call]| {
            let heard = calls.iter().map(|&call| heard(call)).collect();
            Lesson::new(&PERIOD, (u64::MAX, heard), Time::from_us(1))
        };
        let sent = Call::Sent { payload: PAYLOAD, frame: 1_062 };
        // 3,000 B in flight, 2,000 after the ACK, and then 3,000 and 4,000 B.
        let most = lesson(&[ack(0, Mark::None), sent, sent]).map(|lesson| lesson.in_flight);
        assert_eq!(most, Some(4_000));
        assert!(lesson(&[sent, Call::Other]).is_none());
    }

    #[test]
    fn a_period_that_ends_with_another_window_is_no_lesson() {
        // 3,000 B in flight and a packet of 1,000 B more: 4,000 B, which a window of 4,000 B lets nobody exceed, and one of 4,001 B or more
        // does not limit.
        let lesson = |before, after| {
            let call = Call::Sent { payload: PAYLOAD, frame: 1_062 };
            let heard = vec![Heard { at: Time::ZERO, call, rate: GBPS_100, window: after }];
            Lesson::new(&PERIOD, (before, heard), Time::from_us(1))
        };
        assert!(lesson(4_000, 4_000).is_some() && lesson(4_001, 9_000).is_some());
        assert!(lesson(4_000, 4_001).is_none() && lesson(9_000, 4_000).is_none());
    }
}
