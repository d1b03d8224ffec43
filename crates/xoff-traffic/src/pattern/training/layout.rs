//! Which rank is on which host, and which ranks form which groups.
//!
//! Ranks are numbered as in Megatron-LM: tensor parallelism first, so that ranks that share a layer are neighbours, then data
//! parallelism, then the stages of the pipeline.

use xoff_engine::NicChoice;

use super::{Placement, Training};
use crate::draw;
use crate::error::{Fault, Misfit, shown};
use crate::generate::Scope;

/// Where the ranks are.
pub(super) struct Layout {
    tensor: u32,
    data: u32,
    expert: u32,
    /// By rank: its host.
    hosts: Vec<u32>,
    /// By rank: its place among the ranks of its host.
    places: Vec<u32>,
    /// By rank: the NIC by which it sends; empty if the placement does not say.
    nics: Vec<u32>,
}

impl Layout {
    /// Places the ranks of `training`.
    pub(super) fn new(training: &Training, scope: &Scope<'_>) -> Result<Layout, Misfit> {
        let allowed = scope.hosts.resolve(&training.hosts).map_err(|fault| fault.at("hosts"))?;
        let (ranks, each) = (training.ranks(), u64::from(training.ranks_per_host));
        let room = allowed.len() as u64 * each;
        if ranks > room {
            let found = format!("room for {room} ranks, {each} on each of {} hosts", allowed.len());
            let expected = format!("room for the {ranks} ranks of tensor, pipeline and data parallelism");
            return Err(Fault::bounds(found, expected).at("hosts"));
        }
        let hosts = match training.placement {
            Placement::File => listed(training, &allowed, scope)?,
            placement => {
                let mut order = allowed;
                if placement == Placement::Random {
                    let count = order.len();
                    draw::choose(&mut scope.stream(), &mut order, count);
                }
                if placement == Placement::RailAware {
                    order.sort_by_key(|&host| scope.hosts.rack(host));
                }
                (0..ranks).map(|rank| order[(rank / each) as usize]).collect()
            }
        };
        let mut on_host = std::collections::BTreeMap::new();
        let places = hosts.iter().map(|&host| {
            let next = on_host.entry(host).or_insert(0);
            *next += 1;
            *next - 1
        });
        let places: Vec<u32> = places.collect();
        let nics = match training.placement {
            Placement::RailAware => {
                let of = |(&host, &place): (&u32, &u32)| place % scope.hosts.nics(host).max(1);
                hosts.iter().zip(&places).map(of).collect()
            }
            _ => vec![],
        };
        let (tensor, data, expert) = (training.tensor, training.data, training.expert);
        Ok(Layout { tensor, data, expert, hosts, places, nics })
    }

    /// The number of ranks.
    pub(super) fn len(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// A rank's host.
    pub(super) fn host(&self, rank: u32) -> u32 {
        self.hosts[rank as usize]
    }

    /// The hosts of some ranks.
    pub(super) fn hosts_of(&self, ranks: &[u32]) -> Vec<u32> {
        ranks.iter().map(|&rank| self.host(rank)).collect()
    }

    /// A rank's place among those of its host.
    pub(super) fn place(&self, rank: u32) -> u32 {
        self.places[rank as usize]
    }

    /// The NIC by which a rank sends; `None` if the placement does not say.
    pub(super) fn nic(&self, rank: u32) -> Option<NicChoice> {
        self.nics.get(rank as usize).map(|&nic| NicChoice::Nic(nic))
    }

    /// Ranks of a pipeline stage.
    pub(super) fn stage_size(&self) -> u32 {
        self.tensor * self.data
    }

    /// The ranks that share a layer with `rank`, itself among them.
    pub(super) fn sharers(&self, rank: u32) -> Vec<u32> {
        let first = rank / self.tensor * self.tensor;
        (first..first + self.tensor).collect()
    }

    /// The ranks that have the same part of the model as `rank`, itself among them.
    pub(super) fn replicas(&self, rank: u32) -> Vec<u32> {
        let stage = rank / self.stage_size() * self.stage_size();
        (0..self.data).map(|replica| stage + replica * self.tensor + rank % self.tensor).collect()
    }

    /// The replicas among which the experts of `rank` are divided, itself among them.
    pub(super) fn expert_group(&self, rank: u32) -> Vec<u32> {
        let replicas = self.replicas(rank);
        let own = rank / self.tensor % self.data / self.expert;
        replicas.chunks(self.expert as usize).nth(own as usize).map(<[u32]>::to_vec).unwrap_or_default()
    }

    /// The replicas that have the same experts as `rank`, itself among them.
    pub(super) fn expert_replicas(&self, rank: u32) -> Vec<u32> {
        let own = rank / self.tensor % self.data % self.expert;
        self.replicas(rank).into_iter().skip(own as usize).step_by(self.expert as usize).collect()
    }

    /// Whether all of them are on one host.
    pub(super) fn is_one_host(&self, ranks: &[u32]) -> bool {
        ranks.iter().all(|&rank| self.host(rank) == self.host(ranks[0]))
    }
}

/// The hosts of a file, one for each rank.
fn listed(training: &Training, allowed: &[u32], scope: &Scope<'_>) -> Result<Vec<u32>, Misfit> {
    let path = training.placement_file.clone().unwrap_or_default();
    let at = |fault: Fault| fault.at("placement_file");
    let text = scope.files.text(&path).map_err(|error| at(Fault::file(&path, &error)))?;
    let wrong = |line: usize, word: &str, fault: Fault| {
        at(Fault::Line { path: path.clone(), line, column: shown(word), fault: Box::new(fault) })
    };
    let mut hosts = Vec::new();
    let mut taken = std::collections::BTreeMap::<u32, u32>::new();
    for (number, line) in (1..).zip(text.lines()) {
        let name = line.split('#').next().unwrap_or_default().trim();
        if name.is_empty() {
            continue;
        }
        let host = scope.hosts.find(name).map_err(|fault| wrong(number, name, fault))?;
        if !allowed.contains(&host) {
            return Err(wrong(number, name, Fault::bounds("not among the job's `hosts`", "one of these")));
        }
        let ranks = taken.entry(host).or_insert(0);
        *ranks += 1;
        if *ranks > training.ranks_per_host {
            let expected = format!("at most {} ranks on a host (`ranks_per_host`)", training.ranks_per_host);
            return Err(wrong(number, name, Fault::bounds(format!("there {ranks} times"), expected)));
        }
        hosts.push(host);
    }
    if hosts.len() as u64 != training.ranks() {
        let found = format!("`{path}`, with {} hosts", hosts.len());
        return Err(at(Fault::bounds(found, format!("a host for each of the {} ranks", training.ranks()))));
    }
    Ok(hosts)
}
