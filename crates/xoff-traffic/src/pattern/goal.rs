//! A schedule of a parallel program in the GOAL format, replayed as a closed loop.
//!
//! An operation begins when everything that it requires has come. A *calc* then takes its processor, which serves one
//! operation at a time in the order in which they are ready; a calculation of zero length takes no processor. A *send*
//! begins with its message and ends, if the message is long, with the last ACK. A *receive* ends when it has begun and its
//! message has arrived.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, NicChoice, Rate, Time};

use super::collective::{check_time, one};
use super::{Common, Params, common};
use crate::closed_loop::{self, Hold, Milestone, Role, Waiter};
use crate::connections::{ConnectionMapping, per_process_pair};
use crate::error::{Fault, Misfit};
use crate::generate::{FlowSpec, Plan, Scope, Sink};
use crate::goal::{self, Action, Schedule};
use crate::hosts::HostList;

/// Maximum number of ranks on a host.
const MAX_RANKS: u32 = 1024;

/// Sends, receives and calculations of ranks that wait for each other, from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
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
    /// When the first operations may begin.
    #[serde(default)]
    pub start: Time,
    /// Path of the schedule, in the text form of GOAL.
    pub file: String,
    /// Whether the n-th send of a rank to another belongs to that rank's n-th receive, whatever the tags; otherwise to the n-th
    /// with its tag.
    #[serde(default)]
    pub ignore_tags: bool,
    /// Hosts of the ranks: the first ranks on the first of these hosts, and so on. There may be more hosts than needed.
    #[serde(default)]
    pub hosts: HostList,
    /// Ranks on each host.
    #[serde(default = "one")]
    pub ranks_per_host: u32,
    /// Time for which each send holds its processor before its message goes, and each receive after its message has arrived
    /// (o in the LogGOPS model).
    #[serde(default)]
    pub overhead: Time,
    /// A send of up to this size ends when its message goes, a longer one with the last ACK of its message (S in the LogGOPS
    /// model, 65,535 B in LogGOPSim).
    #[serde(default = "eager")]
    pub eager: Bytes,
    /// Rate of messages between ranks of one host, which use no network and do not delay each other; without it, they take
    /// only `local_delay`.
    #[serde(default)]
    pub local_rate: Option<Rate>,
    /// Delay of messages between ranks of one host.
    #[serde(default)]
    pub local_delay: Time,
}

const fn eager() -> Bytes {
    Bytes(65_535)
}

impl Goal {
    fn read(&self, scope: &Scope<'_>) -> Result<Schedule, Fault> {
        let text = scope.files.large_text(&self.file).map_err(|error| Fault::file(&self.file, &error))?;
        goal::parse(&text, self.ignore_tags).map_err(|e| Fault::Line {
            path: self.file.clone(),
            line: e.line,
            column: e.subject,
            fault: Box::new(e.fault),
        })
    }

    /// Time from the beginning of a message within a host to its arrival.
    fn local(&self, size: u64) -> Time {
        let transfer = self.local_rate.map_or(Time::ZERO, |rate| rate.time_for(size));
        self.local_delay.saturating_add(transfer)
    }
}

/// The steps of an operation.
#[derive(Clone, Copy)]
struct Span {
    begin: u32,
    /// For a receive: the step at which it has begun and its message has arrived, an overhead before its end.
    arrival: u32,
    end: u32,
}

/// Writes a schedule's operations as flows, steps and dependencies.
struct Writer<'a> {
    goal: &'a Goal,
    schedule: &'a Schedule,
    /// By rank.
    hosts: Vec<u32>,
    /// By rank and number of the processor in the rank.
    processors: HashMap<(u32, u32), u32>,
    sink: &'a mut Sink,
}

