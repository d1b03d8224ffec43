//! Captures: the bytes of single frames, worked out from the specifications, and that threads do not change a file.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::common::load;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use xoff::trace::TraceError;
use xoff::{Output, Scenario, Threads, run_on};

/// A packet of a capture.
#[derive(Debug)]
struct Captured {
    port: String,
    ns: u64,
    bytes: Vec<u8>,
    length: u32,
    inbound: bool,
}

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trace");
    fs::create_dir_all(&folder).expect("a folder for the tests");
    folder.join(name)
}

fn run(scenario: &Scenario, threads: u32) -> Output {
    run_on(Threads::UpTo(threads), scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "test.toml", &set).unwrap_or_else(|e| panic!("{e}"))
}

/// The packets of a run, of each up to so many bytes.
fn capture(output: &Output, snap_length: u32, name: &str) -> Vec<Captured> {
    let path = file(name);
    let trace = output.trace.as_ref().expect("packets are recorded");
    trace.write_pcapng(&path, snap_length).unwrap_or_else(|e| panic!("{e}"));
    let mut reader = PcapNgReader::new(File::open(&path).expect("the capture")).expect("pcapng");
    let (mut ports, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.expect("a block") {
            Block::InterfaceDescription(port) => {
                let named = port.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                });
                ports.push(named.expect("an interface has a name"));
            }
            Block::EnhancedPacket(packet) => packets.push(Captured {
                port: ports[packet.interface_id as usize].clone(),
                ns: packet.timestamp.as_nanos() as u64,
                bytes: packet.data.to_vec(),
                length: packet.original_len,
                inbound: packet.options == [EnhancedPacketOption::Flags(1)],
            }),
            _ => {}
        }
    }
    packets
}

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
    digits.chunks(2).map(|pair| byte(pair).expect("hexadecimal")).collect()
}

/// Two hosts on a switch: ports 0 and 1 are those of host0's link, 2 and 3 those of host1's.
const PAIR: &str = r#"
    topology = { name = "star", hosts = 2, rate = "100Gbps", delay = "1us" }
    scheme = { name = "none" }
    traffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "3000B" }]
    record = { packets = "all" }
"#;

#[test]
fn data_frames_are_those_of_the_specification() {
    // 3000 B are two packets of 1456 B and one of 88 B.
    let packets = capture(&run(&parse(PAIR, &[]), 1), 192, "data.pcapng");
    let sent: Vec<_> = packets.iter().filter(|p| p.port == "host0->switch1" && !p.inbound).collect();
    // Frames of 1518 B take 121.44 ns each; the file has nanoseconds.
    let times: Vec<_> = sent.iter().map(|p| (p.ns, p.length)).collect();
    // On the wire without the check sequence of 4 B: 1514 B, and 62 B - 4 B + 88 B. The first has RETH as well, 16 B.
    assert_eq!(times, [(0, 1530), (121, 1514), (242, 146)]);
    // The second, up to its payload.
    let middle = hex("020000000001 020000000000 0800 \
         45 00 05dc 0000 4000 40 11 210f 0a000001 0a000002 \
         c000 12b7 05c8 0000 \
         07 00 ffff 00 010000 80 000001");
    // Ethernet: to port 1 from port 0. IPv4: DSCP 0, not ECT; 1500 B = 20 + 8 + 12 + 1456 + 4; do not fragment; TTL 64; UDP.
    // Checksum: 4500 + 05dc + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = def0, whose complement is 210f.
    // UDP: 1480 B. BTH: RDMA WRITE Middle, no pad, the default partition, QP 0x010000, ACK asked for, PSN 1.
    assert_eq!(sent[1].bytes[..middle.len()], middle);
    assert_eq!(sent[1].bytes.len(), 192);
    let opcode_and_psn: Vec<_> = sent.iter().map(|p| (p.bytes[42], p.bytes[53])).collect();
    assert_eq!(opcode_and_psn, [(0x06, 0), (0x07, 1), (0x08, 2)]);
    // RETH: no address, no key, 3000 B.
    assert_eq!(sent[0].bytes[54..70], hex("0000000000000000 00000000 00000bb8"));
    // The switch is a hop: one less to live, and the checksum larger by 0x0100. Ports 3 and 2.
    let next = packets.iter().find(|p| p.port == "switch1->host1" && p.bytes[53] == 1).expect("forwarded");
    assert_eq!(next.bytes[..14], hex("020000000002 020000000003 0800"));
    assert_eq!(next.bytes[22..26], hex("3f 11 220f"));
}

