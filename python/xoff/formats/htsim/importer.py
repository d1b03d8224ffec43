"""From a connection matrix and a topology of htsim to a scenario."""

from __future__ import annotations

import os
from pathlib import Path

from xoff.errors import UserError
from xoff.formats.files import Imported, write_scenario
from xoff.formats.htsim.matrix import Flow, Matrix, Trigger, read_matrix
from xoff.formats.htsim.topology import Topology
from xoff.formats.htsim.topology import read_topology as read_topo
from xoff.formats.networks import MARK, Network
from xoff.formats.toml import Lines
from xoff.formats.topologies import DEFAULT_SCHEME, DEFAULT_TOPOLOGY, read_topology
from xoff.text import line_text


def import_matrix(
    matrix_file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    topology: str = DEFAULT_TOPOLOGY,
    scheme: str = DEFAULT_SCHEME,
    force: bool = False,
) -> Imported:
    """Write a scenario of a connection matrix; its flows go to a file beside it.

    Parameters
    ----------
    matrix_file
        A connection matrix (`.cm`).
    out
        The scenario.
    topology
        A file (`.topo` of htsim, `.graphml`), or one of xoff's topologies, as in `leaf_spine,rate=400Gbps`; it is made
        large enough for the nodes if no setting gives a size.
    scheme
        Congestion control.
    force
        Overwrite files that no import wrote.

    Raises
    ------
    UserError
        An input is wrong or not modelled, makes a scenario that cannot be run, or a file cannot be written.
    """
    source, target = Path(matrix_file), Path(out)
    warnings: list[str] = []
    matrix = read_matrix(source, warnings.append)
    network = _network(matrix, topology, warnings)
    files = {target: ""}
    lines = Lines()
    lines.raw(f"{MARK}{line_text(source.name)}, a connection matrix of htsim.")
    lines.raw()
    lines.put("title", line_text(source.stem))
    network.put(lines, target, files)
    lines.table("[scheme]")
    lines.put("name", scheme)
    flows = target.with_name(f"{target.stem}.flows.txt")
    lines.table("[[traffic]]", f"From {line_text(source.name)}: node 3 is the fourth host.")
    lines.put("pattern", "list")
    lines.put("label", "flows")
    lines.put("file", flows.name)
    if across := across_hosts(matrix):
        at = f"{source}:{across.line.number}: trigger {across.number}"
        what = "starts a connection of a node that does not know of what fires it, so that runs take one thread"
        warnings.append(f"{at} {what}")
        lines.put("across_hosts", True, "triggers are known everywhere at once, as there")
    files[flows] = flow_list(matrix, network.hosts)
    files[target] = lines.text()
    write_scenario(source, files, [source, *network.inputs], force=force)
    return Imported(list(files), len(network.hosts), network.switches, len(matrix.flows), warnings)


def _network(matrix: Matrix, topology: str, warnings: list[str]) -> Network:
    if matrix.failures:
        first = matrix.failures[0].line
        if Path(topology).suffix != ".topo":
            raise first.wrong("a failed link", "`--topology FILE.topo`, whose links have numbers")
        tree = read_topo(Path(topology), warnings.append)
        network = tree.network(_failed(matrix, tree))
    else:
        network = read_topology(topology, matrix.nodes, warnings.append)
    if len(network.hosts) < matrix.nodes:
        what = f"{matrix.nodes} nodes, and `{line_text(topology)}` has {len(network.hosts)} hosts"
        raise UserError(f"{matrix.file}: {what}: expected a topology with as many")
    if len(network.hosts) > matrix.nodes:
        warnings.append(f"{matrix.file}: {matrix.nodes} nodes, and {len(network.hosts)} hosts in the topology")
    return network


def _failed(matrix: Matrix, tree: Topology) -> list[tuple[int, int]]:
    """The failed uplinks of aggregation switches."""
    failed: list[tuple[int, int]] = []
    for failure in matrix.failures:
        if not tree.cores:
            raise failure.line.wrong("a failed uplink of a switch without any", "a topology of three tiers")
        if failure.switch >= tree.pods * tree.aggs:
            raise failure.line.wrong(f"`switch_id` is {failure.switch}", f"0 to {tree.pods * tree.aggs - 1}")
        if failure.link >= tree.uplinks:
            raise failure.line.wrong(f"`link_id` is {failure.link}", f"0 to {tree.uplinks - 1}")
        if (failure.switch, failure.link) in failed:
            raise failure.line.wrong("the same link again", "each once")
        failed.append((failure.switch, failure.link))
    return failed


def across_hosts(matrix: Matrix) -> Trigger | None:
    """A trigger that starts a flow at a host other than the one that sees the trigger's cause."""

    def knows(flow: Flow, end: str) -> int:
        return flow.src if end == "sent" else flow.dst

    for trigger in matrix.triggers.values():
        known = {knows(flow, end) for flow, end in trigger.fired_by}
        if any(known != {flow.src} for flow in trigger.starts):
            return trigger
    return None


def flow_list(matrix: Matrix, hosts: list[str]) -> str:
    """The flows in the form that the traffic pattern `list` reads."""
    triggered = bool(matrix.triggers)
    rows = [f"{MARK}{line_text(matrix.file.name)}, a connection matrix of htsim."]
    rows.append("src dst size_bytes start_ps" + (" id after" if triggered else ""))
    names = {id(flow): f"line{flow.line.number}" if flow.number is None else str(flow.number) for flow in matrix.flows}
    for flow in matrix.flows:
        row = f"{hosts[flow.src]} {hosts[flow.dst]} {flow.size} {flow.start}"
        if triggered:
            fired = matrix.triggers[flow.trigger].fired_by if flow.trigger is not None else []
            after = "+".join(f"{names[id(other)]}:{end}" for other, end in fired)
            row += f" {names[id(flow)]} {after or '-'}"
        rows.append(row)
    return "\n".join(rows) + "\n"
