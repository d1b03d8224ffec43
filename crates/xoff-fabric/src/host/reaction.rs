//! A connection's reaction point, with the limits that the point has set last.
//!
//! A NIC reads limits several times for each packet, and a point changes them only when it is called: they are read once after
//! each call, so that not every read has to find out which scheme the point is of.

use xoff_engine::{Rate, Time};
use xoff_schemes::{Ack, AnyReaction, Cnm, Cnp, Outgoing, QueueReport, ReactionPoint, SendLimits, Sent};

use super::replay::{Ahead, Call, Heard};

/// A reaction point and its limits.
#[derive(Debug)]
pub(crate) struct LimitedReaction {
    point: AnyReaction,
    limits: SendLimits,
    /// By how much the point's clock is ahead of the network's: time that was carried forward over it, see
    /// [`crate::run`]. All times that the point sees are its own clock's.
    ahead: Time,
    /// Number of notifications so far.
    notified: u32,
    /// Somebody listens to what the point hears.
    listens: bool,
    /// What the point has heard, and what was carried forward over it; only in runs that are fast-forwarded.
    memory: Option<Box<Memory>>,
}

/// What a point has heard while somebody listens, and by how much its stream is ahead of its connection's.
#[derive(Debug, Default)]
struct Memory {
    /// The window that the point set when somebody began to listen.
    window: u64,
    heard: Vec<Heard>,
    bytes: u64,
    packets: u64,
}

impl LimitedReaction {
    pub fn new(point: AnyReaction) -> Self {
        LimitedReaction {
            limits: point.limits(),
            point,
            ahead: Time::ZERO,
            notified: 0,
            listens: false,
            memory: None,
        }
    }

    /// The time on the point's clock.
    #[inline(always)] // runs for every packet
    pub fn clock(&self, now: Time) -> Time {
        now + self.ahead
    }

    /// Sets the point's clock ahead by another `by`.
    pub fn set_ahead(&mut self, by: Time) {
        self.ahead += by;
    }

    /// Number of CNPs and CNMs so far, modulo 2^32.
    pub fn notified(&self) -> u32 {
        self.notified
    }

    /// Calls the point, and reads its limits.
    fn call(&mut self, call: impl FnOnce(&mut AnyReaction)) {
        call(&mut self.point);
        self.limits = self.point.limits();
        if self.listens {
            self.note(Time::ZERO, Call::Other);
        }
    }

    /// By how many bytes and packets the point's stream is ahead of its connection's.
    #[inline(always)] // runs for every ACK
    pub fn stream_ahead(&self) -> (u64, u64) {
        self.memory.as_ref().map_or((0, 0), |memory| (memory.bytes, memory.packets))
    }

    /// Notes what the point hears from now on.
    pub fn listen(&mut self) {
        let memory = self.memory.get_or_insert_default();
        memory.window = self.limits.window;
        memory.heard.clear();
        self.listens = true;
    }

    /// Ends that, and returns the window at the begin, and what the point has heard since.
    pub fn stop_listening(&mut self) -> (u64, Vec<Heard>) {
        self.listens = false;
        let memory = self.memory.as_mut();
        memory.map_or((0, Vec::new()), |memory| (memory.window, std::mem::take(&mut memory.heard)))
    }

    #[cold]
    #[inline(never)]
    fn note_ack(&mut self, ack: &Ack<'_>) {
        let Ack { now, seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count, .. } = *ack;
        let call = Call::Acked { seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count };
        self.note(now, call);
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, at: Time, call: Call) {
        let SendLimits { rate, window, .. } = self.limits;
        if let Some(memory) = &mut self.memory {
            memory.heard.push(Heard { at, call, rate, window });
        }
    }

    /// A copy of the point; `None` of a foreign one.
    pub fn copy_of_point(&self) -> Option<AnyReaction> {
        self.point.try_clone()
    }

    /// Puts another point in its place, whose clock and stream were carried forward.
    pub fn put_point(&mut self, point: AnyReaction, carried: Ahead) {
        (self.limits, self.point) = (point.limits(), point);
        self.ahead += carried.time;
        let memory = self.memory.get_or_insert_default();
        memory.bytes += carried.bytes;
        memory.packets += carried.packets;
    }
}

