//! The message on a run that ended because its record was full.

use xoff_engine::Time;
use xoff_fabric::Simulation;

use crate::scenario::{MAX_ROWS, Scenario, rows_text};

/// Why a run with a full record ended, and what would let the run continue.
pub(super) fn full_record(scenario: &Scenario, sim: &Simulation) -> String {
    let (records, now, interval) = (sim.records(), sim.now(), scenario.record.interval);
    let (samples, events) = (records.sampled_rows(), full_of(sim));
    let remedy = if events.iter().all(|(_, _, rows)| samples >= *rows) {
        // The same number of samples over the whole duration or, if the end is open, over ten times the time.
        let longer = match scenario.run.duration {
            Some(duration) => {
                (u128::from(interval.ps()) * u128::from(duration.ps())).div_ceil(u128::from(now.ps().max(1)))
            }
            None => u128::from(interval.ps()) * 10,
        };
        // Rounded up to two digits.
        let unit = 10u128.pow(longer.checked_ilog10().unwrap_or(0).saturating_sub(1));
        let longer = u64::try_from(longer.div_ceil(unit) * unit).unwrap_or(u64::MAX);
        let reaches = match scenario.run.duration {
            Some(duration) => format!("which would reach the duration, {duration}"),
            None => "which would reach ten times as far".into(),
        };
        format!("give a longer `record.interval`, such as \"{}\", {reaches}, or sample less", Time(longer))
    } else {
        let largest = events.iter().max_by_key(|(_, _, rows)| rows);
        format!("give `record.{}`, or a shorter run", largest.map_or("", |(_, off, _)| off))
    };
    let limit = match sim.row_limit() {
        rows if rows < MAX_ROWS as u64 => format!("memory holds no more than {}", rows_text(rows)),
        rows => format!("a record has no more than {}", rows_text(rows)),
    };
    let needed = scenario.run.duration.map_or(String::new(), |duration| {
        let rows = records.rows() as u128 * u128::from(duration.ps()) / u128::from(now.ps().max(1));
        format!(", and the whole duration needs about {}", rows_text(u64::try_from(rows).unwrap_or(u64::MAX)))
    });
    let counts =
        events.iter().filter(|(_, _, rows)| *rows > 0).map(|(what, _, rows)| format!(", {rows} of {what}"));
    format!(
        "the record is full: {} rows by {:.3} us ({samples} of samples every {interval}{}); {limit}{needed}; {remedy}",
        records.rows(),
        now.secs() * 1e6,
        counts.collect::<String>()
    )
}

/// The kinds of rows beside samples, the key that turns each off, and the number of rows.
fn full_of(sim: &Simulation) -> [(&'static str, &'static str, usize); 8] {
    let records = sim.records();
    [
        ("pauses", "pauses = false", records.pauses.len()),
        ("notifications", "notifications = false", records.notifications.len()),
        ("roots and the flows that waited", "roots = false", records.root_rows()),
        ("marks", "marks = false", records.marks.len()),
        ("states", "states = \"none\"", records.states.len()),
        ("states of throttles", "throttles = false", records.throttles.len()),
        ("parts of flows' times", "breakdown = false", records.breakdown.len()),
        ("packets", "packets_until", records.packet_rows()),
    ]
}
