//! The C interface of xoff: [`xoff::cosim::Session`] behind opaque handles.
//!
//! `include/xoff.h` is written from this crate by cbindgen; a test says whether it is current. Panics end at the boundary and
//! become [`status::XOFF_PANIC`]. This is the only crate of xoff with `unsafe` code: it reads and writes what C points to.

mod handle;
mod open;
mod results;
mod run;
pub mod status;
pub mod types;

pub use handle::{XoffSession, xoff_last_error, xoff_session_free};
pub use open::{xoff_options, xoff_session_open, xoff_session_open_text, xoff_version};
pub use results::{xoff_session_close, xoff_session_manifest, xoff_session_stats};
pub use run::{
    xoff_message, xoff_session_advance_to_next, xoff_session_advance_until, xoff_session_host,
    xoff_session_host_bps, xoff_session_hosts, xoff_session_now, xoff_session_recv, xoff_session_schedule,
    xoff_session_send,
};
