//! SRCC's switch: the congestion threshold, the identification of the flows that block others, and the messages to them
//! (sections III-B to III-D).

use xoff_engine::{Rate, Time};

use super::Sharing;
use super::table::FlowTable;
use crate::traits::{Cnm, Joining, SwitchEnv, SwitchPoint};

/// How the threshold is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quota {
    /// Arrivals measured over about `time`.
    Dynamic { time: Time },
    /// Ingress ports that sent something to the egress within `recent`.
    Literal { recent: Time },
    /// A given length.
    Fixed { bytes: u64 },
}

/// Parameters with their defaults filled in; see [`super::Srcc`].
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub quota: Quota,
    pub q_pfc: Option<u64>,
    pub floor: u64,
    pub rtt_factor: f64,
    pub window: Time,
    pub count_window: Time,
    pub sharing: Sharing,
    pub cnm_interval: Time,
    pub flow_timeout: Time,
}

/// Bytes that arrived at an egress queue, each packet weighted with e^(-age/time): the arrival rate times `time`.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    bytes: f64,
    last: Time,
}

impl Arrivals {
    /// Adds a packet. Returns the rate in bytes a picosecond.
    fn add(&mut self, now: Time, bytes: u64, time: Time) -> f64 {
        let age = (now - self.last).0 as f64 / time.0.max(1) as f64;
        self.bytes = self.bytes * libm::exp(-age) + bytes as f64;
        self.last = now;
        self.bytes / time.0.max(1) as f64
    }
}

/// The latest uncongested packet of an ingress queue, and the latest that went to a different egress queue than that
/// packet.
#[derive(Clone, Copy, Debug, Default)]
struct Uncongested {
    last: Option<(Time, u32)>,
    other: Option<(Time, u32)>,
}

impl Uncongested {
    fn add(&mut self, now: Time, egress: u32) {
        if self.last.is_some_and(|(_, queue)| queue != egress) {
            self.other = self.last;
        }
        self.last = Some((now, egress));
    }

    /// The latest uncongested packet that makes a congested flow to `egress` share its ingress.
    fn latest(&self, egress: u32, sharing: Sharing) -> Option<Time> {
        let counts = |&(_, queue): &(Time, u32)| sharing == Sharing::AnyQueue || queue != egress;
        self.last.filter(counts).or(self.other.filter(counts)).map(|(time, _)| time)
    }
}

/// SRCC's point of a switch.
#[derive(Debug)]
pub struct SrccSwitch {
    settings: Settings,
    priorities: u32,
    /// By egress queue.
    arrivals: Vec<Arrivals>,
    /// By egress queue: ingress queues that fed the egress queue recently, each with its last packet; only for
    /// [`Quota::Literal`].
    fed: Vec<Vec<(u32, Time)>>,
    /// By ingress queue.
    uncongested: Vec<Uncongested>,
    flows: FlowTable,
}

impl SrccSwitch {
    pub(super) fn new(env: &SwitchEnv, settings: Settings) -> Self {
        let queues = env.ports * env.priorities;
        SrccSwitch {
            priorities: env.priorities,
            arrivals: vec![Arrivals::default(); queues as usize],
            fed: vec![Vec::new(); queues as usize],
            uncongested: vec![Uncongested::default(); queues as usize],
            flows: FlowTable::new(queues, settings.count_window, settings.flow_timeout),
            settings,
        }
    }

    /// The congestion threshold Q_cth that a packet meets, in bytes (Eq. 5 and 6).
    pub fn threshold(&mut self, packet: &Joining) -> u64 {
        let (ingress, egress) = (&packet.ingress, &packet.egress);
        let line = egress.rate.bytes_per_ps();
        // Bytes by which the queue grows in a picosecond.
        let growth = match self.settings.quota {
            Quota::Fixed { bytes } => return bytes,
            Quota::Dynamic { time } => {
                let rate = self.arrivals[egress.queue as usize].add(packet.now, packet.bytes, time);
                (rate - line).max(0.0)
            }
            Quota::Literal { recent } => {
                let fed = &mut self.fed[egress.queue as usize];
                fed.retain(|&(queue, t)| queue != ingress.queue && t.saturating_add(recent) > packet.now);
                fed.push((ingress.queue, packet.now));
                line * (fed.len() - 1) as f64
            }
        };
        let q_pfc = self.settings.q_pfc.or(ingress.xoff).unwrap_or(u64::MAX);
        let max = q_pfc / u64::from(ingress.feeds.max(1));
        let delay = ingress.delay.0 as f64 * f64::from(packet.hops) * self.settings.rtt_factor;
        let grown = (growth * delay + 0.5) as u64;
        max.saturating_sub(grown).max(self.settings.floor.min(max))
    }
}

impl SwitchPoint for SrccSwitch {
    fn on_enqueue(&mut self, packet: &Joining, out: &mut Vec<Cnm>) {
        let (now, egress) = (packet.now, &packet.egress);
        let port = packet.ingress.queue / self.priorities;
        let place = self.flows.touch(now, packet.flow, port, egress.queue);
        let congested = egress.bytes > self.threshold(packet);
        let ingress = &mut self.uncongested[packet.ingress.queue as usize];
        if !congested {
            return ingress.add(now, egress.queue);
        }
        let latest = ingress.latest(egress.queue, self.settings.sharing);
        let shares = latest.is_some_and(|t| t.saturating_add(self.settings.window) > now);
        if shares && self.flows.tell(place, now, self.settings.cnm_interval) {
            let flows = u64::from(self.flows.active(egress.queue).max(1));
            let rate = Rate(egress.rate.bps() / flows).max(Rate(1));
            out.push(Cnm { flow: packet.flow, point: egress.point, rate, queue: None });
        }
    }

    fn previous_hop(&mut self, now: Time, flow: u32) -> Option<u32> {
        self.flows.port(now, flow)
    }

    fn max_flows(&self) -> u64 {
        self.flows.max_flows() as u64
    }
}
