//! Properties of all traffic: order, determinism, valid indexes, loads, and that no description panics.

use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_traffic::files::Texts;
use xoff_traffic::pattern::{AllToAll, Burst, Flow, Incast, List, Permutation, Poisson};
use xoff_traffic::{
    ConnectionMapping, HostInfo, HostList, Pattern, Senders, Traffic, generate, generate_if, workloads,
};

fn hosts(n: u32, rate: Rate) -> Vec<HostInfo> {
    (0..n).map(|i| HostInfo { name: format!("host{i}"), rate, rack: 0, nics: 1 }).collect()
}

fn files(path: &str) -> Result<String, String> {
    if path == "there" { Ok("host0 host1 1KB 0us\nhost1 host0 2KB 7ps".into()) } else { Err("absent".into()) }
}

fn poisson(workload: &str, load: f64) -> Poisson {
    Poisson {
        label: None,
        priority: 0,
        nic: None,
        connection: ConnectionMapping::PerMessage,
        start: Time::from_us(10),
        load,
        workload: Some(workload.into()),
        cdf: None,
        size: None,
        hosts: HostList::all(),
        destinations: HostList::all(),
        stop: None,
        duration: None,
    }
}

#[test]
fn poisson_offers_the_load_that_was_asked_for() {
    // The bytes of a compound Poisson process with n expected flows have mean n E[x] and variance n E[x^2], so that the
    // offered load has the relative sigma sqrt(E[x^2] / n) / E[x]. Rounding to whole bytes, at least 1, moves the mean by
    // less than a byte.
    let gbps = Rate::from_gbps(100);
    for (workload, load, ms, seed) in [
        ("websearch", 0.5, 40, 1),
        ("fb_hadoop", 0.6, 10, 2),
        ("fb_webserver", 0.8, 10, 3),
        ("ali_storage", 0.3, 10, 4),
    ] {
        let horizon = Time::from_ms(ms) + Time::from_us(10);
        let pattern = Pattern::Poisson(poisson(workload, load));
        let Traffic { flows, offered, .. } =
            generate(&[pattern], &hosts(32, gbps), seed, Some(horizon), &files).unwrap();
        let cdf = &workloads::find(workload).unwrap().cdf;
        // 32 hosts, 12.5e6 B a millisecond each.
        let n = 32.0 * 12.5e6 * ms as f64 * load / cdf.mean();
        let sigma = (cdf.mean_square() / n).sqrt() / cdf.mean();
        assert!(sigma < 0.05, "{workload}: {sigma} says nothing");
        let report = &offered[0];
        let off = report.offered / load - 1.0;
        assert!(off.abs() < 3.0 * sigma + 1.0 / cdf.mean(), "{workload}: off by {off}, sigma {sigma}");
        // The number of flows is Poisson: sigma sqrt(n).
        assert!((flows.len() as f64 - n).abs() < 3.0 * n.sqrt(), "{workload}: {} for {n}", flows.len());
        assert_eq!((report.start, report.end, report.asked), (Time::from_us(10), horizon, load));
        // Destinations: each of 32 hosts gets n/32, sigma about sqrt(n/32); five sigma.
        let mut received = [0f64; 32];
        flows.iter().for_each(|f| received[f.dst as usize] += 1.0);
        assert!(
            received.iter().all(|r| (r - n / 32.0).abs() < 5.0 * (n / 32.0).sqrt() + 1.0),
            "{received:?}"
        );
    }
}

#[test]
fn a_faster_host_sends_as_much_more() {
    // Host 0 has four times the rate of host 1. 10 ms at 100 Gbps and load 0.8 are 1e8 B: 10,000 flows of 10 KB, and
    // 2,500 at 25 Gbps; five sigma are 500 and 250.
    let mut pair = hosts(2, Rate::from_gbps(25));
    pair[0].rate = Rate::from_gbps(100);
    let pattern = Poisson { workload: None, size: Some(Bytes(10_000)), ..poisson("", 0.8) };
    let end = Some(Time::from_ms(10) + Time::from_us(10));
    let t = generate(&[Pattern::Poisson(pattern)], &pair, 5, end, &files).unwrap();
    let fast = t.flows.to_vec().iter().filter(|f| f.src == 0).count();
    assert!(fast.abs_diff(10_000) < 500, "{fast}");
    assert!((t.flows.len() - fast).abs_diff(2_500) < 250);
}

#[test]
fn a_host_draws_the_same_whoever_else_takes_part() {
    let end = Some(Time::from_ms(2));
    let of = |senders: &str, host: u32| {
        let pattern = Poisson { hosts: HostList(vec![senders.into()]), ..poisson("fb_hadoop", 0.5) };
        let t =
            generate(&[Pattern::Poisson(pattern)], &hosts(8, Rate::from_gbps(100)), 9, end, &files).unwrap();
        t.flows.to_vec().into_iter().filter(|f| f.src == host).collect::<Vec<_>>()
    };
    let alone = of("host5", 5);
    assert!(alone.len() > 10);
    assert_eq!(alone, of("all", 5));
    assert_ne!(
        alone.iter().map(|f| f.start).collect::<Vec<_>>(),
        of("all", 4).iter().map(|f| f.start).collect::<Vec<_>>()
    );
}

