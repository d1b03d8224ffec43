"""Plain tables of a scenario, and tables inside others.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.tables.chakra_algorithms import chakra_algorithms
from xoff.settings.tables.collective_settings import collective_settings
from xoff.settings.tables.fast_forward import fast_forward
from xoff.settings.tables.graph_link import graph_link
from xoff.settings.tables.graph_node import graph_node
from xoff.settings.tables.host import host
from xoff.settings.tables.job import job
from xoff.settings.tables.link import link
from xoff.settings.tables.llr import llr
from xoff.settings.tables.packets import packets
from xoff.settings.tables.quirks import quirks
from xoff.settings.tables.record import record
from xoff.settings.tables.red_at_rate import red_at_rate
from xoff.settings.tables.run import run
from xoff.settings.tables.static_route import static_route
from xoff.settings.tables.straggler import straggler
from xoff.settings.tables.switch import switch
from xoff.settings.tables.trimming import trimming
from xoff.settings.tables.tune import tune
from xoff.settings.tables.uet import uet
from xoff.settings.tables.vl_weight import vl_weight
from xoff.settings.tables.watchdog import watchdog

__all__ = [
    "chakra_algorithms",
    "collective_settings",
    "fast_forward",
    "graph_link",
    "graph_node",
    "host",
    "job",
    "link",
    "llr",
    "packets",
    "quirks",
    "record",
    "red_at_rate",
    "run",
    "static_route",
    "straggler",
    "switch",
    "trimming",
    "tune",
    "uet",
    "vl_weight",
    "watchdog",
]
