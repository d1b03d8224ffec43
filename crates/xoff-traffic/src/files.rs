//! The files that a scenario names, as the caller gives them.

use std::io::{self, Cursor, Read};

/// Gives the files that a scenario names; a name is as written there.
pub trait FileSource {
    /// The text of a file.
    ///
    /// # Errors
    /// There is no such file, it cannot be read, or it is no text.
    fn text(&self, name: &str) -> io::Result<String>;

    /// The text of a file that may be many times larger than others, such as a schedule.
    ///
    /// # Errors
    /// As for [`FileSource::text`].
    fn large_text(&self, name: &str) -> io::Result<String> {
        self.text(name)
    }

    /// The bytes of a file that may be large, from its beginning.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such file; another kind if it cannot be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Cursor::new(self.text(name)?.into_bytes())))
    }
}

/// A source of texts alone.
pub struct Texts<'a>(pub &'a dyn Fn(&str) -> io::Result<String>);

impl FileSource for Texts<'_> {
    fn text(&self, name: &str) -> io::Result<String> {
        (self.0)(name)
    }
}

/// Why a file cannot be had, for a message.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file beside the scenario".into(),
        io::ErrorKind::InvalidData => "it is no text".into(),
        _ => error.to_string(),
    }
}
