"""The rooms of the package: each may import only what stands below it."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import xoff

PACKAGE = Path(xoff.__file__).parent

# From the bottom to the top: a room imports itself and those before it.
ROOMS = (
    "text",
    "errors",
    "scheme",
    "settings",
    "runs",
    "analysis",
    "fluid",
    "report",
    "formats",
    "studies",
    "papers",
    "cli",
)

# `run.report()` is a method of a result, and its page is made two rooms above.
UPWARD = {("runs/results.py", "xoff.report.page")}


def imports(file: Path) -> set[str]:
    """The modules of xoff that a file imports, at its top or later."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            module = str(node.module)
            inner = [f"{module}.{alias.name}" for alias in node.names]
            found |= {each if is_module(each) else module for each in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {module for module in found if module.split(".")[0] == "xoff"}


def is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return name == "xoff._xoff" or path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def test_everything_stands_in_a_room() -> None:
    loose = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert loose == {*ROOMS, "__init__", "__main__"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_is_below_it(room: str) -> None:
    files = sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / f"{room}.py"]
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "_xoff"}
    wrong = {
        (str(file.relative_to(PACKAGE)), module)
        for file in files
        for module in imports(file)
        if module == "xoff" or (module.split(".")[1] not in allowed)
    }
    assert wrong == {each for each in UPWARD if each[0].startswith(f"{room}/")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_holds_and_what_it_may_import(room: str) -> None:
    doc = importlib.import_module(f"xoff.{room}").__doc__ or ""
    assert len(doc) > 20
    if (PACKAGE / room).is_dir():
        assert "import" in doc


def test_the_worker_of_bench_imports_the_native_module_alone() -> None:
    code = "import sys, xoff.runs.bench_worker; print(*sorted(name for name in sys.modules if 'xoff' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["xoff", "xoff._xoff", "xoff.runs", "xoff.runs.bench_worker"]
