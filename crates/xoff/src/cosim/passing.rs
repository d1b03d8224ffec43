//! How time passes in a session: the network's events and the session's own, in one order.

use xoff_engine::Time;
use xoff_engine::schedule::Milestone;
use xoff_fabric::Stop;
use xoff_fabric::run::live::Pause;

use super::error::SessionError;
use super::local::Own;
use super::message::{Event, Message};
use super::session::Session;
use crate::run::{RunError, live};

impl Session {
    /// Lets time pass to `limit`, which is included, or `at_once` only to the next event.
    pub(super) fn advance(
        &mut self,
        limit: Time,
        at_once: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Event>, SessionError> {
        while !at_once || self.ready.is_empty() {
            let own = self.agenda.next_at();
            // What the network does before the session's own next event.
            let target = if own <= limit { own.0.checked_sub(1).map(Time) } else { Some(limit) };
            if let Some(target) = target.filter(|target| *target >= self.now) {
                let advanced = self.live.advance(target, at_once, go_on);
                self.hear();
                let broken = match advanced {
                    Ok(Pause::Stopped(stop)) => Err(self.stopped(stop)),
                    Err(failure) => Err(self.breaks(RunError::from(failure))),
                    Ok(pause) => Ok(pause),
                };
                let pause = match broken {
                    // The next call says so; the caller hears of what came before.
                    Err(_) if !self.ready.is_empty() => break,
                    Err(error) => return Err(error),
                    Ok(pause) => pause,
                };
                if pause == Pause::News {
                    continue; // unless all of it was about the background, this ends the loop
                }
                if pause == Pause::Asked {
                    self.now = self.now.max(self.live.now());
                    break;
                }
            }
            if own > limit || own == Time::NEVER {
                let reached = if limit == Time::NEVER { self.live.now() } else { limit };
                self.now = self.now.max(reached);
                break;
            }
            self.now = own;
            match self.agenda.pop() {
                Some((at, Own::Timer(token))) => self.ready.push_back(Event::Timer { at, token }),
                Some((at, Own::Start(message))) => {
                    let end = self.copies.end(at, &message);
                    self.agenda.push(end, Own::End(message));
                }
                Some((at, Own::End(message))) => {
                    self.delivered(at, message);
                    self.sent(at, message);
                }
                None => {}
            }
        }
        Ok(self.ready.drain(..).collect())
    }

    /// Gives events back, ahead of those that the next advance returns: for a caller that was interrupted before it could act on
    /// them.
    pub fn put_back(&mut self, events: Vec<Event>) {
        for event in events.into_iter().rev() {
            self.ready.push_front(event);
        }
    }

    /// Makes events of what has become of messages.
    fn hear(&mut self) {
        for (at, milestone) in self.live.take_news() {
            let (Milestone::Sent(flow) | Milestone::Delivered(flow)) = milestone else { continue };
            // Messages of the background are not the session's.
            let Some(open) = self.open.get_mut(&flow) else { continue };
            let message = open.message;
            if std::mem::replace(&mut open.half, true) {
                self.open.remove(&flow);
            }
            self.now = self.now.max(at);
            match milestone {
                Milestone::Sent(_) => self.sent(at, message),
                _ => self.delivered(at, message),
            }
        }
    }

    fn sent(&mut self, at: Time, message: Message) {
        let fct = (at - message.start).ps();
        self.stats.sent += 1;
        self.stats.fct_sum_ps = self.stats.fct_sum_ps.saturating_add(fct);
        self.stats.max_fct_ps = self.stats.max_fct_ps.max(fct);
        self.ready.push_back(Event::Sent { at, message });
    }

    fn delivered(&mut self, at: Time, message: Message) {
        self.stats.delivered += 1;
        self.stats.delivered_bytes = self.stats.delivered_bytes.saturating_add(message.bytes);
        self.ready.push_back(Event::Delivered { at, message });
        if let Some(receive) = message.tag.and_then(|tag| self.matching.arrive(message, tag)) {
            self.ready.push_back(Event::Received { at, receive, message });
        }
    }

    fn breaks(&mut self, error: RunError) -> SessionError {
        let error = SessionError::Run(error);
        self.broken = Some(error.clone());
        error
    }

    /// The network goes no further.
    fn stopped(&mut self, stop: Stop) -> SessionError {
        let (scenario, net) = (&self.scenario, self.live.network());
        let error = live::stopped(scenario, &self.live, stop, net.flows.len() as u64);
        self.breaks(error)
    }
}
