//! A program in C uses the interface.

use crate::{compiler, root, run};

#[test]
fn a_program_in_c_gets_its_events_and_its_errors() {
    let Some(cc) = compiler("CC", "cc") else { return };
    let source = root().join("crates/xoff-c/tests/it/session.c");
    let printed = run(&cc, &["-std=c99".into(), "-pthread".into()], &[source], &[]);
    assert!(printed.ends_with("all is well\n"), "{printed}");
}
