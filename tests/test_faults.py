"""Commands that are cut off: by a kill, a power cut or a full disk at a call that changes a file, and by signals.

A library that stands before the C library's calls injects the faults, so that writes of Python and of the native module
count alike. The Rust toolchain needs a C compiler as well, so one is there wherever xoff is built from its source.
`XOFF_ALL_FAULTS=1` injects each fault at each call, which takes about an hour; otherwise every few calls.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xoff
from conftest import ENDLESS, ROOT, SMALL, Command
from test_sweep import alive, children, wait_for
from xoff.runs.files import remove_leftovers, temporary_file, temporary_folder
from xoff.runs.folder import ResultFolder
from xoff.runs.parquet import read_table

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


def test_two_processes_do_not_write_into_one_folder(command: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nseed = [1, 2]\n")
    with ResultFolder(tmp_path / "out"):
        for arguments in (["run", small], ["sweep", "small.toml"], ["reproduce", "pft", "--quick"]):
            done = command(*arguments, "-o", "out")
            assert (done.returncode, done.stdout) == (2, "")
            assert "out: another xoff is writing there" in done.stderr
        assert not list((tmp_path / "out").iterdir())
    # Nothing was written, so nothing is left, and the next one may.
    assert not (tmp_path / "out").exists()
    assert command("run", small, "-o", "out", "-q").returncode == 0


def test_a_run_over_an_earlier_one_says_so(command: Command, small: Path) -> None:
    assert "earlier run" not in command("run", small, "-o", "out").stderr
    assert (
        "out: holds an earlier run, which this one replaces when it has ended"
        in command("run", small, "-o", "out").stderr
    )


def test_a_run_that_breaks_leaves_the_earlier_one(command: Command, small: Path, tmp_path: Path) -> None:
    assert command("run", small, "-o", "out", "-q").returncode == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    # Two senders at line rate into one port whose switch has room for ten packets and no PAUSE.
    second = '[[traffic]]\npattern = "flow"\nsrc = "host2"\ndst = "host0"\nsize = "1MB"\n'
    (tmp_path / "lossless.toml").write_text(
        SMALL + second + '[flow_control]\nname = "none"\n[switch]\nbuffer = "15KB"\n'
    )
    assert command("run", "lossless.toml", "-o", "out").returncode == 1
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before


def test_what_a_process_is_writing_is_no_leftover(tmp_path: Path) -> None:
    old = tmp_path / ".xoff-0123abcd"
    old.mkdir()
    (old / "manifest.json").write_text("{}")
    (tmp_path / f".xoff-{'0' * 32}").write_text("half")
    (tmp_path / ".xoff-notes").write_text("mine")
    (tmp_path / f".xoff-{'1' * 32}").symlink_to("mine")
    (tmp_path / "mine").mkdir()
    with temporary_folder(tmp_path) as folder, temporary_file(tmp_path) as file:
        remove_leftovers(tmp_path)
        assert folder.is_dir()
        assert file.is_file()
        # Two leftovers are gone; another's file and a link are not touched.
        assert {each.name for each in tmp_path.iterdir()} == {
            folder.name,
            file.name,
            ".xoff-notes",
            f".xoff-{'1' * 32}",
            "mine",
        }


def test_no_link_is_followed(command: Command, small: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    assert command("run", small, "-o", "out", "-q").returncode == 0
    for name in (".report.html.partial", "flows.parquet", "packets.pcapng"):
        (tmp_path / "out" / name).unlink(missing_ok=True)
        (tmp_path / "out" / name).symlink_to(mine)
    assert command("run", small, "-o", "out", "-q").returncode == 0
    assert command("report", "out").returncode == 0
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nseed = [1, 2]\n")
    (tmp_path / "sweep").mkdir()
    assert command("sweep", "small.toml", "-o", "sweep", "-q").returncode == 0
    for name in ("runs.parquet", ".sweep.json.partial", "sweep.json"):
        (tmp_path / "sweep" / name).unlink(missing_ok=True)
        (tmp_path / "sweep" / name).symlink_to(mine)
    command("sweep", "small.toml", "-o", "sweep", "-q")
    assert mine.read_text() == "mine"
    assert xoff.load(tmp_path / "out").flows.num_rows == 1
    # A link to a folder stays one, and the folder is replaced.
    (tmp_path / "link").symlink_to("out")
    assert command("run", small, "-o", "link", "-q", "--seed", "7").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert xoff.load(tmp_path / "out").manifest["seed"] == 7


def test_where_a_folder_cannot_be_swapped_files_come_one_by_one(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folder in which the process is, and a file system that cannot swap.
    out = xoff.run(small, seed=1).write(tmp_path / "out")
    monkeypatch.chdir(out)
    at = out.stat().st_ino
    xoff.run(small, seed=2).write(".")
    assert (xoff.load(out).manifest["seed"], out.stat().st_ino) == (2, at)
    monkeypatch.chdir(tmp_path)

    def refuse(_a: object, _b: object) -> None:
        raise OSError(errno.EINVAL, "no such step")

    monkeypatch.setattr("xoff._xoff.exchange", refuse)
    xoff.run(small, seed=3).write(out)
    assert (xoff.load(out).manifest["seed"], out.stat().st_ino) == (3, at)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "small.toml"]


@pytest.mark.parametrize("what", ["flows.parquet", "ports.parquet", "manifest.json"])
def test_a_changed_file_is_noticed(command: Command, small: Path, tmp_path: Path, what: str) -> None:
    assert command("run", small, "-o", "out", "-q").returncode == 0
    file = tmp_path / "out" / what
    data = file.read_bytes()
    if what == "manifest.json":
        # One PAUSE frame more: an entry of the right kind.
        assert data.count(b'"pause_frames": 0') == 1
        file.write_bytes(data.replace(b'"pause_frames": 0', b'"pause_frames": 1'))
    else:
        # One bit, in the middle.
        middle = len(data) // 2
        file.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    for arguments in (["explain", "out"], ["report", "out"], ["export", "ns3-hpcc", "out", "-o", "fct.txt"]):
        told = command(*arguments)
        assert (told.returncode, "Traceback" in told.stderr) == (2, False)
        if arguments[0] != "export":
            assert f"{what}: changed" in told.stderr
            assert "make the run again" in told.stderr
    # A run over it needs no more than the command.
    assert command("run", small, "-o", "out", "-q").returncode == 0
    assert command("explain", "out").returncode == 0


def test_a_small_file_of_many_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A million equal numbers a row group take a few bytes in the file and 8 MB in memory.
    file = tmp_path / "rows.parquet"
    zeros = pa.table({"time_ps": pa.array(np.zeros(1_000_000, np.int64))})
    with pq.ParquetWriter(file, zeros.schema, compression="zstd") as writer:
        for _ in range(51):
            writer.write_table(zeros)
    assert file.stat().st_size < 1_000_000
    with pytest.raises(xoff.UserError, match=r"51,000,000 rows; expected at most 50,000,000"):
        read_table(file)
    pq.write_table(zeros, file)
    assert read_table(file).num_rows == 1_000_000
    monkeypatch.setattr("xoff.runs.parquet.free_memory", lambda: 7_999_999)
    with pytest.raises(xoff.UserError, match="take about 8 MB in memory"):
        read_table(file)


def test_a_large_manifest_is_refused(small: Path, tmp_path: Path) -> None:
    out = xoff.run(small).write(tmp_path / "out")
    with (out / "manifest.json").open("ab") as file:
        file.truncate(300 * 10**6)
    with pytest.raises(xoff.UserError, match="300 MB; expected a manifest of at most 256 MB"):
        xoff.load(out)


ENDLESS_JOBS = """
import sys
from pathlib import Path
from xoff.runs.executor import Local
from xoff.runs.jobs import Job, run_jobs

if __name__ == "__main__":
    jobs = [Job(seed, Path("endless.toml"), len, seed=seed) for seed in (1, 2)]
    run_jobs(jobs, "endless", Local(2))
"""


def test_workers_of_a_killed_process_end(tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    (tmp_path / "jobs.py").write_text(ENDLESS_JOBS)
    process = subprocess.Popen([sys.executable, "jobs.py"], cwd=tmp_path, stderr=subprocess.DEVNULL)

    def busy() -> list[int]:
        # A worker that runs has a thread for it, beside its own and the one that watches the parent.
        return [pid for pid in children(process.pid) if len(list(Path(f"/proc/{pid}/task").iterdir())) >= 3]

    wait_for(lambda: len(busy()) == 2)
    workers = children(process.pid)
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(alive, workers)))
