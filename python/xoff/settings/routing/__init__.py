"""Routing: how packets find their path.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.routing.d_mod_k import d_mod_k
from xoff.settings.routing.dimension_order import dimension_order
from xoff.settings.routing.dragonfly import dragonfly
from xoff.settings.routing.ecmp import ecmp
from xoff.settings.routing.k_shortest import k_shortest
from xoff.settings.routing.spanning_trees import spanning_trees
from xoff.settings.routing.static_routes import static_routes

__all__ = [
    "d_mod_k",
    "dimension_order",
    "dragonfly",
    "ecmp",
    "k_shortest",
    "spanning_trees",
    "static_routes",
]
