"""Where the nodes of a network are drawn.

Switches stand in tiers, by their distance from the hosts, with the hosts below theirs: side by side if they are few,
else in a block. Switches in a line (dumbbell, chain) stand in a row, with their hosts at the ends and below; switches
that all have hosts and make no line stand in a circle, with their hosts around them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from xoff.report.tree.network import Network

WIDTH = 1200.0
"""Width of the drawing, about one pixel each."""

_NARROW = 14.0
"""Minimum room for a host that stands by itself in a row."""

CELL = 24.0
"""Room for a host with its two ports in a block, if there is enough."""

_ROW = 13.0
"""Height of a row of a block."""

_TIER = 150.0
"""Height between two tiers."""

_GAP = 12.0
"""Between a row and the words for it."""

Place = tuple[float, float]
"""To the right and upwards."""

Line = tuple[float, float, float, float]
"""From a place to another."""


@dataclass(frozen=True)
class Row:
    """Nodes whose names are written where there is room for all of them, and beside them words for all where not."""

    nodes: list[int]
    """From left to right, or in the order of the network."""
    beside: Place
    """Where the words begin or end."""
    leftwards: bool = True
    """They end there, and otherwise begin."""


@dataclass(frozen=True)
class Layout:
    """Places of the nodes."""

    nodes: list[Place]
    """By node."""
    frames: list[Line] = field(default_factory=list)
    """Lines from switches to their blocks of hosts."""
    in_blocks: set[int] = field(default_factory=set)
    """The hosts that stand in blocks."""
    rows: list[Row] = field(default_factory=list)
    """Nodes that stand in no row: each has its name if there is room for that name."""


def lay_out(network: Network) -> Layout:
    """The places of all nodes of `network`."""
    line = _line(network)
    if line:
        return _in_line(network, line)
    switches = [node for node in range(len(network.nodes)) if not network.is_host(node)]
    if 3 <= len(switches) <= 40 and all(network.tiers[node] == 1 for node in switches):
        return Layout(_in_circle(network, switches))
    return _in_tiers(network)


def _switches_beside(network: Network, node: int) -> list[int]:
    return [other for other in network.neighbours[node] if not network.is_host(other)]


def _hosts_beside(network: Network, node: int) -> list[int]:
    return [other for other in network.neighbours[node] if network.is_host(other)]


def _line(network: Network) -> list[int]:
    """The switches in their order if they make a line of two or more; else an empty list."""
    switches = [node for node in range(len(network.nodes)) if not network.is_host(node)]
    beside = {node: _switches_beside(network, node) for node in switches}
    ends = [node for node in switches if len(beside[node]) == 1]
    if len(ends) != 2 or any(len(others) > 2 for others in beside.values()):
        return []
    line = [ends[0]]
    while len(line) < len(switches):
        further = [other for other in beside[line[-1]] if other not in line[-2:]]
        if not further:
            return []
        line.append(further[0])
    return line


def _in_line(network: Network, line: list[int]) -> Layout:
    places = [(0.0, 0.0)] * len(network.nodes)
    rows: list[Row] = []
    most = max(len(_hosts_beside(network, node)) for node in (line[0], line[-1]))
    height = min(max(most * 30.0, 260.0), 620.0)
    left, right = WIDTH * 0.22, WIDTH * 0.78
    for number, node in enumerate(line):
        x = left + (right - left) * number / (len(line) - 1)
        places[node] = (x, height / 2)
        hosts = _hosts_beside(network, node)
        for rank, host in enumerate(hosts):
            middle = (rank + 0.5) / len(hosts)
            if number in (0, len(line) - 1):
                places[host] = (WIDTH * (0.02 if number == 0 else 0.98), height * (1 - middle))
            else:
                room = (right - left) / (len(line) - 1)
                places[host] = (x + room * (middle - 0.5) * 0.8, height / 2 - 110.0)
        if hosts and number in (0, len(line) - 1):
            x = places[hosts[0]][0] + (_GAP if number else -_GAP)
            rows.append(Row(hosts, (x, height / 2), leftwards=number == 0))
    return Layout(places, rows=rows)


def _in_circle(network: Network, switches: list[int]) -> list[Place]:
    places = [(0.0, 0.0)] * len(network.nodes)
    radius = 150.0 + 4.0 * len(switches)
    for number, node in enumerate(_around(network, switches)):
        angle = math.pi / 2 - 2 * math.pi * number / len(switches)
        places[node] = (WIDTH / 2 + 1.5 * radius * math.cos(angle), radius * math.sin(angle))
        hosts = _hosts_beside(network, node)
        for rank, host in enumerate(hosts):
            turn = angle + 2 * math.pi / len(switches) * 0.8 * (0.5 - (rank + 0.5) / len(hosts))
            far = radius + 110.0
            places[host] = (WIDTH / 2 + 1.5 * far * math.cos(turn), far * math.sin(turn))
    return places


def _around(network: Network, switches: list[int]) -> list[int]:
    """The switches in an order in which neighbours follow each other as far as a walk allows."""
    order, left = [switches[0]], dict.fromkeys(switches[1:])
    while left:
        near = [node for node in _switches_beside(network, order[-1]) if node in left]
        order.append(near[0] if near else next(iter(left)))
        del left[order[-1]]
    return order


def _in_tiers(network: Network) -> Layout:
    tiers: dict[int, list[int]] = {}
    for node, tier in enumerate(network.tiers):
        tiers.setdefault(tier, []).append(node)
    ranks = _ordered(network, tiers)
    places = [(0.0, 0.0)] * len(network.nodes)
    hosts = len(tiers.get(0, ()))
    in_blocks = hosts * _NARROW > WIDTH
    frames: list[Line] = []
    inside: set[int] = set()
    # Each switch of the lowest tier has as much room as its hosts need; one without hosts as much as one host.
    bottom = ranks.get(1, [])
    weights = [max(len(_hosts_beside(network, node)), 1) for node in bottom]
    if in_blocks:
        weights = [1] * len(bottom)
    x = 0.0
    for node, weight in zip(bottom, weights, strict=True):
        room = WIDTH * weight / sum(weights)
        places[node] = (x + room / 2, 0.0)
        own = _hosts_beside(network, node)
        if in_blocks:
            _block(own, x, room, places, frames)
            inside.update(own)
        else:
            for rank, host in enumerate(own):
                places[host] = (x + room * (rank + 0.5) / len(own), -110.0)
        x += room
    for tier, nodes in ranks.items():
        for rank, node in enumerate(nodes if tier > 1 else ()):
            places[node] = (WIDTH * (rank + 0.5) / len(nodes), _TIER * (tier - 1))
    return Layout(places, frames, inside, _rows(places, inside))


def _rows(places: list[Place], inside: set[int]) -> list[Row]:
    """The rows of nodes from the top, and the hosts of all blocks as one."""
    heights: dict[float, list[int]] = {}
    for node in sorted(range(len(places)), key=lambda node: places[node]):
        if node not in inside:
            heights.setdefault(places[node][1], []).append(node)
    rows = [Row(nodes, (-_GAP, y)) for y, nodes in sorted(heights.items(), reverse=True)]
    if inside:
        ys = [places[node][1] for node in inside]
        rows.append(Row(sorted(inside), (-_GAP, (min(ys) + max(ys)) / 2)))
    return rows


def _block(hosts: list[int], left: float, room: float, places: list[Place], frames: list[Line]) -> None:
    """Place the hosts of a switch in rows below it."""
    columns = min(max(int(room * 0.94 // CELL), 1), len(hosts))
    rows = math.ceil(len(hosts) / columns)
    columns = math.ceil(len(hosts) / rows)
    cell = min(room * 0.94 / columns, 2 * CELL)
    start = left + room / 2 - cell * columns / 2
    top = -34.0
    for number, host in enumerate(hosts):
        places[host] = (start + cell * (number % columns + 0.5), top - _ROW * (number // columns + 1))
    middle = left + room / 2
    frames.append((middle, 0.0, middle, top))
    frames.append((start, top, start + cell * columns, top))


def _ordered(network: Network, tiers: dict[int, list[int]]) -> dict[int, list[int]]:
    """The switches of each tier from left to right.

    In the order of the run, which is that of the topology; where nodes are listed one by one, each tier above the
    first by the mean place of its neighbours below.
    """
    ranks = {tier: list(nodes) for tier, nodes in sorted(tiers.items()) if tier > 0}
    if not network.listed:
        return ranks
    for tier in sorted(ranks)[1:]:
        below = {node: rank for rank, node in enumerate(ranks.get(tier - 1, ()))}

        def mean(node: int, below: dict[int, int] = below) -> float:
            found = [below[other] for other in network.neighbours[node] if other in below]
            return sum(found) / len(found) if found else math.inf

        ranks[tier].sort(key=mean)
    return ranks
