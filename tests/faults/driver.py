"""Every way in which a command can be cut off: a fault at each call that changes a file, and then the command again.

`driver.py TASK FOLDER STRIDE [MODE]...` runs under the shim (see `shim.c`). It imports all that commands need, and
forks for each fault: a process of its own each, without its start. Prints how many faults of each mode were injected;
a broken promise is said with its fault, and ends the driver with status 1.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import itertools
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

import xoff.papers.registry
import xoff.report.page
import xoff.runs.executor
import xoff.runs.jobs
import xoff.studies.sweep.page
import xoff.studies.tune
from conftest import SMALL
from own_paper import PAPER
from xoff.cli.app import main
from xoff.errors import UserError
from xoff.runs.files import is_temporary
from xoff.runs.folder import TABLES
from xoff.runs.results import load

MODES = {"count": 1, "kill": 2, "power": 3, "full": 4, "once": 5}

SWEEP = '[sweep]\n"scheme.name" = ["none", "hpcc"]\nseed = [1, 2]\n'
TUNE = """
[tune]
objective = "slowdown_mean"
trials = 6
batch = 2

[tune.keys]
"flow_control.xoff" = { from = "10KB", to = "400KB", log = true }
"traffic.0.size" = { from = "100KB", to = "900KB" }
"""

shim = ctypes.CDLL(None)


class Inline(Executor):
    """Executes in this process, so that all of a command's calls are counted."""

    at_once, here, blames = 1, True, True
    submitted = 0

    def __init__(self, workers: int | None = None) -> None:
        del workers

    def start(self) -> Executor:
        """It is ready."""
        return self

    def close(self) -> None:
        """Nothing to do."""

    def submit(self, call: Any) -> Future[Any]:  # type: ignore[override]
        """Execute at once."""
        Inline.submitted += 1
        future: Future[Any] = Future()
        try:
            future.set_result(call())
        except Exception as error:  # handed over, as from another process
            future.set_exception(error)
        return future


def command(*arguments: str) -> int:
    return main([*arguments])


def whole(folder: Path) -> int:
    """The seed of the run in `folder`, of which every file is read."""
    run = load(folder)
    for table in TABLES:
        run.table(table)
    return int(run.manifest["seed"])


