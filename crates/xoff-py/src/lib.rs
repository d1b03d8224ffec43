//! The native module `xoff._xoff`: strings in, JSON and Arrow tables out. No logic of its own.

mod facts;
mod feedback;
mod hop;
mod own_scheme;
mod reaction;
mod session;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use xoff::files;
use xoff::run::{Failure, Look, Output, Progress, RunError, Threads, parallelism, run_on, run_watched};
use xoff::scenario::{self, Effort, OwnSchemes, Scenario};
use xoff::store;
use xoff::trace::{self, Trace, TraceError};
use xoff_schemes::ThrottleParams;
use xoff_schemes::foreign::SchemeFailure;
use xoff_schemes::throttle::pft::Pft;
use xoff_traffic::FileSource;

use own_scheme::Described;

create_exception!(xoff._xoff, ScenarioError, PyValueError, "A mistake in a scenario.");
create_exception!(xoff._xoff, RunFailure, PyRuntimeError, "A run that broke.");

type Overrides = Vec<(String, String)>;

/// What a scenario finds under the name of a file.
#[derive(Clone, FromPyObject, IntoPyObject)]
enum Content {
    /// A text.
    Text(String),
    /// The path of a file that may be large and no text.
    At(PathBuf),
}

/// The files that a scenario names, by their names there.
type Files = BTreeMap<String, Content>;

/// Gives a scenario its files: from a folder, or those that are given.
struct Source<'a> {
    base_dir: &'a Path,
    given: Option<&'a Files>,
    /// The files that the scenario has read.
    read: RefCell<Files>,
}

impl Source<'_> {
    fn note(&self, name: &str, content: Content) {
        self.read.borrow_mut().insert(name.to_string(), content);
    }

    /// What is given under a name; `None` to look into the folder.
    fn given(&self, name: &str) -> io::Result<Option<&Content>> {
        self.given.map(|given| given.get(name).ok_or_else(|| io::ErrorKind::NotFound.into())).transpose()
    }
}

impl FileSource for Source<'_> {
    fn text(&self, name: &str) -> io::Result<String> {
        let text = match self.given(name)? {
            None => files::read_text(&self.base_dir.join(name))?,
            Some(Content::Text(text)) => text.clone(),
            Some(Content::At(path)) => files::read_text(path)?,
        };
        self.note(name, Content::Text(text.clone()));
        Ok(text)
    }

    fn large_text(&self, name: &str) -> io::Result<String> {
        let path = match self.given(name)? {
            Some(Content::Text(_)) => return self.text(name),
            Some(Content::At(path)) => path.clone(),
            None => std::path::absolute(self.base_dir.join(name))?,
        };
        let text = files::read_text_up_to(&path, files::MAX_LARGE)?;
        let is_large = text.len() as u64 > files::MAX_SCENARIO.0;
        self.note(name, if is_large { Content::At(path) } else { Content::Text(text.clone()) });
        Ok(text)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn io::Read + '_>> {
        let path = match self.given(name)? {
            None => std::path::absolute(self.base_dir.join(name))?,
            Some(Content::Text(text)) => return Ok(Box::new(io::Cursor::new(text.as_bytes()))),
            Some(Content::At(path)) => path.clone(),
        };
        let file = files::open(&path)?;
        self.note(name, Content::At(path));
        Ok(file)
    }
}

/// Reads and checks a scenario, whose files are in `given`, or else in a folder; with these files.
fn parse(
    text: &str,
    origin: &str,
    overrides: &Overrides,
    base_dir: &Path,
    given: Option<&Files>,
    schemes: &OwnSchemes,
    effort: Effort,
) -> PyResult<(Scenario, Files)> {
    let files = Source { base_dir, given, read: RefCell::default() };
    let scenario = Scenario::parse_from(text, origin, overrides, &files, schemes, effort)
        .map_err(|e| ScenarioError::new_err(e.to_string()))?;
    Ok((scenario, files.read.into_inner()))
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The JSON schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    to_json(&scenario::schema())
}

/// Every key of a scenario, as a JSON list.
#[pyfunction]
fn keys() -> PyResult<String> {
    to_json(&scenario::keys())
}

/// Schemes, topologies, workloads, patterns, detectors, throttles and routings, as JSON.
#[pyfunction]
fn catalogue() -> PyResult<String> {
    to_json(&xoff::catalogue::all())
}

