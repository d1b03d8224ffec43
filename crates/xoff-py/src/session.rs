//! Sessions of a co-simulation: each call goes to [`xoff::cosim::Session`]; the GIL is released while time passes.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use xoff::cosim::{self, Host, Options, Send, SessionError};
use xoff_engine::{Rate, Time};
use xoff_traffic::ConnectionMapping;

use super::{Prepared, RunOutput, ScenarioError, run_error};

/// Something that has happened in a session.
#[pyclass(frozen, eq, name = "SessionEvent")]
#[derive(Clone, PartialEq)]
pub struct Event(cosim::Event);

#[pymethods]
impl Event {
    /// `"sent"`, `"delivered"`, `"received"` or `"timer"`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            cosim::Event::Sent { .. } => "sent",
            cosim::Event::Delivered { .. } => "delivered",
            cosim::Event::Received { .. } => "received",
            cosim::Event::Timer { .. } => "timer",
        }
    }

    /// When, in ps.
    #[getter]
    fn at_ps(&self) -> u64 {
        self.0.at().ps()
    }

    /// The message's number; `None` for a timer, as the following ones.
    #[getter]
    fn message(&self) -> Option<u64> {
        self.0.message().map(|message| message.id.0)
    }

    /// The sending host's number.
    #[getter]
    fn src(&self) -> Option<u32> {
        self.0.message().map(|message| message.src.0)
    }

    /// The receiving host's number.
    #[getter]
    fn dst(&self) -> Option<u32> {
        self.0.message().map(|message| message.dst.0)
    }

    /// Payload bytes.
    #[getter]
    fn bytes(&self) -> Option<u64> {
        self.0.message().map(|message| message.bytes)
    }

    /// The message's tag; `None` without one.
    #[getter]
    fn tag(&self) -> Option<u64> {
        self.0.message().and_then(|message| message.tag)
    }

    /// When the message was handed to its connection, in ps.
    #[getter]
    fn start_ps(&self) -> Option<u64> {
        self.0.message().map(|message| message.start.ps())
    }

    /// The receive's number; `None` unless the event is `"received"`.
    #[getter]
    fn receive(&self) -> Option<u64> {
        match self.0 {
            cosim::Event::Received { receive, .. } => Some(receive.0),
            _ => None,
        }
    }

    /// A timer's token; `None` unless the event is `"timer"`.
    #[getter]
    fn token(&self) -> Option<u64> {
        match self.0 {
            cosim::Event::Timer { token, .. } => Some(token),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        let at = self.0.at();
        match self.0 {
            cosim::Event::Timer { token, .. } => format!("SessionEvent(timer at {at}, token {token})"),
            _ => format!(
                "SessionEvent({} at {at}, message {}, {} B from host {} to {})",
                self.kind(),
                self.message().unwrap_or_default(),
                self.bytes().unwrap_or_default(),
                self.src().unwrap_or_default(),
                self.dst().unwrap_or_default()
            ),
        }
    }
}

/// A scenario under way, to which Python gives messages.
#[pyclass(frozen)]
pub struct Session(Mutex<Option<cosim::Session>>);

/// The error of a session: of the run, or of the call.
fn error(error: SessionError) -> PyErr {
    match error {
        SessionError::Run(broken) => run_error(broken),
        mistake => ScenarioError::new_err(mistake.to_string()),
    }
}

type Guard<'a> = MutexGuard<'a, Option<cosim::Session>>;

impl Session {
    fn lock(&self) -> PyResult<Guard<'_>> {
        self.0.try_lock().map_err(|e| {
            PyRuntimeError::new_err(match e {
                TryLockError::WouldBlock => {
                    "another thread uses the session: a session takes one call at a time"
                }
                TryLockError::Poisoned(_) => "the session broke in an earlier call",
            })
        })
    }

    /// Calls the session with the GIL held.
    fn call<R>(&self, what: impl FnOnce(&mut cosim::Session) -> Result<R, SessionError>) -> PyResult<R> {
        let mut guard = self.lock()?;
        what(open(&mut guard)?).map_err(error)
    }

    /// Lets time pass without the GIL; Ctrl-C ends that, and the events so far come with the next call.
    fn pass(
        &self,
        py: Python<'_>,
        what: impl FnOnce(
            &mut cosim::Session,
            &mut dyn FnMut() -> bool,
        ) -> Result<Vec<cosim::Event>, SessionError>
        + std::marker::Send,
    ) -> PyResult<Vec<Event>> {
        let mut raised = None;
        let events = py.detach(|| {
            let mut guard = self.lock()?;
            let session = open(&mut guard)?;
            let mut go_on = || match Python::attach(|py| py.check_signals()) {
                Ok(()) => true,
                Err(e) => {
                    raised = Some(e);
                    false
                }
            };
            let events = what(session, &mut go_on).map_err(error)?;
            if raised.is_some() {
                session.put_back(events);
                return Ok(Vec::new());
            }
            Ok::<_, PyErr>(events)
        })?;
        match raised {
            Some(e) => Err(e),
            None => Ok(events.into_iter().map(Event).collect()),
        }
    }
}

