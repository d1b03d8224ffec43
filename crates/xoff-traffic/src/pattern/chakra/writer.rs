//! Writes a trace's nodes as flows, steps and dependencies.

use std::collections::HashMap;

use xoff_engine::Time;

use super::Chakra;
use crate::chakra::{Action, Resource, Trace};
use crate::closed_loop::{Hold, Milestone, Operation, Role, Waiter};
use crate::generate::{FlowSpec, Sink};
use crate::pattern::processes::{Process, Program};

/// The kernel of a rank's operation from the beginning of its trace to the end.
const ITERATION: &str = "iteration";

/// Maximum number of kernels of a run up to which nodes have their names in them.
const MAX_KERNELS: usize = 50_000;

pub(super) struct Writer<'a> {
    chakra: &'a Chakra,
    trace: &'a Trace,
    /// By rank.
    hosts: &'a [u32],
    sink: &'a mut Sink,
    /// By rank and resource.
    processors: HashMap<(u32, Resource), u32>,
    /// By rank: the processor that stands for its link to the other ranks of its host.
    ports: Vec<Option<u32>>,
    /// By word and number of a name.
    kernels: HashMap<(&'static str, Option<u32>), u16>,
    /// By node: the step at which it begins, and the step at which it ends or, for a node that holds a resource, begins.
    begins: Vec<u32>,
    ends: Vec<u32>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        chakra: &'a Chakra,
        trace: &'a Trace,
        hosts: &'a [u32],
        sink: &'a mut Sink,
    ) -> Writer<'a> {
        let nodes = trace.nodes.len();
        let (begins, ends) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
        let (processors, kernels) = (HashMap::new(), HashMap::new());
        let ports = vec![None; trace.ranks() as usize];
        Writer { chakra, trace, hosts, sink, processors, ports, kernels, begins, ends }
    }

    /// Makes room for what the nodes become, without that of the collectives: two steps for a rank; one for each node, two for a
    /// receive and a long send; a dependency for each of the trace, and up to five for a message with its two nodes.
    fn reserve(&mut self) {
        let (mut receives, mut long, mut operations) = (0, 0, self.trace.ranks() as usize);
        for node in &self.trace.nodes {
            match node.action {
                Action::Receive { .. } => receives += 1,
                Action::Send { size, .. } if size > self.chakra.eager.0 => long += 1,
                _ => {}
            }
            operations += usize::from(node.action != Action::Nothing);
        }
        let steps = self.trace.nodes.len() + receives + long + 2 * self.trace.ranks() as usize;
        self.sink.reserve(steps, self.trace.dependencies.len() + 3 * receives + long, operations);
    }

    pub(super) fn write(mut self) {
        self.reserve();
        for rank in 0..self.trace.ranks() {
            for node in self.nodes_of(rank) {
                self.steps(rank, node);
            }
        }
        self.collectives();
        // By node: whether another node waits for it.
        let mut waited_for = vec![false; self.trace.nodes.len()];
        self.trace.dependencies.iter().for_each(|&on| waited_for[on as usize] = true);
        for rank in 0..self.trace.ranks() {
            let start = self.step(rank);
            let end = self.step(rank);
            self.sink.after(Milestone::Step(start), Waiter::Step(end), Time::ZERO);
            for node in self.nodes_of(rank) {
                self.connect(rank, node);
                if !waited_for[node as usize] {
                    self.after_end(node, end);
                }
            }
            let kernel = self.kernel(ITERATION, None);
            let role = Role { kernel, process: rank, iteration: 0 };
            self.operation(rank, role, 0, (start, end));
        }
    }

    fn nodes_of(&self, rank: u32) -> std::ops::Range<u32> {
        self.trace.first[rank as usize]..self.trace.first[rank as usize + 1]
    }

    fn step(&mut self, rank: u32) -> u32 {
        self.sink.step(self.hosts[rank as usize], self.chakra.start)
    }

    /// Adds a node's steps, which so far wait for nothing.
    fn steps(&mut self, rank: u32, node: u32) {
        let (begin, end) = match self.trace.nodes[node as usize].action {
            Action::Busy { on, time } => {
                let sink = &mut *self.sink;
                let processor = *self.processors.entry((rank, on)).or_insert_with(|| sink.processor());
                let hold = Hold { processor, time };
                let step = self.sink.held_step(self.hosts[rank as usize], self.chakra.start, hold);
                (step, step)
            }
            Action::Send { size, .. } if size > self.chakra.eager.0 => (self.step(rank), self.step(rank)),
            Action::Receive { .. } => (self.step(rank), self.step(rank)),
            // A collective ends where `collectives` says.
            Action::Nothing | Action::Send { .. } | Action::Collective(_) => {
                let step = self.step(rank);
                (step, step)
            }
        };
        self.begins.push(begin);
        self.ends.push(end);
    }

    /// Lets a step wait for the end of a node.
    fn after_end(&mut self, node: u32, step: u32) {
        let delay = match self.trace.nodes[node as usize].action {
            Action::Busy { time, .. } => time,
            _ => Time::ZERO,
        };
        self.sink.after(Milestone::Step(self.ends[node as usize]), Waiter::Step(step), delay);
    }

    /// Writes all collectives, and where they end.
    fn collectives(&mut self) {
        let trace = self.trace;
        for collective in &trace.collectives {
            let members = trace.members_of(collective);
            let ranks = &trace.groups[collective.group as usize].ranks;
            let word = collective.kind.name();
            let kernel = self.kernel(word, trace.name_of(members[0]));
            let process = |(&rank, &node): (&u32, &u32)| Process {
                host: self.hosts[rank as usize],
                number: rank,
                slice: rank % self.chakra.ranks_per_host,
                at: self.begins[node as usize],
                port: self.ports[rank as usize],
                nic: None,
            };
            let mut processes: Vec<Process> = ranks.iter().zip(members).map(process).collect();
            let mut program = Program {
                sink: &mut *self.sink,
                start: self.chakra.start,
                overhead: self.chakra.overhead,
                eager: self.chakra.eager.0,
                background: false,
                kernel,
                iteration: members[0] - trace.first[ranks[0] as usize],
            };
            program.collective(&mut processes, &self.chakra.spec(collective, ranks.len()));
            for (process, &node) in processes.iter().zip(members) {
                self.ports[process.number as usize] = process.port;
                self.ends[node as usize] = process.at;
            }
        }
    }

    /// Lets a node wait for what it waits for, and writes its message and its operation.
    fn connect(&mut self, rank: u32, node: u32) {
        let trace = self.trace;
        let (begin, end) = (self.begins[node as usize], self.ends[node as usize]);
        trace.waits_for(node).iter().for_each(|&on| self.after_end(on, begin));
        let (word, bytes) = match trace.nodes[node as usize].action {
            Action::Nothing | Action::Collective(_) => return,
            Action::Busy { on: Resource::Gpu, .. } => ("compute", 0),
            Action::Busy { on: Resource::Cpu, .. } => ("cpu", 0),
            Action::Busy { on: Resource::Memory, .. } => ("memory", 0),
            Action::Busy { on: Resource::Storage, .. } => ("storage", 0),
            Action::Send { size, .. } => ("send", size),
            Action::Receive { .. } => ("recv", 0),
        };
        let kernel = self.kernel(word, trace.name_of(node));
        let role = Role { kernel, process: rank, iteration: node - trace.first[rank as usize] };
        match trace.nodes[node as usize].action {
            Action::Send { size, to, .. } => self.message((rank, to), size, role, node),
            Action::Receive { .. } => self.sink.after(Milestone::Step(begin), Waiter::Step(end), Time::ZERO),
            _ => {}
        }
        self.operation(rank, role, bytes, (begin, end));
    }

    /// A message from its send to its arrival at the receiver.
    fn message(&mut self, (from, to): (u32, u32), size: u64, role: Role, send: u32) {
        let (src, dst) = (self.hosts[from as usize], self.hosts[to as usize]);
        let begin = Milestone::Step(self.begins[send as usize]);
        let arrival = Waiter::Step(self.ends[self.trace.partners[send as usize] as usize]);
        let sent = (size > self.chakra.eager.0).then_some(Waiter::Step(self.ends[send as usize]));
        if src == dst {
            let transfer = self.chakra.local_rate.map_or(Time::ZERO, |rate| rate.time_for(size));
            let arrives = self.chakra.local_delay.saturating_add(transfer);
            self.sink.after(begin, arrival, arrives.saturating_add(self.chakra.overhead));
            if let Some(sent) = sent {
                self.sink.after(begin, sent, arrives);
            }
            return;
        }
        let per_host = self.chakra.ranks_per_host;
        let flow = self.sink.numbered(FlowSpec {
            // An empty message still takes a packet, of one byte.
            size: size.max(1).into(),
            role: Some(role),
            connection: Some(self.pair(from % per_host, to % per_host)),
            ..self.sink.blank(src, dst, self.chakra.start)
        });
        self.sink.after(begin, Waiter::Flow(flow), Time::ZERO);
        self.sink.after(Milestone::Delivered(flow), arrival, self.chakra.overhead);
        if let Some(sent) = sent {
            self.sink.after(Milestone::Sent(flow), sent, Time::ZERO);
        }
    }

    /// The number of a pair of ranks among those of two hosts, apart from the connections of collectives.
    fn pair(&self, from: u32, to: u32) -> u32 {
        u32::MAX - (from * self.chakra.ranks_per_host + to)
    }

    fn operation(&mut self, rank: u32, role: Role, bytes: u64, (begin, end): (u32, u32)) {
        let host = self.hosts[rank as usize];
        self.sink.operation(Operation { label: 0, role, ring: 0, host, bytes, begin, end });
    }

    /// The kernel of nodes with this word and name: both, or the word alone if names are not kept.
    fn kernel(&mut self, word: &'static str, name: Option<u32>) -> u16 {
        let (sink, trace) = (&mut *self.sink, self.trace);
        *self.kernels.entry((word, name)).or_insert_with(|| {
            let name = name.map(|name| trace.names[name as usize].as_str());
            match name.filter(|name| !name.is_empty() && sink.kernels() < MAX_KERNELS) {
                Some(name) => sink.kernel(&format!("{word}: {name}")),
                None => sink.kernel(word),
            }
        })
    }
}
