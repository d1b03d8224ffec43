//! Warns of loads that add up to more than a sender's link carries, headers included.

use std::collections::HashMap;

use xoff_engine::Time;
use xoff_fabric::network::WireSizes;
use xoff_fabric::topology::Topology;
use xoff_traffic::{HostList, Pattern, Traffic};

use super::check::Checker;

/// Loads are added and taken away as whole numbers of this part, so that nothing is left of a load that has ended.
const UNIT: f64 = 1e-12;

/// Warns of the largest sum of loads of one host at one time, if it is too large.
pub(super) fn all(
    c: &mut Checker<'_>,
    patterns: &[Pattern],
    topology: &Topology,
    traffic: &Traffic,
    wire: &WireSizes,
) {
    if traffic.offered.is_empty() || wire.payload == 0 {
        return;
    }
    let hosts = topology.hosts();
    let name = |index: usize| topology.nodes[hosts[index].index()].name.as_str();
    let by_name: HashMap<&str, usize> = (0..hosts.len()).map(|index| (name(index), index)).collect();
    let mut changes = Vec::new();
    for load in &traffic.offered {
        let Some(Pattern::Poisson(pattern)) = patterns.get(load.pattern) else { continue };
        let asked = (load.asked / UNIT).round() as i64;
        for run in runs(&pattern.hosts, &by_name) {
            changes.push((load.start, asked, run));
            changes.push((load.end, -asked, run));
        }
    }
    let worst = largest_sum(changes, hosts.len()) as f64 * UNIT;
    let with_headers = worst * (wire.frame() + wire.gap) as f64 / wire.payload as f64;
    if with_headers > 1.0 {
        c.warnings.push(format!(
            "`load` in [[traffic]] is {worst:.3} of payload, {with_headers:.3} with headers: more than the senders' links carry"
        ));
    }
}

/// Hosts from the first number up to, and without, the second.
type Run = (usize, usize);

/// The hosts of a list that was found to be right, as runs of neighbours.
fn runs(list: &HostList, by_name: &HashMap<&str, usize>) -> Vec<Run> {
    if list.is_all() {
        return vec![(0, by_name.len())];
    }
    let mut found = Vec::new();
    for item in &list.0 {
        match (by_name.get(item.as_str()), item.split_once("..")) {
            (None, Some((first, last))) => found.extend(range(first.trim(), last.trim(), by_name)),
            (index, _) => found.extend(index),
        }
    }
    found.sort_unstable();
    let neighbours = found.chunk_by(|a, b| a + 1 == *b);
    neighbours.filter_map(|run| Some((*run.first()?, run.last()? + 1))).collect()
}

/// The hosts whose names differ in the number at their end.
fn range(first: &str, last: &str, by_name: &HashMap<&str, usize>) -> Vec<usize> {
    let digits = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (prefix, from) = first.split_at(digits(first));
    let to = &last[digits(last)..];
    let (Ok(first), Ok(last)) = (from.parse::<u64>(), to.parse::<u64>()) else { return Vec::new() };
    let width = if from.starts_with('0') { from.len() } else { 0 };
    let index = |n: u64| by_name.get(format!("{prefix}{n:0width$}").as_str()).copied();
    (first..=last).map_while(index).collect()
}

/// The largest sum that any of `hosts` hosts ever has, of changes at times to runs of hosts.
fn largest_sum(mut changes: Vec<(Time, i64, Run)>, hosts: usize) -> i64 {
    // What ends at a time ends before what begins then.
    changes.sort_unstable();
    let mut sums = Sums::new(hosts);
    changes.into_iter().map(|(_, change, run)| sums.add(change, run)).max().unwrap_or(0)
}

/// Sums by host, as a tree of pairs: a change to a run of hosts, and the largest sum, take a logarithm of steps.
struct Sums {
    /// The number of leaves, a power of two: node n has the children 2 n and 2 n + 1, and node 1 is the root.
    leaves: usize,
    /// By node: what all of its hosts have in common, and the largest sum among its hosts with that.
    nodes: Vec<(i64, i64)>,
}

impl Sums {
    fn new(hosts: usize) -> Sums {
        let leaves = hosts.next_power_of_two();
        Sums { leaves, nodes: vec![(0, 0); 2 * leaves] }
    }

    /// Adds to the sums of a run. Returns the largest sum of all hosts.
    fn add(&mut self, change: i64, run: Run) -> i64 {
        self.add_below(1, (0, self.leaves), change, run);
        self.nodes[1].1
    }

    fn add_below(&mut self, node: usize, (first, end): Run, change: i64, run: Run) {
        if run.1 <= first || end <= run.0 {
            return;
        }
        if run.0 <= first && end <= run.1 {
            self.nodes[node].0 += change;
            self.nodes[node].1 += change;
            return;
        }
        let middle = first.midpoint(end);
        self.add_below(2 * node, (first, middle), change, run);
        self.add_below(2 * node + 1, (middle, end), change, run);
        self.nodes[node].1 = self.nodes[node].0 + self.nodes[2 * node].1.max(self.nodes[2 * node + 1].1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts 0 to 2 have 5 from 0 to 10, hosts 2 to 4 have 4 from 5 to 15: host 2 has 9 from 5 to 10. From 10 on a load of 5 on
    /// host 2 meets only the 4: 9 again, and 10 would be the sum with what ends at 10.
    #[test]
    fn sums_are_of_one_host_and_one_time() {
        let load = |start, end, load: i64, run| [(Time(start), load, run), (Time(end), -load, run)];
        let mut changes = load(0, 10, 5, (0, 3)).to_vec();
        changes.extend(load(5, 15, 4, (2, 5)));
        assert_eq!(largest_sum(changes.clone(), 5), 9);
        changes.extend(load(10, 20, 5, (2, 3)));
        assert_eq!(largest_sum(changes.clone(), 5), 9);
        changes.extend(load(0, 20, 6, (4, 5)));
        assert_eq!(largest_sum(changes, 5), 10);
    }

    #[test]
    fn hosts_are_found_by_name_and_range() {
        let names = ["h0", "h1", "h2", "h3", "a..b"];
        let by_name = names.iter().enumerate().map(|(index, &name)| (name, index)).collect();
        let of = |items: &[&str]| runs(&HostList(items.iter().map(|i| i.to_string()).collect()), &by_name);
        assert_eq!(of(&["all"]), [(0, 5)]);
        assert_eq!(of(&["h1 .. h2"]), [(1, 3)]);
        assert_eq!(of(&["h3", "h0..h1"]), [(0, 2), (3, 4)]);
        assert_eq!(of(&["a..b"]), [(4, 5)]);
    }
}
