"""Pictures of the topologies, as SVG, for the reference: each one small, and laid out as its structure is."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from xoff.runs.scenario import Scenario

Point = tuple[float, float]

_WIDTH = 720.0
_MARGIN = 40.0


@dataclass(frozen=True)
class Network:
    """A network's nodes by name, and its links."""

    hosts: list[str]
    switches: list[str]
    links: list[tuple[str, str]]

    def neighbours(self, name: str) -> list[str]:
        """The other ends of a node's links."""
        ends = ((a, b) if a == name else (b, a) for a, b in self.links if name in (a, b))
        return [other for _, other in ends]

    def hosts_of(self, switch: str) -> list[str]:
        """The hosts on a switch."""
        return [name for name in self.neighbours(switch) if name in set(self.hosts)]


@dataclass(frozen=True)
class Layout:
    """Where each node is, the height of the picture, and which links are drawn as arcs."""

    at: dict[str, Point]
    height: float
    bent: Callable[[str, str], float] = lambda _a, _b: 0.0
    """How far the middle of a link is beside the straight line, as a part of its length."""


def _network(parameters: str) -> Network:
    traffic = '[[traffic]]\npattern = "permutation"\nsize = "1B"\n'
    text = f'[topology]\n{parameters}\n[scheme]\nname = "none"\n{traffic}'
    found = json.loads(Scenario(text, "picture.toml", ".").prepare().network)
    links = [(link["a"], link["b"]) for link in found["links"]]
    kinds: dict[str, list[str]] = {"host": [], "switch": []}
    for node in found["nodes"]:
        kinds[node["kind"]].append(node["name"])
    return Network([*kinds["host"], *found["hosts"]], [*kinds["switch"], *found["switches"]], links)


def _spread(names: list[str], y: float) -> dict[str, Point]:
    step = (_WIDTH - 2 * _MARGIN) / max(len(names), 1)
    return {name: (_MARGIN + step * (place + 0.5), y) for place, name in enumerate(names)}


def _tiers(network: Network) -> Layout:
    """Hosts below, each tier of switches above the one before."""
    tier = dict.fromkeys(network.hosts, 0)
    reached = list(network.hosts)
    for name in reached:
        for other in network.neighbours(name):
            if other not in tier:
                tier[other] = tier[name] + 1
                reached.append(other)
    rows = max(tier.values()) + 1
    height = 2 * _MARGIN + 95.0 * (rows - 1)
    at: dict[str, Point] = {}
    for row in range(rows):
        names = [name for name in [*network.hosts, *network.switches] if tier[name] == row]
        at |= _spread(names, height - _MARGIN - 95.0 * row)
    return Layout(at, height)


def _row(network: Network) -> Layout:
    """Switches in a row, the hosts of each below it and, if there are many, above it too."""
    at = _spread(network.switches, 100.0)
    for switch in network.switches:
        x, y = at[switch]
        hosts = network.hosts_of(switch)
        for place, host in enumerate(hosts):
            at[host] = (x + 34.0 * (place - (len(hosts) - 1) / 2), y + 70.0)
    return Layout(at, 200.0)


def _around(centre: Point, radius: float, angle: float) -> Point:
    return (centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle))


def _fan(network: Network, at: dict[str, Point], switch: str, angle: float, reach: float, width: float) -> None:
    """Put the hosts of a switch at the end of spokes."""
    hosts = network.hosts_of(switch)
    for place, host in enumerate(hosts):
        turn = width * (place - (len(hosts) - 1) / 2)
        at[host] = _around(at[switch], reach, angle + turn)


def _circle(network: Network) -> Layout:
    """Switches in a circle, their hosts outside."""
    centre, at = (_WIDTH / 2, 270.0), dict[str, Point]()
    for place, switch in enumerate(network.switches):
        angle = 2 * math.pi * place / len(network.switches)
        at[switch] = _around(centre, 190.0, angle)
        _fan(network, at, switch, angle, 42.0, 0.6)
    return Layout(at, 540.0)


def _groups(network: Network) -> Layout:
    """Groups in a circle: switches with hosts outside, and the others, if there are such, inside."""
    of: dict[str, list[str]] = {}
    for switch in network.switches:
        of.setdefault("".join(itertools.takewhile(str.isdigit, switch[1:])), []).append(switch)
    centre, at = (_WIDTH / 2, 340.0), dict[str, Point]()
    for number, members in enumerate(of.values()):
        angle = 2 * math.pi * number / len(of)
        outer = [switch for switch in members if network.hosts_of(switch)]
        inner = [switch for switch in members if not network.hosts_of(switch)]
        for names, radius in ((outer, 255.0 if inner else 235.0), (inner, 185.0)):
            share = 0.66 * 2 * math.pi / len(of) / max(len(names) - 1, 1)
            for place, switch in enumerate(names):
                turn = angle + share * (place - (len(names) - 1) / 2)
                at[switch] = _around(centre, radius, turn)
                _fan(network, at, switch, turn, 58.0, 0.36)

    def bent(a: str, b: str) -> float:
        together = any(a in members and b in members for members in of.values())
        return -0.22 if together and a in at and b in at and network.hosts_of(a) and network.hosts_of(b) else 0.0

    return Layout(at, 680.0, bent)


