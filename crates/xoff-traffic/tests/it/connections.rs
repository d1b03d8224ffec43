//! Which connection carries which message.

use std::collections::BTreeSet;

use xoff_engine::Rate;
use xoff_traffic::{FlowSpec, HostInfo, Pattern, TrafficError, generate};

fn try_make(patterns: &[&str]) -> Result<Vec<FlowSpec>, TrafficError> {
    let patterns: Vec<Pattern> = patterns.iter().map(|p| serde_json::from_str(p).unwrap()).collect();
    let host = |i| HostInfo { name: format!("host{i}"), rate: Rate::from_gbps(100), rack: 0, nics: 1 };
    let hosts: Vec<HostInfo> = (0..4).map(host).collect();
    // Ranks 0 and 1 on host 0, 2 and 3 on host 1: rank 0 sends to 2 with two tags, and to 3.
    let goal = "num_ranks 4\nrank 0 {\na: send 8b to 2 tag 1\nb: send 8b to 2 tag 2\nc: send 8b to 3 tag 1\n}\nrank 1 {\n}\n\
                rank 2 {\nd: recv 8b from 0 tag 1\ne: recv 8b from 0 tag 2\n}\nrank 3 {\nf: recv 8b from 0 tag 1\n}\n";
    generate(&patterns, &hosts, 1, None, &|_| Ok(goal.into())).map(|traffic| traffic.flows.to_vec())
}

/// The messages' connections: host, host and number.
fn connections(patterns: &[&str]) -> Vec<(u32, u32, Option<u32>)> {
    let flows = try_make(patterns).unwrap_or_else(|e| panic!("{e}"));
    flows.iter().map(|f| (f.src, f.dst, f.connection)).collect()
}

fn distinct(patterns: &[&str]) -> usize {
    connections(patterns).into_iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn collectives_have_a_connection_for_each_pair_of_processes() {
    // 4 ranks on each of 2 slices send to each other twice: 12 pairs of hosts, 24 of processes, 48 messages.
    let pattern = |connection: &str| {
        format!(
            r#"{{"pattern": "all_to_all_collective", "size": "1KB", "processes": 2, "repetitions": 2{connection}}}"#
        )
    };
    assert_eq!(connections(&[&pattern("")]).len(), 48);
    assert_eq!(distinct(&[&pattern("")]), 24);
    assert_eq!(distinct(&[&pattern(r#", "connection": "per_pair""#)]), 12);
    assert_eq!(distinct(&[&pattern(r#", "connection": 3"#)]), 36);
    let alone = connections(&[&pattern(r#", "connection": "per_message""#)]);
    assert!(alone.iter().all(|(.., connection)| connection.is_none()));
}

#[test]
fn ranks_of_a_goal_schedule_have_a_connection_whatever_the_tags() {
    let pattern = r#"{"pattern": "goal", "file": "any", "ranks_per_host": 2}"#;
    let found = connections(&[pattern]);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], found[1], "rank 0 to rank 2, with two tags");
    assert_ne!(found[0], found[2], "rank 0 to rank 3");
}

#[test]
fn patterns_do_not_share_connections() {
    let flow =
        r#"{"pattern": "flow", "src": "host0", "dst": "host1", "size": "1KB", "connection": "per_pair"}"#;
    assert_eq!(distinct(&[flow, flow]), 2);
}

#[test]
fn a_pattern_without_processes_refuses_pairs_of_them() {
    let incast = r#"{"pattern": "incast", "senders": 2, "receiver": "host0", "size": "1KB", "connection": "per_process_pair"}"#;
    let error = try_make(&[incast]).unwrap_err().to_string();
    for part in ["connection", "per_process_pair", "expected `per_pair`, since this pattern has no processes"]
    {
        assert!(error.contains(part), "{error}");
    }
}
