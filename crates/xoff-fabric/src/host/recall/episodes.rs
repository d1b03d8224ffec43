//! Episodes: what happens to all messages from one quiet moment, at which none is under way, to the next one.
//!
//! Training sends the same messages in each iteration. How they share ports when they meet hangs on single packets, so nothing is
//! estimated here: an episode comes again if a quiet network begins it in the same state with the same messages at the same times, to the
//! picosecond, and all of it was the same twice in a row. Then each of its messages takes the time that it took.
//!
//! Whether an episode goes on as the known one did is checked message by message. As soon as one starts that the known episode does not have,
//! or one does not start that it has, the run is uncertain, and no episode is recalled any more.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use xoff_engine::Time;

use super::look::Look;
use super::memory::{Like, PATIENCE};
use super::stops::Stops;
use crate::ids::{ConnectionId, PortId};

/// So many simulated episodes in a row are the same before the next one is recalled.
const SAME: u32 = 2;

/// Episodes that are remembered at most.
const MOST_KNOWN: usize = 256;

/// Messages of an episode that is remembered, at most.
const MOST_MESSAGES: usize = 1 << 22;

/// A message of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub like: Like,
    /// When it starts: in an episode that is known, from the episode's begin on.
    pub start: Time,
    /// Time from its start to the arrival of its last byte, and to its last ACK.
    pub delivered: Time,
    pub sent: Time,
    /// Time for which its sender's port was paused.
    pub paused: Time,
}

/// An episode whose messages are known.
struct Known {
    /// By connection, and then by start.
    parts: Vec<Part>,
    /// Places in `parts`, by start.
    order: Vec<u32>,
    /// The state of the network in which it began, and what was to begin meanwhile.
    state: u64,
    pending: Vec<(Time, u64)>,
    /// Time from its begin to its last ACK.
    length: Time,
    /// What was paused, at times from the episode's begin on.
    stops: Arc<Stops>,
    /// Simulated episodes in a row that were the same.
    same: u32,
    /// Recalled ones since, and how many there may be.
    recalled: u32,
    patience: u32,
    /// When the first of those began.
    since: Time,
}

impl Known {
    /// The messages of a connection, with their places.
    fn of(&self, connection: ConnectionId) -> impl Iterator<Item = (usize, &Part)> {
        let first = self.parts.partition_point(|part| part.like.0.0 < connection.0);
        let rest = self.parts.iter().enumerate().skip(first);
        rest.take_while(move |(_, part)| part.like.0 == connection)
    }

    /// When a message like this one starts from the episode's begin on, if it is its connection's first one.
    fn first(&self, like: Like) -> Option<Time> {
        self.of(like.0).next().filter(|(_, part)| part.like == like).map(|(_, part)| part.start)
    }

    /// When it began, if a message like this one, its connection's first, starts `now`.
    fn begin(&self, like: Like, now: Time) -> Option<Time> {
        now.0.checked_sub(self.first(like)?.0).map(Time)
    }

    /// Whether its messages of each connection are as large as the next ones that are `left`.
    fn fits<'a>(&self, left: impl Fn(ConnectionId) -> &'a [u64]) -> bool {
        let mut connections = self.parts.chunk_by(|a, b| a.like.0 == b.like.0);
        connections.all(|parts| {
            let Some(next) = left(parts[0].like.0).get(..parts.len()) else { return false };
            let mut sizes: Vec<u64> = parts.iter().map(|part| part.like.1).collect();
            let mut next = next.to_vec();
            sizes.sort_unstable();
            next.sort_unstable();
            sizes == next
        })
    }
}

/// An episode that is recalled.
struct Replay {
    /// The place of the known episode.
    known: usize,
    begin: Time,
    /// By place: whether the message has started; and how many of them have, in order of start, before the first that has not.
    started: Vec<bool>,
    next: usize,
}

/// What a simulated episode had so far.
#[derive(Default)]
struct Course {
    parts: Vec<Part>,
    /// The network as it began, if it may be learned.
    look: Option<Look>,
    /// The end of the episode before.
    after: Time,
    /// The place of the known episode that it must be like: one that is simulated again.
    again: Option<usize>,
}

/// From when on messages may differ, since an episode did not go on as the known one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deviation(pub Time);

/// A recalled episode that is over, or of which no more is to come.
pub(super) struct Over {
    pub begin: Time,
    /// Up to when it was recalled: from its begin to its end, or not that far.
    pub until: Time,
    pub length: Time,
    pub stops: Arc<Stops>,
}

/// The episodes of a run.
#[derive(Default)]
pub(super) struct Episodes {
    known: Vec<Known>,
    course: Course,
    replay: Option<Replay>,
    /// When the last message ended.
    ended: Time,
    /// The shortest delay of a link: nodes are at times that are no further apart.
    window: Time,
    /// Recalled episodes that are over and were not taken.
    over: Vec<Over>,
    /// By port: PAUSE and RESUME frames of all recalled episodes that are over.
    frames: HashMap<PortId, u64>,
    is_off: bool,
}