#[test]
fn a_whole_frame_ends_with_its_icrc() {
    let small = [("traffic.0.size", "5B")];
    let packets = capture(&run(&parse(PAIR, &small), 1), 9000, "whole.pcapng");
    // RDMA WRITE Only of 5 B and 3 B of pad, which BTH tells in bits 4 and 5 of its second byte; RETH. IPv4: 20 + 8 + 12 + 16
    // + 8 + 4 = 68 B = 0x44; its checksum is that of the middle packet above with 0x0598 less in the length. UDP 48 B = 0x30.
    // The ICRC is the CRC-32 of zlib over eight bytes of ones and the packet from IPv4 on, with ones in place of type of
    // service, TTL, checksums and BTH's fifth byte.
    let expected = hex("020000000001 020000000000 0800 \
         45 00 0044 0000 4000 40 11 26a7 0a000001 0a000002 \
         c000 12b7 0030 0000 \
         0a 30 ffff 00 010000 80 000000 \
         0000000000000000 00000000 00000005 \
         0000000000 000000 b3dc437e");
    assert_eq!(packets[0].bytes, expected);
    assert_eq!(packets[0].length as usize, expected.len());
}

#[test]
fn acks_are_those_of_the_specification() {
    let packets = capture(&run(&parse(PAIR, &[]), 1), 192, "ack.pcapng");
    let acks: Vec<_> = packets.iter().filter(|p| p.port == "host1->switch1" && !p.inbound).collect();
    // To port 3 from port 2. DSCP 48, since ACKs go before data; 48 B = 20 + 8 + 12 + 4 + 4. Checksum: 45c0 + 0030 + 4000 +
    // 4011 + 0a00 + 0002 + 0a00 + 0001 = da04, whose complement is 25fb. BTH: Acknowledge, PSN 0. AETH: an ACK without
    // credits (0 and 11111), no message complete. The ICRC by zlib.
    let first = hex("020000000003 020000000002 0800 \
         45 c0 0030 0000 4000 40 11 25fb 0a000002 0a000001 \
         c000 12b7 001c 0000 \
         11 00 ffff 00 010000 00 000000 \
         1f 000000 cc6889ad");
    assert_eq!(acks[0].bytes, first);
    // 66 B on the wire, as counted.
    assert_eq!(acks[0].length, 62);
    // The last is for packet 2, and the message is complete.
    assert_eq!(acks[2].bytes[50..58], hex("00 000002 1f 000001"));
}

/// Three hosts: two send to the third, and the switch marks all that it queues.
const INCAST: &str = r#"
    topology = { name = "star", hosts = 3, rate = "100Gbps", delay = "1us" }
    scheme = { name = "dcqcn" }
    traffic = [{ pattern = "incast", receiver = "host2", senders = 2, size = "200KB" }]
    detector = { name = "red", k_min = "1KB", k_max = "2KB", p_max = 1.0 }
    record = { packets = "all" }
    flow_control = { name = "pfc", xoff = "30KB" }
"#;

#[test]
fn cnps_are_those_of_the_specification() {
    let packets = capture(&run(&parse(INCAST, &[]), 1), 192, "cnp.pcapng");
    let cnp = packets.iter().find(|p| p.port == "host2->switch1" && !p.inbound && p.bytes[42] == 0x81);
    let cnp = cnp.expect("a CNP");
    // 60 B = 20 + 8 + 12 + 16 + 4; UDP 40 B. BTH: opcode 0x81, BECN, which is the bit below the highest of its fifth byte; the
    // QP of the sender's flow, whatever its number. Then 16 B reserved.
    assert_eq!(cnp.bytes[14..18], hex("45 c0 003c"));
    assert_eq!(cnp.bytes[36..42], hex("12b7 0028 0000"));
    assert_eq!(cnp.bytes[42..48], hex("81 00 ffff 40 01"));
    assert_eq!(cnp.bytes[50..54], hex("00 000000"));
    assert_eq!(cnp.bytes[54..70], [0; 16]);
    // 78 B with the check sequence, whatever the simulator takes a CNP for.
    assert_eq!((cnp.bytes.len(), cnp.length), (74, 74));
    // Data that RED may mark is ECT(0), and CE where it did.
    let data = packets.iter().filter(|p| p.port == "switch1->host2" && (6..=8).contains(&p.bytes[42]));
    let mut points: Vec<u8> = data.map(|p| p.bytes[15] & 3).collect();
    points.sort_unstable();
    points.dedup();
    assert_eq!(points, [0b10, 0b11]);
}

