//! Moments from which on a run is the plain run again, whatever was approximate before.
//!
//! A jump that is not exact, or a recalled message, may be wrong by something, and what follows from it may be, too: a mark that hangs on
//! chance may hit another packet. But where a run comes to rest, and what comes next starts at times that the scenario states, nothing can follow
//! from that any more, if it has left no trace: errors of the past are past. What leaves traces is counted ([`Traces`]); whose turn it is among
//! priorities is not, so that there must be one. The plain run is at rest by then as well: its messages end at most as much later as the
//! run vouches for.

use xoff_engine::{Event, Time};
use xoff_schemes::dcqcn::Np;
use xoff_schemes::registry::AnyScheme;

use super::super::any_partition::AnyPartition;
use super::super::partition::Partition;
use super::{FastForward, recalled, steady};
use crate::ctx::Ctx;
use crate::event::{index_of, kind, kind_of};
use crate::host::nic::NicScheduler;
use crate::host::recall::Recall;
use crate::ids::QueueId;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::settings::{Queueing, Quirks};

/// The plain run may have had queues so many times as long as the longest ones of the fast run, and so many frames more, of which no packet is to be
/// marked: how far ACKs and data that were not there make a queue longer is not known.
const LONGER: u64 = 4;
const FRAMES: u64 = 16;

/// What has happened so far that reaction points, receivers, detectors and random numbers may remember: marks, packets whose marks hung on chance,
/// PAUSE frames, lost packets, notifications of senders, and messages that the plain run may have marked by chance alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traces([u64; 6]);

/// When a run was last the plain run, but for packets that were skipped.
#[derive(Default)]
pub(super) struct Anew {
    /// In simulated time.
    since: Time,
    /// What had happened by then.
    traces: Traces,
    /// Messages that had ended when the run was last looked at, which is once while it is at rest.
    ended: u64,
    /// Senders and ports that looks have gone through.
    spent: u64,
    /// See [`crate::network::dependencies::Dependencies::unknown_waits`].
    unknown_waits: Vec<u32>,
}

impl Anew {
    /// A run that begins.
    pub fn new(net: &Network) -> Anew {
        Anew { unknown_waits: net.dependencies.unknown_waits(), ..Anew::default() }
    }
}

impl FastForward {
    /// Looks whether the run, which has come to the simulated time `reached`, is the plain run again.
    pub(super) fn begin_anew(&mut self, partition: &mut dyn AnyPartition, reached: Time) {
        if !partition.recall().is_some_and(Recall::is_idle) {
            return;
        }
        let totals = partition.totals();
        if totals.flows_done == self.anew.ended || self.anew.spent > totals.events {
            return;
        }
        let (traces, work) = partition.traces();
        (self.anew.ended, self.anew.spent) = (totals.flows_done, self.anew.spent + work);
        self.note_change(partition, reached);
        self.note_meeting(partition);
        let recalled = recalled(partition, reached);
        if self.account.is_uncertain() || recalled.uncertain_from.is_some() {
            return;
        }
        if self.account.has_erred(&recalled) {
            let (net, now) = (partition.network(), reached.saturating_sub(partition.carried()));
            let late = ((reached - self.anew.since).0 as f64 * self.tolerance) as u64;
            let by = now + Time(late) + net.env.base_rtt + net.env.base_rtt;
            let is_over = traces == self.anew.traces && partition.first_external() > by;
            if !is_over || !is_told(net) || !partition.is_at_rest(&self.anew.unknown_waits) {
                return;
            }
            partition.begin_anew();
            self.account.begin_anew();
        }
        (self.anew.since, self.anew.traces) = (reached, traces);
    }
}

/// Whether all traces are told: neither a scheme nor the order of events has a state that goes on, and no NIC or port takes turns.
fn is_told(net: &Network) -> bool {
    // Receivers count their periods from a connection's first packet on, whenever that came.
    let is_periodic = matches!(&net.scheme, AnyScheme::Dcqcn(dcqcn) if dcqcn.np == Some(Np::Periodic));
    let is_in_turn = net.settings.switch.queueing(&net.settings.flow_control) == Queueing::VirtualOutput;
    steady::forgets(net)
        && !steady::draws_by_packet(net)
        && net.settings.quirks == Quirks::default()
        && net.settings.switch.priorities == 1
        && !is_in_turn
        && !is_periodic
}

/// Whether a pending event comes from the scenario alone, or is not to be heeded any more.
fn is_stated(net: &Network, unknown_waits: &[u32], event: &Event) -> bool {
    let index = index_of(event.key);
    let step = index.checked_sub(net.first_other);
    let item = step.map_or(index, |step| net.dependencies.flows() + step);
    match kind_of(event.key) {
        // A step that has taken its processor is under way.
        kind::FLOW_START if step.is_some() && event.arg != 0 => false,
        kind::FLOW_START => unknown_waits.get(item as usize).is_none_or(|&unknown| unknown == 0),
        kind::FLOW_STOP => true,
        // Those of senders that have nothing to send, or whose reaction points have no timer, change nothing.
        kind::RETRANSMIT_TIMER | kind::REACTION_TIMER => true,
        _ => false,
    }
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// What has left traces so far, and by how much there is to look at.
    pub(crate) fn traces_now(&self) -> (Traces, u64) {
        let Ctx { probes, counters, net, .. } = &self.ctx;
        let pauses = probes.records.totals.pause_frames.iter().sum();
        let chances = probes.chances.unwrap_or_default();
        let notified = self.hosts.notifications();
        let strangers = self.hosts.recall().map_or(0, Recall::strangers);
        let traces = [self.marks_now(), chances, pauses, counters.drops, notified, strangers];
        let work = self.links.ports.len() + net.flows.len();
        (Traces(traces), work as u64)
    }

    /// Whether nothing is under way, no receiver, port or reaction point waits for anything, and nothing is to come but what the scenario starts
    /// or breaks.
    pub(crate) fn rests(&self, unknown_waits: &[u32]) -> bool {
        let Partition { ctx, links, switches, hosts, .. } = self;
        // Queues of the plain run may have been longer, as packets of recalled messages were not there.
        let length = |queue: QueueId| {
            let port = &links.ports[queue.port(links.priorities).index()];
            LONGER * port.longest_queue() + FRAMES * ctx.net.wire.frame()
        };
        let is_free = ctx.packets.live() == 0 && links.ports.iter().all(|port| port.paused == 0);
        let mut is_stated_all = true;
        ctx.events.visit(|event| is_stated_all &= is_stated(&ctx.net, unknown_waits, &event));
        is_free
            && is_stated_all
            && !hosts.waits_in_part(unknown_waits)
            && hosts.rest(ctx)
            && switches.marks_none_at(length)
    }
}
