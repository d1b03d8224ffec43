//! Warns of loads that add up to more than a sender's link carries, headers included.

use xoff_engine::Time;
use xoff_fabric::network::WireSizes;
use xoff_traffic::Traffic;

use super::check::Checker;

/// Loads are added and taken away as whole numbers of this part, so that nothing is left of a load that has ended.
const UNIT: f64 = 1e-12;

/// Warns of the largest sum of loads of one of `hosts` hosts at one time, if it is too large.
pub(super) fn all(c: &mut Checker<'_>, hosts: usize, traffic: &Traffic, wire: &WireSizes) {
    if wire.payload == 0 {
        return;
    }
    let mut changes = Vec::new();
    for load in &traffic.offered {
        let asked = (load.asked / UNIT).round() as i64;
        changes.push((load.start, asked, &*load.senders));
        changes.push((load.end, -asked, &*load.senders));
    }
    let worst = largest_sum(changes, hosts) as f64 * UNIT;
    let with_headers = worst * (wire.frame() + wire.gap) as f64 / wire.payload as f64;
    if with_headers > 1.0 {
        c.warnings.push(format!(
            "`load` in [[traffic]] is {worst:.3} of payload, {with_headers:.3} with headers: more than the senders' links carry"
        ));
    }
}

/// The largest sum that any of `hosts` hosts ever has, of changes at times to the sums of some hosts.
fn largest_sum(mut changes: Vec<(Time, i64, &[u32])>, hosts: usize) -> i64 {
    // What ends at a time ends before what begins then.
    changes.sort_unstable();
    let (mut sums, mut largest) = (vec![0; hosts], 0);
    for (_, change, of) in changes {
        for &host in of {
            sums[host as usize] += change;
            largest = largest.max(sums[host as usize]);
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts 0 to 2 have 5 from 0 to 10, hosts 2 to 4 have 4 from 5 to 15: host 2 has 9 from 5 to 10. From 10 on a load of 5 on
    /// host 2 meets only the 4: 9 again, and 14 would be the sum with what ends at 10.
    #[test]
    fn sums_are_of_one_host_and_one_time() {
        fn load(start: u64, end: u64, load: i64, of: &[u32]) -> [(Time, i64, &[u32]); 2] {
            [(Time(start), load, of), (Time(end), -load, of)]
        }
        let mut changes = load(0, 10, 5, &[0, 1, 2]).to_vec();
        changes.extend(load(5, 15, 4, &[2, 3, 4]));
        assert_eq!(largest_sum(changes.clone(), 5), 9);
        changes.extend(load(10, 20, 5, &[2]));
        assert_eq!(largest_sum(changes.clone(), 5), 9);
        changes.extend(load(0, 20, 6, &[4]));
        assert_eq!(largest_sum(changes, 5), 10);
    }
}
