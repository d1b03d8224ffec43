//! GPCNeT's load test: processes that cause congestion, and processes that measure its effect on them.
//!
//! The pattern follows the benchmark itself, version 1.3 (S. Chunduri et al., "GPCNeT: Designing a Benchmark Suite for
//! Inducing and Measuring Contention in HPC Networks", SC 2019, and its published code). All its processes are closed loops.
//!
//! **Placement.** The hosts are shuffled; 80 % of them, rounded down, run congestors, the rest the tests. Process i of each
//! host belongs to slice i, and processes communicate within a slice: so no message stays within a host. The
//! congestors' hosts are shuffled once more and get the kernels in turn. The placement is the same for all slices, so that
//! the processes of a host run one kernel, and all slices' incasts go to one host.
//!
//! **Tests.** `latency` and `bandwidth` go around random rings, of which each slice has its own: a process exchanges with
//! its two neighbours. `latency` sends a message of 8 B to each; its result is half the time until all messages are there.
//! `bandwidth` keeps 8 messages of 128 KiB to each neighbour in flight, waits for all of them and for a barrier of the slice;
//! its result is the bytes of the 16 messages divided by the time. `allreduce` sums 8 B over the slice. A barrier of all
//! processes comes before each ring and test.
//!
//! **Congestors** (`congestors.c` of the benchmark). In `all_to_all` a process exchanges 4 KiB with each process of its slice in
//! turn, by `MPI_Sendrecv`. In `two_sided_incast` all processes send 4 KiB to the first process of the slice by blocking
//! `MPI_Send`s, one each iteration. In `put_incast` all processes put 4 KiB to the first process, in `get_broadcast` they get
//! 4 KiB from it; each `MPI_Put` and `MPI_Get` is followed by `MPI_Win_flush`, so one of a process is under way. Congestors go on
//! while the tests run.
//!
//! **Eager messages.** `MPI_Send` returns when the sender's buffer may be used again (MPI 4.0, section 3.4). By the eager protocol
//! that is so once the message is copied or handed to the NIC: the next send follows while messages are still unacknowledged,
//! until the send queue is full. `eager`, 8 KiB, is the default of Cray MPICH (`MPICH_GNI_MAX_EAGER_MSG_SIZE`), and nearly the eager
//! fragment of UCX, the transport of Open MPI and MPICH on InfiniBand (`SEG_SIZE`, 8,256 B). `eager_outstanding`, 256, is the
//! send queue of a connection of UCX (`TX_QUEUE_LEN` in `ib_iface.c`; the window of its own flow control, `FC_WND_SIZE` in `rc_iface.c`,
//! is 512 messages). Larger messages go by rendezvous, and the sender waits for the last ACK; the request to send and its answer
//! are not modelled.
//!
//! Readings. A process continues `overhead` after the arrival of what it waits for: matching and software; the call of an eager
//! send takes as long. One-sided operations need no matching and have no overhead: the target's NIC answers a get by itself,
//! and a flush ends with the last ACK of its put. The first process of an incast receives at the rate of its link: its receives never
//! hold up a sender. The benchmark's `MPI_Iallreduce` of a timeout, once in hundreds of iterations, is left out. In the tests and in
//! `all_to_all` a process sends one message or a few to a peer before it waits for the peer, and `eager_outstanding` does not
//! limit them. A request for a get takes 16 B (the extended header of InfiniBand's RDMA read), and a barrier sends messages of
//! 8 B by dissemination. The allreduce is by recursive doubling, which MPI libraries use for small vectors.
//! The barrier of all processes goes over hosts: the processes of a host meet, then one of them goes through a barrier of
//! all hosts, then the others continue.

mod congestors;
mod victims;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Time};

use super::collective::{check_processes, check_time, one, yes};
use super::processes::Program;
use super::{Common, Params, common};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::{MAX_FLOWS, Plan, Scope};
use crate::hosts::HostList;
use crate::sizes;

