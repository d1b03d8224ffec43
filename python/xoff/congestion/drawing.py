"""How the ports of a network are drawn, and what is written beside its nodes.

A link is drawn as its two egress ports: each is the half at its own node, or, where there are very many, a short piece
at it. Beside a host of a block stands its own port on the left, and that of its switch on the right.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from xoff.congestion.layout import CELL, Line, Place, lay_out
from xoff.congestion.network import Network

_MANY = 2000
"""Ports of links from which on each is drawn short, so that they do not cover each other."""

_SHORT = 34.0
"""Length of such a port."""

_LETTER = 6.5
"""Width of a letter of a node's name."""


@dataclass(frozen=True)
class Drawing:
    """A network's lines and names."""

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
    labels: list[tuple[float, float, str, bool]]
    """Names of nodes where there is room for those of the whole row, their places, and whether they are hosts."""
    rows: list[tuple[float, str]]
    """The height of each row without such room, and which nodes it has."""


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
    rows = _rows(network, places, inside)
    labels = [
        (*places[node], network.nodes[node], network.is_host(node))
        for row in rows
        if _fits(network, places, row)
        for node in row
    ]
    named = [(places[row[0]][1], _range(network, row)) for row in rows if not _fits(network, places, row)]
    if inside:
        heights = [places[node][1] for node in inside]
        named.append(((min(heights) + max(heights)) / 2, _range(network, sorted(inside))))
    return Drawing(places, ports, still, [at is not None for at in host], crowded, labels, named)


def _short(line: Line) -> Line:
    """The beginning of a line."""
    x0, y0, x1, y1 = line
    share = min(1.0, _SHORT / (math.hypot(x1 - x0, y1 - y0) or 1.0))
    return (x0, y0, x0 + share * (x1 - x0), y0 + share * (y1 - y0))


def _cell_width(places: list[Place], beside: set[int]) -> float:
    """The least distance of two hosts in a row of a block."""
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


def _rows(network: Network, places: list[Place], beside: set[int]) -> list[list[int]]:
    """The nodes of each row from left to right, without the hosts of blocks."""
    rows: dict[float, list[int]] = {}
    for node in sorted(range(len(places)), key=lambda node: places[node]):
        if node not in beside:
            rows.setdefault(places[node][1], []).append(node)
    return list(rows.values())


def _fits(network: Network, places: list[Place], row: list[int]) -> bool:
    """Whether there is room for the names of all nodes of a row."""
    widths = [_LETTER * len(network.nodes[node]) + 6.0 for node in row]
    gaps = [places[b][0] - places[a][0] for a, b in itertools.pairwise(row)]
    return all(gap >= (one + two) / 2 for gap, one, two in zip(gaps, widths, widths[1:], strict=False))


def _range(network: Network, nodes: list[int]) -> str:
    """The names of many nodes in few words."""
    names = [network.nodes[node] for node in nodes]
    return f"{names[0]} to\n{names[-1]}"
