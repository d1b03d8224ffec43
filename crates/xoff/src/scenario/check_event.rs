//! Checks `[[event]]` against the other tables, and makes the faults of a run.

use xoff_fabric::fault::{Convergence, Fault};
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{CreditGranularity, FlowControl, NicTimer};
use xoff_fabric::topology::Topology;

use super::Scenario;
use super::check::Checker;
use super::event::{Event, MAX_FAULTS};
use super::event_targets::Targets;

/// Checks the events by themselves and against other tables.
pub(super) fn all(c: &mut Checker<'_>, s: &Scenario) {
    for (number, event) in s.event.iter().enumerate() {
        for violation in event.validate() {
            c.violation(&violation.inside(&format!("event.{number}")));
        }
        let timing = event.timing();
        let again = timing.every.is_some() || timing.mean_time_between.is_some();
        if again && timing.until.is_none() && s.run.duration.is_none() {
            let message = "an [[event]] comes again without end, and the run has no duration";
            c.add(
                &format!("event.{number}"),
                message,
                "expected `until` in [[event]], or `duration` in [run]",
            );
        }
        priority(c, s, number, event);
    }
    others(c, s);
}

/// Refuses PAUSE where nobody obeys it, and of a priority that there is not.
fn priority(c: &mut Checker<'_>, s: &Scenario, number: usize, event: &Event) {
    let Event::PauseStorm(storm) = event else { return };
    if !matches!(s.flow_control, FlowControl::Pfc(_)) {
        let message = format!(
            "`kind` in [[event]] is \"pause_storm\", and [flow_control] is \"{}\"",
            s.flow_control.name()
        );
        c.add(&format!("event.{number}.kind"), message, "expected another kind, or `pfc` in [flow_control]");
    }
    if let Some(priority) = storm.priority.filter(|priority| *priority >= s.switch.priorities) {
        let message = format!(
            "`priority` in [[event]] is {priority}, and `priorities` in [switch] is {}",
            s.switch.priorities
        );
        c.add(
            &format!("event.{number}.priority"),
            message,
            format!("expected a number below {}", s.switch.priorities),
        );
    }
}

/// Refuses what cannot stand beside events, and warns of what has no effect.
fn others(c: &mut Checker<'_>, s: &Scenario) {
    let down = s.event.iter().any(Event::takes_links_down);
    let converges = s.routing.convergence() != Convergence::None;
    if converges && !down {
        c.warnings.push("`convergence` in [routing] has no effect: no [[event]] takes a link down".into());
    }
    if down && !c.is_written("routing.convergence") {
        let name = s.routing.name();
        c.warnings.push(match &s.routing {
            Routing::Ecmp(_) => "routing never learns of links that an [[event]] takes down: give `convergence` in [routing], \
                                 a time or \"none\""
                .into(),
            _ => format!("routing `{name}` never learns of links that an [[event]] takes down"),
        });
    }
    let lossy = !s.event.is_empty() || s.switch.watchdog.is_some();
    if !lossy {
        return;
    }
    let (place, what) =
        if s.event.is_empty() { ("switch.watchdog", "a watchdog") } else { ("event", "an [[event]]") };
    if s.quirks.nic == NicTimer::Ns3 {
        let message = format!("`nic` in [quirks] is \"ns3\", whose NIC knows nothing of {what}");
        c.add("quirks.nic", message, "expected \"next_to_send\"");
    }
    if matches!(s.flow_control, FlowControl::Bfc(_)) && !s.event.is_empty() {
        let message =
            "`name` in [flow_control] is \"bfc\", whose queues by flow know nothing of an [[event]]";
        c.add("flow_control.name", message, "expected another flow control, or no [[event]]");
    }
    if let FlowControl::Credit(credits) = &s.flow_control
        && credits.granularity == CreditGranularity::Flit
    {
        let message =
            "`granularity` in [flow_control] is \"flit\", and credits of lost packets come back whole"
                .to_string();
        c.add(place, message, "expected `granularity = \"packet\"` in [flow_control]");
    }
}

/// The faults that the events make in `topology`.
pub(super) fn faults(c: &mut Checker<'_>, s: &Scenario, topology: &Topology) -> Vec<Fault> {
    if s.event.is_empty() || !c.problems.is_empty() {
        return Vec::new();
    }
    let targets = Targets::new(topology);
    let mut all = Vec::new();
    for (number, event) in s.event.iter().enumerate() {
        match event.faults(number, &targets, s.seed, s.run.duration) {
            Ok(mut faults) => all.append(&mut faults),
            Err(violation) => c.violation(&violation.inside(&format!("event.{number}"))),
        }
        if all.len() > MAX_FAULTS {
            let message = format!("[[event]] comes more than {MAX_FAULTS} times");
            c.add(
                &format!("event.{number}"),
                message,
                "expected a longer time between, or an earlier `until`",
            );
            return Vec::new();
        }
    }
    all
}
