//! All integration tests of this crate, as modules of one binary.

mod astra;
mod header;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the library that C links, which was built with this test.
fn libraries() -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    exe.parent().expect("a folder").to_path_buf()
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A compiler; `None`, with a message, if the machine has none.
fn compiler(variable: &str, name: &str) -> Option<String> {
    let program = std::env::var(variable).unwrap_or_else(|_| name.to_string());
    let works = Command::new(&program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("SKIPPED: there is no compiler `{program}`; install one, or name it by {variable}");
    }
    works.then_some(program)
}

/// Compiles and links a program against the shared library, and returns what it prints.
fn run(compiler: &str, flags: &[String], sources: &[PathBuf], arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let libraries = libraries();
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-g"])
        .args(flags)
        .arg(format!("-I{}", root().join("crates/xoff-c/include").display()))
        .args(sources)
        .arg(format!("-L{}", libraries.display()))
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-lxoff_c", "-o"])
        .arg(&program)
        .output()
        .expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).args(arguments).output().expect("a program");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{out}\n{err}", output.status);
    out.into_owned()
}
