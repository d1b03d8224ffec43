//! Chakra execution traces: what they say, and what is refused in which node.

use std::time::Instant;

use proptest::prelude::*;
use xoff_engine::Time;
use xoff_traffic::chakra::{self, Action, Costs, Resource, Source, Trace};

use crate::et::{Folder, Node, collective, compute, file, receive, send};

fn source(files: &Folder) -> Source<'_> {
    Source { files, name: "t", ranks: None, groups: None }
}

fn read(ranks: &[Vec<Node>]) -> Result<Trace, String> {
    chakra::read(&source(&Folder::of(ranks)), Costs::default()).map_err(|e| e.to_string())
}

fn refused(ranks: &[Vec<Node>], expected: &str) {
    let found = read(ranks).map(|t| t.size()).unwrap_err();
    assert!(found.contains(expected), "{found}\ndoes not have\n{expected}");
}

#[test]
fn nodes_and_what_they_wait_for() {
    // Ids in any order, a dependency on a node that comes later in the file, and one that is there twice.
    let first = vec![
        send(40, 1, 64, 7).data(&[9, 9]).control(30),
        compute(9, 2).int("is_cpu_op", 7, 1),
        compute(30, 3).data(&[9]),
        collective(31, 6, 100),
    ];
    let second = vec![receive(1, 0, 64, 7), collective(2, 6, 100).data(&[1])];
    let trace = read(&[first, second]).unwrap();
    let actions: Vec<Action> = trace.nodes.iter().map(|n| n.action).collect();
    let busy = |on, us| Action::Busy { on, time: Time::from_us(us) };
    assert_eq!(
        actions,
        [
            Action::Send { size: 64, to: 1, tag: 7 },
            busy(Resource::Cpu, 2),
            busy(Resource::Gpu, 3),
            Action::Collective(0),
            Action::Receive { size: 64, from: 0, tag: 7 },
            Action::Collective(0),
        ]
    );
    let waits: Vec<&[u32]> = (0..6).map(|n| trace.waits_for(n)).collect();
    assert_eq!(waits, [&[1, 2][..], &[], &[1], &[], &[], &[4]]);
    assert_eq!(trace.messages().collect::<Vec<_>>(), [(0, 4)]);
    assert_eq!(trace.members_of(&trace.collectives[0]), [3, 5]);
    let size = trace.size();
    assert_eq!((size.ranks, size.nodes, size.messages, size.collectives, size.bytes), (2, 6, 1, 1, 64));
}

#[test]
fn messages_of_a_tag_belong_together_in_order() {
    let trace = read(&[
        vec![send(1, 1, 10, 5), send(2, 1, 20, 6), send(3, 1, 30, 5)],
        vec![receive(1, 0, 20, 6), receive(2, 0, 10, 5), receive(3, 0, 30, 5)],
    ]);
    assert_eq!(trace.unwrap().messages().collect::<Vec<_>>(), [(0, 4), (1, 3), (2, 5)]);
}

