"""Sweeps: which runs they are, that each is made once whatever happens, and what is read of them."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from rich.console import Console

import xoff
from conftest import ENDLESS, ROOT, SMALL, Command
from xoff import _xoff
from xoff.analysis.explain import explain
from xoff.errors import ScenarioError, UserError
from xoff.runs.executor import Local
from xoff.runs.results import Run, labels, load
from xoff.runs.scenario import Scenario, read
from xoff.studies.sweep import Folder, Planned, Swept, make_all, plan, sweep
from xoff.studies.sweep.make import Made, check_memory
from xoff.studies.sweep.plan import warnings_of
from xoff.studies.sweep.show import runs_table

GRID = """
[sweep]
"scheme.name" = ["none", "hpcc"]
"flow_control.xoff" = { from = "50KB", to = "200KB", steps = 3, log = true }
seed = [1, 2]
"""


def scenario(tail: str, head: str = SMALL) -> Scenario:
    return Scenario(head + tail, "small.toml", ".")


def swept(tail: str, folder: Path) -> Swept:
    return sweep(scenario(tail), folder, Local(2), quiet=True)


def one_run(folder: Path) -> Run:
    (folder / "small.toml").write_text(SMALL)
    return xoff.run(folder / "small.toml")


def finished(folder: Path) -> dict[str, int]:
    """The runs that are there, and when they were written."""
    return {file.parent.name: file.stat().st_mtime_ns for file in folder.glob("runs/[!.]*/manifest.json")}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "grid"
    done = swept(GRID, folder)
    assert (len(done.runs), done.made, done.failed) == (12, 12, {})
    return folder


def test_a_run_is_called_by_what_fixes_its_results(tmp_path: Path) -> None:
    first = plan(scenario(GRID))
    assert [run.run for run in first] == [run.run for run in plan(scenario(GRID))]
    assert len({run.run for run in first}) == 12
    # A longer sweep has the same runs; another scenario, or another text of a file that it names, has others.
    more = plan(scenario(GRID.replace("[1, 2]", "[1, 2, 3]")))
    assert {run.run for run in first} < {run.run for run in more}
    other = plan(scenario(GRID, SMALL.replace("1MB", "2MB")))
    assert not {run.run for run in first} & {run.run for run in other}
    sizes = tmp_path / "sizes.cdf"
    by_file = SMALL.replace('pattern = "flow"', 'pattern = "poisson"\ncdf = "sizes.cdf"\nload = 0.1\nstop = "1us"')
    by_file = by_file.replace('src = "host1"\ndst = "host0"\nsize = "1MB"\n', "")
    names = set()
    for text in ("0 0\n1000 100\n", "0 0\n2000 100\n"):
        sizes.write_text(text)
        [run, _] = plan(Scenario(by_file + "[sweep]\nseed = [1, 2]", "small.toml", str(tmp_path)))
        assert run.files == {"sizes.cdf": text}
        names.add(run.run)
    assert len(names) == 2


def test_the_same_run_counts_once() -> None:
    twice = '[sweep]\nlist = [{ "scheme.name" = "hpcc" }, { "scheme.name" = "hpcc", "scheme.eta" = 0.95 }]'
    assert len(plan(scenario(twice))) == 1, "0.95 is the default"


def test_a_mistake_in_one_run_is_said_before_any_is_made(tmp_path: Path) -> None:
    wrong = '[sweep]\nlist = [{ "scheme.name" = "hpcc" }, { "scheme.name" = "hpcc", "scheme.eta" = 1.5 }]'
    with pytest.raises(ScenarioError, match=r"(?s)eta.*in the run with .*scheme\.eta=1\.5"):
        swept(wrong, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match="no sweep in it"):
        swept("", tmp_path / "out")


def test_all_runs_are_one_dataset(grid: Path) -> None:
    # Each run has one flow. 50 to 200 KB in three equal ratios are 50, 100 and 200 KB.
    flows = pl.read_parquet(f"{grid}/flows/")
    assert len(flows) == 12
    assert flows["scheme.name"].unique().sort().to_list() == ["hpcc", "none"]
    assert set(flows["flow_control.xoff"]) == {"50KB", "100KB", "200KB"}
    assert flows["seed"].dtype == pl.Int64
    frame = pd.read_parquet(grid / "flows")
    assert set(frame["scheme.name"]) == {"hpcc", "none"}
    table = duckdb.connect().execute(f"SELECT * FROM '{grid}/flows/**/*.parquet'").fetchall()
    assert len(frame) == len(table) == 12
    # Tables without rows are left out, and links take no room.
    assert not (grid / "queues").exists()
    file = next((grid / "flows").rglob("*.parquet"))
    assert file.stat().st_nlink == 2
    runs = pl.read_parquet(grid / "runs.parquet")
    assert set(runs["state"]) == {"done"}
    assert set(runs["run"]) == set(finished(grid))
    # A lone flow of `none` is as fast as it can be.
    alone = runs.filter(pl.col("scheme.name") == "none")
    assert alone["slowdown_mean"].to_list() == [1.0] * 6
    assert alone["flows"].to_list() == [1] * 6


def test_a_run_is_explained_by_what_sets_it_apart(grid: Path) -> None:
    for name in finished(grid):
        folder = grid / "runs" / name
        scenario = json.loads((folder / "manifest.json").read_text())["scenario"]
        (row,) = pl.read_parquet(grid / "runs.parquet").filter(pl.col("run") == name).rows(named=True)
        told = explain(load(folder))
        assert told.name == str(folder)
        scheme, xoff = scenario["scheme"]["name"], row["flow_control.xoff"]
        assert told.settings == f"scheme.name = {scheme}, flow_control.xoff = {xoff}"


def test_runs_of_a_sweep_are_called_by_the_settings_that_differ(grid: Path) -> None:
    runs = [load(grid / "runs" / name) for name in finished(grid)]
    wanted = {
        f"scheme.name = {scheme}, flow_control.xoff = {xoff}, seed = {seed}"
        for scheme in ("none", "hpcc")
        for xoff in ("50KB", "100KB", "200KB")
        for seed in (1, 2)
    }
    assert set(labels(runs)) == wanted
    # What all have in common tells nothing.
    [one, other] = [
        run for run in runs if run.scheme == "hpcc" and run.manifest["scenario"]["flow_control"]["xoff"] == "50KB"
    ]
    assert sorted(labels([one, other])) == ["seed = 1", "seed = 2"]
    assert labels([one]) == [f"scheme.name = hpcc, flow_control.xoff = 50KB, seed = {one.manifest['seed']}"]


def test_the_command_prints_a_row_for_each_run(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL + '[sweep]\n"scheme.name" = ["none", "fncc"]\nseed = [7]\n')
    done = command("sweep", "small.toml", "-o", "out", "--workers", "1")
    assert done.returncode == 0, done.stderr
    head, *rows, made, _ = done.stdout.splitlines()
    # One seed sets no runs apart, and neither drops nor goodput say anything. A flow of `none` is as fast as can be.
    assert head.split("  ")[0].strip() == "scheme.name"
    assert not {"seed", "drops", "goodput"} & set(head.split())
    assert [row.split()[:5] for row in rows] == [
        ["none", "1", "of", "1", "1.00"],
        ["fncc", "1", "of", "1", rows[1].split()[4]],
    ]
    assert float(rows[1].split()[4]) > 1
    assert made.split() == ["sweep", "2", "runs", "made"]
    assert not re.search("[0-9a-f]{16}", done.stdout), "no run is called by its hash"


def test_the_table_takes_values_and_folders_for_what_they_are(tmp_path: Path) -> None:
    out = tmp_path / os.fsdecode(b"out\xff")
    done = swept('[sweep]\ntitle = ["[/red]a", "\\u001b[31mb"]\n', out)
    console = Console(file=io.StringIO(), width=200)
    console.print(runs_table(out, done.runs))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    # Markup is text, and ESC is what Python calls it.
    assert "[/red]a" in text
    assert "\\x1b[31mb" in text
    assert "\x1b" not in text


def test_the_table_of_a_sweep_of_endless_flows_has_their_goodput(command: Command, tmp_path: Path) -> None:
    # A source of 10 Gbps on links of 100 Gbps: 10 Gbps, less a round trip in 10 ms.
    endless = SMALL.replace('size = "1MB"', 'rate = "10Gbps"') + '[run]\nduration = "10ms"\n'
    (tmp_path / "endless.toml").write_text(endless + "[sweep]\nseed = [1, 2]\n")
    done = command("sweep", "endless.toml", "-o", "out", "--workers", "1")
    head, first, *_ = done.stdout.splitlines()
    assert {"goodput", "done"} & set(head.split()) == {"goodput"}
    assert first.split()[0] == "1"
    assert float(first.split()[1]) == pytest.approx(10, rel=0.01)
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert runs["goodput_bps"].to_list() == pytest.approx([10e9] * 2, rel=0.01)


@pytest.mark.parametrize(
    "index",
    [
        "",
        "[]",
        "{}",
        '{"points": 3}',
        '{"points": [{"run": "a"}]}',
        '{"points": [{"run": "a", "seed": 1, "settings": 5}]}',
    ],
)
def test_a_run_beside_what_no_sweep_wrote_is_any_run(tmp_path: Path, index: str) -> None:
    folder = one_run(tmp_path).write(tmp_path / "runs" / "a")
    (tmp_path / "sweep.json").write_text(index)
    assert explain(load(folder)).settings is None


def test_a_sweeps_settings_are_those_of_its_own_runs_alone(tmp_path: Path) -> None:
    run = one_run(tmp_path)
    point = {"run": "a", "seed": run.manifest["seed"], "settings": {"scheme.name": "none"}}
    (tmp_path / "sweep.json").write_text(json.dumps({"points": [point, {**point, "run": "b", "seed": 99}]}))
    assert explain(load(run.write(tmp_path / "runs" / "a"))).settings == "scheme.name = none"
    # Another seed than the sweep's, or another place.
    assert explain(load(run.write(tmp_path / "runs" / "b"))).settings is None
    assert explain(load(run.write(tmp_path / "moved" / "a"))).settings is None


def test_a_finished_run_is_never_made_again_and_a_longer_sweep_makes_what_is_new(grid: Path) -> None:
    before = finished(grid)
    assert swept(GRID, grid).made == 0
    longer = GRID.replace("seed = [1, 2]", "seed = [1, 2, 3]")
    done = swept(longer, grid)
    assert (len(done.runs), done.made) == (18, 6)
    after = finished(grid)
    assert {name: after[name] for name in before} == before
    assert len(pl.read_parquet(f"{grid}/flows/")) == 18
    # A new key: the datasets are laid out by it, also for runs that do not set it.
    keyed = (
        '[sweep]\nlist = [{ "scheme.name" = "none" }, { "scheme.name" = "hpcc", "scheme.eta" = 0.9 }]\nseed = [1, 2]'
    )
    assert swept(keyed, grid).made == 4
    flows = pl.read_parquet(f"{grid}/flows/")
    assert sorted(flows.group_by("scheme.name", "scheme.eta").len().rows()) == [("hpcc", 0.9, 2), ("none", None, 2)]
    assert len(finished(grid)) == 22


def test_another_folder_and_another_sweep_at_the_same_time_are_refused(tmp_path: Path, grid: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        swept(GRID, tmp_path)
    with Folder(grid), pytest.raises(UserError, match="another xoff is writing there"):
        swept(GRID, grid)


# A switch of 20 KB without flow control loses what two senders send at once; one of 20 MB does not.
FAILING = """
[[traffic]]
pattern = "flow"
src = "host2"
dst = "host0"
size = "1MB"

