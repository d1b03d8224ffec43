"""GOAL schedules, the inputs of LogGOPSim and ATLAHS: `xoff import goal`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from xoff import _xoff
from xoff.errors import ScenarioError, UserError
from xoff.formats.files import GOAL_MARK, Imported, write_scenario
from xoff.formats.lines import read_text
from xoff.formats.networks import MARK
from xoff.formats.toml import Lines
from xoff.formats.topologies import DEFAULT_SCHEME, DEFAULT_TOPOLOGY, read_topology
from xoff.text import line_text

_AT_LINE = re.compile(r"line ([0-9]+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Schedule:
    """How large a schedule is."""

    ranks: int
    operations: int
    messages: int
    bytes: int
    """Payload of all messages."""


def read_schedule(file: Path, *, ignore_tags: bool = False) -> tuple[Schedule, str]:
    """The size of the schedule in a file, and its text; messages are matched by tag unless those are ignored.

    Raises
    ------
    UserError
        The file cannot be read, is malformed, asks for something that xoff does not model, or can never complete.
    """
    text = read_text(file, "GOAL schedule")
    try:
        return Schedule(**json.loads(_xoff.goal(text, ignore_tags))), text
    except ScenarioError as error:
        found = _AT_LINE.fullmatch(str(error))
        if not found:
            raise UserError(f"{file}: {error}") from None
        raise UserError(f"{file}:{found[1]}: {line_text(found[2])}") from None


def import_goal(
    schedule_file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    topology: str = DEFAULT_TOPOLOGY,
    scheme: str = DEFAULT_SCHEME,
    ranks_per_host: int = 1,
    ignore_tags: bool = False,
    force: bool = False,
) -> Imported:
    """Write a scenario that replays `schedule_file`, of which a copy goes beside it.

    Parameters
    ----------
    schedule_file
        A schedule in the text form of GOAL.
    out
        The scenario.
    topology
        A file (`.topo` of htsim, `.graphml`), or one of xoff's topologies, as in `leaf_spine,rate=400Gbps`; it is made
        large enough for the ranks if no setting gives a size.
    scheme
        Congestion control.
    ranks_per_host
        Ranks on each host.
    ignore_tags
        Match messages by their order alone.
    force
        Overwrite files that no import wrote.

    Raises
    ------
    UserError
        An input is wrong or not modelled, makes a scenario that cannot be run, or a file cannot be written.
    """
    source, target = Path(schedule_file), Path(out)
    schedule, text = read_schedule(source, ignore_tags=ignore_tags)
    hosts = -(-schedule.ranks // ranks_per_host)
    warnings: list[str] = []
    network = read_topology(topology, hosts, warnings.append)
    if len(network.hosts) < hosts:
        raise UserError(
            f"{source}: {schedule.ranks} ranks take {hosts} hosts: expected a topology with as many, "
            f"and `{line_text(topology)}` has {len(network.hosts)}"
        )
    files = {target: ""}
    lines = Lines()
    lines.raw(f"{MARK}{line_text(source.name)}, a GOAL schedule.")
    lines.raw()
    lines.put("title", line_text(source.stem))
    network.put(lines, target, files)
    lines.table("[scheme]")
    lines.put("name", scheme)
    size = f"{schedule.ranks} ranks, {schedule.operations} operations, {schedule.messages} messages."
    lines.table("[[traffic]]", size)
    lines.put("pattern", "goal")
    copy = target.with_name(f"{target.stem}.goal")
    inputs, beside = [*network.inputs], dict[str, str]()
    if _same(source, copy):
        beside[copy.name] = text
    else:
        inputs.append(source)
        # In front of the first line, so that lines keep their numbers.
        name = line_text(source.name).replace("*/", "* /")
        files[copy] = text if text.startswith(GOAL_MARK) else f"{GOAL_MARK}{name} */ {text}"
    lines.put("file", copy.name)
    if ranks_per_host > 1:
        lines.put("ranks_per_host", ranks_per_host)
    if ignore_tags:
        lines.put("ignore_tags", True)
    files[target] = lines.text()
    write_scenario(source, files, inputs, force=force, beside=beside)
    return Imported(list(files), hosts, network.switches, schedule.messages, warnings)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.exists() and other.exists() and one.samefile(other)
    except (OSError, ValueError):
        return False