impl Episodes {
    /// Nothing has happened. No link has a delay shorter than `window`.
    pub fn new(window: Time) -> Episodes {
        Episodes { window, ..Episodes::default() }
    }

    /// No message is under way, and one is about to start `now`: a new episode begins, if the last one is over everywhere. It is recalled if
    /// it is known in the state of the network, if it is over before `until`, and if the messages that connections have `left`, of these sizes in
    /// turn, begin with its. If a `look` at the network, which counts recalled episodes that are over and has the records since an earlier place, says nothing, it is
    /// neither learned nor recalled.
    pub fn begin<'a>(
        &mut self,
        like: Like,
        now: Time,
        until: Time,
        look: impl FnOnce(Vec<Over>, Option<usize>) -> Option<Look>,
        left: impl Fn(ConnectionId) -> &'a [u64],
    ) -> Option<Deviation> {
        // As seen from a node that has not come as far as another one, the last message may still be under way.
        let goes_on = match &self.replay {
            Some(replay) => replay.next < replay.started.len(),
            None => now < self.ended,
        };
        if self.is_off || goes_on {
            return None;
        }
        self.close(self.ended);
        let from = self.course.look.as_ref().map(|look| look.stops.records);
        let look = look(self.take_over(), from);
        let deviation = self.learn(look.as_ref());
        if !self.is_off {
            let known = look.as_ref().and_then(|look| self.find(like, now, until, look, left));
            let is_stale = |&place: &usize| self.known[place].recalled >= self.known[place].patience;
            let again = known.filter(is_stale);
            self.course = Course { parts: Vec::new(), look, after: self.ended, again };
            self.replay = known.filter(|_| again.is_none()).and_then(|place| self.recall(place, like, now));
        }
        deviation
    }

    /// The place of the known episode that begins like this with a message like this one `now`, if there is only one, and if it was the
    /// same often enough and is over before `until`.
    fn find<'a>(
        &self,
        like: Like,
        now: Time,
        until: Time,
        look: &Look,
        left: impl Fn(ConnectionId) -> &'a [u64],
    ) -> Option<usize> {
        let begins = |known: &Known| {
            known.begins_with(look) && known.first(like).is_some_and(|start| start <= self.window)
        };
        let mut places = (0..self.known.len()).filter(|&place| begins(&self.known[place]));
        let (Some(place), None) = (places.next(), places.next()) else { return None };
        let known = &self.known[place];
        let begin = known.begin(like, now)?;
        let is_in_time = begin >= self.ended && begin + known.length < until;
        (known.same >= SAME && is_in_time && known.fits(left)).then_some(place)
    }

    /// Recalls the episode at a place, of which a message like this one starts `now`.
    fn recall(&mut self, place: usize, like: Like, now: Time) -> Option<Replay> {
        let known = &mut self.known[place];
        let begin = known.begin(like, now)?;
        if known.recalled == 0 {
            known.since = begin;
        }
        known.recalled += 1;
        Some(Replay { known: place, begin, started: vec![false; known.parts.len()], next: 0 })
    }

    /// A message starts `now`; returns what it takes if its episode is recalled.
    ///
    /// # Errors
    /// If the recalled episode has no such message at this time. No episode is recalled any more.
    pub fn start(&mut self, like: Like, now: Time) -> Result<Option<Part>, Deviation> {
        let Some(replay) = &mut self.replay else { return Ok(None) };
        let known = &self.known[replay.known];
        let is_it = |place: usize, part: &Part| {
            !replay.started[place] && part.like == like && replay.begin + part.start == now
        };
        let Some((place, &part)) = known.of(like.0).find(|&(place, part)| is_it(place, part)) else {
            let from = self.due().map_or(now, |due| due.min(now));
            self.stop(now);
            return Err(Deviation(from));
        };
        replay.started[place] = true;
        while known.order.get(replay.next).is_some_and(|&place| replay.started[place as usize]) {
            replay.next += 1;
        }
        Ok(Some(part))
    }

    /// When the first message of the recalled episode starts that has not started.
    fn due(&self) -> Option<Time> {
        let replay = self.replay.as_ref()?;
        let known = &self.known[replay.known];
        let next = *known.order.get(replay.next)?;
        Some(replay.begin + known.parts[next as usize].start)
    }

    /// All nodes have come to `now`, but for a window: a message that the recalled episode has should have started before.
    pub fn missing(&self, now: Time) -> Option<Deviation> {
        self.due().filter(|due| *due + self.window < now).map(Deviation)
    }

    /// No episode is recalled any more, from `now` on.
    pub fn stop(&mut self, now: Time) {
        self.close(now);
        let (over, frames) = (mem::take(&mut self.over), mem::take(&mut self.frames));
        *self = Episodes { is_off: true, over, frames, ..Episodes::default() };
    }

    /// No episode is recalled, or simulated again.
    pub fn is_open(&self) -> bool {
        self.replay.is_none() && self.course.again.is_none()
    }

    /// The network has changed: nothing that is known may come again. Recalled episodes were over before.
    pub fn forget(&mut self) {
        self.close(self.ended);
        self.known.clear();
        self.course = Course::default();
    }

    /// The run ends `now`.
    pub fn close(&mut self, now: Time) {
        if let Some(replay) = self.replay.take() {
            self.finish(&replay, now);
        }
    }

    /// PAUSE and RESUME frames that ports would have sent in the recalled episodes that are over.
    pub fn frames(&self) -> impl Iterator<Item = (PortId, u64)> + '_ {
        self.frames.iter().map(|(&port, &count)| (port, count))
    }

    /// The recalled episodes that are over since the last call.
    pub fn take_over(&mut self) -> Vec<Over> {
        mem::take(&mut self.over)
    }

    fn finish(&mut self, replay: &Replay, now: Time) {
        let Known { length, stops, .. } = &self.known[replay.known];
        let (begin, length, stops) = (replay.begin, *length, stops.clone());
        let over = Over { begin, until: now.min(begin + length), length, stops };
        for (port, frames) in over.frames() {
            *self.frames.entry(port).or_default() += frames.iter().sum::<u64>();
        }
        self.over.push(over);
    }

    /// A message is over at time `now`. It was a `part` of a simulated episode, with its start in simulated time, or `None` if it was recalled
    /// or if what happened to it may hang on chance, or on a state that no one tells.
    pub fn end(&mut self, now: Time, part: Option<Part>) {
        self.ended = self.ended.max(now);
        let Course { parts, look, .. } = &mut self.course;
        match part {
            Some(part) if look.is_some() && parts.len() < MOST_MESSAGES => parts.push(part),
            _ => (*parts, *look) = (Vec::new(), None),
        }
    }

    /// Learns the simulated episode that is over, with a look at the network after it. If it was simulated again and is not the same, those
    /// that were recalled may be wrong.
    fn learn(&mut self, then: Option<&Look>) -> Option<Deviation> {
        let Course { mut parts, look, after, again } = mem::take(&mut self.course);
        let begin = parts.iter().map(|part| part.start).min().unwrap_or_default();
        parts.iter_mut().for_each(|part| part.start = part.start - begin);
        parts.sort_unstable_by_key(Part::place);
        if let Some(known) = again.map(|place| &self.known[place])
            && known.parts != parts
        {
            let since = known.since;
            self.stop(self.ended);
            return Some(Deviation(since));
        }
        let (look, then) = (look?, then?);
        if parts.is_empty() || begin < after {
            return None; // the episode before was not over
        }
        let stops = then.stops.since(&look.stops, begin);
        let episode = Known::new(parts, look, stops);
        let Some(known) = self.known.iter_mut().find(|known| known.is_like(&episode)) else {
            self.remember(episode);
            return None;
        };
        if known.parts == episode.parts {
            known.same += 1;
            let was_recalled = mem::take(&mut known.recalled) > 0;
            known.patience = known.patience.saturating_mul(1 + u32::from(was_recalled));
            return None;
        }
        let deviation = (known.recalled > 0).then_some(Deviation(known.since));
        *known = episode;
        if deviation.is_some() {
            self.stop(self.ended);
        }
        deviation
    }

    fn remember(&mut self, episode: Known) {
        if self.known.len() == MOST_KNOWN {
            self.known.remove(0);
        }
        self.known.push(episode);
    }
}

