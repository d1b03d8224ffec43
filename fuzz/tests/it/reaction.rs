//! Reaction points, fed with anything that a network could send them: rate and window stay within their bounds, and no timer
//! is set in the past.

use std::sync::atomic::{AtomicU64, Ordering};

use arbitrary::{Result, Unstructured};
use xoff::engine::{Rate, Time};
use xoff::schemes::int::{IntStack, PackedRecord, PortReading, Records};
use xoff::schemes::{Ack, AnyScheme, Cnm, Cnp, FlowEnv, Mark, NetworkEnv, QueueReport, ReactionPoint, Sent};

const RATES_GBPS: [u64; 6] = [1, 10, 25, 100, 400, 800];
const PAYLOAD: u64 = 1_456;
const FRAME: u64 = 1_518;
/// The egress port of a path that has sent the most between two readings does so at its rate.
const HOPS: usize = 3;

/// Events of all connections.
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// A connection as its sender and the network see it.
struct Connection {
    now: Time,
    acked: u64,
    sent: u64,
    packet: u64,
    next_packet: u64,
    line_rate: Rate,
    /// Whether data goes only with credits of receivers.
    waits_for_credits: bool,
    ports: [PortReading; HOPS],
}

impl Connection {
    /// An ACK of packets that were sent, with telemetry that says what ports could have sent since the last one.
    fn ack(
        &mut self,
        scheme: &AnyScheme,
        bytes: &mut Unstructured<'_>,
        call: &mut impl FnMut(&Ack<'_>),
    ) -> Result<()> {
        let signals = scheme.signals();
        let packets = bytes.int_in_range(0..=(self.next_packet - self.packet).min(64))?;
        self.packet += packets;
        let newly_acked = (packets * PAYLOAD).min(self.sent - self.acked);
        self.acked += newly_acked;
        for port in &mut self.ports {
            let passed = self.now - port.at;
            port.tx_bytes += bytes.int_in_range(0..=port.rate.bytes_in(passed))?;
            (port.at, port.queue_bytes) = (self.now, bytes.int_in_range(0..=4_000_000)?);
        }
        let code = PackedRecord::speed_code(self.line_rate).unwrap_or(0);
        let records = self.ports.map(|port| PackedRecord::stamp(code, 0, &port));
        let with_int = signals.int != xoff::schemes::IntPath::Off;
        let last_hop_first = signals.int == xoff::schemes::IntPath::Ack;
        call(&Ack {
            now: self.now,
            seq: self.acked,
            newly_acked,
            snd_nxt: self.sent,
            packet: self.packet.saturating_sub(1),
            next_packet: self.next_packet,
            rtt: if signals.timestamp { Some(Time(bytes.int_in_range(1..=10_000_000_000)?)) } else { None },
            mark: *bytes.choose(&[Mark::None, Mark::Ue, Mark::Ce])?,
            flow_count: if signals.flow_count { bytes.arbitrary()? } else { 0 },
            label: if signals.label { bytes.arbitrary()? } else { 0 },
            int: IntStack {
                records: if with_int { Records::Packed(&records) } else { Records::default() },
                last_hop_first,
                ..IntStack::default()
            },
        });
        Ok(())
    }
}

/// What must hold after each call.
fn check(name: &str, point: &impl ReactionPoint, connection: &Connection) {
    let (rate, window) = (point.rate(), point.window());
    assert!(
        rate.0 > 0 && rate <= connection.line_rate,
        "{name}: a rate of {rate:?} at {:?}",
        connection.line_rate
    );
    // Without a credit nothing can be sent where receivers give credits.
    let may_wait = connection.waits_for_credits;
    assert!(window > 0 || may_wait, "{name}: a window of no bytes, in which nothing can be sent");
    let (timer, now) = (point.next_timer(), connection.now);
    assert!(timer >= now, "{name}: a timer at {timer:?}, and it is {now:?}");
}

fn exercise(bytes: &mut Unstructured<'_>) -> Result<()> {
    let name = *bytes.choose(AnyScheme::NAMES)?;
    let line_rate = Rate::from_gbps(*bytes.choose(&RATES_GBPS)?);
    let base_rtt = Time(bytes.int_in_range(200_000..=1_000_000_000)?);
    let Some(Ok(scheme)) = AnyScheme::read(name, toml::Table::new()) else { panic!("`{name}` has defaults") };
    let scheme = scheme.resolve(&NetworkEnv { line_rate, base_rtt });
    let mut point = scheme.reaction(&FlowEnv { hops: HOPS as u8, ..FlowEnv::new(3, line_rate, base_rtt, 1) });
    let at_start = PortReading { at: Time::ZERO, tx_bytes: 0, queue_bytes: 0, rate: line_rate };
    let mut connection = Connection {
        now: Time::ZERO,
        acked: 0,
        sent: 0,
        packet: 0,
        next_packet: 0,
        line_rate,
        waits_for_credits: scheme.signals().credits.is_some(),
        ports: [at_start; HOPS],
    };
    check(name, &point, &connection);
    while !bytes.is_empty() {
        // Up to 20 us pass, or up to 20 ms; a timer whose time has come goes first.
        let longest = if bytes.ratio(1, 16)? { 20_000_000_000 } else { 20_000_000 };
        let then = connection.now + Time(bytes.int_in_range(0..=longest)?);
        while point.next_timer() <= then {
            connection.now = point.next_timer();
            point.on_timer(connection.now);
            check(name, &point, &connection);
            assert!(point.next_timer() > connection.now, "{name}: a timer that never lets time pass");
        }
        connection.now = then;
        let now = then;
        match bytes.int_in_range(0..=9)? {
            0..=2 => {
                (connection.sent, connection.next_packet) =
                    (connection.sent + PAYLOAD, connection.next_packet + 1);
                point.on_send(&Sent { now, payload: PAYLOAD, frame: FRAME });
            }
            3..=5 => connection.ack(&scheme, bytes, &mut |ack| point.on_ack(ack))?,
            6 => {
                let rate =
                    if bytes.arbitrary()? { Some(Rate(bytes.int_in_range(0..=line_rate.0)?)) } else { None };
                point.on_cnp(now, &Cnp { mark: *bytes.choose(&[Mark::None, Mark::Ue, Mark::Ce])?, rate });
            }
            7 => {
                // No switch grants a rate of zero.
                let cnm = Cnm {
                    flow: 3,
                    point: bytes.int_in_range(0..=2)?,
                    rate: Rate(bytes.int_in_range(1..=line_rate.0)?),
                    queue: if scheme.signals().label {
                        let sent_at = Time(bytes.int_in_range(0..=now.0)?);
                        Some(QueueReport { bytes: bytes.arbitrary()?, sent_at })
                    } else {
                        None
                    },
                };
                point.on_cnm(now, &cnm);
            }
            8 => point.on_loss(now),
            _ if connection.waits_for_credits => point.on_credit(now, bytes.arbitrary()?),
            _ => {
                point.on_idle(now);
                point.on_busy(now);
            }
        }
        check(name, &point, &connection);
        EVENTS.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

#[test]
fn a_reaction_point_stays_within_its_bounds() {
    let inputs = AtomicU64::new(0);
    bolero::check!().with_generator(crate::bytes(600)).with_iterations(3_000).for_each(|bytes| {
        inputs.fetch_add(1, Ordering::Relaxed);
        // An input that ends early has been tried as far as it goes.
        let _ = exercise(&mut Unstructured::new(bytes));
    });
    // A connection that ends with its first events shows nothing of what builds up.
    let (inputs, events) = (inputs.into_inner(), EVENTS.load(Ordering::Relaxed));
    assert!(events > 10 * inputs, "{events} events of {inputs} connections");
}
