"""GraphML in and out, against networkx."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xoff
from conftest import ROOT, SMALL, Command
from xoff.errors import UserError
from xoff.formats.graphml.exporter import export_graph, graph_text
from xoff.formats.graphml.importer import read_network
from xoff.formats.toml import Lines
from xoff.runs.scenario import Scenario, read
from xoff.runs.toml import toml

HEAD = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k" for="node" attr.name="kind" attr.type="string"><default>host</default></key>
<key id="r" for="edge" attr.name="rate_bps" attr.type="long"><default>1000000000</default></key>
<key id="d" for="edge" attr.name="delay_ps" attr.type="long"/>
<key id="f" for="edge" attr.name="from" attr.type="string"/>
<graph edgedefault="undirected">
"""
BODY = """<node id="a"/>
<node id="s"><data key="k">switch</data></node>
<node id="b"/>
<edge source="a" target="s"><data key="d">1500</data></edge>
<edge source="b" target="s"><data key="d">7</data><data key="r">5000001</data></edge>
"""
TAIL = "</graph></graphml>\n"

EVERY = 'scheme = { name = "none" }\ntraffic = [{ pattern = "permutation", size = "1KB" }]\n'


def text_of(topology: str) -> str:
    return f"topology = {topology}\n{EVERY}"


def network(text: str, folder: Path) -> str:
    return Scenario(text, "t.toml", str(folder)).prepare().network


@pytest.mark.parametrize(
    "topology",
    [
        '{ name = "fat_tree", k = 4, core_rate = "400Gbps", host_delay = "650ns" }',
        '{ name = "leaf_spine", leaves = 3, spines = 2, hosts_per_leaf = 2, links_per_pair = 2 }',
        '{ name = "graph", nodes = [{ name = "x y", kind = "host" }, { name = "s<&", kind = "switch" }, '
        '{ name = "\\u00e9", kind = "host" }], links = [{ a = "s<&", b = "x y", rate = "3.000001Mbps", delay = "1ps", '
        'rate_back = "1.234567Gbps", delay_back = "0ps" }, { a = "s<&", b = "\\u00e9", rate = "1.6Tbps", '
        'delay = "2us", delay_back = "5us" }] }',
    ],
)
def test_there_and_back_is_the_same_network(tmp_path: Path, command: Command, topology: str) -> None:
    (tmp_path / "s.toml").write_text(text_of(topology), encoding="utf-8")
    assert command("export", "graphml", "s.toml", "-o", "g.graphml").returncode == 0
    done = command("import", "graphml", "g.graphml", "-o", "n.toml")
    assert (done.returncode, done.stderr) == (0, "")
    again = network(text_of('{ name = "graph", file = "n.toml" }'), tmp_path)
    assert again == network(text_of(topology), tmp_path)
    # And so are runs over it, up to what is said of them.
    runs = [
        xoff.run(tmp_path / "s.toml"),
        xoff.run(tmp_path / "s.toml", sets={"topology": {"name": "graph", "file": "n.toml"}}),
    ]
    assert runs[0].manifest["fingerprint"] == runs[1].manifest["fingerprint"]
    # By way of networkx, which may turn edges around and keeps no order of parallel ones.
    graph = nx.read_graphml(tmp_path / "g.graphml")
    nx.write_graphml(graph, tmp_path / "h.graphml")
    found = read_network(tmp_path / "h.graphml", pytest.fail)
    assert set(found.hosts) == {node for node, kind in graph.nodes(data="kind") if kind == "host"}
    assert command("import", "graphml", "h.graphml", "-o", "m.toml").returncode == 0


def test_networkx_sees_rates_and_delays(tmp_path: Path) -> None:
    nodes, links = export_graph(ROOT / "scenarios" / "fat_tree_websearch.toml", tmp_path / "g.graphml")
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (nodes, links)
    resolved = xoff.check(ROOT / "scenarios" / "fat_tree_websearch.toml")
    assert {rate for *_, rate in graph.edges(data="rate_bps")} == {100 * 10**9}
    assert resolved["topology"]["rate"] == "100Gbps"
    assert all(isinstance(delay, int) for *_, delay in graph.edges(data="delay_ps"))


