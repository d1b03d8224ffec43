//! The size of a message, which may have no end.

use serde::{Serialize, Serializer};

/// Payload bytes of a message, or none of an endless one, in eight bytes: a long run keeps the sizes of all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageSize(u64);

impl MessageSize {
    /// The size of a message that sends until something else stops the message.
    pub const ENDLESS: MessageSize = MessageSize(u64::MAX);

    /// Payload bytes; `None` of an endless message.
    #[inline]
    pub fn bytes(self) -> Option<u64> {
        (self != MessageSize::ENDLESS).then_some(self.0)
    }

    /// Whether the message has no end.
    #[inline]
    pub fn is_endless(self) -> bool {
        self == MessageSize::ENDLESS
    }
}

impl From<u64> for MessageSize {
    /// The size of so many bytes; of `u64::MAX` bytes, which no message has, an endless message's.
    fn from(bytes: u64) -> MessageSize {
        MessageSize(bytes)
    }
}

impl From<Option<u64>> for MessageSize {
    fn from(bytes: Option<u64>) -> MessageSize {
        bytes.map_or(MessageSize::ENDLESS, MessageSize)
    }
}

impl Serialize for MessageSize {
    /// A number of bytes, or null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_of_bytes_or_endless() {
        for (size, bytes, text) in [
            (MessageSize::from(0), Some(0), "0"),
            (1_000.into(), Some(1_000), "1000"),
            (Some(7).into(), Some(7), "7"),
            (None.into(), None, "null"),
            (MessageSize::ENDLESS, None, "null"),
        ] {
            assert_eq!((size.bytes(), size.is_endless()), (bytes, bytes.is_none()));
            assert_eq!(serde_json::to_string(&size).ok().as_deref(), Some(text));
        }
        // A word, where an optional number takes two.
        assert_eq!(size_of::<MessageSize>(), 8);
    }
}
