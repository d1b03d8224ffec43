//! What a scheme in Python sees: its flow's surroundings, and the feedback on its packets.

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rand::Rng;
use xoff_engine::{Rate, Time};
use xoff_schemes::{self as schemes, FlowEnv, Mark, Signals};

use crate::hop::Hop;

/// A flow, and what its sender knows of the way to the receiver.
#[pyclass(frozen, module = "xoff")]
pub struct Flow(FlowEnv);

impl From<&FlowEnv> for Flow {
    fn from(env: &FlowEnv) -> Self {
        Flow(env.clone())
    }
}

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(signature = (
        *, line_rate_bps, base_rtt_ps, id=0, start_ps=0, payload_bytes=1456, frame_bytes=1518, switches=1,
        active_flows=0, seed=1
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        line_rate_bps: u64,
        base_rtt_ps: u64,
        id: u32,
        start_ps: u64,
        payload_bytes: u64,
        frame_bytes: u64,
        switches: u8,
        active_flows: u32,
        seed: u64,
    ) -> Self {
        Flow(FlowEnv {
            now: Time(start_ps),
            payload: payload_bytes,
            frame: frame_bytes,
            hops: switches,
            active_flows,
            ..FlowEnv::new(id, Rate(line_rate_bps), Time(base_rtt_ps), seed)
        })
    }
    #[getter]
    fn id(&self) -> u32 {
        self.0.flow
    }
    #[getter]
    fn start_ps(&self) -> u64 {
        self.0.now.ps()
    }
    #[getter]
    fn line_rate_bps(&self) -> u64 {
        self.0.line_rate.bps()
    }
    #[getter]
    fn base_rtt_ps(&self) -> u64 {
        self.0.base_rtt.ps()
    }
    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.0.payload
    }
    #[getter]
    fn frame_bytes(&self) -> u64 {
        self.0.frame
    }
    #[getter]
    fn switches(&self) -> u8 {
        self.0.hops
    }
    #[getter]
    fn active_flows(&self) -> u32 {
        self.0.active_flows
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.0.stream.clone().next_u64()
    }
    fn __repr__(&self) -> String {
        let env = &self.0;
        format!(
            "Flow(id={}, line_rate_bps={}, base_rtt_ps={})",
            env.flow,
            env.line_rate.bps(),
            env.base_rtt.ps()
        )
    }
}

/// A data packet that goes out.
#[pyclass(frozen, module = "xoff")]
pub struct Sent(schemes::Sent);

impl From<&schemes::Sent> for Sent {
    fn from(sent: &schemes::Sent) -> Self {
        Sent(*sent)
    }
}

#[pymethods]
impl Sent {
    #[new]
    #[pyo3(signature = (*, now_ps, payload_bytes, frame_bytes))]
    fn new(now_ps: u64, payload_bytes: u64, frame_bytes: u64) -> Self {
        Sent(schemes::Sent { now: Time(now_ps), payload: payload_bytes, frame: frame_bytes })
    }
    #[getter]
    fn now_ps(&self) -> u64 {
        self.0.now.ps()
    }
    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.0.payload
    }
    #[getter]
    fn frame_bytes(&self) -> u64 {
        self.0.frame
    }
    fn __repr__(&self) -> String {
        let schemes::Sent { now, payload, frame } = self.0;
        format!("Sent(now_ps={}, payload_bytes={payload}, frame_bytes={frame})", now.ps())
    }
}

/// A congestion notification packet.
#[pyclass(frozen, module = "xoff")]
pub struct Cnp {
    now: Time,
    mark: Mark,
}

impl Cnp {
    pub fn seen(now: Time, cnp: &schemes::Cnp) -> Self {
        Cnp { now, mark: cnp.mark }
    }
}

/// The mark that two flags stand for.
fn mark(ce: bool, ue: bool) -> PyResult<Mark> {
    match (ce, ue) {
        (true, true) => Err(PyValueError::new_err("marked_ce and marked_ue: expected at most one of them")),
        (true, false) => Ok(Mark::Ce),
        (false, true) => Ok(Mark::Ue),
        (false, false) => Ok(Mark::None),
    }
}

#[pymethods]
impl Cnp {
    #[new]
    #[pyo3(signature = (*, now_ps, marked_ce=true, marked_ue=false))]
    fn new(now_ps: u64, marked_ce: bool, marked_ue: bool) -> PyResult<Self> {
        Ok(Cnp { now: Time(now_ps), mark: mark(marked_ce, marked_ue)? })
    }
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.ps()
    }
    #[getter]
    fn marked_ce(&self) -> bool {
        self.mark == Mark::Ce
    }
    #[getter]
    fn marked_ue(&self) -> bool {
        self.mark == Mark::Ue
    }
    fn __repr__(&self) -> String {
        format!("Cnp(now_ps={}, mark={:?})", self.now.ps(), self.mark)
    }
}