#[test]
fn every_wrong_node_is_named_with_its_file() {
    let barrier = |id| collective(id, 9, 0);
    let two = |nodes: Vec<Node>| [nodes, vec![barrier(1)]];
    refused(
        &two(vec![compute(3, 1).data(&[5]), barrier(6)]),
        "t.0.et: whose node 3 (`comp3`) is one that waits for node 5, which the file does not have: expected ids of nodes of this file, of which 6 is the nearest",
    );
    refused(&two(vec![compute(3, 1), compute(3, 2)]), "t.0.et: whose node 3 (`comp3`) is there twice");
    refused(
        &two(vec![Node::new(3, "x", 11)]),
        "node 3 (`x`) is of the unknown type 11: expected a type from 0",
    );
    refused(
        &two(vec![Node::new(3, "x", 5).int("comm_size", 9, 1)]),
        "node 3 (`x`) is a send without `comm_dst`",
    );
    refused(&two(vec![Node::new(3, "x", 5).int("comm_dts", 9, 1)]), "did you mean `comm_dts`?");
    refused(
        &two(vec![send(3, 2, 10, 0)]),
        "one with `comm_dst` = 2: expected a rank from 0 to 1, as there are files from t.0.et to t.1.et",
    );
    refused(
        &two(vec![send(3, 1, 10, 0).int("comm_src", 9, 1)]),
        "`comm_src` = 1: expected 0, the rank of the file",
    );
    refused(
        &two(vec![send(3, 1, 10, 4), barrier(1)]),
        "node 3 (`to`) is a send without counterpart: rank 0 has 1 sends to rank 1 with tag 4, which has 0 receives for them",
    );
    refused(&[vec![send(3, 1, 10, 4)], vec![receive(1, 0, 10, 6)]], "the nearest tag at the other end is 6");
    refused(
        &[vec![send(3, 1, 10, 4)], vec![receive(8, 0, 9, 4)]],
        "t.1.et: whose node 8 (`from`) is a receive of 9 B, and the message from rank 0 to rank 1 for it has 10 B",
    );
    refused(&two(vec![collective(3, 10, 0)]), "`comm_type` = 10: expected a number from 0 (all-reduce) to 9");
    refused(&two(vec![Node::new(3, "x", 7).text("comm_type", "all_redcue")]), "did you mean `all_reduce`?");
    refused(&two(vec![Node::new(3, "x", 7).int("comm_type", 9, 0)]), "a collective without `comm_size`");
    refused(&two(vec![compute(3, 1_000_000_001)]), "one that takes more than");
    refused(&two(vec![Node::new(3, "x", 4).int("num_ops", 9, 5)]), "expected a duration, or `peak_flops`");
    refused(
        &two(vec![Node::new(3, "x", 3).int("tensor_size", 9, 5)]),
        "expected a duration, or `memory_bandwidth`",
    );
    refused(&two(vec![collective(3, 0, u64::MAX)]), "`comm_size` = -1");
}

