//! What a sender's congestion control does with one ACK, CNP or packet.

use divan::{Bencher, black_box};
use xoff_engine::{Rate, Time};
use xoff_schemes::dcqcn::{Dcqcn, Variant};
use xoff_schemes::hpcc::Hpcc;
use xoff_schemes::int::{ExactRecord, IntStack, PackedRecord, PortReading, Records};
use xoff_schemes::{Ack, Cnp, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme, Sent};

const LINE: Rate = Rate::from_gbps(100);
/// Switches on the longest path of a fat-tree.
const HOPS: usize = 5;
/// Packets of telemetry that a bench goes around in.
const ROUND: usize = 64;

fn flow() -> FlowEnv {
    FlowEnv { payload: 1_000, frame: 1_118, hops: HOPS as u8, ..FlowEnv::new(0, LINE, Time::from_us(19), 1) }
}

fn resolved<S: Scheme>(scheme: S) -> S {
    scheme.resolve(&NetworkEnv { line_rate: LINE, base_rtt: Time::from_us(19) })
}

/// What the port of each hop says at ACK number `i`: nine tenths of the line in use, and a queue that comes and goes.
fn reading(i: usize, hop: usize) -> PortReading {
    let at = Time(((i * 100 + hop * 1_600) * 1_000) as u64);
    PortReading { at, tx_bytes: (i * 1_125) as u64, queue_bytes: (i % 7 * hop * 1_118) as u64, rate: LINE }
}

fn ack(i: usize, records: Records<'_>) -> Ack<'_> {
    let seq = (i * 1_000) as u64;
    Ack {
        now: Time((i * 100_000) as u64),
        seq,
        newly_acked: 1_000,
        snd_nxt: seq + 200_000,
        packet: i as u64,
        next_packet: i as u64 + 200,
        rtt: None,
        mark: Mark::None,
        flow_count: 1,
        label: 0,
        int: IntStack { records, ..IntStack::default() },
    }
}

/// Gives ACK after ACK to a sender; time goes on, the telemetry's counters wrap as the hardware's do.
fn acks<R: ReactionPoint>(
    bencher: Bencher<'_, '_>,
    mut sender: R,
    records: impl Fn(usize) -> Records<'static>,
) {
    let mut i = 0;
    bencher.bench_local(|| {
        i += 1;
        sender.on_ack(black_box(&ack(i, records(i))));
        black_box((sender.rate(), sender.window(), sender.next_timer()))
    });
}

fn packed() -> &'static [[PackedRecord; HOPS]] {
    let code = PackedRecord::speed_code(LINE).unwrap_or(0);
    let stacks =
        (0..ROUND).map(|i| std::array::from_fn(|hop| PackedRecord::stamp(code, 0, &reading(i, hop))));
    Box::leak(stacks.collect())
}

/// HPCC's ACK with telemetry of five hops in the hardware's widths.
#[divan::bench]
fn hpcc_ack_packed(bencher: Bencher<'_, '_>) {
    let stacks = packed();
    acks(bencher, resolved(Hpcc::default()).reaction(&flow()), |i| Records::Packed(&stacks[i % ROUND]));
}

/// The same in full precision.
#[divan::bench]
fn hpcc_ack_exact(bencher: Bencher<'_, '_>) {
    let mut sender = resolved(Hpcc::default()).reaction(&flow());
    let mut i = 0;
    bencher.bench_local(|| {
        i += 1;
        let stack: [ExactRecord; HOPS] = std::array::from_fn(|hop| ExactRecord::stamp(&reading(i, hop)));
        sender.on_ack(black_box(&ack(i, Records::Exact(&stack))));
        black_box((sender.rate(), sender.window()))
    });
}

/// DCQCN as published: an ACK says nothing to it.
#[divan::bench]
fn dcqcn_ack(bencher: Bencher<'_, '_>) {
    acks(bencher, resolved(Dcqcn::default()).reaction(&flow()), |_| Records::Packed(&[]));
}

/// NVIDIA's form, whose marks come with ACKs.
#[divan::bench]
fn dcqcn_mellanox_ack(bencher: Bencher<'_, '_>) {
    let dcqcn = Dcqcn { variant: Variant::Mellanox, ..Dcqcn::default() };
    acks(bencher, resolved(dcqcn).reaction(&flow()), |_| Records::Packed(&[]));
}

/// DCQCN's cut, every 50 us, with the timers in between.
#[divan::bench]
fn dcqcn_cnp(bencher: Bencher<'_, '_>) {
    let mut sender = resolved(Dcqcn::default()).reaction(&flow());
    let mut now = Time::ZERO;
    bencher.bench_local(|| {
        now += Time::from_us(50);
        while sender.next_timer() <= now {
            let at = sender.next_timer();
            sender.on_timer(at);
        }
        sender.on_cnp(now, black_box(&Cnp { mark: Mark::Ce, rate: None }));
        black_box(sender.rate())
    });
}

/// DCQCN's byte counter, a packet sent.
#[divan::bench]
fn dcqcn_send(bencher: Bencher<'_, '_>) {
    let mut sender = resolved(Dcqcn::default()).reaction(&flow());
    sender.on_cnp(Time::ZERO, &Cnp { mark: Mark::Ce, rate: None });
    bencher.bench_local(|| {
        sender.on_send(black_box(&Sent { now: Time::ZERO, payload: 1_000, frame: 1_118 }));
        black_box(sender.rate())
    });
}

fn main() {
    divan::main();
}
