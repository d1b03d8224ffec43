"""Sweeps on a real Dask cluster on loopback: a scheduler and two worker processes, any of which may die."""

from __future__ import annotations

import gc
import json
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, SMALL, Command
from test_sweep import LONG, finished, wait_for
from xoff.runs.executor import Cluster
from xoff.runs.scenario import Scenario
from xoff.studies.sweep import Folder, Planned, make_all, plan, sweep

DASK = [sys.executable, "-m", "dask"]

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True, scope="module")
def _sockets() -> Iterator[None]:
    """A Dask client that was reconnecting when it was closed leaves its socket to the collector."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


class Dask:
    """A scheduler and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "dask.log").open("ab") as log:
            return subprocess.Popen([*DASK, *arguments], cwd=self._folder, stdout=log, stderr=log)

    def start_scheduler(self) -> None:
        """At the same address each time."""
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard", "--no-show"
        )
        wait_for(self._answers)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def start_workers(self, count: int) -> None:
        """Without a nanny, which would start them again."""
        arguments = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
        self.workers += [self._start("worker", self.address, *arguments) for _ in range(count)]

    def close(self) -> None:
        """End every process."""
        for process in [*self.workers, self.scheduler]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    cluster = Dask(tmp_path)
    cluster.start_scheduler()
    cluster.start_workers(2)
    yield cluster
    cluster.close()


def test_runs_and_their_files_go_to_the_workers_and_results_come_back(dask: Dask, tmp_path: Path) -> None:
    # Only this process knows the folder with the file of sizes.
    here = tmp_path / "here"
    here.mkdir()
    (here / "sizes.cdf").write_text("0 0\n1000 100\n")
    text = SMALL.replace('src = "host1"\ndst = "host0"\nsize = "1MB"\n', "").replace(
        'pattern = "flow"', 'pattern = "poisson"\ncdf = "sizes.cdf"\nload = 0.1\nstop = "5us"'
    )
    # Two hosts send 20 KB each to one, of which a memory of 2 KB loses some.
    text += '[[traffic]]\npattern = "incast"\nsenders = 2\nreceiver = "host0"\nsize = "20KB"\n'
    text += '[flow_control]\nname = "none"\n[sweep]\n"switch.buffer" = ["20MB", "2KB"]\nseed = [1, 2]\n'
    said: list[str] = []
    swept = sweep(
        Scenario(text, "s.toml", str(here)), tmp_path / "out", Cluster(dask.address), say=said.append, quiet=True
    )
    assert (swept.made, len(swept.failed), len(said)) == (2, 2, 2)
    assert all("switch.buffer = 2KB" in line for line in said)
    assert len(finished(tmp_path / "out")) == swept.made
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet").filter(pl.col("state") == "done")
    assert runs["completed"].to_list() == runs["flows"].to_list()


def test_a_worker_that_is_killed_is_made_up_for(dask: Dask, tmp_path: Path) -> None:
    killed: list[Planned] = []
    out = tmp_path / "out"

    def on_finished(run: Planned, error: str | None) -> None:
        assert error is None
        if not killed:
            dask.workers[0].send_signal(signal.SIGKILL)
        killed.append(run)

    runs = plan(Scenario(LONG, "long.toml", "."))
    with Folder(out) as folder:
        make_all(runs, Cluster(dask.address), folder, on_finished)
    assert len(killed) == len(finished(out)) == 8
    assert dask.workers[0].poll() is not None


def test_a_scheduler_that_is_started_again_gets_what_is_left(dask: Dask, tmp_path: Path) -> None:
    said: list[str] = []
    back: list[float] = []
    out = tmp_path / "out"

    def on_finished(run: Planned, error: str | None) -> None:
        assert error is None, error
        if not back:
            assert dask.scheduler is not None
            dask.scheduler.kill()
            dask.scheduler.wait()
            for worker in dask.workers:
                worker.kill()
                worker.wait()
            dask.workers.clear()
            dask.start_scheduler()
            dask.start_workers(2)
            back.append(time.monotonic())

    runs = plan(Scenario(LONG, "long.toml", "."))
    with Folder(out) as folder:
        make_all(runs, Cluster(dask.address, say=said.append), folder, on_finished)
    assert len(finished(out)) == 8
    assert back


# Two hosts send to one at once, under a scheme in Python with two steps, and under a built-in one.
OWN = """
[[traffic]]
pattern = "incast"
senders = 2
receiver = "host0"
size = "500KB"

[detector]
name = "red"
k_min = "30KB"
k_max = "30KB"

[sweep]
list = [
    { "scheme.name" = "aimd", "scheme.step" = 1500 },
    { "scheme.name" = "aimd", "scheme.step" = 9000 },
    { "scheme.name" = "dctcp" },
]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A scheme's file beside its sweep, in a folder that is not the one in which the workers are."""
    file = tmp_path / "here" / "mine.py"
    file.parent.mkdir()
    file.write_text((ROOT / "tests" / "own_schemes.py").read_text("utf-8"), "utf-8")
    file.with_name("s.toml").write_text(SMALL + OWN)
    return file


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a sweep's runs, of manifests what is not the clock's."""
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.glob("runs/*/*")}
    for name, data in found.items():
        if name.endswith("manifest.json"):
            found[name] = json.dumps({**json.loads(data), "wall_s": None, "setup_s": None, "checksums": None}).encode()
    return found


def test_a_scheme_in_python_goes_to_the_workers(dask: Dask, command: Command, mine: Path) -> None:
    def swept(out: str, *executor: str) -> dict[str, bytes]:
        # By a path that leads nowhere from where the workers are.
        done = command("sweep", "s.toml", "-o", out, "--scheme", "mine.py:Aimd", "--quiet", *executor, cwd=mine.parent)
        assert done.returncode == 0, done.stderr
        return contents(mine.parent / out)

    first = swept("cluster", "--cluster", dask.address)
    assert first == swept("local", "--workers", "1")
    flows = {data for name, data in first.items() if name.endswith("flows.parquet")}
    assert len(flows) == len(finished(mine.parent / "cluster")) == 3
    # Workers that know the class have to take the changed one, which comes to other results.
    mine.write_text(mine.read_text("utf-8").replace("cut: float = 0.5", "cut: float = 0.25"), "utf-8")
    changed = swept("cluster", "--cluster", dask.address)
    assert changed == first | swept("changed", "--workers", "1")
    assert {data for name, data in changed.items() if name.endswith("flows.parquet")} > flows


def test_a_scheme_in_python_that_breaks_on_a_worker_says_where(dask: Dask, command: Command, mine: Path) -> None:
    text = mine.read_text("utf-8")
    mine.write_text(text.replace("grown = ", "grown = self.shrunk if self.step > 1500 else "), "utf-8")
    arguments = ("sweep", "s.toml", "-o", "out", "--scheme", "mine.py:Aimd", "--quiet", "--cluster", dask.address)
    done = command(*arguments, cwd=mine.parent)
    assert done.returncode == 1
    assert "scheme.step = 9000: the scheme `aimd` broke at " in done.stderr
    assert "Aimd.on_ack() of flow " in done.stderr
    assert "AttributeError: 'Aimd' object has no attribute 'shrunk'" in done.stderr
    # The others were made.
    assert len(finished(mine.parent / "out")) == 2
