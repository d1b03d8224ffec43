"""What works without the libraries of extras, and what is said where one is needed."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, Command
from xoff.errors import UserError, extra
from xoff.report.figures import canvas

LIBRARIES = ("matplotlib", "optuna", "distributed")


@pytest.fixture
def without_extras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands find none of the libraries."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for library in LIBRARIES:
        (blocked / f"{library}.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(blocked), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.usefixtures("without_extras")
def test_a_run_its_report_and_a_sweep_need_no_extra(command: Command, small: Path) -> None:
    assert command("run", small, "-o", "out").returncode == 0
    done = command("report", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert command("explain", "out").returncode == 0
    small.write_text(small.read_text() + '[sweep]\n"flow_control.xoff" = ["100KB", "200KB"]\n')
    assert command("sweep", small, "-o", "swept", "--quiet").returncode == 0
    assert command("report", "swept").returncode == 0


@pytest.mark.usefixtures("without_extras")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "-o", "c"], "xoff compare needs Matplotlib; install it: pip install 'xoff[plot]'"),
        (["reproduce", "fncc", "-o", "c"], "xoff reproduce needs Matplotlib; install it: pip install 'xoff[plot]'"),
        (
            ["agreement", "ns3-hpcc", ".", "-o", "c"],
            "xoff agreement needs Matplotlib; install it: pip install 'xoff[plot]'",
        ),
        (
            ["tune", str(ROOT / "scenarios/tune_dcqcn.toml"), "-o", "c"],
            "tuning needs Optuna; install it: pip install 'xoff[tune]'",
        ),
        (
            ["sweep", str(ROOT / "scenarios/sweep_pfc.toml"), "-o", "c", "--cluster", "tcp://127.0.0.1:1"],
            "--cluster needs Dask; install it: pip install 'xoff[dask]'",
        ),
    ],
)
def test_a_missing_extra_is_named_with_the_command(command: Command, arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (2, f"error: {message}\n")


def test_a_figure_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"a figure needs Matplotlib; install it: pip install 'xoff\[plot\]'"), canvas():
        pass


def test_extras_have_what_messages_promise() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, name in (("matplotlib", "plot"), ("optuna", "tune"), ("distributed", "dask")):
        assert any(each.startswith(library) for each in extras[name])
        assert extra(library, "a test").__name__ == library
