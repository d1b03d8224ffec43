"""What broke in a run, and what it cost whom: findings, costs and figures."""

from __future__ import annotations

import copy
from pathlib import Path

import plotly.graph_objects as go
import pytest

from conftest import Command
from xoff.analysis.explain import explain
from xoff.analysis.failures import Span, costs_of_events, spans
from xoff.report.plots.spans import shade
from xoff.runs.results import Run, load

SLOW = """
[topology]
name = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[scheme]
name = "none"
[run]
duration = "400us"
[[event]]
kind = "degrade"
link = "switch1->host1"
rate = "25Gbps"
at = "100us"
for = "100us"
[[traffic]]
pattern = "flow"
src = "host0"
dst = "host1"
"""
"""One endless flow, whose last link has a quarter of its rate for 100 us."""

DEAD = """
[topology]
name = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 3
rate = "100Gbps"
delay = "1us"
[scheme]
name = "none"
[host]
retransmit_timeout = "50us"
[routing]
convergence = "none"
[[event]]
kind = "link_down"
link = "leaf0->spine0"
at = "20us"
for = "100us"
[[traffic]]
pattern = "flow"
src = "host0"
dst = "host3"
size = "1MB"
[[traffic]]
pattern = "flow"
src = "host1"
dst = "host2"
size = "1MB"
"""
"""A flow whose only path is dead from 20 to 120 us, and one that stays below the leaf."""

STORM = """
[topology]
name = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[scheme]
name = "none"
[run]
duration = "300us"
[[event]]
kind = "pause_storm"
host = "host1"
at = "100us"
[[traffic]]
pattern = "flow"
src = "host0"
dst = "host1"
"""
"""One endless flow to a host whose NIC babbles PAUSE from 100 us on."""

WATCHDOG = "{detection='50us', restoration='100us'}"


def run(command: Command, text: str, folder: Path, watchdog: str | None = None) -> Run:
    """A finished run of a scenario's text, read from its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.toml").write_text(text)
    sets = ["--set", f"switch.watchdog={watchdog}"] if watchdog else []
    done = command("run", folder / "scenario.toml", "-o", folder / "out", *sets)
    assert done.returncode == 0, done.stderr
    return load(folder / "out")


def test_a_slow_link_costs_an_endless_flow_what_it_carries_less(command: Command, tmp_path: Path) -> None:
    slow = run(command, SLOW, tmp_path)
    costs = costs_of_events(slow, 5)
    assert costs is not None
    (row,) = costs.rows
    # 75 Gb/s less for 100 us are 937.5 KB on the wire. The share of payload in frames follows from the run without the
    # events: 100 Gb/s from start to end are 5 MB. The first packet needs 2 us and the last ACK as much again, which
    # both runs lack.
    share = row["without_bytes"] / (100e9 / 8 * (400e-6 - 4e-6))
    assert 0.9 < share < 1
    assert row["without_bytes"] - row["acked_bytes"] == pytest.approx(937_500 * share, rel=0.01)
    assert row["fct_ps"] is None
    assert row["delay_ps"] is None
    assert "1 of 1 flow that did not end would have sent more" in costs.text
    assert "complete earlier" not in costs.text


def test_a_dead_link_costs_those_who_cross_it(command: Command, tmp_path: Path) -> None:
    dead = run(command, DEAD, tmp_path)
    costs = costs_of_events(dead, 5)
    assert costs is not None
    crossing, local = sorted(costs.rows, key=lambda row: row["id"])
    # 1 MB takes 80 us on the wire: a quarter is through at 20 us, and nothing more before 120 us. Timeouts of 50 us end
    # at the latest 50 us later; what is left then takes less than 80 us.
    assert 100e6 - 80e6 < crossing["delay_ps"] < (120 + 50 + 80) * 1e6
    assert crossing["packets"] > 0
    assert (local["delay_ps"], local["packets"]) == (0, 0)
    assert "Without the events 1 of 2 flows would have been complete earlier" in costs.text
    broken = next(finding for finding in explain(dead).findings if finding.rule == "broken")
    assert "leaf0->spine0 was down from 20 us to 120 us" in broken.title
    assert any("flow 0 host0->host3" in line for line in broken.evidence)
    assert not any("flow 1" in line for line in broken.evidence)
    # The scenario says what routing does: nothing to advise.
    assert not any("convergence" in line for line in broken.advice)


def test_a_watchdog_is_advised_where_there_is_none(command: Command, tmp_path: Path) -> None:
    for name, watchdog in (("bare", None), ("watched", WATCHDOG)):
        findings = explain(run(command, STORM, tmp_path / name, watchdog)).findings
        broken = next(finding for finding in findings if finding.rule == "broken")
        assert any("switch.watchdog" in line for line in broken.advice) == (watchdog is None)
        assert any(finding.rule == "storms" for finding in findings) == (watchdog is not None)


def test_a_watchdogs_time_is_shaded_from_its_detection(command: Command, tmp_path: Path) -> None:
    # The NIC babbles from 100 us on. The PAUSE takes 1 us to the switch, where the queue then stands still; 50 us later
    # the watchdog acts, and its storm lasts as long as the NIC babbles: to the end.
    watched = run(command, STORM, tmp_path, WATCHDOG)
    babbling, storm = spans(watched)
    assert (babbling.kind, babbling.start_ps, babbling.end_ps) == ("pause_storm", 100_000_000, 300_000_000)
    assert (storm.kind, storm.target) == ("watchdog", "switch1->host1")
    assert 151e6 <= storm.start_ps < 160e6
    assert storm.end_ps == 300_000_000


def test_labels_stand_within_the_figure() -> None:
    figure = go.Figure()
    early, late = Span("link_down", "a->b", 0, 10**9), Span("watchdog", "b->c", 9 * 10**8, 10**9)
    shade(figure, [early, late], 1e6, (0.0, 1e9))
    texts = {each.text: each for each in figure.layout.annotations}
    assert {text: each.xanchor for text, each in texts.items()} == {"link_down a->b": "left", "watchdog b->c": "right"}
    assert [each.x for each in texts.values()] == [0, 900]
    assert len({each.yshift for each in texts.values()}) == 2, "labels do not cover each other"


def test_only_the_longest_spans_are_shaded() -> None:
    figure = go.Figure()
    many = [Span("link_down", f"a->b{i}", i * 100, i * 100 + 50 + i) for i in range(60)]
    shade(figure, copy.copy(many), 1.0, (0.0, 6000.0))
    assert sorted(each.x0 for each in figure.layout.shapes) == [span.start_ps for span in many[20:]]
