//! What networks, messages and packets take of memory, counted by the allocator of each test's thread.
#![allow(unsafe_code)] // an allocator cannot be had without

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use xoff::Scenario;
use xoff::prelude::*;

thread_local! {
    /// Bytes that this thread has taken and not given back, and their maximum.
    static BYTES: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, which counts.
struct Counting;

/// Pieces of at least so many bytes are not counted: the pool of packets asks for one to know whether there are addresses enough, and
/// gives it back. Nothing else here is as large.
const PROBE: usize = 1 << 26;

/// Adds to the count of the thread, unless the thread is about to end.
fn count(bytes: isize) {
    if bytes.unsigned_abs() >= PROBE {
        return;
    }
    let _ = BYTES.try_with(|all| {
        let (now, max) = all.get();
        all.set((now + bytes, max.max(now + bytes)));
    });
}

// Safety: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `run` returns, and the maximum of bytes that it takes while it lasts.
fn peak<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let begin = BYTES.with(|all| {
        let (now, _) = all.replace((all.get().0, all.get().0));
        now
    });
    let result = run();
    (result, (BYTES.with(Cell::get).1 - begin) as f64)
}

/// Reads a scenario of one message in a fat-tree of `k` ports and runs it to its tables; the maximum of bytes.
fn fat_tree(k: u32, choice: &str) -> f64 {
    let text = format!(
        r#"
        topology = {{ name = "fat_tree", k = {k} }}
        routing = {{ name = "ecmp", choice = "{choice}" }}
        scheme = {{ name = "none" }}
        traffic = [{{ pattern = "flow", src = "host0", dst = "host1", size = "1KB" }}]
        "#
    );
    let run = || {
        let scenario = Scenario::parse(&text, "tree.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        xoff::run(&scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    };
    peak(run).1
}

/// Room for 256 packets of 64 B, which the allocator gives for each host. It is not touched, and so takes no memory.
const ROOM: f64 = 256.0 * 64.0;

/// 1,024 hosts beside 128: a host comes with three links, and so six ports, and 5 / 16 of a switch. Next hops of every switch to
/// every other one, 320 x 320 lists of up to 8 ports, would take 5,000 B a host more.
#[test]
fn a_host_takes_at_most_4_kilobytes() {
    for choice in ["per_connection", "per_packet"] {
        let each = (fat_tree(16, choice) - fat_tree(8, choice)) / (1024.0 - 128.0) - ROOM;
        assert!((1024.0..4096.0).contains(&each), "{choice}: {each} B");
    }
}

/// A simulation of messages between two hosts, one each 10 us; each takes less than 2 us at 100 Gbps.
fn messages(count: u64) -> NetworkBuilder {
    let mut net = NetworkBuilder::new();
    let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("s"));
    for host in [a, b] {
        net.link(host, switch, Rate::from_gbps(100), Time::from_ns(500));
    }
    for number in 0..count {
        net.flow(a, b, Bytes(1_000), Time::from_us(10 * number));
    }
    net.scheme(AnyScheme::Hpcc(Default::default()));
    net
}

/// Before it begins, a message on a connection of its own keeps 8 B of its start; 16 B of a data path of four links, which its ACKs take backwards; 8 B of where that path
/// lies; two places of 8 B for a sender and a receiver, and 4 B of one in the order of pacing; and room of 16 B for its record: 68. All else is the same for all.
/// Its ACK path would be 16 B more, and its start kept twice 8.
#[test]
fn a_message_that_has_not_begun_keeps_its_start_and_one_path() {
    let before = |count: u64| {
        let mut net = NetworkBuilder::new();
        let nodes = [net.host("a"), net.switch("s"), net.switch("t"), net.switch("u"), net.host("b")];
        for ends in nodes.windows(2) {
            net.link(ends[0], ends[1], Rate::from_gbps(100), Time::from_us(1));
        }
        for number in 0..count {
            net.flow(nodes[0], nodes[4], Bytes(1_000), Time::from_us(10 * number));
        }
        net.scheme(AnyScheme::Hpcc(Default::default()));
        let (start, _) = BYTES.with(Cell::get);
        let simulation = net.simulation().expect("a network");
        let (end, _) = BYTES.with(Cell::get);
        assert_eq!(simulation.network().flows.len() as u64, count);
        (end - start) as f64
    };
    let each = (before(4_000) - before(2_000)) / 2_000.0;
    assert_eq!(each, 68.0);
}

/// A message's run takes nothing beside the room for its record, which is there from the beginning: its sender and its receiver go with
/// it, and nothing is marked. A second copy of the record would be 96 B, and its sender alone, if it stayed, 680.
#[test]
fn a_finished_message_keeps_no_more_than_its_record() {
    let run = |count| {
        let mut simulation = messages(count).simulation().expect("a network");
        let (stop, bytes) = peak(|| simulation.run(&mut |_| true));
        stop.expect("a run");
        assert_eq!(simulation.counters().flows_done, count);
        bytes
    };
    let each = (run(4_000) - run(2_000)) / 2_000.0;
    assert!(each < 24.0, "{each} B");
}

/// Messages of one packet between two hosts, each on a connection of its own, all from the begin: each meets all others. What fast-forward keeps of pairs of them, 24 B for each of
/// two ports, would be 70,000 B a message here, and more while lists grow; of each message alone it keeps less than 4,000.
#[test]
fn messages_that_wait_at_a_port_take_no_memory_for_each_pair() {
    let run = |count| {
        let mut net = NetworkBuilder::new();
        let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("s"));
        for host in [a, b] {
            net.link(host, switch, Rate::from_gbps(100), Time::from_ns(500));
        }
        for _ in 0..count {
            net.flow(a, b, Bytes(1_000), Time::ZERO);
        }
        net.scheme(AnyScheme::None(Default::default()));
        let mut simulation = net.simulation().expect("a network");
        simulation.fast_forward(0.01, 1);
        let (stop, bytes) = peak(|| simulation.run(&mut |_| true));
        stop.expect("a run");
        assert_eq!(simulation.counters().flows_done, count);
        bytes
    };
    let each = (run(2_000) - run(1_000)) / 1_000.0;
    assert!(each < 4_000.0, "{each} B");
}

