//! Every scenario in `tests/bad`, in a folder for each area, is refused with exactly the message in the text file beside it.
//!
//! A first line `# --set key=value` is an override. `XOFF_REWRITE=1 cargo test -p xoff --test it scenario_bad` writes the
//! messages anew, for a person to read before they are kept.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use xoff::Scenario;

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn with_extension(extension: &str) -> BTreeSet<PathBuf> {
    let files = files(Path::new("tests/bad")).into_iter();
    files.filter(|path| path.extension() == Some(OsStr::new(extension))).collect()
}

fn message(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let set = std::str::from_utf8(first).ok().and_then(|line| line.strip_prefix("# --set "));
    let overrides: Vec<_> = set
        .and_then(|s| s.split_once('='))
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .into_iter()
        .collect();
    match Scenario::load(path, &overrides) {
        Ok(_) => panic!("{} was accepted", path.display()),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn each_bad_scenario_has_its_message() {
    let scenarios = with_extension("toml");
    assert!(scenarios.len() >= 100, "{} scenarios", scenarios.len());
    let rewrite = std::env::var_os("XOFF_REWRITE").is_some();
    let mut wrong = vec![];
    for path in &scenarios {
        let (found, side) = (message(path), path.with_extension("txt"));
        if rewrite {
            fs::write(&side, &found).unwrap();
        }
        let expected = fs::read_to_string(&side).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let orphans: Vec<_> = with_extension("txt")
        .into_iter()
        .filter(|t| !scenarios.contains(&t.with_extension("toml")))
        .collect();
    assert!(orphans.is_empty(), "{orphans:?}");
}

/// What holds for every message: it says what is wrong in one line, then where, then what would be right, and sends
/// no control characters to the terminal.
#[test]
fn each_message_has_the_three_parts() {
    for path in with_extension("toml") {
        let text = message(&path);
        let lines: Vec<&str> = text.lines().collect();
        let name = path.display();
        assert!(lines[0].starts_with("error: "), "{name}: {text}");
        assert!(lines[1].trim_start().starts_with("--> "), "{name}: {text}");
        assert!(
            text.contains("expected") || text.contains("did you mean") || text.contains("smallest"),
            "{name}: {text}"
        );
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{name}: {text:?}");
    }
}
