//! The back end for ASTRA-sim, over a stand-in of its interface, against xoff's own all-reduce.

use xoff::{Scenario, Threads, run_on};

use crate::{compiler, root, run};

/// xoff's own ring: no overhead, and a rank goes on when its block is there, whether its own block is acknowledged or not.
const OWN: &str = r#"
[[traffic]]
pattern = "allreduce"
algorithm = "ring"
size = "47600B"
overhead = "0s"
acknowledged = false
connection = "per_pair"
"#;

#[test]
fn a_ring_allreduce_over_the_back_end_takes_as_long_as_xoffs_own() {
    let Some(cxx) = compiler("CXX", "c++") else { return };
    let folder = root().join("examples/astra-sim");
    let flags = ["-std=c++17".to_string(), format!("-I{}", folder.join("stand-in").display())];
    let scenario = folder.join("star.toml");
    let path = scenario.display().to_string();
    let sources = [folder.join("ring.cc"), folder.join("XoffNetwork.cc")];
    let printed = run(&cxx, &flags, &sources, &[&path, "5", "47600"]);
    let value = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no `{name}` in {printed}")).to_string()
    };
    assert_eq!(value("ranks finished: "), "5");
    assert_eq!(value("bandwidth: "), "12.5 GB/s");

    let text = std::fs::read_to_string(&scenario).expect("a scenario") + OWN;
    let own = Scenario::parse(&text, "ring.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let output = run_on(Threads::UpTo(1), &own, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let job = &output.manifest["jobs"][0];
    let end = job["start_ps"].as_u64().expect("a time") + job["completion_ps"].as_u64().expect("a time");
    assert_eq!(value("end: "), format!("{end} ps"));

    // By hand: blocks of 10 full packets of 952 B, 80 ns each; two links of 1 us; 8 phases. In all but the first, the ACK of the
    // last packet of the block before, 50 B or 4 ns, goes ahead of the next block.
    assert_eq!(end, 8 * (11 * 80_000 + 2_000_000) + 7 * 4_000);
}
