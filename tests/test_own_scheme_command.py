"""`--scheme FILE:CLASS`: what it runs, what it refuses, and how a run in it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import xoff
from conftest import ENDLESS, ROOT, SMALL, Command
from xoff.runs.scenario import Scenario, read
from xoff.scheme.load import name_of, read_specs
from xoff.studies.sweep import plan

MINE = '''
import xoff

class Mine(xoff.Scheme):
    """A window of so many bytes."""

    def __init__(self, flow, *, window_bytes: int = 10_000):
        self.bytes = window_bytes

    def window(self):
        return self.bytes
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


def test_it_is_what_the_scenario_runs_unless_it_is_told_otherwise(command: Command, small: Path, mine: Path) -> None:
    done = command("check", small, "--scheme", "mine.py:Mine", "--json")
    assert done.returncode == 0
    assert '"name": "mine",\n    "window_bytes": 10000' in done.stdout
    both = ["--scheme", "mine.py:Mine", "--scheme", f"{ROOT}/tests/own_schemes.py:Aimd"]
    done = command("check", small, "--scheme", "mine.py:Mine", "--set", "scheme.name=hpcc")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--scheme: `mine` is given, and the scenario runs `hpcc`" in done.stderr
    done = command("check", small, *both, "--set", "scheme.name=aimd")
    assert done.returncode == 2
    assert "`mine` is given, and the scenario runs `aimd`" in done.stderr


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mine.py", "--scheme mine.py: expected FILE:CLASS"),
        ("mine.py:", "expected FILE:CLASS"),
        (":Mine", "expected FILE:CLASS"),
        ("mine.py:Mine()", "expected FILE:CLASS"),
        ("mien.py:Mine", "no such file mien.py; did you mean `mine.py`?"),
        (".:Mine", ". is a folder"),
        ("/dev/zero:Mine", "a device or a pipe"),
        ("mine.py:Mien", "mine.py: no class Mien; its schemes are Mine; did you mean `Mine`?"),
        ("empty.py:Mine", "empty.py: no class Mine; it has none derived from xoff.Scheme"),
        ("typo.py:Mine", "typo.py:2: SyntaxError"),
        ("broken.py:Mine", "broken.py:3: NameError: name 'undefined' is not defined"),
        ("leaves.py:Mine", "leaves.py:2: SystemExit: 3"),
        ("binary.py:Mine", "not text (byte 0 is not UTF-8)"),
        ("zeros.py:Mine", "not text (it holds a NUL byte)"),
        ("plain.py:Mine", "plain.py: Mine: expected a class derived from xoff.Scheme"),
        ("plain.py:number", "scheme number: an object of int is not a class"),
        ("hook.py:Mine", "hook.py: Mine: the method on_akc is never called"),
        ("taken.py:Hpcc", "there is a scheme `hpcc` already: expected another name"),
    ],
)
def test_a_file_or_class_that_cannot_be_loaded_is_a_mistake(
    small: Path, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "empty": "",
        "typo": "\nclass Mine(:\n",
        "broken": "\n\nundefined\n",
        "leaves": "import sys\nsys.exit(3)\n",
        "plain": "class Mine:\n    pass\nnumber = 5\n",
        "hook": MINE + "    def on_akc(self, ack):\n        pass\n",
        "taken": MINE.replace("Mine", "Hpcc"),
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    (tmp_path / "zeros.py").write_bytes(bytes(9))
    with pytest.raises((xoff.UserError, xoff.ScenarioError)) as error:
        read(small, schemes=read_specs([spec])).prepare()
    assert message in str(error.value)


def test_a_mistake_in_it_has_status_2_and_leaves_nothing(
    command: Command, small: Path, mine: Path, tmp_path: Path
) -> None:
    mine.write_text("\n\nundefined\n")
    done = command("run", small, "-o", "out", "--scheme", "mine.py:Mine")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: mine.py:3: NameError: name 'undefined' is not defined\n"
    assert not (tmp_path / "out").exists()


def test_two_classes_of_one_name_are_a_mistake(mine: Path) -> None:
    with pytest.raises(xoff.UserError, match="there is a scheme `mine` already"):
        read_specs([f"{mine}:Mine", f"{mine}:Mine"])


def test_a_run_that_it_breaks_has_status_1_and_its_traceback(
    command: Command, small: Path, mine: Path, tmp_path: Path
) -> None:
    mine.write_text(MINE + "    def on_ack(self, ack):\n        self.count += 1\n")
    done = command("run", small, "-o", "out", "--scheme", "mine.py:Mine")
    assert (done.returncode, done.stdout) == (1, "")
    *trace, last = done.stderr.splitlines()
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[1].endswith('mine.py", line 13, in on_ack')
    assert "self.count += 1" in trace[2]
    assert trace[-1].startswith("AttributeError: 'Mine' object has no attribute 'count'")
    assert last.startswith("error: the scheme `mine` broke at ")
    assert "Mine.on_ack() of flow 0 raised AttributeError" in last
    assert not (tmp_path / "out").exists()


def test_a_senseless_answer_has_status_1_and_no_traceback(command: Command, small: Path, mine: Path) -> None:
    done = command("run", small, "-o", "out", "--scheme", "mine.py:Mine", "--set", "scheme.window_bytes=-1")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "error: the scheme `mine` broke at 0ps: Mine.window() of flow 0 returned -1: expected a number of bytes"
        in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_ctrl_c_keeps_what_was_recorded(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    seen = tmp_path / "seen"
    mine.write_text(
        MINE + f"    def on_ack(self, ack):\n        if ack.seq > 100_000: open({str(seen)!r}, 'w').close()\n"
    )
    arguments = [sys.executable, "-m", "xoff", "run", "endless.toml", "-o", "out", "--scheme", "mine.py:Mine"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not seen.exists() and running.poll() is None:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "incomplete" in stderr
    assert "Traceback" not in stderr
    run = xoff.load(tmp_path / "out")
    assert run.manifest["complete"] is False
    assert run.flows["acked_bytes"][0].as_py() > 0


def test_a_second_ctrl_c_ends_a_class_that_never_returns(tmp_path: Path, small: Path, mine: Path) -> None:
    seen = tmp_path / "seen"
    mine.write_text(
        MINE + f"    def on_ack(self, ack):\n        open({str(seen)!r}, 'w').close()\n        while True: pass\n"
    )
    arguments = [sys.executable, "-m", "xoff", "run", str(small), "-o", "out", "--scheme", "mine.py:Mine"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not seen.exists() and running.poll() is None:
            time.sleep(0.1)
        for _ in range(100):
            running.send_signal(signal.SIGINT)
            # Python takes the signal when the class lets go of the interpreter; two that come before that are one.
            time.sleep(1)
            if running.poll() is not None:
                break
        _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "interrupted: nothing was kept\n")
    assert not (tmp_path / "out").exists()


SWEEP = """
[sweep]
"scheme.name" = ["none", "mine"]
"topology.delay" = ["1us", "2us"]
"""


def test_a_sweep_runs_it_beside_others(command: Command, mine: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SMALL + SWEEP)
    done = command("sweep", "sweep.toml", "-o", "out", "--scheme", "mine.py:Mine", "--quiet", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    runs = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert sorted(runs["scheme.name"].to_list()) == ["mine", "mine", "none", "none"]
    assert runs["state"].to_list() == ["done"] * 4
    slow, fast = (runs.filter(pl.col("scheme.name") == name)["slowdown_mean"].to_list() for name in ("mine", "none"))
    # 10 KB a round trip of 4 us and more are far below 100 Gbps.
    assert min(slow) > 2 > max(fast)


def test_a_sweep_may_vary_its_parameters_and_says_which_run_broke(command: Command, mine: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SMALL + '\n[sweep]\n"scheme.window_bytes" = [5000, -1]\n')
    done = command("sweep", "sweep.toml", "-o", "out", "--scheme", "mine.py:Mine", "--workers", "1")
    assert done.returncode == 1
    assert "1 run made, 1 failed" in done.stdout
    assert "scheme.window_bytes = -1: the scheme `mine` broke at 0ps" in done.stderr


def test_a_sweep_may_name_its_parameters_beside_another_scheme(command: Command, mine: Path, tmp_path: Path) -> None:
    points = '[sweep]\nlist = [{ "scheme.name" = "mine", "scheme.window_bytes" = 5000 }, { "scheme.name" = "none" }]\n'
    (tmp_path / "sweep.toml").write_text(SMALL + points)
    done = command("sweep", "sweep.toml", "-o", "out", "--scheme", "mine.py:Mine", "--quiet", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["state"].to_list() == ["done", "done"]


def test_a_sweep_without_it_is_a_mistake(command: Command, mine: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SMALL + '\n[sweep]\n"scheme.name" = ["none", "hpcc"]\n')
    done = command("sweep", "sweep.toml", "-o", "out", "--scheme", "mine.py:Mine")
    assert done.returncode == 2
    assert "--scheme mine.py:Mine: no run of the sweep has scheme.name = mine" in done.stderr


def test_a_changed_file_makes_other_runs(mine: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SMALL + SWEEP)

    def names() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for run in plan(read(file, schemes=read_specs([f"{mine}:Mine"]))):
            found.setdefault(run.scheme, []).append(run.run)
        return found

    before = names()
    assert before == names()
    mine.write_text(MINE + "# another line\n")
    after = names()
    assert set(before["mine"]).isdisjoint(after["mine"])
    # Those that do not use it are the same.
    assert before["none"] == after["none"]


TUNE = """
[tune]
objective = "slowdown_p99"
trials = 2
batch = 2

