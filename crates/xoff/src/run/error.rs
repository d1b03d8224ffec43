//! The errors of a run.

use xoff_fabric::{BuildError, Failure};

use super::unfinished::Unfinished;

/// Why a run has no results, or was aborted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The scenario was counted and not built.
    #[error("the scenario was only counted, as a check does; read it with `Effort::Build` to run it")]
    Counted,
    /// No network can be built from the scenario.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An invariant of the network failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// No event is left, but some flows are incomplete.
    #[error(
        "the run stalled at {at_us:.3} us: {left} of {flows} flows are incomplete and nothing is left to happen; without \
         flow control or retransmission, give `lossy = true`"
    )]
    Stalled {
        /// Time of the last event, in us.
        at_us: f64,
        /// Number of incomplete flows.
        left: u64,
        /// Number of all flows.
        flows: u64,
    },
    /// More events than the scenario allows.
    #[error(
        "the run was broken off in the microsecond after {at_us:.0} us: it has more than {events} events, which is what \
         `run.max_events` allows"
    )]
    TooManyEvents {
        /// Beginning of the microsecond in which the limit was passed, in us.
        at_us: f64,
        /// Events allowed.
        events: u64,
    },
    /// More rows than memory holds, in a session.
    #[error(
        "the session was broken off at {at_us:.3} us: it has recorded {rows} rows, as many as memory holds; expected a larger \
         `interval` in [record], or fewer records"
    )]
    TooManyRows {
        /// Time, in us.
        at_us: f64,
        /// Rows allowed.
        rows: u64,
    },
    /// More threads than the scenario can have.
    #[error(
        "{threads} threads: `{setting}` needs events in one order for all of the network; expected 1, or `auto`"
    )]
    OneThread {
        /// Threads asked for.
        threads: u32,
        /// The setting and its value.
        setting: &'static str,
    },
    /// More threads than the scheme can have.
    #[error("{threads} threads: the scheme `{scheme}` runs on one thread alone; expected 1, or `auto`")]
    SchemeOfOneThread {
        /// Threads asked for.
        threads: u32,
        /// The scheme's name.
        scheme: String,
    },
    /// Probes hear of every packet, and a fast-forwarded run skips packets.
    #[error(
        "`fast_forward` in [run] skips packets, of which probes are to hear; expected no probes, or no `fast_forward`"
    )]
    ProbesOfSkipped,
    /// Something broken keeps flows from completing, and the run has no duration.
    #[error(
        "{}; `duration` in [run], or `expect = \"unfinished\"`, keeps the results",
        stuck(*at_us, unfinished)
    )]
    Stuck {
        /// Time at which the run ended, in us.
        at_us: f64,
        /// The flows.
        unfinished: Vec<Unfinished>,
    },
    /// Flow control has stopped a part of the network for ever.
    #[error(
        "{}; a scheme that keeps queues short, or routes without a cycle, avoid it; `expect = \"deadlock\"` in [run] keeps \
         the results",
        deadlocked(*at_us, ports)
    )]
    Deadlock {
        /// Time at which the deadlock was found, in us.
        at_us: f64,
        /// The ports, each as `node->neighbour`: first those of a circle, in the order in which they wait.
        ports: Vec<String>,
    },
}

/// Flows that a message lists.
const LISTED: usize = 5;

/// A run that something broken keeps from completing, in words.
pub(super) fn stuck(at_us: f64, unfinished: &[Unfinished]) -> String {
    let listed: Vec<String> = unfinished.iter().take(LISTED).map(Unfinished::text).collect();
    let more = unfinished.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let count = unfinished.len();
    let flows = if count == 1 { "1 flow cannot".into() } else { format!("{count} flows cannot") };
    format!(
        "the run ended at {at_us:.3} us, long after the last payload arrived: {flows} complete: {}{more}",
        listed.join("; ")
    )
}

/// A deadlock found at a time, in words.
pub(super) fn deadlocked(at_us: f64, ports: &[String]) -> String {
    format!("deadlock at {at_us:.3} us: these ports wait on each other for ever: {}", ports.join(", "))
}