/// GPCNeT's congestors and victims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gpcnet {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: all from a process to another
    /// (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this many connections from a
    /// host to another take them in turn (a number).
    #[serde(default = "per_process_pair")]
    pub connection: ConnectionMapping,
    /// When the congestors start.
    #[serde(default)]
    pub start: Time,
    /// Who takes part.
    #[serde(default)]
    pub hosts: HostList,
    /// Processes on each host, and so on each network port (PPN in GPCNeT, PPort in PFT, where it is 1, 8 and 16).
    #[serde(default = "one")]
    pub processes: u32,
    /// Whether congestors run beside the tests. The placement is the same without them.
    #[serde(default = "yes")]
    pub congestors: bool,
    /// Share of the hosts that run congestors, rounded down.
    #[serde(default = "congestor_share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub congestor_share: f64,
    /// The congestors' kernels, which the congestors' hosts take in turn.
    #[serde(default = "congestor_kernels")]
    pub congestor_kernels: Vec<CongestorKernel>,
    /// Payload of each of the congestors' messages.
    #[serde(default = "congestor_size")]
    pub congestor_size: Bytes,
    /// Maximum number of iterations of each congestor. It should be more than a congestor makes while the tests run; a run in
    /// which it was not says so in its warnings. Each iteration takes 350 to 560 bytes of memory per message.
    #[serde(default = "congestor_iterations")]
    pub congestor_iterations: u32,
    /// The same for the all-to-all; without it, `congestor_iterations`. One of its iterations has a message to each other process
    /// of the slice, so that it makes fewer of them in a time.
    #[serde(default)]
    pub all_to_all_iterations: Option<u32>,
    /// Time from the start of the congestors to that of the tests.
    #[serde(default = "congestor_lead")]
    pub congestor_lead: Time,
    /// The tests, one after the other.
    #[serde(default = "tests")]
    pub tests: Vec<VictimTest>,
    /// Random rings of the latency and bandwidth tests; 30 in GPCNeT.
    #[serde(default = "rings")]
    pub rings: u32,
    /// Iterations of the latency test on each ring; 200 in GPCNeT, after 200 that do not count.
    #[serde(default = "latency_iterations")]
    pub latency_iterations: u32,
    /// Payload of the latency test's messages.
    #[serde(default = "eight")]
    pub latency_size: Bytes,
    /// Iterations of the bandwidth test on each ring; 8 in GPCNeT.
    #[serde(default = "bandwidth_iterations")]
    pub bandwidth_iterations: u32,
    /// Payload of the bandwidth test's messages.
    #[serde(default = "bandwidth_size")]
    pub bandwidth_size: Bytes,
    /// The bandwidth test's messages to each neighbour that are in flight at a time.
    #[serde(default = "bandwidth_outstanding")]
    pub bandwidth_outstanding: u32,
    /// Iterations of the allreduce test; 200 in GPCNeT.
    #[serde(default = "latency_iterations")]
    pub allreduce_iterations: u32,
    /// What the allreduce test sums.
    #[serde(default = "eight")]
    pub allreduce_size: Bytes,
    /// Time from the arrival of a two-sided message to the receiver's next action, for matching and software; also from an eager
    /// message of an incast to the next one, and from the ACK that makes room for a message to that message.
    #[serde(default = "overhead")]
    pub overhead: Time,
    /// Two-sided messages up to this size go by the eager protocol: the sender does not wait for them. Longer ones go by rendezvous:
    /// the sender waits for the last ACK.
    #[serde(default = "eager")]
    pub eager: Bytes,
    /// Maximum number of eager messages of a process of `two_sided_incast` that are handed over and not acknowledged, 1 to
    /// 1,000,000; the next send waits until the oldest of them is acknowledged. 256 is the length of UCX's send queue
    /// (`UCX_RC_VERBS_TX_QUEUE_LEN`), of which each process has one here; with 1 a process waits for each ACK.
    #[serde(default = "eager_outstanding")]
    pub eager_outstanding: u32,
}