/// Share of the line rate at which PFT injects while Congested, for each number of used credits; `params` is a `[throttle]`
/// table as JSON, without its name.
#[pyfunction]
fn pft_injection_rate(params: &str, used: Vec<u64>) -> PyResult<Vec<f64>> {
    let pft: Pft = serde_json::from_str(params).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    pft.validate().map_err(|e| ScenarioError::new_err(e.to_string()))?;
    Ok(used.into_iter().map(|used| pft.injection_rate(used)).collect())
}

/// Ranks, operations and messages of a GOAL schedule, as JSON; a ScenarioError that begins with the line if the text is no schedule.
#[pyfunction]
fn goal(text: &str, ignore_tags: bool) -> PyResult<String> {
    let schedule =
        xoff_traffic::goal::parse(text, ignore_tags).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    to_json(&schedule.size())
}

/// Ranks, nodes, messages and collectives of an execution trace, as JSON; a ScenarioError if it is none. `given` has the keys
/// `trace`, `ranks`, `groups`, `peak_flops` and `memory_bandwidth` of the pattern, as JSON; files are those of `base_dir`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn chakra(py: Python<'_>, given: &str, base_dir: PathBuf) -> PyResult<String> {
    let pattern: xoff_traffic::pattern::Chakra =
        serde_json::from_str(given).map_err(|e| ScenarioError::new_err(e.to_string()))?;
    let size = py.detach(|| pattern.size(&files::Folder(&base_dir)));
    to_json(&size.map_err(ScenarioError::new_err)?)
}

/// A table that pyarrow and polars take without a copy.
#[pyclass(frozen)]
struct ArrowTable(RecordBatch);

#[pymethods]
impl ArrowTable {
    /// The table as a stream by the Arrow PyCapsule interface; the types are the table's own, whatever is asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        // Dropping a stream that nobody took releases it.
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The results of a run: its manifest and its tables.
#[pyclass(frozen)]
struct RunOutput(Output);

#[pymethods]
impl RunOutput {
    /// The manifest as JSON.
    #[getter]
    fn manifest(&self) -> PyResult<String> {
        to_json(&self.0.manifest)
    }

    /// Every result table by name, for pyarrow or polars to take without a copy.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for table in &self.0.tables {
            tables.set_item(table.name, Bound::new(py, ArrowTable(table.batch.clone()))?)?;
        }
        Ok(tables)
    }

    /// Writes the packets that were recorded to `path` as pcapng, of each at most `snap_length` bytes.
    fn write_pcapng(&self, py: Python<'_>, path: PathBuf, snap_length: u32) -> PyResult<()> {
        let trace = self.trace()?;
        py.detach(|| trace.write_pcapng(&path, snap_length)).map_err(|e| match e {
            TraceError::Io(e) => e.into(),
            other => ScenarioError::new_err(other.to_string()),
        })
    }

    /// Writes the packets that were recorded, pauses and samples to `path` as a trace for Perfetto.
    fn write_perfetto(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let trace = self.trace()?;
        Ok(py.detach(|| trace.write_perfetto(&path))?)
    }

    /// Writes every table into `folder` as Parquet.
    fn write_tables(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| store::write(&self.0.tables, &folder))?)
    }
}

impl RunOutput {
    fn trace(&self) -> PyResult<&Trace> {
        let none = "no packets were recorded: `packets` in [record] says at which ports they are to be";
        self.0.trace.as_ref().ok_or_else(|| ScenarioError::new_err(none))
    }
}

/// A scenario that was read and checked, with its network and flows.
#[pyclass(frozen)]
struct Prepared {
    scenario: Scenario,
    files: Files,
}

#[pymethods]
impl Prepared {
    /// The resolved scenario as JSON, with every default.
    #[getter]
    fn resolved(&self) -> PyResult<String> {
        to_json(&self.scenario)
    }

