"""`xoff explain` on real runs: what it says, its exit status, and that the parts of flows' times sum to them."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import xoff
from conftest import ROOT, Command
from made_up import seal
from xoff.analysis.explain import Explanation, explain
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.text import WIDTH, explanation_text
from xoff.report.plots.breakdown import time_of_worst_flows
from xoff.report.plots.style import labelled
from xoff.runs.results import Run, load

WHOLE = {"record.breakdown": True, "record.roots": True}


@pytest.fixture(scope="module")
def incast() -> Run:
    """Sixteen hosts answer one."""
    return xoff.run(ROOT / "scenarios" / "incast.toml", sets=WHOLE)


def rules(told: Explanation) -> list[str]:
    return [finding.rule for finding in told.findings]


def test_an_incast_is_a_storm_with_one_root(incast: Run) -> None:
    told = explain(incast, name="incast")
    assert rules(told) == ["pause_storm", "roots"]
    storm, roots = told.findings
    assert len(storm.ports) == 16
    assert all(port.endswith("->switch1") for port in storm.ports)
    assert roots.ports == ("switch1->host0",)
    assert "16 flows from 16 hosts" in roots.evidence[0]
    assert told.missing == ()
    # One link for sixteen: each stands still most of the time.
    assert next(iter(told.totals)) == "paused"


def test_the_parts_sum_to_the_completion_time(incast: Run) -> None:
    told = explain(incast, flows=16)
    assert len(told.worst) == 16
    for flow in told.worst:
        assert flow.fct_ps == sum(share.time_ps for share in flow.shares)
    assert sum(told.totals.values()) == sum(flow.fct_ps or 0 for flow in told.worst)
    # 686 full frames of 1518 B at 80 ps a byte lie before the last packet.
    own = [s.time_ps for s in told.worst[0].shares if (s.leg, s.part) == ("sender", "serialization")]
    assert own == [686 * 121_440]


def test_a_victim_of_credits_is_found() -> None:
    # Six senders of 40 Gbps offer 240 Gbps to the trunk: it is no root if it carries that.
    wide = {**WHOLE, "topology.links.6.rate": "240Gbps"}
    told = explain(xoff.run(ROOT / "scenarios" / "infiniband_victim.toml", sets=wide))
    by_rule = {finding.rule: finding for finding in told.findings}
    # Flow 5 is the victim.
    assert by_rule["victims"].flows == (5,)
    assert "h5->s0" in by_rule["victims"].evidence[1]
    assert by_rule["roots"].ports[0] == "s1->h6"
    assert "credits stalled" in by_rule["pause_storm"].title


def test_a_deadlock_comes_first() -> None:
    told = explain(xoff.run(ROOT / "scenarios" / "deadlock.toml", sets=WHOLE))
    assert told.findings[0].rule == "deadlock"
    assert told.findings[0].severity == "problem"
    # The flows are endless: their time is that until the end of the run, nearly all of it paused.
    for flow in told.worst:
        assert flow.fct_ps is None
        assert sum(share.time_ps for share in flow.shares) == flow.time_ps == 500 * 10**6
        assert flow.shares[0].part == "paused"


def test_headroom_and_marks_out_of_range() -> None:
    # By the formula 42,119 B: what this incast uses of it is less.
    short = {"scheme.name": "dcqcn", "flow_control.headroom": "42KB", "traffic.0.senders": 2}
    with pytest.warns(RuntimeWarning, match="42.119KB can arrive after PAUSE"):
        run = xoff.run(ROOT / "scenarios" / "incast.toml", sets=short)
    told = {finding.rule: finding for finding in explain(run).findings}
    assert "42.12 KB can arrive" in told["short_headroom"].evidence[0]
    assert len(told["short_headroom"].ports) == 17
    # 400 KB at 100 Gbps, and Xoff at 100 KB.
    assert told["marks_after_pause"].severity == "warning"


def test_text_is_narrow_and_has_findings_first(incast: Run) -> None:
    text = explanation_text(explain(incast, name="incast"))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.index("PAUSE storm") < text.index("Worst flows")
    assert "100.0 %" in text


def test_bars_of_the_report_sum_to_the_completion_time(incast: Run) -> None:
    plot = time_of_worst_flows(labelled([incast], ["incast"]))
    assert plot.figure is not None
    traces = plot.figure.data
    assert {"serialization", "propagation", "queueing", "paused"} == {trace.name for trace in traces}
    worst = explain(incast, flows=12).worst
    for place, flow in enumerate(worst):
        assert traces[0].y[place] == f"{flow.flow}: {flow.src}->{flow.dst}"
        assert sum(trace.x[place] for trace in traces) * 1e6 == pytest.approx(flow.fct_ps)
    absent = time_of_worst_flows(labelled([xoff.run(ROOT / "scenarios" / "incast.toml")], ["run"]))
    assert absent.figure is None
    assert not absent.recorded


def test_the_command(command: Command, incast: Run, tmp_path: Path) -> None:
    incast.write(tmp_path / "runs" / "a")
    shutil.copytree(tmp_path / "runs" / "a", tmp_path / "runs" / "b")
    both = command("explain", "runs")
    assert (both.returncode, both.stderr) == (0, "")
    assert both.stdout.count("[pause_storm]") == 2
    (tmp_path / "sweep.json").write_text("{}")
    assert command("explain", ".").stdout == both.stdout
    told = command("explain", "runs/a", "--json", "--flows", "1")
    (only,) = json.loads(told.stdout)
    assert only["name"] == "runs/a"
    assert [finding["rule"] for finding in only["findings"]] == ["pause_storm", "roots"]
    (flow,) = only["worst"]
    assert sum(share["time_ps"] for share in flow["shares"]) == flow["fct_ps"]


def test_a_wrong_folder_is_a_users_mistake(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder, reason in (("empty", "it has no manifest.json"), ("nowhere", "no such folder")):
        told = command("explain", folder)
        assert told.returncode == 2
        assert reason in told.stderr
        assert "Traceback" not in told.stderr


def test_a_table_of_another_shape_is_named(command: Command, incast: Run, tmp_path: Path) -> None:
    folder = incast.write(tmp_path / "run")
    file = folder / "ports.parquet"
    pl.read_parquet(file).drop("rate_bps").write_parquet(file)
    seal(folder)
    told = command("explain", "run")
    assert told.returncode == 2
    assert "ports.parquet has no column `rate_bps`" in told.stderr


def test_a_run_of_an_earlier_version_is_explained_as_far_as_it_goes(incast: Run, tmp_path: Path) -> None:
    folder = incast.write(tmp_path / "run")
    (folder / "breakdown.parquet").unlink()
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["scenario"]["record"]["breakdown"]
    ports = folder / "ports.parquet"
    pl.read_parquet(ports).drop(
        "delay_ps", "headroom_bytes", "needed_headroom_bytes", "max_headroom_bytes", "credits", "needed_credits"
    ).write_parquet(ports)
    seal(folder, manifest)
    told = explain(load(folder))
    assert rules(told) == ["pause_storm", "roots"]
    assert [each.key for each in told.missing] == ["record.breakdown=true"]
    assert all(flow.shares == () for flow in told.worst)


def test_a_flow_of_a_host_with_several_nics_is_named_with_its_nic() -> None:
    # In `rails` the permutation `rail1` goes by NIC 1, all else by NIC 0.
    rails = explain(xoff.run(ROOT / "scenarios" / "rails.toml"), flows=21)
    assert {each.nic for each in rails.worst} == {0, 1}
    by_one = next(each for each in rails.worst if each.nic == 1)
    assert by_one.ends == f"{by_one.src}->{by_one.dst} by NIC 1"
    one = explain(xoff.run(ROOT / "scenarios" / "incast.toml", sets={"traffic.0.size": "20KB"}), flows=1)
    assert (one.worst[0].nic, one.worst[0].ends) == (None, f"{one.worst[0].src}->{one.worst[0].dst}")


def test_default_thresholds_of_several_rates_are_known() -> None:
    # What a link brings in 40 us: 500 KB at 100 Gbps, 2 MB at 400 Gbps; Xon is two frames below.
    text = """
    topology = { name = "leaf_spine", leaves = 2, spines = 1, hosts_per_leaf = 2, spine_rate = "400Gbps" }
    scheme = { name = "none" }
    flow_control = { name = "pfc" }
    traffic = [{ pattern = "flow", src = "host0", dst = "host2", size = "10KB" }]
    """
    facts = Facts(xoff.run(tomllib.loads(text)))
    assert facts.section("flow_control")["xoff"] is None
    found = facts.stops.select("rate_bps", "xoff", below=pl.col("xoff") - pl.col("xon")).unique().sort("rate_bps")
    two = 2 * facts.frame_bytes
    assert found.rows() == [(100 * 10**9, 500_000, two), (400 * 10**9, 2_000_000, two)]
    # Four leaf ports to hosts, two to the spine, and the spine's two.
    assert len(facts.stops) == 8
