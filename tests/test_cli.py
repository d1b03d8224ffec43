"""The command line: exit statuses, messages, and that mistakes leave nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import xoff
from conftest import ENDLESS, SMALL, Command
from made_up import seal
from xoff.cli import app as cli
from xoff.runs import execution as running
from xoff.runs.catalogue import KINDS

if TYPE_CHECKING:
    from xoff._xoff import RunOutput

COMMANDS = (
    "run",
    "check",
    "report",
    "reproduce",
    "compare",
    "describe",
    "schemes",
    "topologies",
    "workloads",
    "schema",
    "bench",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.returncode == 0
    assert f"Example: xoff {name}" in done.stdout


@pytest.mark.parametrize("group", ["import", "export"])
def test_help_of_an_exchange_has_an_example(command: Command, group: str) -> None:
    assert "ns3-hpcc" in command(group, "--help").stdout
    done = command(group, "ns3-hpcc", "-h")
    assert done.returncode == 0
    assert f"Example: xoff {group} ns3-hpcc" in done.stdout


def test_a_run_writes_its_folder_and_says_so(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "-o", "out", "--seed", "7", "--set", "scheme.name=hpcc")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1 completed" in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["results", "out"]
    manifest = xoff.load(tmp_path / "out").manifest
    assert (manifest["seed"], manifest["scenario"]["scheme"]["name"]) == (7, "hpcc")
    assert manifest["complete"] is True


def test_endless_flows_are_told_by_their_goodput(command: Command, tmp_path: Path) -> None:
    # Two endless flows whose sources make data at 10 and 20 Gbps, over links of 100 Gbps: in 10 ms, less a round trip
    # of some us, all that was made is acknowledged. They share nothing, and begin together.
    traffic = '[[traffic]]\npattern = "flow"\nsrc = "host{n}"\ndst = "host0"\nrate = "{n}0Gbps"\n'
    text = (
        SMALL.partition("[[traffic]]")[0] + '[run]\nduration = "10ms"\n' + "".join(traffic.format(n=n) for n in (1, 2))
    )
    (tmp_path / "endless.toml").write_text(text)
    done = command("run", "endless.toml", "-o", "out")
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert lines["flows"] == "2 endless flows in 10 ms of simulated time"
    words = re.fullmatch(r"(\S+) Gbps together, (\S+) Gbps to (\S+) Gbps each from its own start", lines["goodput"])
    assert words is not None, lines["goodput"]
    assert [float(word) for word in words.groups()] == pytest.approx([30, 10, 20], rel=0.01)
    # Two alike: 20 and 20 Gbps.
    (tmp_path / "alike.toml").write_text(text.replace("10Gbps", "20Gbps"))
    goodput = next(
        line for line in command("run", "alike.toml", "-o", "alike").stdout.splitlines() if "together" in line
    )
    assert re.fullmatch(r"goodput +(39\.\d+|40) Gbps together, (19\.\d+|20) Gbps each from its own start", goodput)
    # A flow of a size beside them is counted by itself.
    (tmp_path / "both.toml").write_text(text + traffic.format(n=2) + 'size = "1MB"\n')
    told = command("run", "both.toml", "-o", "both").stdout
    assert "1 of 1 completed, 2 endless flows in 10 ms" in told
    assert "2 endless flows in 10 ms" in command("explain", "out").stdout


def test_the_version_is_that_of_the_library(command: Command) -> None:
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"xoff {xoff.__version__}\n")


def test_quiet_is_quiet(command: Command, small: Path) -> None:
    done = command("run", small, "-o", "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.toml"], "no such scenario file"),
        (["smal.toml"], "did you mean `small.toml`?"),
        (["."], "a folder"),
        (["/dev/zero"], "a device or a pipe"),
        (["binary.toml"], "not a text file"),
        (["zeros.toml"], "not a text file"),
        (["empty.toml"], "topology"),
        (["broken.toml"], "broken.toml:2"),
        (["unknown.toml"], "shceme"),
        (["small.toml", "--set", "scheme.name"], "expected key=value"),
        (["small.toml", "--set", "=3"], "expected key=value"),
        (["small.toml", "--set", "scheme.name=fnc"], "fncc"),
        (["small.toml", "--set", "shceme.name=fncc"], "scheme"),
        (["small.toml", "--set", "traffic.0.size=1"], "unit"),
        (["small.toml", "--set", "traffic.9.size=1MB"], "traffic"),
        (["small.toml", "--set", "topology.rate=-1Gbps"], "negative"),
        (["small.toml", "--threads", "0"], "--threads 0"),
        (["small.toml", "--threads", "many"], "--threads many"),
        (["small.toml", "--threads", "2", "--set", "quirks.order=scheduled"], "`quirks.order"),
        (["small.toml", "--threads", "2", "--set", "quirks.nic=ns3"], "`quirks.nic"),
        (["small.toml", "--threads", "2", "--set", "quirks.marking_stream=1"], "`quirks.marking_stream`"),
        (["small.toml", "--seed", "-1"], "seed"),
        (["small.toml", "--seed", "99999999999999999999"], "seed"),
        (["small.toml", "--frobnicate"], "frobnicate"),
        ([], "SCENARIO"),
    ],
)
def test_a_mistake_is_explained_and_leaves_nothing(
    command: Command, small: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\x7fELF\xff\xfe")
    (tmp_path / "zeros.toml").write_bytes(bytes(100))
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "broken.toml").write_text('[topology]\nname = "star\n')
    (tmp_path / "unknown.toml").write_text(SMALL.replace("[scheme]", "[shceme]"))
    before = sorted(tmp_path.iterdir())
    done = command("run", *arguments, "-o", "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert "error: error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before


def test_results_go_nowhere_that_they_should_not(command: Command, small: Path, tmp_path: Path) -> None:
    assert command("run", small, "-o", small).returncode == 2
    assert command("run", small, "-o", small / "below").returncode == 2
    assert command("run", small, "-o", ".").returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"]
    assert command("run", small).returncode == 2


def test_a_run_that_breaks_has_status_1(command: Command, tmp_path: Path) -> None:
    # Two senders at line rate into one port whose switch has room for ten packets and no PAUSE.
    second = '[[traffic]]\npattern = "flow"\nsrc = "host2"\ndst = "host0"\nsize = "1MB"\n'
    (tmp_path / "lossless.toml").write_text(
        SMALL + second + '[flow_control]\nname = "none"\n[switch]\nbuffer = "15KB"\n'
    )
    done = command("run", "lossless.toml", "-o", "out")
    assert done.returncode == 1
    assert "switch1" in done.stderr
    assert "`switch.buffer`) is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ctrl_c_and_its_like_keep_what_was_recorded(tmp_path: Path, number: signal.Signals, status: int) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    arguments = [sys.executable, "-m", "xoff", "run", "endless.toml", "-o", "out"]
    terminal, child = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    with subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=child, env=environment) as running:
        os.close(child)
        shown = b""
        # The bar says when the run has begun.
        while b"simulated" not in shown:
            shown += os.read(terminal, 4096)
        running.send_signal(number)
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 4096):
                shown += piece
        os.close(terminal)
        running.communicate(timeout=60)
    assert running.returncode == status
    assert b"incomplete" in shown
    assert b"Traceback" not in shown
    run = xoff.load(tmp_path / "out")
    assert run.manifest["complete"] is False
    assert 0 < run.manifest["sim_time_ps"] < 100 * 10**12
    assert run.flows["acked_bytes"][0].as_py() > 0


def test_a_terminal_sees_how_far_a_run_has_come(tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    arguments = [sys.executable, "-m", "xoff", "run", "endless.toml", "-o", "out", "--set", "run.duration=100ms"]
    terminal, child = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    with subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=child, env=environment) as running:
        os.close(child)
        shown = b""
        # Linux says EIO when the other end of a terminal is closed, others say nothing.
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 4096):
                shown += piece
        os.close(terminal)
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert b"endless.toml" in shown
    assert b"ms simulated, 0/" in shown


def test_check_prints_every_default(command: Command, small: Path) -> None:
    done = command("check", small, "--json")
    assert done.returncode == 0
    resolved = json.loads(done.stdout)
    assert resolved["topology"] == {"name": "star", "hosts": 3, "rate": "100Gbps", "delay": "1us"}
    assert resolved["seed"] == 1
    assert "small.toml" in command("check", small).stdout


@pytest.mark.parametrize("plural", ["schemes", "topologies", "workloads"])
def test_catalogues_list_and_detail_the_same(command: Command, plural: str) -> None:
    entries = json.loads(command(plural, "--json").stdout)
    listing = command(plural).stdout
    assert len(entries) >= 3
    for entry in entries:
        assert f"\n{entry['name']} " in listing
    name = entries[-1]["name"]
    assert json.loads(command(plural, name, "--json").stdout) == entries[-1]
    detail = command(plural, name).stdout
    assert all(parameter in detail for parameter in entries[-1].get("defaults") or {})
    wrong = command(plural, name + "x")
    assert wrong.returncode == 2
    assert f"did you mean `{name}`?" in wrong.stderr


def test_the_schema_is_json_and_knows_the_keys(command: Command) -> None:
    assert {"topology", "scheme", "traffic"} <= set(json.loads(command("schema").stdout)["properties"])
    assert "traffic[].load" in {key["path"] for key in json.loads(command("schema", "--keys").stdout)}


def test_an_unknown_paper_is_a_mistake(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "nosuchpaper", "-o", "out")
    assert done.returncode == 2
    assert "no paper `nosuchpaper`" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("folder", ["missing", "small.toml", "."])
def test_report_refuses_what_is_no_run(command: Command, small: Path, tmp_path: Path, folder: str) -> None:
    done = command("report", folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"]


def test_report_spares_what_is_no_page_and_names_a_broken_table(command: Command, small: Path, tmp_path: Path) -> None:
    command("run", small, "-o", "out")
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    done = command("report", "out", "-o", "out/manifest.json")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "no page that xoff wrote" in done.stderr
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before
    assert [command("report", "out").returncode for _ in range(2)] == [0, 0]
    (tmp_path / "out" / "ports.parquet").replace(tmp_path / "out" / "flows.parquet")
    done = command("report", "out")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "flows.parquet: changed or torn since xoff wrote it" in done.stderr
    seal(tmp_path / "out")
    done = command("report", "out")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "flows.parquet: no column `id`" in done.stderr


class FullOutput:
    """What the native module returns when the record is full."""

    def __init__(self, output: RunOutput) -> None:
        self.tables, self.write_tables = output.tables, output.write_tables
        about = {**json.loads(output.manifest), "complete": False, "stop_reason": "the record is full: 4000 rows"}
        self.manifest = json.dumps(about)


def test_a_full_record_is_kept_and_is_an_error(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = running.execute

    def full(*arguments: Any, **options: Any) -> running.Outcome:
        return running.Outcome(FullOutput(ran(*arguments, **options).output), interrupted=False)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "execute", full)
    assert cli.main(["run", str(small), "-o", str(tmp_path / "out")]) == 1
    assert "error: the record is full: 4000 rows; what was recorded until then is in" in capsys.readouterr().err
    assert xoff.load(tmp_path / "out").complete is False
    with pytest.warns(RuntimeWarning, match="the record is full"):
        assert xoff.run(small).complete is False


def test_keys_without_effect_are_said_and_kept_in_the_manifest(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "-o", "out", "--set", "host.nack_interval=1us")
    assert (done.returncode, done.stderr.count("warning: ")) == (0, 1)
    (warning,) = xoff.load(tmp_path / "out").manifest["warnings"]
    assert "`nack_interval`" in warning
    assert warning in done.stderr


def test_an_older_native_module_is_one_line() -> None:
    """As when Python's part was changed and the module not built again."""
    old = "import sys, xoff._xoff as native; del native.prepare; sys.argv[1:] = ['schemes']; import xoff.__main__"
    done = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True, check=False)
    message = "the native module of xoff is older than its Python part; install again: pip install ."
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {message}\n")