[flow_control]
name = "none"

[sweep]
"switch.buffer" = ["20KB", "20MB"]
"""


def test_a_run_that_fails_is_said_and_the_others_go_on(command: Command, tmp_path: Path) -> None:
    (tmp_path / "failing.toml").write_text(SMALL + FAILING)
    done = command("sweep", "failing.toml", "-o", "out", "--workers", "1")
    assert done.returncode == 1
    assert "failed: switch.buffer = 20KB: " in done.stderr
    assert "1 run made, 1 failed" in done.stdout
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert runs.select("switch.buffer", "state").rows() == [("20KB", "failed"), ("20MB", "done")]
    assert "switch1" in runs["error"][0]
    # Given again it is tried again, and the other one is not.
    again = command("sweep", "failing.toml", "-o", "out", "--quiet")
    assert again.returncode == 1
    assert again.stdout == ""
    assert command("report", "out").returncode == 0
    assert "Failed runs" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_an_unexpected_deadlock_of_a_run_is_said(command: Command, tmp_path: Path) -> None:
    ring = (ROOT / "scenarios" / "deadlock.toml").read_text("utf-8")
    (tmp_path / "ring.toml").write_text(ring + '[sweep]\n"flow_control.xoff" = ["100KB", "120KB"]\n')
    done = command("sweep", "ring.toml", "-o", "out", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "ring.toml").write_text((tmp_path / "ring.toml").read_text().replace('expect = "deadlock"\n', ""))
    for _ in range(2):
        # Also when the runs are there already.
        done = command("sweep", "ring.toml", "-o", "again", "-q")
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        assert [line.split(": ")[1] for line in lines] == ["flow_control.xoff = 100KB", "flow_control.xoff = 120KB"]
        # The four links of the ring.
        assert all(len(line.split(": ")[-1].split(", ")) == 4 for line in lines)


def test_warnings_of_the_runs_are_said_once_each(command: Command, tmp_path: Path) -> None:
    # Far more than 5 B can arrive after a PAUSE, far less than 1 MB.
    grid = '[sweep]\n"flow_control.headroom" = ["4B", "5B", "1MB"]\nseed = [1, 2]\n'
    (tmp_path / "small.toml").write_text(SMALL + grid)
    done = command("sweep", "small.toml", "-o", "out", "-q")
    assert done.returncode == 0
    assert [line.split(" at ")[0] for line in done.stderr.splitlines()] == [
        f"warning: 2 of 6 runs: `headroom` in [flow_control] is {most}B" for most in (4, 5)
    ]
    first = replace(plan(scenario(GRID))[0], warnings=tuple(f"warning {number}" for number in range(12)))
    many = warnings_of([first, replace(first, warnings=("warning 3",))])
    assert (many[0], many[10:]) == ("2 of 2 runs: warning 3", ["and 2 more warnings"])


def test_mistakes_of_the_command_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL + GRID)
    for arguments, part in [
        (("--workers", "1", "--cluster", "tcp://127.0.0.1:1"), "expected one of them"),
        (("--cluster", "nonsense"), "--cluster nonsense"),
        (("--cluster", "tcp://127.0.0.1:1"), "no Dask scheduler answers there"),
    ]:
        done = command("sweep", "small.toml", "-o", "out", *arguments)
        assert done.returncode == 2, done.stderr
        assert part in done.stderr
        assert "Traceback" not in done.stderr


LONG = ENDLESS.replace('duration = "100s"', 'duration = "20ms"') + "[sweep]\nseed = [1, 2, 3, 4, 5, 6, 7, 8]\n"
"""Eight runs of some tenths of a second each."""


def wait_for(what: Any, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def children(parent: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_runs_that_do_not_fit_beside_each_other_are_refused_with_the_sum(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Four processes hold runs of 3, 3, 2 and 2 GB, 10 GB; two of them fit into 7 GB, and a third would make it 8 GB.
    first = plan(scenario(GRID))[0]
    runs = [replace(first, needs_bytes=gb * 10**9) for gb in (2, 3, 1, 2, 3)]
    monkeypatch.setattr(_xoff, "free_memory", lambda: (7 * 10**9, "free"))
    message = "4 runs at a time need about 10 GB, up to 3 GB each: 7 GB are free; expected --workers 2, or less"
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        check_memory(runs, Local(4))
    check_memory(runs, Local(2))
    with pytest.raises(UserError, match=r"expected --workers 1$"):
        check_memory([replace(run, needs_bytes=5 * 10**9) for run in runs], Local(2))
    monkeypatch.setattr(_xoff, "free_memory", lambda: None)
    check_memory(runs, Local(4))
    # A sweep asks before its first run. Six ports with a sample each nanosecond of 0.3 ms have 1.8 million rows of
    # 108 B, 194.4 MB; two runs have 388.8 MB, and some more for links and packets.
    monkeypatch.setattr(_xoff, "free_memory", lambda: (3 * 10**8, "free"))
    samples = {"record.interval": "1ns", "record.queues": "all", "run.duration": "300us", "run.stop": "time"}
    with pytest.raises(
        UserError, match=r"2 runs at a time need about (38[89]|39\d)(\.\d)? MB, up to 19\d(\.\d)? MB each"
    ):
        sweep(scenario(GRID).also(samples), tmp_path / "swept", Local(2), quiet=True)


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    command = [sys.executable, "-m", "xoff", "sweep", "long.toml", "-o", "out", "--workers", "2", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path)
    out = tmp_path / "out"
    wait_for(lambda: len(finished(out)) >= 2)
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Nobody goes on in its place.
    wait_for(lambda: not any(map(alive, workers)))
    before = finished(out)
    assert 2 <= len(before) < 8, "killed in the middle"
    report = subprocess.run(
        [sys.executable, "-m", "xoff", "report", "out"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert report.returncode == 2
    assert "`xoff sweep` with `-o out` goes on with it" in " ".join(report.stderr.split())
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    after = finished(out)
    assert len(after) == 8
    assert {name: after[name] for name in before} == before
    assert not list(out.glob("runs/.xoff-*"))
    assert len(pl.read_parquet(f"{out}/flows/")) == 8


KILLED = """
import os, signal, sys
from xoff.cli.app import main
from xoff.studies.sweep.folder import Folder

