//! What functions return.

/// Done.
pub const XOFF_OK: i32 = 0;
/// An argument cannot be used: a null pointer where none may be, or a text that is not UTF-8.
pub const XOFF_ARGUMENT: i32 = 1;
/// The scenario or an option is wrong, or the network cannot be built.
pub const XOFF_SCENARIO: i32 = 2;
/// The call is refused, such as for a time in the past; nothing has changed.
pub const XOFF_REFUSED: i32 = 3;
/// The network cannot go on, such as after a loss in a lossless network; later calls say the same.
pub const XOFF_BROKEN: i32 = 4;
/// The session is not open, or was closed.
pub const XOFF_CLOSED: i32 = 5;
/// Results cannot be written.
pub const XOFF_IO: i32 = 6;
/// A defect of xoff; the session can only be freed.
pub const XOFF_PANIC: i32 = 7;