def _grid(network: Network) -> Layout:
    """Switches by their places in two dimensions, hosts beside them; links that pass others are arcs."""
    places = {switch: [int(place) for place in switch[1:].split(".")] for switch in network.switches}
    step = 130.0
    across = 1 + max(place[0] for place in places.values())
    down = 1 + max(place[1] for place in places.values())
    left = (_WIDTH - step * (across - 1)) / 2
    at: dict[str, Point] = {}
    for switch, (column, row) in places.items():
        at[switch] = (left + step * column, 80.0 + step * row)
        hosts = network.hosts_of(switch)
        for place, host in enumerate(hosts):
            at[host] = _around(at[switch], 36.0, 1.25 * math.pi + 0.55 * (place - (len(hosts) - 1) / 2))

    def bent(a: str, b: str) -> float:
        if a not in places or b not in places:
            return 0.0
        (x, y), (u, v) = places[a], places[b]
        apart = abs(x - u) + abs(y - v)
        # To one side of the row, whichever end comes first.
        return 0.0 if apart == 1 else (-0.16 if (x, y) < (u, v) else 0.16)

    return Layout(at, 160.0 + step * (down - 1) + 20.0, bent)


@dataclass(frozen=True)
class _Picture:
    parameters: str
    layout: Callable[[Network], Layout]
    caption: str


_PICTURES = {
    "dumbbell": _Picture(
        'name = "dumbbell"\nsenders = 4\nreceivers = 2', _row, "4 senders, 2 receivers and 3 switches"
    ),
    "chain": _Picture('name = "chain"', _row, "the defaults"),
    "star": _Picture('name = "star"\nhosts = 9', _tiers, "9 hosts"),
    "fat_tree": _Picture('name = "fat_tree"\nk = 4', _tiers, "k = 4"),
    "leaf_spine": _Picture(
        'name = "leaf_spine"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4',
        _tiers,
        "4 leaves, 2 spines and 4 hosts a leaf",
    ),
    "rail_optimized": _Picture(
        'name = "rail_optimized"\nrails = 3\ngroups = 2\nhosts_per_group = 3\nspines = 2',
        _tiers,
        "3 rails with 2 spines each, and 2 groups of 3 hosts",
    ),
    "hpn": _Picture(
        'name = "hpn"\nrails = 2\nsegments = 2\nhosts_per_segment = 3\naggs = 2',
        _tiers,
        "2 rails, 2 segments of 3 hosts, and 2 aggregation switches in each of 2 planes",
    ),
    "dragonfly": _Picture('name = "dragonfly"', _groups, "p = 2, a = 4, h = 2: 9 groups and 72 hosts"),
    "dragonfly_plus": _Picture('name = "dragonfly_plus"', _groups, "5 groups of 2 leaves and 2 spines"),
    "torus": _Picture('name = "torus"', _grid, "4 x 4 switches with a host each"),
    "hyperx": _Picture('name = "hyperx"\nhosts_per_switch = 2', _grid, "4 x 4 switches with 2 hosts each"),
    "jellyfish": _Picture('name = "jellyfish"', _circle, "20 switches with 4 links to others and 2 hosts each"),
}

_STYLE = (
    "line{stroke:#8a94a6;stroke-width:1}path{stroke:#8a94a6;stroke-width:1;fill:none}"
    "circle{fill:#fff;stroke:#3b4658;stroke-width:1.2}rect.s{fill:#2f6fb5}"
    "text{font:10px sans-serif;fill:#3b4658;text-anchor:middle}"
)


def caption(name: str) -> str | None:
    """What the picture of a topology shows; `None` if there is no picture."""
    picture = _PICTURES.get(name)
    return picture.caption if picture else None


def names() -> Iterable[str]:
    """The topologies that have a picture."""
    return _PICTURES


def draw(name: str) -> str:
    """The picture of a topology."""
    picture = _PICTURES[name]
    network = _network(picture.parameters)
    layout = picture.layout(network)
    label = escape(f"{name}: {picture.caption}", {'"': "&quot;"})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {layout.height:.0f}" role="img" '
        f'aria-label="{label}">',
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    parts += [_link(layout, a, b) for a, b in network.links]
    for host in network.hosts:
        x, y = layout.at[host]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{escape(host)}</title></circle>')
    for switch in network.switches:
        x, y = layout.at[switch]
        square = f'<rect class="s" x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16" rx="3">'
        parts.append(f"{square}<title>{escape(switch)}</title></rect>")
    return "\n".join([*parts, "</svg>", ""])


def _link(layout: Layout, a: str, b: str) -> str:
    (x, y), (u, v) = layout.at[a], layout.at[b]
    bend = layout.bent(a, b)
    if bend == 0.0:
        return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>'
    middle = ((x + u) / 2 - 2 * bend * (v - y), (y + v) / 2 + 2 * bend * (u - x))
    return f'<path d="M{x:.1f} {y:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {u:.1f} {v:.1f}"/>'