def test_the_first_word_loads_its_command_alone() -> None:
    def names(first: str | None) -> list[str]:
        made = cli.app(first)
        commands = [command.callback.__name__ for command in made.registered_commands if command.callback]
        groups = [group.typer_instance.info.name for group in made.registered_groups if group.typer_instance]
        return [*commands, *map(str, groups)]

    every = names(None)
    assert len(every) == len(set(every)) > 15
    assert [names(first) for first in every] == [[first] for first in every]
    # What is no command gets the help of all, or a message with the nearest one.
    assert names("--help") == names("rnu") == every


def test_a_command_whose_file_is_missing_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xoff.cli.catalogue", None)
    assert cli.main(["schemes"]) == 1
    assert capsys.readouterr().err == "error: import of xoff.cli.catalogue halted; None in sys.modules\n"


def test_garbage_is_collected_while_a_command_runs_but_not_while_it_is_loaded_or_at_the_end() -> None:
    script = (
        "import atexit, gc, sys; from xoff.cli import entry; gc.collect(); phases = []; "
        # What is registered first comes last, just before Python's own collection.
        "atexit.register(lambda: len(gc.get_objects()) < 1_000 or print('not frozen', file=sys.stderr)); "
        "gc.callbacks.append(lambda phase, info: phases.append(hasattr(sys.modules.get('xoff.cli.app'), 'main'))); "
        "sys.argv = ['xoff', '--version']; status = entry.main(); "
        "assert all(phases), phases; "
        "assert gc.isenabled() and status == 0; assert gc.get_freeze_count() > 10_000"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("xoff ")


def test_starting_loads_no_table_or_plot_library(small: Path) -> None:
    script = (
        "import sys; from xoff.cli.app import main; main(['check', sys.argv[1]]); "
        "heavy = {'pyarrow', 'polars', 'plotly', 'matplotlib', 'numpy', 'scipy'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script, small], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_loads_no_table_library_no_bar_and_no_other_command(small: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from xoff.cli.app import main; main(['run', sys.argv[1], '-o', sys.argv[2]]); "
        "heavy = {'pyarrow', 'polars', 'plotly', 'matplotlib', 'numpy', 'rich.progress', "
        "'xoff.cli.catalogue', 'xoff.cli.formats', 'xoff.cli.studies'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    command = [sys.executable, "-c", script, str(small), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1 completed" in done.stdout


@pytest.mark.parametrize("place", ["out", "out/manifest.json"])
def test_a_run_is_repeated_from_its_folder_or_manifest(
    started_command: Command, small: Path, tmp_path: Path, place: str
) -> None:
    assert started_command("run", small, "-o", "out", "--seed", "7", "--set", "scheme.name=fncc").returncode == 0
    done = started_command("run", place, "-o", "again")
    assert (done.returncode, done.stderr) == (0, "")
    first, again = (xoff.load(tmp_path / name).manifest for name in ("out", "again"))
    assert (again["seed"], again["scenario"]) == (7, first["scenario"])
    assert again["fingerprint"] == first["fingerprint"]
    assert (
        started_command("check", place, "--set", "seed=8", "--json").stdout
        == started_command("check", small, "--set", "seed=8", "--set", "scheme.name=fncc", "--json").stdout
    )


def test_what_check_prints_is_a_scenario(started_command: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "resolved.json").write_text(started_command("check", small, "--json").stdout)
    assert started_command("check", "resolved.json", "--json").stdout == (tmp_path / "resolved.json").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a run's manifest"),
        ("[" * 100_000, "nested too deeply"),
        ('{"topology": ' + "[" * 900 + "]" * 900 + "}", "manifest.json"),
        ('{"fingerprint": "", "scenario": {}}', "not a run's manifest"),
        (
            '{"fingerprint": "", "scheme_origin": {}, "scenario": {"scheme": {"name": "mine"}}}',
            "`mine`, a scheme of one",
        ),
        ('{"topology": {"name": "star"}}', "the scenario has no [scheme] and [[traffic]]"),
    ],
)
def test_a_manifest_that_is_none_is_refused(command: Command, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    done = command("run", "manifest.json", "-o", "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_sweeps_folder_is_no_scenario(command: Command, tmp_path: Path) -> None:
    (tmp_path / "swept").mkdir()
    (tmp_path / "swept" / "sweep.json").write_text("{}")
    assert "it holds many runs" in command("run", "swept", "-o", "out").stderr


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("tcd", 'a detector: detector.name = "tcd"'),
        ("hpcc", 'a scheme: scheme.name = "hpcc"'),
        ("pft", 'a throttle: throttle.name = "pft"'),
        ("pfc", 'a flow control: flow_control.name = "pfc"'),
        ("adaptive", 'a path choice: routing.choice = "adaptive"'),
        ("selective_repeat", 'a transport: host.transport = "selective_repeat"'),
        ("spanning_trees", 'a routing: routing.name = "spanning_trees"'),
        ("incast", 'a traffic pattern: traffic.0.pattern = "incast"'),
        ("leaf_spine", 'a topology: topology.name = "leaf_spine"'),
        ("websearch", 'a workload: traffic.0.workload = "websearch"'),
    ],
)
def test_every_name_is_found_in_one_place(command: Command, name: str, what: str) -> None:
    assert what in command("describe", name).stdout


