//! Fast-forwarded runs beside plain ones: what a run skips although rates swing, something breaks or nothing is under way.

use arrow_array::cast::AsArray;

use crate::common::{numbers, numbers_or_null, table};
use crate::fast_forward::{FAST, Message, TOPOLOGIES, run, text};

#[test]
fn idle_time_makes_no_run_uncertain() {
    // Three messages of 100 KB, 8 us each, too short for a pace, and 2 ms apart: nothing but idle time could be carried forward, in which
    // switches compute rates or refresh telemetry, or credits come. Only over credits alone a jump is exact.
    let messages: Vec<Message> = (0..3).map(|i| (0, 1, 100, 2_000 * i)).collect();
    let cases =
        [("fncc", "pfc", false), ("rocc", "pfc", false), ("dcqcn", "cbfc", true), ("swift", "cbfc", true)];
    for (scheme, flow_control, skips) in cases {
        let text = text(TOPOLOGIES[0], scheme, flow_control, &messages);
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        let all = &fast.manifest["fast_forward"];
        assert_eq!((all["jumps"] != 0, all["uncertain_from_ps"].is_null()), (skips, true), "{scheme}: {all}");
        let times = [&plain, &fast].map(|output| numbers_or_null(table(output, "flows"), "fct_ps"));
        assert_eq!(times[0], times[1], "{scheme}");
    }
}

#[test]
fn rates_that_swing_do_not_hold_back_runs_that_nobody_vouches_for() {
    // HPCC's and FNCC's windows swing by some percent as often as ACKs come, about a mean, and packets go at a rate that swings by much less.
    // In a ring of eight hosts each sends 14 messages of 16 MB, 1.4 ms each: by jumps alone, without a recalled message, at most an eighth of the packets are
    // simulated, and completion times err by less than the tolerance.
    let ring = "[[traffic]]\npattern = \"allreduce\"\nalgorithm = \"ring\"\nsize = \"128MB\"\n";
    for scheme in ["hpcc", "fncc"] {
        let text = text(TOPOLOGIES[1], scheme, "pfc", &[]) + ring;
        let (plain, fast) = (run(&text, ""), run(&text, "fast_forward = { recall = false }"));
        let hops = [&plain, &fast].map(|output| output.manifest["packet_hops"].as_u64().expect("a number"));
        assert!(hops[0] > 8 * hops[1], "{scheme}: {hops:?}");
        assert_eq!(fast.manifest["fast_forward"]["recalled_messages"], 0, "{scheme}");
        assert!(!fast.manifest["fast_forward"]["uncertain_from_ps"].is_null(), "{scheme}");
        let times = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
        for (plain, fast) in times[0].iter().zip(&times[1]) {
            assert!(plain.abs_diff(*fast) * 100 < *plain, "{scheme}: {plain} {fast}");
        }
    }
}

/// A ring of the 16 hosts of a fat-tree, of a pattern, with messages of a sixteenth of the size.
fn ring(scheme: &str, pattern: &str, size: &str, more: &str) -> String {
    let routing = "routing = { name = \"d_mod_k\" }\n".to_string();
    let ring = format!("[[traffic]]\n{pattern}\nalgorithm = \"ring\"\nsize = \"{size}\"\n{more}\n");
    routing + &text("name = \"fat_tree\", k = 4", scheme, "pfc", &[]) + &ring
}

/// Runs a scenario plain and fast, all of whose messages are certain if `is_known` and err by less than `permille`; returns how many there are, how many are
/// recalled, and the packet-hops of both runs.
fn compare(text: &str, is_known: bool, permille: u64) -> (usize, u64, [u64; 2]) {
    let (plain, fast) = (run(text, ""), run(text, FAST));
    let all = &fast.manifest["fast_forward"];
    assert_eq!(all["uncertain_from_ps"].is_null(), is_known, "{all}");
    let [a, b] = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
    let worst = a.iter().zip(&b).map(|(plain, fast)| plain.abs_diff(*fast) * 1_000 / plain).max();
    assert!(worst < Some(permille), "{worst:?}");
    let hops = [&plain, &fast].map(|output| output.manifest["packet_hops"].as_u64().expect("a number"));
    (a.len(), all["recalled_messages"].as_u64().expect("a number"), hops)
}