/// An ACK. Fields whose signal the scheme did not declare raise an error.
#[pyclass(frozen, module = "xoff")]
pub struct Ack {
    now: Time,
    seq: u64,
    newly_acked: u64,
    snd_nxt: u64,
    packet: u64,
    next_packet: u64,
    rtt: Option<Time>,
    mark: Option<Mark>,
    flow_count: Option<u16>,
    hops: Option<Vec<Hop>>,
}

impl Ack {
    /// What a scheme with these signals sees of an ACK.
    pub fn seen(ack: &schemes::Ack<'_>, signals: &Signals) -> Self {
        Ack {
            now: ack.now,
            seq: ack.seq,
            newly_acked: ack.newly_acked,
            snd_nxt: ack.snd_nxt,
            packet: ack.packet,
            next_packet: ack.next_packet,
            rtt: ack.rtt,
            mark: signals.ecn.then_some(ack.mark),
            flow_count: signals.flow_count.then_some(ack.flow_count),
            hops: (signals.int != schemes::IntPath::Off).then(|| Hop::all(&ack.int)),
        }
    }
}

/// A field that needs a signal.
fn declared<T>(value: Option<T>, field: &str, signal: &str) -> PyResult<T> {
    value.ok_or_else(|| {
        PyAttributeError::new_err(format!(
            "Ack.{field} is not there: it needs {signal} in the class's signals"
        ))
    })
}

#[pymethods]
impl Ack {
    #[new]
    #[pyo3(signature = (
        *, now_ps, seq, newly_acked_bytes, snd_nxt, packet=0, next_packet=0, rtt_ps=None, marked_ce=None,
        marked_ue=None, flow_count=None, hops=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        now_ps: u64,
        seq: u64,
        newly_acked_bytes: u64,
        snd_nxt: u64,
        packet: u64,
        next_packet: u64,
        rtt_ps: Option<u64>,
        marked_ce: Option<bool>,
        marked_ue: Option<bool>,
        flow_count: Option<u16>,
        hops: Option<Vec<PyRef<'_, Hop>>>,
    ) -> PyResult<Self> {
        let flags = (marked_ce.is_some() || marked_ue.is_some())
            .then(|| mark(marked_ce.unwrap_or(false), marked_ue.unwrap_or(false)));
        Ok(Ack {
            now: Time(now_ps),
            seq,
            newly_acked: newly_acked_bytes,
            snd_nxt,
            packet,
            next_packet,
            rtt: rtt_ps.map(Time),
            mark: flags.transpose()?,
            flow_count,
            hops: hops.map(|hops| hops.iter().map(|hop| **hop).collect()),
        })
    }
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.ps()
    }
    #[getter]
    fn seq(&self) -> u64 {
        self.seq
    }
    #[getter]
    fn newly_acked_bytes(&self) -> u64 {
        self.newly_acked
    }
    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }
    #[getter]
    fn packet(&self) -> u64 {
        self.packet
    }
    #[getter]
    fn next_packet(&self) -> u64 {
        self.next_packet
    }
    #[getter]
    fn rtt_ps(&self) -> PyResult<u64> {
        declared(self.rtt, "rtt_ps", "\"timestamp\"").map(Time::ps)
    }
    #[getter]
    fn marked_ce(&self) -> PyResult<bool> {
        declared(self.mark, "marked_ce", "\"ecn\"").map(|mark| mark == Mark::Ce)
    }
    #[getter]
    fn marked_ue(&self) -> PyResult<bool> {
        declared(self.mark, "marked_ue", "\"ecn\"").map(|mark| mark == Mark::Ue)
    }
    #[getter]
    fn flow_count(&self) -> PyResult<u16> {
        declared(self.flow_count, "flow_count", "\"flow_count\"")
    }
    #[getter]
    fn hops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, declared(self.hops.as_deref(), "hops", "\"int\"")?.iter().copied())
    }
    fn __repr__(&self) -> String {
        let Ack { now, seq, newly_acked, snd_nxt, .. } = self;
        format!("Ack(now_ps={}, seq={seq}, newly_acked_bytes={newly_acked}, snd_nxt={snd_nxt})", now.ps())
    }
}
