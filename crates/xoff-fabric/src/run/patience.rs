//! How long a run without a duration waits for messages that may never arrive.
//!
//! In a network without faults, a run ends when nothing is left to happen, or in a deadlock. With faults, senders try again and again,
//! and NICs babble without end. Such a run ends when all that was to break is broken, routing knows of it, every message has
//! had its start, and no payload has arrived for so long that nobody will try anything new: see [`patience`].

use xoff_engine::Time;

use crate::network::Network;

/// Timeouts of senders for which a run waits at least.
const TIMEOUTS: u64 = 20;

/// The minimum wait.
const MIN: Time = Time::from_ms(10);

/// How long no payload must arrive for a run of `net` to end; `None` if nothing can break.
pub(super) fn patience(net: &Network) -> Option<Time> {
    let settings = &net.settings;
    if net.faults.is_none() && settings.switch.watchdog.is_none() && settings.link.errors().is_none() {
        return None;
    }
    let timeouts = Time(net.settings.host.retransmit_timeout.0.saturating_mul(TIMEOUTS));
    let watchdog = net.settings.switch.watchdog.as_ref();
    let watchdog = watchdog.map_or(Time::ZERO, |w| w.detection.saturating_add(w.restoration));
    Some(timeouts.saturating_add(watchdog).saturating_add(watchdog).max(MIN))
}

/// From when on nothing new comes from outside: the last fault and the last start of a message that waits for no other.
pub(super) fn settled_at(net: &Network) -> Time {
    let faults = net.faults.as_ref().map_or(Time::ZERO, |plan| plan.settled_at());
    let starts = net.flows.iter().map(|flow| if flow.stop == Time::NEVER { flow.start } else { flow.stop });
    starts.max().unwrap_or(Time::ZERO).max(faults)
}
