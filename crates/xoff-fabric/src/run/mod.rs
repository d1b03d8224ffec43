//! Running a network: events, windows of time, partitions, threads, and the loop that hands events to their rooms.
//!
//! A run is compiled for its flow control and its kind of NIC ([`Partition`] is generic over both), so that there is no
//! dispatch for each packet; only [`partitions`] chooses the two. The room may touch all other rooms.

mod any_partition;
mod apart;
mod assemble;
pub mod buffer_sizing;
mod critical_path;
mod cut;
mod deadlocked;
mod division;
mod event_loop;
pub mod fast_forward;
mod faults;
mod fetch;
pub mod live;
mod mail;
mod pace;
mod partition;
mod patience;
mod side_by_side;
mod simulation;
mod threads;
mod windows;

pub use critical_path::CriticalPath;
pub use cut::{Cut, needs_one_partition};
pub use fast_forward::{Approximate, UnknownState};
pub use live::Live;
pub use simulation::{Progress, Simulation, Stop};
pub use windows::GRID;

use std::sync::Arc;

use xoff_schemes::detector::AnyDetector;

use crate::compat::ns3::{self, nic::Ns3Nic};
use crate::host::paced::PacedNic;
use crate::host::uet::UetNic;
use crate::link::flow_control::none::NoFlowControl;
use crate::link::flow_control::pfc::Pfc as PfcControl;
use crate::network::Network;
use crate::observe::Recording;
use crate::packet::PartitionId;
use crate::settings::flow_control::flow_controls;
use crate::settings::{FlowControl, NicTimer, Transport};
use crate::switch::Marking;
use any_partition::AnyPartition;
use partition::Partition;
use side_by_side::side_by_side;

/// All partitions of a network that is cut by `cut`, with `detector` at each switch's egress queues, made on up to `threads` threads.
fn partitions(
    net: &Arc<Network>,
    detector: Option<&AnyDetector>,
    recording: &Recording,
    cut: &Cut,
    threads: usize,
) -> Vec<Box<dyn AnyPartition>> {
    let marking = Marking { detector, shared: ns3::marking_random(&net.settings.quirks) };
    let is_uet = net.settings.host.transport == Transport::Uet;
    macro_rules! of {
        ($control:ty, $nic:ty) => {
            side_by_side((0..cut.partitions() as PartitionId).collect(), threads, |number| {
                let partition = Partition::<$control, $nic>::new(net, &marking, recording, cut, number);
                Box::new(partition) as Box<dyn AnyPartition>
            })
        };
    }
    // To compile them a second time for unit tests takes a processor a minute and a half, and no unit test simulates them: those of
    // `tests` do.
    macro_rules! of_whole_runs {
        ($control:ty, $nic:ty) => {
            if cfg!(test) { unreachable!("not compiled for unit tests") } else { of!($control, $nic) }
        };
    }
    // Flow control that is for unit tests alone is simulated by them.
    macro_rules! of_kind {
        ($control:ty) => {
            of_whole_runs!($control, PacedNic)
        };
        ($control:ty, $cfg:meta) => {
            of!($control, PacedNic)
        };
    }
    macro_rules! choose {
        ($($(#[cfg($cfg:meta)])? $(#[doc = $doc:literal])* $variant:ident = $settings:ty, $control:ty;)*) => {
            match (&net.settings.flow_control, net.settings.quirks.nic) {
                (FlowControl::None, _) if is_uet => of_whole_runs!(NoFlowControl, UetNic),
                (FlowControl::Pfc(_), _) if is_uet => of_whole_runs!(PfcControl, UetNic),
                (FlowControl::None, NicTimer::NextToSend) => of!(NoFlowControl, PacedNic),
                (FlowControl::None, NicTimer::Ns3) => of_whole_runs!(NoFlowControl, Ns3Nic),
                $($(#[cfg($cfg)])?
                (FlowControl::$variant(_), NicTimer::NextToSend) => of_kind!($control $(, $cfg)?),
                $(#[cfg($cfg)])?
                (FlowControl::$variant(_), NicTimer::Ns3) => of_whole_runs!($control, Ns3Nic),)*
            }
        };
    }
    flow_controls!(choose)
}
