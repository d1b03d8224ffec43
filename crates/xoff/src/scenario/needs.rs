//! How much memory a run of the scenario needs, estimated from counts before anything is built.
//!
//! What is larger than the machine is refused. A check that is to answer at once ([`Effort::Count`]) does not build what takes
//! longer than about a second.

use xoff_fabric::routing::Routing;
use xoff_fabric::topology::Size;
use xoff_traffic::Pattern;

use super::check::Checker;
use super::in_flight::Bound;
use super::{MAX_ROWS, Scenario};
use crate::memory;

/// How much of a scenario is built to check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What is built within about a second: large networks and large numbers of messages are counted and not made, which a
    /// warning says. Such a scenario has neither network nor flows, and cannot be run.
    Count,
    /// All that a run needs.
    Build,
    /// All that a session of [`crate::cosim`] needs: as [`Effort::Build`], but there may be no `[[traffic]]`.
    Session,
}

// Bytes at the peak of a run on one thread, measured as the growth of the peak from one run to a larger one. Of three further
// runs the estimate was 1.04 times (181,000 messages of Poisson traffic), 1.2 times (80,000 of `mpi_io`) and 1.3 times (a
// fat-tree with k = 40) the measured peak.

/// A link with its two ports and, for each data priority, their queues: stars of 100,000 hosts with 1 and with 8 priorities.
const LINK: u64 = 1_230;
const LINK_PRIORITY: u64 = 614;
/// Each pair of a switch with hosts and any switch: the distance between them, and the pairs of hosts among which every length of
/// path occurs.
const SWITCH_PAIR: u64 = 3;
/// Where switches choose packet by packet: the list of next hops of a pair of switches, and a next hop if no two lists are
/// alike. In a fat-tree most are.
const FIRST_HOP: u64 = 4;
const NEXT_HOP: u64 = 8;
/// A message by itself, with its row in the tables: 480 B between 100,000 and 200,000 messages of bursts, up to 520 B with paths
/// over more switches.
const MESSAGE: u64 = 540;
/// A message of a closed loop, with its steps and dependencies: allreduce by a ring and all-to-all, 10 and 30 times.
const LOOP_MESSAGE: u64 = 750;
/// A packet in the network, with its place in the pool, which doubles when it is full: 53,000 and 527,000 packets in one switch.
const PACKET: u64 = 133;
/// Its telemetry, in hardware widths, which doubles too.
const TELEMETRY: u64 = 128;
/// A row of a record: 56 B while the run goes on and 52 B in its table, see [`MAX_ROWS`].
const ROW: u64 = 108;

/// The largest network, in links, the most steps over links and switches in the search of shortest paths, and the most messages
/// that [`Effort::Count`] builds.
const MAX_LINKS: u64 = 200_000;
const MAX_STEPS: u64 = 30_000_000;
const MAX_MESSAGES: u64 = 300_000;
/// Estimates below this are not compared with the machine.
const NEGLIGIBLE: u64 = 100_000_000;

/// What a run needs, as far as it is known.
pub(super) struct Needs {
    effort: Effort,
    /// Bytes of what has been admitted.
    bytes: u64,
    free: fn() -> Option<memory::Free>,
    /// Whether routes are not to be searched.
    skips_routes: bool,
    /// What was counted and not made, and what was thus not checked, in one sentence each.
    pub counted: Vec<String>,
}

impl Needs {
    /// Whether messages come from outside, so that there may be no traffic.
    pub fn is_session(&self) -> bool {
        self.effort == Effort::Session
    }

    pub fn new(effort: Effort) -> Needs {
        Needs { effort, bytes: 0, free: memory::free, skips_routes: false, counted: Vec::new() }
    }

