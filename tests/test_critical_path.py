"""The critical path of parallel programs, by hand; `job_runs` has the network and its times."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import xoff
from conftest import ROOT
from job_runs import MESSAGE_PS, PAIR, US, collective, goal, job_of, path_of
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.missing import missing


def test_sends_one_after_the_other_take_their_overheads(tmp_path: Path) -> None:
    # Rank 0 computes for 10 us, and its sends take 10 us of its processor each: the fourth one leaves at 50 us. Rank 1
    # has it 10 us after 60.08 us. That an ACK of the second one comes last before 50 us is of no account.
    schedule = """
    num_ranks 3
    rank 0 {
    a: calc 10000
    b: send 93800b to 2 tag 0
    c: send 93800b to 2 tag 1
    d: send 93800b to 2 tag 2
    e: send 93800b to 1 tag 0
    b requires a
    c requires a
    d requires a
    e requires a
    }
    rank 1 {
    a: recv 93800b from 0 tag 0
    b: calc 5000
    b requires a
    }
    rank 2 {
    a: recv 93800b from 0 tag 0
    b: recv 93800b from 0 tag 1
    c: recv 93800b from 0 tag 2
    }
    """
    run = goal(tmp_path, schedule, pattern={"overhead": "10us"})
    assert path_of(run) == [
        ("compute", 0, 10 * US),
        ("between", 0, 40 * US),
        ("message", 0, MESSAGE_PS),
        ("between", 1, 10 * US),
        ("compute", 1, 5 * US),
    ]
    assert all(each.sure for each in job_of(run).path)


# The run is too short to skip anything.
@pytest.mark.filterwarnings("ignore:`fast_forward` in .run. skipped nothing:RuntimeWarning")
def test_a_run_that_skips_packets_is_not_told_to_record_each(tmp_path: Path) -> None:
    run = goal(tmp_path, PAIR, record={}, run={"fast_forward": {"tolerance": 0.01}})
    tells = [each.tells for each in missing(Facts(run)) if each.key.startswith("record.breakdown")]
    assert len(tells) == 1
    assert tells[0].endswith("only in a run without run.fast_forward")


def test_messages_within_a_host_and_overheads_are_parts_of_the_path(tmp_path: Path) -> None:
    # Rank 0 sends 1,250 B to rank 1 on its host: 0.1 us at 100 Gbps, and 2 us. Rank 1 sends on to rank 2.
    schedule = """
    num_ranks 3
    rank 0 {
    a: calc 10000
    b: send 1250b to 1 tag 0
    b requires a
    }
    rank 1 {
    a: recv 1250b from 0 tag 0
    b: send 93800b to 2 tag 0
    b requires a
    }
    rank 2 {
    a: recv 93800b from 1 tag 0
    b: calc 5000
    b requires a
    }
    """
    local = {"ranks_per_host": 2, "local_rate": "100Gbps", "local_delay": "2us"}
    run = goal(tmp_path, schedule, pattern=local)
    assert path_of(run) == [
        ("compute", 0, 10 * US),
        ("local", 0, 2_100_000),
        ("message", 1, MESSAGE_PS),
        ("compute", 2, 5 * US),
    ]
    # Each send and each receive takes 1 us of overhead: rank 0's send, rank 1's receive and send, rank 2's receive.
    late = goal(tmp_path, schedule, pattern={**local, "overhead": "1us"})
    assert path_of(late) == [
        ("compute", 0, 10 * US),
        ("local", 0, 3_100_000),
        ("between", 1, 2 * US),
        ("message", 1, MESSAGE_PS),
        ("between", 2, US),
        ("compute", 2, 5 * US),
    ]


def test_a_message_that_comes_during_an_overhead_is_not_what_was_waited_for(tmp_path: Path) -> None:
    # Each send and each receive takes 1 us. What rank 0 sends leaves at 1 us and is at host1 at 11.08 us; rank 1 has it
    # at 12.08 us, and its own message leaves at 13.08 us. A frame of rank 2 comes in between: it leaves at 9.34 + 1 us,
    # and is there 2.16 us later, at 12.5 us.
    schedule = """
    num_ranks 4
    rank 0 {
    a: send 93800b to 1 tag 0
    }
    rank 1 {
    a: recv 93800b from 0 tag 0
    b: send 93800b to 3 tag 0
    b requires a
    c: recv 938b from 2 tag 0
    }
    rank 2 {
    a: calc 9340
    b: send 938b to 1 tag 0
    b requires a
    }
    rank 3 {
    a: recv 93800b from 1 tag 0
    b: calc 5000
    b requires a
    }
    """
    run = goal(tmp_path, schedule, pattern={"overhead": "1us"})
    # Rank 0's message leaves 1 us after the beginning.
    assert path_of(run) == [
        ("between", 0, US),
        ("message", 0, MESSAGE_PS),
        ("between", 1, 2 * US),
        ("message", 1, MESSAGE_PS),
        ("between", 3, US),
        ("compute", 3, 5 * US),
    ]


def test_messages_within_a_host_may_take_no_time(tmp_path: Path) -> None:
    # Ranks 0 to 3 are on one host. Rank 2 computes for 10 us. What it sends then goes to rank 1, to 0, to 3 in no time,
    # by the network to rank 4, and back to rank 2. Then the same again, and rank 4 computes for 5 us.
    def turns(*lines: str) -> str:
        return "".join(line.replace("N", str(turn)) + "\n" for turn in (0, 1) for line in lines)

    ranks = (
        turns("rN: recv 8b from 1 tag N", "sN: send 8b to 3 tag N", "sN requires rN"),
        turns("rN: recv 8b from 2 tag N", "sN: send 8b to 0 tag N", "sN requires rN"),
        turns("cN: calc 10000", "sN: send 8b to 1 tag N", "sN requires cN")
        + "r0: recv 93800b from 4 tag 0\nc1 requires r0\n",
        turns("rN: recv 8b from 0 tag N", "sN: send 93800b to 4 tag N", "sN requires rN"),
        turns("rN: recv 93800b from 3 tag N")
        + "s0: send 93800b to 2 tag 0\ns0 requires r0\nc: calc 5000\nc requires r1\n",
    )
    schedule = "num_ranks 5\n" + "".join(f"rank {number} {{\n{lines}}}\n" for number, lines in enumerate(ranks))
    run = goal(tmp_path, schedule, pattern={"ranks_per_host": 4})
    assert path_of(run) == [
        ("compute", 2, 10 * US),
        ("message", 3, MESSAGE_PS),
        # Rank 4 answers when the last frame is there, behind the ACK of that frame.
        ("message", 4, MESSAGE_PS + 5_280),
        ("compute", 2, 10 * US),
        ("message", 3, MESSAGE_PS),
        ("compute", 4, 5 * US),
    ]


def test_of_messages_that_arrive_together_that_of_the_same_place_is_taken() -> None:
    # On rails all ranks of a host send at once, each to the rank of its own place.
    job = job_of(xoff.run(ROOT / "scenarios" / "training.toml", sets={"record.breakdown": True}))
    place = {(number, host): place for number, host, place in job.program.places.iter_rows()}
    pairs = [
        (place[sent.rank.number, sent.rank.host], place[then.rank.number, then.rank.host])
        for sent, then in itertools.pairwise(job.path)
        if sent.kind == "message" and then.kind in ("message", "compute")
    ]
    assert len(pairs) > 10
    assert all(sender == receiver for sender, receiver in pairs)


def test_what_goes_on_within_hosts_unseen_does_not_end_the_path() -> None:
    # All-reduce within hosts, across, and within hosts: the tables have only what goes across.
    keys = {"algorithm": "hierarchical", "ranks_per_host": 4, "local_rate": "3600Gbps"}
    sets = {f"traffic.0.{key}": value for key, value in keys.items()} | {"record.breakdown": True}
    job = job_of(xoff.run(ROOT / "scenarios" / "collective.toml", sets=sets))
    assert job.path_ps == job.about["completion_ps"]
    # Within a host a rank sends 3/4 of 16 MiB in chunks before, and as much after: at 3.6 Tbps for 28 us each time.
    assert 0 < job.spent_ps("between") < 60 * US


def test_waits_are_those_until_a_ranks_own_end(tmp_path: Path) -> None:
    # A message of one frame is eager: rank 0 ends when it goes, at 10 us, though its ACK is under way until 14.17 us.
    # The frame takes 2 x (80 ns + 1 us) to rank 1.
    waits = job_of(goal(tmp_path, PAIR.replace("93800b", "938b"))).program.waits_ps
    assert {rank.number: waited for rank, waited in waits.items()} == {0: 0, 1: 12_160_000}


@pytest.mark.parametrize(
    ("keys", "latency"),
    [
        ({"step_latency": "3us"}, 3),
        ({"protocol": "simple"}, 14),
        ({"protocol": "ll"}, 2.7),
        ({"protocol": "ll128"}, 4),
        ({"protocol": "ll128", "overhead": "1us"}, 5),
        ({"protocol": "ll", "algorithm": "tree"}, 5),
        ({"protocol": "ll128", "algorithm": "tree"}, 8.5),
    ],
)
def test_the_latency_of_a_protocols_steps_lies_between_messages(keys: dict[str, Any], latency: float) -> None:
    # Along a chain of three ranks, or down a tree of four with two steps; chunks arrive more often than a step takes.
    hosts = ["host0", "host1", "host2"] + (["host3"] if "algorithm" in keys else [])
    path = job_of(collective(hosts=hosts, chunk="9380B", acknowledged=False, **keys)).path
    between = [each.time_ps for each in path if each.kind == "between"]
    assert between
    assert set(between) == {round(latency * US)}


def test_repetitions_compute_between_each_other() -> None:
    run = collective(repetitions=2, compute="7us")
    assert path_of(run) == [("message", 0, 12_090_560), ("compute", 0, 7 * US), ("message", 0, 12_090_560)]


def test_a_process_of_gpcnet_waits_for_its_own_messages_and_for_barriers() -> None:
    sets = {"record.breakdown": True, "traffic.0.congestor_iterations": 20}
    path = job_of(xoff.run(ROOT / "scenarios" / "gpcnet.toml", sets=sets)).path
    # Before a barrier the processes of a host meet, and one of them goes through it for all: what any of them waits for
    # is a message to one process of its host, an overhead of 0.5 us before.
    assert {each.time_ps for each in path if each.kind == "between"} == {500_000}
