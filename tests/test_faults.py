"""Commands that are cut off: by a kill, a power cut or a full disk at a call that changes a file, and by signals.

A library that stands before the C library's calls injects the faults, so that writes of Python and of the native module
count alike. The Rust toolchain needs a C compiler as well, so one is there wherever xoff is built from its source.
`XOFF_ALL_FAULTS=1` injects each fault at each call, which takes about an hour; otherwise every few calls.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xoff
from conftest import ENDLESS, ROOT, SMALL, Command
from made_up import seal
from own_paper import slowdown
from test_sweep import alive, children, wait_for
from xoff.runs.files import remove_leftovers, temporary_file, temporary_folder
from xoff.runs.folder import ResultFolder
from xoff.runs.jobs import Job, run_jobs
from xoff.runs.kept import FOLDER, Kept
from xoff.runs.parquet import check_size, read_table
from xoff.runs.toml import toml

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
    [("new", 13, 3), ("replace", 13, 4), ("move", 17, 3), ("sweep", 89, 2), ("tune", 179, 2), ("reproduce", 11, 2)],
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
    # A user's other files stay, also those that cannot be copied.
    (out / "dangling").symlink_to("nowhere")
    (out / "folder").symlink_to(tmp_path)
    os.mkfifo(out / "pipe")
    xoff.run(small, seed=3).write(out)
    assert (xoff.load(out).manifest["seed"], out.stat().st_ino) == (3, at)
    assert ((out / "dangling").readlink(), (out / "folder").readlink()) == (Path("nowhere"), tmp_path)
    assert (out / "pipe").is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "small.toml"]


def test_a_replaced_folder_keeps_its_mode(small: Path, tmp_path: Path) -> None:
    out = xoff.run(small, seed=1).write(tmp_path / "out")
    at = out.stat().st_ino
    out.chmod(0o700)
    xoff.run(small, seed=2).write(out)
    assert out.stat().st_ino != at, "replaced in one step"
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_a_run_goes_into_its_folder_where_the_current_folder_is_gone(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = xoff.run(small, seed=1)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert xoff.load(result.write(tmp_path / "out")).manifest["seed"] == 1


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

    def write(groups: int) -> None:
        with pq.ParquetWriter(file, zeros.schema, compression="zstd") as writer:
            for _ in range(groups):
                writer.write_table(zeros)

    write(101)
    assert file.stat().st_size < 1_000_000
    with pytest.raises(xoff.UserError, match=r"101,000,000 rows; expected at most 100,000,000"):
        read_table(file)
    # A run ends with the sample that reaches 50 million rows, which is of all ports.
    write(51)
    monkeypatch.setattr("xoff.runs.parquet.free_memory", lambda: (51 * 8_000_000 + 100_000, "free"))
    check_size(file)
    write(1)
    assert read_table(file).num_rows == 1_000_000
    monkeypatch.setattr("xoff.runs.parquet.free_memory", lambda: (7_999_999, "free in the control group"))
    with pytest.raises(xoff.UserError, match="take about 8 MB in memory: 8 MB are free in the control group"):
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


HOSTILE = "h\x1b]0;owned\x07\x1b[31m\u009b2J\u202e"
"""A name that sets a terminal's title and colour, clears it, and turns the direction of text."""


def test_no_name_reaches_the_terminal_raw(command: Command, tmp_path: Path) -> None:
    # Two senders at line rate into one host: what is found names the ports, and the flows their hosts.
    hosts = [f"{HOSTILE}{number}" for number in range(3)]
    links = "".join(f'{{ a = {toml(host)}, b = "s", rate = "100Gbps", delay = "1us" }},' for host in hosts)
    flows = "".join(
        f'[[traffic]]\npattern = "flow"\nsize = "1MB"\n'
        f"src = {toml(host)}\ndst = {toml(hosts[0])}\nlabel = {toml(host)}\n"
        for host in hosts[1:]
    )
    graph = f'[topology]\nname = "graph"\nhosts = {toml(hosts)}\nswitches = ["s"]\nlinks = [{links}]\n'
    scheme = '[scheme]\nname = "none"\n[record]\nroots = true\nbreakdown = true\n'
    (tmp_path / "hostile.toml").write_text(graph + scheme + flows, "utf-8")
    mistake = graph + scheme + flows.replace(f"src = {toml(hosts[1])}", f"src = {toml(hosts[1] + 'x')}")
    (tmp_path / "mistake.toml").write_text(mistake, "utf-8")
    (tmp_path / f"{HOSTILE}.toml").write_text(graph, "utf-8")
    shown = ""
    for arguments, status in (
        (["run", "hostile.toml", "-o", "out"], 0),
        (["explain", "out"], 0),
        (["explain", "out", "--json"], 0),
        (["check", "mistake.toml"], 2),
        (["check", f"{HOSTILE}.toml"], 2),
        (["run", "hostile.toml", "-o", HOSTILE], 0),
        (["report", HOSTILE], 0),
        (["explain", f"no{HOSTILE}"], 2),
    ):
        done = command(*arguments)
        assert done.returncode == status, done.stderr
        shown += done.stdout + done.stderr
    raw = {each for each in shown if not each.isprintable() and each not in "\n "}
    assert raw == set()
    assert "\\x1b[31m" in shown


