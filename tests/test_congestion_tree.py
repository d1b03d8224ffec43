"""The congestion tree's data: states, spread and waits from tables written by hand, and places of nodes and ports."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import xoff
from conftest import SMALL
from made_up import made_up_run
from xoff.analysis import blocking
from xoff.report.plots.style import labelled
from xoff.report.recorded import lacks
from xoff.report.tree.changes import (
    IDLE,
    PAUSED,
    ROOT,
    SENDING,
    UNDETERMINED,
    UNKNOWN,
    changes,
    changes_within,
    ports_by_state,
    spans,
)
from xoff.report.tree.data import Limits, tree_data
from xoff.report.tree.drawing import draw
from xoff.report.tree.flows import Hop, tracks
from xoff.report.tree.network import Network, network_of
from xoff.report.tree.section import tree_section
from xoff.runs.results import Run

Rows = Sequence[tuple[Any, ...]]

PORTS = ("host0->a", "a->host0", "host1->b", "b->host1", "a->b", "b->a")
"""Two hosts on two switches."""

COLUMNS = {
    "pauses": ("port", "priority", "start_ps", "length_ps"),
    "roots": ("port", "priority", "start_ps", "length_ps"),
    "states": ("port", "priority", "time_ps", "state"),
    "utilization": ("time_ps", "port", "utilization"),
    "queues": ("time_ps", "port", "bytes", "max_bytes"),
    "flows": ("id", "src", "dst", "start_ps", "fct_ps", "slowdown", "path", "hol_blocked", "size_bytes", "paused_ps"),
}
NUMBERS = {
    "start_ps",
    "length_ps",
    "time_ps",
    "bytes",
    "max_bytes",
    "fct_ps",
    "size_bytes",
    "paused_ps",
    "priority",
    "id",
}
KINDS = {"utilization": pl.Float64, "slowdown": pl.Float64, "hol_blocked": pl.Boolean}


def run_of(
    ports: Sequence[str] = PORTS, sim_time_ps: int = 1000, record: dict[str, Any] | None = None, **rows: Rows
) -> Run:
    """A run with these rows, each as `COLUMNS` has it, and samples every 100 ps."""
    tables = {}
    for name, columns in COLUMNS.items():
        kinds = {each: KINDS.get(each, pl.Int64 if each in NUMBERS else pl.String) for each in columns}
        table = pl.DataFrame(list(rows.get(name, ())), schema=kinds, orient="row")
        if name == "pauses":
            table = table.with_columns(by=pl.col("port").str.replace(r"(.*)->(.*)", "$2->$1"))
        if name == "roots":
            table = table.with_columns(max_bytes=pl.lit(7, pl.Int64))
        if name == "flows":
            table = table.with_columns(label=pl.lit("made up"), priority=pl.lit(0, pl.Int64))
        tables[name] = table
    ends = [port.split("->") for port in ports]
    tables["ports"] = pl.DataFrame(
        {"port": list(ports), "node": [one for one, _ in ends], "peer": [other for _, other in ends]}
    )
    base = made_up_run((), (), sim_time_ps=sim_time_ps, sample_interval_ps=100)
    base.manifest["scenario"] = {"topology": {"name": "made_up"}, "record": record or {}}
    return Run(base.manifest, {**base.tables, **{name: table.to_arrow() for name, table in tables.items()}})


def changes_of(run: Run, port: str) -> list[tuple[int, int]]:
    numbers = network_of(run).port_number
    made = changes(spans(run, numbers))
    here = made.port == numbers[port]
    return list(zip(made.time_ps[here].tolist(), made.state[here].tolist(), strict=True))


def test_a_port_has_the_strongest_state_that_its_tables_tell() -> None:
    run = run_of(
        utilization=[(100, "a->b", 0.5), (200, "a->b", 0.05), (300, "a->b", 0.0)],
        states=[("a->b", 0, 0, "non_congestion"), ("a->b", 0, 90, "undetermined"), ("a->b", 0, 350, "congestion")],
        pauses=[("a->b", 0, 120, 60)],
        roots=[("a->b", 0, 180, 40)],
    )
    # The detector's word of 90 stands until 350; from 220 on the port is idle, and from 300 on nobody sampled it.
    assert changes_of(run, "a->b") == [
        (0, SENDING),
        (90, UNDETERMINED),
        (120, PAUSED),
        (180, ROOT),
        (220, IDLE),
        (300, UNKNOWN),
    ]
    assert changes_of(run, "b->a") == []


def test_priorities_of_a_port_count_together_and_states_last_to_the_end() -> None:
    run = run_of(
        states=[("b->a", 0, 40, "undetermined"), ("b->a", 1, 40, "non_congestion")],
        pauses=[("b->a", 0, 50, 30), ("b->a", 1, 70, 20)],
    )
    # It was not sampled, so that nothing speaks against undetermined.
    assert changes_of(run, "b->a") == [(40, UNDETERMINED), (50, PAUSED), (90, UNDETERMINED), (1000, UNKNOWN)]


def test_a_gap_between_samples_is_not_filled() -> None:
    run = run_of(utilization=[(100, "a->b", 0.5), (300, "a->b", 0.5)])
    assert changes_of(run, "a->b") == [(0, SENDING), (100, UNKNOWN), (200, SENDING), (300, UNKNOWN)]


def test_too_many_changes_are_joined_in_steps_that_show_the_strongest_state() -> None:
    ns = 1000
    pauses = [("a->b", 0, start * ns, 100 * ns) for start in (100, 300, 5100)]
    run = run_of(sim_time_ps=10_000 * ns, pauses=pauses, roots=[("a->b", 0, 5150 * ns, 10 * ns)])
    found = spans(run, network_of(run).port_number)
    # Exactly: 100 to 200, 300 to 400, 5100 to 5200 ns, in it a root from 5150 to 5160: eight changes.
    exact = changes_within(found, 8)
    assert (exact.step_ps, len(exact.time_ps)) == (0, 8)
    # In steps of 100 ns the first two stay apart, and the last one is a root: six. In steps of 200 ns those meet.
    six = changes_within(found, 6)
    assert (six.step_ps, six.time_ps.tolist()) == (100 * ns, [each * ns for each in (100, 200, 300, 400, 5100, 5200)])
    assert six.state.tolist() == [PAUSED, UNKNOWN, PAUSED, UNKNOWN, ROOT, UNKNOWN]
    four = changes_within(found, 5)
    assert (four.step_ps, four.time_ps.tolist()) == (200 * ns, [each * ns for each in (0, 400, 5000, 5200)])
    # Nothing can be left out altogether.
    assert len(changes_within(found, 1).time_ps) > 1


def test_ports_are_counted_by_state() -> None:
    run = run_of(pauses=[("a->b", 0, 10, 40), ("b->a", 0, 20, 30), ("host0->a", 0, 20, 10), ("host0->a", 0, 30, 5)])
    made = changes(spans(run, network_of(run).port_number))
    # One from 10 on, three from 20 on, two from 35 on, none from 50 on.
    moments, count = ports_by_state(made, PAUSED)
    assert list(zip(moments.tolist(), count.tolist(), strict=True)) == [(10, 1), (20, 3), (35, 2), (50, 0)]
    assert all(len(column) == 0 for column in ports_by_state(made, ROOT))


def test_a_pause_is_attributed_to_the_root_that_began_first() -> None:
    # b has two roots. PAUSE stops a->b from 20 to 60, and for that host0->a from 30 to 50. Another stops a->b when only
    # the second is left.
    run = run_of(
        roots=[("b->host1", 0, 5, 20), ("b->c", 0, 15, 60)],
        pauses=[("a->b", 0, 20, 40), ("host0->a", 0, 30, 20), ("a->b", 0, 70, 10), ("a->b", 1, 20, 40)],
        ports=(*PORTS, "b->c", "c->b"),
    )
    found = blocking.pause_spread(run).select("port", "priority", "start_ps", "depth", "root").rows()
    assert sorted(found, key=str) == sorted(
        [
            ("a->b", 0, 20, 1, "b->host1"),
            ("host0->a", 0, 30, 2, "b->host1"),
            ("a->b", 0, 70, 1, "b->c"),
            ("a->b", 1, 20, None, None),
        ],
        key=str,
    )
    data = tree_data(run, Limits())
    assert isinstance(data, dict)
    ports = data["network"]["ports"]
    trees = {ports[root["port"]]: [ports[port] for port, *_ in root["tree"]] for root in data["roots"]}
    # The larger tree comes first.
    assert list(trees) == ["b->host1", "b->c"]
    assert trees == {"b->host1": ["a->b", "host0->a"], "b->c": ["a->b"]}


def flow(number: int, start: int, fct: int | None, slowdown: float | None, blocked: bool | None) -> tuple[Any, ...]:
    return (number, "host0", "host1", start, fct, slowdown, "host0>a>b>host1", blocked, 1000, 0)


def test_a_flow_may_have_waited_where_its_path_stood_still() -> None:
    run = run_of(
        flows=[flow(0, 20, 40, 2.0, True)],
        # While the flow is there, from 20 to 60: 10 ps of the first, 10 of the second, none of the others.
        pauses=[("a->b", 0, 10, 20), ("a->b", 0, 50, 20), ("a->b", 1, 20, 40), ("b->a", 0, 20, 40), ("a->b", 0, 80, 5)],
        roots=[("b->host1", 0, 55, 30), ("host0->a", 0, 60, 10)],
        # The sample at 20 covers the time before the flow, that at 80 its last moments and more.
        queues=[(20, "a->b", 1, 500), (50, "a->b", 1, 7), (80, "a->b", 1, 9), (110, "a->b", 1, 800)],
    )
    (found,) = tracks(run, network_of(run), 10)
    numbers = network_of(run).port_number
    assert found.hops == [
        [Hop(numbers["host0->a"], 0, 0, root=False, queue_bytes=None)],
        [Hop(numbers["a->b"], 20, 2, root=False, queue_bytes=9)],
        [Hop(numbers["b->host1"], 0, 0, root=True, queue_bytes=None)],
    ]
    assert (found.end_ps, found.complete, found.blocked) == (60, True, True)


def test_victims_come_first_and_then_the_slowest() -> None:
    flows = [
        flow(0, 0, 10, 5.0, False),
        flow(1, 0, None, None, False),
        flow(2, 0, 10, 2.0, True),
        flow(3, 0, 10, 9.0, False),
        flow(4, 0, 10, 3.0, True),
    ]
    run = run_of(flows=flows)
    assert [each.number for each in tracks(run, network_of(run), 9)] == [4, 2, 1, 3, 0]
    assert [each.number for each in tracks(run, network_of(run), 3)] == [4, 2, 1]
    # One that did not complete is there until the run ends.
    assert [each.end_ps for each in tracks(run, network_of(run), 3)] == [10, 10, 1000]
    data = tree_data(run, Limits(flows=3))
    assert isinstance(data, dict)
    assert any("3 of 5" in note for note in data["notes"])


def network(tmp_path: Path, topology: str) -> Network:
    """The network of a topology in which every host has sent one packet."""
    scenario = tmp_path / "tiny.toml"
    scenario.write_text(
        f"[topology]\n{topology}\n[scheme]\nname = 'none'\n[[traffic]]\npattern = 'permutation'\nsize = '1KB'\n"
    )
    return network_of(xoff.run(scenario))


LINKS = ["w one", "x two", "y three", "z four", "one two", "two three", "three four", "four one"]
ENDS = ", ".join("{{ a = '{}', b = '{}', rate = '100Gbps', delay = '1us' }}".format(*link.split()) for link in LINKS)
RING = f"""name = 'graph'
hosts = ['w', 'x', 'y', 'z']
switches = ['one', 'two', 'three', 'four']
links = [{ENDS}]"""

TOPOLOGIES = [
    "name = 'dumbbell'\nsenders = 3\nreceivers = 2",
    "name = 'chain'\njoin = 'middle'",
    "name = 'star'\nhosts = 5",
    "name = 'star'\nhosts = 200",
    "name = 'fat_tree'\nk = 4",
    "name = 'fat_tree'\nk = 8",
    "name = 'leaf_spine'\nleaves = 4\nspines = 2\nhosts_per_leaf = 3\nlinks_per_pair = 2",
    RING,
]


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_port_can_be_seen(tmp_path: Path, topology: str) -> None:
    found = network(tmp_path, topology)
    drawing = draw(found)
    assert len(set(drawing.nodes)) == len(found.nodes)
    # No port lies upon another: an end of it is pixels apart.
    assert min(math.dist(one, other) for one, other in combinations(drawing.ports, 2)) > 1.5
    # The halves of a link begin at its nodes and meet. Links come port by port, in pairs.
    for port in range(0, len(found.ports), 2):
        if drawing.in_block[port]:
            continue
        one, other = drawing.ports[port], drawing.ports[port + 1]
        assert (one[:2], other[:2]) == (drawing.nodes[found.node[port]], drawing.nodes[found.node[port + 1]])
        assert one[2:] == pytest.approx(other[2:])


def test_tiers_are_distances_from_hosts(tmp_path: Path) -> None:
    found = network(tmp_path, "name = 'fat_tree'\nk = 4")
    # 16 hosts, 8 edge, 8 aggregation and 4 core switches, drawn from the bottom to the top.
    tiers = {
        name: (tier, place[1]) for name, tier, place in zip(found.nodes, found.tiers, draw(found).nodes, strict=True)
    }
    assert [sum(tier == each for tier in found.tiers) for each in range(4)] == [16, 8, 8, 4]
    rows = [tiers[name] for name in ("host0", "edge0", "agg0", "core0")]
    assert [tier for tier, _ in rows] == [0, 1, 2, 3]
    assert all(below < above for (_, below), (_, above) in pairwise(rows))


def test_switches_in_a_line_stand_in_a_row(tmp_path: Path) -> None:
    found = network(tmp_path, "name = 'dumbbell'\nswitches = 3\nsenders = 2\nreceivers = 2")
    place = dict(zip(found.nodes, draw(found).nodes, strict=True))
    xs = [place[name][0] for name in ("sender0", "switch1", "switch2", "switch3", "receiver0")]
    assert xs == sorted(xs)
    assert len({place[f"switch{number}"][1] for number in (1, 2, 3)}) == 1


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ("name = 'fat_tree'\nk = 4", ["core0 to\ncore3", "agg0 to\nagg7", "edge0 to\nedge7", "host0 to\nhost15"]),
        # Its hosts stand in blocks, each in several rows, and are named as one.
        ("name = 'fat_tree'\nk = 8", ["core0 to\ncore15", "agg0 to\nagg31", "edge0 to\nedge31", "host0 to\nhost127"]),
        # The words for the receivers begin to their right.
        ("name = 'dumbbell'\nsenders = 3\nreceivers = 1", ["sender0 to\nsender2", "receiver0"]),
        (RING, []),
    ],
)
def test_nodes_that_stand_in_a_row_are_named_together(tmp_path: Path, topology: str, words: list[str]) -> None:
    found = network(tmp_path, topology)
    drawing = draw(found)
    assert [text for _, text in drawing.rows] == words
    for row, text in drawing.rows:
        assert {text.split(" to\n")[0], text.split(" to\n")[-1]} <= {found.nodes[node] for node in row.nodes}
        # The words are beside all of their nodes, on the side to which they do not reach.
        xs = [drawing.nodes[node][0] for node in row.nodes]
        assert row.beside[0] < min(xs) if row.leftwards else row.beside[0] > max(xs)


def test_what_was_not_recorded_is_said_with_the_setting_that_would(tmp_path: Path) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SMALL)

    def said(sets: dict[str, object] | None = None) -> dict[str, str]:
        return {each.setting: each.shows for each in lacks(labelled([xoff.run(scenario, sets=sets)], ["only"]))}

    assert set(said()) == {
        "record.breakdown=true",
        "record.roots=true",
        "record.rates=all",
        "record.queues=switches",
        "record.utilization=true",
    }
    everything = {
        "scheme.name": "dcqcn",
        "detector.name": "tcd",
        "record.roots": True,
        "record.utilization": True,
        "record.queues": "all",
        "record.states": "all",
        "record.rates": "all",
        "record.breakdown": True,
    }
    assert said(everything) == {}
    # Three hosts on one switch have six ports.
    partly = said({**everything, "record.queues": ["switch1->host0"]})
    assert partly == {"record.queues=all": "queues and utilization of 5 of 6 ports"}
    assert said({**everything, "record.pauses": False}).keys() == {"record.pauses=true"}
    assert said({**everything, "record.states": "none"}).keys() == {"record.states=all"}
    # Every setting that is named is one.
    for setting in ("record.pauses=false", "record.roots=true", "record.utilization=true", "record.states=all"):
        key, _, value = setting.partition("=")
        xoff.check(scenario, sets={"scheme.name": "dcqcn", "detector.name": "tcd", "record.queues": "all", key: value})


def test_a_network_that_is_too_large_is_not_drawn() -> None:
    reason = tree_data(run_of(), Limits(ports=5))
    assert isinstance(reason, str)
    assert "6 ports; up to 5 are drawn" in reason
    section = tree_section(labelled([run_of()], ["only"]), Limits(ports=5))
    assert reason in section.body
    assert section.data == {}
    assert "no ports" in tree_section(labelled([made_up_run()], ["none"])).body


def test_several_runs_share_what_a_page_may_hold() -> None:
    flows = [flow(number, 0, 10, 2.0, False) for number in range(6)]
    runs = labelled([run_of(flows=flows), run_of(flows=flows)], ["one", "two"])
    section = tree_section(runs, Limits(flows=8))
    assert '<option value="1">two</option>' in section.body
    trees = [json.loads(section.data[f"tree-{number}"]) for number in range(2)]
    assert [len(tree["flows"]) for tree in trees] == [4, 4]


def test_change_points_on_the_page_are_those_of_the_tables() -> None:
    run = run_of(pauses=[("a->b", 0, 10, 40), ("a->b", 0, 60, 5), ("b->a", 0, 20, 30)])
    data = tree_data(run, Limits())
    assert isinstance(data, dict)
    # Ports 4 and 5: four changes and two; times count from the port's last one.
    assert data["changes"] == {
        "count": [0, 0, 0, 0, 4, 2],
        "since_ps": [10, 40, 10, 5, 20, 30],
        "state": [PAUSED, UNKNOWN, PAUSED, UNKNOWN, PAUSED, UNKNOWN],
    }
    # The page opens when both are stopped, and its time ends with the last pause.
    assert (data["open_ps"], data["end_ps"]) == (20, 65)
