//! The reaction point of a flow whose scheme is a class in Python.
//!
//! Each call takes the GIL, which is free otherwise during a run. After the call the object is asked for rate, window and
//! timer, which hold until the next call; so the network may read them as often as it likes. Once anything has broken, no
//! object is called any more, and the run ends with its window.

use std::sync::Arc;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use xoff_engine::{Rate, Time};
use xoff_schemes::{self as schemes, FlowEnv, ReactionPoint, Signals};

use crate::feedback::{Ack, Cnp, Flow, Sent};
use crate::own_scheme::{Broken, Class, make_object};

/// Maximum number of variables of a flow, and of bytes of the name of one.
const MAX_VARIABLES: usize = 64;
const MAX_NAME: usize = 80;

/// The methods of a flow's object that its class overrides.
#[derive(Default)]
struct Methods {
    on_send: Option<Py<PyAny>>,
    on_ack: Option<Py<PyAny>>,
    on_cnp: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_busy: Option<Py<PyAny>>,
    rate: Option<Py<PyAny>>,
    window: Option<Py<PyAny>>,
    next_timer: Option<Py<PyAny>>,
    variables: Option<Py<PyAny>>,
}

/// What an object's method `variables` has told.
#[pyclass]
#[derive(Default)]
struct Told(Vec<(String, f64)>);

#[pymethods]
impl Told {
    /// Tells a variable.
    fn probe(&mut self, name: String, value: f64) -> PyResult<()> {
        let wrong = |what: String| Err(PyValueError::new_err(what));
        if name.is_empty() || name.len() > MAX_NAME {
            return wrong(format!("probe() takes a name of 1 to {MAX_NAME} bytes"));
        }
        if !value.is_finite() {
            return wrong(format!("probe({name:?}, {value}): expected a finite number"));
        }
        if self.0.iter().any(|(known, _)| *known == name) {
            return wrong(format!("probe({name:?}, ...) is called twice"));
        }
        if self.0.len() == MAX_VARIABLES {
            return wrong(format!("probe() is called more than {MAX_VARIABLES} times"));
        }
        self.0.push((name, value));
        Ok(())
    }
}

/// A flow's object, and its latest statements.
pub struct PyReaction {
    class: Arc<Class>,
    broken: Arc<Broken>,
    methods: Methods,
    flow: u32,
    line_rate: Rate,
    rate: Rate,
    window: u64,
    timer: Time,
}

/// What broke: in words, and the exception if there is one.
type Breakage = (String, Option<PyErr>);

impl PyReaction {
    /// Makes the flow's object.
    pub fn new(class: &Arc<Class>, keywords: &Py<PyDict>, broken: &Arc<Broken>, env: &FlowEnv) -> Self {
        let mut point = PyReaction {
            class: class.clone(),
            broken: broken.clone(),
            methods: Methods::default(),
            flow: env.flow,
            line_rate: env.line_rate,
            rate: env.line_rate,
            window: u64::MAX,
            timer: Time::NEVER,
        };
        if !broken.is() {
            let made = Python::attach(|py| point.begin(py, keywords, env));
            point.judge(env.now, made);
        }
        point
    }

    fn begin(&mut self, py: Python<'_>, keywords: &Py<PyDict>, env: &FlowEnv) -> Result<(), Breakage> {
        let object = make_object(py, &self.class, keywords, Flow::from(env))
            .map_err(|e| self.raised(py, "__init__", e))?;
        let own = object.getattr("__dict__").ok().and_then(|own| own.cast_into::<PyDict>().ok());
        let method = |name: &str| -> Result<Option<Py<PyAny>>, Breakage> {
            if own.as_ref().is_some_and(|own| own.contains(name).unwrap_or(false)) {
                let what = format!("{}.__init__() of flow {} sets self.{name}", self.class.label, self.flow);
                return Err((format!("{what}: expected a method of that name, or another attribute"), None));
            }
            let there = self.class.hooks.iter().any(|hook| hook == name);
            let bound = there.then(|| object.getattr(name).map(Bound::unbind)).transpose();
            bound.map_err(|e| self.raised(py, name, e))
        };
        self.methods = Methods {
            on_send: method("on_send")?,
            on_ack: method("on_ack")?,
            on_cnp: method("on_cnp")?,
            on_timer: method("on_timer")?,
            on_loss: method("on_loss")?,
            on_timeout: method("on_timeout")?,
            on_idle: method("on_idle")?,
            on_busy: method("on_busy")?,
            rate: method("rate")?,
            window: method("window")?,
            next_timer: method("next_timer")?,
            variables: method("variables")?,
        };
        self.ask(py, env.now)
    }

