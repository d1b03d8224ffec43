"""What `xoff explain` says of parallel programs; `job_runs` has the network and its times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import xoff
from conftest import ROOT, Command
from job_runs import MESSAGE_PS, NETWORK, PAIR, STRAGGLER, US, collective, finding, flow, goal, job_of, path_of
from xoff.analysis.explain import explain
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.job import jobs_of
from xoff.analysis.explain.missing import missing
from xoff.runs.results import Run


def test_a_message_alone_costs_no_link_anything(tmp_path: Path) -> None:
    run = goal(tmp_path, PAIR)
    assert path_of(run) == [("compute", 0, 10 * US), ("message", 0, MESSAGE_PS), ("compute", 1, 5 * US)]
    found = finding(run, "critical_path")
    assert found is not None
    # 10.08 of 25.08 us.
    assert found.title == "job goal: messages are 40.2 % of its critical path, no longer than alone"
    assert (found.severity, found.ports, found.flows) == ("note", (), ())
    assert found.evidence == (
        "it took 25.08 us, 1.00 times the 25.08 us of an ideal network; rank 1 on host1 ended last, with calc",
        "its critical path, by when operations and messages begin and end: "
        "computing 15 us (59.8 %), messages between hosts 10.08 us (40.2 %)",
        "its messages by operation: send 10.08 us in 1 message",
        "of 2 ranks on the path rank 0 on host0 has most, 80.1 %: what it computes, and what it sends",
        # Rank 1 ends after 25.08 us and computes for 5 us of them.
        "rank 1 on host1 waited longest: for 20.08 us it neither computed nor sent",
    )


def test_traffic_to_a_ranks_host_costs_its_link(tmp_path: Path) -> None:
    # The background's frames are 40 ns before those of the program. The program's last frame is at the switch at
    # 19 us, the 200th there. The link has sent since 11.04 us, 99.5 frames in 7.96 us: 99.5 of the other 199 are
    # still before it.
    run = goal(tmp_path, PAIR, flow("host2", "host1", "9.96us"))
    assert path_of(run)[1] == ("message", 0, MESSAGE_PS + 7_960_000)
    found = finding(run, "critical_path")
    assert found is not None
    assert (found.severity, found.ports) == ("warning", ("switch1->host1",))
    # 18.04 of 33.04 us.
    assert found.title == "job goal: messages are 54.6 % of its critical path, 7.96 us longer than alone"
    assert (
        "the path's messages were longer than alone by 7.96 us: queueing at switch1->host1 7.96 us (24.1 %)"
        in found.evidence
    )
    assert "its messages by operation: send 18.04 us in 1 message, 1.79 times as long as alone" in found.evidence
    assert found.advice[0].startswith("fewer senders to that host")
    (own,) = found.flows
    assert run.flows.filter(pc.equal(run.flows["id"], own))["label"].to_pylist() == ["goal"]


@pytest.mark.parametrize(("src", "dst"), [("host2", "host3"), ("host3", "host2")])
def test_traffic_elsewhere_is_not_named(tmp_path: Path, src: str, dst: str) -> None:
    run = goal(tmp_path, PAIR, flow(src, dst, "9.96us"))
    found = finding(run, "critical_path")
    assert found is not None
    assert path_of(run)[1] == ("message", 0, MESSAGE_PS)
    assert found.ports == ()


def test_traffic_to_the_senders_host_costs_what_its_acks_take_of_the_nic(tmp_path: Path) -> None:
    # The background's first frame is at host0 at 9.96 + 2.16 us, and one more each 80 ns. The program's last frame is
    # due to leave at 17.92 us, and each ACK of 5.28 ns puts that off: by 75 ACKs to 18.316 us, by when the 76th frame
    # has come, but the 79th only comes at 18.36 us. So the message is later by 75 or more ACKs and by less than 80.
    run = goal(tmp_path, PAIR, flow("host2", "host0", "9.96us"))
    found = finding(run, "critical_path")
    assert found is not None
    assert found.ports == ("host0->switch1",)
    assert 75 * 5280 <= path_of(run)[1][2] - MESSAGE_PS < 80 * 5280


def test_a_paused_sender_is_told_from_the_link_that_is_congested(tmp_path: Path) -> None:
    # Both inputs pass 20 KB while the link to host1 is shared: the switch stops the NIC of host0 by PAUSE.
    pfc = {"name": "pfc", "xoff": "20KB"}
    run = goal(tmp_path, PAIR, flow("host2", "host1", "9.96us"), flow_control=pfc)
    found = finding(run, "critical_path")
    assert found is not None
    (lost,) = (each for each in found.evidence if each.startswith("the path's messages were longer than alone"))
    assert "paused at its sender, host0->switch1" in lost
    (roots,) = (each for each in found.evidence if each.startswith("congestion roots"))
    assert "switch1->host1" in roots
    assert found.ports == ("switch1->host1",)
    assert not any("record.roots" in each for each in found.advice)
    unrecorded = {"breakdown": True}
    silent = finding(
        goal(tmp_path, PAIR, flow("host2", "host1", "9.96us"), flow_control=pfc, record=unrecorded),
        "critical_path",
    )
    assert silent is not None
    assert any("record.roots = true says which ports" in each for each in silent.advice)
    # Of a message that waits in a queue the port is known without roots.
    queued = finding(goal(tmp_path, PAIR, flow("host2", "host1", "9.96us"), record=unrecorded), "critical_path")
    assert queued is not None
    assert not any("record.roots" in each for each in queued.advice)


def test_a_message_that_waits_alone_too_costs_no_link_anything() -> None:
    # The frames of a message queue in front of a link of a quarter of its NIC's rate, with nobody else in the network.
    topology = {"name": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 1, "rate": "400Gbps", "delay": "1us"}
    traffic = {"pattern": "collective", "kind": "broadcast", "size": "1MB", "hosts": ["host0", "host1"]}
    run = xoff.run({**NETWORK, "topology": {**topology, "spine_rate": "100Gbps"}, "traffic": [traffic]})
    found = finding(run, "critical_path")
    assert found is not None
    assert found.title == "job collective: messages are 100 % of its critical path, no longer than alone"
    assert (found.severity, found.ports) == ("note", ())


def test_of_parallel_links_the_one_of_the_path_is_named() -> None:
    # Whatever links the seeds choose, a root that the finding names is a port at which the message's own frames were.
    topology = {"name": "leaf_spine", "leaves": 2, "spines": 1, "links_per_pair": 2, "hosts_per_leaf": 4}
    network = {**NETWORK, "topology": {**topology, "rate": "100Gbps", "delay": "500ns"}}
    job = {"pattern": "collective", "kind": "broadcast", "size": "1MB", "hosts": ["host0", "host4"]}
    others = [
        {"pattern": "flow", "src": f"host{i}", "dst": f"host{i + 4}", "size": "1MB", "label": "other"}
        for i in (1, 2, 3)
    ]
    named = set()
    for seed in range(1, 7):
        run = xoff.run({"seed": seed, **network, "traffic": [job, *others]})
        found = finding(run, "critical_path")
        assert found is not None
        (own,) = (row["id"] for row in run.flows.to_pylist() if row["label"] == "collective")
        passed = {row["port"] for row in run.breakdown.to_pylist() if row["flow"] == own and row["leg"] != "ack"}
        assert set(found.ports) <= passed
        named |= {port for port in found.ports if "#2" in port}
    assert named


def test_where_a_port_is_stopped_the_congestion_is_further_on() -> None:
    # Three senders fill hot's link, and east stops west, whose link to east has room for four hosts: what the message
    # to cold waits for is east->hot, which is not on its path.
    pairs = [
        ("victim", "west"),
        ("far", "west"),
        ("east", "hot"),
        ("east", "cold"),
        ("near0", "east"),
        ("near1", "east"),
    ]
    links = [{"a": a, "b": b, "rate": "100Gbps", "delay": "1us"} for a, b in pairs]
    hosts = ["victim", "far", "near0", "near1", "hot", "cold"]
    links.append({"a": "west", "b": "east", "rate": "400Gbps", "delay": "1us"})
    job = {"pattern": "collective", "kind": "broadcast", "size": "50KB", "hosts": ["victim", "cold"], "start": "200us"}
    storm = {"pattern": "incast", "senders": ["far", "near0", "near1"], "receiver": "hot", "size": "4MB"}
    topology = {"name": "graph", "hosts": hosts, "switches": ["west", "east"], "links": links}
    pfc = {"name": "pfc", "xoff": "100KB"}
    run = xoff.run({**NETWORK, "topology": topology, "flow_control": pfc, "traffic": [job, storm]})
    found = finding(run, "critical_path")
    assert found is not None
    assert any("paused at west->east" in each for each in found.evidence)
    assert found.advice[0].startswith("what stops those ports, which is further on")


def test_what_is_not_known_to_have_been_waited_for_is_no_warning() -> None:
    # Two hosts of two ranks sum, first within hosts, which no table has, then between hosts, where two other hosts cost
    # far more than a tenth, and within hosts again: the end says nothing of what came before.
    within = {"algorithm": "hierarchical", "ranks_per_host": 2, "local_rate": "400Gbps"}
    across = {"pattern": "collective", "kind": "all_reduce", "size": "1MB", "hosts": ["host0", "host1"]}
    background = [{"pattern": "flow", "src": f"host{i}", "dst": "host1", "size": "1MB"} for i in (2, 3)]
    run = xoff.run({**NETWORK, "traffic": [across | within, *background]})
    (job,) = (each for each in jobs_of(Facts(run)) if each.label == "collective")
    assert job.losses["time_ps"].sum() > 0.1 * job.path_ps
    found = finding(run, "critical_path")
    assert found is not None
    assert found.severity == "note"
    assert any("of it, the earlier part, is not sure" in each for each in found.evidence)


def test_a_rank_is_not_slow_if_its_job_was_cut_off_or_it_costs_nothing(tmp_path: Path) -> None:
    # After 31 us rank 2 has computed for 30 us and rank 1 for 10, as in the whole run; the rest is not known.
    cut = goal(tmp_path, STRAGGLER, run={"duration": "31us"})
    assert finding(cut, "slow_ranks") is None
    # Rank 1 computes for 25 us, beside 45.08 us of ranks 2 and 0 in which nobody waits for it.
    aside = STRAGGLER.replace("rank 1 {\na: calc 10000", "rank 1 {\na: calc 25000").replace("calc 30000", "calc 15000")
    assert finding(goal(tmp_path, aside), "slow_ranks") is None
    # On two processors at once 2 x 20 us are 20 us.
    both = STRAGGLER.replace("rank 1 {\na: calc 10000", "rank 1 {\na: calc 20000\nb: calc 20000 cpu 1")
    (rank, longest), *_ = sorted(job_of(goal(tmp_path, both)).program.computes_ps.items(), key=lambda each: -each[1])
    assert (rank.number, longest) == (2, 30 * US)


def test_without_the_parts_of_time_no_path_is_claimed(tmp_path: Path) -> None:
    run = goal(tmp_path, PAIR, flow("host2", "host1", "9.96us"), record={})
    assert job_of(run).path == []
    found = finding(run, "critical_path")
    assert found is not None
    # 33.04 over 25.08 us.
    assert found.title == "job goal: it took 1.32 times as long as on an ideal network"
    assert "1 of 1 message took longer than alone, most flow 0 of send, host0->host1: 7.96 us" in found.evidence
    assert found.ports == ()
    assert found.advice[0].startswith("record.breakdown = true says which messages")
    assert any("critical paths" in each.tells for each in missing(Facts(run)))
    assert finding(goal(tmp_path, PAIR, record={}), "critical_path") is None


def test_a_straggler_is_named_with_what_it_has_of_the_path(tmp_path: Path) -> None:
    run = goal(tmp_path, STRAGGLER)
    assert path_of(run) == [("compute", 2, 30 * US), ("message", 2, MESSAGE_PS), ("compute", 0, 5 * US)]
    found = finding(run, "slow_ranks")
    assert found is not None
    # Ranks compute for 15, 10 and 30 us.
    assert found.title == "job goal: rank 2 on host2 computes 2.00 times as long as the median"
    assert found.evidence == (
        "it computes 30 us, the median of 3 ranks that compute 15 us",
        # Of 45.08 us.
        "30 us of it (66.5 %) is on the job's critical path",
        "rank 0 on host0 waited longest: for 30.08 us it neither computed nor sent",
    )
    assert finding(goal(tmp_path, STRAGGLER.replace("30000", "15000")), "slow_ranks") is None


def test_a_wait_that_is_next_to_nothing_is_not_named() -> None:
    # Two channels of a ring keep each host's NIC busy from the first message to the last.
    run = xoff.run(ROOT / "scenarios" / "collective.toml", sets={"record.breakdown": True})
    job, found = job_of(run), finding(run, "critical_path")
    assert found is not None
    assert 0 < max(job.program.waits_ps.values()) < 0.01 * job.path_ps
    assert not any("waited longest" in each for each in found.evidence)


def test_a_late_ack_costs_nothing_if_only_the_data_is_waited_for(tmp_path: Path) -> None:
    # The last frame arrives at 20.08 us, and host1 has been sending another message's frame since 20.05 us: the ACK
    # waits for 50 ns.
    run = goal(tmp_path, PAIR, flow("host1", "host0", "20.05us"))
    late = run.flows.filter(pc.equal(pc.cast(run.flows["label"], "string"), "goal"))
    assert late["fct_ps"][0].as_py() > 12_090_560
    found = finding(run, "critical_path")
    assert found is not None
    assert (path_of(run)[1], found.ports) == (("message", 0, MESSAGE_PS), ())


def test_a_collective_ends_with_the_last_ack() -> None:
    run = collective()
    (only,) = job_of(run).path
    assert (only.kind, only.acked, only.time_ps) == ("message", True, 12_090_560)
    found = finding(run, "critical_path")
    assert found is not None
    assert found.title == "job collective: messages are 100 % of its critical path, no longer than alone"
    assert found.evidence[0].endswith("rank 0 on host0 ended last, with broadcast")


def test_a_collective_that_meets_other_traffic_names_the_link() -> None:
    other = flow("host2", "host1", "0us") | {"size": "938KB"}
    pattern = {
        "pattern": "collective",
        "kind": "broadcast",
        "size": "93800B",
        "hosts": ["host0", "host1"],
        "start": "5us",
    }
    found = finding(xoff.run({**NETWORK, "traffic": [pattern, other]}), "critical_path")
    assert found is not None
    assert found.ports == ("switch1->host1",)


def test_a_trace_names_its_collective() -> None:
    run = xoff.run(ROOT / "scenarios" / "chakra" / "training_4.toml", sets={"record.breakdown": True})
    job = job_of(run)
    assert job.path_ps == job.about["completion_ps"]
    # Four forward passes of 100 us, four backward passes of 200 us, and the optimizer for 100 us.
    assert job.spent_ps("compute") == 1_300 * US
    found = finding(run, "critical_path")
    assert found is not None
    assert found.evidence[0].endswith("rank 0 on host0 and 3 others ended last, with compute: optimizer")
    # Sums of several layers share each host's NIC.
    assert any("all_reduce: gradients_0" in each for each in found.evidence)
    assert any("by place: behind others at their own NICs" in each for each in found.evidence)
    assert found.advice[0].startswith("fewer messages of one host at a time")


@pytest.mark.parametrize(
    ("scenario", "sets"),
    [
        ("training", {}),
        ("collective", {"traffic.0.size": "1MiB"}),
        ("allreduce", {}),
        ("all_to_all_collective", {}),
        ("gpcnet", {"traffic.0.congestor_iterations": 20}),
    ],
)
def test_the_path_of_every_closed_loop_sums_to_its_completion_time(scenario: str, sets: dict[str, Any]) -> None:
    run = xoff.run(ROOT / "scenarios" / f"{scenario}.toml", sets={"record.breakdown": True, **sets})
    job = job_of(run)
    assert job.path_ps == job.about["completion_ps"]
    # What no table has is little.
    assert job.spent_ps("between") < 0.01 * job.path_ps
    assert finding(run, "critical_path") is not None


def test_two_jobs_have_findings_of_their_own(tmp_path: Path) -> None:
    pattern = {"pattern": "collective", "kind": "broadcast", "size": "93800B", "label": "other"}
    run = goal(tmp_path, PAIR, {**pattern, "hosts": ["host2", "host3"]})
    titles = [each.title for each in explain(run).findings if each.rule == "critical_path"]
    assert [title.partition(":")[0] for title in titles] == ["job goal", "job other"]


def test_a_job_that_has_not_ended_is_explained_as_far_as_it_came(tmp_path: Path) -> None:
    # Rank 1 answers from 20.08 us on. The last ACK of rank 0's message comes at 22.09 us, or behind a frame of that.
    answer = PAIR.replace("b: calc 5000", "b: send 93800b to 0 tag 1").replace(
        "to 1 tag 0", "to 1 tag 0\nc: recv 93800b from 1 tag 1"
    )
    run = goal(tmp_path, answer, run={"duration": "25us"})
    found = finding(run, "critical_path")
    assert found is not None
    assert found.evidence[0].startswith("it had not ended when the run did; of what had, rank 0 on host0 ended last")
    assert [each[:2] for each in path_of(run)] == [("compute", 0), ("message", 0)]
    nothing = goal(tmp_path, PAIR, run={"duration": "5us"})
    assert [each.rule for each in explain(nothing).findings] == []


def test_what_an_earlier_version_did_not_write_silences_the_rules(tmp_path: Path) -> None:
    run = goal(tmp_path, PAIR)
    earlier = Run(run.manifest, {**run.tables, "flows": run.flows.drop_columns(["process"])})
    assert jobs_of(Facts(earlier)) == []
    assert finding(earlier, "critical_path") is None


def test_the_command_prints_them(command: Command, tmp_path: Path) -> None:
    goal(tmp_path, PAIR, flow("host2", "host1", "9.96us")).write(tmp_path / "run")
    told = command("explain", "run")
    assert (told.returncode, told.stderr) == (0, "")
    assert "[critical_path]" in told.stdout
    assert "queueing at switch1->host1 7.96 us" in " ".join(told.stdout.split())