    /// Whether a network of this size is to be built; if the machine cannot hold it, adds a problem.
    pub fn admits_network(&mut self, c: &mut Checker<'_>, size: &Size, s: &Scenario) -> bool {
        let link = LINK + LINK_PRIORITY * u64::from(s.switch.priorities);
        let bytes = size.links.saturating_mul(link).saturating_add(routing_bytes(size, &s.routing));
        let what = format!("{} hosts and {} links", count(size.hosts), count(size.links));
        if !self.holds(c, "topology.name", &format!("[topology] makes {what}"), bytes) {
            return false;
        }
        let is_large = size.links > MAX_LINKS;
        self.skips_routes = self.effort == Effort::Count && (is_large || steps(size) > MAX_STEPS);
        if self.effort == Effort::Count && is_large {
            self.skips(&what, "names of hosts and ports, traffic, records, thresholds and routes");
        } else if self.skips_routes {
            self.skips(
                &format!("routes among {} switches", count(size.switches)),
                "routes and their lengths",
            );
        }
        !(self.effort == Effort::Count && is_large)
    }

    /// Bytes of all that has been admitted.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the routes of the network that was admitted are to be searched.
    pub fn admits_routes(&self) -> bool {
        !self.skips_routes
    }

    fn skips(&mut self, what: &str, unchecked: &str) {
        self.counted.push(format!(
            "{what} were counted, and not made to be checked, which takes longer than a second: {unchecked} are not checked"
        ));
    }

    /// Whether these numbers of messages, by pattern, are to be made; if the machine cannot hold them, adds a problem.
    pub fn admits_messages(&mut self, c: &mut Checker<'_>, patterns: &[Pattern], counts: &[u64]) -> bool {
        let of = |(pattern, &count): (&Pattern, &u64)| {
            count.saturating_mul(if pattern.has_processes() { LOOP_MESSAGE } else { MESSAGE })
        };
        let bytes: Vec<u64> = patterns.iter().zip(counts).map(of).collect();
        let total: u64 = counts.iter().sum();
        let largest = (0..bytes.len()).max_by_key(|&index| bytes[index]).unwrap_or(0);
        let what = format!("{} messages", count(total));
        let place = format!("traffic.{largest}.pattern");
        if !self.holds(c, &place, &format!("[[traffic]] makes about {what}"), bytes.iter().sum()) {
            return false;
        }
        if self.effort == Effort::Count && total > MAX_MESSAGES {
            self.skips(&what, "times, priorities and NICs of messages, loads, and records of flows");
            return false;
        }
        true
    }

    /// Whether the machine holds so many packets at once, with `telemetry` or without; if not, adds a problem at `place`.
    pub fn admits_packets(
        &mut self,
        c: &mut Checker<'_>,
        place: &str,
        (packets, bound): (u64, Bound),
        telemetry: bool,
    ) -> bool {
        let who = match bound {
            Bound::Sent => "[[traffic]] sends",
            Bound::Wires => "[topology] has links for",
            Bound::Buffers => "[switch] and [flow_control] have room for",
        };
        let found = format!("{who} about {} packets, which may be in the network at once", count(packets));
        let each = PACKET + if telemetry { TELEMETRY } else { 0 };
        self.holds(c, place, &found, packets.saturating_mul(each))
    }

    /// Whether the machine holds a record of so many rows; if not, adds a problem.
    pub fn admits_rows(&mut self, c: &mut Checker<'_>, rows: u128) -> bool {
        let rows = rows.min(MAX_ROWS as u128) as u64;
        let found = format!("[record] asks for {} rows", count(rows));
        self.holds(c, "record.interval", &found, rows.saturating_mul(ROW))
    }

    /// Whether the machine holds so many bytes more; if not, adds a problem.
    fn holds(&mut self, c: &mut Checker<'_>, place: &str, found: &str, bytes: u64) -> bool {
        let lack = self.lack(bytes);
        if let Some(lack) = &lack {
            c.add(place, format!("{found}, {lack}"), "expected less, or a machine with more memory");
        }
        lack.is_none()
    }

    /// Adds bytes. If the machine has fewer, says so as the end of a sentence.
    fn lack(&mut self, bytes: u64) -> Option<String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < NEGLIGIBLE {
            return None;
        }
        let free = (self.free)().filter(|free| self.bytes > free.bytes)?;
        let rest = if bytes < self.bytes / 20 * 19 { ", with what else the scenario needs" } else { "" };
        let (needed, left) = (size(self.bytes), size(free.bytes));
        Some(format!("and the run needs about {needed}{rest}: {left} are {}", free.what))
    }
}