    /// Warnings of settings that are allowed but probably not meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings().to_vec()
    }

    /// The memory that a run takes at its peak, in bytes, by an estimate.
    #[getter]
    fn needs(&self) -> u64 {
        self.scenario.needs()
    }

    /// The files that it names, by their names there: a text, or the path of a file that may be large.
    #[getter]
    fn files(&self) -> Files {
        self.files.clone()
    }

    /// Its nodes and links as JSON.
    #[getter]
    fn network(&self) -> PyResult<String> {
        to_json(&self.scenario.network().listed())
    }

    /// The overrides of each run of its sweep; a single run without overrides if it has no sweep.
    #[getter]
    fn points(&self) -> Vec<Overrides> {
        self.scenario.sweep_points()
    }

    /// The choices of its tuning for each key, as JSON; `None` if it has no tuning.
    #[getter]
    fn space(&self) -> PyResult<Option<String>> {
        self.scenario.tune.as_ref().map(|tune| to_json(&tune.space())).transpose()
    }

    /// Refuses a network that has no Ethernet frames to capture.
    fn check_capture(&self) -> PyResult<()> {
        trace::ethernet(&self.scenario.flow_control).map_err(|e| ScenarioError::new_err(e.to_string()))
    }

    /// The scenario as a single run, without the sweep and the tuning.
    fn alone(&self) -> Prepared {
        Prepared { scenario: self.scenario.clone().alone(), files: self.files.clone() }
    }

    /// Runs the scenario to its end, or until `progress` returns false; the GIL is released meanwhile. Without `threads`, on
    /// the number of threads that makes the run fastest.
    ///
    /// `look` is told about twice a second what `progress` is told, how many events were handled, and the rows recorded since
    /// the last time by table, or `None` if several threads record.
    #[pyo3(signature = (threads, progress, look=None))]
    fn run(
        &self,
        py: Python<'_>,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
        look: Option<Py<PyAny>>,
    ) -> PyResult<RunOutput> {
        let mut raised = None;
        let mut look_raised = None;
        let output = py.detach(|| {
            let mut on_progress = |now: &Progress| {
                Python::attach(|py| match report(py, progress.as_ref(), now) {
                    Ok(go_on) => go_on,
                    Err(e) => {
                        raised = Some(e);
                        false
                    }
                })
            };
            let threads = threads.map_or(Threads::Auto, Threads::UpTo);
            match &look {
                None => run_on(threads, &self.scenario, &mut on_progress),
                Some(look) => run_watched(threads, &self.scenario, &mut on_progress, &mut |seen| {
                    let told = Python::attach(|py| show(py, look, seen));
                    look_raised = look_raised.take().or(told.err());
                }),
            }
            .map_err(run_error)
        })?;
        match raised.or(look_raised) {
            Some(e) => Err(e),
            None => Ok(RunOutput(output)),
        }
    }

    /// Runs the scenario for its critical path on each of these numbers of threads, as JSON; the GIL is released meanwhile.
    fn parallelism(&self, py: Python<'_>, threads: Vec<u32>) -> PyResult<String> {
        to_json(&py.detach(|| parallelism(&self.scenario, &threads)).map_err(run_error)?)
    }
}

/// The error of a run: of the scenario, or of what happened in it.
fn run_error(error: RunError) -> PyErr {
    match error {
        e @ (RunError::Counted
        | RunError::Build(_)
        | RunError::OneThread { .. }
        | RunError::SchemeOfOneThread { .. }) => ScenarioError::new_err(e.to_string()),
        RunError::Failure(Failure::Scheme(broken)) => scheme_failure(&broken),
        broken => RunFailure::new_err(broken.to_string()),
    }
}

/// The error of a scheme in Python that failed: its exception is the cause, and Ctrl-C in it is Ctrl-C.
fn scheme_failure(broken: &SchemeFailure) -> PyErr {
    Python::attach(|py| {
        let cause = broken.cause.as_ref().and_then(|cause| cause.downcast_ref::<PyErr>());
        match cause {
            Some(interrupt) if interrupt.is_instance_of::<PyKeyboardInterrupt>(py) => interrupt.clone_ref(py),
            cause => {
                let error = RunFailure::new_err(broken.to_string());
                error.set_cause(py, cause.map(|cause| cause.clone_ref(py)));
                error
            }
        }
    })
}

/// Reads and checks a scenario, and makes its network and flows; the GIL is released meanwhile. The files that it names
/// are taken from `files` if that is given, otherwise from `base_dir`. It may also name one of `schemes`. The scenario of a
/// `session` need not have traffic.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides, base_dir, seed=None, files=None, schemes=Vec::new(), session=false))]
#[allow(clippy::too_many_arguments)]
fn prepare(
    py: Python<'_>,
    text: &str,
    origin: &str,
    mut overrides: Overrides,
    base_dir: PathBuf,
    seed: Option<u64>,
    files: Option<Files>,
    schemes: Vec<Described>,
    session: bool,
) -> PyResult<Prepared> {
    let effort = if session { Effort::Session } else { Effort::Build };
    let schemes = own_scheme::own_schemes(py, schemes)?;
    overrides.extend(seed.map(|s| ("seed".to_string(), s.to_string())));
    let (scenario, files) =
        py.detach(|| parse(text, origin, &overrides, &base_dir, files.as_ref(), &schemes, effort))?;
    Ok(Prepared { scenario, files })
}

