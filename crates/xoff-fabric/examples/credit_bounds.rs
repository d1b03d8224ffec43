//! Credits over a given number of packet transmissions, 10^8 unless said otherwise, at least an equal share for each kind of
//! credits: never negative, never more than the buffer has, none lost.
//!
//! ```text
//! cargo run --profile checked -p xoff-fabric --example credit_bounds [TRANSMISSIONS]
//! ```
//!
//! The profile is the release build with its assertions, which look at each packet at each link; without them this refuses
//! to run. What is left at the end is compared port by port.

#[path = "../tests/it/common/mod.rs"]
#[allow(dead_code)] // what only the tests use
mod common;

use std::process::ExitCode;
use std::time::Instant;

use common::credit_load::{kinds, run};
use xoff_engine::Time;

fn main() -> ExitCode {
    if !cfg!(debug_assertions) {
        eprintln!("error: this build has no assertions: run it with `--profile checked`");
        return ExitCode::from(2);
    }
    let argument = std::env::args().nth(1);
    let Ok(wanted) = argument.as_deref().unwrap_or("100000000").parse::<u64>() else {
        eprintln!("error: {} is no number of transmissions", argument.unwrap_or_default());
        return ExitCode::from(2);
    };
    let kinds = kinds();
    let share = wanted.div_ceil(kinds.len() as u64);
    let mut all = 0;
    for (name, flow_control, throttled) in kinds {
        // How long it takes for its share follows from a shorter run, and a little more.
        let mut time = Time::from_us(500);
        let mut began = Instant::now();
        let mut outcome = run(flow_control.clone(), throttled, time);
        while outcome.transmissions < share {
            time = Time(
                (u128::from(time.0) * u128::from(share) * 21 / 20 / u128::from(outcome.transmissions)) as u64,
            );
            began = Instant::now();
            outcome = run(flow_control.clone(), throttled, time);
        }
        println!(
            "{name}: {:.1} million transmissions, {:.0} ms without credits (all queues), {:.1} million credits on the busiest lane, {:.0} s",
            outcome.transmissions as f64 / 1e6,
            outcome.stopped.secs() * 1e3,
            outcome.most_spent as f64 / 1e6,
            began.elapsed().as_secs_f64()
        );
        all += outcome.transmissions;
    }
    println!("in all {:.1} million: no credit negative, none above its buffer, none lost", all as f64 / 1e6);
    ExitCode::SUCCESS
}
