//! The checksums that a stored run's manifest has: of each other file, and of the manifest itself.
//!
//! They are those that the Python package writes and compares: SHA-256 of a file's bytes, and of the manifest's content as
//! Python's `json.dumps` writes it with sorted keys and without spaces, whatever the file's own layout is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The entry of a manifest that only its file has.
const ENTRY: &str = "checksums";

/// The text of the file of `manifest`, beside these other files of the run.
///
/// # Errors
/// If one of the files cannot be read.
pub(crate) fn manifest_text<'a>(
    manifest: &Value,
    files: impl Iterator<Item = &'a Path>,
) -> io::Result<String> {
    let mut sums = BTreeMap::new();
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut hash = Sha256::new();
        let bytes = io::copy(&mut File::open(file)?, &mut hash)?;
        sums.insert(name.to_string(), json!({ "bytes": bytes, "sha256": hex(&hash.finalize()) }));
    }
    let mut manifest = manifest.clone();
    if let Some(entries) = manifest.as_object_mut() {
        entries.shift_remove(ENTRY);
    }
    let both = json!([manifest, sums]);
    let mut plain = String::new();
    canonical(&both, &mut plain);
    manifest[ENTRY] = json!({ "manifest": hex(&Sha256::digest(plain)), "files": sums });
    Ok(format!("{manifest:#}\n"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes `value` as `json.dumps(value, sort_keys=True, separators=(",", ":"))` does.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(entries) => {
            let sorted: BTreeMap<_, _> = entries.iter().collect();
            text.push('{');
            for (index, (key, item)) in sorted.into_iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                quoted(key, text);
                text.push(':');
                canonical(item, text);
            }
            text.push('}');
        }
        Value::String(string) => quoted(string, text),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default(), text),
        other => text.push_str(&other.to_string()),
    }
}

/// A string in printable ASCII.
fn quoted(string: &str, text: &mut String) {
    text.push('"');
    for unit in string.encode_utf16() {
        let _ = match char::from_u32(unit.into()) {
            Some(c @ ('"' | '\\')) => write!(text, "\\{c}"),
            Some('\n') => write!(text, "\\n"),
            Some('\r') => write!(text, "\\r"),
            Some('\t') => write!(text, "\\t"),
            Some('\u{8}') => write!(text, "\\b"),
            Some('\u{c}') => write!(text, "\\f"),
            Some(c @ ' '..='~') => write!(text, "{c}"),
            _ => write!(text, "\\u{unit:04x}"),
        };
    }
    text.push('"');
}

/// The shortest digits that read back as `number`, as Python's `repr` lays them out: with an exponent below 1e-4 and from 1e16.
fn float(number: f64, text: &mut String) {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let _ = match exponent.parse::<i32>().unwrap_or_default() {
        -4..16 => {
            let decimal = format!("{number}");
            let point = if decimal.contains('.') { "" } else { ".0" };
            write!(text, "{decimal}{point}")
        }
        exponent => {
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(text, "{digits}e{sign}{:02}", exponent.abs())
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_python_writes_them() {
        // json.dumps({"b": [1, 2.0, 1e16, 1.5e-07, 0.0001, -0.0, 1e22, 123456789.125], "a": "\x7f\n\"\\é😀", "c": None},
        //            sort_keys=True, separators=(",", ":")) of Python 3.11.
        let value = json!({
            "b": [1, 2.0, 1e16, 1.5e-07, 0.0001, -0.0, 1e22, 123456789.125], "a": "\x7f\n\"\\é😀", "c": null,
        });
        let mut text = String::new();
        canonical(&value, &mut text);
        assert_eq!(
            text,
            r#"{"a":"\u007f\n\"\\\u00e9\ud83d\ude00","b":[1,2.0,1e+16,1.5e-07,0.0001,-0.0,1e+22,123456789.125],"c":null}"#
        );
    }
}