#[test]
fn pfc_frames_are_those_of_the_specification() {
    let packets = capture(&run(&parse(INCAST, &[]), 1), 192, "pfc.pcapng");
    let is_pfc = |p: &&Captured| p.bytes[12..14] == [0x88, 0x08];
    let pfc: Vec<_> = packets.iter().filter(|p| p.port == "switch1->host0").filter(is_pfc).collect();
    // To the address of MAC control from port 1; opcode 0x0101; priority 0 of eight; 65,535 quanta for it; padded to 60 B.
    let head = "0180c2000001 020000000001 8808 0101 0001";
    let pause = hex(&format!("{head} ffff {}", "0000".repeat(7 + 13)));
    let resume = hex(&format!("{head} 0000 {}", "0000".repeat(7 + 13)));
    assert_eq!((pause.len(), pfc[0].length), (60, 60));
    assert_eq!(pfc[0].bytes, pause);
    assert!(pfc.iter().any(|p| p.bytes == resume));
}

#[test]
fn telemetry_comes_before_the_payload() {
    // HPCC's stack on data: 2 B, of which the first four bits count hops, and 8 B for each of five. One switch stamps it.
    let set = [("scheme.name", "hpcc"), ("traffic.0.size", "3000B")];
    let packets = capture(&run(&parse(PAIR, &set), 1), 192, "int.pcapng");
    let sent = packets.iter().find(|p| p.port == "host0->switch1").expect("data");
    // After RETH, which the first packet of a message has.
    assert_eq!(sent.bytes[70..112], [0; 42]);
    let stamped = packets.iter().find(|p| p.port == "switch1->host1" && !p.inbound).expect("data");
    assert_eq!(stamped.bytes[70..72], [0x10, 0]);
    let record = u64::from_be_bytes(stamped.bytes[72..80].try_into().expect("eight bytes"));
    // 100 Gbps has the code 8. The switch has sent nothing, has nothing queued, and stamps at 1,121 ns, when the frame of
    // 1518 B (121.44 ns) and the light (1 us) have come.
    assert_eq!((record >> 60, record >> 36 & 0xFF_FFFF, record & 0xF_FFFF_FFFF), (8, 1_121, 0));
    // The ACK brings it back: AETH, then the same stack.
    let ack = packets.iter().find(|p| p.port == "host1->switch1" && !p.inbound).expect("an ACK");
    assert_eq!(ack.bytes[58..68], stamped.bytes[70..80]);
}

#[test]
fn three_code_points_are_those_of_tcd() {
    let short = [
        ("scheme.name", "dcqcn"),
        // The scenario's second flow starts at 300 us.
        ("run.duration", "301us"),
        ("record.packets", "[\"switch1->switch2\"]"),
        ("record.packets_until", "30us"),
        ("detector.name", "tcd"),
    ];
    let unmarked = |set: &[(&str, &str)], name: &str| {
        let packets = capture(&run(&load("dumbbell", set), 1), 192, name);
        packets[0].bytes[15] & 3
    };
    // TCD's Table 1 has 01 for what it may mark, RFC 3168's first choice is 10.
    assert_eq!(unmarked(&short[..4], "ecn.pcapng"), 0b10);
    assert_eq!(unmarked(&short, "tcd.pcapng"), 0b01);
}

#[test]
fn threads_change_nothing_of_a_file() {
    let set: &[(&str, &str)] = &[
        ("topology.k", "4"),
        ("traffic.0.size", "50KB"),
        ("scheme.name", "hpcc"),
        ("record.packets", "\"all\""),
        ("record.queues", "\"all\""),
        ("record.rates", "\"all\""),
    ];
    let scenario = load("fat_tree_permutation", set);
    let files = |threads: u32| {
        let output = run(&scenario, threads);
        let trace = output.trace.as_ref().expect("packets are recorded");
        let paths = ["pcapng", "perfetto"].map(|kind| file(&format!("threads{threads}.{kind}")));
        trace.write_pcapng(&paths[0], 192).expect("a capture");
        trace.write_perfetto(&paths[1]).expect("a trace");
        (output.manifest["threads"].clone(), paths.map(|path| fs::read(path).expect("it is there")))
    };
    let one = files(1);
    for threads in [2, 3] {
        let several = files(threads);
        assert_ne!(one.0, several.0, "{threads} threads");
        assert!(one.1 == several.1, "{threads} threads");
    }
}

#[test]
fn what_is_no_ethernet_has_no_capture() {
    let set = [("flow_control.name", "cbfc"), ("traffic.0.size", "1KB")];
    let output = run(&parse(PAIR, &set), 1);
    let trace = output.trace.as_ref().expect("packets are recorded");
    let refused = trace.write_pcapng(&file("cbfc.pcapng"), 192);
    assert!(matches!(refused, Err(TraceError::NoEthernet("cbfc"))), "{refused:?}");
    trace.write_perfetto(&file("cbfc.perfetto")).expect("a trace of any network");
}
