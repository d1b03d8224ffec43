//! How much memory a run of the scenario needs, estimated from counts before anything is built.
//!
//! What is larger than the machine is refused. A check that is to answer at once ([`Effort::Count`]) does not build what takes
//! longer than about a second.

use xoff_fabric::topology::Size;
use xoff_traffic::Pattern;

use super::MAX_ROWS;
use super::check::Checker;
use crate::memory;

/// How much of a scenario is built to check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// What is built within about a second.
    Count,
    /// All that a run needs.
    Build,
}

// Bytes at the peak of a run. Measured as the growth of the peak from one run to a larger one.

/// A link with its two ports and, for each data priority, their queues: stars of 100,000 hosts with 1 and with 8 priorities.
const LINK: u64 = 1_230;
const LINK_PRIORITY: u64 = 614;
/// Each pair of switches that have hosts, for routing: fat-trees with k = 48 and 64.
const SWITCH_PAIR: u64 = 104;
/// A message by itself: 100,000 and 200,000 messages of Poisson traffic and bursts, with their rows in the tables.
const MESSAGE: u64 = 480;
/// A message of a closed loop, with its steps and dependencies: allreduce by a ring and all-to-all, 10 and 30 times.
const LOOP_MESSAGE: u64 = 750;
/// A row of a record: 56 B while the run goes on and 52 B in its table, see [`MAX_ROWS`].
const ROW: u64 = 108;

/// The largest network, in links and in pairs of switches with hosts, and the most messages that [`Effort::Count`] builds.
const MAX_LINKS: u64 = 20_000;
const MAX_SWITCH_PAIRS: u64 = 100_000;
const MAX_MESSAGES: u64 = 300_000;
/// Estimates below this are not compared with the machine.
const NEGLIGIBLE: u64 = 100_000_000;

/// What a run needs, as far as it is known.
pub(super) struct Needs {
    effort: Effort,
    /// Bytes of what has been admitted.
    bytes: u64,
    free: fn() -> Option<memory::Free>,
    /// The lists that were counted and not made.
    pub counted: Vec<String>,
}

impl Needs {
    pub fn new(effort: Effort) -> Needs {
        Needs { effort, bytes: 0, free: memory::free, counted: Vec::new() }
    }

    /// Whether a network of this size is to be built; if the machine cannot hold it, adds a problem.
    pub fn admits_network(&mut self, c: &mut Checker<'_>, size: &Size, priorities: u8) -> bool {
        let pairs = size.host_switches * size.host_switches;
        let link = LINK + LINK_PRIORITY * u64::from(priorities);
        let bytes = (size.links.saturating_mul(link)).saturating_add(pairs.saturating_mul(SWITCH_PAIR));
        let what = format!("{} hosts and {} links", count(size.hosts), count(size.links));
        if !self.holds(c, "topology.name", &format!("[topology] makes {what}"), bytes) {
            return false;
        }
        let is_small = size.links <= MAX_LINKS && pairs <= MAX_SWITCH_PAIRS;
        if self.effort == Effort::Count && !is_small {
            self.counted.push(what);
            return false;
        }
        true
    }

    /// Whether these numbers of messages, by pattern, are to be made; if the machine cannot hold them, adds a problem.
    pub fn admits_messages(&mut self, c: &mut Checker<'_>, patterns: &[Pattern], counts: &[u64]) -> bool {
        let of = |(pattern, &count): (&Pattern, &u64)| {
            count.saturating_mul(if pattern.is_closed_loop() { LOOP_MESSAGE } else { MESSAGE })
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
            self.counted.push(what);
            return false;
        }
        true
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
        let rest = if bytes < self.bytes { ", with what else the scenario needs" } else { "" };
        let (needed, left) = (size(self.bytes), size(free.bytes));
        Some(format!("and the run needs about {needed}{rest}: {left} are {}", free.what))
    }
}

/// The most rows that a record may have before it fills what memory is left: half of it, since the tables are made from the
/// rows.
pub(crate) fn max_rows() -> usize {
    memory::free().map_or(MAX_ROWS, |free| MAX_ROWS.min((free.bytes / ROW) as usize))
}

/// A number, in two digits if it is large.
fn count(n: u64) -> String {
    if n < 1_000_000 { n.to_string() } else { format!("{:.1e}", n as f64) }
}

/// Bytes in two digits, or whole GB.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
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

    #[test]
    fn numbers_are_short() {
        assert_eq!([999_999, 1_000_000, 1_234_567_890].map(count), ["999999", "1.0e6", "1.2e9"]);
        let sizes = [900_000_000, 1_260_000_000, 299_700_000_000].map(size);
        assert_eq!(sizes, ["900 MB", "1.3 GB", "300 GB"]);
    }
}
