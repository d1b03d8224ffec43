//! What a good scenario becomes: defaults, overrides, the resolved form, the sweep and the schema.

use serde_json::{Value, json};
use xoff::Scenario;
use xoff::scenario::{KeyDoc, Queues, Rates, keys, schema};
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::settings::FlowControl;
use xoff_fabric::topology::AnyTopology;

const SMALL: &str = r#"
[topology]
name = "dumbbell"

[scheme]
name = "hpcc"

[[traffic]]
pattern = "flow"
src = "sender0"
dst = "receiver0"
size = "1MB"
"#;

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn read(text: &str, pairs: &[(&str, &str)]) -> Scenario {
    Scenario::parse(text, "test.toml", &set(pairs)).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str, pairs: &[(&str, &str)]) -> String {
    match Scenario::parse(text, "test.toml", &set(pairs)) {
        Ok(_) => panic!("accepted with {pairs:?}"),
        Err(error) => error.to_string(),
    }
}

fn resolved(scenario: &Scenario) -> Value {
    serde_json::to_value(scenario).unwrap()
}

#[test]
fn the_example_in_the_message_for_an_empty_file_is_a_scenario() {
    let message = refused("", &[]);
    let (_, example) = message.split_once("the smallest scenario is:\n").unwrap();
    read(example, &[]);
}

#[test]
fn defaults_are_filled_in_and_shown() {
    let scenario = read(SMALL, &[]);
    assert_eq!(scenario.seed, 1);
    assert!(!scenario.lossy);
    assert!(scenario.record.pauses);
    assert!(!scenario.record.samples());
    let shown = resolved(&scenario);
    assert_eq!(shown["topology"]["rate"], "100Gbps");
    assert_eq!(
        shown["routing"],
        json!({ "name": "ecmp", "hash": "own", "symmetric": true, "choice": "per_connection" })
    );
    assert_eq!(shown["flow_control"]["xoff"], "500KB");
    assert_eq!(shown["run"]["stop"], "flows");
    // No marks, no detector.
    assert_eq!(shown.get("detector"), None);
}

#[test]
fn a_scheme_that_reacts_to_marks_gets_red_unless_told_otherwise() {
    let shown = resolved(&read(SMALL, &[("scheme.name", "dcqcn")]));
    assert_eq!(shown["detector"]["name"], "red");
    // DCQCN's timer is 55 us in its paper (SIGCOMM 2015) and another in the NIC's variant; the resolved form
    // holds the value, not its absence.
    assert_eq!(shown["scheme"]["increase_timer"], "55us");
}

