"""Formats of networks, and what `--topology` may name: a file in one of them, or one of xoff's own topologies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from xoff.formats.networks import Network, own

DEFAULT_TOPOLOGY = "fat_tree"
DEFAULT_SCHEME = "dcqcn"


@dataclass(frozen=True)
class NetworkFormat:
    """A format of networks."""

    command: str
    """Its command is `xoff import COMMAND`."""
    what: str
    """What a file in the format is."""
    suffixes: tuple[str, ...]
    """What names of such files end in."""
    module: str
    """Has `read_network(file, warn)`, and is imported when it is needed."""
    own_command: bool = False
    """The command has options of its own, and stands in `xoff.cli.formats`."""

    def read(self, file: Path, warn: Callable[[str], None]) -> Network:
        """The network in a file."""
        return cast(Network, import_module(self.module).read_network(file, warn))


NETWORK_FORMATS = (
    NetworkFormat("htsim-topo", "a topology of htsim", (".topo",), "xoff.formats.htsim.topology"),
    NetworkFormat("graphml", "a graph in GraphML", (".graphml", ".xml"), "xoff.formats.graphml.importer", True),
)
"""The list of formats of networks. A new one adds a line here."""


def read_topology(text: str, hosts: int, warn: Callable[[str], None]) -> Network:
    """The network that `text` names, with room for `hosts` if the text gives no size."""
    suffix = Path(text).suffix if "," not in text else ""
    for form in NETWORK_FORMATS:
        if suffix in form.suffixes:
            return form.read(Path(text), warn)
    return own(text, hosts)
