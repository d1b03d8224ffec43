//! What flow control stops in an episode, besides packets: an episode that is recalled counts it too.

use xoff_engine::Time;

use super::episodes::Over;
use crate::ctx::Ctx;
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::observe::rows::PauseRecord;

/// What flow control had stopped up to a quiet moment.
#[derive(Default)]
pub(super) struct StopsSoFar {
    /// By port: PAUSE frames sent.
    frames: Vec<u64>,
    /// By egress queue: total time of its stops.
    times: Vec<Time>,
    /// The number of records of pauses, and those since an earlier moment.
    pub records: usize,
    recent: Vec<PauseRecord>,
}

/// What flow control stopped in an episode.
#[derive(Default)]
pub(super) struct Stops {
    frames: Vec<(PortId, u64)>,
    times: Vec<(QueueId, Time)>,
    /// At times from the episode's begin on.
    records: Vec<PauseRecord>,
}

/// A record of a pause with its times moved.
fn moved(record: &PauseRecord, time: impl Fn(Time) -> Time) -> PauseRecord {
    PauseRecord { start: time(record.start), end: time(record.end), ..*record }
}

impl StopsSoFar {
    /// What was stopped so far, with the records from the place `from` on.
    pub fn of<C>(ctx: &Ctx, links: &Links<C>, from: Option<usize>) -> StopsSoFar {
        let records = &ctx.probes.records;
        let pauses = &records.pauses;
        StopsSoFar {
            frames: records.totals.pause_frames.clone(),
            times: links.stops.iter().map(|stop| stop.total(ctx.now)).collect(),
            records: pauses.len(),
            recent: from.map_or_else(Vec::new, |from| pauses[from.min(pauses.len())..].to_vec()),
        }
    }

    /// What was stopped since an earlier moment, in an episode with this `begin`. The records are those since then.
    pub fn since(&self, earlier: &StopsSoFar, begin: Time) -> Stops {
        let frames = PortId::all(self.frames.len()).zip(self.frames.iter().zip(&earlier.frames));
        let times = (0..).map(QueueId).zip(self.times.iter().zip(&earlier.times));
        Stops {
            frames: frames
                .filter(|(_, (now, then))| now > then)
                .map(|(port, (now, then))| (port, now - then))
                .collect(),
            times: times
                .filter(|(_, (now, then))| now > then)
                .map(|(queue, (now, then))| (queue, *now - *then))
                .collect(),
            records: self
                .recent
                .iter()
                .map(|record| moved(record, |time| time.saturating_sub(begin)))
                .collect(),
        }
    }
}

/// Counts what would have been stopped in an episode that was recalled, or in a part of it.
pub(super) fn count<C>(ctx: &mut Ctx, links: &mut Links<C>, over: &Over) {
    let (lasted, length) = (over.until.saturating_sub(over.begin).0, over.length.0.max(1));
    let share = |count: u64| (u128::from(count) * u128::from(lasted) / u128::from(length)) as u64;
    let records = &mut ctx.probes.records;
    for &(port, count) in &over.stops.frames {
        records.totals.pause_frames[port.index()] += share(count);
    }
    for &(queue, time) in &over.stops.times {
        links.stops[queue.index()].total_mut().0 += share(time.0);
    }
    for record in over.stops.records.iter().filter(|record| record.end.0 <= lasted) {
        records.pause(moved(record, |time| time + over.begin));
    }
}
