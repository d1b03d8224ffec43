//! The messages of a connection beside the one under way.

use std::collections::VecDeque;

use super::message::Message;

/// Messages before and after the one under way. Most connections never have any: then no memory is taken for them.
#[derive(Default)]
pub(crate) struct OtherMessages(Option<Box<Lists>>);

#[derive(Default)]
struct Lists {
    /// Before it, and not wholly acknowledged.
    sent: VecDeque<Message>,
    /// After it.
    queued: VecDeque<Message>,
}

impl OtherMessages {
    fn lists(&mut self) -> &mut Lists {
        self.0.get_or_insert_default()
    }

    /// Whether a message before the one under way is not wholly acknowledged.
    #[inline]
    pub fn has_sent(&self) -> bool {
        self.0.as_ref().is_some_and(|lists| !lists.sent.is_empty())
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_queued(&self) -> bool {
        self.0.as_ref().is_some_and(|lists| !lists.queued.is_empty())
    }

    /// Messages that wait, first to last.
    pub fn queued(&self) -> impl Iterator<Item = &Message> {
        self.0.iter().flat_map(|lists| &lists.queued)
    }

    /// Messages that wait, first to last.
    pub fn queued_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        self.0.iter_mut().flat_map(|lists| &mut lists.queued)
    }

    /// Messages before the one under way, first to last.
    pub fn sent(&self) -> impl Iterator<Item = &Message> {
        self.0.iter().flat_map(|lists| &lists.sent)
    }

    /// Messages before the one under way, first to last.
    pub fn sent_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        self.0.iter_mut().flat_map(|lists| &mut lists.sent)
    }

    /// Messages before the one under way, and those that wait, each first to last.
    pub fn both(&mut self) -> (impl Iterator<Item = &mut Message>, impl Iterator<Item = &mut Message>) {
        let (sent, queued) = self.0.as_mut().map(|lists| (&mut lists.sent, &mut lists.queued)).unzip();
        (sent.into_iter().flatten(), queued.into_iter().flatten())
    }

    /// Adds a message that waits behind all others.
    pub fn queue(&mut self, message: Message) {
        self.lists().queued.push_back(message);
    }

    /// Others wait in place of those that did.
    pub fn queue_instead(&mut self, messages: impl Iterator<Item = Message>) {
        let mut messages = messages.peekable();
        if self.has_queued() || messages.peek().is_some() {
            self.lists().queued = messages.collect();
        }
    }

    /// Adds a message that waits before all others: packets of the one before it are to be sent again.
    pub fn queue_again(&mut self, message: Message) {
        self.lists().queued.push_front(message);
    }

    /// Takes the first message that waits.
    pub fn next_queued(&mut self) -> Option<Message> {
        self.0.as_mut()?.queued.pop_front()
    }

    /// Adds a message of which all is sent.
    pub fn add_sent(&mut self, message: Message) {
        self.lists().sent.push_back(message);
    }

    /// Takes the last message before the one under way.
    pub fn last_sent(&mut self) -> Option<Message> {
        self.0.as_mut()?.sent.pop_back()
    }

    /// Takes the first message before the one under way, if the first `acked` bytes of the connection cover it.
    pub fn next_complete(&mut self, acked: u64) -> Option<Message> {
        let sent = &mut self.0.as_mut()?.sent;
        if sent.front()?.end <= acked { sent.pop_front() } else { None }
    }
}
