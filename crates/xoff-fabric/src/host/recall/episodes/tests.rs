use super::*;

const ONE: Like = (ConnectionId(1), 1_000);
const TWO: Like = (ConnectionId(2), 1_000);

fn look(state: u64, pending: &[(Time, u64)]) -> Option<Look> {
    Some(Look { state, pending: pending.to_vec(), stops: Default::default() })
}

/// Two messages: the first takes 10 us, and the second, which starts 4 us later, some time. In all that is at least 10 us.
fn simulate(episodes: &mut Episodes, begin: Time, state: u64, second: Time) -> Option<Deviation> {
    let deviation = episodes.begin(ONE, begin, Time::NEVER, |_, _| look(state, &[]), |_| &[1_000]);
    assert_eq!(episodes.start(ONE, begin), Ok(None));
    let later = begin + Time::from_us(4);
    assert_eq!(episodes.start(TWO, later), Ok(None));
    for (like, start, sent) in [(TWO, later, second), (ONE, begin, Time::from_us(10))] {
        let part = Part { like, start, delivered: sent - Time::from_us(1), sent, paused: Time::ZERO };
        episodes.end(start + sent, Some(part));
    }
    deviation
}

/// Whether the episode that begins is recalled, and whole.
fn is_recalled(episodes: &mut Episodes, begin: Time, look: Option<Look>) -> bool {
    assert_eq!(episodes.begin(ONE, begin, Time::NEVER, |_, _| look, |_| &[1_000]), None);
    let Ok(Some(first)) = episodes.start(ONE, begin) else { return false };
    let later = begin + Time::from_us(4);
    let second = episodes.start(TWO, later).expect("it is known").expect("it is recalled");
    for (part, start) in [(first, begin), (second, later)] {
        episodes.end(start + part.sent, None);
    }
    true
}

/// Episodes that are known: two were the same, at 0 and 100 us.
fn known(state: u64) -> Episodes {
    let mut episodes = Episodes::new(Time::from_us(1));
    for begin in [0, 100] {
        assert_eq!(simulate(&mut episodes, Time::from_us(begin), state, Time::from_us(5)), None);
    }
    episodes
}

#[test]
fn two_episodes_make_a_third() {
    let mut episodes = known(7);
    assert!(is_recalled(&mut episodes, Time::from_us(200), look(7, &[])));
    assert!(is_recalled(&mut episodes, Time::from_us(300), look(7, &[])));
    let over: Vec<_> = episodes.take_over().iter().map(|over| (over.begin, over.until)).collect();
    // The second one is over when another one begins, or the run ends.
    assert_eq!(over, []);
    episodes.close(Time::from_us(305));
    let over: Vec<_> = episodes.take_over().iter().map(|over| (over.begin, over.until)).collect();
    assert_eq!(over, [(Time::from_us(300), Time::from_us(305))]);
}

#[test]
fn an_episode_is_recalled_only_if_the_network_stays_as_it_is_until_its_end() {
    // It takes 10 us from 200 us on: the network may change later, and not then. After the change two must be the same again.
    for (until, recalled) in [(210_001, true), (210_000, false)] {
        let mut episodes = known(7);
        let begin = Time::from_us(200);
        episodes.begin(ONE, begin, Time::from_ns(until), |_, _| look(7, &[]), |_| &[1_000]);
        assert_eq!(episodes.start(ONE, begin).expect("known").is_some(), recalled, "{until}");
    }
    let mut episodes = known(7);
    episodes.forget();
    for begin in [200, 300] {
        assert_eq!(simulate(&mut episodes, Time::from_us(begin), 7, Time::from_us(6)), None);
    }
    assert!(is_recalled(&mut episodes, Time::from_us(400), look(7, &[])));
}

#[test]
fn another_state_is_another_episode() {
    let mut episodes = known(7);
    assert!(!is_recalled(&mut episodes, Time::from_us(200), look(8, &[])));
}

#[test]
fn what_is_to_begin_counts_until_the_end_of_the_episode() {
    // The episode takes 10 us.
    for (at, recalled) in [(10, false), (11, true)] {
        let mut episodes = known(7);
        let pending = [(Time::from_us(at), 1)];
        assert_eq!(is_recalled(&mut episodes, Time::from_us(200), look(7, &pending)), recalled, "{at}");
    }
}

#[test]
fn an_episode_needs_all_its_messages() {
    // The second connection has no message left, or one of another size, or one more.
    for (second, recalled) in [(&[][..], false), (&[2_000, 1_000], false), (&[1_000, 2_000], true)] {
        let mut episodes = known(7);
        let left = |connection| if connection == ONE.0 { &[1_000][..] } else { second };
        assert_eq!(episodes.begin(ONE, Time::from_us(200), Time::NEVER, |_, _| look(7, &[]), left), None);
        let first = episodes.start(ONE, Time::from_us(200)).expect("nothing is out of place");
        assert_eq!(first.is_some(), recalled, "{second:?}");
    }
}

#[test]
fn two_episodes_that_begin_alike_are_both_simulated() {
    let mut episodes = known(7);
    for begin in [200, 300] {
        // Without the second message.
        episodes.begin(ONE, Time::from_us(begin), Time::NEVER, |_, _| look(7, &[]), |_| &[]);
        let (start, sent) = (Time::from_us(begin), Time::from_us(10));
        episodes
            .end(start + sent, Some(Part { like: ONE, start, delivered: sent, sent, paused: Time::ZERO }));
    }
    assert!(!is_recalled(&mut episodes, Time::from_us(400), look(7, &[])));
}