/// Mostly `usual`, at times one of the others.
fn mostly<T: Clone + std::fmt::Debug + 'static>(usual: T, others: Vec<T>) -> impl Strategy<Value = T> {
    prop_oneof![4 => Just(usual), 1 => prop::sample::select(others)]
}

/// Times between which repetitions are either few or too many to be made.
const TIMES: [u64; 5] = [0, 1, 1 << 30, 1 << 36, u64::MAX];

fn start() -> impl Strategy<Value = Time> {
    mostly(0, TIMES.to_vec()).prop_map(Time)
}

fn every() -> impl Strategy<Value = Option<Time>> {
    prop::option::of(mostly(1 << 25, TIMES.to_vec()).prop_map(Time))
}

fn end() -> impl Strategy<Value = Option<Time>> {
    mostly(None, TIMES.map(Some).to_vec()).prop_map(|end| end.map(Time))
}

fn size() -> impl Strategy<Value = Bytes> {
    mostly(1_000_000, vec![0, 1, 1_000_000_000_000, u64::MAX]).prop_map(Bytes)
}

fn name() -> impl Strategy<Value = String> {
    let odd = ["random", "all", "", "ghost", "host0..host3", "..", "\u{1f980}7"];
    prop_oneof![
        4 => prop::sample::select(vec!["host0", "host1", "host3"]).prop_map(String::from),
        1 => prop::sample::select(odd.to_vec()).prop_map(String::from)
    ]
}

fn list() -> impl Strategy<Value = HostList> {
    prop_oneof![2 => Just(HostList::all()), 1 => prop::collection::vec(name(), 0..3).prop_map(HostList)]
}

fn senders() -> impl Strategy<Value = Senders> {
    prop_oneof![mostly(3, vec![0, 1, u64::MAX]).prop_map(Senders::Count), list().prop_map(Senders::Hosts)]
}

fn count() -> impl Strategy<Value = Option<u64>> {
    mostly(None, vec![Some(0), Some(1), Some(50), Some(u64::MAX)])
}

/// A size or a workload, at times both or neither.
fn sizes() -> impl Strategy<Value = (Option<Bytes>, Option<String>)> {
    prop_oneof![
        2 => size().prop_map(|size| (Some(size), None)),
        4 => mostly("websearch", vec!["tcd_io", "unknown"]).prop_map(|name| (None, Some(name.into()))),
        1 => Just((None, None)),
        1 => Just((Some(Bytes(1)), Some("websearch".into()))),
    ]
}

fn connection() -> impl Strategy<Value = ConnectionMapping> {
    use ConnectionMapping::*;
    mostly(PerMessage, vec![PerPair, PerProcessPair, Count(1), Count(3), Count(u32::MAX)])
}

/// Any pattern, sensible or not.
fn pattern() -> impl Strategy<Value = Pattern> {
    let common = || {
        (
            mostly(None, vec![Some("".into()), Some("x".into())]),
            mostly(0u8, vec![7, 8, 255]),
            connection(),
            start(),
        )
    };
    prop_oneof![
        (
            common(),
            name(),
            name(),
            prop::option::of(size()),
            end(),
            mostly(None, vec![Some(Rate(0)), Some(Rate(1)), Some(Rate(u64::MAX))])
        )
            .prop_map(|((label, priority, connection, start), src, dst, size, stop, rate)| {
                Pattern::Flow(Flow {
                    label,
                    priority,
                    nic: None,
                    connection,
                    start,
                    src,
                    dst,
                    size,
                    stop,
                    rate,
                })
            }),
        (common(), senders(), name(), any::<bool>(), size(), (count(), every(), end(), any::<bool>()))
            .prop_map(
                |(
                    (label, priority, connection, start),
                    senders,
                    receiver,
                    random,
                    size,
                    (repeat, every, stop, poisson),
                )| {
                    Pattern::Incast(Incast {
                        label,
                        priority,
                        nic: None,
                        connection,
                        start,
                        senders,
                        receiver,
                        random,
                        size,
                        spread: every.unwrap_or_default(),
                        repeat,
                        every,
                        stop,
                        poisson,
                    })
                }
            ),
        (common(), list(), list(), any::<bool>(), sizes(), (count(), every(), end(), any::<bool>()))
            .prop_map(
                |(
                    (label, priority, connection, start),
                    senders,
                    receivers,
                    paired,
                    (size, workload),
                    (count, every, stop, poisson),
                )| {
                    Pattern::Burst(Burst {
                        label,
                        priority,
                        nic: None,
                        connection,
                        start,
                        senders,
                        receivers,
                        paired,
                        size,
                        workload,
                        cdf: None,
                        count,
                        every,
                        stop,
                        poisson,
                    })
                }
            ),
        (common(), prop_oneof![4 => Just(0.5), 1 => any::<f64>()], sizes(), (list(), list()), (end(), end()))
            .prop_map(
                |(
                    (label, priority, connection, start),
                    load,
                    (size, workload),
                    (hosts, destinations),
                    (stop, duration),
                )| {
                    Pattern::Poisson(Poisson {
                        label,
                        priority,
                        nic: None,
                        connection,
                        start,
                        load,
                        workload,
                        cdf: None,
                        size,
                        hosts,
                        destinations,
                        stop,
                        duration,
                    })
                }
            ),
        (common(), list(), size(), mostly(Time::ZERO, TIMES.map(Time).to_vec())).prop_map(
            |((label, priority, connection, start), hosts, size, stagger)| {
                Pattern::AllToAll(AllToAll {
                    label,
                    priority,
                    nic: None,
                    connection,
                    start,
                    hosts,
                    size,
                    stagger,
                })
            }
        ),
        (common(), list(), prop::option::of(size()), end()).prop_map(
            |((label, priority, connection, start), hosts, size, stop)| {
                Pattern::Permutation(Permutation {
                    label,
                    priority,
                    nic: None,
                    connection,
                    start,
                    hosts,
                    size,
                    stop,
                })
            }
        ),
        (common(), prop::sample::select(vec!["there", "not"])).prop_map(
            |((label, priority, connection, start), file)| {
                Pattern::List(List {
                    label,
                    priority,
                    nic: None,
                    connection,
                    start,
                    file: file.into(),
                    across_hosts: false,
                })
            }
        ),
    ]
}

