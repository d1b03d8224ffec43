//! What a run asks of a partition, whatever its flow control and NICs.

use std::any::Any;
use std::sync::Arc;

use xoff_engine::Time;

use super::fast_forward::{Allowance, Counts, Jump, Signature, Traces};
use super::simulation::Progress;
use super::windows::{Totals, Windows};
use crate::host::forward::{Pace, Pulse};
use crate::host::recall::Recall;
use crate::host::replay::{Lesson, Period};
use crate::host::rounds::{Happening, Round};
use crate::ids::{ConnectionId, FlowId, PortId, QueueId};
use crate::link::buffer::IngressQueue;
use crate::link::flow_control::counters::{ReceivingEnd, SendingEnd};
use crate::link::llr::RetryCounts;
use crate::link::port::Port;
use crate::network::dependencies::Milestone;
use crate::network::{BuildError, Network};
use crate::observe::{Counters, Failure, Probe, Records};
use crate::packet::{Share, Transit};

/// Adds a message to a network, and returns its number.
pub(super) type AddMessage<'a> = &'a mut dyn FnMut(&mut Network) -> Result<FlowId, BuildError>;

/// A partition, whatever its flow control and NICs.
pub(super) trait AnyPartition: Send {
    /// Handles the events before `limit`, on the network's clock; stops early at a failure, or once about `count` events are
    /// handled.
    fn run_until(&mut self, limit: Time, count: u64);
    /// Handles the events before `limit`, or about `count` of them, and keeps what becomes of messages. If the caller is to hear of
    /// that `at_once`, it stops right after such an event. The partition must be the only one, with one order of all events.
    fn run_live(&mut self, limit: Time, count: u64, at_once: bool);
    /// Counts each event in its window from now on, and all that are over. Otherwise some that change nothing are counted some windows later.
    fn count_in_time(&mut self);
    /// What has become of messages since the last call.
    fn take_news(&mut self) -> Vec<(Time, Milestone)>;
    /// Whether something has become of a message since then.
    fn has_news(&self) -> bool;
    /// The counts so far.
    fn counters(&self) -> Counters;
    /// Keeps what becomes of messages from now on.
    fn keep_news(&mut self);
    /// Lets `change` add a message to the network, and schedules the message's start. Its rates are sampled if `rates` says so.
    ///
    /// # Errors
    /// Those of `change`, and [`BuildError`] if someone else holds the network.
    fn add_message(&mut self, change: AddMessage<'_>, rates: bool) -> Result<FlowId, BuildError>;
    /// The totals that the sequence of windows depends on, in simulated time.
    fn totals(&self) -> Totals;
    /// The progress of the run.
    fn progress(&self, totals: &Totals, windows: &Windows) -> Progress<'_>;
    /// Packets that have left for the other partitions.
    fn outboxes(&mut self) -> &mut [Transit];
    /// Takes in packets from another partition.
    fn take_in(&mut self, transit: &mut Transit);
    /// An empty transit for packets with this partition's format of telemetry.
    fn transit(&self) -> Transit;
    /// Adds a probe.
    fn add_probe(&mut self, probe: Box<dyn Probe>);
    /// The simulated time of the last event handled.
    fn now(&self) -> Time;
    /// Takes the first failure, with the time and key of its event.
    fn take_failure(&mut self) -> Option<(Time, u32, Failure)>;
    /// Moves the clock to the `end` of the run, writes what is still open, and returns the counts and records.
    fn close(&mut self, end: Time) -> (Counters, Records);
    /// Forgets the packets of a run that is over: what says where they are must not be asked any more.
    fn forget_packets(&mut self);
    /// A port's totals.
    fn port(&self, port: PortId) -> &Port;
    /// Bytes of a port's total that were not simulated.
    fn skipped_bytes(&self, port: PortId) -> u64;
    /// What the LLR of a port did; `None` without LLR.
    fn retries(&self, port: PortId) -> Option<RetryCounts>;
    /// The accounting of an ingress queue.
    fn ingress(&self, queue: QueueId) -> &IngressQueue;
    /// Time for which an egress queue was stopped.
    fn stopped(&self, queue: QueueId) -> Time;
    /// Bytes in all switches' memories, and bytes charged to all ingress ports.
    fn buffered_bytes(&self) -> (u64, u64);
    /// Connections with a message that their receivers count as incomplete.
    fn open_receptions(&self) -> u32;
    /// Number of packets in the partition's nodes and on its links, and of those that have left it in this window.
    fn packets_in_flight(&self) -> u32;
    /// Number of data packets among them.
    fn data_in_network(&self) -> u64;
    /// For the packets in switches' memories: the ingress queues that they are charged to, and their egress queues; each pair once.
    fn charged(&self) -> Vec<(QueueId, QueueId)>;
    /// Whether ports of the partition, which has all nodes, wait for each other for ever.
    fn is_deadlocked(&self) -> bool;
    /// Whether an egress queue is stopped and the other end, in the partition `there`, has no room.
    fn is_held(&self, queue: QueueId, there: &dyn AnyPartition) -> bool;
    /// Both ends' credits of an egress queue, whose other end is in the partition `there`; `None` without credits.
    fn credits<'a>(
        &'a self,
        queue: QueueId,
        there: &'a dyn AnyPartition,
    ) -> Option<(&'a SendingEnd, &'a ReceivingEnd)>;
    /// The time carried forward so far, by which simulated time is ahead of the network's clock.
    fn carried(&self) -> Time;
    /// What changes when a message starts, stops or completes, or a packet is lost; and last, when a mark hangs on chance.
    fn version(&self) -> [u64; 4];
    /// Something always keeps times of its own that cannot be carried forward.
    fn is_slowed(&self) -> bool;
    /// Something keeps such times now.
    fn holds_times(&self) -> bool;
    /// Whether a packet under way carries a mark, or a notification to a sender.
    fn has_notices(&self) -> bool;
    /// What messages under way take may be wrong by a share `error` of it.
    fn note_error(&mut self, error: f64);
    /// What has left traces so far, and how much work it is to look at all that may have.
    fn traces(&self) -> (Traces, u64);
    /// Whether nothing is under way, and nothing is to come but what the scenario starts, or steps of which the start is known, or breaks.
    fn is_at_rest(&self, unknown_waits: &[u32]) -> bool;
    /// What was wrong before is past.
    fn begin_anew(&mut self);
    /// Detectors tell states of ports apart.
    fn has_port_states(&self) -> bool;
    /// Bits that have left a port, of those that were simulated or carried forward.
    fn bits_sent(&self, port: PortId, now: Time) -> f64;
    /// The network.
    fn network(&self) -> &Arc<Network>;
    /// The connections under way.
    fn pulses(&mut self) -> Vec<Pulse>;
    /// Tells apart the states of all but senders and schemes, wherever they are in time.
    fn signature(&self, now: Time) -> Signature;
    /// The counts that a jump extrapolates, with those of ports if `with_ports`.
    fn counts(&mut self, with_ports: bool) -> Counts;
    /// Marks on packets so far, at all ports.
    fn marks(&self) -> u64;
    /// Follows all messages, and recalls them if that is allowed.
    fn follow_messages(&mut self, allowance: Allowance);
    /// The messages of the partition, if partitions have all nodes and divide the messages.
    fn share(&self) -> Option<&Share>;
    /// The run's messages, if they are followed.
    fn recall(&self) -> Option<&Recall>;
    /// When the next thing comes from outside the network, on the network's clock.
    fn first_external(&self) -> Time;
    /// When the next thing comes from outside the network that no program asks for, on the network's clock.
    fn first_stated(&self) -> Time;
    /// Whether rounds are told apart by what is looked at: see [`crate::host::rounds`].
    fn may_have_rounds(&self) -> bool;
    /// Whether no reaction point has a timer or a rate that notifications have lowered.
    fn are_points_settled(&self) -> bool;
    /// Notes what happens to messages and steps from now on.
    fn hear(&mut self);
    /// Ends that, and returns what has happened.
    fn heard(&mut self) -> Vec<Happening>;
    /// The number of rounds, at most `most`, that programs go through from now on as they went through this one.
    fn rounds_ahead(&self, round: &Round, most: u64) -> u64;
    /// Carries time forward over so many rounds; returns whether the program goes through them.
    fn jump_rounds(&mut self, round: &Round, rounds: u64, jump: &Jump<'_>) -> bool;
    /// Moves the network's clock to `now`, and lets reaction points live through the next `time`; returns how long their rates
    /// stay within `tolerance`, and their largest relative change until then.
    fn live_through(&mut self, now: Time, paces: &mut [Pace], time: Time, tolerance: f64) -> (Time, f64);
    /// Notes from now on what reaction points hear: see [`crate::host::replay`].
    fn listen(&mut self, connections: &[ConnectionId]);
    /// Ends that, and returns what they have heard.
    fn lessons(&mut self, periods: &[Period], time: Time) -> Option<Vec<Lesson>>;
    /// Lets them hear it again, `periods` times or as often as nothing changes by it; returns how often.
    fn replay(&mut self, lessons: &[Lesson], periods: u64) -> u64;
    /// Carries time forward.
    fn jump(&mut self, jump: &Jump<'_>);
    /// The partition itself.
    fn as_any(&self) -> &dyn Any;
}
