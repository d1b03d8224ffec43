"""What `--topology` may name: a file of htsim or GraphML, or one of xoff's own topologies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xoff.formats.networks import Network, own

DEFAULT_TOPOLOGY = "fat_tree"
DEFAULT_SCHEME = "dcqcn"


def read_topology(text: str, hosts: int, warn: Callable[[str], None]) -> Network:
    """The network that `text` names, with room for `hosts` if the text gives no size."""
    suffix = Path(text).suffix if "," not in text else ""
    if suffix == ".topo":
        from xoff.formats.htsim.topology import read_topology as read_topo

        return read_topo(Path(text), warn).network()
    if suffix in (".graphml", ".xml"):
        from xoff.formats.graphml.importer import read_graph

        return read_graph(Path(text), warn)
    return own(text, hosts)