/// The kernel that a congestor repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CongestorKernel {
    /// Pairwise exchange with all processes of the slice.
    AllToAll,
    /// Sends to the first process of the slice.
    TwoSidedIncast,
    /// Puts to the first process of the slice.
    PutIncast,
    /// Gets from the first process of the slice.
    GetBroadcast,
}

impl CongestorKernel {
    const fn name(self) -> &'static str {
        match self {
            CongestorKernel::AllToAll => "all_to_all",
            CongestorKernel::TwoSidedIncast => "two_sided_incast",
            CongestorKernel::PutIncast => "put_incast",
            CongestorKernel::GetBroadcast => "get_broadcast",
        }
    }
}

/// A test that victims run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VictimTest {
    /// Random ring, two-sided latency.
    Latency,
    /// Random ring, two-sided bandwidth with a barrier.
    Bandwidth,
    /// Allreduce in all slices at the same time.
    Allreduce,
}

const fn congestor_share() -> f64 {
    0.8
}
fn congestor_kernels() -> Vec<CongestorKernel> {
    use CongestorKernel::*;
    vec![AllToAll, TwoSidedIncast, PutIncast, GetBroadcast]
}
const fn congestor_size() -> Bytes {
    Bytes(4096)
}
const fn congestor_iterations() -> u32 {
    100
}
const fn congestor_lead() -> Time {
    Time::from_us(50)
}
fn tests() -> Vec<VictimTest> {
    vec![VictimTest::Latency, VictimTest::Bandwidth, VictimTest::Allreduce]
}
const fn rings() -> u32 {
    3
}
const fn latency_iterations() -> u32 {
    20
}
const fn eight() -> Bytes {
    Bytes(8)
}
const fn bandwidth_iterations() -> u32 {
    2
}
const fn bandwidth_size() -> Bytes {
    Bytes(131_072)
}
const fn bandwidth_outstanding() -> u32 {
    8
}
const fn overhead() -> Time {
    Time(500_000)
}
const fn eager() -> Bytes {
    Bytes(8192)
}
/// Default of [`Gpcnet::eager_outstanding`].
pub const EAGER_OUTSTANDING: u32 = 256;
const fn eager_outstanding() -> u32 {
    EAGER_OUTSTANDING
}

/// The hosts of congestors and victims, and the victims' rings.
struct Placement {
    /// By kernel of the list: its hosts.
    congestors: Vec<Vec<u32>>,
    victims: Vec<u32>,
    /// By slice and ring: the victims' places, in the order of the ring.
    rings: Vec<Vec<Vec<usize>>>,
}

impl Gpcnet {
    /// The placement of processes on hosts. It depends neither on the tests nor on whether congestors run.
    fn placement(&self, scope: &Scope<'_>) -> Result<Placement, Misfit> {
        let mut hosts = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        let (count, kernels) = (hosts.len(), self.congestor_kernels.len());
        let mut stream = scope.stream();
        draw::choose(&mut stream, &mut hosts, count);
        let congestors = (self.congestor_share * count as f64) as usize;
        let victims = hosts.split_off(congestors);
        if victims.len() < 2 {
            let expected = "enough of them that two are left for the tests beside the congestors";
            return Err(Fault::bounds(format!("{count} hosts"), expected).at("hosts"));
        }
        if congestors < 2 * kernels && self.congestors {
            let expected = format!("enough of them for two congestors of each of {kernels} kernels");
            let has = format!("{count} hosts, of which {congestors} run congestors");
            return Err(Fault::bounds(has, expected).at("hosts"));
        }
        draw::choose(&mut stream, &mut hosts, congestors);
        let mut groups = vec![Vec::new(); kernels];
        for (i, host) in hosts.into_iter().enumerate().filter(|_| kernels > 0) {
            groups[i % kernels].push(host);
        }
        let mut ring = || {
            let mut ring: Vec<usize> = (0..victims.len()).collect();
            draw::choose(&mut stream, &mut ring, victims.len());
            ring
        };
        let rings = (0..self.processes).map(|_| (0..self.rings).map(|_| ring()).collect()).collect();
        Ok(Placement { congestors: groups, victims, rings })
    }