impl Writer<'_> {
    fn step(&mut self, rank: u32) -> u32 {
        self.sink.step(self.hosts[rank as usize], self.goal.start)
    }

    /// A step that holds a processor for `time`; a plain step if the time is zero.
    fn held(&mut self, rank: u32, cpu: u32, time: Time) -> u32 {
        if time == Time::ZERO {
            return self.step(rank);
        }
        let sink = &mut *self.sink;
        let processor = *self.processors.entry((rank, cpu)).or_insert_with(|| sink.processor());
        self.sink.held_step(self.hosts[rank as usize], self.goal.start, Hold { processor, time })
    }

    fn after(&mut self, on: Milestone, then: Waiter, delay: Time) {
        self.sink.after(on, then, delay);
    }

    /// A step that comes `time` after another step; that other step itself if the time is zero.
    fn later(&mut self, rank: u32, step: u32, time: Time) -> u32 {
        if time == Time::ZERO {
            return step;
        }
        let end = self.step(rank);
        self.after(Milestone::Step(step), Waiter::Step(end), time);
        end
    }

    /// The steps of an operation, which so far wait only for each other.
    fn span(&mut self, operation: &goal::Operation) -> Span {
        let (rank, cpu, overhead) = (operation.rank, operation.cpu, self.goal.overhead);
        match operation.action {
            // What waits for its end waits for its beginning and then for its length: see `length`.
            Action::Calc { ns } => {
                let begin = self.held(rank, cpu, Time::from_ns(ns));
                Span { begin, arrival: begin, end: begin }
            }
            Action::Send { size, .. } => {
                let begin = self.held(rank, cpu, overhead);
                let end = if size <= self.goal.eager.0 {
                    self.later(rank, begin, overhead)
                } else {
                    self.step(rank)
                };
                Span { begin, arrival: begin, end }
            }
            Action::Recv { .. } => {
                let begin = self.step(rank);
                let arrival = self.held(rank, cpu, overhead);
                self.after(Milestone::Step(begin), Waiter::Step(arrival), Time::ZERO);
                let end = self.later(rank, arrival, overhead);
                Span { begin, arrival, end }
            }
        }
    }

    /// Time from the step with which an operation ends to its end.
    fn length(operation: &goal::Operation) -> Time {
        match operation.action {
            Action::Calc { ns } => Time::from_ns(ns),
            Action::Send { .. } | Action::Recv { .. } => Time::ZERO,
        }
    }

    /// Makes room for all that the schedule becomes: a step for each operation and another for each receive and each long send; a
    /// dependency for each requirement, three for a message and one more for a long one.
    fn reserve(&mut self) {
        let (mut receives, mut long) = (0, 0);
        for operation in &self.schedule.operations {
            match operation.action {
                Action::Recv { .. } => receives += 1,
                Action::Send { size, .. } if size > self.goal.eager.0 => long += 1,
                _ => {}
            }
        }
        let operations = self.schedule.operations.len();
        let dependencies = self.schedule.requirements.len() + 3 * receives + long;
        self.sink.reserve(operations + receives + long, dependencies, operations);
    }

    fn write(&mut self) {
        self.reserve();
        let schedule = self.schedule;
        let spans: Vec<Span> = schedule.operations.iter().map(|o| self.span(o)).collect();
        for r in &schedule.requirements {
            let (on, then) = (spans[r.on as usize], spans[r.then as usize]);
            let (on, delay) = if r.ended {
                (on.end, Self::length(&schedule.operations[r.on as usize]))
            } else {
                (on.begin, Time::ZERO)
            };
            self.after(Milestone::Step(on), Waiter::Step(then.begin), delay);
        }
        let kernels = ["calc", "send", "recv"].map(|name| (name, self.sink.kernel(name)));
        // By rank: operations so far.
        let mut ordinals = vec![0; schedule.ranks as usize];
        for ((o, span), &partner) in schedule.operations.iter().zip(&spans).zip(&schedule.partners) {
            let kernel = kernels.iter().find(|(name, _)| *name == o.action.word()).map_or(0, |k| k.1);
            let ordinal = &mut ordinals[o.rank as usize];
            let role = Role { kernel, process: o.rank, iteration: *ordinal };
            *ordinal += 1;
            let bytes = match o.action {
                Action::Send { size, to, .. } => {
                    self.message(o.rank, to, size, role, *span, spans[partner as usize].arrival);
                    size
                }
                _ => 0,
            };
            let (host, begin, end) = (self.hosts[o.rank as usize], span.begin, span.end);
            self.sink.operation(closed_loop::Operation { label: 0, role, ring: 0, host, bytes, begin, end });
        }
    }

    /// A message from its send to its arrival at the receiver.
    fn message(&mut self, from: u32, to: u32, size: u64, role: Role, send: Span, arrival: u32) {
        let (src, dst) = (self.hosts[from as usize], self.hosts[to as usize]);
        let (begin, overhead) = (Milestone::Step(send.begin), self.goal.overhead);
        let waits = size > self.goal.eager.0;
        if src == dst {
            let arrives = overhead.saturating_add(self.goal.local(size));
            self.after(begin, Waiter::Step(arrival), arrives);
            if waits {
                self.after(begin, Waiter::Step(send.end), arrives);
            }
            return;
        }
        let per_host = self.goal.ranks_per_host;
        let flow = self.sink.numbered(FlowSpec {
            // An empty message still takes a packet, of one byte.
            size: size.max(1).into(),
            role: Some(role),
            // The pair of ranks, among those of the two hosts: tags and processors have no connections of their own.
            connection: Some(from % per_host * per_host + to % per_host),
            ..self.sink.blank(src, dst, self.goal.start)
        });
        self.after(begin, Waiter::Flow(flow), overhead);
        self.after(Milestone::Delivered(flow), Waiter::Step(arrival), Time::ZERO);
        if waits {
            self.after(Milestone::Sent(flow), Waiter::Step(send.end), Time::ZERO);
        }
    }
}

