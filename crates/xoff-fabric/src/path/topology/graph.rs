//! Any network, as a list of nodes and links: in the scenario or in a file of its own.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::spelling::shortened;
use xoff_engine::{Rate, Time};

use super::builder::Builder;
use super::names::Nearest;
use super::registry::TopologyKind;
use super::{Link, NodeId, NodeKind, Size, Topology, TopologyError};

/// Kind of a listed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphNodeKind {
    /// Sends and receives flows. Each of its links is a NIC, numbered from 0 in the order of `links`.
    Host,
    /// Forwards packets.
    Switch,
}

/// A listed node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphNode {
    /// Unique name.
    pub name: String,
    /// Host or switch.
    pub kind: GraphNodeKind,
}

/// A listed link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Rate from `a` to `b`, in bits a second.
    pub rate: Rate,
    /// Propagation delay from `a` to `b`.
    pub delay: Time,
    /// Rate from `b` to `a`, in bits a second; without it, `rate`.
    #[serde(default)]
    pub rate_back: Option<Rate>,
    /// Propagation delay from `b` to `a`; without it, `delay`.
    #[serde(default)]
    pub delay_back: Option<Time>,
}

/// Nodes in the order of `nodes`, then `hosts`, then `switches`; links in the order of `links`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Graph {
    /// A file of TOML or JSON with the lists below, instead of them; relative to the scenario.
    pub file: Option<String>,
    /// Nodes with their kinds.
    pub nodes: Vec<GraphNode>,
    /// Names of hosts, beside those in `nodes`.
    pub hosts: Vec<String>,
    /// Names of switches, beside those in `nodes`.
    pub switches: Vec<String>,
    /// Links.
    pub links: Vec<GraphLink>,
}

impl Graph {
    /// The graph in a text of TOML or, if the text begins with a brace, of JSON.
    pub fn from_text(text: &str) -> Result<Graph, TopologyError> {
        // No TOML document begins with a brace.
        let graph: Result<Graph, String> = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| shortened(&e.to_string(), MAX_ECHO))
        } else {
            toml::from_str(text).map_err(|e| reason(text, &e))
        };
        graph.map_err(|reason| TopologyError::Text { reason })
    }

    /// The graph itself if it is listed; if it names a file, the graph in the text that `read` gives for that file.
    pub fn resolve(self, read: impl FnOnce(&str) -> Result<String, String>) -> Result<Graph, TopologyError> {
        let Some(file) = self.file else { return Ok(self) };
        if !(self.nodes.is_empty()
            && self.hosts.is_empty()
            && self.switches.is_empty()
            && self.links.is_empty())
        {
            return Err(TopologyError::FileAndLists { file });
        }
        let failed = |file: String, reason: String| TopologyError::File { file, reason };
        let text = read(&file).map_err(|reason| failed(file.clone(), reason))?;
        match Graph::from_text(&text) {
            Ok(Graph { file: Some(other), .. }) => Err(failed(
                file,
                format!("it refers to another file, `{other}`, and must list nodes and links"),
            )),
            Err(TopologyError::Text { reason }) => Err(failed(file, reason)),
            other => other,
        }
    }

    /// All nodes' names and kinds, in order.
    fn all_nodes(&self) -> impl Iterator<Item = (&str, NodeKind)> {
        let kind = |k| match k {
            GraphNodeKind::Host => NodeKind::Host,
            GraphNodeKind::Switch => NodeKind::Switch,
        };
        let named = self.nodes.iter().map(move |n| (n.name.as_str(), kind(n.kind)));
        let hosts = self.hosts.iter().map(|n| (n.as_str(), NodeKind::Host));
        let switches = self.switches.iter().map(|n| (n.as_str(), NodeKind::Switch));
        named.chain(hosts).chain(switches)
    }
}

/// Maximum length of a parser's message, in characters: it quotes what it has found.
const MAX_ECHO: usize = 300;

/// What is wrong with a text and in which line, without the line itself: a file may be anything.
fn reason(text: &str, error: &toml::de::Error) -> String {
    let line =
        error.span().map(|span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
    match line {
        Some(line) => format!("line {line}: {}", shortened(error.message(), MAX_ECHO)),
        None => shortened(error.message(), MAX_ECHO),
    }
}

impl Topology {
    /// The topology's nodes and links, listed in their order, from which the same network can be built again.
    pub fn listed(&self) -> Graph {
        let name = |node: NodeId| self.nodes[node.index()].name.clone();
        let kind = |kind| match kind {
            NodeKind::Host => GraphNodeKind::Host,
            NodeKind::Switch => GraphNodeKind::Switch,
        };
        let link = |l: &Link| GraphLink {
            a: name(l.a),
            b: name(l.b),
            rate: l.rate_ab,
            delay: l.delay_ab,
            rate_back: (l.rate_ba != l.rate_ab).then_some(l.rate_ba),
            delay_back: (l.delay_ba != l.delay_ab).then_some(l.delay_ba),
        };
        Graph {
            nodes: self
                .nodes
                .iter()
                .map(|n| GraphNode { name: n.name.clone(), kind: kind(n.kind) })
                .collect(),
            links: self.links.iter().map(link).collect(),
            ..Graph::default()
        }
    }
}

impl TopologyKind for Graph {
    const NAME: &'static str = "graph";
    const TITLE: &'static str = "Any nodes and links, listed";
    const SOURCE: &'static str = "the scenario's author";

    fn size(&self) -> Result<Size, TopologyError> {
        let nodes = self.all_nodes().count() as u128;
        let hosts: HashSet<&str> =
            self.all_nodes().filter(|(_, kind)| *kind == NodeKind::Host).map(|(name, _)| name).collect();
        let ends = self.links.iter().flat_map(|link| [(&link.a, &link.b), (&link.b, &link.a)]);
        let beside = ends.filter(|(a, b)| hosts.contains(a.as_str()) && !hosts.contains(b.as_str()));
        let switches: HashSet<&str> = beside.map(|(_, switch)| switch.as_str()).collect();
        let count = hosts.len() as u128;
        Size::new(count, nodes - count, self.links.len() as u128, switches.len() as u128)
    }

    fn build(&self) -> Result<Topology, TopologyError> {
        if let Some(file) = &self.file {
            return Err(TopologyError::Unread { file: file.clone() });
        }
        let mut b = Builder::new(self.size()?);
        let mut by_name: HashMap<&str, NodeId> = HashMap::new();
        for (name, kind) in self.all_nodes() {
            // Two nodes with one name are refused by the validation below.
            by_name.insert(name, b.node(name.to_string(), kind));
        }
        let find = |link: usize, end: char, name: &str| {
            by_name.get(name).copied().ok_or_else(|| TopologyError::UnknownNode {
                link,
                end,
                name: name.to_string(),
                nearest: Nearest::of(name, self.all_nodes().map(|(n, _)| n)),
            })
        };
        for (i, link) in self.links.iter().enumerate() {
            b.any_link(Link {
                a: find(i, 'a', &link.a)?,
                b: find(i, 'b', &link.b)?,
                rate_ab: link.rate,
                rate_ba: link.rate_back.unwrap_or(link.rate),
                delay_ab: link.delay,
                delay_ba: link.delay_back.unwrap_or(link.delay),
            });
        }
        b.finish()
    }
}