/// Checks a scenario within about a second, whatever it is; returns it resolved, as JSON, and warnings. What takes longer to make
/// is counted and not made.
#[pyfunction]
#[pyo3(signature = (text, origin, overrides, base_dir, schemes=Vec::new()))]
#[allow(clippy::needless_pass_by_value)]
fn check(
    py: Python<'_>,
    text: &str,
    origin: &str,
    overrides: Overrides,
    base_dir: PathBuf,
    schemes: Vec<Described>,
) -> PyResult<(String, Vec<String>)> {
    let schemes = own_scheme::own_schemes(py, schemes)?;
    let (scenario, _) =
        py.detach(|| parse(text, origin, &overrides, &base_dir, None, &schemes, Effort::Count))?;
    Ok((to_json(&scenario)?, scenario.warnings().to_vec()))
}

/// Swaps two folders in one step: at any time each name has one of them or the other.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn exchange(py: Python<'_>, a: PathBuf, b: PathBuf) -> PyResult<()> {
    Ok(py.detach(|| store::exchange(&a, &b))?)
}

/// Tells `look` what a run that goes on has recorded.
fn show(py: Python<'_>, look: &Py<PyAny>, seen: Look) -> PyResult<()> {
    let tables = seen.tables.map(|tables| {
        let found = PyDict::new(py);
        for table in tables {
            found.set_item(table.name, Bound::new(py, ArrowTable(table.batch))?)?;
        }
        PyResult::Ok(found)
    });
    let at = seen.progress;
    let args = (at.share, at.now.ps(), at.flows_done, at.flows, seen.events, tables.transpose()?);
    look.call1(py, args).map(|_| ())
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, now: &Progress) -> PyResult<bool> {
    let Some(progress) = progress else {
        return py.check_signals().map(|()| true);
    };
    let args = (now.share, now.now.ps(), now.flows_done, now.flows);
    progress.call1(py, args)?.is_truthy(py)
}

/// The native module.
#[pymodule]
fn _xoff(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("RunError", module.py().get_type::<RunFailure>())?;
    module.add_class::<RunOutput>()?;
    module.add_class::<Prepared>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::Event>()?;
    module.add_class::<feedback::Flow>()?;
    module.add_class::<feedback::Sent>()?;
    module.add_class::<feedback::Ack>()?;
    module.add_class::<feedback::Cnp>()?;
    module.add_class::<hop::Hop>()?;
    module.add_class::<hop::HopChange>()?;
    module.add("MAX_ROWS", scenario::MAX_ROWS)?;
    module.add("MAX_SCENARIO_BYTES", files::MAX_SCENARIO.0)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(pft_injection_rate, module)?)?;
    module.add_function(wrap_pyfunction!(goal, module)?)?;
    module.add_function(wrap_pyfunction!(chakra, module)?)?;
    module.add_function(wrap_pyfunction!(exchange, module)?)?;
    module.add_function(wrap_pyfunction!(prepare, module)?)?;
    module.add_function(wrap_pyfunction!(facts::free_memory, module)?)?;
    module.add_function(wrap_pyfunction!(facts::read_rate, module)?)?;
    module.add_function(wrap_pyfunction!(facts::red_thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(facts::read_time, module)?)?;
    module.add_function(wrap_pyfunction!(facts::read_size, module)?)?;
    module.add_function(wrap_pyfunction!(facts::rate_text, module)?)?;
    module.add_function(wrap_pyfunction!(facts::time_text, module)?)?;
    module.add_function(wrap_pyfunction!(facts::size_text, module)?)?;
    module.add_function(wrap_pyfunction!(facts::nearest, module)?)?;
    module.add_function(wrap_pyfunction!(facts::slowdown_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(facts::columns, module)?)?;
    module.add_function(wrap_pyfunction!(facts::columns_of_some_runs, module)?)?;
    Ok(())
}
