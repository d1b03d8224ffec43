//! Receives find arrivals: by sender, receiver and tag and, where several wait, in order.

use std::collections::{HashMap, VecDeque};

use super::message::{Host, Message, ReceiveId};

/// What waits for its counterpart: of one sender, receiver and tag, either messages or receives.
#[derive(Debug)]
enum Waiting {
    Arrived(VecDeque<Message>),
    Posted(VecDeque<ReceiveId>),
}

/// Messages that have arrived and receives that were posted, without a counterpart.
#[derive(Debug, Default)]
pub(super) struct Matching {
    waiting: HashMap<(Host, Host, u64), Waiting>,
    /// Number of messages that wait.
    pub unexpected: u64,
    /// Number of receives that wait.
    pub posted: u64,
}

impl Matching {
    /// A message with a tag has arrived; returns the receive that waits for it.
    pub fn arrive(&mut self, message: Message, tag: u64) -> Option<ReceiveId> {
        let key = (message.src, message.dst, tag);
        match self.waiting.get_mut(&key) {
            Some(Waiting::Posted(queue)) => {
                let receive = queue.pop_front();
                if queue.is_empty() {
                    self.waiting.remove(&key);
                }
                self.posted -= 1;
                return receive;
            }
            Some(Waiting::Arrived(queue)) => queue.push_back(message),
            None => _ = self.waiting.insert(key, Waiting::Arrived(VecDeque::from([message]))),
        }
        self.unexpected += 1;
        None
    }

    /// A receive is posted; returns the message that waits for it.
    pub fn post(&mut self, src: Host, dst: Host, tag: u64, receive: ReceiveId) -> Option<Message> {
        let key = (src, dst, tag);
        match self.waiting.get_mut(&key) {
            Some(Waiting::Arrived(queue)) => {
                let message = queue.pop_front();
                if queue.is_empty() {
                    self.waiting.remove(&key);
                }
                self.unexpected -= 1;
                return message;
            }
            Some(Waiting::Posted(queue)) => queue.push_back(receive),
            None => _ = self.waiting.insert(key, Waiting::Posted(VecDeque::from([receive]))),
        }
        self.posted += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::MessageId;
    use super::*;
    use xoff_engine::Time;

    fn message(id: u64) -> Message {
        let (src, dst) = (Host(0), Host(1));
        Message { id: MessageId(id), src, dst, bytes: 8, tag: Some(5), start: Time::ZERO }
    }

    #[test]
    fn receives_and_messages_meet_in_order_whichever_comes_first() {
        let mut matching = Matching::default();
        let post =
            |m: &mut Matching, tag, n| m.post(Host(0), Host(1), tag, ReceiveId(n)).map(|found| found.id.0);
        // Two messages arrive, then three receives of their tag are posted, and one of another tag; then a third message arrives.
        assert_eq!(matching.arrive(message(10), 5), None);
        assert_eq!(matching.arrive(message(11), 5), None);
        assert_eq!(post(&mut matching, 6, 0), None);
        assert_eq!(post(&mut matching, 5, 1), Some(10));
        assert_eq!(post(&mut matching, 5, 2), Some(11));
        assert_eq!(post(&mut matching, 5, 3), None);
        assert_eq!(post(&mut matching, 5, 4), None);
        assert_eq!((matching.unexpected, matching.posted), (0, 3));
        assert_eq!(matching.arrive(message(12), 5), Some(ReceiveId(3)));
        assert_eq!(matching.arrive(message(13), 5), Some(ReceiveId(4)));
        // The receive of tag 6 is all that is left.
        assert_eq!((matching.waiting.len(), matching.posted), (1, 1));
    }
}