    /// Calls one of the object's methods and asks for rate, window and timer.
    fn call<A: for<'py> PyCallArgs<'py>>(
        &mut self,
        now: Time,
        name: &'static str,
        choose: impl Fn(&Methods) -> Option<&Py<PyAny>>,
        arguments: impl FnOnce(&Signals) -> A,
    ) {
        if self.broken.is() || choose(&self.methods).is_none() {
            return;
        }
        let done = Python::attach(|py| {
            let Some(method) = choose(&self.methods) else { return Ok(()) };
            let answer = method
                .bind(py)
                .call1(arguments(&self.class.signals))
                .map_err(|e| self.raised(py, name, e))?;
            if !answer.is_none() {
                return Err(self.answered(
                    name,
                    &answer,
                    "None: what it decides is stated by rate() and window()",
                ));
            }
            self.ask(py, now)?;
            if name == "on_timer" && self.timer <= now {
                let at = format!(
                    "{}.next_timer() of flow {} returned {} ps",
                    self.class.label,
                    self.flow,
                    self.timer.ps()
                );
                return Err((format!("{at}: expected a time after that of on_timer(), or None"), None));
            }
            Ok(())
        });
        self.judge(now, done);
    }

    fn judge(&self, now: Time, done: Result<(), Breakage>) {
        if let Err((what, cause)) = done {
            self.broken.tell(&self.class.name, now, what, cause);
        }
    }

    /// Asks for rate, window and timer.
    fn ask(&mut self, py: Python<'_>, now: Time) -> Result<(), Breakage> {
        if let Some(method) = &self.methods.rate {
            let answer = method.call0(py).map_err(|e| self.raised(py, "rate", e))?;
            let expected = "a number of bit/s from 1 up, or None for line rate";
            self.rate = match self.number("rate", answer.bind(py), 1.0, expected)? {
                Some(rate) => Rate(rate as u64).min(self.line_rate),
                None => self.line_rate,
            };
        }
        if let Some(method) = &self.methods.window {
            let answer = method.call0(py).map_err(|e| self.raised(py, "window", e))?;
            let expected = "a number of bytes from 0 up, or None for no limit";
            let window = self.number("window", answer.bind(py), 0.0, expected)?;
            self.window = window.map_or(u64::MAX, |bytes| bytes as u64);
        }
        if let Some(method) = &self.methods.next_timer {
            let answer = method.call0(py).map_err(|e| self.raised(py, "next_timer", e))?;
            let expected = format!("a time in ps from now, {}, on, or None", now.ps());
            let timer = self.number("next_timer", answer.bind(py), now.ps() as f64, &expected)?;
            // Never earlier than the scheme asked for.
            self.timer = timer.map_or(Time::NEVER, |ps| Time(ps.ceil() as u64));
        }
        Ok(())
    }

    /// The variables that the object's method `variables` tells, in the order of the calls of its argument.
    fn told(&self, py: Python<'_>, method: &Py<PyAny>) -> Result<Vec<(String, f64)>, Breakage> {
        let told = Bound::new(py, Told::default()).map_err(|e| self.raised(py, "variables", e))?;
        let answer =
            method.bind(py).call1((told.getattr("probe").map_err(|e| self.raised(py, "variables", e))?,));
        let answer = answer.map_err(|e| self.raised(py, "variables", e))?;
        if !answer.is_none() {
            return Err(self.answered(
                "variables",
                &answer,
                "None: variables are told by probe(name, value)",
            ));
        }
        let told = told.borrow_mut().0.split_off(0);
        Ok(told)
    }

