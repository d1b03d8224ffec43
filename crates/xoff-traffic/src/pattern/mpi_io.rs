//! MPI and I/O jobs that share a network: the mix of TCD's evaluation (Zhang et al., SIGCOMM 2021, section 5.2.2), after
//! Brown et al., "Interference between I/O and MPI Traffic on Fat-Tree Networks" (ICPP 2018).
//!
//! Some random hosts of each rack are I/O servers; a share of all hosts are I/O clients; the others are MPI processes. Starts
//! are a Poisson process for I/O, and another one for MPI. An I/O client has one connection to one random server: a message
//! starts when its time has come and the message before it is acknowledged, since the paper's several I/O messages of one
//! connection go one after another.
//!
//! Readings where the paper says nothing: the I/O servers and clients are distinct; a client's server is drawn uniformly; MPI
//! messages go from one random MPI process to another; the sizes of MPI messages that are not 2 KB are uniform among 4, 8,
//! 16 and 32 KB, and 55 % are of 2 KB (the paper: from 2 to 32 KB, over 50 % of 2 KB).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Stream, Time};

use super::{Common, Params, common};
use crate::closed_loop::{Milestone, Role, Waiter};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::{FlowSpec, Plan, Scope, Sink};
use crate::hosts::HostList;
use crate::sizes;

/// Messages of MPI and I/O jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MpiIo {
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
    /// Beginning of both processes of arrivals.
    #[serde(default)]
    pub start: Time,
    /// Who takes part. Hosts at the same switch are a rack.
    #[serde(default)]
    pub hosts: HostList,
    /// Time in which the messages start, on average: the gap between two messages is exponential, and its mean is this time
    /// divided by their number. A message that would start after the end of the run is left out.
    pub duration: Time,
    /// Messages in all; TCD generates over 80,000 among 1024 hosts.
    #[serde(default = "messages")]
    pub messages: u64,
    /// Share of them that are I/O; 10 % in TCD.
    #[serde(default = "io_share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub io_share: f64,
    /// I/O servers in each rack; 4 in TCD.
    #[serde(default = "io_servers")]
    pub io_servers: u32,
    /// I/O clients, as a share of the hosts; 25 % in TCD. Rounded down, but at least one.
    #[serde(default = "io_clients")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub io_clients: f64,
    /// Sizes of I/O messages, equally likely; those of TCD.
    #[serde(default = "io_sizes")]
    pub io_sizes: Vec<Bytes>,
    /// Size of the smallest MPI messages.
    #[serde(default = "mpi_small")]
    pub mpi_small: Bytes,
    /// Share of the MPI messages that have it.
    #[serde(default = "mpi_small_share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mpi_small_share: f64,
    /// Sizes of the other MPI messages, equally likely.
    #[serde(default = "mpi_sizes")]
    pub mpi_sizes: Vec<Bytes>,
}

const fn messages() -> u64 {
    80_000
}
const fn io_share() -> f64 {
    0.1
}
const fn io_servers() -> u32 {
    4
}
const fn io_clients() -> f64 {
    0.25
}
fn io_sizes() -> Vec<Bytes> {
    [512_000, 1_000_000, 2_000_000, 4_000_000].map(Bytes).to_vec()
}
const fn mpi_small() -> Bytes {
    Bytes(2_000)
}
const fn mpi_small_share() -> f64 {
    0.55
}
fn mpi_sizes() -> Vec<Bytes> {
    [4_000, 8_000, 16_000, 32_000].map(Bytes).to_vec()
}

/// The hosts of each kind of job.
struct Jobs {
    servers: Vec<u32>,
    clients: Vec<u32>,
    mpi: Vec<u32>,
}

impl MpiIo {
    /// The sizes of a list, in bytes.
    fn sizes(list: &[Bytes], key: &'static str) -> Result<Vec<u64>, Misfit> {
        if list.is_empty() {
            return Err(Fault::bounds("an empty list", "at least one size").at(key));
        }
        list.iter().map(|&size| sizes::check_value(size).map_err(|fault| fault.at(key))).collect()
    }

    /// Draws the I/O servers of each rack, in the order of the racks' first hosts, then the clients among the others.
    fn jobs(&self, scope: &Scope<'_>, hosts: &[u32], stream: &mut Stream) -> Result<Jobs, Misfit> {
        let mut racks: Vec<Vec<u32>> = Vec::new();
        let mut place: BTreeMap<u32, usize> = BTreeMap::new();
        for &host in hosts {
            let rack = *place.entry(scope.hosts.rack(host)).or_insert_with(|| {
                racks.push(Vec::new());
                racks.len() - 1
            });
            racks[rack].push(host);
        }
        let (mut servers, mut others) = (Vec::new(), Vec::new());
        let count = self.io_servers as usize;
        for mut rack in racks {
            if rack.len() < count {
                let expected = format!("at most {}, the hosts of the smallest rack", rack.len());
                return Err(Fault::bounds(self.io_servers, expected).at("io_servers"));
            }
            draw::choose(stream, &mut rack, count);
            others.extend(rack.split_off(count));
            servers.append(&mut rack);
        }
        let clients = ((self.io_clients * hosts.len() as f64) as usize).max(1);
        let left = others.len();
        if clients + 2 > left {
            let expected =
                format!("a share that leaves two MPI processes of the {left} hosts that are no servers");
            return Err(Fault::bounds(self.io_clients, expected).at("io_clients"));
        }
        draw::choose(stream, &mut others, clients);
        let mpi = others.split_off(clients);
        Ok(Jobs { servers, clients: others, mpi })
    }

