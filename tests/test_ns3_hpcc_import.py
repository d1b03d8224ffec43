"""Import of the ns-3 HPCC simulator's inputs: what each key becomes, and what is refused in which words."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import xoff
from conftest import ROOT, Command
from xoff._xoff import rate_text, size_text
from xoff.errors import UserError
from xoff.formats.files import Imported
from xoff.formats.ns3_hpcc.config import KEYS
from xoff.formats.ns3_hpcc.flows import start_ns
from xoff.formats.ns3_hpcc.importer import import_config
from xoff.formats.ns3_hpcc.quantity import moment_text, rate_bps, size_bytes, time_ns, time_text

EXAMPLE = ROOT / "scenarios" / "ns3-hpcc"
"""Two racks of two hosts at 100 Gbps, 400 Gbps between them, HPCC."""

# What turns the example into one of DCQCN.
DCQCN = {"CC_MODE 3": "CC_MODE 1", "HAS_WIN 1": "HAS_WIN 0", "VAR_WIN 1": "VAR_WIN 0"}

# What turns it into one of DCTCP.
DCTCP = {"CC_MODE 3": "CC_MODE 8"}

# What turns it into one of TIMELY.
TIMELY = {"CC_MODE 3": "CC_MODE 7", "RATE_HAI 50Mb/s": "RATE_HAI 250Mb/s"}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with the example's files."""
    folder = tmp_path / "inputs"
    shutil.copytree(EXAMPLE, folder)
    return folder


def change(folder: Path, file: str, changes: dict[str, str]) -> None:
    text = (folder / file).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / file).write_text(text)


def imported(folder: Path, *, clean: bool = False) -> tuple[dict[str, Any], Imported]:
    """The scenario that the files make, read as TOML."""
    out = folder.parent / "made.toml"
    made = import_config(folder / "config.txt", out, clean=clean)
    return tomllib.loads(out.read_text()), made


def test_each_key_becomes_what_it_means(inputs: Path) -> None:
    scenario, made = imported(inputs)
    assert scenario["run"] == {"duration": "2.1s"}
    assert scenario["topology"]["hosts"] == ["h0", "h1", "h2", "h3"]
    assert scenario["topology"]["switches"] == ["s4", "s5", "s6", "s7"]
    links = scenario["topology"]["links"]
    assert links[0] == {"a": "h0", "b": "s4", "rate": "100Gbps", "delay": "1us"}
    assert links[7] == {"a": "s5", "b": "s7", "rate": "400Gbps", "delay": "1us"}
    assert scenario["routing"] == {"name": "ecmp", "hash": "ns3_hpcc", "dst_port": 100}
    assert scenario["scheme"] == {
        "name": "hpcc",
        "form": "rate",
        "eta": 0.95,
        "max_stage": 0,
        "r_ai": "50Mbps",
        "min_rate": "100Mbps",
        "fast_react": True,
    }
    # An ACK has 88 B there with the 42 B of INT, which the scheme's signals add.
    assert scenario["packets"] == {
        "payload": "1000B",
        "header": "48B",
        "ack": "46B",
        "pfc": "43B",
        "gap": "0B",
        "int_hops": 5,
        "int_multi": 1,
    }
    assert scenario["host"] == {"ack_every": 1, "ack_class": "data", "base_rtt": "max"}
    assert scenario["switch"] == {"buffer": "32MiB", "priorities": 1}
    assert scenario["flow_control"] == {
        "name": "pfc",
        "alpha": 0.125,
        "alpha_by_rate": True,
        "reserve": "4KiB",
        "resume_offset": "3KiB",
        "headroom_bdp": 3,
        "expires": False,
    }
    assert scenario["quirks"] == {"clock": "ns3", "order": "scheduled", "nic": "ns3", "base_rtt": "payload"}
    # As doubles 2.000000577 is 2.00000057699999978 and 2.0002 is 2.00019999999999998: one ns less, cut to whole ones.
    starts = [flow["start"] for flow in scenario["traffic"]]
    assert starts == ["2s", "2.000000576s", "2.0001s", "2.000199999s", "2.000199999s"]
    first = {"pattern": "flow", "label": "flows", "src": "h0", "dst": "h2", "size": "1MB", "start": "2s", "priority": 0}
    assert scenario["traffic"][0] == first
    assert (made.hosts, made.switches, made.flows, len(made.files)) == (4, 4, 5, 1)


