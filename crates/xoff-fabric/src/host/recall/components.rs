//! Components: groups of connections whose messages can affect each other.
//!
//! Two connections are of one component from the moment when data or ACKs of both have passed one port, or one switch whose
//! ports share its memory; and from the beginning if messages of one wait for messages of the other, by however many others.
//! Components only grow. What happens in one of them changes nothing in another.

use std::collections::HashMap;

use petgraph::unionfind::UnionFind;
use xoff_engine::Time;

use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;
use crate::settings::Order;

/// No connection has come to a place.
const NOBODY: u32 = u32::MAX;

/// What is known of a component's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Component {
    /// When data of two of its messages first met at a port.
    pub met: Option<Time>,
    /// Some of its messages were recalled since the run was last the plain run.
    pub has_recalled: bool,
    /// An estimated error was beyond the tolerance.
    pub is_doubtful: bool,
    /// Ready messages are recalled, as soon as connections have started `from` messages.
    pub recalls: bool,
    pub from: u32,
    /// What was learned in earlier epochs has to be confirmed.
    pub epoch: u32,
    /// Messages under way that are simulated and whose like is not ready.
    pub unready: usize,
    /// Messages under way that began below the line rate, to which earlier notifications had brought their senders.
    pub slowed: usize,
    /// When the last one of these ended.
    pub slowed_until: Time,
}

impl Component {
    /// Its messages met after some were recalled, so that they may go on in another way than those of the plain run.
    pub fn is_uncertain(&self) -> bool {
        self.met.is_some() && self.has_recalled
    }

    /// Whether some message sent below the line rate after a time, so that nobody knows how many ACKs it got.
    pub fn is_slowed_after(&self, time: Time) -> bool {
        self.slowed > 0 || self.slowed_until > time
    }

    fn with(self, other: Component) -> Component {
        let recalls = self.recalls & other.recalls;
        Component {
            met: [self.met, other.met].into_iter().flatten().min(),
            has_recalled: self.has_recalled | other.has_recalled,
            is_doubtful: self.is_doubtful | other.is_doubtful,
            recalls,
            // Where one recalled messages and the other did not, none recalls any.
            from: if recalls { self.from.max(other.from) } else { 0 },
            epoch: self.epoch.max(other.epoch),
            unready: self.unready + other.unready,
            slowed: self.slowed + other.slowed,
            slowed_until: self.slowed_until.max(other.slowed_until),
        }
    }
}

/// How far what passes a port reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reach {
    Port,
    /// The ports of a switch share its memory.
    Switch,
    /// Ports take random numbers in turn, or an event's place follows from all events before it.
    Network,
}

impl Reach {
    fn of(net: &Network) -> Reach {
        let settings = &net.settings;
        if settings.quirks.marking_stream.is_some() || settings.quirks.order == Order::Scheduled {
            Reach::Network
        } else if net.shares_memory() {
            Reach::Switch
        } else {
            Reach::Port
        }
    }
}

/// The components of a run.
pub(super) struct Components {
    sets: UnionFind<u32>,
    /// By connection: its component's, if the connection stands for it.
    of: Vec<Component>,
    /// By connection: the ports of its route are known to be its component's.
    joined: Vec<bool>,
    reach: Reach,
    /// By port, then by node, and one place for the network: a connection that has come there.
    seen: Vec<u32>,
}

impl Components {
    /// Connections whose messages wait for each other are of one component.
    pub fn new(net: &Network, connections: usize) -> Components {
        let places = net.topology.ports() as usize + net.topology.nodes.len() + 1;
        let mut all = Components {
            sets: UnionFind::new(connections),
            of: vec![Component::default(); connections],
            joined: vec![false; connections],
            reach: Reach::of(net),
            seen: vec![NOBODY; places],
        };
        let mut first = HashMap::new();
        for (flow, program) in FlowId::all(net.flows.len()).zip(net.dependencies.components()) {
            let connection = net.connections.of(flow).0;
            if let Some(known) = first.insert(program, connection) {
                all.sets.union(known, connection);
            }
        }
        all
    }

    /// Whether the ports of a switch share its memory.
    pub fn share_memory(&self) -> bool {
        self.reach == Reach::Switch
    }

    fn place(&self, connection: ConnectionId) -> usize {
        self.sets.find(connection.0) as usize
    }

    /// A connection's component.
    pub fn get(&self, connection: ConnectionId) -> &Component {
        &self.of[self.place(connection)]
    }

    /// See [`Components::get`].
    pub fn get_mut(&mut self, connection: ConnectionId) -> &mut Component {
        let place = self.sets.find_mut(connection.0) as usize;
        &mut self.of[place]
    }

    /// Whether two connections are of one component.
    pub fn is_one(&self, a: ConnectionId, b: ConnectionId) -> bool {
        self.sets.equiv(a.0, b.0)
    }

    /// What is recalled from now on is the first.
    pub fn forget_recalled(&mut self) {
        self.of.iter_mut().for_each(|component| component.has_recalled = false);
    }

    /// Messages are recalled by other rules from now on: all must be simulated before.
    pub fn start_anew(&mut self) {
        for component in &mut self.of {
            (component.recalls, component.from) = (false, 0);
        }
    }

    /// Routing has changed: connections come to other ports with their next messages.
    pub fn forget_ports(&mut self) {
        self.joined.fill(false);
    }

    /// A message of a connection starts at time `at`: whatever has passed its ports before is of its component.
    pub fn join(&mut self, net: &Network, connection: ConnectionId, at: Time) {
        if std::mem::replace(&mut self.joined[connection.index()], true) {
            return;
        }
        let flow = net.connections.first_message(connection);
        let ports = net.topology.ports() as usize;
        let whole = ports + net.topology.nodes.len();
        for port in net.data_path_at(flow, at).iter().copied().chain(net.ack_path_at(flow, at).iter()) {
            let place = match self.reach {
                Reach::Port => port.index(),
                Reach::Switch if net.is_host(net.topology.node_of(port)) => port.index(),
                Reach::Switch => ports + net.topology.node_of(port).index(),
                Reach::Network => whole,
            };
            let before = std::mem::replace(&mut self.seen[place], connection.0);
            if before != NOBODY {
                self.unite(before, connection.0);
            }
        }
    }

    /// Makes one component of two.
    fn unite(&mut self, a: u32, b: u32) {
        let [a, b] = [a, b].map(|connection| self.sets.find_mut(connection));
        if !self.sets.union(a, b) {
            return;
        }
        let [one, other] = [a, b].map(|place| self.of[place as usize]);
        let place = self.sets.find_mut(a) as usize;
        self.of[place] = one.with(other);
    }
}
