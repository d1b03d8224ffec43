"""Edge lists: a network as lines `NODE NODE RATE DELAY`, as in `host0 leaf0 100Gbps 1us`.

Names of hosts begin with `host`. The smallest importer: the example of CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xoff._xoff import read_rate, read_time
from xoff.formats.lines import Line, quoted, read_lines
from xoff.formats.networks import Link, Network, listed


def read_network(file: Path, _warn: Callable[[str], None]) -> Network:
    """The network in a file; nodes are numbered in the order in which they are named."""
    links = [_link(line) for line in read_lines(file, "list of edges")]
    names = dict.fromkeys(name for link in links for name in (link.a, link.b))
    nodes = {name: "host" if name.startswith("host") else "switch" for name in names}
    return listed(nodes, links, file, "a list of edges")


def _link(line: Line) -> Link:
    line.has("NODE NODE RATE DELAY")
    a, b, rate, delay = line.words
    bits, ps = read_rate(rate), read_time(delay)
    if bits is None:
        raise line.wrong(f"the rate is {quoted(rate)}", "one such as `100Gbps`")
    if ps is None:
        raise line.wrong(f"the delay is {quoted(delay)}", "one such as `1us`")
    return Link.alike(a, b, bits, ps)