    /// A finite number that is not below `min`; `None` for Python's None.
    fn number(
        &self,
        method: &str,
        answer: &Bound<'_, PyAny>,
        min: f64,
        expected: &str,
    ) -> Result<Option<f64>, Breakage> {
        if answer.is_none() {
            return Ok(None);
        }
        let plain = !answer.is_instance_of::<PyBool>() && !answer.is_instance_of::<PyString>();
        match answer.extract::<f64>() {
            Ok(number) if plain && number.is_finite() && number >= min => Ok(Some(number)),
            _ => Err(self.answered(method, answer, expected)),
        }
    }

    fn answered(&self, method: &str, answer: &Bound<'_, PyAny>, expected: &str) -> Breakage {
        let shown =
            answer.repr().map_or("something without a repr".into(), |r| r.to_string_lossy().into_owned());
        let shown: String = shown.chars().take(80).collect();
        let at = format!("{}.{method}() of flow {} returned {shown}", self.class.label, self.flow);
        (format!("{at}: expected {expected}"), None)
    }

    fn raised(&self, py: Python<'_>, method: &str, error: PyErr) -> Breakage {
        let kind = error.get_type(py).name().map_or("an exception".into(), |name| name.to_string());
        let text = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
        let what = if text.is_empty() { kind } else { format!("{kind}: {text}") };
        (format!("{}.{method}() of flow {} raised {what}", self.class.label, self.flow), Some(error))
    }
}

impl ReactionPoint for PyReaction {
    fn on_send(&mut self, sent: &schemes::Sent) {
        self.call(sent.now, "on_send", |m| m.on_send.as_ref(), |_| (Sent::from(sent),));
    }
    fn on_ack(&mut self, ack: &schemes::Ack<'_>) {
        self.call(ack.now, "on_ack", |m| m.on_ack.as_ref(), |signals| (Ack::seen(ack, signals),));
    }
    fn on_cnp(&mut self, now: Time, cnp: &schemes::Cnp) {
        self.call(now, "on_cnp", |m| m.on_cnp.as_ref(), |_| (Cnp::seen(now, cnp),));
    }
    fn on_loss(&mut self, now: Time) {
        self.call(now, "on_loss", |m| m.on_loss.as_ref(), |_| (now.ps(),));
    }
    fn on_timeout(&mut self, now: Time) {
        if self.methods.on_timeout.is_none() {
            return self.on_loss(now);
        }
        self.call(now, "on_timeout", |m| m.on_timeout.as_ref(), |_| (now.ps(),));
    }
    fn on_idle(&mut self, now: Time) {
        self.call(now, "on_idle", |m| m.on_idle.as_ref(), |_| (now.ps(),));
    }
    fn on_busy(&mut self, now: Time) {
        self.call(now, "on_busy", |m| m.on_busy.as_ref(), |_| (now.ps(),));
    }
    fn on_timer(&mut self, now: Time) {
        self.call(now, "on_timer", |m| m.on_timer.as_ref(), |_| (now.ps(),));
    }
    /// Once anything is broken, no call would move the timer on, and its time would never pass.
    fn next_timer(&self) -> Time {
        if self.broken.is() { Time::NEVER } else { self.timer }
    }
    fn variables(&self, now: Time, probe: &mut dyn FnMut(&str, f64)) {
        let Some(method) = self.methods.variables.as_ref().filter(|_| !self.broken.is()) else { return };
        let told = Python::attach(|py| self.told(py, method));
        match told {
            Ok(told) => told.iter().for_each(|(name, value)| probe(name, *value)),
            Err(_) => self.judge(now, told.map(|_| ())),
        }
    }
    fn rate(&self) -> Rate {
        self.rate
    }
    fn window(&self) -> u64 {
        self.window
    }
}
