"""Chakra's execution traces, the inputs of ASTRA-sim: `xoff import chakra`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff import _xoff
from xoff.errors import ScenarioError, UserError
from xoff.formats.files import Imported, write_scenario
from xoff.formats.networks import MARK
from xoff.formats.toml import Lines
from xoff.formats.topologies import DEFAULT_SCHEME, DEFAULT_TOPOLOGY, read_topology
from xoff.text import line_text

_FILE = re.compile(r"(.+)\.([0-9]+)\.et")
_IN_FILE = re.compile(r"`trace` names the file `([^`]*)`, (.*)", re.DOTALL)


@dataclass(frozen=True)
class Trace:
    """How large a trace is."""

    ranks: int
    nodes: int
    messages: int
    """Messages that nodes send, without those of collectives."""
    collectives: int
    bytes: int
    """Payload of the messages."""
    warnings: list[str]


@dataclass(frozen=True)
class Costs:
    """What nodes without a duration take."""

    peak_flops: float | None = None
    """Floating-point operations of a rank in a second."""
    memory_bandwidth: str | None = None
    """Rate of a rank's memory, such as `16Tbps`."""

    def keys(self) -> dict[str, Any]:
        """Those that are given, as keys of a scenario."""
        return {key: value for key, value in vars(self).items() if value is not None}


def find_trace(folder: Path) -> Path:
    """The trace in a folder without `.RANK.et`; `folder` may also be that path itself.

    Raises
    ------
    UserError
        There is no trace, there are several, or a rank has no file.
    """
    try:
        names = _ranks_by_name(folder if folder.is_dir() else folder.parent)
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from None
    if not folder.is_dir():
        names = {name: ranks for name, ranks in names.items() if name == folder.name}
    if not names:
        raise UserError(
            f"{folder}: has no files NAME.RANK.et: expected a folder with one for each rank, or FOLDER/NAME"
        )
    if len(names) > 1:
        listed = ", ".join(sorted(names)[:5])
        raise UserError(f"{folder}: has several traces, {line_text(listed)}: expected FOLDER/NAME with one of these")
    ((name, ranks),) = names.items()
    place = folder / name if folder.is_dir() else folder
    missing = next((rank for rank, found in enumerate(sorted(ranks)) if rank != found), None)
    if missing is not None:
        raise UserError(f"{place}.{missing}.et: is not there: expected a file for each rank from 0 to {max(ranks)}")
    return place


def _ranks_by_name(folder: Path) -> dict[str, list[int]]:
    names: dict[str, list[int]] = {}
    for file in folder.iterdir():
        if found := _FILE.fullmatch(file.name):
            names.setdefault(found[1], []).append(int(found[2]))
    return names


def read_trace(trace: Path, groups: Path | None = None, costs: Costs | None = None) -> Trace:
    """The size of a trace, given without `.RANK.et`.

    Raises
    ------
    UserError
        A file cannot be read, is no trace or asks for what xoff does not model, or the trace can never complete.
    """
    keys = (costs or Costs()).keys()
    if groups is not None:
        keys["groups"] = str(groups.absolute())
    try:
        return Trace(**json.loads(_xoff.chakra(json.dumps({"trace": trace.name, **keys}), str(trace.parent))))
    except ScenarioError as error:
        text = str(error)
        if found := _IN_FILE.fullmatch(text):
            raise UserError(f"{trace.parent / line_text(found[1])}: {line_text(found[2])}") from None
        raise UserError(f"{trace}: {line_text(text)}") from None


def import_chakra(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    topology: str = DEFAULT_TOPOLOGY,
    scheme: str = DEFAULT_SCHEME,
    ranks_per_host: int = 1,
    groups: str | os.PathLike[str] | None = None,
    costs: Costs | None = None,
    force: bool = False,
) -> tuple[Imported, Trace]:
    """Write a scenario that replays the trace in `folder`, whose files stay where they are.

    Parameters
    ----------
    folder
        A folder with a file `NAME.RANK.et` for each rank; or `FOLDER/NAME`.
    out
        The scenario.
    topology
        A file (`.topo` of htsim, `.graphml`), or one of xoff's topologies, as in `leaf_spine,rate=400Gbps`; it is made
        large enough for the ranks if no setting gives a size.
    scheme
        Congestion control.
    ranks_per_host
        Ranks on each host.
    groups
        A JSON file with the ranks of each communicator group.
    costs
        What nodes without a duration take.
    force
        Overwrite files that no import wrote.

    Returns
    -------
    What was made, and how large the trace is.

    Raises
    ------
    UserError
        An input is wrong or not modelled, makes a scenario that cannot be run, or a file cannot be written.
    """
    source, target, costs = find_trace(Path(folder)), Path(out), costs or Costs()
    group_file = None if groups is None else Path(groups)
    trace = read_trace(source, group_file, costs)
    hosts = -(-trace.ranks // ranks_per_host)
    warnings = list(trace.warnings)
    network = read_topology(topology, hosts, warnings.append)
    if len(network.hosts) < hosts:
        raise UserError(
            f"{source}: {trace.ranks} ranks take {hosts} hosts: expected a topology with as many, "
            f"and `{line_text(topology)}` has {len(network.hosts)}"
        )
    files = {target: ""}

    def text(place: Path) -> str:
        """The scenario if its own files are named from `place`; from nowhere, by their absolute paths."""
        lines = Lines()
        lines.raw(f"{MARK}{line_text(source.name)}, a Chakra execution trace.")
        lines.raw()
        lines.put("title", line_text(source.name))
        network.put(lines, target, files)
        lines.table("[scheme]")
        lines.put("name", scheme)
        size = f"{trace.ranks} ranks, {trace.nodes} nodes, {trace.messages} messages, {trace.collectives} collectives."
        lines.table("[[traffic]]", size)
        lines.put("pattern", "chakra")
        lines.put("trace", _from(place, source))
        lines.put("ranks", trace.ranks)
        if group_file is not None:
            lines.put("groups", _from(place, group_file))
        if ranks_per_host > 1:
            lines.put("ranks_per_host", ranks_per_host)
        for key, value in costs.keys().items():
            lines.put(key, value)
        return lines.text()

    files[target] = text(target.parent)
    inputs = [*network.inputs, *(source.with_name(f"{source.name}.{rank}.et") for rank in range(trace.ranks))]
    if group_file is not None:
        inputs.append(group_file)
    write_scenario(source, files, inputs, force=force, checked=text(Path(os.sep)))
    return Imported(list(files), hosts, network.switches, trace.messages, warnings), trace


def _from(place: Path, file: Path) -> str:
    """A file's path as seen from a folder: relative, unless the folder is the root or on another drive."""
    if place == Path(os.sep):
        return str(file.absolute())
    try:
        return Path(os.path.relpath(file, place)).as_posix()
    except ValueError:
        return str(file.absolute())