def test_paths_need_not_be_utf_8(command: Command, small: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"p\xff")
    small.with_name(f"{name}.toml").write_text(SMALL + "[sweep]\nseed = [1, 2]\n")
    for arguments in (
        ["run", small, "-o", name],
        ["explain", name],
        ["report", name],
        ["sweep", f"{name}.toml", "-o", f"sweep{name}", "-q"],
        ["report", f"sweep{name}"],
    ):
        done = command(*arguments)
        assert done.returncode == 0, done.stderr
    done = command("check", small, "--set", f"title={name}")
    assert (done.returncode, done.stderr) == (2, "error: --set title=p\\udcff: not UTF-8; expected text\n")


def test_a_manifest_that_is_nested_deeply_is_refused(command: Command, small: Path, tmp_path: Path) -> None:
    out = xoff.run(small).write(tmp_path / "out")
    (out / "manifest.json").write_text("[" * 200_000)
    done = command("explain", "out")
    assert (done.returncode, done.stderr) == (
        2,
        "error: out/manifest.json: not a run's manifest: nested too deeply\n",
    )


@pytest.mark.parametrize("seal_it", [False, True])
def test_a_text_that_is_no_utf_8_is_refused(small: Path, tmp_path: Path, seal_it: bool) -> None:
    out = xoff.run(small).write(tmp_path / "out")
    flows = pq.read_table(out / "flows.parquet")
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(flows.set_column(flows.column_names.index("label"), "label", broken), out / "flows.parquet")
    if seal_it:
        seal(out)
    with pytest.raises(xoff.UserError, match="Invalid UTF8" if seal_it else "changed or torn"):
        _ = xoff.load(out).flows


def test_an_edited_manifest_gives_no_traceback(command: Command, small: Path, tmp_path: Path) -> None:
    out = xoff.run(small).write(tmp_path / "out")
    manifest = json.loads((out / "manifest.json").read_text())
    for key, value in (("record", True), ("topology", "x"), ("traffic", 5)):
        seal(out, {**manifest, "scenario": {**manifest["scenario"], key: value}})
        for what in ("report", "explain"):
            done = command(what, "out")
            assert "Traceback" not in done.stderr
            assert done.returncode in (0, 2)


class Interrupted(Executor):
    """Executes in this process; Ctrl-C comes before the third job."""

    at_once, here, blames = 1, True, True

    def __init__(self) -> None:
        self.submitted = 0

    def start(self) -> Executor:
        """It is ready."""
        return self

    def close(self) -> None:
        """Nothing to do."""

    def submit(self, call: Any) -> Future[Any]:  # type: ignore[override]
        """Execute at once."""
        self.submitted += 1
        if self.submitted == 3:
            raise KeyboardInterrupt
        future: Future[Any] = Future()
        future.set_result(call())
        return future


def test_jobs_go_on_with_the_results_that_are_kept(small: Path, tmp_path: Path) -> None:
    def jobs(count: int) -> list[Job]:
        return [Job(seed, small, slowdown, seed=seed) for seed in range(1, count + 1)]

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs(4), "test", Interrupted(), Kept(tmp_path))
    executor = Interrupted()
    # A flow that is alone takes its ideal time. Two of the four are made, and the third would be Ctrl-C.
    assert run_jobs(jobs(4), "test", executor, Kept(tmp_path)) == {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}
    assert executor.submitted == 2
    # A torn result is made again, and so is one of another scenario, or one that holds what no result holds.
    files = sorted((tmp_path / FOLDER).iterdir())
    assert len(files) == 4
    files[0].write_bytes(files[0].read_bytes()[:3])
    harmful = pickle.dumps(os.system)
    files[1].write_bytes(hashlib.sha256(harmful).digest() + harmful)
    executor = Interrupted()
    run_jobs(jobs(4), "test", executor, Kept(tmp_path))
    assert executor.submitted == 2
    # So is one that was changed, though it can still be read: the last byte of the number.
    changed = bytearray(files[0].read_bytes())
    changed[changed.index(b"G?\xf0") + 2] ^= 1
    files[0].write_bytes(changed)
    executor = Interrupted()
    assert run_jobs(jobs(4), "test", executor, Kept(tmp_path)) == {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}
    assert executor.submitted == 1
    other = small.with_name("other.toml")
    other.write_text(SMALL.replace("1MB", "2MB"))
    executor = Interrupted()
    run_jobs([Job(1, other, slowdown)], "test", executor, Kept(tmp_path))
    assert executor.submitted == 1
    Kept(tmp_path).clear()
    assert not (tmp_path / FOLDER).exists()
