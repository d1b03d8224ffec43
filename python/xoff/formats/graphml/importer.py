"""GraphML in: the network of a graph that networkx wrote.

The reader is not networkx's, which gives neither the lines of mistakes nor the order of a link's ends, and takes
much longer to import.

A node has `kind`, `host` or `switch`; an edge `rate_bps` and `delay_ps`, both whole numbers. Where a link is not the
same both ways it also has `rate_back_bps` and `delay_back_ps`, and `from`, the node from which the first two count: an
undirected graph may be written with the ends of its edges in either order.

Each edge of a host is a NIC of the host. NICs are numbered from 0 in the order of the edges.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from xoff._xoff import read_rate, read_time
from xoff.errors import UserError, nearest
from xoff.formats.graphml.keys import EDGE_KEYS, NODE_KEYS
from xoff.formats.lines import quoted, read_text
from xoff.formats.networks import Link, Network, listed

FORMAT = "a graph in GraphML"

_RATES = (10**6, 10**13)
"""bit/s, from and to."""
_DELAYS = (0, 10**13)
"""ps, from and to."""

_ENCODINGS = ("utf-8", "utf8", "us-ascii", "ascii")

Warn = Callable[[str], None]


@dataclass
class _Item:
    """A node or an edge, with its attributes."""

    line: int
    ends: tuple[str, ...]
    data: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Reads the one graph of a GraphML file, with the lines that things are in."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.nodes: dict[str, _Item] = {}
        self.edges: list[_Item] = []
        self._keys: dict[str, tuple[str, str]] = {}
        """Name and default of what a key's id stands for, the default empty if there is none."""
        self._of: dict[str, str] = {}
        """What a key's id is for: node, edge, graph or all."""
        self._graphs = 0
        self._ascii = False
        self._open: list[str] = []
        self._item: _Item | None = None
        self._data: tuple[str, list[str]] | None = None
        # The text is read already, whatever its first line says of bytes.
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.XmlDeclHandler = self._declared
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype

    def read(self) -> None:
        text = read_text(self.file, "graph in GraphML")
        self._ascii = text.isascii()
        try:
            self._parser.Parse(text.encode("utf-8"), True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise UserError(f"{self.file}:{error.lineno}: not XML: {what}: expected {FORMAT}") from None
        if not self._graphs:
            raise UserError(f"{self.file}: it has no `graph`: expected {FORMAT}")

    def wrong(self, line: int, what: str, expected: str) -> UserError:
        return UserError(f"{self.file}:{line}: {what}: expected {expected}")

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _declared(self, _: str, encoding: str | None, __: int) -> None:
        known = (*_ENCODINGS, *(("iso-8859-1",) if self._ascii else ()))
        if encoding is not None and encoding.lower() not in known:
            raise self.wrong(self._line, f"encoding {quoted(encoding)}", "UTF-8")

    def _doctype(self, *_: Any) -> None:
        # Entities may grow beyond all bounds.
        raise self.wrong(self._line, "a document type", "none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        line = self._line
        if not self._open and name != "graphml":
            raise self.wrong(line, f"a document of {quoted(name)}", "one of `graphml`")
        self._open.append(name)
        if name == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise self.wrong(line, "a second graph, or one within a node", "one graph")
            if attributes.get("edgedefault") == "directed":
                raise self.wrong(line, "a directed graph", "an undirected one, whose links go both ways")
        elif name == "key":
            self._key(attributes, line)
        elif name in ("node", "edge"):
            self._item = self._node(attributes, line) if name == "node" else self._edge(attributes, line)
        elif name == "data":
            self._data = (attributes.get("key", ""), [])
        elif name == "default":
            if self._open[-2:-1] != ["key"]:
                raise self.wrong(line, "a `default` outside of a `key`", "one within a `key`")
            self._data = ("", [])
        elif name in ("hyperedge", "port"):
            raise self.wrong(line, f"a `{name}`", "nodes and edges")

    def _key(self, attributes: dict[str, str], line: int) -> None:
        number, name = attributes.get("id"), attributes.get("attr.name", attributes.get("id", ""))
        if number is None:
            raise self.wrong(line, "a `key` without `id`", "`id` and `attr.name`")
        self._keys[number] = (name, "")
        self._of[number] = attributes.get("for", "all")
        self._last_key = number

    def _node(self, attributes: dict[str, str], line: int) -> _Item:
        name = attributes.get("id", "")
        if not name:
            raise self.wrong(line, "a node without `id`", "one")
        if name in self.nodes:
            raise self.wrong(line, f"node {quoted(name)} again, beside line {self.nodes[name].line}", "each once")
        self.nodes[name] = _Item(line, (name,))
        return self.nodes[name]

    def _edge(self, attributes: dict[str, str], line: int) -> _Item:
        ends = tuple(attributes.get(end, "") for end in ("source", "target"))
        if not all(ends):
            raise self.wrong(line, "an edge without `source` and `target`", "both")
        if attributes.get("directed") == "true":
            raise self.wrong(line, "a directed edge", "undirected ones, for links that go both ways")
        self.edges.append(_Item(line, ends))
        return self.edges[-1]

    def _text(self, text: str) -> None:
        if self._data is not None:
            self._data[1].append(text)

    def _end(self, tag: str) -> None:
        name = self._open.pop()
        del tag
        if name == "default" and self._data is not None:
            number = self._last_key
            self._keys[number] = (self._keys[number][0], "".join(self._data[1]).strip())
            self._data = None
        elif name == "data" and self._data is not None:
            key, parts = self._data
            self._data = None
            if self._item is not None:
                if key not in self._keys:
                    raise self.wrong(self._line, f"`data` of {quoted(key)}, which no `key` declares", "a declared one")
                name_of = self._keys[key][0]
                # A node's name may begin or end with a space.
                self._item.data[name_of] = "".join(parts) if name_of == "from" else "".join(parts).strip()
        elif name in ("node", "edge"):
            self._item = None

    def finish(self) -> None:
        """Give all items the defaults of keys."""
        for number, (name, default) in self._keys.items():
            if not default:
                continue
            for kind, items in (("node", list(self.nodes.values())), ("edge", self.edges)):
                if self._of[number] in (kind, "all"):
                    for item in items:
                        item.data.setdefault(name, default)


def read_network(
    graph_file: str | os.PathLike[str], warn: Warn, *, rate: str | None = None, delay: str | None = None
) -> Network:
    """The network in a GraphML file.

    Parameters
    ----------
    graph_file
        The file.
    warn
        Gets what the importer assumes.
    rate, delay
        For edges that state none, such as `100Gbps` and `1us`.

    Raises
    ------
    UserError
        The file cannot be read, is malformed, or is not a network of hosts and switches.
    """
    reader = _Reader(Path(graph_file))
    reader.read()
    reader.finish()
    nodes = _kinds(reader, warn)
    defaults = (_option("--rate", rate, read_rate, "100Gbps"), _option("--delay", delay, read_time, "1us"))
    links = [_link(reader, edge, nodes, defaults) for edge in reader.edges]
    for item, known in ((reader.nodes.values(), NODE_KEYS), (reader.edges, EDGE_KEYS)):
        # networkx writes the `id` of an edge as an attribute of it.
        unused = sorted({key for each in item for key in each.data} - set(known) - {"id"})
        if unused:
            warn(f"{reader.file}: {', '.join(map(quoted, unused))}: not used here")
    return listed(nodes, links, reader.file, FORMAT)


def _option(name: str, text: str | None, read: Callable[[str], int | None], example: str) -> int | None:
    if text is None:
        return None
    value = read(text)
    if value is None:
        raise UserError(f"`{name}` is {quoted(text)}: expected one such as `{example}`")
    return value


def _kinds(reader: _Reader, warn: Warn) -> dict[str, str]:
    """Hosts and switches by name; if no node has `kind`, those with one link are hosts."""
    if len(reader.nodes) < 2:
        raise UserError(f"{reader.file}: it has {len(reader.nodes)} nodes: expected hosts and switches")
    links: dict[str, int] = dict.fromkeys(reader.nodes, 0)
    for edge in reader.edges:
        for end in edge.ends:
            if end not in links:
                near = nearest(end, reader.nodes)
                raise reader.wrong(edge.line, f"an edge to the unknown node {quoted(end)}", f"one of the graph{near}")
            links[end] += 1
        if edge.ends[0] == edge.ends[1]:
            raise reader.wrong(edge.line, f"an edge from node {quoted(edge.ends[0])} to itself", "two nodes")
    if not any("kind" in node.data for node in reader.nodes.values()):
        kinds = {name: "host" if links[name] == 1 else "switch" for name in reader.nodes}
        hosts = sum(kind == "host" for kind in kinds.values())
        warn(f"{reader.file}: no node has `kind`: the {hosts} nodes with one link are taken as hosts")
        return kinds
    for name, node in reader.nodes.items():
        kind = node.data.get("kind")
        if kind not in ("host", "switch"):
            what = f"node {quoted(name)} has " + (f"`kind` {quoted(kind)}" if kind else "no `kind`")
            raise reader.wrong(node.line, what, "host or switch")
        if kind == "host" and not links[name]:
            raise reader.wrong(node.line, f"host {quoted(name)} has no link", "one or more, each a NIC of it")
    return {name: node.data["kind"] for name, node in reader.nodes.items()}


def _link(reader: _Reader, edge: _Item, nodes: dict[str, str], defaults: tuple[int | None, int | None]) -> Link:
    a, b = edge.ends
    if nodes[a] == nodes[b] == "host" and len(nodes) > 2:
        raise reader.wrong(edge.line, f"an edge between the hosts {quoted(a)} and {quoted(b)}", "a switch in between")
    rate = _number(reader, edge, "rate_bps", _RATES, defaults[0], "`--rate 100Gbps`")
    delay = _number(reader, edge, "delay_ps", _DELAYS, defaults[1], "`--delay 1us`")
    rate_back = _number(reader, edge, "rate_back_bps", _RATES, rate, "")
    delay_back = _number(reader, edge, "delay_back_ps", _DELAYS, delay, "")
    start = edge.data.get("from", a)
    start = start if start in edge.ends else start.strip()
    if start not in edge.ends:
        raise reader.wrong(edge.line, f"`from` is {quoted(start)}", f"an end of the edge, {quoted(a)} or {quoted(b)}")
    return Link(start, b if start == a else a, rate, delay, rate_back, delay_back)


def _number(reader: _Reader, edge: _Item, key: str, bounds: tuple[int, int], default: int | None, option: str) -> int:
    text = edge.data.get(key)
    if text is None:
        if default is None:
            what = f"the edge between {' and '.join(map(quoted, edge.ends))} has no `{key}`"
            raise reader.wrong(edge.line, what, f"it, or the option {option}")
        return default
    whole = text.removesuffix(".0")
    value = int(whole) if whole.isascii() and whole.isdigit() and len(whole) <= 19 else -1
    if not bounds[0] <= value <= bounds[1]:
        raise reader.wrong(edge.line, f"`{key}` is {quoted(text)}", f"a whole number from {bounds[0]} to {bounds[1]}")
    return value