def test_dcqcn_gets_its_timers_and_red_by_rate(inputs: Path) -> None:
    change(inputs, "config.txt", DCQCN | {"ACK_HIGH_PRIO 0": "ACK_HIGH_PRIO 1", "GLOBAL_T 1": "GLOBAL_T 0"})
    scenario, _ = imported(inputs)
    assert scenario["scheme"] == {
        "name": "dcqcn",
        "variant": "mellanox",
        "alpha_timer": "1us",
        "decrease_timer": "4us",
        "increase_timer": "300us",
        "g": 1 / 256,
        "f": 1,
        "r_ai": "50Mbps",
        "r_hai": "50Mbps",
        "min_rate": "100Mbps",
        "clamp_target": False,
        "window": False,
        "whole_bits": True,
    }
    assert scenario["detector"] == {
        "name": "red",
        "rates": [
            {"rate": "100Gbps", "k_min": "400KB", "k_max": "1600KB", "p_max": 0.2},
            {"rate": "400Gbps", "k_min": "1600KB", "k_max": "6400KB", "p_max": 0.2},
        ],
    }
    assert (scenario["packets"]["ack"], scenario["packets"]["cnp"]) == ("60B", "60B")
    assert scenario["host"] == {"ack_every": 1, "ack_class": "control_at_host", "base_rtt": "per_pair"}
    assert "int_hops" not in scenario["packets"]


def test_dctcp_gets_its_rate_form_and_a_step(inputs: Path) -> None:
    steps = {"1600 400000000000 6400": "300 400000000000 1200", "400 400000000000 1600": "300 400000000000 1200"}
    change(inputs, "config.txt", DCTCP | steps)
    scenario, made = imported(inputs)
    assert scenario["scheme"] == {
        "name": "dctcp",
        "form": "rate",
        "g": 1 / 256,
        "r_ai": "1Gbps",
        "min_rate": "100Mbps",
    }
    # K is 30 KB for each 10 Gb/s; a step draws nothing, so the probability at it means nothing.
    assert scenario["detector"]["rates"] == [
        {"rate": "100Gbps", "k_min": "300KB", "k_max": "300KB", "p_max": 0.2},
        {"rate": "400Gbps", "k_min": "1200KB", "k_max": "1200KB", "p_max": 0.2},
    ]
    assert (scenario["packets"]["ack"], scenario["packets"]["cnp"]) == ("60B", "60B")
    assert scenario["quirks"]["gap"] == "rate_when_sent"
    # Keys of other schemes have no effect on it. The scenario names them, and one warning says so.
    end = (inputs.parent / "made.toml").read_text().partition("no effect on this scenario:")[2]
    assert "- of another CC_MODE: " in end
    assert {"RATE_AI", "U_TARGET"} <= set(re.findall(r"\w+", end))
    assert sum("without effect on the scenario" in warning for warning in made.warnings) == 1


def test_timely_gets_what_that_simulator_has_fixed(inputs: Path) -> None:
    change(inputs, "config.txt", TIMELY)
    scenario, _ = imported(inputs)
    assert scenario["scheme"] == {
        "name": "timely",
        "form": "ns3_hpcc",
        "alpha": 0.875,
        "beta": 0.8,
        "t_low": "50us",
        "t_high": "500us",
        "min_rtt": "20us",
        "delta": "50Mbps",
        "hai_after": 5,
        "hai_factor": 5.0,
        "min_rate": "100Mbps",
        "window": True,
    }
    # Data has 8 B of timestamp on top; an ACK is padded to 60 B there, with the timestamp in it.
    assert (scenario["packets"]["header"], scenario["packets"]["ack"]) == ("48B", "52B")
    # Its marks mean nothing to it.
    assert "detector" not in scenario
    assert scenario["quirks"]["gap"] == "rate_when_sent"
    assert "marking_stream" not in scenario["quirks"]


