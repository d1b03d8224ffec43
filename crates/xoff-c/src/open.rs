//! Opening a session.

use std::ffi::c_char;
use std::path::Path;
use std::ptr;

use xoff::cosim::{Options, Session};
use xoff::engine::{Rate, Time};
use xoff::files;
use xoff::scenario::{Effort, OwnSchemes};
use xoff::traffic::ConnectionMapping;
use xoff::{RunError, Scenario};

use crate::handle::{Fault, State, XoffSession, fault, give, null, put, text, with};
use crate::status::{XOFF_ARGUMENT, XOFF_BROKEN, XOFF_SCENARIO};
use crate::types::{
    XOFF_CONNECTION_COUNT, XOFF_CONNECTION_DEFAULT, XOFF_CONNECTION_PER_MESSAGE, XOFF_CONNECTION_PER_PAIR,
    XOFF_CONNECTION_PER_PROCESS_PAIR, XoffOptions,
};

/// The version of xoff, as text that is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn xoff_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Options with every default.
#[unsafe(no_mangle)]
pub extern "C" fn xoff_options() -> XoffOptions {
    XoffOptions {
        sets: ptr::null(),
        set_count: 0,
        connection: XOFF_CONNECTION_DEFAULT,
        connections: 0,
        local_bps: 0,
        local_delay_ps: 0,
        label: ptr::null(),
    }
}

/// Opens a session of the scenario file at `path`, which needs no `[[traffic]]`; traffic that it has is background. `options` may
/// be NULL for the defaults. `*session` is a handle in any case, unless `session` is NULL: after an error `xoff_last_error()` takes
/// it, and `xoff_session_free()`.
///
/// # Safety
/// `path` is NULL or a text, `options` is NULL or points to options whose pointers are NULL or valid, `session` is NULL or points
/// to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_open(
    path: *const c_char,
    options: *const XoffOptions,
    session: *mut *mut XoffSession,
) -> i32 {
    opened(session, || {
        let path = text("path", path)?.ok_or_else(|| null("path"))?;
        let given = given(options)?;
        let bytes = files::read(Path::new(path), files::MAX_SCENARIO)
            .map_err(|e| (XOFF_SCENARIO, format!("{path}: cannot be read: {e}")))?;
        let content = String::from_utf8(bytes).map_err(|e| {
            (XOFF_SCENARIO, format!("{path}: is no text: {}; a scenario is TOML", e.utf8_error()))
        })?;
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        start(&content, path, folder, given)
    })
}

/// Opens a session of a scenario that is given as text; as `xoff_session_open()`. Files that the scenario names are taken from
/// `folder`; NULL for the current folder.
///
/// # Safety
/// As for `xoff_session_open()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_open_text(
    scenario: *const c_char,
    folder: *const c_char,
    options: *const XoffOptions,
    session: *mut *mut XoffSession,
) -> i32 {
    opened(session, || {
        let content = text("scenario", scenario)?.ok_or_else(|| null("scenario"))?;
        let folder = text("folder", folder)?.unwrap_or("");
        start(content, "the scenario", Path::new(folder), given(options)?)
    })
}

/// Gives the caller a handle, and then opens its session, so that an error has a place.
fn opened(session: *mut *mut XoffSession, open: impl FnOnce() -> Result<Session, Fault>) -> i32 {
    let handle = give(State::default());
    if put("session", session, handle).is_err() {
        // SAFETY: the handle was made here, and nobody else has it.
        unsafe { crate::xoff_session_free(handle) };
        return XOFF_ARGUMENT;
    }
    with(handle, |state| {
        state.session = Some(open()?);
        Ok(())
    })
}

fn start(
    content: &str,
    origin: &str,
    folder: &Path,
    (sets, options): (Vec<(String, String)>, Options),
) -> Result<Session, Fault> {
    let read = |name: &str| files::read_text(&folder.join(name));
    let scenario =
        Scenario::parse_among(content, origin, &sets, &read, &OwnSchemes::default(), Effort::Session);
    let scenario = scenario.map_err(|e| (XOFF_SCENARIO, e.to_string()))?;
    Session::open(scenario, options).map_err(|error| {
        let built = matches!(&error, xoff::cosim::SessionError::Run(e) if !matches!(e, RunError::Build(_)));
        (if built { XOFF_BROKEN } else { XOFF_SCENARIO }, fault(error).1)
    })
}

/// The settings and options that C points to.
fn given(options: *const XoffOptions) -> Result<(Vec<(String, String)>, Options), Fault> {
    // SAFETY: the caller promises NULL, or a pointer to options that do not change during the call.
    let Some(options) = (unsafe { options.as_ref() }) else { return Ok(Default::default()) };
    let wrong = |message: String| (XOFF_SCENARIO, message);
    let mut sets = Vec::new();
    if options.set_count > 0 && options.sets.is_null() {
        return Err(null("sets"));
    }
    for number in 0..options.set_count {
        // SAFETY: the caller promises `set_count` pointers at `sets`, which is not NULL.
        let set = unsafe { options.sets.add(number).read() };
        let set = text("sets", set)?.ok_or_else(|| null("sets"))?;
        let (key, value) = set
            .split_once('=')
            .ok_or_else(|| wrong(format!("`{set}` in `sets`: expected key=value, as in scheme.name=hpcc")))?;
        sets.push((key.trim().to_string(), value.trim().to_string()));
    }
    let connection = match (options.connection, options.connections) {
        (XOFF_CONNECTION_DEFAULT, 0) => None,
        (XOFF_CONNECTION_PER_MESSAGE, 0) => Some(ConnectionMapping::PerMessage),
        (XOFF_CONNECTION_PER_PAIR, 0) => Some(ConnectionMapping::PerPair),
        (XOFF_CONNECTION_PER_PROCESS_PAIR, 0) => Some(ConnectionMapping::PerProcessPair),
        (XOFF_CONNECTION_COUNT, 1..) => Some(ConnectionMapping::Count(options.connections)),
        (XOFF_CONNECTION_COUNT, 0) => {
            return Err(wrong(
                "`connections` is 0: expected a number from 1 with XOFF_CONNECTION_COUNT".into(),
            ));
        }
        (0..=3, count) => {
            return Err(wrong(format!("`connections` is {count}: expected 0 without XOFF_CONNECTION_COUNT")));
        }
        (other, _) => {
            return Err(wrong(format!(
                "`connection` is {other}: expected an XOFF_CONNECTION_ constant, 0 to 4"
            )));
        }
    };
    let default = Options::default();
    let options = Options {
        connection,
        local_rate: (options.local_bps > 0).then_some(Rate(options.local_bps)),
        local_delay: Time(options.local_delay_ps),
        label: text("label", options.label)?.map_or(default.label, String::from),
    };
    Ok((sets, options))
}
