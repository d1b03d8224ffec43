//! Training jobs on small networks, with times worked out by hand.

use serde_json::Value;
use xoff::{Output, Scenario};

/// One layer of hidden size 1000 and sequences of 100 tokens, on hosts of one rank: forward 24 * 100 * 10^6 + 4 * 100 * 100 * 1000 =
/// 2.44e9 operations, 2440 us at 10^12 a second; backward twice as long.
const FORWARD: u64 = 2_440_000_000;
const BACKWARD: u64 = 2 * FORWARD;

fn text(hosts: u32, job: &str) -> String {
    format!(
        r#"
        [topology]
        name = "star"
        hosts = {hosts}
        rate = "100Gbps"
        delay = "1us"
        [scheme]
        name = "none"
        [[job]]
        hidden = 1000
        sequence = 100
        ranks_per_host = 1
        tflops = 1.0
        {job}
        "#
    )
}

fn output(hosts: u32, job: &str) -> Output {
    let scenario = Scenario::parse(&text(hosts, job), "training.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    xoff::run(&scenario, &mut |_| true).unwrap()
}

fn iterations(output: &Output) -> &Value {
    &output.manifest["jobs"][0]["iterations"]
}

fn exposed(output: &Output, what: &str) -> f64 {
    let all = iterations(output)["exposed"].as_array().unwrap();
    all.iter().find(|e| e["waits_for"] == what).unwrap()["mean_ps"].as_f64().unwrap()
}

#[test]
fn a_pipeline_of_two_stages_passes_activations_there_and_back() {
    let run = output(2, "layers = 2\nbatch = 1\npipeline = 2\niterations = 2");
    // Activations of 100 tokens, 2000 B each: 137 packets of 1456 B of payload and one of 528 B, so 137 * 1518 + 590 B on the wire,
    // 16,684.48 ns at 100 Gbps. The last packet waits in the switch until the full one before it has left, 121.44 ns after its
    // own arrival it has left too; and twice 1 us of delay.
    let message = 16_684_480 + 121_440 + 2_000_000;
    let times = iterations(&run)["times_ps"].as_array().unwrap();
    let expected = 2 * (FORWARD + BACKWARD + message);
    assert_eq!(times.len(), 2);
    assert_eq!(times[0], expected);
    // Each stage computes a forward and a backward pass, and waits for the other one.
    assert_eq!(iterations(&run)["compute_ps"], (FORWARD + BACKWARD) as f64);
    assert_eq!(exposed(&run, "gradients"), 0.0);
}

#[test]
fn more_micro_batches_fill_the_pipeline() {
    // Without communication m micro-batches on p stages take m + p - 1 times a forward and a backward pass (Narayanan et al.,
    // section 2.2): 4 + 2 - 1 = 5 of them. Messages add some 19 us for each of the dependencies on the longest chain.
    let run = output(2, "layers = 2\nbatch = 4\npipeline = 2");
    let time = iterations(&run)["mean_ps"].as_f64().unwrap();
    let ideal = (5 * (FORWARD + BACKWARD)) as f64;
    assert!((1.0..1.01).contains(&(time / ideal)), "{}", time / ideal);
    // The first stage idles for a forward and a backward pass. The last one begins a forward pass later, ends a backward pass earlier,
    // and its iteration ends with it: it idles for the forward pass alone. The mean of 3 and 1 of 3 is two thirds.
    let bubble = exposed(&run, "pipeline") / (FORWARD + BACKWARD) as f64;
    assert!((0.666..0.69).contains(&bubble), "{bubble}");
}

#[test]
fn replicas_sum_their_gradients_and_buckets_hide_the_sum() {
    // 12 * 10^6 parameters of 2 B: 24 MB, of which each of two ranks sends half, twice. 12 MB are 8242 packets, 12,511,004 B on the
    // wire, 1.0009 ms; ACKs of 66 B for as many packets share each link, 4.4 % more.
    let alone = output(2, "layers = 1\nbatch = 2\ndata = 2");
    let sum = exposed(&alone, "gradients");
    assert!((2.0e9..2.1e9).contains(&sum), "{sum}");
    assert_eq!(iterations(&alone)["mean_ps"], (FORWARD + BACKWARD) as f64 + sum);
    // In four parts, three of them are under way while the last pass, of 4.88 ms, goes on; only the last part is not hidden.
    let hidden = output(2, "layers = 1\nbatch = 2\ndata = 2\nbuckets = 4");
    let rest = exposed(&hidden, "gradients") / sum;
    assert!((0.25..0.27).contains(&rest), "{rest}");
    // Reduce-scatter and all-gather move as many bytes as an all-reduce, the second half after the optimizer's step.
    let sharded = output(2, "layers = 1\nbatch = 2\ndata = 2\nsharded = true\noptimizer = \"1ms\"");
    let (gradients, parameters) = (exposed(&sharded, "gradients"), exposed(&sharded, "parameters"));
    assert!((gradients / parameters - 1.0).abs() < 0.01, "{gradients} {parameters}");
    assert!(((gradients + parameters) / sum - 1.0).abs() < 0.01);
    assert_eq!(iterations(&sharded)["compute_ps"], (FORWARD + BACKWARD) as f64 + 1e9);
}

#[test]
fn all_wait_for_a_straggler() {
    let job = "layers = 1\nbatch = 2\ndata = 2\nstragglers = [{ rank = 1, factor = 1.5 }]";
    let (even, slow) = (output(2, "layers = 1\nbatch = 2\ndata = 2"), output(2, job));
    let longer =
        iterations(&slow)["mean_ps"].as_f64().unwrap() - iterations(&even)["mean_ps"].as_f64().unwrap();
    // Rank 1 takes half as long again. The first half of rank 0's gradients has arrived by then, so that the ACKs of rank 0's
    // 12 MB, 4.4 % of 1 ms, are not in rank 1's way.
    let half = (FORWARD + BACKWARD) as f64 / 2.0;
    assert!((half - 0.05e9..half).contains(&longer), "{longer}");
    // Both iterations are longer by that but for the last ACKs, and of the two ranks one computes half as long again.
    let waits = exposed(&slow, "gradients") - exposed(&even, "gradients");
    let expected = longer - half / 2.0;
    assert!((waits / expected - 1.0).abs() < 0.02, "{waits} {expected}");
}

#[test]
fn ranks_of_one_host_sum_over_their_own_links() {
    // Two ranks a host share the layer: each computes half. Four sums of the activations of 200,000 B, two forward and two backward:
    // each is two steps of 100,000 B at 800 Gbps, 1 us, and 500 ns.
    let job =
        "layers = 1\nbatch = 2\ntensor = 2\ndata = 2\nlocal_rate = \"800Gbps\"\nlocal_delay = \"500ns\"";
    let two = text(2, job).replace("ranks_per_host = 1", "ranks_per_host = 2");
    let scenario = Scenario::parse(&two, "training.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = xoff::run(&scenario, &mut |_| true).unwrap();
    assert_eq!(exposed(&run, "tensor"), 4.0 * 2.0 * 1.5e6);
    assert_eq!(iterations(&run)["compute_ps"], ((FORWARD + BACKWARD) / 2) as f64);
}

#[test]
fn ranks_that_share_layers_wait_for_the_slowest() {
    // Rank 1 shares the layer with rank 0 on one host, and takes twice as long. A rank's half of attention takes 420 us forward, that
    // of the feed-forward part 800 us, and twice that back. Behind each of these four computations stands a sum, for which rank 0
    // waits as long as it computed itself: 3 (420 + 800) us. All four ranks have four sums, of two steps of 100,000 B at 800 Gbps.
    let job = "layers = 1\nbatch = 2\ntensor = 2\ndata = 2\nlocal_rate = \"800Gbps\"";
    let job = format!("{job}\nstragglers = [{{ rank = 1, factor = 2.0 }}]");
    let two = text(2, &job).replace("ranks_per_host = 1", "ranks_per_host = 2");
    let scenario = Scenario::parse(&two, "training.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = xoff::run(&scenario, &mut |_| true).unwrap();
    assert_eq!(exposed(&run, "tensor"), 4.0 * 2.0 * 1e6 + 3660e6 / 4.0);
}

#[test]
fn an_algorithm_is_that_of_gradients() {
    // Hosts hold two ranks, which share layers, so a sum of gradients is among one rank of each of two hosts. A hierarchy of domains of
    // one rank is the ring across them. Sums of activations stay within a host and are rings whatever the algorithm is.
    let gradients = |more: &str| {
        let job = format!("layers = 1\nbatch = 2\ntensor = 2\ndata = 2\n{more}");
        let two = text(2, &job).replace("ranks_per_host = 1", "ranks_per_host = 2");
        let scenario = Scenario::parse(&two, "training.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        let run = xoff::run(&scenario, &mut |_| true).unwrap();
        [exposed(&run, "tensor"), exposed(&run, "gradients")]
    };
    let found = gradients("algorithm = \"hierarchical\"");
    assert!(found[1] > 0.0);
    assert_eq!(found, gradients("algorithm = \"ring\""));
}

#[test]
fn experts_exchange_tokens_of_all_replicas() {
    // Two experts on two replicas: in each pass the tokens go to the experts and back, each time half of 200,000 B to the other host:
    // 100,000 B are 69 packets, 104,278 B on the wire, 8.34 us, and some 2.1 us for the way; ACKs make it a little longer.
    let run = output(2, "layers = 1\nbatch = 2\ndata = 2\nexpert = 2\nexperts = 2");
    let waits = exposed(&run, "expert");
    assert!((4.0 * 10.4e6..4.0 * 13.0e6).contains(&waits), "{waits}");
}

#[test]
fn placements_put_ranks_where_they_say() {
    let hosts_of = |more: &str| {
        let run = output(6, &format!("layers = 1\nbatch = 4\ndata = 4\n{more}"));
        let flows = &run.tables.iter().find(|t| t.name == "flows").unwrap().batch;
        let column = xoff_column(flows, "src");
        let mut hosts: Vec<String> = column;
        hosts.sort();
        hosts.dedup();
        hosts
    };
    assert_eq!(hosts_of(""), ["host0", "host1", "host2", "host3"]);
    assert_eq!(hosts_of("hosts = \"host2..host5\""), ["host2", "host3", "host4", "host5"]);
    let random: Vec<Vec<String>> = (1..6)
        .map(|seed| {
            let scenario = text(6, "layers = 1\nbatch = 4\ndata = 4\nplacement = \"random\"");
            let set = [("seed".to_string(), seed.to_string())];
            let run = xoff::run(&Scenario::parse(&scenario, "t", &set).unwrap(), &mut |_| true).unwrap();
            let mut hosts = xoff_column(&run.tables.iter().find(|t| t.name == "flows").unwrap().batch, "src");
            hosts.sort();
            hosts.dedup();
            hosts
        })
        .collect();
    assert!(random.iter().all(|hosts| hosts.len() == 4));
    assert!(random.iter().any(|hosts| hosts != &random[0]), "every seed drew the same hosts");
}

/// A column of names.
fn xoff_column(batch: &arrow_array::RecordBatch, name: &str) -> Vec<String> {
    use arrow_array::cast::AsArray;
    let column = batch.column_by_name(name).unwrap();
    let dictionary = column.as_dictionary::<arrow_array::types::Int32Type>();
    let names = dictionary.values().as_string::<i32>();
    dictionary.keys().iter().map(|key| names.value(key.unwrap() as usize).to_string()).collect()
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    let refused = |job: &str| Scenario::parse(&text(4, job), "training.toml", &[]).unwrap_err().to_string();
    let cases = [
        ("layers = 3\nbatch = 1\npipeline = 2", "`pipeline` in [[job]] is 2", "a divisor of the 3 layers"),
        (
            "layers = 1\nbatch = 3\ndata = 2",
            "`batch` in [[job]] is 3",
            "a multiple of `data` times `micro_batch`, 2",
        ),
        ("layers = 1\nbatch = 8\ndata = 8", "`hosts` in [[job]] is room for 4 ranks", "the 8 ranks"),
        (
            "layers = 1\nbatch = 2\ndata = 2\nexpert = 2",
            "`expert` in [[job]] has no meaning here",
            "without `experts`",
        ),
        ("layers = 1\nbatch = 1", "`ranks_per_host` in [[job]] is 1, so that all 1 ranks", "several hosts"),
        (
            "layers = 1\nbatch = 2\ndata = 2\nstragglers = [{rank = 2, factor = 2.0}]",
            "of rank 2",
            "ranks below 2",
        ),
        (
            "layers = 1\nbatch = 2\ndata = 2\nplacement = \"file\"",
            "`placement_file` in [[job]] is missing",
            "a host in each line",
        ),
        (
            "layers = 1\nbatch = 4000000000\ndata = 2",
            "`batch` in [[job]] is 4000000000",
            "at most 50000000 steps",
        ),
        ("layers = 1\nbatch = 2\ndata = 2\nlayer = 1", "unknown key `layer` in [[job]]", "layers"),
        ("pattern = \"poisson\"\nlayers = 1", "unknown job \"poisson\"", "training"),
    ];
    for (job, found, expected) in cases {
        let message = refused(job);
        assert!(message.contains(found) && message.contains(expected), "{job}: {message}");
    }
}

#[test]
fn a_job_is_traffic_and_stands_beside_other_traffic() {
    let mut with = text(4, "label = \"first\"\nlayers = 1\nbatch = 2\ndata = 2");
    with += r#"
        [[job]]
        label = "second"
        hidden = 1000
        sequence = 100
        ranks_per_host = 1
        tflops = 1.0
        layers = 1
        batch = 2
        data = 2
        hosts = "host2..host3"
        [[traffic]]
        pattern = "flow"
        src = "host0"
        dst = "host2"
        size = "1MB"
    "#;
    let scenario = Scenario::parse(&with, "two.toml", &[]).unwrap();
    let patterns: Vec<&str> = scenario.traffic.iter().map(|p| p.label()).collect();
    assert_eq!(patterns, ["flow", "first", "second"]);
    // The resolved scenario is a scenario, and the same one.
    let again = serde_json::to_value(&scenario).unwrap();
    assert_eq!(again["traffic"][1]["pattern"], "training");
    let run = xoff::run(&scenario, &mut |_| true).unwrap();
    let labels: Vec<_> = run.manifest["jobs"].as_array().unwrap().iter().map(|j| &j["label"]).collect();
    assert_eq!(labels, ["first", "second"]);
    let same = with.replace("label = \"second\"", "");
    let message =
        Scenario::parse(&same.replace("label = \"first\"", ""), "two.toml", &[]).unwrap_err().to_string();
    assert!(message.contains("`label` in [[job]] is `training`, as that of another job"), "{message}");
    let wrong = with.replace("label = \"second\"", "label = \"second\"\nexperts = 3\nexpert = 2");
    let message = Scenario::parse(&wrong, "two.toml", &[]).unwrap_err().to_string();
    assert!(message.contains("`experts` in [[job]] is 3"), "{message}");
    let line = 1 + wrong.lines().position(|line| line.contains("experts = 3")).unwrap();
    assert!(message.contains(&format!("two.toml:{line}")), "{message}");
}
