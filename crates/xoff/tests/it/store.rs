//! Folders of results, written from Rust.

use std::fs;
use std::path::Path;

use crate::common::{load, run};
use xoff::store::save;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_str().expect("UTF-8").to_string()).collect();
    names.sort();
    names
}

fn seed(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["seed"].as_u64().expect("a seed")
}

#[test]
fn a_run_replaces_an_earlier_one_and_spares_other_files() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("deep").join("out");
    let outputs =
        ["1", "2", "3"].map(|seed| run(&load("dumbbell", &[("run.duration", "310us"), ("seed", seed)])));
    save(&outputs[0], &folder).expect("a new folder");
    let files = names(&folder);
    assert_eq!(files.len(), outputs[0].tables.len() + 1, "each table and the manifest");
    save(&outputs[1], &folder).expect("a folder with an earlier run");
    assert_eq!((seed(&folder), names(&folder)), (2, files));
    fs::write(folder.join("notes.txt"), "mine").expect("a file");
    save(&outputs[2], &folder).expect("a folder with another file");
    assert_eq!(seed(&folder), 3);
    assert_eq!(fs::read_to_string(folder.join("notes.txt")).expect("the file"), "mine");
    assert_eq!(names(&place.path().join("deep")), ["out"], "nothing is left beside it");
    assert!(names(&folder).iter().all(|name| !name.starts_with(".xoff")), "nothing is left in it");
}
