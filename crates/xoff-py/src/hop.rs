//! Telemetry of a switch port, for schemes in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use xoff_engine::{Rate, Time};
use xoff_schemes::int::{ExactRecord, HopChange as Change, IntStack, PackedRecord, PortReading, Records};

/// A switch port as telemetry shows it.
#[pyclass(frozen, module = "xoff")]
#[derive(Clone, Copy)]
pub struct Hop(Record);

#[derive(Clone, Copy)]
enum Record {
    /// In hardware widths, and in units 2^the second field times as large.
    Packed(PackedRecord, u8),
    /// In full precision.
    Exact(ExactRecord),
}

impl Hop {
    /// The hops of an ACK, in the order of the data's path.
    pub fn all(stack: &IntStack<'_>) -> Vec<Hop> {
        let mut hops: Vec<Hop> = match stack.records {
            Records::Packed(records) => {
                records.iter().map(|r| Hop(Record::Packed(*r, stack.unit_shift))).collect()
            }
            Records::Exact(records) => records.iter().map(|r| Hop(Record::Exact(*r))).collect(),
        };
        if stack.last_hop_first {
            hops.reverse();
        }
        hops
    }

    fn reading(&self) -> PortReading {
        match self.0 {
            Record::Packed(record, shift) => record.reading(shift),
            Record::Exact(record) => record.reading(),
        }
    }
}

#[pymethods]
impl Hop {
    #[new]
    #[pyo3(signature = (*, at_ps, tx_bytes, queue_bytes, rate_bps))]
    fn new(at_ps: u64, tx_bytes: u64, queue_bytes: u64, rate_bps: u64) -> Self {
        let reading = PortReading { at: Time(at_ps), tx_bytes, queue_bytes, rate: Rate(rate_bps) };
        Hop(Record::Exact(ExactRecord::stamp(&reading)))
    }
    #[getter]
    fn at_ps(&self) -> u64 {
        self.reading().at.ps()
    }
    #[getter]
    fn tx_bytes(&self) -> u64 {
        self.reading().tx_bytes
    }
    #[getter]
    fn queue_bytes(&self) -> u64 {
        self.reading().queue_bytes
    }
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.reading().rate.bps()
    }
    fn since(&self, before: &Hop) -> PyResult<HopChange> {
        let change = match (self.0, before.0) {
            (Record::Packed(now, shift), Record::Packed(then, same)) if shift == same => {
                now.since(then, shift)
            }
            (Record::Exact(now), Record::Exact(then)) => {
                let (later, earlier) = (now.reading(), then.reading());
                if later.at < earlier.at || later.tx_bytes < earlier.tx_bytes {
                    return Err(PyValueError::new_err("since: expected an earlier reading of the same port"));
                }
                now.since(then)
            }
            _ => {
                return Err(PyValueError::new_err(
                    "since: expected a reading of the same port in the same format",
                ));
            }
        };
        Ok(HopChange { change, rate: self.reading().rate })
    }
    fn __repr__(&self) -> String {
        let PortReading { at, tx_bytes, queue_bytes, rate } = self.reading();
        format!(
            "Hop(at_ps={}, tx_bytes={tx_bytes}, queue_bytes={queue_bytes}, rate_bps={})",
            at.ps(),
            rate.bps()
        )
    }
}

/// What happened at a port between two readings.
#[pyclass(frozen, module = "xoff")]
pub struct HopChange {
    change: Change,
    rate: Rate,
}

#[pymethods]
impl HopChange {
    #[getter]
    fn tx_bytes(&self) -> u64 {
        self.change.tx_bytes
    }
    #[getter]
    fn elapsed_ps(&self) -> u64 {
        self.change.elapsed.ps()
    }
    #[getter]
    fn queue_bytes(&self) -> u64 {
        self.change.queue_bytes
    }
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.rate.bps()
    }
    fn __repr__(&self) -> String {
        let Change { tx_bytes, elapsed, queue_bytes, .. } = self.change;
        let rate = self.rate.bps();
        format!(
            "HopChange(tx_bytes={tx_bytes}, elapsed_ps={}, queue_bytes={queue_bytes}, rate_bps={rate})",
            elapsed.ps()
        )
    }
}