[tune.keys]
"scheme.window_bytes" = [5000, 50000]
"""


def test_a_tuning_searches_its_parameters_for_one_text_of_the_file(
    command: Command, mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "tune.toml").write_text(SMALL + TUNE)
    arguments = ("tune", "tune.toml", "-o", "out", "--scheme", "mine.py:Mine", "--quiet", "--workers", "1")
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    trials = pl.read_parquet(tmp_path / "out" / "trials.parquet")
    assert set(trials["scheme.window_bytes"].to_list()) <= {5000, 50000}
    assert trials["error"].to_list() == [None, None]
    mine.write_text(MINE + "# another line\n")
    done = command(*arguments)
    assert done.returncode == 2
    assert "holds the tuning of another scenario" in done.stderr


def test_a_class_in_memory_is_no_class_for_a_sweep() -> None:
    from xoff.scheme.load import classes

    class Mine(xoff.Scheme):
        def window(self) -> float:
            return 10_000

    scenario = Scenario(SMALL + SWEEP, "sweep.toml", ".", [], classes({"mine": Mine}))
    with pytest.raises(xoff.UserError, match="scheme mine: expected a class in a file"):
        plan(scenario)


@pytest.mark.parametrize(
    ("cls", "name"),
    [("Mine", "mine"), ("MyAimd", "my_aimd"), ("HTTPLike2", "http_like2"), ("AIMD", "aimd"), ("A1B", "a1_b")],
)
def test_a_scheme_is_called_as_its_class_in_snake_case(cls: str, name: str) -> None:
    assert name_of(cls) == name
