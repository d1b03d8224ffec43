//! What the page gets of a scenario: problems at their place, columns of tables, and the same run as a native one.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, DictionaryArray, Int32Array, RecordBatch, StringArray, UInt64Array};
use xoff::Scenario;
use xoff_wasm::check::{Checked, Input, check};
use xoff_wasm::run::{Refused, run};
use xoff_wasm::table::{Column, column};

const SMALL: &str = r#"
[topology]
name = "star"
hosts = 3

[scheme]
name = "none"

[[traffic]]
pattern = "flow"
src = "host1"
dst = "host0"
size = "1MB"
"#;

fn input(text: &str) -> Input<'_> {
    Input { text, ..Input::default() }
}

#[test]
fn problems_stand_at_their_place() {
    // The fifth line, behind an empty one and three of the topology.
    let text = SMALL.replace("hosts = 3\n", "hosts = 3\nhots = 3\n");
    let Checked { problems, scenario, .. } = check(&input(&text));
    assert!(scenario.is_none());
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.line, problem.column, problem.length), (5, 1, 4));
    // What an override from outside does wrong has no line.
    let outside = Input { overrides: vec![("topology.hosts".into(), "many".into())], ..input(SMALL) };
    let Checked { problems, .. } = check(&outside);
    assert_eq!((problems[0].line, problems[0].column), (0, 0));
}

#[test]
fn a_sound_scenario_has_every_default() {
    let found = check(&input(SMALL));
    assert_eq!(found.problems, []);
    let scenario = serde_json::to_value(&found).unwrap()["scenario"].clone();
    assert_eq!((&scenario["seed"], &scenario["topology"]["rate"]), (&1.into(), &"100Gbps".into()));
}

#[test]
fn a_run_is_the_one_that_the_library_makes() {
    let native = xoff::run(&Scenario::parse(SMALL, "small.toml", &[]).unwrap(), &mut |_| true).unwrap();
    let ours = run(&input(SMALL), &mut |_| true).unwrap();
    for key in ["fingerprint", "events", "sim_time_ps", "summary"] {
        assert_eq!(ours.output.manifest[key], native.manifest[key], "{key}");
    }
    // Three hosts on a switch: four nodes and three links, and `port 2 l` of link `l` at its first node.
    let (nodes, links) = (&ours.network["nodes"], &ours.network["links"]);
    assert_eq!((nodes.as_array().unwrap().len(), links.as_array().unwrap().len()), (4, 3));
    let ports = ours.output.tables.iter().find(|t| t.name == "ports").unwrap();
    let Some(Column::Names(_, names)) = column(&ports.batch, "port") else { panic!("no names") };
    for (port, name) in names.iter().enumerate() {
        let ends = [&links[port / 2][port % 2], &links[port / 2][1 - port % 2]];
        let [from, to] = ends.map(|end| nodes[end.as_u64().unwrap() as usize][0].as_str().unwrap());
        assert_eq!(*name, format!("{from}->{to}"));
    }
}

#[test]
fn a_sweep_is_left_out_and_files_come_from_the_page() {
    let swept = format!("{SMALL}\n[sweep]\nseed = [1, 2]\n");
    let finished = run(&input(&swept), &mut |_| true).unwrap();
    assert!(finished.output.manifest["scenario"].get("sweep").is_none());
    let list = SMALL.replace(
        "pattern = \"flow\"\nsrc = \"host1\"\ndst = \"host0\"\nsize = \"1MB\"",
        "pattern = \"list\"\nfile = \"flows.txt\"",
    );
    let Err(Refused::Scenario(problems)) = run(&input(&list), &mut |_| true) else { panic!("no such file") };
    assert!(problems[0].message.contains("there is no such file"), "{problems:?}");
    let files = BTreeMap::from([("flows.txt".to_string(), "host1 host0 1MB 0us\n".to_string())]);
    let listed = run(&Input { files, ..input(&list) }, &mut |_| true).unwrap();
    assert_eq!(listed.output.summary().completed, 1);
}

#[test]
fn columns_become_numbers_and_names() {
    let names = Arc::new(StringArray::from(vec!["a", "b"]));
    let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("count", Arc::new(UInt64Array::from(vec![Some(7), None, Some(1 << 53)])) as _, true),
        ("flag", Arc::new(BooleanArray::from(vec![true, false, true])) as _, false),
        ("name", Arc::new(DictionaryArray::<Int32Type>::new(keys, names)) as _, true),
    ])
    .unwrap();
    let Some(Column::Numbers(counts)) = column(&batch, "count") else { panic!("no numbers") };
    // 2^53 is the largest whole number up to which a double has all.
    assert!(counts[0] == 7.0 && counts[1].is_nan() && counts[2] == 9_007_199_254_740_992.0);
    assert_eq!(column(&batch, "flag"), Some(Column::Numbers(vec![1.0, 0.0, 1.0])));
    assert_eq!(column(&batch, "name"), Some(Column::Names(vec![1, -1, 0], vec!["a".into(), "b".into()])));
    assert_eq!(column(&batch, "nothing"), None);
}

#[test]
fn a_run_ends_when_it_is_told_to() {
    let endless = SMALL.replace("size = \"1MB\"\n", "") + "\n[run]\nduration = \"100s\"\n";
    let finished = run(&input(&endless), &mut |_| false).unwrap();
    assert_eq!(finished.output.manifest["complete"], false);
    let limited = SMALL.to_string() + "\n[run]\nmax_events = 10\n";
    let Err(Refused::Run(reason)) = run(&input(&limited), &mut |_| true) else {
        panic!("ten events suffice")
    };
    assert!(reason.contains("max_events"), "{reason}");
}
