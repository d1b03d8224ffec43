//! The header that is checked in is the one that cbindgen writes from the code.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml")).expect("settings");
    config.line_length = 130;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["status", "types", "handle", "open", "run", "results"] {
        builder = builder.with_src(crate_folder.join(format!("src/{file}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().expect("a header").write(&mut text);
    let text = String::from_utf8(text).expect("text");
    let file = crate_folder.join("include/xoff.h");
    if std::env::var_os("XOFF_WRITE_HEADER").is_some() {
        std::fs::write(&file, &text).expect("a file");
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        there == text,
        "include/xoff.h is not current; write it anew: XOFF_WRITE_HEADER=1 cargo test -p xoff-c --test it header"
    );
}
