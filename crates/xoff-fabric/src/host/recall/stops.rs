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
    /// By port: PAUSE frames sent, and RESUME frames.
    frames: Vec<[u64; 2]>,
    /// By egress queue: total time of its stops.
    times: Vec<Time>,
    /// The number of records of pauses, and those since an earlier moment.
    pub records: usize,
    recent: Vec<PauseRecord>,
}

/// What flow control stopped in an episode.
#[derive(Default)]
pub(super) struct Stops {
    frames: Vec<(PortId, [u64; 2])>,
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
        let (totals, pauses) = (&records.totals, &records.pauses);
        StopsSoFar {
            frames: totals
                .pause_frames
                .iter()
                .zip(totals.resume_frames.iter())
                .map(|(p, r)| [p, r])
                .collect(),
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
                .map(|(port, (now, then))| (port, [now[0] - then[0], now[1] - then[1]]))
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

impl Over {
    /// The share of a count in the whole episode that is of the part that was recalled.
    fn share(&self, count: u64) -> u64 {
        let (lasted, length) = (self.until.saturating_sub(self.begin).0, self.length.0.max(1));
        (u128::from(count) * u128::from(lasted) / u128::from(length)) as u64
    }

    /// The PAUSE and RESUME frames that ports would have sent.
    pub fn frames(&self) -> impl Iterator<Item = (PortId, [u64; 2])> + '_ {
        self.stops.frames.iter().map(|&(port, frames)| (port, frames.map(|count| self.share(count))))
    }
}

/// Counts what would have been stopped in an episode that was recalled, or in a part of it.
pub(super) fn count<C>(ctx: &mut Ctx, links: &mut Links<C>, over: &Over) {
    let lasted = over.until.saturating_sub(over.begin).0;
    let records = &mut ctx.probes.records;
    for (port, [pauses, resumes]) in over.frames() {
        *records.totals.pause_frames.at(port) += pauses;
        *records.totals.resume_frames.at(port) += resumes;
    }
    for &(queue, time) in &over.stops.times {
        links.stops[queue.index()].total_mut().0 += over.share(time.0);
    }
    for record in over.stops.records.iter().filter(|record| record.end.0 <= lasted) {
        records.pause(moved(record, |time| time + over.begin));
    }
}
