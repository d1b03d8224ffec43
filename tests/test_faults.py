"""Commands that are cut off: by a kill, a power cut or a full disk at a call that changes a file, and by signals.

A library that stands before the C library's calls injects the faults, so that writes of Python and of the native module
count alike. The Rust toolchain needs a C compiler as well, so one is there wherever xoff is built from its source.
`XOFF_ALL_FAULTS=1` injects each fault at each call, which takes about an hour; otherwise every few calls.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

HERE = ROOT / "tests" / "faults"
ALL = bool(os.environ.get("XOFF_ALL_FAULTS"))


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", library, HERE / "shim.c", "-ldl", "-lpthread"], check=True)
    return library


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, if there is one: the disk's own time is not what is tested."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@pytest.mark.parametrize(
    ("task", "stride", "fewest"),
    # A stride shares no factor with the calls of one file: over the modes and files, each kind of call is met.
    [("new", 7, 6), ("replace", 7, 8), ("move", 11, 5), ("sweep", 47, 4), ("tune", 89, 5), ("reproduce", 7, 4)],
)
def test_whatever_cuts_a_command_off_nothing_finished_is_lost(
    shim: Path, place: Path, task: str, stride: int, fewest: int
) -> None:
    done = subprocess.run(
        [sys.executable, HERE / "driver.py", task, place / "faults", "1" if ALL else str(stride)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "LD_PRELOAD": str(shim),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "OPENBLAS_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        },
    )
    assert done.returncode == 0, done.stderr
    counts = [int(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(counts) == 4
    assert min(counts) >= fewest, done.stdout
