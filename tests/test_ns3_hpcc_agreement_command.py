"""The command `xoff agreement ns3-hpcc`: what it says and refuses, on a folder whose results xoff itself made."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

import xoff
from conftest import ROOT, Command
from xoff.formats.ns3_hpcc.exporter import export_run
from xoff.formats.ns3_hpcc.importer import import_config

HEAD = "<!-- xoff agreement -->\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's inputs, and as results those of xoff with the quirks."""
    folder = tmp_path_factory.mktemp("made") / "mix"
    shutil.copytree(ROOT / "scenarios" / "ns3-hpcc", folder)
    import_config(folder / "config.txt", folder.parent / "mix.toml")
    export_run(xoff.run(folder.parent / "mix.toml"), folder / "fct.txt", folder / "pfc.txt")
    return folder


@pytest.fixture
def mix(made: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(made, tmp_path / "mix"))


def test_a_table_is_made_and_made_again(command: Command, mix: Path, tmp_path: Path) -> None:
    lines = (mix / "fct.txt").read_text().splitlines(keepends=True)
    (mix / "fct.txt").write_text("".join(lines[1:]))
    for _ in range(2):
        done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
        assert done.returncode == 0
    # With the quirks the four flows left are xoff's own, so the same to the ns. The fifth is said in each mode.
    assert "| mix | quirks | 4 | 4 | 0.00 % |" in done.stdout
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    left = " ".join(lines[0].split()[i] for i in (0, 1, 2, 5))
    for mode in ("quirks", "clean"):
        expected = f"warning: mix, {mode}, seed 1: left out, as complete here and not there: 1 flow, such as {left}"
        assert expected in warnings
    # The import's warnings too, once and not for each run.
    assert len(warnings) == len(set(warnings)) > 2
    assert any("ENABLE_TRACE" in line for line in warnings)
    assert (tmp_path / "out" / "agreement.md").read_text().startswith(HEAD)


@pytest.mark.parametrize(
    ("name", "text"), [("agreement.md", "# Mine\n"), ("mix.png", HEAD.replace("xoff", "my")), ("", "a file")]
)
def test_other_files_are_spared_before_any_run(
    command: Command, mix: Path, tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / "out" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
    # `mix, quirks` is what it says when it begins to run.
    assert (done.returncode, "mix, quirks" in done.stderr) == (2, False)
    assert done.stderr.startswith(f"error: {Path('out', name)}: ")
    assert file.read_text() == text


def test_two_folders_of_one_name_are_refused(command: Command, mix: Path, tmp_path: Path) -> None:
    shutil.copytree(mix, tmp_path / "other" / "mix")
    done = command("agreement", "ns3-hpcc", "mix", "other/mix", "-o", "out")
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert done.stderr.startswith("error: mix and other/mix: two folders of one name")


FLOW = "0b000001 0b000201 10000 100 1000000 2000000000 123456"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("fct.txt", f"\n{FLOW} 0\n", "mix/fct.txt:2: the standalone completion time in ns is `0`: expected a whole"),
        ("fct.txt", f"{FLOW} -5\n", "mix/fct.txt:1: the standalone completion time in ns is `-5`"),
        ("fct.txt", f"{FLOW}\n", "mix/fct.txt:1: 7 words: expected 8"),
        ("fct.txt", f"{FLOW} 9\n{FLOW} 9\n", "mix/fct.txt:2: a flow of the same hosts"),
        ("pfc.txt", "\n1 2 3 1\n", "mix/pfc.txt:2: 4 words: expected 5"),
        ("pfc.txt", "1 2 0 x 1\n", "mix/pfc.txt:1: INTERFACE is `x`: expected a whole number"),
    ],
)
def test_results_that_cannot_be_are_named_by_line(
    command: Command, mix: Path, file: str, text: str, message: str
) -> None:
    (mix / file).write_text(text)
    done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")


def test_a_run_without_complete_flows_names_the_folder(command: Command, mix: Path) -> None:
    # 1 us after the first flow's start nothing of it can have come over links of 4 us in all.
    config = (mix / "config.txt").read_text()
    (mix / "config.txt").write_text(config.replace("SIMULATOR_STOP_TIME 2.1\n", "SIMULATOR_STOP_TIME 2.000001\n"))
    done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
    assert done.returncode == 2
    assert "error: mix: no flow completes here, of 5 flows there\n" in done.stderr


def zipped(text: bytes) -> bytes:
    """The same at any time: processes that share the tests among them must find the same ones."""
    return gzip.compress(text, mtime=0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no gzip", "not a trace compressed by gzip"),
        (zipped(b"a trace" * 99)[:-9], "not a trace compressed by gzip"),
        (zipped(b"\xff\xfe\n"), "not text"),
        (zipped(b"a b c d e f g h i j k l\n"), "trace-decoded.txt.gz:1: not an event of a decoded trace"),
        (zipped(b""), "has no event of a switch"),
        # Node 4 is a switch with four links, to h0, h1, s6 and s7.
        (zipped(b"9 n:4 7:3 99 Enqu ecn:0 a b 1 2 U 3 1048(1000)\n"), "has port 7 of node 4"),
        (zipped(b"9 n:4 1:3 99 Enqu ecn:0 a b 1 2 U 3 1048(1000)\n"), "has no packet that leaves node 4"),
        (zipped(b"9 n:4 1:3 99 Dequ ecn:0 a b 1 2 U 3 1048(1000)\n"), "has no packet that a host sends"),
    ],
)
def test_a_trace_that_is_none_is_a_mistake(command: Command, mix: Path, data: bytes, message: str) -> None:
    (mix / "trace-decoded.txt.gz").write_bytes(data)
    done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert message in done.stderr.splitlines()[-1]


def test_a_figure_of_its_own_is_replaced(command: Command, mix: Path, tmp_path: Path) -> None:
    flow = "ecn:0 0b000001 0b000201 10000 100 U 0 0 3 1048(1000)"
    events = [f"2000000000 n:0 1:3 1048 Dequ {flow}", f"2000001084 n:4 3:3 1048 Dequ {flow}"]
    (mix / "trace-decoded.txt.gz").write_bytes(gzip.compress("\n".join(events).encode()))
    for _ in range(2):
        done = command("agreement", "ns3-hpcc", "mix", "-o", "out")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "out/mix.png")
    assert (tmp_path / "out" / "mix.png").read_bytes().startswith(b"\x89PNG")
