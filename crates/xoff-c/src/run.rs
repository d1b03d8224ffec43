//! What a session does.

use std::ffi::c_char;
use std::ptr;

use xoff::cosim::{Event, Host, Send};
use xoff::engine::Time;

use crate::handle::{State, XoffSession, fault, null, put, text, with};
use crate::status::XOFF_REFUSED;
use crate::types::{
    XOFF_EVENT_DELIVERED, XOFF_EVENT_RECEIVED, XOFF_EVENT_SENT, XOFF_EVENT_TIMER, XOFF_NO_LIMIT, XOFF_NO_TAG,
    XOFF_NOW, XoffEvent, XoffMessage,
};

/// Writes the time that the session has reached, in ps.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `ps` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_now(session: *const XoffSession, ps: *mut u64) -> i32 {
    with(session, |state| put("ps", ps, state.open()?.now().ps()))
}

/// Writes the number of hosts.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `count` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_hosts(session: *const XoffSession, count: *mut u32) -> i32 {
    with(session, |state| put("count", count, state.open()?.hosts()))
}

/// Writes the number of the host with a name.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `name` is NULL or a text, `host` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_host(
    session: *const XoffSession,
    name: *const c_char,
    host: *mut u32,
) -> i32 {
    with(session, |state| {
        let name = text("name", name)?.ok_or_else(|| null("name"))?;
        put("host", host, state.open()?.host(name).map_err(fault)?.0)
    })
}

/// Writes the rate of all of a host's links together, in bit/s.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `bps` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_host_bps(session: *const XoffSession, host: u32, bps: *mut u64) -> i32 {
    with(session, |state| put("bps", bps, state.open()?.rate(Host(host)).map_err(fault)?.bps()))
}

/// A message that is sent now, without a tag.
#[unsafe(no_mangle)]
pub extern "C" fn xoff_message(src: u32, dst: u32, bytes: u64) -> XoffMessage {
    let (tag, at_ps) = (XOFF_NO_TAG, XOFF_NOW);
    XoffMessage { src, dst, bytes, tag, at_ps, priority: 0, src_process: 0, dst_process: 0 }
}

/// Sends a message and writes its number, which for a message over the network is its `id` in the table of flows. `message` may be
/// NULL if the number does not matter.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `what` is NULL or points to a message, `message` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_send(
    session: *mut XoffSession,
    what: *const XoffMessage,
    message: *mut u64,
) -> i32 {
    with(session, |state| {
        // SAFETY: the caller promises NULL, or a pointer to a message that does not change during the call.
        let what = unsafe { what.as_ref() }.ok_or_else(|| null("what"))?;
        let priority = u8::try_from(what.priority).map_err(|_| {
            (XOFF_REFUSED, format!("`priority` is {}: expected a number from 0 to 7", what.priority))
        })?;
        let send = Send {
            src: Host(what.src),
            dst: Host(what.dst),
            bytes: what.bytes,
            tag: (what.tag != XOFF_NO_TAG).then_some(what.tag),
            at: (what.at_ps != XOFF_NOW).then_some(Time(what.at_ps)),
            priority,
            processes: (what.src_process, what.dst_process),
        };
        let id = state.open()?.send(send).map_err(fault)?;
        if message.is_null() { Ok(()) } else { put("message", message, id.0) }
    })
}

/// Posts a receive for the first message from `src` to `dst` with `tag` that no earlier receive has taken, in the order of arrival,
/// before or after that arrival. Writes the receive's number unless `receive` is NULL.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `receive` is NULL or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_recv(
    session: *mut XoffSession,
    src: u32,
    dst: u32,
    tag: u64,
    receive: *mut u64,
) -> i32 {
    with(session, |state| {
        if tag == XOFF_NO_TAG {
            let message = "`tag` is XOFF_NO_TAG, with which no message is found: expected another number";
            return Err((XOFF_REFUSED, message.to_string()));
        }
        let id = state.open()?.recv(Host(src), Host(dst), tag).map_err(fault)?;
        if receive.is_null() { Ok(()) } else { put("receive", receive, id.0) }
    })
}

/// Asks for an event with `token` at a time. At one time, timers come in the order of these calls, ahead of the network's events.
///
/// # Safety
/// `session` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_schedule(session: *mut XoffSession, at_ps: u64, token: u64) -> i32 {
    with(session, |state| state.open()?.schedule(Time(at_ps), token).map_err(fault))
}

/// Lets time pass up to `time_ps`, which is included, and writes all events until then, in the order in which they happened. The
/// events belong to the session, and stay until its next advance or its end; `*events` is NULL if there are none.
///
/// # Safety
/// `session` is NULL or a handle that was not freed, `events` and `count` are NULL or point to a pointer and a number. No other
/// thread advances the session while the events are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_advance_until(
    session: *mut XoffSession,
    time_ps: u64,
    events: *mut *const XoffEvent,
    count: *mut usize,
) -> i32 {
    with(session, |state| {
        let found = state.open()?.advance_until(Time(time_ps)).map_err(fault);
        show(state, found?, events, count)
    })
}

/// Lets time pass to the next event, but not beyond `limit_ps`, which may be XOFF_NO_LIMIT, and writes what happens then: more than
/// one event if one makes others. No events mean that nothing happens up to the limit or, without one, that nothing is left which
/// could happen. The events belong to the session, as those of `xoff_session_advance_until()`.
///
/// # Safety
/// As for `xoff_session_advance_until()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xoff_session_advance_to_next(
    session: *mut XoffSession,
    limit_ps: u64,
    events: *mut *const XoffEvent,
    count: *mut usize,
) -> i32 {
    with(session, |state| {
        let limit = (limit_ps != XOFF_NO_LIMIT).then_some(Time(limit_ps));
        let found = state.open()?.advance_to_next(limit).map_err(fault);
        show(state, found?, events, count)
    })
}

/// Shows C the events.
fn show(
    state: &mut State,
    found: Vec<Event>,
    events: *mut *const XoffEvent,
    count: *mut usize,
) -> Result<(), crate::handle::Fault> {
    if events.is_null() || count.is_null() {
        if let Ok(session) = state.open() {
            session.put_back(found);
        }
        return Err(null(if events.is_null() { "events" } else { "count" }));
    }
    state.events.clear();
    state.events.extend(found.iter().map(event));
    let first = if state.events.is_empty() { ptr::null() } else { state.events.as_ptr() };
    put("events", events, first)?;
    put("count", count, state.events.len())
}

fn event(event: &Event) -> XoffEvent {
    let (kind, id) = match *event {
        Event::Sent { .. } => (XOFF_EVENT_SENT, 0),
        Event::Delivered { .. } => (XOFF_EVENT_DELIVERED, 0),
        Event::Received { receive, .. } => (XOFF_EVENT_RECEIVED, receive.0),
        Event::Timer { token, .. } => (XOFF_EVENT_TIMER, token),
    };
    let found = XoffEvent { at_ps: event.at().ps(), kind, id, ..XoffEvent::default() };
    match event.message() {
        None => found,
        Some(message) => XoffEvent {
            message: message.id.0,
            bytes: message.bytes,
            tag: message.tag.unwrap_or(XOFF_NO_TAG),
            start_ps: message.start.ps(),
            src: message.src.0,
            dst: message.dst.0,
            ..found
        },
    }
}