fn open<'a>(guard: &'a mut Guard<'_>) -> PyResult<&'a mut cosim::Session> {
    guard.as_mut().ok_or_else(|| PyRuntimeError::new_err("the session is closed"))
}

#[pymethods]
impl Session {
    /// Opens a session of a scenario that was prepared for one. `connection` is JSON, as in a traffic pattern.
    #[new]
    #[pyo3(signature = (scenario, connection=None, local_bps=None, local_delay_ps=0, label="session"))]
    fn new(
        py: Python<'_>,
        scenario: &Prepared,
        connection: Option<&str>,
        local_bps: Option<u64>,
        local_delay_ps: u64,
        label: &str,
    ) -> PyResult<Session> {
        // By way of a value, whose errors name no place in a text that the caller has not written.
        let read = |text| serde_json::from_str(text).and_then(serde_json::from_value::<ConnectionMapping>);
        let connection = connection.map(read).transpose();
        let connection = connection.map_err(|e| ScenarioError::new_err(format!("`connection`: {e}")))?;
        let options = Options {
            connection,
            local_rate: local_bps.map(Rate),
            local_delay: Time(local_delay_ps),
            label: label.to_string(),
        };
        let scenario = scenario.scenario.clone();
        let session = py.detach(|| cosim::Session::open(scenario, options)).map_err(error)?;
        Ok(Session(Mutex::new(Some(session))))
    }

    /// The time that the session has reached, in ps.
    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        self.call(|session| Ok(session.now().ps()))
    }

    /// The names of the hosts, by number.
    #[getter]
    fn hosts(&self) -> PyResult<Vec<String>> {
        self.call(|session| (0..session.hosts()).map(|n| session.name(Host(n)).map(String::from)).collect())
    }

    /// The number of the host with this name.
    fn host(&self, name: &str) -> PyResult<u32> {
        self.call(|session| session.host(name).map(|host| host.0))
    }

    /// The rate of a host's links, in bit/s.
    fn host_bps(&self, host: u32) -> PyResult<u64> {
        self.call(|session| session.rate(Host(host)).map(|rate| rate.bps()))
    }

    /// Sends a message; returns its number.
    #[pyo3(signature = (src, dst, bytes, tag=None, at_ps=None, priority=0, processes=(0, 0)))]
    #[allow(clippy::too_many_arguments)]
    fn send(
        &self,
        src: u32,
        dst: u32,
        bytes: u64,
        tag: Option<u64>,
        at_ps: Option<u64>,
        priority: u8,
        processes: (u32, u32),
    ) -> PyResult<u64> {
        let (src, dst, at) = (Host(src), Host(dst), at_ps.map(Time));
        self.call(|session| {
            session.send(Send { src, dst, bytes, tag, at, priority, processes }).map(|id| id.0)
        })
    }

    /// Posts a receive; returns its number.
    fn recv(&self, src: u32, dst: u32, tag: u64) -> PyResult<u64> {
        self.call(|session| session.recv(Host(src), Host(dst), tag).map(|receive| receive.0))
    }

    /// Asks for an event with `token` at a time.
    fn schedule(&self, at_ps: u64, token: u64) -> PyResult<()> {
        self.call(|session| session.schedule(Time(at_ps), token))
    }

    /// Lets time pass up to `time_ps`; returns all events.
    fn advance_until(&self, py: Python<'_>, time_ps: u64) -> PyResult<Vec<Event>> {
        self.pass(py, |session, go_on| session.advance_until_while(Time(time_ps), go_on))
    }

    /// Lets time pass to the next event; returns what happens then.
    #[pyo3(signature = (limit_ps=None))]
    fn advance_to_next(&self, py: Python<'_>, limit_ps: Option<u64>) -> PyResult<Vec<Event>> {
        self.pass(py, |session, go_on| session.advance_to_next_while(limit_ps.map(Time), go_on))
    }

    /// The counts so far, by name.
    fn stats(&self) -> PyResult<Vec<(&'static str, u64)>> {
        self.call(|session| Ok(session.stats().named().to_vec()))
    }

    /// Whether the session was closed.
    #[getter]
    fn closed(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_none())
    }

    /// Closes the session; returns its results.
    fn close(&self, py: Python<'_>) -> PyResult<RunOutput> {
        let session = self.lock()?.take().ok_or_else(|| PyRuntimeError::new_err("the session is closed"))?;
        Ok(RunOutput(py.detach(|| session.close()).map_err(error)?))
    }
}
