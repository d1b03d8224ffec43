//! The scheme against numbers worked out by hand, and the program against a scenario.

use std::path::Path;
use std::process::Command;

use own_scheme::{DelayAimd, DelayAimdSender};
use xoff::engine::{Bytes, Rate, Time};
use xoff::schemes::int::IntStack;
use xoff::schemes::{Ack, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme};

/// A flow at a 100 Gbps NIC with a base RTT of 8 us: the bandwidth-delay product is 100,000 B, the target 10 us.
fn sender(params: &DelayAimd) -> DelayAimdSender {
    params.reaction(&FlowEnv::new(0, Rate::from_gbps(100), Time::from_us(8), 1))
}

fn ack(seq: u64, snd_nxt: u64, rtt_us: u64) -> Ack<'static> {
    Ack {
        now: Time::ZERO,
        seq,
        newly_acked: 1456,
        snd_nxt,
        packet: (seq - 1) / 1456,
        next_packet: snd_nxt.div_ceil(1456),
        rtt: Some(Time::from_us(rtt_us)),
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    }
}

#[test]
fn a_slow_round_trip_cuts_once_and_a_fast_one_adds_a_step() {
    let mut sender = sender(&DelayAimd::default());
    assert_eq!((sender.window(), sender.rate()), (100_000, Rate::from_gbps(100)));
    // 11 us are above 10 us: 0.8 x 100,000 B. The round trip ends with packet 69, the first beyond 100,000 B.
    sender.on_ack(&ack(1_456, 100_000, 11));
    assert_eq!(sender.window(), 80_000);
    sender.on_ack(&ack(50_000, 120_000, 12));
    assert_eq!(sender.window(), 80_000);
    // One slow ACK in it is enough: 0.8 x 80,000 B.
    sender.on_ack(&ack(101_456, 150_000, 9));
    assert_eq!(sender.window(), 64_000);
    // 10 us are not above 10 us: 64,000 + 3,000 B.
    sender.on_ack(&ack(151_456, 200_000, 10));
    assert_eq!(sender.window(), 67_000);
}

#[test]
fn the_window_stays_between_a_packet_and_the_bandwidth_delay_product() {
    let mut sender = sender(&DelayAimd { step: Bytes(99_000), cut: 0.001, ..DelayAimd::default() });
    sender.on_ack(&ack(1_456, 1_456, 20));
    assert_eq!(sender.window(), 1_456); // not 100 B
    sender.on_ack(&ack(2_912, 2_912, 8));
    sender.on_ack(&ack(4_368, 4_368, 8));
    assert_eq!(sender.window(), 100_000); // not 199,456 B
}

#[test]
fn the_target_follows_the_base_rtt_unless_it_is_given() {
    let env = NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt: Time::from_us(8) };
    assert_eq!(DelayAimd::default().resolve(&env).target, Some(Time::from_us(10)));
    let given = DelayAimd { target: Some(Time::from_us(9)), ..DelayAimd::default() };
    assert_eq!(given.clone().resolve(&env), given);
}

#[test]
fn a_cut_to_nothing_or_none_is_refused() {
    for cut in [0.0, 1.0, f64::NAN] {
        assert_eq!(DelayAimd { cut, ..DelayAimd::default() }.validate().unwrap_err().key, "cut");
    }
}

#[test]
fn the_program_runs_it_beside_hpcc() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-scheme");
    let done = Command::new(env!("CARGO_BIN_EXE_own-scheme"))
        .args(["incast.toml".as_ref(), folder.as_path()])
        .output();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    for (line, name) in said.lines().zip(["delay_aimd", "hpcc"]) {
        assert!(line.starts_with(name) && line.contains("8 of 8 flows"), "{line}");
        let manifest = std::fs::read_to_string(folder.join(name).join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["scenario"]["scheme"]["name"], name);
        let own = name == "delay_aimd";
        let origin = if own { "own_scheme::DelayAimd".into() } else { serde_json::Value::Null };
        assert_eq!(manifest["scheme_origin"]["type"], origin);
        // The default that depends on the network is in the manifest.
        assert_eq!(manifest["scenario"]["scheme"]["target"].is_string(), own);
        assert!(folder.join(name).join("flows.parquet").is_file());
    }
    assert_eq!(said.lines().count(), 2);
}

#[test]
fn a_mistake_in_the_scenario_is_explained() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let bad = folder.join("bad.toml");
    let text = std::fs::read_to_string("incast.toml").unwrap();
    std::fs::write(&bad, text.replace("name = \"delay_aimd\"", "name = \"delay_aimd\"\ntarge = \"9us\""))
        .unwrap();
    let done =
        Command::new(env!("CARGO_BIN_EXE_own-scheme")).args([&bad, &folder.join("bad")]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success());
    assert!(
        said.contains("unknown key `targe` in [scheme]") && said.contains("did you mean `target`?"),
        "{said}"
    );
}
