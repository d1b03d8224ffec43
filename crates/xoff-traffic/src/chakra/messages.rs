//! A file as a stream of messages, each behind its length.

use std::io::{self, BufReader, Read};

use prost::encoding::{DecodeContext, decode_key, skip_field};

use crate::error::Fault;
use crate::files;

/// Maximum length of a message. A node of PyTorch has some kilobytes; the first message may hold a whole input file.
const MAX_MESSAGE: u64 = 64_000_000;

/// A message that is none of Chakra's schema: what it should be, the byte at which it begins, and why.
pub(super) fn malformed(what: &str, at: u64, error: &prost::DecodeError) -> Fault {
    let text = error.to_string();
    let why = text.strip_prefix("failed to decode Protobuf message: ").unwrap_or(&text);
    let value = format!("no execution trace: {what}, at byte {at}, cannot be decoded ({why})");
    Fault::bounds(value, "Chakra's binary form: a GlobalMetadata, then a message for each node")
}

/// The messages of a file. Memory grows with what the file has, not with what a length claims.
pub(super) struct Messages<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    /// Bytes read.
    at: u64,
    message: Vec<u8>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(file: Box<dyn Read + 'a>) -> Messages<'a> {
        Messages { reader: BufReader::with_capacity(1 << 16, file), at: 0, message: Vec::new() }
    }

    /// The byte at which the next message begins, with its length before it.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The next message; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        let begin = self.at;
        let Some(length) = self.length(begin)? else { return Ok(None) };
        if length > MAX_MESSAGE {
            let value = format!("no execution trace: at byte {begin} stands a message of {length} B");
            return Err(Fault::bounds(
                value,
                format!("messages of Chakra's schema, each behind its length of at most {MAX_MESSAGE} B"),
            ));
        }
        self.message.clear();
        let found = self.reader.by_ref().take(length).read_to_end(&mut self.message).map_err(unreadable)?;
        self.at += found as u64;
        if (found as u64) < length {
            return Err(cut_off(begin, format!("{length} B, of which {found} are there")));
        }
        Ok(Some(&self.message))
    }

    /// The length of the next message, a varint; `None` at the end of the file.
    fn length(&mut self, begin: u64) -> Result<Option<u64>, Fault> {
        let mut length = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            if self.reader.read(&mut byte).map_err(unreadable)? == 0 {
                return if shift == 0 {
                    Ok(None)
                } else {
                    Err(cut_off(begin, "a length without its end".into()))
                };
            }
            self.at += 1;
            length |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(Some(length));
            }
        }
        Ok(Some(u64::MAX))
    }
}

fn unreadable(error: io::Error) -> Fault {
    Fault::bounds(format!("unreadable: {}", files::reason(&error)), "a file")
}

fn cut_off(begin: u64, what: String) -> Fault {
    Fault::bounds(format!("cut off: the last message, at byte {begin}, has {what}"), "a whole file")
}

/// The highest number of a field that a message has, above `known`; `None` if it has none above.
pub(super) fn unknown_field(mut message: &[u8], known: u32) -> Option<u32> {
    let mut highest = None;
    while !message.is_empty() {
        let (number, wire) = decode_key(&mut message).ok()?;
        skip_field(wire, number, &mut message, DecodeContext::default()).ok()?;
        highest = highest.max(Some(number).filter(|number| *number > known));
    }
    highest
}