def test_an_edge_of_networkx_keeps_its_direction(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_node("s", kind="switch")
    for host in ("a", "b"):
        graph.add_node(host, kind="host")
        graph.add_edge("s", host, rate_bps=10**9, delay_ps=1000, rate_back_bps=2 * 10**9, delay_back_ps=3000)
    graph.edges["s", "a"]["from"] = "a"
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert read_network(tmp_path / "g.graphml", pytest.fail).hosts == ["a", "b"]
    from xoff.formats.files import write_network

    write_network(
        tmp_path / "g.graphml", read_network(tmp_path / "g.graphml", pytest.fail), tmp_path / "n.toml", "g", force=False
    )
    links = (tmp_path / "n.toml").read_text()
    assert '{ a = "a", b = "s", rate = "1Gbps", delay = "1ns", rate_back = "2Gbps", delay_back = "3ns" }' in links
    assert '{ a = "s", b = "b", rate = "1Gbps", delay = "1ns", rate_back = "2Gbps", delay_back = "3ns" }' in links


def test_defaults_of_keys_and_of_the_command_line(tmp_path: Path, command: Command) -> None:
    (tmp_path / "g.graphml").write_text(HEAD + BODY + TAIL)
    assert command("import", "graphml", "g.graphml", "-o", "n.toml").returncode == 0
    text = (tmp_path / "n.toml").read_text()
    assert '{ a = "a", b = "s", rate = "1Gbps", delay = "1.5ns" }' in text
    assert '{ a = "b", b = "s", rate = "5000.001Kbps", delay = "7ps" }' in text
    bare = '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="s"/>'
    bare += '<edge source="a" target="s"/><edge source="b" target="s"/></graph></graphml>'
    (tmp_path / "bare.graphml").write_text(bare)
    done = command("import", "graphml", "bare.graphml", "-o", "b.toml", "--rate", "25Gbps", "--delay", "1.5us")
    assert done.returncode == 0
    assert done.stderr == "warning: bare.graphml: no node has `kind`: the 2 nodes with one link are taken as hosts\n"
    assert '{ a = "b", b = "s", rate = "25Gbps", delay = "1.5us" }' in (tmp_path / "b.toml").read_text()
    done = command("import", "graphml", "bare.graphml", "-o", "c.toml", "--rate", "25")
    assert (done.returncode, done.stderr) == (2, "error: `--rate` is `25`: expected one such as `100Gbps`\n")


def test_each_edge_of_a_host_is_a_nic(tmp_path: Path, command: Command) -> None:
    graph = nx.Graph()
    for node, kind in (("a", "host"), ("b", "host"), ("s", "switch"), ("t", "switch")):
        graph.add_node(node, kind=kind)
    for switch in ("s", "t"):
        for host in ("a", "b"):
            graph.add_edge(host, switch, rate_bps=100 * 10**9, delay_ps=10**6)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    done = command("import", "graphml", "g.graphml", "-o", "n.toml")
    assert (done.returncode, done.stderr) == (0, "")
    # Ten packets of 1000 B with headers, 80 ns at 100 Gbps, over two links of 1 us, and an ACK of 50 B, 4 ns, back.
    flow = '[[traffic]]\npattern = "flow"\nsrc = "a"\ndst = "b"\nsize = "9520B"\n'
    packets = '[packets]\nmtu = "1000B"\nheader = "48B"\nack = "50B"\ngap = "0B"\n'
    rest = '[topology]\nname = "graph"\nfile = "n.toml"\n[scheme]\nname = "none"\n'
    (tmp_path / "s.toml").write_text(rest + packets + 2 * flow)
    alone = 11 * 80_000 + 2 * 10**6 + 2 * (4_000 + 10**6)
    by_both = xoff.run(tmp_path / "s.toml").flows
    assert by_both["nic"].to_pylist() == [0, 1]
    assert by_both["path"].to_pylist() == ["a>s>b", "a>t>b"]
    assert by_both["fct_ps"].to_pylist() == [alone, alone]
    # By one NIC their packets take turns, and the last of the twenty leaves ten packets later.
    by_one = xoff.run(tmp_path / "s.toml", sets={"host.nic": 1}).flows
    assert by_one["nic"].to_pylist() == [1, 1]
    assert alone < by_one["fct_ps"][0].as_py() < by_one["fct_ps"][1].as_py() == alone + 10 * 80_000


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('<node id="b"/>', '<node id="a"/>', ":10: node `a` again, beside line 8: expected each once"),
        ('<node id="b"/>', "<node/>", ":10: a node without `id`"),
        (
            '<node id="b"/>',
            '<node id="b"><data key="k">hsot</data></node>',
            ":10: node `b` has `kind` `hsot`: expected host",
        ),
        ('<node id="b"/>', '<node id="b"><data key="q">5</data></node>', ":10: `data` of `q`, which no `key` declares"),
        ('<node id="b"/>', '<node id="b"><graph/></node>', ":10: a second graph, or one within a node"),
        ('<node id="b"/>', '<hyperedge/><node id="b"/>', ":10: a `hyperedge`: expected nodes and edges"),
        ('source="b"', 'source="c"', ":12: an edge to the unknown node `c`: expected one of the graph"),
        ('source="b"', 'source="s"', ":12: an edge from node `s` to itself"),
        ('source="b" target="s"', 'source="b"', ":12: an edge without `source` and `target`"),
        ('source="b"', 'directed="true" source="b"', ":12: a directed edge"),
        (
            'target="s"><data key="d">7',
            'target="a"><data key="d">7',
            ":12: an edge between the hosts `b` and `a`: expected a switch in between",
        ),
        (
            '<node id="b"/>',
            '<node id="b"/><node id="c"/>',
            ":10: host `c` has no link: expected one or more, each a NIC of it",
        ),
        (
            '<data key="d">7</data>',
            "",
            ":12: the edge between `b` and `s` has no `delay_ps`: expected it, or the option `--delay 1us`",
        ),
        (">7<", ">7us<", ":12: `delay_ps` is `7us`: expected a whole number from 0"),
        (">5000001<", ">5<", ":12: `rate_bps` is `5`: expected a whole number from 1000000 to 10000000000000"),
        (
            ">5000001</data>",
            '>5000001</data><data key="f">a</data>',
            ":12: `from` is `a`: expected an end of the edge",
        ),
        ('edgedefault="undirected"', 'edgedefault="directed"', ":7: a directed graph"),
        ("</graph></graphml>", "</graph>", ":14: not XML: no element found"),
        ('<graph edgedefault="undirected">', "<graph><default>1</default>", ":7: a `default` outside of a `key`"),
        ("<graphml ", "<!DOCTYPE x><graphml ", ":2: a document type: expected none"),
        ("graphml", "svg", ":2: a document of `svg`: expected one of `graphml`"),
        ('<graph edgedefault="undirected">', "<desc/>", "it has no `graph`"),
    ],
)
def test_mistakes_are_told_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = HEAD + BODY + TAIL
    assert old in text
    count = -1 if old == "graphml" else 1
    text = text.replace(old, new, count)
    if "<desc/>" in text:
        text = text.replace("</graph></graphml>", "</graphml>")
    (tmp_path / "g.graphml").write_text(text)
    with pytest.raises(UserError, match=rf"g\.graphml.*{re.escape(expected)}"):
        read_network(tmp_path / "g.graphml", lambda _: None)


