"""`import xoff`: the same as the command line, from Python."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

import hostile
import xoff
from conftest import ROOT, SMALL
from made_up import made_up_run
from xoff.runs.folder import TABLES
from xoff.runs.results import Run


def test_one_flow_alone_has_slowdown_one(small: Path) -> None:
    run = xoff.run(small)
    assert run.flows.num_rows == 1
    (flow,) = run.flows.to_pylist()
    assert flow["fct_ps"] == flow["ideal_fct_ps"]
    assert flow["slowdown"] == 1.0
    assert (flow["src"], flow["dst"], flow["size_bytes"], flow["acked_bytes"]) == (
        "host1",
        "host0",
        1_000_000,
        1_000_000,
    )
    # 1 MB at 100 Gbps takes 80 us without headers, and 2 us to get there: a little more than that with them.
    assert 82e6 < flow["fct_ps"] < 95e6


def test_the_seed_decides(tmp_path: Path) -> None:
    scenario = tmp_path / "random.toml"
    scenario.write_text(
        """
        [topology]
        name = "leaf_spine"
        [scheme]
        name = "dcqcn"
        [[traffic]]
        pattern = "poisson"
        workload = "websearch"
        load = 0.3
        stop = "100us"
        """
    )

    def fingerprint(seed: int) -> str:
        return str(xoff.run(scenario, seed=seed).manifest["fingerprint"])

    assert fingerprint(1) == fingerprint(1)
    assert fingerprint(1) != fingerprint(2)


def test_settings_take_python_values(small: Path) -> None:
    sets = {
        "topology.hosts": 5,
        "scheme.name": "hpcc",
        "scheme.eta": 0.9,
        "scheme.fast_react": False,
        "record.queues": ["switch1->host0"],
    }
    resolved = xoff.check(small, sets=sets)
    assert resolved["topology"]["hosts"] == 5
    assert resolved["scheme"]["eta"] == 0.9
    assert resolved["scheme"]["fast_react"] is False
    assert resolved["record"]["queues"] == ["switch1->host0"]
    with pytest.raises(xoff.UserError, match="cannot be"):
        xoff.check(small, sets={"seed": object()})


def test_mistakes_are_exceptions_of_their_own(small: Path) -> None:
    with pytest.raises(xoff.ScenarioError, match="scheme"):
        xoff.run(small, sets={"scheme.nmae": "hpcc"})
    with pytest.raises(xoff.UserError, match="no such scenario"):
        xoff.run(small.with_name("nothing.toml"))
    with pytest.raises(AttributeError, match="nothing"):
        _ = xoff.nothing


def test_tables_convert_to_polars(small: Path) -> None:
    flows = pl.DataFrame(xoff.run(small).flows)
    assert flows["size_bytes"].to_list() == [1_000_000]


def test_a_run_reports_itself(small: Path, tmp_path: Path) -> None:
    run = xoff.run(small)
    with pytest.raises(xoff.UserError, match="no folder"):
        run.report()
    run.write(tmp_path / "r")
    assert run.report() == tmp_path / "r" / "report.html"
    assert (tmp_path / "r" / "report.html").stat().st_size > 1e6


def test_threads_change_the_manifests_threads_alone() -> None:
    scenario = Path(__file__).parent.parent / "scenarios" / "bursts.toml"
    one, two, auto = (xoff.run(scenario, sets={"traffic.0.count": 2}, threads=n) for n in (1, 2, "auto"))
    assert (one.manifest["threads"], two.manifest["threads"], auto.manifest["threads"]) == (1, 2, 1)
    assert one.flows.num_rows > 0
    for run in (two, auto):
        assert all(run.table(name).equals(one.table(name)) for name in TABLES)
        assert run.manifest["fingerprint"] == one.manifest["fingerprint"]


@pytest.mark.parametrize("threads", [0, -1, 4097, "many", True])
def test_a_wrong_number_of_threads_is_refused(small: Path, threads: int | str) -> None:
    with pytest.raises(xoff.UserError, match=f"threads {threads}: expected a number from 1 to 4096, or auto"):
        xoff.run(small, threads=threads)


def test_a_dict_is_a_scenario(small: Path, tmp_path: Path) -> None:
    run = xoff.run(small, sets={"scheme.name": "fncc"}, seed=3)
    resolved = run.manifest["scenario"]
    assert xoff.check(resolved) == resolved
    again = xoff.run(resolved)
    assert again.manifest["fingerprint"] == run.manifest["fingerprint"]
    # Keys without a value are as if they were not there, and settings come on top.
    assert resolved["run"]["duration"] is None
    assert xoff.check(resolved, sets={"seed": 9})["seed"] == 9
    own = {"topology": {"name": "star"}, "scheme": {"name": "none"}, "traffic": [], "title": 'with "quotes"\n and more'}
    with pytest.raises(xoff.ScenarioError, match=r"the scenario.*`traffic` is empty|`traffic` is empty"):
        xoff.check(own)
    flow = {"pattern": "flow", "src": "host1", "dst": "host0", "size": "1KB"}
    assert xoff.check({**own, "traffic": [flow]})["title"] == own["title"]
    stored = run.write(tmp_path / "stored")
    assert xoff.run(stored).manifest["fingerprint"] == run.manifest["fingerprint"]


def test_a_deadlock_that_is_not_expected_is_warned_of(tmp_path: Path) -> None:
    ring = (ROOT / "scenarios" / "deadlock.toml").read_text("utf-8")
    (tmp_path / "ring.toml").write_text(ring)
    (tmp_path / "other.toml").write_text(ring.replace('expect = "deadlock"\n', ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xoff.run(tmp_path / "ring.toml")
    # The links of the ring: each switch waits for the next.
    circle = ", ".join(f"ring{n}->ring{(n + 1) % 4}" for n in range(4))
    with pytest.warns(RuntimeWarning, match=f"^deadlock: these ports wait on each other for ever: {circle}$"):
        xoff.run(tmp_path / "other.toml")


def test_what_is_probably_not_meant_is_warned_of(small: Path) -> None:
    # 100 Gbps and 1 us: far more than 1 B can arrive after a PAUSE.
    short = {"flow_control.name": "pfc", "flow_control.headroom": "1B"}
    with pytest.warns(RuntimeWarning, match=r"^`headroom` in \[flow_control\] is 1B at") as warned:
        result = xoff.run(small, sets=short)
    assert [str(each.message) for each in warned] == result.manifest["warnings"]
    assert warned[0].filename == __file__
    with pytest.warns(RuntimeWarning, match=r"^`headroom` in \[flow_control\] is 1B at"):
        xoff.check(small, sets=short)


def test_a_table_that_no_run_has_is_named(small: Path, tmp_path: Path) -> None:
    stored = xoff.load(xoff.run(small).write(tmp_path / "stored"))
    for run in (stored, xoff.run(small)):
        with pytest.raises(xoff.UserError, match=r"^a run has no `flow`; its tables are flows, ports"):
            run.table("flow")


def test_dir_shows_what_there_is() -> None:
    assert set(dir(xoff)) == {*xoff.__all__, "__version__"}
    for name in dir(xoff):
        assert getattr(xoff, name) is not None
    run = made_up_run()
    offered = {"manifest", "folder", "scheme", "complete", "table", "tables", "write", "report"}
    assert set(dir(run)) == {*TABLES, *offered, "write_pcapng", "write_perfetto"}


def test_a_notebook_shows_a_run_as_a_small_table(tmp_path: Path) -> None:
    scenario = tmp_path / "named.toml"
    scenario.write_text(f"title = {hostile.quoted(hostile.SCRIPT + hostile.TURNED)}\n" + SMALL)
    run = xoff.run(scenario)
    run.write(tmp_path / "stored")
    shown = xoff.load(tmp_path / "stored")._repr_html_()
    assert shown
    # 1 MB at 100 Gbps takes 80 us and a bit; alone in the network, so 1.00 times its ideal, without PAUSE.
    for cell in ("none, seed 1", "1 of 1 completed", "mean 1.00, p50 1.00, p95 1.00, p99 1.00", "0 frames", "stored"):
        assert cell in shown
    assert "&lt;/script&gt;&lt;script&gt;hacked=1&lt;/script&gt;\\u202egnorw\\u2066" in shown
    assert "<script" not in shown
    assert "\u202e" not in shown
    # Of another version: the text stays.
    assert Run({"scenario": {}})._repr_html_() is None