def test_timely_without_a_window(inputs: Path) -> None:
    change(inputs, "config.txt", TIMELY | {"HAS_WIN 1": "HAS_WIN 0"})
    scenario, made = imported(inputs)
    assert scenario["scheme"]["window"] is False
    assert any("VAR_WIN 1: without effect, since HAS_WIN is 0" in warning for warning in made.warnings)


def test_a_hyperactive_step_below_the_plain_one_is_refused(inputs: Path) -> None:
    change(inputs, "config.txt", {"CC_MODE 3": "CC_MODE 7", "RATE_HAI 50Mb/s": "RATE_HAI 49Mb/s"})
    with pytest.raises(UserError, match=r"RATE_HAI 49Mb/s is less than RATE_AI, .*: expected 50Mbps or more"):
        imported(inputs)


@pytest.mark.parametrize("key", ["HAS_WIN", "VAR_WIN"])
def test_dctcp_without_a_window_is_refused(inputs: Path, key: str) -> None:
    change(inputs, "config.txt", DCTCP | {f"{key} 1": f"{key} 0"})
    with pytest.raises(UserError, match=f"{key} 0 leaves DCTCP without a window .*: expected 1"):
        imported(inputs)


@pytest.mark.parametrize(
    ("changes", "config", "warned"),
    [
        ({}, {}, ""),
        ({"4 6 400Gbps": "4 6 100Gbps"}, {}, ""),
        ({"4 6 400Gbps": "4 6 40Gbps"}, {}, "the greatest such product over all pairs"),
        ({"0 4 100Gbps": "0 4 25Gbps"}, {"GLOBAL_T 1": "GLOBAL_T 0"}, "the pair's"),
        ({"0 4 100Gbps": "0 4 25Gbps"}, DCQCN, ""),
    ],
)
def test_another_full_window_than_there_is_said(
    inputs: Path, changes: dict[str, str], config: dict[str, str], warned: str
) -> None:
    change(inputs, "topology.txt", changes)
    maps = {"KMAX_MAP 2": "KMAX_MAP 3 25000000000 400", "KMIN_MAP 2": "KMIN_MAP 3 25000000000 100"}
    change(inputs, "config.txt", config | maps | {"PMAX_MAP 2": "PMAX_MAP 3 25000000000 0.2"})
    _, made = imported(inputs)
    found = [warning for warning in made.warnings if "full window" in warning]
    assert len(found) == (1 if warned else 0)
    assert all(warning.endswith(f"there RTT times the slowest link's, {warned}") for warning in found)


def test_a_clean_import_has_no_quirks(inputs: Path) -> None:
    scenario, _ = imported(inputs, clean=True)
    assert "quirks" not in scenario


@pytest.mark.parametrize("changes", [{}, DCQCN], ids=["hpcc", "dcqcn"])
def test_what_is_made_is_a_scenario(inputs: Path, changes: dict[str, str]) -> None:
    change(inputs, "config.txt", changes)
    imported(inputs)
    resolved = xoff.check(inputs.parent / "made.toml")
    assert resolved["routing"]["hash"] == "ns3_hpcc"


def test_ack_interval_in_bytes_becomes_packets(inputs: Path) -> None:
    # An ACK once 4000 B have come is one for four packets of 1000 B.
    change(inputs, "config.txt", {"L2_ACK_INTERVAL 1": "L2_ACK_INTERVAL 4000"})
    scenario, made = imported(inputs)
    assert scenario["host"]["ack_every"] == 4
    assert any("L2_CHUNK_SIZE" in warning for warning in made.warnings)


def test_warnings_are_short_and_true(inputs: Path) -> None:
    _, made = imported(inputs)
    assert len(made.warnings) == 2
    for warning in made.warnings:
        assert len(warning.replace(str(inputs), "inputs")) <= 120, warning
    # A command that the import names works: its port is one of the network.
    [port] = [found[1] for warning in made.warnings if (found := re.search("--pcap '(.+)'", warning))]
    run = xoff.run(inputs.parent / "made.toml", sets={"record.packets": [port], "run.duration": "2010ms"})
    assert set(run.packets["port"].to_pylist()) == {port}


