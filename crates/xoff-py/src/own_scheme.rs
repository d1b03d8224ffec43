//! A scheme in Python as a scheme of xoff: its class, its parameters, and what broke in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Map, Value};
use xoff::scenario::{OwnSchemes, ParamFault};
use xoff_engine::Time;
use xoff_schemes::dcqcn::Dcqcn;
use xoff_schemes::detector::red::Red;
use xoff_schemes::foreign::{ForeignCongestion, ForeignNotification, ForeignReaction};
use xoff_schemes::{
    AnyDetector, FlowEnv, Foreign, ForeignScheme, IntPath, NoOp, PortEnv, Scheme, SchemeFailure, Signals,
};

use crate::reaction::PyReaction;

/// A class as `xoff.own_scheme.describe` has checked it.
#[derive(FromPyObject)]
pub struct Described {
    name: String,
    label: String,
    cls: Py<PyAny>,
    keys: Vec<String>,
    hooks: Vec<String>,
    signals: Declared,
    origin: String,
    bind: Py<PyAny>,
}

/// The signals that the class declares.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Declared {
    ecn: bool,
    cnps: bool,
    int: Option<String>,
    timestamp: bool,
    flow_count: bool,
}

/// What is known of a class before a run.
pub struct Class {
    /// The scheme's name in scenarios.
    pub name: String,
    /// What messages call the class.
    pub label: String,
    /// The class itself.
    pub object: Py<PyAny>,
    /// The methods that it overrides.
    pub hooks: Vec<String>,
    /// What it needs on the wire.
    pub signals: Signals,
    cnps: bool,
    origin: Value,
}

/// What broke first in a run.
#[derive(Default)]
pub struct Broken {
    flag: AtomicBool,
    first: Mutex<Option<SchemeFailure>>,
}

impl Broken {
    /// Whether anything has broken. All calls of a run come from one thread.
    pub fn is(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Notes what broke, unless something broke before.
    pub fn tell(&self, scheme: &str, at: Time, what: String, cause: Option<PyErr>) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| SchemeFailure {
            scheme: scheme.into(),
            at,
            what,
            cause: cause.map(|error| Arc::new(error) as _),
        });
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// A class with the parameters of a scenario.
struct PyScheme {
    class: Arc<Class>,
    keywords: Py<PyDict>,
    params: Map<String, Value>,
    broken: Arc<Broken>,
}

/// The schemes that a scenario may name beside the built-in ones.
pub fn own_schemes(py: Python<'_>, classes: Vec<Described>) -> PyResult<OwnSchemes> {
    classes.into_iter().try_fold(OwnSchemes::default(), |schemes, described| {
        let name = described.name.clone();
        let signals = Signals {
            ecn: described.signals.ecn,
            int: match described.signals.int.as_deref() {
                Some("data") => IntPath::Data,
                Some("ack") => IntPath::Ack,
                _ => IntPath::Off,
            },
            timestamp: described.signals.timestamp,
            flow_count: described.signals.flow_count,
            symmetric_paths: described.signals.int.as_deref() == Some("ack"),
            acks: described.hooks.iter().any(|hook| hook == "on_ack"),
            ..Signals::default()
        };
        let class = Arc::new(Class {
            name: described.name,
            label: described.label,
            object: described.cls,
            hooks: described.hooks,
            signals,
            cnps: described.signals.cnps,
            origin: serde_json::from_str(&described.origin).unwrap_or_default(),
        });
        let bind = described.bind.clone_ref(py);
        let make = move |given| Python::attach(|py| bound(py, &class, &bind, given));
        schemes
            .with_dynamic(&name, described.keys, make)
            .map_err(|e| crate::ScenarioError::new_err(e.to_string()))
    })
}

/// The class with the parameters of a scenario, checked by Python.
fn bound(
    py: Python<'_>,
    class: &Arc<Class>,
    bind: &Py<PyAny>,
    given: Map<String, Value>,
) -> Result<Foreign, ParamFault> {
    let bind = || -> PyResult<(Py<PyDict>, String)> {
        bind.call1(py, (Value::Object(given).to_string(),))?.extract(py)
    };
    match bind() {
        Ok((keywords, params)) => Ok(Foreign::new(PyScheme {
            class: class.clone(),
            keywords,
            params: serde_json::from_str(&params).unwrap_or_default(),
            broken: Arc::default(),
        })),
        Err(error) => {
            let value = error.value(py);
            let text = |name: &str| value.getattr(name).ok().and_then(|text| text.extract::<String>().ok());
            Err(match (text("key"), text("found"), text("expected")) {
                (Some(key), Some(found), Some(expected)) => ParamFault::Value { key, found, expected },
                (Some(key), None, None) => ParamFault::Missing(key),
                _ => ParamFault::Value {
                    key: "name".into(),
                    found: error.to_string(),
                    expected: "a class whose parameters can be read".into(),
                },
            })
        }
    }
}

impl ForeignScheme for PyScheme {
    fn name(&self) -> &str {
        &self.class.name
    }
    fn params(&self) -> Map<String, Value> {
        self.params.clone()
    }
    fn origin(&self) -> Value {
        self.class.origin.clone()
    }
    fn signals(&self) -> Signals {
        self.class.signals
    }
    fn detector(&self) -> AnyDetector {
        AnyDetector::Red(Red::default())
    }
    fn notifies(&self) -> bool {
        self.class.cnps
    }
    /// Objects of one class may share state, and threads would reach it in no defined order.
    fn needs_one_thread(&self) -> bool {
        true
    }
    fn for_run(&self) -> Option<Foreign> {
        let keywords = Python::attach(|py| self.keywords.clone_ref(py));
        let (class, params) = (self.class.clone(), self.params.clone());
        Some(Foreign::new(PyScheme { class, keywords, params, broken: Arc::default() }))
    }
    fn is_broken(&self) -> bool {
        self.broken.is()
    }
    fn failure(&self) -> Option<SchemeFailure> {
        self.broken.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn reaction(&self, env: &FlowEnv) -> ForeignReaction {
        let point = PyReaction::new(&self.class, &self.keywords, &self.broken, env);
        ForeignReaction(Box::new(point))
    }
    /// CNPs as DCQCN's receivers send them.
    fn notification(&self, env: &FlowEnv) -> ForeignNotification {
        ForeignNotification(match self.class.cnps {
            true => Box::new(Dcqcn::default().notification(env)),
            false => Box::new(NoOp),
        })
    }
    fn congestion(&self, _: &PortEnv) -> ForeignCongestion {
        ForeignCongestion(Box::new(NoOp))
    }
}

/// Makes the object of a flow: `Class(flow, **keywords)`.
pub fn make_object<'py>(
    py: Python<'py>,
    class: &Class,
    keywords: &Py<PyDict>,
    flow: crate::feedback::Flow,
) -> PyResult<Bound<'py, PyAny>> {
    // Each flow has its own copy of a list or dict among the parameters.
    let copied = py.import("copy")?.call_method1("deepcopy", (keywords,))?.cast_into::<PyDict>()?;
    class.object.bind(py).call(PyTuple::new(py, [Py::new(py, flow)?])?, Some(&copied))
}