/// 16 hosts send to one without congestion control, and PAUSE comes late: packets queue.
fn queueing(scheme: AnyScheme) -> NetworkBuilder {
    let mut net = NetworkBuilder::new();
    let (to, switch) = (net.host("to"), net.switch("s"));
    net.link(to, switch, Rate::from_gbps(100), Time::from_ns(500));
    for number in 0..16 {
        let from = net.host(format!("from{number}"));
        net.link(from, switch, Rate::from_gbps(100), Time::from_us(100));
        net.flow(from, to, Bytes(10_000_000), Time::ZERO);
    }
    net.scheme(scheme);
    net.flow_control(FlowControl::None);
    net
}

/// Bytes of a run for each packet in flight. A packet takes a cache line, and another one for telemetry; the pool doubles when its
/// first room, for 256 packets a host, is full.
fn in_flight(scheme: AnyScheme) -> f64 {
    let net = queueing(scheme);
    let run = || {
        let mut simulation = net.simulation().expect("a network");
        simulation.run(&mut |_| true).expect("a run");
        simulation.max_packets_in_flight()
    };
    let (packets, bytes) = peak(run);
    assert!(packets > 10_000, "{packets}");
    bytes / f64::from(packets)
}

/// The pool has a place of 64 B for each of the most packets that were in flight, also when they have arrived.
#[test]
fn a_run_that_is_over_gives_its_packets_memory_back() {
    let mut simulation = queueing(AnyScheme::None(Default::default())).simulation().expect("a network");
    simulation.run(&mut |_| true).expect("a run");
    let (before, _) = BYTES.with(Cell::get);
    simulation.forget_packets();
    let (after, _) = BYTES.with(Cell::get);
    assert!(before - after >= 64 * simulation.max_packets_in_flight() as isize, "{before} {after}");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "the packets are forgotten"]
fn what_forgotten_packets_told_is_not_asked() {
    let mut simulation = messages(1).simulation().expect("a network");
    simulation.run(&mut |_| true).expect("a run");
    simulation.forget_packets();
    simulation.data_packets_in_network();
}

#[test]
fn a_packet_in_flight_takes_at_most_200_bytes_and_300_with_telemetry() {
    let plain = in_flight(AnyScheme::None(Default::default()));
    assert!(plain < 200.0, "{plain} B");
    let with_int = in_flight(AnyScheme::Hpcc(Default::default()));
    assert!(with_int < 300.0, "{with_int} B");
}

/// Pairs of hosts send to one host each until PAUSE stops all 32 senders, which is at 500 KB of each: the switch has more than 8,000
/// packets of 1.5 KB. Whether queues wait for each other in a circle is asked of pairs of an ingress and an egress queue: there are 32
/// of them, and each packet is of one. What takes memory is the list of the packets of one of 16 egress queues, 4 B for each, at most
/// three times that while the list grows: less than 1 B for each packet of the switch.
#[test]
fn to_look_for_a_deadlock_takes_no_memory_for_each_packet_that_waits() {
    let mut net = NetworkBuilder::new();
    let switch = net.switch("s");
    let host = |net: &mut NetworkBuilder, name| {
        let host = net.host(name);
        net.link(host, switch, Rate::from_gbps(100), Time::from_ns(500));
        host
    };
    for number in 0..16 {
        let to = host(&mut net, format!("to{number}"));
        for side in ["left", "right"] {
            let from = host(&mut net, format!("{side}{number}"));
            net.flow(from, to, Bytes(10_000_000), Time::ZERO);
        }
    }
    net.scheme(AnyScheme::None(Default::default())).duration(Time::from_us(200));
    let mut simulation = net.simulation().expect("a network");
    simulation.run(&mut |_| true).expect("a run");
    let (circle, bytes) = peak(|| simulation.deadlock());
    let packets = simulation.packets_in_flight();
    assert!(circle.is_empty() && packets > 8_000, "{circle:?} {packets}");
    assert!(bytes < f64::from(packets), "{bytes} B for {packets} packets");
}
