"""Topologies: hosts, switches and links.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.topology.chain import chain
from xoff.settings.topology.dragonfly import dragonfly
from xoff.settings.topology.dragonfly_plus import dragonfly_plus
from xoff.settings.topology.dumbbell import dumbbell
from xoff.settings.topology.fat_tree import fat_tree
from xoff.settings.topology.graph import graph
from xoff.settings.topology.hpn import hpn
from xoff.settings.topology.hyperx import hyperx
from xoff.settings.topology.jellyfish import jellyfish
from xoff.settings.topology.leaf_spine import leaf_spine
from xoff.settings.topology.rail_optimized import rail_optimized
from xoff.settings.topology.star import star
from xoff.settings.topology.torus import torus

__all__ = [
    "chain",
    "dragonfly",
    "dragonfly_plus",
    "dumbbell",
    "fat_tree",
    "graph",
    "hpn",
    "hyperx",
    "jellyfish",
    "leaf_spine",
    "rail_optimized",
    "star",
    "torus",
]