def test_islands_and_taken_files_are_refused(tmp_path: Path, command: Command) -> None:
    island = BODY + '<node id="t"><data key="k">switch</data></node><node id="c"/>'
    island += '<edge source="c" target="t"><data key="d">1</data></edge>'
    (tmp_path / "g.graphml").write_text(HEAD + island + TAIL)
    done = command("import", "graphml", "g.graphml", "-o", "n.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("error: g.graphml: makes a scenario that cannot be run: ")
    assert not (tmp_path / "n.toml").exists()
    (tmp_path / "n.toml").write_text("mine")
    (tmp_path / "g.graphml").write_text(HEAD + BODY + TAIL)
    done = command("import", "graphml", "g.graphml", "-o", "n.toml")
    assert (done.returncode, "no import wrote it" in done.stderr) == (2, True)
    done = command("export", "graphml", ROOT / "scenarios" / "dumbbell.toml", "-o", "g.graphml")
    assert (done.returncode, "exists already" in done.stderr) == (2, True)
    done = command("export", "graphml", "n.toml", "-o", "x.graphml")
    assert (done.returncode, (tmp_path / "x.graphml").exists()) == (2, False)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_input_gives_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = HEAD + BODY + TAIL
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        end = min(len(text), place + data.draw(st.integers(0, 12)))
        text = text[:place] + data.draw(st.text(max_size=8)) + text[end:]
    file = tmp_path_factory.mktemp("fuzz") / "f.graphml"
    file.write_text(text, encoding="utf-8", newline="")
    try:
        read_network(file, lambda _: None)
    except UserError as error:
        assert str(error).startswith(str(file)), error  # noqa: PT017


def test_the_text_of_a_network_is_that_of_its_scenario(tmp_path: Path) -> None:
    scenario = ROOT / "scenarios" / "custom_graph.toml"
    export_graph(scenario, tmp_path / "g.graphml")
    assert (tmp_path / "g.graphml").read_text("utf-8") == graph_text(read(scenario).prepare().network)


@pytest.mark.parametrize("name", ["host", "a rack - a host", "a-" * 80, 'quoted "\\" \u202e\n'])
def test_long_lists_of_names_are_the_same_names(name: str) -> None:
    names = [f"{name}{number}" for number in range(40)]
    lines = Lines()
    lines.names("hosts", names)
    assert tomllib.loads(lines.text()) == {"hosts": names}
    assert all(len(line) <= 100 or len(name) > 90 for line in lines.text().splitlines())


NAMES = ("a" * 120, "a - b", "  two  spaces ", "host-1-of-many", 'quo"te', "back\\slash", "<&>'", "ünï çødé", "a\ttab")


def test_names_of_any_kind_are_kept(tmp_path: Path, command: Command) -> None:
    hosts = [f"{name} {number}" for number, name in enumerate(NAMES * 3)]
    back = "".join(
        f'{{ a = {toml(host)}, b = "the - switch", rate = "100Gbps", delay = "1us", rate_back = "50Gbps" }},'
        for host in hosts
    )
    graph = f'[topology]\nname = "graph"\nhosts = {toml(hosts)}\nswitches = ["the - switch"]\nlinks = [{back}]\n'
    rest = '[scheme]\nname = "none"\n[[traffic]]\npattern = "permutation"\nsize = "1KB"\n'
    (tmp_path / "out.toml").write_text(graph + rest)
    assert command("export", "graphml", "out.toml", "-o", "net.graphml").returncode == 0
    done = command("import", "graphml", "net.graphml", "-o", "net.toml")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((tmp_path / "net.toml").read_text("utf-8"))["hosts"] == hosts
    (tmp_path / "back.toml").write_text('[topology]\nname = "graph"\nfile = "net.toml"\n' + rest)
    networks = [read(tmp_path / name).prepare().network for name in ("out.toml", "back.toml")]
    assert networks[0] == networks[1]


@pytest.mark.parametrize("encoding", ["klingon", "utf-16", "iso-8859-15"])
def test_an_encoding_that_is_not_read_is_named(tmp_path: Path, command: Command, encoding: str) -> None:
    (tmp_path / "k.graphml").write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<graphml><graph/></graphml>')
    done = command("import", "graphml", "k.graphml", "-o", "net.toml")
    assert done.returncode == 2
    assert done.stderr == f"error: k.graphml:1: encoding `{encoding}`: expected UTF-8\n"


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "s.toml").write_text(SMALL)
    with pytest.raises(UserError, match="is no file"):
        export_graph(tmp_path / "s.toml", tmp_path / "pipe", force=True)
    assert (tmp_path / "pipe").is_fifo()
