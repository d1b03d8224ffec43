"""Connection matrices and topologies of htsim."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xoff
from conftest import ROOT, Command
from xoff.errors import UserError
from xoff.formats.htsim.importer import import_matrix
from xoff.formats.htsim.matrix import read_matrix
from xoff.formats.htsim.topology import read_topology
from xoff.runs.scenario import Scenario

MATRIX = ROOT / "scenarios" / "htsim" / "all_to_all_8.cm"
TREE = ROOT / "scenarios" / "htsim" / "fat_tree_8.topo"

CHAIN = """Nodes 3
Connections 3
Triggers 2
0->1 id 1 start 5000 size 9520 send_done_trigger 1 recv_done_trigger 2
0->2 id 2 trigger 1 size 952
1->2 id 3 trigger 2 size 952
trigger id 1 oneshot
trigger id 2 barrier count 1
"""

STAR = "star,rate=100Gbps,delay=1us"


def warned(warnings: list[str]) -> str:
    return "\n".join(warnings)


def starts(folder: Path, name: str) -> dict[tuple[str, str], int]:
    sets = {"packets": {"mtu": "1000B", "header": "48B", "ack": "50B", "gap": "0B"}}
    flows = xoff.run(folder / name, sets=sets).flows
    ends = zip(flows["src"].to_pylist(), flows["dst"].to_pylist(), strict=True)
    return dict(zip(ends, flows["start_ps"].to_pylist(), strict=True))


def test_triggers_start_flows_when_others_end(tmp_path: Path) -> None:
    (tmp_path / "c.cm").write_text(CHAIN)
    made = import_matrix(tmp_path / "c.cm", tmp_path / "c.toml", topology=STAR, scheme="none")
    assert (made.hosts, made.flows, made.warnings) == (3, 3, [])
    # Ten packets of 80 ns over two links of 1 us, and an ACK of 4 ns a link back.
    there, back = 11 * 80_000 + 2_000_000, 2 * (4_000 + 1_000_000)
    assert starts(tmp_path, "c.toml") == {
        ("host0", "host1"): 5_000,
        ("host0", "host2"): 5_000 + there + back,
        ("host1", "host2"): 5_000 + there,
    }


def test_a_barrier_waits_for_all_that_fire_it(tmp_path: Path) -> None:
    (tmp_path / "b.cm").write_text(
        "Nodes 3\nConnections 3\nTriggers 1\n"
        "0->2 id 1 start 0 size 952 recv_done_trigger 7\n"
        "1->2 start 20000000 size 952 recv_done_trigger 7\n"
        "2->0 id 9 trigger 7 size 1\n"
        "trigger id 7 barrier count 2\n"
    )
    import_matrix(tmp_path / "b.cm", tmp_path / "b.toml", topology=STAR, scheme="none")
    assert "host2 host0 1 0 9 1:received+line5:received" in (tmp_path / "b.flows.txt").read_text()
    assert starts(tmp_path, "b.toml")["host2", "host0"] == 20_000_000 + 2 * 80_000 + 2_000_000


def test_a_trigger_may_be_known_everywhere(tmp_path: Path, command: Command) -> None:
    (tmp_path / "c.cm").write_text(CHAIN.replace("1->2 id 3 trigger 2", "2->1 id 3 trigger 2"))
    done = command("import", "htsim-cm", "c.cm", "-o", "c.toml", "--topology", STAR)
    assert done.returncode == 0
    assert "c.cm:8: trigger 2 starts a connection of a node that does not know of what fires it" in done.stderr
    assert starts(tmp_path, "c.toml")["host2", "host1"] == 5_000 + 11 * 80_000 + 2_000_000
    done = command("run", "c.toml", "-o", "out", "--threads", "2")
    assert done.returncode == 2
    assert "across_hosts" in done.stderr


def test_the_examples_make_a_run(tmp_path: Path, command: Command) -> None:
    done = command("import", "htsim-cm", MATRIX, "-o", "a.toml", "--topology", TREE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("a.toml: 8 hosts, 8 switches, 56 flows\n")
    run = xoff.run(tmp_path / "a.toml")
    assert run.manifest["flows_done"] == 56
    # Each node sends one message after the other.
    flows = run.flows.to_pandas().sort_values("start_ps")
    for _, own in flows.groupby("src", observed=True):
        ends = (own.start_ps + own.fct_ps).to_numpy()
        assert (own.start_ps.to_numpy()[1:] == ends[:-1]).all()


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        (1, "Nodse 3", "the unknown word `Nodse`: expected `SRC->DST ...`, or one of Nodes, "),
        (1, "Nodes 1", "`Nodes` is `1`: expected a whole number from 2"),
        (1, "Nodes 3 3", "3 words: expected 2, `Nodes N`"),
        (2, "Nodes 3", "`Nodes` again, beside line 1"),
        (4, "0->3 id 1 start 0 size 1", "the unknown node `3`: expected a number from 0 to 2"),
        (4, "0->0 id 1 start 0 size 1", "a connection from node 0 to itself: expected two nodes"),
        (4, "0->1 id 1 start 0", "a connection without `size`"),
        (4, "0->1 id 1 size 5", "a connection with neither `start` nor `trigger`: expected one of them"),
        (4, "0->1 id 1 start 0 trigger 1 size 5", "a connection with both `start` and `trigger`"),
        (4, "0->1 id 1 start x size 5", "`start` is `x`: expected a number of ps, 0 or more"),
        (4, "0->1 id 1 start 1e19 size 5", "`start` is `1e19`: expected at most 1000000000000000000 ps"),
        (4, "0->1 id 1 start 0 size 0", "`size` is `0`: expected a whole number from 1"),
        (4, "0->1 id 0 start 0 size 5", "`id` is `0`: expected a whole number from 1"),
        (4, "0->1 id 1 start 0 size", "`size` without a value"),
        (4, "0->1 id 1 start 0 size 5 addon", "the unknown word `addon`"),
        (4, "0->1 id 1 start 0 size 5 size 6", "`size` twice"),
        (5, "0->2 id 1 trigger 1 size 9", "`id` 1 again, beside line 4"),
        (5, "0->2 id 2 trigger 1 size 9 prio 3\n1->2 start 0 size 1 prio 4", None),
        (7, "trigger id 1", "no kind of trigger: expected one of oneshot, multishot, barrier"),
        (7, "trigger id 1 oneshot barrier", "2 kinds of trigger"),
        (7, "trigger oneshot", "a trigger without `id`"),
        (7, "trigger id 1 oneshot count 2", "`count` of a trigger that is oneshot"),
        (7, "trigger id 2 oneshot", None),
        (8, "trigger id 2 barrier", "a barrier without `count`"),
        (8, "trigger id 2 barrier count 2", "trigger 2 takes 2 connections, and 1 fire it: expected as many"),
        (6, "1->2 id 3 start 0 size 952", None),
        (6, "1->2 id 3 trigger 2 size 952 send_done_trigger 1", None),
        (
            7,
            "trigger id 1 multishot\n0->1 id 8 trigger 1 size 5",
            "trigger 1 starts one of 2 connections with each of 1",
        ),
        (
            8,
            "failure switch_type TOR switch_id 0 link_id 0",
            "a failure at a TOR switch, which that simulator does not",
        ),
        (
            8,
            "failure switch_type AGGG switch_id 0 link_id 0",
            "`switch_type` is `AGGG`: expected AGG; did you mean `AGG`?",
        ),
        (8, "failure switch_type AGG switch_id 0", "a failure without `link_id`"),
        (
            8,
            "failure switch_type AGG switch_id 0 link_id 0\ntrigger id 2 oneshot",
            "a failed link: expected `--topology",
        ),
    ],
)
def test_mistakes_in_a_matrix_are_told_with_file_and_line(
    tmp_path: Path, line: int, text: str, expected: str | None
) -> None:
    lines = CHAIN.splitlines()
    lines[line - 1] = text
    (tmp_path / "c.cm").write_text("\n".join(lines))
    with pytest.raises(UserError) as raised:
        import_matrix(tmp_path / "c.cm", tmp_path / "c.toml", topology=STAR)
    where = f"c.cm:{line}: {expected}"
    if expected is None:
        # Where two lines do not fit together, the other one may be told.
        where = {
            "0->2 id 2 trigger 1 size 9 prio 3\n1->2 start 0 size 1 prio 4": "c.cm:6: `prio` is 4, and 3 in line 5",
            "trigger id 2 oneshot": "c.cm:8: trigger 2 again, beside line 7",
            "1->2 id 3 start 0 size 952": "c.cm:8: trigger 2 starts nothing",
            "1->2 id 3 trigger 2 size 952 send_done_trigger 1": "c.cm:7: trigger 1 is fired by 2 connections",
        }[text]
    assert str(raised.value).startswith(f"{tmp_path}/{where}")
    assert not (tmp_path / "c.toml").exists()


def test_flows_that_wait_for_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.cm").write_text(
        "Nodes 2\n0->1 id 1 trigger 1 size 5 send_done_trigger 2\n0->1 id 2 trigger 2 size 5 send_done_trigger 1\n"
    )
    with pytest.raises(UserError, match=r"c\.cm: makes a scenario that cannot be run: .*waiting for the flow itself"):
        import_matrix(tmp_path / "c.cm", tmp_path / "c.toml", topology=STAR)


def test_counts_that_differ_and_triggers_without_a_line_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "c.cm").write_text(
        CHAIN.replace("Connections 3", "Connections 9").replace("trigger id 1 oneshot\n", "")
    )
    warnings: list[str] = []
    read_matrix(tmp_path / "c.cm", warnings.append)
    assert "c.cm:2: `Connections` says 9, and 3 follow" in warned(warnings)
    assert "c.cm:3: `Triggers` says 2, and 1 follow" in warned(warnings)
    assert "c.cm:4: trigger 1 is not described; taken as oneshot" in warned(warnings)


def network(folder: Path, text: str) -> dict[str, list[dict[str, str]]]:
    return json.loads(Scenario(text, "t.toml", str(folder)).prepare().network)  # type: ignore[no-any-return]


ONE_FLOW = (
    '\nscheme = { name = "none" }\ntraffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "1KB" }]\n'
)


def test_a_topology_becomes_a_network(tmp_path: Path, command: Command) -> None:
    done = command("import", "htsim-topo", TREE, "-o", "tree.toml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "tree.toml: 8 hosts, 8 switches\n", "")
    found = network(tmp_path, 'topology = { name = "graph", file = "tree.toml" }' + ONE_FLOW)
    links = [(link["a"], link["b"]) for link in found["links"]]
    hosts = [(f"host{n}", f"tor{n // 2}") for n in range(8)]
    tors = [("tor0", "agg0"), ("tor1", "agg0"), ("tor2", "agg1"), ("tor3", "agg1")]
    cores = [("agg0", "core0"), ("agg0", "core1"), ("agg1", "core0"), ("agg1", "core1")]
    assert links == hosts + tors + cores
    # 600 ns of link, and 300 ns of the switch that it leads to: none at a host.
    delays = {(link["delay"], link["delay_back"]) for link in found["links"][:8]}
    assert delays == {("900ns", "600ns")}
    alike: set[tuple[str, str, object]] = {("100Gbps", "900ns", None)}
    assert {(link["rate"], link["delay"], link["delay_back"]) for link in found["links"][8:]} == alike


def test_a_failed_uplink_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "f.cm").write_text(
        "Nodes 8\nFailures 1\n0->7 start 0 size 1000\nfailure switch_type AGG switch_id 1 link_id 0\n"
    )
    import_matrix(tmp_path / "f.cm", tmp_path / "f.toml", topology=str(TREE))
    links = network(tmp_path, (tmp_path / "f.toml").read_text())["links"]
    assert {(link["a"], link["b"]) for link in links if "core" in link["b"]} == {
        ("agg0", "core0"),
        ("agg0", "core1"),
        ("agg1", "core1"),
    }
    assert xoff.run(tmp_path / "f.toml").flows["path"].to_pylist() == ["host0>tor0>agg0>core1>agg1>tor3>host7"]
    for text, expected in (
        ("switch_id 2", "`switch_id` is 2: expected 0 to 1"),
        ("link_id 2", "`link_id` is 2: expected"),
    ):
        key = text.split()[0]
        wrong = re.sub(rf"{key} \d", text, (tmp_path / "f.cm").read_text())
        (tmp_path / "g.cm").write_text(wrong)
        with pytest.raises(UserError, match=rf"g\.cm:4: {re.escape(expected)}"):
            import_matrix(tmp_path / "g.cm", tmp_path / "g.toml", topology=str(TREE))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Nodes 8", "", "before it"),
        ("Tiers 3", "Tiers 4", ":3: 4 tiers: expected 2 or 3"),
        (
            "Tiers 3",
            "Tires 3",
            ":3: the unknown key `Tires`: expected one of Nodes, Tiers, Podsize; did you mean `Tiers`?",
        ),
        ("Podsize 4", "Podsize 3", ":4: 3 hosts of a pod, of 8 nodes: expected a number that divides 8"),
        ("Tier 1", "Tier 3", ": the tier is `3`: expected a whole number from 0 to 2"),
        ("Tier 1", "Tier 0", ": tier 0 again, beside line 6"),
        ("Radix_Up 1", "Radix_Up 1\nRadix_Up 1", ": `Radix_Up` again, beside line 10"),
        ("Radix_Up 1", "", "this tier has no `Radix_Up`"),
        ("Radix_Up 1", "Radix_Up 2", "200 Gbps from below and 200 Gbps up make 1:1, and `Oversubscribed` is 2"),
        ("Radix_Up 1", "Radix_Up one", "`Radix_Up` is `one`: expected a whole number from 1"),
        ("Radix_Up 1", "Radix_Up", "1 word: expected 2, `KEY VALUE`"),
        ("Oversubscribed 2", "Bundle 2", "bundles of 2 links to a host: expected 1, since htsim's hosts have one port"),
        ("Oversubscribed 2", "", "200 Gbps from below and 100 Gbps up make 2:1, and `Oversubscribed` is 1"),
        ("Tier 2", "Tier 2\nRadix_Up 1", "the unknown key `Radix_Up`"),
    ],
)
def test_mistakes_in_a_topology_are_told_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = TREE.read_text()
    assert old in text
    (tmp_path / "t.topo").write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=rf"t\.topo.*{re.escape(expected)}"):
        read_topology(tmp_path / "t.topo", lambda _: None)


def test_a_tree_of_two_tiers_with_bundles(tmp_path: Path) -> None:
    (tmp_path / "t.topo").write_text(
        "Nodes 8\nTiers 2\nPodsize 8  # all\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nQueue_Up 10\n"
        "Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\nDownlink_Latency_ns 500\n"
    )
    warnings: list[str] = []
    made = read_topology(tmp_path / "t.topo", warnings.append)
    assert (made.pods, made.tors, made.aggs, made.cores) == (1, 2, 2, 0)
    assert (len(made.network().hosts), made.network().switches) == (8, 4)
    assert re.search(r"t\.topo:8: sizes of queues are not used", warned(warnings))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_input_gives_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([CHAIN, TREE.read_text()]))
    lines = source.splitlines()
    words = st.one_of(st.sampled_from(source.split()), st.text(max_size=6), st.integers(-3, 9).map(str))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        row = lines[place].split(" ")
        row[data.draw(st.integers(0, len(row) - 1))] = data.draw(words)
        lines[place] = " ".join(row)
    folder = tmp_path_factory.mktemp("fuzz")
    file = folder / ("f.cm" if source == CHAIN else "f.topo")
    file.write_text("\n".join(lines), encoding="utf-8", newline="")
    try:
        if source == CHAIN:
            import_matrix(file, folder / "f.toml", topology="star", scheme="none")
        else:
            read_topology(file, lambda _: None).network()
    except UserError as error:
        assert str(error).startswith(str(file)), error  # noqa: PT017
