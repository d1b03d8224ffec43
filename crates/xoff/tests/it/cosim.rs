//! Sessions: messages from another program fare as those of a run, and the other program hears of them in time and in order.

use std::io;

use xoff::cosim::{Event, Host, MessageId, Options, Send, Session, SessionError};
use xoff::engine::{Rate, Time};
use xoff::scenario::{Effort, OwnSchemes};
use xoff::traffic::ConnectionMapping;
use xoff::{Output, RunError, Scenario, Threads, run_on};

fn read(text: &str, files: &[(&str, &str)], effort: Effort) -> Scenario {
    let files = |name: &str| {
        let found = files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.to_string()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let scenario = Scenario::parse_among(text, "session.toml", &[], &files, &OwnSchemes::default(), effort);
    scenario.unwrap_or_else(|e| panic!("{e}"))
}

fn open(text: &str) -> Session {
    Session::open(read(text, &[], Effort::Session), Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// 100 Gbps, 1 us a link. A full packet has 952 B of payload and takes 80 ns on a link, an ACK of 50 B 4 ns.
fn star(hosts: u32) -> String {
    format!(
        r#"
        topology = {{ name = "star", hosts = {hosts}, rate = "100Gbps", delay = "1us" }}
        scheme = {{ name = "none" }}
        packets = {{ mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }}
        "#
    )
}

const US: u64 = 1_000_000;
const FRAME: u64 = 80_000;
const ACK: u64 = 4_000;

/// From the first bit of `packets` full packets to the arrival of the last over two links with a switch in between.
fn there(packets: u64) -> u64 {
    (packets + 1) * FRAME + 2 * US
}

fn times(events: &[Event]) -> Vec<(u64, &'static str)> {
    let name = |event: &Event| match event {
        Event::Sent { .. } => "sent",
        Event::Delivered { .. } => "delivered",
        Event::Received { .. } => "received",
        Event::Timer { .. } => "timer",
    };
    events.iter().map(|event| (event.at().ps(), name(event))).collect()
}

#[test]
fn events_come_at_their_times_and_in_order() {
    // One packet is there after 2 * 80 ns + 2 us; its ACK needs 2 * (4 ns + 1 us). The timer is set between the two.
    let mut session = open(&star(2));
    let (a, b) = (Host(0), Host(1));
    session.send(Send { tag: Some(3), ..Send::new(a, b, 952) }).expect("a message");
    session.schedule(Time(3 * US), 42).expect("a timer");
    // Another timer comes at the very time of the arrival, and ahead of it.
    session.schedule(Time(there(1)), 43).expect("a timer");
    let (arrival, back) = (there(1), there(1) + 2 * (ACK + US));
    let all = [(arrival, "timer"), (arrival, "delivered"), (3 * US, "timer"), (back, "sent")];
    assert_eq!(times(&session.advance_until(Time(10 * US)).expect("events")), all);
    assert_eq!(session.now(), Time(10 * US));
    // The message has arrived; a receive finds it now.
    session.recv(a, b, 3).expect("a receive");
    assert_eq!(times(&session.advance_to_next(None).expect("events")), [(10 * US, "received")]);
    // The next one arrives for a receive that waits, and the session stands at that time.
    session.recv(a, b, 3).expect("a receive");
    session.send(Send { tag: Some(3), ..Send::new(a, b, 952) }).expect("a message");
    let at = 10 * US + arrival;
    let events = session.advance_to_next(None).expect("events");
    assert_eq!(times(&events), [(at, "delivered"), (at, "received")]);
    assert_eq!(session.now(), Time(at));
    // Up to a limit nothing happens; then comes the ACK, and then nothing is left.
    assert_eq!(times(&session.advance_to_next(Some(Time(at + US))).expect("none")), []);
    assert_eq!(session.now(), Time(at + US));
    assert_eq!(times(&session.advance_to_next(None).expect("events")), [(10 * US + back, "sent")]);
    assert_eq!(times(&session.advance_to_next(None).expect("none")), []);
    let stats = session.stats();
    assert_eq!((stats.messages, stats.delivered, stats.sent, stats.delivered_bytes), (2, 2, 2, 1904));
    assert_eq!((stats.fct_sum_ps, stats.max_fct_ps), (2 * back, back));
    assert_eq!((stats.unexpected, stats.posted), (0, 0));
    let output = session.close().expect("results");
    assert_eq!(output.summary().completed, 2);
    assert_eq!(output.manifest["stop_reason"], "the session was closed");
    assert_eq!(output.manifest["session"]["connection"], "per_pair");
}

#[test]
fn timers_of_one_time_come_in_the_order_of_the_calls() {
    let mut session = open(&star(2));
    for (at, token) in [(5, 1), (2, 2), (5, 3), (0, 4)] {
        session.schedule(Time(at), token).expect("a timer");
    }
    let mut tokens = Vec::new();
    loop {
        let events = session.advance_to_next(None).expect("events");
        if events.is_empty() {
            break;
        }
        tokens.extend(events.iter().map(|event| match event {
            Event::Timer { at, token } => (at.ps(), *token),
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(tokens, [(0, 4), (2, 2), (5, 1), (5, 3)]);
}

#[test]
fn a_ring_allreduce_of_the_caller_takes_its_phases() {
    // As in closed_loops.rs: 5 ranks, blocks of 10 packets, 8 phases; a rank sends its next block when the block before it is
    // there. Nothing meets within a phase, so that each takes `there(10)`; but the ACK of a block's last packet goes ahead of the
    // block that answers it, 4 ns in each phase but the first.
    const RANKS: u32 = 5;
    let mut session = open(&star(RANKS));
    let next = |rank: u32| (rank + 1) % RANKS;
    let step = |session: &mut Session, rank: u32, phase: u64| {
        session.recv(Host((rank + RANKS - 1) % RANKS), Host(rank), phase).expect("a receive");
        let block = Send { tag: Some(phase), ..Send::new(Host(rank), Host(next(rank)), 9_520) };
        session.send(block).expect("a message");
    };
    (0..RANKS).for_each(|rank| step(&mut session, rank, 0));
    let mut ends = Vec::new();
    while ends.len() < RANKS as usize {
        for event in session.advance_to_next(None).expect("events") {
            let Event::Received { at, message, .. } = event else { continue };
            match message.tag.expect("a tag") + 1 {
                8 => ends.push(at.ps()),
                phase => step(&mut session, message.dst.0, phase),
            }
        }
    }
    assert_eq!(ends, [8 * there(10) + 7 * ACK; 5]);
}

#[test]
fn a_message_of_a_host_to_itself_takes_the_local_time() {
    // 8 Gbps are 1 ns a byte: 1,000 B and 500 B one after the other take 1 us and 1.5 us, and 0.2 us of delay each. Another
    // host's copy does not wait for them.
    let options =
        Options { local_rate: Some(Rate(8_000_000_000)), local_delay: Time(US / 5), ..Options::default() };
    let mut session = Session::open(read(&star(2), &[], Effort::Session), options).expect("a session");
    let mut local = |host, bytes| session.send(Send::new(Host(host), Host(host), bytes)).expect("a message");
    let ids = [local(0, 1_000), local(0, 500), local(1, 500)];
    assert!(ids.iter().all(|id| id.is_local()));
    let at = |event: &Event| (event.message().expect("a message").id, event.at().ps());
    let events = session.advance_until(Time(10 * US)).expect("events");
    let delivered: Vec<_> = events.iter().filter(|e| matches!(e, Event::Delivered { .. })).map(at).collect();
    assert_eq!(delivered, [(ids[2], 700_000), (ids[0], 1_200_000), (ids[1], 1_700_000)]);
    assert_eq!(session.stats().sent, 3);
    // Without a rate and a delay, the message is there at once.
    let mut session = open(&star(2));
    session.send(Send::new(Host(1), Host(1), 1 << 40)).expect("a message");
    assert_eq!(times(&session.advance_to_next(None).expect("events")), [(0, "delivered"), (0, "sent")]);
}

/// Messages that meet: by turns, each of 8 hosts sends to host 0, and host 0 to each, three times, some at equal times. Before the
/// third time, all connections have been idle, and congestion control remembers the second.
fn list() -> Vec<(u32, u32, u64, u64)> {
    let mut list: Vec<_> = [0, 3, 60u64]
        .into_iter()
        .flat_map(|round| {
            (1..8u32).flat_map(move |host| {
                let start = round * US + u64::from(host / 3) * 100_000;
                [(host, 0, 20_000 + 1_000 * u64::from(host), start), (0, host, 5_000, start + round)]
            })
        })
        .collect();
    list.sort_by_key(|message| message.3);
    list
}

fn leaf_spine(scheme: &str, traffic: &str) -> String {
    format!(
        r#"
        topology = {{ name = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 4 }}
        scheme = {{ name = "{scheme}" }}
        flow_control = {{ name = "pfc", xoff = "20KB" }}
        record = {{ pauses = true, interval = "1us", queues = "all", rates = "all" }}
        {traffic}
        "#
    )
}

/// The same messages as a run's.
fn plain(scheme: &str, connection: &str) -> Output {
    let mut file = "src dst size_bytes start_ps\n".to_string();
    for (src, dst, bytes, start) in list() {
        file += &format!("host{src} host{dst} {bytes} {start}\n");
    }
    let traffic = format!(
        r#"traffic = [{{ pattern = "list", label = "session", file = "list", connection = {connection} }}]"#
    );
    let scenario = read(&leaf_spine(scheme, &traffic), &[("list", &file)], Effort::Build);
    run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

fn session(scheme: &str, connection: ConnectionMapping) -> Session {
    let options = Options { connection: Some(connection), ..Options::default() };
    Session::open(read(&leaf_spine(scheme, ""), &[], Effort::Session), options).expect("a session")
}

fn send(session: &mut Session, (src, dst, bytes, start): (u32, u32, u64, u64)) -> MessageId {
    let message = Send { at: Some(Time(start)), ..Send::new(Host(src), Host(dst), bytes) };
    session.send(message).expect("a message")
}

fn table<'a>(output: &'a Output, name: &str) -> &'a arrow_array::RecordBatch {
    &output.tables.iter().find(|table| table.name == name).expect("a table").batch
}

#[test]
fn a_session_without_answers_equals_a_run_of_its_messages() {
    for scheme in ["none", "dcqcn", "hpcc", "swift"] {
        for (name, mapping) in [
            ("\"per_pair\"", ConnectionMapping::PerPair),
            ("\"per_message\"", ConnectionMapping::PerMessage),
            ("2", ConnectionMapping::Count(2)),
        ] {
            let run = plain(scheme, name);
            let what = format!("{scheme}, {name}");
            assert!(table(&run, "pauses").num_rows() > 0 || scheme != "none", "messages meet: {what}");
            // All messages are sent before time passes.
            let mut before = session(scheme, mapping);
            list().into_iter().for_each(|message| _ = send(&mut before, message));
            before.advance_until(Time(1_000 * US)).expect("events");
            // Each is sent when its time has come, and time passes in odd steps.
            let mut stepped = session(scheme, mapping);
            for message in list() {
                while stepped.now().ps() < message.3 {
                    let to = message.3.min(stepped.now().ps() + 77_777);
                    stepped.advance_until(Time(to)).expect("events");
                }
                send(&mut stepped, message);
            }
            while !stepped.advance_to_next(None).expect("events").is_empty() {}
            for session in [before, stepped] {
                let output = session.close().expect("results");
                assert_eq!(table(&output, "flows"), table(&run, "flows"), "{what}");
                assert_eq!(table(&output, "pauses"), table(&run, "pauses"), "{what}");
            }
        }
    }
}

/// A session with the messages of [`list`] and a run of them have the same flows, in a network with these settings.
fn equals(settings: &str, connection: ConnectionMapping) {
    let network = format!(
        r#"
        topology = {{ name = "leaf_spine", leaves = 2, spines = 2, hosts_per_leaf = 4 }}
        {settings}
        "#
    );
    let mut file = "src dst size_bytes start_ps\n".to_string();
    for (src, dst, bytes, start) in list() {
        file += &format!("host{src} host{dst} {bytes} {start}\n");
    }
    let traffic = format!(
        "{network}\ntraffic = [{{ pattern = \"list\", label = \"session\", file = \"list\", connection = \"{connection}\" }}]"
    );
    let run = run_on(Threads::UpTo(1), &read(&traffic, &[("list", &file)], Effort::Build), &mut |_| true);
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    let options = Options { connection: Some(connection), ..Options::default() };
    let mut session = Session::open(read(&network, &[], Effort::Session), options).expect("a session");
    for message in list() {
        session.advance_until(Time(message.3)).expect("events");
        send(&mut session, message);
    }
    while !session.advance_to_next(None).expect("events").is_empty() {}
    let output = session.close().expect("results");
    assert_eq!(table(&output, "flows"), table(&run, "flows"), "{settings}");
    assert_eq!(table(&output, "breakdown"), table(&run, "breakdown"), "{settings}");
}

#[test]
fn messages_fare_alike_under_every_transport_and_flow_control() {
    let (own, pair) = (ConnectionMapping::PerMessage, ConnectionMapping::PerPair);
    // Parts of flows' times are kept by flow.
    equals("scheme = { name = \"dcqcn\" }\nrecord = { breakdown = true, roots = true }", pair);
    // Packets are lost and sent again, by go-back-N and by selective repeat.
    let lossy = "scheme = { name = \"none\" }\nlossy = true\nflow_control = { name = \"none\" }\nswitch = { buffer = \"15KB\" }";
    equals(lossy, pair);
    equals(&format!("{lossy}\nhost = {{ transport = \"selective_repeat\" }}"), pair);
    // Packets choose their paths as they go.
    let spray = "routing = { choice = \"per_packet\" }\nhost = { transport = \"unordered\" }";
    equals(&format!("scheme = {{ name = \"none\" }}\n{spray}"), pair);
    // Credits come back outside the queue of events.
    equals("scheme = { name = \"none\" }\nflow_control = { name = \"credit\", credits = 8192 }", pair);
    // Connections of Ultra Ethernet, of one message each.
    equals("scheme = { name = \"nscc\" }\nhost = { transport = \"uet\" }", own);
    // Link-level retry has events with numbers behind those of flows.
    equals("scheme = { name = \"none\" }\nlink = { frame_loss = 0.01, llr = {} }", pair);
}

#[test]
fn a_program_in_the_background_and_faults_are_as_without_a_session() {
    // Hosts 0 to 2 run all-reduces, whose steps have numbers behind those of flows, and host 1 takes no data for a while, by events
    // with such numbers too. Messages between hosts 3 and 4 use other links, so nothing of that may change.
    let text = format!(
        r#"{}
        traffic = [{{ pattern = "allreduce", algorithm = "ring", size = "60KB", hosts = ["host0", "host1", "host2"], repetitions = 3,
            compute = "5us", overhead = "1us" }}]
        event = [{{ kind = "receiver_stop", host = "host1", at = "20us", for = "30us" }}]
        host = {{ retransmit_timeout = "1ms" }}
        "#,
        star(5)
    );
    let run = run_on(Threads::UpTo(1), &read(&text, &[], Effort::Build), &mut |_| true);
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    let mut session = open(&text);
    for turn in 0..150 {
        session.advance_until(Time(turn * 2 * US)).expect("events");
        session.send(Send::new(Host(3), Host(4), 10_000)).expect("a message");
    }
    session.advance_until(Time(5_000 * US)).expect("events");
    let output = session.close().expect("results");
    assert_eq!(table(&output, "operations"), table(&run, "operations"));
    assert!(table(&run, "operations").num_rows() == 9 && table(&run, "events").num_rows() == 1);
    let flows = table(&run, "flows").num_rows();
    let column =
        |output: &Output| table(output, "flows").column_by_name("fct_ps").expect("times").slice(0, flows);
    assert_eq!(&column(&output), &column(&run));
    assert_eq!(output.summary().completed as usize, flows + 150);
}

#[test]
fn sessions_do_not_know_of_each_other() {
    let events = |session: &mut Session| session.advance_to_next(None).expect("events");
    let mut alone = session("dcqcn", ConnectionMapping::PerPair);
    list().into_iter().for_each(|message| _ = send(&mut alone, message));
    let mut expected = Vec::new();
    loop {
        let next = events(&mut alone);
        if next.is_empty() {
            break;
        }
        expected.extend(next);
    }
    assert_eq!(expected.len(), 2 * list().len());
    let mut two = [0, 1].map(|_| session("dcqcn", ConnectionMapping::PerPair));
    for session in &mut two {
        list().into_iter().for_each(|message| _ = send(session, message));
    }
    let mut seen = [Vec::new(), Vec::new()];
    while seen.iter().any(|seen| seen.len() < expected.len()) {
        for (session, seen) in two.iter_mut().zip(&mut seen) {
            seen.extend(events(session));
        }
    }
    assert_eq!(seen, [expected.clone(), expected]);
}

#[test]
fn background_traffic_slows_messages_and_makes_no_events() {
    let alone = || star(3);
    let busy = format!(
        r#"{}
        traffic = [{{ pattern = "flow", src = "host1", dst = "host2", size = "1MB", label = "background" }}]"#,
        star(3)
    );
    let fct = |text: &str| {
        let mut session = open(text);
        session.send(Send::new(Host(0), Host(2), 95_200)).expect("a message");
        let mut events = Vec::new();
        for _ in 0..2 {
            events.extend(session.advance_to_next(None).expect("events"));
        }
        assert_eq!(session.advance_to_next(None).expect("none"), []);
        let output = session.close().expect("results");
        (times(&events).iter().map(|e| e.0).collect::<Vec<_>>(), table(&output, "flows").num_rows())
    };
    let (free, rows) = fct(&alone());
    assert_eq!((free, rows), (vec![there(100), there(100) + 2 * (ACK + US)], 1));
    // The port to host2 gives each of the two every second turn: the 100th packet comes after about 100 others.
    let (shared, rows) = fct(&busy);
    assert!((190 * FRAME..212 * FRAME).contains(&(shared[0] - 2 * US)), "{shared:?}");
    assert_eq!(rows, 2);
}

#[test]
fn every_mistake_is_named() {
    let mut session = open(&format!("{}\nrun = {{ duration = \"100us\" }}", star(3)));
    session.advance_until(Time(5 * US)).expect("no events");
    let (a, b) = (Host(0), Host(1));
    let message = Send::new(a, b, 8);
    let mut refused = |send: Send| session.send(send).expect_err("a mistake").to_string();
    let no_host = refused(Send { dst: Host(3), ..message });
    assert_eq!(no_host, "`dst` is host 3, and the network has 3 hosts: expected a number from 0 to 2");
    assert!(refused(Send { bytes: u64::MAX, ..message }).contains("expected at most 17592186044416 B"));
    assert!(refused(Send { bytes: 0, ..message }).starts_with("the message has 0 B: expected at least 1 B"));
    let past = refused(Send { at: Some(Time(US)), ..message });
    assert_eq!(
        past,
        "`at` of the message is 1us, and the session has reached 5us: expected that time or a later one"
    );
    let end = refused(Send { at: Some(Time(101 * US)), ..message });
    assert!(end.contains("the session ends at 100us, by `duration` in [run]"), "{end}");
    assert!(refused(Send { priority: 1, ..message }).starts_with("`priority` is 1, and switches have 1"));
    let processes = refused(Send { processes: (0, 2), ..message });
    assert!(processes.contains("`per_pair`") && processes.contains("`per_process_pair`"), "{processes}");
    let name = session.host("hots2").expect_err("a mistake").to_string();
    assert_eq!(name, "unknown host `hots2`: expected the name of a host; did you mean `host2`?");
    let timer = session.schedule(Time(US), 0).expect_err("a mistake").to_string();
    assert!(timer.starts_with("`at` of the timer is 1us"), "{timer}");
    let advance = session.advance_until(Time(4 * US)).expect_err("a mistake").to_string();
    assert!(advance.starts_with("`time` to advance to is 4us"), "{advance}");
    assert!(session.recv(a, Host(9), 0).is_err());
    // Nothing has changed: no message was sent, and the session goes on to its end, where it stops.
    assert_eq!((session.stats().messages, session.now()), (0, Time(5 * US)));
    session.send(Send { at: Some(Time(99 * US)), ..message }).expect("a message");
    assert_eq!(session.advance_to_next(None).expect("nothing arrives any more"), []);
    assert_eq!(session.now(), Time(100 * US));
    let output = session.close().expect("results");
    assert_eq!((output.summary().flows, output.summary().completed), (1, 0));
}

#[test]
fn settings_that_no_session_has_are_refused() {
    let refused = |text: &str, options: Options| {
        let session = Session::open(read(text, &[], Effort::Session), options);
        session.err().expect("a mistake").to_string()
    };
    let skipped = format!("{}\nrun = {{ fast_forward = {{ tolerance = 0.01 }} }}", star(2));
    assert!(refused(&skipped, Options::default()).contains("fast_forward"));
    let expected = format!("{}\nrun = {{ expect = \"deadlock\" }}", star(2));
    assert!(refused(&expected, Options::default()).contains("`expect` in [run]"));
    let zero = Options { local_rate: Some(Rate(0)), ..Options::default() };
    assert!(refused(&star(2), zero).starts_with("`local_rate` of the session is 0"));
    // A plain run still needs traffic.
    let none = Scenario::parse(&star(2), "plain.toml", &[]).expect_err("a mistake").to_string();
    assert!(none.contains("the scenario has no [[traffic]]"), "{none}");
}

#[test]
fn a_session_of_more_events_than_allowed_breaks() {
    for at_once in [false, true] {
        let mut session = open(&format!("{}\nrun = {{ max_events = 10 }}", star(2)));
        let mut broken = None;
        for turn in 0..10 {
            if let Err(error) = session.send(Send::new(Host(0), Host(1), 952)) {
                broken = Some(error);
                break;
            }
            let to = Time((turn + 1) * 10 * US);
            _ = if at_once { session.advance_to_next(Some(to)) } else { session.advance_until(to) };
        }
        let broken = broken.expect("an error");
        assert!(broken.to_string().contains("more than 10 events"), "{broken}");
    }
}

#[test]
fn a_network_that_breaks_says_so_again_and_again() {
    // Two hosts send at line rate to a third one without flow control and with 10 KB of memory: packets are lost.
    let text = format!("{}\nflow_control = {{ name = \"none\" }}\nswitch = {{ buffer = \"10KB\" }}", star(3));
    let mut session = open(&text);
    for host in [0, 1] {
        session.send(Send::new(Host(host), Host(2), 100_000)).expect("a message");
    }
    session.schedule(Time(US), 7).expect("a timer");
    // What came before is told first: packets are not lost before more than 10 KB have come, which takes longer than a link's 1 us.
    let before = session.advance_until(Time(1_000 * US)).expect("a timer");
    assert_eq!(before, [Event::Timer { at: Time(US), token: 7 }]);
    let lost = session.advance_until(Time(1_000 * US)).expect_err("a failure");
    assert!(matches!(lost, SessionError::Run(RunError::Failure(_))), "{lost}");
    assert_eq!(session.send(Send::new(Host(0), Host(1), 8)), Err(lost.clone()));
    assert_eq!(session.close().err(), Some(lost));
}
