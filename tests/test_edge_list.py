"""The example of an importer, through the seams of formats and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import xoff
from xoff.cli.formats import add_network_command
from xoff.errors import UserError
from xoff.formats import topologies
from xoff.formats.topologies import NetworkFormat

EDGE_LIST = NetworkFormat("edge-list", "a list of edges", (".edges",), "edge_list")

EDGES = """# two hosts on two switches
host0 leaf0 100Gbps 1us
leaf0 leaf1 40Gbps 2us
host1 leaf1 100Gbps 1us
"""

SCENARIO = """
topology = { name = "graph", file = "network.toml" }
scheme = { name = "none" }
traffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "952B" }]
packets = { mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }
"""


def test_its_command_writes_a_network_that_runs(tmp_path: Path) -> None:
    (tmp_path / "n.edges").write_text(EDGES)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    app = typer.Typer()
    add_network_command(app, EDGE_LIST)
    done = CliRunner().invoke(app, [str(tmp_path / "n.edges"), "-o", str(tmp_path / "network.toml")])
    assert done.output == f"{tmp_path / 'network.toml'}: 2 hosts, 2 switches\n"
    flows = xoff.run(tmp_path / "scenario.toml").flows
    assert flows["path"].to_pylist() == ["host0>leaf0>leaf1>host1"]
    # 1,000 B take 80 ns on the outer links and 200 ns on the inner one, the ACK of 50 B a twentieth; propagation 4 us.
    there, back = 360_000 + 4_000_000, 18_000 + 4_000_000
    assert flows["fct_ps"].to_pylist() == [there + back]


def test_other_imports_take_its_files_as_topologies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topologies, "NETWORK_FORMATS", (*topologies.NETWORK_FORMATS, EDGE_LIST))
    (tmp_path / "n.edges").write_text(EDGES)
    network = topologies.read_topology(str(tmp_path / "n.edges"), 2, lambda _: None)
    assert (network.hosts, network.switches) == (["host0", "host1"], 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("host0 leaf0 100Gbps", "3 words: expected 4, `NODE NODE RATE DELAY`"),
        ("host0 leaf0 fast 1us", "the rate is `fast`: expected one such as `100Gbps`"),
        ("host0 leaf0 1Gbps 1GB", "the delay is `1GB`: expected one such as `1us`"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "n.edges"
    file.write_text(f"# edges\n{line}\n")
    with pytest.raises(UserError) as error:
        EDGE_LIST.read(file, lambda _: None)
    assert str(error.value) == f"{file}:2: {message}"