def expect(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def no_leftovers(folder: Path) -> None:
    left = [str(path) for path in folder.rglob("*") if is_temporary(path.name)]
    expect(not left, f"leftovers: {left}")


@dataclass(frozen=True)
class Task:
    """A command that is cut off, and what must hold."""

    before: Callable[[], None]
    """What is there when it begins."""
    act: Callable[[], int]
    """The command; its exit status."""
    after: Callable[[int | None, str], None]
    """What must hold when it has ended with a status, or `None` for killed, and with what it has printed.

    This includes giving it again.
    """


# A run.


def _run(seed: int, out: str = "place/out") -> int:
    return command("run", "s.toml", "-o", out, "-q", "--seed", str(seed), "--perfetto", "--set", "record.packets=all")


def _scenario(tail: str = "") -> None:
    Path("s.toml").write_text(SMALL.replace("1MB", "20KB") + tail)
    Path("place").mkdir()


def _earlier_run() -> None:
    _scenario()
    expect(_run(1) == 0, "the first run")
    Path("place/out/notes.txt").write_text("mine")


def _earlier_run_with_a_folder() -> None:
    _earlier_run()
    Path("place/out/mine").mkdir()


def _after_new_run(status: int | None, _: str) -> None:
    out = Path("place/out")
    if status == 0 or (out / "manifest.json").exists():
        expect(whole(out) == 2, "whole or not there")
    expect(status in (None, 0, 1), f"status {status}")
    again()
    expect(_run(3) == 0 and whole(out) == 3, "the next run")
    no_leftovers(Path())


def _after_replacing(status: int | None, _: str) -> None:
    out = Path("place/out")
    seed = whole(out)
    expect(seed in (1, 2), "the earlier run or the new one")
    expect(seed == 2 or status != 0, "status 0 and the earlier run")
    expect(len(xoff.report.page.find_runs([Path("place")])) == 1, "leftovers count as runs")
    again()
    expect(_run(3) == 0 and whole(out) == 3, "the next run")
    expect((out / "notes.txt").read_text() == "mine", "others' files")
    no_leftovers(Path())


def _after_moving(status: int | None, _: str) -> None:
    out = Path("place/out")
    with contextlib.suppress(UserError):
        seed = whole(out)
        expect(seed in (1, 2) and (seed == 2 or status != 0), "the earlier run or the new one")
    again()
    expect(_run(3) == 0 and whole(out) == 3, "the next run")
    expect((out / "notes.txt").read_text() == "mine", "others' files")
    expect((out / "mine").is_dir(), "others' folders")
    no_leftovers(Path())


# A sweep.


def _sweep() -> int:
    return command("sweep", "s.toml", "-o", "place/out", "-q")


def _earlier_sweep() -> None:
    _scenario(SWEEP.replace("[1, 2]", "[1]"))
    expect(_sweep() == 0, "the first sweep")
    Path("s.toml").write_text(Path("s.toml").read_text().replace("[1]", "[1, 2]"))


def _made() -> dict[str, int]:
    return {each.parent.name: each.stat().st_mtime_ns for each in Path("place/out/runs").glob("[!.]*/manifest.json")}


def _after_sweep(status: int | None, _: str) -> None:
    out = Path("place/out")
    made = _made()
    for name in made:
        whole(out / "runs" / name)
    expect(status != 0 or len(made) == 4, "status 0 without every run")
    expect(len(polars.read_parquet("place/out/flows/")) in (2, 3, 4), "the earlier dataset or that of now")
    expect(command("report", str(out), "-o", "page.html") in (0, 2), "a report, or a clear error")
    again()
    expect(_sweep() == 0, "the next sweep")
    expect({name: at for name, at in _made().items() if name in made} == made, "a finished run was made again")
    expect(len(_made()) == 4, "every run")
    expect(len(polars.read_parquet("place/out/flows/")) == 4, "the dataset")
    expect(polars.read_parquet("place/out/runs.parquet")["state"].to_list() == ["done"] * 4, "the totals")
    no_leftovers(Path())


# A tuning.


def _tune() -> int:
    return command("tune", "s.toml", "-o", "place/out", "-q")


def _trials() -> list[dict[str, Any]]:
    return polars.read_parquet("place/out/trials.parquet").to_dicts()


def _after_tune(status: int | None, _: str) -> None:
    made = _made() if Path("place/out/runs").exists() else {}
    again()
    expect(_tune() == 0, "the next tuning")
    expect(hashlib.sha256(json.dumps(_trials()).encode()).hexdigest() == reference["tune"], "other trials or values")
    expect(status != 0 or len(made) == 7, "status 0 without every run")
    expect({name: at for name, at in _made().items() if name in made} == made, "a finished run was made again")
    # Six trials, and the baseline that they are compared with.
    expect(len(_made()) == 7, "every run, and no other")
    no_leftovers(Path())


# A re-run of a paper.


def _reproduce() -> int:
    return command("reproduce", "own_paper", "-o", "place/out")


def _after_reproduce(_: int | None, said: str) -> None:
    kept = len(list(Path("place/out/.finished-jobs").glob("*.pickle")))
    # After the first of the two runs it prints `50%, 1/2 runs`, and after the second it has ended, or writes its page.
    done = Path("place/out/claims.json").exists() or "100%, 2/2 runs" in said
    expect(done or kept >= said.count("/2 runs, "), f"{kept} results were kept of those in:\n{said}")
    again()
    Inline.submitted = 0
    expect(_reproduce() == 0, "the next re-run")
    expect(Inline.submitted == 2 - kept, f"{Inline.submitted} runs made of 2, of which {kept} were kept")
    [found] = json.loads(Path("place/out/claims.json").read_text())
    expect(found["verdict"] == "reproduced", "the verdict")
    expect(
        sorted(file.name for file in Path("place/out").iterdir()) == ["claims.json", "claims.md", "index.html"], "files"
    )


TASKS = {
    "new": Task(_scenario, lambda: _run(2), _after_new_run),
    "replace": Task(_earlier_run, lambda: _run(2), _after_replacing),
    "move": Task(_earlier_run_with_a_folder, lambda: _run(2), _after_moving),
    "sweep": Task(_earlier_sweep, _sweep, _after_sweep),
    "tune": Task(lambda: _scenario(TUNE), _tune, _after_tune),
    "reproduce": Task(lambda: Path("place").mkdir(), _reproduce, _after_reproduce),
}

reference: dict[str, str] = {}


def again() -> None:
    """From here on nothing fails any more."""
    shim.fault_arm(0, 0)


def forked(what: Callable[[], int], log: Path) -> int | None:
    """Do `what` in a process of its own, with what it prints in `log`; its status, or `None` if it was killed."""
    child = os.fork()
    if child == 0:
        status = 98
        try:
            printed = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            status = what()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None


def points(stride: int) -> Iterator[int]:
    """Every `stride`-th call, from the first."""
    return itertools.count(1, stride)


def inject(task: Task, place: Path, mode: str, stride: int) -> int:
    """A fault of one mode at every `stride`-th call: how many; raises `AssertionError` if one breaks a promise."""
    log, start = place / "log", place / "start"
    count = 0
    for at in points(stride):
        work = place / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(start, work)

        def act(at: int = at, work: Path = work) -> int:
            os.chdir(work)
            shim.fault_arm(MODES[mode], at)
            status = task.act()
            struck = shim.fault_calls() >= at
            again()
            if not struck:
                return 97
            return status

        status = forked(act, log)
        said = log.read_text(errors="replace")
        if "Traceback" in said or "panicked" in said or status in (98, 99):
            raise AssertionError(f"{mode} at call {at}: status {status}\n{said}")
        if status == 97:
            return count
        count += 1

        def check(status: int | None = status, work: Path = work, said: str = said) -> int:
            os.chdir(work)
            task.after(status, said)
            return 0

        if forked(check, log) != 0 or "Traceback" in log.read_text(errors="replace"):
            raise AssertionError(f"{mode} at call {at}, status {status}\n{said}\n{log.read_text(errors='replace')}")
    return count


def import_what_is_needed(task: Task, place: Path) -> None:
    """Import in this process what the command and its check import late, so that not each process does."""
    listed = place / "modules"

    def rehearse() -> int:
        shutil.copytree(place / "start", place / "rehearsal")
        os.chdir(place / "rehearsal")
        task.act()
        with contextlib.suppress(Exception):
            task.after(0, "")
        listed.write_text("\n".join(sys.modules))
        return 0

    forked(rehearse, place / "log")
    for module in listed.read_text().split():
        with contextlib.suppress(Exception):
            importlib.import_module(module)


def drive(name: str, place: Path, stride: int, modes: list[str]) -> None:
    """Inject all faults of `modes` into the task called `name`."""
    task = TASKS[name]
    start = place / "start"
    start.mkdir(parents=True)

    def begin() -> int:
        os.chdir(start)
        task.before()
        return 0

    log = place / "log"
    expect(forked(begin, log) == 0, log.read_text())
    import_what_is_needed(task, place)
    if name == "tune":
        undisturbed = place / "undisturbed"
        shutil.copytree(start, undisturbed)

        def tune() -> int:
            os.chdir(undisturbed)
            status = _tune()
            Path("trials").write_text(hashlib.sha256(json.dumps(_trials()).encode()).hexdigest())
            return status

        expect(forked(tune, log) == 0, log.read_text())
        reference["tune"] = (undisturbed / "trials").read_text()
    for mode in modes:
        print(f"{name}: {inject(task, place, mode, stride)} faults of mode {mode}")


if __name__ == "__main__":
    for module in (xoff.runs.executor, xoff.runs.jobs, xoff.papers.registry):
        setattr(module, "Local", Inline)  # noqa: B010 - the checker knows it as a class
    setattr(xoff.papers.registry, "paper", lambda _: PAPER)  # noqa: B010
    try:
        drive(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] or ["kill", "power", "full", "once"])
    except AssertionError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