def test_priority_groups_are_numbered_from_0(inputs: Path) -> None:
    change(inputs, "flow.txt", {"0 3 3": "0 3 5", "3 0 3": "3 0 1"})
    scenario, made = imported(inputs)
    assert scenario["switch"]["priorities"] == 3
    # 1, 3, 5 are 0, 1, 2.
    assert [flow["priority"] for flow in scenario["traffic"]] == [1, 1, 2, 1, 0]
    # Without ACK_HIGH_PRIO, ACKs are in group 3 there whatever their flow's.
    assert any("priority group 3" in warning for warning in made.warnings)


def test_several_destination_ports_leave_the_most_common(inputs: Path) -> None:
    change(inputs, "flow.txt", {"0 3 3 100": "0 3 3 4791"})
    scenario, made = imported(inputs)
    assert scenario["routing"]["dst_port"] == 100
    (warning,) = [warning for warning in made.warnings if "destination ports" in warning]
    assert warning == (
        "flows have 2 destination ports, of which [routing] takes one, 100: 1 flow may take other paths than there"
    )


def test_long_lists_go_to_files_of_their_own(inputs: Path) -> None:
    # 60 hosts on switch 60, and 60 flows.
    links = "".join(f"{host} 60 100Gbps 1us 0\n" for host in range(60))
    (inputs / "topology.txt").write_text(f"61 1 60\n60\n{links}")
    flows = "".join(f"{host} {(host + 1) % 60} 3 100 {1000 + host} 2.0\n" for host in range(60))
    (inputs / "flow.txt").write_text(f"60\n{flows}")
    scenario, made = imported(inputs)
    assert [file.name for file in made.files] == ["made.toml", "made.topology.toml", "made.flows.txt"]
    assert scenario["topology"] == {"name": "graph", "file": "made.topology.toml"}
    assert scenario["traffic"] == [{"pattern": "list", "label": "flows", "file": "made.flows.txt"}]
    graph = tomllib.loads((inputs.parent / "made.topology.toml").read_text())
    assert (len(graph["hosts"]), graph["switches"], len(graph["links"])) == (60, ["s60"], 60)
    rows = (inputs.parent / "made.flows.txt").read_text().splitlines()
    assert rows[1:3] == ["src dst size_bytes start_ns priority", "h0 h1 1000 2000000000 0"]
    assert len(rows) == 62


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0", 0),
        ("2", 2_000_000_000),
        # A double just above it: 2.000100000000000211.
        ("2.0001", 2_000_100_000),
        # A double just above it, and 1844674407370955.25 of 2^-64 s cut to whole: 99999.99999999999 ns.
        ("0.0001", 99_999),
        # Doubles just below: 2.00000057699999978 and 2.00000156699999995.
        ("2.000000577", 2_000_000_576),
        ("2.000001567", 2_000_001_566),
        # Powers of two are exact.
        ("1.5", 1_500_000_000),
        ("0.0009765625", 976_562),
    ],
)
def test_start_times_are_cut_as_there(text: str, ns: int) -> None:
    assert start_ns(text) == ns


def test_quantities_in_both_spellings() -> None:
    assert [rate_bps(text) for text in ("100Gbps", "20Mb/s", "1.5kbps", "10", "1GB/s", "-1Gbps", "Gbps")] == [
        100 * 10**9,
        20 * 10**6,
        1500,
        None,
        8 * 10**9,
        None,
        None,
    ]
    assert [time_ns(text) for text in ("1000ns", "1.5us", "0.25", "2ms")] == [1000, 1500, None, 2_000_000]
    assert [size_bytes(text) for text in ("48B", "1.018KB", "48")] == [48, 1018, None]
    assert [rate_text(bps) for bps in (10**11, 25 * 10**8, 1, 1234567)] == [
        "100Gbps",
        "2.5Gbps",
        "1bps",
        "1234.567Kbps",
    ]
    assert [time_text(ns) for ns in (0, 1500, 1_234_567)] == ["0ns", "1.5us", "1234.567us"]
    assert [moment_text(ns) for ns in (2_000_000_576, 5)] == ["2.000000576s", "5ns"]
    assert [size_text(size) for size in (10_000_000, 38_884, 1)] == ["10MB", "38.884KB", "1B"]


