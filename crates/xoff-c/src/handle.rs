//! Handles: a session, its last error, and the events that the caller reads.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xoff::cosim::{Session, SessionError};
use xoff::run::{Output, RunError};

use crate::status::{XOFF_ARGUMENT, XOFF_BROKEN, XOFF_CLOSED, XOFF_OK, XOFF_PANIC, XOFF_REFUSED};
use crate::types::XoffEvent;

/// Why a call failed: a status and a message.
pub(crate) type Fault = (i32, String);

/// What is behind a handle.
#[derive(Default)]
pub(crate) struct State {
    /// `None` if the session could not be opened, or was closed.
    pub session: Option<Session>,
    /// The events of the last advance.
    pub events: Vec<XoffEvent>,
    /// The results of a session that was closed, if they could not be written.
    pub output: Option<Output>,
    /// The manifest of a session that was closed.
    pub manifest: String,
    error: String,
    /// A call has panicked.
    is_broken: bool,
}

impl State {
    /// The open session.
    pub fn open(&mut self) -> Result<&mut Session, Fault> {
        self.session.as_mut().ok_or_else(|| (XOFF_CLOSED, "the session is not open".to_string()))
    }
}

/// A session. The caller gets it from `xoff_session_open()` or `xoff_session_open_text()`, owns it, and gives it back with
/// `xoff_session_free()`.
pub struct XoffSession(Mutex<State>);

impl XoffSession {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is caught inside the lock, and marks the state as broken.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `what` with the state of a handle; keeps its error, and ends its panics.
pub(crate) fn with(session: *const XoffSession, what: impl FnOnce(&mut State) -> Result<(), Fault>) -> i32 {
    // SAFETY: the caller passes NULL or a handle that it owns and has not freed; the handle is only read here, and its state is
    // behind a lock.
    let Some(session) = (unsafe { session.as_ref() }) else { return XOFF_ARGUMENT };
    let mut state = session.lock();
    if state.is_broken {
        return XOFF_PANIC;
    }
    // The state is not used again after a panic, so that nobody sees it halfway.
    match catch_unwind(AssertUnwindSafe(|| what(&mut state))) {
        Ok(Ok(())) => XOFF_OK,
        Ok(Err((status, message))) => {
            state.error = message;
            status
        }
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(ToString::to_string);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            state.error = format!("a defect of xoff, please report it: {text}");
            state.is_broken = true;
            XOFF_PANIC
        }
    }
}

/// A handle with this state, which is given to the caller.
pub(crate) fn give(state: State) -> *mut XoffSession {
    Box::into_raw(Box::new(XoffSession(Mutex::new(state))))
}

/// The fault of a session's error.
pub(crate) fn fault(error: SessionError) -> Fault {
    let status = match &error {
        SessionError::Run(RunError::Build(_)) => XOFF_REFUSED,
        SessionError::Run(_) => XOFF_BROKEN,
        _ => XOFF_REFUSED,
    };
    (status, error.to_string())
}

/// The text that C points to; `None` for NULL.
pub(crate) fn text<'a>(what: &str, pointer: *const c_char) -> Result<Option<&'a str>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the pointer is not NULL, and the caller promises that it points to a text with a final NUL that does not change
    // during the call; nothing keeps the text after that.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str().map_err(|e| (XOFF_ARGUMENT, format!("`{what}` is no UTF-8: {e}")))?;
    Ok(Some(text))
}

/// The fault of a pointer that may not be NULL.
pub(crate) fn null(what: &str) -> Fault {
    (XOFF_ARGUMENT, format!("`{what}` is NULL: expected a pointer"))
}

/// Writes `value` where C points to.
pub(crate) fn put<T>(what: &str, pointer: *mut T, value: T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: the pointer is not NULL, and the caller promises that it points to room for a `T` that nobody else uses during
    // the call. The old value is plain data, or none.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Copies a text and a final NUL to a buffer of C, as much as there is room; returns the length of the whole text.
pub(crate) fn copy(text: &str, buffer: *mut c_char, capacity: usize) -> usize {
    if !buffer.is_null() && capacity > 0 {
        let most = text.len().min(capacity - 1);
        let length = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        // SAFETY: the caller promises that the buffer has room for `capacity` bytes; `length` bytes and the NUL are no more, and
        // a text of xoff does not overlap a buffer of the caller.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), length);
            buffer.add(length).write(0);
        }
    }
    text.len()
}

/// Copies the message of the session's last call that failed into `buffer`, as much as `capacity` has room for with a final NUL,
/// and returns the message's whole length in bytes. NULL and 0 ask for the length alone. The message is empty if no call has
/// failed, and of a session that is NULL.
///
/// # Safety
/// `session` is NULL or a handle that was not freed; `buffer` is NULL or has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_last_error(
    session: *const XoffSession,
    buffer: *mut c_char,
    capacity: usize,
) -> usize {
    // SAFETY: as in `with`.
    let error = unsafe { session.as_ref() }.map(|session| session.lock().error.clone());
    copy(&error.unwrap_or_default(), buffer, capacity)
}

/// Frees a session, closed or not, with its events; NULL is fine. Results that were not written are lost.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_free(session: *mut XoffSession) {
    if session.is_null() {
        return;
    }
    // SAFETY: the handle came from `give`, and the caller gives it back once.
    let owned = unsafe { Box::from_raw(session) };
    _ = catch_unwind(AssertUnwindSafe(|| drop(owned)));
}
