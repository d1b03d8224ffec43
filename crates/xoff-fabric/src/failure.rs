//! Why a run cannot go on.

use xoff_engine::Time;
use xoff_schemes::SchemeFailure;

use crate::buffer::{Full, Overflow};
use crate::event::{key, kind};
use crate::packet::{Kind, PacketId};
use crate::part::Part;
use crate::port::DATA;
use crate::settings::FlowControl;
use crate::topology::PortId;

/// What to say of a loss where pauses end by themselves.
fn ended_pauses(unrefreshed: bool) -> &'static str {
    if unrefreshed {
        "; with `flow_control.refresh = false` a pause ends although the threshold is still exceeded, and what comes \
         until the next one works takes more of it"
    } else {
        ""
    }
}

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A packet found no room in a lossless network.
    #[error(
        "packet dropped in a lossless network: at {at} a packet of {size} B that entered {node} by port {port} \
         (priority {priority}) found no room: {occupancy} B of this port and priority are in the switch, {used} B \
         in all; {full}{}",
        ended_pauses(*unrefreshed)
    )]
    Drop {
        /// When.
        at: Time,
        /// The switch.
        node: String,
        /// The ingress port.
        port: String,
        /// The packet's priority.
        priority: u8,
        /// The packet's bytes.
        size: u64,
        /// Bytes of this ingress port and priority in the switch.
        occupancy: u64,
        /// Bytes of all ports in the switch.
        used: u64,
        /// What is full.
        full: Full,
        /// Pauses end although the threshold is still exceeded, which is the likely cause.
        unrefreshed: bool,
    },
    /// The system has no thread left.
    #[error("no thread could be started: {reason}; give fewer threads")]
    NoThread {
        /// What the system says.
        reason: String,
    },
    /// The scheme broke.
    #[error(transparent)]
    Scheme(#[from] SchemeFailure),
}

impl Part {
    /// Ends the run for lack of room, or counts the loss where loss is allowed.
    #[cold]
    pub(crate) fn no_room(&mut self, ingress: PortId, id: PacketId, overflow: Overflow) {
        let packet = self.packets[id];
        debug_assert_ne!(packet.kind, Kind::Pfc);
        let node = self.ports[ingress as usize].node;
        if self.net.settings.lossy {
            self.packets.remove(id);
            self.counters.drops += 1;
            self.records.drops[ingress as usize] += 1;
            return;
        }
        self.halt = true;
        let failure = Failure::Drop {
            at: self.now,
            node: self.net.topology.nodes[node as usize].name.clone(),
            port: self.net.topology.port_name(ingress),
            priority: packet.class - DATA,
            size: u64::from(packet.size),
            occupancy: overflow.occupancy,
            used: self.memories[node as usize].used(),
            full: overflow.full,
            unrefreshed: match &self.net.settings.flow_control {
                FlowControl::Pfc(pfc) => pfc.expires && !pfc.refresh,
                _ => false,
            },
        };
        let broken = (self.now, key(kind::SWITCH_ARRIVAL, ingress), failure);
        let first = self.failure.take().filter(|first| (first.0, first.1) < (broken.0, broken.1));
        self.failure = Some(first.unwrap_or(broken));
    }
}
