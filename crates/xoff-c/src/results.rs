//! Counts and results of a session.

use std::ffi::c_char;
use std::path::Path;

use xoff::store;

use crate::handle::{XoffSession, copy, fault, put, text, with};
use crate::status::{XOFF_CLOSED, XOFF_IO};
use crate::types::XoffStats;

/// Writes the counts so far.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `stats` is NULL or points to counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_stats(session: *const XoffSession, stats: *mut XoffStats) -> i32 {
    with(session, |state| {
        let now = state.open()?.stats();
        let counts = XoffStats {
            messages: now.messages,
            local_messages: now.local_messages,
            delivered: now.delivered,
            sent: now.sent,
            delivered_bytes: now.delivered_bytes,
            fct_sum_ps: now.fct_sum_ps,
            max_fct_ps: now.max_fct_ps,
            unexpected: now.unexpected,
            posted: now.posted,
            events: now.events,
            packet_hops: now.packet_hops,
            dropped_packets: now.dropped_packets,
        };
        put("stats", stats, counts)
    })
}

/// Closes the session: writes its result tables (Parquet) and its manifest into `folder`, as `xoff run -o` does; NULL if they are
/// not wanted. The handle then has the manifest, until it is freed. After XOFF_IO it has the results too, for another folder.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `folder` is NULL or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_close(session: *mut XoffSession, folder: *const c_char) -> i32 {
    with(session, |state| {
        let folder = text("folder", folder)?;
        if state.output.is_none() {
            state.open()?;
            state.events.clear();
            let Some(session) = state.session.take() else { return Ok(()) };
            let output = session.close().map_err(fault)?;
            state.manifest = output.manifest.to_string();
            state.output = Some(output);
        }
        if let (Some(folder), Some(output)) = (folder, &state.output) {
            store::save(output, Path::new(folder))
                .map_err(|e| (XOFF_IO, format!("{folder}: cannot be written: {e}")))?;
        }
        state.output = None;
        Ok(())
    })
}

/// Copies the manifest of a session that was closed, as JSON, into `buffer`, as much as `capacity` has room for with a final NUL, and
/// writes the whole length in bytes. NULL and 0 ask for the length alone.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `buffer` is NULL or has room for `capacity` bytes, `length` is NULL or points to
/// a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_manifest(
    session: *const XoffSession,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    with(session, |state| {
        if state.manifest.is_empty() {
            return Err((XOFF_CLOSED, "the session has no manifest before it is closed".to_string()));
        }
        put("length", length, copy(&state.manifest, buffer, capacity))
    })
}
