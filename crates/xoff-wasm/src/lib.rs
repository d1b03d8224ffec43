//! The simulator for a browser: scenarios are checked and run in WebAssembly, by one thread of a Web Worker.
//!
//! `bindings`, which is compiled for WebAssembly alone, is what JavaScript sees. All else is plain Rust, which is compiled and tested
//! on any machine. A run is the same as a native one, event for event: the simulator has no clock, no system's arithmetic, and no
//! order that depends on the machine.

#[cfg(target_family = "wasm")]
pub mod bindings;
pub mod check;
pub mod run;
pub mod table;