MISTAKES = tomllib.loads((Path(__file__).parent / "ns3_hpcc_mistakes.toml").read_text())["mistake"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: str(mistake["message"]).partition(": ")[2][:60])
def test_a_mistake_is_named(inputs: Path, mistake: dict[str, str]) -> None:
    change(inputs, mistake["file"], {mistake["old"]: mistake["new"]})
    with pytest.raises(UserError) as raised:
        imported(inputs)
    assert str(raised.value) == f"{inputs}/{mistake['message']}"
    assert not (inputs.parent / "made.toml").exists()


def test_a_network_in_two_parts_is_named(inputs: Path) -> None:
    change(inputs, "topology.txt", {"8 4 8": "8 4 6", "4 6 400Gbps 1000ns 0\n4 7 400Gbps 1000ns 0\n": ""})
    with pytest.raises(UserError, match="no links connect the hosts 0 and 2"):
        imported(inputs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"HAS_WIN 0": "HAS_WIN 1"}, "HAS_WIN 1 with VAR_WIN 0 is a window that does not follow the rate"),
        (
            {"ENABLE_QCN 1": "ENABLE_QCN 0"},
            "ENABLE_QCN 0 leaves DCQCN without marks, which is not modelled: expected 1",
        ),
        (
            {"KMIN_MAP 2 100000000000 400 ": "KMIN_MAP 1 "},
            "KMIN_MAP has no entry for 100000000000, the rate of a port of a switch: expected one",
        ),
        ({"RP_TIMER 300": "RP_TIMER 0"}, "RP_TIMER 0 is no time: expected a number of us above 0"),
        ({"EWMA_GAIN 0.00390625\n": ""}, "it has no EWMA_GAIN, which that simulator needs"),
    ],
)
def test_a_mistake_under_dcqcn_is_named(inputs: Path, changes: dict[str, str], message: str) -> None:
    change(inputs, "config.txt", DCQCN)
    change(inputs, "config.txt", changes)
    with pytest.raises(UserError) as raised:
        imported(inputs)
    assert message in str(raised.value)


def test_every_key_is_translated_or_named(inputs: Path) -> None:
    """Each key stands behind a value of the scenario or in a warning, or was looked at and is as it must be."""
    change(inputs, "config.txt", {"CC_MODE 3": "PAUSE_TIME 5\nDATA_RATE 100Gb/s\nLINK_DELAY 1us\nCC_MODE 3"})
    _, made = imported(inputs)
    said = (inputs.parent / "made.toml").read_text() + "\n".join(made.warnings)
    # The file names stand there, and the rest can have but one value.
    known = {
        "TOPOLOGY_FILE",
        "FLOW_FILE",
        "USE_DYNAMIC_PFC_THRESHOLD",
        "ERROR_RATE_PER_LINK",
        "LINK_DOWN",
        "RATE_BOUND",
    }
    known |= {"HAS_WIN", "VAR_WIN", "MULTI_RATE", "SAMPLE_FEEDBACK"}
    given = {line.split()[0] for line in (inputs / "config.txt").read_text().splitlines() if line and line[0] != "#"}
    assert given == set(KEYS)
    assert {key for key in KEYS if key not in said} <= known


def test_a_default_that_is_taken_is_said(inputs: Path) -> None:
    change(inputs, "config.txt", {"BUFFER_SIZE 32\n": "", "GLOBAL_T 1\n": ""})
    scenario, made = imported(inputs)
    assert scenario["switch"]["buffer"] == "16MiB"
    assert (
        f"{inputs}/config.txt: without GLOBAL_T 1 and BUFFER_SIZE 16, whose defaults there are taken" in made.warnings
    )


def test_what_a_first_line_does_not_count_is_left_out_as_there(inputs: Path) -> None:
    change(inputs, "flow.txt", {"5\n": "3\n"})
    _, made = imported(inputs)
    assert made.flows == 3
    assert f"{inputs}/flow.txt:5: line 1 says 3 flows, so the last 2 are left out, as there" in made.warnings
    change(inputs, "config.txt", {"SIMULATOR_STOP_TIME 2.1": "SIMULATOR_STOP_TIME 2.0001"})
    _, made = imported(inputs)
    assert made.flows == 2


def test_names_may_start_a_folder_above(inputs: Path) -> None:
    # That simulator's examples are started there.
    change(inputs, "config.txt", {" topology.txt": " inputs/topology.txt", " flow.txt": " inputs/flow.txt"})
    _, made = imported(inputs)
    assert made.flows == 5


