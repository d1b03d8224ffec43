//! The packets of a run in other programs' formats: pcapng for Wireshark, and a trace for Perfetto's viewer.

mod addresses;
mod frame;
mod pcapng;
mod perfetto;
mod telemetry;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use xoff_engine::Time;
use xoff_fabric::Network;
use xoff_fabric::observe::records::Records;
use xoff_fabric::topology::PortId;

/// Minimum bytes of a packet that a capture may keep: all of Ethernet, IPv4, UDP and BTH.
pub const MIN_SNAP_LENGTH: u32 = 64;
/// Maximum bytes of a packet that a capture may keep: Wireshark's limit.
pub const MAX_SNAP_LENGTH: u32 = 262_144;

/// How switches encode congestion in the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePoints {
    /// Packets are not marked: 00 (not ECT).
    None,
    /// RFC 3168: 10 is ECT(0), 11 is CE.
    Ecn,
    /// TCD, Table 1: 01 is ECN-capable, 10 is UE, 11 is CE.
    Ternary,
}

/// Why a run's packets cannot be written to a capture.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The network's frames are not Ethernet frames.
    #[error(
        "flow control `{0}` is no Ethernet's, and a capture has Ethernet frames; expected `pfc` or `none`. `--perfetto` and \
         `record.packets` take packets of any network"
    )]
    NoEthernet(&'static str),
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A run whose packets were recorded, with everything else that a trace shows.
pub struct Trace {
    pub(crate) net: Arc<Network>,
    pub(crate) records: Records,
    pub(crate) ports: Vec<PortId>,
    pub(crate) end: Time,
    pub(crate) code_points: CodePoints,
    pub(crate) about: String,
}

impl Trace {
    /// Writes the packets to `path` as pcapng, at most `snap_length` bytes of each.
    ///
    /// # Errors
    /// If the network is not Ethernet, or the file cannot be written.
    pub fn write_pcapng(&self, path: &Path, snap_length: u32) -> Result<(), TraceError> {
        ethernet(&self.net.settings.flow_control)?;
        let mut file = BufWriter::new(File::create(path)?);
        pcapng::write(self, snap_length, &mut file)?;
        Ok(file.flush()?)
    }

    /// Writes packets, pauses and samples to `path` as a trace for Perfetto.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_perfetto(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        perfetto::write(self, &mut file)?;
        file.flush()
    }
}

/// Refuses flow control that has no Ethernet frames.
///
/// # Errors
/// [`TraceError::NoEthernet`].
pub fn ethernet(flow_control: &xoff_fabric::settings::FlowControl) -> Result<(), TraceError> {
    if flow_control.is_ethernet() { Ok(()) } else { Err(TraceError::NoEthernet(flow_control.name())) }
}