real, laid_out = Folder._lay_out, []

def lay_out(self, *arguments):
    real(self, *arguments)
    laid_out.append(arguments)
    if len(laid_out) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Folder._lay_out = lay_out
if __name__ == "__main__":
    sys.exit(main(["sweep", "small.toml", "-o", "out", "--workers", "1", "--quiet"]))
"""
"""A sweep that is killed when it has put two runs into its dataset."""


def test_a_sweep_that_is_killed_while_it_writes_its_dataset(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nseed = [1, 2]\n")
    assert command("sweep", "small.toml", "-o", "out", "-q").returncode == 0
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nseed = [1, 2, 3, 4]\n")
    (tmp_path / "killed.py").write_text(KILLED)
    killed = subprocess.run([sys.executable, "killed.py"], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    # Every run is finished; the dataset is the earlier one, whole.
    before = finished(out)
    assert len(before) == 4
    assert pl.read_parquet(f"{out}/flows/")["seed"].sort().to_list() == [1, 2]
    assert command("report", "out").returncode == 0
    assert "0 runs made, 4 there already" in command("sweep", "small.toml", "-o", "out").stdout
    assert finished(out) == before
    assert pl.read_parquet(f"{out}/flows/")["seed"].sort().to_list() == [1, 2, 3, 4]
    assert not list(out.glob(".xoff-*"))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ctrl_c_and_its_like_end_a_sweep_with_what_is_finished(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    command = [sys.executable, "-m", "xoff", "sweep", "long.toml", "-o", "out", "--workers", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(finished(tmp_path / "out")) >= 1)
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode == status
    assert "give the command again to go on" in message
    assert "Traceback" not in message
    assert len(pl.read_parquet(f"{tmp_path}/out/flows/")) == len(finished(tmp_path / "out"))


@pytest.mark.parametrize("name", ["manifest.json", "flows.parquet", "ports.parquet"])
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_run_with_a_torn_file_is_made_again(tmp_path: Path, name: str, share: float) -> None:
    tail, out = "[sweep]\nseed = [1, 2]\n", tmp_path / "out"
    swept(tail, out)
    first, second = sorted(finished(out))
    torn = out / "runs" / first / name
    data = torn.read_bytes()
    # The dataset's files are links to the tables: a torn file in place of the link.
    torn.unlink()
    torn.write_bytes(data[: int(len(data) * share)])
    before = finished(out)
    done = swept(tail, out)
    assert (done.made, done.failed) == (1, {})
    assert finished(out)[second] == before[second]
    assert load(out / "runs" / first).flows.num_rows == 1
    assert len(pl.read_parquet(f"{out}/flows/")) == 2


def test_an_emptied_list_of_runs_is_said_and_written_again(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nseed = [1, 2]\n")
    assert command("sweep", "small.toml", "-o", "out", "-q").returncode == 0
    for name, what in {"runs.parquet": "not a table that xoff wrote", "sweep.json": "not the index of a sweep"}.items():
        (tmp_path / "out" / name).write_bytes(b"")
        told = command("report", "out")
        assert (told.returncode, "Traceback" in told.stderr) == (2, False)
        assert f"error: out/{name}: {what}" in told.stderr
        assert "0 runs made, 2 there already" in command("sweep", "small.toml", "-o", "out").stdout
        assert command("report", "out").returncode == 0


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    runs = plan(Scenario(LONG, "long.toml", "."))
    killed: list[int | None] = []

    def kill_one(_: Planned, error: str | None) -> None:
        assert error is None
        if not killed:
            child = multiprocessing.active_children()[0]
            os.kill(child.pid or 0, signal.SIGKILL)
            killed.append(child.pid)

    with Folder(tmp_path / "out") as folder:
        make_all(runs, Local(2), folder, kill_one)
        assert killed
        assert all(folder.has(run.run) for run in runs)


class Scripted(Executor):
    """Makes nothing; an executor whose process dies of some runs, alone or not."""

    at_once, here, blames = 3, True, True

    def __init__(self, deadly: set[str]) -> None:
        self.deadly, self.starts = deadly, 0
        self.handed: list[list[str]] = []
        self._running: list[tuple[str, Future[Made]]] = []

    def start(self) -> Executor:
        """It is whole again."""
        self.starts += 1
        self._running = []
        return self

    def close(self) -> None:
        """Nothing to do."""

    def submit(self, call: Any) -> Future[Any]:  # type: ignore[override]
        """Make a run at once, or never, or die of it."""
        run, target = call.args
        assert target is not None
        future: Future[Made] = Future()
        self._running.append((run.run, future))
        self.handed.append([name for name, _ in self._running])
        if run.run in self.deadly:
            for _, each in self._running:
                if not each.done():
                    each.set_exception(BrokenExecutor())
        elif run.run != "slow" or len(self._running) == 1:
            future.set_result(Made())
        return future


def test_only_a_run_that_kills_its_process_alone_has_failed(tmp_path: Path) -> None:
    runs = [Planned(name, {}, 1, "", "", (), {}, "") for name in ("slow", "deadly", "third", "fourth")]
    said: dict[str, str | None] = {}
    executor = Scripted({"deadly"})
    with Folder(tmp_path / "out") as folder:
        make_all(runs, executor, folder, lambda run, error: said.update({run.run: error}))
    # `slow` is being made when `deadly` breaks the executor; then each is made alone, and only one is to blame.
    assert {name for name, error in said.items() if error} == {"deadly"}
    assert said.keys() == {"slow", "deadly", "third", "fourth"}
    assert "its process died" in str(said["deadly"])
    assert executor.starts == 3


def test_reading_a_file(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL + GRID)
    assert len(plan(read(file, [("traffic.0.size", "2MB")]))) == 12
