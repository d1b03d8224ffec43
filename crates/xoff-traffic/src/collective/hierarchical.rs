//! Hierarchical collectives: within each host over its local links, and between hosts among the ranks of equal place.
//!
//! Sources: an all-reduce is a reduce-scatter within each host, an all-reduce of each part between hosts, and an all-gather
//! within each host, as in NCCL's rings over rails and in ASTRA-sim's multi-dimensional collectives (W. Won et al.,
//! "ASTRA-sim2.0", ISPASS 2023, section III; S. Rashidi et al., "Themis", ISCA 2022, section 2.3). An all-to-all first gives
//! data to the rank of its host that has the receiver's place (NCCL's PXN: S. Jeaugey, "Doubling all2all Performance with NVIDIA
//! Collective Communication Library 2.12", 2022). Within a host every rank sends straight to every other one, as through
//! NVSwitch.
//!
//! Block p of an all-gather or reduce-scatter belongs to the rank of place p / m at host p % m, of m hosts.

use super::direct::{self, joined};
use super::lane::{Events, Group, Wire};
use super::spec::between_hosts;
use super::{CollectiveAlgorithm, CollectiveKind, tree};

/// The ranks by host, each in order.
pub(super) struct Hosts<'a> {
    pub(super) ranks: &'a [Vec<usize>],
    /// The algorithm between hosts, and the number of its blocks.
    pub(super) across: CollectiveAlgorithm,
    pub(super) pieces: usize,
}

impl Hosts<'_> {
    /// The number of ranks of each host.
    fn places(&self) -> usize {
        self.ranks.first().map_or(0, Vec::len)
    }
}

/// The events of some ranks, taken out of those of all.
fn taken<E>(events: &mut Events<E>, members: &[usize]) -> Events<E> {
    members.iter().map(|&rank| std::mem::take(&mut events[rank])).collect()
}

fn put<E>(events: &mut Events<E>, members: &[usize], own: Events<E>) {
    members.iter().zip(own).for_each(|(&rank, own)| events[rank] = own);
}

/// Runs `algorithm` among the ranks of each host.
fn within<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    (hosts, unit): (&Hosts<'_>, usize),
    events: &mut Events<W::Event>,
    algorithm: impl Fn(&mut W, &Group<'_>, Events<W::Event>) -> Events<W::Event>,
) {
    for members in hosts.ranks {
        let inner = Group { members, unit, ..*group };
        let own = taken(events, members);
        let own = algorithm(wire, &inner, own);
        let own = joined(wire, &inner, own);
        put(events, members, own);
    }
}

/// Runs `kind` between the hosts, for each place among its ranks; the blocks of a place begin at its number times `pieces`.
fn across<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    (hosts, kind, root): (&Hosts<'_>, CollectiveKind, usize),
    events: &mut Events<W::Event>,
) {
    for place in 0..hosts.places() {
        let members: Vec<usize> = hosts.ranks.iter().map(|ranks| ranks[place]).collect();
        let rail = Group { members: &members, base: place * hosts.pieces, unit: 1, ..*group };
        let own = taken(events, &members);
        let own = between_hosts(wire, &rail, (kind, hosts.across, root), own);
        let own = joined(wire, &rail, own);
        put(events, &members, own);
    }
}

pub(super) fn all_reduce<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>) {
    let mut events = group.no_events();
    let unit = hosts.pieces;
    within(wire, group, (hosts, unit), &mut events, direct::reduce_scatter);
    across(wire, group, (hosts, CollectiveKind::AllReduce, 0), &mut events);
    within(wire, group, (hosts, unit), &mut events, direct::all_gather);
}

pub(super) fn all_gather<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>) {
    let mut events = group.no_events();
    across(wire, group, (hosts, CollectiveKind::AllGather, 0), &mut events);
    within(wire, group, (hosts, hosts.pieces), &mut events, direct::all_gather);
}

pub(super) fn reduce_scatter<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>) {
    let mut events = group.no_events();
    within(wire, group, (hosts, hosts.pieces), &mut events, direct::reduce_scatter);
    across(wire, group, (hosts, CollectiveKind::ReduceScatter, 0), &mut events);
}

/// The first rank of each host, or the root on its host; and the root's place among these.
fn leaders(hosts: &Hosts<'_>, root: usize) -> (Vec<usize>, usize) {
    let leader = |ranks: &Vec<usize>| if ranks.contains(&root) { root } else { ranks[0] };
    let leaders: Vec<usize> = hosts.ranks.iter().map(leader).collect();
    let place = leaders.iter().position(|&rank| rank == root).unwrap_or(0);
    (leaders, place)
}

/// Runs `algorithm` within each host, towards its leader or from it.
fn with_leaders<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    (hosts, leaders): (&Hosts<'_>, &[usize]),
    events: &mut Events<W::Event>,
    algorithm: impl Fn(&mut W, &Group<'_>, usize, Events<W::Event>) -> Events<W::Event>,
) {
    for (members, leader) in hosts.ranks.iter().zip(leaders) {
        let place = members.iter().position(|rank| rank == leader).unwrap_or(0);
        let own = taken(events, members);
        let own = algorithm(wire, &Group { members, ..*group }, place, own);
        put(events, members, own);
    }
}

/// Between the leaders of the hosts, and then within each host.
pub(super) fn broadcast<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>, root: usize) {
    let (mut events, (leaders, place)) = (group.no_events(), leaders(hosts, root));
    let own = taken(&mut events, &leaders);
    let between = Group { members: &leaders, ..*group };
    let own = between_hosts(wire, &between, (CollectiveKind::Broadcast, hosts.across, place), own);
    put(&mut events, &leaders, own);
    with_leaders(wire, group, (hosts, &leaders), &mut events, tree::broadcast);
}

/// Within each host to its leader, and then between the leaders.
pub(super) fn reduce<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>, root: usize) {
    let (mut events, (leaders, place)) = (group.no_events(), leaders(hosts, root));
    with_leaders(wire, group, (hosts, &leaders), &mut events, tree::reduce);
    let own = taken(&mut events, &leaders);
    let between = Group { members: &leaders, ..*group };
    between_hosts(wire, &between, (CollectiveKind::Reduce, hosts.across, place), own);
}

/// Within each host to the rank of the receiver's place, and then to the receiver. Block s n + d is what rank s has for rank d.
pub(super) fn all_to_all<W: Wire>(wire: &mut W, group: &Group<'_>, hosts: &Hosts<'_>) {
    let (n, m, places) = (group.len(), hosts.ranks.len(), hosts.places());
    let mut events = group.no_events();
    let mut list = Vec::new();
    let block = |source: usize, to: usize| (source * n + to) as u32;
    for ranks in hosts.ranks {
        for step in 1..places {
            for (place, &from) in ranks.iter().enumerate() {
                let to_place = (place + step) % places;
                list.clear();
                list.extend(hosts.ranks.iter().map(|ranks| block(from, ranks[to_place])));
                let to = ranks[to_place];
                events[to].push(group.send_list(wire, (from, to), &list, &[]).arrival);
            }
        }
    }
    let events = joined(wire, group, events);
    for step in 1..m {
        for (host, ranks) in hosts.ranks.iter().enumerate() {
            for (place, &from) in ranks.iter().enumerate() {
                let to = hosts.ranks[(host + step) % m][place];
                list.clear();
                list.extend(ranks.iter().map(|&source| block(source, to)));
                group.send_list(wire, (from, to), &list, &events[from]);
            }
        }
    }
}
