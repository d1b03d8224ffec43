//! The Jellyfish: a random regular graph of switches.
//!
//! Singla, Hong, Popa and Godfrey, "Jellyfish: Networking Data Centers Randomly", NSDI 2012, Section 3: random pairs of switches
//! that have free ports and no link yet are linked until no such pair is left; if a switch then has two or more free ports, a
//! random link between two others is removed and both of these are linked with the switch. A graph in pieces is drawn anew.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Domain, Rate, Stream, Time, stream};

use super::builder::{Builder, at_least};
use super::registry::TopologyKind;
use super::{NodeKind, Size, Topology, TopologyError};

/// Draws of a graph before it is given up as one that is always in pieces.
const MAX_DRAWS: u64 = 100;

/// Hosts `host0`, ..., numbered switch by switch, and switches `switch0`, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Jellyfish {
    /// Switches; at least 3.
    pub switches: u32,
    /// Links of each switch to others (r); at least 2 and below `switches`. If both numbers are odd, one switch has one less.
    pub degree: u32,
    /// Hosts on each switch; at least 1.
    pub hosts_per_switch: u32,
    /// Seed of the graph: the same seed gives the same network, whatever the seed of the run.
    pub seed: u64,
    /// Rate of the links that have no rate of their own below, in bits a second.
    pub rate: Rate,
    /// Rate between hosts and switches, in bits a second; without it, `rate`.
    pub host_rate: Option<Rate>,
    /// Propagation delay of the links that have no delay of their own below.
    pub delay: Time,
    /// Propagation delay between hosts and switches; without it, `delay`.
    pub host_delay: Option<Time>,
}

impl Default for Jellyfish {
    fn default() -> Self {
        Jellyfish {
            switches: 20,
            degree: 4,
            hosts_per_switch: 2,
            seed: 1,
            rate: Rate::from_gbps(100),
            host_rate: None,
            delay: Time::from_ns(500),
            host_delay: None,
        }
    }
}

impl TopologyKind for Jellyfish {
    const NAME: &'static str = "jellyfish";
    const TITLE: &'static str = "A random graph of switches with the same number of links each";
    const SOURCE: &'static str = "Singla, Hong, Popa, Godfrey, NSDI 2012, Section 3";

    fn size(&self) -> Result<Size, TopologyError> {
        at_least("switches", self.switches, 3)?;
        at_least("degree", self.degree, 2)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        if self.degree >= self.switches {
            return Err(TopologyError::TooMany { key: "degree", got: self.degree, max: self.switches - 1 });
        }
        let switches = u128::from(self.switches);
        let hosts = switches * u128::from(self.hosts_per_switch);
        Size::new(hosts, switches, hosts + switches * u128::from(self.degree) / 2, switches)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        let size = self.size()?;
        let links = (0..MAX_DRAWS).map(|draw| random_links(self.switches, self.degree, self.seed, draw));
        let links = links.into_iter().find(|links| is_connected(self.switches, links)).unwrap_or_default();
        let mut b = Builder::new(size);
        let hosts = self.switches * self.hosts_per_switch;
        let host = b.nodes("host", 0, hosts, NodeKind::Host);
        let switch = b.nodes("switch", 0, self.switches, NodeKind::Switch);
        let (rate, delay) = (self.host_rate.unwrap_or(self.rate), self.host_delay.unwrap_or(self.delay));
        for h in 0..hosts {
            b.link(host + h, switch + h / self.hosts_per_switch, rate, delay);
        }
        for (a, z) in links {
            b.link(switch + a, switch + z, self.rate, self.delay);
        }
        b.finish()
    }
}

/// The links of a random graph, each from the lower to the higher number, ascending.
fn random_links(switches: u32, degree: u32, seed: u64, draw: u64) -> Vec<(u32, u32)> {
    let mut random = stream(seed, Domain::Topology, draw);
    let mut graph = Draw { linked: vec![Vec::new(); switches as usize], degree };
    // Switches with free ports.
    let mut open: Vec<u32> = (0..switches).collect();
    loop {
        open.retain(|&s| graph.free(s) > 0);
        if !graph.has_open_pair(&open) {
            match open.iter().copied().find(|&s| graph.free(s) >= 2) {
                Some(lone) if graph.break_in(lone, &mut random) => continue,
                _ => return graph.links(),
            }
        }
        let pick = |random: &mut Stream| open[below(open.len(), random)];
        let (a, z) = (pick(&mut random), pick(&mut random));
        if a != z && !graph.linked[a as usize].contains(&z) {
            graph.link(a, z);
        }
    }
}

/// A graph that is being drawn.
struct Draw {
    /// By switch: the switches that it is linked with.
    linked: Vec<Vec<u32>>,
    degree: u32,
}

impl Draw {
    fn free(&self, switch: u32) -> u32 {
        self.degree - self.linked[switch as usize].len() as u32
    }

    /// Whether two of these switches have no link.
    fn has_open_pair(&self, open: &[u32]) -> bool {
        // A switch has at most `degree` links, so of many switches some have none with each other.
        if open.len() > self.degree as usize + 1 {
            return true;
        }
        let mut pairs =
            open.iter().enumerate().flat_map(|(i, &a)| open[i + 1..].iter().map(move |&z| (a, z)));
        pairs.any(|(a, z)| !self.linked[a as usize].contains(&z))
    }

    fn link(&mut self, a: u32, z: u32) {
        self.linked[a as usize].push(z);
        self.linked[z as usize].push(a);
    }

    /// Puts a switch in the middle of a random link between two switches that it has no link with; `false` if there is none.
    fn break_in(&mut self, lone: u32, random: &mut Stream) -> bool {
        let strange = |s: u32| s != lone && !self.linked[lone as usize].contains(&s);
        let links: Vec<_> = self.links().into_iter().filter(|&(a, z)| strange(a) && strange(z)).collect();
        if links.is_empty() {
            return false;
        }
        let (a, z) = links[below(links.len(), random)];
        self.linked[a as usize].retain(|&s| s != z);
        self.linked[z as usize].retain(|&s| s != a);
        self.link(a, lone);
        self.link(lone, z);
        true
    }

    fn links(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = (0..)
            .zip(&self.linked)
            .flat_map(|(a, linked)| linked.iter().filter(move |&&z| a < z).map(move |&z| (a, z)))
            .collect();
        all.sort_unstable();
        all
    }
}

/// A random number below `count`.
fn below(count: usize, random: &mut Stream) -> usize {
    ((u64::from(random.next_u32()) * count as u64) >> 32) as usize
}

fn is_connected(switches: u32, links: &[(u32, u32)]) -> bool {
    let mut linked = vec![Vec::new(); switches as usize];
    for &(a, z) in links {
        linked[a as usize].push(z);
        linked[z as usize].push(a);
    }
    let (mut seen, mut reached) = (vec![false; switches as usize], vec![0]);
    while let Some(at) = reached.pop() {
        if !std::mem::replace(&mut seen[at as usize], true) {
            reached.extend(&linked[at as usize]);
        }
    }
    seen.into_iter().all(|seen| seen)
}