    fn check(&self) -> Result<(), Misfit> {
        check_processes(self.processes)?;
        if !(0.0..=1.0).contains(&self.congestor_share) {
            let expected = "a share from 0 to 1, such as 0.8";
            return Err(Fault::bounds(self.congestor_share, expected).at("congestor_share"));
        }
        if self.congestors && self.congestor_kernels.is_empty() {
            let expected = "at least one kernel, or `congestors = false`";
            return Err(Fault::bounds("an empty list", expected).at("congestor_kernels"));
        }
        if self.tests.is_empty() {
            return Err(Fault::bounds("an empty list", "at least one test").at("tests"));
        }
        if (1..self.tests.len()).any(|i| self.tests[..i].contains(&self.tests[i])) {
            return Err(Fault::bounds("a list with a test twice", "each test once").at("tests"));
        }
        for (count, max, key) in [
            (self.congestor_iterations, 1_000_000, "congestor_iterations"),
            (self.all_to_all_iterations.unwrap_or(1), 1_000_000, "all_to_all_iterations"),
            (self.rings, 1_000, "rings"),
            (self.latency_iterations, 1_000_000, "latency_iterations"),
            (self.bandwidth_iterations, 1_000_000, "bandwidth_iterations"),
            (self.bandwidth_outstanding, 1_000, "bandwidth_outstanding"),
            (self.allreduce_iterations, 1_000_000, "allreduce_iterations"),
            (self.eager_outstanding, 1_000_000, "eager_outstanding"),
        ] {
            if !(1..=max).contains(&count) {
                return Err(Fault::bounds(count, format!("a number from 1 to {max}")).at(key));
            }
        }
        for (size, key) in [
            (self.congestor_size, "congestor_size"),
            (self.latency_size, "latency_size"),
            (self.bandwidth_size, "bandwidth_size"),
            (self.allreduce_size, "allreduce_size"),
        ] {
            sizes::check_value(size).map_err(|fault| fault.at(key))?;
        }
        check_time(self.congestor_lead, "congestor_lead")?;
        check_time(self.overhead, "overhead")
    }
}

impl Params for Gpcnet {
    const NAME: &'static str = "gpcnet";
    const TITLE: &'static str =
        "GPCNeT: congestors (all-to-all, incasts, broadcast) and victims (latency, bandwidth, allreduce)";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        self.check()?;
        let first = self.start.saturating_add(self.congestor_lead);
        if let Some(end) = scope.horizon.filter(|end| first >= *end) {
            let expected = format!("a time with which the tests start before {end}, the end of the run");
            return Err(Fault::bounds(self.congestor_lead, expected).at("congestor_lead"));
        }
        // Each ring of each process has a message from each victim, and its order is kept: that alone may be too much.
        let hosts = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?.len();
        let victims = hosts - (self.congestor_share * hosts as f64) as usize;
        let rings = u128::from(self.processes) * u128::from(self.rings) * victims as u128;
        if rings > u128::from(MAX_FLOWS) {
            let cause =
                format!("{} rings of {victims} victims for each of {} processes", self.rings, self.processes);
            return Ok(Plan { flows: rings, cause, emit: Box::new(|_| ()) });
        }
        let placement = self.placement(scope)?;
        let victims = self.victim_messages(placement.victims.len());
        let congestors = if self.congestors { self.congestor_messages(&placement.congestors) } else { 0 };
        Ok(Plan {
            flows: victims + congestors,
            cause: format!("{victims} messages of the tests and {congestors} of the congestors"),
            emit: Box::new(move |sink| {
                let mut program = Program {
                    sink,
                    start: self.start,
                    overhead: self.overhead,
                    eager: self.eager.0,
                    background: true,
                    kernel: 0,
                    iteration: 0,
                };
                if self.congestors {
                    self.write_congestors(&mut program, &placement.congestors);
                }
                program.background = false;
                program.start = first;
                self.write_tests(&mut program, &placement);
            }),
        })
    }
}
