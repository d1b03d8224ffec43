"""How the ports of a network are drawn, and which of its nodes stand in rows.

A link is drawn as its two egress ports: each is the half at its own node, or, if there are very many ports, a short
piece at it. Beside a host of a block stands its own port on the left, and that of its switch on the right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xoff.report.tree.layout import CELL, Line, Place, Row, lay_out
from xoff.report.tree.network import Network
from xoff.text import name_text

_MANY = 2000
"""Ports of links from which on each is drawn short, so that they do not cover each other."""

_SHORT = 34.0
"""Length of such a port."""


@dataclass(frozen=True)
class Drawing:
    """A network's lines, and which nodes are named together."""

    nodes: list[Place]
    """By node: its place."""
    ports: list[Line]
    """By port: from where to where it is drawn, its own node first."""
    still: list[Line]
    """Lines that are no ports: from switches to their blocks of hosts, and links whose ports are drawn short."""
    in_block: list[bool]
    """By port: it stands beside a host of a block."""
    crowded: bool
    """Ports are drawn short."""
    rows: list[tuple[Row, str]]
    """Nodes that are named together, and the words for them all."""


def draw(network: Network) -> Drawing:
    """The drawing of `network`."""
    layout = lay_out(network)
    places, inside, still = layout.nodes, layout.in_blocks, list(layout.frames)
    cell = _cell_width(places, inside)
    host = [
        node if node in inside else peer if peer in inside else None
        for node, peer in zip(network.node, network.peer, strict=True)
    ]
    crowded = host.count(None) > _MANY
    xs: dict[float, list[float]] = {}
    for x, y in set(places):
        xs.setdefault(y, []).append(x)
    ports: list[Line] = []
    parallel: dict[tuple[int, int], int] = {}
    for at, node, peer in zip(host, network.node, network.peer, strict=True):
        if at is not None:
            x, y = places[at]
            side = -1.0 if at == node else 1.0
            ports.append((x + side * cell * 0.14, y, x + side * cell * 0.44, y))
            continue
        number = parallel[node, peer] = parallel.get((node, peer), -1) + 1
        half = _half(places[node], places[peer], number, len(network.between[node, peer]), xs)
        ports.append(_short(half) if crowded else half)
        if crowded:
            still.append(half)
    rows = [(row, _range(network, row.nodes)) for row in layout.rows]
    return Drawing(places, ports, still, [at is not None for at in host], crowded, rows)


def _short(line: Line) -> Line:
    """The beginning of a line."""
    x0, y0, x1, y1 = line
    share = min(1.0, _SHORT / (math.hypot(x1 - x0, y1 - y0) or 1.0))
    return (x0, y0, x0 + share * (x1 - x0), y0 + share * (y1 - y0))


def _cell_width(places: list[Place], beside: set[int]) -> float:
    """Minimum distance of two hosts in a row of a block."""
    rows: dict[float, list[float]] = {}
    for node in beside:
        rows.setdefault(places[node][1], []).append(places[node][0])
    gaps = [b - a for row in rows.values() for a, b in zip(sorted(row), sorted(row)[1:], strict=False)]
    return min(gaps, default=CELL)


def _half(
    here: Place,
    there: Place,
    number: int,
    parallel: int,
    rows: dict[float, list[float]],
) -> Line:
    """The half of a link at `here`.

    It bends at its middle, away from the straight line, for parallel links and where other nodes of the same row are in
    the way.
    """
    x, y = (here[0] + there[0]) / 2, (here[1] + there[1]) / 2
    across, along = there[0] - here[0], there[1] - here[1]
    length = math.hypot(across, along) or 1.0
    bend = 7.0 * (number - (parallel - 1) / 2)
    if here > there:
        bend = -bend
    low, high = sorted((here[0], there[0]))
    if here[1] == there[1] and any(low < other < high for other in rows[here[1]]):
        y += 0.12 * (high - low)
    return (*here, x - bend * along / length, y + bend * across / length)


def _range(network: Network, nodes: list[int]) -> str:
    """The names of many nodes in few words."""
    first, last = (name_text(network.nodes[node], 24) for node in (nodes[0], nodes[-1]))
    return first if first == last else f"{first} to\n{last}"
