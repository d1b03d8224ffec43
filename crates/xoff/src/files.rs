//! Reading the files that a user names: regular files of bounded size.
//!
//! A pipe may never begin and a device never end, and a text takes many times its size once it is read, so both are refused
//! before the first byte.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

use xoff_engine::Bytes;
use xoff_traffic::FileSource;

/// Maximum size of a scenario, and of a topology's file. A TOML text takes up to 80 times its size in memory.
pub const MAX_SCENARIO: Bytes = Bytes(8_000_000);
/// Maximum size of any other file that a scenario names.
pub const MAX_FILE: Bytes = Bytes(256_000_000);
/// Maximum size of a schedule of a parallel program: 100 million operations. It takes four to six times its size in memory.
pub const MAX_LARGE: Bytes = Bytes(4_000_000_000);

/// The bytes of a regular file of at most `max`.
///
/// # Errors
/// The file cannot be read, is no regular file, or is larger.
pub fn read(path: &Path, max: Bytes) -> io::Result<Vec<u8>> {
    let about = regular(path)?;
    let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
    check_size(about.len(), max).map_err(invalid)?;
    let mut bytes = Vec::with_capacity(about.len() as usize + 1);
    // The file may have grown since.
    File::open(path)?.take(max.0 + 1).read_to_end(&mut bytes)?;
    check_size(bytes.len() as u64, max).map_err(invalid)?;
    Ok(bytes)
}

/// What the system says of a regular file.
fn regular(path: &Path) -> io::Result<Metadata> {
    let about = path.metadata()?;
    if about.is_file() {
        return Ok(about);
    }
    let kind = kind(about.file_type());
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}; expected a file")))
}

/// The files in a folder.
pub struct Folder<'a>(pub &'a Path);

impl FileSource for Folder<'_> {
    fn text(&self, name: &str) -> io::Result<String> {
        read_text(&self.0.join(name))
    }

    fn large_text(&self, name: &str) -> io::Result<String> {
        read_text_up_to(&self.0.join(name), MAX_LARGE)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        open(&self.0.join(name))
    }
}

/// A regular file of any size, to be read from its beginning.
///
/// # Errors
/// The file cannot be read, or is no regular file.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    regular(path)?;
    Ok(Box::new(File::open(path)?))
}

/// The text of a regular file of at most [`MAX_FILE`].
///
/// # Errors
/// As for [`read`]; [`io::ErrorKind::InvalidData`] if the file is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_up_to(path, MAX_FILE)
}

/// The text of a regular file of at most `max`.
///
/// # Errors
/// As for [`read_text`].
pub fn read_text_up_to(path: &Path, max: Bytes) -> io::Result<String> {
    let bytes = read(path, max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Refuses a text of `size` bytes that is larger than `max`, in words for a user.
pub(crate) fn check_size(size: u64, max: Bytes) -> Result<(), String> {
    if size > max.0 {
        return Err(format!("it has {:.1}MB; expected at most {max}", size as f64 / 1e6));
    }
    Ok(())
}

fn kind(file: FileType) -> &'static str {
    if file.is_dir() { "a folder" } else { "a pipe or a device" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let folder = std::env::temp_dir().join(format!("xoff-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("ten.txt");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, Bytes(10)).unwrap(), b"0123456789");
        let message = |path: &Path, max| read(path, max).unwrap_err().to_string();
        assert_eq!(message(&file, Bytes(9)), "it has 0.0MB; expected at most 9B");
        assert_eq!(message(&folder, MAX_FILE), "it is a folder; expected a file");
        #[cfg(unix)]
        for device in ["/dev/zero", "/dev/null"] {
            assert_eq!(message(Path::new(device), MAX_FILE), "it is a pipe or a device; expected a file");
        }
        fs::write(&file, [0xff]).unwrap();
        assert_eq!(read_text(&file).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::remove_dir_all(&folder).unwrap();
    }
}
