"""What works without the libraries of extras, and what is said where one is needed."""

from __future__ import annotations

import os
import re
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
def test_a_run_its_report_and_a_sweep_need_no_extra(started_command: Command, small: Path) -> None:
    assert started_command("run", small, "-o", "out").returncode == 0
    done = started_command("report", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert started_command("explain", "out").returncode == 0
    small.write_text(small.read_text() + '[sweep]\n"flow_control.xoff" = ["100KB", "200KB"]\n')
    assert started_command("sweep", small, "-o", "swept", "--quiet").returncode == 0
    assert started_command("report", "swept").returncode == 0


@pytest.mark.usefixtures("without_extras")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "-o", "c"], "xoff compare needs Matplotlib; install it: pip install 'matplotlib"),
        (["reproduce", "fncc", "-o", "c"], "xoff reproduce needs Matplotlib; install it: pip install 'matplotlib"),
        (
            ["agreement", "ns3-hpcc", ".", "-o", "c"],
            "xoff agreement needs Matplotlib; install it: pip install 'matplotlib",
        ),
        (
            ["tune", str(ROOT / "scenarios/tune_dcqcn.toml"), "-o", "c"],
            "tuning needs Optuna; install it: pip install 'optuna",
        ),
        (
            ["sweep", str(ROOT / "scenarios/sweep_pfc.toml"), "-o", "c", "--cluster", "tcp://127.0.0.1:1"],
            "--cluster needs Dask; install it: pip install 'distributed",
        ),
    ],
)
def test_a_missing_extra_is_named_with_the_command(
    started_command: Command, arguments: list[str], message: str
) -> None:
    done = started_command(*arguments)
    # Behind the library's name stand the versions that the package asks for, if it is installed.
    assert done.returncode == 2
    assert re.fullmatch(rf"error: {re.escape(message)}([<>=].*)?'\n", done.stderr), done.stderr


def test_a_figure_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"a figure needs Matplotlib; install it: pip install 'matplotlib"), canvas():
        pass


def test_extras_have_what_messages_promise() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, name in (("matplotlib", "plot"), ("optuna", "tune"), ("distributed", "dask")):
        assert any(each.startswith(library) for each in extras[name])
        assert extra(library, "a test").__name__ == library