#[test]
fn a_message_that_is_over_later_than_the_next_one_starts_makes_no_episode() {
    // As nodes come to their events: the message of the second node ends at 13 us, and that of the first one starts at 12 us.
    let mut episodes = Episodes::new(Time::from_us(2));
    for begin in [0, 100, 200] {
        let [start, sent] = [Time::from_us(begin), Time::from_us(13)];
        let begins = |episodes: &mut Episodes, at: Time| {
            episodes.begin(ONE, at, Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]);
            assert_eq!(episodes.start(ONE, at), Ok(None), "{begin}");
        };
        begins(&mut episodes, start);
        let part = |start, sent| Part { like: ONE, start, delivered: sent, sent, paused: Time::ZERO };
        episodes.end(start + sent, Some(part(start, sent)));
        let (second, other) = (start + Time::from_us(12), Time::from_us(begin / 100 + 1));
        begins(&mut episodes, second);
        episodes.end(second + other, Some(part(second, other)));
    }
}

#[test]
fn an_episode_that_began_before_the_last_one_was_over_is_not_learned() {
    // The second node's message begins after the last one was over, and then it turns out that the first node's began before.
    let mut episodes = Episodes::new(Time::from_us(2));
    let part = |like, start, sent| Part { like, start, delivered: sent, sent, paused: Time::ZERO };
    for begin in [0, 100, 200, 300] {
        let (start, sent) = (Time::from_us(begin), Time::from_us(13));
        episodes.begin(TWO, start, Time::NEVER, |_, _| look(begin, &[]), |_| &[1_000]);
        // The last time it was over.
        let first = if begin == 300 { Time::from_us(11) } else { sent };
        episodes.end(start + first, Some(part(TWO, start, first)));
        let [earlier, later] = [12, 14].map(|us| start + Time::from_us(us));
        episodes.begin(TWO, later, Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]);
        assert_eq!(episodes.start(TWO, later), Ok(None), "{begin}");
        assert_eq!(episodes.start(ONE, earlier), Ok(None), "{begin}");
        for (like, start) in [(TWO, later), (ONE, earlier)] {
            episodes.end(start + sent, Some(part(like, start, sent)));
        }
    }
}

#[test]
fn a_message_that_does_not_start_is_missing_from_its_time_on() {
    let mut episodes = known(7);
    episodes.begin(ONE, Time::from_us(200), Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]);
    assert!(episodes.start(ONE, Time::from_us(200)).expect("known").is_some());
    // Due at 204 us; another node may be up to 1 us behind.
    assert_eq!(episodes.missing(Time::from_us(205)), None);
    let due = Some(Deviation(Time::from_us(204)));
    assert_eq!(episodes.missing(Time::from_us(205) + Time(1)), due);
    // A message that the episode does not have is found out of place at the earlier one of both times.
    assert_eq!(episodes.start(ONE, Time::from_us(206)), Err(Deviation(Time::from_us(204))));
    // Nothing more is recalled.
    assert!(!is_recalled(&mut episodes, Time::from_us(300), look(7, &[])));
}

#[test]
fn an_episode_that_is_simulated_again_and_differs_makes_those_recalled_uncertain() {
    for (second, expected) in [(5, None), (6, Some(Deviation(Time::from_us(200))))] {
        let mut episodes = known(7);
        for number in 0..u64::from(PATIENCE) {
            assert!(is_recalled(&mut episodes, Time::from_us(200 + 100 * number), look(7, &[])));
        }
        let again = Time::from_us(5_000);
        assert_eq!(simulate(&mut episodes, again, 7, Time::from_us(second)), None);
        // That is found when the next one begins.
        let next = episodes.begin(ONE, Time::from_us(6_000), Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]);
        assert_eq!(next, expected);
        let recalls = episodes.start(ONE, Time::from_us(6_000)).expect("nothing is out of place").is_some();
        assert_eq!(recalls, expected.is_none());
    }
}

#[test]
fn an_episode_that_is_simulated_again_must_have_the_same_messages_left_alone() {
    // Its second message starts later, or something happened to it that may hang on chance.
    for (later, is_plain, expected) in [(4, true, None), (5, true, Some(200)), (4, false, Some(200))] {
        let mut episodes = known(7);
        for number in 0..u64::from(PATIENCE) {
            assert!(is_recalled(&mut episodes, Time::from_us(200 + 100 * number), look(7, &[])));
        }
        let again = Time::from_us(5_000);
        assert_eq!(episodes.begin(ONE, again, Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]), None);
        for (like, start, sent) in [(TWO, later, 5), (ONE, 0, 10)] {
            let [start, sent] = [again + Time::from_us(start), Time::from_us(sent)];
            let delivered = sent - Time::from_us(1);
            let part = Part { like, start, delivered, sent, paused: Time::ZERO };
            episodes.end(start + sent, (is_plain || like == ONE).then_some(part));
        }
        let next = episodes.begin(ONE, Time::from_us(6_000), Time::NEVER, |_, _| look(7, &[]), |_| &[1_000]);
        assert_eq!(next, expected.map(|us| Deviation(Time::from_us(us))), "{later} {is_plain}");
    }
}