impl Params for Goal {
    const NAME: &'static str = "goal";
    const TITLE: &'static str =
        "a parallel program's sends, receives and calculations, as a GOAL schedule has them";
    const HAS_PROCESSES: bool = true;

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let hosts = scope.hosts.resolve(&self.hosts).map_err(|fault| fault.at("hosts"))?;
        if !(1..=MAX_RANKS).contains(&self.ranks_per_host) {
            let expected = format!("a number from 1 to {MAX_RANKS}");
            return Err(Fault::bounds(self.ranks_per_host, expected).at("ranks_per_host"));
        }
        check_time(self.overhead, "overhead")?;
        check_time(self.local_delay, "local_delay")?;
        if self.local_rate == Some(Rate(0)) {
            return Err(Fault::bounds(Rate(0), "a rate above 0").at("local_rate"));
        }
        let schedule = self.read(scope).map_err(|fault| fault.at("file"))?;
        let hosts: Vec<u32> = hosts
            .iter()
            .flat_map(|&host| std::iter::repeat_n(host, self.ranks_per_host as usize))
            .take(schedule.ranks as usize)
            .collect();
        if hosts.len() < schedule.ranks as usize {
            let expected = format!("as many as `{}` has, {}", self.file, schedule.ranks);
            return Err(Fault::bounds(format!("room for {} ranks", hosts.len()), expected).at("hosts"));
        }
        let host = |operation: u32| hosts[schedule.operations[operation as usize].rank as usize];
        let flows = schedule.messages().filter(|&(send, recv)| host(send) != host(recv)).count();
        if flows == 0 {
            let value = format!("`{}`, in which no message goes from one host to another", self.file);
            return Err(Fault::bounds(value, "a schedule with such messages").at("file"));
        }
        Ok(Plan {
            flows: flows as u128,
            cause: format!("as many messages in `{}`", self.file),
            emit: Box::new(move |sink| {
                let processors = HashMap::new();
                Writer { goal: self, schedule: &schedule, hosts, processors, sink }.write();
            }),
        })
    }
}