impl Part {
    /// Its place in an episode.
    fn place(&self) -> (u32, Time, u64, Time) {
        (self.like.0.0, self.start, self.like.1, self.delivered)
    }

    /// Whether another message of the same size starts on the same connection at the same time.
    fn is_like(&self, other: &Part) -> bool {
        self.like == other.like && self.start == other.start
    }
}

impl Known {
    /// An episode that has come for the first time, with its messages by place.
    fn new(parts: Vec<Part>, look: Look, stops: Stops) -> Known {
        let mut order: Vec<u32> = (0..parts.len() as u32).collect();
        order.sort_by_key(|&place| parts[place as usize].start);
        let length = parts.iter().map(|part| part.start + part.sent).max().unwrap_or_default();
        let Look { state, mut pending, .. } = look;
        pending.truncate(until(&pending, length).len());
        let (stops, patience, since) = (Arc::new(stops), PATIENCE, Time::ZERO);
        Known { parts, order, state, pending, length, stops, same: 1, recalled: 0, patience, since }
    }

    /// Whether it began in a state like this one, and the same was to begin until its end.
    fn begins_with(&self, look: &Look) -> bool {
        self.state == look.state && self.pending == until(&look.pending, self.length)
    }

    /// Whether another episode begins in the same state, and has the same messages at the same times.
    fn is_like(&self, other: &Known) -> bool {
        let are_like = |(one, other): (&Part, &Part)| one.is_like(other);
        self.state == other.state
            && self.pending == other.pending
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(are_like)
    }
}

/// What is to begin within a time.
fn until(pending: &[(Time, u64)], time: Time) -> &[(Time, u64)] {
    &pending[..pending.partition_point(|(at, _)| *at <= time)]
}

#[cfg(test)]
mod tests;