/// The most rows that a record may have, with the tables that are made of them, before memory is full.
pub(crate) fn rows_that_fit() -> usize {
    memory::free().map_or(usize::MAX, |free| (free.bytes / ROW).max(1) as usize)
}

/// So many rows of a record and the memory that they take, in words.
pub(crate) fn rows_text(rows: u64) -> String {
    format!("{} rows, which take {}", count(rows), size(rows.saturating_mul(ROW)))
}

/// The pairs of a switch with hosts and any switch.
fn pairs(size: &Size) -> u64 {
    size.host_switches.saturating_mul(size.switches)
}

/// Links between switches, at most: a host may have several links.
fn switch_links(size: &Size) -> u64 {
    size.links.saturating_sub(size.hosts)
}

/// Steps over links and switches in the search of the shortest paths to each switch that has hosts.
fn steps(size: &Size) -> u64 {
    size.host_switches.saturating_mul(size.switches.saturating_add(switch_links(size)))
}

/// Bytes that grow faster than the number of links. Spanning trees keep no table of pairs.
fn routing_bytes(size: &Size, routing: &Routing) -> u64 {
    if matches!(routing, Routing::SpanningTrees(_)) {
        return 0;
    }
    let times = pairs(size).saturating_mul(SWITCH_PAIR);
    if !routing.choice().is_by_next_hops() {
        return times;
    }
    // Towards any switch, a link leads nearer at one of its ends, or at none.
    let hops = switch_links(size).saturating_mul(NEXT_HOP);
    let of_switch = hops.saturating_add(size.switches.saturating_mul(FIRST_HOP));
    times.saturating_add(size.host_switches.saturating_mul(of_switch))
}

/// A number, in two digits if it is large.
fn count(n: u64) -> String {
    if n < 1_000_000 { n.to_string() } else { format!("{:.1e}", n as f64) }
}

/// Bytes in two digits, or whole GB.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => "less than 1 MB".into(),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        1_000_000_000..10_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{} GB", (bytes as f64 / 1e9).round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_beside_the_rest_is_refused_with_the_sum() {
        // 16 GB are free: 6 GB fit, 9 GB more fit, and 2 GB more do not.
        let free = || Some(memory::Free { bytes: 16_000_000_000, what: "free" });
        let mut needs = Needs { free, ..Needs::new(Effort::Build) };
        assert_eq!([6, 9].map(|gb| needs.lack(gb * 1_000_000_000)), [None, None]);
        let lack = needs.lack(2_000_000_000).unwrap();
        assert_eq!(lack, "and the run needs about 17 GB, with what else the scenario needs: 16 GB are free");
        let mut needs = Needs { free, ..Needs::new(Effort::Build) };
        let lack = needs.lack(300_000_000_000).unwrap();
        assert_eq!(lack, "and the run needs about 300 GB: 16 GB are free");
        // Nothing is known of the machine.
        let mut needs = Needs { free: || None, ..Needs::new(Effort::Build) };
        assert_eq!(needs.lack(u64::MAX), None);
    }

    /// A fat-tree of k = 4 has 20 switches, 8 of them with hosts, 16 hosts and 48 links, 32 of them between switches: 3 B of each of
    /// 8 x 20 pairs, 480 B. Next hops add, for each of 8 destinations, 32 x 8 B and 20 x 4 B: 2,688 B.
    #[test]
    fn routing_keeps_pairs_of_switches_and_next_hops() {
        let size = Size { hosts: 16, switches: 20, links: 48, host_switches: 8 };
        let of = |text: &str| routing_bytes(&size, &serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{ "name": "ecmp" }"#), 480);
        assert_eq!(of(r#"{ "name": "ecmp", "choice": "per_packet" }"#), 3_168);
        assert_eq!(of(r#"{ "name": "spanning_trees" }"#), 0);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([999_999, 1_000_000, 1_234_567_890].map(count), ["999999", "1.0e6", "1.2e9"]);
        let sizes = [900_000_000, 1_260_000_000, 299_700_000_000].map(size);
        assert_eq!(sizes, ["900 MB", "1.3 GB", "300 GB"]);
    }
}
