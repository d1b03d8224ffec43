//! DCQCN against numbers worked by hand: the published algorithm (SIGCOMM 2015, section 3.1) at 40 Gb/s, NVIDIA's
//! form at 100 Gb/s.

mod mellanox;
mod paper;
mod receiver;

use crate::common::flow_env;
use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::dcqcn::{Dcqcn, Np, Reaction, Undetermined, Variant};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, Arrival, Cnp, Mark, NetworkEnv, NotificationPoint, ReactionPoint, Scheme, Sent};

const STEP: Time = Time::from_us(55);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn cnp(mark: Mark) -> Cnp {
    Cnp { mark, rate: None }
}

fn paper(params: Dcqcn) -> Reaction {
    params.reaction(&flow_env(Rate::from_gbps(40), us(10)))
}

fn mellanox(params: Dcqcn) -> Reaction {
    Dcqcn { variant: Variant::Mellanox, ..params }.reaction(&flow_env(Rate::from_gbps(100), us(10)))
}

fn target(reaction: &Reaction) -> Rate {
    match reaction {
        Reaction::Paper(sender) => sender.rates().target(),
        Reaction::Mellanox(sender) => sender.rates().target(),
    }
}

fn alpha(reaction: &Reaction, now: Time) -> f64 {
    match reaction {
        Reaction::Paper(sender) => sender.alpha(now),
        Reaction::Mellanox(sender) => sender.alpha(),
    }
}

#[test]
fn a_flow_starts_at_line_rate_without_window_and_without_timer() {
    for reaction in [paper(Dcqcn::default()), mellanox(Dcqcn::default())] {
        assert!(reaction.rate() >= Rate::from_gbps(40));
        assert_eq!(reaction.window(), u64::MAX);
        assert_eq!(reaction.next_timer(), Time::NEVER);
    }
}

#[test]
fn the_window_follows_the_rate_where_asked_for() {
    // 40 Gb/s * 10 us = 50,000 B; at 20 Gb/s half of it.
    let mut reaction = paper(Dcqcn { window: true, ..Dcqcn::default() });
    assert_eq!(reaction.window(), 50_000);
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!(reaction.window(), 25_000);
}

#[test]
fn resolving_shows_what_a_variant_uses_and_nothing_else() {
    let env = NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt: us(10) };
    let paper = Dcqcn::default().resolve(&env);
    assert_eq!((paper.r_ai, paper.r_hai), (Some(Rate::from_mbps(100)), Some(Rate::from_mbps(500))));
    assert_eq!(paper.byte_counter, Some(Bytes(10_000_000)));
    assert_eq!((paper.np, paper.cnp_interval), (Some(Np::Immediate), Some(us(50))));
    assert_eq!(paper.decrease_timer, None);
    assert_eq!(paper.validate(), Ok(()));
    assert!(!paper.signals().acks && paper.signals().ecn);

    let mellanox = Dcqcn { variant: Variant::Mellanox, ..Dcqcn::default() }.resolve(&env);
    assert_eq!((mellanox.r_ai, mellanox.r_hai), (Some(Rate::from_mbps(20)), Some(Rate::from_mbps(200))));
    assert_eq!((mellanox.f, mellanox.clamp_target), (Some(1), Some(false)));
    assert_eq!((mellanox.byte_counter, mellanox.np), (None, None));
    assert_eq!(mellanox.validate(), Ok(()));
    assert!(mellanox.signals().acks && mellanox.signals().ecn);
}

/// The paper's steps are 40 and 200 Mb/s at 40 Gb/s; at 800 Gb/s, twenty times as fast, they are 800 Mb/s and 4 Gb/s.
#[test]
fn default_steps_follow_the_line_rate_and_given_ones_stand() {
    for (gbps, ai, hai) in [(10, 10, 50), (25, 25, 125), (40, 40, 200), (400, 400, 2_000), (800, 800, 4_000)]
    {
        let env = NetworkEnv { line_rate: Rate::from_gbps(gbps), base_rtt: us(10) };
        let found = Dcqcn::default().resolve(&env);
        let expected = (Some(Rate::from_mbps(ai)), Some(Rate::from_mbps(hai)));
        assert_eq!((found.r_ai, found.r_hai), expected, "{gbps} Gb/s");
        let given = Dcqcn { r_ai: Some(Rate::from_mbps(40)), ..Dcqcn::default() }.resolve(&env);
        assert_eq!(given.r_ai, Some(Rate::from_mbps(40)));
    }
}

#[test]
fn parameters_out_of_range_or_of_the_other_variant_are_refused_by_key() {
    let key = |params: Dcqcn| params.validate().unwrap_err().key;
    assert_eq!(key(Dcqcn { g: 0.0, ..Dcqcn::default() }), "g");
    assert_eq!(key(Dcqcn { g: f64::NAN, ..Dcqcn::default() }), "g");
    assert_eq!(key(Dcqcn { initial_alpha: 2.5, ..Dcqcn::default() }), "initial_alpha");
    assert_eq!(key(Dcqcn { increase_timer: Some(Time::ZERO), ..Dcqcn::default() }), "increase_timer");
    assert_eq!(key(Dcqcn { decrease_timer: Some(us(4)), ..Dcqcn::default() }), "decrease_timer");
    let mellanox = Dcqcn { variant: Variant::Mellanox, ..Dcqcn::default() };
    assert_eq!(key(Dcqcn { np: Some(Np::Immediate), ..mellanox.clone() }), "np");
    assert_eq!(key(Dcqcn { byte_counter: Some(Bytes(1)), ..mellanox }), "byte_counter");
}

/// Fires the pending timer at its own moment, which it returns.
fn tick(reaction: &mut Reaction) -> Time {
    let at = reaction.next_timer();
    assert_ne!(at, Time::NEVER);
    reaction.on_timer(at);
    at
}

fn marked_ack(at: Time, mark: Mark) -> Ack<'static> {
    Ack {
        now: at,
        seq: 1_000,
        newly_acked: 1_000,
        snd_nxt: 2_000,
        packet: 0,
        next_packet: 2,
        rtt: None,
        mark,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    }
}

proptest! {
    #[test]
    fn no_sequence_of_events_breaks_the_bounds(
        events in prop::collection::vec((0u8..5, 0u64..200_000_000), 1..200),
        mellanox_form: bool,
        window: bool,
        initial_alpha in 0.0..2.0f64,
    ) {
        let variant = if mellanox_form { Variant::Mellanox } else { Variant::Paper };
        let params = Dcqcn { variant, window, initial_alpha, ..Dcqcn::default() };
        let mut reaction = params.reaction(&flow_env(Rate::from_gbps(40), us(10)));
        let mut now = Time::ZERO;
        for (kind, gap) in events {
            now += Time(gap);
            while reaction.next_timer() <= now {
                let at = reaction.next_timer();
                reaction.on_timer(at);
                prop_assert!(reaction.next_timer() > at);
            }
            match kind {
                0 => reaction.on_cnp(now, &cnp(Mark::Ce)),
                1 => reaction.on_cnp(now, &cnp(Mark::Ue)),
                2 => reaction.on_ack(&marked_ack(now, Mark::Ce)),
                3 => reaction.on_ack(&marked_ack(now, Mark::None)),
                _ => reaction.on_send(&Sent { now, payload: 9_000_000, frame: 9_000_000 }),
            }
            prop_assert!(reaction.rate() >= Rate::from_mbps(100) && reaction.rate() <= Rate::from_gbps(40));
            prop_assert!(reaction.window() >= 1);
            prop_assert!(target(&reaction) >= reaction.rate());
        }
    }
}
