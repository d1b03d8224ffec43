//! What has a state that fast-forward does not compare.

use xoff_schemes::Signals;

use crate::network::Network;
use crate::settings::{LinkSettings, Transport};

/// A part of a network whose state is not compared, so that no time is carried forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownState {
    /// Transport `uet`.
    Uet,
    /// The credits of receivers.
    Credits,
    /// Errors and retries of links, which draw a random number for each frame.
    Link,
}

impl UnknownState {
    /// The first such part of a network whose scheme has the `signals`; `None` if it has none.
    pub fn of(transport: Transport, signals: &Signals, link: &LinkSettings) -> Option<UnknownState> {
        if transport == Transport::Uet {
            Some(UnknownState::Uet)
        } else if signals.credits.is_some() {
            Some(UnknownState::Credits)
        } else {
            (!link.is_default()).then_some(UnknownState::Link)
        }
    }
}

/// Whether a network has a part whose state is not compared.
pub(in crate::run) fn is_unknown(net: &Network) -> bool {
    UnknownState::of(net.settings.host.transport, &net.signals, &net.settings.link).is_some()
}
