"""Command lines of uet-htsim: what is read, what is refused, and agreement where nothing is random."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from xoff.errors import UserError
from xoff.formats.uet_htsim.commandline import read_command
from xoff.formats.uet_htsim.importer import import_command
from xoff.formats.uet_htsim.tree import tree_of

SINGLE = ROOT / "scenarios" / "uet-htsim" / "single"
LINE = "htsim_uec -tm far.cm"


def imported(command: str, out: Path, folder: Path = SINGLE) -> dict[str, Any]:
    import_command(command, out / "s.toml", folder=folder)
    return tomllib.loads((out / "s.toml").read_text("utf-8"))


def matrix(folder: Path, nodes: int, lines: str) -> Path:
    file = folder / "m.cm"
    file.write_text(f"Nodes {nodes}\nConnections {len(lines.splitlines())}\n{lines}\n", encoding="utf-8")
    return file


def test_a_command_line_is_read_with_that_programs_defaults() -> None:
    read = read_command("htsim_uec -tm a.cm")
    assert (read.nscc, read.rccc, read.load_balancing, read.end, read.mtu) == (True, False, "mixed", 1000, 4150)
    both = read_command("-tm a.cm -sender_cc_algo nscc -receiver_cc -hop_latency 0.5 -ecn 3 13")
    assert (both.nscc, both.rccc, both.hop_latency, both.ecn) == (True, True, Fraction(1, 2), (3, 13))
    only = read_command(["htsim_uec", "-tm", "a.cm", "-receiver_cc_only"])
    assert (only.nscc, only.rccc) == (False, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-sleek", "`-sleek` is not modelled"),
        ("-strat ecmp_rr", "`-strat ecmp_rr` is not modelled: expected one of ecmp_host, ecmp_ar"),
        ("-strat ecmp_ar", "expected `-ar_method queue` beside it"),
        ("-sender_cc_algo dctcp", "`-sender_cc_algo dctcp` is not modelled: expected one of nscc"),
        ("-seeed 3", "did you mean `-seed`"),
        ("-paths 48", "a power of two"),
        ("-mtu", "`-mtu` has no value"),
        ("-mtu 1500B", "a whole number from 128 to 65535"),
        ("-ecn 9 3", "the lower one first"),
        ("-hop_latency -1", "a number from 0 on"),
        ("-trimsize 5000", "expected at most 4150"),
        ("-linkspeed 0", "a whole number from 1"),
    ],
)
def test_what_is_not_modelled_or_wrong_is_refused_by_name(options: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        import_command(f"{LINE} {options}", tmp_path / "s.toml", folder=SINGLE)
    assert said in str(error.value)
    assert not list(tmp_path.iterdir())


def test_derived_numbers_are_those_that_the_program_prints(tmp_path: Path) -> None:
    # 128 nodes at 100 Gb/s: R = 12 us + 6 x (4,150 + 64) x 80 ps = 14.02272 us, 43 packets a bandwidth-delay product,
    # so a queue of 178,450 B, marks from ceil(8.6) = 9 to ceil(34.4) = 35 packets, a timeout of 15 us + 6 x 14.276 us.
    found = imported(f"{LINE} -seed 7", tmp_path)
    assert found["host"]["uet"]["network_rtt"] == "14022.72ns"
    assert found["host"]["retransmit_timeout"] == "100.656us"
    assert found["switch"]["queue_limit"] == "178450B"
    assert (found["detector"]["k_min"], found["detector"]["k_max"]) == ("37350B", "145250B")
    assert found["seed"] == 7
    assert found["quirks"] == {"uet": "htsim"}
    # Without trimming five times the queue.
    assert imported(f"{LINE} -disable_trim", tmp_path)["switch"]["queue_limit"] == "892250B"


def test_starts_are_whole_microseconds(tmp_path: Path) -> None:
    matrix(tmp_path, 16, "0->15 id 1 start 1.7 size 100")
    imported("-tm m.cm", tmp_path, tmp_path)
    assert (tmp_path / "s.flows.txt").read_text("utf-8").splitlines()[-1].split()[:4] == [
        "host0",
        "host15",
        "100",
        "1000000",
    ]


def test_failed_links_have_a_quarter_of_the_rate_from_the_core_down(tmp_path: Path) -> None:
    # Of a tree of 16 hosts, links 0 and 1 are those of aggregation switch 0, and link 2 is the first of switch 1. The
    # uplinks of switch 0 lead to cores 0 and 2, the first one of switch 1 to core 1.
    matrix(tmp_path, 16, "0->15 id 1 start 0 size 100")
    tree = tree_of(read_command("-tm m.cm"), 16, tmp_path, [])
    assert (tree.tiers, tree.uplinks, tree.oversubscription) == (3, 2, 1)
    imported("-tm m.cm -failed 3", tmp_path, tmp_path)
    links = (tmp_path / "s.toml").read_text("utf-8").splitlines()
    slow = [line for line in links if "rate_back" in line]
    assert len(slow) == 3
    assert all('rate = "100Gbps"' in line and 'rate_back = "25Gbps"' in line for line in slow)
    ends = [("agg0", "core0"), ("agg0", "core2"), ("agg1", "core1")]
    assert all(f'a = "{a}", b = "{b}"' in line for (a, b), line in zip(ends, slow, strict=True))


def test_a_number_of_nodes_that_makes_no_tree_is_refused(tmp_path: Path) -> None:
    matrix(tmp_path, 20, "0->15 id 1 start 0 size 100")
    with pytest.raises(UserError, match="20 nodes in a tree of 3 tiers: expected 16 or 54"):
        import_command("-tm m.cm", tmp_path / "s.toml", folder=tmp_path)


def test_one_flow_alone_agrees_to_the_printed_digits(command: Command, tmp_path: Path) -> None:
    done = command("agreement", "uet-htsim", SINGLE, "-o", tmp_path / "out", "--seeds", "1")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "agreement.json").read_text("utf-8"))
    assert len(found["rows"]) == 12
    assert [row["variant"] for row in found["rows"] if not row["exact"]] == []
    assert found["refused"] == []
    assert "| single | far_nscc (to the digit) |" in (tmp_path / "out" / "agreement.md").read_text("utf-8")


def test_a_refused_variant_is_told_beside_the_others(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("far.cm", "far_nscc.fct.csv"):
        (folder / name).write_text((SINGLE / name).read_text("utf-8"), encoding="utf-8")
    lines = (SINGLE / "runs.csv").read_text("utf-8").splitlines()
    (folder / "runs.csv").write_text(f"{lines[0]}\n{lines[1]} -sleek\n", encoding="utf-8")
    done = command("agreement", "uet-htsim", folder, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "agreement.json").read_text("utf-8"))
    assert found["rows"] == []
    assert "`-sleek` is not modelled" in found["refused"][0]["reason"]