impl ReactionPoint for LimitedReaction {
    #[inline(always)] // runs for every packet
    fn on_send(&mut self, sent: &Sent) {
        let sent = Sent { now: self.clock(sent.now), ..*sent };
        self.point.send_and_limit(&sent, &mut self.limits);
        if self.listens {
            self.note(sent.now, Call::Sent { payload: sent.payload, frame: sent.frame });
        }
    }

    /// The ACK's time and stream are the point's: see [`LimitedReaction::clock`] and [`LimitedReaction::stream_ahead`].
    #[inline(always)] // runs for every packet
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.point.ack_and_limit(ack, &mut self.limits);
        if self.listens {
            self.note_ack(ack);
        }
    }

    fn label(&self, packet: &Outgoing) -> u8 {
        self.point.label(packet)
    }

    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        self.notified = self.notified.wrapping_add(1);
        let now = self.clock(now);
        self.call(|point| point.on_cnp(now, cnp));
    }

    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        self.notified = self.notified.wrapping_add(1);
        let now = self.clock(now);
        // The packet left the sender by the network's clock.
        let sent_at = |queue: QueueReport| QueueReport { sent_at: self.clock(queue.sent_at), ..queue };
        let cnm = Cnm { queue: cnm.queue.map(sent_at), ..*cnm };
        self.call(|point| point.on_cnm(now, &cnm));
    }

    fn on_credit(&mut self, now: Time, number: u16) {
        let now = self.clock(now);
        self.call(|point| point.on_credit(now, number));
    }

    fn spend_credit(&mut self) -> Option<u16> {
        let number = self.point.spend_credit();
        self.limits = self.point.limits();
        if self.listens {
            self.note(Time::ZERO, Call::Other);
        }
        number
    }

    fn on_loss(&mut self, now: Time) {
        let now = self.clock(now);
        self.call(|point| point.on_loss(now));
    }

    fn on_timeout(&mut self, now: Time) {
        let now = self.clock(now);
        self.call(|point| point.on_timeout(now));
    }

    fn on_idle(&mut self, now: Time) {
        let now = self.clock(now);
        self.call(|point| point.on_idle(now));
    }

    fn on_busy(&mut self, now: Time) {
        let now = self.clock(now);
        self.call(|point| point.on_busy(now));
    }

    fn on_timer(&mut self, now: Time) {
        let now = self.clock(now);
        self.call(|point| point.on_timer(now));
    }

    #[inline(always)] // runs for every packet
    fn next_timer(&self) -> Time {
        match self.limits.next_timer {
            Time::NEVER => Time::NEVER,
            timer => timer.saturating_sub(self.ahead),
        }
    }

    #[inline(always)] // runs for every packet
    fn rate(&self) -> Rate {
        self.limits.rate
    }

    #[inline(always)] // runs for every packet
    fn window(&self) -> u64 {
        self.limits.window
    }

    fn burst(&self) -> u64 {
        self.point.burst()
    }
    fn variables(&self, now: Time, probe: &mut dyn FnMut(&str, f64)) {
        self.point.variables(now, probe);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use xoff_schemes::Mark;
    use xoff_schemes::foreign::ForeignReaction;
    use xoff_schemes::int::IntStack;

    use super::*;

    type Call<'a> = &'a dyn Fn(&mut LimitedReaction);

    /// Its limits are the number of calls so far.
    struct Counting(u64);

    macro_rules! count {
        ($($call:ident($($argument:ty),*)),*) => { $(fn $call(&mut self, $(_: $argument),*) { self.0 += 1; })* };
    }

    impl ReactionPoint for Counting {
        count!(on_send(&Sent), on_ack(&Ack<'_>), on_cnp(Time, &Cnp), on_cnm(Time, &Cnm), on_loss(Time));
        count!(on_timeout(Time), on_idle(Time), on_busy(Time), on_timer(Time), on_credit(Time, u16));
        fn next_timer(&self) -> Time {
            Time(self.0)
        }
        fn rate(&self) -> Rate {
            Rate(self.0)
        }
        fn window(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn clock_and_stream_go_ahead_by_what_was_carried_over_the_point() {
        let counting = |count| AnyReaction::Foreign(ForeignReaction(Box::new(Counting(count))));
        let mut point = LimitedReaction::new(counting(5));
        assert_eq!((point.clock(Time(100)), point.stream_ahead()), (Time(100), (0, 0)));
        // Two jumps, of 3 and 4 packets of 1,000 B.
        for (count, packets) in [(7, 3), (9, 4)] {
            let carried = Ahead { time: Time(packets * 10), bytes: packets * 1_000, packets };
            point.put_point(counting(count), carried);
            assert_eq!(point.window(), count);
        }
        assert_eq!((point.clock(Time(100)), point.stream_ahead()), (Time(170), (7_000, 7)));
    }

    #[test]
    fn a_message_tells_when_a_packet_was_sent_by_the_points_clock() {
        // The packet left at 100 ps, and the message comes at 700 ps, 600 ps later; 50,000 ps were carried forward before.
        struct Asks(Arc<Mutex<Time>>);
        impl ReactionPoint for Asks {
            fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
                let sent_at = cnm.queue.map_or(Time::ZERO, |queue| queue.sent_at);
                *self.0.lock().expect("nobody panics") = now - sent_at;
            }
            fn rate(&self) -> Rate {
                Rate(1)
            }
        }
        let took = Arc::new(Mutex::new(Time::ZERO));
        let foreign = ForeignReaction(Box::new(Asks(Arc::clone(&took))));
        let mut point = LimitedReaction::new(AnyReaction::Foreign(foreign));
        point.set_ahead(Time(50_000));
        let queue = Some(QueueReport { bytes: 1, sent_at: Time(100) });
        point.on_cnm(Time(700), &Cnm { flow: 0, point: 0, rate: Rate(1), queue });
        assert_eq!(*took.lock().expect("nobody panics"), Time(600));
    }

    #[test]
    fn what_a_point_hears_is_noted_while_somebody_listens() {
        let mut point = LimitedReaction::new(AnyReaction::Foreign(ForeignReaction(Box::new(Counting(5)))));
        let sent = Sent { now: Time(100), payload: 1_000, frame: 1_062 };
        point.on_send(&sent);
        point.listen();
        point.on_send(&sent);
        point.on_timer(Time(200));
        let heard = |at, call, window| Heard { at, call, rate: Rate(window), window };
        // Its limits are the number of calls so far: 6 after the first one, which nobody listened to.
        let expected = [
            heard(Time(100), super::Call::Sent { payload: 1_000, frame: 1_062 }, 7),
            heard(Time::ZERO, super::Call::Other, 8),
        ];
        assert_eq!(point.stop_listening(), (6, expected.to_vec()));
        point.on_send(&sent);
        assert_eq!(point.stop_listening().1, []);
    }

    #[test]
    fn limits_are_those_after_the_last_call() {
        let now = Time::ZERO;
        let ack = || Ack {
            now,
            seq: 0,
            newly_acked: 0,
            snd_nxt: 0,
            packet: 0,
            next_packet: 0,
            rtt: None,
            mark: Mark::None,
            flow_count: 0,
            label: 0,
            int: IntStack::default(),
        };
        let calls: [(&str, Call<'_>); 10] = [
            ("on_send", &|point| point.on_send(&Sent { now, payload: 0, frame: 0 })),
            ("on_ack", &|point| point.on_ack(&ack())),
            ("on_cnp", &|point| point.on_cnp(now, &Cnp { mark: Mark::None, rate: None })),
            ("on_cnm", &|point| point.on_cnm(now, &Cnm { flow: 0, point: 0, rate: Rate(1), queue: None })),
            ("on_loss", &|point| point.on_loss(now)),
            ("on_timeout", &|point| point.on_timeout(now)),
            ("on_idle", &|point| point.on_idle(now)),
            ("on_busy", &|point| point.on_busy(now)),
            ("on_timer", &|point| point.on_timer(now)),
            ("on_credit", &|point| point.on_credit(now, 0)),
        ];
        // A point that begins at 5 is at 6 after the first call.
        let mut point = LimitedReaction::new(AnyReaction::Foreign(ForeignReaction(Box::new(Counting(5)))));
        let limits = |point: &LimitedReaction| (point.rate(), point.window(), point.next_timer());
        assert_eq!(limits(&point), (Rate(5), 5, Time(5)));
        for ((name, call), expected) in calls.iter().zip(6..) {
            call(&mut point);
            assert_eq!(limits(&point), (Rate(expected), expected, Time(expected)), "{name}");
        }
    }
}