def test_a_name_of_two_things_is_both(command: Command) -> None:
    told = command("describe", "none").stdout
    assert "a scheme: " in told
    assert "a flow control: " in told


def test_the_lists_show_what_a_name_of_another_list_is(command: Command) -> None:
    done = command("schemes", "tcd")
    assert done.returncode == 0
    assert "a detector: detector.name" in done.stdout
    assert "did you mean" not in done.stderr
    as_json = command("schemes", "tcd", "--json")
    assert as_json.returncode == 0
    assert [each["list"] for each in json.loads(as_json.stdout)] == ["detectors"]
    assert as_json.stdout == command("describe", "tcd", "--json").stdout
    for arguments, message in [
        (("describe", "tdc"), "nothing in xoff is called `tdc`; did you mean `tcd`?"),
        (("describe", "qqqqqqqqqq"), "`xoff describe` lists all names"),
        (("schemes", "hpc"), "did you mean `hpcc`?"),
    ]:
        done = command(*arguments)
        assert done.returncode == 2
        assert message in done.stderr


def test_every_list_of_the_catalogue_is_described(command: Command) -> None:
    lists = json.loads(command("describe", "--json").stdout)
    assert set(lists) == set(KINDS)
    told = command("describe").stdout
    for entries in lists.values():
        for entry in entries:
            assert f" {entry['name']} " in told
    # Where a key of the scenario takes the names, its documentation has the same ones.
    keys = {key["path"].replace("[]", ".0"): key["type"] for key in json.loads(command("schema", "--keys").stdout)}
    for plural, entries in lists.items():
        if plural != "workloads":
            names = set(re.findall(r'`"(\w+)"`', keys[KINDS[plural][1]]))
            assert names == {entry["name"] for entry in entries}, plural


def test_an_unknown_key_is_looked_for_in_other_tables(command: Command, small: Path) -> None:
    done = command("check", small, "--set", "scheme.name=dcqcn", "--set", "scheme.k_min=5KB")
    assert done.returncode == 2
    assert "`k_min` is a key of [detector] with name = red" in done.stderr


def test_workers_are_the_processes_of_a_comparison(command: Command) -> None:
    for name in ("reproduce", "compare"):
        assert "--workers" in command(name, "--help").stdout
    done = command("compare", "-o", "out", "--workers", "0")
    assert done.returncode == 2
    assert "--workers" in done.stderr