#[test]
fn the_resolved_form_is_a_scenario_with_the_same_resolved_form() {
    let graph = r#"[{ a = "sender0", b = "s", rate = "400Gbps", delay = "1us", rate_back = "100Gbps" },
        { a = "receiver0", b = "s", rate = "100Gbps", delay = "1us" }]"#;
    let graph = [
        ("topology.name", "graph"),
        ("topology.hosts", r#"["sender0", "receiver0"]"#),
        ("topology.switches", r#"["s"]"#),
        ("topology.links", graph),
    ];
    let links = r#"[{ a = "sender0", b = "s2", rate = "100Gbps", delay = "1us" },
        { a = "receiver1", b = "s2", rate = "100Gbps", delay = "1us" }]"#;
    let numbered = [
        ("topology.name", "graph"),
        ("topology.hosts", r#"["sender0", "receiver1"]"#),
        ("topology.switches", r#"["s2"]"#),
        ("topology.links", links),
        ("traffic.0.dst", "receiver1"),
        ("routing", r#"{ name = "ecmp", hash = "ns3_hpcc" }"#),
        ("scheme.name", "dcqcn"),
        ("detector", r#"{ name = "red", rates = [{ rate = "100Gbps", k_min = "1KB", k_max = "2KB" }] }"#),
    ];
    let routing = &resolved(&read(SMALL, &numbered))["routing"];
    assert_eq!(
        routing,
        &json!({ "name": "ecmp", "hash": "ns3_hpcc", "dst_port": 100, "choice": "per_connection" })
    );
    let variants: &[&[(&str, &str)]] = &[
        &[],
        &numbered,
        &[("scheme.name", "none")],
        &[("scheme.name", "dcqcn"), ("title", "a title"), ("seed", "18446744073709551615")],
        &[
            ("scheme.name", "fncc"),
            ("packets.payload", "1000B"),
            ("routing.symmetric", "false"),
            ("routing.name", "ecmp"),
        ],
        &[("flow_control.name", "pfc"), ("flow_control.alpha", "0.125"), ("switch.buffer", "32MB")],
        &[("flow_control.name", "none"), ("lossy", "true"), ("switch.buffer", "1MB")],
        &[("traffic.0.pattern", "incast"), ("traffic.0.receiver", "receiver0"), ("traffic.0.senders", "2")],
        &[("record.queues", "all"), ("record.rates", "true"), ("run.duration", "1ms")],
        &[("record.queues", r#"["switch1->switch2"]"#), ("record.rates", r#"["flow"]"#)],
        &[("sweep.seed", "[1, 2]"), ("sweep.scheme.name", "['none']")],
        &[
            ("sweep.list", "[{ 'scheme.name' = 'none' }, { 'run.max_events' = 5 }]"),
            ("sweep.flow_control.xoff", "{ from = '50KB', to = '0.2MB', steps = 3, log = true }"),
        ],
        &[
            ("sweep.sample", "7"),
            ("sweep.sample_seed", "3"),
            ("sweep.traffic.0.size", "{ from = '1KB', to = '1MB' }"),
        ],
        &[
            ("tune.objective", "['slowdown_p99', 'pause_frames']"),
            ("tune.budget.dropped", "0"),
            ("tune.seeds", "[3, 4]"),
            ("tune.keys.scheme.name", "['none', 'hpcc']"),
            ("tune.keys.flow_control.xoff", "{ from = '50KB', to = '200KB' }"),
        ],
        &graph,
    ];
    for pairs in variants {
        // An incast has other keys than the flow of the small scenario.
        let text = match pairs.first() {
            Some(("traffic.0.pattern", _)) => SMALL.replace("src = \"sender0\"\ndst = \"receiver0\"\n", ""),
            _ => SMALL.to_string(),
        };
        let scenario = read(&text, pairs);
        let toml = toml::to_string(&scenario).unwrap();
        let again = read(&toml, &[]);
        assert_eq!(resolved(&scenario), resolved(&again), "{toml}");
        // Byte by byte, for manifests to be compared.
        assert_eq!(serde_json::to_string(&scenario).unwrap(), serde_json::to_string(&again).unwrap());
    }
}

#[test]
fn overrides_are_set_in_order_as_toml_or_as_bare_strings() {
    let scenario = read(
        SMALL,
        &[
            ("seed", "5"),
            ("seed", "6"),
            ("topology.rate", "200Gbps"),
            ("topology.delay", "\"2us\""),
            ("switch.buffer", "32MB"),
            ("traffic.0.size", "2MB"),
            ("record.queues", "switches"),
            ("record.rates", "true"),
        ],
    );
    assert_eq!(scenario.seed, 6);
    let AnyTopology::Dumbbell(dumbbell) = &scenario.topology else { panic!("not a dumbbell") };
    assert_eq!((dumbbell.rate, dumbbell.delay), (Rate::from_gbps(200), Time::from_us(2)));
    assert_eq!(scenario.switch.buffer, Some(Bytes(32_000_000)));
    assert_eq!(scenario.flows().flows.of(0).size, 2_000_000.into());
    assert_eq!((&scenario.record.queues, &scenario.record.rates), (&Queues::Switches, &Rates::All));
}

#[test]
fn routing_and_flow_control_need_no_name() {
    let text = format!("{SMALL}\n[routing]\nsymmetric = false\n\n[flow_control]\nxoff = \"100KB\"\n");
    let scenario = read(&text, &[]);
    let named = read(&text, &[("routing.name", "ecmp"), ("flow_control.name", "pfc")]);
    assert_eq!((&scenario.routing, &scenario.flow_control), (&named.routing, &named.flow_control));
    let FlowControl::Pfc(pfc) = &scenario.flow_control else { panic!("{:?}", scenario.flow_control) };
    assert_eq!(pfc.xoff, Some(Bytes(100_000)));
    // By an override alone as well, and what is wrong in such a table is said as ever.
    assert_eq!(read(SMALL, &[("flow_control.xoff", "100KB")]).flow_control, scenario.flow_control);
    let message = refused(&text, &[("flow_control.xofff", "1KB")]);
    assert!(message.contains("unknown key `xofff`") && message.contains("did you mean `xoff`"), "{message}");
    let message = refused(&format!("{SMALL}\n[routing]\nnmae = \"ecmp\"\n"), &[]);
    assert!(message.contains("[routing] lacks the key `name`"), "{message}");
}

#[test]
fn the_schema_asks_for_no_name_where_there_is_a_default() {
    let schema = schema();
    let required = |key: &str, name: &str| {
        let definition =
            schema["properties"][key]["$ref"].as_str().expect("a reference").trim_start_matches('#');
        let forms =
            schema.pointer(definition).expect("a definition")["oneOf"].as_array().expect("forms").clone();
        let form = forms.into_iter().find(|f| f["properties"]["name"]["const"] == name).expect("the form");
        form["required"].as_array().is_some_and(|keys| keys.iter().any(|key| key == "name"))
    };
    assert!(!required("routing", "ecmp") && !required("flow_control", "pfc"));
    assert!(required("routing", "spanning_trees") && required("flow_control", "none"));
}

#[test]
fn a_payload_brings_headers_and_signals_on_top() {
    // 1000 B, 62 B of headers, and HPCC's INT on data: 2 B and 8 B for each of 5 hops.
    let scenario = read(SMALL, &[("packets.payload", "1000B")]);
    assert_eq!(scenario.packets.mtu, Bytes(1104));
}

#[test]
fn network_and_flows_are_built() {
    let scenario = read(SMALL, &[]);
    // FNCC's dumbbell: two senders, a receiver, three switches, five links.
    assert_eq!((scenario.network().nodes.len(), scenario.network().links.len()), (6, 5));
    assert_eq!(scenario.flows().labels, ["flow"]);
    assert_eq!(scenario.flows().flows.len(), 1);
}

#[test]
fn what_is_allowed_but_odd_is_said() {
    let asymmetric = [("scheme.name", "fncc"), ("routing.name", "ecmp"), ("routing.symmetric", "false")];
    let warnings = read(SMALL, &asymmetric).warnings().to_vec();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("`fncc`") && warnings[0].contains("[routing]"), "{warnings:?}");
    assert!(read(SMALL, &[("scheme.name", "fncc")]).warnings().is_empty());
    assert_eq!(read(SMALL, &[("lossy", "true"), ("flow_control.name", "none")]).warnings().len(), 1);
    assert_eq!(read(SMALL, &[]).warnings(), [""; 0]);
}

#[test]
fn a_key_without_effect_is_said_and_one_with_effect_is_not() {
    // The key, its value, what makes it idle, and what gives it an effect.
    type Set = (&'static str, &'static str);
    type Case = (&'static str, &'static str, &'static [Set], &'static [Set], &'static str);
    let lossy: &'static [Set] = &[("lossy", "true"), ("flow_control.name", "none"), ("switch.buffer", "1MB")];
    let none: &'static [Set] = &[("scheme.name", "none")];
    let pft: &'static [Set] = &[("flow_control.name", "credit"), ("throttle.name", "pft")];
    // Arbitration needs traffic of two priorities, and its limit a priority that goes first.
    const TWO: &str = r#"[{ pattern = "flow", src = "sender0", dst = "receiver0", size = "1MB" },
        { pattern = "flow", src = "sender1", dst = "receiver0", size = "1MB", priority = 1 }]"#;
    const WEIGHTED: [Set; 3] =
        [("switch.priorities", "2"), ("switch.scheduling", "weighted"), ("traffic", TWO)];
    let weighted: &'static [Set] = &WEIGHTED;
    let high: &'static [Set] = &[WEIGHTED[0], WEIGHTED[1], WEIGHTED[2], ("switch.high_priority", "[1]")];
    let tcd: &'static [Set] = &[("scheme.name", "dcqcn"), ("detector.name", "tcd")];
    // The buffers let queues grow beyond RED's thresholds.
    let credited: &'static [Set] = &[
        ("scheme.name", "dcqcn"),
        ("detector.name", "tcd"),
        ("flow_control.name", "cbfc"),
        ("flow_control.buffer", "1MB"),
    ];
    let cases: &[Case] = &[
        ("host.retransmit_timeout", "2ms", &[], lossy, "`lossy = true`"),
        ("host.nack_interval", "1us", &[], lossy, "`lossy = true`"),
        ("switch.scheduling", "strict", &[], &[("switch.priorities", "2")], "`priorities` is 1"),
        ("packets.int_hops", "6", none, &[], "`none` has no INT"),
        ("packets.int_format", "exact", none, &[], "`none` has no INT"),
        ("packets.int_refresh", "2us", &[], &[("scheme.name", "fncc")], "`hpcc` has no INT on ACKs"),
        ("packets.pfc", "80B", &[("flow_control.name", "none")], &[], "\"none\""),
        ("host.flow_count", "all_open_qps", &[], &[("scheme.name", "fncc")], "number of flows"),
        ("packets.cnp", "70B", &[], &[("scheme.name", "dcqcn")], "neither CNPs nor CNMs"),
        (
            "packets.cnp",
            "70B",
            &[("scheme.name", "fncc")],
            &[("scheme.name", "rocc")],
            "neither CNPs nor CNMs",
        ),
        ("quirks.gap", "rate_when_sent", none, &[], "never changes its rate"),
        ("quirks.base_rtt", "payload", none, &[], "takes no base RTT"),
        ("record.interval", "5us", &[], &[("record.rates", "true")], "is sampled"),
        ("record.throttles", "true", &[], pft, "no [throttle]"),
        (
            "switch.cut_through_after",
            "96B",
            &[],
            &[("switch.forwarding", "cut_through")],
            "store_and_forward",
        ),
        ("switch.high_limit", "3", &[], high, "\"weighted\""),
        ("switch.high_limit", "3", weighted, high, "no priority is a high one"),
        (
            "switch.vlarb_low",
            "[{ vl = 0, weight = 1 }, { vl = 1, weight = 1 }]",
            &[("switch.priorities", "2")],
            weighted,
            "\"weighted\"",
        ),
        ("detector.epsilon", "0.1", credited, tcd, "update_period"),
    ];
    for (key, value, idle, used, reason) in cases {
        let set = (*key, *value);
        let warned = read(SMALL, &[*idle, &[set]].concat());
        let name = key.split_once('.').unwrap().1;
        let [warning] = warned.warnings() else { panic!("{key}: {:?}", warned.warnings()) };
        assert!(warning.contains(&format!("`{name}`")) && warning.contains(reason), "{warning}");
        assert_eq!(read(SMALL, &[*used, &[set]].concat()).warnings(), [""; 0], "{key}");
    }
}

#[test]
fn updates_of_credits_may_be_too_many_or_too_few() {
    // At 100 Gbps an update of 8 B takes 0.64 ns, of which no more than half of the link may be made; for eight lanes 5.12 ns.
    // 65,536 symbol times are 327,680 B: 26.2144 us.
    let cbfc = |period| vec![("flow_control.name", "cbfc"), ("flow_control.update_period", period)];
    let lanes = |period| [cbfc(period), vec![("switch.priorities", "8")]].concat();
    assert!(refused(SMALL, &cbfc("1ns")).contains("expected at least 1.28ns"));
    assert!(refused(SMALL, &lanes("10ns")).contains("for 5.12ns"));
    for good in [cbfc("1.28ns"), lanes("10.24ns"), cbfc("26.2144us")] {
        assert_eq!(read(SMALL, &good).warnings(), [""; 0]);
    }
    let warned = read(SMALL, &cbfc("26.3us"));
    let [warning] = warned.warnings() else { panic!("{:?}", warned.warnings()) };
    assert!(warning.contains("65,536 symbol times, 26214.4ns at 100Gbps"), "{warning}");
}

#[test]
fn a_throttle_that_never_acts_is_said() {
    // PFT acts above 592 used credits, of all priorities together. In whole packets a buffer has fewer.
    let credit = |more: &[(&'static str, &'static str)]| {
        let pft =
            [("flow_control.name", "credit"), ("throttle.name", "pft"), ("flow_control.undersized", "true")];
        read(SMALL, &[&pft, more].concat()).warnings().to_vec()
    };
    for idle in [("flow_control.unit", "packet"), ("flow_control.credits", "592")] {
        let warnings = credit(&[idle]);
        assert!(warnings.len() == 1 && warnings[0].contains("never acts: it does above 592"), "{warnings:?}");
    }
    assert_eq!(credit(&[("flow_control.credits", "593")]), [""; 0]);
    assert_eq!(credit(&[("flow_control.credits", "592"), ("switch.priorities", "2")]), [""; 0]);
}

#[test]
fn a_resolved_scenario_warns_of_nothing_that_its_source_did_not() {
    // It has every key: those at their defaults are no sign that anyone meant them.
    for scheme in ["none", "dcqcn", "hpcc"] {
        let scenario = read(SMALL, &[("scheme.name", scheme)]);
        let again = read(&toml::to_string(&scenario).unwrap(), &[]);
        assert_eq!(again.warnings(), [""; 0]);
    }
    let odd = read(SMALL, &[("host.nack_interval", "1us")]);
    assert_eq!(read(&toml::to_string(&odd).unwrap(), &[]).warnings(), odd.warnings());
}

#[test]
fn a_memory_that_is_full_before_pfc_acts_is_said() {
    // The dumbbell's links have 100 Gbps (80 ps/B) and 1.5 us. Until a peer stops, 2 x 1,518 B, a PAUSE of 64 B and
    // 2 x 1.5 us = 37,500 B arrive, after the frame of 1,518 B that crosses Xoff, and one more byte: 42,119 B. With
    // Xoff at 500,000 B a port may hold 542,119 B.
    let set = |buffer| [("scheme.name", "none"), ("switch.buffer", buffer), ("flow_control.xoff", "500KB")];
    let small = read(SMALL, &set("542118B"));
    let [warning] = small.warnings() else { panic!("{:?}", small.warnings()) };
    for part in ["542.118KB", "542.119KB", "500KB", "42.119KB"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert_eq!(read(SMALL, &set("542119B")).warnings(), [""; 0]);
}

#[test]
fn what_may_outgrow_the_record_is_refused_only_where_it_is_sure_to() {
    // The dumbbell's two senders, receiver and three switches have five links, ten ports: every 1 ns for 10 ms they
    // have 100 million samples of queues, and as many of utilization, where 50 million rows fit: 2 ns and 4 ns. A
    // finite flow may end the run before; `stop = "time"` and endless flows do not.
    let long = [("record.queues", "all"), ("record.interval", "1ns"), ("run.duration", "10ms")];
    let warned = read(SMALL, &long);
    let [warning] = warned.warnings() else { panic!("{:?}", warned.warnings()) };
    assert!(warning.contains("100000000 rows") && warning.contains("2ns"), "{warning}");
    let timed = refused(SMALL, &[&long[..], &[("run.stop", "time")]].concat());
    assert!(timed.contains("100000000 rows") && timed.contains("from 2ns"), "{timed}");
    let used = refused(SMALL, &[&long[..], &[("run.stop", "time"), ("record.utilization", "true")]].concat());
    assert!(used.contains("200000000 rows") && used.contains("from 4ns"), "{used}");
    // An endless flow that starts at 4 ms has 6 million rows of rates more.
    let endless = SMALL.replace("size = \"1MB\"", "start = \"4ms\"");
    let endless = refused(&endless, &[&long[..], &[("record.rates", "true")]].concat());
    assert!(endless.contains("106000000 rows"), "{endless}");
    // A finite flow has rows only while it lasts, which may be short.
    let short = [("record.rates", "true"), ("record.interval", "1ps"), ("run.duration", "10ms")];
    assert_eq!(read(SMALL, &short).warnings(), [""; 0]);
}

#[test]
fn a_key_of_another_scheme_is_refused_and_said_to_be_from_the_file() {
    let text = SMALL.replace("name = \"hpcc\"", "name = \"hpcc\"\neta = 0.9");
    let message = refused(&text, &[("scheme.name", "none")]);
    assert!(message.contains("unknown key `eta`"), "{message}");
    assert!(message.contains("test.toml:7:1"), "{message}");
    assert!(message.contains("the key comes from the file, `scheme.name` from --set"), "{message}");
}

#[test]
fn ranges_lists_and_samples_give_points_that_can_be_run() {
    let points = |sweep: &str| read(&format!("{SMALL}\n[sweep]\n{sweep}"), &[]).sweep_points();
    let texts = |points: &[Vec<(String, String)>]| -> Vec<String> {
        let text = |p: &Vec<(String, String)>| {
            p.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
        };
        points.iter().map(text).collect()
    };
    // 50 KB, and twice a factor of two.
    let range = points("\"flow_control.xoff\" = { from = \"50KB\", to = \"0.2MB\", steps = 3, log = true }");
    let expected = ["50KB", "100KB", "200KB"].map(|size| format!("flow_control.xoff=\"{size}\""));
    assert_eq!(texts(&range), expected);
    let listed = points(
        "seed = [1, 2]\nlist = [{ scheme.name = \"none\", lossy = false }, { \"traffic.0.size\" = \"2MB\" }]",
    );
    assert_eq!(
        texts(&listed),
        [
            "scheme.name=\"none\" lossy=false seed=1",
            "scheme.name=\"none\" lossy=false seed=2",
            "traffic.0.size=\"2MB\" seed=1",
            "traffic.0.size=\"2MB\" seed=2",
        ]
    );
    let sampled = points("sample = 5\n\"traffic.0.size\" = { from = \"1KB\", to = \"1MB\" }\nseed = [1, 2]");
    assert_eq!(sampled.len(), 10);
    for point in range.iter().chain(&listed).chain(&sampled) {
        Scenario::parse(SMALL, "test.toml", point).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn a_scenario_alone_has_no_sweep_and_no_tuning_and_no_warning_of_them() {
    let text = format!(
        "{SMALL}\n[sweep]\nseed = [1, 2]\n[tune]\nobjective = \"slowdown_p99\"\nkeys.lossy = [true, false]"
    );
    let both = read(&text, &[]);
    assert_eq!(both.warnings().len(), 2);
    let alone = both.alone();
    assert_eq!(alone.warnings(), [""; 0]);
    assert_eq!(serde_json::to_value(&alone).unwrap(), serde_json::to_value(read(SMALL, &[])).unwrap());
}

#[test]
fn a_sweep_is_a_grid_whose_last_axis_varies_fastest() {
    let text = format!("{SMALL}\n[sweep]\n\"scheme.name\" = [\"none\", \"hpcc\"]\nseed = [1, 2, 3]\n");
    let points = read(&text, &[]).sweep_points();
    let shown: Vec<String> = points
        .iter()
        .map(|p| p.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        shown,
        [
            "scheme.name=\"none\" seed=1",
            "scheme.name=\"none\" seed=2",
            "scheme.name=\"none\" seed=3",
            "scheme.name=\"hpcc\" seed=1",
            "scheme.name=\"hpcc\" seed=2",
            "scheme.name=\"hpcc\" seed=3",
        ]
    );
    for point in &points {
        Scenario::parse(&text, "test.toml", point).unwrap();
    }
    assert_eq!(read(SMALL, &[]).sweep_points(), [vec![]]);
    // Keys without quotes nest, and mean the same.
    let nested =
        format!("{SMALL}\n[sweep]\nscheme.name = [\"none\", \"hpcc\"]\ntraffic.0.size = [\"1MB\"]\n");
    assert_eq!(read(&nested, &[]).sweep_points().len(), 2);
}

#[test]
fn files_are_those_beside_the_scenario() {
    let text = SMALL.replace("\"dumbbell\"", "\"graph\"\nfile = \"net.toml\"");
    let graph = r#"
        hosts = ["sender0", "receiver0"]
        switches = ["s"]
        links = [{ a = "sender0", b = "s", rate = "100Gbps", delay = "1us" },
                 { a = "receiver0", b = "s", rate = "100Gbps", delay = "1us" }]
    "#;
    let files = |name: &str| {
        assert_eq!(name, "net.toml");
        Ok(graph.to_string())
    };
    let scenario = Scenario::parse_with(&text, "test.toml", &[], &files).unwrap_or_else(|e| panic!("{e}"));
    // The resolved form holds the graph itself.
    assert_eq!(resolved(&scenario)["topology"]["links"].as_array().unwrap().len(), 2);
    assert_eq!(scenario.network().links.len(), 2);
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    required.sort_unstable();
    assert_eq!(required, ["scheme", "topology"]);
    // Traffic, jobs, or both.
    assert_eq!(schema["anyOf"], serde_json::json!([{ "required": ["traffic"] }, { "required": ["job"] }]));
    assert_eq!(schema["additionalProperties"], false);

    let keys = keys();
    for key in keys {
        assert!(!key.doc.is_empty() && !key.r#type.is_empty(), "{key:?}");
    }
    let find = |path: &str, of: Option<&str>| {
        keys.iter()
            .find(|k| k.path == path && k.of.as_deref() == of)
            .unwrap_or_else(|| panic!("{path}"))
            .clone()
    };
    assert_eq!(find("seed", None).default, Some(json!(1)));
    assert_eq!(find("topology.k", Some("fat_tree")).default, Some(json!(8)));
    assert_eq!(find("packets.mtu", None).r#type, "size");
    assert_eq!(find("flow_control.alpha", Some("pfc")).r#type, "number");
    assert_eq!(find("host.ack_class", None).r#type, "`\"control\"`, `\"data\"`, `\"control_at_host\"`");
    assert_eq!(find("traffic[].size", Some("flow")).of.as_deref(), Some("flow"));
    assert!(find("traffic[].load", Some("poisson")).required);
    assert_eq!(find("topology.links[].rate", Some("graph")).r#type, "rate");
    for info in xoff_schemes::registry::catalogue() {
        for parameter in info.schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
            // One that is a table, as another scheme's parameters are, is known by its keys.
            let (path, inside) = (format!("scheme.{parameter}"), format!("scheme.{parameter}."));
            let known = |k: &KeyDoc| k.path == path || k.path.starts_with(&inside);
            assert!(keys.iter().any(|k| k.of.as_deref() == Some(info.name) && known(k)), "{path}");
        }
    }
}

/// The schema's keys are those that are read: every key of a resolved scenario is in the list.
#[test]
fn every_key_of_the_resolved_form_is_listed() {
    fn paths(prefix: &str, value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    paths(&path, value, out);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items {
                    paths(&format!("{prefix}[]"), item, out);
                }
            }
            _ => out.push(prefix.to_string()),
        }
    }
    let keys = keys();
    let mut found = vec![];
    paths("", &resolved(&read(SMALL, &[("scheme.name", "dcqcn")])), &mut found);
    assert!(found.len() > 40, "{}", found.len());
    for path in found {
        assert!(keys.iter().any(|k| k.path == path), "{path}");
    }
}
