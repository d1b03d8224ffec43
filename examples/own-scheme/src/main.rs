//! Runs a scenario under the scheme of this crate and under HPCC, and writes both runs' folders.
//!
//! `own-scheme SCENARIO DIR`, then `xoff report DIR/delay_aimd DIR/hpcc`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use own_scheme::DelayAimd;
use xoff::scenario::OwnSchemes;
use xoff::schemes::Scheme;
use xoff::{Scenario, store};

fn compare(scenario: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let schemes = OwnSchemes::default().with::<DelayAimd>()?;
    for name in [DelayAimd::NAME, "hpcc"] {
        let set = [("scheme.name".to_string(), name.to_string())];
        let scenario = Scenario::load_among(scenario, &set, &schemes)?;
        let output = xoff::run(&scenario, &mut |_| true)?;
        store::save(&output, &folder.join(name))?;
        let summary = output.summary();
        let slowdown = summary.slowdown.map_or(0.0, |s| s.mean);
        println!(
            "{name:<10}  {} of {} flows, mean slowdown {slowdown:.2}, {} PAUSE frames, longest queue {} B",
            summary.completed, summary.flows, summary.pause_frames, summary.max_queue_bytes
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, folder] = &arguments[..] else {
        eprintln!("usage: own-scheme SCENARIO DIR");
        return ExitCode::from(2);
    };
    match compare(Path::new(scenario), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