#[test]
fn short_messages_are_recalled() {
    // A message of 1 MB takes 93 us, and hosts are up to 17 us apart. As recall begins, one that is the last of its phase is simulated for so long beside the next ones of its
    // neighbours, which are recalled: their ACKs, 4 bytes in 104, are not there, and it takes 0.7 % less time. It is held until it would have been over, so nothing is wrong by
    // more than half a percent. 4 or 5 of the first 21 of a connection are simulated, 2 of the next 34, and so on: more than four of five are recalled.
    let text = ring("dcqcn", "pattern = \"allreduce\"", "16MB", "repetitions = 3");
    let (messages, recalled, hops) = compare(&text, true, 5);
    assert_eq!(messages, 16 * 90);
    assert!(recalled * 5 > 4 * messages as u64, "{recalled}");
    assert!(hops[0] > 10 * hops[1], "{hops:?}");
}

#[test]
fn messages_that_begin_before_the_last_ack_of_the_one_before_are_recalled() {
    // As soon as a block has come it is sent on, while the last block's last ACKs are still on their way: 30 messages of 4 MB, 350 us each, of which 4 or 5 of the first 21 and 2
    // after these are simulated.
    let text = ring("dcqcn", "pattern = \"collective\"\nkind = \"all_reduce\"", "64MB", "");
    let (messages, recalled, hops) = compare(&text, true, 5);
    assert_eq!(messages, 16 * 30);
    assert!(recalled * 3 > 2 * messages as u64, "{recalled}");
    assert!(hops[0] > 40 * hops[1], "{hops:?}");
}

#[test]
fn blocks_that_nobody_can_vouch_for_are_recalled_if_the_run_is_to_go_on() {
    // Messages of 1 MiB, 95 us each, begin up to 4 us after the data of the one before, and take times that differ by 0.3 %: a run that vouches for 1 % recalls none of them, and
    // simulates two of five packets. One that is to skip what it cannot vouch for simulates less than a fifth of these, says so, and is wrong by less than 1 %.
    let pattern = "pattern = \"collective\"\nkind = \"all_reduce\"";
    let text = ring("dcqcn", pattern, "16777216B", "repetitions = 8").replace("500ns", "1us");
    let always = "fast_forward = { tolerance = 0.01, approximate = \"always\" }";
    let [plain, certain, always] = ["", FAST, always].map(|settings| run(&text, settings));
    let said = |output: &xoff::Output, key: &str| output.manifest["fast_forward"][key].as_u64();
    assert_eq!([&certain, &always].map(|output| said(output, "uncertain_from_ps").is_some()), [false, true]);
    let hops = [&certain, &always].map(|output| output.manifest["packet_hops"].as_u64().expect("a number"));
    assert!(hops[0] > 5 * hops[1], "{hops:?}");
    assert!(said(&always, "recalled_messages") > Some(16 * 240 / 2));
    let [a, b] = [&plain, &always].map(|output| numbers(table(output, "flows"), "fct_ps"));
    assert!(a.iter().zip(&b).all(|(plain, fast)| plain.abs_diff(*fast) * 100 < *plain));
}

#[test]
fn messages_of_schemes_with_a_state_of_their_own_are_recalled() {
    // Under HPCC times of a message swing by a few thousandths, and its first one takes another time than the others. The first one that is simulated after
    // recalled ones may take 2 % more, and counts for itself alone.
    for scheme in ["hpcc", "fncc", "rocc"] {
        let text = ring(scheme, "pattern = \"allreduce\"", "64MB", "repetitions = 2");
        let (messages, recalled, hops) = compare(&text, false, 20);
        assert_eq!(messages, 16 * 60, "{scheme}");
        assert!(recalled * 4 > 3 * messages as u64, "{scheme}: {recalled}");
        assert!(hops[0] > 8 * hops[1], "{scheme}: {hops:?}");
    }
}