/// What holds for all traffic among `n` hosts that ends at `horizon`.
fn check(traffic: &Traffic, n: u32, horizon: Option<Time>) -> Result<(), TestCaseError> {
    for flow in &traffic.flows.to_vec() {
        prop_assert!(flow.src < n && flow.dst < n && flow.src != flow.dst);
        prop_assert!(flow.size.bytes().is_none_or(|s| (1..=1_000_000_000_000).contains(&s)));
        prop_assert!(flow.start < horizon.unwrap_or(Time::NEVER));
        prop_assert!(flow.stop > flow.start);
        prop_assert!(flow.size.bytes().is_some() || flow.stop != Time::NEVER || horizon.is_some());
        prop_assert!(usize::from(flow.label) < traffic.labels.len() && flow.priority <= 7);
    }
    prop_assert!(traffic.flows.to_vec().windows(2).all(|w| w[0].start <= w[1].start));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_description_panics_and_what_is_made_is_valid(
        pattern in pattern(),
        n in mostly(5u32, vec![0, 1, 2, 4]),
        rate in mostly(100_000_000_000, vec![0, u64::MAX]),
        horizon in mostly(Some(Time(1 << 26)), vec![None, Some(Time(0)), Some(Time(1000)), Some(Time::NEVER)]),
        seed: u64,
    ) {
        // More than a million flows take seconds and gigabytes, and say nothing that fewer do not say.
        let hosts = hosts(n, Rate(rate));
        let mut few = |counts: &[u64]| counts[0] <= 1_000_000;
        let text = |name: &str| files(name).map_err(std::io::Error::other);
        match generate_if(std::slice::from_ref(&pattern), &hosts, seed, horizon, &Texts(&text), &mut few) {
            Ok(traffic) => check(&traffic.unwrap_or_default(), n, horizon)?,
            Err(error) => prop_assert!(error.to_string().starts_with("traffic[0]")),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_seed_gives_one_traffic(seed: u64, load in 0.1f64..1.0, n in 2u32..20) {
        let patterns = [
            Pattern::Poisson(poisson("fb_webserver", load)),
            Pattern::Permutation(Permutation {
                label: None, priority: 1, nic: None, connection: ConnectionMapping::PerPair, start: Time::ZERO, hosts: HostList::all(), size: None, stop: None,
            }),
        ];
        let (hosts, end) = (hosts(n, Rate::from_gbps(100)), Some(Time::from_us(300)));
        let first = generate(&patterns, &hosts, seed, end, &files).unwrap();
        check(&first, n, end)?;
        prop_assert_eq!(&first, &generate(&patterns, &hosts, seed, end, &files).unwrap());
        let second = generate(&patterns[..1], &hosts, seed ^ 1, end, &files).unwrap();
        // Nobody needs to have sent anything in so short a time; whoever has, starts at another picosecond.
        prop_assert!(second.flows.is_empty() || first.flows.to_vec()[n as usize..] != second.flows.to_vec());
    }

    #[test]
    fn a_permutation_is_a_bijection_without_fixed_point(seed: u64, n in 2u32..200) {
        let pattern = Pattern::Permutation(Permutation {
            label: None, priority: 0, nic: None, connection: ConnectionMapping::PerPair, start: Time::ZERO, hosts: HostList::all(), size: Some(Bytes(1)), stop: None,
        });
        let flows = generate(&[pattern], &hosts(n, Rate::from_gbps(1)), seed, None, &files).unwrap().flows.to_vec();
        prop_assert_eq!(flows.iter().map(|f| f.src).collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
        let mut to: Vec<u32> = flows.iter().map(|f| f.dst).collect();
        prop_assert!(flows.iter().all(|f| f.src != f.dst));
        to.sort_unstable();
        prop_assert_eq!(to, (0..n).collect::<Vec<_>>());
    }
}