def test_nothing_of_others_is_overwritten(inputs: Path, command: Command) -> None:
    folder = inputs.parent
    (folder / "mine.toml").write_text("seed = 1\n")
    arguments = ("import", "ns3-hpcc", "inputs/config.txt", "-o")
    done = command(*arguments, "mine.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "error: mine.toml: exists already, and no import wrote it; name another file, or give --force\n"
    )
    assert command(*arguments, "mine.toml", "--force").returncode == 0
    # One's own is taken over.
    assert command(*arguments, "mine.toml", "--clean").returncode == 0
    for taken in ("inputs/config.txt", "inputs/flow.txt"):
        done = command(*arguments, taken, "--force")
        assert (done.returncode, done.stderr) == (2, f"error: {taken}: an input of the import; name another file\n")
    assert command(*arguments, "inputs").returncode == 2
    assert command(*arguments, "inputs/flow.txt/below.toml").returncode == 2
    assert (inputs / "flow.txt").read_text() == (EXAMPLE / "flow.txt").read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # Payloads have two bytes for their length, and eta is a share.
        ({"PACKET_PAYLOAD_SIZE 1000\n": "PACKET_PAYLOAD_SIZE 70000\n"}, "`payload` in [packets] is 70KB"),
        ({"U_TARGET 0.95": "U_TARGET 7"}, "`eta` in [scheme] is 7"),
    ],
)
def test_a_scenario_that_cannot_be_run_is_not_written(
    inputs: Path, command: Command, changes: dict[str, str], message: str
) -> None:
    change(inputs, "config.txt", changes)
    done = command("import", "ns3-hpcc", "inputs/config.txt", "-o", "new/made.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: inputs/config.txt: makes a scenario that cannot be run: {message}")
    assert "\n  --> made.toml:" in done.stderr
    assert [file.name for file in inputs.parent.iterdir()] == ["inputs"]


@pytest.mark.parametrize("name", ["config.txt", "topology.txt", "flow.txt", "trace.txt", "made.toml"])
def test_a_pipe_is_refused_before_it_is_opened(inputs: Path, command: Command, name: str) -> None:
    file = inputs / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    done = command("import", "ns3-hpcc", "inputs/config.txt", "-o", "inputs/made.toml", "--force")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: inputs/{name}: is a device or a pipe; expected a ")
    assert file.is_fifo()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"CC_MODE\0 3", b"# nothing\n"])
def test_what_is_no_configuration_is_a_mistake(inputs: Path, command: Command, content: bytes) -> None:
    (inputs / "config.txt").write_bytes(content)
    for file in ("inputs/config.txt", "inputs", "nothing.txt"):
        done = command("import", "ns3-hpcc", file, "-o", "made.toml")
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr


WORDS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "1e400",
        "1e300",
        "nan",
        "10**9",
        "é",
        "0.5",
        "4294967296",
        "1e300",
        "h0",
        "100Gbps",
        "1s",
        "\x7f",
        "",
    ]
)


@settings(max_examples=200, deadline=None)
@example(file="config.txt", place=25, word="\x7f")
@given(
    file=st.sampled_from(["config.txt", "topology.txt", "flow.txt", "trace.txt"]), place=st.integers(0, 200), word=WORDS
)
def test_no_word_makes_it_break(tmp_path_factory: pytest.TempPathFactory, file: str, place: int, word: str) -> None:
    """Any one word of an input replaced: a scenario, or a mistake that is named."""
    folder = tmp_path_factory.mktemp("fuzz") / "inputs"
    shutil.copytree(EXAMPLE, folder)
    lines = [line.split() for line in (folder / file).read_text().splitlines()]
    places = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    row, column = places[place % len(places)]
    lines[row][column] = word
    (folder / file).write_text("\n".join(" ".join(line) for line in lines))
    try:
        scenario, _ = imported(folder)
        message = str(folder)
    except UserError as error:
        scenario, message = {}, str(error)
    assert str(folder) in message
    assert message.replace("\n", "").isprintable()  # the check of a made scenario shows the line
    assert not scenario or scenario["traffic"]