#[test]
fn messages_are_recalled_again_after_a_slow_link() {
    // A ring of the 16 hosts of a fat-tree, 90 messages of 4 MB each, 350 us; one host's link has half the rate from 3 to 4 ms. A message that is under
    // way as that begins or ends is like none. Others have less to send meanwhile, and then ACKs of others take less of their neighbours' links: a
    // message takes 4 % less time, once. That explained, all are recalled from 10 ms on but those that are simulated between: more than six of
    // seven. Under DCQCN the host before the slow link is brought below the line rate, and gets fewer ACKs until it has come back: what the others take meanwhile is not
    // learned. The delay goes round the ring once, to 19 ms, and from 20 ms on more than six of seven are recalled.
    let topology = "name = \"fat_tree\", k = 4";
    let slow = "[[event]]\nkind = \"degrade\"\nlink = \"host5->edge2\"\nrate = \"50Gbps\"\nat = \"3ms\"\nfor = \"1ms\"\n";
    let ring =
        "[[traffic]]\npattern = \"allreduce\"\nalgorithm = \"ring\"\nsize = \"64MB\"\nrepetitions = 3\n";
    for (scheme, from_ms, at_least) in [("none", 10, 900), ("dcqcn", 20, 600)] {
        let text = "routing = { name = \"d_mod_k\" }\n".to_string()
            + &text(topology, scheme, "pfc", &[])
            + slow
            + ring;
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        let [a, b] = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
        assert!(a.iter().zip(&b).all(|(plain, fast)| plain.abs_diff(*fast) * 100 < *plain), "{scheme}");
        let starts = numbers(table(&fast, "flows"), "start_ps");
        let recalled = table(&fast, "flows").column_by_name("recalled").expect("a column").as_boolean();
        let late = starts.iter().zip(recalled).filter(|(start, _)| **start > from_ms * 1_000_000_000);
        let (late, of_those) =
            (late.clone().count(), late.filter(|(_, recalled)| *recalled == Some(true)).count());
        assert!(late > at_least && 7 * of_those > 6 * late, "{scheme}: {of_those} of {late}");
    }
}

#[test]
fn approximate_jumps_come_as_far_as_they_are_allowed() {
    // HPCC's rates swing, so that no jump is exact. A host sends a message of 20 MB, 1.6 ms: there are approximate jumps unless they are never to
    // come. It sends two of them at a time, each at half of the rate: how they share its link may hang on single packets, and there are jumps only
    // if there always are. Nothing breaks the symmetry of the two here: at most a third of the packets are simulated, and they err by less than the tolerance.
    let lone = text(TOPOLOGIES[0], "hpcc", "pfc", &[(0, 1, 20_000, 0)]);
    let two = text(TOPOLOGIES[0], "hpcc", "pfc", &[(0, 1, 20_000, 0), (0, 2, 20_000, 0)]);
    // Without congestion control one that has 37.3 Gbps of data shares the link with one that has all: their packets never come in the same way again.
    let source =
        text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 20_000, 0), (0, 2, 20_000, 0)]) + "rate = \"37.3Gbps\"\n";
    let [less, more] = [["never", "apart"], ["apart", "always"]];
    for (text, allowed) in [(&lone, less), (&two, more), (&source, more)] {
        let plain = run(text, "");
        for (approximate, jumps) in allowed.into_iter().zip([false, true]) {
            let fast =
                run(text, &format!("fast_forward = {{ approximate = \"{approximate}\", recall = false }}"));
            let all = &fast.manifest["fast_forward"];
            let number = |key: &str| all[key].as_u64().expect("a number");
            assert_eq!(number("jumps"), number("approximate_jumps"), "{all}");
            assert_eq!(number("jumps") > 0, jumps, "{approximate}: {all}");
            // Uncertain from the first jump on, and not before.
            assert_eq!(all["uncertain_from_ps"], all["spans"][0][0], "{approximate}: {all}");
            let hops =
                [&plain, &fast].map(|output| output.manifest["packet_hops"].as_u64().expect("a number"));
            assert_eq!(hops[0] > 3 * hops[1], jumps, "{approximate}: {hops:?}");
            let [a, b] = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
            assert!(
                a.iter().zip(&b).all(|(plain, fast)| plain.abs_diff(*fast) * 100 < *plain),
                "{a:?} {b:?}"
            );
        }
    }
}
