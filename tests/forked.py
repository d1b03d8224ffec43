"""`xoff` in a process of its own that need not import it: forked off one that has imported what commands use.

The tests have hundreds of such processes, and most of them would import for longer than they do anything else. All have
one seed of hashes, what libraries read of the environment when they are imported is as it was, and none ends as an
interpreter does: what depends on these needs the fixture `started_command`.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def _of_python() -> dict[str, str]:
    """What an interpreter reads when it starts."""
    return {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}


_STARTED_WITH = _of_python()
_CONTEXT = multiprocessing.get_context("forkserver")
# A fork loses the threads that these start when they are imported: Arrow's and polars' allocators do without.
_CONTEXT.set_forkserver_preload(["xoff.cli.app", "xoff.report.page", "xoff.studies.sweep", "pyarrow.parquet"])


def run(arguments: Sequence[str], cwd: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """What `python -m xoff` with these arguments prints in the folder `cwd`, and its status.

    Raises
    ------
    subprocess.TimeoutExpired
        It took longer than `timeout` seconds, and was killed.
    """
    assert _of_python() == _STARTED_WITH, "a fork would take no notice"
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _CONTEXT.Process(target=_command, args=(arguments, cwd, dict(os.environ), out, err))
        process.start()
        try:
            process.join(timeout)
            status = process.exitcode
        finally:
            process.kill()
            process.join()
        if status is None:
            raise subprocess.TimeoutExpired(["xoff", *arguments], timeout)
        texts = [file.read_text("utf-8") if file.exists() else "" for file in (out, err)]
        return subprocess.CompletedProcess(["xoff", *arguments], status, *texts)


def _command(arguments: Sequence[str], cwd: Path, environment: dict[str, str], out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, file in enumerate((Path(os.devnull), out, err)):
        opened = os.open(file, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["xoff", *arguments]
    runpy.run_module("xoff", run_name="__main__", alter_sys=True)
