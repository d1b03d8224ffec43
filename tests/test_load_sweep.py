"""A sweep's results as one dataset in Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import xoff
from conftest import SMALL, Command

SWEEP = """
[sweep]
"scheme.name" = ["none", "dctcp"]
"flow_control.xoff" = ["100KB", "200KB"]
seed = [1, 2]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sweep")
    (place / "small.toml").write_text(SMALL + SWEEP)
    command = [sys.executable, "-m", "xoff", "sweep", "small.toml", "-o", "out", "--quiet"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    return place / "out"


def test_tables_have_the_swept_keys(folder: Path) -> None:
    sweep = xoff.load_sweep(folder)
    assert len(sweep) == 8
    assert sweep.keys_swept == ["scheme.name", "flow_control.xoff", "seed"]
    flows = pl.DataFrame(sweep.flows)
    # One flow in each run; each of the four settings with two seeds.
    assert flows.columns[:4] == ["run", "seed", "scheme.name", "flow_control.xoff"]
    counts = flows.group_by("scheme.name", "flow_control.xoff").agg(pl.len(), pl.col("seed").sum())
    assert sorted(counts.rows()) == [(s, x, 2, 3) for s in ("dctcp", "none") for x in ("100KB", "200KB")]
    # The same rows as in the dataset of the folder.
    stored = pl.read_parquet(folder / "flows/")
    assert sorted(stored["run"]) == sorted(flows["run"])
    assert sorted(stored["fct_ps"]) == sorted(flows["fct_ps"])
    assert sweep.runs.num_rows == 8


def test_a_part_of_it_and_groups(folder: Path) -> None:
    sweep = xoff.load_sweep(folder)
    part = sweep.where({"scheme.name": "dctcp", "seed": 2})
    assert [part.settings(run)["flow_control.xoff"] for run in part] == ["100KB", "200KB"]
    assert {part.seed(run) for run in part} == {2}
    assert all(run.scheme == "dctcp" for run in part.values())
    assert part.runs.num_rows == 2
    groups = sweep.by("scheme.name")
    assert {name: len(runs) for name, runs in groups.items()} == {"none": 4, "dctcp": 4}
    assert list(sweep.by()) == [
        f"scheme.name = {s}, flow_control.xoff = {x}" for s in ("none", "dctcp") for x in ("100KB", "200KB")
    ]


def test_what_is_not_there_is_said(folder: Path, command: Command, small: Path, tmp_path: Path) -> None:
    sweep = xoff.load_sweep(folder)
    with pytest.raises(xoff.UserError, match=r"no key `scheme\.nam`; it has .*; did you mean `scheme\.name`"):
        sweep.where({"scheme.nam": "none"})
    message = r"no run has scheme\.name = dctpc; there are none, dctcp; did you mean `dctcp`"
    with pytest.raises(xoff.UserError, match=message):
        sweep.where({"scheme.name": "dctpc"})
    with pytest.raises(xoff.UserError, match=r"no `flow`; its tables are .*; did you mean `flows`"):
        sweep.table("flow")
    with pytest.raises(xoff.UserError, match="no such folder"):
        xoff.load_sweep(folder / "nowhere")
    assert command("run", small, "-o", tmp_path / "one").returncode == 0
    with pytest.raises(xoff.UserError, match=r"it holds one run: `xoff.load` reads it"):
        xoff.load_sweep(tmp_path / "one")
    with pytest.raises(AttributeError, match="a sweep has no `flow`"):
        _ = sweep.flow


def test_runs_that_are_missing_are_left_out(folder: Path) -> None:
    sweep = xoff.load_sweep(folder)
    run = next(iter(sweep))
    manifest = folder / "runs" / run / "manifest.json"
    text = manifest.read_text()
    manifest.unlink()
    try:
        assert len(xoff.load_sweep(folder)) == 7
    finally:
        manifest.write_text(text)


def test_an_index_leads_to_no_other_folder(folder: Path, command: Command, small: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    assert command("run", small, "-o", outside).returncode == 0
    (tmp_path / "sweep" / "runs").mkdir(parents=True)
    for name in (str(outside), "../../outside"):
        points = [{"run": name, "seed": 1, "settings": {}}]
        (tmp_path / "sweep" / "sweep.json").write_text(json.dumps({"points": points}))
        assert len(xoff.load_sweep(tmp_path / "sweep")) == 0
    (tmp_path / "sweep" / "sweep.json").write_text('{"points": 3}')
    with pytest.raises(xoff.UserError, match=r"sweep\.json: cannot be read"):
        xoff.load_sweep(tmp_path / "sweep")


def test_it_shows_itself(folder: Path) -> None:
    sweep = xoff.load_sweep(folder)
    assert repr(sweep) == "Sweep(8 runs over scheme.name, flow_control.xoff, seed)"
    html = sweep._repr_html_()
    assert html.count("<tr>") == 9
    assert "flow_control.xoff" in html
    assert {"flows", "runs", "where", "by"} <= set(dir(sweep))
