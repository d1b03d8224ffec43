//! Sizes of flow control's buffers at ports' ingress: the actual size, the size that is needed, and the size that was used.

use super::Simulation;
use crate::ids::PortId;
use crate::link::buffer::{LinkEnds, headroom};
use crate::link::flow_control::sizing::Sizing;
use crate::network::Network;
use crate::settings::FlowControl;

/// The headroom of a switch's ingress port, for each priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// The static threshold; `None` if thresholds are dynamic.
    pub xoff: Option<u64>,
    /// Bytes above the threshold.
    pub bytes: u64,
    /// Bytes that can arrive after the packet that crosses the threshold: see [`headroom`].
    pub needed: u64,
    /// Maximum number of its bytes that a priority has used.
    pub max_used: u64,
}

/// The credits of an ingress port's buffer, for each priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditRoom {
    /// Credits of the buffer, with those that all priorities share.
    pub credits: u64,
    /// Credits with which the link never stalls by itself: see [`Sizing::needed`].
    pub needed: u64,
}

impl Network {
    /// The credits of an ingress port's buffer; `None` if flow control has no credits.
    pub fn credit_room(&self, ingress: PortId) -> Option<CreditRoom> {
        self.settings.flow_control.has_credits().then(|| {
            let sizing = Sizing::of(&self.topology, ingress, &self.settings, &self.wire);
            CreditRoom { credits: sizing.most(), needed: sizing.needed() }
        })
    }
}

impl Simulation {
    /// The headroom of an ingress port; `None` at hosts, which never send PAUSE, and without PFC.
    pub fn headroom(&self, ingress: PortId) -> Option<Headroom> {
        let net = self.network();
        let FlowControl::Pfc(pfc) = &net.settings.flow_control else { return None };
        if net.is_host(net.topology.node_of(ingress)) {
            return None;
        }
        let priorities = net.settings.switch.priorities;
        let (frame, pfc_frames) = (net.wire.largest(), net.wire.pfc_frames(priorities));
        let queues = (0..priorities).map(|priority| self.ingress(ingress, priority));
        Some(Headroom {
            xoff: self.ingress(ingress, 0).static_xoff(),
            bytes: self.ingress(ingress, 0).headroom(),
            needed: headroom(&LinkEnds::of(net, ingress), frame, pfc_frames, pfc.response_quanta),
            max_used: queues.map(|queue| queue.max_headroom()).max().unwrap_or(0),
        })
    }
}
