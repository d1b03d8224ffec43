"""GOAL schedules: from a file to a scenario, a run and a report."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xoff
from conftest import ROOT, Command
from xoff.analysis.intervals import Intervals
from xoff.errors import UserError
from xoff.formats.goal.importer import import_goal, read_schedule
from xoff.report.plots import sections
from xoff.report.plots.jobs import jobs
from xoff.report.plots.ranks import ranks_of
from xoff.report.plots.style import Labelled, labelled

TRAINING = ROOT / "scenarios" / "goal" / "training_4.goal"

PING = """num_ranks 2
rank 0 {
a: calc 1000
b: send 500b to 1
b requires a
}
rank 1 {
c: recv 500b from 0
}
"""


@pytest.fixture
def ping(tmp_path: Path) -> Path:
    file = tmp_path / "ping.goal"
    file.write_text(PING)
    return file


def test_a_schedule_becomes_a_scenario_and_a_run(tmp_path: Path, command: Command) -> None:
    done = command("import", "goal", TRAINING, "-o", "t.toml", "--topology", "star,rate=200Gbps,delay=1us")
    assert (done.returncode, done.stderr) == (0, "")
    # 4 ranks; 3 ring allreduces of 6 steps.
    assert done.stdout == "t.toml: 4 hosts, 72 messages\nt.goal: named by it\n"
    resolved = xoff.check(tmp_path / "t.toml")
    assert resolved["topology"]["rate"] == "200Gbps"
    assert resolved["topology"]["hosts"] == 4
    assert resolved["traffic"][0]["file"] == "t.goal"
    # The copy has the lines of the original.
    assert (tmp_path / "t.goal").read_text().count("\n") == TRAINING.read_text().count("\n")
    done = command("run", "t.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    job = re.search(
        r"^job +goal: (\S+ us), ([0-9.]+) times the (\S+ us) of an ideal network$", done.stdout, re.MULTILINE
    )
    assert job, done.stdout
    assert float(job[2]) >= 1
    # Given again, it replaces its own files; the copy can be imported where it lies.
    assert command("import", "goal", TRAINING, "-o", "t.toml").returncode == 0
    assert command("import", "goal", "t.goal", "-o", "t.toml").returncode == 0
    assert xoff.check(tmp_path / "t.toml")["topology"]["name"] == "fat_tree"


def test_ranks_go_to_as_many_hosts_as_it_takes(tmp_path: Path) -> None:
    made = import_goal(TRAINING, tmp_path / "t.toml", topology="star", ranks_per_host=2, scheme="hpcc")
    assert (made.hosts, made.flows) == (2, 72)
    resolved = xoff.check(tmp_path / "t.toml")
    assert (resolved["topology"]["hosts"], resolved["scheme"]["name"]) == (2, "hpcc")
    assert resolved["traffic"][0]["ranks_per_host"] == 2
    topology = tmp_path / "two.graphml"
    topology.write_text(
        '<graphml><key id="r" for="edge" attr.name="rate_bps"/><key id="d" for="edge" attr.name="delay_ps"/>'
        '<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="s"/>'
        '<edge source="a" target="s"><data key="r">1000000000</data><data key="d">0</data></edge>'
        '<edge source="b" target="s"><data key="r">1000000000</data><data key="d">0</data></edge></graph></graphml>'
    )
    with pytest.raises(UserError, match=r"training_4.goal: 4 ranks take 4 hosts: .* has 2"):
        import_goal(TRAINING, tmp_path / "u.toml", topology=str(topology))


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (3, "a: clac 1000", "`a` is followed by `clac`: expected `send`, `recv` or `calc`; did you mean `calc`?"),
        (4, "b: send 500b to 7", "`to` is 7: expected a whole number up to 1"),
        (4, "b: send 500b to 1 nic 2", "`nic` is 2: expected 0, since a host has one NIC"),
        (4, "b: send 900b to 1", None),
        (5, "b requires d", "`d` is the label of no operation: expected a label of rank 0"),
        (8, "c: recv 500b from -1", "`from` is any rank: expected a rank, since messages are matched before the run"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(ping: Path, line: int, text: str, expected: str | None) -> None:
    lines = PING.splitlines()
    lines[line - 1] = text
    ping.write_text("\n".join(lines))
    with pytest.raises(UserError) as raised:
        import_goal(ping, ping.with_name("p.toml"), topology="star")
    if expected is None:
        # Where a receive has too little room, it is the receive's line that is told.
        line, expected = 8, "`recv` is of 500B, and the message, of line 4, has 900B: expected room for the message"
    assert str(raised.value).startswith(f"{ping}:{line}: {expected}")
    assert not (ping.parent / "p.toml").exists()


def test_nothing_is_overwritten_that_an_import_did_not_write(ping: Path, tmp_path: Path) -> None:
    (tmp_path / "p.goal").write_text("mine")
    with pytest.raises(UserError, match=r"p.goal: exists already, and no import wrote it"):
        import_goal(ping, tmp_path / "p.toml", topology="star")
    assert not (tmp_path / "p.toml").exists()
    import_goal(ping, tmp_path / "p.toml", topology="star", force=True)
    assert "Imported by xoff" in (tmp_path / "p.goal").read_text()


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        ("ring", "no topology called `ring` and no such file: expected one of fat_tree, leaf_spine, star"),
        ("stra", "did you mean `star`?"),
        ("star,delay", "`delay` is no setting: expected `KEY=VALUE`"),
        ("star,delay=1us,delay=2us", "`delay` twice"),
        ("star,dealy=1us", "makes a scenario that cannot be run: "),
        ("none.topo", "none.topo: no such topology"),
        ("none.graphml", "none.graphml: no such graph in GraphML"),
    ],
)
def test_topologies_that_are_none_are_refused(ping: Path, tmp_path: Path, topology: str, expected: str) -> None:
    with pytest.raises(UserError, match=re.escape(expected)):
        import_goal(ping, tmp_path / "p.toml", topology=topology)
    assert not (tmp_path / "p.toml").exists()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(TRAINING.read_text().splitlines()),
            st.text(max_size=20),
            st.from_regex(r"[a-c]\d?: (send|recv|calc) [-0-9]{1,4}b? (to|from) \d( tag \d)?", fullmatch=True),
        ),
        max_size=25,
    )
)
def test_no_input_gives_a_traceback(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "f.goal"
    file.write_text("\n".join(["num_ranks 4", "rank 0 {", *lines, "}"]), encoding="utf-8", newline="")
    try:
        read_schedule(file)
    except UserError as error:
        assert re.match(rf"{re.escape(str(file))}:\d+: |.*not a text file", str(error)), error  # noqa: PT017


def test_intervals() -> None:
    def of(*pairs: tuple[int, int]) -> Intervals:
        return Intervals(
            np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)
        )

    def pairs(intervals: Intervals) -> list[tuple[int, int]]:
        return list(zip(intervals.start.tolist(), intervals.end.tolist(), strict=True))

    # Touching ones are one; empty ones are none.
    some = of((10, 20), (0, 5), (15, 30), (30, 31), (40, 40))
    assert pairs(some) == [(0, 5), (10, 31)]
    assert pairs(some | of((4, 11))) == [(0, 31)]
    assert pairs(some - of((3, 12), (20, 25))) == [(0, 3), (12, 20), (25, 31)]
    assert pairs(of() - some) == []
    assert some.covered(np.array([0, 4, 12, 31, 50])).tolist() == [4, 1 + 2, 19, 0]
    assert pairs(some.closed(6)) == [(0, 31)]
    assert pairs(some.closed(5)) == [(0, 5), (10, 31)]


def test_the_report_has_a_timeline_and_the_completion_time(tmp_path: Path) -> None:
    import_goal(TRAINING, tmp_path / "t.toml", topology="star,rate=100Gbps,delay=1us", scheme="none")
    run = xoff.run(tmp_path / "t.toml")
    completion, timeline = jobs(labelled([run], ["t"]))
    # Ideal: 40 us and 3 x 30 us of computing, then the last ring: six messages of 250,000 B, each in 172 packets of
    # 1,518 B and less, over two links; then 15 us. Alone a message takes 250,000 + 172 x 62 B at 80 ps, one more full
    # packet on the second link, and 2 us.
    message = (250_000 + 172 * 62) * 80 + 1518 * 80 + 2_000_000
    (job,) = run.manifest["jobs"]
    assert job["ideal_completion_ps"] == 130_000_000 + 6 * message + 15_000_000
    assert job["completion_ps"] > job["ideal_completion_ps"]
    assert completion.figure is not None
    run_bar, ideal_bar = completion.figure.data
    assert ideal_bar.x[0] == pytest.approx(job["ideal_completion_ps"] / 1e6)
    assert run_bar.x[0] == pytest.approx(job["completion_ps"] / 1e6)
    assert timeline.figure is not None
    assert "times the ideal" in timeline.note
    lanes = {trace.name: trace for trace in timeline.figure.data}
    assert set(lanes) == {"computes", "sends", "waits"}
    # Rank 0 computes from 0 to 130 us without a gap, and the last 15 us.
    xs = [x for x, y in zip(lanes["computes"].x, lanes["computes"].y, strict=True) if y < 0.5]
    ends = [0, 130, job["completion_ps"] / 1e6 - 15, job["completion_ps"] / 1e6]
    assert xs == pytest.approx(ends, abs=1)
    assert "Parallel programs" in [heading for heading, _ in sections(labelled([run], ["t"]))]


def test_many_ranks_make_a_map_of_bounded_size(tmp_path: Path) -> None:
    ranks = 300
    text = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        other = rank ^ 1
        text += [
            f"rank {rank} {{",
            "a: calc 50000",
            f"b: send 1000b to {other}",
            "b requires a",
            f"recv 1000b from {other}",
        ]
        text += ["c: calc 50000", "c requires b", "}"]
    (tmp_path / "m.goal").write_text("\n".join(text))
    import_goal(tmp_path / "m.goal", tmp_path / "n.toml", topology="star", scheme="none")
    run = xoff.run(tmp_path / "n.toml")
    _, timeline = jobs(labelled([run], ["m"]))
    assert timeline.figure is not None
    (heat,) = timeline.figure.data
    cells = np.array(heat.z)
    assert cells.shape == (128, 400)
    # They compute all the time, but for less than a cell.
    assert (cells == 0).mean() > 0.99


# Ranks 0 and 1 on a host, 2 and 3 on another. Rank 0 sends to its own host at once and after 20 us, rank 1 to itself.
WITHIN = """num_ranks 4
rank 0 {
a: calc 20000
b: send 1000b to 1
b requires a
send 100000b to 1 tag 1
send 952b to 2
}
rank 1 {
recv 1000b from 0
recv 100000b from 0 tag 1
send 0b to 1 tag 2
recv 0b from 1 tag 2
}
rank 2 {
recv 952b from 0
}
"""


def within(tmp_path: Path, sets: dict[str, object]) -> Labelled:
    (tmp_path / "w.goal").write_text(WITHIN)
    import_goal(tmp_path / "w.goal", tmp_path / "w.toml", topology="star,delay=1us", ranks_per_host=2, scheme="none")
    return labelled([xoff.run(tmp_path / "w.toml", sets=sets)], ["w"])[0]


def test_messages_within_a_host_are_in_the_timeline(tmp_path: Path) -> None:
    # At 80 Gbps a byte takes 100 ps: 100,000 B and 1,000 B take 10 us and 0.1 us, all of them 50 ns more.
    each = within(tmp_path, {"traffic.0.local_delay": "50ns", "traffic.0.local_rate": "80Gbps"})
    _, timeline = jobs([each])
    assert timeline.figure is not None
    assert "Messages between ranks of one host" in timeline.note
    lanes = {trace.name: trace for trace in timeline.figure.data}
    assert list(lanes) == ["computes", "sends", "sends within the host", "waits"]
    local = lanes["sends within the host"]
    assert local.x[np.isfinite(local.x)] == pytest.approx([0, 10.05, 20, 20.15, 0, 0.05])
    assert local.customdata[0] == "rank 0 sends within the host for 10.05 us"
    # Its lane is no other's, and rank 1's is below rank 0's.
    heights = [set(trace.y[np.isfinite(trace.y)]) for trace in lanes.values()]
    assert sum(map(len, heights)) == len(set().union(*heights))
    # The message between hosts alone is sent over the network.
    assert np.isfinite(lanes["sends"].x).sum() == 2


def test_messages_within_a_host_that_take_no_time_are_marked(tmp_path: Path) -> None:
    _, timeline = jobs([within(tmp_path, {})])
    assert timeline.figure is not None
    local = next(trace for trace in timeline.figure.data if trace.name == "sends within the host")
    assert local.mode == "lines+markers"
    assert local.x[np.isfinite(local.x)] == pytest.approx([0, 0, 20, 20, 0, 0], abs=1e-5)
    assert set(local.customdata) - {None} == {f"rank {rank} sends within the host in no time" for rank in (0, 1)}


def test_messages_within_a_host_last_from_when_they_go_until_they_have_come(tmp_path: Path) -> None:
    keys = {"overhead": "3us", "eager": "0B", "local_delay": "7ns", "local_rate": "3Gbps"}
    sets: dict[str, object] = {f"traffic.0.{key}": value for key, value in keys.items()}
    each = within(tmp_path, sets)
    # Sends get the processor after the calculation, at 20 us; an overhead later the message goes. Without eager sends
    # each ends when its message has come.
    sends = [row for row in each.run.operations.to_pylist() if row["kernel"] == "send" and row["bytes"] == 100_000]
    local = ranks_of(each, "goal")[0][0].local
    assert (local.start[0], local.end[-1]) == (23_000_000, pytest.approx(sends[0]["end_ps"], abs=1))
    # After 25 us the run is over, and the send to the other host, from 23 us on, has not let its message go.
    local = ranks_of(within(tmp_path, {**sets, "run.duration": "25us"}), "goal")[0][0].local
    assert (local.start.tolist(), local.end.tolist()) == ([23_000_000], [25_000_000])


def test_a_map_of_many_ranks_tells_messages_within_hosts_apart(tmp_path: Path) -> None:
    # Each pair of ranks is on a host. The first sends to the second for 125 us, and to the next host at the end.
    ranks = 40
    text = [f"num_ranks {ranks}"]
    for rank in range(0, ranks, 2):
        text += [f"rank {rank} {{", f"a: send 1000000b to {rank + 1}", f"b: send 1b to {(rank + 2) % ranks}"]
        text += ["b requires a", f"recv 1b from {(rank - 2) % ranks}", "}"]
        text += [f"rank {rank + 1} {{", f"recv 1000000b from {rank}", "}"]
    (tmp_path / "m.goal").write_text("\n".join(text))
    import_goal(tmp_path / "m.goal", tmp_path / "n.toml", topology="star", ranks_per_host=2, scheme="none")
    run = xoff.run(tmp_path / "n.toml", sets={"traffic.0.local_rate": "64Gbps"})
    _, timeline = jobs(labelled([run], ["m"]))
    assert timeline.figure is not None
    (heat,) = timeline.figure.data
    assert heat.colorbar.ticktext == ("compute", "send", "send within the host", "wait", "nothing to do")
    cells = np.array(heat.z)
    assert (cells[::2] == 2).mean() == pytest.approx(125 / heat.x[-1], abs=1 / 400)
    assert (cells[1::2] == 2).sum() == 0


def test_runs_without_jobs_have_no_such_section(small: Path) -> None:
    run = xoff.run(small)
    assert run.manifest["jobs"] == []
    assert "Parallel programs" not in [heading for heading, _ in sections(labelled([run], ["s"]))]