    fn shares(&self) -> Result<(), Misfit> {
        let shares = [
            (self.io_share, "io_share"),
            (self.io_clients, "io_clients"),
            (self.mpi_small_share, "mpi_small_share"),
        ];
        match shares.into_iter().find(|(share, _)| !(0.0..=1.0).contains(share)) {
            Some((share, key)) => Err(Fault::bounds(share, "a share from 0 to 1").at(key)),
            None => Ok(()),
        }
    }
}

/// The moments of `count` arrivals in about `duration`.
fn arrivals(stream: &mut Stream, start: Time, duration: Time, count: u64) -> impl Iterator<Item = Time> {
    let gap = duration.ps() as f64 / count.max(1) as f64;
    let mut at = start;
    (0..count).map(move |_| {
        at = at.saturating_add(draw::exponential(stream, gap));
        at
    })
}

impl Params for MpiIo {
    const NAME: &'static str = "mpi_io";
    const TITLE: &'static str =
        "TCD's mix of MPI messages among hosts and I/O messages to servers in each rack";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        self.shares()?;
        if self.duration == Time::ZERO {
            return Err(Fault::bounds(Time::ZERO, "a time above 0").at("duration"));
        }
        if self.messages == 0 {
            return Err(Fault::bounds(0, "a number from 1").at("messages"));
        }
        if self.io_servers == 0 {
            return Err(Fault::bounds(0, "a number from 1").at("io_servers"));
        }
        let io_sizes = MpiIo::sizes(&self.io_sizes, "io_sizes")?;
        let mpi_sizes = MpiIo::sizes(&self.mpi_sizes, "mpi_sizes")?;
        let small = sizes::check_value(self.mpi_small).map_err(|fault| fault.at("mpi_small"))?;
        let mut stream = scope.stream();
        let jobs = self.jobs(scope, &hosts, &mut stream)?;
        let io = libm::round(self.io_share * self.messages as f64) as u64;
        let (start, duration, mpi) = (self.start, self.duration, self.messages - io);
        if scope.horizon.is_some_and(|end| start.saturating_add(duration) > end) {
            let expected = "a time that ends with `start` before the end of the run";
            return Err(Fault::bounds(self.duration, expected).at("duration"));
        }
        let horizon = scope.horizon.unwrap_or(Time::NEVER);
        Ok(Plan {
            flows: self.messages.into(),
            cause: format!("{} messages", self.messages),
            emit: Box::new(move |sink: &mut Sink| {
                let kernel = sink.kernel("io");
                let one_of =
                    |stream: &mut Stream, list: &[u64]| list[draw::below(stream, list.len() as u64) as usize];
                let server = |stream: &mut Stream| {
                    jobs.servers[draw::below(stream, jobs.servers.len() as u64) as usize]
                };
                let connected: Vec<u32> = jobs.clients.iter().map(|_| server(&mut stream)).collect();
                // By client: its messages so far, and the last of them.
                let mut last: Vec<(u32, Option<u32>)> = vec![(0, None); jobs.clients.len()];
                let times: Vec<Time> = arrivals(&mut stream, start, duration, io).collect();
                for at in times.into_iter().filter(|&at| at < horizon) {
                    let client = draw::below(&mut stream, jobs.clients.len() as u64) as usize;
                    let size = one_of(&mut stream, &io_sizes);
                    let (number, before) = last[client];
                    let role = Role { kernel, process: client as u32, iteration: number };
                    let blank = sink.blank(jobs.clients[client], connected[client], at);
                    let flow = sink.numbered(FlowSpec {
                        size: size.into(),
                        role: Some(role),
                        connection: Some(0),
                        ..blank
                    });
                    if let Some(before) = before {
                        sink.after(Milestone::Sent(before), Waiter::Flow(flow), Time::ZERO);
                    }
                    last[client] = (number + 1, Some(flow));
                }
                let kernel = sink.kernel("mpi");
                let count = jobs.mpi.len() as u64;
                let mut sent = vec![0; jobs.mpi.len()];
                let times: Vec<Time> = arrivals(&mut stream, start, duration, mpi).collect();
                for at in times.into_iter().filter(|&at| at < horizon) {
                    let src = draw::below(&mut stream, count);
                    let dst = draw::other(&mut stream, count, src);
                    let size = if draw::unit(&mut stream) < self.mpi_small_share {
                        small
                    } else {
                        one_of(&mut stream, &mpi_sizes)
                    };
                    let (src, dst) = (src as usize, dst as usize);
                    let process = (jobs.clients.len() + src) as u32;
                    let role = Role { kernel, process, iteration: sent[src] };
                    sent[src] += 1;
                    let blank = sink.blank(jobs.mpi[src], jobs.mpi[dst], at);
                    sink.flow(FlowSpec { size: size.into(), role: Some(role), ..blank });
                }
            }),
        })
    }
}
