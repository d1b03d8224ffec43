"""The network of an imported scenario: listed nodes and links, or one of xoff's own topologies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xoff._xoff import rate_text, time_text
from xoff.errors import UserError, nearest
from xoff.formats.toml import Lines, inline
from xoff.text import line_text

MARK = "# Imported by xoff from "
"""First line of each file that an import writes, by which it is recognized."""

LONG = 50
"""From this number of lines on, links or flows go to files of their own."""

OWN = ("fat_tree", "leaf_spine", "star")
"""Topologies of xoff that an import can size: their hosts are `host0`, `host1`, ..."""

_HOSTS_PER_LEAF = 16


@dataclass(frozen=True)
class Link:
    """A link, with its rates in bit/s and its delays in ps each way."""

    a: str
    b: str
    rate: int
    delay: int
    rate_back: int
    delay_back: int

    @classmethod
    def alike(cls, a: str, b: str, rate: int, delay: int) -> Link:
        """A link that is the same both ways."""
        return cls(a, b, rate, delay, rate, delay)


@dataclass(frozen=True)
class Network:
    """A network that can be written into a scenario."""

    hosts: list[str]
    """Names of hosts, in order."""
    switches: int | None
    """Their number; `None` if the topology is one of xoff's own."""
    put: Callable[[Lines, Path, dict[Path, str]], None]
    """Writes `[topology]`; a long list goes to a file beside the scenario."""
    list_into: Callable[[Lines], None] = lambda _: None
    """Writes the lists alone; nothing if there are none."""
    inputs: list[Path] = field(default_factory=list)
    """Files that it was read from."""


def listed(nodes: Mapping[str, str], links: list[Link], source: Path, format_name: str) -> Network:
    """A network of `nodes`, by name `host` or `switch`, in the order of `source`."""

    def list_into(text: Lines) -> None:
        _put_nodes(text, nodes)
        text.raw("links = [")
        for link in links:
            text.raw(f"    {inline(_link(link))},")
        text.raw("]")

    def put(text: Lines, out: Path, files: dict[Path, str]) -> None:
        text.table("[topology]", f"From {line_text(source.name)}.")
        text.put("name", "graph")
        graph = text
        if len(links) >= LONG:
            file = out.with_name(f"{out.stem}.topology.toml")
            text.put("file", file.name)
            graph = Lines()
            graph.raw(f"{MARK}{line_text(source.name)}, {format_name}.")
        list_into(graph)
        if graph is not text:
            files[file] = graph.text()

    hosts = [name for name, kind in nodes.items() if kind == "host"]
    return Network(hosts, len(nodes) - len(hosts), put, list_into, [source])


def _put_nodes(text: Lines, nodes: Mapping[str, str]) -> None:
    hosts = [name for name, kind in nodes.items() if kind == "host"]
    switches = [name for name, kind in nodes.items() if kind == "switch"]
    if list(nodes) == hosts + switches:
        text.names("hosts", hosts)
        text.names("switches", switches)
        return
    # The order of nodes numbers them, and these numbers order simultaneous events.
    text.raw("nodes = [")
    for name, kind in nodes.items():
        text.raw(f"    {inline({'name': name, 'kind': kind})},")
    text.raw("]")


def _link(link: Link) -> dict[str, str]:
    pairs = {"a": link.a, "b": link.b, "rate": rate_text(link.rate), "delay": time_text(link.delay)}
    if link.rate_back != link.rate:
        pairs["rate_back"] = rate_text(link.rate_back)
    if link.delay_back != link.delay:
        pairs["delay_back"] = time_text(link.delay_back)
    return pairs


def own(text: str, hosts: int) -> Network:
    """The topology that an option names, such as `star` or `leaf_spine,leaves=4`, with room for `hosts`."""
    name, *settings = [part.strip() for part in text.split(",")]
    if name not in OWN:
        what = f"`--topology {line_text(text)}`: no topology called `{line_text(name)}` and no such file"
        raise UserError(f"{what}: expected one of {', '.join(OWN)}, or a file{nearest(name, OWN)}")
    given: dict[str, str] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not (equals and key.isidentifier() and value and value.isprintable()):
            what = f"`--topology {line_text(text)}`: `{line_text(setting)}` is no setting"
            raise UserError(f"{what}: expected `KEY=VALUE`, as in `{name},delay=1us`")
        if key in given:
            raise UserError(f"`--topology {line_text(text)}`: `{key}` twice: expected it once")
        given[key] = value
    sizes = {key: value for key, value in _sizes(name, hosts).items() if key not in given}

    def put(lines: Lines, out: Path, files: dict[Path, str]) -> None:
        del out, files  # It takes no lists.
        lines.table("[topology]")
        lines.put("name", name)
        for key, size in sizes.items():
            lines.put(key, size, f"room for {hosts}")
        for key, value in given.items():
            lines.put(key, int(value) if value.isascii() and value.isdigit() and len(value) < 19 else value)

    return Network([f"host{number}" for number in range(hosts)], None, put)


def _sizes(name: str, hosts: int) -> dict[str, int]:
    """The smallest network of this name with room for this many hosts."""
    if name == "star":
        return {"hosts": max(hosts, 2)}
    if name == "leaf_spine":
        per_leaf = min(_HOSTS_PER_LEAF, math.isqrt(max(hosts, 2) - 1) + 1)
        # As many spines as a leaf has hosts: no oversubscription.
        return {"leaves": -(-hosts // per_leaf), "spines": per_leaf, "hosts_per_leaf": per_leaf}
    k = 2
    while k**3 // 4 < hosts:
        k += 2
    return {"k": k}
