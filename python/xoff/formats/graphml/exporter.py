"""GraphML out: the network of a scenario as a graph that networkx reads.

The keys are those of `xoff.formats.graphml.importer`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from xoff._xoff import read_rate, read_time
from xoff.errors import UserError
from xoff.formats.graphml.keys import EDGE_KEYS, NODE_KEYS
from xoff.runs.files import write_file
from xoff.runs.scenario import read
from xoff.text import line_text

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def graph_text(network: str) -> str:
    """GraphML of a network as the native module lists it."""
    graph = json.loads(network)
    root = ElementTree.Element("graphml", xmlns=_NAMESPACE)
    keys: dict[tuple[str, str], str] = {}
    for kind, known in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for name, of_type in known.items():
            keys[kind, name] = f"d{len(keys)}"
            ElementTree.SubElement(
                root, "key", {"id": keys[kind, name], "for": kind, "attr.name": name, "attr.type": of_type}
            )
    inside = ElementTree.SubElement(root, "graph", edgedefault="undirected")

    def say(element: ElementTree.Element, kind: str, values: dict[str, Any]) -> None:
        for name, value in values.items():
            ElementTree.SubElement(element, "data", key=keys[kind, name]).text = str(value)

    for node in graph["nodes"]:
        if bad := next((each for each in node["name"] if not _is_xml(each)), None):
            raise UserError(
                f"node `{line_text(node['name'])}`: XML has no character U+{ord(bad):04X}, so neither has GraphML"
            )
        say(ElementTree.SubElement(inside, "node", id=node["name"]), "node", {"kind": node["kind"]})
    for number, link in enumerate(graph["links"]):
        ends = {"source": link["a"], "target": link["b"], "id": f"e{number}"}
        values: dict[str, Any] = {"rate_bps": read_rate(link["rate"]), "delay_ps": read_time(link["delay"])}
        if link["rate_back"] is not None or link["delay_back"] is not None:
            values["from"] = link["a"]
            values["rate_back_bps"] = read_rate(link["rate_back"] or link["rate"])
            values["delay_back_ps"] = read_time(link["delay_back"] or link["delay"])
        say(ElementTree.SubElement(inside, "edge", ends), "edge", values)
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _is_xml(character: str) -> bool:
    code = ord(character)
    return character in "\t\n\r" or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def export_graph(
    scenario_file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    sets: list[tuple[str, str]] | None = None,
    force: bool = False,
) -> tuple[int, int]:
    """Write the network of a scenario as GraphML, and return how many nodes and links it has.

    Parameters
    ----------
    scenario_file
        The scenario.
    out
        The graph.
    sets
        Keys of the scenario and their values, in place of its own.
    force
        Overwrite existing files.

    Raises
    ------
    UserError
        The file cannot be written.
    ScenarioError
        The scenario is wrong.
    """
    source, target = Path(scenario_file), Path(out)
    network = read(source, sets or []).prepare(None).network
    try:
        if target.is_dir():
            raise UserError(f"{target}: is a folder; expected a file for the graph")
        if target.exists() and not force:
            raise UserError(f"{target}: exists already; name another file, or give --force")
        if target.exists() and target.samefile(source):
            raise UserError(f"{target}: the scenario itself; name another file")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, graph_text(network))
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{line_text(str(target))}: cannot be written: {reason}") from None
    graph = json.loads(network)
    return len(graph["nodes"]), len(graph["links"])