#[test]
fn ranks_of_a_group_agree() {
    refused(
        &[vec![collective(3, 0, 10)], vec![collective(4, 0, 11)]],
        "t.1.et: whose node 4 (`coll`) is all_reduce of 11 B, and rank 0 has all_reduce of 10 B there, node 3 (`coll`)",
    );
    refused(
        &[vec![collective(3, 0, 10), collective(5, 0, 10)], vec![collective(4, 0, 10)]],
        "t.0.et: whose node 5 (`coll`) is a collective without counterpart: rank 0 has 2 collectives of all ranks, and rank 1 has 1",
    );
    let source_of = |groups| -> String {
        let node = || vec![collective(3, 0, 10).text("pg_name", "tp")];
        let files = Folder::of(&[node(), node()]);
        let source = Source { groups: Some(groups), ..source(&files) };
        chakra::read(&source, Costs::default()).map(|t| t.size()).unwrap_err().to_string()
    };
    assert!(
        source_of(r#"{"tq": [0, 1]}"#)
            .contains("unknown group `tp`: expected one of the 1 groups that are known; did you mean `tq`?")
    );
    assert!(source_of(r#"{"tp": [0, 2]}"#).contains("which has rank 2: expected ranks from 0 to 1"));
    assert!(source_of(r#"{"tp": [0, 0]}"#).contains("has rank 0 twice"));
    assert!(source_of(r#"{"tp": [0]}"#).contains("does not have the file's rank 1"));
    assert!(source_of(r#"{"tp": 4}"#).contains("wrong for the group `tp`"));
    assert!(source_of("[1]").contains("no table of groups"));
}

#[test]
fn fields_of_a_later_schema_are_skipped_and_said_once() {
    let node = |id| compute(id, 1).unknown().inputs("['x']");
    let trace = read(&[vec![node(1), node(2)], vec![node(1)]]).unwrap();
    assert_eq!(trace.warnings.len(), 1);
    assert!(
        trace.warnings[0].starts_with("t.0.et: nodes of this trace have fields"),
        "{}",
        trace.warnings[0]
    );
}

#[test]
fn nodes_that_wait_for_themselves_are_named() {
    refused(
        &[
            vec![compute(1, 1).data(&[2]), compute(2, 1).data(&[1]), collective(3, 9, 0)],
            vec![collective(3, 9, 0)],
        ],
        "whose node 1 (`comp1`) is waiting for itself: each of these waits for the next, 1 (`comp1`) of rank 0 > 2 (`comp2`) of rank 0 > 1 (`comp1`) of rank 0",
    );
    // Each rank receives before it sends.
    let rank = |other| vec![receive(1, other, 8, 0), send(2, other, 8, 0).data(&[1])];
    refused(
        &[rank(1), rank(0)],
        "1 (`from`) of rank 0 > 2 (`to`) of rank 1 > 1 (`from`) of rank 1 > 2 (`to`) of rank 0 > 1",
    );
    // Two barriers in different orders; the first of a rank is the first of the other.
    let groups = r#"{"a": [0, 1], "b": [1, 0]}"#;
    let barrier = |id, name| collective(id, 9, 0).text("pg_name", name);
    let files = Folder::of(&[
        vec![barrier(1, "a"), barrier(2, "b").data(&[1])],
        vec![barrier(1, "b"), barrier(2, "a").data(&[1])],
    ]);
    let source = Source { groups: Some(groups), ..source(&files) };
    let found = chakra::read(&source, Costs::default()).map(|t| t.size()).unwrap_err().to_string();
    assert!(found.contains("waiting for itself"), "{found}");
    // A broadcast's root waits for nobody: rank 1 receives it after what the root sends later.
    let broadcast = |id| collective(id, 5, 8).int("root_rank", 9, 0);
    read(&[
        vec![broadcast(1), send(2, 1, 8, 0).data(&[1])],
        vec![receive(1, 0, 8, 0), broadcast(2).data(&[1])],
    ])
    .unwrap();
}

#[test]
fn a_file_that_is_cut_off_missing_or_no_trace_is_named() {
    let nodes = vec![vec![compute(1, 1), collective(3, 9, 0)]; 4];
    let whole = Folder::of(&nodes);
    let refused = |files: &Folder, ranks, expected: &str| {
        let found = chakra::read(&Source { ranks, ..source(files) }, Costs::default());
        let found = found.map(|t| t.size()).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}\ndoes not have\n{expected}");
    };
    let with = |bytes: Vec<u8>| {
        let mut files = whole.clone();
        files.0.insert("t.2.et".into(), bytes);
        files
    };
    let bytes = file(&nodes[2]);
    refused(
        &with(bytes[..bytes.len() - 1].to_vec()),
        None,
        "t.2.et: which is cut off: the last message, at byte ",
    );
    refused(&with(Vec::new()), None, "t.2.et: which is empty");
    refused(&with(b"{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []}".to_vec()), None, "t.2.et: which is");
    refused(
        &with(vec![0xff; 11]),
        None,
        "t.2.et: which is no execution trace: at byte 0 stands a message of 18446744073709551615 B",
    );
    let mut files = whole.clone();
    files.0.remove("t.2.et");
    refused(&files, None, "t.2.et: which is not there: expected a file for each rank, as `t.3.et`");
    refused(&files, Some(4), "t.2.et: which is unreadable: there is no such file beside the scenario");
    refused(&Folder::default(), None, "t.0.et: which is not there");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever a file holds, it is read or refused, and a claim of a length takes no memory.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..400, flip in 0usize..400) {
        let mut files = Folder::of(&[vec![send(1, 0, 5, 0), receive(2, 0, 5, 0), compute(3, 1).data(&[2])]]);
        let mut whole = files.0["t.0.et"].clone();
        files.0.insert("t.0.et".into(), bytes.clone());
        let _ = chakra::read(&source(&files), Costs::default());
        if let Some(byte) = whole.get_mut(flip) {
            *byte ^= bytes.first().copied().unwrap_or(1);
        }
        whole.truncate(cut);
        files.0.insert("t.0.et".into(), whole);
        let _ = chakra::read(&source(&files), Costs::default());
    }
}

/// 200,000 nodes whose names all differ and that wait for the one before: read at once, in a bounded time.
#[test]
fn a_long_trace_is_read_in_a_moment() {
    let nodes: Vec<Node> =
        (0..200_000).map(|id| compute(id, 1).data(&if id > 0 { vec![id - 1] } else { Vec::new() })).collect();
    let files = Folder::of(&[nodes]);
    let begin = Instant::now();
    let trace = chakra::read(&source(&files), Costs::default()).unwrap();
    assert_eq!((trace.nodes.len(), trace.dependencies.len(), trace.names.len()), (200_000, 199_999, 0));
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
